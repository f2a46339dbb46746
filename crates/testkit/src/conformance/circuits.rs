//! Circuits: random ones on few instances, and tiles that wait for one another's place.
//!
//! Most programs of the suite are too small to fill a tile. Here circuits of many ANDs make tiles of few instances,
//! so that a plan has many tiles, a layer several messages, and the last tile an odd width.

use std::ops::Range;
use std::sync::Arc;

use tacit_circuit::{Builder, Circuit, Wire};
use tacit_program::{Dtype, Feature, Program, Recipient};

use super::{Subject, cost, equality};
use crate::Rng;
use crate::links::Medium;

/// Instances around words, blocks of randomness and the least tiles.
const INSTANCES: [usize; 13] = [1, 2, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1023, 1025];

/// Random circuits with these seeds: right results, exact cost.
///
/// # Panics
/// At the first difference.
pub fn random(subject: &Subject, seeds: Range<u64>) {
    for seed in seeds.step_by(subject.one_in) {
        let mut rng = Rng::new(seed);
        let (inputs, gates) = (1 + rng.below(3), rng.pick(&[3, 20, 200]));
        let circuit = random_circuit(&mut rng, inputs, gates);
        let instances = subject.length(&mut rng, &INSTANCES);
        let what = format!("random circuit {seed} on {instances} instances");
        let shared = rng.one_in(3);
        let program = program(subject, &circuit, instances, shared);
        if !subject.offers(&program) {
            continue;
        }
        equality::check(subject, &program, &mut rng, &what);
        cost::check(subject, &program, &what);
    }
}

/// Random circuits with these seeds, for a protocol whose checks may hold operations up: right results, exact bytes.
///
/// # Panics
/// At the first difference.
pub fn without_rounds(subject: &Subject, seeds: Range<u64>) {
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let circuit = random_circuit(&mut rng, 3, 100);
        let instances = subject.length(&mut rng, &INSTANCES);
        let program = program(subject, &circuit, instances, false);
        let what = format!("random circuit {seed} without rounds");
        equality::check(subject, &program, &mut rng, &what);
        cost::check_over(subject, &program, Medium::Memory, &what);
    }
}

/// Wide layers on so many instances that there are more tiles than places for them: right results, exact cost, and
/// rounds as many as the tiles that wait make.
///
/// # Panics
/// At the first difference.
pub fn tiles(subject: &Subject) {
    of_tiles(subject, &[(4500, 2, 5000), (9000, 1, 1300), (700, 5, 12_345)]);
}

/// The same for one circuit.
///
/// # Panics
/// At the first difference.
pub fn few_tiles(subject: &Subject) {
    of_tiles(subject, &[(9000, 1, 1000)]);
}

/// Circuits of so many layers of so many ANDs, on so many instances.
fn of_tiles(subject: &Subject, circuits: &[(usize, usize, usize)]) {
    let mut rng = Rng::new(3);
    for &(width, layers, instances) in circuits {
        let circuit = wide_circuit(&mut rng, width, layers);
        let program = program(subject, &circuit, instances, false);
        let what = format!("{layers} layers of {width} ANDs on {instances} instances");
        // Where circuits are products, there are no tiles.
        let has_tiles = subject.protocol.capabilities().offers(Feature::Circuit);
        if instances > subject.longest || !has_tiles || !subject.offers(&program) {
            continue;
        }
        equality::check(subject, &program, &mut rng, &what);
        let (_, rounds) = cost::check(subject, &program, &what);
        assert!(rounds > layers, "{what}: all tiles are under way at once, so none has waited");
    }
}

/// A circuit on inputs of P0, of a client and of the last party, whose outputs P1 and another client learn. `shared`: the first
/// input is one and the same for all instances.
fn program(subject: &Subject, circuit: &Arc<Circuit>, instances: usize, shared: bool) -> Program {
    let mut build = tacit_program::Builder::new();
    let mut operands = Vec::new();
    for (input, (&width, owner)) in circuit.inputs().iter().zip(["P0", "alice", &subject.last()]).enumerate()
    {
        let shape = if shared && input == 0 { vec![width as usize] } else { vec![instances, width as usize] };
        let operand = build.input(owner, &format!("x{input}"), Dtype::Bool, &shape, None);
        operands.push(operand.expect("an input of bits"));
    }
    let outputs = build.circuit(circuit, &operands).expect("the operands fit");
    for (index, output) in outputs.into_iter().enumerate() {
        let to = Recipient::Role(["P1", "bob"][index % 2].to_owned());
        build.reveal(output, to).expect("the node is there");
    }
    build.finish().expect("something is revealed")
}

fn random_circuit(rng: &mut Rng, inputs: usize, gates: usize) -> Arc<Circuit> {
    let mut build = Builder::new();
    let mut wires: Vec<Wire> = Vec::new();
    for _ in 0..inputs {
        let width = rng.pick(&[1, 2, 7, 63, 64, 65]);
        wires.extend(build.input(width));
    }
    for _ in 0..gates {
        let (a, b) = (wires[rng.below(wires.len())], wires[rng.below(wires.len())]);
        wires.push(match rng.below(8) {
            0..=3 => build.and(a, b),
            4..=6 => build.xor(a, b),
            _ => build.not(a),
        });
    }
    let outputs = [1, 5, 64].map(|width| (0..width).map(|_| wires[rng.below(wires.len())]).collect());
    Arc::new(build.finish(outputs.to_vec()))
}

/// Layers of `width` ANDs, each of which reads what stands before it and far from it.
fn wide_circuit(rng: &mut Rng, width: usize, layers: usize) -> Arc<Circuit> {
    let mut build = Builder::new();
    let input = build.input(97);
    let mut wires: Vec<Wire> = (0..width)
        .map(|index| {
            let other = input[rng.below(97)];
            build.xor(input[index % 97], other)
        })
        .collect();
    for layer in 0..layers {
        let before = wires.clone();
        for (index, wire) in wires.iter_mut().enumerate() {
            let other = before[(index * 7 + 13 * layer + 1) % width];
            let both = build.and(before[index], other);
            *wire = build.xor(both, before[(index + 1) % width]);
        }
    }
    Arc::new(build.finish(vec![wires]))
}
