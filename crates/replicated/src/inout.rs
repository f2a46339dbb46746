//! How values come in and go out.
//!
//! **A party's input** `x` of `P_j`: `x_(j+1) = 0`, `x_j` is the stream of `k_j`, and `x_(j-1) = x - x_j` goes to
//! `P_(j-1)`: one message of one element.
//!
//! **A client's input**: `x_0` and `x_1` come from two seeds, which the client gives to their holders before its first
//! input; `x_2 = x - x_0 - x_1` goes to `P_2` and `P_0`.
//!
//! **An output** to `P_j`: `P_(j-1)` sends the component that `P_j` lacks. To a client: `P_i` sends
//! `x_i + rho_i - rho_(i-1)`. The fresh zero-sharing matters: the three components themselves can depend on more than
//! the output (a party's input has a component 0, for one).

use crate::engine::{ClientStreams, ReplicatedEngine};
use crate::planted::{Mistake, planted};
use crate::verified::DIGEST_BITS;
use crate::{PARTIES, next, prev};
use sha2::{Digest, Sha256};
use std::ops::Range;
use subtle::ConstantTimeEq;
use tacit_engine::executor::MAX_IN_FLIGHT;
use tacit_engine::vector::{self, add_assign, sub_assign};
use tacit_engine::wire::{message_of, pieces, unpack_columns};
use tacit_engine::{Clear, Error};
use tacit_kernel::Buffer;
use tacit_program::plan::{Reg, Register};
use tacit_session::{At, Draw, PrssStream, Session, step};
use zeroize::Zeroize;

/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = (DIGEST_BITS / 8) as usize;

/// Bytes of a seed.
pub(crate) const SEED_BYTES: usize = 16;

