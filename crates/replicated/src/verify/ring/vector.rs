//! A side's vector over F_p, element by element.
//!
//! Of most operations an element is a word times the weight of its row, or of its column. It is computed wherever it is
//! needed, once more each time: that is quicker than memory for all of them. Of a matrix an element is a sum that has many
//! words, which is computed once.

use super::log::Batch;
use super::shuffled::Moved;
use super::statement::{Outputs, Part, Picked, Side, longest};
use tacit_kernel::prime::{Prime, TILE, Weight};
use tacit_kernel::projection::SUMS;

/// Rows from which on the sums of columns are quicker than elements one by one.
const ROWS: usize = 4;

/// What a side's vector is made of besides its words.
pub(crate) struct Weights {
    prime: Prime,
    rows: Vec<Weight>,
    columns: Vec<Weight>,
    elements: Vec<u64>,
    /// The side's share of the inner product but for the quotients: the sum of `alpha beta e` less the local part of
    /// matrices, or the sum of `alpha beta f`.
    pub(crate) share: u64,
}

/// The left verifier's vector `u`, or the right one's `v`.
pub(crate) struct Vector<'a> {
    prime: Prime,
    /// With the zeros after the last run.
    length: usize,
    runs: Vec<Run<'a>>,
}

/// Elements that follow one another.
struct Run<'a> {
    start: usize,
    words: &'a [u64],
    by: By<'a>,
}

/// What makes elements of words.
#[derive(Clone, Copy)]
enum By<'a> {
    /// They are elements.
    Nothing,
    /// The weight of each row of so many words.
    Rows(&'a [Weight], usize),
    /// Each weight for so many words, again and again.
    Columns(&'a [Weight], usize),
}

impl<'a> Side<'a> {
    /// What its vector is made of, with these bits.
    pub(crate) fn weights(self, bits: &[Picked], prime: &Prime, chi: u64) -> Weights {
        let mut weights =
            Weights { prime: *prime, rows: vec![], columns: vec![], elements: vec![], share: 0 };
        let powers = Powers::new(prime, chi);
        for (part, picked) in self.parts().zip(bits) {
            let [rows, columns] = [&picked.rows, &picked.columns].map(|words| -> Vec<Weight> {
                words.iter().map(|&word| powers.weight(prime, word)).collect()
            });
            weights.add(self.left, &part, &rows, &columns);
        }
        weights
    }

    /// Its vector.
    pub(crate) fn vector(self, weights: &'a Weights) -> Vector<'a> {
        let (mut start, mut runs) = (0, Vec::new());
        let Weights { prime, rows, columns, elements, .. } = weights;
        let (mut rows, mut columns, mut elements) = (&rows[..], &columns[..], &elements[..]);
        for part in self.parts() {
            let (grid, length) = (part.operation.grid(), part.operation.length(self.prover));
            let mut next = start;
            let mut run = |words: &'a [u64], by| {
                runs.push(Run { start: next, words, by });
                next += words.len();
            };
            match (part.operation.outputs, &part.known) {
                (Outputs::Each { inner, .. }, _) => {
                    let by = if self.left {
                        By::Rows(take(&mut rows, grid.0), grid.1 * inner)
                    } else {
                        By::Columns(take(&mut columns, grid.1), inner)
                    };
                    part.terms_of(self.left).for_each(|words| run(words, by));
                }
                (_, Some(known)) if known.moved(self.left) == Moved::Words => {
                    run(part.x, By::Rows(take(&mut rows, 1), part.x.len()));
                }
                _ => run(take(&mut elements, length), By::Nothing),
            }
            start += length;
        }
        Vector { prime: *prime, length: longest(self.operations), runs }
    }
}

impl Batch {
    /// Both vectors of this party's own proof.
    pub(super) fn vectors<'a>(&'a self, [left, right]: &'a [Weights; 2]) -> [Vector<'a>; 2] {
        [self.own(true).vector(left), self.own(false).vector(right)]
    }
}

/// The first so many.
fn take<'a, T>(from: &mut &'a [T], count: usize) -> &'a [T] {
    let (taken, rest) = from.split_at(count);
    *from = rest;
    taken
}

