//! The suite as tests.

/// Mounts the suite: `conformance!(subject)`, where `subject` is an expression of type
/// [`Subject`](crate::conformance::Subject). It makes one `#[test]` for every claim and operation.
///
/// A view takes hundreds of runs: each time some of an operation's are tried, and all of them with the long tests.
///
/// Where operations come down to few others and runs take long, `conformance!(subject; views: and circuit)` tries the views of
/// these each time, with one ring and one field besides those of words. All of them are among the long tests.
///
/// With `conformance!(subject; long views: input mul)` these are the only views, and among the long tests: for a protocol whose
/// runs make what another one's are dealt, by the same code.
///
/// ```
/// use tacit_replicated::Replicated;
/// use tacit_testkit::conformance::Subject;
///
/// tacit_testkit::conformance!(Subject {
///     told: |corrupt, _client, call| corrupt == 1 || corrupt == 2 * call,
///     baseline: "vectors/wire/replicated.txt".into(),
///     ..Subject::new(&Replicated::COMPUTATIONAL, 3)
/// });
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! conformance {
    ($subject:expr) => {
        $crate::conformance!(@each $subject);
        $crate::conformance!(
            @views $subject;
            input input_bits circuit circuit_public add sum sub_public mul square mul_public dot matmul matmul_batch
            matmul_public and or not_xor less less_equal equal not_equal select select_bits minimum maximum max
            max_bits argmax argmin absolute relu from_bool truncate truncate_far scale divide weigh
            arrange windows shuffle shuffle_bits sort sort_too repeat
        );

        mod large {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn views_of_few_moduli() {
                $crate::conformance::views::few_moduli(&$subject);
            }

            #[test]
            #[ignore = "takes minutes; `make test-long` runs it"]
            fn views_of_moduli() {
                $crate::conformance::views::moduli(&$subject);
            }

            #[test]
            fn views_of_circuits() {
                $crate::conformance::views::circuits(&$subject);
            }

            #[test]
            fn views_of_pieces() {
                $crate::conformance::views::pieces(&$subject);
            }

            #[test]
            fn views_of_public_inputs() {
                $crate::conformance::known::views(&$subject);
            }

            #[test]
            fn few_tiles() {
                $crate::conformance::circuits::few_tiles(&$subject);
            }

            #[test]
            #[ignore = "takes a minute; `make test-long` runs it"]
            fn tiles() {
                $crate::conformance::circuits::tiles(&$subject);
            }
        }
    };

    ($subject:expr; views: $($viewed:ident)*) => {
        $crate::conformance!(@each $subject);
        $crate::conformance!(@views $subject; $($viewed)*);

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
            fn views_of_circuits() {
                $crate::conformance::views::circuits(&$subject);
            }

            #[test]
            #[ignore = "takes minutes; `make test-long` runs it"]
            fn views_of_pieces() {
                $crate::conformance::views::pieces(&$subject);
            }

            #[test]
            #[ignore = "takes minutes; `make test-long` runs it"]
            fn views_of_public_inputs() {
                $crate::conformance::known::views(&$subject);
            }

            #[test]
            #[ignore = "takes minutes; `make test-long` runs it"]
            fn tiles() {
                $crate::conformance::circuits::tiles(&$subject);
            }
        }
    };

    // Runs that take so long that views of a few operations are among the long tests, too.
    ($subject:expr; long views: $($viewed:ident)*) => {
        $crate::conformance!(@each $subject);

        mod view_of {
            #[allow(unused_imports)]
            use super::*;
            $(
                #[test]
                #[ignore = "takes minutes; `make test-long` runs it"]
                fn $viewed() { $crate::conformance::views::operation(&$subject, stringify!($viewed)); }
            )*
        }
    };

    (@views $subject:expr; $($viewed:ident)*) => {
        mod views {
            #[allow(unused_imports)]
            use super::*;

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

        mod view_of {
            #[allow(unused_imports)]
            use super::*;
            $(#[test] fn $viewed() { $crate::conformance::views::some_of_operation(&$subject, stringify!($viewed)); })*
        }
    };

    (@each $subject:expr) => {
        $crate::conformance!(@catalogue $subject;
            input input_bits circuit circuit_public add sum sub_public mul square mul_public dot matmul matmul_batch matmul_public
            and or not_xor less less_equal equal not_equal select select_bits minimum maximum max max_bits
            argmax argmin absolute relu from_bool truncate truncate_far scale divide weigh
            arrange windows shuffle shuffle_bits sort sort_too repeat assume branch
        );

        mod equality {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn random_programs() {
                $crate::conformance::equality::random_programs(&$subject, 0..100);
            }

            #[test]
            #[ignore = "takes a minute; `make test-long` runs it"]
            fn many_random_programs() {
                $crate::conformance::equality::random_programs(&$subject, 100..40_000);
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
                $crate::conformance::cost::random_programs(&$subject, 0..100);
            }

            #[test]
            #[ignore = "takes a minute; `make test-long` runs it"]
            fn many_random_programs() {
                $crate::conformance::cost::random_programs(&$subject, 100..10_000);
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
                $crate::conformance::robust::random_deviations(&$subject, 0..200);
            }

            #[test]
            #[ignore = "takes a minute; `make test-long` runs it"]
            fn many_random_deviations() {
                $crate::conformance::robust::random_deviations(&$subject, 200..40_000);
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

        mod residents {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn what_one_run_keeps_another_one_reads() {
                $crate::conformance::residents::random_programs(&$subject, 0..60);
            }

            #[test]
            fn changed_shares() {
                $crate::conformance::residents::changed_shares(&$subject);
            }

            #[test]
            fn fresh_shares() {
                $crate::conformance::residents::fresh_shares(&$subject);
            }
        }

        mod known {
            #[allow(unused_imports)]
            use super::*;

            #[test]
            fn results_and_costs() {
                $crate::conformance::known::results_and_costs(&$subject);
            }

            #[test]
            fn withheld_messages() {
                $crate::conformance::known::withheld_messages(&$subject);
            }

            #[test]
            fn other_values() {
                $crate::conformance::known::other_values(&$subject);
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
