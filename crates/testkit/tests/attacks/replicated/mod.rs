//! Attacks on `replicated-malicious`. One party attacks, each of the three in turn, and gives no inputs unless it says so.

mod field;
mod guard;
mod inputs;
mod log;
mod outputs;
mod points;
mod products;
mod stage;
mod unproved;
mod withheld;

use points::Early;
use products::{Divided, PrimeFrom, WithheldProducts};
use stage::Stage;
use tacit_replicated::planted::{Mistake, Shared};
use tacit_replicated::step;
use unproved::Unproved;
use withheld::{FEW, Knows, MANY, Withheld};

use crate::table::{Attack, Outcome, Version};

/// The protocol's name.
const NAME: &str = "replicated-malicious";
/// Words of a full batch.
const FULL: usize = 1 << 16;

/// ANDs beside those that matter: without them most of a proof's blocks would be empty, and the numbers that attackers
/// choose from few.
const SMALL: usize = 64 * 64;

/// All of them.
pub(crate) fn attacks() -> Vec<Attack> {
    [kept_back(), of_products(), too_early(), unproved()].concat()
}

fn attack(name: &'static str, protocol: &'static str, runs: u64, run: fn(Version, u64) -> Outcome) -> Attack {
    Attack { name, protocol, runs, long: false, run }
}

/// Messages that are kept back, and chosen by what comes then.
fn kept_back() -> Vec<Attack> {
    vec![
        attack("ANDs kept back and chosen by the first point", NAME, 3, |version, seed| {
            DEFAULT.run(version, seed)
        }),
        attack("the same, before several middle rounds", NAME, 1, |version, seed| ROUNDS.run(version, seed)),
        attack("the same, in a full batch", NAME, 1, |version, seed| FULL_BATCH.run(version, seed)),
        attack("the same, in a full tile of several pieces", NAME, 1, |version, seed| {
            TILE.run(version, seed)
        }),
        attack("the same, in the first of two full batches", NAME, 1, |version, seed| {
            FIRST.run(version, seed)
        }),
        attack("the same, in the last of several batches", NAME, 3, |version, seed| {
            SEVERAL.run(version, seed)
        }),
        attack("the same, beyond a full batch", NAME, 1, |version, seed| BEYOND.run(version, seed)),
        attack(
            "ANDs kept back and chosen by the first point",
            "replicated-malicious proofs=li-2023",
            3,
            |version, seed| LI.run(version, seed),
        ),
        attack(
            "ANDs kept back and chosen by both first points",
            "replicated-malicious soundness=100",
            1,
            |version, seed| TWICE.run(version, seed),
        ),
        attack(
            "ANDs kept back and chosen by one of two first points",
            "replicated-malicious soundness=100",
            3,
            |version, seed| UNCHECKED.run(version, seed),
        ),
        attack(
            "ANDs kept back and chosen by a point that serves twice",
            "replicated-malicious soundness=100",
            3,
            |version, seed| SAME.run(version, seed),
        ),
        attack(
            "ANDs kept back and chosen by the coefficients",
            "replicated-malicious proofs=boyle-2019",
            3,
            |version, seed| BOYLE.run(version, seed),
        ),
        attack(
            "ANDs chosen by a hash without them",
            "replicated-malicious challenges=fiat-shamir",
            1,
            |version, seed| HASHED.run(version, seed),
        ),
    ]
}

/// The same, of products of numbers; and primes that are known too early.
fn of_products() -> Vec<Attack> {
    vec![
        attack("products kept back and chosen by the bits", NAME, 6, |version, seed| {
            PRODUCTS.run(version, seed)
        }),
        attack(
            "products kept back and chosen by the bits of both repetitions",
            "replicated-malicious soundness=100",
            3,
            |version, seed| PRODUCTS_TWICE.run(version, seed),
        ),
        attack(
            "products kept back and chosen by the bits of one of two repetitions",
            "replicated-malicious soundness=100",
            3,
            |version, seed| PRODUCTS_UNCHECKED.run(version, seed),
        ),
        attack(
            "products kept back and chosen by bits that serve twice",
            "replicated-malicious soundness=100",
            3,
            |version, seed| PRODUCTS_SAME.run(version, seed),
        ),
        attack("a product divided modulo a prime that is known", NAME, 3, |version, seed| {
            DIVIDED.run(version, seed)
        }),
        attack(
            "a product divided modulo two primes that are known",
            "replicated-malicious soundness=100",
            3,
            |version, seed| DIVIDED_TWICE.run(version, seed),
        ),
        attack(
            "a product divided modulo a prime that serves twice",
            "replicated-malicious soundness=100",
            3,
            |version, seed| DIVIDED_SAME.run(version, seed),
        ),
        attack("quotients kept back and divided by the prime that comes", NAME, 3, |version, seed| {
            QUOTIENTS.run(version, seed)
        }),
        attack(
            "quotients kept back and divided by both primes that come",
            "replicated-malicious soundness=100",
            3,
            |version, seed| QUOTIENTS_TWICE.run(version, seed),
        ),
    ]
}

