//! Runs from proposal to beginning.

use super::turns::Side;
use super::want::Want;
use super::{Begun, Company, Desk, MEASURED_AGAIN, Pending, REMEMBERED, RUNS_EACH, Stage, Visitor};
use crate::living::control::{
    Between, FILLING, MEASURE, Player, Proposal, Request, ToClient, is_one_twice, write,
};
use crate::living::order::{Group, Seated};
use crate::state::fill::Fill;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use tacit_net::setup::{Hub, Speaker};

/// A run that party 0 proposes next.
pub(super) struct Next {
    program: [u8; 32],
    tag: String,
    fill: Fill,
    seats: Vec<Seated>,
}

impl Next {
    /// One of parties alone.
    pub(super) fn of_parties(program: [u8; 32], tag: String) -> Self {
        Self { program, tag, fill: Fill::new(), seats: Vec::new() }
    }
}

impl Desk {
    /// Does what can be done now: asks, proposes, accepts, and takes back what is late.
    pub(crate) fn tend(&mut self, hub: &mut Hub, now: Instant) {
        self.part_with(hub);
        self.ask(hub, now);
        self.say_wants(hub);
        self.say_low(hub, now);
        let late = self.late(now);
        if self.me != 0 {
            for run in late {
                self.requeue(run, Company::WAITS);
            }
            self.miss(hub, now);
            return self.answer(hub);
        }
        for run in late {
            let accepted = self.runs.get(&run).map(|run| run.accepted.clone()).unwrap_or_default();
            let missing: Vec<&str> = self
                .others()
                .filter(|party| !accepted.contains(party))
                .map(|party| self.names[party].as_str())
                .collect();
            self.cancel(hub, run, &format!("no answer from {} in time", missing.join(", ")));
        }
        self.propose_filling(hub, now);
        self.propose(hub, now);
    }

    /// Runs that should have begun by now.
    fn late(&self, now: Instant) -> Vec<u64> {
        let late = |run: &Pending| run.stage != Stage::Running && now >= run.since + self.patience();
        self.runs.iter().filter(|(_, run)| late(run)).map(|(run, _)| *run).collect()
    }

    /// Turns away those who wait for a run and may have none any more.
    fn part_with(&mut self, hub: &mut Hub) {
        let runs = |visitor: &Visitor| {
            let run = visitor.run.and_then(|run| self.runs.get(&run));
            run.is_some_and(|run| run.stage == Stage::Running)
        };
        let waits = |visitor: &Visitor| visitor.asked.is_some() && !runs(visitor);
        let has_to_go = |visitor: &Visitor| waits(visitor) && !self.is_welcome(hub, &visitor.client);
        let guests = self.visitors.iter().filter(|(_, visitor)| has_to_go(visitor));
        for guest in guests.map(|(guest, _)| *guest).collect::<Vec<_>>() {
            self.dismiss(hub, guest);
        }
    }

    /// Asks for runs of programs of parties alone.
    fn ask(&mut self, hub: &mut Hub, now: Instant) {
        if !self.has_room() || now < self.not_before || (self.me != 0 && !hub.reaches(0)) {
            return;
        }
        let alone = self.programs.iter().filter(|(_, needs)| needs.is_empty()).map(|(program, _)| *program);
        let alone = alone.filter(|program| !self.wants.is_for(program));
        for program in alone.collect::<Vec<_>>() {
            if !self.asked.insert(program) {
                continue;
            }
            if self.me == 0 {
                self.ready.add(program, 0);
            } else {
                hub.say(Speaker::Party(0), write(&Between::Ask { program }));
            }
        }
    }

    /// Party 0 proposes what is next, as long as there is a lane.
    fn propose(&mut self, hub: &mut Hub, now: Instant) {
        while self.has_room() && self.begins_runs(hub) {
            let free: Vec<u16> = self.free_lanes(hub).take(2).collect();
            let Some(&lane) = free.first() else { return };
            let leaves_one = self.leaves_room() && free.len() > 1;
            let Some(next) = self.next(now, leaves_one) else { return };
            self.propose_run(hub, lane, next, now);
        }
    }

