//! The client of parties whose shares add up.
//!
//! **Without MACs** all shares of an input but one are streams, and the message is the rest. **With MACs** the parties send the
//! client shares of a triple, whose first factor is the mask of its input, and which it checks before it uses any; it tells all
//! parties what is left. Numbers that have to be in a range are told bit by bit ([`Digits`]). What the parties say of an output all
//! say alike.

use crate::digits::Digits;
use crate::vector::{add_assign, fill, mul_add, row, sub_assign};
use crate::{Fault, bytes_of, with_element};
use tacit_kernel::{Buffer, Element, bits};
use tacit_program::plan::{Domain, Register};
use tacit_wire::{Draw, PrssStream, step};

/// What is left of an input after the shares that are streams: the first party's share.
///
/// # Security
/// Once for an input: the streams hide one value at each address.
pub fn rest_of<'a>(
    streams: impl IntoIterator<Item = &'a mut PrssStream>,
    input: u32,
    shape: Register,
    values: &Buffer,
) -> Buffer {
    let mut rest = values.clone();
    let mut share = Buffer::new(rest.len());
    for stream in streams {
        fill(stream, Draw { part: step::INPUT, op: input }, shape, &mut share);
        sub_assign(shape, &mut rest, &share);
    }
    share.wipe();
    rest
}

/// The same of the streams under these keys, one with each of the other parties.
pub fn rest_of_keys(keys: &[[u8; 16]], lane: u16, input: u32, shape: Register, values: &Buffer) -> Buffer {
    let mut streams: Vec<PrssStream> = keys.iter().map(|key| PrssStream::new(key, lane)).collect();
    rest_of(&mut streams, input, shape, values)
}

/// Values less their mask: what all parties are told.
pub fn masked(shape: Register, values: &Buffer, mask: &Buffer) -> Buffer {
    let mut told = values.clone();
    sub_assign(shape, &mut told, mask);
    told
}

/// What the parties tell a client of a vector: shares of a triple, if any, whose vectors follow one another, and then what all of
/// them say alike, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The vector's shape.
    pub shape: Register,
    /// Whether there are shares of a triple.
    pub triple: bool,
    /// Whether something is said alike.
    pub said: bool,
}

impl Told {
    /// The shape of each party's message.
    pub fn message(&self) -> Register {
        let vectors = 3 * usize::from(self.triple) + usize::from(self.said);
        row(self.shape.domain, vectors * self.shape.cols)
    }

    /// The mask that the triple's first factor is, and what is said, of what each party tells. `name` says who the party of a
    /// number is.
    ///
    /// # Errors
    /// [`Fault::Deviates`] if one party says something else than others, or the triple is none.
    pub fn read<'a>(
        &self,
        messages: impl IntoIterator<Item = &'a Buffer>,
        name: impl Fn(usize) -> String,
    ) -> Result<(Buffer, Buffer), Fault> {
        let shape = row(self.shape.domain, if self.triple { 3 * self.shape.cols } else { 0 });
        let masks = bytes_of(shape.domain, shape.cols);
        let mut sum = Buffer::new(masks);
        let mut opened: Option<Buffer> = None;
        for (party, message) in messages.into_iter().enumerate() {
            let said = buffer(&message.bytes()[masks..]);
            if opened.get_or_insert_with(|| said.clone()).bytes() != said.bytes() {
                return Err(Fault::Deviates(format!("{} says something else than others", name(party))));
            }
            add_assign(shape, &mut sum, &buffer(&message.bytes()[..masks]));
        }
        let mask = if masks == 0 { Buffer::default() } else { self.checked_mask(sum.bytes())? };
        sum.wipe();
        Ok((mask, opened.unwrap_or_default()))
    }

    /// The first factor of a triple.
    fn checked_mask(&self, triple: &[u8]) -> Result<Buffer, Fault> {
        let bytes = bytes_of(self.shape.domain, self.shape.cols);
        let [mut mask, mut factor, mut product] =
            [0, 1, 2].map(|which| buffer(&triple[which * bytes..][..bytes]));
        let mut expected = Buffer::new(bytes);
        mul_add(self.shape.domain, &mask, &factor, &mut expected);
        let fits = expected.bytes() == product.bytes();
        [&mut factor, &mut product, &mut expected].into_iter().for_each(Buffer::wipe);
        if !fits {
            mask.wipe();
            return Err(Fault::Deviates("the parties' mask doesn't fit its proof".to_owned()));
        }
        Ok(mask)
    }
}

