//! What both sides of a new connection say first: that they speak Tacit, in which version, who they are, for
//! which lane, and whom they take part with.
//!
//! ```text
//! | "tacitnet" | version | sender | parties | clients | lane | lanes | stays | call |
//! |   8 bytes  |   u16   |  u16   |   u16   |   u16   | u16  |  u16  |  u16  | u64  |   (numbers little-endian)
//! | clients of the run | missing  | 16 bytes per party and client |
//! |     32 bytes       | 32 bytes |   (a bit for each endpoint)   |
//! ```
//!
//! `stays` is 1 if the speaker keeps the connection for run after run ([`super::Hub`]), and 0 if it is for one run. A party
//! that stays names parties alone, since clients come and go. With 2 more a caller only asks who is there ([`super::look`]):
//! the answer has the same 2, in `call` the answerer's clock, in microseconds since 1970, and with 4 times it in `stays` the
//! version of a session's messages ([`tacit_wire::VERSION`]).
//!
//! The 16 bytes are a hash of the name and the fingerprint, so that two sides whose lists differ can say
//! where. A listener says hello once more or often while somebody is missing, and names them; with nobody missing
//! it takes the caller in. Version and what comes before it stay where they are in all versions to come.

use sha2::{Digest, Sha256};

use crate::tls::pin::Fingerprint;
use crate::{Lane, MAX_LANES};

/// The version of everything on a link: hello, frames, and the order of things.
pub const VERSION: u16 = 6;

/// More parties and clients than this are refused.
pub const MAX_ENDPOINTS: usize = 256;

/// The longest hello.
pub const MAX_HELLO: usize = HEAD + MAX_ENDPOINTS * ENTRY;

const MAGIC: [u8; 8] = *b"tacitnet";
/// Bytes up to the version and with it.
const VERSIONED: usize = 10;
const NUMBERS: usize = 30;
const HEAD: usize = NUMBERS + 2 * SET;
pub(super) const ENTRY: usize = 16;
/// Bytes of a set of endpoints.
const SET: usize = MAX_ENDPOINTS / 8;

/// A set of endpoints, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Members([u8; SET]);

impl Members {
    /// These endpoints. Numbers from [`MAX_ENDPOINTS`] on are nobody's, and left out.
    pub fn of(endpoints: impl IntoIterator<Item = usize>) -> Self {
        let mut members = Self::default();
        for endpoint in endpoints {
            if let Some(byte) = members.0.get_mut(endpoint / 8) {
                *byte |= 1 << (endpoint % 8);
            }
        }
        members
    }

    /// Their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..MAX_ENDPOINTS)
            .filter(|endpoint| self.0.get(endpoint / 8).is_some_and(|byte| byte >> (endpoint % 8) & 1 == 1))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Their names, or `nobody`; those without a name are left out.
    pub(super) fn named(&self, names: &[String]) -> String {
        let names: Vec<&str> =
            self.iter().filter_map(|member| names.get(member)).map(String::as_str).collect();
        if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
    }
}

/// One side's hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The speaker's number.
    pub sender: u16,
    /// How many parties there are.
    pub parties: u16,
    /// The lane that the connection is for.
    pub lane: Lane,
    /// Whether the connection is kept for run after run.
    pub stays: bool,
    /// Whether the caller only asks who is there, or this is the answer.
    pub asks: bool,
    /// In such an answer, the version of a session's messages; 0 of those that don't say it, and in any other hello.
    pub messages: u16,
    /// What a caller's connections for the lanes of one run have in common, and those for another run have not.
    pub call: u64,
    /// Which clients take part in the run.
    pub guests: Members,
    /// Who is still to come before a listener takes the caller in; nobody in a caller's own hello.
    pub missing: Members,
    /// A hash of each party's and client's name and fingerprint.
    pub entries: Vec<[u8; ENTRY]>,
}

/// Bytes that are no hello, or one of another version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAHello {
    /// Not the beginning of a hello.
    #[error("does not speak Tacit")]
    Foreign,
    /// Another version.
    #[error("speaks version {theirs} of the link protocol, this side version {VERSION}")]
    Version {
        /// The other side's.
        theirs: u16,
    },
    /// More endpoints than anybody has, or a sender beyond them.
    #[error("names {endpoints} parties and clients and itself number {sender}")]
    Size {
        /// How many it names.
        endpoints: usize,
        /// Who it says it is.
        sender: u16,
    },
    /// A set with an endpoint beyond them.
    #[error("names endpoint {endpoint} of {endpoints}")]
    Stranger {
        /// The endpoint.
        endpoint: usize,
        /// How many it names.
        endpoints: usize,
    },
    /// A lane that no run has.
    #[error("is for lane {} of {}; a run has 1 to {MAX_LANES} lanes, numbered from 0", lane.number, lane.count)]
    Lane {
        /// The lane it names.
        lane: Lane,
    },
    /// Neither that the connection stays nor that it doesn't.
    #[error(
        "says {stays} where it may say 0, for one run, or 1, for run after run, and 2 more if it only asks"
    )]
    Stays {
        /// What it says.
        stays: u16,
    },
}

