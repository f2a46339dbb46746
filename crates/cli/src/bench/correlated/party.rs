//! One party's part in any of these jobs.

use super::job::{Correlation, Job, Report};
use super::ots::Ots;
use super::triples::{MascotTriples, WithoutMacs};
use crate::bench::options::TripleField;
use crate::failure::Failure;
use tacit::advanced::net::{ErrorKind, Limits, Transport as Links};
use tacit::advanced::session::Error;
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_kernel::mersenne::Fp;
use tacit_mascot::FieldElement;
use tacit_ot::Params;

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
            Correlation::Ots => self.run::<Ots>(links, me, limits, params),
            Correlation::Triples(field) | Correlation::PassiveTriples(field) => match field {
                TripleField::Fp128 => self.run_triples::<Fp128>(links, me, limits, params),
                TripleField::Gf2 => self.run_triples::<Gf128>(links, me, limits, params),
                TripleField::Fp64 => self.run_triples::<Fp<1>>(links, me, limits, params),
                TripleField::Fp256 => self.run_triples::<Fp<4>>(links, me, limits, params),
                TripleField::Fp512 => self.run_triples::<Fp<8>>(links, me, limits, params),
            },
        };
        report.map_err(failed)
    }

    fn run_triples<E: FieldElement>(
        self,
        links: Box<dyn Links>,
        me: usize,
        limits: Limits,
        params: Params,
    ) -> Result<Report, Error> {
        if matches!(self.what, Correlation::PassiveTriples(_)) {
            self.run::<WithoutMacs<E>>(links, me, limits, params)
        } else {
            self.run::<MascotTriples<E>>(links, me, limits, params)
        }
    }
}
