//! Figures of `astra-malicious`, and instances, also with fair outputs, that are prepared one after another and checked together.

use std::collections::BTreeMap;
use std::sync::Arc;

use tacit_astra::Astra;
use tacit_astra::step;
use tacit_circuit::{Layered, catalogue};
use tacit_engine::executor::{Unobserved, run_offline, run_party};
use tacit_engine::{Clear, Error, Material, Participants, Protocol};
use tacit_net::Mesh;
use tacit_program::cost::{Phase, Step};
use tacit_program::plan::{Builder, Domain, MatrixShape, OpKind, Operand, Plan, Rows, To, Width};
use tacit_session::Session;
use tacit_testkit::{Case, Draws, Fate, Interceptor, World};

const PROTOCOL: Astra = Astra::MALICIOUS;

/// Bits of all stages on each link, offline and online.
fn bits(plan: &Plan, participants: &Participants) -> [BTreeMap<(usize, usize), u64>; 2] {
    let mut sums = [BTreeMap::new(), BTreeMap::new()];
    for stage in plan.levels.iter().flat_map(|level| &level.stages) {
        let op = plan.op(stage.op);
        for layer in op.kind.layers(stage.stage) {
            for (phase, flow) in PROTOCOL.price(plan, participants, Step::Stage { op, stage: layer }) {
                let sums = &mut sums[usize::from(phase == Phase::Online)];
                *sums.entry((flow.from, flow.to)).or_default() += flow.bits;
            }
        }
    }
    sums
}

/// Bytes that the checks send on all links in a phase.
fn checked(plan: &Plan, case: &Case, phase: &str) -> u64 {
    let mut checks = PROTOCOL.checks(plan, case.roles());
    checks.extend(PROTOCOL.checks_together(plan, case.roles(), 1, 1));
    let flows = checks.flows.into_iter();
    flows.filter(|(of, _)| of.name() == phase).map(|(_, flow)| flow.bytes()).sum()
}

