//! Inputs and outputs (figure 1, and the end of section 4.1).
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
//! **Where products are checked** (figure 6), a receiver compares what comes from one of two holders of a component
//! with what comes from the other. `P_1` and `P_2` compare what `P_0` and clients gave both of them, before anything is
//! computed on it. A client takes each seed from both of its holders. An output's receiver gets a hash of each
//! component that it lacks from the component's other holder. Clients get all three components, hidden by a
//! zero-sharing.

use crate::PARTIES;
use crate::engine::AstraEngine;
use crate::planted::{Mistake, planted};
use sha2::{Digest, Sha256};
use std::ops::Range;
use subtle::ConstantTimeEq;
use tacit_engine::executor::MAX_IN_FLIGHT;
use tacit_engine::vector::{self, add_assign, sub_assign};
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_engine::{Clear, Error};
use tacit_kernel::Buffer;
use tacit_program::plan::{Reg, Register};
use tacit_session::{At, Draw, PrssStream, Session, step};
use zeroize::Zeroizing;

/// Bytes of a hash.
pub(crate) const HASH_BYTES: usize = 32;

/// Bytes of a seed.
pub(crate) const SEED_BYTES: usize = 16;

/// Where one of the components `x_1` and `x_2` of a client's inputs comes from.
pub(crate) struct ClientMasks {
    client: usize,
    component: usize,
    seed: Zeroizing<[u8; SEED_BYTES]>,
    stream: PrssStream,
    /// Whether the client has the seed.
    sent: bool,
}

impl AstraEngine {
    /// Draws the masks of all inputs, as far as this party holds them.
    pub(crate) fn mask_inputs(&mut self) {
        self.clients.clear();
        for input in 0..self.plan.inputs.len() as u32 {
            let (owner, reg, shape) = self.input_shape(input);
            let owner_role = self.seats.role(owner);
            for component in self.held_masks() {
                // Whom this party shares the key of the component with.
                let other = if self.me == 0 { component } else { 0 };
                let mut masks = self.bank(component).take(reg);
                let draw = Draw { part: step::INPUT, op: input };
                match owner_role {
                    Some(role) if role + component == PARTIES => masks.bytes_mut().fill(0),
                    Some(_) => vector::fill(&mut self.streams[other], draw, shape, &mut masks),
                    None => {
                        let stream = self.client_stream(owner, component, other);
                        vector::fill(stream, draw, shape, &mut masks);
                    }
                }
                self.bank(component).put(reg, masks);
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
            let stream = PrssStream::new(&seed, self.session.lane());
            self.clients.push(ClientMasks { client, component, seed, stream, sent: false });
            self.clients.len() - 1
        });
        &mut self.clients[place].stream
    }

