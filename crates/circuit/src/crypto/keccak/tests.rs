use sha3::{Digest, Sha3_256, Sha3_512};

use super::{Hash, circuits};
use crate::Builder;
use crate::testing::{Noise, documented, evaluate_bytes, gates, records};

const KNOWN: &str = include_str!("../../../../../vectors/crypto/keccak.txt");

#[test]
fn known_messages_have_their_digests() {
    let known: Vec<_> = records(KNOWN).into_iter().filter(|record| record.has("digest")).collect();
    assert_eq!(known.len(), 14);
    for record in known {
        let hash = match record.text("hash") {
            "sha3-256" => Hash::Sha3_256,
            "sha3-512" => Hash::Sha3_512,
            "shake128" => Hash::Shake128,
            "shake256" => Hash::Shake256,
            name => panic!("no hash function {name}"),
        };
        let (message, digest) = (record.bytes("message"), record.bytes("digest"));
        let circuit = circuits::digest(hash, message.len(), digest.len());
        assert_eq!(evaluate_bytes(&circuit, &[&message])[0], digest, "{hash:?}");
    }
}

#[test]
fn known_states_are_permuted() {
    let known: Vec<_> = records(KNOWN).into_iter().filter(|record| record.has("from")).collect();
    assert_eq!(known.len(), 2);
    let circuit = circuits::permute();
    for record in known {
        assert_eq!(evaluate_bytes(&circuit, &[&record.bytes("from")])[0], record.bytes("to"));
    }
}

#[test]
fn random_messages_agree_with_another_implementation_where_the_padding_turns() {
    let mut noise = Noise(37);
    for hash in [Hash::Sha3_256, Hash::Sha3_512] {
        let rate = hash.rate_bytes();
        for bytes in [1, rate - 2, rate - 1, rate, rate + 1] {
            let message = noise.bytes(bytes);
            let expected = match hash {
                Hash::Sha3_256 => Sha3_256::digest(&message).to_vec(),
                _ => Sha3_512::digest(&message).to_vec(),
            };
            let circuit = circuits::digest(hash, bytes, expected.len());
            assert_eq!(evaluate_bytes(&circuit, &[&message])[0], expected, "{hash:?}, {bytes}");
        }
    }
}

#[test]
fn costs_are_as_documented() {
    let rows: Vec<_> = [
        ("permute", circuits::permute()),
        ("digest, Sha3_256, 32 bytes", circuits::digest(Hash::Sha3_256, 32, 32)),
        ("digest, Sha3_512, 32 bytes", circuits::digest(Hash::Sha3_512, 32, 64)),
        ("digest, Shake128, 32 bytes to 32", circuits::digest(Hash::Shake128, 32, 32)),
        ("digest, Shake256, 32 bytes to 64", circuits::digest(Hash::Shake256, 32, 64)),
    ]
    .into_iter()
    .map(|(name, circuit)| {
        let [xors, ands, nots] = gates(&circuit);
        (name.to_owned(), vec![ands, circuit.depth() as usize, xors, nots])
    })
    .collect();
    assert_eq!(documented(include_str!("../keccak.rs")), rows);
}

#[test]
#[should_panic(expected = "its function's length")]
fn half_a_digest_is_refused() {
    super::digest(&mut Builder::new(), Hash::Sha3_256, &[], 16);
}
