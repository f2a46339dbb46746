//! Values that stay: what one run keeps another one reads, neither of which sends anything. Under protocols whose parties may
//! deviate a party that reads another share than it kept is one that deviates.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tacit_engine::wire::message_of;
use tacit_engine::{Error, KeptShare, Security, vector};
use tacit_kernel::Buffer;
use tacit_program::plan::Domain;
use tacit_program::{
    Builder, Dtype, Feature, Modulus, OutputType, Program, Recipient, Type, Uses, Value, reference,
};
use tacit_session::Agreement;

use super::{Subject, cost, equality};
use crate::{Case, Draws, Rng, World, generate, party_names, play};

const LENGTHS: [usize; 5] = [1, 3, 64, 65, 513];

/// Random programs, and random ones on what they keep.
///
/// # Panics
/// At the first difference from the reference, in results or costs; if the protocol keeps values and none of it was tried.
pub fn random_programs(subject: &Subject, seeds: Range<u64>) {
    let (mut cut, mut tried) = (subject.cut(), 0);
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let len = subject.length(&mut rng, &LENGTHS);
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

/// How many elements are given fresh shares: enough bits for a sample.
const REFRESHED: usize = 513;

/// Shares of a value of each kind that a protocol keeps are given fresh shares, and read: the value is the same. What was added
/// to any parts, so that old ones of one party and new ones of another could be combined, is uniform, as is what an adversary
/// makes of it who knows what was added to others.
///
/// # Panics
/// If a value is another, or a share isn't fresh.
pub fn fresh_shares(subject: &Subject) {
    if !subject.protocol.capabilities().offers(Feature::Keep) || ends_with_its_key(subject) {
        return;
    }
    let mut tried = 0;
    let modular = [Modulus::PowerOfTwo(32), Modulus::PowerOfTwo(9), Modulus::Mersenne61].map(Dtype::Modular);
    for kind in [Dtype::Int, Dtype::Bool].into_iter().chain(modular) {
        // Parties send one another shares of each.
        let len = REFRESHED.min(subject.longest) / subject.parties.div_ceil(5);
        let mut build = Builder::new();
        let x = build.input("P0", "x", kind, &[len], None).expect("it is sound");
        build.keep(x, "x", Uses::default()).expect("it is sound");
        let keeps = build.finish().expect("it keeps something");
        let mut build = Builder::new();
        let x = build.kept("x", kind, &[len], None).expect("it is sound");
        build.reveal(x, Recipient::All).expect("it is sound");
        let reads = build.finish().expect("it reveals something");
        if !subject.offers(&keeps) || !subject.offers(&reads) {
            continue;
        }
        tried += 1;
        let mut rng = Rng::new(len as u64);
        let inputs = generate::inputs(&keeps.input_types(), &mut rng);
        let kept = subject.case(subject.lowered(&keeps).plan, &inputs).run(&Draws::fixed(1));
        let old = shares(&kept.outcomes()[..subject.parties]);
        let fresh = refreshed(subject, &old, 3);
        for (one, other) in fresh.iter().flatten().zip(refreshed(subject, &old, 4).iter().flatten()) {
            let all = one.parts.iter().zip(&other.parts);
            assert!(all.into_iter().all(|(one, other)| one.bytes != other.bytes), "{kind}: the same twice");
        }
        let (mut case, declared, expected) = reading(subject, &reads, &inputs);
        case.kept.clone_from(&fresh);
        let run = case.run(&Draws::fixed(2));
        equality::compare(&case, &declared, &run.outcomes(), &expected, &format!("fresh shares of {kind}"));
        uniform(&old, &fresh, &kind.to_string());
    }
    assert!(tried > 0, "nothing was given fresh shares");
}

/// Fresh shares of each party's only value.
fn refreshed(subject: &Subject, old: &[Vec<Arc<KeptShare>>], seed: u64) -> Vec<Vec<Arc<KeptShare>>> {
    let links = World::new(subject.parties, 0).transports();
    let agreement =
        Agreement::among(party_names(subject.parties), subject.protocol.spec().name, "fresh".to_owned());
    let done = play(links, &agreement, &Draws::fixed(seed), |session| -> Result<KeptShare, Error> {
        let own = &old[session.me()][0];
        let fresh = subject.protocol.refresh(session, own)?;
        subject.protocol.same(session, own, &fresh)?;
        Ok(fresh)
    });
    done.into_iter().map(|share| vec![Arc::new(share.expect("nobody deviates"))]).collect()
}

/// Asserts of what was added to the parts that it is a sharing of zero, and that each combination is uniform by which old shares
/// of some parts and new ones of others could be put together, or what was added to one be found from what was to others. Of
/// many parts three at a time.
fn uniform(old: &[Vec<Arc<KeptShare>>], fresh: &[Vec<Arc<KeptShare>>], what: &str) {
    let shape = old[0][0].shape();
    let mut added: BTreeMap<u8, Buffer> = BTreeMap::new();
    for (old, fresh) in old.iter().zip(fresh) {
        assert!(old[0].key == fresh[0].key && old[0].parts.len() == fresh[0].parts.len());
        for (part, new) in old[0].parts.iter().zip(&fresh[0].parts) {
            assert!((part.number, part.other) == (new.number, new.other));
            let mut zero = fresh[0].part(part.number, shape).expect("a part that is there");
            vector::sub_assign(shape, &mut zero, &old[0].part(part.number, shape).expect("as before"));
            let known = added.entry(part.number).or_insert_with(|| zero.clone());
            assert!(known.bytes() == zero.bytes(), "{what}: two holders of a part have other ones");
        }
    }
    let added: Vec<Buffer> = added.into_values().collect();
    let coefficients: usize = if shape.domain == Domain::Bits { 2 } else { 3 };
    for combination in 0..coefficients.pow(added.len() as u32) {
        let of = |part: usize| (combination / coefficients.pow(part as u32) % coefficients) as i8;
        let taken = (0..added.len()).filter(|&part| of(part) != 0).count();
        if taken > 3 && taken < added.len() && added.len() > 5 {
            continue;
        }
        let mut sum = Buffer::new(added[0].len());
        for (part, zero) in added.iter().enumerate() {
            match of(part) {
                0 => {}
                1 => vector::add_assign(shape, &mut sum, zero),
                _ => vector::sub_assign(shape, &mut sum, zero),
            }
        }
        let sign = |part: usize| if of(part) == 2 { -1 } else { of(part) };
        let bytes = message_of(shape, &sum, &(0..shape.cols));
        let signs: Vec<i8> = (0..added.len()).map(sign).collect();
        if signs.iter().all(|one| *one == signs[0]) {
            assert!(bytes.iter().all(|&byte| byte == 0), "{what}: what is added isn't zero");
        } else if signs.iter().any(|one| (one - signs[0]).abs() == 1) {
            let (ones, bits): (u32, _) =
                (bytes.iter().map(|byte| byte.count_ones()).sum(), 8.0 * bytes.len() as f64);
            // Six standard deviations.
            let far = (f64::from(ones) - bits / 2.0).abs();
            assert!(far < 3.0 * bits.sqrt() + 8.0, "{what}: {signs:?} has {ones} ones of {bits} bits");
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_engine::KeptPart;
    use tacit_program::plan::Width;

    /// Shares of three components, two at each party, to which vectors are added.
    fn shares_with(added: [u64; 3], seed: u64) -> Vec<Vec<Arc<KeptShare>>> {
        let domain = Domain::Ring(Width::W64);
        let share = |me: usize| {
            let part = |number: usize| {
                let (mut rng, mut noise) = (Rng::new(number as u64), Rng::new(seed));
                let mut bytes = Vec::new();
                for _ in 0..REFRESHED {
                    let word = rng.word().wrapping_add(noise.word().wrapping_mul(added[number]));
                    bytes.extend_from_slice(&word.to_le_bytes());
                }
                KeptPart { number: number as u8, other: None, bytes: bytes.into() }
            };
            let parts = vec![part(me), part((me + 1) % 3)];
            vec![Arc::new(KeptShare { domain, cols: REFRESHED, key: None, parts })]
        };
        (0..3).map(share).collect()
    }

    #[test]
    #[should_panic(expected = "ones of")]
    fn shares_that_are_not_fresh_are_noticed() {
        let old = shares_with([0; 3], 9);
        uniform(&old, &old, "the same");
    }

    #[test]
    #[should_panic(expected = "ones of")]
    fn a_component_that_stays_is_noticed() {
        uniform(&shares_with([0; 3], 9), &shares_with([1, u64::MAX, 0], 9), "two of three");
    }
}
