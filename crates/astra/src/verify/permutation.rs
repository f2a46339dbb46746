//! A random order from a coin: every order is equally likely.
//!
//! Items are first dealt to piles at random and each pile is then shuffled by itself (Rao 1961, Sandelius 1962): piles
//! stay in the first cache, which a shuffle of millions of items at once wouldn't. A pile is shuffled as Fisher and
//! Yates do, by numbers below a bound that are drawn without bias (Lemire 2019).

use tacit_engine::bank;
use tacit_kernel::aes::{Aes128Ctr, BLOCK};
use tacit_kernel::{Buffer, Element};

/// Bytes of the coin.
pub(super) const COIN_BYTES: usize = 16;

/// The most items that make a single pile.
const PILE: usize = 1 << 13;

/// Piles, if there are more items: a byte of the coin's stream chooses one.
const PILES: usize = 256;

/// Memory to order in, which can be used again.
#[derive(Default)]
pub(crate) struct Piles {
    /// Which pile each item is dealt to.
    chosen: Vec<u8>,
    /// Items and records, pile after pile.
    items: Buffer,
    records: Buffer,
    /// A pile's order.
    order: Vec<u32>,
}

impl Drop for Piles {
    fn drop(&mut self) {
        self.records.wipe();
    }
}

impl Piles {
    /// With memory for so many items and bytes of records.
    pub(super) fn new(items: usize, record_bytes: usize) -> Self {
        let [mut dealt, mut records] = [Buffer::of_words::<u32>(items), Buffer::new(record_bytes)];
        bank::touch(dealt.bytes_mut());
        bank::touch(records.bytes_mut());
        Self { chosen: vec![0; items], items: dealt, records, order: Vec::new() }
    }

    /// Makes `items` the numbers from 0 on, of which there are less than 2^32, in the order that the coin gives to a batch,
    /// and puts records, of which there is one for each number or none at all, in the same order.
    ///
    /// # Panics
    /// If there are fewer records or more.
    pub(crate) fn order<R: Element>(
        &mut self,
        coin: &[u8; COIN_BYTES],
        batch: u32,
        items: &mut [u32],
        records: &mut [R],
    ) {
        let count = items.len();
        assert!(records.is_empty() || records.len() == count, "every item has a record, or none");
        let Self { chosen, items: dealt, records: dealt_records, order } = self;
        let cipher = Aes128Ctr::new(coin);
        chosen.resize(count, 0);
        cipher.fill(u64::from(batch), 0, chosen);
        if count <= PILE {
            chosen.fill(0);
        }
        let mut starts = [0; PILES];
        for &pile in &*chosen {
            starts[usize::from(pile)] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        dealt.reuse(size_of_val(items));
        dealt_records.reuse(size_of_val(records));
        let (dealt, dealt_records) = (dealt.words_mut::<u32>(), dealt_records.words_mut::<R>());
        // One after the other: a line of each pile of both would leave the first cache no room.
        let ends = deal(chosen, starts, 0.., dealt);
        deal(chosen, starts, records.iter().copied(), dealt_records);
        let mut words = Words::new(cipher, batch, count.div_ceil(BLOCK) as u64);
        let mut first = 0;
        for end in ends {
            order.clear();
            order.extend(0..(end - first) as u32);
            shuffle(order, &mut words);
            pick(order, &dealt[first..end], &mut items[first..end]);
            if let (Some(from), Some(to)) = (dealt_records.get(first..end), records.get_mut(first..end)) {
                pick(order, from, to);
            }
            first = end;
        }
    }
}

/// Puts items, if there are any, behind one another in the piles chosen for them, from where each starts; where each ends.
fn deal<T>(
    chosen: &[u8],
    mut ends: [usize; PILES],
    items: impl Iterator<Item = T>,
    piles: &mut [T],
) -> [usize; PILES] {
    for (item, &pile) in items.zip(chosen) {
        let end = &mut ends[usize::from(pile)];
        piles[*end] = item;
        *end += 1;
    }
    ends
}

/// `to` becomes what `from` has at these places.
fn pick<T: Copy>(places: &[u32], from: &[T], to: &mut [T]) {
    for (to, &place) in to.iter_mut().zip(places) {
        *to = from[place as usize];
    }
}

fn shuffle(items: &mut [u32], words: &mut Words) {
    for last in (1..items.len()).rev() {
        let with = words.below(last as u32 + 1);
        items.swap(last, with as usize);
    }
}

/// The coin's stream as words.
struct Words {
    cipher: Aes128Ctr,
    batch: u32,
    drawn: [u32; Self::AT_ONCE],
    /// The next of the words that were drawn.
    at: usize,
    /// The next block of the stream.
    block: u64,
}

impl Words {
    const AT_ONCE: usize = 1024;

