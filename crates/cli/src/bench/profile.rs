//! `--profile`: what each party's time went into, as in the micro-benchmark of Araki et al. 2016.

use super::party::{Bench, Report};
use super::workload::Workload;
use crate::table::{Table, seconds};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use tacit::advanced::engine::profile::Section;
use tacit::advanced::program::plan::{OpKind, Plan};

/// What is in no section: the executor, plans, memory, verification.
const REST: &str = "rest";

/// The paper's percentages (section 5.2, "Microbenchmarking"). It has one for all delays of communication between
/// servers, and 4.07 for inputs and outputs, which aren't timed here.
const PAPER: [(&str, f64); 4] = [
    (Section::Slicing.name(), 8.70),
    (Section::Gates.name(), 49.82),
    (Section::Randomness.name(), 9.54),
    (Section::Receiving.name(), 27.87),
];

/// What the time of a run went into; the fields are keys of the JSON object.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Profile {
    /// What nanoseconds are given for.
    per: &'static str,
    /// How many of these there are, in all lanes.
    units: u64,
    /// By party, then by section.
    parties: Vec<BTreeMap<&'static str, Part>>,
    /// The paper's percentages, of circuits.
    #[serde(skip_serializing_if = "Option::is_none")]
    paper_percent: Option<BTreeMap<&'static str, f64>>,
}

/// What a section took of a party's time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Part {
    /// Of all lanes together.
    seconds: f64,
    percent: f64,
    /// For each unit.
    nanoseconds: f64,
}

impl Profile {
    pub(crate) fn new(bench: &Bench, reports: &[Report]) -> Self {
        let ands = bench.programs().map(|(program, times)| times * ands(program.plan())).sum();
        let (per, units) = match (ands, bench.spec.what) {
            (0, Workload::Mul { count, .. }) => ("product", count as u64),
            _ => ("AND", ands),
        };
        let paper = bench.spec.what.is_circuit().then(|| PAPER.into());
        let parties = reports.iter().map(|report| party(report, units)).collect();
        Self { per, units, parties, paper_percent: paper }
    }
}

/// The sections of a party's lanes and parts, added up.
fn party(report: &Report, units: u64) -> BTreeMap<&'static str, Part> {
    let parts = || report.lanes.iter().flat_map(|lane| &lane.parts);
    let total: Duration = parts().map(|part| part.finish.saturating_sub(part.start)).sum();
    let of = |section: Section| parts().map(|part| part.sections[section as usize]).sum::<Duration>();
    let times = Section::ALL.map(|section| (section.name(), of(section)));
    let rest = total.saturating_sub(times.iter().map(|(_, time)| *time).sum());
    let part = |time: Duration| Part {
        seconds: time.as_secs_f64(),
        percent: 100.0 * time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE),
        nanoseconds: 1e9 * time.as_secs_f64() / units.max(1) as f64,
    };
    times.into_iter().chain([(REST, rest)]).map(|(name, time)| (name, part(time))).collect()
}

/// ANDs of one run of a plan.
pub(super) fn ands(plan: &Plan) -> u64 {
    let of = |kind: &OpKind| match kind {
        OpKind::And { dst, .. } => u64::from(dst.count) * kind.extent(plan) as u64,
        OpKind::Circuit { circuit, .. } => circuit.ands() * kind.extent(plan) as u64,
        _ => 0,
    };
    plan.counted_ops().map(|(op, _, times)| times * of(&op.kind)).sum()
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parties = (0..self.parties.len()).flat_map(|party| [format!("P{party}"), "%".to_owned()]);
        let mut head: Vec<String> = std::iter::once("time of each".to_owned()).chain(parties).collect();
        head.push(format!("ns/{}", self.per));
        if self.paper_percent.is_some() {
            head.push("paper %".to_owned());
        }
        let mut table = Table::new(head);
        for name in Section::ALL.map(Section::name).into_iter().chain([REST]) {
            let parts: Vec<Part> =
                self.parties.iter().filter_map(|sections| sections.get(name)).copied().collect();
            let mut row = vec![format!("  {name}")];
            row.extend(parts.iter().flat_map(|part| [seconds(part.seconds), format!("{:.1}", part.percent)]));
            let mean = parts.iter().map(|part| part.nanoseconds).sum::<f64>() / parts.len().max(1) as f64;
            row.push(format!("{mean:.3}"));
            row.extend(self.paper_percent.as_ref().map(|paper| match paper.get(name) {
                Some(percent) => format!("{percent:.2}"),
                None => String::new(),
            }));
            table.row(row);
        }
        write!(f, "{table}")?;
        if self.paper_percent.is_some() {
            write!(f, "paper: Araki et al. 2016; receiving there is all communication between servers")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::Figures;
    use super::super::party::LaneReport;
    use super::super::spec::Spec;
    use super::*;
    use crate::bench::workload::Ring;

    #[test]
    fn sections_and_the_rest_are_all_of_the_time() {
        let ms = Duration::from_millis;
        let part =
            |start, sections| Figures { start: ms(start), finish: ms(100), sections, ..Figures::default() };
        let lanes = [
            [part(0, [ms(10), ms(20), ms(5), ms(0), ms(24), ms(1)]), part(90, [ms(1); 6])],
            [part(10, [ms(2); 6]); 2],
        ];
        let lanes = lanes.map(|parts| LaneReport { parts: parts.to_vec(), ..LaneReport::default() });
        let sections = party(&Report { lanes: lanes.to_vec(), ..Report::default() }, 1000);
        // 100 + 10 + 90 + 90 ms, of which 60 + 6 + 12 + 12 are in sections.
        let seconds: f64 = sections.values().map(|part| part.seconds).sum();
        assert!((seconds - 0.29).abs() < 1e-9, "{seconds}");
        let percent: f64 = sections.values().map(|part| part.percent).sum();
        assert!((percent - 100.0).abs() < 1e-9, "{percent}");
        assert!((sections[REST].seconds - 0.2).abs() < 1e-9);
        assert!((sections["slicing"].seconds - 0.015).abs() < 1e-9);
        assert!((sections["slicing"].nanoseconds - 15_000.0).abs() < 1e-3);
    }

    #[test]
    fn every_and_counts_in_all_lanes_and_parts() {
        let per = |what, lanes| {
            let bench = Bench::new(Spec { what, lanes, ..Spec::example() }).unwrap();
            let profile = Profile::new(&bench, &[]);
            (profile.per, profile.units)
        };
        assert_eq!(per(Workload::And { count: 195, depth: 3 }, 2), ("AND", 195));
        // 200 S-boxes of 32 ANDs, with the key schedule's; or 160, and the 40 of one schedule for each lane.
        assert_eq!(per(Workload::Aes { count: 2000, shared_key: false }, 1), ("AND", 2000 * 6400));
        assert_eq!(per(Workload::Aes { count: 2000, shared_key: true }, 2), ("AND", 2000 * 5120 + 2 * 1280));
        assert_eq!(
            per(
                Workload::Mul { ring: Ring(tacit::program::Modulus::PowerOfTwo(64)), count: 10, depth: 1 },
                1
            ),
            ("product", 10)
        );
        assert!(per(Workload::Compare { count: 1 }, 1).1 >= 63);
    }
}
