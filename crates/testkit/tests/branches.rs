//! Branches by the model tenant with bits: right results, one message for all arms that exclude one another, exact costs, and
//! views that tell nothing of the condition.

use std::collections::HashSet;
use std::sync::Arc;

use tacit_circuit::Layered;
use tacit_engine::Protocol;
use tacit_program::plan::{Builder, Domain, Local, OpKind, Opening, Operand, Plan, Public, Reg, Rows, To};
use tacit_program::{Capabilities, Dtype, Index, NodeId, Program, ProgramError, Recipient};
use tacit_session::step;
use tacit_testkit::conformance::Subject;
use tacit_testkit::conformance::views::{self, Conduct};
use tacit_testkit::conformance::{cost, equality};
use tacit_testkit::tenants::BITS;
use tacit_testkit::{Altered, Case, Draws, Rng, Run};

const SIZES: [usize; 4] = [2, 3, 5, 12];

/// A circuit of so many layers of one AND each.
fn chain(depth: usize) -> Arc<Layered> {
    let mut build = tacit_circuit::Builder::new();
    let (x, y) = (build.input(1)[0], build.input(1)[0]);
    let last = (0..depth).fold(x, |last, _| {
        let both = build.and(last, y);
        build.xor(both, x)
    });
    Arc::new(Layered::new(&build.finish(vec![vec![last]])))
}

/// A plan in the making, of registers of one row.
struct Branches {
    build: Builder,
    cols: usize,
}

impl Branches {
    fn new(cols: usize) -> Self {
        Self { build: Builder::new(), cols }
    }

    fn reg(&mut self) -> Reg {
        self.build.bits(1, self.cols)
    }

    fn given(&mut self, owner: &str) -> Reg {
        let (owner, reg) = (self.build.role(owner), self.reg());
        self.build.input(owner, reg);
        reg
    }

    fn and(&mut self, a: Reg, b: Reg) -> Reg {
        let dst = self.reg();
        let [a, b, rows] = [a, b, dst].map(|reg| Rows::one(reg, 0));
        self.build.interact(OpKind::And { a, b, dst: rows });
        dst
    }

    fn xor(&mut self, a: Reg, b: Reg) -> Reg {
        let dst = self.reg();
        let [a, b, rows] = [a, b, dst].map(|reg| Rows::one(reg, 0));
        self.build.local(Local::Xor { a, b, dst: rows });
        dst
    }

    fn circuit(&mut self, depth: usize, x: Reg, y: Reg) -> Reg {
        let dst = self.reg();
        let inputs = vec![Operand::Each(x), Operand::Each(y)];
        self.build.interact(OpKind::Circuit { circuit: chain(depth), inputs, dst });
        dst
    }

    /// `a` by what is opened of it under a mask, and an AND.
    fn opened(&mut self, a: Reg) -> Reg {
        let mask = self.reg();
        self.build.interact(OpKind::Random { dst: mask, bits: false });
        let masked = self.xor(a, mask);
        let (opened, scaled) = (self.build.public(Domain::Bits, self.cols), self.reg());
        self.build.interact(OpKind::Open { a: masked, dst: opened, how: Opening::Masked });
        self.build.local(Local::AndPublic { a, c: Public::Register(opened), dst: scaled });
        let product = self.and(a, mask);
        self.xor(scaled, product)
    }

    /// `if_set` where the condition is set, and else `if_not`.
    fn chosen(&mut self, condition: Reg, if_set: Reg, if_not: Reg) -> Reg {
        let differ = self.xor(if_set, if_not);
        let change = self.and(condition, differ);
        self.xor(change, if_not)
    }

    fn plan(mut self, outputs: &[Reg]) -> Plan {
        let carol = self.build.role("carol");
        for &reg in outputs {
            self.build.output(reg, To::All);
            self.build.output(reg, To::One(carol));
        }
        self.build.finish()
    }
}

