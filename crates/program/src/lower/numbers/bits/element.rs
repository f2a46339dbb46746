//! The circuit of one element of an operation's result.

use tacit_circuit::arith::{self, Style};
use tacit_circuit::{self as circuit, Wire};

use super::functions;
use super::gates::{self, Columns, Word, plus_bit};
use crate::operations::{Extreme, Operation};

/// From so many instances on a circuit has few ANDs rather than few rounds: a round trip within a rack takes about
/// as long as what an addition saves on so many.
pub(super) const MANY: usize = 1 << 14;

/// Few rounds or few ANDs, whichever is faster for so many instances.
pub(super) const fn style(instances: usize) -> Style {
    if instances < MANY { Style::Shallow } else { Style::Small }
}

/// One element of a result, modulo 2^width.
pub(super) fn element(
    operation: &Operation,
    b: &mut circuit::Builder,
    style: Style,
    words: &[Word],
    width: usize,
) -> Vec<Wire> {
    let x = &words[0];
    match operation {
        Operation::Add => {
            let (x, y) = (x.modulo(b, width), words[1].modulo(b, width));
            arith::add(b, style, &x, &y)
        }
        Operation::Sub => {
            let (x, y) = (x.modulo(b, width), words[1].modulo(b, width));
            arith::subtract(b, style, &x, &y)
        }
        Operation::Neg => {
            let x = x.modulo(b, width);
            arith::negate(b, style, &x)
        }
        Operation::Less => vec![gates::less(b, style, x, &words[1])],
        Operation::Equal => vec![gates::equal(b, x, &words[1])],
        Operation::Where => gates::select(b, x.bits[0], &words[1], &words[2], width),
        Operation::Pick(which) => {
            let y = &words[1];
            let beaten = beaten(b, style, *which, x, y);
            gates::select(b, beaten, y, x, width)
        }
        Operation::Clip => {
            let (low, high) = (&words[1], &words[2]);
            let below = gates::less(b, style, x, low);
            let above = gates::less(b, style, high, x);
            let x = Word { bits: gates::select(b, above, high, x, width), signed: x.signed };
            gates::select(b, below, low, &x, width)
        }
        Operation::Abs => {
            let (sign, x) = (x.sign(b), x.modulo(b, width));
            functions::negated_if(b, style, &x, sign)
        }
        Operation::Relu => {
            let sign = x.sign(b);
            let positive = b.not(sign);
            let x = x.modulo(b, width);
            x.iter().map(|&bit| b.and(bit, positive)).collect()
        }
        Operation::Scale { by } => {
            let x = x.modulo(b, width);
            arith::shift_left(b, &x, usize::from(*by))
        }
        Operation::Truncate { by, .. } => {
            // The highest bit that goes is what the quotient is raised by.
            let by = usize::from(*by);
            let bits = x.modulo(b, (by + width).max(x.bits.len()));
            plus_bit(b, style, &bits[by..by + width], bits[by - 1])
        }
        Operation::WideProduct { by, .. } => {
            let by = usize::from(*by);
            let mut columns = Columns::new(by + width);
            columns.product(b, x, &words[1]);
            columns.constant(1 << (by - 1));
            columns.total(b, style)[by..].to_vec()
        }
        Operation::Ratio { by, bits } => {
            functions::ratio(b, style, x, &words[1], [*by, *bits].map(usize::from), width)
        }
        Operation::Root { by } => functions::root(b, style, x, *by, width),
        Operation::Piecewise(function) => functions::piecewise(b, style, x, function, width),
        Operation::Divide => functions::divided(b, style, x, &words[1])[0].modulo(b, width),
        Operation::Remainder => functions::divided(b, style, x, &words[1])[1].modulo(b, width),
        _ => unreachable!("{} is not made element by element of numbers", operation.name()),
    }
}

/// Whether the right one of two is chosen: it has to beat the left one.
pub(super) fn beaten(
    b: &mut circuit::Builder,
    style: Style,
    which: Extreme,
    left: &Word,
    right: &Word,
) -> Wire {
    match which {
        Extreme::Max => gates::less(b, style, left, right),
        Extreme::Min => gates::less(b, style, right, left),
    }
}
