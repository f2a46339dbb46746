//! What every protocol has to show.
//!
//! | module | shows |
//! | --- | --- |
//! | [`equality`] | results are those of the clear reference, for whoever learns them and nobody else |
//! | [`cost`] | payload bytes on every link are those declared, exactly, and chains of messages as long as the plan says |
//! | [`views`] | what a party receives is uniform, whatever the inputs and whatever the party does |
//! | [`predictions`] | nor is anything told to a party and a client who put together what they have |
//! | [`robust`] | deviations and deaths end in errors that name who is at fault, never in a hang or a panic |
//! | [`attacks`] | for protocols that promise it: one that deviates is noticed, and nobody has a wrong output |
//! | [`order`] | nothing is released before what it waits for is where it must be |
//! | [`fairness`] | of the protocol that promises it: all honest parties have the outputs, or nobody has |
//! | [`links`] | the same over memory, TCP and TLS, for a few dozen cases |
//! | [`lanes`] | lanes share no address, no stream and no link, and a failure of one ends all |
//! | [`refusals`] | what a protocol doesn't offer it refuses before anything is sent |
//! | [`wire`] | addresses don't repeat, lengths don't depend on secrets, bytes are those of a kept trace |
//!
//! Programs come from the [`catalogue`], one for every operation, and from [`crate::generate`]. A protocol that is fair reveals
//! outputs to parties alone: what would be a client's goes to a party, see `Subject::lowered`.

pub mod attacks;
pub mod catalogue;
pub mod circuits;
pub mod cost;
pub mod equality;
pub mod fairness;
pub mod lanes;
pub mod links;
pub mod order;
pub mod predictions;
pub mod refusals;
pub mod robust;
pub mod views;
pub mod wire;

use std::path::PathBuf;

use catalogue::Numbers;
use tacit_engine::{Protocol, Security};
use tacit_program::plan::{Plan, To};
use tacit_program::{Dtype, Feature, Lowered, Modulus, Program, Recipient, lower};

/// A protocol, and what the suite has to know about it.
pub struct Subject {
    /// The protocol.
    pub protocol: &'static dyn Protocol,
    /// What a corrupt party is told of others' randomness: `told(corrupt, endpoint, call)` says whether `corrupt`
    /// learns what `endpoint` draws in its `call`-th draw after the handshake. What is told is held fixed when a
    /// view is examined.
    pub told: fn(corrupt: usize, endpoint: usize, call: usize) -> bool,
    /// Whether parties draw masks afresh, where others take them from keys that they share.
    pub fresh_masks: bool,
    /// The file of hashes that a seeded run's trace must have.
    pub baseline: PathBuf,
}

impl Subject {
    /// An operation of the catalogue; `None` if it isn't defined for such numbers, or the protocol doesn't offer it.
    pub(crate) fn sample(
        &self,
        name: &str,
        numbers: Numbers,
        len: usize,
        owners: [&str; 2],
        to: &[Recipient],
    ) -> Option<Program> {
        let program = catalogue::program(name, numbers, len, owners, to).ok()?;
        self.offers(&program).then_some(program)
    }

    /// Whether the protocol has means for a program. One without rings may refuse arithmetic modulo a prime, and no
    /// other may refuse anything.
    pub(crate) fn offers(&self, program: &Program) -> bool {
        let offered = self.protocol.capabilities();
        let primes = [Modulus::Mersenne61, Modulus::Prime128].map(Dtype::Modular);
        offered.offers(Feature::Fp61) || !program.nodes().iter().any(|node| primes.contains(&node.ty.kind))
    }

    /// Whether the protocol is fair. Then outputs are for parties alone, and a run has one lane; the rest it refuses.
    pub(crate) fn is_fair(&self) -> bool {
        self.protocol.spec().security == Security::Fair
    }

    /// A program that the protocol has means for, lowered to them, and to outputs for parties alone if it is fair.
    pub(crate) fn lowered(&self, program: &Program) -> Lowered {
        let mut lowered = lower(program, self.protocol.capabilities()).expect("the protocol offers it");
        if self.is_fair() {
            let parties = *self.protocol.spec().parties.start();
            for_parties(
                &mut lowered.plan,
                &(0..parties).map(|party| format!("P{party}")).collect::<Vec<_>>(),
            );
        }
        lowered
    }
}