impl Weights {
    /// Adds those of an operation, of its rows and columns.
    fn add(&mut self, left: bool, part: &Part<'_>, rows: &[Weight], columns: &[Weight]) {
        let prime = self.prime;
        // Words of a narrower ring are multiplied by what makes its modulus 2^64.
        let scale = prime.weight(1 << part.operation.shift);
        let scaled: Vec<Weight> = rows.iter().map(|&row| prime.both(row, scale)).collect();
        for (row, words) in scaled.iter().zip(part.e.chunks(columns.len().max(1))) {
            let sum = prime.weighted_sum(&columns[..words.len()], words);
            self.share = prime.add(self.share, prime.times(*row, sum));
        }
        match (part.operation.outputs, &part.known) {
            (Outputs::Each { .. }, _) if left => self.rows.extend(scaled),
            (Outputs::Each { .. }, _) => self.columns.extend(columns),
            (Outputs::Matrix { k, n, .. }, _) => {
                let mut of_rows = vec![0; k];
                prime.add_rows(if left { &scaled } else { rows }, part.x, &mut of_rows);
                let of_rows: Vec<u64> = of_rows.into_iter().map(|sum| prime.reduce(sum)).collect();
                let mut of_columns: Vec<u64> =
                    part.y.chunks(n).map(|row| prime.weighted_sum(columns, row)).collect();
                if left {
                    let mut local = [0];
                    prime.inner_products(&of_rows, &of_columns, 1, &mut local);
                    self.share = prime.sub(self.share, local[0]);
                    for sum in &mut of_columns {
                        *sum = prime.times(scale, *sum);
                    }
                    self.elements.extend(of_rows.iter().chain(&of_columns));
                } else {
                    self.elements.extend(of_columns.iter().chain(&of_rows));
                }
            }
            (Outputs::Shuffled { count }, Some(known)) => match known.moved(left) {
                Moved::Words => self.rows.push(scale),
                Moved::Nothing => self.elements.resize(self.elements.len() + count, 0),
                Moved::Weights => {
                    let first = self.elements.len();
                    self.elements.resize(first + count, 0);
                    known.place(rows, columns, &prime, &mut self.elements[first..]);
                }
            },
            (Outputs::Shuffled { .. }, None) => {
                unreachable!("of a column that is shuffled the turn is known")
            }
        }
    }
}

impl Vector<'_> {
    /// Elements from `first` on, with zeros after the last one.
    pub(crate) fn fill(&self, first: usize, out: &mut [u64]) {
        let begins = self.runs.partition_point(|run| run.start + run.words.len() <= first);
        let mut at = first;
        let end = first + out.len();
        for run in &self.runs[begins..] {
            if run.start >= end {
                break;
            }
            let until = end.min(run.start + run.words.len());
            run.fill(&self.prime, at - run.start, &mut out[at - first..until - first]);
            at = until;
        }
        out[at - first..].fill(0);
    }

    /// All inner products of so many blocks of this one and of another one: see [`Prime::inner_products`].
    pub(crate) fn inner_products(&self, other: &Self, blocks: usize) -> Vec<u64> {
        let mut sums = vec![0; blocks * blocks];
        let mut tiles = [vec![0; blocks * TILE], vec![0; blocks * TILE]];
        self.by_tiles(blocks, |place, size| {
            let [u, v] = &mut tiles;
            for (vector, tile) in [(self, &mut *u), (other, &mut *v)] {
                vector.tile(place, blocks, size, tile);
            }
            self.prime.add_inner_products(&u[..blocks * size], &v[..blocks * size], blocks, &mut sums);
        });
        sums.into_iter().map(|sum| self.prime.inner_product(sum)).collect()
    }

    /// The combination of its blocks, one for each weight.
    pub(crate) fn combined(&self, weights: &[Weight]) -> Vec<u64> {
        let blocks = weights.len();
        let mut out = vec![0; self.length.div_ceil(blocks)];
        let mut tile = vec![0; blocks * TILE];
        self.by_tiles(blocks, |place, size| {
            self.tile(place, blocks, size, &mut tile);
            self.prime.combine(&tile[..blocks * size], weights, &mut out[place..place + size]);
        });
        out
    }

    /// The places in blocks where tiles begin, and their sizes.
    fn by_tiles(&self, blocks: usize, mut each: impl FnMut(usize, usize)) {
        let block = self.length.div_ceil(blocks);
        (0..block).step_by(TILE).for_each(|place| each(place, TILE.min(block - place)));
    }

    /// So many elements of each block, from one place in it on.
    fn tile(&self, place: usize, blocks: usize, size: usize, out: &mut [u64]) {
        let block = self.length.div_ceil(blocks);
        out.chunks_mut(size)
            .take(blocks)
            .enumerate()
            .for_each(|(at, out)| self.fill(at * block + place, out));
    }

    /// The sum of its elements, each times the factors of its block and of its place in the block.
    pub(crate) fn sum(&self, blocks: &[Weight], places: &[Weight]) -> u64 {
        let (prime, mut total, mut sums) = (&self.prime, 0, Vec::new());
        for run in &self.runs {
            let mut at = 0;
            while at < run.words.len() {
                let (block, place) = ((run.start + at) / places.len(), (run.start + at) % places.len());
                let count = (run.words.len() - at).min(places.len() - place);
                let sum = run.sum(prime, at, &places[place..place + count], &mut sums);
                total = prime.add(total, prime.times(blocks[block], sum));
                at += count;
            }
        }
        total
    }
}

