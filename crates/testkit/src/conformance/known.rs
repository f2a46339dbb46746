//! What all parties hold before a run and no program holds: public inputs, as operands of circuits and of other operations.
//!
//! In circuits they meet secrets in XOR, AND and NOT, one for all instances and one for each, and some outputs are made of them
//! alone; beside these, in products, sums and comparisons of numbers. A party that holds another value than the rest ends the run
//! before anything is shared, and so does one that tells two others what each wants to hear.

use std::sync::Arc;

use tacit_circuit::{Builder, Circuit, Wire};
use tacit_engine::Clear;
use tacit_net::At;
use tacit_program::plan::OpKind;
use tacit_program::{Dtype, Feature, OutputType, Program, Range, Recipient, Value, reference};
use tacit_session::step;

use super::views::Conduct;
use super::{Subject, cost, equality, robust, views};
use crate::{Case, Draws, Fate, Interceptor, Rng, Run, generate};

/// Bits of each operand.
const BITS: usize = 3;

/// Instances around words, blocks of randomness and more than one word of public bits.
const INSTANCES: [usize; 6] = [1, 2, 64, 65, 129, 513];

/// ANDs of secrets in [`mixed`]; those with public bits are not paid for.
const ANDS: u64 = 2 * BITS as u64;

/// Right results and exact costs, whoever gives the secrets.
///
/// # Panics
/// At the first difference.
pub fn results_and_costs(subject: &Subject) {
    let (mut rng, mut cut) = (Rng::new(11), subject.cut());
    let last = subject.last();
    for instances in INSTANCES {
        let instances = instances.min(subject.longest);
        for owners in [["P0", "P1"], ["P1", last.as_str()], [last.as_str(), "P0"], ["alice", "P1"]] {
            let to = [Recipient::All, Recipient::Role("P1".into()), Recipient::Role("bob".into())];
            let program = program(owners, &to, instances);
            if !offered(subject, &program) || !cut.takes() {
                continue;
            }
            let what = format!("public inputs and secrets of {owners:?} on {instances} instances");
            let case = right(subject, &program, &mut rng, &what);
            let ands = case.plan.ops.iter().map(|op| match &op.kind {
                OpKind::Circuit { circuit, .. } => circuit.ands(),
                _ => 0,
            });
            // In a field gates are products.
            if subject.protocol.capabilities().offers(Feature::Circuit) {
                assert_eq!(ands.sum::<u64>(), ANDS, "{what}: an AND with a public bit is local");
            }
            cost::check_case(case, &what);
            let numbers = numbers(owners[0], &to, instances);
            assert!(offered(subject, &numbers));
            let what = format!("public numbers and {instances} of {}", owners[0]);
            cost::check_case(right(subject, &numbers, &mut rng, &what), &what);
        }
    }
}

/// A run of a program whose outputs are right.
fn right(subject: &Subject, program: &Program, rng: &mut Rng, what: &str) -> Case {
    let (case, declared, expected) = case(subject, program, rng);
    let run = case.run(&Draws::fixed(rng.word()));
    equality::compare(&case, &declared, &run.outcomes(), &expected, what);
    case
}

/// What corrupt parties see is uniform.
///
/// # Panics
/// If a view tells something.
pub fn views(subject: &Subject) {
    let (mut rng, mut cut) = (Rng::new(12), subject.cut());
    let among_all = (["P1", "alice"], Recipient::All, &[Conduct::Honest][..]);
    let deviating = &[Conduct::FixedFlips, Conduct::RandomFlips][..];
    let for_clients = (["alice", "bob"], Recipient::Role("carol".into()), deviating);
    for (owners, to, conducts) in [among_all, for_clients] {
        let program = program(owners, &[to.clone(), to.clone(), to], 1);
        if !offered(subject, &program) {
            continue;
        }
        let (case, ..) = case(subject, &program, &mut rng);
        for (conduct, corrupt) in conducts
            .iter()
            .flat_map(|conduct| subject.coalitions().into_iter().map(move |all| (conduct, all)))
        {
            if cut.takes()
                && let Err(leak) = views::check(subject, &case, &corrupt, *conduct)
            {
                panic!("public inputs: {corrupt:?} ({conduct:?}, secrets of {owners:?}): {leak}");
            }
        }
    }
}

