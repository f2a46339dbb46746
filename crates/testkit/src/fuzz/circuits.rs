//! Circuits, as text and as bytes.

use tacit_circuit::{Circuit, Layered, bristol};

/// Circuits of more wires than this are read but not evaluated, to save time and memory.
const EVALUATED_WIRES: usize = 1 << 12;

/// A circuit in Bristol Fashion: it is taken for that and not for the older format, and is sound.
pub fn bristol_fashion(bytes: &[u8]) {
    match bristol::read_fashion(bytes) {
        Ok(circuit) => {
            assert_eq!(bristol::read(bytes).as_ref(), Ok(&circuit), "the format is told from the file");
            sound(&circuit);
        }
        Err(error) => within(&error, bytes),
    }
}

/// A circuit in the older Bristol format: it is taken for that and not for the newer one, and is sound.
pub fn bristol_old(bytes: &[u8]) {
    match bristol::read_old(bytes) {
        Ok(circuit) => {
            assert_eq!(bristol::read(bytes).as_ref(), Ok(&circuit), "the format is told from the file");
            sound(&circuit);
        }
        Err(error) => within(&error, bytes),
    }
}

/// A circuit's canonical bytes: it comes back as it was, and is sound.
pub fn circuit_bytes(bytes: &[u8]) {
    match Circuit::from_bytes(bytes) {
        Ok(circuit) => {
            assert_eq!(circuit.to_bytes(), bytes);
            sound(&circuit);
        }
        Err(error) => drop(error.to_string()),
    }
}

/// An error names a line that is there.
fn within(error: &bristol::FormatError, bytes: &[u8]) {
    assert!((1..=bytes.split(|&byte| byte == b'\n').count()).contains(&error.line), "{error}");
}

/// Written as text and as bytes the circuit is read as the same; laid out, it computes the same.
fn sound(circuit: &Circuit) {
    assert_eq!(bristol::read(bristol::write(circuit).as_bytes()).as_ref(), Ok(circuit));
    assert_eq!(Circuit::from_bytes(&circuit.to_bytes()).as_ref(), Ok(circuit));
    if circuit.wires() > EVALUATED_WIRES {
        return;
    }
    let bit = |index: u32| index.wrapping_mul(0x9e37_79b9) >> 31 == 1;
    let inputs: Vec<Vec<bool>> = circuit.inputs().iter().map(|&bits| (0..bits).map(bit).collect()).collect();
    let outputs = circuit.evaluate(&inputs).expect("inputs are the circuit's");
    let inputs: Vec<Vec<u64>> = inputs.iter().map(|bits| pack(bits)).collect();
    let inputs: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
    let packed = Layered::new(circuit).evaluate(&inputs, 1).expect("inputs are the circuit's");
    assert_eq!(packed, outputs.iter().map(|bits| pack(bits)).collect::<Vec<_>>());
}

fn pack(bits: &[bool]) -> Vec<u64> {
    let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
    bits.chunks(64).map(word).collect()
}