impl Run<'_> {
    /// Elements from `at` on.
    fn fill(&self, prime: &Prime, mut at: usize, out: &mut [u64]) {
        let mut words = &self.words[at..][..out.len()];
        let mut out = out;
        while !words.is_empty() {
            let (count, weight) = self.next(at, words.len());
            let (now, after) = words.split_at(count);
            let (to, rest) = std::mem::take(&mut out).split_at_mut(count);
            match weight {
                One::Nothing => to.copy_from_slice(now),
                One::Of(weight) => prime.weigh(weight, now, to),
                One::Each(weights) => prime.weigh_each(weights, now, to),
            }
            (words, out, at) = (after, rest, at + count);
        }
    }

    /// How many of so many words from `at` on have what makes them elements in one piece, and that.
    fn next(&self, at: usize, most: usize) -> (usize, One<'_>) {
        match self.by {
            By::Nothing => (most, One::Nothing),
            By::Rows(rows, stride) => (most.min(stride - at % stride), One::Of(rows[at / stride])),
            By::Columns(columns, 1) => {
                let column = at % columns.len();
                let count = most.min(columns.len() - column);
                (count, One::Each(&columns[column..column + count]))
            }
            By::Columns(columns, inner) => {
                (most.min(inner - at % inner), One::Of(columns[at / inner % columns.len()]))
            }
        }
    }

    /// The sum of elements from `at` on, each times its factor.
    fn sum(&self, prime: &Prime, mut at: usize, mut factors: &[Weight], sums: &mut Vec<u128>) -> u64 {
        let mut total = 0;
        while !factors.is_empty() {
            if let By::Columns(columns, 1) = self.by
                && at.is_multiple_of(columns.len())
                && factors.len() >= ROWS * columns.len()
            {
                let count = factors.len() / columns.len() * columns.len();
                sums.clear();
                sums.resize(columns.len(), 0);
                prime.add_columns(&factors[..count], &self.words[at..at + count], sums);
                for (&column, &sum) in columns.iter().zip(&*sums) {
                    total = prime.add(total, prime.times(column, prime.reduce(sum)));
                }
                (at, factors) = (at + count, &factors[count..]);
                continue;
            }
            let (count, weight) = self.next(at, factors.len());
            let words = &self.words[at..at + count];
            let (now, after) = factors.split_at(count);
            let sum = match weight {
                One::Nothing => prime.weighted_sum(now, words),
                One::Of(weight) => prime.times(weight, prime.weighted_sum(now, words)),
                One::Each(weights) => {
                    let mut elements = vec![0; count];
                    prime.weigh_each(weights, words, &mut elements);
                    prime.weighted_sum(now, &elements)
                }
            };
            total = prime.add(total, sum);
            (at, factors) = (at + count, after);
        }
        total
    }
}

/// What makes elements of words that follow one another.
enum One<'a> {
    Nothing,
    Of(Weight),
    Each(&'a [Weight]),
}

/// What the values of polynomials with coefficients 0 and 1 at a point are looked up in, eight bits at a time.
struct Powers(Vec<[u64; 256]>);

impl Powers {
    fn new(prime: &Prime, point: u64) -> Self {
        let mut power = 1;
        let tables = (0..SUMS / 8).map(|_| {
            let mut table = [0; 256];
            for bit in 0..8 {
                for entry in 0..1 << bit {
                    table[1 << bit | entry] = prime.add(table[entry], power);
                }
                power = prime.mul(power, point);
            }
            table
        });
        Self(tables.collect())
    }

    fn weight(&self, prime: &Prime, word: u64) -> Weight {
        let bytes = self.0.iter().zip(word.to_le_bytes());
        prime.weight(bytes.fold(0, |sum, (table, byte)| prime.add(sum, table[usize::from(byte)])))
    }
}
