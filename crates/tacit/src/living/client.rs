//! A client of a deployment that serves: it asks all parties alike, and plays its part once all say that the run begins.

use super::batch::in_run;
use super::control::{Player, Request, ToClient, ToParty, bound, is_one_twice, read, write};
use super::desk::{DRAINS, shown};
use super::server::shared::mesh;
use crate::compiled::Compiled;
use crate::endpoint::Endpoint;
use crate::error::{Error, link};
use crate::kept::Source;
use crate::progress::Progress;
use crate::registry::Chosen;
use crate::report::Run;
use crate::run::{Given, Own, endpoint_of, run_over};
use crate::state::fill::{Fill, MAX_FILL_BYTES};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tacit_engine::Participants;
use tacit_net::setup::{Attendance, Config, Note, Notes, SetupError, Vacant, Word};
use tacit_program::Value;
use tacit_program::plan::To;
use tacit_session::{Entropy, OsEntropy};

/// The pause before a client connects again that has lost a party.
const PAUSE: Duration = Duration::from_millis(200);

/// What a client asks for.
pub(crate) struct Wish<'a> {
    pub(crate) compiled: &'a Arc<Compiled>,
    /// A value for each input that is the client's to give.
    pub(crate) inputs: &'a [Option<Value>],
    /// The protocol's name.
    pub(crate) protocol: &'a str,
    /// Which of the program's names it plays; its own if it isn't said.
    pub(crate) plays: Option<&'a str>,
    /// Clients of one tag meet in one run.
    pub(crate) tag: &'a str,
    /// What it chooses of what the parties keep.
    pub(crate) fill: &'a Fill,
    /// How long it waits for the run to begin.
    pub(crate) within: Duration,
    /// Who is told whom it waits for.
    pub(crate) notes: &'a Notes,
}

/// A request and what is known of it.
struct Asking<'a> {
    config: &'a Config,
    compiled: &'a Compiled,
    request: Request,
    needs: Vec<String>,
    deadline: Instant,
    within: Duration,
    notes: &'a Notes,
}

/// How asking ended.
enum Outcome {
    Begins {
        run: u64,
        players: Vec<Player>,
    },
    /// A party doesn't begin the run of several instances after all: nothing was sent.
    Alone,
    /// A party was lost before the run began: nothing was sent.
    Lost,
}

/// Asks for a run of a program, and plays this client's part in it. `links` are those of the last time, if they are still
/// there, and afterwards those for the next.
///
/// # Errors
/// [`Error::Busy`] and [`Error::Declined`] if the parties don't begin it, [`Error::Setup`] if they or other clients don't come
/// within the time; else as [`crate::Seat::run`].
pub(crate) fn ask(
    config: &Config,
    links: &mut Option<Attendance>,
    wish: &Wish<'_>,
    progress: Progress<'_>,
) -> Result<Run, Error> {
    let Wish { compiled, inputs, protocol, within, notes, .. } = *wish;
    let chosen = Chosen::of(protocol)?;
    let parties: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
    let needs = Participants::clients_of(compiled.plan(), &parties);
    let name = config.names().swap_remove(config.me());
    let plays = wish.plays.unwrap_or(&name).to_owned();
    let Some(place) = needs.iter().position(|need| *need == plays) else {
        return Err(Error::Refused(format!(
            "the program doesn't name {plays}: it neither gives an input nor learns an output"
        )));
    };
    let endpoint = endpoint_of(config, compiled, chosen.protocol.clone(), needs.clone())?;
    let given: Vec<Option<&Value>> = inputs.iter().map(Option::as_ref).collect();
    endpoint.encode(parties.len() + place, &given)?;
    let request = Request {
        id: drawn(compiled)?,
        program: compiled.hash(),
        protocol: chosen.to_string(),
        plays,
        tag: wish.tag.to_owned(),
        alone: false,
        fill: wish.fill.canonical()?,
    };
    if !request.fill.is_short() {
        return Err(Error::Refused(format!(
            "a request says {MAX_FILL_BYTES} bytes of slots and rows at most"
        )));
    }
    let deadline = Instant::now() + within;
    let mut asking = Asking { config, compiled, request, needs, deadline, within, notes };
    loop {
        let begun = asking.until_begun(links)?;
        let is_one = begun.2.len() == endpoint.clients.len();
        match asking.play(begun, links, &chosen, &endpoint, &given, progress) {
            // Another client's doing, as a rule: this one asks again by itself, once.
            Err(error) if !is_one && may_be_anothers(&error) && asking.is_alone_to_learn() => {
                asking.ask_alone()?;
            }
            played => return played,
        }
    }
}

