//! Trees of which one side has all leaves and the other all but one: punctured pseudo-random functions from base OTs
//! (Goldreich, Goldwasser, Micali 1986; Roy 2022, section 4; Boyle et al. 2019).
//!
//! Nodes are 128-bit strings. The first level's two nodes are the keys of the first base OT; a hash makes two children of each
//! node. For level `l` from the second on let `s_b` be the sum of all nodes on side `b` (left children for 0, right ones for 1),
//! and `K_b` the keys of the level's base OT.
//!
//! Who has all leaves sends `s_0 ^ K_0` and `s_1 ^ K_1`. The other one is to miss leaf `d`. On each level it has the key of the
//! side on which the node above `d` is *not*, so it learns that side's sum, and by it the one node there that it can't compute:
//! the sibling of the node above `d`.
//!
//! **Numbers.** Who misses a leaf counts nodes by their difference from those above `d`: its missing node is number 0 on
//! every level. So nothing that it computes depends on `d` but which of two values goes where.
//!
//! **The check.** A malicious owner can send sums that aren't, so that the other one's leaves are right or wrong depending on
//! `d`. So every leaf also gives a check of 256 bits. The owner sends the sum of all of a tree's checks, and a digest of all
//! checks in order.
//!
//! The other one computes the check that it misses from the sum, and compares the digest. Checks are hashes, so the digest fixes
//! all leaves. Whoever passes has leaves that agree with them, whatever `d` is; the owner may have guessed something about `d`
//! and learns that the guess was right.

use crate::base::Key;
use crate::context::Context;
use crate::params::KEY;
use subtle::{Choice, ConditionallySelectable};
use zeroize::Zeroize;

/// A leaf's check.
pub(crate) type Check = [u8; 32];

/// The leaves of a tree.
pub(crate) struct Grown {
    /// Keys: of all leaves, or of all but number 0.
    pub(crate) keys: Vec<Key>,
    /// The digest of the leaves' checks; none if there is nothing to check.
    pub(crate) digest: Option<Check>,
}

/// Grows a tree from both keys of each level's base OT; `message` receives the sums, and the sum of checks if `checked`.
pub(crate) fn grow(
    context: &Context,
    tree: usize,
    base: &[[Key; 2]],
    checked: bool,
    message: &mut Vec<u8>,
) -> Grown {
    let mut nodes: Vec<Key> =
        base.first().map_or_else(Vec::new, |[zero, one]| vec![zero.clone(), one.clone()]);
    for (level, keys) in base.iter().enumerate().skip(1) {
        let mut sums = keys.clone();
        nodes = nodes.iter().flat_map(|node| children(context, tree, level, node)).collect();
        for (side, node) in nodes.iter().enumerate() {
            add(&mut sums[side % 2], node);
        }
        for sum in &sums {
            message.extend_from_slice(&**sum);
        }
    }
    let digest = (checked && base.len() > 1).then(|| {
        let checks: Vec<Check> = nodes.iter().map(|node| check(context, tree, node)).collect();
        message.extend_from_slice(&sum_of(&checks));
        digest(context, tree, &checks)
    });
    Grown { keys: nodes.iter().map(|node| leaf(context, tree, node)).collect(), digest }
}

/// Grows a tree but for leaf `missing`, from one key of each level's base OT and the owner's message. Keys are in the order
/// of their numbers' differences from `missing`, from 1 on.
pub(crate) fn regrow(
    context: &Context,
    tree: usize,
    missing: usize,
    base: &[Key],
    checked: bool,
    message: &[u8],
) -> Grown {
    let height = base.len();
    let side = |level: usize| Choice::from((missing >> (height - 1 - level) & 1) as u8);
    let mut nodes: Vec<Key> = base.first().map_or_else(Vec::new, |key| vec![Key::default(), key.clone()]);
    let (sums, rest) = message.split_at(2 * KEY * (height - 1));
    for ((level, key), sums) in base.iter().enumerate().skip(1).zip(sums.as_chunks::<{ 2 * KEY }>().0) {
        let (left, right) = sums.split_at(KEY);
        let mut next = vec![Key::default(); 2 * nodes.len()];
        // The side that the missing node isn't on.
        let mut sibling = key.clone();
        for (byte, (left, right)) in sibling.iter_mut().zip(left.iter().zip(right)) {
            *byte ^= u8::conditional_select(right, left, side(level));
        }
        for (number, node) in nodes.iter().enumerate().skip(1) {
            let [left, right] = children(context, tree, level, node);
            next[2 * number] = select(&left, &right, side(level));
            next[2 * number + 1] = select(&right, &left, side(level));
            add(&mut sibling, &next[2 * number + 1]);
        }
        next[1] = sibling;
        nodes = next;
    }
    let digest = (checked && height > 1).then(|| {
        let mut checks: Vec<Check> = nodes.iter().map(|node| check(context, tree, node)).collect();
        checks[0] = [0; 32];
        let others = sum_of(&checks);
        for ((byte, all), others) in checks[0].iter_mut().zip(rest).zip(others) {
            *byte = all ^ others;
        }
        put_in_order(&mut checks, missing);
        digest(context, tree, &checks)
    });
    Grown { keys: nodes.iter().skip(1).map(|node| leaf(context, tree, node)).collect(), digest }
}

