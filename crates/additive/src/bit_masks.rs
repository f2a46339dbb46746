//! Inputs that have to be in a range: bit by bit, so that whatever their owner tells is a number in the range
//! ([`crate::ranges`]).
//!
//! **Before inputs.** For each bit all have shares of a random bit `r`, and of a mask `a` that the owner knows: a party's is
//! a supply's, and a client's the first factor of a triple, which it is proved by ([`crate::inputs`]). All open `d = r - a` to
//! all, which `a` hides, and check it, as owners use it: a wrong one would have an owner whose bit it changes tell its input.
//! The owner has `r = d + a`.
//!
//! **Inputs.** The owner of a bit `b` tells all `t = b XOR r`. Whatever `t` is, `t + (1 - 2 t) r` is a bit.

use crate::demand;
use crate::inputs::own_values;
use crate::messages::{bit_masks_at, input_at, send, send_first, sum_of_shares};
use crate::planted::{Mistake, planted};
use crate::ranges::{Digits, digits_of, ranged};
use crate::share::Share;
use crate::state::{BitMasks, Given, Party};
use crate::vectors::{joined, part_of, row};
use tacit_client::additive::masked_bits;
use tacit_engine::supply::Drawer;
use tacit_engine::{Clear, Error, Fault, with_element};
use tacit_kernel::Buffer;
use tacit_program::plan::Domain;
use tacit_session::Session;

impl Party {
    /// The digits of an input that goes bit by bit.
    pub(crate) fn digits(&self, input: u32) -> Option<Digits> {
        digits_of(&self.plan, &self.plan.inputs[input as usize])
    }

    /// Draws what hides the bits of inputs that have to be in ranges, opens what their owners need, and checks it.
    pub(crate) fn mask_bits(&mut self) -> Result<(), Error> {
        self.bit_masks.clear();
        for (input, digits) in ranged(&self.plan) {
            let masks = self.bit_mask(input, &digits)?;
            self.bit_masks.insert(input, masks);
        }
        for (number, &domain) in (0..).zip(self.manner.fields) {
            self.open_bit_masks(number, domain)?;
        }
        if self.bit_masks.is_empty() || planted(Mistake::BitMasksUnchecked) {
            return Ok(());
        }
        self.check_macs()
    }

    /// One input's, of which nothing is opened yet.
    fn bit_mask(&mut self, input: u32, digits: &Digits) -> Result<BitMasks, Error> {
        let (owner, ..) = self.input(input);
        let plan = self.plan.clone();
        let mut shares = Vec::new();
        let mut known = None;
        for (kind, items) in demand::input(&plan, &self.participants, &plan.inputs[input as usize]) {
            let drawn = self.drawn(Drawer::Input(input), kind, 0..items)?;
            shares.extend(drawn.shares);
            known = known.or(drawn.known);
        }
        let masks = shares.pop().expect("random bits come last");
        let (_, _, shape) = self.input(input);
        let [_, elements] = digits.shapes(shape);
        let mut opened = masks.clone();
        opened.sub_assign(elements, &shares[0]);
        let triple = if owner >= self.session.parties() { shares } else { Vec::new() };
        Ok(BitMasks { masks, opened, known, triple })
    }

    /// Opens those of a field, one input's after another's.
    fn open_bit_masks(&mut self, number: u16, domain: Domain) -> Result<(), Error> {
        let plan = self.plan.clone();
        let is_here = |input: &u32| plan.register(plan.inputs[*input as usize].reg).domain == domain;
        let inputs: Vec<u32> = self.bit_masks.keys().copied().filter(is_here).collect();
        let shares = inputs.iter().map(|input| &self.bit_masks[input].opened);
        let macs: Vec<&Buffer> = shares.clone().filter_map(|share| share.mac.as_ref()).collect();
        let mut all = Share { value: joined(shares.map(|share| &share.value)), mac: Some(joined(macs)) };
        let shape = row(domain, with_element!(domain, E => all.value.words::<E>().len()));
        if shape.is_empty() {
            return Ok(());
        }
        let (others, at) = (self.others(), |batch| bit_masks_at(number, batch));
        send_first(&mut self.session, &others, shape, &all.value, at)?;
        all.value = sum_of_shares(&mut self.session, (&others, &others), shape, &all.value, at)?;
        let mut start = 0;
        for input in inputs {
            let masks = self.bit_masks.get_mut(&input).expect("it was just opened");
            let count = with_element!(domain, E => masks.opened.value.words::<E>().len());
            masks.opened.value = part_of(domain, &all.value, start, count);
            start += count;
        }
        self.record(shape, all);
        Ok(())
    }

    /// Tells all what hides the bits of an own input; to a client goes what its masks are.
    pub(crate) fn share_bits(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let (owner, _, shape) = self.input(input);
        let digits = self.digits(input).expect("only such inputs go bit by bit");
        let BitMasks { masks, opened, known, triple } =
            self.bit_masks.remove(&input).expect("what hides it comes before the input");
        let [told_shape, elements] = digits.shapes(shape);
        if owner >= self.session.parties() {
            let all = joined(triple.iter().chain([&opened]).map(|share| &share.value));
            let shape = row(shape.domain, 4 * elements.cols);
            send(self.session.mesh(), owner, shape, &all, |batch| input_at(input, batch))?;
        }
        let mut told = None;
        if owner == self.session.me() {
            let values = own_values(input, shape, values)?;
            let known = known.ok_or_else(|| Error::Supply("no mask of this party's came".to_owned()))?;
            let bits = masked_bits(&digits, (input, shape), values, [&*known, &opened.value]);
            let bits = bits.map_err(|fault| failed(&mut self.session, fault))?;
            self.tell(input, told_shape, &bits)?;
            told = Some(bits);
        }
        self.given.insert(input, Given { mask: masks, told });
        Ok(())
    }

    /// Receives what an owner tells, and makes a number of the bits.
    pub(crate) fn receive_bits(&mut self, input: u32) -> Result<(), Error> {
        let (_, reg, shape) = self.input(input);
        let digits = self.digits(input).expect("only such inputs go bit by bit");
        let [told_shape, _] = digits.shapes(shape);
        let (masks, told) = self.hear(input, told_shape)?;
        let mut share = masks.map(|masks| digits.masked(shape, &told, masks));
        self.add_public(shape, &mut share, &digits.public(shape, &told));
        self.put_share(reg, share);
        Ok(())
    }
}

/// What ends a run, of what a client or an owner of bits finds.
pub(crate) fn failed(session: &mut Session, fault: Fault) -> Error {
    match fault {
        Fault::Refused(why) => Error::Refused(why),
        Fault::Deviates(what) => session.reject(&what).into(),
    }
}
