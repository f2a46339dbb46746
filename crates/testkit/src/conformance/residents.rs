//! Values that stay: what one run keeps another one reads, neither of which sends anything. Under protocols whose parties may
//! deviate a party that reads another share than it kept is one that deviates.

use std::ops::Range;
use std::sync::Arc;

use tacit_engine::{Error, KeptShare, Security};
use tacit_program::{Builder, Dtype, Feature, OutputType, Program, Recipient, Type, Uses, Value, reference};

use super::{Subject, cost, equality};
use crate::{Case, Draws, Rng, generate};

const LENGTHS: [usize; 5] = [1, 3, 64, 65, 513];

/// Random programs, and random ones on what they keep.
///
/// # Panics
/// At the first difference from the reference, in results or costs; if the protocol keeps values and none of it was tried.
pub fn random_programs(subject: &Subject, seeds: Range<u64>) {
    let (mut cut, mut tried) = (subject.cut(), 0);
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let len = rng.pick(&LENGTHS);
        let first = generate::keeping(&mut rng, subject.parties, 8, len);
        let second = generate::reading(&mut rng, subject.parties, 6, len, &first);
        if subject.offers(&first) && subject.offers(&second) && cut.takes() {
            tried += 1;
            check(subject, [&first, &second], &mut rng, &format!("random programs {seed}"));
        }
    }
    assert!(tried > 0 || !subject.protocol.capabilities().offers(Feature::Keep));
}

fn check(subject: &Subject, [first, second]: [&Program; 2], rng: &mut Rng, what: &str) {
    let inputs = generate::inputs(&first.input_types(), rng);
    let values = reference::trace(first, &inputs).expect("inputs are in their ranges");
    let lowered = subject.lowered(first);
    let case = subject.case(lowered.plan, &inputs);
    let run = case.run(&Draws::fixed(rng.word()));
    if ends_with_its_key(subject) {
        let refused = |ending: &crate::Ending| matches!(&ending.result, Err(Error::Refused(why)) if why.contains("key"));
        assert!(run.endings[..subject.parties].iter().flatten().any(refused), "{what}: {:?}", run.endings);
        return;
    }
    let expected = reference::run(first, &inputs).expect("as before");
    equality::compare(&case, &lowered.outputs, &run.outcomes(), &expected, what);
    cost::check_case(case, what);

    let kept = first.keeps().iter().map(|keep| words(&first.node(keep.node).ty, &values[keep.node.index()]));
    let (mut reads, declared, expected) = reading(subject, second, &kept.collect::<Vec<_>>());
    reads.kept = shares(&run.outcomes()[..subject.parties]);
    let run = reads.run(&Draws::fixed(rng.word()));
    equality::compare(&reads, &declared, &run.outcomes(), &expected, what);
    cost::check_case(reads, what);
}

/// Whether what is kept has MACs under a key that ends with a run of the suite.
fn ends_with_its_key(subject: &Subject) -> bool {
    subject.protocol.keeps_under_key()
}

/// A run of a program that reads these values and has no inputs.
fn reading(subject: &Subject, program: &Program, kept: &[Vec<u64>]) -> (Case, Vec<OutputType>, Vec<Value>) {
    let expected = reference::run(program, kept).expect("what was kept is in its range");
    let lowered = subject.lowered(program);
    (subject.case(lowered.plan, &[]), lowered.outputs, expected)
}

/// The shares of each party.
fn shares(outcomes: &[&tacit_engine::Outcome]) -> Vec<Vec<Arc<KeptShare>>> {
    outcomes.iter().map(|outcome| outcome.kept.iter().cloned().map(Arc::new).collect()).collect()
}

/// Raw elements as programs take them.
fn words(ty: &Type, raw: &[i128]) -> Vec<u64> {
    let limbs = |raw: &i128| [*raw as u64, (*raw >> 64) as u64].into_iter().take(ty.kind.limbs());
    raw.iter().flat_map(limbs).collect()
}

/// Keeps two numbers, reads them, and multiplies them: with a bit of each part of one value changed in turn. All
/// others have the right result, or none.
///
/// # Panics
/// If somebody has a wrong one; if no change ends a run.
pub fn changed_shares(subject: &Subject) {
    let promises = subject.protocol.spec().security != Security::SemiHonest;
    let [keeps, reads] = product();
    if !promises || ends_with_its_key(subject) || !subject.offers(&keeps) || !subject.offers(&reads) {
        return;
    }
    let inputs = vec![vec![3, 5], vec![7, 11]];
    let kept = subject.case(subject.lowered(&keeps).plan, &inputs).run(&Draws::fixed(1));
    let shares = shares(&kept.outcomes()[..subject.parties]);
    let (mut case, declared, expected) = reading(subject, &reads, &inputs);
    let mut noticed = 0;
    for party in 0..subject.parties {
        for part in 0..shares[party][0].parts.len() {
            let mut changed = shares.clone();
            let mut share = KeptShare::clone(&changed[party][0]);
            share.parts[part].bytes[0] ^= 4;
            changed[party][0] = Arc::new(share);
            case.kept = changed;
            let run = case.run(&Draws::fixed(2));
            for (other, ending) in run.endings.iter().enumerate().filter(|(other, _)| *other != party) {
                match &ending.as_ref().expect("all came").result {
                    Err(_) => noticed += 1,
                    Ok(outcome) => {
                        let what = format!("P{party} with another part {part}, at {}", case.name(other));
                        right(&case, &declared[0], outcome, &expected[0], &what);
                    }
                }
            }
        }
    }
    assert!(noticed > 0, "no change of a share was noticed");
}

/// Asserts that what somebody learnt is right.
fn right(case: &Case, declared: &OutputType, outcome: &tacit_engine::Outcome, expected: &Value, what: &str) {
    let Some(clear) = &outcome.outputs[0] else { return };
    let words = clear.to_elements(case.plan.outputs[0].form);
    assert_eq!(tacit_program::decode(declared, &words).as_ref(), Ok(expected), "{what}");
}

/// A program that keeps two numbers of each of two parties, and one that reveals their products.
fn product() -> [Program; 2] {
    let range = tacit_program::Range::new(0, 100);
    let mut build = Builder::new();
    for name in ["P0", "P1"] {
        let x = build.input(name, "x", Dtype::Int, &[2], range).expect("it is sound");
        build.keep(x, name, Uses::default()).expect("it is sound");
    }
    let keeps = build.finish().expect("it keeps something");
    let mut build = Builder::new();
    let [a, b] = ["P0", "P1"].map(|name| build.kept(name, Dtype::Int, &[2], range).expect("it is sound"));
    let product = build.mul(a, b).expect("it is sound");
    build.reveal(product, Recipient::All).expect("it is sound");
    [keeps, build.finish().expect("it reveals something")]
}
