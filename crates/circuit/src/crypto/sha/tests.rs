use ::hmac::{KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::{Hash, circuits};
use crate::arith::Style;
use crate::testing::{Noise, documented, evaluate_bytes, records};
use crate::{Builder, Circuit};

const STYLES: [Style; 2] = [Style::Small, Style::Shallow];
const HASHES: [Hash; 3] = [Hash::Sha1, Hash::Sha256, Hash::Sha512];

#[test]
fn the_standard_s_messages_have_their_digests() {
    let known = records(include_str!("../../../../../vectors/crypto/sha.txt"));
    assert_eq!(known.len(), 12);
    for record in known {
        let (message, digest) = (record.bytes("message"), record.bytes("digest"));
        for style in STYLES {
            let circuit = circuits::digest(style, hash(record.text("hash")), message.len());
            assert_eq!(evaluate_bytes(&circuit, &[&message])[0], digest);
        }
    }
}

#[test]
fn the_standard_s_messages_have_their_codes() {
    let known = records(include_str!("../../../../../vectors/crypto/hmac.txt"));
    assert_eq!(known.len(), 18);
    for (index, record) in known.into_iter().enumerate() {
        let [key, message, code] = ["key", "message", "code"].map(|name| record.bytes(name));
        let style = STYLES[index / 2 % 2];
        let circuit = circuits::hmac(style, hash(record.text("hash")), key.len(), message.len());
        assert_eq!(evaluate_bytes(&circuit, &[&key, &message])[0], code);
    }
}

#[test]
fn random_messages_agree_with_another_implementation_where_the_padding_turns() {
    let mut noise = Noise(23);
    for hash in HASHES {
        let (block, length) = (hash.block_bytes(), hash.block_bytes() / 8);
        for bytes in [1, block - length - 2, block - length - 1, block - length, block - 1, block, block + 1]
        {
            let style = STYLES[bytes % 2];
            let message = noise.bytes(bytes);
            let circuit = circuits::digest(style, hash, bytes);
            assert_eq!(
                evaluate_bytes(&circuit, &[&message])[0],
                reference(hash, &message),
                "{hash:?}, {bytes}"
            );
        }
    }
}

#[test]
fn random_codes_agree_with_another_implementation_where_the_key_is_hashed() {
    let mut noise = Noise(29);
    for hash in HASHES {
        for key_bytes in [0, 1, hash.block_bytes() - 1, hash.block_bytes(), hash.block_bytes() + 1] {
            let style = STYLES[key_bytes % 2];
            let (key, message) = (noise.bytes(key_bytes), noise.bytes(13));
            let circuit = circuits::hmac(style, hash, key_bytes, 13);
            let code = evaluate_bytes(&circuit, &[&key, &message]).remove(0);
            assert_eq!(code, reference_code(hash, &key, &message), "{hash:?}, {key_bytes}");
        }
    }
}

#[test]
fn compression_is_what_a_block_of_a_message_goes_through() {
    let mut noise = Noise(31);
    for hash in HASHES {
        // The second block is the padding of a message of one block.
        let message = noise.bytes(hash.block_bytes());
        let mut padding = vec![0; hash.block_bytes()];
        padding[0] = 0x80;
        let bits = (8 * message.len() as u64).to_be_bytes();
        let end = padding.len() - bits.len();
        padding[end..].copy_from_slice(&bits);
        for style in STYLES {
            let circuit = circuits::compress(style, hash);
            let mut chaining = {
                let mut b = Builder::new();
                let initial = hash.initial(&mut b);
                evaluate_bytes(&b.finish(vec![initial]), &[]).remove(0)
            };
            for block in [&message, &padding] {
                chaining = evaluate_bytes(&circuit, &[&chaining, block]).remove(0);
            }
            assert_eq!(chaining, reference(hash, &message));
        }
    }
}

#[test]
fn costs_are_as_documented() {
    let row = |name: String, circuit: &dyn Fn(Style) -> Circuit| {
        let costs = STYLES.map(circuit).map(|circuit| [circuit.ands(), circuit.depth() as usize]);
        (name, costs.concat())
    };
    let mut rows: Vec<_> = HASHES
        .iter()
        .map(|&hash| row(format!("compress, {hash:?}"), &|style| circuits::compress(style, hash)))
        .collect();
    rows.extend(
        HASHES.iter().map(|&hash| {
            row(format!("digest, {hash:?}, 32 bytes"), &|style| circuits::digest(style, hash, 32))
        }),
    );
    rows.extend(HASHES.iter().map(|&hash| {
        row(format!("hmac, {hash:?}, 32 and 32 bytes"), &|style| circuits::hmac(style, hash, 32, 32))
    }));
    assert_eq!(documented(include_str!("../sha.rs")), rows);
}

#[test]
#[should_panic(expected = "a message has whole bytes")]
fn half_a_byte_is_refused() {
    let mut b = Builder::new();
    let message = b.input(12);
    super::digest(&mut b, Style::Small, Hash::Sha256, &message);
}

#[test]
#[should_panic(expected = "a block has the length")]
fn a_block_of_another_function_is_refused() {
    let mut b = Builder::new();
    let (chaining, block) = (b.input(512), b.input(512));
    super::compress(&mut b, Style::Small, Hash::Sha512, &chaining, &block);
}

fn hash(name: &str) -> Hash {
    match name {
        "sha1" => Hash::Sha1,
        "sha256" => Hash::Sha256,
        "sha512" => Hash::Sha512,
        _ => panic!("no hash function {name}"),
    }
}

fn reference(hash: Hash, message: &[u8]) -> Vec<u8> {
    match hash {
        Hash::Sha1 => Sha1::digest(message).to_vec(),
        Hash::Sha256 => Sha256::digest(message).to_vec(),
        Hash::Sha512 => Sha512::digest(message).to_vec(),
    }
}

fn reference_code(hash: Hash, key: &[u8], message: &[u8]) -> Vec<u8> {
    fn code<M: Mac + KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
        let mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of every length");
        mac.chain_update(message).finalize().into_bytes().to_vec()
    }
    match hash {
        Hash::Sha1 => code::<::hmac::Hmac<Sha1>>(key, message),
        Hash::Sha256 => code::<::hmac::Hmac<Sha256>>(key, message),
        Hash::Sha512 => code::<::hmac::Hmac<Sha512>>(key, message),
    }
}
