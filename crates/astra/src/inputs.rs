//! Inputs, and outputs to clients where nothing is confirmed (figure 1, and the end of section 4.1).
//!
//! **A party's input**: the component that its owner lacks is 0. (The paper draws it from a key of all three: its
//! holders and the owner know it either way.) The others are drawn. The owner sends `m = x - x_1 - x_2` to each of
//! `P_1` and `P_2`, except itself: one element from `P_1` and `P_2`, two from `P_0`.
//!
//! **A client's input**: `x_1` and `x_2` come from two seeds, which `P_1` and `P_2` give the client; it sends them `m`.
//! The seeds are drawn, so that the masks are known before the client comes.
//!
//! **An output** to a party: the component that it lacks, from `P_1`, or from `P_2` to `P_1`. To a client:
//! `m + x_1 + r` from `P_1` and `x_2 - r` from `P_2`, where `r` is drawn by the two. The components themselves can
//! depend on more than the output (a party's input has a component that is 0).
//!
//! **Where products are checked** (figure 6) `P_1` and `P_2` compare what `P_0` and clients gave both of them, before
//! anything is computed on it, and a client takes each seed from both of its holders. Outputs are confirmed
//! ([`tacit_threeparty::outputs`]).

use crate::client_masks::ClientMasks;
use crate::planted::{Mistake, planted};
use crate::state::AstraEngine;
use crate::step;
use subtle::ConstantTimeEq;
use tacit_client::components::InputStreams;
use tacit_engine::vector::{self, add_assign, sub_assign};
use tacit_engine::wire::{message_of, pieces};
use tacit_engine::{Clear, Error};
use tacit_kernel::Buffer;
use tacit_session::{Draw, PrssStream, Session};
use tacit_threeparty::messages::{SEED_BYTES, input_at, recv_vector, seed_at, send_vector};
use tacit_threeparty::{PARTIES, Party, Scheme};
use zeroize::{Zeroize, Zeroizing};

impl AstraEngine {
    /// Draws the masks of all inputs, as far as this party holds them.
    pub(crate) fn mask_inputs(&mut self) {
        self.clients.clear();
        for input in 0..self.party.plan.inputs.len() as u32 {
            let (owner, reg, shape) = self.party.input(input);
            let owner_role = self.seats.role(owner);
            for component in self.held_masks() {
                // Whom this party shares the key of the component with.
                let other = if self.me == 0 { component } else { 0 };
                let mut masks = self.party.component_mut(component).take(reg);
                let draw = Draw { part: step::INPUT, op: input };
                match owner_role {
                    Some(role) if role + component == PARTIES => masks.bytes_mut().fill(0),
                    Some(_) => vector::fill(&mut self.streams[other], draw, shape, &mut masks),
                    None => {
                        let stream = self.client_stream(owner, component, other);
                        vector::fill(stream, draw, shape, &mut masks);
                    }
                }
                self.party.component_mut(component).put(reg, masks);
            }
        }
    }

    /// The stream of a component of a client's inputs, from a seed that comes from the key shared with `other`.
    fn client_stream(&mut self, client: usize, component: usize, other: usize) -> &mut PrssStream {
        let known = |masks: &ClientMasks| (masks.client, masks.component) == (client, component);
        let place = self.clients.iter().position(known).unwrap_or_else(|| {
            let mut seed = Zeroizing::new([0; SEED_BYTES]);
            let draw = Draw { part: step::SEED, op: client as u32 };
            self.streams[other].fill(draw, 0, seed.as_mut_slice());
            let stream = PrssStream::new(&seed, self.party.session.lane());
            self.clients.push(ClientMasks { client, component, seed, stream, sent: false });
            self.clients.len() - 1
        });
        &mut self.clients[place].stream
    }

