//! Arms whose inactive wires are zero (MOTIF), by a model tenant and by the protocol that ships: right results, one
//! product for the ANDs of all arms in a layer, and views that tell nothing of the arm that is taken.

use crate::nested::{chain, nested};
use crate::{case, case_of, seen, subject};
use std::collections::BTreeMap;
use std::sync::Arc;
use tacit_additive::planted::{Mistake, plant};
use tacit_circuit::arith::{Style, circuits};
use tacit_engine::supply::SupplyKind;
use tacit_engine::{Participants, Protocol};
use tacit_gmw::GMW;
use tacit_program::{Builder, Dtype, Fault, Program, ProgramError, Recipient, lower};
use tacit_testkit::conformance::{cost, equality};
use tacit_testkit::tenants::ZEROED;
use tacit_testkit::{Altered, Rng, party_names, with_parameters};

/// The protocol that ships.
fn motif() -> &'static dyn Protocol {
    with_parameters(&GMW, &[("branching", "motif")])
}

/// Items that a program draws, by the lengths of their vectors.
fn drawn(program: &Program, protocol: &dyn Protocol) -> BTreeMap<u16, u64> {
    let plan = lower(program, protocol.capabilities()).expect("bits have ANDs").plan;
    let names = party_names(2);
    let clients = Participants::clients_of(&plan, &names);
    let participants = Participants::new(&plan, &names, &clients).expect("all roles are there");
    let demand = protocol.demand(&plan, &participants);
    let length = |(kind, count)| match kind {
        SupplyKind::Scaling { length } => (length, count),
        other => panic!("there are no {other}"),
    };
    demand.counts().map(length).collect()
}

#[test]
fn every_nesting_is_right_where_arms_are_zeros() {
    for seed in 0..21 {
        let (program, _) = nested(seed, 1 + seed as usize % 3).expect("it is well formed");
        let parties = 2 + seed as usize % 7;
        for inputs in 0..2 {
            let what = format!("{parties} parties, seed {seed}, inputs {inputs}");
            equality::check(&subject(&ZEROED, parties), &program, &mut Rng::new(inputs), &what);
        }
        let (rounds, depth) = cost::check(&subject(&ZEROED, parties), &program, "nested");
        assert_eq!(rounds, depth, "seed {seed}");
    }
}

#[test]
fn products_of_transfers_are_as_good() {
    for (seed, parties) in [(1, 2), (3, 2), (4, 3), (7, 4)] {
        let (program, _) = nested(seed, 2).expect("it is well formed");
        let what = format!("{parties} parties, seed {seed}");
        equality::check(&subject(motif(), parties), &program, &mut Rng::new(seed), &what);
        cost::check(&subject(motif(), parties), &program, &what);
    }
}

/// Arms of some layers of 70 ANDs each, or of one result that isn't made in an arm.
fn branch(ands: usize, other: Option<usize>) -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Bool, &[70], None)?;
    let y = build.input("P1", "y", Dtype::Bool, &[70], None)?;
    let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
    let set = build.if_set(c, x)?;
    let set = chain(&mut build, ands, set, y)?;
    let not = match other {
        Some(ands) => {
            let not = build.unless_set(c, x)?;
            chain(&mut build, ands, not, y)?
        }
        None => y,
    };
    let chosen = build.select(c, set, not)?;
    build.reveal(chosen, Recipient::All)?;
    build.finish()
}

/// What enters is multiplied by the condition, at most 128 bits by one product. Each layer takes 70, of a bit with
/// one of each arm that has ANDs there.
#[test]
fn a_layer_takes_as_many_products_as_its_widest_arm() {
    let program = branch(5, Some(3)).expect("it is well formed");
    // Of y alone: x is what both arms' shares of it add up to, which isn't multiplied.
    let expected = BTreeMap::from([(128, 1), (2, 3 * 2), (1, 2 * 2)]);
    for protocol in [&ZEROED as &dyn Protocol, motif()] {
        assert_eq!(drawn(&program, protocol), expected);
    }
    // Of x and y, which as the other result enters its arm, too.
    let program = branch(5, None).expect("it is well formed");
    assert_eq!(drawn(&program, &ZEROED), BTreeMap::from([(128, 1), (16, 1), (1, 5 * 2)]));
    for parties in [2, 5] {
        for seed in 0..4 {
            equality::check(&subject(&ZEROED, parties), &program, &mut Rng::new(seed), "one arm");
        }
    }
}

