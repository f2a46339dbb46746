//! Inputs: by streams that their owner has with the parties, or, where values are authenticated, under masks.
//!
//! **Masks.** A party that owns an input knows a mask `r` of which all have shares, and tells all `x - r`. All add that to their
//! shares; what was told is compared before the next check, and nothing before it shows anything of `x`.
//!
//! **A client** has no mask of a supply's. The parties send it their shares of a triple `r`, `v`, `r v`. Whoever adds to them
//! and is not noticed has guessed `v` or `r` (Damgard, Damgard, Nielsen, Nordholt, Toft 2016): a probability below 2/p in a
//! field of p elements. Then it tells all `x - r`.
//!
//! Numbers that have to be in a range go bit by bit ([`crate::bit_masks`]).

use crate::demand::mask;
use crate::messages::{input_at, input_draw, receive, send};
use crate::share::Share;
use crate::state::{Given, Party};
use crate::vectors::{joined, row};
use tacit_engine::supply::Drawer;
use tacit_engine::vector::{fill, sub_assign};
use tacit_engine::{Clear, Error, bytes_of};
use tacit_kernel::Buffer;
use tacit_program::plan::Register;

impl Party {
    /// Draws all shares of an own input but this party's, which is what is left.
    pub(crate) fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, reg, shape) = self.input(input);
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
    pub(crate) fn receive_share(&mut self, input: u32) -> Result<(), Error> {
        let (owner, reg, shape) = self.input(input);
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
    pub(crate) fn share_masked(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, _, shape) = self.input(input);
        let (kind, items) = mask(owner, &self.participants, shape);
        let mut drawn = self.drawn(Drawer::Input(input), kind, 0..items)?;
        if owner >= self.session.parties() {
            let all = joined(drawn.shares.iter().map(|share| &share.value));
            let shape = row(shape.domain, 3 * shape.cols);
            send(self.session.mesh(), owner, shape, &all, |batch| input_at(input, batch))?;
        }
        let mut told = None;
        if owner == self.session.me() {
            let values = own_values(input, shape, values)?;
            let mask = drawn.known.ok_or_else(|| Error::Supply("no mask of this party's came".to_owned()))?;
            // Nothing is left of the input's own copy.
            let mut values = values.clone();
            sub_assign(shape, &mut values, &mask);
            self.tell(input, shape, &values)?;
            told = Some(values);
        }
        self.given.insert(input, Given { mask: drawn.shares.swap_remove(0), told });
        Ok(())
    }

    /// Receives what an owner tells, and adds it to the mask.
    pub(crate) fn receive_masked(&mut self, input: u32) -> Result<(), Error> {
        let (_, reg, shape) = self.input(input);
        let (mut share, told) = self.hear(input, shape)?;
        self.add_public(shape, &mut share, &told);
        self.put_share(reg, share);
        Ok(())
    }

    /// Tells all others what hides an own input.
    pub(crate) fn tell(&mut self, input: u32, shape: Register, told: &Buffer) -> Result<(), Error> {
        for party in self.others() {
            send(self.session.mesh(), party, shape, told, |batch| input_at(input, batch))?;
        }
        Ok(())
    }

    /// What hides an input that is under way, and what its owner tells, which is noted.
    pub(crate) fn hear(&mut self, input: u32, shape: Register) -> Result<(Share, Buffer), Error> {
        let (owner, ..) = self.input(input);
        let Given { mask, told } = self.given.remove(&input).expect("an input is given before it is taken");
        let told = match told {
            Some(told) => told,
            None => receive(self.session.mesh(), owner, shape, |batch| input_at(input, batch))?,
        };
        self.note_told(&told);
        Ok((mask, told))
    }
}

/// The values of an own input, in the plan's shape.
pub(crate) fn own_values(input: u32, shape: Register, values: Option<&Clear>) -> Result<&Buffer, Error> {
    let values = values.ok_or_else(|| Error::Refused(format!("no values for input {input}")))?;
    if (values.domain(), values.cols()) != (shape.domain, shape.cols) {
        return Err(Error::Refused(format!("input {input} has another shape than the plan's")));
    }
    Ok(values.data())
}