    /// Whether all parties are here, and none was told to end.
    pub(super) fn begins_runs(&self, hub: &Hub) -> bool {
        self.draining.is_empty() && hub.is_complete()
    }

    /// A lane that no run has.
    pub(super) fn free_lane(&self, hub: &Hub) -> Option<u16> {
        self.free_lanes(hub).next()
    }

    fn free_lanes(&self, hub: &Hub) -> impl Iterator<Item = u16> {
        let free = |&lane: &u16| self.lanes[usize::from(lane)].is_none() && hub.is_ready(lane);
        (1..self.lanes.len() as u16).filter(free)
    }

    /// Whether one more could begin beside a run that begins now.
    fn leaves_room(&self) -> bool {
        self.begun().1.len() + 1 < self.at_a_time()
    }

    /// Runs that may be under way at a time.
    fn at_a_time(&self) -> usize {
        self.most.min(self.attempts)
    }

    /// Party 0 proposes a run.
    pub(super) fn propose_run(&mut self, hub: &mut Hub, lane: u16, next: Next, now: Instant) {
        let Next { program, tag, fill, seats } = next;
        self.last_run += 1;
        let run = self.last_run;
        for seated in &seats {
            if let Some(visitor) = self.visitors.get_mut(&seated.guest) {
                visitor.run = Some(run);
            }
        }
        let players = seats.into_iter().map(|seated| (seated.player, seated.request)).collect();
        let proposal = Proposal { run, lane, program, tag, fill, players };
        for party in self.others() {
            hub.say(Speaker::Party(party), write(&Between::Propose(proposal.clone())));
        }
        self.lanes[usize::from(lane)] = Some(run);
        let accepted = BTreeSet::from([0]);
        self.runs.insert(run, Pending { proposal, stage: Stage::Accepted, accepted, since: now });
    }

    /// Takes out the run that is next, if there is one: the sides take turns. If it `leaves_one`, another one may begin beside it.
    fn next(&mut self, now: Instant, leaves_one: bool) -> Option<Next> {
        if self.is_to_measure(now) {
            self.measure = Some(now + MEASURED_AGAIN);
            return Some(Next::of_parties(MEASURE, String::new()));
        }
        self.turns.order().into_iter().find_map(|side| {
            let next = self.next_of(side, now, leaves_one)?;
            self.turns.had(side);
            Some(next)
        })
    }

    /// The same of one side.
    fn next_of(&mut self, side: Side, now: Instant, leaves_one: bool) -> Option<Next> {
        match side {
            Side::Served => {
                let due = self.ready.due();
                let program = **due.iter().find(|program| self.has_turn(program))?;
                self.ready.take(&program);
                Some(Next::of_parties(program, String::new()))
            }
            Side::Wanted => {
                let want = self.wanted_alone()?;
                self.wants.is_proposed(&want);
                Some(Next::of_parties(want.0, want.1))
            }
            Side::Clients => {
                let due: BTreeSet<Want> = self.due().cloned().collect();
                let (runs, each) = (&self.runs, RUNS_EACH.min(self.most.saturating_sub(1)).max(1));
                let is_kept = self.is_kept();
                let most = |group: &Group| {
                    let is_due = if self.wants.is_for(&group.program) {
                        due.contains(&(group.program, group.tag.clone()))
                    } else {
                        !(is_kept && self.keepers.contains(&group.program))
                    };
                    if is_due { self.batches.get(&group.program).copied().unwrap_or(1) } else { 0 }
                };
                // Where there is one run at a time it can leave none.
                let takes_tardy = leaves_one || self.at_a_time() == 1;
                let tardy = &self.tardy;
                let may = |player: &Player| {
                    let under_way = runs_of(runs, player);
                    if tardy.has(&player.client, now) {
                        takes_tardy && under_way == 0
                    } else {
                        under_way < each
                    }
                };
                let groups = self.order.next(now, most, may);
                let first = groups.first()?;
                let (program, tag, fill) = (first.program, first.tag.clone(), first.fill.clone());
                self.wants.is_proposed(&(program, tag.clone()));
                Some(Next {
                    program,
                    tag,
                    fill,
                    seats: groups.into_iter().flat_map(|group| group.seats).collect(),
                })
            }
        }
    }

