//! MSB extraction of shared numbers, garbled and evaluated, at every level of this machine:
//! `cargo bench -p tacit-garble`.
//!
//! ASTRA, section 5.4: two addends and a mask, the second addend and the mask known to the garblers; or three addends
//! and two masks, the second addend and the first mask known. Each figure is the median of several runs on one core
//! over a batch that no cache holds. Garbling makes the tables and what decodes, evaluation reads labels and tables
//! and decodes; labels are those of the first addend, which a garbler gives online, and so are commitments.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tacit_circuit::arith::circuits::masked_msb;
use tacit_garble::{Batch, Evaluator, Garbler, Plan};
use tacit_kernel::bits::words;
use tacit_kernel::cpu::{at, available};
use tacit_kernel::garble::LABEL;

/// Instances of the batch.
const INSTANCES: usize = 1 << 14;

fn main() {
    print!("{:46}", "");
    for level in available() {
        print!("{:>20}", format!("{level:?}"));
    }
    println!();
    for (width, addends) in [(32, 2), (64, 2), (32, 3), (64, 3)] {
        signs(width, addends);
    }
}

fn signs(width: u32, addends: usize) {
    let circuit = masked_msb(width, addends, addends - 1);
    let known: Vec<bool> = (0..circuit.inputs().len()).map(|input| input == 1 || input == addends).collect();
    let plan = Plan::new(&circuit, &known);
    let batch = Batch { session: [2; 16], number: 0 };
    let piece = 0..INSTANCES as u64;
    let rows: Vec<Vec<u64>> =
        plan.inputs().iter().map(|&bits| vec![0x5555; bits as usize * words(INSTANCES)]).collect();
    let folded: Vec<&[u64]> =
        rows.iter().zip(&known).filter(|row| *row.1).map(|row| row.0.as_slice()).collect();
    let mut tables = vec![0; plan.table_bytes(INSTANCES)];
    let mut labels = Vec::new();
    for (input, row) in rows.iter().enumerate().filter(|&(input, _)| !known[input]) {
        let mut own = vec![0; plan.inputs()[input] as usize * INSTANCES * LABEL];
        let garbler = Garbler::new(&plan, &[1; 16], batch);
        garbler.labels(input, piece.clone(), row, &mut own).expect("lengths are the plan's");
        labels.push(own);
    }
    let labels: Vec<&[u8]> = labels.iter().map(Vec::as_slice).collect();
    let mut given = labels[0].to_vec();
    let mut decoding = Vec::new();
    let name = format!("{addends} addends of {width} bits, {} ANDs", plan.ands());
    line(&format!("{name}: garbled"), || {
        let mut garbler = Garbler::new(&plan, &[1; 16], batch);
        let outputs = garbler.garble(piece.clone(), &folded, black_box(&mut tables));
        decoding = outputs.expect("lengths are the plan's").decoding();
    });
    line(&format!("{name}: labels"), || {
        let garbler = Garbler::new(&plan, &[1; 16], batch);
        let found = garbler.labels(0, piece.clone(), &rows[0], black_box(&mut given));
        found.expect("lengths are the plan's");
    });
    let mut commitments = vec![0; plan.commitment_bytes(0, INSTANCES)];
    line(&format!("{name}: commitments"), || {
        let garbler = Garbler::new(&plan, &[1; 16], batch);
        let found = garbler.commitments(0, piece.clone(), black_box(&mut commitments));
        found.expect("lengths are the plan's");
    });
    line(&format!("{name}: labels checked"), || {
        let evaluator = Evaluator::new(&plan, batch);
        let found = evaluator.check_labels(0, piece.clone(), &rows[0], &given, &commitments);
        found.expect("the labels are those committed to");
    });
    line(&format!("{name}: evaluated"), || {
        let mut evaluator = Evaluator::new(&plan, batch);
        let active = evaluator.evaluate(piece.clone(), &labels, &tables).expect("lengths are the plan's");
        black_box(active.decode(&decoding).expect("lengths are the plan's"));
    });
}

/// Prints how many instances a second `work` does, at every level.
fn line(name: &str, mut work: impl FnMut()) {
    print!("{name:46}");
    for level in available() {
        let seconds = at(level, || median(&mut work)).as_secs_f64();
        print!("{:>20}", format!("{:.2} M/s", INSTANCES as f64 / seconds / 1e6));
    }
    println!();
}

/// The median of eleven runs.
fn median(work: &mut impl FnMut()) -> Duration {
    let mut runs: Vec<Duration> = (0..11)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    runs.sort_unstable();
    runs[runs.len() / 2]
}
