//! What a party takes down of a run that has ended.

use super::shared::Ended;
use super::{Server, play};
use crate::error::{Error, link};
use crate::living::control::{FILLING, MEASURE, Proposal};

impl Server {
    /// Takes down how a run has ended, also where that was only after its end here: a failed check is one.
    pub(super) fn note(&mut self, ended: &Ended) {
        let Ended { proposal, result, late } = ended;
        self.desk.ended(proposal.run, result.is_ok());
        if proposal.program == MEASURE {
            return;
        }
        self.ended += u64::from(proposal.program != FILLING);
        if let Some(late) = late {
            play::log_late(proposal, late, &mut self.failures);
        }
        if let Some(error) = result.as_ref().err().or(late.as_ref()) {
            self.attempts.note(error);
            self.desk.bear(self.attempts.left());
            if let Some(client) = lost_in_check(error, proposal) {
                self.desk.lost(client);
            }
        }
    }
}

/// The client of a run whose loss ended it in the middle of a check.
fn lost_in_check<'a>(error: &Error, proposal: &'a Proposal) -> Option<&'a str> {
    let Error::Aborted { attempt: true, cause, .. } = error else { return None };
    let peer = &link(cause)?.peer()?.name;
    let mut clients = proposal.players.iter().map(|(player, _)| player.client.as_str());
    clients.find(|client| client == peer)
}

#[cfg(test)]
mod tests {
    use super::super::tests::proposal;
    use super::*;
    use tacit_engine::Error as Cause;
    use tacit_net::{Limits, Mesh};
    use tacit_session::Error as SessionError;

    #[test]
    fn a_client_that_is_lost_in_a_check_is_known() {
        let mut meshes = tacit_net::memory::mesh(2, 0).into_iter().enumerate().map(|(me, links)| {
            let names = vec!["P0".to_owned(), "alice".to_owned()];
            Mesh::new(Box::new(links), me, names, Limits::default())
        });
        let mut here = meshes.next().unwrap();
        drop(meshes);
        let lost = here.recv(1, tacit_net::At::op(4), 1).unwrap_err();
        let error = |attempt, cause: SessionError| Error::Aborted {
            lane: None,
            at: None,
            attempt,
            cause: Cause::Session(cause),
        };
        let asked = proposal(&["bob", "alice"]);
        assert_eq!(lost_in_check(&error(true, lost.clone().into()), &asked), Some("alice"));
        assert_eq!(lost_in_check(&error(true, lost.clone().into()), &proposal(&["bob"])), None);
        assert_eq!(lost_in_check(&error(false, lost.into()), &asked), None);
        assert_eq!(lost_in_check(&error(true, SessionError::Exhausted), &asked), None);
    }
}
