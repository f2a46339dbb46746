//! Messages to all, and those that arms of a branch share: of arms that exclude one another, what each would send by itself
//! follows one another in one message, under the address of the first.

use std::collections::HashMap;

use tacit_engine::{Error, Job};
use tacit_program::plan::OpKind;
use tacit_session::At;

use super::engine::AdditiveEngine;

/// What several jobs send and receive together.
#[derive(Default)]
pub(super) struct Shared {
    /// What the jobs that are begun have to send, and the first one's address, while it is collected.
    outgoing: Option<(Option<At>, Vec<u8>)>,
    /// Address and length of what was sent, by the first job.
    sent: HashMap<(u32, u32, u32), (At, usize)>,
    /// What is left of what each party sent, while it is taken apart; none where jobs have messages of their own.
    incoming: Option<Vec<Vec<u8>>>,
}

impl Shared {
    /// From now on messages are collected.
    pub(super) fn collect(&mut self) {
        self.outgoing = Some((None, Vec::new()));
    }

    /// All is taken apart.
    pub(super) fn done(&mut self) {
        let left = self.incoming.take();
        debug_assert!(
            left.into_iter().flatten().all(|left| left.is_empty()),
            "something is left of a message"
        );
    }
}

impl AdditiveEngine {
    /// Sends a message to all, or adds it to what is collected.
    pub(super) fn send_to_all(&mut self, at: At, message: &[u8]) -> Result<(), Error> {
        if let Some((first, collected)) = &mut self.shared.outgoing {
            first.get_or_insert(at);
            collected.extend_from_slice(message);
            return Ok(());
        }
        for party in self.others() {
            self.session.mesh().send(party, at, message)?;
        }
        Ok(())
    }

    /// Receives a message, or takes as much of the one that several jobs share.
    pub(super) fn receive(&mut self, party: usize, at: At, bytes: usize) -> Result<Vec<u8>, Error> {
        match &mut self.shared.incoming {
            Some(parties) => Ok(parties[party].drain(..bytes).collect()),
            None => Ok(self.session.mesh().recv(party, at, bytes)?),
        }
    }

    /// Sends what these jobs have collected.
    pub(super) fn send_shared(&mut self, jobs: &[Job]) -> Result<(), Error> {
        if let Some((Some(at), message)) = self.shared.outgoing.take() {
            let key = self.key(jobs);
            self.shared.sent.insert(key, (at, message.len()));
            self.send_to_all(at, &message)?;
        }
        Ok(())
    }

    /// Receives what these jobs share: of each party as much as was sent.
    pub(super) fn receive_shared(&mut self, jobs: &[Job]) -> Result<(), Error> {
        let mut parties = vec![Vec::new(); self.session.parties()];
        let key = self.key(jobs);
        if let Some((at, bytes)) = self.shared.sent.remove(&key) {
            for party in self.others() {
                parties[party] = self.session.mesh().recv(party, at, bytes)?;
            }
        }
        self.shared.incoming = Some(parties);
        Ok(())
    }

    /// The first of some jobs that is finished: a circuit's last layer only begins.
    fn key(&self, jobs: &[Job]) -> (u32, u32, u32) {
        let ends = |job: &&Job| match &self.plan.op(job.op).kind {
            OpKind::Circuit { circuit, .. } => job.stage == circuit.depth(),
            _ => false,
        };
        let first = jobs.iter().find(|job| !ends(job)).unwrap_or(&jobs[0]);
        (first.op, first.stage, first.batch)
    }
}
