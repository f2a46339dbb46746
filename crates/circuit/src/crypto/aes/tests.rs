use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

use super::{Variant, circuits, mix, sbox};
use crate::arith::Style;
use crate::testing::{Noise, documented, evaluate_bytes, gates, records};
use crate::{Builder, Circuit, Wire};

const STYLES: [Style; 2] = [Style::Small, Style::Shallow];
const VARIANTS: [Variant; 3] = [Variant::Aes128, Variant::Aes192, Variant::Aes256];
const KNOWN: &str = include_str!("../../../../../vectors/crypto/aes.txt");

#[test]
fn the_standard_s_key_expansions_come_out() {
    let expansions = records(KNOWN).into_iter().filter(|record| record.has("schedule"));
    let mut seen = Vec::new();
    for record in expansions {
        let (key, schedule) = (record.bytes("key"), record.bytes("schedule"));
        for style in STYLES {
            let circuit = circuits::key_schedule(style, variant(&key));
            assert_eq!(evaluate_bytes(&circuit, &[&key])[0], schedule);
        }
        seen.push(key.len());
    }
    assert_eq!(seen, [16, 24, 32]);
}

#[test]
fn the_standard_s_blocks_are_encrypted_and_decrypted() {
    let blocks = records(KNOWN).into_iter().filter(|record| record.has("plain"));
    let mut seen = Vec::new();
    for record in blocks {
        let [key, plain, cipher] = ["key", "plain", "cipher"].map(|name| record.bytes(name));
        for style in STYLES {
            let encrypted = evaluate_bytes(&circuits::encrypt(style, variant(&key)), &[&key, &plain]);
            assert_eq!(encrypted[0], cipher);
            let decrypted = evaluate_bytes(&circuits::decrypt(style, variant(&key)), &[&key, &cipher]);
            assert_eq!(decrypted[0], plain);
        }
        seen.push(key.len());
    }
    assert_eq!(seen, [16, 16, 24, 32]);
}

#[test]
fn random_blocks_agree_with_another_implementation() {
    let mut noise = Noise(19);
    for variant in VARIANTS {
        for style in STYLES {
            let schedule = circuits::key_schedule(style, variant);
            let apart = circuits::encrypt_expanded(style, variant);
            let apart_back = circuits::decrypt_expanded(style, variant);
            let whole = circuits::encrypt(style, variant);
            for _ in 0..8 {
                let (key, block) = (noise.bytes(variant.key_bytes()), noise.bytes(16));
                let (encrypted, decrypted) = reference(&key, &block);
                assert_eq!(evaluate_bytes(&whole, &[&key, &block])[0], encrypted);
                let round_keys = evaluate_bytes(&schedule, &[&key]).remove(0);
                assert_eq!(round_keys.len(), variant.schedule_bytes());
                assert_eq!(evaluate_bytes(&apart, &[&round_keys, &block])[0], encrypted);
                assert_eq!(evaluate_bytes(&apart_back, &[&round_keys, &block])[0], decrypted);
            }
        }
    }
}

type SBox = fn(&mut Builder, Style, &[Wire]) -> Vec<Wire>;

#[test]
fn the_s_boxes_are_right_on_every_byte_and_cost_what_they_say() {
    let forward: Vec<u8> = (0..=255).map(|byte| affine(inverse(byte))).collect();
    assert_eq!((forward[0], forward[0x53]), (0x63, 0xed), "the standard's examples");
    let costs = [
        (sbox::forward as SBox, Style::Small, [81, 32, 4], 6),
        (sbox::forward, Style::Shallow, [80, 34, 4], 4),
        (sbox::inverse, Style::Small, [83, 32, 4], 6),
        (sbox::inverse, Style::Shallow, [82, 34, 4], 4),
    ];
    for (at, (substitute, style, cost, depth)) in costs.into_iter().enumerate() {
        let circuit = of_bytes(1, |b, byte| substitute(b, style, byte));
        assert_eq!((gates(&circuit), circuit.depth()), (cost, depth));
        for (x, &y) in forward.iter().enumerate() {
            let (from, to) = if at < 2 { (x as u8, y) } else { (y, x as u8) };
            assert_eq!(evaluate_bytes(&circuit, &[&[from]])[0], [to]);
        }
    }
}

