//! Labels of given bits.

use tacit_circuit::arith::circuits as arith;

use super::*;

#[test]
fn labels_are_addressed_by_instance_and_bit() {
    let circuit = arith::masked_msb(5, 2, 1);
    let plan = Plan::new(&circuit, &[true, false, false]);
    let garbler = Garbler::new(&plan, &SEED, BATCH);
    let rows = inputs(&circuit, 300, 1);
    let labels = |input: usize, first: usize, count: usize| {
        let bits = plan.inputs()[input] as usize;
        let mut labels = vec![0; bits * count * LABEL];
        let own = part(&rows[input], 300, first, count);
        garbler.labels(input, first as u64..(first + count) as u64, &own, &mut labels).unwrap();
        labels
    };
    for input in [1, 2] {
        let whole = labels(input, 0, 300);
        for (first, count) in [(0, 1), (299, 1), (37, 64), (65, 200), (300, 0)] {
            let some = labels(input, first, count);
            for bit in 0..plan.inputs()[input] as usize {
                let expected = &whole[(300 * bit + first) * LABEL..][..count * LABEL];
                assert_eq!(&some[bit * count * LABEL..][..count * LABEL], expected);
            }
        }
    }
    assert_ne!(labels(1, 0, 1)[..LABEL], labels(2, 0, 1)[..LABEL]);
}

#[test]
#[should_panic(expected = "folded in")]
fn an_input_that_is_folded_in_has_no_labels() {
    let plan = Plan::new(&arith::masked_msb(5, 2, 1), &[true, false, false]);
    let _ = Garbler::new(&plan, &SEED, BATCH).labels(0, 0..1, &[0; 5], &mut [0; 80]);
}

#[test]
#[should_panic(expected = "known or not")]
fn inputs_of_which_it_is_not_said_whether_they_are_known_are_refused() {
    Plan::new(&arith::masked_msb(5, 2, 1), &[true]);
}
