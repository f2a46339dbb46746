//! What a party has to do for a batch's proofs in each step, and the messages that it writes and reads then.

use super::field::{Field, Spare, read};
use super::log::Batch;
use super::ring::log;
use crate::planted::{Mistake, planted};
use tacit_engine::Error;
use tacit_session::Session;
use tacit_threeparty::prev;

/// A party's parts in the three proofs of a batch: its own as prover, the previous party's as left verifier, the next
/// party's as right verifier. In every step it first receives what was sent in the last one.
pub(super) trait Proof: Send {
    /// Appends what it has to say at this age.
    fn send(&mut self, age: usize, out: Out<'_>, session: &mut Session, memory: &mut Memory);
    /// Reads what the neighbours said at this age.
    fn receive(
        &mut self,
        age: usize,
        from_next: &mut Reader<'_>,
        from_prev: &mut Reader<'_>,
        session: &mut Session,
        memory: &mut Memory,
    ) -> Result<(), Error>;
}

/// What isn't needed any more, for proofs that come.
#[derive(Default)]
pub(super) struct Memory {
    /// Long vectors.
    pub(super) spare: Spare,
    /// Bits.
    pub(super) batches: Vec<Batch>,
    /// Words of products.
    pub(super) products: Vec<log::Batch>,
}

/// Bytes of a step's messages.
#[derive(Clone, Copy, Default)]
pub(super) struct Bytes {
    /// To the previous party.
    pub(super) back: usize,
    /// To the next party.
    pub(super) forth: usize,
}

/// The messages of a step that are being written.
pub(super) struct Out<'a> {
    /// To the previous party.
    pub(super) back: &'a mut Vec<u8>,
    /// To the next party.
    pub(super) forth: &'a mut Vec<u8>,
}

/// Reads a message whose length was checked when it came.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    /// So many bytes.
    pub(super) fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk().expect("a message has the length of its step");
        self.0 = rest;
        *taken
    }

    /// Elements, whose parts must be less than p.
    pub(super) fn elements<F: Field>(
        &mut self,
        count: usize,
        session: &mut Session,
    ) -> Result<Vec<F>, Error> {
        let (taken, rest) = self.0.split_at(count * F::SENT);
        self.0 = rest;
        let elements: Option<Vec<F>> = taken.chunks_exact(F::SENT).map(read).collect();
        elements.ok_or_else(|| session.reject("a number in a proof is no element of its field").into())
    }
}

/// `p(r) q(r) = G(r)` in all repetitions of one proof: this verifier's shares of `G(r)` and its own factors, and the
/// other one's, which are to be read.
pub(super) fn check_ends<F: Field>(
    ends: &[[F; 2]],
    theirs: &mut Reader<'_>,
    prover: usize,
    session: &mut Session,
) -> Result<(), Error> {
    for (repetition, &[claim, own]) in ends.iter().enumerate() {
        let theirs = theirs.elements::<F>(2, session)?;
        let passes = (own.mul(theirs[1]) == claim.add(theirs[0])) != planted(Mistake::Inverted);
        settle(passes, repetition, "ANDs", prover, session)?;
    }
    Ok(())
}

/// Ends the session if one repetition of a proof that `what` were computed right doesn't pass.
pub(super) fn settle(
    passes: bool,
    repetition: usize,
    what: &str,
    prover: usize,
    session: &mut Session,
) -> Result<(), Error> {
    let ignored = planted(Mistake::FailureIgnored)
        || planted(Mistake::OnlyRightChecks) && prover == prev(session.me())
        || planted(Mistake::SecondUnchecked) && repetition == 1;
    if passes || ignored {
        return Ok(());
    }
    let (prover, other) = (session.name(prover), session.name(other_verifier(session.me(), prover)));
    let what = format!("the proof that {prover} computed its {what} right fails, by {prover} or by {other}");
    Err(session.reject(&what).into())
}

/// Who verifies a proof besides `me`. When a check between verifiers fails, it may as well have lied as the prover.
pub(super) const fn other_verifier(me: usize, prover: usize) -> usize {
    3 - me - prover
}
