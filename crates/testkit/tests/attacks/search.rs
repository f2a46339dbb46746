//! What attackers look for: some of many numbers whose sum is zero.
//!
//! A check that is linear in a sender's errors, with coefficients that it knows before it has to send them, is passed by
//! any errors whose coefficients add up to zero. Over GF(2) these are the solutions of linear equations. Modulo a prime an
//! error is there or not, and so it is a subset sum; with enough numbers it is as easy (Schroeppel and Shamir 1981; Wagner,
//! "A generalized birthday problem", 2002).

use tacit_testkit::Rng;

/// The prime.
pub(crate) const P: u64 = (1 << 61) - 1;

/// Numbers of a list whose subsets are all summed up.
const GROUP: usize = 16;

/// Sums that are kept when two lists are merged.
const KEPT: usize = 1 << GROUP;

/// How far from 0 modulo p sums may be, for each part in turn: each merge of two lists of 2^16 leaves about 2^16 that come
/// 16 bits nearer, and the last one of a part leaves zeros.
const ONE_PART: [(usize, u64); 3] = [(0, 1 << 44), (0, 1 << 28), (0, 0)];
const TWO_PARTS: [(usize, u64); 7] =
    [(0, 1 << 44), (0, 1 << 28), (0, 1 << 12), (0, 0), (1, 1 << 44), (1, 1 << 28), (1, 0)];

/// Numbers that it takes to have a sum of zero in so many parts: 8 lists, or 128.
pub(crate) const fn needed(parts: usize) -> usize {
    GROUP << if parts == 1 { ONE_PART.len() } else { TWO_PARTS.len() }
}

/// Some of these numbers, by their places, that add up to 0 modulo p in each of one or two parts. There are
/// [`needed`] numbers at least; if there are more, which are taken is random. `None` if it found none, in 1 of 1,000 cases.
pub(crate) fn zero_sum<const PARTS: usize>(numbers: &[[u64; PARTS]], rng: &mut Rng) -> Option<Vec<usize>> {
    let merges: &[(usize, u64)] = if PARTS == 1 { &ONE_PART } else { &TWO_PARTS };
    let mut places: Vec<usize> = (0..numbers.len()).collect();
    for at in (1..places.len()).rev() {
        places.swap(at, rng.below(at + 1));
    }
    let shuffled: Vec<[u64; PARTS]> = places.iter().map(|&place| numbers[place]).collect();
    let list = list(&shuffled, 0, merges);
    if list.sums.is_empty() {
        return None;
    }
    let mut chosen = Vec::new();
    list.origin.chosen(0, &mut chosen);
    Some(chosen.into_iter().map(|at| places[at]).collect())
}

/// Sums of some numbers, and where they come from.
struct List<const PARTS: usize> {
    sums: Vec<[u64; PARTS]>,
    origin: Origin,
}

enum Origin {
    /// Subsets of the numbers from here on: sum `n` is that of those at the bits of `n + 1`. None is empty.
    Group(usize),
    /// Sums of a sum of one list and a sum of the other.
    Merged { of: Box<[Origin; 2]>, pairs: Vec<[u32; 2]> },
}

impl Origin {
    fn chosen(&self, sum: u32, chosen: &mut Vec<usize>) {
        match self {
            Self::Group(first) => {
                chosen.extend((0..GROUP).filter(|bit| (sum + 1) >> bit & 1 == 1).map(|bit| first + bit));
            }
            Self::Merged { of, pairs } => {
                for (list, sum) in of.iter().zip(pairs[sum as usize]) {
                    list.chosen(sum, chosen);
                }
            }
        }
    }
}

/// The tree's list over the numbers from `first` on.
fn list<const PARTS: usize>(numbers: &[[u64; PARTS]], first: usize, merges: &[(usize, u64)]) -> List<PARTS> {
    let Some((&(part, within), merges)) = merges.split_last() else {
        let mut sums = vec![[0; PARTS]];
        for number in &numbers[first..first + GROUP] {
            let with: Vec<[u64; PARTS]> = sums.iter().map(|sum| add(sum, number)).collect();
            sums.extend(with);
        }
        sums.remove(0);
        return List { sums, origin: Origin::Group(first) };
    };
    let half = GROUP << merges.len();
    merge(list(numbers, first, merges), list(numbers, first + half, merges), part, within)
}

/// Sums of one of each list, of which a part is at most so far from 0 modulo p.
fn merge<const PARTS: usize>(left: List<PARTS>, right: List<PARTS>, part: usize, within: u64) -> List<PARTS> {
    let sorted = |list: &List<PARTS>, key: fn(u64, u64) -> u64| {
        let keys = list.sums.iter().zip(0_u32..).map(|(sum, at)| (key(sum[part], within), at));
        let mut keys: Vec<(u64, u32)> = keys.collect();
        keys.sort_unstable();
        keys
    };
    // The other summand has to be among those that follow this one, around the modulus.
    let lefts = sorted(&left, |sum, within| (2 * P - sum - within) % P);
    let rights = sorted(&right, |sum, _| sum);
    let (mut sums, mut pairs, mut start) = (Vec::new(), Vec::new(), 0);
    for (low, at) in lefts {
        while rights.get(start).is_some_and(|(value, _)| *value < low) {
            start += 1;
        }
        let after = |value: u64| if value < low { value + P - low } else { value - low };
        let around = rights[start..].iter().chain(&rights[..start]);
        for &(_, other) in around.take_while(|(value, _)| after(*value) <= 2 * within) {
            sums.push(add(&left.sums[at as usize], &right.sums[other as usize]));
            pairs.push([at, other]);
        }
        if pairs.len() >= KEPT {
            break;
        }
    }
    List { sums, origin: Origin::Merged { of: Box::new([left.origin, right.origin]), pairs } }
}

fn add<const PARTS: usize>(a: &[u64; PARTS], b: &[u64; PARTS]) -> [u64; PARTS] {
    std::array::from_fn(|part| {
        let sum = a[part] + b[part];
        if sum < P { sum } else { sum - P }
    })
}

/// Some of these vectors of so many words, by their places, whose exclusive or is 0: a random solution of 64 linear equations
/// over GF(2) for each word. There are more vectors than equations. Empty only by bad luck.
pub(crate) fn cancelling<const WORDS: usize>(vectors: &[[u64; WORDS]], rng: &mut Rng) -> Vec<usize> {
    let first_bit = |of: &[u64; WORDS]| {
        of.iter().enumerate().find(|(_, word)| **word != 0).map(|(at, word)| 64 * at + word.ilog2() as usize)
    };
    // Rows that begin at different bits, each with the places whose vectors it is the sum of.
    let mut rows: Vec<Option<([u64; WORDS], Vec<bool>)>> = vec![None; 64 * WORDS];
    let mut chosen = vec![false; vectors.len()];
    for (place, &vector) in vectors.iter().enumerate() {
        let (mut rest, mut sum) = (vector, vec![false; vectors.len()]);
        sum[place] = true;
        while let Some(first) = first_bit(&rest) {
            let row = &mut rows[first];
            let Some((vector, places)) = row else {
                *row = Some((rest, sum.clone()));
                break;
            };
            rest.iter_mut().zip(vector).for_each(|(word, other)| *word ^= *other);
            sum.iter_mut().zip(places).for_each(|(bit, other)| *bit ^= *other);
        }
        // What adds up to nothing is a solution, and so is each sum of some of them.
        if rest == [0; WORDS] && rng.one_in(2) {
            chosen.iter_mut().zip(sum).for_each(|(bit, other)| *bit ^= other);
        }
    }
    (0..vectors.len()).filter(|&place| chosen[place]).collect()
}