impl Hello {
    /// The hello of endpoint `sender` among these names and fingerprints, the first of which are parties; for the
    /// only lane of a run without clients, in call 0.
    pub fn new(sender: usize, parties: usize, names: &[String], prints: &[Option<Fingerprint>]) -> Self {
        let entries = names.iter().zip(prints).map(|(name, print)| entry(name, *print)).collect();
        let (guests, missing) = Default::default();
        let (sender, parties) = (sender as u16, parties as u16);
        Self {
            sender,
            parties,
            lane: Lane::ONLY,
            stays: false,
            asks: false,
            messages: 0,
            call: 0,
            guests,
            missing,
            entries,
        }
    }

    /// The encoding.
    pub fn bytes(&self) -> Vec<u8> {
        let clients = self.entries.len() as u16 - self.parties;
        let mut bytes = MAGIC.to_vec();
        let Lane { number, count } = self.lane;
        let stays = u16::from(self.stays) | u16::from(self.asks) << 1 | self.messages << 2;
        for number in [VERSION, self.sender, self.parties, clients, number, count, stays] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.call.to_le_bytes());
        bytes.extend_from_slice(&self.guests.0);
        bytes.extend_from_slice(&self.missing.0);
        bytes.extend_from_slice(self.entries.as_flattened());
        bytes
    }

    /// Reads a hello from the beginning of a stream: the hello and the number of bytes it took, or `None` if
    /// more bytes are needed (of which there will be at most [`MAX_HELLO`] in all).
    ///
    /// # Errors
    /// [`NotAHello`] as soon as the bytes can be none.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, NotAHello> {
        if !bytes.iter().zip(&MAGIC).all(|(got, expected)| got == expected) {
            return Err(NotAHello::Foreign);
        }
        let Some(&[.., v0, v1]) = bytes.first_chunk::<VERSIONED>() else { return Ok(None) };
        let theirs = u16::from_le_bytes([v0, v1]);
        if theirs != VERSION {
            return Err(NotAHello::Version { theirs });
        }
        let Some((numbers, rest)) = bytes.split_first_chunk::<NUMBERS>() else { return Ok(None) };
        let [_, _, _, _, _, _, _, _, _, _, s0, s1, p0, p1, c0, c1, l0, l1, n0, n1, k0, k1, call @ ..] =
            *numbers;
        let (sender, parties) = (u16::from_le_bytes([s0, s1]), u16::from_le_bytes([p0, p1]));
        let endpoints = usize::from(parties) + usize::from(u16::from_le_bytes([c0, c1]));
        if endpoints > MAX_ENDPOINTS || usize::from(sender) >= endpoints {
            return Err(NotAHello::Size { endpoints, sender });
        }
        let lane = Lane { number: u16::from_le_bytes([l0, l1]), count: u16::from_le_bytes([n0, n1]) };
        if lane.count > MAX_LANES || lane.number >= lane.count {
            return Err(NotAHello::Lane { lane });
        }
        let stays = u16::from_le_bytes([k0, k1]);
        let (messages, asks) = (stays >> 2, stays & 2 == 2);
        if messages != 0 && !asks {
            return Err(NotAHello::Stays { stays });
        }
        let stays = stays & 1 == 1;
        let call = u64::from_le_bytes(call);
        let Some((guests, rest)) = rest.split_first_chunk::<SET>() else { return Ok(None) };
        let Some((missing, rest)) = rest.split_first_chunk::<SET>() else { return Ok(None) };
        let (guests, missing) = (Members(*guests), Members(*missing));
        if let Some(endpoint) = guests.iter().chain(missing.iter()).find(|&endpoint| endpoint >= endpoints) {
            return Err(NotAHello::Stranger { endpoint, endpoints });
        }
        let Some(entries) = rest.get(..endpoints * ENTRY) else { return Ok(None) };
        let (entries, _) = entries.as_chunks::<ENTRY>();
        let hello = Self {
            sender,
            parties,
            lane,
            stays,
            asks,
            messages,
            call,
            guests,
            missing,
            entries: entries.to_vec(),
        };
        Ok(Some((hello, HEAD + endpoints * ENTRY)))
    }

    /// What differs between the other side's run and this one's, in words; `names` are this side's.
    pub fn other_run(&self, theirs: &Self, names: &[String]) -> Option<String> {
        if self.lane.count != theirs.lane.count && self.stays {
            return Some(format!(
                "it serves {} runs at once, and this side {}: use the same number everywhere (--at-once)",
                theirs.lane.count.saturating_sub(1),
                self.lane.count.saturating_sub(1)
            ));
        }
        if self.lane.count != theirs.lane.count {
            return Some(format!(
                "its run is in {} lanes, this side's in {}: use the same number everywhere",
                theirs.lane.count, self.lane.count
            ));
        }
        if self.guests != theirs.guests {
            return Some(format!(
                "the clients of its run are {}, those of this side's {}: give everybody the same program",
                theirs.guests.named(names),
                self.guests.named(names)
            ));
        }
        None
    }

    /// What differs in the other side's list, in words; `names` are this side's.
    pub fn difference(&self, theirs: &Self, names: &[String]) -> Option<String> {
        if self.stays != theirs.stays {
            let (stays, goes) =
                ("is for parties that serve (tacit serve; --plays, --tag)", "is for one run (tacit run)");
            let (its, own) = if theirs.stays { (stays, goes) } else { (goes, stays) };
            return Some(format!("its call {its}, and this side's {own}"));
        }
        if self.stays {
            return self.party_difference(theirs, names);
        }
        self.list_difference(theirs, names)
    }

    /// What differs in an answer's list, in words: of a party that serves, in the parties alone.
    pub(super) fn answered_difference(&self, theirs: &Self, names: &[String]) -> Option<String> {
        if theirs.stays { self.party_difference(theirs, names) } else { self.list_difference(theirs, names) }
    }

    fn list_difference(&self, theirs: &Self, names: &[String]) -> Option<String> {
        let count = |hello: &Self| (usize::from(hello.parties), hello.entries.len());
        let ((parties, all), (their_parties, their_all)) = (count(self), count(theirs));
        if (parties, all) != (their_parties, their_all) {
            return Some(format!(
                "its parties.toml lists {their_parties} parties and {} clients, this side's {parties} and {}",
                their_all.saturating_sub(their_parties),
                all.saturating_sub(parties)
            ));
        }
        differing(&self.entries, &theirs.entries, names)
    }

    /// The same of the parties alone: clients come and go.
    fn party_difference(&self, theirs: &Self, names: &[String]) -> Option<String> {
        if self.parties != theirs.parties {
            let (theirs, own) = (theirs.parties, self.parties);
            return Some(format!("its parties.toml lists {theirs} parties, this side's {own}"));
        }
        let parties =
            |hello: &Self| hello.entries.iter().take(hello.parties.into()).copied().collect::<Vec<_>>();
        differing(&parties(self), &parties(theirs), names)
    }

    /// What the speaker's own list has for the speaker.
    pub(super) fn own_entry(&self) -> Option<[u8; ENTRY]> {
        self.entries.get(usize::from(self.sender)).copied()
    }
}

