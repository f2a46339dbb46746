//! Circuits of quotients, roots and piecewise polynomials, digit by digit or by a table.

use tacit_circuit::arith::{self, Style};
use tacit_circuit::{Builder, Wire};

use super::gates::{Columns, Word, less, plus_bit};
use crate::piecewise::{Pieces, Piecewise};
use crate::types::Range;
use crate::width::Format;

/// `a 2^by / b` to the nearest, ties up, for a `b` of 0 as for 1, in so many bits.
///
/// With `N = a 2^(by + 1) + b`, for a `b` above 0, it is `floor(N / 2 b)`, and so `floor(floor(N / 2) / b)`: a digit
/// for each bit of the result, from the highest, of an AND for each bit of `b`, or for each bit that is left of `N`
/// from the digit on, where these are fewer. A negative `N` is complemented first, and the quotient last. A `b` below
/// 0 turns both signs.
pub(super) fn ratio(
    b: &mut Builder,
    style: Style,
    x: &Word,
    y: &Word,
    [by, most]: [usize; 2],
    width: usize,
) -> Vec<Wire> {
    let turned = y.sign(b);
    let divisor_bits = y.bits.len();
    let y = y.modulo(b, divisor_bits);
    let mut y = negated_if(b, style, &y, turned);
    let mut some_from = some_from(b, style, &y);
    let none = b.not(some_from[0]);
    y[0] = b.xor(y[0], none);
    some_from[0] = b.constant(true);
    let bits = (x.bits.len() + by + 1).max(divisor_bits) + 2;
    // A bit more, for the least number's negative.
    let most_x = 1_u128 << (x.bits.len() - usize::from(x.signed));
    let x = x.modulo(b, x.bits.len() + 1);
    let x = Word { bits: negated_if(b, style, &x, turned), signed: true }.modulo(b, bits);
    let x = arith::shift_left(b, &x, by + 1);
    let raised = Word { bits: y.clone(), signed: false }.modulo(b, bits);
    let sum = arith::add(b, style, &x, &raised);
    let (below, sum) = divided_sign(b, &sum);
    let dividend = &sum[1..];
    let dividend_bits = (((most_x << (by + 1)) + (1 << divisor_bits)) >> 1).ilog2() as usize + 1;
    let digits = width.min(most).min(dividend.len());
    let high = Word { bits: dividend[digits..].to_vec(), signed: false };
    let mut quotient = Vec::with_capacity(digits);
    // What is left, from -y to y - 1, in two's complement: what isn't negative loses y next, and the rest gains it
    // (division that doesn't restore; Parhami, section 13.4). To take or to add is an exclusive or of y, so that a
    // digit costs an addition.
    //
    // While the dividend has fewer bits down to a digit than y may have, what is left is computed modulo 2 to the
    // number of these, and one more. Its sign stands in the highest, unless y has a bit beyond: then the digit is 0,
    // and what is left is less y.
    let zero = b.constant(false);
    let low = |place: usize| dividend_bits.saturating_sub(place).min(y.len());
    let mut left = high.modulo(b, low(digits));
    left.push(zero);
    let mut takes = b.constant(true);
    for (place, &bit) in dividend[..digits].iter().enumerate().rev() {
        let bits = low(place);
        left.insert(0, bit);
        left.truncate(bits + 1);
        let taken = y.iter().copied().chain([zero]).take(bits + 1);
        let other: Vec<Wire> = taken.map(|bit| b.xor(bit, takes)).collect();
        left = arith::add_modulo(b, style, &left, &other, takes);
        takes = b.not(left[bits]);
        if let Some(&beyond) = some_from.get(bits) {
            let within = b.not(beyond);
            takes = b.and(takes, within);
        }
        quotient.insert(0, takes);
    }
    let bits = low(digits);
    if width >= most && bits > 0 {
        // The high part has no bits beyond these, unless y hasn't either.
        let whole = bits == y.len();
        let high = Word { bits: if whole { high.bits } else { high.bits[..bits].to_vec() }, signed: false };
        let divisor = Word { bits: y[..bits].to_vec(), signed: false };
        let fits = less(b, style, &high, &divisor);
        let mut beyond = b.not(fits);
        if let Some(&some) = some_from.get(bits) {
            let none = b.not(some);
            beyond = b.and(beyond, none);
        }
        for digit in &mut quotient {
            *digit = or(b, *digit, beyond);
        }
    }
    for digit in &mut quotient {
        *digit = b.xor(*digit, below);
    }
    quotient.resize(width, below);
    quotient
}