/// From the order of differences to that of the leaves' own numbers: each bit of `missing` exchanges pairs, or none.
fn put_in_order(checks: &mut [Check], missing: usize) {
    for bit in 0..checks.len().ilog2() {
        let swap = Choice::from((missing >> bit & 1) as u8);
        for number in (0..checks.len()).filter(|number| number >> bit & 1 == 0) {
            let (low, high) = (checks[number], checks[number | 1 << bit]);
            checks[number] = Check::conditional_select(&low, &high, swap);
            checks[number | 1 << bit] = Check::conditional_select(&high, &low, swap);
        }
    }
}

/// `if_zero`, or `if_one`.
fn select(if_zero: &Key, if_one: &Key, choice: Choice) -> Key {
    Key::new(<[u8; KEY]>::conditional_select(if_zero, if_one, choice))
}

fn add(sum: &mut Key, node: &Key) {
    sum.iter_mut().zip(node.iter()).for_each(|(sum, byte)| *sum ^= byte);
}

fn children(context: &Context, tree: usize, level: usize, node: &Key) -> [Key; 2] {
    let mut hash = context.hash("tree node", &[tree as u64, level as u64], &[&**node]);
    let mut both = [Key::default(), Key::default()];
    for (child, half) in both.iter_mut().zip(hash.as_chunks::<KEY>().0) {
        child.copy_from_slice(half);
    }
    hash.zeroize();
    both
}

fn leaf(context: &Context, tree: usize, node: &Key) -> Key {
    let mut hash = context.hash("tree leaf", &[tree as u64], &[&**node]);
    let mut key = Key::default();
    key.copy_from_slice(&hash[..KEY]);
    hash.zeroize();
    key
}

fn check(context: &Context, tree: usize, node: &Key) -> Check {
    context.hash("tree check", &[tree as u64], &[&**node])
}

fn digest(context: &Context, tree: usize, checks: &[Check]) -> Check {
    context.hash("tree digest", &[tree as u64], &[checks.as_flattened()])
}

fn sum_of(checks: &[Check]) -> Check {
    let mut sum = [0; 32];
    for check in checks {
        sum.iter_mut().zip(check).for_each(|(sum, byte)| *sum ^= byte);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(height: usize) -> Vec<[Key; 2]> {
        let key = |number: usize| Key::new([number as u8 + 1; KEY]);
        (0..height).map(|level| [key(2 * level), key(2 * level + 1)]).collect()
    }

    /// What who misses a leaf gets of the base OTs.
    fn chosen(base: &[[Key; 2]], missing: usize) -> Vec<Key> {
        let height = base.len();
        let side = |level: usize| missing >> (height - 1 - level) & 1;
        base.iter().enumerate().map(|(level, keys)| keys[1 - side(level)].clone()).collect()
    }

    #[test]
    fn all_leaves_but_one_are_the_owners() {
        let context = Context::of(3);
        for height in 1..=8 {
            let mut message = Vec::new();
            let owned = grow(&context, 5, &base(height), true, &mut message);
            assert_eq!(owned.keys.len(), 1 << height);
            for missing in 0..1 << height {
                let other = regrow(&context, 5, missing, &chosen(&base(height), missing), true, &message);
                assert_eq!(other.digest, owned.digest, "height {height}, leaf {missing}");
                assert_eq!(other.digest.is_some(), height > 1);
                for (difference, key) in (1..).zip(&other.keys) {
                    assert_eq!(*key, owned.keys[missing ^ difference], "height {height}, leaf {missing}");
                }
                assert_eq!(other.keys.len() + 1, owned.keys.len());
                assert!(!other.keys.contains(&owned.keys[missing]));
            }
        }
    }

    /// A sum that isn't is noticed exactly by those who use it, and they have then learnt no more than that.
    #[test]
    fn wrong_sums_are_noticed_by_whoever_uses_them() {
        let (context, height) = (Context::of(3), 4);
        let mut message = Vec::new();
        let owned = grow(&context, 0, &base(height), true, &mut message);
        for at in 0..message.len() {
            let mut wrong = message.clone();
            wrong[at] ^= 0x10;
            for missing in 0..1 << height {
                let other = regrow(&context, 0, missing, &chosen(&base(height), missing), true, &wrong);
                let (level, side) = (1 + at / (2 * KEY), at / KEY % 2);
                let used = level >= height || missing >> (height - 1 - level) & 1 != side;
                assert_eq!(other.digest != owned.digest, used, "byte {at}, leaf {missing}");
                if !used {
                    let right = (1..).zip(&other.keys).all(|(i, key)| *key == owned.keys[missing ^ i]);
                    assert!(right, "byte {at}, leaf {missing}");
                }
            }
        }
    }
}
