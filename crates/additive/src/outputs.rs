//! Outputs: shares to whoever learns, or, where values are authenticated, to all and with a check.
//!
//! **Checked.** All that was opened is checked before ([`Engine::check`](tacit_engine::Engine::check)). Then all open an output to
//! all, one for a single recipient under a mask that only the recipient knows; check that, too; and only then hand it over.
//! A client is sent the shares of a mask of its own, as for an input, and what all opened, which all have to say alike.

use tacit_engine::supply::Drawer;
use tacit_engine::vector::{add_assign, sub_assign};
use tacit_engine::{Clear, Error};
use tacit_kernel::Buffer;
use tacit_net::Phase;
use tacit_program::plan::{OutputOp, Register};

use super::Mistake;
use super::dealer::row;
use super::demand::mask;
use super::engine::{AdditiveEngine, output_at};
use super::inputs::{joined, receive, send};
use super::macs::COIN_BYTES;
use super::share::Share;

/// An output that is under way, or was checked.
pub(super) struct Told {
    /// What all open: this party's share, and then the value.
    opened: Share,
    /// The mask, if this is who learns it.
    mask: Option<Buffer>,
    /// Shares of the mask of a client that learns it, and of what proves it.
    triple: Vec<Share>,
    /// Whether it was opened and checked.
    checked: bool,
}

impl AdditiveEngine {
    /// Sends this party's share to whoever learns.
    pub(super) fn tell(&mut self, output: u32) -> Result<(), Error> {
        let (operation, shape) = self.output(output);
        let parties = self.others().filter(|&party| self.participants.learns(party, operation.to));
        let learners: Vec<usize> =
            parties.chain(self.participants.clients_that_learn(operation.to)).collect();
        for learner in learners {
            let share = self.bank.get(operation.reg);
            send(self.session.mesh(), learner, shape, share, |batch| output_at(output, batch))?;
        }
        Ok(())
    }

    /// Adds up all shares, if this party learns.
    pub(super) fn hear(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        let (operation, shape) = self.output(output);
        if !self.participants.learns(self.session.me(), operation.to) {
            return Ok(None);
        }
        let own = self.bank.get(operation.reg).clone();
        let sum = self.sum_of_shares(output, shape, own)?;
        Ok(Some(Clear::new(shape.domain, shape.cols, sum)))
    }

    /// Sends all others this party's share, under the mask of who learns alone.
    pub(super) fn tell_masked(&mut self, output: u32) -> Result<(), Error> {
        let (operation, shape) = self.output(output);
        let mut told =
            Told { opened: self.share(operation.reg), mask: None, triple: Vec::new(), checked: false };
        match self.single(&operation) {
            None => {}
            Some(owner) => {
                let (kind, items) = mask(owner, &self.participants, shape);
                let drawn = self.drawn(Drawer::Output(output), kind, 0..items)?;
                told.opened.add_assign(shape, &drawn.shares[0]);
                told.mask = drawn.known;
                if owner >= self.session.parties() {
                    told.triple = drawn.shares;
                }
            }
        }
        if self.manner.mistake == Some(Mistake::CoinEarly) && self.early_coin.is_none() {
            self.early_coin = Some(self.session.toss(COIN_BYTES)?);
        }
        for party in self.others() {
            send(self.session.mesh(), party, shape, &told.opened.value, |batch| output_at(output, batch))?;
        }
        self.told.insert(output, told);
        Ok(())
    }

    /// Opens all outputs that are under way and checks them, if this one hasn't been; and hands this one over.
    pub(super) fn hear_masked(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        if self.told.get(&output).is_some_and(|told| !told.checked) {
            self.open_told()?;
        }
        let told = self.told.remove(&output).expect("an output is told before it is heard");
        let (operation, shape) = self.output(output);
        for client in self.participants.clients_that_learn(operation.to).collect::<Vec<_>>() {
            let mut all = told.triple.clone();
            all.push(told.opened.clone());
            let (shape, all) = (row(shape.domain, all.len() * shape.cols), joined(&all));
            send(self.session.mesh(), client, shape, &all, |batch| output_at(output, batch))?;
        }
        let mut values = told.opened.value;
        if let Some(mask) = &told.mask {
            sub_assign(shape, &mut values, mask);
        }
        let learns = self.participants.learns(self.session.me(), operation.to);
        Ok(learns.then(|| Clear::new(shape.domain, shape.cols, values)))
    }

    /// Opens all outputs that were told, and checks them together.
    fn open_told(&mut self) -> Result<(), Error> {
        let under_way: Vec<u32> =
            self.told.iter().filter(|(_, told)| !told.checked).map(|(&output, _)| output).collect();
        for output in under_way {
            let (operation, shape) = self.output(output);
            let mut told = self.told.remove(&output).expect("it is under way");
            told.opened.value = self.sum_of_shares(output, shape, told.opened.value)?;
            let forgets = self.manner.mistake == Some(Mistake::OutputsForOneUnrecorded);
            if !(forgets && self.single(&operation).is_some()) {
                self.record(shape, &told.opened);
            }
            told.checked = true;
            self.told.insert(output, told);
        }
        self.session.mesh().set_phase(Phase::Verify);
        self.check_macs()?;
        self.session.mesh().set_phase(Phase::Output);
        Ok(())
    }

    /// Adds up all parties' shares of an output.
    fn sum_of_shares(&mut self, output: u32, shape: Register, own: Buffer) -> Result<Buffer, Error> {
        let mut sum = own;
        for party in self.others() {
            let share = receive(self.session.mesh(), party, shape, |batch| output_at(output, batch))?;
            add_assign(shape, &mut sum, &share);
        }
        Ok(sum)
    }

    fn output(&self, output: u32) -> (OutputOp, Register) {
        let operation = self.plan.outputs[output as usize].clone();
        let shape = self.plan.register(operation.reg);
        (operation, shape)
    }

    /// Who alone learns an output.
    fn single(&self, output: &OutputOp) -> Option<usize> {
        super::single(&self.participants, output)
    }
}
