//! The sender's half of the extension: it has all leaves of each tree but one, by whose number it has its secret.

use crate::context::Context;
use crate::delta::Delta;
use crate::params::{COIN_BYTES, LAMBDA, Params};
use crate::planted::{Mistake, planted};
use crate::sink::{Form, Sent};
use crate::tile::{Secret, TILE, add_hashes, answer, row_hash, tiles, to_rows, weights};
use subtle::ConstantTimeEq;
use tacit_kernel::gf128::Gf128;
use tacit_kernel::leaves::Leaves;
use tacit_kernel::rows::add_where;

/// The sender of one direction's OTs.
pub(crate) struct Sender {
    context: Context,
    params: Params,
    delta: Delta,
    trees: Vec<Leaves>,
    /// Rows so far.
    rows: u64,
    /// Batches so far.
    batches: u64,
}

/// A batch whose columns have come, and that waits for its answer.
#[derive(Default)]
pub(crate) struct Arrived {
    batch: u64,
    first_row: u64,
    rows: usize,
    columns: Secret,
    coin: [u8; COIN_BYTES],
    hashes: Secret,
}

impl Sender {
    /// Trees' leaves are numbered by their difference from the missing one.
    pub(crate) fn new(context: Context, params: Params, delta: Delta, trees: Vec<Leaves>) -> Self {
        Self { context, params, delta, trees, rows: 0, batches: 0 }
    }

    /// Extends by a batch of so many rows, with the columns that came. If there is a coin, it is what they'll be checked by.
    /// `used` is what an earlier batch was kept in.
    pub(crate) fn extend(
        &mut self,
        rows: usize,
        chosen: bool,
        message: &[u8],
        coin: Option<[u8; COIN_BYTES]>,
        mut used: Arrived,
    ) -> Arrived {
        let columns = used.columns.reuse(LAMBDA * rows / 64);
        let sent = self.params.columns(chosen);
        let coin_weights = coin.map(|coin| weights(&coin, rows));
        let hashes: &mut [Gf128] = bytemuck::cast_slice_mut(used.hashes.reuse(2 * LAMBDA));
        hashes.fill(Gf128::ZERO);
        let mut column = [0; TILE];
        for words in tiles(rows) {
            let block = (self.rows + 64 * words.start as u64) / LAMBDA as u64;
            let all = &mut columns[LAMBDA * words.start..LAMBDA * words.end];
            let mut planes = &mut *all;
            let column = &mut column[..words.len()];
            let mut parts =
                message[8 * sent * words.start..8 * sent * words.end].chunks_exact(8 * words.len());
            let mut first = 0;
            for (number, tree) in self.trees.iter().enumerate() {
                let (own, rest) = planes.split_at_mut(tree.height() * words.len());
                planes = rest;
                // The sum without the missing leaf is of no use.
                tree.sums(block, column, own);
                if chosen || number > 0 {
                    let part = parts.next().unwrap_or_default();
                    column
                        .iter_mut()
                        .zip(part.as_chunks().0)
                        .for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
                    add_where(own, column, self.delta.bits() >> first);
                }
                first += tree.height();
            }
            if let Some(weights) = &coin_weights {
                add_hashes(weights, &words, all, hashes);
            }
        }
        let (batch, first_row) = (self.batches, self.rows);
        self.batches += 1;
        self.rows += rows as u64;
        Arrived { batch, first_row, rows, coin: coin.unwrap_or_default(), ..used }
    }

    /// Whether an answer is that of columns which all have the same choices: with `x` the choices' hash, column `j`'s hash
    /// is there what it is here, plus `x` where bit `j` of the secret is 1.
    pub(crate) fn accepts(&self, batch: &Arrived, theirs: &[u8]) -> bool {
        if planted(Mistake::ColumnsUnchecked) {
            return true;
        }
        let Some(choices) = theirs.first_chunk().map(|bytes| u128::from_le_bytes(*bytes)) else {
            return false;
        };
        let mut columns = [Gf128::ZERO; LAMBDA];
        let hashes: &[Gf128] = bytemuck::cast_slice(batch.hashes.words());
        for (j, (column, hash)) in columns.iter_mut().zip(hashes).enumerate() {
            column.0 = hash.0 ^ choices & (self.delta.bits() >> j & 1).wrapping_neg();
        }
        answer(&self.context, batch.batch, &batch.coin, Gf128(choices), &columns).ct_eq(theirs).into()
    }

