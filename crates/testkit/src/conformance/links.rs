//! The same over real links: a few dozen cases over memory, TCP and TLS.

use tacit_program::Recipient;

use super::catalogue::{self, Numbers};
use super::robust::{dies_before_the_end, is_silence, names, stage_case};
use super::{Subject, cost, equality};
use crate::links::{Medium, Mortal, links};
use crate::{Draws, Rng, generate};

/// Results and costs of some operations of the catalogue and of random programs.
///
/// # Panics
/// At the first difference.
pub fn results_and_costs(subject: &Subject, medium: Medium) {
    let mut rng = Rng::new(9);
    let to = [Recipient::All, Recipient::Role("bob".into())];
    let long = tacit_engine::columns_per_message(64) + 1;
    let mut cut = subject.cut();
    for (name, numbers, len) in [
        ("input_bits", Numbers::int(8), 513),
        ("mul", Numbers::int(32), long),
        ("matmul", Numbers::fixed(16, 5), 65),
        ("less", Numbers::int(64), 65),
        ("equal", Numbers::int(16), 63),
        ("select", Numbers::int(7), 1),
        ("argmax", Numbers::int(15), 13),
        ("truncate_far", Numbers::fixed(48, 16), 64),
        ("branch", Numbers::int(7), 65),
    ] {
        let program = catalogue::program(name, numbers, len.min(subject.longest), ["P1", "alice"], &to);
        let program = program.expect("the operation is defined for these numbers");
        if !cut.takes() {
            continue;
        }
        equality::check_over(subject, &program, &mut rng, medium, &format!("{name} over {medium:?}"));
        cost::check_over(subject, &program, medium, &format!("{name} over {medium:?}"));
    }
    for seed in 0..4 {
        let program = generate::program(&mut Rng::new(seed), subject.parties, 14, 65.min(subject.longest));
        if !subject.offers(&program) || !cut.takes() {
            continue;
        }
        equality::check_over(subject, &program, &mut rng, medium, &format!("program {seed} over {medium:?}"));
    }
}

/// A party dies at some points: all others end with an error that names it, and not for its silence.
///
/// # Panics
/// If one doesn't.
pub fn death(subject: &Subject, medium: Medium) {
    let case = stage_case(subject);
    // Up to twenty frames, everybody is far from done, but of two parties.
    for (dead, frames) in [(0, 1), (1, 7), (subject.parties - 1, 12), (0, 20)] {
        if subject.parties == 2 && !dies_before_the_end(&case, dead, frames) {
            continue;
        }
        let mut links = links(medium, &case);
        let mortal = links[dead].take().map(|links| Mortal::new(links, case.endpoints(), frames));
        links[dead] = mortal.map(|mortal| Box::new(mortal) as _);
        for (endpoint, ending) in case.run_over(links, &Draws::fixed(1)).into_iter().flatten().enumerate() {
            let (name, what) = (case.name(dead), format!("{} after {frames} frames", case.name(endpoint)));
            if ending.result.is_ok() && case.only_gives(endpoint) {
                continue;
            }
            let error = ending.result.expect_err(&what).to_string();
            assert!(endpoint == dead || names(&error, name) && !is_silence(&error), "{what}: {error}");
        }
    }
}
