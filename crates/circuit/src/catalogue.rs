//! Whole circuits by name.
//!
//! Where there are two styles, the plain name is the one with few ANDs, and a name that ends in a depth is the
//! shallow one. Inputs and outputs are those of [`aes::circuits`](crate::crypto::aes::circuits) and its like: a key or
//! round keys before the block, a chaining value before the block, words in order, a multiplexer's condition last.
//!
//! | name | ANDs | depth |
//! | --- | --- | --- |
//! | `aes128` | 6,400 | 60 |
//! | `aes128-depth40` | 6,800 | 40 |
//! | `aes128-decrypt` | 6,400 | 120 |
//! | `aes128-decrypt-depth80` | 6,800 | 80 |
//! | `aes128-key-schedule` | 1,280 | 60 |
//! | `aes128-key-schedule-depth40` | 1,360 | 40 |
//! | `aes128-expanded` | 5,120 | 60 |
//! | `aes128-expanded-depth40` | 5,440 | 40 |
//! | `aes128-decrypt-expanded` | 5,120 | 60 |
//! | `aes128-decrypt-expanded-depth40` | 5,440 | 40 |
//! | `aes192` | 7,168 | 72 |
//! | `aes192-depth48` | 7,616 | 48 |
//! | `aes192-decrypt` | 7,168 | 120 |
//! | `aes192-decrypt-depth80` | 7,616 | 80 |
//! | `aes192-key-schedule` | 1,024 | 48 |
//! | `aes192-key-schedule-depth32` | 1,088 | 32 |
//! | `aes192-expanded` | 6,144 | 72 |
//! | `aes192-expanded-depth48` | 6,528 | 48 |
//! | `aes192-decrypt-expanded` | 6,144 | 72 |
//! | `aes192-decrypt-expanded-depth48` | 6,528 | 48 |
//! | `aes256` | 8,832 | 84 |
//! | `aes256-depth56` | 9,384 | 56 |
//! | `aes256-decrypt` | 8,832 | 162 |
//! | `aes256-decrypt-depth108` | 9,384 | 108 |
//! | `aes256-key-schedule` | 1,664 | 78 |
//! | `aes256-key-schedule-depth52` | 1,768 | 52 |
//! | `aes256-expanded` | 7,168 | 84 |
//! | `aes256-expanded-depth56` | 7,616 | 56 |
//! | `aes256-decrypt-expanded` | 7,168 | 84 |
//! | `aes256-decrypt-expanded-depth56` | 7,616 | 56 |
//! | `sha1-compress` | 11,035 | 2,165 |
//! | `sha1-compress-depth487` | 20,100 | 487 |
//! | `sha256-compress` | 22,335 | 1,607 |
//! | `sha256-compress-depth456` | 47,940 | 456 |
//! | `sha512-compress` | 57,652 | 3,303 |
//! | `sha512-compress-depth649` | 133,286 | 649 |
//! | `keccak-f` | 38,400 | 24 |
//! | `adder32` | 31 | 31 |
//! | `adder32-depth6` | 139 | 6 |
//! | `adder64` | 63 | 63 |
//! | `adder64-depth7` | 325 | 7 |
//! | `subtractor32` | 31 | 31 |
//! | `subtractor32-depth6` | 139 | 6 |
//! | `subtractor64` | 63 | 63 |
//! | `subtractor64-depth7` | 325 | 7 |
//! | `negate32` | 30 | 30 |
//! | `negate32-depth5` | 69 | 5 |
//! | `negate64` | 62 | 62 |
//! | `negate64-depth6` | 162 | 6 |
//! | `multiplier32` | 993 | 31 |
//! | `multiplier32-depth11` | 1,098 | 11 |
//! | `multiplier64` | 4,033 | 63 |
//! | `multiplier64-depth13` | 4,292 | 13 |
//! | `wide-multiplier32` | 2,016 | 63 |
//! | `wide-multiplier32-depth12` | 2,275 | 12 |
//! | `wide-multiplier64` | 8,128 | 127 |
//! | `wide-multiplier64-depth14` | 8,723 | 14 |
//! | `divider32` | 1,117 | 589 |
//! | `divider32-depth197` | 3,006 | 197 |
//! | `divider64` | 4,285 | 2,205 |
//! | `divider64-depth454` | 13,062 | 454 |
//! | `less32` | 32 | 32 |
//! | `less32-depth6` | 89 | 6 |
//! | `less64` | 64 | 64 |
//! | `less64-depth7` | 184 | 7 |
//! | `less-signed32` | 32 | 32 |
//! | `less-signed32-depth6` | 89 | 6 |
//! | `less-signed64` | 64 | 64 |
//! | `less-signed64-depth7` | 184 | 7 |
//! | `equal32` | 31 | 5 |
//! | `equal64` | 63 | 6 |
//! | `multiplexer32` | 32 | 1 |
//! | `multiplexer64` | 64 | 1 |
//!
//! Circuits with other parameters, such as a hash function of a message of a given length, are made by the functions
//! of [`crypto`](crate::crypto) and [`arith`](crate::arith).

