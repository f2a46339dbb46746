//! What a party takes down of a run that has ended.

use super::shared::Ended;
use super::{Server, play};
use crate::error::{Error, link};
use crate::living::control::{FILLING, MEASURE, Proposal};
use tacit_net::{Doing, ErrorKind};

impl Server {
    /// Takes down how a run has ended, also where that was only after its end here: a failed check is one.
    pub(super) fn note(&mut self, ended: &Ended) {
        let Ended { proposal, result, late } = ended;
        if let Err(error) = result
            && let Some(client) = blamed(error, proposal).or_else(|| awaited(error, proposal))
        {
            self.desk.failed_for(proposal.run, client);
        }
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
    blamed(error, proposal).filter(|_| error.is_attempt())
}

/// The client of a run for which it ended, here or at a party that says so.
fn blamed<'a>(error: &Error, proposal: &'a Proposal) -> Option<&'a str> {
    let link = link_of(error)?;
    let origin = match link.what() {
        ErrorKind::Aborted { origin, .. } => client_of(proposal, origin),
        _ => None,
    };
    client_of(proposal, &link.peer()?.name).or(origin)
}

/// The client of a run for which this party was waiting as the run ended: others may have lost patience with this party for it.
fn awaited<'a>(error: &Error, proposal: &'a Proposal) -> Option<&'a str> {
    match link_of(error)?.doing()? {
        Doing::Receiving { from: peer, .. } | Doing::Sending { to: peer, .. } => {
            client_of(proposal, &peer.name)
        }
        _ => None,
    }
}

/// The link's error that ended a run.
fn link_of(error: &Error) -> Option<&tacit_net::Error> {
    match error {
        Error::AfterKeeping { failed, .. } => link_of(failed),
        Error::Aborted { cause, .. } => link(cause),
        _ => None,
    }
}

/// The client of this name, if it has a part in a run.
fn client_of<'a>(proposal: &'a Proposal, name: &str) -> Option<&'a str> {
    let mut clients = proposal.players.iter().map(|(player, _)| player.client.as_str());
    clients.find(|client| *client == name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::proposal;
    use super::*;
    use tacit_engine::Error as Cause;
    use tacit_net::{Limits, Mesh};
    use tacit_session::Error as SessionError;

    /// P0, P1 and Alice.
    fn meshes() -> Vec<Mesh> {
        let names = ["P0", "P1", "alice"].map(str::to_owned).to_vec();
        let mut meshes: Vec<Mesh> = (tacit_net::memory::mesh(2, 1).into_iter().enumerate())
            .map(|(me, links)| Mesh::new(Box::new(links), me, names.clone(), Limits::default()))
            .collect();
        for mesh in &mut meshes {
            mesh.trust_check_failures_from(2);
        }
        meshes
    }

    fn aborted(attempt: bool, cause: SessionError) -> Error {
        Error::Aborted { lane: None, at: None, attempt, cause: Cause::Session(cause) }
    }

    /// Alice is lost at P1, and so she is at P0, which hears of it.
    #[test]
    fn a_client_that_another_party_lost_in_a_check_is_known() {
        let mut meshes = meshes();
        meshes[2].send(1, tacit_net::At::op(5), &[]).unwrap();
        meshes[1].recv(2, tacit_net::At::op(4), 0).unwrap_err();
        let heard = meshes[0].recv(1, tacit_net::At::op(4), 0).unwrap_err();
        assert_eq!(heard.peer().map(|peer| peer.name.as_str()), Some("P1"));
        let error = aborted(true, heard.into());
        assert_eq!(lost_in_check(&error, &proposal(&["bob", "alice"])), Some("alice"));
        assert_eq!(lost_in_check(&error, &proposal(&["bob"])), None);
    }

    /// P1 has waited too long for P0, which was waiting for Alice.
    #[test]
    fn a_client_that_was_awaited_as_others_lost_patience_is_known_and_not_blamed() {
        let mut meshes = meshes();
        meshes[1].abort("P0 takes too long");
        let heard = meshes[0].recv(2, tacit_net::At::op(4), 0).unwrap_err();
        let (error, asked) = (aborted(true, heard.into()), proposal(&["bob", "alice"]));
        assert_eq!((awaited(&error, &asked), blamed(&error, &asked)), (Some("alice"), None));
    }

    #[test]
    fn a_client_that_is_lost_in_a_check_is_known() {
        let mut meshes = meshes();
        drop(meshes.pop());
        let lost = meshes[0].recv(2, tacit_net::At::op(4), 1).unwrap_err();
        let asked = proposal(&["bob", "alice"]);
        assert_eq!(lost_in_check(&aborted(true, lost.clone().into()), &asked), Some("alice"));
        assert_eq!(lost_in_check(&aborted(true, lost.clone().into()), &proposal(&["bob"])), None);
        assert_eq!(lost_in_check(&aborted(false, lost.clone().into()), &asked), None);
        assert_eq!(lost_in_check(&aborted(true, SessionError::Exhausted), &asked), None);
        let kept = aborted(true, lost.clone().into()).after_keeping(&["weights@1".to_owned()]);
        assert_eq!(lost_in_check(&kept, &asked), Some("alice"));
        assert_eq!(blamed(&aborted(false, lost.into()), &asked), Some("alice"));
    }
}
