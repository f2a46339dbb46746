//! On MSB extraction by garbled circuits: `P_0` gives `P_2` the label of another bit of a mask than it has.

use tacit_astra::Astra;
use tacit_astra::planted::Mistake;
use tacit_testkit::{Case, Draws};

use super::{protocol, signs, wrong_outputs};
use crate::table::{Outcome, Version};

pub(super) fn unnoted(version: Version, seed: u64) -> Outcome {
    const HONEST: &[Mistake] = &[Mistake::SignsUnnoted, Mistake::CountsOfLog];
    const CORRUPT: &[Mistake] = &[Mistake::SignsUnnoted, Mistake::CountsOfLog, Mistake::OtherLabels];
    other_labels(version, seed, HONEST, CORRUPT)
}

pub(super) fn uncompared_labels(version: Version, seed: u64) -> Outcome {
    const HONEST: &[Mistake] = &[Mistake::LabelsUncompared];
    const CORRUPT: &[Mistake] = &[Mistake::LabelsUncompared, Mistake::OtherLabels];
    other_labels(version, seed, HONEST, CORRUPT)
}

fn other_labels(
    version: Version,
    seed: u64,
    honest: &'static [Mistake],
    corrupt: &'static [Mistake],
) -> Outcome {
    const OURS: &[Mistake] = &[Mistake::OtherLabels];
    let (honest, corrupt) = if version == Version::Planted { (honest, corrupt) } else { (&[][..], OURS) };
    let mistakes = move |party| if party == 0 { corrupt } else { honest };
    let protocol = protocol(&Astra::MALICIOUS_GARBLED, mistakes, |_| None);
    let case = Case::new(protocol, 3, signs(5), &[vec![1, 200, 3, 128, 127]]);
    wrong_outputs(&case, &case.run(&Draws::fixed(seed)).endings, 0)
}
