//! A party's account of requests and proposals, and what it says to them. The order of things is in [`super`].

mod ends;
mod fills;
mod level;
mod noted;
mod requests;
mod runs;
mod turns;
mod want;
mod wants;
mod willing;

pub(crate) use want::{MAX_TAG, Want};

use super::control::{Between, FILLING, Player, Proposal, REFRESH, Request, ToClient, ToParty, read, write};
use super::order::{Order, Taken};
use super::serving::Serving;
use crate::compiled::Compiled;
use crate::state::fill::Fill;
use level::Fills;
use noted::Noted;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tacit_net::setup::{Client, Hub, Speaker};
use tacit_net::stream::Lent;
use turns::Turns;
use want::Wants;
use willing::Willing;

/// How long after one measurement of the links the next one comes.
pub(crate) const MEASURED_AGAIN: Duration = Duration::from_mins(10);
/// What a client that finds no room is told to wait.
const BUSY: u32 = 2;
/// How long a proposal waits for everybody to accept it.
pub(crate) const LATE: Duration = Duration::from_secs(5);
/// How long a party waits for party 0 to begin or to take back a run that it proposed.
const ABANDONED: Duration = Duration::from_mins(10);
/// How long a party waits for a request of a proposed run before it says that it lacks it: before the proposal is late.
const MISSED: Duration = Duration::from_secs(4);
/// The same of a run of several instances: each is proposed alone then, and nothing is lost.
const MISSED_TOGETHER: Duration = Duration::from_millis(200);
/// The same of a run of clients of which a request was missed lately: more than their paths differ by.
const MISSED_AGAIN: Duration = Duration::from_millis(500);
/// How long what held others up is remembered of a client: its path to a party may be mended, and the party may have lied.
const REMEMBERED: Duration = Duration::from_mins(10);
/// The same of a run that it held up: longer than most may.
const STALL_REMEMBERED: Duration = Duration::from_hours(1);
/// How long a run may last whose client is lost without having held it up.
const STALL: Duration = MISSED;
/// The pause before a run is asked for or proposed again that came to nothing at another party's word.
const PAUSE: Duration = Duration::from_millis(200);
/// Runs at a time of one client at most; never all that there may be, unless that is one.
const RUNS_EACH: usize = 2;
/// A client is put aside after so many runs that ended in the middle of a check because it was lost.
const LOSSES: u32 = 2;
/// Why a party that was told to end takes part in nothing more.
pub(crate) const DRAINS: &str = "drains: it ends once the runs under way have ended";
/// Characters of another party's reason that are shown.
const MAX_SHOWN: usize = 300;

/// How requests wait whose run came to nothing.
#[derive(Clone, Copy)]
struct Company {
    /// For runs of one instance.
    alone: bool,
    /// Before those of other clients, as they have had no turn.
    first: bool,
    /// They are proposed again after a pause, and not at once.
    rests: bool,
}

impl Company {
    const WAITS: Self = Self { alone: false, first: true, rests: false };
    const ALONE: Self = Self { alone: true, ..Self::WAITS };
}

/// A client that is here.
struct Visitor {
    client: Client,
    asked: Option<Request>,
    /// The run that its request has a part in, from the moment this party has accepted it.
    run: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// This party has not answered yet: its own links or a client's request are still to come.
    Proposed,
    /// It has accepted.
    Accepted,
    Running,
}

/// A run that is proposed or under way.
struct Pending {
    proposal: Proposal,
    stage: Stage,
    /// Who has accepted, at party 0.
    accepted: BTreeSet<usize>,
    since: Instant,
}

/// A run that begins.
pub(crate) struct Begun {
    pub(crate) proposal: Proposal,
    pub(crate) links: Lent,
}

