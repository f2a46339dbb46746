//! What an evaluator sees and what it can't make.

use std::collections::HashSet;

use tacit_circuit::Builder;
use tacit_circuit::arith::{Style, circuits as arith};

use super::*;
use crate::Error;

/// Everything that an evaluator sees of one instance of the sign of `u + known`, masked by a known bit, but what
/// decodes it.
fn view(plan: &Plan, seed: [u8; 16], known: u64, mask: u64) -> (Vec<u8>, u64) {
    let inputs = [vec![1, 0], vec![known & 1, known >> 1], vec![mask]];
    let piece = Piece::new(plan, &mut Garbler::new(plan, &seed, BATCH), 0, &inputs, 1);
    let active = piece.evaluate(plan);
    let decoding = piece.outputs.decoding()[0];
    ([piece.tables, piece.labels.concat(), active.labels().to_vec(), active.tags()].concat(), decoding)
}

/// How many times each bit of a view was 1, and each sum of the lowest bits of two of its labels.
fn tally(views: impl Iterator<Item = Vec<u8>>) -> Vec<u32> {
    let mut ones = Vec::new();
    for view in views {
        let labels = view.chunks(LABEL);
        let pairs = labels
            .clone()
            .enumerate()
            .flat_map(|(i, left)| labels.clone().skip(i + 1).map(move |right| (left[0] ^ right[0]) & 1));
        let bits = view.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
        let bits: Vec<u8> = bits.chain(pairs).collect();
        ones.resize(bits.len(), 0);
        for (ones, bit) in ones.iter_mut().zip(bits) {
            *ones += u32::from(bit);
        }
    }
    ones
}

const VIEWS: u32 = 4000;

/// How far a tally of views may be from half of them: six standard deviations, passed by one of a thousand uniform bits
/// once in a million runs.
const FAR: u32 = 190;

fn looks_uniform(tally: &[u32]) -> bool {
    tally.iter().all(|ones| ones.abs_diff(VIEWS / 2) < FAR)
}

#[test]
fn what_is_folded_in_changes_no_distribution() {
    let circuit = arith::masked_msb(2, 2, 1);
    let plan = Plan::new(&circuit, &[false, true, true]);
    assert_eq!(plan.ands(), 1);
    for (known, mask) in [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (1, 1)] {
        let mut noise = Noise(1 + known + 8 * mask);
        let mut decoded = Vec::new();
        let views = (0..VIEWS).map(|_| {
            let (view, decoding) = view(&plan, noise.seed(), known, mask);
            // The same with what decodes the output, as a byte that would be a label's lowest.
            let mut all = view.clone();
            all.push(decoding as u8);
            decoded.push(all);
            view
        });
        let tally_of_views = tally(views);
        assert_eq!(tally_of_views.len(), 8 * 16 * 6 + 15);
        assert!(looks_uniform(&tally_of_views), "known {known}, mask {mask}: {tally_of_views:?}");
        // So small a statistic finds what does depend on the bits: the output.
        assert!(!looks_uniform(&tally(decoded.into_iter())));
    }
}

#[test]
fn a_bit_that_is_only_folded_in_sends_nothing() {
    let mut builder = Builder::new();
    let (x, y) = (builder.input(1), builder.input(1));
    let circuit = builder.finish(vec![vec![x[0]], vec![y[0]]]);
    let plan = Plan::new(&circuit, &[true, false]);
    let active = |bit: u64| {
        let piece = garbled(&plan, &[vec![bit], vec![1]], 1);
        assert_eq!((piece.tables.len(), piece.labels.len()), (0, 1));
        piece.evaluate(&plan).labels().to_vec()
    };
    assert_eq!(active(0), active(1));
}