/// Every message is withheld in turn, and its sender dies before each: nobody hangs or has a wrong output.
///
/// # Panics
/// If an endpoint doesn't end as it should.
pub fn withheld_messages(subject: &Subject) {
    let to = [Recipient::All, Recipient::Role("P1".into()), Recipient::Role("bob".into())];
    let program = program(["P0", "alice"], &to, 2);
    if offered(subject, &program) {
        robust::withheld(subject, case(subject, &program, &mut Rng::new(13)).0);
    }
}

/// A party that holds another value of one public input than the rest, each in turn; and where there are three, one that says to
/// another, who holds another value, that it holds the same. Nothing is shared.
///
/// # Panics
/// If one honest party doesn't end with an error that says so, or has sent anything but for the comparison.
pub fn other_values(subject: &Subject) {
    let program = program(["P0", "P1"], &[Recipient::All, Recipient::All, Recipient::All], 2);
    if !offered(subject, &program) {
        return;
    }
    let (case, ..) = case(subject, &program, &mut Rng::new(14));
    for index in 0..case.public_inputs.len() {
        let other = changed(&case.public_inputs, index);
        for party in (0..subject.parties).step_by(subject.one_in.div_ceil(100)) {
            let mut alone = case.clone();
            alone.own_public_inputs.insert(party, other.clone());
            refused(&alone, &alone.run(&Draws::fixed(1)), None);
            if subject.parties > 2 {
                let liar = (party + 1) % subject.parties;
                let lie = told(&case, &other, [liar, party]);
                refused(&alone, &alone.run_in(&alone.world().intercept(lie), &Draws::fixed(1)), Some(liar));
            }
        }
    }
}

/// Says to a party, instead of what the liar holds, what it would say if it held these values.
fn told(case: &Case, values: &[Clear], [liar, to]: [usize; 2]) -> Interceptor {
    let mut same = case.clone();
    same.public_inputs = values.to_vec();
    let run = same.run(&Draws::fixed(1));
    let is_first = |at: At| at.part == step::ECHO && at.op == 0 && at.batch == 0;
    let mut told = run.trace.link(liar, to).filter(|delivery| is_first(delivery.at));
    let payload = told.next().expect("public inputs are compared").payload.clone();
    Box::new(move |message| {
        let mut frame = message.frame.clone();
        if (message.from, message.to) == (liar, to) && is_first(frame.at) {
            frame.payload.clone_from(&payload);
        }
        Fate::Replace(vec![frame])
    })
}

/// Whether every party but one ended because of public inputs, and none of them has sent anything for an input or after it.
fn refused(case: &Case, run: &Run, liar: Option<usize>) {
    let honest = |party: &usize| *party < case.parties() && Some(*party) != liar;
    for party in (0..case.parties()).filter(honest) {
        let ending = run.endings[party].as_ref().expect("it came");
        let error = ending.result.as_ref().expect_err("somebody holds another public input").to_string();
        assert!(error.contains("public inputs"), "P{party}: {error}");
    }
    for delivery in run.trace.deliveries().iter().filter(|delivery| honest(&delivery.from)) {
        assert!(delivery.at.part < step::INPUT, "P{} has sent {}", delivery.from, delivery.at);
    }
}

/// The same values, with the first bit of one of them changed.
fn changed(values: &[Clear], index: usize) -> Vec<Clear> {
    let mut values = values.to_vec();
    let mut words = values[index].to_words();
    words[0] ^= 1;
    values[index] = Clear::from_words(values[index].domain(), &words);
    values
}

/// Whether a protocol runs it.
///
/// # Panics
/// If it has public inputs, and doesn't.
fn offered(subject: &Subject, program: &Program) -> bool {
    let has_them = subject.protocol.capabilities().offers(Feature::PublicInputs);
    let is_offered = subject.offers(program);
    // What is fair reveals nothing to clients; such programs are turned into ones for parties.
    let name = subject.protocol.spec().name;
    assert_eq!(is_offered, has_them, "{name} runs programs with public inputs if it offers them");
    is_offered
}

