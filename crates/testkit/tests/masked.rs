//! Arms of branches that draw the same triples under masks, by a model tenant and by the protocol that ships: right
//! results, no more triples than the longest path takes, and views that tell nothing of the arm that is taken.

#[path = "masked/bounds.rs"]
mod bounds;
#[path = "masked/nested.rs"]
mod nested;
#[path = "masked/numbers.rs"]
mod numbers;
#[path = "masked/zeroed.rs"]
mod zeroed;

use nested::{chain, nested};
use tacit_additive::planted::{Mistake, plant};
use tacit_engine::supply::{Drawer, SupplyKind};
use tacit_engine::{Participants, Protocol};
use tacit_gmw::GMW;
use tacit_program::plan::{Domain, Plan};
use tacit_program::{Builder, Dtype, Index, NodeId, Program, ProgramError, Recipient, lower};
use tacit_session::step;
use tacit_testkit::conformance::views::{self, Conduct};
use tacit_testkit::conformance::{Subject, cost, equality};
use tacit_testkit::tenants::{BITS, MASKED, ZEROED};
use tacit_testkit::with_parameters;
use tacit_testkit::{Altered, Case, Draws, Rng, generate, party_names};

const TRIPLES: SupplyKind = SupplyKind::Triple(Domain::Bits);

fn subject(protocol: &'static dyn Protocol, parties: usize) -> Subject {
    Subject { broadcasts: true, ..Subject::new(protocol, parties) }
}

/// An AND, a branch by `c` whose first arm has 3 ANDs and whose other one has 1, a branch by `d` of 5 or 2, and 1; and an AND.
/// `d` may be made in the arm.
fn program(cols: usize, inner_condition: bool) -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Bool, &[cols], None)?;
    let y = build.input("P0", "y", Dtype::Bool, &[cols], None)?;
    let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
    let mut d = build.input("alice", "d", Dtype::Bool, &[], None)?;
    let x = chain(&mut build, 1, x, y)?;
    let (set, not) = (build.if_set(c, x)?, build.unless_set(c, x)?);
    let set = chain(&mut build, 3, set, y)?;
    let not = chain(&mut build, 1, not, y)?;
    if inner_condition {
        let bit = build.index(not, &[Index::At(0)])?;
        d = build.xor(bit, d)?;
    }
    let (deep, flat) = (build.if_set(d, not)?, build.unless_set(d, not)?);
    let (deep, flat) = (chain(&mut build, 5, deep, y)?, chain(&mut build, 2, flat, y)?);
    let not = build.select(d, deep, flat)?;
    let not = chain(&mut build, 1, not, y)?;
    let result = build.select(c, set, not)?;
    let result = chain(&mut build, 1, result, y)?;
    build.reveal(result, Recipient::All)?;
    build.finish()
}

/// Columns of the programs whose views are looked at: runs rise with bits, and what a run takes, too.
const SEEN: usize = 4;

/// ANDs on the longest path: an AND before and after, 1, the inner branch's 5 and a choice, 1, and a choice.
const LONGEST: u64 = 1 + (1 + 5 + 1 + 1) + 1 + 1;

/// All ANDs.
const ALL: u64 = LONGEST + 3 + 2;

fn plan(protocol: &dyn Protocol, cols: usize) -> Plan {
    let program = program(cols, false).expect("it is well formed");
    lower(&program, protocol.capabilities()).expect("bits have ANDs").plan
}

/// Triples that a plan draws, in words, and branches that it draws masks for.
fn drawn(protocol: &dyn Protocol, plan: &Plan, parties: usize) -> [u64; 2] {
    let names = party_names(parties);
    let clients = Participants::clients_of(plan, &names);
    let participants = Participants::new(plan, &names, &clients).expect("all roles are there");
    let demand = protocol.demand(plan, &participants);
    let masks = (0..plan.op_count()).filter(|&op| {
        demand.counts().any(|(kind, _)| {
            matches!(kind, SupplyKind::Masks { .. }) && demand.range(Drawer::Op(op), kind).is_some()
        })
    });
    let triples = demand.counts().find(|(kind, _)| *kind == TRIPLES).map_or(0, |(_, count)| count);
    [triples, masks.count() as u64]
}