/// A party's account.
pub(crate) struct Desk {
    me: usize,
    names: Vec<String>,
    protocol: String,
    /// The programs that are served, and which of their names clients play, in order.
    programs: HashMap<[u8; 32], Vec<String>>,
    /// Those that read or keep what stays.
    residents: HashMap<[u8; 32], Arc<Compiled>>,
    /// What fills their slots, and what of it requests may choose.
    fill: Fill,
    /// Programs that keep something, served or wanted: of their runs one is under way at a time.
    keepers: HashSet<[u8; 32]>,
    /// How many instances a run of each program may have, if several.
    batches: HashMap<[u8; 32], usize>,
    /// The names that any client may play; every other one is its own client's.
    open: Vec<String>,
    visitors: BTreeMap<u64, Visitor>,
    order: Order,
    /// The run that has each lane; lane 0 is never lent.
    lanes: Vec<Option<u64>>,
    runs: BTreeMap<u64, Pending>,
    /// Who is ready for a run of each program of parties alone, at party 0.
    ready: Willing<[u8; 32]>,
    /// Programs of parties alone that this party has asked for.
    asked: BTreeSet<[u8; 32]>,
    /// Runs that parties want with inputs of their own.
    wants: Wants,
    /// The filling of stores beside all these.
    fills: Fills,
    /// Whose turn it is, at party 0.
    turns: Turns,
    /// When party 0 has the links measured again, if what runs here hangs on them.
    measure: Option<Instant>,
    /// When it may ask again.
    not_before: Instant,
    last_run: u64,
    /// Runs at a time at most.
    most: usize,
    /// Attempts that may still come: each run under way may be one.
    attempts: usize,
    /// Clients of which some party has lacked a request that was to be an instance of a run of several, and those that are tardy:
    /// they run alone for a while, at party 0.
    absent: Noted,
    /// Clients that have held a lane for nothing lately, as some party lacked their request or they stalled: they hold up nobody
    /// else.
    tardy: Noted,
    /// How often each client was lost in the middle of a check.
    losses: HashMap<String, u32>,
    /// Runs that may still begin, if there is a limit.
    left: Option<u64>,
    /// Nothing more begins here: this party was told to end.
    closed: bool,
    /// The parties that were told to end and are still here, at party 0.
    draining: BTreeSet<usize>,
}

impl Desk {
    /// The desk of party `me` for these programs, with so many runs at a time at most, and so many attempts that may still come.
    /// `first` is greater than the number of any run that party 0 has proposed in an earlier life.
    pub(crate) fn new(
        me: usize,
        names: Vec<String>,
        protocol: String,
        programs: HashMap<[u8; 32], Vec<String>>,
        serving: &Serving,
        (most, attempts): (usize, usize),
        first: u64,
    ) -> Self {
        let everybody = names.len();
        let mut desk = Self {
            me,
            names,
            protocol,
            programs,
            residents: HashMap::new(),
            fill: Fill::new(),
            keepers: HashSet::new(),
            batches: HashMap::new(),
            open: serving.open.clone(),
            visitors: BTreeMap::new(),
            order: Order::new(serving.queue, serving.window),
            lanes: vec![None; usize::from(serving.at_once) + 1],
            runs: BTreeMap::new(),
            ready: Willing::new(everybody),
            asked: BTreeSet::new(),
            wants: Wants::new(everybody),
            fills: Fills::default(),
            turns: Turns::default(),
            measure: None,
            not_before: Instant::now(),
            last_run: first,
            most,
            attempts,
            absent: Noted::default(),
            tardy: Noted::default(),
            losses: HashMap::new(),
            left: serving.runs,
            closed: false,
            draining: BTreeSet::new(),
        };
        if serving.holdings.state.is_some() {
            desk.expect(REFRESH, Vec::new(), true);
        }
        desk
    }

    /// These programs read or keep what stays, and `fill` says which, and what of it requests may choose.
    pub(crate) fn resides(&mut self, residents: HashMap<[u8; 32], Arc<Compiled>>, fill: Fill) {
        let keep = residents.iter().filter(|(_, compiled)| !compiled.program().keeps().is_empty());
        self.keepers.extend(keep.map(|(program, _)| *program));
        (self.residents, self.fill) = (residents, fill);
    }

    /// What runs here hangs on the links: party 0 has them measured now and then, from `next` on.
    pub(crate) fn measures(&mut self, next: Instant) {
        self.measure = Some(next);
    }

    /// Runs of a program may have so many instances.
    pub(crate) fn batch(&mut self, program: [u8; 32], most: usize) {
        self.batches.insert(program, most);
    }

    /// Whether a run has several instances.
    fn is_batch(&self, run: u64) -> bool {
        let needs = |pending: &Pending| self.programs.get(&pending.proposal.program).map_or(0, Vec::len);
        self.runs.get(&run).is_some_and(|pending| pending.proposal.players.len() > needs(pending))
    }

