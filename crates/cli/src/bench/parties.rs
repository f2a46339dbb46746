//! Starts a benchmark's parties and collects what they say: threads of this process, or processes on loopback.

use super::clock::Figures;
use super::party::{Bench, Report};
use super::process;
use super::spec::Transport;
use crate::failure::Failure;
use std::path::Path;
use std::time::Duration;
use tacit::advanced::net::{Limits, Transport as Links, memory};

/// What all parties have to say, in order.
pub(crate) struct Outcome {
    pub(crate) reports: Vec<Report>,
    /// Processor time and most memory of the one process, if all parties were threads of it.
    pub(crate) process: Option<(Duration, u64)>,
}

/// Runs a benchmark once.
pub(crate) fn run(bench: &Bench, this_command: &[String]) -> Result<Outcome, Failure> {
    match bench.spec.transport {
        Transport::Memory => in_memory(bench),
        Transport::Tcp | Transport::Tls => {
            Ok(Outcome { reports: process::bench(bench, this_command)?, process: None })
        }
    }
}

fn in_memory(bench: &Bench) -> Result<Outcome, Failure> {
    let folder = bench.spec.store.then(tempfile::tempdir).transpose();
    let folder = folder.map_err(|error| Failure::aborted(format!("no temporary folder: {error}")))?;
    let folder = folder.as_ref().map_or(Path::new(""), tempfile::TempDir::path);
    let (parties, endpoints) = (bench.spec.parties.len(), bench.spec.parties.len() + bench.clients().len());
    let results: Vec<_> = std::thread::scope(|scope| {
        // By party, then by gathering, then by lane.
        let gatherings = || (0..bench.gatherings()).map(|_| Vec::new()).collect();
        let mut links: Vec<Vec<Vec<Box<dyn Links>>>> = (0..endpoints).map(|_| gatherings()).collect();
        for gathering in 0..bench.gatherings() {
            for _ in &bench.lanes {
                let mesh = memory::mesh(endpoints, 0);
                links.iter_mut().zip(mesh).for_each(|(links, link)| links[gathering].push(Box::new(link)));
            }
        }
        let play = |(me, links): (usize, Vec<Vec<Box<dyn Links>>>)| {
            let mut links = links.into_iter();
            let gather = move || Ok(links.next().unwrap_or_default());
            scope.spawn(move || bench.play(gather, folder, me, &Limits::default()))
        };
        let threads: Vec<_> = links.into_iter().enumerate().map(play).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut reports = Vec::new();
    let mut failures = Vec::new();
    for result in results {
        match result {
            Ok(report) => reports.push(report),
            Err(error) => failures.push(error),
        }
    }
    if let Some(error) = failures.into_iter().min_by_key(tacit::Error::distance) {
        return Err(error.into());
    }
    // Clients have nothing to say.
    reports.truncate(parties);
    // Every thread reads the figures of the whole process.
    let all = Figures::of_all(
        reports.iter().flat_map(|report: &Report| &report.lanes).flat_map(|lane| &lane.parts),
    );
    Ok(Outcome { reports, process: Some((all.cpu(), all.peak_rss_bytes)) })
}

#[cfg(test)]
mod tests {
    use super::super::result;
    use super::super::spec::Spec;
    use super::super::workload::Workload;
    use super::*;
    use tacit::advanced::net::Phase;

    #[test]
    fn bids_are_those_of_a_client_outside_the_parties() {
        let bids = 3;
        let parties = ["P0", "P1"].map(str::to_owned).to_vec();
        let (what, protocol) = (Workload::Auction { bids }, "mascot".to_owned());
        let bench = Bench::new(Spec { what, protocol, parties, ..Spec::example() }).unwrap();
        assert_eq!(bench.clients(), ["bidders"]);
        let outcome = run(&bench, &[]).unwrap();
        assert_eq!(outcome.reports.len(), 2);
        for report in &outcome.reports {
            // Shares of a triple and of a sum for each of a bid's 20 bits, and no bits of its own.
            let sent = report.lanes[0].sent_bytes[Phase::Input as usize];
            assert_eq!(sent, (bids * 20 * 64) as u64);
        }
        // The result is right, and so is the traffic.
        result::Figures::new(&bench, &outcome).unwrap();
    }
}
