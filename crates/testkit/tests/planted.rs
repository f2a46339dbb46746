//! Bugs planted on purpose: the suite has to notice each of them.
//!
//! The protocol here is the least that has messages worth a look: replicated bits, XOR and AND, inputs of parties,
//! outputs for all parties. Its right form passes; each other has one fault of a kind that has been shipped.

mod planted {
    pub(crate) mod bits;
}

use std::panic::AssertUnwindSafe;

use planted::bits::{Fault, PlantedBits};
use tacit_engine::planted::{Mistake, plant};
use tacit_engine::{Checks, Client, Engine, Error, Participants, Protocol, ProtocolSpec};
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::Plan;
use tacit_program::{Builder, Capabilities, Dtype, Program, Recipient, lower};
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_session::Session;
use tacit_testkit::conformance::catalogue::{self, Numbers};
use tacit_testkit::conformance::views::{self, Conduct, Leak};
use tacit_testkit::conformance::{Subject, cost, equality, known};
use tacit_testkit::sample::Flaw;
use tacit_testkit::{Altered, Case, Rng};

fn subject(protocol: &'static dyn Protocol) -> Subject {
    Subject { told: |_, _, _| true, ..Subject::new(protocol, 3) }
}

/// Two ANDs, the second on the first one's result.
fn two_ands() -> Program {
    let mut build = Builder::new();
    let [p, q] = [("P0", "p"), ("P1", "q")]
        .map(|(owner, name)| build.input(owner, name, Dtype::Bool, &[3], None).unwrap());
    let both = build.and(p, q).unwrap();
    let again = build.and(both, p).unwrap();
    build.reveal(again, Recipient::All).unwrap();
    build.finish().unwrap()
}

/// What each corrupt party's view tells.
fn leaks(protocol: &'static PlantedBits) -> [Result<usize, Leak>; 3] {
    let plan = lower(&two_ands(), Capabilities::TWO_COMPONENTS).unwrap().plan;
    let case = Case::new(protocol, 3, plan, &[vec![1, 0, 1], vec![1, 1, 0]]);
    [0, 1, 2].map(|corrupt| views::check(&subject(protocol), &case, &[corrupt], Conduct::Honest))
}

fn is_dependent(leak: &Result<usize, Leak>) -> bool {
    matches!(leak, Err(Leak::Flaw(Flaw::Dependent { .. })))
}

#[test]
fn the_right_form_passes() {
    static RIGHT: PlantedBits = PlantedBits(Fault::None);
    let mut rng = Rng::new(1);
    equality::check(&subject(&RIGHT), &two_ands(), &mut rng, "two ANDs");
    cost::check(&subject(&RIGHT), &two_ands(), "two ANDs");
    // Of an input one party gets a message, of each AND all do.
    assert_eq!(leaks(&RIGHT), [Ok(9), Ok(6), Ok(9)]);
}

#[test]
fn a_missing_mask_is_noticed() {
    static BARE: PlantedBits = PlantedBits(Fault::NoMask);
    equality::check(&subject(&BARE), &two_ands(), &mut Rng::new(1), "results are right all the same");
    assert!(leaks(&BARE).iter().all(is_dependent));
}

#[test]
fn a_mask_that_the_receiver_knows_is_noticed() {
    static KNOWN: PlantedBits = PlantedBits(Fault::KnownMask);
    assert!(leaks(&KNOWN).iter().all(is_dependent));
}

#[test]
fn a_mask_that_serves_twice_is_noticed() {
    static TWICE: PlantedBits = PlantedBits(Fault::SameMask);
    equality::check(&subject(&TWICE), &two_ands(), &mut Rng::new(1), "results are right all the same");
    // Where the input's share is received too, what the masks leave is a product, and shows as a bias first.
    assert!(leaks(&TWICE).iter().all(Result::is_err));
    assert!(leaks(&TWICE).iter().any(is_dependent));
}

#[test]
fn a_mask_of_which_some_bits_are_zero_is_noticed() {
    static SOME: PlantedBits = PlantedBits(Fault::OneBitOfMask);
    equality::check(&subject(&SOME), &two_ands(), &mut Rng::new(1), "results are right all the same");
    assert!(leaks(&SOME).iter().all(is_dependent));
}

