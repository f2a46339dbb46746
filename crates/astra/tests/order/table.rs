//! Who may release what, and after what.

use tacit_astra::step;
use tacit_net::At;
use tacit_testkit::conformance::order::{Release, Sent};

/// The values of `roles=`.
pub(crate) const SEATS: [&str; 6] = ["012", "021", "102", "120", "201", "210"];

/// How offline checks are numbered in a case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checks {
    /// There is one, of a batch for each domain.
    One,
    /// There are several, each of the batch of its number.
    Many,
}

/// The table for parties that play their roles in one of the orders of [`SEATS`].
pub(crate) fn table<const ORDER: usize>(checks: Checks) -> Vec<Release> {
    let of_triples = match checks {
        Checks::One => OFFLINE_OF_ONE,
        Checks::Many => OFFLINE_OF_MANY,
    };
    [of_triples, &ONLINE, &of_roles::<ORDER>()].concat()
}

/// What is checked offline.
const OFFLINE_OF_ONE: &[Release] = &[
    Release {
        what: "a commitment to a coin",
        after: "all that this party receives of what is checked: its gammas, triples' parts, c_1 and c_2",
        is: |sent| sent.at.part == step::COIN_COMMIT,
        waits_for: |sent, held| held.to == sent.from && is_checked(held.at),
    },
    Release {
        what: "an opening of a coin",
        after: "both other commitments, here, and so all that is checked, wherever it is received",
        is: |sent| sent.at.part == step::COIN_OPEN,
        waits_for: |sent, held| {
            held.at.part == step::COIN_COMMIT && held.to == sent.from || is_checked(held.at)
        },
    },
    Release {
        what: "garbled circuits' acceptance",
        after: "all that is garbled, and at P_2 the other garbler's digest",
        is: |sent| sent.at.part == step::GARBLED_ACCEPT,
        waits_for: |sent, held| {
            held.to == sent.from && (held.at.part == step::GARBLED_DIGEST || is_made(held.at))
        },
    },
    opened(|sent, held| held.at.part == step::COIN_OPEN && held.to == sent.from),
    zero(|sent, held| is_opened(held.at) && held.to == sent.from),
    accepted(|sent, held| held.at.part == step::CHECK_ZERO && held.to == sent.from),
];

/// The same where there are several, in the order of their numbers.
const OFFLINE_OF_MANY: &[Release] = &[
    Release {
        what: "a commitment to a coin",
        after: "all that this party receives of its batch, and of those before",
        is: |sent| sent.at.part == step::COIN_COMMIT,
        waits_for: |sent, held| held.to == sent.from && is_of_batch(held.at) && held.at.op <= sent.at.op,
    },
    Release {
        what: "an opening of a coin",
        after: "both other commitments, here, and so all that is checked, wherever it is received",
        is: |sent| sent.at.part == step::COIN_OPEN,
        waits_for: |sent, held| {
            let is_commitment = held.at.part == step::COIN_COMMIT && held.to == sent.from;
            (is_commitment || is_of_batch(held.at)) && held.at.op <= sent.at.op
        },
    },
    opened(|sent, held| held.at.part == step::COIN_OPEN && held.to == sent.from && held.at.op <= sent.at.op),
    zero(|sent, held| is_opened(held.at) && held.to == sent.from && held.at.op <= sent.at.op),
    accepted(|sent, held| {
        held.at.part == step::CHECK_ZERO && held.to == sent.from && held.at.op <= sent.at.op
    }),
];

const fn opened(waits_for: fn(Sent, Sent) -> bool) -> Release {
    Release {
        what: "differences of products and triples",
        after: "all openings of the coin",
        is: |sent| sent.at.part == step::CHECK_OPENED,
        waits_for,
    }
}

const fn zero(waits_for: fn(Sent, Sent) -> bool) -> Release {
    Release {
        what: "digests of what has to be zero",
        after: "the differences that were opened to this party, and their digest",
        is: |sent| sent.at.part == step::CHECK_ZERO,
        waits_for,
    }
}

const fn accepted(waits_for: fn(Sent, Sent) -> bool) -> Release {
    Release {
        what: "that triples are accepted",
        after: "both digests of what has to be zero",
        is: |sent| sent.at.part == step::CHECK_ACCEPT,
        waits_for,
    }
}

