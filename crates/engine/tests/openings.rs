//! Public registers, openings, random elements and public inputs, by the executor and the engine in the clear.

use std::sync::Arc;
use tacit_engine::clear::ClearEngine;
use tacit_engine::executor::{Unobserved, run_offline, run_party};
use tacit_engine::{Clear, Engine, Error, Job, Participants, offers_all};
use tacit_program::plan::{
    Builder, Domain, Form, Local, Modulus, OpKind, Opening, Plan, Public, Reg, To, Width,
};
use tacit_program::{
    Capabilities, Dtype, Feature, Field, NodeId, Program, ProgramError, Range, Recipient, decode_raw, lower,
    reference,
};
use tacit_session::Session;

/// The engine in the clear, which writes down when it checked and opened.
struct Noting {
    engine: ClearEngine,
    plan: Arc<Plan>,
    notes: Vec<&'static str>,
    /// Whether the plan is walked first without inputs.
    prepares: bool,
}

impl Noting {
    fn new(plan: &Arc<Plan>, prepares: bool) -> Self {
        Self { engine: ClearEngine::new(plan.clone()), plan: plan.clone(), notes: vec![], prepares }
    }
}

impl Engine for Noting {
    fn session(&mut self) -> Option<&mut Session> {
        None
    }

    fn prepare(&mut self) -> Result<bool, Error> {
        Ok(self.prepares)
    }

    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        self.engine.share_input(input, values)
    }

    fn receive_share(&mut self, input: u32) -> Result<(), Error> {
        self.engine.receive_share(input)
    }

    fn public_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        self.engine.public_input(input, values)
    }

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        self.engine.local(step)
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        match self.plan.ops[job.op as usize].kind {
            OpKind::Open { how: Opening::Verified, .. } => self.notes.push("opened when checked"),
            OpKind::Open { how: Opening::Masked, .. } => self.notes.push("opened under a mask"),
            _ => {}
        }
        self.engine.begin(job)
    }

    fn arrived(&mut self, job: &Job) -> Result<bool, Error> {
        self.engine.arrived(job)
    }

    fn finish(&mut self, job: &Job) -> Result<(), Error> {
        self.engine.finish(job)
    }

    fn free(&mut self, reg: Reg) {
        self.engine.free(reg);
    }

    fn check(&mut self) -> Result<(), Error> {
        self.notes.push("checked");
        self.engine.check()
    }

    fn send_output(&mut self, output: u32) -> Result<(), Error> {
        self.engine.send_output(output)
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        self.engine.open_output(output)
    }

    fn next(&mut self, plan: Arc<Plan>, roles: Participants) -> Result<(), Error> {
        self.engine.next(plan, roles)
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

const FP61: Domain = Domain::Modular(Modulus::Mersenne61);

fn elements(words: &[u64]) -> Clear {
    Clear::from_words(FP61, words)
}

/// The square of an input: by what is opened of it and a random mask, and then without the mask.
fn plan(how: Opening) -> Arc<Plan> {
    let mut builder = Builder::new();
    let owner = builder.role("alice");
    let [x, mask, masked, product, result] = [(); 5].map(|()| builder.row(FP61, 3));
    let opened = builder.public(FP61, 3);
    builder.input(owner, x);
    builder.interact(OpKind::Random { dst: mask, bits: false });
    builder.local(Local::Add { a: x, b: mask, dst: masked });
    builder.interact(OpKind::Open { a: masked, dst: opened, how });
    // (x + r) x - r x = x^2.
    let [scaled, rest] = [(); 2].map(|()| builder.row(FP61, 3));
    builder.local(Local::MulPublic { a: x, c: Public::Register(opened), dst: scaled });
    builder.interact(OpKind::Mul { a: mask, b: x, dst: product });
    builder.local(Local::Sub { a: scaled, b: product, dst: rest });
    builder.local(Local::AddPublic { a: rest, c: Public::Splat(0), dst: result });
    builder.output(result, To::All);
    Arc::new(builder.finish())
}

#[test]
fn results_do_not_depend_on_masks_and_verified_openings_wait_for_a_check() {
    for (how, expected) in [
        (Opening::Masked, &["opened under a mask", "checked"][..]),
        (Opening::Verified, &["checked", "opened when checked", "checked"]),
    ] {
        let plan = plan(how);
        let mut engine = Noting::new(&plan, false);
        let outcome =
            run_party(&mut engine, &plan, &[Some(elements(&[0, 7, (1 << 61) - 2]))], &mut Unobserved);
        assert_eq!(outcome.unwrap().outputs[0].as_ref().unwrap().to_words(), [0, 49, 1]);
        assert_eq!(engine.notes, expected);
        assert_eq!(engine.notes.iter().filter(|note| **note == "checked").count() as u64, plan.checks());
    }
}

#[test]
fn random_bits_are_bits_and_differ() {
    for domain in [Domain::Bits, FP61, Domain::Modular(Modulus::Prime128), Domain::Ring(Width::W8)] {
        let mut builder = Builder::new();
        let random = builder.row(domain, 1000);
        builder.interact(OpKind::Random { dst: random, bits: true });
        builder.output(random, To::All);
        let plan = Arc::new(builder.finish());
        let outcome = run_party(&mut ClearEngine::new(plan.clone()), &plan, &[], &mut Unobserved).unwrap();
        let words = outcome.outputs[0].as_ref().unwrap().to_words();
        let ones: u64 = words.iter().sum();
        assert!(words.iter().all(|word| *word < 2) && (350..650).contains(&ones), "{domain:?}: {ones}");
    }
}

#[test]
fn public_inputs_follow_the_others_and_gathers_stay_inside() {
    let mut builder = Builder::new();
    let owner = builder.role("alice");
    let (x, places) = (builder.row(FP61, 4), builder.public(Domain::Ring(Width::W8), 3));
    let (weights, gathered) = (builder.public(FP61, 3), builder.row(FP61, 3));
    let result = builder.row(FP61, 3);
    builder.input(owner, x);
    builder.public_input("places", places, Form::Elements);
    builder.public_input("weights", weights, Form::Elements);
    builder.local(Local::Gather { a: x, index: places, block: 1, dst: gathered });
    builder.local(Local::MulPublic { a: gathered, c: Public::Register(weights), dst: result });
    builder.output(result, To::All);
    let plan = Arc::new(builder.finish());
    let run = |places: &[u64], rest: Option<Clear>| {
        let places = Clear::from_words(Domain::Ring(Width::W8), places);
        let given = [elements(&[5, 6, 7, 8]), places].into_iter().chain(rest).map(Some);
        let given: Vec<Option<Clear>> = given.collect();
        let outcome = run_party(&mut ClearEngine::new(plan.clone()), &plan, &given, &mut Unobserved);
        outcome.map(|outcome| outcome.outputs[0].as_ref().unwrap().to_words())
    };
    assert_eq!(run(&[3, 0, 3], Some(elements(&[1, 2, 3]))), Ok(vec![8, 10, 24]));
    for wrong in
        [run(&[4, 0, 0], Some(elements(&[1, 2, 3]))), run(&[0; 3], None), run(&[0; 3], Some(elements(&[1])))]
    {
        assert!(matches!(wrong, Err(Error::Refused(_))), "{wrong:?}");
    }
}

#[test]
fn public_inputs_are_there_in_each_walk_and_nothing_is_made_without_them() {
    let mut builder = Builder::new();
    let (weights, shared) = (builder.public(FP61, 3), builder.row(FP61, 3));
    builder.public_input("weights", weights, Form::Elements);
    builder.local(Local::Constant { value: Public::Register(weights), dst: shared });
    builder.output(shared, To::All);
    let plan = Arc::new(builder.finish());
    assert_eq!(plan.levels[0].free, [weights]);
    let mut engine = Noting::new(&plan, true);
    let outcome = run_party(&mut engine, &plan, &[Some(elements(&[1, 2, 3]))], &mut Unobserved).unwrap();
    assert_eq!(outcome.outputs[0].as_ref().unwrap().to_words(), [1, 2, 3]);
    let made = run_offline(&mut Noting::new(&plan, true), &plan, 1, &mut |_| Ok(()), &mut Unobserved);
    assert!(matches!(made, Err(Error::Refused(reason)) if reason.contains("public inputs")));
}

#[test]
fn a_plan_that_needs_more_than_a_protocol_offers_is_refused() {
    let plan = plan(Opening::Verified);
    let offered = Capabilities::masked_opening(Field::Fp61);
    assert_eq!(offers_all(offered, &plan), Ok(()));
    for (lacking, told) in [
        (Feature::Random, "random elements"),
        (Feature::VerifiedOpening, "openings"),
        (Feature::Mul, "products"),
    ] {
        let lacking = Capabilities { features: offered.features.without(lacking), ..offered };
        let refused = offers_all(lacking, &plan);
        assert!(matches!(&refused, Err(Error::Refused(reason)) if reason.contains(told)), "{refused:?}");
    }
}

/// Runs a program by masked openings, and holds its output against the reference.
fn checked(program: &Program, field: Field, inputs: &[Vec<u64>]) {
    let lowered = lower(program, Capabilities::masked_opening(field)).unwrap();
    let plan = Arc::new(lowered.plan.clone());
    let given: Vec<Option<Clear>> = plan
        .inputs
        .iter()
        .zip(inputs)
        .map(|(input, words)| Some(Clear::from_elements(plan.register(input.reg).domain, input.form, words)))
        .collect();
    let outcome = run_party(&mut ClearEngine::new(plan.clone()), &plan, &given, &mut Unobserved).unwrap();
    let truth = reference::trace(program, inputs).unwrap();
    for ((ty, output), clear) in lowered.outputs.iter().zip(&plan.outputs).zip(&outcome.outputs) {
        let raw = decode_raw(ty, &clear.as_ref().unwrap().to_elements(output.form)).unwrap();
        assert_eq!(raw, truth[ty.node as usize]);
    }
}

#[test]
fn comparisons_and_truncations_by_masked_openings_are_right_in_memory() {
    type Make = fn(&mut tacit_program::Builder, &[NodeId]) -> Result<NodeId, ProgramError>;
    let all: [Make; 6] = [
        |build, x| build.less(x[0], x[1]),
        |build, x| build.equal(x[0], x[1]),
        |build, x| build.maximum(x[0], x[1]),
        |build, x| build.argmax(x[0], Some(0), true),
        |build, x| build.shift_right(x[0], 3),
        |build, x| {
            let (below, same) = (build.less(x[0], x[1])?, build.equal(x[0], x[1])?);
            build.xor(below, same)
        },
    ];
    for (field, half) in [(Field::Fp61, 1_i128 << 17), (Field::Fp128, 1 << 61)] {
        for make in all {
            let mut build = tacit_program::Builder::new();
            let range = Range::new(-half, half - 1);
            let x = ["alice", "bob"].map(|owner| build.input(owner, "x", Dtype::Int, &[65], range).unwrap());
            let result = make(&mut build, &x).unwrap();
            build.reveal(result, Recipient::All).unwrap();
            let number = |at: i128| match at % 5 {
                0 => -half,
                1 => half - 1,
                _ => (at * at * 7919 * (half / 99)) % half - at % 3 * (half / 2),
            };
            let inputs = [1, 2].map(|by| {
                (0..65).map(|at| number(at * by).clamp(-half, half - 1) as u64).collect::<Vec<u64>>()
            });
            checked(&build.finish().unwrap(), field, &inputs);
        }
    }
}
