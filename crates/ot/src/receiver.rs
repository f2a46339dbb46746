//! The receiver's half of the extension: it has all leaves of all trees.
//!
//! For tree `t` let `u_t` be the sum of its leaves' streams, and `v_j` the plane of bit `j` of its leaves' numbers
//! ([`tacit_kernel::leaves`]). The sender, which misses the leaf `delta_t`, computes `w_j = v_j ^ delta_j u_t` for the bits
//! `j` of the block `delta_t`. The receiver sends corrections `u_t ^ u`, where `u` are the choices; random ones are `u_0`.
//! Then row `i` of all planes is `t_i` here and `q_i = t_i ^ u_i delta` there.

use crate::context::Context;
use crate::params::{ANSWER_BYTES, COIN_BYTES, LAMBDA, Params};
use crate::sink::{Form, Received};
use crate::tile::{Secret, TILE, add_hashes, answer, row_hash, tile, tiles, to_rows, weights};
use tacit_kernel::gf128::Gf128;
use tacit_kernel::leaves::Leaves;
use zeroize::Zeroizing;

/// The receiver of one direction's OTs.
pub(crate) struct Receiver {
    context: Context,
    params: Params,
    trees: Vec<Leaves>,
    /// Rows so far.
    rows: u64,
    /// Batches so far.
    batches: u64,
}

/// A batch whose columns are sent, and that waits for its coin.
#[derive(Default)]
pub(crate) struct Extended {
    batch: u64,
    first_row: u64,
    rows: usize,
    columns: Secret,
    choices: Secret,
}

impl Receiver {
    pub(crate) fn new(context: Context, params: Params, trees: Vec<Leaves>) -> Self {
        Self { context, params, trees, rows: 0, batches: 0 }
    }

    /// Extends by a batch of so many rows, and writes what is sent. Given choices are for the first rows; all others are
    /// random. `used` is what an earlier batch was kept in.
    pub(crate) fn extend(
        &mut self,
        rows: usize,
        given: Option<&[u64]>,
        message: &mut [u8],
        mut used: Extended,
    ) -> Extended {
        let columns = used.columns.reuse(LAMBDA * rows / 64);
        let choices = used.choices.reuse(rows / 64);
        let sent = self.params.columns(given.is_some());
        // Whoever has a sum has the choices, by the correction that was sent.
        let mut sum = Zeroizing::new([0; TILE]);
        for words in tiles(rows) {
            let block = (self.rows + 64 * words.start as u64) / LAMBDA as u64;
            let mut planes = &mut columns[LAMBDA * words.start..LAMBDA * words.end];
            let choices = &mut choices[words.clone()];
            let sum = &mut sum[..words.len()];
            let message = &mut message[8 * sent * words.start..8 * sent * words.end];
            let mut parts = message.chunks_exact_mut(8 * words.len());
            for (number, tree) in self.trees.iter().enumerate() {
                let (own, rest) = planes.split_at_mut(tree.height() * words.len());
                planes = rest;
                tree.sums(block, sum, own);
                if number == 0 {
                    choices.copy_from_slice(sum);
                    let Some(given) = given else { continue };
                    let given = given.get(words.start..).unwrap_or_default();
                    choices.iter_mut().zip(given).for_each(|(choice, given)| *choice = *given);
                }
                // Without a part for each tree there'd be columns that aren't sent: the lengths are this crate's own.
                if let Some(part) = parts.next() {
                    correction(sum, choices, part);
                }
            }
        }
        let (batch, first_row) = (self.batches, self.rows);
        self.batches += 1;
        self.rows += rows as u64;
        Extended { batch, first_row, rows, ..used }
    }

    /// The answer to a batch's coin.
    pub(crate) fn answer(&self, batch: &Extended, coin: &[u8; COIN_BYTES]) -> [u8; ANSWER_BYTES] {
        let weights = weights(coin, batch.rows);
        let (mut columns, mut choices) = ([Gf128::ZERO; LAMBDA], [Gf128::ZERO]);
        for words in tiles(batch.rows) {
            add_hashes(&weights, &words, tile(batch.columns.words(), &words), &mut columns);
            add_hashes(&weights, &words, &batch.choices.words()[words.clone()], &mut choices);
        }
        answer(&self.context, batch.batch, coin, choices[0], &columns)
    }

    /// Hands out a batch's first `ots` OTs, the first of which is number `first` of those asked for.
    pub(crate) fn hand_out(
        &self,
        batch: &Extended,
        [first, ots]: [usize; 2],
        form: Form,
        memory: &mut Secret,
        mut sink: impl FnMut(Received<'_>),
    ) {
        let hash = row_hash(&self.context, batch.batch);
        for words in tiles(batch.rows) {
            let start = 64 * words.start;
            let count = ots.saturating_sub(start).min(64 * words.len());
            if count == 0 {
                break;
            }
            let values = &mut to_rows(batch.columns.words(), &words, memory)[..count];
            if form == Form::Random {
                hash.hash(batch.first_row + start as u64, values);
            }
            let choices = &batch.choices.words()[words.start..][..count.div_ceil(64)];
            sink(Received { peer: 0, first: first + start, choices, values });
        }
    }
}

/// `sum ^ choices`, as bytes.
fn correction(sum: &[u64], choices: &[u64], part: &mut [u8]) {
    for ((sum, choice), bytes) in sum.iter().zip(choices).zip(part.as_chunks_mut().0) {
        *bytes = (sum ^ choice).to_le_bytes();
    }
}
