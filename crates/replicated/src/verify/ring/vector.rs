//! A side's vector over F_p, element by element.
//!
//! Of most operations an element is a word times the weight of its row, or of its column. It is computed wherever it is
//! needed, once more each time: that is quicker than memory for all of them. Where a whole row of words has the same weight,
//! its elements aren't computed at all: sums of words are weighed. Of a matrix an element is a sum that has many words, which
//! is computed once.

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
    /// What a verifier's vector is made of, with these bits, and its share.
    pub(crate) fn weights(self, bits: &[Picked], prime: &Prime, chi: u64) -> Weights {
        self.weights_of(bits, prime, chi, true)
    }

    /// What the prover's vector is made of, with these bits. Shares are the verifiers' business.
    pub(crate) fn prover_weights(self, bits: &[Picked], prime: &Prime, chi: u64) -> Weights {
        self.weights_of(bits, prime, chi, false)
    }

    fn weights_of(self, bits: &[Picked], prime: &Prime, chi: u64, is_verifier: bool) -> Weights {
        let mut weights =
            Weights { prime: *prime, rows: vec![], columns: vec![], elements: vec![], share: 0 };
        let powers = Powers::new(prime, chi);
        for (part, picked) in self.parts().zip(bits) {
            let is_each = matches!(part.operation.outputs, Outputs::Each { .. });
            let of = |words: &[u64], is_needed: bool| -> Vec<Weight> {
                let words = if is_needed || is_verifier || !is_each { words } else { &[] };
                words.iter().map(|&word| powers.weight(prime, word)).collect()
            };
            let (rows, columns) = (of(&picked.rows, self.left), of(&picked.columns, !self.left));
            weights.add(self.left, &part, &rows, &columns, is_verifier);
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
    fn add(&mut self, left: bool, part: &Part<'_>, rows: &[Weight], columns: &[Weight], is_verifier: bool) {
        let prime = self.prime;
        // Words of a narrower ring are multiplied by what makes its modulus 2^64.
        let scale = prime.weight(1 << part.operation.shift);
        let scaled: Vec<Weight> = rows.iter().map(|&row| prime.both(row, scale)).collect();
        let e = if is_verifier { part.e } else { &[] };
        for (row, words) in scaled.iter().zip(e.chunks(columns.len().max(1))) {
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
                    if is_verifier {
                        let mut local = [0];
                        prime.inner_products(&of_rows, &of_columns, 1, &mut local);
                        self.share = prime.sub(self.share, local[0]);
                    }
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
    ///
    /// Where one weight makes the elements of a whole tile, their words are multiplied, and the sums weighed.
    pub(crate) fn inner_products(&self, other: &Self, blocks: usize) -> Vec<u64> {
        let prime = &self.prime;
        let mut sums = vec![0; blocks * blocks];
        let mut tiles = [vec![0; blocks * TILE], vec![0; blocks * TILE]];
        self.by_tiles(blocks, |place, size| {
            let [u, v] = &mut tiles;
            other.tile(place, blocks, size, v);
            let pieces = self.pieces(place, blocks, size);
            let weights = pieces.as_deref().and_then(of_rows);
            if weights.is_none() {
                self.tile(place, blocks, size, u);
            }
            let words: Vec<&[u64]> = match (&weights, &pieces) {
                (Some(_), Some(pieces)) => pieces.iter().map(|(words, _)| *words).collect(),
                _ => u.chunks(size).take(blocks).collect(),
            };
            let elements: Vec<&[u64]> = v.chunks(size).take(blocks).collect();
            let mut of_tile = vec![0; blocks * blocks];
            prime.add_inner_products(&words, &elements, &mut of_tile);
            for (pair, (sum, more)) in sums.iter_mut().zip(of_tile).enumerate() {
                let more = prime.inner_product(more);
                let weighed =
                    weights.as_ref().map_or(more, |weights| prime.times(weights[pair / blocks], more));
                *sum = prime.add(*sum, weighed);
            }
        });
        sums
    }

    /// The combination of its blocks, one for each weight.
    ///
    /// Where blocks of a tile have one weight each, or some have weights in common, their words are combined first: a product
    /// for each word instead of two.
    pub(crate) fn combined(&self, weights: &[Weight]) -> Vec<u64> {
        let (prime, blocks) = (&self.prime, weights.len());
        let mut out = vec![0; self.length.div_ceil(blocks)];
        let (mut tile, mut of_group) = (vec![0; blocks * TILE], vec![0; TILE]);
        self.by_tiles(blocks, |place, size| {
            let out = &mut out[place..place + size];
            let pieces = self.pieces(place, blocks, size).unwrap_or_default();
            let words: Vec<&[u64]> = pieces.iter().map(|(words, _)| *words).collect();
            if let Some(rows) = of_rows(&pieces) {
                let both: Vec<Weight> = weights.iter().zip(rows).map(|(&a, b)| prime.both(a, b)).collect();
                prime.combine_words(&words, &both, out);
            } else if let Some(groups) = of_columns(&pieces) {
                let (mut words, mut weights) = (&words[..], weights);
                for (&(columns, count), weighed) in groups.iter().zip(tile.chunks_mut(size)) {
                    prime.combine_words(
                        take(&mut words, count),
                        take(&mut weights, count),
                        &mut of_group[..size],
                    );
                    prime.weigh_each(columns, &of_group[..size], weighed);
                }
                let ones = vec![prime.weight(1); groups.len()];
                prime.combine(&tile[..groups.len() * size], &ones, out);
            } else {
                self.tile(place, blocks, size, &mut tile);
                prime.combine(&tile[..blocks * size], weights, out);
            }
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

    /// The words of which the elements of a tile are made, and what makes them these, if all of each block's are in one piece.
    fn pieces(&self, place: usize, blocks: usize, size: usize) -> Option<Vec<(&[u64], One<'_>)>> {
        let block = self.length.div_ceil(blocks);
        (0..blocks).map(|at| self.piece(at * block + place, size)).collect()
    }

    /// So many words from a place on, if they are in one piece.
    fn piece(&self, first: usize, size: usize) -> Option<(&[u64], One<'_>)> {
        let run = self.runs.get(self.runs.partition_point(|run| run.start + run.words.len() <= first))?;
        let at = first.checked_sub(run.start)?;
        let words = run.words.get(at..at + size)?;
        let (count, one) = run.next(at, size);
        (count == size).then_some((words, one))
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
#[derive(Clone, Copy)]
enum One<'a> {
    Nothing,
    Of(Weight),
    Each(&'a [Weight]),
}

/// The weights of pieces that have one each.
fn of_rows(pieces: &[(&[u64], One<'_>)]) -> Option<Vec<Weight>> {
    let weight = |(_, one): &(&[u64], One<'_>)| match one {
        One::Of(weight) => Some(*weight),
        One::Nothing | One::Each(_) => None,
    };
    pieces.iter().map(weight).collect::<Option<Vec<_>>>().filter(|weights| !weights.is_empty())
}

/// The weights that pieces have in common, and how many one after another do: two or more, all in all.
fn of_columns<'a>(pieces: &[(&[u64], One<'a>)]) -> Option<Vec<(&'a [Weight], usize)>> {
    let mut groups: Vec<(&[Weight], usize)> = Vec::new();
    for (_, one) in pieces {
        let One::Each(weights) = *one else { return None };
        match groups.last_mut() {
            Some((known, count)) if std::ptr::eq(*known, weights) => *count += 1,
            _ => groups.push((weights, 1)),
        }
    }
    (2 * groups.len() <= pieces.len()).then_some(groups).filter(|groups| !groups.is_empty())
}

/// What the values of polynomials with coefficients 0 and 1 at a point are looked up in, eight bits at a time.
struct Powers([[Weight; 256]; SUMS / 8]);

impl Powers {
    fn new(prime: &Prime, point: u64) -> Self {
        let (mut power, point) = (prime.weight(1), prime.weight(point));
        Self(std::array::from_fn(|_| {
            let mut table = [Weight::ZERO; 256];
            for bit in 0..8 {
                for entry in 0..1 << bit {
                    table[1 << bit | entry] = prime.total([table[entry], power]);
                }
                power = prime.both(power, point);
            }
            table
        }))
    }

    fn weight(&self, prime: &Prime, word: u64) -> Weight {
        let bytes = word.to_le_bytes();
        prime.total(std::array::from_fn::<_, { SUMS / 8 }, _>(|at| self.0[at][usize::from(bytes[at])]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::Rng;
    use super::super::coins::ProofId;
    use super::super::log::Words;
    use super::super::statement::Operation;
    use super::*;
    use std::borrow::Cow;
    use tacit_program::plan::Components;

    const BLOCKS: usize = 8;

    /// A batch of element-wise products.
    fn batch(counts: &[usize]) -> Batch {
        let (mut rng, mut batch) = (Rng(5), Batch::new(0));
        for &count in counts {
            let outputs = Outputs::Each { count, inner: 1 };
            let mut both = || [0, 1].map(|_| Cow::from((0..count).map(|_| rng.word()).collect::<Vec<u64>>()));
            let words = Words { x: both(), y: both(), z: both(), masks: both() };
            batch.note(Operation { outputs, shift: 0, has: [Components::ALL; 2] }, &words);
        }
        batch
    }

    /// Of rows that end where blocks do, and of others; a prover's vectors are those of the verifiers.
    #[test]
    fn words_are_multiplied_and_combined_as_elements_are() {
        let prime = Prime::new((1 << 61) - 1).expect("a prime");
        let id = ProofId { session: &[7; 32], prover: 0, batch: 3, repetition: 0 };
        let by: Vec<Weight> = (3..11).map(|element| prime.weight(prime.sub(0, element))).collect();
        for (counts, is_aligned) in
            [(&[4096][..], true), (&[8192, 4096, 4096], true), (&[4000], false), (&[4096, 9], false)]
        {
            let batch = batch(counts);
            let bits = id.bits(&[1; 32], batch.own(true).proved());
            let weights = [true, false].map(|left| batch.own(left).prover_weights(&bits, &prime, 12_345));
            let [u, v] = batch.vectors(&weights);
            let block = u.length.div_ceil(BLOCKS);
            let [of_u, of_v] = [(&u, true), (&v, false)].map(|(vector, left)| {
                let weights = batch.own(left).weights(&bits, &prime, 12_345);
                let [mut found, mut expected] = [vec![1; BLOCKS * block], vec![2; BLOCKS * block]];
                vector.fill(0, &mut found);
                batch.own(left).vector(&weights).fill(0, &mut expected);
                assert_eq!(found, expected);
                found
            });
            let mut products = vec![0; BLOCKS * BLOCKS];
            prime.inner_products(&of_u, &of_v, BLOCKS, &mut products);
            assert_eq!(u.inner_products(&v, BLOCKS), products, "{counts:?}");
            for (vector, elements) in [(&u, of_u), (&v, of_v)] {
                let mut combined = vec![0; block];
                prime.combine(&elements, &by, &mut combined);
                assert_eq!(vector.combined(&by), combined, "{counts:?}");
            }
            let [rows, columns] = [&u, &v].map(|vector| vector.pieces(0, BLOCKS, TILE.min(block)));
            assert_eq!(rows.as_deref().and_then(of_rows).is_some(), is_aligned);
            assert_eq!(columns.as_deref().and_then(of_columns).is_some(), is_aligned);
        }
    }
}