/// A request's number.
fn drawn(compiled: &Compiled) -> Result<u64, Error> {
    let mut id = [0; 8];
    OsEntropy.fill(&mut id).map_err(|error| compiled.aborted(error.into()))?;
    Ok(u64::from_le_bytes(id))
}

/// Whether a run ended since somebody was lost or gave up, or gave what isn't in the ranges that the program assumes, and not since
/// a check failed or while one was under way.
fn may_be_anothers(error: &Error) -> bool {
    let is_link = matches!(error, Error::Aborted { cause, .. } if link(cause).is_some());
    let is_outside = matches!(error, Error::OutsideAssumed { .. });
    (is_link || is_outside) && !error.is_attempt()
}

impl Asking<'_> {
    /// Asks, and asks again if a party was lost, until the run begins.
    fn until_begun(
        &mut self,
        links: &mut Option<Attendance>,
    ) -> Result<(Attendance, u64, Vec<Player>), Error> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let mut attendance = match links.take().filter(Attendance::is_current) {
                Some(attendance) => attendance,
                None => Attendance::connect(self.config, left, self.notes)?,
            };
            match self.wait(&mut attendance) {
                Ok(Outcome::Begins { run, players }) => return Ok((attendance, run, players)),
                Ok(Outcome::Alone) => self.ask_alone()?,
                Ok(Outcome::Lost) if Instant::now() < self.deadline => {
                    // The others would else take the request for one that is still asked.
                    drop(attendance);
                    std::thread::sleep(PAUSE);
                }
                Ok(Outcome::Lost) => {
                    let missing = "a party was lost again and again".to_owned();
                    return Err(self.missing(missing).into());
                }
                Err(error @ Error::Busy { .. }) => {
                    for party in 0..self.config.parties().len() {
                        attendance.say(party, write(&ToParty::Withdraw));
                    }
                    *links = Some(attendance);
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Asks anew, for a run of one instance.
    fn ask_alone(&mut self) -> Result<(), Error> {
        (self.request.id, self.request.alone) = (drawn(self.compiled)?, true);
        self.deadline = Instant::now() + self.within;
        Ok(())
    }

    /// Whether nobody else learns what the program reveals. Whoever does could give up once he has learned it, and a second
    /// run would tell him what comes of these inputs and other ones of his.
    fn is_alone_to_learn(&self) -> bool {
        let roles = &self.compiled.plan().roles;
        let is_own = |to| matches!(to, To::One(role) if roles[role as usize] == self.request.plays);
        self.compiled.outputs().iter().all(|output| is_own(output.to))
    }

    /// Plays this client's part in a run that begins, in its instance.
    fn play(
        &self,
        (mut attendance, run, players): (Attendance, u64, Vec<Player>),
        links: &mut Option<Attendance>,
        chosen: &Chosen,
        one: &Endpoint,
        given: &[Option<&Value>],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        let Some(place) = players.iter().position(|player| self.is_own(player)) else {
            return Err(Error::Refused("a run began without this client".to_owned()));
        };
        let (parties, instance) = (one.parties.len(), place / one.clients.len().max(1));
        let (endpoint, batch) = in_run(one, players.len())?;
        let endpoint = endpoint.bound_to(bound(run, &self.request.tag, &self.request.fill, &players));
        let given = batch.as_ref().map_or_else(|| given.to_vec(), |batch| batch.given(given, instance));
        let lent = attendance.lend(parties + players.len());
        let mesh = mesh(Box::new(lent), self.config, parties + place, &players);
        let own =
            Own { given: Given::Values(vec![given]), source: Source::InRun, residents: None, measured: None };
        let played = run_over(parties + place, chosen, &[endpoint], own, progress, || Ok(vec![mesh]));
        *links = attendance.after_run();
        let run = played?.swap_remove(0);
        Ok(match batch {
            Some(batch) => batch.run_of(&one.compiled, instance, run),
            None => run,
        })
    }

    /// Whether this client is the player.
    fn is_own(&self, player: &Player) -> bool {
        let me = self.config.me().checked_sub(self.config.parties().len());
        let me = me.and_then(|me| self.config.clients().get(me));
        player.plays == self.request.plays && me.is_some_and(|me| player.is(me))
    }

    fn missing(&self, missing: String) -> SetupError {
        SetupError::Missing { missing, after: self.within, turned_away: Vec::new() }
    }

    /// Asks all parties, and waits for what they say.
    fn wait(&self, attendance: &mut Attendance) -> Result<Outcome, Error> {
        let parties = self.config.parties();
        for party in 0..parties.len() {
            attendance.say(party, write(&ToParty::Ask(self.request.clone())));
        }
        let mut begun: BTreeMap<usize, (u64, Vec<Player>)> = BTreeMap::new();
        let mut deadline = self.deadline;
        let (mut missing, mut vacant, mut drains) = (Vec::new(), Vacant::default(), None::<usize>);
        loop {
            let silent: Vec<usize> = (0..parties.len()).filter(|party| !begun.contains_key(party)).collect();
            if silent.is_empty() {
                return self.agreed(begun);
            }
            let now = Instant::now();
            if now >= deadline {
                let waits = match (&missing[..], drains) {
                    _ if !begun.is_empty() => {
                        let silent = silent.iter().map(|&party| parties[party].name.as_str());
                        let silent = silent.collect::<Vec<_>>().join(", ");
                        format!("{silent} didn't begin the run that others have begun")
                    }
                    (_, Some(party)) => format!("{} {DRAINS}", parties[party].name),
                    ([], None) => "the parties didn't begin the run".to_owned(),
                    _ => format!(
                        "{} waits for others of this run ({}), who didn't come",
                        parties[0].name,
                        missing.join(", ")
                    ),
                };
                return Err(self.missing(waits).into());
            }
            if vacant.is_to_be_told(&missing) {
                (self.notes)(Note::Waiting(&missing.iter().map(String::as_str).collect::<Vec<_>>()));
            }
            let left = deadline.saturating_duration_since(now);
            let (party, message) =
                match attendance.next(&silent, vacant.pause().map_or(left, |tells| tells.min(left))) {
                    Some(Word::Left { .. }) => return Ok(Outcome::Lost),
                    Some(Word::Said { party, message }) => (party, message),
                    _ => continue,
                };
            let id = self.request.id;
            match read::<ToClient>(&message) {
                Some(ToClient::Waits { id: its, missing: names }) if its == id => {
                    missing = names.iter().map(|name| shown(name)).collect();
                }
                Some(ToClient::Busy { id: its, seconds }) if its == id => {
                    return Err(Error::Busy { seconds });
                }
                Some(ToClient::Refused { id: its, reason }) if its == id => {
                    let (party, reason) = (parties[party].name.clone(), shown(&reason));
                    return Err(Error::Declined { party, reason });
                }
                // Its link is lost once it has ended, and then this asks anew.
                Some(ToClient::Drains { id: its }) if its == id => drains = Some(party),
                Some(ToClient::Again { id: its }) if its == id && !self.request.alone => {
                    return Ok(Outcome::Alone);
                }
                Some(ToClient::Begin { id: its, run, players }) if its == id => {
                    if begun.is_empty() {
                        // All have said that they would: the others begin now, or they don't.
                        deadline = deadline.min(Instant::now() + self.config.limits().silence);
                    }
                    begun.insert(party, (run, players));
                }
                // Of an earlier request.
                Some(_) => {}
                None => return Ok(Outcome::Lost),
            }
        }
    }

    /// The run, if all parties say the same of it, and it is what this client has asked for.
    fn agreed(&self, begun: BTreeMap<usize, (u64, Vec<Player>)>) -> Result<Outcome, Error> {
        let declined = |party: usize, reason: &str| {
            let party = self.config.parties()[party].name.clone();
            Err(Error::Declined { party, reason: reason.to_owned() })
        };
        let mut all = begun.into_iter();
        let Some((_, (run, players))) = all.next() else { return Ok(Outcome::Lost) };
        if let Some((party, _)) = all.find(|(_, theirs)| *theirs != (run, players.clone())) {
            return declined(party, "it would begin another run than the first party");
        }
        let is_one = players.len() == self.needs.len();
        let is_played = |players: &[Player]| players.iter().map(|player| &player.plays).eq(&self.needs);
        let is_whole = players.chunks(self.needs.len()).all(is_played);
        if !is_whole || !players.iter().any(|player| self.is_own(player)) || (self.request.alone && !is_one) {
            return declined(0, "it would begin another run than was asked for");
        }
        if is_one_twice(&players.iter().collect::<Vec<_>>()) {
            return declined(0, "it would have one client play two names");
        }
        // A name that this side's list has is played by that client alone.
        let known = |player: &Player| self.config.clients().iter().find(|client| client.name == player.plays);
        let other = players.iter().find(|player| known(player).is_some_and(|client| !player.is(client)));
        if let Some(Player { plays, client, .. }) = other {
            return declined(
                0,
                &format!("it has {} play {plays}, who is another client of parties.toml", shown(client)),
            );
        }
        Ok(Outcome::Begins { run, players })
    }
}