    /// Those of a batch, from a block of the stream on.
    fn new(cipher: Aes128Ctr, batch: u32, block: u64) -> Self {
        Self { cipher, batch, drawn: [0; Self::AT_ONCE], at: Self::AT_ONCE, block }
    }

    #[inline]
    fn next(&mut self) -> u32 {
        if self.at == Self::AT_ONCE {
            let bytes = bytemuck::cast_slice_mut(&mut self.drawn);
            self.cipher.fill(u64::from(self.batch), self.block, bytes);
            self.block += (Self::AT_ONCE / 4) as u64;
            self.at = 0;
        }
        let word = self.drawn[self.at];
        self.at += 1;
        word
    }

    /// A number below `bound`, each equally likely.
    #[inline]
    fn below(&mut self, bound: u32) -> u32 {
        loop {
            let product = u64::from(self.next()) * u64::from(bound);
            let low = product as u32;
            // As many words as the bound doesn't divide 2^32 by are drawn again.
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 32) as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn coin(number: u64) -> [u8; COIN_BYTES] {
        let mut coin = [7; COIN_BYTES];
        coin[..8].copy_from_slice(&number.to_le_bytes());
        coin
    }

    fn permutation(coin: &[u8; COIN_BYTES], batch: u32, count: usize) -> Vec<u32> {
        let mut items = vec![7; count];
        Piles::default().order::<u8>(coin, batch, &mut items, &mut []);
        items
    }

    #[test]
    fn records_go_with_their_items() {
        let mut piles = Piles::default();
        for count in [100_003, 0, 1, 63, PILE, PILE + 1] {
            let mut items = vec![0; count];
            let mut records: Vec<u64> = (0..count as u64).map(|item| 3 * item).collect();
            piles.order(&coin(2), 7, &mut items, &mut records);
            assert_eq!(items, permutation(&coin(2), 7, count));
            assert!(items.iter().zip(records).all(|(&item, record)| record == 3 * u64::from(item)));
        }
    }

    #[test]
    fn every_item_is_there_once_and_batches_differ() {
        for count in [0, 1, 2, 63, PILE, PILE + 1, 100_003] {
            let [order, again, other] = [5, 5, 6].map(|batch| permutation(&coin(1), batch, count));
            assert_eq!(order, again);
            assert!(count < 63 || order != other);
            let mut sorted = order;
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count as u32));
        }
    }

    #[test]
    fn every_order_of_few_is_as_likely() {
        const RUNS: u64 = 48_000;
        let mut seen = HashMap::new();
        for run in 0..RUNS {
            *seen.entry(permutation(&coin(run), 0, 4)).or_insert(0_u64) += 1;
        }
        let expected = RUNS as f64 / 24.0;
        let distance: f64 = seen.values().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
        // Chi-squared with 23 degrees of freedom passes 75 with a chance below 10^-6.
        assert!(seen.len() == 24 && distance < 75.0, "{distance}");
    }

    #[test]
    fn every_item_of_many_comes_to_every_place_as_often() {
        const ITEMS: usize = 20_000;
        const CELLS: usize = 16;
        let mut seen = [[0_u32; CELLS]; CELLS];
        for run in 0..60 {
            for (place, item) in permutation(&coin(run), 3, ITEMS).into_iter().enumerate() {
                seen[place * CELLS / ITEMS][item as usize * CELLS / ITEMS] += 1;
            }
        }
        let expected = (60 * ITEMS / CELLS / CELLS) as f64;
        let distance: f64 =
            seen.iter().flatten().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        // 225 degrees of freedom: a mean of 225, a deviation of 21.
        assert!((120.0..335.0).contains(&distance), "{distance}");
    }

    #[test]
    fn a_number_below_a_bound_has_no_favourite() {
        let mut words = Words::new(Aes128Ctr::new(&coin(9)), 0, 0);
        let bound = (1 << 31) + (1 << 30);
        let low = (0..30_000).filter(|_| words.below(bound) < bound / 3).count();
        assert!((9_500..10_500).contains(&low), "{low}");
    }
}
