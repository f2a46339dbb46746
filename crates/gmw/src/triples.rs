//! Triples of bits from random oblivious transfers (Goldreich, Micali, Wigderson 1987; Beaver 1991): one from each party to each
//! other one for a triple.
//!
//! **Factors.** `P_i` takes its share `a_i` from the choices, and `b_i` from the differences, of its transfers with the party
//! after it ([`next`]). Two parties need no more: `c d` of each direction is `a_j b_i`.
//!
//! **Corrections.** With each other party `P_j`, whose transfers have other choices and differences, `P_i` tells it `f = c ^ a_i`
//! and `e = d ^ b_i`, and with these the shares become those of `a_j b_i`: the receiver adds `c e`, so they are of `c b_i`; the
//! sender adds `f b_i` for the receiver's `f`, so they are of `(c ^ f) b_i = a_j b_i`.
//!
//! Two bits for a triple, to all but one party. `c` and `d` are random bits that nobody else has and serve nothing else, so the
//! corrections tell nothing to any n-1 parties.
//!
//! **Products.** `c_i` is `a_i b_i` and the sum of all shares that `P_i` has.
//!
//! **Products of a bit with a vector** are the same with more bits of each transfer: `a` is the bit, and each bit of `b` and `c` stands
//! for one of the vector's. So `e` is as long as it, and between two parties it costs what a triple does.

use crate::exchange::exchange;
use crate::planted::{Mistake, planted};
use crate::step::CORRECTIONS;
use crate::transfers::{Pair, Transfers};
use tacit_kernel::{Buffer, bits};
use tacit_net::At;
use tacit_session::{Error, Session};

/// This party's shares of triples: `a`, `b` and `c = a b`, packed. Of vectors all first bits, then all second ones.
pub(crate) type Triples = [Buffer; 3];

/// The party whose transfers with `me` say what the factors of `me` are.
pub(crate) const fn next(me: usize, parties: usize) -> usize {
    (me + 1) % parties
}

/// Makes triples of all of these transfers, and sends corrections under a number of its own.
///
/// # Errors
/// If a link fails, or a message has another length.
pub(crate) fn triples(session: &mut Session, op: u32, transfers: &Transfers) -> Result<Triples, Error> {
    let (me, parties) = (session.me(), session.parties());
    let own = &transfers.pairs[next(me, parties)];
    let (a, b) = (own.choices.clone(), own.differences.clone());
    let mut c = Buffer::of_words::<u64>(transfers.words * transfers.length);
    scale(transfers, a.words(), b.words(), &mut c);
    for peer in session.others() {
        let pair = &transfers.pairs[peer];
        bits::xor_assign(c.words_mut(), pair.received.words());
        bits::xor_assign(c.words_mut(), pair.zeros.words());
    }
    let mut triples = [a, b, c];
    let corrected = correct(session, op, transfers, &mut triples);
    if corrected.is_err() {
        triples.iter_mut().for_each(Buffer::wipe);
    }
    corrected.map(|()| triples)
}

/// Tells others the corrections, and takes theirs into the products.
fn correct(
    session: &mut Session,
    op: u32,
    transfers: &Transfers,
    [a, b, c]: &mut Triples,
) -> Result<(), Error> {
    let (me, parties) = (session.me(), session.parties());
    let length = correction_words(transfers.words, transfers.length);
    let told: Vec<usize> = session.others().filter(|&peer| peer != next(me, parties)).collect();
    let heard: Vec<usize> = session.others().filter(|&peer| me != next(peer, parties)).collect();
    let vector = |peer: usize| {
        let pair = if planted(Mistake::OnePairForAll) { told[0] } else { peer };
        let Pair { choices, differences, .. } = &transfers.pairs[pair];
        let mut vector = Buffer::of_words::<u64>(length);
        let (own_choices, own_differences) = vector.words_mut::<u64>().split_at_mut(transfers.words);
        bits::xor(choices.words(), a.words(), own_choices);
        bits::xor(differences.words(), b.words(), own_differences);
        (peer, vector)
    };
    let told: Vec<(usize, Buffer)> = told.iter().copied().map(vector).collect();
    let at = At { lane: 0, part: CORRECTIONS, op, batch: 0 };
    for (peer, heard) in heard.iter().zip(exchange(session, at, &told, &heard, length)?) {
        let (choices, differences) = heard.words::<u64>().split_at(transfers.words);
        scale(transfers, transfers.pairs[*peer].choices.words(), differences, c);
        scale(transfers, choices, b.words(), c);
    }
    Ok(())
}

/// Adds to `c` the products of bits with the bits of vectors.
fn scale(transfers: &Transfers, bit: &[u64], vector: &[u64], c: &mut Buffer) {
    let c = c.words_mut::<u64>().chunks_exact_mut(transfers.words);
    vector.chunks_exact(transfers.words).zip(c).for_each(|(vector, c)| bits::and_xor(bit, vector, c));
}

/// Words of corrections to a party, of so many words of transfers.
pub(crate) const fn correction_words(words: usize, length: usize) -> usize {
    (1 + length) * words
}
