//! Outputs: shares to whoever learns, or, where values are authenticated, to all and with a check.
//!
//! **Checked.** All that was opened is checked before ([`Engine::check`](tacit_engine::Engine::check)). Then all open an output to
//! all, one for a single recipient under a mask that only the recipient knows; check that, too; and only then hand it over.
//! A client is sent the shares of a mask of its own, as for an input, and what all opened, which all have to say alike.

use crate::demand::mask;
use crate::macs::COIN_BYTES;
use crate::messages::{output_at, send, send_first, sum_of_shares};
use crate::planted::{Mistake, planted};
use crate::share::Share;
use crate::state::{Party, Told};
use crate::vectors::{joined, row};
use tacit_engine::supply::Drawer;
use tacit_engine::vector::sub_assign;
use tacit_engine::{Clear, Error};
use tacit_net::Phase;
use tacit_program::plan::To;

impl Party {
    /// Sends this party's share to whoever learns: to parties its first pieces.
    pub(crate) fn send_shares(&mut self, output: u32) -> Result<(), Error> {
        let (operation, shape) = self.output(output);
        let (learners, share) = (self.others_that_learn(operation.to), self.bank.get(operation.reg));
        let at = |batch| output_at(output, batch);
        send_first(&mut self.session, &learners, shape, share, at)?;
        for client in self.participants.clients_that_learn(operation.to) {
            send(self.session.mesh(), client, shape, share, at)?;
        }
        Ok(())
    }

    /// Adds up all shares, if this party learns.
    pub(crate) fn add_shares(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        let (operation, shape) = self.output(output);
        let learns = self.participants.learns(self.session.me(), operation.to);
        let from = if learns { self.others() } else { Vec::new() };
        let to = self.others_that_learn(operation.to);
        let (own, at) = (self.bank.get(operation.reg), |batch| output_at(output, batch));
        let sum = sum_of_shares(&mut self.session, (&from, &to), shape, own, at)?;
        Ok(learns.then(|| Clear::new(shape.domain, shape.cols, sum)))
    }

    /// Sends all others this party's share, under the mask of who learns alone.
    pub(crate) fn send_masked(&mut self, output: u32) -> Result<(), Error> {
        self.is_checked()?;
        let (operation, shape) = self.output(output);
        let mut told =
            Told { share: self.share(operation.reg)?, opened: None, mask: None, triple: Vec::new() };
        if let Some(owner) = self.single(&operation) {
            let (kind, items) = mask(owner, &self.participants, shape);
            let drawn = self.drawn(Drawer::Output(output), kind, 0..items)?;
            told.share.add_assign(shape, &drawn.shares[0]);
            told.mask = drawn.known;
            if owner >= self.session.parties() {
                told.triple = drawn.shares;
            }
        }
        if planted(Mistake::CoinEarly) && self.early_coin.is_none() {
            self.early_coin = Some(self.session.toss(COIN_BYTES)?);
        }
        let others = self.others();
        send_first(&mut self.session, &others, shape, &told.share.value, |batch| output_at(output, batch))?;
        self.told.insert(output, told);
        Ok(())
    }

    /// Opens all outputs that are under way and checks them, if this one hasn't been; and hands this one over.
    pub(crate) fn open_masked(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        if self.told.get(&output).is_some_and(|told| told.opened.is_none()) {
            self.open_all()?;
        }
        let not_sent = || Error::Supply(format!("output {output} wasn't opened"));
        let Told { opened, mask, triple, .. } = self.told.remove(&output).ok_or_else(not_sent)?;
        let mut values = opened.ok_or_else(not_sent)?;
        let (operation, shape) = self.output(output);
        for client in self.participants.clients_that_learn(operation.to).collect::<Vec<_>>() {
            let all = joined(triple.iter().map(|share| &share.value).chain([&values]));
            let shape = row(shape.domain, (triple.len() + 1) * shape.cols);
            send(self.session.mesh(), client, shape, &all, |batch| output_at(output, batch))?;
        }
        if let Some(mask) = &mask {
            sub_assign(shape, &mut values, mask);
        }
        let learns = self.participants.learns(self.session.me(), operation.to);
        Ok(learns.then(|| Clear::new(shape.domain, shape.cols, values)))
    }

    /// Opens all outputs that were sent, and checks them together.
    fn open_all(&mut self) -> Result<(), Error> {
        let mut all = std::mem::take(&mut self.told);
        let others = self.others();
        for (&output, told) in all.iter_mut().filter(|(_, told)| told.opened.is_none()) {
            let (operation, shape) = self.output(output);
            let at = |batch| output_at(output, batch);
            let sum = sum_of_shares(&mut self.session, (&others, &others), shape, &told.share.value, at)?;
            if !(planted(Mistake::OutputsForOneUnrecorded) && self.single(&operation).is_some()) {
                self.record(shape, Share { value: sum.clone(), mac: told.share.mac.take() });
            }
            told.opened = Some(sum);
        }
        self.session.mesh().set_phase(Phase::Verify);
        self.check_macs()?;
        self.session.mesh().set_phase(Phase::Output);
        self.told = all;
        Ok(())
    }

    /// The other parties that learn an output.
    fn others_that_learn(&self, to: To) -> Vec<usize> {
        self.session.others().filter(|&party| self.participants.learns(party, to)).collect()
    }
}
