//! Those who call a party that serves: other parties for a lane, and clients.

use std::collections::HashMap;

use rustix::process::{Resource, getrlimit};

use super::{EACH, EARLY, GUESTS, Guest, Hub, MAX_CONTROL, News, Place, Speaker};
use crate::setup::caller::Caller;
use crate::setup::config::Security;
use crate::setup::door::{Door, Greeted, certificate};
use crate::setup::error::SetupError;
use crate::setup::files::{Stamp, stamp};
use crate::setup::greeting::Greeting;
use crate::setup::hello::Hello;
use crate::setup::notes::Note;
use crate::stream::Resting;

impl Hub {
    /// Reads the lists of clients and of renewed certificates, and this side's own certificate, again if they have changed. What
    /// can't be read leaves all as it was. Links that are there stay.
    pub(super) fn refresh(&mut self) {
        let (shown, has_shown) = (self.certificate_stamp(), self.shown);
        let listed = self.roster.refresh().unwrap_or_else(|error| {
            (self.notes)(Note::Unread(&error));
            false
        });
        let mut is_other = listed;
        if shown != has_shown {
            match self.config.identity() {
                Ok(identity) => {
                    (self.identity, self.shown, self.tried, is_other) = (identity, shown, shown, true);
                }
                // Tried again when its file or a list has changed: it may be accepted here by then.
                Err(error) if listed || self.tried != shown => {
                    self.tried = shown;
                    (self.notes)(Note::Unread(&error));
                }
                Err(_) => {}
            }
        }
        if is_other {
            self.part_with_unproved();
            // The key was good before.
            let _ = self.door.open_to(self.identity.as_ref(), self.roster.fingerprints());
            if let Ok(caller) = Caller::new(&self.config.without_clients(), self.identity.as_ref()) {
                self.caller = caller.that_stays(self.lanes);
            }
        }
    }

    /// What this side's certificate is at present.
    pub(super) fn certificate_stamp(&self) -> Stamp {
        self.config.identity_files().and_then(|(certificate, _)| stamp(certificate))
    }

    /// Ends the links that nobody has at present on which a certificate was shown that isn't its owner's any more.
    fn part_with_unproved(&mut self) {
        let Self { config, roster, ways, guests, news, .. } = self;
        for (peer, (party, ways)) in config.parties().iter().zip(ways).enumerate() {
            for (lane, way) in ways.iter_mut().enumerate() {
                let Place::Resting(link) = &way.place else { continue };
                if !roster.proves(&party.name, party.fingerprint, link.shown()) {
                    way.place = Place::Vacant;
                    if lane == 0 {
                        news.push(News::Left { who: Speaker::Party(peer) });
                    }
                }
            }
        }
        guests.retain(|&number, Guest { client, link }| {
            let proved = |link: &Resting| roster.proves(&client.name, client.fingerprint, link.shown());
            let stays = link.as_ref().is_none_or(proved);
            if !stays {
                news.push(News::Left { who: Speaker::Guest(number) });
            }
            stays
        });
    }

    /// Greets callers.
    pub(super) fn hear(&mut self) -> Result<(), SetupError> {
        self.refresh();
        for Greeted { greeting, hello } in self.door.hear()? {
            match hello {
                Ok(hello) => self.greeted(greeting, &hello),
                Err(version) => self.turn_away(greeting, &version.to_string()),
            }
        }
        Ok(())
    }

    /// Says what this side is, so that the other finds the same difference, and hangs up.
    fn turn_away(&mut self, mut greeting: Greeting, why: &str) {
        let _ = greeting.channel.send(&self.caller.hello.bytes());
        greeting.channel.hang_up();
        self.door.turn_away(greeting.address, why);
    }

