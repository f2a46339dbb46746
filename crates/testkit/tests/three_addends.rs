//! Every operation by three additive components: a protocol whose components two parties each hold, asked for
//! nothing but ANDs and products.

use tacit_program::{Capabilities, Recipient};
use tacit_replicated::Replicated;
use tacit_testkit::conformance::catalogue::{self, Numbers};
use tacit_testkit::conformance::{self, Subject, circuits, cost, equality, robust, views, wire};
use tacit_testkit::{Altered, Rng};

static PROTOCOL: Altered =
    Altered::offering(&Replicated::COMPUTATIONAL, Capabilities::THREE_COMPONENTS.with_silent_parts());
static FRESH: Altered = Altered::offering(&Replicated::INFORMATION_THEORETIC, Capabilities::THREE_COMPONENTS);

fn subject() -> Subject {
    Subject::new(&PROTOCOL, 3)
}

/// The same, of which one in two is tried.
fn every_second() -> Subject {
    Subject { one_in: 2, ..subject() }
}

/// A test for every operation of the catalogue.
macro_rules! operations {
    ($($name:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];

        mod results {
            $(#[test] fn $name() { super::equality::operation(&super::every_second(), stringify!($name)); })*
        }

        mod costs {
            $(#[test] fn $name() { super::cost::operation(&super::every_second(), stringify!($name)); })*
        }
    };
}

operations!(
    input input_bits circuit circuit_public add sum sub_public mul square mul_public dot matmul matmul_batch matmul_public
    and or not_xor less less_equal equal not_equal select select_bits minimum maximum max max_bits
    argmax argmin absolute relu from_bool truncate truncate_far scale divide weigh
            arrange windows shuffle shuffle_bits sort sort_too repeat assume branch
);

#[test]
fn every_operation_is_tested() {
    assert_eq!(TESTED, catalogue::names());
}

/// All numbers and lengths of every operation: each time it's every second.
#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn the_whole_catalogue() {
    conformance::every_operation(&subject());
    equality::random_programs(&subject(), 100..2000);
    cost::random_programs(&subject(), 50..1000);
    circuits::tiles(&subject());
    for name in ["less", "equal", "from_bool", "truncate", "relu"] {
        views::operation(&subject(), name);
    }
}

#[test]
fn random_programs() {
    equality::random_programs(&subject(), 0..100);
    cost::random_programs(&subject(), 0..50);
    let fresh = Subject { protocol: &FRESH, fresh_masks: true, ..subject() };
    equality::random_programs(&fresh, 200..240);
}

#[test]
fn full_messages_and_tiles() {
    equality::around_a_message(&subject());
    circuits::few_tiles(&subject());
}

#[test]
fn messages() {
    wire::addresses_never_repeat(&subject());
    wire::lengths_do_not_depend_on_secrets(&subject());
    robust::every_message_altered(&subject());
}

/// What is received is uniform: shares of bits and of numbers that conversions make.
mod uniform {
    macro_rules! uniform {
        ($($name:ident)*) => {
            $(#[test] fn $name() { super::views::some_of_operation(&super::subject(), stringify!($name)); })*
        };
    }

    uniform!(less equal from_bool truncate relu);
}

#[test]
fn lengths_around_words() {
    let mut rng = Rng::new(8);
    let to = [Recipient::All];
    for name in catalogue::names() {
        for len in [1, 63, 64, 65, 129] {
            for numbers in [Numbers::int(7), Numbers::fixed(16, 5), Numbers::int(62)] {
                if let Ok(program) = catalogue::program(name, numbers, len, ["P0", "alice"], &to)
                    && subject().offers(&program)
                {
                    equality::check(&subject(), &program, &mut rng, &format!("{name} of {len} {numbers:?}"));
                }
            }
        }
    }
}