/// The root of `x 2^by` to the nearest, in so many bits; 0 for an `x` below 0.
///
/// The digits of `floor(sqrt(4 x 2^by))`, from the highest, each of two bits of the square; and the half of that, rounded.
pub(super) fn root(b: &mut Builder, style: Style, x: &Word, by: u8, width: usize) -> Vec<Wire> {
    let below = x.sign(b);
    let not_below = b.not(below);
    let zero = b.constant(false);
    let mut square = vec![zero; usize::from(by) + 2];
    square.extend(x.bits.iter().map(|&bit| b.and(bit, not_below)).collect::<Vec<_>>());
    if square.len() % 2 == 1 {
        square.push(zero);
    }
    let one = b.constant(true);
    // Digits and what is left, lowest first.
    let (mut digits, mut rest): (Vec<Wire>, Vec<Wire>) = (Vec::new(), Vec::new());
    for two in square.chunks(2).rev() {
        rest.splice(0..0, two.iter().copied());
        // What is left is at most twice the digits, and so has one bit more than they; now it has three more.
        let mut trial = vec![one, zero];
        trial.extend(&digits);
        rest.resize(trial.len().max(rest.len()), zero);
        trial.resize(rest.len(), zero);
        let trial = arith::not(b, &trial);
        let (difference, not_less) = arith::add_with_carry(b, style, &rest, &trial, one);
        rest = arith::select(b, not_less, &difference, &rest);
        digits.insert(0, not_less);
        rest.truncate(digits.len() + 1);
    }
    let half = Word { bits: digits[1..].to_vec(), signed: false }.modulo(b, width);
    plus_bit(b, style, &half, digits[0])
}

/// A piecewise polynomial, in so many bits.
pub(super) fn piecewise(
    b: &mut Builder,
    style: Style,
    x: &Word,
    function: &Piecewise,
    width: usize,
) -> Vec<Wire> {
    let (selected, u) = located(b, style, x, function);
    let terms = function.terms();
    let all = Range::point(i64::MIN.into()).hull(Range::point(i64::MAX.into()));
    let mut sum: Option<Word> = None;
    for (degree, range) in (0..terms).rev().zip(function.sums(all)) {
        let coefficient = chosen(b, &selected, &function.column(degree));
        let places = usize::from(function.places());
        sum = Some(match sum {
            None if degree > 0 => coefficient,
            sum => {
                let places = if sum.is_some() { places } else { 0 };
                let guard = if degree == 0 { usize::from(function.guard()) } else { 0 };
                let bits = (Format::of_range(range.hull(Range::point(-1))).bits + 1).max(guard + 1) + places;
                let mut columns = Columns::new(bits);
                if let Some(sum) = sum {
                    columns.product(b, &sum, &u);
                }
                columns.shifted(b, &coefficient, places, false);
                columns.constant(((1_i128 << guard) >> 1) << places);
                Word { bits: columns.total(b, style)[places + guard..].to_vec(), signed: true }
            }
        });
    }
    let sum = sum.unwrap_or_else(|| Word::constant(b, 0));
    sum.modulo(b, width)
}

/// Which piece of a function a number is in, a bit for each, and the place in it.
pub(super) fn located(b: &mut Builder, style: Style, x: &Word, function: &Piecewise) -> (Vec<Wire>, Word) {
    let (selected, u) = match function.pieces() {
        Pieces::Even { low, high, bits } => even(b, style, x, [low, high], bits, function.places()),
        Pieces::Octaves { bits, parts } => octaves(b, x, bits, parts, function.places()),
    };
    (selected, Word { bits: u, signed: false })
}