#[test]
fn a_branch_takes_the_triples_of_its_longest_path() {
    // A row of 100 bits takes two words.
    for parties in [2, 3, 8] {
        for masked in [&MASKED as &dyn Protocol, &GMW] {
            assert_eq!(drawn(masked, &plan(masked, 100), parties), [2 * LONGEST, 2], "{parties} parties");
        }
        assert_eq!(drawn(&BITS, &plan(&BITS, 100), parties), [2 * ALL, 0], "{parties} parties");
    }
}

#[test]
fn results_and_costs_are_right_whichever_arm_is_taken() {
    for parties in 2..=8 {
        for inner_condition in [false, true] {
            let program = program(70, inner_condition).expect("it is well formed");
            for seed in 0..8 {
                let what = format!("{parties} parties, seed {seed}");
                equality::check(&subject(&MASKED, parties), &program, &mut Rng::new(seed), &what);
            }
            let (rounds, depth) = cost::check(&subject(&MASKED, parties), &program, "masked arms");
            assert_eq!(rounds, depth, "{parties} parties");
        }
    }
}

/// Rows of whole blocks draw them whole, and shorter ones bit by bit.
#[test]
fn rows_of_any_length_are_right_in_arms() {
    let all: [(&'static dyn Protocol, usize); 5] =
        [(&MASKED, 2), (&MASKED, 3), (&ZEROED, 2), (&ZEROED, 3), (&GMW, 2)];
    for cols in [1, 63, 64, 127, 128, 129, 257] {
        let program = program(cols, true).expect("it is well formed");
        for (protocol, parties) in all {
            let what = format!("{cols} columns, {parties} parties");
            equality::check(&subject(protocol, parties), &program, &mut Rng::new(7), &what);
            cost::check(&subject(protocol, parties), &program, &what);
        }
    }
}

#[test]
fn masks_of_transfers_are_as_good() {
    by_transfers(&(0..1));
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn masks_of_transfers_are_as_good_on_more_inputs() {
    by_transfers(&(1..4));
    at_full_length(&(1..4));
}

fn by_transfers(seeds: &std::ops::Range<u64>) {
    for parties in [2, 3, 4] {
        for inner_condition in [false, true] {
            let program = program(70, inner_condition).expect("it is well formed");
            for seed in seeds.clone() {
                let what = format!("{parties} parties, seed {seed}");
                equality::check(&subject(&GMW, parties), &program, &mut Rng::new(seed), &what);
            }
            cost::check(&subject(&GMW, parties), &program, "masked arms");
        }
    }
}

/// The same at full length, where masks could be made of seeds.
#[test]
fn masks_at_full_length_are_as_good() {
    at_full_length(&(0..1));
}

fn at_full_length(seeds: &std::ops::Range<u64>) {
    let vectors = with_parameters(&GMW, &[("branching", "masked-vectors")]);
    for parties in [2, 3] {
        let program = program(70, true).expect("it is well formed");
        for seed in seeds.clone() {
            let what = format!("{parties} parties, seed {seed}");
            equality::check(&subject(vectors, parties), &program, &mut Rng::new(seed), &what);
        }
        cost::check(&subject(vectors, parties), &program, "masked arms");
    }
}

/// A branch with so many ANDs in each arm.
fn branch(ands: [usize; 2]) -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Bool, &[5], None)?;
    let y = build.input("P0", "y", Dtype::Bool, &[5], None)?;
    let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
    let (set, not) = (build.if_set(c, x)?, build.unless_set(c, x)?);
    let (set, not) = (chain(&mut build, ands[0], set, y)?, chain(&mut build, ands[1], not, y)?);
    let chosen = build.select(c, set, not)?;
    build.reveal(chosen, Recipient::All)?;
    build.finish()
}

/// One AND in each arm; and arms of which one has none, so that nothing is shared and no masks are drawn.
#[test]
fn short_branches_are_right_and_masks_are_for_what_arms_share() {
    for (ands, masks) in [([1, 1], 1), ([1, 0], 0), ([0, 3], 0), ([1, 3], 1)] {
        let program = branch(ands).expect("it is well formed");
        let longest = ands[0].max(ands[1]) as u64 + 1;
        for parties in [2, 3, 4] {
            for protocol in [&MASKED as &'static dyn Protocol, &GMW] {
                let plan = lower(&program, protocol.capabilities()).expect("bits have ANDs").plan;
                assert_eq!(drawn(protocol, &plan, parties), [longest, masks], "ANDs and a choice");
                let what = format!("{parties} parties, {ands:?}");
                let runs = if protocol.spec().name == GMW.spec.name { 1 } else { 6 };
                for seed in 0..runs {
                    equality::check(&subject(protocol, parties), &program, &mut Rng::new(seed), &what);
                }
                cost::check(&subject(protocol, parties), &program, &what);
            }
        }
    }
}

/// Masks at full length are as long as what both arms draw.
#[test]
fn masks_are_as_long_as_the_shorter_arm() {
    let program = branch([9, 2]).expect("it is well formed");
    let plan = lower(&program, GMW.capabilities()).expect("bits have ANDs").plan;
    let names = party_names(4);
    let participants =
        Participants::new(&plan, &names, &Participants::clients_of(&plan, &names)).expect("all are there");
    // An item for a short row of bits, two words for each.
    let kind = SupplyKind::Masks { words: 2 * 2 };
    assert!(GMW.demand(&plan, &participants).counts().any(|drawn| drawn == (kind, 1)));
}

/// Two branches one after the other, by nodes that are the same bit: in an arm, if it is said so.
fn by_one_bit(
    in_an_arm: bool,
    conditions: impl Fn(&mut Builder, NodeId) -> Result<[NodeId; 2], ProgramError>,
) -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Bool, &[5], None)?;
    let y = build.input("P0", "y", Dtype::Bool, &[5], None)?;
    let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
    let t = build.input("alice", "t", Dtype::Bool, &[1], None)?;
    let mut made = if in_an_arm { build.if_set(c, x)? } else { x };
    for (turn, condition) in conditions(&mut build, t)?.into_iter().enumerate() {
        let (set, not) = (build.if_set(condition, made)?, build.unless_set(condition, made)?);
        let (set, not) = (chain(&mut build, 2 + turn, set, y)?, chain(&mut build, 1, not, y)?);
        made = build.select(condition, set, not)?;
    }
    if in_an_arm {
        let not = build.unless_set(c, x)?;
        let not = chain(&mut build, 2, not, y)?;
        made = build.select(c, made, not)?;
    }
    build.reveal(made, Recipient::All)?;
    build.finish()
}

