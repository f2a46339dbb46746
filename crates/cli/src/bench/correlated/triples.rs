//! Triples for MASCOT, with MACs or without.

use super::job::Made;
use tacit::advanced::session::{Error, Session};
use tacit_mascot::{FieldElement, Passive, PassiveTriples, Preprocessing, Triples};
use tacit_ot::Params;

/// A party's part.
pub(super) struct MascotTriples<E: FieldElement> {
    preprocessing: Preprocessing<E>,
    made: Option<Triples<E>>,
}

impl<E: FieldElement> Made for MascotTriples<E> {
    fn setup(session: &mut Session, params: Params) -> Result<Self, Error> {
        Ok(Self { preprocessing: Preprocessing::setup(session, params, 0)?, made: None })
    }

    fn make(&mut self, session: &mut Session, count: usize) -> Result<(), Error> {
        self.made = Some(self.preprocessing.triples(session, count)?);
        Ok(())
    }

    /// Opens all triples, with a check of their MACs, and multiplies them.
    fn verify(mut self, session: &mut Session) -> Result<bool, Error> {
        let Some(Triples { a, b, c }) = &self.made else { return Ok(false) };
        let a = self.preprocessing.open(session, a)?;
        let b = self.preprocessing.open(session, b)?;
        let c = self.preprocessing.open(session, c)?;
        Ok(are_products(&a, &b, &c))
    }
}

/// The same without MACs.
pub(super) struct WithoutMacs<E: FieldElement> {
    passive: Passive,
    made: PassiveTriples<E>,
}

impl<E: FieldElement> Made for WithoutMacs<E> {
    fn setup(session: &mut Session, params: Params) -> Result<Self, Error> {
        Ok(Self { passive: Passive::setup(session, params, 0)?, made: PassiveTriples::default() })
    }

    fn make(&mut self, session: &mut Session, count: usize) -> Result<(), Error> {
        self.made = self.passive.triples(session, count)?;
        Ok(())
    }

    fn verify(mut self, session: &mut Session) -> Result<bool, Error> {
        let PassiveTriples { a, b, c } = &self.made;
        let a = self.passive.open(session, a)?;
        let b = self.passive.open(session, b)?;
        let c = self.passive.open(session, c)?;
        Ok(are_products(&a, &b, &c))
    }
}

fn are_products<E: FieldElement>(a: &[E], b: &[E], c: &[E]) -> bool {
    !c.is_empty() && a.iter().zip(b).zip(c).all(|((a, b), c)| a.wrapping_mul(*b) == *c)
}