    /// Says which clients of a proposal haven't asked this party for it, though they have asked party 0: their paths
    /// to this one may be lost, and the others of the run are to go on without them.
    fn miss(&mut self, hub: &mut Hub, now: Instant) {
        let late = |run: &Pending| run.stage == Stage::Proposed && now >= self.is_missed(run);
        let late: Vec<u64> = self.runs.iter().filter(|(_, run)| late(run)).map(|(run, _)| *run).collect();
        for run in late {
            let Some(Pending { proposal, .. }) = self.runs.get(&run) else { continue };
            let lacks = |(player, id): &&(Player, u64)| self.guest_of(hub, proposal, player, *id).is_none();
            let lacking: Vec<(Player, u64)> = proposal.players.iter().filter(lacks).cloned().collect();
            if !lacking.is_empty() {
                let requests = lacking.iter().map(|(_, id)| *id).collect();
                hub.say(Speaker::Party(0), write(&Between::Misses { run, requests }));
                if !self.is_batch(run) {
                    self.note_tardy(lacking.into_iter().map(|(player, _)| player.client).collect(), now);
                }
                self.requeue(run, Company::WAITS);
            }
        }
    }

    /// Some party lacks requests of these clients. Those of whom that is known already are waited for less than before, so it is no
    /// news of them: they would else be missed for ever where that isn't long enough.
    fn note_tardy(&mut self, mut clients: Vec<String>, now: Instant) {
        clients.retain(|client| !self.tardy.has(client, now));
        self.hold_back(clients, now, REMEMBERED);
    }

    /// Party 0 hears that a party lacks requests of a run that hasn't begun. Their links end here, too, so that no
    /// other run is made with them: who is still there connects and asks anew. Those of a run of several instances
    /// are asked for alone first, and so is all that their clients ask for in a while: nobody else waits for them
    /// again. Clients that are missed alone have no lane that others could need, for as long.
    pub(super) fn missed(&mut self, hub: &mut Hub, party: usize, run: u64, requests: &[u64]) {
        if self.runs.get(&run).is_none_or(|run| run.stage == Stage::Running) {
            return;
        }
        tracing::debug!(run, party = self.names[party], "requests are missing");
        let is_missed = |visitor: &Visitor| {
            let asked = visitor.asked.as_ref().is_some_and(|asked| requests.contains(&asked.id));
            asked && visitor.run == Some(run)
        };
        let missed = self.visitors.iter().filter(|(_, visitor)| is_missed(visitor)).map(|(guest, _)| *guest);
        let missed: Vec<u64> = missed.collect();
        let names = missed.iter().filter_map(|guest| Some(self.visitors.get(guest)?.client.name.clone()));
        let (names, now) = (names.collect::<Vec<_>>(), Instant::now());
        if self.is_batch(run) {
            self.absent.note(names, now, REMEMBERED);
            return self.take_apart(hub, run, false);
        }
        self.note_tardy(names, now);
        // After a pause, or a party that always says so would have it proposed without end.
        self.take_apart(hub, run, true);
        for guest in missed {
            self.dismiss(hub, guest);
        }
    }