#[test]
fn a_biased_mask_is_noticed() {
    static BIASED: PlantedBits = PlantedBits(Fault::BiasedMask);
    let biased = |leak: &Result<usize, Leak>| matches!(leak, Err(Leak::Flaw(Flaw::Biased { .. })));
    assert!(leaks(&BIASED).iter().any(biased));
}

#[test]
fn padding_that_carries_something_is_noticed() {
    static PADDED: PlantedBits = PlantedBits(Fault::Padding);
    equality::check(&subject(&PADDED), &two_ands(), &mut Rng::new(1), "results are right all the same");
    assert!(leaks(&PADDED).iter().all(|leak| matches!(leak, Err(Leak::Padding(_)))));
}

#[test]
#[should_panic(expected = "output 0 at P0")]
fn a_wrong_result_is_noticed() {
    static WRONG: PlantedBits = PlantedBits(Fault::WrongTerm);
    // One of the nine products of shares is missing: some inputs show it.
    for seed in 0..20 {
        equality::check(&subject(&WRONG), &two_ands(), &mut Rng::new(seed), "two ANDs");
    }
}

/// Whether the suite passes a protocol whose parties don't compare what they were given as public inputs.
fn passes_without_comparison(protocol: &'static dyn Protocol) -> bool {
    let mistaken = Altered::beginning_with(protocol, |_| plant(&[Mistake::PublicInputsNotCompared]));
    let suite = |protocol: &'static dyn Protocol| {
        let tried = AssertUnwindSafe(|| known::other_values(&Subject::new(protocol, 3)));
        std::panic::catch_unwind(tried).is_ok()
    };
    assert!(suite(protocol));
    suite(mistaken)
}

#[test]
fn public_inputs_that_are_not_compared_are_noticed() {
    assert!(!passes_without_comparison(&Replicated::COMPUTATIONAL));
    assert!(!passes_without_comparison(&ReplicatedMalicious::SOUNDNESS_50));
}

/// The replicated protocol with another account of its costs.
struct Misdeclared {
    /// What is declared for each flow of an operation instead.
    bits: fn(u64) -> u64,
    /// Whether the check's messages are declared.
    check: bool,
}

impl Protocol for Misdeclared {
    fn spec(&self) -> &ProtocolSpec {
        Replicated::COMPUTATIONAL.spec()
    }

    fn capabilities(&self) -> Capabilities {
        Replicated::COMPUTATIONAL.capabilities()
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        let mut sent = Replicated::COMPUTATIONAL.price(plan, participants, step);
        if let Step::Stage { .. } = step {
            for (_, flow) in &mut sent {
                flow.bits = (self.bits)(flow.bits);
            }
        }
        sent
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        if self.check { Replicated::COMPUTATIONAL.checks(plan, participants) } else { Checks::default() }
    }

    fn engine(
        &self,
        session: Session,
        plan: std::sync::Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        Replicated::COMPUTATIONAL.engine(session, plan, participants)
    }

    fn client(
        &self,
        session: Session,
        plan: std::sync::Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        Replicated::COMPUTATIONAL.client(session, plan, participants)
    }
}

fn less() -> Program {
    let to = [Recipient::All];
    catalogue::program("less", Numbers::int(7), 65, ["P0", "alice"], &to).unwrap()
}

#[test]
#[should_panic(expected = "bytes by operation")]
fn a_byte_too_much_in_the_account_is_noticed() {
    static DEAR: Misdeclared = Misdeclared { bits: |bits| bits + 8, check: true };
    cost::check(&subject(&DEAR), &less(), "less");
}

#[test]
#[should_panic(expected = "bytes by operation")]
fn whole_bytes_for_bits_in_the_account_are_noticed() {
    static ROUNDED: Misdeclared = Misdeclared { bits: |bits| bits / 8 * 8, check: true };
    cost::check(&subject(&ROUNDED), &less(), "less");
}

#[test]
#[should_panic(expected = "bytes by phase")]
fn messages_that_are_not_in_the_account_are_noticed() {
    static HIDDEN: Misdeclared = Misdeclared { bits: |bits| bits, check: false };
    cost::check(&subject(&HIDDEN), &less(), "less");
}