impl ReplicatedEngine {
    pub(crate) fn give_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, reg, shape) = self.input_shape(input);
        if owner != self.me {
            return Ok(());
        }
        let values = values.ok_or_else(|| Error::Refused(format!("no values for input {input}")))?;
        if (values.domain(), values.cols()) != (shape.domain, shape.cols) {
            return Err(Error::Refused(format!("input {input} has another shape than the plan's")));
        }
        let mut own = self.own.take(reg);
        fill(self.key(next(owner)), shape, input, &mut own);
        let mut rest = self.prev.take(reg);
        rest.bytes_mut().copy_from_slice(values.data().bytes());
        sub_assign(shape, &mut rest, &own);
        self.own.put(reg, own);
        for (batch, range) in pieces(shape) {
            let message = message_of(shape, &rest, &range);
            self.session.mesh().send(prev(owner), input_at(input, batch), &message)?;
        }
        self.prev.put(reg, rest);
        Ok(())
    }

    pub(crate) fn take_input(&mut self, input: u32) -> Result<(), Error> {
        self.take_share(input)?;
        if let Some(verified) = &mut self.verified
            && input as usize + 1 == self.plan.inputs.len()
        {
            verified.compare_given(&mut self.session)?;
        }
        Ok(())
    }

    fn take_share(&mut self, input: u32) -> Result<(), Error> {
        let (owner, reg, shape) = self.input_shape(input);
        if owner >= PARTIES {
            return self.take_from_client(input, owner, reg, shape);
        }
        if self.me == next(owner) {
            self.own.zero(reg);
            let mut component = self.prev.take(reg);
            fill(self.key(owner), shape, input, &mut component);
            self.prev.put(reg, component);
        } else if self.me == prev(owner) {
            self.prev.zero(reg);
            let mut component = self.own.take(reg);
            self.recv_input(input, owner, shape, &mut component)?;
            self.own.put(reg, component);
        }
        Ok(())
    }

    fn take_from_client(
        &mut self,
        input: u32,
        client: usize,
        reg: Reg,
        shape: Register,
    ) -> Result<(), Error> {
        self.client_streams(client)?;
        let (mut own, mut prev) = (self.own.take(reg), self.prev.take(reg));
        if let Some(streams) = self.clients.get_mut(&client) {
            // P_0 holds (x_0, x_2), P_1 (x_1, x_0), P_2 (x_2, x_1); who lacks a component has no stream for it.
            let (zero, one) = if self.me == 1 { (&mut prev, &mut own) } else { (&mut own, &mut prev) };
            for (stream, component) in [(&mut streams.zero, zero), (&mut streams.one, one)] {
                if let Some(stream) = stream {
                    fill(stream, shape, input, component);
                }
            }
        }
        match self.me {
            0 => self.recv_input(input, client, shape, &mut prev)?,
            2 => self.recv_input(input, client, shape, &mut own)?,
            _ => {}
        }
        if let Some(verified) = &mut self.verified {
            verified.given([&own, &prev].map(|component| message_of(shape, component, &(0..shape.cols))));
        }
        self.own.put(reg, own);
        self.prev.put(reg, prev);
        Ok(())
    }

    /// Receives the client's seeds, before its first input.
    fn client_streams(&mut self, client: usize) -> Result<(), Error> {
        if self.clients.contains_key(&client) {
            return Ok(());
        }
        let count = if self.me == 1 { 2 } else { 1 };
        let lane = self.session.lane();
        let mut seeds = self.session.mesh().recv(client, seed_at(), count * SEED_BYTES)?;
        let mut streams = seeds.chunks_exact(SEED_BYTES).map(|seed| {
            let mut key = [0; SEED_BYTES];
            key.copy_from_slice(seed);
            let stream = PrssStream::new(&key, lane);
            key.zeroize();
            stream
        });
        let zero = if self.me == 2 { None } else { streams.next() };
        let one = streams.next();
        drop(streams);
        seeds.zeroize();
        self.clients.insert(client, ClientStreams { zero, one });
        Ok(())
    }

    fn recv_input(
        &mut self,
        input: u32,
        from: usize,
        shape: Register,
        out: &mut Buffer,
    ) -> Result<(), Error> {
        for (batch, range) in pieces(shape) {
            let message =
                self.session.mesh().recv(from, input_at(input, batch), message_bytes(shape, &range))?;
            store_message(shape, &message, &range, out);
            self.session.mesh().recycle(message);
        }
        Ok(())
    }

    pub(crate) fn offer_output(&mut self, output: u32) -> Result<(), Error> {
        let plan = self.plan.clone();
        let operation = &plan.outputs[output as usize];
        let shape = plan.register(operation.reg);
        let to = next(self.me);
        if self.participants.learns(to, operation.to) {
            for piece in pieces(shape).take(MAX_IN_FLIGHT) {
                self.send_component(output, operation.reg, &piece)?;
            }
        }
        let clients: Vec<usize> = self.participants.clients_that_learn(operation.to).collect();
        if self.verified.is_some() {
            return self.confirm_output(output, operation.reg, shape, &clients);
        }
        if clients.is_empty() {
            return Ok(());
        }
        let mut masked = Buffer::new(self.own.get(operation.reg).len());
        let draw = Draw { part: step::OUTPUT, op: output };
        let (key, prev_key) = self.keys();
        vector::fill_difference(key, prev_key, draw, shape, &mut masked);
        add_assign(shape, &mut masked, self.own.get(operation.reg));
        for client in clients {
            self.send_to_client(output, shape, &masked, client)?;
        }
        Ok(())
    }

    fn send_to_client(
        &mut self,
        output: u32,
        shape: Register,
        component: &Buffer,
        client: usize,
    ) -> Result<(), Error> {
        for (batch, range) in pieces(shape) {
            let message = message_of(shape, component, &range);
            self.session.mesh().send(client, output_at(output, batch), &message)?;
        }
        Ok(())
    }

    /// Sends the digest of a component to the party that has it from another, and to clients this party's acceptance,
    /// one component and the digest of the other, both hidden ([`Verified::hide`](crate::verified::Verified::hide)). Only
    /// bits get here.
    fn confirm_output(
        &mut self,
        output: u32,
        reg: Reg,
        shape: Register,
        clients: &[usize],
    ) -> Result<(), Error> {
        let to = prev(self.me);
        if self.participants.learns(to, self.plan.outputs[output as usize].to) {
            let digest = component_digest(&self.session, output, shape, self.own.get(reg));
            self.session.mesh().send(to, digest_at(output), &digest)?;
        }
        if clients.is_empty() {
            return Ok(());
        }
        let (mut own, mut other) = (self.own.get(reg).clone(), self.prev.get(reg).clone());
        if let Some(verified) = &mut self.verified {
            verified.hide(self.me, output, [&mut own, &mut other]);
        }
        let digest = component_digest(&self.session, output, shape, &other);
        for &client in clients {
            let confirmation = [self.session.acceptance(client), digest];
            self.session.mesh().send(client, digest_at(output), confirmation.as_flattened())?;
            self.send_to_client(output, shape, &own, client)?;
        }
        Ok(())
    }

    pub(crate) fn reveal_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        #[cfg(feature = "planted")]
        if let Some(verified) = self.verified.as_mut().filter(|_| planted(Mistake::OutputsEarly)) {
            verified.check_late(&mut self.session)?;
        }
        let plan = self.plan.clone();
        let operation = &plan.outputs[output as usize];
        let shape = plan.register(operation.reg);
        // What was not offered at once goes out as fast as the like comes in: all parties may be doing the same.
        let unsent = if self.participants.learns(next(self.me), operation.to) { usize::MAX } else { 0 };
        let mut unsent = pieces(shape).skip(MAX_IN_FLIGHT).take(unsent);
        if !self.participants.learns(self.me, operation.to) {
            for piece in unsent {
                self.send_component(output, operation.reg, &piece)?;
            }
            return Ok(None);
        }
        let mut sum = Buffer::new(self.own.get(operation.reg).len());
        for (batch, range) in pieces(shape) {
            let bytes = message_bytes(shape, &range);
            let message = self.session.mesh().recv(prev(self.me), output_at(output, batch), bytes)?;
            store_message(shape, &message, &range, &mut sum);
            self.session.mesh().recycle(message);
            if let Some(piece) = unsent.next() {
                self.send_component(output, operation.reg, &piece)?;
            }
        }
        if self.verified.is_some() {
            let theirs = self.session.mesh().recv(next(self.me), digest_at(output), DIGEST_BYTES)?;
            check_component(&mut self.session, output, shape, &sum, &theirs)?;
        }
        add_assign(shape, &mut sum, self.own.get(operation.reg));
        add_assign(shape, &mut sum, self.prev.get(operation.reg));
        Ok(Some(Clear::new(shape.domain, shape.cols, sum)))
    }

    /// Sends a piece of an output's component that the next party lacks.
    fn send_component(&mut self, output: u32, reg: Reg, piece: &(u32, Range<usize>)) -> Result<(), Error> {
        let (batch, range) = piece;
        let message = message_of(self.plan.register(reg), self.prev.get(reg), range);
        Ok(self.session.mesh().send(next(self.me), output_at(output, *batch), &message)?)
    }

    fn input_shape(&self, input: u32) -> (usize, Reg, Register) {
        let operation = &self.plan.inputs[input as usize];
        (self.participants.endpoint(operation.owner), operation.reg, self.plan.register(operation.reg))
    }
}