/// Two arms, the second with a branch of its own, of circuits of several depths, ANDs and an opening; then the results.
fn nested(cols: usize, in_regions: bool) -> Plan {
    let mut of = Branches::new(cols);
    let [x, y, outer, inner] = ["P0", "alice", "P1", "P1"].map(|owner| of.given(owner));
    let mut arms = Vec::new();
    if in_regions {
        let [no, yes] = [0, 1].map(|arm| of.build.region(0, Rows::one(outer, 0), arm));
        let [yes_no, yes_yes] = [0, 1].map(|arm| of.build.region(yes, Rows::one(inner, 0), arm));
        arms.extend([no, yes_no, yes_yes]);
    }
    let enter = |of: &mut Branches, arm: usize| of.build.in_region(arms.get(arm).copied().unwrap_or(0));
    enter(&mut of, 0);
    let first = of.circuit(5, x, y);
    let first = of.and(first, y);
    enter(&mut of, 1);
    let second = of.circuit(2, y, x);
    let second = of.opened(second);
    enter(&mut of, 2);
    let third = of.and(x, y);
    let third = of.circuit(3, third, x);
    of.build.in_region(0);
    let taken = of.chosen(inner, third, second);
    let result = of.chosen(outer, taken, first);
    of.plan(&[result])
}

/// Three arms of one circuit each, and nothing else at their level.
fn three_arms(cols: usize, in_regions: bool) -> Plan {
    let mut of = Branches::new(cols);
    let [x, y, low, high] = ["P0", "alice", "P1", "P1"].map(|owner| of.given(owner));
    let number = of.build.bits(2, cols);
    for (row, bit) in [low, high].into_iter().enumerate() {
        of.build.local(Local::CopyRows { a: Rows::one(bit, 0), dst: Rows::one(number, row as u32) });
    }
    let results = [1, 5, 3].into_iter().enumerate().map(|(arm, depth)| {
        if in_regions {
            let region = of.build.region(0, Rows::run(number, 0, 2), arm as u8);
            of.build.in_region(region);
        }
        of.circuit(depth, x, y)
    });
    let results: Vec<Reg> = results.collect();
    of.build.in_region(0);
    let one_of_two = of.chosen(low, results[1], results[0]);
    let result = of.chosen(high, results[2], one_of_two);
    of.plan(&[result])
}

fn case(parties: usize, plan: Plan) -> Case {
    let cols = plan.register(plan.inputs[0].reg).cols as u64;
    let inputs: Vec<Vec<u64>> =
        (0..4).map(|input| (0..cols).map(|at| (at * at + 3 * at) >> input & 1).collect()).collect();
    Case::new(&BITS, parties, plan, &inputs)
}

/// Messages of operations from the first party to the second.
fn messages(run: &Run) -> usize {
    run.trace.link(0, 1).filter(|delivery| delivery.at.part >= step::OPERATION).count()
}

#[test]
fn results_are_those_of_the_arm_that_is_active() {
    for parties in SIZES {
        for cols in [1, 8, 65, 20_000] {
            for plan in [nested, three_arms] {
                let case = case(parties, plan(cols, true));
                let expected = case.run_in_the_clear().expect("nothing can go wrong in the clear").outputs;
                let run = case.run(&Draws::fixed(1));
                for outcome in run.outcomes() {
                    assert_eq!(outcome.outputs[0], expected[0], "{parties} parties, {cols} columns");
                }
                let mut seen = HashSet::new();
                for delivery in run.trace.deliveries() {
                    assert!(
                        seen.insert((delivery.from, delivery.to, delivery.at)),
                        "{} comes twice",
                        delivery.at
                    );
                }
            }
        }
    }
}

