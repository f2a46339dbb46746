//! One party's part in any of these jobs.

use super::job::{Job, Report, What};
use super::ots::Ots;
use super::triples::{MascotTriples, WithoutMacs};
use crate::bench::options::TripleField;
use crate::failure::Failure;
use tacit::advanced::net::{ErrorKind, Limits, Transport as Links};
use tacit::advanced::session::Error;
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;

impl Job {
    /// Plays one party's part. The second value says whether a failure may be only the news of another's.
    pub(crate) fn play(
        self,
        links: Box<dyn Links>,
        me: usize,
        limits: Limits,
    ) -> Result<Report, (Failure, bool)> {
        let params = self.params().map_err(|failure| (failure, false))?;
        let failed = |error: Error| {
            let echo =
                matches!(&error, Error::Link(link) if matches!(link.what(), ErrorKind::Aborted { .. }));
            (Failure::aborted(error.to_string()), echo)
        };
        let report = match self.what {
            What::Ots => self.run::<Ots>(links, me, limits, params),
            What::Triples(TripleField::Fp128) => self.run::<MascotTriples<Fp128>>(links, me, limits, params),
            What::Triples(TripleField::Gf2) => self.run::<MascotTriples<Gf128>>(links, me, limits, params),
            What::PassiveTriples(TripleField::Fp128) => {
                self.run::<WithoutMacs<Fp128>>(links, me, limits, params)
            }
            What::PassiveTriples(TripleField::Gf2) => {
                self.run::<WithoutMacs<Gf128>>(links, me, limits, params)
            }
        };
        report.map_err(failed)
    }
}