/// The address of a piece of an input.
pub(crate) fn input_at(input: u32, batch: u32) -> At {
    At { lane: 0, part: step::INPUT, op: input, batch }
}

/// The address of a piece of an output.
pub(crate) fn output_at(output: u32, batch: u32) -> At {
    At { lane: 0, part: step::OUTPUT, op: output, batch }
}

/// The address of an output's digest.
pub(crate) fn digest_at(output: u32) -> At {
    At { lane: 0, part: step::OUTPUT_DIGEST, op: output, batch: 0 }
}

/// A digest of an output's component.
fn component_digest(
    session: &Session,
    output: u32,
    shape: Register,
    component: &Buffer,
) -> [u8; DIGEST_BYTES] {
    let mut hash = Sha256::new_with_prefix(b"tacit output component 1");
    hash.update(session.id());
    hash.update(output.to_le_bytes());
    for (_, range) in pieces(shape) {
        hash.update(message_of(shape, component, &range));
    }
    hash.finalize().into()
}

/// Checks a component that one holder sent by the digest that the other did.
pub(crate) fn check_component(
    session: &mut Session,
    output: u32,
    shape: Register,
    component: &Buffer,
    digest: &[u8],
) -> Result<(), Error> {
    let same = component_digest(session, output, shape, component).as_slice().ct_eq(digest);
    if bool::from(same) || planted(Mistake::ComponentsNotCompared) {
        return Ok(());
    }
    Err(session.reject("two parties sent different components of an output").into())
}

/// The address of a client's seeds.
pub(crate) fn seed_at() -> At {
    At { lane: 0, part: step::SEED, op: 0, batch: 0 }
}

/// Bytes of a piece.
pub(crate) fn message_bytes(shape: Register, range: &Range<usize>) -> usize {
    tacit_engine::wire::message_bytes(shape.domain, range.len())
}

/// Stores a piece where it belongs.
pub(crate) fn store_message(shape: Register, message: &[u8], range: &Range<usize>, out: &mut Buffer) {
    unpack_columns(shape, message, range.clone(), out);
}

/// Fills a component of an input from a stream.
pub(crate) fn fill(stream: &mut PrssStream, shape: Register, input: u32, out: &mut Buffer) {
    vector::fill(stream, Draw { part: step::INPUT, op: input }, shape, out);
}