/// Gives every output that a client learns to one party instead, to each in turn; clients that then do nothing are left out.
fn for_parties(plan: &mut Plan, parties: &[String]) {
    let owners: Vec<String> =
        plan.inputs.iter().map(|input| plan.roles[input.owner as usize].clone()).collect();
    let clients = plan.roles.iter().any(|role| !parties.contains(role));
    let learner = |(index, to): (usize, To)| match to {
        To::All if !clients => None,
        To::One(role) if parties.contains(&plan.roles[role as usize]) => {
            Some(plan.roles[role as usize].clone())
        }
        _ => Some(parties[index % parties.len()].clone()),
    };
    let learners: Vec<Option<String>> =
        plan.outputs.iter().map(|output| output.to).enumerate().map(learner).collect();
    plan.roles.clear();
    let mut role = |name: String| {
        let known = plan.roles.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            plan.roles.push(name);
            plan.roles.len() - 1
        }) as u32
    };
    for (input, owner) in plan.inputs.iter_mut().zip(owners) {
        input.owner = role(owner);
    }
    for (output, learner) in plan.outputs.iter_mut().zip(learners) {
        output.to = learner.map_or(To::All, |name| To::One(role(name)));
    }
}

/// Mounts the suite: `conformance!(subject)`, where `subject` is an expression of type
/// [`Subject`](crate::conformance::Subject). It makes one `#[test]` for every claim and operation.
///
/// A view takes hundreds of runs. Where operations come down to few others and runs take long, `conformance!(subject;
/// views: and circuit)` tries the views of these each time, with one ring and one field besides those of words, and one
/// circuit of many tiles. All of them are among the long tests.
///
/// ```
/// use tacit_replicated::Replicated;
/// use tacit_testkit::conformance::Subject;
///
/// tacit_testkit::conformance!(Subject {
///     protocol: &Replicated::COMPUTATIONAL,
///     told: |corrupt, _client, call| corrupt == 1 || corrupt == 2 * call,
///     fresh_masks: false,
///     baseline: "vectors/wire/replicated.txt".into(),
/// });
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! conformance {
    ($subject:expr) => {
        $crate::conformance!(
            @each $subject;
            views: input input_bits circuit add sum sub_public mul square mul_public dot matmul matmul_batch
            matmul_public and or not_xor less less_equal equal not_equal select select_bits minimum maximum max
            max_bits argmax argmin absolute relu from_bool truncate truncate_far scale divide weigh
            arrange
        );

        mod large {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn views_of_moduli() {
                $crate::conformance::views::moduli(&$subject);
            }

            #[test]
            fn views_of_pieces() {
                $crate::conformance::views::pieces(&$subject);
            }

            #[test]
            fn tiles() {
                $crate::conformance::circuits::tiles(&$subject);
            }
        }
    };

    ($subject:expr; views: $($viewed:ident)*) => {
        $crate::conformance!(@each $subject; views: $($viewed)*);

        mod large {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn views_of_few_moduli() {
                $crate::conformance::views::few_moduli(&$subject);
            }

            #[test]
            fn few_tiles() {
                $crate::conformance::circuits::few_tiles(&$subject);
            }

            #[test]
            #[ignore = "takes minutes; `make test-long` runs it"]
            fn views_of_moduli() {
                $crate::conformance::views::moduli(&$subject);
            }

            #[test]
            #[ignore = "takes minutes; `make test-long` runs it"]
            fn views_of_pieces() {
                $crate::conformance::views::pieces(&$subject);
            }

            #[test]
            #[ignore = "takes minutes; `make test-long` runs it"]
            fn tiles() {
                $crate::conformance::circuits::tiles(&$subject);
            }
        }
    };

    (@each $subject:expr; views: $($viewed:ident)*) => {
        mod view_of {
            #[allow(unused_imports)]
            use super::*;
            $(#[test] fn $viewed() { $crate::conformance::views::operation(&$subject, stringify!($viewed)); })*
        }

        $crate::conformance!(@catalogue $subject;
            input input_bits circuit add sum sub_public mul square mul_public dot matmul matmul_batch matmul_public
            and or not_xor less less_equal equal not_equal select select_bits minimum maximum max max_bits
            argmax argmin absolute relu from_bool truncate truncate_far scale divide weigh
            arrange
        );

        mod equality {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn random_programs() {
                $crate::conformance::equality::random_programs(&$subject, 0..400);
            }

            #[test]
            #[ignore = "takes a minute; `make test-long` runs it"]
            fn many_random_programs() {
                $crate::conformance::equality::random_programs(&$subject, 400..40_000);
            }

            #[test]
            fn around_a_message() {
                $crate::conformance::equality::around_a_message(&$subject);
            }
        }

        mod circuits {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn random() {
                $crate::conformance::circuits::random(&$subject, 0..60);
            }
        }

        mod cost {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn random_programs() {
                $crate::conformance::cost::random_programs(&$subject, 0..300);
            }
        }

        mod views {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn circuits() {
                $crate::conformance::views::circuits(&$subject);
            }

            #[test]
            #[ignore = "takes minutes; `make test-long` runs it"]
            fn all_operations() {
                $crate::conformance::views::all_operations(&$subject);
            }

            #[test]
            #[ignore = "takes minutes; `make test-long` runs it"]
            fn wider_operations() {
                $crate::conformance::views::wider_operations(&$subject);
            }
        }

        mod wire {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn addresses_never_repeat() {
                $crate::conformance::wire::addresses_never_repeat(&$subject);
            }

            #[test]
            fn lengths_and_order_do_not_depend_on_secrets() {
                $crate::conformance::wire::lengths_do_not_depend_on_secrets(&$subject);
            }

            #[test]
            fn bytes_are_those_of_the_baseline() {
                $crate::conformance::wire::baseline(&$subject);
            }
        }

        mod robust {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn every_message_altered() {
                $crate::conformance::robust::every_message_altered(&$subject);
            }

            #[test]
            fn every_message_delayed() {
                $crate::conformance::robust::every_message_delayed(&$subject);
            }

            #[test]
            fn death_at_any_point() {
                $crate::conformance::robust::death_at_any_point(&$subject);
            }

            #[test]
            fn random_deviations() {
                $crate::conformance::robust::random_deviations(&$subject, 0..400);
            }

            #[test]
            #[ignore = "takes a minute; `make test-long` runs it"]
            fn many_random_deviations() {
                $crate::conformance::robust::random_deviations(&$subject, 400..40_000);
            }

            #[test]
            fn a_party_that_never_comes() {
                $crate::conformance::robust::a_party_that_never_comes(&$subject);
            }

            #[test]
            fn disagreements() {
                $crate::conformance::robust::disagreements(&$subject);
            }

            #[test]
            fn wrong_inputs_are_refused() {
                $crate::conformance::robust::wrong_inputs_are_refused(&$subject);
            }
        }

        mod lanes {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn results_and_addresses() {
                $crate::conformance::lanes::results_and_addresses(&$subject);
            }

            #[test]
            fn a_deviation_ends_all_lanes() {
                $crate::conformance::lanes::a_deviation_ends_all_lanes(&$subject);
            }
        }

        #[test]
        fn outputs_for_clients_are_right_or_refused() {
            $crate::conformance::refusals::outputs_for_clients(&$subject);
        }

        $crate::conformance!(@links $subject; memory Memory, tcp Tcp, tls Tls);

        #[test]
        fn every_operation_is_mounted() {
            assert_eq!(MOUNTED.to_vec(), $crate::conformance::catalogue::names());
        }
    };

    (@catalogue $subject:expr; $($name:ident)*) => {
        const MOUNTED: &[&str] = &[$(stringify!($name)),*];

        mod equality_of {
            #[allow(unused_imports)]
            use super::*;
            $(#[test] fn $name() { $crate::conformance::equality::operation(&$subject, stringify!($name)); })*
        }

        mod cost_of {
            #[allow(unused_imports)]
            use super::*;
            $(#[test] fn $name() { $crate::conformance::cost::operation(&$subject, stringify!($name)); })*
        }

    };
    (@links $subject:expr; $($name:ident $medium:ident),*) => {
        $(mod $name {
            #[allow(unused_imports)]
            use super::*;
            use $crate::links::Medium;

            #[test]
            fn results_and_costs() {
                $crate::conformance::links::results_and_costs(&$subject, Medium::$medium);
            }

            #[test]
            fn death() {
                $crate::conformance::links::death(&$subject, Medium::$medium);
            }

            #[test]
            fn in_lanes() {
                $crate::conformance::lanes::over(&$subject, Medium::$medium);
            }
        })*
    };
}