    /// A caller that has said hello: a party's link of a lane, or a client's connection.
    fn greeted(&mut self, mut greeting: Greeting, hello: &Hello) {
        if hello.asks {
            return Door::answer(&mut greeting, &self.caller.hello);
        }
        let (claimed, parties) = (usize::from(hello.sender), usize::from(hello.parties));
        if claimed < parties {
            return self.party_called(greeting, hello);
        }
        let Some(client) = hello.own_entry().and_then(|entry| self.roster.find(&entry)).cloned() else {
            return self.turn_away(greeting, "says it is a client that nobody has enrolled");
        };
        let proven = certificate(&greeting.channel);
        if self.config.security() == Security::Tls
            && !self.roster.proves(&client.name, client.fingerprint, proven)
        {
            let why = format!("says it is {}, with another's certificate", client.name);
            return self.turn_away(greeting, &why);
        }
        if !hello.stays {
            // It calls again, now that it knows.
            let answer = Hello { call: hello.call, lane: hello.lane, ..self.caller.hello.clone() };
            let _ = greeting.channel.send(&answer.bytes());
            return greeting.channel.hang_up();
        }
        if let Some(detail) = self.caller.hello.difference(hello, &self.config.names()) {
            return self.turn_away(greeting, &format!("is {}: {detail}", client.name));
        }
        let its = self.guests.values().filter(|guest| guest.client == client).count();
        let is_full = self.guests.len() >= self.room;
        let leaves = if is_full { self.least_missed(its) } else { None };
        if its >= EACH || is_full && leaves.is_none() {
            let why = format!(
                "is {}, and {its} of its connections are here, of {}",
                client.name,
                self.guests.len()
            );
            return self.turn_away(greeting, &why);
        }
        let Some(link) = self.admitted(greeting, hello, MAX_CONTROL) else { return };
        if let Some(number) = leaves {
            self.guests.remove(&number);
            self.news.push(News::Left { who: Speaker::Guest(number) });
        }
        let guest = self.next_guest;
        self.next_guest += 1;
        self.news.push(News::Came { guest, client: client.clone() });
        self.guests.insert(guest, Guest { client, link: Some(link) });
    }

    /// Who makes room for a client that has so many connections: the last one that no run has of the client with most, if that has
    /// more than the new one's client would have. So nobody keeps others out by connecting often.
    fn least_missed(&self, its: usize) -> Option<u64> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for guest in self.guests.values() {
            *counts.entry(&guest.client.name).or_default() += 1;
        }
        let count = |guest: &Guest| counts.get(guest.client.name.as_str()).copied().unwrap_or(0);
        let resting = self.guests.iter().filter(|(_, guest)| guest.link.is_some());
        let most = resting.map(|(number, guest)| (count(guest), *number)).max();
        most.filter(|(count, _)| *count > its + 1).map(|(_, number)| number)
    }

    fn party_called(&mut self, greeting: Greeting, hello: &Hello) {
        let claimed = usize::from(hello.sender);
        let names = self.config.names();
        let Some(party) = self.config.parties().get(claimed) else {
            return self.turn_away(greeting, &format!("says it is party {claimed}, which does not exist"));
        };
        let name = party.name.clone();
        let proven = certificate(&greeting.channel);
        if self.config.security() == Security::Tls && !self.roster.proves(&name, party.fingerprint, proven) {
            return self.turn_away(greeting, &format!("says it is {name}, with another's certificate"));
        }
        let own = &self.caller.hello;
        if let Some(detail) = own.difference(hello, &names).or_else(|| own.other_run(hello, &names)) {
            let unfit = SetupError::Differs { peer: name.clone(), detail: detail.clone() };
            self.tell_unfit(claimed, &unfit);
            return self.turn_away(greeting, &format!("is {name}: {detail}"));
        }
        if claimed <= self.config.me() {
            return self.turn_away(greeting, &format!("says it is {name}, which does not call here"));
        }
        let Some(link) = self.admitted(greeting, hello, EARLY) else { return };
        let lane = usize::from(hello.lane.number);
        let Some(way) = self.ways.get_mut(claimed).and_then(|ways| ways.get_mut(lane)) else { return };
        if lane == 0 && !matches!(way.place, Place::Vacant) {
            self.news.push(News::Left { who: Speaker::Party(claimed) });
        }
        // It calls again for a lane because it has lost the link that was there.
        match way.place {
            Place::Lent => way.fresh = Some(link),
            Place::Vacant | Place::Resting(_) => way.place = Place::Resting(Box::new(link)),
        }
    }

    /// Takes a caller in, with this side's hello: a link of a bound on its payloads.
    fn admitted(&mut self, mut greeting: Greeting, hello: &Hello, limit: usize) -> Option<Resting> {
        let answer = Hello { call: hello.call, lane: hello.lane, ..self.caller.hello.clone() };
        // One that is gone again is noticed when the link is read.
        let _ = greeting.channel.send(&answer.bytes());
        match Resting::new(greeting.channel, limit, &mut self.scratch) {
            Ok(link) => {
                self.connections += 1;
                Some(link)
            }
            Err(too_long) => {
                self.door.turn_away(greeting.address, &format!("sent {too_long}"));
                None
            }
        }
    }
}

/// Connections of clients that a party with so many links has at most. Of the files that may be open it leaves half to callers,
/// stores and what else a server opens.
pub(super) fn room(links: usize) -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    GUESTS.min(files.saturating_sub(links) / 2)
}