/// Two circuits: one of a secret for each instance, one for all, and public bits of both sorts, and one of public bits alone.
fn program(owners: [&str; 2], to: &[Recipient; 3], instances: usize) -> Program {
    let mut build = tacit_program::Builder::new();
    let (each, same) = ([instances, BITS], [BITS]);
    let secrets = [(owners[0], &each[..]), (owners[1], &same[..])];
    let [x, y] = secrets.map(|(owner, shape)| {
        let name = format!("{} bits", shape.len());
        build.input(owner, &name, Dtype::Bool, shape, None).expect("an input of bits")
    });
    let [known_each, known_same] = [("each", &each[..]), ("same", &same[..])]
        .map(|(name, shape)| build.known(name, Dtype::Bool, shape, None).expect("all parties know bits"));
    let operands = [x, y, known_each, known_same];
    let outputs = build.circuit(&mixed(), &operands).expect("the operands fit");
    let public = build.circuit(&complement(), &[known_each]).expect("the operand fits");
    for (output, to) in outputs.into_iter().chain(public).zip(to.iter().cycle()) {
        build.reveal(output, to.clone()).expect("the node is there");
    }
    build.finish().expect("something is revealed")
}

/// Secret numbers by public ones, more than a public one, and beside public bits.
fn numbers(owner: &str, to: &[Recipient; 3], count: usize) -> Program {
    let mut build = tacit_program::Builder::new();
    let small = Range::new(-100, 100);
    let x = build.input(owner, "x", Dtype::Int, &[count], small).expect("an input of numbers");
    let [factors, least] = [("factors", vec![count]), ("least", vec![])]
        .map(|(name, shape)| build.known(name, Dtype::Int, &shape, small).expect("all parties know numbers"));
    let mask = build.known("mask", Dtype::Bool, &[count], None).expect("all parties know bits");
    let product = build.mul(x, factors).expect("small numbers");
    let sum = build.add(product, least).expect("small numbers");
    let above = build.less(least, x).expect("numbers");
    let both = build.and(above, mask).expect("bools");
    for (output, to) in [product, sum, both].into_iter().zip(to) {
        build.reveal(output, to.clone()).expect("the node is there");
    }
    build.finish().expect("something is revealed")
}

/// XOR, AND and NOT of public bits with secrets, before an AND of secrets and after it, and what is public alone.
fn mixed() -> Arc<Circuit> {
    let mut build = Builder::new();
    let [x, y, each, same] = [(); 4].map(|()| build.input(BITS as u32));
    let mut outputs: [Vec<Wire>; 5] = std::array::from_fn(|_| Vec::new());
    for bit in 0..BITS {
        let (x, y, each, same) = (x[bit], y[bit], each[bit], same[bit]);
        let sum = build.xor(x, each);
        let masked = build.and(y, same);
        let masked_not = build.not(masked);
        let both = build.and(sum, y);
        let chosen = build.and(both, each);
        let turned = build.xor(chosen, same);
        let again = build.and(turned, x);
        let not_same = build.not(same);
        let public = build.and(each, not_same);
        for (output, wire) in outputs.iter_mut().zip([sum, masked_not, turned, again, public]) {
            output.push(wire);
        }
    }
    Arc::new(build.finish(outputs.to_vec()))
}

fn complement() -> Arc<Circuit> {
    let mut build = Builder::new();
    let bits = build.input(BITS as u32);
    let output = bits.into_iter().map(|bit| build.not(bit)).collect();
    Arc::new(build.finish(vec![output]))
}

/// A run on random inputs, secret and public, with what its outputs are.
fn case(subject: &Subject, program: &Program, rng: &mut Rng) -> (Case, Vec<OutputType>, Vec<Value>) {
    let given = generate::inputs(&program.given(), rng);
    let expected = reference::run(program, &given).expect("values are in their ranges");
    let lowered = subject.lowered(program);
    let (inputs, known) = given.split_at(program.inputs().len());
    let mut case = subject.case(lowered.plan, inputs);
    let declared = case.plan.public_inputs.iter().zip(known);
    case.public_inputs = declared
        .map(|(input, words)| Clear::from_elements(case.plan.register(input.reg).domain, input.form, words))
        .collect();
    (case, lowered.outputs, expected)
}
