//! Words in circuits: numbers of any width, signed or not, and sums of them by columns.

use tacit_circuit::arith::{self, Style};
use tacit_circuit::{Builder, Wire};

use crate::types::Range;
use crate::width::Format;

/// A number's bits, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) bits: Vec<Wire>,
    /// Whether the last one counts negative.
    pub(super) signed: bool,
}

impl Word {
    /// A number that everybody knows.
    pub(super) fn constant(b: &mut Builder, value: i128) -> Self {
        let Format { bits, signed } = Format::of_range(Range::point(value));
        Self { bits: arith::constant(b, value as u128, bits), signed }
    }

    /// The number modulo 2^width.
    pub(super) fn modulo(&self, b: &mut Builder, width: usize) -> Vec<Wire> {
        let above = self.sign(b);
        let mut bits = self.bits.clone();
        bits.resize(width, above);
        bits
    }

    /// Whether it is negative.
    pub(super) fn sign(&self, b: &mut Builder) -> Wire {
        match self.bits.last() {
            Some(&sign) if self.signed => sign,
            _ => b.constant(false),
        }
    }

    fn counts_negative(&self, place: usize) -> bool {
        self.signed && place + 1 == self.bits.len()
    }
}

/// Whether `x < y`.
pub(super) fn less(b: &mut Builder, style: Style, x: &Word, y: &Word) -> Wire {
    let (width, signed) = common(x, y);
    let (x, y) = (x.modulo(b, width), y.modulo(b, width));
    if signed { arith::less_signed(b, style, &x, &y) } else { arith::less(b, style, &x, &y) }
}

/// Whether `x = y`.
pub(super) fn equal(b: &mut Builder, x: &Word, y: &Word) -> Wire {
    let (width, _) = common(x, y);
    let (x, y) = (x.modulo(b, width), y.modulo(b, width));
    arith::equal(b, &x, &y)
}

/// `x` where the condition holds, else `y`, modulo 2^width.
pub(super) fn select(b: &mut Builder, condition: Wire, x: &Word, y: &Word, width: usize) -> Vec<Wire> {
    let (x, y) = (x.modulo(b, width), y.modulo(b, width));
    arith::select(b, condition, &x, &y)
}

/// A width that holds both, and whether one is signed.
fn common(x: &Word, y: &Word) -> (usize, bool) {
    let signed = x.signed || y.signed;
    let width = |word: &Word| word.bits.len() + usize::from(signed && !word.signed);
    (width(x).max(width(y)), signed)
}

/// A sum modulo 2^width in the making: the bits of each weight, and what everybody knows of it.
///
/// A bit that counts negative goes in as its complement, `-p = (1 - p) - 1`, and the 1 into the known part. So no sign
/// has to be extended (Baugh, Wooley, "A two's complement parallel array multiplication algorithm", 1973).
pub(super) struct Columns {
    columns: Vec<Vec<Wire>>,
    known: u128,
}

impl Columns {
    pub(super) fn new(width: usize) -> Self {
        Self { columns: vec![Vec::new(); width], known: 0 }
    }

    /// Adds 2^weight times a bit, or subtracts it.
    fn bit(&mut self, b: &mut Builder, bit: Wire, weight: usize, negative: bool) {
        let Some(column) = self.columns.get_mut(weight) else { return };
        let unit = 1_u128 << weight;
        match b.known(bit) {
            Some(false) => {}
            Some(true) if negative => self.known = self.known.wrapping_sub(unit),
            Some(true) => self.known = self.known.wrapping_add(unit),
            None if negative => {
                column.push(b.not(bit));
                self.known = self.known.wrapping_sub(unit);
            }
            None => column.push(bit),
        }
    }

    /// Adds a number that everybody knows.
    pub(super) fn constant(&mut self, value: i128) {
        self.known = self.known.wrapping_add(value as u128);
    }

    /// Adds a word.
    pub(super) fn word(&mut self, b: &mut Builder, x: &Word) {
        self.shifted(b, x, 0, false);
    }

    /// Adds words.
    pub(super) fn words(&mut self, b: &mut Builder, words: &[Word]) {
        for word in words {
            self.word(b, word);
        }
    }

    /// Adds 2^by times a word, or subtracts it.
    pub(super) fn shifted(&mut self, b: &mut Builder, x: &Word, by: usize, negative: bool) {
        for (place, &bit) in x.bits.iter().enumerate() {
            self.bit(b, bit, by + place, negative != x.counts_negative(place));
        }
    }

    /// Adds a word times a number that everybody knows, by the digits 1 and -1 of its canonical form: no two
    /// neighbours are set, which leaves a third of them on average (Reitwiesner, "Binary arithmetic", 1960).
    pub(super) fn multiple(&mut self, b: &mut Builder, x: &Word, factor: i128) {
        for (by, negative) in digits(factor, self.columns.len()) {
            self.shifted(b, x, by, negative);
        }
    }

    /// Adds a product: an AND for every two bits, and for a square for half of them.
    pub(super) fn product(&mut self, b: &mut Builder, x: &Word, y: &Word) {
        let square = x == y;
        for (i, &p) in x.bits.iter().enumerate() {
            for (j, &q) in y.bits.iter().enumerate().skip(if square { i } else { 0 }) {
                if i + j >= self.columns.len() {
                    break;
                }
                let negative = x.counts_negative(i) != y.counts_negative(j);
                let both = b.and(p, q);
                let twice = usize::from(square && i != j);
                self.bit(b, both, i + j + twice, negative);
            }
        }
    }

    /// The sum.
    pub(super) fn total(self, b: &mut Builder, style: Style) -> Vec<Wire> {
        let width = self.columns.len();
        let height = self.columns.iter().map(Vec::len).max().unwrap_or(0);
        let zero = b.constant(false);
        let row = |at: usize| self.columns.iter().map(|bits| bits.get(at).copied().unwrap_or(zero)).collect();
        let mut rows: Vec<Vec<Wire>> = (0..height).map(row).collect();
        rows.push(arith::constant(b, self.known, width));
        arith::sum(b, style, &rows)
    }
}

/// The digits of a number modulo 2^width that aren't 0: their places, and whether they are -1.
pub(super) fn digits(number: i128, width: usize) -> impl Iterator<Item = (usize, bool)> {
    // What is the same modulo 2^width and nearest to 0 has the fewest.
    let unused = 128 - width as u32;
    let mut left = number << unused >> unused;
    (0..width).filter_map(move |place| {
        let digit = if left & 1 == 1 { 2 - (left & 3) } else { 0 };
        left = left.wrapping_sub(digit) >> 1;
        (digit != 0).then_some((place, digit < 0))
    })
}

/// A word and a bit added, modulo 2^n.
pub(super) fn plus_bit(b: &mut Builder, style: Style, x: &[Wire], bit: Wire) -> Vec<Wire> {
    let zero = arith::constant(b, 0, x.len());
    arith::add_with_carry(b, style, x, &zero, bit).0
}
