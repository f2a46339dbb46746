//! Inputs: by streams that their owner has with the parties, or, where values are authenticated, under masks.
//!
//! **Masks.** A party that owns an input knows a mask `r` of which all have shares, and tells all `x - r`. All add that to their
//! shares; what was told is compared with the next check, and nothing before it shows anything of `x`.
//!
//! **A client** has no mask of the dealer's. The parties send it their shares of a triple `r`, `v`, `r v`. Whoever adds to them
//! and is not noticed has guessed `v` or `r` (Damgard, Damgard, Nielsen, Nordholt, Toft 2016): a probability below 2/p in a
//! field of p elements. Then it tells all `x - r`.

use tacit_engine::supply::Drawer;
use tacit_engine::vector::{fill, sub_assign};
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_engine::{Clear, Error, bytes_of};
use tacit_kernel::Buffer;
use tacit_net::Mesh;
use tacit_program::plan::Register;
use tacit_session::At;

use super::dealer::row;
use super::demand::mask;
use super::engine::{AdditiveEngine, input_at, input_draw};
use super::share::Share;

/// An input that is under way.
pub(super) struct Given {
    /// Of its mask.
    mask: Share,
    /// What its owner tells, where this is the owner.
    told: Option<Buffer>,
}

impl AdditiveEngine {
    /// Draws all shares of an own input but this party's, which is what is left.
    pub(super) fn give(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, reg, shape) = self.input_shape(input);
        if owner != self.session.me() {
            return Ok(());
        }
        let mut rest = own_values(input, shape, values)?.clone();
        let mut share = Buffer::new(rest.len());
        for party in self.others() {
            fill(self.session.stream(party), input_draw(input), shape, &mut share);
            sub_assign(shape, &mut rest, &share);
        }
        self.bank.put(reg, rest);
        Ok(())
    }

    /// Draws a share of another's input, or receives what is left of a client's.
    pub(super) fn take(&mut self, input: u32) -> Result<(), Error> {
        let (owner, reg, shape) = self.input_shape(input);
        if owner == self.session.me() {
            return Ok(());
        }
        let share = if self.is_first() && owner >= self.session.parties() {
            receive(self.session.mesh(), owner, shape, |batch| input_at(input, batch))?
        } else {
            let mut share = Buffer::new(bytes_of(shape.domain, shape.cols));
            fill(self.session.stream(owner), input_draw(input), shape, &mut share);
            share
        };
        self.bank.put(reg, share);
        Ok(())
    }

    /// Draws a mask; its owner tells all what is left of the input, and to a client go shares of its mask.
    pub(super) fn give_masked(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, _, shape) = self.input_shape(input);
        let (kind, items) = mask(owner, &self.participants, shape);
        let mut drawn = self.drawn(Drawer::Input(input), kind, 0..items)?;
        if owner >= self.session.parties() {
            let triple = drawn.shares;
            let all = joined(&triple);
            let shape = row(shape.domain, 3 * shape.cols);
            send(self.session.mesh(), owner, shape, &all, |batch| input_at(input, batch))?;
            let mask = triple.into_iter().next().expect("a triple has three vectors");
            self.given.insert(input, Given { mask, told: None });
            return Ok(());
        }
        let own =
            if owner == self.session.me() { Some(own_values(input, shape, values)?.clone()) } else { None };
        let mut told = None;
        if let (Some(mut values), Some(mask)) = (own, drawn.known) {
            sub_assign(shape, &mut values, &mask);
            for party in self.others() {
                send(self.session.mesh(), party, shape, &values, |batch| input_at(input, batch))?;
            }
            told = Some(values);
        }
        self.given.insert(input, Given { mask: drawn.shares.remove(0), told });
        Ok(())
    }

    /// Receives what an owner tells, and adds it to the mask.
    pub(super) fn take_masked(&mut self, input: u32) -> Result<(), Error> {
        let (owner, reg, shape) = self.input_shape(input);
        let Given { mask: mut share, told } =
            self.given.remove(&input).expect("an input is given before it is taken");
        let told = match told {
            Some(told) => told,
            None => receive(self.session.mesh(), owner, shape, |batch| input_at(input, batch))?,
        };
        self.add_public(shape, &mut share, &told);
        self.note(shape, &told);
        self.put_share(reg, share);
        Ok(())
    }
}

/// The values of an own input, in the plan's shape.
fn own_values(input: u32, shape: Register, values: Option<&Clear>) -> Result<&Buffer, Error> {
    let values = values.ok_or_else(|| Error::Refused(format!("no values for input {input}")))?;
    if (values.domain(), values.cols()) != (shape.domain, shape.cols) {
        return Err(Error::Refused(format!("input {input} has another shape than the plan's")));
    }
    Ok(values.data())
}

/// The values of several vectors of one shape, one after another.
pub(super) fn joined(shares: &[Share]) -> Buffer {
    let mut all = Buffer::new(shares.iter().map(|share| share.value.len()).sum());
    let mut rest = all.bytes_mut();
    for share in shares {
        let (own, after) = rest.split_at_mut(share.value.len());
        own.copy_from_slice(share.value.bytes());
        rest = after;
    }
    all
}

/// Sends a vector, in messages of the usual length.
pub(super) fn send(
    mesh: &mut Mesh,
    to: usize,
    shape: Register,
    values: &Buffer,
    at: impl Fn(u32) -> At,
) -> Result<(), Error> {
    for (batch, range) in pieces(shape) {
        mesh.send(to, at(batch), &message_of(shape, values, &range))?;
    }
    Ok(())
}

/// Receives a vector.
pub(super) fn receive(
    mesh: &mut Mesh,
    from: usize,
    shape: Register,
    at: impl Fn(u32) -> At,
) -> Result<Buffer, Error> {
    let mut values = Buffer::new(bytes_of(shape.domain, shape.cols));
    for (batch, range) in pieces(shape) {
        let message = mesh.recv(from, at(batch), message_bytes(shape.domain, range.len()))?;
        unpack_columns(shape, &message, range, &mut values);
    }
    Ok(values)
}