#[test]
fn arms_that_exclude_one_another_share_messages() {
    for parties in SIZES {
        let [apart, together] =
            [false, true].map(|in_regions| case(parties, three_arms(8, in_regions)).run(&Draws::fixed(1)));
        // One for each layer of the deepest arm, and for each of both choices.
        assert_eq!((messages(&apart), messages(&together)), (1 + 5 + 3 + 2, 5 + 2), "{parties} parties");
        let [apart, together] =
            [false, true].map(|in_regions| case(parties, nested(8, in_regions)).run(&Draws::fixed(1)));
        assert!(messages(&together) < messages(&apart), "{parties} parties");
    }
}

#[test]
fn costs_are_exact() {
    for parties in SIZES {
        for cols in [1, 65, 20_000] {
            for (name, plan) in [("nested", nested(cols, true)), ("three arms", three_arms(cols, true))] {
                let what = format!("{name}, {cols} columns, {parties} parties");
                let (rounds, depth) = cost::check_case(case(parties, plan), &what);
                assert_eq!(rounds, depth, "{what}");
            }
        }
    }
}

#[test]
fn views_tell_nothing_of_the_condition() {
    for parties in [2, 3] {
        let subject = Subject { broadcasts: true, ..Subject::new(&BITS, parties) };
        for honest in 0..parties {
            let corrupt: Vec<usize> = (0..parties).filter(|&party| party != honest).collect();
            for plan in [nested(8, true), three_arms(8, true)] {
                let seen = views::check(&subject, &case(parties, plan), &corrupt, Conduct::Honest);
                assert!(seen.is_ok_and(|bits| bits > 8 * 2 * 5), "{parties} parties, all but {honest}");
            }
        }
    }
}

/// A value of a branch of so many conditions inside one another, some of which are made in arms.
fn branching(
    build: &mut tacit_program::Builder,
    rng: &mut Rng,
    depth: usize,
    x: NodeId,
    [y, condition]: [NodeId; 2],
) -> Result<NodeId, ProgramError> {
    let changed = match rng.word() % 3 {
        0 => build.and(x, y)?,
        1 => build.or(x, y)?,
        _ => build.xor(x, y)?,
    };
    if depth == 0 {
        return build.and(changed, x);
    }
    let condition =
        if rng.word().is_multiple_of(2) { condition } else { build.index(changed, &[Index::At(0)])? };
    let (set, not) = (build.if_set(condition, changed)?, build.unless_set(condition, changed)?);
    let set = branching(build, rng, depth - 1, set, [y, condition])?;
    let not = branching(build, rng, depth.saturating_sub(2), not, [y, condition])?;
    let chosen = build.select(condition, set, not)?;
    build.and(chosen, y)
}

fn branching_program(seed: u64, depth: usize) -> Result<Program, ProgramError> {
    let mut build = tacit_program::Builder::new();
    let mut rng = Rng::new(seed);
    let x = build.input("P0", "x", Dtype::Bool, &[70], None)?;
    let y = build.input("alice", "y", Dtype::Bool, &[70], None)?;
    let condition = build.input("P1", "condition", Dtype::Bool, &[], None)?;
    let result = branching(&mut build, &mut rng, depth, x, [y, condition])?;
    build.reveal(result, Recipient::All)?;
    build.finish()
}

/// The same tenant without means for branches.
static FLAT: Altered = Altered::offering(&BITS, Capabilities::BITS);

#[test]
fn programs_with_branches_give_what_they_mean_in_regions_and_without() {
    for seed in 0..30 {
        let program = branching_program(seed, 1 + seed as usize % 4).expect("it is well formed");
        for (protocol, has_regions) in [(&BITS as &'static dyn Protocol, true), (&FLAT, false)] {
            let subject = Subject { broadcasts: true, ..Subject::new(protocol, 2 + seed as usize % 2) };
            let what = format!("seed {seed}, regions: {has_regions}");
            assert_eq!(subject.lowered(&program).plan.regions.len() > 1, has_regions, "{what}");
            equality::check(&subject, &program, &mut Rng::new(seed), &what);
            let (rounds, depth) = cost::check(&subject, &program, &what);
            assert_eq!(rounds, depth, "{what}");
        }
    }
}