/// Views of one register are one condition, of which a branch is made once: as nodes of its own, as an argument of an
/// arm and from around it, and in another shape. Also if a program comes from its bytes.
#[test]
fn branches_by_several_views_of_a_bit_share_its_masks() {
    let first = |build: &mut Builder, t| build.index(t, &[Index::At(0)]);
    let sliced = by_one_bit(false, |build, t| Ok([first(build, t)?, first(build, t)?]));
    let made = by_one_bit(true, |build, t| {
        let d = build.input("alice", "d", Dtype::Bool, &[], None)?;
        let first = first(build, t)?;
        let bit = build.xor(d, first)?;
        Ok([bit, build.reshape(bit, &[])?])
    });
    let shaped = by_one_bit(false, |build, t| {
        let t = first(build, t)?;
        Ok([t, build.reshape(t, &[])?])
    });
    let programs = [sliced, made, shaped].map(|program| program.expect("it is well formed"));
    for (program, masks) in programs.into_iter().zip([1, 2, 1]) {
        let program = Program::from_bytes(&program.to_bytes()).expect("they are a program's");
        for parties in [2, 3] {
            let plan = lower(&program, MASKED.capabilities()).expect("bits have ANDs").plan;
            assert_eq!(drawn(&MASKED, &plan, parties)[1], masks);
            for seed in 0..8 {
                let what = format!("{parties} parties, seed {seed}");
                equality::check(&subject(&MASKED, parties), &program, &mut Rng::new(seed), &what);
            }
            cost::check(&subject(&MASKED, parties), &program, "one bit");
        }
        equality::check(&subject(&GMW, 2), &program, &mut Rng::new(1), "one bit");
    }
}

