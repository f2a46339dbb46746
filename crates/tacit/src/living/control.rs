//! What is said outside runs in a deployment that lives: requests, proposals, and what becomes of them.
//!
//! Nothing here is secret, and nothing here decides who gives or learns what: that does the session of each run, in which
//! everybody agrees on the program, on who plays which of its names, and on the run's number.

use crate::state::fill::Fill;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use tacit_net::setup::{Client, Fingerprint};

/// What a client asks of all parties alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Drawn at random; never comes twice.
    pub(crate) id: u64,
    /// Hash of the program.
    pub(crate) program: [u8; 32],
    /// The protocol's name with its parameters, as the client takes it.
    pub(crate) protocol: String,
    /// Which of the program's names the client plays.
    pub(crate) plays: String,
    /// Those who want to meet in one run say the same.
    pub(crate) tag: String,
    /// Its run is to be of one instance, since one of several was lost.
    pub(crate) alone: bool,
    /// What it chooses of what fills the program's slots, and of rows that are kept.
    pub(crate) fill: Fill,
}

/// What a client says to a party.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToParty {
    /// It asks for a run.
    Ask(Request),
    /// It doesn't any more.
    Withdraw,
}

/// What a party says to a client, of its request of this number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToClient {
    /// These names are still to be played.
    Waits { id: u64, missing: Vec<String> },
    /// There are too many requests.
    Busy { id: u64, seconds: u32 },
    /// The request comes to nothing.
    Refused { id: u64, reason: String },
    /// Its run of several instances doesn't begin here: it is to be asked for alone.
    Again { id: u64 },
    /// The run begins now: the next message is the session's first.
    Begin { id: u64, run: u64, players: Vec<Player> },
    /// The party was told to end, and begins nothing more: the request waits until it is back.
    Drains { id: u64 },
}

/// Who plays one of a program's names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Player {
    /// The program's name.
    pub(crate) plays: String,
    /// The client's.
    pub(crate) client: String,
    /// The fingerprint of its certificate; none without TLS.
    pub(crate) print: Option<[u8; 32]>,
}

impl Player {
    /// Whether this is that client.
    pub(crate) fn is(&self, client: &Client) -> bool {
        self.client == client.name && self.print == client.fingerprint.map(|Fingerprint(print)| print)
    }
}

/// In the place of a program's hash: the parties measure their links.
pub(crate) const MEASURE: [u8; 32] = [0; 32];
/// The same: they fill their stores. The proposal's tag says up to where.
pub(crate) const FILLING: [u8; 32] = [0xff; 32];
/// The same: they give a kept value fresh shares, which the proposal's tag names. It is wanted as programs are.
pub(crate) const REFRESH: [u8; 32] = [0xfe; 32];

/// A run that party 0 proposes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Proposal {
    /// Its number, greater than all before.
    pub(crate) run: u64,
    /// The lane of links that it is to have.
    pub(crate) lane: u16,
    /// Hash of the program.
    pub(crate) program: [u8; 32],
    /// What its clients have said to meet in one run.
    pub(crate) tag: String,
    /// What they have all chosen of slots and rows.
    pub(crate) fill: Fill,
    /// Who plays the program's names that are no party's, in the order of the program, and the request of each.
    pub(crate) players: Vec<(Player, u64)>,
}

/// What parties say to one another. All but `Ask`, `Want`, `Unwant`, `Accept`, `Decline`, `Drains` and `Misses` is party 0's to
/// say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Between {
    /// The sender is ready for a run of a program that names parties alone, or has too little in its store.
    Ask {
        program: [u8; 32],
    },
    Propose(Proposal),
    /// The sender would take part.
    Accept {
        run: u64,
    },
    /// It won't.
    Decline {
        run: u64,
        reason: String,
    },
    /// All would: the run begins.
    Start {
        run: u64,
    },
    /// It doesn't.
    Cancel {
        run: u64,
        reason: String,
    },
    /// It doesn't for now, since a party was lost: its requests wait on, for another one.
    Requeue {
        run: u64,
    },
    /// The sender wants a run of a program under this tag, and has its inputs ready.
    Want {
        program: [u8; 32],
        tag: String,
    },
    /// It doesn't any more.
    Unwant {
        program: [u8; 32],
        tag: String,
    },
    /// The sender was told to end: nothing more begins until it is back.
    Drains,
    /// These requests of the run aren't at the sender any more, or not after a while: its other ones wait on.
    Misses {
        run: u64,
        requests: Vec<u64>,
    },
}

/// The bytes of a message.
pub(crate) fn write(message: &impl Serialize) -> Vec<u8> {
    // Serialising plain data into a growing vector can't fail.
    postcard::to_stdvec(message).unwrap_or_default()
}

/// A message, if these bytes are one.
pub(crate) fn read<M: DeserializeOwned>(bytes: &[u8]) -> Option<M> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

/// Whether a client plays two of these names.
pub(crate) fn is_one_twice(players: &[&Player]) -> bool {
    let same = |one: &Player, other: &Player| {
        one.client == other.client || (one.print.is_some() && one.print == other.print)
    };
    players.iter().enumerate().any(|(at, one)| players[..at].iter().any(|other| same(one, other)))
}

