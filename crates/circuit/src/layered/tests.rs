use super::*;
use crate::arith::{self, Style};
use crate::testing::{circuits, noise, wires};
use crate::{Builder, Gate, Wire};
use proptest::prelude::*;

/// Runs the layers on a word of instances for each slot, in two components of a sharing, and checks the rules that evaluation
/// relies on.
fn run(layered: &Layered, inputs: &[u64]) -> Vec<u64> {
    let mut memory = vec![None; layered.slots as usize];
    memory[ONE as usize] = Some([u64::MAX, 0]);
    if layered.whole != UNUSED {
        memory[layered.whole as usize] = Some([u64::MAX; 2]);
    }
    let masks = std::cell::Cell::new(1_u64);
    let shared = |word: u64| {
        masks.set(masks.get().wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Some([word ^ masks.get(), masks.get()])
    };
    assert_eq!(layered.input_slots.len(), inputs.len());
    let given = |bit: usize| {
        let public = layered.public[layered.input_of(bit as u32).0];
        if public { Some([inputs[bit]; 2]) } else { shared(inputs[bit]) }
    };
    for (bit, &slot) in layered.input_slots.iter().enumerate() {
        if slot != UNUSED {
            assert_eq!(memory[slot as usize], None, "every input has a slot of its own");
            memory[slot as usize] = given(bit);
        }
    }
    let kept = [ONE, layered.whole];
    let mut first_and = 0;
    for layer in &layered.layers {
        for &[bit, slot] in &layer.loads {
            assert!(!kept.contains(&slot));
            memory[slot as usize] = given(bit as usize);
        }
        assert_eq!(layer.first_and, first_and);
        first_and += layer.ands.len() as u64;
        for Step { destination, product, terms } in layer.steps() {
            assert!(terms.len() <= places::MAX_TERMS.into() && terms.len() != 1);
            let distinct = terms.iter().all(|term| terms.iter().filter(|&other| other == term).count() == 1);
            assert!(product || distinct, "terms that cancel are gone");
            assert!(!kept.contains(&destination));
            let read = |term: u32| memory[term as usize].expect("a term was written");
            memory[destination as usize] = Some(std::array::from_fn(|component| match *terms {
                [a, b] if product => read(a)[component] & read(b)[component],
                _ => terms.iter().fold(0, |sum, &term| sum ^ read(term)[component]),
            }));
        }
        let mut written = vec![false; layered.slots as usize];
        for &[_, _, destination] in &layer.ands {
            assert!(!kept.contains(&destination));
            assert!(!written[destination as usize], "no two ANDs write to one slot");
            written[destination as usize] = true;
        }
        for &[a, b, _] in &layer.ands {
            assert!(!written[a as usize] && !written[b as usize], "no AND writes to an operand");
        }
        for &[a, b, destination] in &layer.ands {
            let read = |slot: u32| memory[slot as usize].expect("an operand was written");
            let clear = |slot: u32| read(slot)[0] ^ read(slot)[1];
            memory[destination as usize] = shared(clear(a) & clear(b));
        }
    }
    assert!(layered.layers.last().unwrap().ands.is_empty());
    assert!(layered.layers.iter().rev().skip(1).all(|layer| !layer.ands.is_empty()));
    let outputs =
        layered.output_slots.iter().map(|&slot| memory[slot as usize].expect("an output was written"));
    outputs.map(|[one, other]| one ^ other).collect()
}

fn same_as_gates(circuit: &Circuit, seed: u64) -> Layered {
    let layered = Layered::new(circuit);
    assert!(layered.layers.iter().all(|layer| layer.loads.is_empty()));
    computes_what_the_gates_do(&layered, circuit, seed);
    layered
}

fn computes_what_the_gates_do(layered: &Layered, circuit: &Circuit, seed: u64) {
    assert_eq!(layered.inputs, circuit.inputs());
    assert!(layered.outputs.iter().map(|&bits| bits as usize).eq(circuit.outputs().iter().map(Vec::len)));
    for seed in seed..seed + 3 {
        let inputs = noise(seed, circuit.input_bits());
        let wires = wires(circuit, &inputs);
        let expected: Vec<u64> =
            circuit.outputs().iter().flatten().map(|&wire| wires[wire as usize]).collect();
        assert_eq!(run(layered, &inputs), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn layers_compute_what_the_gates_do(circuit in circuits(120), seed: u64) {
        let layered = same_as_gates(&circuit, seed);
        prop_assert!(layered.depth() <= circuit.depth());
        prop_assert!(layered.ands() <= circuit.ands() as u64);
        prop_assert_eq!(&Layered::new(&circuit), &layered);
    }

    #[test]
    fn late_inputs_change_slots_and_nothing_else(circuit in circuits(120), seed: u64) {
        let whole = Layered::new(&circuit);
        let late: Vec<bool> = (0..circuit.inputs().len()).map(|input| seed >> (input % 64) & 1 == 1).collect();
        let given: Vec<Given> = late.iter().map(|&late| Given { late, public: false }).collect();
        let layered = Layered::with_inputs(&circuit, &given);
        computes_what_the_gates_do(&layered, &circuit, seed);
        prop_assert!(layered.slots <= whole.slots);
        prop_assert_eq!((layered.ands(), layered.depth()), (whole.ands(), whole.depth()));
        let mut loaded: Vec<u32> = layered.layers.iter().flat_map(|layer| &layer.loads).map(|load| load[0]).collect();
        loaded.sort_unstable();
        // A bit of a late input is loaded once if anything depends on it; others never are.
        let expected: Vec<u32> = (0..whole.input_slots.len() as u32)
            .filter(|&bit| late[whole.input_of(bit).0] && whole.input_slots[bit as usize] != UNUSED)
            .collect();
        prop_assert_eq!(loaded, expected);
        prop_assert_eq!(Layered::with_inputs(&circuit, &vec![Given::default(); late.len()]), whole);
    }

    #[test]
    fn public_inputs_save_ands(circuit in circuits(120), seed: u64) {
        let flag = |input: usize, from: u32| seed >> ((2 * input as u32 + from) % 64) & 1 == 1;
        let given: Vec<Given> = (0..circuit.inputs().len())
            .map(|input| Given { late: flag(input, 0), public: flag(input, 1) })
            .collect();
        let layered = Layered::with_inputs(&circuit, &given);
        computes_what_the_gates_do(&layered, &circuit, seed);
        // Not the depth that it has without public inputs: there other terms cancel.
        prop_assert!(layered.ands() <= circuit.ands() as u64 && layered.depth() <= circuit.depth());
        let all = vec![Given { late: false, public: true }; given.len()];
        let public = Layered::with_inputs(&circuit, &all);
        computes_what_the_gates_do(&public, &circuit, seed);
        prop_assert_eq!((public.ands(), public.depth()), (0, 0));
    }

    #[test]
    fn what_the_builder_made_is_all_needed(circuit in circuits(120)) {
        // Made again by a builder, no gate is left that no output depends on.
        let mut builder = Builder::new();
        let mut wires: Vec<Wire> = circuit.inputs().iter().flat_map(|&bits| builder.input(bits)).collect();
        for gate in circuit.gates() {
            wires.push(match *gate {
                Gate::Xor(a, b) => builder.xor(wires[a as usize], wires[b as usize]),
                Gate::And(a, b) => builder.and(wires[a as usize], wires[b as usize]),
                Gate::Not(a) => builder.not(wires[a as usize]),
                Gate::Constant(bit) => builder.constant(bit),
            });
        }
        let outputs: Vec<Vec<Wire>> =
            circuit.outputs().iter().map(|output| output.iter().map(|&wire| wires[wire as usize]).collect()).collect();
        same_as_gates(&builder.finish(outputs), 5);
    }
}

#[test]
fn an_adder_takes_a_round_and_an_and_for_each_carry() {
    for bits in [1, 2, 63, 64, 65] {
        let layered = same_as_gates(&arith::circuits::add(Style::Small, bits), 7);
        assert_eq!(layered.depth(), bits - 1);
        assert_eq!(layered.ands(), u64::from(bits) - 1);
        assert_eq!(layered.widest_layer(), usize::from(bits > 1));
        // Sums lie where inputs lay, beside the constant, a carry and an operand.
        assert!(layered.slots <= 2 * bits + 3, "{} slots for {bits} bits", layered.slots);
        assert_eq!(layered.layers.len() as u32, bits);
    }
}

#[test]
fn a_tree_of_ands_has_a_round_for_each_level() {
    let mut builder = Builder::new();
    let mut row = builder.input(64);
    while row.len() > 1 {
        row = row.chunks(2).map(|pair| builder.and(pair[0], pair[1])).collect();
    }
    let layered = same_as_gates(&builder.finish(vec![row]), 1);
    let widths: Vec<usize> = layered.layers.iter().map(|layer| layer.ands.len()).collect();
    assert_eq!(widths, [32, 16, 8, 4, 2, 1, 0]);
    // Inputs, the constant, and the first layer's results; later ones lie where inputs lay.
    assert_eq!(layered.slots, 64 + 1 + 32);
}

#[test]
fn ands_wait_for_their_readers_and_keep_no_slots() {
    // Every product is needed a round later than the one before, and all could be made in the first.
    let mut builder = Builder::new();
    let bits = builder.input(9);
    let mut chain = bits[8];
    for index in 0..64 {
        let product = builder.and(bits[index % 8], bits[index / 8]);
        let sum = builder.xor(chain, product);
        chain = builder.and(sum, bits[index % 7]);
    }
    let layered = same_as_gates(&builder.finish(vec![vec![chain]]), 1);
    // The same bit twice is no product.
    assert_eq!((layered.ands(), layered.depth()), (64 + 56, 64));
    assert_eq!(layered.widest_layer(), 2);
    assert!(layered.slots <= 9 + 1 + 5, "{} slots", layered.slots);
}

#[test]
fn ands_that_could_wait_spread_over_layers() {
    // Twenty products can run in any of ten rounds, twenty others from the sixth on; all are read at the end.
    let mut builder = Builder::new();
    let bits = builder.input(31);
    let mut chain = vec![bits[0]];
    for index in 0..10 {
        chain.push(builder.and(chain[index], bits[1 + index]));
    }
    let mut outputs = vec![chain[10]];
    for &bit in &bits[11..] {
        outputs.push(builder.and(bits[0], bit));
        outputs.push(builder.and(chain[5], bit));
    }
    let layered = same_as_gates(&builder.finish(vec![outputs]), 1);
    let widths: Vec<usize> = layered.layers.iter().map(|layer| layer.ands.len()).collect();
    // As early as can be, 21 would run in the first round and in the sixth. What has to run in the last joins it.
    assert_eq!(widths, [1, 1, 1, 1, 1, 1, 1, 1, 20, 22, 0]);
}

#[test]
fn exclusive_ors_become_long_sums() {
    let mut builder = Builder::new();
    let bits = builder.input(40);
    let mut sum = bits[0];
    for &bit in &bits[1..] {
        sum = builder.xor(bit, sum);
    }
    let layered = same_as_gates(&builder.finish(vec![vec![sum]]), 1);
    let lengths: Vec<usize> = layered.layers[0].steps().map(|step| step.terms.len()).collect();
    assert_eq!(lengths, [16, 16, 10]);
    assert_eq!(layered.slots, 41, "a sum lies where one of its terms lay");
}

#[test]
fn a_sum_that_is_read_twice_is_made_once() {
    let mut builder = Builder::new();
    let bits = builder.input(4);
    let both = builder.xor(bits[0], bits[1]);
    let outputs = vec![builder.xor(both, bits[2]), builder.xor(both, bits[3])];
    let layered = same_as_gates(&builder.finish(vec![outputs]), 1);
    let lengths: Vec<usize> = layered.layers[0].steps().map(|step| step.terms.len()).collect();
    assert_eq!(lengths, [2, 2, 2]);
}

#[test]
fn what_cancels_takes_neither_sum_nor_and_nor_round() {
    // Wire 4 is (0 & 1) ^ 0 ^ (0 & 1), the same as wire 0, so that wire 5 takes no second round.
    let gates =
        vec![Gate::And(0, 1), Gate::Xor(2, 0), Gate::Xor(3, 2), Gate::And(4, 1), Gate::Not(5), Gate::Not(6)];
    let circuit = Circuit::new(vec![2], gates, vec![vec![7]]).unwrap();
    let layered = same_as_gates(&circuit, 1);
    assert_eq!((circuit.depth(), layered.depth()), (2, 1));
    assert_eq!(layered.ands(), 1);
    assert_eq!(layered.layers.iter().map(|layer| layer.steps().count()).sum::<usize>(), 0);
}

#[test]
fn all_zeros_are_one() {
    let gates = vec![Gate::Constant(false), Gate::Xor(0, 0), Gate::Constant(false), Gate::And(2, 0)];
    let circuit = Circuit::new(vec![1], gates, vec![vec![1, 2, 3, 4]]).unwrap();
    let layered = same_as_gates(&circuit, 1);
    assert_eq!(layered.output_slots[..3], [layered.output_slots[0]; 3]);
    assert_eq!(layered.layers.iter().map(|layer| layer.steps().count()).sum::<usize>(), 1);
}

#[test]
fn inputs_that_nothing_reads_have_no_slot() {
    let gates = vec![Gate::And(0, 1), Gate::Constant(true), Gate::Constant(false)];
    let circuit = Circuit::new(vec![3, 1], gates, vec![vec![3, 3], vec![5], vec![6]]).unwrap();
    let layered = same_as_gates(&circuit, 1);
    assert_eq!(layered.input_slots, [UNUSED, UNUSED, UNUSED, 1]);
    assert_eq!(layered.outputs, [2, 1, 1]);
    assert_eq!(layered.output_slots[..3], [1, 1, ONE]);
    assert_eq!((layered.depth(), layered.slots), (0, 3));
}

#[test]
fn late_inputs_take_slots_only_while_they_are_needed() {
    // Sixty-four rounds, each with a key bit of its own.
    let mut builder = Builder::new();
    let (keys, bits) = (builder.input(64), builder.input(2));
    let mut chain = bits[0];
    for key in keys {
        let sum = builder.xor(chain, key);
        chain = builder.and(sum, bits[1]);
    }
    let circuit = builder.finish(vec![vec![chain]]);
    let keys_late = [Given { late: true, public: false }, Given::default()];
    let layered = Layered::with_inputs(&circuit, &keys_late);
    computes_what_the_gates_do(&layered, &circuit, 1);
    assert!(layered.layers[..64].iter().all(|layer| layer.loads.len() == 1));
    assert!(layered.slots <= 5, "{} slots", layered.slots);
    assert_eq!(layered.input_slots[..64], [UNUSED; 64]);
}

#[test]
#[should_panic(expected = "something is said of every input")]
fn inputs_of_which_nothing_is_said_are_refused() {
    Layered::with_inputs(&arith::circuits::add(Style::Small, 3), &[Given::default()]);
}

#[test]
fn an_and_with_a_public_bit_is_free() {
    let mut builder = Builder::new();
    let (secret, public) = (builder.input(2), builder.input(3));
    let known = builder.and(public[0], public[1]);
    let flipped = builder.not(known);
    let masked = builder.and(secret[0], flipped);
    let paid = builder.and(masked, secret[1]);
    let mixed = builder.xor(paid, public[2]);
    let circuit = builder.finish(vec![vec![mixed, flipped, public[0]]]);
    let layered = Layered::with_inputs(&circuit, &[Given::default(), Given { late: false, public: true }]);
    computes_what_the_gates_do(&layered, &circuit, 1);
    assert_eq!((layered.ands(), layered.depth(), layered.whole), (1, 1, 1));
    // Two ANDs, and a sharing of each public bit that is read as one.
    let products: usize =
        layered.layers.iter().map(|layer| layer.steps().filter(|step| step.product).count()).sum();
    assert_eq!(products, 5);
}

#[test]
fn a_circuit_of_nothing_is_a_layer_of_nothing() {
    let layered = same_as_gates(&Builder::new().finish(vec![]), 1);
    assert_eq!(layered.layers, [Layer::default()]);
    assert_eq!(layered.slots, 1);
}

#[test]
fn sums_as_deep_as_the_circuit_is_long_are_laid_out() {
    let mut builder = Builder::new();
    let bits = builder.input(3);
    let mut outputs = vec![bits[0]];
    for index in 0..200_000 {
        outputs.push(builder.xor(outputs[index], bits[1 + index % 2]));
    }
    outputs.reverse();
    let circuit = builder.finish(vec![outputs]);
    assert_eq!(same_as_gates(&circuit, 1).layers[0].steps().count(), 200_000);
}

#[test]
fn plans_share_a_circuits_layers_as_long_as_one_has_them() {
    let circuit = crate::arith::circuits::multiply(crate::arith::Style::Small, 4);
    let given = [true, false].map(|public| [Given::default(), Given { public, late: false }]);
    let first = Layered::shared(&circuit, &given[0]);
    assert!(Arc::ptr_eq(&first, &Layered::shared(&circuit, &given[0])));
    let other = Layered::shared(&circuit, &given[1]);
    assert!(first.ands() < other.ands());
    assert_eq!(*other, Layered::with_inputs(&circuit, &given[1]));
    drop((first, other));
    assert_eq!(circuit.layouts.0.lock().unwrap().iter().filter(|(_, one)| one.strong_count() > 0).count(), 0);
    assert_eq!(circuit.clone(), circuit);
}
