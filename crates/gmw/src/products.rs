//! Products of shared bits with shared vectors of strings, among any number of parties (VS gates of Heath,
//! Kolesnikov, Peceny 2021, section 2.3, with the half-length messages of figure 6).
//!
//! For each product there is one random oblivious transfer of strings from each party to each other one: `P_i` has a bit `c` and
//! `w_c`, and `P_j` has `w_0` and `w_1`. `P_i` tells `f = c ^ s_i` of its share of the bit, and `P_j` tells `u = G(w_0) ^ G(w_1) ^ x_j`
//! of its share of the vector. Then `G(w_c) ^ c u` and `G(w_0) ^ f x_j` add up to `c x_j ^ f x_j = s_i x_j`. Both are masked by what the
//! other lacks, so they tell nothing.

use crate::exchange::exchange;
use crate::strings::{Strings, expand};
use std::ops::Range;
use tacit_kernel::{Buffer, bits};
use tacit_net::At;
use tacit_session::{Error, Session};
use zeroize::Zeroizing;

/// Strings of 128 bits; wiped when they are dropped.
pub(crate) type Words = Zeroizing<Vec<u128>>;

/// This party's shares of products, one for each of these transfers: of its shares of bits, packed, with vectors of
/// `length` strings, one vector after another.
///
/// # Errors
/// If a link fails, or a message has another length.
pub(crate) fn products(
    session: &mut Session,
    at: At,
    (strings, transfers): (&Strings, &[usize]),
    scalars: &[u64],
    (vectors, length): (&[u128], usize),
) -> Result<Words, Error> {
    let flips = transfers.len().div_ceil(64);
    let words = flips + 2 * vectors.len();
    let of = |product: usize| product * length..(product + 1) * length;
    let tell = |peer: usize| {
        let pair = &strings.pairs[peer];
        let mut message = Buffer::of_words::<u64>(words);
        let (told_flips, told) = message.words_mut::<u64>().split_at_mut(flips);
        for (product, &transfer) in transfers.iter().enumerate() {
            let flip = bits::get(&pair.choices, transfer) ^ bits::get(scalars, product);
            bits::set(told_flips, product, flip);
            let (zeros, ones) = (vector(pair.zeros[transfer], length), vector(pair.ones[transfer], length));
            let own = vectors[of(product)].iter().zip(zeros.iter().zip(ones.iter()));
            put(&mut told[two(of(product))], own.map(|(x, (zero, one))| x ^ zero ^ one));
        }
        (peer, message)
    };
    let peers: Vec<usize> = session.others().collect();
    let told: Vec<(usize, Buffer)> = peers.iter().copied().map(tell).collect();
    let heard = exchange(session, at, &told, &peers, words)?;
    let mut made = Words::new(vec![0; vectors.len()]);
    for (product, &transfer) in transfers.iter().enumerate() {
        let (own, out) = (&vectors[of(product)], &mut made[of(product)]);
        add_if(bits::get(scalars, product), own.iter().copied(), out);
        for (&peer, heard) in peers.iter().zip(&heard) {
            let (pair, told) = (&strings.pairs[peer], heard.words::<u64>());
            add_if(true, vector(pair.received[transfer], length).iter().copied(), out);
            add_if(bits::get(&pair.choices, transfer), read(&told[flips..][two(of(product))]), out);
            add_if(true, vector(pair.zeros[transfer], length).iter().copied(), out);
            add_if(bits::get(told, product), own.iter().copied(), out);
        }
    }
    Ok(made)
}

/// Words of a message of so many products.
pub(crate) const fn message_words(products: usize, length: usize) -> usize {
    products.div_ceil(64) + 2 * products * length
}

/// What a string expands to: itself alone, or a stream under it. Each is for one length alone.
fn vector(string: u128, length: usize) -> Words {
    let mut out = Words::new(vec![string; length]);
    if length > 1 {
        let mut bytes = Zeroizing::new(vec![0; 16 * length]);
        expand(string, &mut bytes);
        for (out, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
            *out = u128::from_le_bytes(*bytes);
        }
    }
    out
}

/// Adds strings where a secret bit is set, in the same time if it isn't.
fn add_if(bit: bool, strings: impl Iterator<Item = u128>, out: &mut [u128]) {
    let all = u128::from(bit).wrapping_neg();
    out.iter_mut().zip(strings).for_each(|(out, string)| *out ^= string & all);
}

/// The words of some strings.
pub(crate) fn two(strings: Range<usize>) -> Range<usize> {
    2 * strings.start..2 * strings.end
}

/// Writes strings as words.
pub(crate) fn put(out: &mut [u64], strings: impl Iterator<Item = u128>) {
    for (out, string) in out.as_chunks_mut::<2>().0.iter_mut().zip(strings) {
        *out = [string as u64, (string >> 64) as u64];
    }
}

/// Reads them.
pub(crate) fn read(words: &[u64]) -> impl Iterator<Item = u128> {
    words.as_chunks::<2>().0.iter().map(|[low, high]| u128::from(*high) << 64 | u128::from(*low))
}
