use super::*;
use crate::arith::{self, Style};
use crate::testing::{circuits, noise};
use proptest::prelude::*;
use tacit_kernel::bits::{get, set};

/// Packed inputs that leave the last word's unused bits set.
fn packed(circuit: &Circuit, instances: usize, seed: u64) -> Vec<Vec<u64>> {
    let input = |(index, &bits): (usize, &u32)| {
        let count = bits as usize * instances;
        let mut words = noise(seed + index as u64, words(count));
        if let (Some(last), false) = (words.last_mut(), count.is_multiple_of(64)) {
            *last |= u64::MAX << (count % 64);
        }
        words
    };
    circuit.inputs().iter().enumerate().map(input).collect()
}

fn same_as_one_by_one(circuit: &Circuit, instances: usize, seed: u64) {
    let inputs = packed(circuit, instances, seed);
    let slices: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
    let outputs = Layered::new(circuit).evaluate(&slices, instances).unwrap();
    let mut expected: Vec<Vec<u64>> =
        circuit.outputs().iter().map(|output| vec![0; words(output.len() * instances)]).collect();
    for instance in 0..instances {
        let bits = |(input, &bits): (&Vec<u64>, &u32)| {
            (0..bits as usize).map(|bit| get(input, instance * bits as usize + bit)).collect()
        };
        let one: Vec<Vec<bool>> = inputs.iter().zip(circuit.inputs()).map(bits).collect();
        for (row, output) in expected.iter_mut().zip(circuit.evaluate(&one).unwrap()) {
            for (bit, &value) in output.iter().enumerate() {
                set(row, instance * output.len() + bit, value);
            }
        }
    }
    assert_eq!(outputs, expected, "{instances} instances");
    for public in [false, true] {
        let given = vec![crate::Given { late: true, public }; slices.len()];
        let outputs = Layered::with_inputs(circuit, &given).evaluate(&slices, instances).unwrap();
        assert_eq!(outputs, expected, "{instances} instances, late inputs");
    }
}

proptest! {
    #[test]
    fn many_instances_are_each_evaluated(circuit in circuits(60), instances in 0_usize..700, seed: u64) {
        same_as_one_by_one(&circuit, instances, seed >> 1);
    }
}

#[test]
fn tiles_begin_and_end_anywhere() {
    for bits in [1, 2, 31, 63, 64, 65, 130] {
        for instances in [0, 1, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097, 5000] {
            same_as_one_by_one(&arith::circuits::add(Style::Small, bits), instances, 3);
        }
    }
}

#[test]
fn circuits_of_many_slots_run_on_short_rows() {
    // Inputs alone take more rows than the cache holds at full width.
    for bits in [300, 2_100] {
        for instances in [1, 511, 513, 1_100] {
            same_as_one_by_one(&arith::circuits::add(Style::Small, bits), instances, 11);
        }
    }
}

#[test]
fn an_adder_adds() {
    let layered = Layered::new(&arith::circuits::add(Style::Small, 64));
    let (a, b) = (noise(1, 1_000), noise(2, 1_000));
    let sums: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a.wrapping_add(*b)).collect();
    assert_eq!(layered.evaluate(&[&a, &b], 1_000), Ok(vec![sums]));
}

#[test]
fn one_instance_is_evaluated_gate_by_gate() {
    let gates =
        vec![Gate::Xor(0, 1), Gate::And(0, 1), Gate::Not(3), Gate::Constant(true), Gate::Constant(false)];
    let circuit = Circuit::new(vec![1, 1], gates, vec![vec![2, 3, 4], vec![5, 6]]).unwrap();
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let outputs = vec![vec![a != b, a && b, !(a && b)], vec![true, false]];
        assert_eq!(circuit.evaluate(&[vec![a], vec![b]]), Ok(outputs));
    }
}

#[test]
fn other_inputs_are_refused() {
    let circuit = arith::circuits::add(Style::Small, 33);
    let count = InputError::Count { expected: 2, found: 1 };
    assert_eq!(circuit.evaluate(&[vec![true; 33]]), Err(count.clone()));
    assert_eq!(Layered::new(&circuit).evaluate(&[&[0; 2]], 2), Err(count));
    let bits = InputError::Length { input: 1, unit: "bits", expected: 33, found: 34 };
    assert_eq!(circuit.evaluate(&[vec![true; 33], vec![true; 34]]), Err(bits));
    let words = InputError::Length { input: 0, unit: "words", expected: 2, found: 1 };
    assert_eq!(words.to_string(), "input 0 has 1 words, not 2");
    assert_eq!(Layered::new(&circuit).evaluate(&[&[0; 1], &[0; 2]], 2), Err(words));
    let huge = Layered::new(&circuit).evaluate(&[&[0; 2], &[0; 2]], usize::MAX);
    assert!(matches!(huge, Err(InputError::Length { input: 0, .. })));
}