    /// Hands out a batch's first `ots` OTs, the first of which is number `first` of those asked for.
    pub(crate) fn hand_out(
        &self,
        batch: &Arrived,
        [first, ots]: [usize; 2],
        form: Form,
        [zeros, ones]: [&mut Secret; 2],
        mut sink: impl FnMut(Sent<'_>),
    ) {
        let hash = row_hash(&self.context, batch.batch);
        let delta = self.delta.bits();
        for words in tiles(batch.rows) {
            let start = 64 * words.start;
            let count = ots.saturating_sub(start).min(64 * words.len());
            if count == 0 {
                break;
            }
            let zeros = &mut to_rows(batch.columns.words(), &words, zeros)[..count];
            ones.0.reuse(16 * count);
            let ones: &mut [u128] = ones.0.words_mut();
            if form == Form::Random {
                hash.hash_both(batch.first_row + start as u64, delta, zeros, ones);
            } else {
                ones.iter_mut().zip(&*zeros).for_each(|(one, zero)| *one = zero ^ delta);
            }
            sink(Sent { peer: 0, first: first + start, zeros, ones });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Security;
    use crate::params::{ANSWER_BYTES, GRAIN};
    use crate::receiver::{Extended, Receiver};
    use tacit_testkit::{Draws, Rng};

    /// Both halves, with trees of random leaves.
    fn halves(params: Params, seed: u64) -> (Sender, Receiver) {
        let mut rng = Rng::new(seed);
        let delta = Delta::draw(Draws::fixed(seed).of(0).as_mut()).unwrap();
        let (mut all, mut but_one, mut first) = (Vec::new(), Vec::new(), 0);
        for height in params.heights() {
            let keys: Vec<[u8; 16]> =
                (0..1 << height).map(|_| bytemuck::cast([rng.word(), rng.word()])).collect();
            let missing = delta.block(first, height);
            let others: Vec<[u8; 16]> = (1..keys.len()).map(|number| keys[number ^ missing]).collect();
            all.push(Leaves::new(&keys));
            but_one.push(Leaves::new(&others));
            first += height;
        }
        let context = Context::of(seed as u8);
        (Sender::new(context, params, delta, but_one), Receiver::new(context, params, all))
    }

    fn rows_of(sender: &Sender, batch: &Arrived, ots: usize, form: Form) -> [Vec<u128>; 2] {
        let mut all = [Vec::new(), Vec::new()];
        let [zeros, ones] = &mut [Secret::default(), Secret::default()];
        sender.hand_out(batch, [0, ots], form, [zeros, ones], |ots| {
            all[0].extend_from_slice(ots.zeros);
            all[1].extend_from_slice(ots.ones);
        });
        all
    }

    fn values_of(receiver: &Receiver, batch: &Extended, ots: usize, form: Form) -> (Vec<u64>, Vec<u128>) {
        let (mut choices, mut values) = (Vec::new(), Vec::new());
        receiver.hand_out(batch, [0, ots], form, &mut Secret::default(), |ots| {
            choices.extend_from_slice(ots.choices);
            values.extend_from_slice(ots.values);
        });
        (choices, values)
    }

    fn bit(words: &[u64], i: usize) -> bool {
        words[i / 64] >> (i % 64) & 1 == 1
    }

    const COIN: [u8; 16] = *b"drawn afterwards";

    #[test]
    fn a_receiver_has_the_value_that_it_chose() {
        for k in 1..=8 {
            let params = Params::new(k, Security::Malicious).unwrap();
            let (mut sender, mut receiver) = halves(params, k as u64);
            let mut rng = Rng::new(7);
            for rows in [GRAIN, 4096 + GRAIN, 8192] {
                let ots = rows - 128;
                let given: Vec<u64> = (0..ots / 64).map(|_| rng.word()).collect();
                for given in [None, Some(given.as_slice())] {
                    let chosen = given.is_some();
                    let mut message = vec![0; params.columns(chosen) * rows / 8];
                    let extended = receiver.extend(rows, given, &mut message, Extended::default());
                    let arrived = sender.extend(rows, chosen, &message, Some(COIN), Arrived::default());
                    assert!(sender.accepts(&arrived, &receiver.answer(&extended, &COIN)), "k = {k}");
                    let (choices, values) = values_of(&receiver, &extended, ots, Form::Random);
                    let pairs = rows_of(&sender, &arrived, ots, Form::Random);
                    let (_, plain) = values_of(&receiver, &extended, ots, Form::Correlated);
                    let plain_pairs = rows_of(&sender, &arrived, ots, Form::Correlated);
                    assert_eq!([values.len(), pairs[0].len(), pairs[1].len()], [ots; 3]);
                    if let Some(given) = given {
                        assert_eq!(choices, given);
                    }
                    for i in 0..ots {
                        let choice = usize::from(bit(&choices, i));
                        assert_eq!(values[i], pairs[choice][i], "OT {i}, k = {k}");
                        assert_ne!(values[i], pairs[1 - choice][i]);
                        assert_eq!(plain[i], plain_pairs[choice][i]);
                        assert_eq!(plain_pairs[0][i] ^ plain_pairs[1][i], sender.delta.bits());
                    }
                }
            }
        }
    }

    /// One bit in one column: whoever sends it is found out, unless the sender's block for that tree is what makes up
    /// for it, which can't be with an honest answer.
    #[test]
    fn a_column_of_other_choices_is_refused() {
        let params = Params::DEFAULT;
        let (mut sender, mut receiver) = halves(params, 1);
        for (tree, row) in [(0, 0), (5, 77), (30, 511), (16, 300)] {
            let mut message = vec![0; params.columns(false) * GRAIN / 8];
            let extended = receiver.extend(GRAIN, None, &mut message, Extended::default());
            message[tree * GRAIN / 8 + row / 8] ^= 1 << (row % 8);
            let arrived = sender.extend(GRAIN, false, &message, Some(COIN), Arrived::default());
            let answer = receiver.answer(&extended, &COIN);
            // A block of zeros takes no correction at all.
            let ignored = sender.delta.block(4 * (tree + 1), 4) == 0;
            assert_eq!(sender.accepts(&arrived, &answer), ignored, "tree {tree}");
        }
    }

    #[test]
    fn answers_are_for_their_batch_and_coin() {
        let params = Params::DEFAULT;
        let (mut sender, mut receiver) = halves(params, 2);
        let mut batch = |coin: [u8; 16]| {
            let mut message = vec![0; params.columns(false) * GRAIN / 8];
            let extended = receiver.extend(GRAIN, None, &mut message, Extended::default());
            let answer = receiver.answer(&extended, &coin);
            (sender.extend(GRAIN, false, &message, Some(coin), Arrived::default()), answer)
        };
        let batches = [batch(COIN), batch(COIN), batch([1; 16])];
        for (i, (arrived, _)) in batches.iter().enumerate() {
            for (j, (_, answer)) in batches.iter().enumerate() {
                assert_eq!(sender.accepts(arrived, answer), i == j, "answer {j} for batch {i}");
            }
            for byte in 0..ANSWER_BYTES {
                let mut wrong = batches[i].1;
                wrong[byte] ^= 4;
                assert!(!sender.accepts(arrived, &wrong), "byte {byte}");
            }
            assert!(!sender.accepts(arrived, &[]));
        }
    }

    /// The answer's hash of choices is masked by the sacrificed rows: it differs though the choices are the same.
    #[test]
    fn an_answer_says_nothing_of_the_choices() {
        let params = Params::DEFAULT;
        let given = [u64::MAX; 6];
        let hashes: Vec<[u8; 16]> = (0..8)
            .map(|seed| {
                let (_, mut receiver) = halves(params, seed);
                let mut message = vec![0; params.columns(true) * GRAIN / 8];
                let extended = receiver.extend(GRAIN, Some(&given), &mut message, Extended::default());
                *receiver.answer(&extended, &COIN).first_chunk().unwrap()
            })
            .collect();
        assert!(hashes.iter().enumerate().all(|(i, hash)| !hashes[i + 1..].contains(hash)));
    }
}