/// What doesn't depend on who plays what.
const ONLINE: [Release; 6] = [
    Release {
        what: "anything online, by a party",
        after: "all acceptances of what was made ahead",
        is: |sent| sent.from < 3 && (is_input(sent.at) || is_online(sent.at)),
        waits_for: |sent, held| {
            held.to == sent.from && [step::CHECK_ACCEPT, step::GARBLED_ACCEPT].contains(&held.at.part)
        },
    },
    Release {
        what: "a client's input",
        after: "both holders' word on each seed",
        is: |sent| sent.from >= 3 && sent.at.part == step::INPUT,
        waits_for: |sent, held| held.to == sent.from && held.at.part == step::SEED,
    },
    Release {
        what: "what is compared of inputs",
        after: "all of these",
        is: |sent| sent.at.part == step::SHARED_INPUT,
        waits_for: |sent, held| held.to == sent.from && held.at.part == step::INPUT,
    },
    Release {
        what: "a verdict, and the key that hides outputs from clients",
        after: "all that this party compares: digests and tags",
        is: |sent| [step::ACCEPT, step::OUTPUT_KEY].contains(&sent.at.part),
        waits_for: |sent, held| held.to == sent.from && is_compared(held.at),
    },
    Release {
        what: "a component of an output, or its hash",
        after: "both other verdicts, and for clients the key",
        is: |sent| is_output(sent.at),
        waits_for: |sent, held| {
            let is_key = held.at.part == step::OUTPUT_KEY && sent.to >= 3;
            held.to == sent.from && (held.at.part == step::ACCEPT || is_key)
        },
    },
    Release {
        what: "a component of an output, or its hash",
        after: "all that anybody compares, wherever that is",
        is: |sent| is_output(sent.at),
        waits_for: |_, held| is_compared(held.at) || held.at.part == step::SHARED_INPUT,
    },
];

fn of_roles<const ORDER: usize>() -> [Release; 4] {
    [
        Release {
            what: "what an evaluator computes",
            after: "what the other one has of the inputs that both were given",
            is: |sent| role::<ORDER>(sent.from) != Some(0) && is_online(sent.at),
            waits_for: |sent, held| held.to == sent.from && held.at.part == step::SHARED_INPUT,
        },
        Release {
            what: "P_2's evaluation of garbled signs",
            after: "each label of theirs",
            is: |sent| is_signs(sent.at) && role::<ORDER>(sent.from) == Some(2),
            waits_for: |sent, held| {
                let is_label = role::<ORDER>(held.from) == Some(1) && held.at.part == step::OPERATION;
                let job = |at: At| (at.op, at.batch);
                held.to == sent.from && is_label && (held.at.op, held.at.batch / LABELS) == job(sent.at)
            },
        },
        Release {
            what: "P_2's sum of tags",
            after: "all labels",
            is: |sent| sent.at.part == step::TAGS,
            waits_for: |sent, held| {
                held.to == sent.from && held.at.part == step::OPERATION && role::<ORDER>(held.from) == Some(1)
            },
        },
        Release {
            what: "P_0's digests of what it computed",
            after: "all operands that P_1 shows, and P_2's digest of them",
            is: |sent| sent.at.part == step::COMPUTED_DIGEST,
            waits_for: |sent, held| {
                held.to == sent.from && (held.at.part == step::SHOWN_DIGEST || is_shown(held.at))
            },
        },
    ]
}

/// Messages of labels that a job has at most.
const LABELS: u32 = 128;

/// The role that a party plays.
fn role<const ORDER: usize>(party: usize) -> Option<usize> {
    SEATS[ORDER].bytes().position(|digit| usize::from(digit - b'0') == party)
}

/// Whether a message is part of a batch of triples: what is checked, or what it is checked against.
fn is_of_batch(at: At) -> bool {
    [step::CHECK_PRODUCTS, step::CHECK_TRIPLES].contains(&at.part)
}

/// Whether a message is what `P_0` makes of the plan's products and MSB extractions.
fn is_made(at: At) -> bool {
    step::is_offline(at.part) && at.part < step::CHECK_PRODUCTS
}

fn is_checked(at: At) -> bool {
    is_of_batch(at) || is_made(at)
}

fn is_opened(at: At) -> bool {
    [step::CHECK_OPENED, step::CHECK_DIGEST].contains(&at.part)
}

fn is_input(at: At) -> bool {
    [step::SEED, step::INPUT, step::SHARED_INPUT].contains(&at.part)
}

/// Whether a message is an operation's online, to whomever.
fn is_online(at: At) -> bool {
    (step::OPERATION..step::OFFLINE).contains(&at.part)
}

fn is_shown(at: At) -> bool {
    (step::OPERATION + step::MASKED..step::OFFLINE).contains(&at.part)
}

/// Whether a message has bits that were evaluated: the second stage, which only MSB extraction has.
fn is_signs(at: At) -> bool {
    at.part == step::OPERATION + 1
}

fn is_compared(at: At) -> bool {
    [step::SHOWN_DIGEST, step::COMPUTED_DIGEST, step::TAGS].contains(&at.part)
}

fn is_output(at: At) -> bool {
    [step::OUTPUT, step::OUTPUT_DIGEST].contains(&at.part)
}
