//! Masks for arms of branches, by products of a bit and a vector (Heath, Kolesnikov, Peceny 2021, figures 5 to 7).
//!
//! All have a random bit `s` and a random vector `r`; then `M_0 = s r` and `M_1 = s r ^ r`, of which number `s` is zeros. Of `s
//! r` the products `s_i r_i` are each party's own, and for each two parties there is one random oblivious transfer each way, of
//! strings of 128 bits:
//!
//! `P_i` gets `w = w_c` for its choice `c`, and `P_j` has `w_0` and `w_1`. Expanded, `P_j` tells `u = G(w_0) ^ G(w_1) ^ r_j`, and
//! `G(w) ^ c u` and `G(w_0)` are shares of `c r_j`: one vector for each product, where two would mask it (figure 6).
//!
//! **Free corrections.** As for [triples](crate::triples), `s_i` is the choice in the transfer from the party after it, and `r_i` what
//! `u` would be without it in the transfer to that party. So between two parties nothing is sent; among more, all but the party after
//! it are told `u`, and `f = c ^ s_i`, by which they take `f r_j` to their shares.
//!
//! **Two parties** take the strings themselves, and have products of 128 bits: seeds, which who uses them expands (figure 7).

use crate::exchange::exchange;
use crate::planted::{Mistake, planted};
use crate::step::MASK_CORRECTIONS;
use crate::strings::{Pair, Strings, expand};
use crate::triples::next;
use std::ops::Range;
use tacit_kernel::{Buffer, bits};
use tacit_net::At;
use tacit_session::{Error, Session};
use zeroize::Zeroizing;

/// A vector of words; wiped when it is dropped.
struct Vector(Buffer);

impl Vector {
    /// What a string stands for: itself, if masks are seeds, or what it expands to. Each string is for one branch and pair alone.
    fn of(string: u128, masks: &Masks, branch: usize) -> Self {
        let mut vector = Self(Buffer::of_words::<u64>(masks.of(branch).len()));
        if masks.are_seeds {
            vector.0.bytes_mut().copy_from_slice(&*Zeroizing::new(string.to_le_bytes()));
        } else {
            expand(string, vector.0.bytes_mut());
        }
        vector
    }

    /// `G(w_0) ^ G(w_1)` of a branch's transfer to a party.
    fn difference(pair: &Pair, branch: usize, masks: &Masks) -> Self {
        let mut difference = Self::of(pair.zeros[branch], masks, branch);
        difference.add(Self::of(pair.ones[branch], masks, branch).words());
        difference
    }

    fn words(&self) -> &[u64] {
        self.0.words()
    }

    fn add(&mut self, other: &[u64]) {
        bits::xor_assign(self.0.words_mut(), other);
    }

    /// Adds a vector where a secret bit is set, in the same time if it isn't.
    fn add_if(&mut self, bit: bool, other: &[u64]) {
        let all = u64::from(bit).wrapping_neg();
        let own = self.0.words_mut::<u64>().iter_mut();
        own.zip(other).for_each(|(word, other)| *word ^= other & all);
    }
}

impl Drop for Vector {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

/// Masks of some branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Masks {
    /// Where each branch's words begin, if those of all stand in a row, and the end of the last one's.
    ends: Vec<usize>,
    /// Whether masks are seeds of one string: among two parties alone.
    are_seeds: bool,
}

impl Masks {
    /// Of branches whose masks have so many words each.
    pub(crate) fn new(words: impl IntoIterator<Item = usize>, are_seeds: bool) -> Self {
        let mut ends = vec![0];
        for words in words {
            ends.push(ends[ends.len() - 1] + words);
        }
        Self { ends, are_seeds }
    }

    /// How many branches.
    pub(crate) fn count(&self) -> usize {
        self.ends.len() - 1
    }

    /// Words of corrections to a party: a bit for each branch, and a vector.
    pub(crate) fn correction_words(&self) -> usize {
        self.count().div_ceil(64) + self.ends[self.count()]
    }

    /// Where a branch's words stand among those of all.
    fn of(&self, branch: usize) -> Range<usize> {
        self.ends[branch]..self.ends[branch + 1]
    }
}

/// Makes masks of transfers with one string for each branch: this party's shares of the bits `s`, a word each, of all
/// `M_0`, and of all `M_1`.
///
/// # Errors
/// If a link fails, or a message has another length.
pub(crate) fn masks(
    session: &mut Session,
    op: u32,
    strings: &Strings,
    masks: &Masks,
) -> Result<[Buffer; 3], Error> {
    let (me, parties) = (session.me(), session.parties());
    let own = &strings.pairs[next(me, parties)];
    let random: Vec<Vector> =
        (0..masks.count()).map(|branch| Vector::difference(own, branch, masks)).collect();
    let told = session.others().filter(|&peer| peer != next(me, parties));
    let told: Vec<usize> = told.collect();
    let corrected = |&peer: &usize| {
        let pair = if planted(Mistake::OnePairForAll) { told[0] } else { peer };
        (peer, corrections(&strings.pairs[pair], own, &random, masks))
    };
    let told: Vec<(usize, Buffer)> = told.iter().map(corrected).collect();
    let from: Vec<usize> = session.others().filter(|&peer| me != next(peer, parties)).collect();
    let at = At { lane: 0, part: MASK_CORRECTIONS, op, batch: 0 };
    let heard = exchange(session, at, &told, &from, masks.correction_words())?;
    let (flips, words) = (masks.count().div_ceil(64), masks.ends[masks.count()]);
    let [mut bit, mut zero, mut one] = [masks.count(), words, words].map(Buffer::of_words::<u64>);
    for (branch, random) in random.iter().enumerate() {
        let s = bits::get(&own.choices, branch);
        let mut product = Vector(Buffer::of_words::<u64>(random.words().len()));
        product.add_if(s, random.words());
        for peer in session.others() {
            let pair = &strings.pairs[peer];
            product.add(Vector::of(pair.received[branch], masks, branch).words());
            product.add(Vector::of(pair.zeros[branch], masks, branch).words());
            if let Some(place) = from.iter().position(|from| *from == peer) {
                let told = heard[place].words::<u64>();
                let u = &told[flips..][masks.of(branch)];
                product.add_if(bits::get(&pair.choices, branch), u);
                product.add_if(bits::get(told, branch), random.words());
            }
        }
        bit.words_mut::<u64>()[branch] = s.into();
        zero.words_mut::<u64>()[masks.of(branch)].copy_from_slice(product.words());
        product.add(random.words());
        one.words_mut::<u64>()[masks.of(branch)].copy_from_slice(product.words());
    }
    Ok([bit, zero, one])
}

/// What a party is told whose transfers aren't those of which this party's bits and vectors are: `f` of all branches,
/// and then `u`.
fn corrections(pair: &Pair, own: &Pair, random: &[Vector], masks: &Masks) -> Buffer {
    let mut all = Buffer::of_words::<u64>(masks.correction_words());
    let (flips, vectors) = all.words_mut::<u64>().split_at_mut(masks.count().div_ceil(64));
    bits::xor(&pair.choices, &own.choices, flips);
    bits::clear_tail(flips, masks.count());
    for (branch, random) in random.iter().enumerate() {
        let difference = Vector::difference(pair, branch, masks);
        bits::xor(difference.words(), random.words(), &mut vectors[masks.of(branch)]);
    }
    all
}
