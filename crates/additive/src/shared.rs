//! Messages to all, and those that arms of a branch share: of arms that exclude one another, what each would send by itself
//! follows one another in one message, under the address of the first.

use std::collections::HashMap;
use tacit_engine::{Error, Job};
use tacit_program::plan::{OpKind, Plan};
use tacit_session::{At, Session};

/// What several jobs send and receive together.
#[derive(Default)]
pub(crate) struct Shared {
    /// What the jobs that are begun have to send, and the first one's address, while it is collected.
    outgoing: Option<(Option<At>, Vec<u8>)>,
    /// Address and length of what was sent, by the first job.
    sent: HashMap<(u32, u32, u32), (At, usize)>,
    /// What is left of what each party sent, while it is taken apart; none where jobs have messages of their own.
    incoming: Option<Vec<Vec<u8>>>,
}

impl Shared {
    /// From now on messages are collected.
    pub(crate) fn collect(&mut self) {
        self.outgoing = Some((None, Vec::new()));
    }

    /// All is taken apart.
    pub(crate) fn done(&mut self) {
        let left = self.incoming.take();
        debug_assert!(
            left.into_iter().flatten().all(|left| left.is_empty()),
            "something is left of a message"
        );
    }

    /// Sends a message to all, or adds it to what is collected.
    pub(crate) fn send_to_all(&mut self, session: &mut Session, at: At, message: &[u8]) -> Result<(), Error> {
        if let Some((first, collected)) = &mut self.outgoing {
            first.get_or_insert(at);
            collected.extend_from_slice(message);
            return Ok(());
        }
        for party in session.others() {
            session.mesh().send(party, at, message)?;
        }
        Ok(())
    }

    /// Receives a message, or takes as much of the one that several jobs share.
    pub(crate) fn receive(
        &mut self,
        session: &mut Session,
        party: usize,
        at: At,
        bytes: usize,
    ) -> Result<Vec<u8>, Error> {
        match &mut self.incoming {
            Some(parties) => Ok(parties[party].drain(..bytes).collect()),
            None => Ok(session.mesh().recv(party, at, bytes)?),
        }
    }

    /// Sends what these jobs have collected.
    pub(crate) fn send_collected(
        &mut self,
        session: &mut Session,
        plan: &Plan,
        jobs: &[Job],
    ) -> Result<(), Error> {
        if let Some((Some(at), message)) = self.outgoing.take() {
            self.sent.insert(key(plan, jobs), (at, message.len()));
            self.send_to_all(session, at, &message)?;
        }
        Ok(())
    }

    /// Receives what these jobs share: of each party as much as was sent.
    pub(crate) fn receive_collected(
        &mut self,
        session: &mut Session,
        plan: &Plan,
        jobs: &[Job],
    ) -> Result<(), Error> {
        let mut parties = vec![Vec::new(); session.parties()];
        if let Some((at, bytes)) = self.sent.remove(&key(plan, jobs)) {
            for party in session.others() {
                parties[party] = session.mesh().recv(party, at, bytes)?;
            }
        }
        self.incoming = Some(parties);
        Ok(())
    }
}

/// The first of some jobs that is finished: a circuit's last layer only begins.
fn key(plan: &Plan, jobs: &[Job]) -> (u32, u32, u32) {
    let ends = |job: &&Job| match &plan.op(job.op).kind {
        OpKind::Circuit { circuit, .. } => job.stage == circuit.depth(),
        _ => false,
    };
    let first = jobs.iter().find(|job| !ends(job)).unwrap_or(&jobs[0]);
    (first.op, first.stage, first.batch)
}