/// A circuit in each arm, with complements and on several instances.
#[test]
fn circuits_in_arms_are_right_where_arms_are_zeros() {
    let program = || -> Result<Program, ProgramError> {
        let mut build = Builder::new();
        let x = build.input("P0", "x", Dtype::Bool, &[3, 4], None)?;
        let y = build.input("P1", "y", Dtype::Bool, &[4], None)?;
        let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
        let (set, not) = (build.if_set(c, x)?, build.unless_set(c, x)?);
        let set = build.circuit(&Arc::new(circuits::multiply(Style::Small, 4)), &[set, y])?[0];
        let not = build.circuit(&Arc::new(circuits::multiply(Style::Shallow, 4)), &[y, not])?[0];
        let not = build.not(not)?;
        let chosen = build.select(c, set, not)?;
        build.reveal(chosen, Recipient::All)?;
        build.finish()
    };
    let program = program().expect("it is well formed");
    for seed in 0..8 {
        equality::check(&subject(&ZEROED, 3), &program, &mut Rng::new(seed), "circuits");
    }
    cost::check(&subject(&ZEROED, 3), &program, "circuits");
}

#[test]
fn numbers_in_programs_with_branches_are_refused_where_arms_are_zeros() {
    let program = || -> Result<Program, ProgramError> {
        let mut build = Builder::new();
        let x = build.input("P0", "x", Dtype::Int, &[2], tacit_program::Range::new(0, 9))?;
        let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
        let (set, not) = (build.if_set(c, x)?, build.unless_set(c, x)?);
        let (set, not) = (build.mul(set, x)?, build.add(not, x)?);
        let chosen = build.select(c, set, not)?;
        build.reveal(chosen, Recipient::All)?;
        build.finish()
    };
    let program = program().expect("it is well formed");
    let error = lower(&program, motif().capabilities()).expect_err("numbers aren't bools");
    assert!(matches!(*error.fault, Fault::NotOffered { operation: "input", .. }), "{error}");
}

/// All openings of all arms are uniform together, whichever is taken and whoever is honest.
#[test]
fn all_but_one_together_see_nothing_where_arms_are_zeros() {
    for parties in [2, 3] {
        for honest in 0..parties {
            for conditions in [[0, 0], [0, 1], [1, 0], [1, 1]] {
                let bits = seen(&case(&ZEROED, parties, conditions), honest);
                // A bit of each AND of all columns, and more of what they are multiplied by.
                let least = crate::SEEN * crate::ALL as usize;
                assert!(bits.clone().is_ok_and(|bits| bits >= least), "{honest}, {conditions:?}: {bits:?}");
            }
        }
    }
}

#[test]
fn bits_that_are_opened_as_they_are_are_noticed() {
    let unmasked = Altered::beginning_with(&ZEROED, |_| plant(&[Mistake::ScalarsUnmasked]));
    for conditions in [[0, 0], [1, 1]] {
        assert!(seen(&case(unmasked, 2, conditions), 1).is_err());
    }
}

/// A layer's products of one length are more than an item has.
#[test]
fn products_of_several_items_tell_nothing() {
    let program = branch(1, Some(1)).expect("it is well formed");
    let reused = Altered::beginning_with(&ZEROED, |_| plant(&[Mistake::LanesReused]));
    for condition in [0, 1] {
        let seen = |protocol| seen(&case_of(&program, protocol, 2, [condition, 0]), 1);
        assert!(seen(&ZEROED).is_ok());
        assert!(seen(reused).is_err());
    }
}