/// The same register in an arm, once as what is around it and once as the arm's argument.
#[test]
fn a_branch_by_a_bit_and_by_an_arms_argument_is_one() {
    let program = || -> Result<Program, ProgramError> {
        let mut build = Builder::new();
        let x = build.input("P0", "x", Dtype::Bool, &[5], None)?;
        let [c, t] = ["c", "t"].map(|name| build.input("alice", name, Dtype::Bool, &[], None));
        let (c, t) = (c?, t?);
        let (mut made, argument) = (build.if_set(c, x)?, build.if_set(c, t)?);
        for (turn, condition) in [t, argument].into_iter().enumerate() {
            let (set, not) = (build.if_set(condition, made)?, build.unless_set(condition, made)?);
            let (set, not) = (chain(&mut build, 2 + turn, set, x)?, chain(&mut build, 1, not, x)?);
            made = build.select(condition, set, not)?;
        }
        let not = build.unless_set(c, x)?;
        let not = chain(&mut build, 2, not, x)?;
        let chosen = build.select(c, made, not)?;
        build.reveal(chosen, Recipient::All)?;
        build.finish()
    };
    let program = program().expect("it is well formed");
    for parties in [2, 3] {
        let plan = lower(&program, MASKED.capabilities()).expect("bits have ANDs").plan;
        assert_eq!(drawn(&MASKED, &plan, parties)[1], 2);
        for seed in 0..8 {
            let what = format!("{parties} parties, seed {seed}");
            equality::check(&subject(&MASKED, parties), &program, &mut Rng::new(seed), &what);
        }
        cost::check(&subject(&MASKED, parties), &program, "one bit");
    }
}

/// As many parties as there may be.
#[test]
fn results_and_costs_are_right_among_up_to_twelve() {
    let program = program(5, true).expect("it is well formed");
    for parties in 9..=12 {
        let what = format!("{parties} parties");
        equality::check(&subject(&MASKED, parties), &program, &mut Rng::new(1), &what);
        cost::check(&subject(&MASKED, parties), &program, &what);
    }
}

/// What repeats draws for each turn; places of the branch after it come after all of them.
#[test]
fn a_branch_after_a_repeated_section_is_right() {
    let program = || -> Result<Program, ProgramError> {
        let mut build = Builder::new();
        let x = build.input("P0", "x", Dtype::Bool, &[5], None)?;
        let y = build.input("P0", "y", Dtype::Bool, &[5], None)?;
        let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
        let turned =
            build.repeat(4, &[x], &[], |build, states, _| Ok(vec![chain(build, 1, states[0], y)?]))?;
        let x = turned[0];
        let (set, not) = (build.if_set(c, x)?, build.unless_set(c, x)?);
        let (set, not) = (chain(&mut build, 3, set, y)?, chain(&mut build, 2, not, y)?);
        let chosen = build.select(c, set, not)?;
        build.reveal(chosen, Recipient::All)?;
        build.finish()
    };
    let program = program().expect("it is well formed");
    for parties in [2, 3] {
        let plan = lower(&program, MASKED.capabilities()).expect("bits have ANDs").plan;
        assert!(!plan.sections.is_empty(), "the turns are a section");
        assert_eq!(drawn(&MASKED, &plan, parties), [4 + 3 + 1, 1]);
        for seed in 0..8 {
            let what = format!("{parties} parties, seed {seed}");
            equality::check(&subject(&MASKED, parties), &program, &mut Rng::new(seed), &what);
        }
        cost::check(&subject(&MASKED, parties), &program, "after turns");
    }
}

/// A branch in each of four turns, with one inside, by conditions that turns make; and one by a condition from outside, which
/// stands before the turns, too.
fn repeated_branches(cols: usize) -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Bool, &[cols], None)?;
    let y = build.input("P0", "y", Dtype::Bool, &[cols], None)?;
    let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
    let all = build.input("alice", "all", Dtype::Bool, &[4], None)?;
    let by = |build: &mut Builder, c, x, [long, short]: [usize; 2]| -> Result<_, ProgramError> {
        let (set, not) = (build.if_set(c, x)?, build.unless_set(c, x)?);
        let (set, not) = (chain(build, long, set, y)?, chain(build, short, not, y)?);
        build.select(c, set, not)
    };
    let before = by(&mut build, c, x, [2, 1])?;
    let turned = build.repeat(4, &[before], &[all], |build, states, steps| {
        let own = by(build, steps[0], states[0], [3, 2])?;
        let (set, not) = (build.if_set(c, own)?, build.unless_set(c, own)?);
        let set = by(build, steps[0], set, [1, 4])?;
        Ok(vec![build.select(c, set, not)?])
    })?;
    build.reveal(turned[0], Recipient::All)?;
    build.finish()
}