/// The bits of numbers, each XOR its mask: the sum of what the owner knows and of what was opened.
///
/// # Errors
/// [`Fault::Refused`] if a number isn't in its range; [`Fault::Deviates`] if a mask is no bit.
pub fn masked_bits(
    digits: &Digits,
    (input, shape): (u32, Register),
    values: &Buffer,
    [known, opened]: [&Buffer; 2],
) -> Result<Buffer, Fault> {
    let outside = || Fault::Refused(format!("a value for input {input} is outside of its range"));
    let mut told = digits.of_numbers(shape, values).ok_or_else(outside)?;
    let [told_shape, elements] = digits.shapes(shape);
    let mut sum = known.clone();
    add_assign(elements, &mut sum, opened);
    let mut masks = Buffer::new(bytes_of(Domain::Bits, told_shape.cols));
    let mut above = 0;
    with_element!(shape.domain, E => {
        for (place, mask) in sum.words::<E>().iter().enumerate() {
            let mask = mask.to_u128();
            above |= mask >> 1;
            bits::set(masks.words_mut(), place, mask & 1 == 1);
        }
    });
    sum.wipe();
    if above != 0 {
        told.wipe();
        masks.wipe();
        return Err(Fault::Deviates("what hides a bit of an input is no bit".to_owned()));
    }
    add_assign(told_shape, &mut told, &masks);
    masks.wipe();
    Ok(told)
}

/// A buffer of some bytes.
fn buffer(bytes: &[u8]) -> Buffer {
    let mut buffer = Buffer::new(bytes.len());
    buffer.bytes_mut().copy_from_slice(bytes);
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::plan::Width;

    const SHAPE: Register = row(Domain::Ring(Width::W64), 2);

    fn numbers(words: &[u64]) -> Buffer {
        let mut buffer = Buffer::of_words::<u64>(words.len());
        buffer.words_mut::<u64>().copy_from_slice(words);
        buffer
    }

    #[test]
    fn shares_of_an_input_add_up() {
        let streams = || [PrssStream::new(&[1; 16], 0), PrssStream::new(&[2; 16], 0)];
        let mut sum = rest_of(&mut streams(), 4, SHAPE, &numbers(&[17, 42]));
        for mut stream in streams() {
            let mut share = Buffer::new(sum.len());
            fill(&mut stream, Draw { part: step::INPUT, op: 4 }, SHAPE, &mut share);
            add_assign(SHAPE, &mut sum, &share);
        }
        assert_eq!(sum.words::<u64>(), [17, 42]);
    }

    #[test]
    fn a_mask_has_to_be_a_triples_and_what_is_said_the_same() {
        let told = Told { shape: SHAPE, triple: true, said: true };
        // Masks 3 and 5, factors 7 and 11, products, and what is said.
        let whole: [u64; 8] = [3, 5, 7, 11, 21, 55, 1, 2];
        let one: [u64; 8] = [9, 8, 7, 6, 5, 4, 1, 2];
        let mut other = [0; 8];
        (0..6).for_each(|at| other[at] = whole[at].wrapping_sub(one[at]));
        other[6..].copy_from_slice(&[1, 2]);
        let read = |one: &[u64], other: &[u64]| {
            told.read(&[numbers(one), numbers(other)], |party| format!("P{party}"))
        };
        let (mask, said) = read(&one, &other).unwrap();
        assert_eq!((mask.words::<u64>(), said.words::<u64>()), (&[3, 5][..], &[1, 2][..]));
        assert_eq!(masked(SHAPE, &numbers(&[10, 10]), &mask).words::<u64>(), [7, 5]);
        for place in 0..8 {
            let mut changed = other;
            changed[place] ^= 1;
            let fault = read(&one, &changed).unwrap_err();
            let says = if place < 6 { "doesn't fit its proof" } else { "P1 says something else" };
            assert!(matches!(&fault, Fault::Deviates(what) if what.contains(says)), "{fault}");
        }
    }
}