/// Whatever else is known, said or compared at the wrong time.
fn too_early() -> Vec<Attack> {
    vec![
        attack(
            "an input kept back and chosen by the coefficients",
            "replicated-malicious proofs=boyle-2019",
            3,
            |version, seed| inputs::chosen_by_coefficients(&[Mistake::CoefficientsFromAnchor], version, seed),
        ),
        attack("a value chosen by the first round's point", NAME, 3, |version, seed| {
            points::known(Early::Heard(0), &[Mistake::SeedsWithValues], version, seed)
        }),
        attack("a value chosen by the second round's point", NAME, 3, |version, seed| {
            points::known(Early::Heard(1), &[Mistake::SeedsWithValues], version, seed)
        }),
        attack("a value chosen by a round's point that is constant", NAME, 3, |version, seed| {
            points::known(Early::Constant, &[Mistake::ConstantRound], version, seed)
        }),
        attack(
            "a value chosen by a hash without it",
            "replicated-malicious challenges=fiat-shamir",
            3,
            |version, seed| points::hashed(&[Mistake::RoundUnhashed], version, seed),
        ),
        attack("a client's lie taken for a failed check", NAME, 1, |version, seed| {
            inputs::compared_late(&[Mistake::GivenComparedLate], version, seed)
        }),
        attack("a key that changes a client's output", NAME, 3, |version, seed| {
            outputs::key_searched(&[Mistake::Shared(Shared::KeyFromOne)], version, seed)
        }),
        attack("a number searched for by what a guard says", NAME, 3, |version, seed| {
            guard::searched(&[Mistake::GuardEarly], version, seed)
        }),
        attack("a client's output that isn't accepted", NAME, 3, |version, seed| {
            outputs::unaccepted(&[Mistake::Shared(Shared::AcceptancesUnchecked)], version, seed)
        }),
    ]
}

/// ANDs that aren't looked at.
fn unproved() -> Vec<Attack> {
    vec![
        attack("wrong ANDs that nobody notes", NAME, 3, |version, seed| UNNOTED.run(version, seed)),
        attack("wrong ANDs that nobody notes, in later pieces of a layer", NAME, 1, |version, seed| {
            PIECES.run(version, seed)
        }),
        attack("wrong ANDs that nobody notes, in full tiles", NAME, 1, |version, seed| {
            FULL_TILES.run(version, seed)
        }),
        attack("wrong ANDs beyond a full batch", NAME, 1, |version, seed| DROPPED.run(version, seed)),
        attack(
            "wrong ANDs beyond a full batch",
            "replicated-malicious challenges=fiat-shamir",
            1,
            |version, seed| DROPPED_HASHED.run(version, seed),
        ),
        attack(
            "wrong ANDs in the last quarter of a full batch",
            "replicated-malicious soundness=100",
            1,
            |version, seed| QUARTER.run(version, seed),
        ),
    ]
}

const DEFAULT: Withheld = Withheld {
    parameters: &[],
    stage: |seats| Stage::levels(seats, SMALL, FEW, FULL),
    knows: Knows::Point,
    after: 1,
    mistakes: &[Mistake::LeftWordUnawaited],
    not_enough: &[],
};

/// Proofs of five rounds.
const ROUNDS: Withheld = Withheld { stage: |seats| Stage::levels(seats, 300_032, FEW, FULL), ..DEFAULT };

/// 2^16 words in all.
const FULL_BATCH: Withheld =
    Withheld { stage: |seats| Stage::levels(seats, 64 * FULL - 2 * FEW, FEW, FULL), ..DEFAULT };

const TILE: Withheld = Withheld { stage: |seats| Stage::tile(seats, [5000, 1], FULL), ..DEFAULT };

const FIRST: Withheld = Withheld { stage: |seats| Stage::two_batches(seats, FEW), ..DEFAULT };

/// Where several batches are under way a step's messages hold other batches' too, and so the right verifier waited for the
/// left one even without its word; it doesn't if it releases seeds a step too early.
const SEVERAL: Withheld = Withheld {
    parameters: &[("batch", "64")],
    stage: |seats| Stage::levels(seats, 3 * 64 * 64 + SMALL / 2, FEW, 64),
    after: 0,
    mistakes: &[Mistake::SeedsWithValues],
    ..DEFAULT
};

const BEYOND: Withheld = Withheld {
    parameters: &[],
    stage: |seats| Stage::levels(seats, 64 * FULL + SMALL, FEW, FULL),
    ..SEVERAL
};