    pub(crate) fn give_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, reg, shape) = self.input_shape(input);
        if owner >= PARTIES {
            return self.give_seed(owner);
        }
        if owner != self.session.me() {
            return Ok(());
        }
        let values = values.ok_or_else(|| Error::Refused(format!("no values for input {input}")))?;
        if (values.domain(), values.cols()) != (shape.domain, shape.cols) {
            return Err(Error::Refused(format!("input {input} has another shape than the plan's")));
        }
        let mut masked = values.data().clone();
        for component in self.held_masks() {
            sub_assign(shape, &mut masked, self.bank(component).get(reg));
        }
        let evaluators = [1, 2].map(|role| self.party(role));
        for (batch, range) in pieces(shape) {
            let message = message_of(shape, &masked, &range);
            for &to in evaluators.iter().filter(|&&to| to != owner) {
                self.session.mesh().send(to, input_at(input, batch), &message)?;
            }
        }
        if self.me != 0 {
            self.bank(0).put(reg, masked);
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
            self.session.mesh().send(client, seed_at(), &seeds)?;
        }
        Ok(())
    }

    pub(crate) fn take_input(&mut self, input: u32) -> Result<(), Error> {
        self.take_masked(input)?;
        let (me, last) = (self.me, input as usize + 1 == self.plan.inputs.len());
        match &mut self.verified {
            Some(verified) if last && me != 0 => {
                verified.compare_given(&mut self.session, self.seats.party(3 - me))
            }
            _ => Ok(()),
        }
    }

    fn take_masked(&mut self, input: u32) -> Result<(), Error> {
        let (owner, reg, shape) = self.input_shape(input);
        if self.me == 0 || owner == self.session.me() {
            return Ok(());
        }
        let mut masked = self.bank(0).take(reg);
        recv_vector(&mut self.session, owner, |batch| input_at(input, batch), shape, &mut masked)?;
        if let Some(verified) = &mut self.verified
            && !matches!(self.seats.role(owner), Some(1 | 2))
        {
            for (_, range) in pieces(shape) {
                verified.given(&message_of(shape, &masked, &range));
            }
        }
        self.bank(0).put(reg, masked);
        Ok(())
    }

    pub(crate) fn offer_output(&mut self, output: u32) -> Result<(), Error> {
        let plan = self.plan.clone();
        let operation = &plan.outputs[output as usize];
        let shape = plan.register(operation.reg);
        for piece in pieces(shape).take(MAX_IN_FLIGHT) {
            self.send_missing(output, operation.reg, &piece)?;
        }
        let clients: Vec<usize> = self.participants.clients_that_learn(operation.to).collect();
        if self.verified.is_some() {
            return self.confirm_output(output, operation.reg, shape, &clients);
        }
        if self.me == 0 || clients.is_empty() {
            return Ok(());
        }
        // P_1 and P_2 hide their parts of the sum from each other's, in what a client sees.
        let mut part = Buffer::new(self.first.get(operation.reg).len());
        vector::fill(
            &mut self.streams[3 - self.me],
            Draw { part: step::OUTPUT, op: output },
            shape,
            &mut part,
        );
        if self.me == 1 {
            add_assign(shape, &mut part, self.first.get(operation.reg));
            add_assign(shape, &mut part, self.second.get(operation.reg));
        } else {
            let hidden = std::mem::replace(&mut part, self.second.get(operation.reg).clone());
            sub_assign(shape, &mut part, &hidden);
        }
        self.send_to_clients(output, shape, &part, &clients)
    }

    fn send_to_clients(
        &mut self,
        output: u32,
        shape: Register,
        part: &Buffer,
        clients: &[usize],
    ) -> Result<(), Error> {
        for (batch, range) in pieces(shape) {
            let message = message_of(shape, part, &range);
            for &client in clients {
                self.session.mesh().send(client, output_at(output, batch), &message)?;
            }
        }
        Ok(())
    }

    /// Sends the hash of a component to parties that have it from another, and to clients this party's acceptance, its
    /// second component and a hash of its first one, both hidden ([`Verified::hide`](crate::verified::Verified::hide)).
    fn confirm_output(
        &mut self,
        output: u32,
        reg: Reg,
        shape: Register,
        clients: &[usize],
    ) -> Result<(), Error> {
        let confirmed: &[(usize, usize)] = match self.me {
            0 => &[(1, 2), (2, 1)],
            2 => &[(0, 0)],
            _ => &[],
        };
        for &(role, component) in confirmed {
            let to = self.party(role);
            if self.participants.learns(to, self.plan.outputs[output as usize].to) {
                let hash = component_hash(&self.session, output, shape, self.component(component).get(reg));
                self.session.mesh().send(to, hash_at(output), &hash)?;
            }
        }
        if clients.is_empty() {
            return Ok(());
        }
        let [mut first, mut second] = [&self.first, &self.second].map(|bank| bank.get(reg).clone());
        self.verified().hide(output, shape, [&mut first, &mut second]);
        let hash = component_hash(&self.session, output, shape, &first);
        for &client in clients {
            let confirmation = [self.session.acceptance(client), hash];
            self.session.mesh().send(client, hash_at(output), confirmation.as_flattened())?;
        }
        self.send_to_clients(output, shape, &second, clients)
    }

    /// Sends a piece of an output to those that this party has the missing component for: `P_1` sends `m` to `P_0` and `x_1`
    /// to `P_2`, and `P_2` sends `x_2` to `P_1`.
    fn send_missing(&mut self, output: u32, reg: Reg, piece: &(u32, Range<usize>)) -> Result<(), Error> {
        let given: &[(usize, usize)] = match self.me {
            1 => &[(0, 0), (2, 1)],
            2 => &[(1, 2)],
            _ => &[],
        };
        let (batch, range) = piece;
        for &(role, component) in given {
            let to = self.party(role);
            if self.participants.learns(to, self.plan.outputs[output as usize].to) {
                let shape = self.plan.register(reg);
                let message = message_of(shape, self.bank(component).get(reg), range);
                self.session.mesh().send(to, output_at(output, *batch), &message)?;
            }
        }
        Ok(())
    }

    pub(crate) fn reveal_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        let plan = self.plan.clone();
        let operation = &plan.outputs[output as usize];
        let shape = plan.register(operation.reg);
        // What was not offered at once goes out as fast as the like comes in: others may be doing the same.
        let mut unsent = pieces(shape).skip(MAX_IN_FLIGHT);
        if !self.participants.learns(self.session.me(), operation.to) {
            for piece in unsent {
                self.send_missing(output, operation.reg, &piece)?;
            }
            return Ok(None);
        }
        let from = self.party(if self.me == 1 { 2 } else { 1 });
        let mut sum = Buffer::new(self.first.get(operation.reg).len());
        for (batch, range) in pieces(shape) {
            let bytes = message_bytes(shape.domain, range.len());
            let message = self.session.mesh().recv(from, output_at(output, batch), bytes)?;
            unpack_columns(shape, &message, range, &mut sum);
            self.session.mesh().recycle(message);
            if let Some(piece) = unsent.next() {
                self.send_missing(output, operation.reg, &piece)?;
            }
        }
        if self.verified.is_some() {
            let other = self.party(if self.me == 0 { 2 } else { 0 });
            let theirs = self.session.mesh().recv(other, hash_at(output), HASH_BYTES)?;
            check_component(&mut self.session, output, shape, &sum, &theirs)?;
        }
        add_assign(shape, &mut sum, self.first.get(operation.reg));
        add_assign(shape, &mut sum, self.second.get(operation.reg));
        Ok(Some(Clear::new(shape.domain, shape.cols, sum)))
    }

    fn input_shape(&self, input: u32) -> (usize, Reg, Register) {
        let operation = &self.plan.inputs[input as usize];
        (self.participants.endpoint(operation.owner), operation.reg, self.plan.register(operation.reg))
    }
}

