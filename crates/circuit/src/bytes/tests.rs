use super::*;
use crate::arith::{self, Style};
use crate::testing::circuits;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn what_is_written_is_read(circuit in circuits(300)) {
        prop_assert_eq!(Circuit::from_bytes(&circuit.to_bytes()), Ok(circuit));
    }

    #[test]
    fn only_what_would_be_written_is_read(circuit in circuits(20), at: prop::sample::Index, byte: u8, cut: bool) {
        let mut bytes = circuit.to_bytes();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        match Circuit::from_bytes(&bytes) {
            Ok(circuit) => prop_assert_eq!(circuit.to_bytes(), bytes),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

/// Two bits; their sum, their product, its complement, 1; outputs of three bits, of none and of one.
fn example() -> Circuit {
    let gates = vec![Gate::Xor(0, 1), Gate::And(1, 0), Gate::Not(3), Gate::Constant(true)];
    Circuit::new(vec![1, 1], gates, vec![vec![2, 3, 0], vec![], vec![5]]).unwrap()
}

const INPUTS: [u8; 3] = [2, 1, 1];
const GATES: [u8; 7] = [4, 4, 0, 5, 2, 2, 7];
const OUTPUTS: [u8; 7] = [3, 3, 4, 0, 7, 0, 1];

#[test]
fn the_form_is_as_documented() {
    let mut bytes = [&HEAD[..], &INPUTS, &GATES, &OUTPUTS].concat();
    bytes.push(8);
    assert_eq!(example().to_bytes(), bytes);
    assert_eq!(Circuit::from_bytes(&bytes), Ok(example()));
}

#[test]
fn long_distances_take_more_bytes() {
    for bits in [31, 32, 33, 127, 128, 129, 8_191, 8_192, 8_193, 1 << 24] {
        let circuit = Circuit::new(vec![bits], vec![Gate::And(0, bits - 1)], vec![vec![bits, 0]]).unwrap();
        assert_eq!(Circuit::from_bytes(&circuit.to_bytes()), Ok(circuit));
    }
    let circuit = arith::circuits::add(Style::Small, 64);
    assert!(circuit.to_bytes().len() < 4 * circuit.gates().len());
}

/// The error of bytes behind the head.
fn error(numbers: &[u8]) -> DecodeError {
    Circuit::from_bytes(&[&HEAD, numbers].concat()).expect_err("these bytes are no circuit")
}

#[test]
fn bytes_that_are_no_circuit_are_refused() {
    assert_eq!(Circuit::from_bytes(b""), Err(DecodeError::Head));
    assert_eq!(Circuit::from_bytes(b"tacit-c\x02\0\0\0"), Err(DecodeError::Head));
    for length in HEAD.len()..example().to_bytes().len() {
        let cut = Circuit::from_bytes(&example().to_bytes()[..length]);
        assert!(matches!(cut, Err(DecodeError::Short { at, .. }) if at == length), "{length}: {cut:?}");
    }
    assert_eq!(error(&[0, 0, 0, 0]), DecodeError::More { at: 11 });
    // No wire to read, a constant of 2, an output that isn't there.
    let distance = "distance of an operand";
    assert_eq!(error(&[0, 1, 2, 0]), DecodeError::Meaning { at: 10, what: distance, value: 0 });
    assert_eq!(error(&[1, 1, 1, 0, 1]), DecodeError::Meaning { at: 12, what: distance, value: 1 });
    assert_eq!(error(&[0, 1, 11]), DecodeError::Meaning { at: 10, what: "constant", value: 2 });
    let distance = "distance of an output";
    assert_eq!(error(&[1, 1, 0, 1, 1, 2]), DecodeError::Meaning { at: 13, what: distance, value: 2 });
    assert_eq!(error(&[1, 1, 0, 1, 1, 1]), DecodeError::Meaning { at: 13, what: distance, value: 1 });
}

#[test]
fn numbers_in_another_form_are_refused() {
    let canonical = |what| DecodeError::NotCanonical { at: 8, what };
    assert_eq!(error(&[0x80, 0]), canonical("number of inputs"));
    assert_eq!(error(&[0x81, 0x80, 0]), canonical("number of inputs"));
    // 2^64 and 2^70.
    assert_eq!(
        error(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]),
        canonical("number of inputs")
    );
    assert_eq!(
        error(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]),
        canonical("number of inputs")
    );
}

#[test]
fn more_bits_than_inputs_may_have_are_refused() {
    let bits = "number of bits of an input";
    assert!(Circuit::from_bytes(&[&HEAD[..], &[1, 0x80, 0x80, 0x80, 0x08, 0, 0]].concat()).is_ok());
    let value = (1 << 24) + 1;
    assert_eq!(error(&[1, 0x81, 0x80, 0x80, 0x08, 0, 0]), DecodeError::Meaning { at: 9, what: bits, value });
    // Counts are read, not believed.
    assert_eq!(error(&[0xff, 0xff, 0xff, 0xff, 0x0f]), DecodeError::Short { at: 13, what: bits });
}