#[test]
fn columns_are_mixed_by_the_standard_s_polynomials() {
    for (mix, polynomial, sums) in [
        (mix::forward as fn(&mut Builder, &[Wire]) -> Vec<Wire>, [2, 3, 1, 1], 92),
        (mix::inverse, [14, 11, 13, 9], 150),
    ] {
        let circuit = of_bytes(4, mix);
        assert_eq!(gates(&circuit), [sums, 0, 0]);
        // The map is linear: 32 columns with a single bit say all of it.
        for place in 0..32 {
            let column = (1_u32 << place).to_le_bytes();
            let expected: Vec<u8> = (0..4)
                .map(|row| {
                    (0..4).fold(0, |sum, at| sum ^ product(polynomial[(at + 4 - row) % 4], column[at]))
                })
                .collect();
            assert_eq!(evaluate_bytes(&circuit, &[&column])[0], expected);
        }
    }
}

type Operation = (&'static str, fn(Style, Variant) -> Circuit);

#[test]
fn costs_are_as_documented() {
    let operations: [Operation; 5] = [
        ("encrypt", circuits::encrypt),
        ("decrypt", circuits::decrypt),
        ("key_schedule", circuits::key_schedule),
        ("encrypt_expanded", circuits::encrypt_expanded),
        ("decrypt_expanded", circuits::decrypt_expanded),
    ];
    let row = |(name, circuit): Operation, variant: Variant| {
        let [small, shallow] = STYLES.map(|style| circuit(style, variant));
        let [[sums, ands, nots], [shallow_sums, shallow_ands, same]] = [&small, &shallow].map(gates);
        assert_eq!(nots, same);
        let depths = [&small, &shallow].map(|circuit| circuit.depth() as usize);
        let numbers = vec![ands, depths[0], sums, shallow_ands, depths[1], shallow_sums, nots];
        (format!("{name}, {}", 8 * variant.key_bytes()), numbers)
    };
    let rows = operations.into_iter().flat_map(|operation| VARIANTS.map(|variant| row(operation, variant)));
    let rows: Vec<_> = rows.collect();
    assert_eq!(documented(include_str!("../aes.rs")), rows);
}

#[test]
#[should_panic(expected = "a key has the length")]
fn a_key_of_another_variant_is_refused() {
    let mut b = Builder::new();
    let key = b.input(192);
    super::key_schedule(&mut b, Style::Small, Variant::Aes128, &key);
}

fn variant(key: &[u8]) -> Variant {
    VARIANTS.into_iter().find(|variant| variant.key_bytes() == key.len()).expect("16, 24 or 32 bytes")
}

/// A circuit of so many bytes.
fn of_bytes(count: u32, operation: impl FnOnce(&mut Builder, &[Wire]) -> Vec<Wire>) -> Circuit {
    let mut b = Builder::new();
    let input = b.input(8 * count);
    let output = operation(&mut b, &input);
    b.finish(vec![output])
}

/// The block encrypted, and decrypted.
fn reference(key: &[u8], block: &[u8]) -> (Vec<u8>, Vec<u8>) {
    fn both<C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt>(
        key: &[u8],
        block: &[u8],
    ) -> (Vec<u8>, Vec<u8>) {
        let cipher = C::new_from_slice(key).expect("a key of this cipher");
        let [mut encrypted, mut decrypted] = [(); 2].map(|()| block.try_into().expect("a block"));
        cipher.encrypt_block(&mut encrypted);
        cipher.decrypt_block(&mut decrypted);
        (encrypted.to_vec(), decrypted.to_vec())
    }
    match key.len() {
        16 => both::<aes::Aes128>(key, block),
        24 => both::<aes::Aes192>(key, block),
        _ => both::<aes::Aes256>(key, block),
    }
}

/// The product in GF(2^8) (FIPS 197, section 4.2).
fn product(mut x: u8, y: u8) -> u8 {
    let mut sum = 0;
    for place in 0..8 {
        if y >> place & 1 == 1 {
            sum ^= x;
        }
        x = x << 1 ^ if x >> 7 == 1 { 0x1b } else { 0 };
    }
    sum
}

fn inverse(x: u8) -> u8 {
    (0..=255).find(|&y| product(x, y) == 1).unwrap_or(0)
}

/// FIPS 197, equation 5.1.
fn affine(x: u8) -> u8 {
    [0, 1, 2, 3, 4].map(|by| x.rotate_left(by)).into_iter().fold(0x63, |sum, term| sum ^ term)
}