/// Receives a vector in its pieces.
pub(crate) fn recv_vector(
    session: &mut Session,
    from: usize,
    at: impl Fn(u32) -> At,
    shape: Register,
    out: &mut Buffer,
) -> Result<(), Error> {
    for (batch, range) in pieces(shape) {
        let message = session.mesh().recv(from, at(batch), message_bytes(shape.domain, range.len()))?;
        unpack_columns(shape, &message, range, out);
        session.mesh().recycle(message);
    }
    Ok(())
}

/// The components that a role holds, the first and the second.
pub(crate) const fn held(role: usize) -> [usize; 2] {
    [2 - role, 2 - (role + 1) % PARTIES]
}

/// A hash of an output's component.
fn component_hash(session: &Session, output: u32, shape: Register, component: &Buffer) -> [u8; HASH_BYTES] {
    let mut hash = Sha256::new_with_prefix(b"tacit astra output component 1");
    hash.update(session.id());
    hash.update(session.first_operation().to_le_bytes());
    hash.update(output.to_le_bytes());
    for (_, range) in pieces(shape) {
        hash.update(message_of(shape, component, &range));
    }
    hash.finalize().into()
}

/// Checks a component that one holder sent by the hash that the other did.
pub(crate) fn check_component(
    session: &mut Session,
    output: u32,
    shape: Register,
    component: &Buffer,
    hash: &[u8],
) -> Result<(), Error> {
    let same = component_hash(session, output, shape, component).as_slice().ct_eq(hash);
    if bool::from(same) || planted(Mistake::ComponentsUnchecked) {
        return Ok(());
    }
    Err(session.reject("two parties sent different components of an output").into())
}

/// The address of an output's hash.
pub(crate) fn hash_at(output: u32) -> At {
    At { lane: 0, part: step::OUTPUT_DIGEST, op: output, batch: 0 }
}

/// The address of a client's seeds.
pub(crate) fn seed_at() -> At {
    At { lane: 0, part: step::SEED, op: 0, batch: 0 }
}

/// The address of a piece of an input.
pub(crate) fn input_at(input: u32, batch: u32) -> At {
    At { lane: 0, part: step::INPUT, op: input, batch }
}

/// The address of a piece of an output.
pub(crate) fn output_at(output: u32, batch: u32) -> At {
    At { lane: 0, part: step::OUTPUT, op: output, batch }
}
