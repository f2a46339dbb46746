use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::*;
use crate::codec::REAL_BYTES;
use crate::{Value, testing};

mod baseline;

fn random(seed: u64, steps: usize) -> Program {
    let mut bytes = [3; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    testing::program(&mut TestRng::from_seed(RngAlgorithm::ChaCha, &bytes), steps)
}

/// A small program: `a < 3`, to alice.
fn small(text: &str, to: &str) -> Program {
    let mut build = Builder::new();
    build.at(Source { file: "a.py".into(), line: 1, text: text.into() });
    let a = build.input("alice", "a", Dtype::Int, &[2], Range::new(0, 9)).unwrap();
    let three = build.public(Dtype::Int, vec![], vec![3]).unwrap();
    let less = build.less(a, three).unwrap();
    build.reveal(less, Recipient::Role(to.into())).unwrap();
    build.finish().unwrap()
}

proptest! {
    #![proptest_config(testing::cases(300))]

    #[test]
    fn a_program_comes_back_as_it_was(seed: u64, steps in 1usize..14) {
        let program = random(seed, steps);
        let back = Program::from_bytes(&program.to_bytes()).unwrap();
        prop_assert_eq!(back.hash(), program.hash());
        prop_assert_eq!(back, program);
    }

    /// What a changed program still is can be written, typed and lowered, if the protocol has what it takes.
    #[test]
    fn changed_bytes_are_an_error_or_another_sound_program(
        seed: u64,
        steps in 1usize..14,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = random(seed, steps).to_bytes();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Ok(program) = Program::from_bytes(&bytes) {
            prop_assert_eq!(program.to_bytes(), bytes);
            if let Err(error) = crate::lower(&program, crate::Capabilities::TWO_COMPONENTS) {
                prop_assert!(matches!(*error.fault, crate::Fault::NotOffered { .. }), "{}", error);
            }
        }
    }

    #[test]
    fn a_program_cut_short_is_an_error(seed: u64, steps in 1usize..8, end: prop::sample::Index) {
        let bytes = random(seed, steps).to_bytes();
        prop_assert!(Program::from_bytes(&bytes[..end.index(bytes.len())]).is_err());
    }

    #[test]
    fn noise_is_an_error(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Program::from_bytes(&noise).is_err());
        let behind_a_head = [&HEAD[..], &(noise.len() as u64 / 2).to_le_bytes(), &noise].concat();
        prop_assert!(Program::from_bytes(&behind_a_head).is_err());
    }
}

#[test]
fn the_hash_covers_what_is_computed_and_not_how_it_is_written() {
    assert_eq!(small("a < 3", "bob").hash(), small("a < 3  # a comment", "bob").hash());
    assert_ne!(small("a < 3", "bob").hash(), small("a < 3", "alice").hash());
    assert_ne!(small("x", "bob").to_bytes(), small("y", "bob").to_bytes());
}

#[test]
fn bytes_and_hash_are_pinned() {
    let program = small("a < 3", "bob");
    let hex = program.hash().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    assert_eq!(program.to_bytes().len(), 156);
    assert_eq!(hex, "7cef8f030a7a966e46f94044cf1cc9217574e72fe71c6bcd58983c1067fac58c");
}

#[test]
fn what_is_more_than_the_program_is_refused() {
    let mut bytes = small("a < 3", "bob").to_bytes();
    bytes.push(0);
    assert_eq!(Program::from_bytes(&bytes), Err(DecodeError::NotCanonical));
    for other in [b"tacit-p\x01", b"tacit-p\x03"] {
        assert_eq!(Program::from_bytes(other), Err(DecodeError::Head));
    }
}

/// `x` by public numbers, of fixed point.
fn scaled(by: f64) -> Program {
    let mut build = Builder::new();
    let x = build.input("alice", "x", Dtype::Fixed { frac: 8 }, &[2], Range::new(-900, 900)).unwrap();
    let by = Value { shape: vec![], data: crate::Data::Float(vec![by]) };
    let result = build.scale(x, &by).unwrap();
    build.reveal(result, Recipient::All).unwrap();
    build.finish().unwrap()
}

#[test]
fn public_numbers_are_written_in_their_one_form_and_to_the_last_bit() {
    let (program, next) = (scaled(0.1), scaled(0.1_f64.next_up()));
    assert_ne!(program.hash(), next.hash());
    let bytes = program.to_bytes();
    assert_eq!(Program::from_bytes(&bytes).unwrap(), program);
    let number = [&3_602_879_701_896_397_i64.to_le_bytes()[..], &(-55_i16).to_le_bytes()].concat();
    let at = bytes.windows(REAL_BYTES).position(|window| window == number).unwrap();
    // 6 / 2^56 is 3 / 2^55, and no float has an exponent of 1024 or of -1075.
    for (mantissa, exponent) in
        [(6_i64, -56_i16), (0, -1), (3, 1024), (3, -1075), (1, i16::MIN), (2, i16::MAX)]
    {
        let mut other = bytes.clone();
        other[at..at + 8].copy_from_slice(&mantissa.to_le_bytes());
        other[at + 8..at + REAL_BYTES].copy_from_slice(&exponent.to_le_bytes());
        assert!(Program::from_bytes(&other).is_err(), "{mantissa} * 2^{exponent}");
    }
}

/// Lengths that a file claims are bounded by what it holds.
#[test]
fn a_claimed_length_allocates_nothing() {
    let mut out = HEAD.to_vec();
    let mut body = Vec::new();
    put_u32(&mut body, u32::MAX as usize);
    put_u32(&mut body, u32::MAX as usize);
    body.push(1);
    put_kind(&mut body, Dtype::Int);
    put_dims(&mut body, &[1 << 28]);
    put_u64(&mut out, body.len() as u64);
    out.extend_from_slice(&body);
    put_u32(&mut out, 1);
    put_text(&mut out, "");
    put_u32(&mut out, 0);
    put_text(&mut out, "");
    put_u32(&mut out, 0);
    assert!(matches!(Program::from_bytes(&out), Err(DecodeError::Short { what: "constant", .. })));
}

/// A node of public operands would have been reckoned when the program was built.
#[test]
fn an_operation_on_constants_is_refused() {
    let mut build = Builder::new();
    let two = build.public(Dtype::Int, vec![], vec![2]).unwrap();
    build.reveal(two, Recipient::All).unwrap();
    let mut program = build.finish().unwrap();
    let negative =
        Node { operation: Operation::Neg, operands: vec![NodeId::new(0)], ..program.nodes[0].clone() };
    program.nodes.push(negative);
    program.outputs[0].node = NodeId::new(1);
    let error = Program::from_bytes(&program.to_bytes()).unwrap_err();
    assert!(matches!(error, DecodeError::Meaning { what: "operation on a secret", .. }));
}