/// Whose entries differ, in words.
fn differing(own: &[[u8; ENTRY]], theirs: &[[u8; ENTRY]], names: &[String]) -> Option<String> {
    let differing = own.iter().zip(theirs).zip(names);
    let differing: Vec<&str> =
        differing.filter(|((own, theirs), _)| own != theirs).map(|(_, name)| name.as_str()).collect();
    if differing.is_empty() {
        return None;
    }
    Some(format!(
        "its parties.toml has another name or fingerprint than this side's for {}",
        differing.join(", ")
    ))
}

/// What a list says of one party or client: a hash of its name and its fingerprint.
pub(super) fn entry(name: &str, print: Option<Fingerprint>) -> [u8; ENTRY] {
    let mut hash = Sha256::new_with_prefix(b"tacit endpoint 1");
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
    if let Some(Fingerprint(print)) = print {
        hash.update(print);
    }
    let mut entry = [0; ENTRY];
    entry.iter_mut().zip(hash.finalize()).for_each(|(to, from)| *to = from);
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["P0", "P1", "P2", "alice"].map(str::to_owned).to_vec()
    }

    fn prints() -> Vec<Option<Fingerprint>> {
        vec![None, Some(Fingerprint([1; 32])), None, None]
    }

    fn hello() -> Hello {
        let lane = Lane { number: 1, count: MAX_LANES };
        let (guests, missing) = (Members::of([3]), Members::of([0, 3]));
        Hello {
            lane,
            asks: true,
            messages: tacit_wire::VERSION,
            call: u64::MAX - 7,
            guests,
            missing,
            ..Hello::new(1, 3, &names(), &prints())
        }
    }

    #[test]
    fn hellos_come_back_with_what_follows_left_alone() {
        let mut bytes = hello().bytes();
        let len = bytes.len();
        for short in 0..len {
            assert_eq!(Hello::parse(&bytes[..short]), Ok(None), "{short}");
        }
        bytes.extend_from_slice(b"more");
        assert_eq!(Hello::parse(&bytes), Ok(Some((hello(), len))));
    }

    #[test]
    fn differences_are_named() {
        let mine = hello();
        assert_eq!(mine.difference(&Hello { sender: 2, ..hello() }, &names()), None);
        let mut others = names();
        others[3] = "alicia".to_owned();
        let theirs = Hello::new(1, 3, &others, &prints());
        let says = mine.difference(&theirs, &names()).unwrap();
        assert!(says.ends_with("for alice"), "{says}");
        let theirs = Hello::new(1, 3, &names(), &[None; 4]);
        assert!(mine.difference(&theirs, &names()).unwrap().ends_with("for P1"));
        let theirs = Hello::new(1, 3, &names()[..3], &prints());
        let says = mine.difference(&theirs, &names()).unwrap();
        assert!(says.contains("3 parties and 0 clients, this side's 3 and 1"), "{says}");
    }

    #[test]
    fn other_runs_are_told_apart() {
        let mine = hello();
        assert_eq!(mine.other_run(&Hello { missing: Members::default(), ..hello() }, &names()), None);
        let theirs = Hello { guests: Members::default(), ..hello() };
        let says = mine.other_run(&theirs, &names()).unwrap();
        assert!(says.starts_with("the clients of its run are nobody, those of this side's alice"), "{says}");
        let theirs = Hello { lane: Lane::ONLY, ..hello() };
        let says = mine.other_run(&theirs, &names()).unwrap();
        assert!(says.starts_with("its run is in 1 lanes, this side's in 64"), "{says}");
        let [mine, theirs] = [mine, Hello { lane: Lane { number: 0, count: 5 }, ..hello() }]
            .map(|hello| Hello { stays: true, ..hello });
        let says = mine.other_run(&theirs, &names()).unwrap();
        assert!(says.starts_with("it serves 4 runs at once, and this side 63"), "{says}");
    }

    #[test]
    fn members_come_back_and_strangers_are_refused() {
        let all = [0, 7, 8, 255];
        assert!(Members::of(all).iter().eq(all));
        assert!(Members::of([256]).is_empty() && !Members::of([0]).is_empty());
        for hello in
            [Hello { guests: Members::of([4]), ..hello() }, Hello { missing: Members::of([255]), ..hello() }]
        {
            let refused = Hello::parse(&hello.bytes());
            assert!(matches!(refused, Err(NotAHello::Stranger { endpoints: 4, .. })), "{refused:?}");
        }
    }

    #[test]
    fn other_bytes_are_refused_as_soon_as_they_show() {
        assert_eq!(Hello::parse(b"GET / HTTP/1.1"), Err(NotAHello::Foreign));
        assert_eq!(Hello::parse(b"t\0"), Err(NotAHello::Foreign));
        let mut bytes = hello().bytes();
        bytes[8] = 9;
        assert_eq!(Hello::parse(&bytes[..10]), Err(NotAHello::Version { theirs: 9 }));
        let mut bytes = hello().bytes();
        bytes[10] = 4;
        assert_eq!(Hello::parse(&bytes), Err(NotAHello::Size { endpoints: 4, sender: 4 }));
        let mut bytes = hello().bytes();
        bytes[12..16].fill(0xff);
        assert!(matches!(Hello::parse(&bytes), Err(NotAHello::Size { endpoints: 131_070, .. })));
        for (number, count) in [(0, 0), (1, 1), (0, MAX_LANES + 1), (u16::MAX, u16::MAX)] {
            let lane = Lane { number, count };
            assert_eq!(Hello::parse(&Hello { lane, ..hello() }.bytes()), Err(NotAHello::Lane { lane }));
        }
        let neither = Hello { asks: false, messages: 1, ..hello() }.bytes();
        assert_eq!(Hello::parse(&neither), Err(NotAHello::Stays { stays: 4 }));
    }

    #[test]
    fn any_bytes_parse_to_something() {
        let bytes = hello().bytes();
        for position in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[position] ^= flip;
                if let Ok(Some((hello, len))) = Hello::parse(&bytes) {
                    assert_eq!(hello.bytes(), bytes[..len]);
                }
            }
        }
    }
}