use crate::Circuit;
use crate::arith::Style::{Shallow, Small};
use crate::arith::circuits as arith;
use crate::crypto::aes::Variant::{Aes128, Aes192, Aes256};
use crate::crypto::aes::circuits as aes;
use crate::crypto::keccak::circuits as keccak;
use crate::crypto::sha::Hash::{Sha1, Sha256, Sha512};
use crate::crypto::sha::circuits as sha;

/// The circuit of this name, if there is one.
pub fn named(name: &str) -> Option<Circuit> {
    let (_, build) = CIRCUITS.iter().find(|(known, _)| *known == name)?;
    Some(build())
}

/// The names of all circuits, in the order of the table.
pub fn names() -> impl Iterator<Item = &'static str> {
    CIRCUITS.iter().map(|(name, _)| *name)
}

type Named = (&'static str, fn() -> Circuit);

const CIRCUITS: &[Named] = &[
    ("aes128", || aes::encrypt(Small, Aes128)),
    ("aes128-depth40", || aes::encrypt(Shallow, Aes128)),
    ("aes128-decrypt", || aes::decrypt(Small, Aes128)),
    ("aes128-decrypt-depth80", || aes::decrypt(Shallow, Aes128)),
    ("aes128-key-schedule", || aes::key_schedule(Small, Aes128)),
    ("aes128-key-schedule-depth40", || aes::key_schedule(Shallow, Aes128)),
    ("aes128-expanded", || aes::encrypt_expanded(Small, Aes128)),
    ("aes128-expanded-depth40", || aes::encrypt_expanded(Shallow, Aes128)),
    ("aes128-decrypt-expanded", || aes::decrypt_expanded(Small, Aes128)),
    ("aes128-decrypt-expanded-depth40", || aes::decrypt_expanded(Shallow, Aes128)),
    ("aes192", || aes::encrypt(Small, Aes192)),
    ("aes192-depth48", || aes::encrypt(Shallow, Aes192)),
    ("aes192-decrypt", || aes::decrypt(Small, Aes192)),
    ("aes192-decrypt-depth80", || aes::decrypt(Shallow, Aes192)),
    ("aes192-key-schedule", || aes::key_schedule(Small, Aes192)),
    ("aes192-key-schedule-depth32", || aes::key_schedule(Shallow, Aes192)),
    ("aes192-expanded", || aes::encrypt_expanded(Small, Aes192)),
    ("aes192-expanded-depth48", || aes::encrypt_expanded(Shallow, Aes192)),
    ("aes192-decrypt-expanded", || aes::decrypt_expanded(Small, Aes192)),
    ("aes192-decrypt-expanded-depth48", || aes::decrypt_expanded(Shallow, Aes192)),
    ("aes256", || aes::encrypt(Small, Aes256)),
    ("aes256-depth56", || aes::encrypt(Shallow, Aes256)),
    ("aes256-decrypt", || aes::decrypt(Small, Aes256)),
    ("aes256-decrypt-depth108", || aes::decrypt(Shallow, Aes256)),
    ("aes256-key-schedule", || aes::key_schedule(Small, Aes256)),
    ("aes256-key-schedule-depth52", || aes::key_schedule(Shallow, Aes256)),
    ("aes256-expanded", || aes::encrypt_expanded(Small, Aes256)),
    ("aes256-expanded-depth56", || aes::encrypt_expanded(Shallow, Aes256)),
    ("aes256-decrypt-expanded", || aes::decrypt_expanded(Small, Aes256)),
    ("aes256-decrypt-expanded-depth56", || aes::decrypt_expanded(Shallow, Aes256)),
    ("sha1-compress", || sha::compress(Small, Sha1)),
    ("sha1-compress-depth487", || sha::compress(Shallow, Sha1)),
    ("sha256-compress", || sha::compress(Small, Sha256)),
    ("sha256-compress-depth456", || sha::compress(Shallow, Sha256)),
    ("sha512-compress", || sha::compress(Small, Sha512)),
    ("sha512-compress-depth649", || sha::compress(Shallow, Sha512)),
    ("keccak-f", || keccak::permute()),
    ("adder32", || arith::add(Small, 32)),
    ("adder32-depth6", || arith::add(Shallow, 32)),
    ("adder64", || arith::add(Small, 64)),
    ("adder64-depth7", || arith::add(Shallow, 64)),
    ("subtractor32", || arith::subtract(Small, 32)),
    ("subtractor32-depth6", || arith::subtract(Shallow, 32)),
    ("subtractor64", || arith::subtract(Small, 64)),
    ("subtractor64-depth7", || arith::subtract(Shallow, 64)),
    ("negate32", || arith::negate(Small, 32)),
    ("negate32-depth5", || arith::negate(Shallow, 32)),
    ("negate64", || arith::negate(Small, 64)),
    ("negate64-depth6", || arith::negate(Shallow, 64)),
    ("multiplier32", || arith::multiply(Small, 32)),
    ("multiplier32-depth11", || arith::multiply(Shallow, 32)),
    ("multiplier64", || arith::multiply(Small, 64)),
    ("multiplier64-depth13", || arith::multiply(Shallow, 64)),
    ("wide-multiplier32", || arith::multiply_wide(Small, 32)),
    ("wide-multiplier32-depth12", || arith::multiply_wide(Shallow, 32)),
    ("wide-multiplier64", || arith::multiply_wide(Small, 64)),
    ("wide-multiplier64-depth14", || arith::multiply_wide(Shallow, 64)),
    ("divider32", || arith::divide(Small, 32)),
    ("divider32-depth197", || arith::divide(Shallow, 32)),
    ("divider64", || arith::divide(Small, 64)),
    ("divider64-depth454", || arith::divide(Shallow, 64)),
    ("less32", || arith::less(Small, 32)),
    ("less32-depth6", || arith::less(Shallow, 32)),
    ("less64", || arith::less(Small, 64)),
    ("less64-depth7", || arith::less(Shallow, 64)),
    ("less-signed32", || arith::less_signed(Small, 32)),
    ("less-signed32-depth6", || arith::less_signed(Shallow, 32)),
    ("less-signed64", || arith::less_signed(Small, 64)),
    ("less-signed64-depth7", || arith::less_signed(Shallow, 64)),
    ("equal32", || arith::equal(32)),
    ("equal64", || arith::equal(64)),
    ("multiplexer32", || arith::select(32)),
    ("multiplexer64", || arith::select(64)),
];

#[cfg(test)]
mod tests {
    use super::{named, names};
    use crate::testing::documented;

    #[test]
    fn every_name_has_a_circuit_with_the_costs_in_the_table() {
        let costs = names().map(|name| {
            let circuit = named(name).expect("a name of the catalogue");
            (name.to_owned(), vec![circuit.ands(), circuit.depth() as usize])
        });
        assert_eq!(documented(include_str!("catalogue.rs")), costs.collect::<Vec<_>>());
    }

    #[test]
    fn a_depth_in_a_name_is_the_circuit_s() {
        for name in names() {
            if let Some((plain, depth)) = name.split_once("-depth") {
                assert_eq!(depth.parse(), Ok(named(name).expect("a name").depth()), "{name}");
                assert!(
                    named(plain).expect("the other style").depth() > named(name).expect("a name").depth()
                );
            }
        }
    }

    #[test]
    fn names_are_unlike_and_others_have_no_circuit() {
        let mut all: Vec<_> = names().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), names().count());
        assert_eq!(named("aes"), None);
        assert_eq!(named(""), None);
    }
}
