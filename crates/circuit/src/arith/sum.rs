//! Many words added at once, by columns of bits of the same weight.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Builder, Wire};

use super::carry::full_adder;
use super::{Style, add};

/// The sum of words of the same width n, modulo 2^n; no words have the sum of no bits.
///
/// `Small` takes fewer ANDs than adding one word after another, and for two words just as many. `Shallow` turns
/// three words into two until two are left, and adds these. Words that are ready early come first. For words of 32
/// bits:
///
/// | words | ANDs, small | depth | ANDs, shallow | depth |
/// | --- | --- | --- | --- | --- |
/// | 2 | 31 | 31 | 139 | 6 |
/// | 3 | 61 | 31 | 168 | 6 |
/// | 4 | 92 | 31 | 200 | 7 |
/// | 5 | 121 | 31 | 229 | 7 |
/// | 6 | 152 | 31 | 260 | 8 |
pub fn sum(b: &mut Builder, style: Style, words: &[Vec<Wire>]) -> Vec<Wire> {
    let columns = columns(words);
    total(b, style, columns)
}

/// Two words with the same sum, modulo 2^n, as all of these. For three words: n - 1 ANDs, depth 1.
pub fn carry_save(b: &mut Builder, words: &[Vec<Wire>]) -> [Vec<Wire>; 2] {
    let columns = columns(words);
    two_rows(b, columns)
}

/// How many bits are set, in as many bits as it takes: for `Small`, n ANDs less the number of bits set in n.
pub fn popcount(b: &mut Builder, style: Style, bits: &[Wire]) -> Vec<Wire> {
    let width = (usize::BITS - bits.len().leading_zeros()) as usize;
    let mut columns = vec![Vec::new(); width];
    if let Some(first) = columns.first_mut() {
        first.extend(bits);
    }
    total(b, style, columns)
}

/// The sum of bits by weight: column `i` counts 2^i, and what leaves the last column is lost.
pub(super) fn total(b: &mut Builder, style: Style, columns: Vec<Vec<Wire>>) -> Vec<Wire> {
    match style {
        Style::Small => one_row(b, columns),
        Style::Shallow => {
            let [x, y] = two_rows(b, columns);
            add(b, style, &x, &y)
        }
    }
}

fn columns(words: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let width = words.first().map_or(0, Vec::len);
    assert!(words.iter().all(|word| word.len() == width), "words that meet have the same width");
    (0..width).map(|bit| words.iter().map(|word| word[bit]).collect()).collect()
}

/// Every column summed to one bit, from the lowest up.
fn one_row(b: &mut Builder, columns: Vec<Vec<Wire>>) -> Vec<Wire> {
    let mut carries = Vec::new();
    columns
        .into_iter()
        .map(|column| {
            let mut waiting = Waiting::new(b, column, std::mem::take(&mut carries));
            while let Some([x, y]) = waiting.take() {
                let z = waiting.next().unwrap_or_else(|| b.constant(false));
                let (sum, carry) = full_adder(b, x, y, z);
                waiting.push(b, sum);
                carries.push(carry);
            }
            waiting.next().unwrap_or_else(|| b.constant(false))
        })
        .collect()
}

/// Every column summed to two bits: those that are ready first go first, and where carries come in, a half adder
/// makes the number even, so that the last of them isn't waited for (Oklobdzija, Villeger, Liu, "A method for speed
/// optimized partial product reduction", 1996).
fn two_rows(b: &mut Builder, columns: Vec<Vec<Wire>>) -> [Vec<Wire>; 2] {
    let mut carries = Vec::new();
    let mut rows = [Vec::new(), Vec::new()];
    for column in columns {
        let carried = !carries.is_empty();
        let mut waiting = Waiting::new(b, column, std::mem::take(&mut carries));
        if carried
            && waiting.count() % 2 == 1
            && let Some([x, y]) = waiting.take()
        {
            let sum = b.xor(x, y);
            waiting.push(b, sum);
            carries.push(b.and(x, y));
        }
        while let Some([x, y, z]) = waiting.take() {
            let (sum, carry) = full_adder(b, x, y, z);
            waiting.push(b, sum);
            carries.push(carry);
        }
        for row in &mut rows {
            row.push(waiting.next().unwrap_or_else(|| b.constant(false)));
        }
    }
    rows
}

/// The bits of a column, by the round in which they are known.
struct Waiting(BinaryHeap<Reverse<(u32, Wire)>>);

impl Waiting {
    /// Zeros are left out.
    fn new(b: &Builder, column: Vec<Wire>, carries: Vec<Wire>) -> Self {
        let mut waiting = Self(BinaryHeap::new());
        column.into_iter().chain(carries).for_each(|wire| waiting.push(b, wire));
        waiting
    }

    fn push(&mut self, b: &Builder, wire: Wire) {
        if b.known(wire) != Some(false) {
            self.0.push(Reverse((b.depth(wire), wire)));
        }
    }

    fn count(&self) -> usize {
        self.0.len()
    }

    fn next(&mut self) -> Option<Wire> {
        self.0.pop().map(|Reverse((_, wire))| wire)
    }

    /// The next few, if there are so many.
    fn take<const N: usize>(&mut self) -> Option<[Wire; N]> {
        (self.count() >= N).then(|| std::array::from_fn(|_| self.next().expect("there are N of them")))
    }
}