const PRODUCTS: WithheldProducts = WithheldProducts {
    parameters: &[],
    repetitions: 1,
    products: 200,
    mistakes: &[Mistake::LeftWordUnawaited],
    not_enough: &[],
};

const PRODUCTS_TWICE: WithheldProducts =
    WithheldProducts { parameters: &[("soundness", "100")], repetitions: 2, products: 300, ..PRODUCTS };

const PRODUCTS_UNCHECKED: WithheldProducts = WithheldProducts {
    repetitions: 1,
    mistakes: &[Mistake::LeftWordUnawaited, Mistake::SecondUnchecked],
    not_enough: &[Mistake::LeftWordUnawaited],
    ..PRODUCTS_TWICE
};

/// Of as few as these no choice cancels by two repetitions' own bits.
const PRODUCTS_SAME: WithheldProducts = WithheldProducts {
    products: 200,
    mistakes: &[Mistake::LeftWordUnawaited, Mistake::SameBits],
    ..PRODUCTS_UNCHECKED
};

const DIVIDED: Divided = Divided {
    parameters: &[],
    from: PrimeFrom::Bits,
    repetitions: 1,
    mistakes: &[Mistake::PrimeEarly],
    not_enough: &[],
};

const DIVIDED_TWICE: Divided = Divided { parameters: &[("soundness", "100")], repetitions: 2, ..DIVIDED };

const DIVIDED_SAME: Divided = Divided {
    repetitions: 1,
    mistakes: &[Mistake::PrimeEarly, Mistake::SamePrime],
    not_enough: &[Mistake::PrimeEarly],
    ..DIVIDED_TWICE
};

const QUOTIENTS: Divided =
    Divided { from: PrimeFrom::KeptBack, mistakes: &[Mistake::SeedsWithValues], ..DIVIDED };

const QUOTIENTS_TWICE: Divided = Divided { parameters: &[("soundness", "100")], repetitions: 2, ..QUOTIENTS };

const LI: Withheld = Withheld { parameters: &[("proofs", "li-2023")], ..DEFAULT };

const TWICE: Withheld = Withheld {
    parameters: &[("soundness", "100")],
    stage: |seats| Stage::levels(seats, SMALL, MANY, FULL),
    knows: Knows::Points,
    ..DEFAULT
};

const UNCHECKED: Withheld = Withheld {
    parameters: &[("soundness", "100")],
    mistakes: &[Mistake::LeftWordUnawaited, Mistake::SecondUnchecked],
    not_enough: &[Mistake::LeftWordUnawaited],
    ..DEFAULT
};

const SAME: Withheld = Withheld { mistakes: &[Mistake::LeftWordUnawaited, Mistake::SamePoints], ..UNCHECKED };

const BOYLE: Withheld =
    Withheld { parameters: &[("proofs", "boyle-2019")], knows: Knows::Coefficients, ..DEFAULT };

const HASHED: Withheld = Withheld {
    parameters: &[("challenges", "fiat-shamir")],
    stage: |seats| Stage::levels(seats, SMALL, MANY, FULL),
    knows: Knows::OwnPoint,
    mistakes: &[Mistake::MessagesUnhashed],
    ..DEFAULT
};

const UNNOTED: Unproved = Unproved {
    parameters: &[],
    stage: |seats| Stage::levels(seats, SMALL, FEW, FULL),
    wrong: None,
    mistakes: &[Mistake::AndsUnnoted, Mistake::NotCounted],
    not_enough: &[Mistake::AndsUnnoted],
};

const PIECES: Unproved = Unproved {
    stage: |seats| Stage::tile(seats, [1, 5000], FULL),
    wrong: Some(|at| at.part == step::CIRCUIT + 1),
    mistakes: &[Mistake::PiecesUnnoted, Mistake::NotCounted],
    not_enough: &[Mistake::PiecesUnnoted],
    ..UNNOTED
};

const FULL_TILES: Unproved = Unproved {
    stage: |seats| Stage::tile(seats, [100, 1], FULL),
    mistakes: &[Mistake::FullTilesUnnoted, Mistake::NotCounted],
    not_enough: &[Mistake::FullTilesUnnoted],
    ..UNNOTED
};

const DROPPED: Unproved = Unproved {
    stage: |seats| Stage::levels(seats, 64 * FULL, FEW, FULL),
    mistakes: &[Mistake::LaterBatchesDropped, Mistake::NotCounted],
    not_enough: &[Mistake::LaterBatchesDropped],
    ..UNNOTED
};

const DROPPED_HASHED: Unproved = Unproved { parameters: &[("challenges", "fiat-shamir")], ..DROPPED };

const QUARTER: Unproved = Unproved {
    parameters: &[("soundness", "100")],
    stage: |seats| Stage::levels(seats, 64 * FULL - 2 * FEW, FEW, FULL),
    mistakes: &[Mistake::QuarterSkipped],
    not_enough: &[],
    ..UNNOTED
};