/// What a run's session agrees on besides the program: the run's number, its tag, what was chosen of slots and rows,
/// and who plays which name.
pub(crate) fn bound(run: u64, tag: &str, fill: &Fill, players: &[Player]) -> String {
    let mut words = format!("run {run} of tag {tag:?}");
    if !fill.is_empty() {
        let _ = write!(words, " with {fill}");
    }
    for Player { plays, client, print } in players {
        let print = print.map_or_else(String::new, |print| format!(" {}", Fingerprint(print)));
        // Writing into a string can't fail.
        let _ = write!(words, ", {plays} is {client}{print}");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let request = Request {
            id: 7,
            program: [3; 32],
            protocol: "astra".into(),
            plays: "a".into(),
            tag: String::new(),
            alone: false,
            fill: Fill::from([("keys", "principals[17]")]),
        };
        let bytes = write(&ToParty::Ask(request.clone()));
        assert_eq!(read(&bytes), Some(ToParty::Ask(request)));
        assert_eq!(read::<ToParty>(&[&bytes[..], &[0]].concat()), None);
        for end in 0..bytes.len() {
            assert_eq!(read::<ToParty>(&bytes[..end]), None);
        }
        assert_eq!(read::<Between>(&[11]), None);
        // A length that isn't there takes no memory.
        assert_eq!(read::<Between>(&[5, 1, 0xff, 0xff, 0xff, 0xff, 0x0f]), None);
    }

    #[test]
    fn readers_of_control_messages_bear_mutants() {
        let player = Player { plays: "a".into(), client: "carol".into(), print: Some([5; 32]) };
        let request = Request {
            id: u64::MAX,
            program: [3; 32],
            protocol: "astra roles=012".into(),
            plays: "bidder".into(),
            tag: "x".into(),
            alone: true,
            fill: Fill::from([("keys", "principals[17]")]).keeping("log", "log[3]"),
        };
        let proposal = Proposal {
            run: 9,
            lane: 2,
            program: [4; 32],
            tag: "x".into(),
            fill: Fill::from([("keys", "principals[17]")]),
            players: vec![(player.clone(), 7)],
        };
        let seeds = [
            write(&ToParty::Ask(request)),
            write(&ToParty::Withdraw),
            write(&ToClient::Waits { id: 7, missing: vec!["b".into(), "c".into()] }),
            write(&ToClient::Busy { id: 7, seconds: 2 }),
            write(&ToClient::Begin { id: 7, run: 9, players: vec![player.clone(), player] }),
            write(&ToClient::Drains { id: 7 }),
            write(&Between::Propose(proposal)),
            write(&Between::Decline { run: 9, reason: "no".into() }),
            write(&Between::Requeue { run: 9 }),
            write(&Between::Drains),
            write(&Between::Misses { run: 9, requests: vec![7, u64::MAX] }),
        ];
        crate::testing::bears_mutants(&seeds, |bytes| {
            // What is read has one meaning: written again, it is read as the same.
            if let Some(read_first) = read::<ToParty>(bytes) {
                assert_eq!(read(&write(&read_first)), Some(read_first));
            }
            if let Some(read_first) = read::<ToClient>(bytes) {
                assert_eq!(read(&write(&read_first)), Some(read_first));
            }
            if let Some(read_first) = read::<Between>(bytes) {
                assert_eq!(read(&write(&read_first)), Some(read_first));
            }
        });
    }

    #[test]
    fn who_plays_what_is_bound() {
        let player = |client: &str, print| Player { plays: "bidder".into(), client: client.into(), print };
        let all = [
            bound(1, "", &Fill::new(), &[]),
            bound(2, "", &Fill::new(), &[]),
            bound(1, "x", &Fill::new(), &[]),
            bound(1, "", &Fill::from([("keys", "keys[1]")]), &[]),
            bound(1, "", &Fill::from([("keys", "keys[2]")]), &[]),
            bound(1, "", &Fill::new().keeping("keys", "keys[2]"), &[]),
            bound(1, "", &Fill::new(), &[player("carol", None)]),
            bound(1, "", &Fill::new(), &[player("dave", None)]),
            bound(1, "", &Fill::new(), &[player("carol", Some([1; 32]))]),
        ];
        let distinct: std::collections::HashSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn one_client_is_found_twice_by_its_name_or_by_its_key() {
        let player = |client: &str, print: Option<u8>| Player {
            plays: "bidder".into(),
            client: client.into(),
            print: print.map(|byte| [byte; 32]),
        };
        let twice = |players: [Player; 3]| is_one_twice(&players.each_ref());
        assert!(!twice([player("a", None), player("b", None), player("c", None)]));
        assert!(!twice([player("a", Some(1)), player("b", Some(2)), player("c", Some(3))]));
        assert!(twice([player("a", None), player("b", None), player("a", None)]));
        assert!(twice([player("a", Some(1)), player("b", Some(2)), player("c", Some(2))]));
    }
}