#[test]
fn delta_is_odd_and_a_batch_s_own() {
    let circuit = arith::add(Style::Small, 3);
    let plan = Plan::new(&circuit, &[false, false]);
    let deltas = |seed: [u8; 16], batch: Batch| {
        let garbler = Garbler::new(&plan, &seed, batch);
        let labels = |input: usize, bits: u64| {
            let mut labels = vec![0; 3 * 40 * LABEL];
            garbler.labels(input, 5..45, &[bits; 3], &mut labels).unwrap();
            numbers(&labels)
        };
        let both: Vec<[Vec<u128>; 2]> =
            (0..2).map(|input| [0, u64::MAX].map(|bits| labels(input, bits))).collect();
        let differences =
            both.iter().flat_map(|[falses, trues]| falses.iter().zip(trues).map(|(a, b)| a ^ b));
        differences.collect::<Vec<u128>>()
    };
    let mut found: Vec<u128> = Vec::new();
    let mut noise = Noise(3);
    for number in 0..500 {
        let deltas = deltas(noise.seed(), Batch { number, ..BATCH });
        assert!(deltas.iter().all(|delta| *delta == deltas[0]), "one for all wires");
        assert_eq!(deltas[0] & 1, 1);
        found.push(deltas[0]);
    }
    for bit in 1..128 {
        let ones = found.iter().filter(|&delta| delta >> bit & 1 == 1).count();
        assert!(ones.abs_diff(250) < 67, "bit {bit} of delta is 1 {ones} times of 500");
    }
    assert_ne!(deltas(SEED, BATCH)[0], deltas(SEED, Batch { number: 8, ..BATCH })[0]);
}

#[test]
fn labels_have_every_bit_set_half_the_time_and_none_twice() {
    let circuit = arith::masked_msb(8, 2, 1);
    let plan = Plan::new(&circuit, &[false, false, false]);
    let instances = 2000;
    let piece = garbled(&plan, &inputs(&circuit, instances, 1), instances);
    let all = [piece.tables.clone(), piece.labels.concat(), piece.evaluate(&plan).labels().to_vec()].concat();
    let mut labels = numbers(&all);
    for bit in 0..128 {
        let ones = labels.iter().filter(|&label| label >> bit & 1 == 1).count();
        // Six standard deviations.
        let far = 3.0 * (labels.len() as f64).sqrt();
        assert!((ones as f64 - labels.len() as f64 / 2.0).abs() < far, "bit {bit}: {ones}");
    }
    let count = labels.len();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), count);
}

#[test]
fn the_same_labels_are_never_hashed_alike() {
    // Operands that are folded in have two labels in all instances and ANDs together. With hashes that weren't tweaked,
    // or under keys that come again, tables would be equal, or differ by delta.
    let mut builder = Builder::new();
    let bits = builder.input(3);
    let products = [(0, 1), (0, 2), (1, 2)].map(|(a, b)| builder.and(bits[a], bits[b]));
    let plan = Plan::new(&builder.finish(vec![products.to_vec()]), &[true]);
    let instances = 2 * plan.tile() + 70;
    let known: Vec<u64> = (0..3 * words(instances) as u64).map(|seed| Noise(seed).word()).collect();
    let piece = garbled(&plan, std::slice::from_ref(&known), instances);
    let [falses, trues] =
        [0, u64::MAX].map(|bits| numbers(&piece.outputs.labels(&vec![bits; known.len()]).unwrap()));
    let delta = falses[0] ^ trues[0];
    let tables = numbers(&piece.tables);
    let distinct: HashSet<u128> = tables.iter().copied().collect();
    assert_eq!((tables.len(), distinct.len()), (6 * instances, 6 * instances));
    assert!(tables.iter().all(|table| !distinct.contains(&(table ^ delta))));
}

#[test]
fn a_wrong_bit_is_found() {
    let circuit = arith::masked_msb(4, 3, 2);
    let plan = Plan::new(&circuit, &[false, true, false, true, false]);
    let instances = 70;
    let piece = garbled(&plan, &inputs(&circuit, instances, 1), instances);
    let active = piece.evaluate(&plan);
    let bits = active.decode(&piece.outputs.decoding()).unwrap();
    let tags = active.tags();
    assert_eq!(piece.outputs.check(&bits, &tags), Ok(()));
    assert_eq!(piece.outputs.tags(&bits).unwrap(), tags);
    assert_eq!(*piece.outputs.labels(&bits).unwrap(), active.labels());
    for c in 0..instances {
        let mut wrong = bits.clone();
        set(&mut wrong, c, !get(&bits, c));
        assert_eq!(piece.outputs.check(&wrong, &tags), Err(Error::Forged));
        let mut forged = tags.clone();
        forged[c * LABEL + c % LABEL] ^= 1 << (c % 8);
        assert_eq!(piece.outputs.check(&bits, &forged), Err(Error::Forged));
        // Another instance's tag is none of this one's.
        forged.clone_from(&tags);
        forged.copy_within((c + 1) % instances * LABEL..((c + 1) % instances + 1) * LABEL, c * LABEL);
        assert_eq!(piece.outputs.check(&bits, &forged), Err(Error::Forged));
    }
}