    /// A client has left a run that hasn't begun here. Another party says so, and keeps what it has accepted until it hears from
    /// party 0, which may have begun it meanwhile.
    pub(super) fn go_without(&mut self, hub: &mut Hub, run: u64, asked: Option<Request>) {
        if self.me == 0 {
            return self.take_apart(hub, run, false);
        }
        let requests = asked.into_iter().map(|request| request.id).collect();
        hub.say(Speaker::Party(0), write(&Between::Misses { run, requests }));
        if self.runs.get(&run).is_some_and(|run| run.stage == Stage::Proposed) {
            self.requeue(run, Company::WAITS);
        }
    }

    /// Party 0 takes back a run that somebody has left: its other requests wait on, for whoever comes in that one's
    /// place; those of a batch run alone.
    fn take_apart(&mut self, hub: &mut Hub, run: u64, rests: bool) {
        let alone = self.is_batch(run);
        for other in self.others() {
            hub.say(Speaker::Party(other), write(&Between::Requeue { run }));
        }
        // It has had its turn: who asks some parties alone, and goes again, holds up nobody else.
        self.requeue(run, Company { alone, first: false, rests });
    }

    /// Party 0 takes back all runs that haven't begun; their requests wait on.
    pub(super) fn take_back(&mut self, hub: &mut Hub) {
        let waits = |run: &Pending| run.stage != Stage::Running;
        let waiting: Vec<u64> = self.runs.iter().filter(|(_, run)| waits(run)).map(|(run, _)| *run).collect();
        // The last one first, as each is put before those that wait.
        for run in waiting.into_iter().rev() {
            for other in self.others() {
                hub.say(Speaker::Party(other), write(&Between::Requeue { run }));
            }
            self.requeue(run, Company::WAITS);
        }
    }

    /// Whether a run that keeps something is under way here.
    fn is_kept(&self) -> bool {
        let mut begun = self.runs.values().filter(|run| run.stage != Stage::Proposed);
        begun.any(|run| self.keepers.contains(&run.proposal.program))
    }

    /// Whether a run of this program wouldn't keep anything while another one does. Each party looks at it: what two runs keep at
    /// once could have one number.
    pub(super) fn has_turn(&self, program: &[u8; 32]) -> bool {
        !(self.keepers.contains(program) && self.is_kept())
    }

    /// Whether party 0 has the links measured now: it is time, and nothing runs whose messages would be measured with them, or it
    /// has been time for long.
    fn is_to_measure(&self, now: Instant) -> bool {
        let late = |next: &Instant| now >= *next + MEASURED_AGAIN;
        self.measure.is_some_and(|next| now >= next && (self.runs.is_empty() || late(&next)))
    }

    /// Party 0 hears that a party accepts: with the last one the run begins.
    pub(super) fn accepted(&mut self, hub: &mut Hub, run: u64, party: usize) -> Option<Begun> {
        let pending = self.runs.get_mut(&run).filter(|run| run.stage == Stage::Accepted)?;
        pending.accepted.insert(party);
        if pending.accepted.len() < self.names.len() {
            return None;
        }
        let proposal = pending.proposal.clone();
        if self.ready_guests(hub, &proposal).is_none() {
            self.take_apart(hub, run, true);
            return None;
        }
        for party in self.others() {
            hub.say(Speaker::Party(party), write(&Between::Start { run }));
        }
        self.begin(hub, run)
    }

    /// A party hears what party 0 proposes. What it objects to is declined at once; the rest is answered when its own links and
    /// the clients' requests are here.
    pub(super) fn proposed(&mut self, hub: &mut Hub, proposal: Proposal) {
        let run = proposal.run;
        if self.closed {
            // It was said before, but party 0 forgets it with a link that is lost.
            return hub.say(Speaker::Party(0), write(&Between::Drains));
        }
        if let Some(reason) = self.refusal(&proposal) {
            if proposal.program == FILLING {
                self.fills.came_to_nothing(&reason);
            }
            return hub.say(Speaker::Party(0), write(&Between::Decline { run, reason }));
        }
        self.last_run = run;
        let (stage, accepted, since) = (Stage::Proposed, BTreeSet::new(), Instant::now());
        self.runs.insert(run, Pending { proposal, stage, accepted, since });
        self.answer(hub);
    }

