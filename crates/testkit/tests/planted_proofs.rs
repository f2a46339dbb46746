//! Mistakes planted in proofs of ANDs: each lets an attacker through whom the right form notices, or lets honest runs
//! fail, or shows in a view. So the suite would notice them.

#[path = "planted_proofs/hiding.rs"]
mod hiding;
#[path = "planted_proofs/products.rs"]
mod products;
#[path = "../../replicated/tests/order/sorts.rs"]
mod sorts;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use tacit_engine::executor::{Unobserved, run_party};
use tacit_engine::{Clear, Error, Outcome, Protocol};
use tacit_kernel::Element;
use tacit_kernel::field::Fp61;
use tacit_net::{Mesh, Transport};
use tacit_program::{Builder, Capabilities, Dtype, NodeId, Recipient, lower};
use tacit_replicated::ReplicatedMalicious;
use tacit_replicated::planted::{Mistake, Shared, plant};
use tacit_replicated::step;
use tacit_session::Session;
use tacit_testkit::conformance::{Subject, attacks, circuits, views};
use tacit_testkit::sample::{BitRow, Flaw, Sample};
use tacit_testkit::{Altered, Case, Delivery, Draws, Fate, Interceptor, Run, with_parameters};

/// The protocol with mistakes in it.
fn mistaken(mistakes: &'static [Mistake]) -> &'static dyn Protocol {
    let small = with_parameters(&ReplicatedMalicious::SOUNDNESS_50, &[("batch", "64")]);
    Altered::beginning_with(small, move |_| plant(mistakes))
}

/// The same with points from hashes.
fn mistaken_and_hashed(mistakes: &'static [Mistake]) -> &'static dyn Protocol {
    Altered::beginning_with(&ReplicatedMalicious::FIAT_SHAMIR, move |_| plant(mistakes))
}

fn subject(mistakes: &'static [Mistake]) -> Subject {
    Subject { sorts: &sorts::SORTS, ..Subject::new(mistaken(mistakes), 3) }
}

mod that_let_attackers_through {
    use super::*;

    /// Whether the first wrong AND makes a wrong output hangs on the shares' randomness; that nobody notices doesn't.
    #[test]
    fn the_failure_of_a_proof_is_ignored() {
        let caught = std::panic::catch_unwind(|| attacks::every_and(&subject(&[Mistake::FailureIgnored]), 1));
        assert!(caught.is_err());
    }

    /// Whether an output is wrong or nobody notices hangs on the shares' randomness.
    #[test]
    #[should_panic(expected = "it gets through")]
    fn a_quarter_is_skipped() {
        attacks::random_ands(&subject(&[Mistake::QuarterSkipped]), 0..100);
    }

    /// Some of these ANDs matter to no output.
    #[test]
    #[should_panic(expected = "it gets through")]
    fn later_batches_are_dropped() {
        let mistakes = &[Mistake::LaterBatchesDropped, Mistake::NotCounted];
        attacks::random_ands(&subject(mistakes), 0..100);
    }

    #[test]
    #[should_panic(expected = "wrong outputs")]
    fn components_of_outputs_are_not_compared() {
        attacks::every_byte(&subject(&[Mistake::Shared(Shared::ComponentsNotCompared)]), 1);
    }

    /// A client gives `P_0` and `P_2` different components: they have different outputs.
    #[test]
    fn inputs_of_clients_are_not_compared() {
        let mut build = Builder::new();
        let given = build.input("alice", "x", Dtype::Bool, &[8], None).unwrap();
        for party in ["P0", "P2"] {
            build.reveal(given, Recipient::Role(party.to_owned())).unwrap();
        }
        let plan = lower(&build.finish().unwrap(), Capabilities::BITS).unwrap().plan;
        let run = |mistakes| {
            let case = Case::new(mistaken(mistakes), 3, plan.clone(), &[vec![1; 8]]);
            let interceptor = flip(3, 2, |part| part == step::INPUT);
            let mut run = case.run_in(&case.world().intercept(interceptor), &Draws::fixed(1));
            [0, 2].map(|party| run.endings[party].take().expect("it came").result)
        };
        assert!(run(&[]).iter().all(Result::is_err));
        let [first, third] = run(&[Mistake::GivenNotCompared]).map(Result::unwrap);
        assert_ne!(first.outputs[0], third.outputs[1]);
    }
}

mod that_let_honest_runs_fail {
    use super::*;

    #[test]
    #[should_panic(expected = "computed its ANDs right fails")]
    fn pass_and_fail_are_inverted() {
        circuits::without_rounds(&subject(&[Mistake::Inverted]), 0..3);
    }

    #[test]
    #[should_panic(expected = "computed its ANDs right fails")]
    fn folding_takes_a_wrong_mask() {
        circuits::without_rounds(&subject(&[Mistake::WrongMask]), 0..3);
    }

    #[test]
    #[should_panic(expected = "not all ANDs were proved")]
    fn later_batches_are_dropped_and_the_count_shows_it() {
        circuits::without_rounds(&subject(&[Mistake::LaterBatchesDropped]), 0..5);
    }

    /// What a path doesn't note is missing in the log, too: the count is compared with the plan's.
    #[test]
    fn ands_are_not_noted_and_the_count_shows_it() {
        let case = one_and(&[Mistake::AndsUnnoted], ["P0", "P1"], Recipient::All, [1, 1]);
        let run = case.run(&Draws::fixed(1));
        let errors = run.endings.iter().flatten().filter_map(|ending| ending.result.as_ref().err());
        let errors: Vec<String> = errors.map(ToString::to_string).collect();
        assert_eq!(errors.len(), 3);
        assert!(errors.iter().all(|error| error.contains("not all ANDs were proved")), "{errors:?}");
    }
}

/// `x & y`, in so many lanes, of a party each, for `to`.
fn one_and(mistakes: &'static [Mistake], owners: [&str; 2], to: Recipient, inputs: [u64; 2]) -> Case {
    let mut build = Builder::new();
    let [x, y]: [NodeId; 2] = [(owners[0], "x"), (owners[1], "y")]
        .map(|(owner, name)| build.input(owner, name, Dtype::Bool, &[1], None).unwrap());
    let both = build.and(x, y).unwrap();
    build.reveal(both, to).unwrap();
    let plan = lower(&build.finish().unwrap(), Capabilities::BITS).unwrap().plan;
    Case::new(mistaken(mistakes), 3, plan, &inputs.map(|bit| vec![bit]))
}

/// Flips the first bit of all messages on a link that have such a part.
fn flip(from: usize, to: usize, part: fn(u16) -> bool) -> Interceptor {
    Box::new(move |message| {
        let mut frame = message.frame.clone();
        if (message.from, message.to) == (from, to) && part(frame.at.part) {
            frame.payload[0] ^= 1;
        }
        Fate::Replace(vec![frame])
    })
}

fn is_and(part: u16) -> bool {
    (step::OPERATION..step::PROOF_BACK).contains(&part)
}

/// Nothing of an output leaves a party that doesn't know yet that all is right and that all others think so.
mod before_outputs {
    use super::*;

    /// Who sends anything of outputs.
    fn senders(mistakes: &'static [Mistake], mut interceptor: Interceptor) -> BTreeSet<usize> {
        let case = one_and(mistakes, ["P0", "P1"], Recipient::All, [1, 1]);
        let senders = Arc::new(Mutex::new(BTreeSet::new()));
        let noted = Arc::clone(&senders);
        let world = case.world().intercept(Box::new(move |message| {
            if matches!(message.frame.at.part, step::OUTPUT | step::OUTPUT_DIGEST) {
                noted.lock().unwrap().insert(message.from);
            }
            interceptor(message)
        }));
        case.run_in(&world, &Draws::fixed(1));
        let senders = senders.lock().unwrap();
        senders.clone()
    }

    /// `from` doesn't tell `to` that it accepts.
    fn without_acceptance(from: usize, to: usize) -> Interceptor {
        Box::new(move |message| {
            let lost = (message.from, message.to, message.frame.at.part) == (from, to, step::ACCEPT);
            if lost { Fate::Replace(vec![]) } else { Fate::Deliver }
        })
    }

    #[test]
    fn both_others_have_accepted() {
        for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            assert!(
                !senders(&[], without_acceptance(from, to)).contains(&to),
                "{to} doesn't wait for {from}"
            );
            for mistake in [&[Mistake::SilenceAccepts], &[Mistake::OutputsEarly]] {
                assert!(senders(mistake, without_acceptance(from, to)).contains(&to), "{mistake:?}");
            }
        }
    }

    #[test]
    fn both_verifiers_check() {
        let lone: &[Mistake] = &[Mistake::OnlyRightChecks, Mistake::SilenceAccepts];
        for prover in 0..3 {
            let left = (prover + 1) % 3;
            let attack = || flip(prover, left, is_and);
            assert!(!senders(&[], attack()).contains(&left));
            assert!(
                senders(lone, attack()).contains(&left),
                "what the left verifier takes for right goes out"
            );
        }
    }
}

/// Elements of a proof's message.
fn elements(bytes: &[u8]) -> Vec<Fp61> {
    let element = |bytes: &[u8; 8]| Fp61::from_u128(u64::from_le_bytes(*bytes).into());
    bytes.as_chunks().0.iter().map(element).collect()
}

/// The step in which verifiers show what they have, in proofs of one AND: these have three rounds.
const ENDS: u32 = 5;

/// What the verifiers of `prover` showed one another, as it came: shares of `G(r)`, and `p(r)` and `q(r)`.
fn ends(run: &Run, prover: usize) -> Option<[[Fp61; 2]; 2]> {
    let (left, right) = ((prover + 1) % 3, (prover + 2) % 3);
    let sent = |from, to| run.trace.link(from, to).find(|sent| sent.at.is_aside() && sent.at.batch == ENDS);
    let ends = [sent(left, right)?, sent(right, left)?].map(|sent| elements(&sent.payload));
    Some(ends.map(|end| [end[0], end[1]]))
}

/// `p(r) q(r) - G(r)` by that.
fn gap(run: &Run, prover: usize) -> Option<Fp61> {
    let [[ours, p], [theirs, q]] = ends(run, prover)?;
    Some(p.wrapping_mul(q).wrapping_sub(ours).wrapping_sub(theirs))
}

/// The inverse, by Fermat.
fn inverse(of: Fp61) -> Fp61 {
    let mut power = Fp61::from_u128(1);
    for bit in (0..61).rev() {
        power = power.wrapping_mul(power);
        if (Fp61::MODULUS - 2) >> bit & 1 == 1 {
            power = power.wrapping_mul(of);
        }
    }
    power
}

/// A prover who knows the points beforehand changes one of the last round's values by what makes up for a wrong AND.
mod a_prover_that_knows_the_points {
    use super::*;

    /// The step in which the last round's values are sent.
    const VALUES: u32 = 4;
    /// Which value is changed.
    const CHANGED: usize = 20;

    /// `P_0` sends `P_1` a wrong AND, and a value that is off by `by`. What the verifiers draw together is new in each
    /// run; all that `P_0` knows is the same.
    fn run(case: &Case, number: u64, by: Fp61) -> Run {
        let mut wrong = flip(0, 1, is_and);
        let interceptor: Interceptor = Box::new(move |message| {
            let at = message.frame.at;
            if (message.from, message.to) == (0, 2) && at.is_aside() && at.batch == VALUES {
                let mut frame = message.frame.clone();
                let value = &mut frame.payload[8 * CHANGED..8 * CHANGED + 8];
                let sum = elements(value)[0].wrapping_add(by).to_u128() as u64;
                value.copy_from_slice(&sum.to_le_bytes());
                return Fate::Replace(vec![frame]);
            }
            wrong(message)
        });
        let verifiers = Arc::new(|endpoint, call| matches!((endpoint, call), (1 | 2, 2)));
        case.run_in(&case.world().intercept(interceptor), &Draws::varying(1, number, verifiers))
    }

    /// The outcomes of an attack in another session than that from which the prover learned what to change.
    fn attack(mistakes: &'static [Mistake]) -> Result<Outcome, Error> {
        let case = one_and(mistakes, ["P0", "P0"], Recipient::Role("P1".to_owned()), [1, 1]);
        let [none, one] = [0, 1].map(|by| gap(&run(&case, 1, Fp61::from_u128(by)), 0).unwrap());
        assert_ne!(none.to_u128(), 0, "a wrong AND leaves a gap");
        let weight = inverse(none.wrapping_sub(one));
        let mut run = run(&case, 2, none.wrapping_mul(weight));
        run.endings[1].take().expect("it came").result
    }

    #[test]
    fn gets_through_if_points_are_constant_and_else_not() {
        assert!(attack(&[]).is_err());
        let outcome = attack(&[Mistake::ConstantChallenge]).unwrap();
        let output = outcome.outputs[0].as_ref().expect("it is for P1");
        assert_eq!(output.data().words::<u64>()[0] & 1, 0, "1 & 1 isn't 0");
    }
}

/// A proof of another session is worth nothing, though its prover repeats all that it drew there; it would be if the
/// session's identity and keys came from that prover alone.
#[test]
fn proofs_of_other_sessions() {
    let case = one_and(&[], ["P1", "P2"], Recipient::All, [1, 1]);
    let replayed = |varies: bool| {
        let draws = |run| Draws::varying(1, run, Arc::new(move |endpoint, _| varies && endpoint != 0));
        let earlier = case.run(&draws(0)).trace;
        let interceptor: Interceptor = Box::new(move |message| {
            let mut frame = message.frame.clone();
            if message.from == 0 && frame.at.is_aside() {
                let same = |sent: &&Delivery| sent.at == frame.at;
                let sent =
                    earlier.link(0, message.to).find(same).expect("both sessions have the same messages");
                frame.payload.clone_from(&sent.payload);
            }
            Fate::Replace(vec![frame])
        });
        case.run_in(&case.world().intercept(interceptor), &draws(1)).endings
    };
    let failed = |endings: Vec<Option<tacit_testkit::Ending>>| {
        endings.iter().flatten().skip(1).filter(|ending| ending.result.is_err()).count()
    };
    assert_eq!(failed(replayed(true)), 2);
    assert_eq!(failed(replayed(false)), 0);
}

/// Nor is one of an earlier plan of the same session.
mod proofs_of_other_plans {
    use super::*;

    /// Runs a plan twice in one session; how the second time ended.
    fn twice(case: &Case, interceptor: Interceptor) -> Vec<Result<Outcome, Error>> {
        let names: Vec<String> =
            (0..case.endpoints()).map(|endpoint| case.name(endpoint).to_owned()).collect();
        let part = |me: usize, transport| -> Result<Outcome, Error> {
            let mesh = Mesh::new(transport, me, names.clone(), case.limits.clone());
            let session = Session::establish(mesh, case.agreements[me].clone(), Draws::fixed(1).of(me))?;
            let roles = case.roles();
            let mut engine = case.protocol.engine(session, Arc::clone(&case.plan), roles.clone())?;
            let given = case.plan.inputs.iter().zip(&case.inputs);
            let inputs: Vec<Option<Clear>> = given
                .map(|(input, values)| (roles.endpoint(input.owner) == me).then(|| values.clone()))
                .collect();
            run_party(engine.as_mut(), &case.plan, &inputs, &mut Unobserved)?;
            engine.next(Arc::clone(&case.plan), roles.clone())?;
            let outcome = run_party(engine.as_mut(), &case.plan, &inputs, &mut Unobserved)?;
            engine.close()?;
            Ok(outcome)
        };
        let transports = case.world().intercept(interceptor).transports();
        std::thread::scope(|scope| {
            let start = |(me, transport): (usize, Option<Box<dyn Transport>>)| {
                let (transport, part) = (transport.expect("everybody comes"), &part);
                scope.spawn(move || part(me, transport))
            };
            let threads: Vec<_> = transports.into_iter().enumerate().map(start).collect();
            threads.into_iter().map(|thread| thread.join().expect("nobody panics")).collect()
        })
    }

    #[test]
    fn are_worth_nothing() {
        let case = one_and(&[], ["P1", "P2"], Recipient::All, [1, 1]);
        assert!(twice(&case, Box::new(|_| Fate::Deliver)).iter().all(Result::is_ok));
        for parts in
            [vec![step::PROOF_BACK], vec![step::PROOF_FORTH], vec![step::PROOF_BACK, step::PROOF_FORTH]]
        {
            let (replayed, mut earlier) = (parts.clone(), HashMap::new());
            let interceptor: Interceptor = Box::new(move |message| {
                let mut frame = message.frame.clone();
                if message.from == 0 && replayed.contains(&frame.at.part) {
                    let first = earlier.entry((frame.at.part, frame.at.batch)).or_insert(frame.payload);
                    frame.payload = first.clone();
                }
                Fate::Replace(vec![frame])
            });
            let endings = twice(&case, interceptor);
            assert!(endings[1..].iter().all(Result::is_err), "{parts:?}");
        }
    }
}

/// What a corrupt verifier receives of proofs of an AND of which it doesn't know all shares.
mod views_of_proofs {
    use super::*;

    /// What a corrupt party does to one of its messages in proofs.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Lie {
        None,
        /// As left verifier it gives the prover before it another anchor.
        Anchor,
        /// And the right verifier.
        Word,
        /// As right verifier it gives the prover after it another first seed.
        Seed,
        /// It shows the other verifiers something else.
        Ends,
    }

    impl Lie {
        fn interceptor(self, corrupt: usize) -> Interceptor {
            let (next, prev) = ((corrupt + 1) % 3, (corrupt + 2) % 3);
            Box::new(move |message| {
                let mut frame = message.frame.clone();
                let (to, batch) = (message.to, frame.at.batch);
                let lies = match self {
                    Self::None => false,
                    Self::Anchor => to == prev && batch == 0,
                    Self::Word => to == next && batch == 0,
                    Self::Seed => to == next && batch == 1,
                    Self::Ends => batch == ENDS,
                };
                if lies && message.from == corrupt && frame.at.is_aside() {
                    frame.payload[3] ^= 4;
                }
                Fate::Replace(vec![frame])
            })
        }
    }

    /// Runs in which all varies that the corrupt party doesn't know.
    fn runs(case: &Case, corrupt: usize, lie: Lie, count: usize) -> Vec<Run> {
        let hidden: Arc<dyn Fn(usize, usize) -> bool + Send + Sync> =
            Arc::new(views::hidden(case, corrupt, |_, _, _| false));
        let times = (0..count as u64).map(|run| {
            (case.world().intercept(lie.interceptor(corrupt)), Draws::varying(3, run, Arc::clone(&hidden)))
        });
        case.run_each(times).collect()
    }

    /// The ends of the 61 bits of every value, the first bits of every seed, and all of `p(r)` and `q(r)`. The shares of
    /// `G(r)` are what these leave.
    fn view(run: &Run, corrupt: usize) -> BitRow {
        let mut row = BitRow::default();
        for received in run.trace.received(corrupt).iter().filter(|received| received.at.is_aside()) {
            let (back, batch) = (received.at.part == step::PROOF_BACK, received.at.batch);
            if !back && batch == 0 {
                // The left verifier's word: the right one drew the seeds itself.
                continue;
            }
            let mut rest = received.payload.as_slice();
            if batch == ENDS {
                row.extend(&rest[8..], 61);
                continue;
            }
            if !back || batch == 0 {
                row.extend(rest, 8);
                rest = &rest[32..];
            }
            for value in elements(rest) {
                for bit in [0, 60] {
                    row.push(value.to_u128() >> bit & 1 == 1);
                }
            }
        }
        row
    }

    fn check(mistakes: &'static [Mistake], corrupt: usize, inputs: [u64; 2], lie: Lie) -> Result<(), Flaw> {
        let case = one_and(mistakes, ["P0", "P1"], Recipient::All, inputs);
        let bits = view(&runs(&case, corrupt, lie, 1)[0], corrupt).len();
        let mut sample = Sample::default();
        for run in runs(&case, corrupt, lie, Sample::runs_for(bits, 0)) {
            sample.push(view(&run, corrupt));
            let shown = [(corrupt + 1) % 3, (corrupt + 2) % 3].map(|prover| gap(&run, prover));
            match lie {
                Lie::None => assert!(shown.iter().all(|gap| gap.is_some_and(|gap| gap.to_u128() == 0))),
                // Whoever is given another point shows nothing, and so nobody else does.
                Lie::Anchor | Lie::Word | Lie::Seed => assert_eq!(shown, [None, None]),
                Lie::Ends => {}
            }
        }
        sample.check(&[])
    }

    const INPUTS: [[u64; 2]; 2] = [[0, 1], [1, 1]];
    const LIES: [Lie; 4] = [Lie::Anchor, Lie::Word, Lie::Seed, Lie::Ends];

    #[test]
    fn are_uniform() {
        for corrupt in 0..3 {
            let inputs = INPUTS[corrupt % 2];
            assert_eq!(check(&[], corrupt, inputs, Lie::None), Ok(()), "P{corrupt}, {inputs:?}");
        }
    }

    #[test]
    fn are_uniform_if_the_verifier_lies() {
        for (corrupt, lie) in [1, 2, 0, 1].into_iter().zip(LIES) {
            assert_eq!(check(&[], corrupt, [1, 0], lie), Ok(()), "P{corrupt}, {lie:?}");
        }
    }

    #[test]
    #[ignore = "takes a minute; `make test-long` runs it"]
    fn are_uniform_for_all() {
        for corrupt in 0..3 {
            for inputs in INPUTS {
                assert_eq!(check(&[], corrupt, inputs, Lie::None), Ok(()), "P{corrupt}, {inputs:?}");
                assert_eq!(check_hashed(&[], corrupt, inputs), Ok(()), "P{corrupt}, {inputs:?}");
            }
            for lie in LIES {
                assert_eq!(check(&[], corrupt, [1, 0], lie), Ok(()), "P{corrupt}, {lie:?}");
            }
        }
    }

    /// The same of proofs with points from hashes: all digests' first bits, both ends of every part of a value, and
    /// `p(r)` and `q(r)`.
    fn view_of_hashed(run: &Run, corrupt: usize) -> BitRow {
        let mut row = BitRow::default();
        for received in run.trace.received(corrupt).iter().filter(|received| received.at.is_aside()) {
            let (back, first) = (received.at.part == step::PROOF_BACK, received.at.batch == 0);
            let (digest, rest) = received.payload.split_at(32);
            match (first, back) {
                (true, true) => {
                    row.extend(digest, 8);
                    for part in elements(rest) {
                        for bit in [0, 60] {
                            row.push(part.to_u128() >> bit & 1 == 1);
                        }
                    }
                }
                (true, false) => received.payload.chunks(32).for_each(|digest| row.extend(digest, 8)),
                // The hash of everything, and the share of G(r), are what the rest leaves.
                (false, _) => rest[16..].chunks(8).for_each(|part| row.extend(part, 61)),
            }
        }
        row
    }

    fn check_hashed(mistakes: &'static [Mistake], corrupt: usize, inputs: [u64; 2]) -> Result<(), Flaw> {
        let mut case = one_and(&[], ["P0", "P1"], Recipient::All, inputs);
        case.protocol = mistaken_and_hashed(mistakes);
        let bits = view_of_hashed(&runs(&case, corrupt, Lie::None, 1)[0], corrupt).len();
        let mut sample = Sample::default();
        for run in runs(&case, corrupt, Lie::None, Sample::runs_for(bits, 0)) {
            run.outcomes();
            sample.push(view_of_hashed(&run, corrupt));
        }
        sample.check(&[])
    }

    #[test]
    fn are_uniform_with_points_from_hashes() {
        for corrupt in 0..3 {
            let inputs = INPUTS[corrupt % 2];
            assert_eq!(check_hashed(&[], corrupt, inputs), Ok(()), "P{corrupt}, {inputs:?}");
        }
    }

    #[test]
    fn show_that_the_last_round_is_not_masked() {
        for corrupt in 0..3 {
            let flaw = check(&[Mistake::Unmasked], corrupt, [1, 1], Lie::None);
            assert!(
                matches!(flaw, Err(Flaw::Dependent { .. } | Flaw::Biased { .. })),
                "P{corrupt}: {flaw:?}"
            );
        }
    }

    /// Another point than the other verifier's tells a verifier the secret: with `p(r)`, which is masked, the gap grows
    /// by a factor that it can compute; what remains is a function of the bits that it doesn't know.
    #[test]
    fn show_that_a_prover_does_not_check_its_seeds() {
        let (prover, corrupt) = (0, 2);
        let remains = |secret: u64| {
            let case = one_and(&[Mistake::SeedsUnchecked], ["P0", "P1"], Recipient::All, [secret, 1]);
            let mut points = Vec::new();
            for run in runs(&case, corrupt, Lie::Seed, 32) {
                // Of those runs in which it was given the same share of the secret.
                let input = run.trace.link(prover, corrupt).find(|sent| sent.at.part == step::INPUT).unwrap();
                if input.payload[0] == 0 {
                    points.push((ends(&run, prover).unwrap()[0][1], gap(&run, prover).unwrap()));
                }
            }
            let rise = points[0].1.wrapping_sub(points[1].1);
            let factor = rise.wrapping_mul(inverse(points[0].0.wrapping_sub(points[1].0)));
            let remains = points.iter().map(|(p, gap)| gap.wrapping_sub(factor.wrapping_mul(*p)).to_u128());
            assert!(points.len() > 5, "a share is 0 in about half of all runs");
            (factor.to_u128(), remains.collect::<HashSet<u128>>())
        };
        let ((factor, zero), (same, one)) = (remains(0), remains(1));
        assert_eq!((factor, zero.len(), one.len()), (same, 1, 1));
        assert_ne!(zero, one);
    }
}
