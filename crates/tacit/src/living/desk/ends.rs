//! Runs that don't begin, and those that are over.

use super::{Company, Desk, PAUSE, Pending, Visitor};
use crate::living::control::{Between, FILLING, Proposal, ToClient, write};
use crate::living::order::{Group, Seated};
use std::time::Instant;
use tacit_net::setup::{Hub, Speaker};

impl Desk {
    /// Party 0 takes back a run that hasn't begun. One of several instances is taken apart: each is asked for alone, so that
    /// it comes to nothing for those alone whose fault it is.
    pub(super) fn cancel(&mut self, hub: &mut Hub, run: u64, reason: &str) {
        if self.is_batch(run) {
            for party in self.others() {
                hub.say(Speaker::Party(party), write(&Between::Requeue { run }));
            }
            return self.requeue(run, Company::ALONE);
        }
        for party in self.others() {
            hub.say(Speaker::Party(party), write(&Between::Cancel { run, reason: reason.to_owned() }));
        }
        self.release(hub, run, reason);
    }

    /// Forgets a run that hasn't begun; its clients' requests wait on.
    pub(super) fn requeue(&mut self, run: u64, Company { alone, first, rests }: Company) {
        let Some(Pending { proposal, .. }) = self.forget(run) else { return };
        self.want_failed(&proposal, "a party was lost, or the run taken apart");
        if rests && proposal.program == FILLING {
            self.fills.rests(Instant::now());
        }
        let needs = self.programs.get(&proposal.program).cloned().unwrap_or_default();
        // The last one first, as each is put before those that wait.
        for players in proposal.players.chunks(needs.len().max(1)).rev() {
            let (mut seats, mut alone) = (Vec::new(), alone);
            for (player, request) in players {
                let its = |visitor: &Visitor| visitor.run == Some(run) && player.is(&visitor.client);
                if let Some((guest, visitor)) = self.visitors.iter_mut().find(|(_, visitor)| its(visitor)) {
                    visitor.run = None;
                    alone |= visitor.asked.as_ref().is_some_and(|asked| asked.alone)
                        || self.absent.has(&visitor.client.name, Instant::now());
                    seats.push(Seated { guest: *guest, player: player.clone(), request: *request });
                }
            }
            if self.me == 0 && !seats.is_empty() {
                let (program, tag, needs) = (proposal.program, proposal.tag.clone(), needs.clone());
                let (fill, since) = (proposal.fill.clone(), Instant::now());
                let from = if rests { since + PAUSE } else { since };
                self.order.put_back(Group { program, tag, fill, needs, seats, alone, since, from }, first);
            }
        }
        self.rest(&proposal);
    }

    /// This party takes no part in a run that hasn't begun.
    pub(super) fn give_up(&mut self, hub: &mut Hub, run: u64, reason: &str) {
        if self.me == 0 {
            return self.cancel(hub, run, reason);
        }
        hub.say(Speaker::Party(0), write(&Between::Decline { run, reason: reason.to_owned() }));
        if self.is_batch(run) {
            return self.requeue(run, Company::ALONE);
        }
        self.release(hub, run, reason);
    }

    /// Forgets a run that doesn't begin; its clients hear of it.
    pub(super) fn release(&mut self, hub: &mut Hub, run: u64, reason: &str) {
        let is_batch = self.is_batch(run);
        let Some(Pending { proposal, .. }) = self.forget(run) else { return };
        self.want_failed(&proposal, reason);
        if proposal.program == FILLING {
            self.fills.came_to_nothing(reason);
        }
        for (player, request) in &proposal.players {
            let its = |visitor: &Visitor| {
                player.is(&visitor.client) && visitor.asked.as_ref().is_some_and(|asked| asked.id == *request)
            };
            let guest = self.visitors.iter().find(|(_, visitor)| its(visitor)).map(|(guest, _)| *guest);
            let Some((guest, visitor)) =
                guest.and_then(|guest| Some((guest, self.visitors.get_mut(&guest)?)))
            else {
                continue;
            };
            (visitor.asked, visitor.run) = (None, None);
            self.order.leave(guest);
            let (id, reason) = (*request, reason.to_owned());
            let said = if is_batch { ToClient::Again { id } } else { ToClient::Refused { id, reason } };
            hub.say(Speaker::Guest(guest), write(&said));
        }
        self.rest(&proposal);
    }

    pub(super) fn forget(&mut self, run: u64) -> Option<Pending> {
        for lane in &mut self.lanes {
            lane.take_if(|its| *its == run);
        }
        self.runs.remove(&run)
    }

    /// Asks not at once again for a program of parties alone.
    pub(super) fn rest(&mut self, proposal: &Proposal) {
        if self.asked.remove(&proposal.program) {
            self.not_before = Instant::now() + PAUSE;
        }
    }

    /// A run is over.
    pub(crate) fn ended(&mut self, run: u64, well: bool) {
        let Some(Pending { proposal, .. }) = self.forget(run) else { return };
        for visitor in self.visitors.values_mut().filter(|visitor| visitor.run == Some(run)) {
            (visitor.asked, visitor.run) = (None, None);
        }
        if well {
            self.asked.remove(&proposal.program);
        } else {
            self.rest(&proposal);
        }
    }
}