    /// Why this party takes no part in what is proposed, whatever clients say.
    fn refusal(&self, proposal: &Proposal) -> Option<String> {
        // While party 0 is lost the last number is forgotten, and what runs goes on.
        if proposal.run <= self.last_run || self.runs.contains_key(&proposal.run) {
            return Some("the run's number has been before".to_owned());
        }
        let waiting = self.runs.values().filter(|run| run.stage == Stage::Proposed).count();
        if proposal.lane == 0 || usize::from(proposal.lane) >= self.lanes.len() {
            return Some("there is no such lane".to_owned());
        }
        if waiting >= self.lanes.len() {
            return Some("as many proposals wait as there are lanes".to_owned());
        }
        if self.left == Some(0) {
            return Some("has begun all its runs".to_owned());
        }
        if proposal.program == MEASURE {
            let measures = self.measure.is_some() && proposal.players.is_empty();
            return (!measures).then(|| "measures no links".to_owned());
        }
        if proposal.program == FILLING {
            let has_others = !proposal.players.is_empty() || !proposal.fill.is_empty();
            let reason = || "nobody but parties fills stores".to_owned();
            return has_others.then(reason).or_else(|| self.other_level(&proposal.tag));
        }
        let Some(needs) = self.programs.get(&proposal.program) else {
            return Some("doesn't serve this program".to_owned());
        };
        // Whoever chooses rows is a client of the run, and has told this party the same.
        if needs.is_empty() && !proposal.fill.is_empty() {
            return Some("no request has named the rows of this run".to_owned());
        }
        let is_played = |players: &[(Player, u64)]| players.iter().map(|(player, _)| &player.plays).eq(needs);
        let mut instances = proposal.players.chunks(needs.len().max(1));
        let count = instances.len();
        if !instances.all(is_played) || (count == 0) != needs.is_empty() {
            return Some("not each of the program's names is played once in each instance".to_owned());
        }
        let most = self.batches.get(&proposal.program).copied().unwrap_or(1);
        if count > 1 && (count > most || !count.is_power_of_two()) {
            return Some(format!("doesn't run {count} instances of the program together"));
        }
        if is_one_twice(&proposal.players.iter().map(|(player, _)| player).collect::<Vec<_>>()) {
            return Some("a client would play two names".to_owned());
        }
        let has_asked = if self.wants.is_for(&proposal.program) {
            self.wants.has(&(proposal.program, proposal.tag.clone()))
        } else {
            !needs.is_empty() || self.asked.contains(&proposal.program)
        };
        if !has_asked {
            return Some("hasn't asked for this run".to_owned());
        }
        None
    }

    /// A party accepts what is proposed and can begin here: its links of the lane rest, and each client has told it the same.
    fn answer(&mut self, hub: &mut Hub) {
        let proposed = self.runs.iter().filter(|(_, run)| run.stage == Stage::Proposed);
        for run in proposed.map(|(run, _)| *run).collect::<Vec<_>>() {
            let Some(Pending { proposal, .. }) = self.runs.get(&run) else { continue };
            let lane = proposal.lane;
            let is_free = self.lanes[usize::from(lane)].is_none() && hub.is_ready(lane);
            let has_room =
                if proposal.program == FILLING { self.has_room_to_fill() } else { self.has_room() };
            if !is_free || !has_room || !self.has_turn(&proposal.program) {
                continue;
            }
            let Some(guests) = self.guests_of(hub, proposal) else { continue };
            for guest in guests {
                if let Some(visitor) = self.visitors.get_mut(&guest) {
                    visitor.run = Some(run);
                }
            }
            self.lanes[usize::from(lane)] = Some(run);
            if let Some(run) = self.runs.get_mut(&run) {
                run.stage = Stage::Accepted;
            }
            hub.say(Speaker::Party(0), write(&Between::Accept { run }));
        }
    }