    pub(crate) fn give_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, reg, shape) = self.party.input(input);
        if owner >= PARTIES {
            return self.give_seed(owner);
        }
        if owner != self.party.session.me() {
            return Ok(());
        }
        let values = self.party.own_values(input, values)?;
        let mut masked = values.data().clone();
        for component in self.held_masks() {
            sub_assign(shape, &mut masked, self.party.component_mut(component).get(reg));
        }
        let evaluators = [1, 2].map(|role| self.seats.party(role)).into_iter();
        let others: Vec<usize> = evaluators.filter(|&to| to != owner).collect();
        send_vector(&mut self.party.session, &others, |batch| input_at(input, batch), shape, &masked)?;
        if self.me != 0 {
            self.party.component_mut(0).put(reg, masked);
        }
        Ok(())
    }

    /// Sends a client the seed that this party has for it, if it hasn't yet: `P_1` that of `x_1`, `P_2` that of `x_2`; where
    /// they are compared, `P_0` both.
    fn give_seed(&mut self, client: usize) -> Result<(), Error> {
        if self.me == 0 && self.verified.is_none() {
            return Ok(());
        }
        let mut seeds = Zeroizing::new(Vec::with_capacity(2 * SEED_BYTES));
        for masks in self.clients.iter_mut().filter(|masks| masks.client == client && !masks.sent) {
            masks.sent = true;
            seeds.extend_from_slice(masks.seed.as_slice());
        }
        if !seeds.is_empty() {
            self.party.session.mesh().send(client, seed_at(), &seeds)?;
        }
        Ok(())
    }

    pub(crate) fn take_input(&mut self, input: u32) -> Result<(), Error> {
        self.take_masked(input)?;
        let (me, last) = (self.me, self.party.is_last_input(input));
        match &mut self.verified {
            Some(verified) if last && me != 0 => {
                verified.compare_given(&mut self.party.session, self.seats.party(3 - me))
            }
            _ => Ok(()),
        }
    }

    fn take_masked(&mut self, input: u32) -> Result<(), Error> {
        let (owner, reg, shape) = self.party.input(input);
        if self.me == 0 || owner == self.party.session.me() {
            return Ok(());
        }
        let mut masked = self.party.component_mut(0).take(reg);
        recv_vector(&mut self.party.session, owner, |batch| input_at(input, batch), shape, &mut masked)?;
        if let Some(verified) = &mut self.verified
            && !matches!(self.seats.role(owner), Some(1 | 2))
        {
            for (_, range) in pieces(shape) {
                verified.given(&message_of(shape, &masked, &range));
            }
        }
        self.party.component_mut(0).put(reg, masked);
        Ok(())
    }

    /// Sends clients this party's part of an output, which nobody confirms. `P_1` and `P_2` hide their parts of the sum
    /// from each other's, in what a client sees.
    pub(crate) fn send_part(&mut self, output: u32) -> Result<(), Error> {
        if self.me == 0 || self.party.clients(output).is_empty() {
            return Ok(());
        }
        let (reg, shape, _) = self.party.output(output);
        let Party { own, prev, .. } = &self.party;
        let mut part = Buffer::new(own.get(reg).len());
        let draw = Draw { part: step::OUTPUT, op: output };
        vector::fill(&mut self.streams[3 - self.me], draw, shape, &mut part);
        if self.me == 1 {
            add_assign(shape, &mut part, own.get(reg));
            add_assign(shape, &mut part, prev.get(reg));
        } else {
            let hidden = std::mem::replace(&mut part, prev.get(reg).clone());
            sub_assign(shape, &mut part, &hidden);
        }
        self.party.send_to_clients(output, &part)
    }
}

/// A client takes the seeds of its masks from those that hold them. Where seeds are confirmed, `P_0` has both: a client
/// that would take another seed than the parties drew would give another input.
pub(crate) fn take_seeds(session: &mut Session, scheme: &Scheme) -> Result<InputStreams, Error> {
    let [second, first, preparing] = scheme.parties;
    let mut seeds = Zeroizing::new([[0; SEED_BYTES]; 2]);
    for (seed, party) in seeds.iter_mut().zip([first, second]) {
        let mut message = session.mesh().recv(party, seed_at(), SEED_BYTES)?;
        seed.copy_from_slice(&message);
        message.zeroize();
    }
    if scheme.confirmed {
        let all = Zeroizing::new(session.mesh().recv(preparing, seed_at(), 2 * SEED_BYTES)?);
        let same = bool::from(seeds.as_flattened().ct_eq(&all));
        if !same && !planted(Mistake::WrongSeedsPass) {
            return Err(session.reject("two parties have different seeds for a client").into());
        }
    }
    Ok(InputStreams::new(&seeds, session.lane()))
}
