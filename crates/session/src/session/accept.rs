//! Acceptance: what each party says once it holds a run, or a part of one, for right.

use super::{Session, control};
use crate::{Error, PrssStream, step};
use subtle::ConstantTimeEq;
use tacit_client::components::verdict;
use tacit_net::{At, Phase};

impl Session {
    /// Bytes that [`Session::accept`] sends each other party.
    pub const ACCEPTANCE_BYTES: u64 = 32;

    /// Tells all parties that this one accepts `what`, and that it drew as much from the pair's stream as they did;
    /// waits until all have said the same of it. Parties only; one round of 32 bytes a link.
    ///
    /// That nobody objects is no acceptance: only this message is.
    ///
    /// # Errors
    /// [`Error::CheckFailed`] if a party accepts something else; those of links.
    pub fn accept(&mut self, what: &[u8]) -> Result<(), Error> {
        self.mesh.set_phase(Phase::Verify);
        self.accept_at(control(step::ACCEPT, 0), what)
    }

    /// As [`Session::accept`], of a part of the run that has an address of its own, in the phase that is on.
    ///
    /// # Errors
    /// As [`Session::accept`].
    pub fn accept_at(&mut self, at: At, what: &[u8]) -> Result<(), Error> {
        for party in self.others() {
            let verdict = self.verdict(self.me, party, what);
            self.mesh.send(party, at, &verdict)?;
        }
        for party in self.others() {
            let theirs = self.mesh.recv(party, at, 32)?;
            if !bool::from(theirs.ct_eq(&self.verdict(party, party, what))) {
                return self.fail(party, "what is accepted");
            }
        }
        self.challenged = false;
        Ok(())
    }

    /// What tells a client that this party has accepted the run, and that all others have told it so.
    pub fn acceptance(&self, client: usize) -> [u8; 32] {
        self.verdict(self.me, client, b"")
    }

    /// Checks what a party told this client, which must be its [`Session::acceptance`].
    ///
    /// # Errors
    /// [`Error::CheckFailed`] if it is another.
    pub fn check_acceptance(&mut self, party: usize, theirs: &[u8]) -> Result<(), Error> {
        if bool::from(theirs.ct_eq(&self.verdict(party, party, b""))) {
            return Ok(());
        }
        self.fail(party, "what is accepted")
    }

    /// What `sender` says to accept, of what was drawn from the stream shared with `peer`.
    fn verdict(&self, sender: usize, peer: usize, what: &[u8]) -> [u8; 32] {
        let drawn = self.streams[peer].as_ref().map_or(0, PrssStream::drawn);
        verdict(&self.id, self.first_op, sender, drawn, what)
    }
}