    /// The connections of a proposal's clients, if each has asked this party for just that.
    fn guests_of(&self, hub: &Hub, proposal: &Proposal) -> Option<Vec<u64>> {
        proposal.players.iter().map(|(player, id)| self.guest_of(hub, proposal, player, *id)).collect()
    }

    /// That of one of them.
    fn guest_of(&self, hub: &Hub, proposal: &Proposal, player: &Player, id: u64) -> Option<u64> {
        let several = self.is_batch(proposal.run);
        let has_asked = |visitor: &Visitor| {
            let same = |request: &Request| {
                let asked = (request.id, &request.plays, &request.program, &request.tag, &request.fill);
                asked == (id, &player.plays, &proposal.program, &proposal.tag, &proposal.fill)
                    && !(several && request.alone)
            };
            let free = visitor.run.is_none_or(|run| run == proposal.run);
            let asks = free && visitor.asked.as_ref().is_some_and(same);
            asks && player.is(&visitor.client) && self.is_welcome(hub, &visitor.client)
        };
        self.visitors.iter().find(|(_, visitor)| has_asked(visitor)).map(|(guest, _)| *guest)
    }

    /// Those, if their links and the lane's can be lent.
    fn ready_guests(&self, hub: &Hub, proposal: &Proposal) -> Option<Vec<u64>> {
        let guests = self.guests_of(hub, proposal).filter(|_| hub.is_ready(proposal.lane));
        guests.filter(|guests| guests.iter().all(|guest| hub.is_resting(*guest)))
    }

    /// The run begins: its clients are told, and its links are lent.
    pub(super) fn begin(&mut self, hub: &mut Hub, run: u64) -> Option<Begun> {
        let proposal = self.runs.get(&run)?.proposal.clone();
        let lane = proposal.lane;
        let guests = self.ready_guests(hub, &proposal);
        let players: Vec<Player> = proposal.players.iter().map(|(player, _)| player.clone()).collect();
        for (guest, (_, id)) in guests.iter().flatten().zip(&proposal.players) {
            let begin = ToClient::Begin { id: *id, run, players: players.clone() };
            hub.say(Speaker::Guest(*guest), write(&begin));
        }
        let Some(links) = guests.and_then(|guests| hub.lend(lane, &guests)) else {
            // A link was lost in this moment. The others have begun, and notice it on the lane's links.
            hub.give_up(lane);
            self.let_go(hub, run, "a link was lost as the run began");
            return None;
        };
        if let Some(pending) = self.runs.get_mut(&run) {
            pending.stage = Stage::Running;
        }
        if proposal.program == FILLING {
            self.fills.begins();
        } else if proposal.program != MEASURE {
            self.left = self.left.map(|left| left.saturating_sub(1));
        }
        self.takes_want(&proposal);
        Some(Begun { proposal, links })
    }

    /// Forgets a run that the others have begun. Its clients have sent nothing yet: their links end here, and they ask anew.
    fn let_go(&mut self, hub: &mut Hub, run: u64, reason: &str) {
        let visitors = self.visitors.iter().filter(|(_, visitor)| visitor.run == Some(run));
        let guests: Vec<u64> = visitors.map(|(guest, _)| *guest).collect();
        let Some(Pending { proposal, .. }) = self.forget(run) else { return };
        self.want_failed(&proposal, reason);
        if proposal.program == FILLING {
            self.fills.came_to_nothing(reason);
        }
        for guest in guests {
            self.dismiss(hub, guest);
        }
        self.rest(&proposal);
    }
}

/// How many of these runs a client has a part in.
fn runs_of(runs: &BTreeMap<u64, Pending>, player: &Player) -> usize {
    let plays = |run: &&Pending| run.proposal.players.iter().any(|(other, _)| other.client == player.client);
    runs.values().filter(plays).count()
}

#[cfg(test)]
mod tests;
