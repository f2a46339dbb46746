//! On what owners give two parties, and on what clients take.

use std::sync::Arc;
use std::time::Duration;

use tacit_astra::Astra;
use tacit_astra::planted::{Mistake, Shared};
use tacit_astra::step;
use tacit_net::{Event, Frame, FrameKind};
use tacit_program::plan::{Builder, To};
use tacit_testkit::react::{Act, Attacker};
use tacit_testkit::{Case, Draws};

use super::{Seen, and, bit, changes, delivered, knew, mistaken, mistakes, protocol, take};
use crate::table::{Outcome, Version};

/// `P_0` gives `P_1` its input and `P_2` another. Then both evaluators' result of `x y` is off by `y`, of which `P_1` learns when it
/// compares it with what `P_0` computed: if it complains of that, and not of inputs, `y` is 1.
struct Listens {
    /// Whether `P_0`'s digest has gone out, and what `P_1` complains of.
    seen: Seen<(bool, Option<String>)>,
}

impl Listens {
    fn note(&self, from: usize, event: &Event) {
        if let Event::Frame(frame) = event
            && (from, frame.kind) == (1, FrameKind::Abort)
        {
            let reason = String::from_utf8_lossy(&frame.payload).into_owned();
            self.seen.lock().expect("nobody panics with it").1.get_or_insert(reason);
        }
    }
}

impl Attacker for Listens {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if frame.kind == FrameKind::Abort {
            return;
        }
        if (to, frame.at.part) == (2, step::INPUT) {
            frame.payload[0] ^= 1;
        }
        if frame.at.part == step::COMPUTED_DIGEST {
            self.seen.lock().expect("nobody panics with it").0 = true;
        }
        act.send(to, frame);
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        self.note(from, &event);
        act.hear(from, event);
    }

    fn ends(&mut self, act: &mut Act<'_>) {
        while let Some((from, event)) = act.poll(Duration::from_secs(1)) {
            self.note(from, &event);
        }
    }
}

pub(super) fn compared_last(version: Version, seed: u64) -> Outcome {
    // P_0 doesn't care what P_2 says of what P_1 showed.
    const OWN: &[Mistake] = &[Mistake::GivenComparedLast, Mistake::ResultsBeforeOperands];
    let honest = mistakes(version, &[Mistake::GivenComparedLast]);
    let own = if version == Version::Planted { OWN } else { &OWN[1..] };
    let guess = |seed: u64| {
        let y = seed & 1;
        let mut builder = Builder::new();
        let [a, b, z] = std::array::from_fn(|_| builder.bits(1, 1));
        for (owner, reg) in [("P0", a), ("P2", b)] {
            let owner = builder.role(owner);
            builder.input(owner, reg);
        }
        and(&mut builder, [a, b, z]);
        let to = builder.role("P1");
        builder.output(z, To::One(to));
        let mistakes = move |party| if party == 0 { own } else { honest };
        let protocol = protocol(&Astra::MALICIOUS, mistakes, |_| None);
        let case = Case::new(protocol, 3, builder.finish(), &[vec![1], vec![y]]);
        let seen = Seen::default();
        let attacker = Listens { seen: Arc::clone(&seen) };
        let run = case.run_attacked(&case.world(), &Draws::fixed(seed), 0, Box::new(attacker));
        // P_0 draws y's mask with P_2. Where it is 1, P_2 complains first, unless P_0 gives it another digest.
        if bit(&delivered(&run, 2, 1, step::INPUT, 1), 0) != y {
            return None;
        }
        let (told, complaint): (bool, Option<String>) = take(&seen);
        let guess = complaint.filter(|_| told).map(|complaint| u64::from(complaint.contains("a product")));
        Some((guess, y))
    };
    knew((40 * seed..40 * seed + 40).filter_map(guess))
}

/// `P_1` says to a client something else than that it accepts.
pub(super) fn not_accepted(version: Version, seed: u64) -> Outcome {
    let mut builder = Builder::new();
    let x = builder.bits(1, 1);
    let owner = builder.role("P2");
    builder.input(owner, x);
    let to = builder.role("client");
    builder.output(x, To::One(to));
    let case = Case::new(
        mistaken(mistakes(version, &[Mistake::Shared(Shared::AcceptancesUnchecked)])),
        3,
        builder.finish(),
        &[vec![1]],
    );
    let attacker = changes(|to, frame| {
        if (to, frame.at.part) == (3, step::OUTPUT_DIGEST) {
            frame.payload[0] ^= 1;
        }
    });
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), 1, attacker);
    match run.endings[3].as_ref().map(|ending| &ending.result) {
        Some(Ok(_)) => Outcome::Broken("the client takes an output that P1 doesn't accept".to_owned()),
        Some(Err(error)) => Outcome::Held(error.to_string()),
        None => Outcome::Held("the client never came".to_owned()),
    }
}