    /// Whether a client's request runs alone: it says so, or some party has lacked one of the client's lately.
    fn is_alone(&self, client: &Client, request: &Request) -> bool {
        request.alone || self.absent.has(&client.name, Instant::now())
    }

    /// When a party says that it lacks a request of a run.
    fn is_missed(&self, pending: &Pending) -> Instant {
        let proposal = &pending.proposal;
        let is_tardy = |(player, _): &(Player, u64)| self.tardy.has(&player.client, Instant::now());
        pending.since
            + if self.is_batch(proposal.run) {
                MISSED_TOGETHER
            } else if proposal.players.iter().any(is_tardy) {
                MISSED_AGAIN
            } else {
                MISSED
            }
    }

    /// So many attempts may still come, and no more runs are under way at a time.
    pub(crate) fn bear(&mut self, attempts: usize) {
        self.attempts = attempts;
    }

    /// A run that is about to end here came to nothing because of this client: if that took long, it has one at a time for a
    /// while.
    pub(crate) fn failed_for(&mut self, run: u64, client: &str) {
        let now = Instant::now();
        let lasted = self.runs.get(&run).map(|run| now.saturating_duration_since(run.since));
        if lasted.is_some_and(|lasted| lasted >= STALL) {
            self.hold_back(vec![client.to_owned()], now, STALL_REMEMBERED);
        }
    }

    /// These clients hold up nobody else for so long: they have one lane at a time that no others need, and run alone.
    fn hold_back(&mut self, clients: Vec<String>, now: Instant, time: Duration) {
        self.absent.note(clients.clone(), now, time);
        self.tardy.note(clients, now, time);
    }

    /// A run ended in the middle of a check because this client was lost.
    pub(crate) fn lost(&mut self, client: &str) {
        *self.losses.entry(client.to_owned()).or_default() += 1;
    }

    fn is_aside(&self, client: &Client) -> bool {
        self.losses.get(&client.name).is_some_and(|&losses| losses >= LOSSES)
    }

    /// Whether this client may have a part in a run that begins now.
    fn is_welcome(&self, hub: &Hub, client: &Client) -> bool {
        hub.knows(client) && !self.is_aside(client)
    }

    /// Begins nothing more. Requests that wait are told so, and wait on: their clients ask again once this party is
    /// back. What it has accepted party 0 has begun, or takes back.
    pub(crate) fn close(&mut self, hub: &mut Hub) {
        if self.closed {
            return;
        }
        self.closed = true;
        self.close_wants(DRAINS);
        if self.me == 0 {
            self.take_back(hub);
        } else {
            let is_proposed = |run: &Pending| run.stage == Stage::Proposed;
            let proposed = self.runs.iter().filter(|(_, run)| is_proposed(run)).map(|(run, _)| *run);
            for run in proposed.collect::<Vec<_>>() {
                self.requeue(run, Company::WAITS);
            }
            hub.say(Speaker::Party(0), write(&Between::Drains));
        }
        for (guest, visitor) in &self.visitors {
            if let Some(request) = &visitor.asked
                && visitor
                    .run
                    .is_none_or(|run| self.runs.get(&run).is_none_or(|run| run.stage != Stage::Running))
            {
                hub.say(Speaker::Guest(*guest), write(&ToClient::Drains { id: request.id }));
            }
        }
    }

    /// Whether nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether no run may begin any more.
    pub(crate) fn is_done(&self) -> bool {
        self.closed || self.left == Some(0)
    }

    /// Requests whose runs haven't begun.
    pub(crate) fn waiting(&self) -> usize {
        let runs = |visitor: &Visitor| {
            let run = visitor.run.and_then(|run| self.runs.get(&run));
            run.is_some_and(|run| run.stage == Stage::Running)
        };
        self.visitors.values().filter(|visitor| visitor.asked.is_some() && !runs(visitor)).count()
    }

    /// Runs under way; a filling of stores is none.
    pub(crate) fn running(&self) -> usize {
        let runs = |run: &&Pending| run.stage == Stage::Running && run.proposal.program != FILLING;
        self.runs.values().filter(runs).count()
    }

    /// The names that requests wait for, of a party that orders them.
    pub(crate) fn missing(&self) -> Vec<String> {
        self.order.missing()
    }

