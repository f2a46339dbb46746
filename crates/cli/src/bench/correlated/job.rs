//! What is made, and how one party makes it.

use crate::bench::clock::{cpu_time, now, peak_rss};
use crate::bench::options::TripleField;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tacit::advanced::net::{Limits, Mesh, Phase, Transport as Links};
use tacit::advanced::session::{Agreement, Error, OsEntropy, Session};
use tacit_ot::{Params, Security};

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Correlation {
    /// Random OTs in both directions.
    Ots,
    /// Authenticated triples.
    Triples(TripleField),
    /// Triples without MACs.
    PassiveTriples(TripleField),
}

/// One party's part in making it.
pub(super) trait Made: Sized {
    /// What comes first and isn't timed with the rest.
    fn setup(session: &mut Session, params: Params) -> Result<Self, Error>;
    /// Makes so many.
    fn make(&mut self, session: &mut Session, count: usize) -> Result<(), Error>;
    /// Compares with the others what was made: whether it is right.
    fn verify(self, session: &mut Session) -> Result<bool, Error>;
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) what: Correlation,
    pub(crate) parties: usize,
    pub(crate) count: usize,
    pub(crate) k: usize,
}

/// What a party has to say.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(super) setup: Duration,
    pub(super) start: Duration,
    pub(super) finish: Duration,
    pub(super) cpu: Duration,
    pub(super) peak_rss_bytes: u64,
    pub(super) setup_bytes: u64,
    pub(super) sent_bytes: u64,
    pub(super) wire_bytes: u64,
    /// Whether what was compared is right.
    pub(super) right: bool,
}

impl Job {
    pub(crate) fn params(self) -> Result<Params, Failure> {
        if self.count == 0 {
            return Err(Failure::usage("a size of 0 leaves nothing to measure"));
        }
        let passive = matches!(self.what, Correlation::PassiveTriples(_));
        Params::new(self.k, if passive { Security::SemiHonest } else { Security::Malicious })
            .ok_or_else(|| Failure::usage(format!("--k is 1 to 8, not {}", self.k)))
    }

    /// The same for one kind of what is made.
    pub(super) fn run<M: Made>(
        self,
        links: Box<dyn Links>,
        me: usize,
        limits: Limits,
        params: Params,
    ) -> Result<Report, Error> {
        let names: Vec<String> = (0..self.parties).map(|party| format!("P{party}")).collect();
        let agreement = Agreement::among(names.clone(), &format!("{:?}", self.what), params.to_string());
        let mesh = Mesh::new(links, me, names, limits);
        let mut session = Session::establish(mesh, agreement, Box::new(OsEntropy))?;
        session.barrier()?;
        let sent = |session: &mut Session, phase| session.mesh().counters().in_phase(phase).sent_bytes;
        let (before, begun) = (sent(&mut session, Phase::Setup), now());
        let mut made = M::setup(&mut session, params)?;
        let setup = now().saturating_sub(begun);
        let setup_bytes = sent(&mut session, Phase::Setup) - before;
        session.barrier()?;

        session.mesh().set_phase(Phase::Offline);
        let (wire, cpu, start) = (session.mesh().counters().wire_total().sent, cpu_time(), now());
        made.make(&mut session, self.count)?;
        let (finish, cpu) = (now(), cpu_time().saturating_sub(cpu));
        session.mesh().push_out()?;
        let wire_bytes = session.mesh().counters().wire_total().sent - wire;
        let sent_bytes = sent(&mut session, Phase::Offline);

        session.mesh().set_phase(Phase::Output);
        let right = made.verify(&mut session)?;
        let peak_rss_bytes = peak_rss();
        session.close()?;
        Ok(Report { setup, start, finish, cpu, peak_rss_bytes, setup_bytes, sent_bytes, wire_bytes, right })
    }
}