/// Which of even pieces a number is in, a bit for each, and the place in it.
fn even(
    b: &mut Builder,
    style: Style,
    x: &Word,
    [low, high]: [i64; 2],
    bits: u8,
    places: u8,
) -> (Vec<Wire>, Vec<Wire>) {
    let (low, last) = (i128::from(low), i128::from(high) - i128::from(low));
    let width = Format::of_range(Range::point(last)).bits;
    let format = Format { bits: x.bits.len(), signed: x.signed };
    let from = x.modulo(b, width);
    let start = arith::constant(b, low as u128, width);
    let mut from = arith::subtract(b, style, &from, &start);
    if !format.is_at_most(i128::from(high)) {
        let end = Word::constant(b, i128::from(high));
        let above = less(b, style, &end, x);
        let end = arith::constant(b, last as u128, width);
        from = arith::select(b, above, &end, &from);
    }
    if !format.is_at_least(low) {
        let start = Word::constant(b, low);
        let below = less(b, style, x, &start);
        let not_below = b.not(below);
        for bit in &mut from {
            *bit = b.and(*bit, not_below);
        }
    }
    let bits = usize::from(bits);
    from.resize(width.max(bits), b.constant(false));
    let places = from[bits - usize::from(places)..bits].to_vec();
    let pieces = (last >> bits) as usize + 1;
    let mut selected = one_hot(b, &from[bits..]);
    selected.truncate(pieces);
    (selected, places)
}

/// Which part of which octave a number is in, a bit for each, and the place in it.
fn octaves(b: &mut Builder, x: &Word, bits: u8, parts: u8, places: u8) -> (Vec<Wire>, Vec<Wire>) {
    let [bits, parts, places] = [bits, parts, places].map(usize::from);
    let sign = x.sign(b);
    let not_below = b.not(sign);
    let mut x: Vec<Wire> = x.bits.iter().map(|&bit| b.and(bit, not_below)).collect();
    if x.len() > bits {
        let beyond = any(b, &x[bits..]);
        x.truncate(bits);
        for bit in &mut x {
            *bit = or(b, *bit, beyond);
        }
    }
    x.resize(bits, b.constant(false));
    let some = any(b, &x);
    let none = b.not(some);
    x[0] = b.xor(x[0], none);
    // Whether a bit or a higher one is set.
    let mut at_least = some_from(b, Style::Shallow, &x);
    at_least.push(b.constant(false));
    let octave: Vec<Wire> = (0..bits).map(|place| b.xor(at_least[place], at_least[place + 1])).collect();
    // The highest bit goes to the top.
    let mut moved = x;
    for power in 0..bits.next_power_of_two().ilog2() {
        let shifts = (0..bits).filter(|place| (bits - 1 - place) >> power & 1 == 1);
        let shift = one_of(b, shifts.map(|place| octave[place]));
        let further = arith::shift_left(b, &moved, 1 << power);
        moved = arith::select(b, shift, &further, &moved);
    }
    let rest = bits - 1 - parts;
    let part = one_hot(b, &moved[rest..bits - 1]);
    let selected = octave.iter().flat_map(|&octave| part.iter().map(move |&part| (octave, part)));
    let selected: Vec<(Wire, Wire)> = selected.collect();
    let selected = selected.into_iter().map(|(octave, part)| b.and(octave, part)).collect();
    (selected, moved[rest - places..rest].to_vec())
}

/// `floor(x / y)`, and what is left, for a `y` other than 0.
///
/// Where `y` is negative both are negated, which leaves the quotient and negates the rest. Then, with `!x = -x - 1`, a
/// negative `x` has `floor(x / y) = !floor(!x / y)`, and if `r` is left of `!x`, `y + !r` is left of `x`.
pub(super) fn divided(b: &mut Builder, style: Style, x: &Word, y: &Word) -> [Word; 2] {
    let bits = x.bits.len().max(y.bits.len());
    let (turned, x, y) = (y.sign(b), x.modulo(b, bits + 1), y.modulo(b, bits + 1));
    let (x, y) = (negated_if(b, style, &x, turned), negated_if(b, style, &y, turned));
    let below = x[bits];
    let complement_if_below =
        |b: &mut Builder, word: &[Wire]| -> Vec<Wire> { word.iter().map(|&bit| b.xor(bit, below)).collect() };
    let x = complement_if_below(b, &x[..bits]);
    let (mut quotient, mut rest) = arith::divide(b, style, &x, &y[..bits]);
    let zero = b.constant(false);
    quotient.push(zero);
    rest.push(zero);
    let (quotient, rest) = (complement_if_below(b, &quotient), complement_if_below(b, &rest));
    let missing: Vec<Wire> = y.iter().map(|&bit| b.and(bit, below)).collect();
    let rest = arith::add(b, style, &rest, &missing);
    let rest = negated_if(b, style, &rest, turned);
    [quotient, rest].map(|bits| Word { bits, signed: true })
}