/// Each turn takes the triples of its own longest path, and masks of its own.
#[test]
fn branches_in_a_repeated_section_are_right_and_take_their_longest_path() {
    let program = repeated_branches(5).expect("it is well formed");
    for parties in [2, 3, 4] {
        let plan = lower(&program, MASKED.capabilities()).expect("bits have ANDs").plan;
        assert!(!plan.sections.is_empty(), "the turns are a section");
        // Before: a branch and its choice. In each turn two, of which one has arms of which only one has a branch inside.
        assert_eq!(drawn(&MASKED, &plan, parties), [(2 + 1) + 4 * ((3 + 1) + (4 + 1) + 1), 1 + 4 * 2]);
        for seed in 0..8 {
            let what = format!("{parties} parties, seed {seed}");
            equality::check(&subject(&MASKED, parties), &program, &mut Rng::new(seed), &what);
        }
        cost::check(&subject(&MASKED, parties), &program, "branches in turns");
    }
    for protocol in [&GMW as &'static dyn Protocol, &BITS] {
        equality::check(&subject(protocol, 3), &program, &mut Rng::new(1), "without a dealer, without masks");
        cost::check(&subject(protocol, 3), &program, "branches in turns");
    }
}

/// Whatever arm each turn takes, all but one see uniform bits.
#[test]
fn what_branches_open_in_each_turn_tells_nothing() {
    let program = repeated_branches(4).expect("it is well formed");
    let plan = lower(&program, MASKED.capabilities()).expect("bits have ANDs").plan;
    for (c, all) in [(0, [0, 1, 0, 1]), (1, [0, 0, 1, 1])] {
        let mut inputs = generate::inputs(&program.input_types(), &mut Rng::new(3));
        (inputs[2], inputs[3]) = (vec![c], all.to_vec());
        let case = Case::new(&MASKED, 2, plan.clone(), &inputs);
        let bits = seen(&case, 0);
        // Both masked operands of at least ten ANDs of four columns in each of four turns.
        assert!(bits.clone().is_ok_and(|bits| bits > 2 * 10 * 4 * 4), "{c}, {all:?}: {bits:?}");
    }
}

/// Every nesting, against the clear-text evaluator; and triples by the formula of the paper.
#[test]
fn every_nesting_is_right_and_takes_its_longest_path() {
    for seed in 0..42 {
        let (program, [longest, all]) = nested(seed, 1 + seed as usize % 3).expect("it is well formed");
        let parties = 2 + seed as usize % 7;
        let plan =
            |protocol: &dyn Protocol| lower(&program, protocol.capabilities()).expect("all is ANDs").plan;
        for protocol in [&MASKED as &dyn Protocol, &GMW] {
            assert_eq!(drawn(protocol, &plan(protocol), parties)[0], longest, "seed {seed}");
        }
        assert_eq!(drawn(&BITS, &plan(&BITS), parties)[0], all, "seed {seed}");
        for inputs in 0..4 {
            let what = format!("{parties} parties, seed {seed}, inputs {inputs}");
            equality::check(&subject(&MASKED, parties), &program, &mut Rng::new(inputs), &what);
        }
        let (rounds, depth) = cost::check(&subject(&MASKED, parties), &program, "nested");
        assert_eq!(rounds, depth, "seed {seed}");
    }
}