#[test]
fn a_wrong_label_never_becomes_another_bit_unseen() {
    let circuit = arith::masked_msb(4, 3, 2);
    let plan = Plan::new(&circuit, &[false, true, false, true, false]);
    let mut piece = garbled(&plan, &inputs(&circuit, 65, 1), 65);
    let right = piece.checked(&plan);
    let mut noise = Noise(5);
    let (mut same, mut found) = (0, 0);
    for _ in 0..400 {
        let word = noise.word();
        let honest = piece.labels.clone();
        let input = word as usize % honest.len();
        let label = (word >> 8) as usize % (honest[input].len() / LABEL);
        let own = &mut piece.labels[input][label * LABEL..][..LABEL];
        match word >> 62 {
            0 => own.copy_from_slice(&noise.seed()),
            1 => own.fill(0),
            _ => own[(word >> 40) as usize % LABEL] ^= 1 << (word >> 50 & 7),
        }
        match outcome(&plan, &piece, &right) {
            Ok(()) => same += 1,
            Err(error) => {
                assert_eq!(error, Error::Forged);
                found += 1;
            }
        }
        piece.labels = honest;
    }
    assert_eq!((same, found), (0, 400), "every bit of the sign's addends matters");
}

#[test]
fn a_flipped_bit_of_a_table_never_becomes_another_bit_unseen() {
    let circuit = arith::masked_msb(4, 3, 2);
    let plan = Plan::new(&circuit, &[false, true, false, true, false]);
    let mut piece = garbled(&plan, &inputs(&circuit, 3, 1), 3);
    let right = piece.checked(&plan);
    let (mut same, mut found) = (0, 0);
    for bit in 0..8 * piece.tables.len() {
        piece.tables[bit / 8] ^= 1 << (bit % 8);
        // Half of the tables an instance doesn't use, and another half others'.
        match outcome(&plan, &piece, &right) {
            Ok(()) => same += 1,
            Err(error) => {
                assert_eq!(error, Error::Forged);
                found += 1;
            }
        }
        piece.tables[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(same > 0 && found > same / 4, "{same} not used, {found} found");
}

/// What becomes of what an evaluator got: no bit is wrong and accepted.
fn outcome(plan: &Plan, piece: &Piece, right: &[u64]) -> Result<(), Error> {
    let active = piece.evaluate(plan);
    let bits = active.decode(&piece.outputs.decoding()).unwrap();
    piece.outputs.check(&bits, &active.tags())?;
    assert_eq!(bits, right);
    // Nor does another bit fit the tags.
    for c in 0..piece.instances {
        let mut wrong = bits.clone();
        set(&mut wrong, c, !get(&bits, c));
        assert_eq!(piece.outputs.check(&wrong, &active.tags()), Err(Error::Forged));
    }
    Ok(())
}

#[test]
fn secrets_are_not_printed() {
    let circuit = arith::masked_msb(4, 2, 1);
    let plan = Plan::new(&circuit, &[false, false, true]);
    let mut garbler = Garbler::new(&plan, &SEED, BATCH);
    let piece = Piece::new(&plan, &mut garbler, 0, &inputs(&circuit, 3, 1), 3);
    assert_eq!(format!("{garbler:?}"), "Garbler { next: 3, .. }");
    assert_eq!(format!("{:?}", piece.outputs), "Outputs { instances: 3, .. }");
    assert_eq!(format!("{:?}", piece.evaluate(&plan)), "Active { instances: 3, .. }");
    assert_eq!(format!("{:?}", Evaluator::new(&plan, BATCH)), "Evaluator { .. }");
}