/// `len` products of numbers of 64 bits, one by one or added up.
fn products(len: usize, summed: bool) -> Case {
    let mut builder = Builder::new();
    let [a, b] = [(), ()].map(|()| builder.ring(Width::W64, len));
    let c = builder.ring(Width::W64, if summed { 1 } else { len });
    for (owner, reg) in [("P0", a), ("P1", b)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    let shape = MatrixShape { batch: 1, m: 1, k: len, n: 1 };
    let kind = if summed { OpKind::MatMul { a, b, shape, dst: c } } else { OpKind::Mul { a, b, dst: c } };
    builder.interact(kind);
    builder.output(c, To::All);
    let values = |seed: u64| (0..len as u64).map(|at| at.wrapping_mul(seed)).collect();
    Case::new(&PROTOCOL, 3, builder.finish(), &[values(0x9e37_79b9_7f4a_7c15), values(3)])
}

#[test]
fn an_aes_sends_four_bits_an_and_online_and_one_of_21_ahead() {
    let circuit = Arc::new(Layered::new(&catalogue::named("aes128").expect("it is there")));
    assert_eq!(circuit.ands(), 6400);
    let mut builder = Builder::new();
    let [key, block, dst] = [(); 3].map(|()| builder.bits(1, 128));
    let inputs = [key, block].map(Operand::Each).to_vec();
    builder.interact(OpKind::Circuit { circuit, inputs, dst });
    let (plan, parties) = (builder.finish(), ["P0", "P1", "P2"].map(String::from));
    let participants = Participants::new(&plan, &parties, &[]).unwrap();
    let [ahead, online] = bits(&plan, &participants);
    assert_eq!(ahead.into_iter().collect::<Vec<_>>(), [((0, 2), 6400)]);
    assert_eq!(online.into_iter().collect::<Vec<_>>(), [((1, 0), 12_800), ((1, 2), 6400), ((2, 1), 6400)]);
}

#[test]
fn a_product_sends_four_elements_online_and_21_ahead() {
    let len = 1 << 20;
    let case = products(len, false);
    let [ahead, online] = bits(&case.plan, case.roles());
    let all = 64 * len as u64;
    assert_eq!(online.into_iter().collect::<Vec<_>>(), [((1, 0), 2 * all), ((1, 2), all), ((2, 1), all)]);
    assert_eq!(ahead.into_iter().collect::<Vec<_>>(), [((0, 2), all)]);
    let more = checked(&case.plan, &case, "offline") - 20 * all / 8;
    // What a batch has besides: two triples, digests, the coin and verdicts.
    assert!(more < 2048, "{more} bytes");
}

#[test]
fn a_dot_product_shows_its_entries_and_sends_two_elements_more() {
    let case = products(784, true);
    let [ahead, online] = bits(&case.plan, case.roles());
    assert_eq!(online.into_iter().collect::<Vec<_>>(), [((1, 0), 2 * 784 * 64), ((1, 2), 64), ((2, 1), 64)]);
    assert_eq!(ahead.into_iter().collect::<Vec<_>>(), [((0, 2), 784 * 64)]);
    let outcome = case.run_in_the_clear().unwrap();
    assert!(case.run(&Draws::fixed(1)).outcomes().iter().all(|run| run.outputs == outcome.outputs));
}

/// Products of numbers, a product of matrices and ANDs.
fn mixed() -> Case {
    let mut builder = Builder::new();
    let [a, b, c] = [(); 3].map(|()| builder.ring(Width::W32, 70));
    let d = builder.ring(Width::W32, 49);
    let [p, q] = [(); 2].map(|()| builder.bits(1, 70));
    for (owner, reg) in [("P0", a), ("P2", b), ("P1", p)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    builder.interact(OpKind::Mul { a, b, dst: c });
    builder.interact(OpKind::MatMul { a: c, b, shape: MatrixShape { batch: 1, m: 7, k: 10, n: 7 }, dst: d });
    builder.interact(OpKind::And { a: Rows::one(p, 0), b: Rows::one(p, 0), dst: Rows::one(q, 0) });
    builder.output(d, To::All);
    builder.output(q, To::All);
    let numbers = |seed: u64| (0..70).map(|at| at * at * seed).collect();
    let bits = (0..70).map(|at| (at % 3) & 1).collect();
    Case::new(&PROTOCOL, 3, builder.finish(), &[numbers(77), numbers(40_503), bits])
}

/// Every party prepares some instances, and then runs them all in the same session.
fn prepare_and_run(case: &Case, count: u64, world: &World) -> Vec<Result<(), Error>> {
    let expected = case.run_in_the_clear().unwrap().outputs;
    let draws = Draws::fixed(1);
    let party = |me: usize, transport| -> Result<(), Error> {
        let names = (0..3).map(|party| format!("P{party}")).collect();
        let mesh = Mesh::new(transport, me, names, case.limits.clone());
        let session = Session::establish(mesh, case.agreements[me].clone(), draws.of(me))?;
        let mut engine = case.protocol.engine(session, case.plan.clone(), case.roles().clone())?;
        let mut kept: Vec<Material> = Vec::new();
        let mut keep = |material| {
            kept.push(material);
            Ok(())
        };
        run_offline(engine.as_mut(), &case.plan, count, &mut keep, &mut Unobserved)?;
        assert_eq!(kept.len() as u64, count);
        let owned = |(input, values): (&tacit_program::plan::InputOp, &Clear)| {
            (case.roles().endpoint(input.owner) == me).then(|| values.clone())
        };
        let inputs: Vec<Option<Clear>> = case.plan.inputs.iter().zip(&case.inputs).map(owned).collect();
        for material in kept {
            engine.next(case.plan.clone(), case.roles().clone())?;
            engine.load(material)?;
            let outcome = run_party(engine.as_mut(), &case.plan, &inputs, &mut Unobserved)?;
            assert_eq!(outcome.outputs, expected);
        }
        engine.close()
    };
    let transports = world.transports();
    std::thread::scope(|scope| {
        let parties: Vec<_> = transports
            .into_iter()
            .enumerate()
            .map(|(me, transport)| scope.spawn(move || transport.map_or(Ok(()), |links| party(me, links))))
            .collect();
        parties.into_iter().map(|party| party.join().expect("no party panics")).collect()
    })
}

#[test]
fn instances_are_checked_together_and_used_one_by_one() {
    let (case, world) = (mixed(), World::new(3, 0));
    for result in prepare_and_run(&case, 5, &world) {
        result.unwrap();
    }
    let trace = world.trace();
    let verdicts = trace.link(0, 1).filter(|delivery| delivery.at.part == step::CHECK_ACCEPT).count();
    assert_eq!(verdicts, 1, "one check for all");
}

/// MSB extractions, and that of what is chosen by one: two batches of garbled circuits, of more than a job.
fn garbled() -> Case {
    let mut builder = Builder::new();
    let (a, b) = (builder.ring(Width::W16, 600), builder.ring(Width::W16, 600));
    let [below, square_below] = [(), ()].map(|()| builder.bits(1, 600));
    let owner = builder.role("P1");
    builder.input(owner, a);
    builder.interact(OpKind::Msb { a, dst: below });
    builder.interact(OpKind::Mul { a, b: a, dst: b });
    builder.interact(OpKind::Msb { a: b, dst: square_below });
    builder.output(below, To::All);
    builder.output(square_below, To::All);
    let numbers = (0..600_u64).map(|at| at.wrapping_mul(0x9e37_79b9) & 0xffff).collect();
    Case::new(&Astra::MALICIOUS_GARBLED, 3, builder.finish(), &[numbers])
}

#[test]
fn garbled_circuits_of_instances_are_compared_together() {
    let (case, world) = (garbled(), World::new(3, 0));
    for result in prepare_and_run(&case, 3, &world) {
        result.unwrap();
    }
    let trace = world.trace();
    let sent = |from, to, part| trace.link(from, to).filter(|delivery| delivery.at.part == part).count();
    assert_eq!([(0, 2), (1, 2), (2, 0)].map(|(from, to)| sent(from, to, step::GARBLED_DIGEST)), [0, 1, 0]);
    assert_eq!([(0, 2), (1, 2), (2, 0)].map(|(from, to)| sent(from, to, step::GARBLED_ACCEPT)), [1; 3]);
    assert_eq!(sent(2, 1, step::TAGS), 3, "one sum for each run");
}

#[test]
fn nothing_leaves_if_a_garbled_circuit_of_an_instance_is_wrong() {
    let case = garbled();
    for nth in [0, 1, 40, 90, 110] {
        let mut seen = 0;
        let interceptor: Interceptor = Box::new(move |message| {
            let part = message.frame.at.part;
            let garbled = step::is_offline(part) && part < step::CHECK_PRODUCTS && message.to == 2;
            seen += usize::from(garbled);
            if !garbled || seen != nth + 1 {
                return Fate::Deliver;
            }
            let mut frame = message.frame.clone();
            *frame.payload.last_mut().expect("it has a byte") ^= 1;
            Fate::Replace(vec![frame])
        });
        let results = prepare_and_run(&case, 3, &World::new(3, 0).intercept(interceptor));
        assert!(results.iter().all(Result::is_err), "message {nth} was changed");
    }
}

#[test]
fn instances_with_fair_outputs_are_used_one_by_one() {
    let (mut case, world) = (mixed(), World::new(3, 0));
    case.protocol = &Astra::FAIR;
    for result in prepare_and_run(&case, 3, &world) {
        result.unwrap();
    }
    let mut case = garbled();
    case.protocol = &Astra::FAIR_GARBLED;
    for result in prepare_and_run(&case, 2, &World::new(3, 0)) {
        result.unwrap();
    }
}

#[test]
fn nothing_leaves_if_one_product_of_an_instance_is_wrong() {
    let case = mixed();
    for nth in 0..15 {
        let mut seen = 0;
        let interceptor: Interceptor = Box::new(move |message| {
            let part = message.frame.at.part;
            let ahead = step::is_offline(part) && part < step::CHECK_PRODUCTS;
            seen += usize::from(ahead);
            if !ahead || seen != nth + 1 {
                return Fate::Deliver;
            }
            let mut frame = message.frame.clone();
            frame.payload[0] ^= 1;
            Fate::Replace(vec![frame])
        });
        let results = prepare_and_run(&case, 5, &World::new(3, 0).intercept(interceptor));
        assert!(results.iter().all(Result::is_err), "share {nth} was changed");
    }
}

/// What is delivered of some parts if the first message of a part from a role to another is changed.
fn delivered(first: u16, link: (usize, usize), parts: &[u16]) -> usize {
    let case = products(3, false);
    let mut done = false;
    let interceptor: Interceptor = Box::new(move |message| {
        if done || message.frame.at.part != first || (message.from, message.to) != link {
            return Fate::Deliver;
        }
        done = true;
        let mut frame = message.frame.clone();
        frame.payload[0] ^= 1;
        Fate::Replace(vec![frame])
    });
    let run = case.run_in(&case.world().intercept(interceptor), &Draws::fixed(1));
    assert!(run.endings.iter().flatten().all(|ending| ending.result.is_err()));
    run.trace.deliveries().iter().filter(|delivery| parts.contains(&delivery.at.part)).count()
}

#[test]
fn the_third_party_keeps_its_digests_if_masked_values_differ() {
    let [computed, shown] = [step::COMPUTED_DIGEST, step::SHOWN_DIGEST];
    assert_eq!(delivered(step::OPERATION + step::MASKED, (1, 0), &[computed]), 0);
    assert_eq!(delivered(shown, (2, 0), &[computed]), 0);
}

#[test]
fn nothing_of_an_output_leaves_before_all_verdicts() {
    let outputs = [step::OUTPUT, step::OUTPUT_DIGEST, step::OUTPUT_KEY];
    for (part, link) in [
        (step::OPERATION, (1, 2)),
        (step::OPERATION, (2, 1)),
        (step::OPERATION + step::MASKED, (1, 0)),
        (step::COMPUTED_DIGEST, (0, 1)),
        (step::COMPUTED_DIGEST, (0, 2)),
    ] {
        assert_eq!(delivered(part, link, &outputs), 0, "part {part} on {link:?}");
    }
}

#[test]
fn matrices_without_entries_are_refused() {
    let mut builder = Builder::new();
    let [a, b] = [(), ()].map(|()| builder.ring(Width::W64, 0));
    let c = builder.row(Domain::Ring(Width::W64), 4);
    builder.interact(OpKind::MatMul { a, b, shape: MatrixShape { batch: 1, m: 2, k: 0, n: 2 }, dst: c });
    builder.output(c, To::All);
    let run = Case::new(&PROTOCOL, 3, builder.finish(), &[]).run(&Draws::fixed(1));
    assert!(run.endings.iter().flatten().all(|ending| ending.result.is_err()));
}