#[test]
fn nestings_are_right_with_masks_of_transfers() {
    for (seed, parties) in [(1, 2), (4, 3), (8, 5)] {
        let (program, _) = nested(seed, 2).expect("it is well formed");
        let what = format!("{parties} parties, seed {seed}");
        equality::check(&subject(&GMW, parties), &program, &mut Rng::new(seed), &what);
        cost::check(&subject(&GMW, parties), &program, &what);
    }
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn nestings_are_right_among_all_numbers_of_parties() {
    for seed in 0..70 {
        let (program, _) = nested(seed, 1 + seed as usize % 3).expect("it is well formed");
        let parties = 2 + seed as usize % 7;
        let what = format!("{parties} parties, seed {seed}");
        equality::check(&subject(&GMW, parties), &program, &mut Rng::new(seed), &what);
        cost::check(&subject(&GMW, parties), &program, &what);
    }
}

/// Of a switch of four arms in each layer one message, and one round for all of its conditions.
#[test]
fn arms_share_messages() {
    let program = || -> Result<Program, ProgramError> {
        let mut build = Builder::new();
        let x = build.input("P0", "x", Dtype::Bool, &[8], None)?;
        let y = build.input("P1", "y", Dtype::Bool, &[8], None)?;
        let [c, d, e] = ["c", "d", "e"].map(|name| build.input("alice", name, Dtype::Bool, &[], None));
        let (c, d, e) = (c?, d?, e?);
        let mut made = Vec::new();
        let outer = [build.if_set(c, x)?, build.unless_set(c, x)?];
        for (arm, condition) in outer.into_iter().zip([d, e]) {
            let (set, not) = (build.if_set(condition, arm)?, build.unless_set(condition, arm)?);
            let (set, not) = (chain(&mut build, 6, set, y)?, chain(&mut build, 3, not, y)?);
            made.push(build.select(condition, set, not)?);
        }
        let chosen = build.select(c, made[0], made[1])?;
        build.reveal(chosen, Recipient::All)?;
        build.finish()
    };
    let program = program().expect("it is well formed");
    for parties in [2, 3] {
        let plan = lower(&program, GMW.capabilities()).expect("bits have ANDs").plan;
        assert_eq!(drawn(&GMW, &plan, parties), [6 + 1 + 1, 3], "the longest path, and three branches");
        let inputs = generate::inputs(&program.input_types(), &mut Rng::new(1));
        let run = Case::new(&MASKED, parties, plan, &inputs).run_and_compare(&Draws::fixed(1));
        let online = run.trace.link(0, 1).filter(|one| one.at.part >= step::OPERATION).count();
        // Three bits s ^ t, each of its own; six layers; choices inside and outside.
        assert_eq!(online, 3 + 6 + 1 + 1, "{parties} parties");
        // All s ^ t go in one round.
        let rounds = cost::check(&subject(&MASKED, parties), &program, "a switch");
        assert_eq!(rounds, (1 + 6 + 1 + 1, 1 + 6 + 1 + 1), "{parties} parties");
    }
}

/// A case of the program in which these arms are taken.
fn case(protocol: &'static dyn Protocol, parties: usize, conditions: [u64; 2]) -> Case {
    case_of(&program(SEEN, false).expect("it is well formed"), protocol, parties, conditions)
}

fn case_of(program: &Program, protocol: &'static dyn Protocol, parties: usize, conditions: [u64; 2]) -> Case {
    let mut inputs = generate::inputs(&program.input_types(), &mut Rng::new(3));
    for (input, condition) in inputs[2..].iter_mut().zip(conditions) {
        *input = vec![condition];
    }
    let plan = lower(program, protocol.capabilities()).expect("bits have ANDs").plan;
    Case::new(protocol, parties, plan, &inputs)
}

/// What all but one see of a case: how many bits, if they are uniform together.
fn seen(case: &Case, honest: usize) -> Result<usize, views::Leak> {
    let corrupt: Vec<usize> = (0..case.parties()).filter(|&party| party != honest).collect();
    views::check(&subject(case.protocol, case.parties()), case, &corrupt, Conduct::Honest)
}

/// The arms that aren't taken open uniform bits, independent of those of the arm that is.
#[test]
fn all_but_one_together_see_nothing_of_the_arm_that_is_taken() {
    for parties in [2, 3] {
        for honest in 0..parties {
            for conditions in [[0, 0], [0, 1], [1, 0], [1, 1]] {
                let bits = seen(&case(&MASKED, parties, conditions), honest);
                // Both masked operands of each AND, of all columns, and both bits s ^ t.
                let least = 2 * SEEN * ALL as usize + 2;
                assert!(bits.clone().is_ok_and(|bits| bits >= least), "{honest}, {conditions:?}: {bits:?}");
            }
        }
    }
}

/// Also where the condition is made in an arm that isn't taken, of what may be anything.
#[test]
fn a_condition_that_is_made_in_an_arm_tells_nothing_either() {
    let program = program(SEEN, true).expect("it is well formed");
    for conditions in [[0, 1], [1, 0]] {
        let bits = seen(&case_of(&program, &MASKED, 2, conditions), 0);
        let least = 2 * SEEN * ALL as usize + 2;
        assert!(bits.clone().is_ok_and(|bits| bits >= least), "{conditions:?}: {bits:?}");
    }
}

/// The same triples in all arms without masks: sums of openings are sums of values.
#[test]
fn arms_without_masks_are_noticed() {
    let unmasked = Altered::beginning_with(&MASKED, |_| plant(&[Mistake::ArmsUnmasked]));
    for conditions in [[0, 0], [1, 1]] {
        assert!(seen(&case(unmasked, 2, conditions), 1).is_err());
    }
}

/// Two branches in arms that exclude one another, of the same length.
fn siblings(protocol: &'static dyn Protocol, parties: usize, conditions: [u64; 3]) -> Case {
    let program = || -> Result<Program, ProgramError> {
        let mut build = Builder::new();
        let x = build.input("P0", "x", Dtype::Bool, &[8], None)?;
        let conditions = ["c", "d", "e"].map(|name| build.input("alice", name, Dtype::Bool, &[], None));
        let [c, d, e] = conditions;
        let (c, arms) = (c?, [d?, e?]);
        let mut made = [x; 2];
        let entered = [build.if_set(c, x)?, build.unless_set(c, x)?];
        for ((made, arm), condition) in made.iter_mut().zip(entered).zip(arms) {
            let (set, not) = (build.if_set(condition, arm)?, build.unless_set(condition, arm)?);
            let (set, not) = (chain(&mut build, 2, set, x)?, chain(&mut build, 1, not, x)?);
            *made = build.select(condition, set, not)?;
        }
        let chosen = build.select(c, made[0], made[1])?;
        build.reveal(chosen, Recipient::All)?;
        build.finish()
    };
    let program = program().expect("it is well formed");
    let mut inputs = generate::inputs(&program.input_types(), &mut Rng::new(3));
    for (input, condition) in inputs[1..].iter_mut().zip(conditions) {
        *input = vec![condition];
    }
    let plan = lower(&program, protocol.capabilities()).expect("bits have ANDs").plan;
    Case::new(protocol, parties, plan, &inputs)
}

/// One `s` for several branches shows `t ^ t'`: each has its own, also where arms share all else.
#[test]
fn siblings_that_share_masks_are_noticed() {
    let reused = Altered::beginning_with(&MASKED, |_| plant(&[Mistake::ArmMasksReused]));
    for conditions in [[0, 0, 1], [1, 1, 0]] {
        assert!(seen(&siblings(&MASKED, 2, conditions), 0).is_ok());
        assert!(seen(&siblings(reused, 2, conditions), 0).is_err());
    }
}

/// Masks of branches have places of their own in the supply, wherever the branches stand; triples share theirs.
#[test]
fn masks_share_no_place() {
    for protocol in [&MASKED as &'static dyn Protocol, &GMW] {
        for parties in [2, 3] {
            let case = siblings(protocol, parties, [0; 3]);
            let demand = protocol.demand(&case.plan, case.roles());
            let kinds = demand.counts().map(|(kind, _)| kind);
            for kind in kinds.filter(|kind| matches!(kind, SupplyKind::Masks { .. })) {
                let ops = 0..case.plan.op_count();
                let mut places: Vec<_> = ops.filter_map(|op| demand.range(Drawer::Op(op), kind)).collect();
                places.sort_by_key(|range| range.start);
                assert!(places.windows(2).all(|pair| pair[0].end == pair[1].start), "{kind}: {places:?}");
            }
        }
    }
}
