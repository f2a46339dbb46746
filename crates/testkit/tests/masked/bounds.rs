//! Masks of all branches of a plan are made at once, so that there are not too many of them.

use crate::chain;
use tacit_engine::{Error, Participants, Protocol};
use tacit_gmw::GMW;
use tacit_program::{Builder, Dtype, Program, ProgramError, Recipient, lower};
use tacit_testkit::{party_names, with_parameters};

/// So many ANDs of 2^22 columns in both arms.
fn program(ands: usize) -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Bool, &[1 << 22], None)?;
    let c = build.input("alice", "c", Dtype::Bool, &[], None)?;
    let (set, not) = (build.if_set(c, x)?, build.unless_set(c, x)?);
    let (set, not) = (chain(&mut build, ands, set, x)?, chain(&mut build, ands, not, x)?);
    let chosen = build.select(c, set, not)?;
    build.reveal(chosen, Recipient::All)?;
    build.finish()
}

fn admitted(protocol: &dyn Protocol, ands: usize, parties: usize) -> Result<(), Error> {
    let program = program(ands).expect("it is well formed");
    let plan = lower(&program, protocol.capabilities()).expect("bits have ANDs").plan;
    let names = party_names(parties);
    let clients = Participants::clients_of(&plan, &names);
    protocol.admit(&plan, &Participants::new(&plan, &names, &clients).expect("all are there"))
}

/// Of 2^27 ANDs that arms share masks at full length are made, of more they aren't; seeds are as long whatever they mask.
#[test]
fn plans_with_too_many_masks_are_refused_before_they_run() {
    assert!(admitted(&GMW, 32, 4).is_ok());
    let error = admitted(&GMW, 33, 4).expect_err("they are too many").to_string();
    assert!(error.contains("masks for arms of branches") && error.contains("of their own"), "{error}");
    for parties in [2, 3] {
        assert!(admitted(&GMW, 33, parties).is_ok(), "{parties} parties have seeds");
    }
    assert!(admitted(with_parameters(&GMW, &[("branching", "masked-vectors")]), 33, 2).is_err());
    assert!(admitted(with_parameters(&GMW, &[("branching", "standard")]), 33, 4).is_ok());
}
