//! On the digests by which two parties compare what a third one sent them or computed.

use std::sync::Arc;

use tacit_astra::Astra;
use tacit_astra::planted::{KNOWN_KEY, Mistake, Told};
use tacit_astra::step;
use tacit_kernel::gf64::Gf64;
use tacit_net::Frame;
use tacit_program::plan::{Builder, To, Width};
use tacit_testkit::react::Act;
use tacit_testkit::{Case, Draws};

use super::{
    Does, SHOWN, Seen, and, bit, changes, delivered, different_outputs, given, knew, mistaken, mistakes,
    take, told, wrong_outputs,
};
use crate::table::{Outcome, Version};

/// The number of the client.
const CLIENT: usize = 3;

/// `P_1` shows `P_0` `m*_y + 1`. Then what `P_0` computes is off by `l_x`, and `P_1` sees from its digest whether it is: so it
/// knows the mask of `P_2`'s input `x`, and with `m_x` all of it.
pub(super) fn half_of_operands(version: Version, seed: u64) -> Outcome {
    let mistakes = mistakes(version, &[Mistake::OperandsHalfDigested]);
    let guess = |seed: u64| {
        let x = seed & 1;
        let mut builder = Builder::new();
        let [a, b, z] = std::array::from_fn(|_| builder.bits(1, 8));
        for (owner, reg) in [("P2", a), ("P1", b)] {
            let owner = builder.role(owner);
            builder.input(owner, reg);
        }
        and(&mut builder, [a, b, z]);
        builder.output(z, To::All);
        let case = Case::new(mistaken(mistakes), 3, builder.finish(), &[vec![x; 8], vec![1; 8]]);
        let heard: Seen<bool> = Seen::default();
        let note = Arc::clone(&heard);
        let sends = |to, mut frame: Frame, act: &mut Act<'_>| {
            // The right operands are in the second byte.
            if (to, frame.at.part) == (0, SHOWN) {
                frame.payload[1] ^= 1;
            }
            act.send(to, frame);
        };
        let hears = move |_, frame: &Frame| {
            if frame.at.part == step::COMPUTED_DIGEST {
                *note.lock().expect("nobody panics with it") = true;
            }
        };
        let run = case.run_attacked(&case.world(), &Draws::fixed(seed), 1, Does::boxed(sends, hears));
        let differs = run.endings[1].as_ref().is_some_and(|ending| ending.result.is_err());
        let masked = bit(&delivered(&run, 2, 1, step::INPUT, 0), 0);
        (take(&heard).then_some(masked ^ u64::from(differs)), x)
    };
    knew((20 * seed..20 * seed + 20).map(guess))
}

/// `P_1` makes `P_2` take another result, of which the second half of what is compared would tell.
pub(super) fn half_of_results(version: Version, seed: u64) -> Outcome {
    let mut builder = Builder::new();
    let [x, y, z] = std::array::from_fn(|_| builder.bits(1, 16));
    for (owner, reg) in [("P1", x), ("P2", y)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    and(&mut builder, [x, y, z]);
    let to = builder.role("P2");
    builder.output(z, To::One(to));
    let mistakes = mistakes(version, &[Mistake::ResultsHalfDigested]);
    let case = Case::new(mistaken(mistakes), 3, builder.finish(), &[vec![1; 16], vec![1; 16]]);
    let attacker = changes(|to, frame| {
        if (to, frame.at.part) == (2, step::OPERATION) {
            frame.payload[1] ^= 1;
        }
    });
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), 1, attacker);
    wrong_outputs(&case, &run.endings, 1)
}

/// A client gives `P_2` other bits than `P_1`, in the second half.
pub(super) fn half_of_inputs(version: Version, seed: u64) -> Outcome {
    let mistakes = mistakes(version, &[Mistake::GivenHalfDigested]);
    let case = given(mistaken(mistakes), |builder| builder.bits(1, 16), &[1; 16]);
    let attacker = changes(|to, frame| {
        if (to, frame.at.part) == (2, step::INPUT) {
            frame.payload[1] ^= 1;
        }
    });
    different_outputs(&case.run_attacked(&case.world(), &Draws::fixed(seed), CLIENT, attacker))
}

pub(super) fn second_point(version: Version, seed: u64) -> Outcome {
    one_point_guessed(mistakes(version, &[Mistake::SecondPointUnchecked]), 0, seed)
}

pub(super) fn first_point(version: Version, seed: u64) -> Outcome {
    one_point_guessed(mistakes(version, &[Mistake::FirstPointUnchecked]), 1, seed)
}

pub(super) fn one_point_twice(version: Version, seed: u64) -> Outcome {
    one_point_guessed(mistakes(version, &[Mistake::OnePointTwice]), 0, seed)
}

/// A client has guessed one of the points at which `P_1` and `P_2` compare what it gives them: once in 2^64 times, but here it
/// is told. It gives `P_2` other words, whose polynomial has the same value there.
fn one_point_guessed(mistakes: &'static [Mistake], which: usize, seed: u64) -> Outcome {
    let inside = Told::default();
    let tells = Arc::clone(&inside);
    let protocol =
        super::protocol(&Astra::MALICIOUS, move |_| mistakes, move |me| (me == 1).then(|| tells.clone()));
    let point = move || {
        let key = told(&inside, step::GIVEN_DIGEST).expect("P_1 has drawn it before it says its seed");
        u64::from_le_bytes(key[8 * which..8 * which + 8].try_into().expect("eight bytes"))
    };
    // (point X + X^2) is zero there.
    give_others(protocol, seed, move || [point(), 1, 0])
}

/// A client knows the key by which `P_1` and `P_2` compare what it gives them.
pub(super) fn known_key(version: Version, seed: u64) -> Outcome {
    let protocol = mistaken(mistakes(version, &[Mistake::GivenKeyKnown]));
    give_others(protocol, seed, || {
        let [p, q] =
            [0, 8].map(|at| Gf64(u64::from_le_bytes(KNOWN_KEY[at..at + 8].try_into().expect("eight bytes"))));
        // X (X + p) (X + q).
        [p.times(q).0, p.plus(q).0, 1]
    })
}

/// A client gives `P_2` words that differ by these.
fn give_others(
    protocol: &'static dyn tacit_engine::Protocol,
    seed: u64,
    differences: impl Fn() -> [u64; 3] + Send + 'static,
) -> Outcome {
    let case = given(protocol, |builder| builder.ring(Width::W64, 4), &[1, 2, 3, 4]);
    let attacker = changes(move |to, frame| {
        if (to, frame.at.part) == (2, step::INPUT) {
            for (word, difference) in frame.payload.as_chunks_mut::<8>().0.iter_mut().zip(differences()) {
                *word = (u64::from_le_bytes(*word) ^ difference).to_le_bytes();
            }
        }
    });
    different_outputs(&case.run_attacked(&case.world(), &Draws::fixed(seed), CLIENT, attacker))
}
