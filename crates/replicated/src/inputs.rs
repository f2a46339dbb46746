//! How values come in, and go out to clients where nothing is confirmed.
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

use crate::scheme::{SCHEME, held_streams};
use crate::state::ReplicatedEngine;
use crate::step;
use tacit_client::components::InputStreams;
use tacit_engine::vector::{self, add_assign, sub_assign};
use tacit_engine::wire::message_of;
use tacit_engine::{Clear, Error};
use tacit_kernel::Buffer;
use tacit_program::plan::{Reg, Register};
use tacit_session::{Draw, PrssStream, Session};
use tacit_threeparty::messages::{SEED_BYTES, input_at, recv_vector, seed_at, send_vector};
use tacit_threeparty::{PARTIES, Scheme, next, prev};
use zeroize::Zeroizing;

impl ReplicatedEngine {
    pub(crate) fn give_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, reg, shape) = self.party.input(input);
        if owner != self.me {
            return Ok(());
        }
        let values = self.party.own_values(input, values)?;
        let mut own = self.party.own.take(reg);
        fill(self.key(next(owner)), shape, input, &mut own);
        let mut rest = self.party.prev.take(reg);
        rest.bytes_mut().copy_from_slice(values.data().bytes());
        sub_assign(shape, &mut rest, &own);
        self.party.own.put(reg, own);
        send_vector(&mut self.party.session, &[prev(owner)], |batch| input_at(input, batch), shape, &rest)?;
        self.party.prev.put(reg, rest);
        Ok(())
    }

    pub(crate) fn take_input(&mut self, input: u32) -> Result<(), Error> {
        let (owner, reg, shape) = self.party.input(input);
        if owner >= PARTIES {
            self.take_from_client(input, owner, reg, shape)?;
        } else if self.me == next(owner) {
            self.party.own.zero(reg);
            let mut component = self.party.prev.take(reg);
            fill(self.key(owner), shape, input, &mut component);
            self.party.prev.put(reg, component);
        } else if self.me == prev(owner) {
            self.party.prev.zero(reg);
            self.recv_component(input, owner, reg, self.me)?;
        }
        match &mut self.verified {
            Some(verified) if self.party.is_last_input(input) => {
                verified.compare_given(&mut self.party.session)
            }
            _ => Ok(()),
        }
    }

    fn take_from_client(
        &mut self,
        input: u32,
        client: usize,
        reg: Reg,
        shape: Register,
    ) -> Result<(), Error> {
        if !self.clients.contains_key(&client) {
            let streams = self.client_streams(client)?;
            self.clients.insert(client, streams);
        }
        for (component, stream) in self.clients.get_mut(&client).into_iter().flatten() {
            fill(stream, shape, input, self.party.component_mut(*component).make(reg));
        }
        if self.party.holds(SCHEME.masked) {
            self.recv_component(input, client, reg, SCHEME.masked)?;
        }
        if let Some(verified) = &mut self.verified {
            let components = [&self.party.own, &self.party.prev].map(|bank| bank.get(reg));
            verified.given(components.map(|component| message_of(shape, component, &(0..shape.cols))));
        }
        Ok(())
    }

    fn recv_component(&mut self, input: u32, from: usize, reg: Reg, component: usize) -> Result<(), Error> {
        let shape = self.party.plan.register(reg);
        let mut values = self.party.component_mut(component).take(reg);
        recv_vector(&mut self.party.session, from, |batch| input_at(input, batch), shape, &mut values)?;
        self.party.component_mut(component).put(reg, values);
        Ok(())
    }

    /// Receives the client's seeds, before its first input: the streams of the components that this party holds.
    fn client_streams(&mut self, client: usize) -> Result<Vec<(usize, PrssStream)>, Error> {
        let held: Vec<usize> = held_streams(self.me).collect();
        let lane = self.party.session.lane();
        let seeds = self.party.session.mesh().recv(client, seed_at(), held.len() * SEED_BYTES)?;
        let seeds = Zeroizing::new(seeds);
        let streams = held.into_iter().zip(seeds.as_chunks().0);
        Ok(streams.map(|(component, seed)| (component, PrssStream::new(seed, lane))).collect())
    }

    /// Sends clients this party's part of an output, which nobody confirms.
    pub(crate) fn send_part(&mut self, output: u32) -> Result<(), Error> {
        if self.party.clients(output).is_empty() {
            return Ok(());
        }
        let (reg, shape, _) = self.party.output(output);
        let mut masked = Buffer::new(self.party.own.get(reg).len());
        let (key, prev_key) = self.party.session.two_streams(next(self.me), prev(self.me));
        let draw = Draw { part: step::OUTPUT, op: output };
        vector::fill_difference(key, prev_key, draw, shape, &mut masked);
        add_assign(shape, &mut masked, self.party.own.get(reg));
        self.party.send_to_clients(output, &masked)
    }
}

/// A client draws the two seeds and gives each to the two parties that hold its component.
pub(crate) fn give_seeds(session: &mut Session, scheme: &Scheme) -> Result<InputStreams, Error> {
    let mut seeds = Zeroizing::new([[0; SEED_BYTES]; 2]);
    for seed in seeds.iter_mut() {
        session.entropy().fill(seed)?;
    }
    for party in scheme.parties {
        let given: Vec<[u8; SEED_BYTES]> = held_streams(party).map(|component| seeds[component]).collect();
        let given = Zeroizing::new(given);
        session.mesh().send(party, seed_at(), given.as_flattened())?;
    }
    Ok(InputStreams::new(&seeds, session.lane()))
}

/// Fills a component of an input from a stream.
fn fill(stream: &mut PrssStream, shape: Register, input: u32, out: &mut Buffer) {
    vector::fill(stream, Draw { part: step::INPUT, op: input }, shape, out);
}
