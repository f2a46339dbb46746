//! A plan with a guard, and what waits for it.

use super::cases::given;
use super::messages::is_output;
use tacit_engine::Protocol;
use tacit_program::plan::{Builder, Form, Layout, Local, OpKind, Rows, To};
use tacit_testkit::Case;
use tacit_testkit::conformance::order::Release;

/// The place of the guard among the outputs.
const GUARD: u32 = 2;

/// An AND of so many bits, for all and for a client; the run ends if the first of them is 1.
pub(crate) fn guarded(protocol: &'static dyn Protocol, cols: usize) -> Case {
    let mut build = Builder::new();
    let [x, y] = ["P0", "alice"].map(|owner| given(&mut build, owner, cols));
    let (both, first, guard) = (build.bits(1, cols), build.bits(1, 1), build.bits(1, 1));
    let [a, b, dst] = [x, y, both].map(|reg| Rows::one(reg, 0));
    build.interact(OpKind::And { a, b, dst });
    build.local(Local::Copy { a: both, layout: Layout::whole(&[1]), at: 0, dst: first });
    build.local(Local::Not { a: Rows::one(first, 0), dst: Rows::one(guard, 0) });
    build.output(both, To::All);
    let carol = build.role("carol");
    build.output(both, To::One(carol));
    build.guard(guard, Form::Elements);
    let inputs: Vec<Vec<u64>> =
        (0..2).map(|input| (0..cols as u64).map(|at| at >> input & 1).collect()).collect();
    Case::new(protocol, 3, build.finish(), &inputs)
}

/// What [`guarded`] releases, beside what is so of all plans.
pub(crate) const GUARDED: [Release; 1] = [Release {
    what: "another output's component, or its digest",
    after: "the guard's component, and its digest, are at this party",
    is: |sent| is_output(sent) && sent.at.op != GUARD,
    waits_for: |output, held| is_output(held) && held.at.op == GUARD && held.to == output.from,
}];
