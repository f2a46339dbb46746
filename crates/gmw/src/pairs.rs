//! Masks of pairs of seeds, among three parties alone (Heath, Kolesnikov, Peceny 2021, section 6.2, mended).
//!
//! **Pairs.** Each party's share of a mask is the sum of what two seeds expand to. Of zeros the seeds are `{A, B}`, `{A, C}` and
//! `{B, C}`, of which each is there twice; of random bits `{X, Y_1}`, `{X, Y_2}` and `{X, Y_3}`, and `X` and the three `Y_i` don't
//! cancel. Any two parties have one seed in common in both cases, and two others.
//!
//! **Slots.** The paper gives seeds in this order. Then the first and the third party have theirs in common at their second and
//! first place in the one case, and at the first of both in the other; the second and the third at the second of both, and at the
//! first.
//!
//! Each of these two coalitions knows which mask is zeros, and with `s ^ t` which arm is taken. Here each pair is swapped by a
//! fresh shared bit, one for each party and mask, before it is opened to its owner: so the places of the common seed are uniform
//! in both cases. Both masks have seeds of their own.
//!
//! **How.** All seeds, `s` and the bits for swaps are random shares. With `d` the differences of both cases' pairs, mask 0 has those of
//! zeros and `s d`, and mask 1 those of random bits and `s d`: a product of a bit with a vector. A pair is swapped by a product with
//! the difference of its seeds ([`products`]).

use crate::exchange::exchange;
use crate::planted::{Mistake, planted};
use crate::products::{Words, message_words, products, put, read, two};
use crate::step::{PAIRS_CHOSEN, PAIRS_OPENED, PAIRS_SWAPPED};
use crate::strings::Strings;
use tacit_kernel::{Buffer, bits};
use tacit_net::At;
use tacit_session::{Error, Session};
use zeroize::Zeroizing;

/// Which seeds each party has of zeros: `A`, `B` and `C`.
const ZEROS: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];

/// And of random bits: `X`, and its own `Y`.
const RANDOM: [[usize; 2]; 3] = [[3, 4], [3, 5], [3, 6]];

/// Parties.
const HOLDERS: usize = ZEROS.len();

/// Seeds of a mask in both cases together.
const SEEDS: usize = 7;

/// Pairs of a branch: for each mask one of each party.
const PAIRS: usize = 2 * HOLDERS;

/// Transfers with each other party for a branch: for `s`, and for each pair's swap.
pub(crate) const TRANSFERS: usize = 1 + PAIRS;

/// Messages one after another.
pub(crate) const ROUNDS: usize = 3;

/// Words to each other party for so many branches, in each message.
pub(crate) fn words(branches: usize) -> [usize; ROUNDS] {
    [message_words(branches, 2 * PAIRS), message_words(branches * PAIRS, 1), 2 * 2 * 2 * branches]
}

/// Makes masks of so many branches: this party's shares of the bits `s`, a word each, and its pairs of seeds of all `M_0` and of all
/// `M_1`.
///
/// # Errors
/// If a link fails, or a message has another length.
pub(crate) fn pairs(
    session: &mut Session,
    op: u32,
    strings: &Strings,
    branches: usize,
) -> Result<[Buffer; 3], Error> {
    let at = |part: u16| At { lane: 0, part, op, batch: 0 };
    let seeds = drawn(session, 2 * 2 * SEEDS * branches)?;
    let seeds = Words::new(read(&seeds).collect());
    let which = drawn(session, branches.div_ceil(64))?;
    let mut swaps = drawn(session, (branches * PAIRS).div_ceil(64))?;
    if planted(Mistake::SeedsInOrder) {
        swaps.fill(0);
    }
    // The pairs of a branch's two masks, party by party, each of two seeds: in one case and in the other.
    let of = |held: [[usize; 2]; HOLDERS]| {
        let masks = (0..2 * branches)
            .flat_map(move |mask| held.map(move |pair| pair.map(|seed| mask * SEEDS + seed)));
        masks.flatten()
    };
    let mut chosen = Words::new(Vec::with_capacity(2 * PAIRS * branches));
    let mut differences = Words::new(Vec::with_capacity(2 * PAIRS * branches));
    for (place, (zeros, uniform)) in of(ZEROS).zip(of(RANDOM)).enumerate() {
        let is_first = (place / (2 * HOLDERS)).is_multiple_of(2);
        chosen.push(seeds[if is_first { zeros } else { uniform }]);
        differences.push(seeds[zeros] ^ seeds[uniform]);
    }
    let transfers: Vec<usize> = (0..branches).map(|branch| branch * TRANSFERS).collect();
    let made = products(
        session,
        at(PAIRS_CHOSEN),
        (strings, &transfers[..]),
        &which,
        (&differences[..], 2 * PAIRS),
    )?;
    chosen.iter_mut().zip(made.iter()).for_each(|(chosen, made)| *chosen ^= made);
    let both = |pair: &[u128]| pair[0] ^ pair[1];
    let differences = Words::new(chosen.chunks_exact(2).map(both).collect());
    let within = |pair: usize| if planted(Mistake::OneTransferForAll) { 0 } else { pair % PAIRS };
    let transfers: Vec<usize> =
        (0..branches * PAIRS).map(|pair| pair / PAIRS * TRANSFERS + 1 + within(pair)).collect();
    let made =
        products(session, at(PAIRS_SWAPPED), (strings, &transfers[..]), &swaps, (&differences[..], 1))?;
    for (pair, made) in chosen.chunks_exact_mut(2).zip(made.iter()) {
        for seed in pair {
            *seed ^= made;
        }
    }
    // Shares of a party's pairs of all branches, those of both masks of a branch one after the other.
    let of_party = |party: usize| {
        let own = chosen.chunks_exact(2 * HOLDERS).flat_map(move |mask| &mask[2 * party..2 * party + 2]);
        Words::new(own.copied().collect())
    };
    let words = words(branches)[ROUNDS - 1];
    let mut opened = of_party(session.me());
    let others: Vec<usize> = session.others().collect();
    let told = others.iter().map(|&party| {
        let mut message = Buffer::of_words::<u64>(words);
        put(message.words_mut(), of_party(party).iter().copied());
        (party, message)
    });
    let told: Vec<(usize, Buffer)> = told.collect();
    for heard in exchange(session, at(PAIRS_OPENED), &told, &others, words)? {
        opened.iter_mut().zip(read(heard.words())).for_each(|(seed, share)| *seed ^= share);
    }
    let [mut bit, mut zero, mut one] = [1, 4, 4].map(|words| Buffer::of_words::<u64>(words * branches));
    for branch in 0..branches {
        bit.words_mut::<u64>()[branch] = bits::get(&which, branch).into();
        let seeds = &opened[4 * branch..4 * branch + 4];
        for (mask, seeds) in [&mut zero, &mut one].into_iter().zip(seeds.chunks_exact(2)) {
            put(&mut mask.words_mut::<u64>()[two(2 * branch..2 * branch + 2)], seeds.iter().copied());
        }
    }
    Ok([bit, zero, one])
}

/// Random words of this party's own.
fn drawn(session: &mut Session, words: usize) -> Result<Zeroizing<Vec<u64>>, Error> {
    let mut bytes = Zeroizing::new(vec![0; 8 * words]);
    session.entropy().fill(&mut bytes)?;
    Ok(Zeroizing::new(bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()))
}