    /// How long until something is to be done though nothing happens.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        if self.is_done() && self.is_idle() {
            return Some(Duration::ZERO);
        }
        let waiting = || self.runs.values().filter(|run| run.stage != Stage::Running);
        let late = waiting().map(|run| run.since + self.patience());
        // Whose proposal waits for something else by then looks again with the next news.
        let missed = waiting().filter(|run| run.stage == Stage::Proposed).map(|run| self.is_missed(run));
        let missed = missed.filter(|then| *then > now);
        let again = (self.not_before > now).then_some(self.not_before);
        let measure = self.measure.filter(|next| self.me == 0 && *next > now);
        let events =
            late.chain(missed).chain(again).chain(measure).map(|then| then.saturating_duration_since(now));
        events.chain(self.order.pause(now)).chain(self.fills.pause(now)).min()
    }

    /// How long a run may wait to begin. Party 0 takes it back by then. Unless it deviates it has begun what others accepted,
    /// or taken it back, so these wait longer, but not where they are told to end.
    fn patience(&self) -> Duration {
        if self.me == 0 || self.closed { LATE } else { ABANDONED }
    }

    /// Fillings and runs that are accepted here or under way.
    fn begun(&self) -> (Vec<&Pending>, Vec<&Pending>) {
        let begun = self.runs.values().filter(|run| run.stage != Stage::Proposed);
        begun.partition(|run| run.proposal.program == FILLING)
    }

    fn has_room(&self) -> bool {
        let (fillings, runs) = self.begun();
        let waiting = runs.iter().filter(|run| run.stage == Stage::Accepted).count();
        runs.len() < self.most
            && runs.len() + fillings.len() < self.attempts
            && self.left.is_none_or(|left| (waiting as u64) < left)
            && !self.closed
    }

    /// A client is here.
    pub(crate) fn came(&mut self, guest: u64, client: Client) {
        self.visitors.insert(guest, Visitor { client, asked: None, run: None });
    }

    /// Somebody isn't here any more.
    pub(crate) fn left(&mut self, hub: &mut Hub, who: Speaker) {
        let waits = |run: &Pending| run.stage != Stage::Running;
        match who {
            Speaker::Guest(guest) => {
                self.order.leave(guest);
                let Some(Visitor { run: Some(run), asked, .. }) = self.visitors.remove(&guest) else {
                    return;
                };
                if self.runs.get(&run).is_some_and(waits) {
                    self.go_without(hub, run, asked);
                }
            }
            Speaker::Party(party) if self.me == 0 => {
                self.ready.lose(party);
                self.wants.lose(party);
                self.draining.remove(&party);
                // It is waited for, and those who have asked with it.
                self.take_back(hub);
            }
            Speaker::Party(0) => {
                // If it is gone, whoever has asked has lost it too, and asks anew; else requests are proposed again.
                self.asked.clear();
                self.last_run = 0;
                let gone = self.runs.values().filter(|run| run.stage != Stage::Running);
                for proposal in gone.map(|run| run.proposal.clone()).collect::<Vec<_>>() {
                    self.wants.came_to_nothing(&proposal, "the first party was lost");
                }
                self.wants.say_again();
                self.fills.say_again();
                self.runs.retain(|_, run| run.stage == Stage::Running);
                let runs = &self.runs;
                for lane in &mut self.lanes {
                    lane.take_if(|run| !runs.contains_key(run));
                }
                for visitor in self.visitors.values_mut() {
                    visitor.run.take_if(|run| !runs.contains_key(run));
                }
            }
            Speaker::Party(_) => {}
        }
    }

    /// Takes in what somebody says; the run that begins with it, if one does.
    pub(crate) fn said(&mut self, hub: &mut Hub, by: Speaker, message: &[u8]) -> Option<Begun> {
        match by {
            Speaker::Guest(guest) => {
                self.client_said(hub, guest, message);
                None
            }
            Speaker::Party(party) => match read::<Between>(message)? {
                Between::Ask { program: FILLING } if self.me == 0 => {
                    self.is_low_at(party);
                    None
                }
                Between::Ask { program } if self.me == 0 => {
                    if self.programs.get(&program).is_some_and(Vec::is_empty) {
                        self.ready.add(program, party);
                    }
                    None
                }
                Between::Want { program, tag } if self.me == 0 => {
                    self.wants.is_wanted_by(party, (program, tag));
                    None
                }
                Between::Unwant { program, tag } if self.me == 0 => {
                    self.wants.is_wanted_no_more(party, &(program, tag));
                    None
                }
                Between::Misses { run, requests } if self.me == 0 => {
                    self.missed(hub, party, run, &requests);
                    None
                }
                Between::Drains if self.me == 0 => {
                    self.draining.insert(party);
                    self.take_back(hub);
                    None
                }
                Between::Accept { run } if self.me == 0 => self.accepted(hub, run, party),
                Between::Decline { run, reason } => {
                    let waits = self.runs.get(&run).is_some_and(|run| run.stage != Stage::Running);
                    if self.me == 0 && waits {
                        let reason = format!("{} declines: {}", self.names[party], shown(&reason));
                        self.cancel(hub, run, &reason);
                    }
                    None
                }
                Between::Propose(proposal) if party == 0 => {
                    self.proposed(hub, proposal);
                    None
                }
                Between::Start { run } if party == 0 => {
                    let accepted = self.runs.get(&run).is_some_and(|run| run.stage == Stage::Accepted);
                    if accepted { self.begin(hub, run) } else { None }
                }
                Between::Cancel { run, reason } if party == 0 => {
                    if self.runs.get(&run).is_some_and(|run| run.stage != Stage::Running) {
                        self.release(hub, run, &shown(&reason));
                    }
                    None
                }
                Between::Requeue { run } if party == 0 => {
                    if self.runs.get(&run).is_some_and(|run| run.stage != Stage::Running) {
                        self.requeue(run, Company::WAITS);
                    }
                    None
                }
                // Not the sender's to say.
                _ => None,
            },
        }
    }

    fn client_said(&mut self, hub: &mut Hub, guest: u64, message: &[u8]) {
        let Some(visitor) = self.visitors.get_mut(&guest) else { return };
        match read::<ToParty>(message) {
            Some(ToParty::Withdraw) => {
                let waits = |run: &Pending| run.stage != Stage::Running;
                let (asked, run) = (visitor.asked.take(), visitor.run.take());
                self.order.leave(guest);
                if let Some(run) = run.filter(|run| self.runs.get(run).is_some_and(waits)) {
                    self.go_without(hub, run, asked);
                }
            }
            Some(ToParty::Ask(request)) => {
                let waits = visitor
                    .run
                    .is_none_or(|run| self.runs.get(&run).is_some_and(|run| run.stage != Stage::Running));
                if visitor.asked.is_some() && waits {
                    // A connection is for one request at a time.
                    return self.dismiss(hub, guest);
                }
                self.asked_by(hub, guest, request);
            }
            None => self.dismiss(hub, guest),
        }
    }

    fn dismiss(&mut self, hub: &mut Hub, guest: u64) {
        hub.dismiss(guest);
        self.left(hub, Speaker::Guest(guest));
    }

    /// Takes in a client's request. That its connection rests shows that a run it had is over.
    fn asked_by(&mut self, hub: &mut Hub, guest: u64, request: Request) {
        let Some(visitor) = self.visitors.get_mut(&guest) else { return };
        let client = visitor.client.clone();
        if !hub.knows(&client) {
            return self.dismiss(hub, guest);
        }
        (visitor.asked, visitor.run) = (None, None);
        if self.closed {
            return hub.say(Speaker::Guest(guest), write(&ToClient::Drains { id: request.id }));
        }
        if let Some(reason) = self.objection(hub, &client, &request) {
            let refused = ToClient::Refused { id: request.id, reason };
            return hub.say(Speaker::Guest(guest), write(&refused));
        }
        if self.me == 0 {
            let needs = self.programs.get(&request.program).cloned().unwrap_or_default();
            let seated = Request { alone: self.is_alone(&client, &request), ..request.clone() };
            match self.order.ask(guest, &client, &seated, needs, Instant::now()) {
                Taken::Ready => {}
                Taken::Waits(missing) => {
                    hub.say(Speaker::Guest(guest), write(&ToClient::Waits { id: request.id, missing }));
                }
                Taken::Busy => {
                    let busy = ToClient::Busy { id: request.id, seconds: BUSY };
                    return hub.say(Speaker::Guest(guest), write(&busy));
                }
            }
        }
        if let Some(visitor) = self.visitors.get_mut(&guest) {
            visitor.asked = Some(request);
        }
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.me;
        (0..self.names.len()).filter(move |&party| party != me)
    }
}

/// A peer's words, fit to be shown: bounded, and without control characters.
pub(crate) fn shown(words: &str) -> String {
    words.chars().take(MAX_SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
