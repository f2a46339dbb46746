//! Extremes along an axis: neighbours meet, winners go on, and the left one stays unless the right one beats it.
//!
//! Where the winner stood is written bit by bit: after a level its next bit says whether it came from the right.

use tacit_circuit::arith;

use super::element::beaten;
use super::gates::Word;
use super::number::Number;
use super::operand::Term;
use crate::lower::lowering::Lowering;
use crate::node::NodeId;
use crate::operations::Extreme;
use crate::plan::Operand;
use crate::plan::{Domain, Local, Public};
use crate::shape::Span;
use crate::types::Type;
use crate::width::Format;

/// What still competes, the axis first.
struct Field {
    /// A value and what is known of its place, as one word. Signed if the value is.
    entries: Number,
    /// Bits of the value.
    value: usize,
    which: Extreme,
    /// Whether places are looked for.
    places: bool,
}

impl Lowering<'_> {
    /// The extreme itself: ceil(log2 n) levels and n - 1 matches for each place of the result, a comparison and a
    /// choice each.
    pub(super) fn number_extremum(&mut self, id: NodeId, which: Extreme, axis: usize, ty: &Type) -> Number {
        let mut field = self.number_field(id, which, axis, false);
        while field.entries.layout.shape[0] > 1 {
            field = self.number_level(field, true);
        }
        self.reshaped(&field.entries, &ty.shape)
    }

    /// Where the extreme first stands. The last level needs no values.
    pub(super) fn number_arg_extremum(
        &mut self,
        id: NodeId,
        which: Extreme,
        axis: usize,
        ty: &Type,
    ) -> Number {
        let mut field = self.number_field(id, which, axis, true);
        let length = field.entries.layout.shape[0];
        if length == 1 {
            let dst = self.fresh(Domain::Bits, ty.len());
            self.plan.local(Local::Constant { value: Public::Splat(0), dst });
            return Number::whole(dst, &ty.shape, Format { bits: 1, signed: false });
        }
        while field.entries.layout.shape[0] > 1 {
            let last = field.entries.layout.shape[0] == 2;
            field = self.number_level(field, !last);
        }
        self.reshaped(&field.entries, &ty.shape)
    }

    fn number_field(&mut self, id: NodeId, which: Extreme, axis: usize, places: bool) -> Field {
        let rank = self.ty(id).rank();
        let order: Vec<usize> = std::iter::once(axis).chain((0..rank).filter(|&at| at != axis)).collect();
        let entries = self.number(id).transpose(&order);
        Field { value: entries.format().bits, entries, which, places }
    }

    fn number_level(&mut self, field: Field, keep_values: bool) -> Field {
        let Field { entries, value, which, places } = field;
        let Format { bits, signed } = entries.format();
        let length = entries.layout.shape[0];
        let matches = length / 2;
        let mut side = |start| {
            let all = entries.part(0, Span { start, step: 2, count: matches });
            Term::Register(Operand::Each(self.laid(&all)), Format { bits, signed })
        };
        let sides = [side(0), side(1)];
        let mut shape = entries.layout.shape[..entries.rank()].to_vec();
        shape[0] = matches;
        let instances: usize = shape.iter().product();
        let kept = if keep_values { value } else { 0 };
        let format =
            Format { bits: kept + bits - value + usize::from(places), signed: signed && keep_values };
        let winners = self.evaluate(&sides, instances, |b, style, words| {
            let of = |word: &Word| Word { bits: word.bits[..value].to_vec(), signed };
            let (left, right) = (of(&words[0]), of(&words[1]));
            let beaten = beaten(b, style, which, &left, &right);
            let from = value - kept;
            let mut winner = arith::select(b, beaten, &words[1].bits[from..], &words[0].bits[from..]);
            winner.extend(places.then_some(beaten));
            winner
        });
        let mut entries_next = Number::whole(winners, &shape, format);
        if !length.is_multiple_of(2) {
            let odd = entries.part(0, Span { start: length - 1, step: 1, count: 1 });
            let odd = self.came_from_the_left(&odd, format);
            entries_next = self.stacked(&[entries_next, odd]);
        }
        Field { entries: entries_next, value, which, places }
    }

    /// An entry that met nobody.
    fn came_from_the_left(&mut self, odd: &Number, format: Format) -> Number {
        let own = odd.format();
        if own == format {
            return odd.clone();
        }
        let shape = odd.layout.shape[..odd.rank()].to_vec();
        let term = Term::Register(Operand::Each(self.laid(odd)), Format { signed: false, ..own });
        let padded =
            self.evaluate(&[term], shape.iter().product(), |b, _, words| words[0].modulo(b, format.bits));
        Number::whole(padded, &shape, format)
    }
}