/// `-x` where the condition holds, modulo 2^n.
pub(super) fn negated_if(b: &mut Builder, style: Style, x: &[Wire], condition: Wire) -> Vec<Wire> {
    // -x = !x + 1.
    let x: Vec<Wire> = x.iter().map(|&bit| b.xor(bit, condition)).collect();
    plus_bit(b, style, &x, condition)
}

/// Whether a word is negative, and its complement if it is: a number `x` with `floor(x / y) = !floor(!x / y)` is complemented.
fn divided_sign(b: &mut Builder, x: &[Wire]) -> (Wire, Vec<Wire>) {
    let below = x[x.len() - 1];
    (below, x.iter().map(|&bit| b.xor(bit, below)).collect())
}

/// For each number of so many bits whether it is this one. As many ANDs, and half as many once more in all halves.
fn one_hot(b: &mut Builder, bits: &[Wire]) -> Vec<Wire> {
    match bits {
        [] => vec![b.constant(true)],
        [bit] => vec![b.not(*bit), *bit],
        _ => {
            let (low, high) = bits.split_at(bits.len() / 2);
            let (low, high) = (one_hot(b, low), one_hot(b, high));
            high.iter()
                .flat_map(|&high| low.iter().map(move |&low| (high, low)))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|(high, low)| b.and(high, low))
                .collect()
        }
    }
}

/// The number of a table that is selected.
pub(super) fn chosen(b: &mut Builder, selected: &[Wire], table: &[i64]) -> Word {
    let range = Range::of_values(&table.iter().map(|&number| number.into()).collect::<Vec<_>>());
    let Format { bits, signed } = Format::of_range(range.unwrap_or(Range::point(0)));
    let bit = |place: usize| {
        selected.iter().zip(table).filter(move |(_, number)| **number >> place.min(63) & 1 == 1)
    };
    Word { bits: (0..bits).map(|place| one_of(b, bit(place).map(|(wire, _)| *wire))).collect(), signed }
}

/// The bits of which at most one is set, as one.
fn one_of(b: &mut Builder, wires: impl Iterator<Item = Wire>) -> Wire {
    let zero = b.constant(false);
    wires.fold(zero, |sum, wire| b.xor_exclusive(sum, wire))
}

/// For each place whether a bit is set there or above.
fn some_from(b: &mut Builder, style: Style, bits: &[Wire]) -> Vec<Wire> {
    let mut from = bits.to_vec();
    match style {
        Style::Small => {
            for place in (0..bits.len().saturating_sub(1)).rev() {
                from[place] = or(b, from[place], from[place + 1]);
            }
        }
        // In as many layers as doublings.
        Style::Shallow => {
            let mut reach = 1;
            while reach < bits.len() {
                let before = from.clone();
                for place in 0..bits.len() - reach {
                    from[place] = or(b, before[place], before[place + reach]);
                }
                reach *= 2;
            }
        }
    }
    from
}

fn any(b: &mut Builder, bits: &[Wire]) -> Wire {
    let complements = arith::not(b, bits);
    let none = arith::all(b, &complements);
    b.not(none)
}

fn or(b: &mut Builder, x: Wire, y: Wire) -> Wire {
    let (differ, both) = (b.xor(x, y), b.and(x, y));
    b.xor_exclusive(differ, both)
}

#[cfg(test)]
mod tests;
