//! What endpoints tell one another first, and what they must agree on.

use crate::Error;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::time::Duration;
use tacit_net::Limits;
use zeroize::Zeroize;

/// What everybody in a run must agree on before anything secret is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// Version of Tacit's messages. [`crate::Session::establish`] puts it in.
    pub version: u32,
    /// The number of the lane. [`crate::Session::establish`] takes it from the mesh.
    pub lane: u16,
    /// How many lanes the run has. [`crate::Session::establish`] takes it from the mesh.
    pub lanes: u16,
    /// Names of the computing parties, in order.
    pub parties: Vec<String>,
    /// Names of the deployment's clients, in order, whether they take part or not.
    pub clients: Vec<String>,
    /// Name of the protocol.
    pub protocol: String,
    /// How many instances a stream has in all its parts; 1 without a stream.
    pub instances: u64,
    /// Its parameters, in the protocol's own words.
    pub parameters: String,
    /// Bytes of circuits' messages that each party has under way at a time.
    pub window: u64,
    /// The inputs, readable: names, owners, types, shapes, ranges.
    pub inputs: Vec<String>,
    /// The outputs, likewise, with who learns them.
    pub outputs: Vec<String>,
    /// The steps of the program, so that a difference can be shown; the first ones of a long program.
    pub steps: Vec<ProgramStep>,
    /// Hash of the program.
    pub program: [u8; 32],
}

/// A step of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramStep {
    /// Some bytes of its hash.
    pub digest: [u8; 4],
    /// The line of the own source that it stands in. It isn't sent.
    #[serde(skip)]
    pub line: String,
    /// The place of that line, without what it says: all that others are told, if they have something else there.
    #[serde(skip)]
    pub place: String,
}

/// [`tacit_wire::VERSION`], as it is sent.
pub(crate) const VERSION: u32 = tacit_wire::VERSION as u32;

/// The longest first message that is read.
pub(crate) const MAX_HELLO: usize = 1 << 20;

/// Characters of a statement that an error shows.
const MAX_SHOWN: usize = 300;

/// What two endpoints are about to run differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) what: &'static str,
    /// Our statement.
    pub(crate) here: String,
    /// What others are told of it.
    pub(crate) told: String,
    /// Theirs.
    pub(crate) there: String,
}

impl Agreement {
    /// What these parties agree on who run a protocol with these parameters, but no program.
    pub fn among(parties: Vec<String>, protocol: &str, parameters: String) -> Self {
        Self {
            version: 0,
            lane: 0,
            lanes: 0,
            parties,
            clients: Vec::new(),
            protocol: protocol.to_owned(),
            instances: 1,
            parameters,
            window: 0,
            inputs: Vec::new(),
            outputs: Vec::new(),
            steps: Vec::new(),
            program: [0; 32],
        }
    }

    /// The first difference to a peer's statement.
    pub(crate) fn compare(&self, theirs: &Self) -> Result<(), Difference> {
        // As a rule; then nothing has to be put into words.
        if self == theirs {
            return Ok(());
        }
        let differ = |what, here: String, there: String| differ(what, &here, &there);
        differ("the version of the messages", self.version.to_string(), theirs.version.to_string())?;
        differ("the number of lanes", self.lanes.to_string(), theirs.lanes.to_string())?;
        differ("which lane this is", self.lane.to_string(), theirs.lane.to_string())?;
        differ("who the parties are", self.parties.join(", "), theirs.parties.join(", "))?;
        differ("who the clients are", self.clients.join(", "), theirs.clients.join(", "))?;
        differ("the protocol", self.protocol.clone(), theirs.protocol.clone())?;
        let instances = "the number of instances (--count)";
        differ(instances, self.instances.to_string(), theirs.instances.to_string())?;
        differ("the protocol's parameters", self.parameters.clone(), theirs.parameters.clone())?;
        let window = "the window (window_bytes in parties.toml, or --window)";
        differ(window, self.window.to_string(), theirs.window.to_string())?;
        for (what, here, there) in
            [("the inputs", &self.inputs, &theirs.inputs), ("the outputs", &self.outputs, &theirs.outputs)]
        {
            let at = first_difference(here, there);
            let shown = |all: &[String]| all.get(at).cloned().unwrap_or_else(|| "no more".to_owned());
            differ(what, shown(here), shown(there))?;
        }
        self.compare_steps(&theirs.steps)?;
        differ("the program (its hash)", hex(&self.program), hex(&theirs.program))
    }

    /// The first step of the program that differs from the other side's, by its line in the own source.
    fn compare_steps(&self, theirs: &[ProgramStep]) -> Result<(), Difference> {
        let digests = |steps: &[ProgramStep]| steps.iter().map(|step| step.digest).collect::<Vec<_>>();
        let (ours, theirs) = (digests(&self.steps), digests(theirs));
        if ours == theirs {
            return Ok(());
        }
        let at = first_difference(&ours, &theirs);
        let (here, told) = match (self.steps.get(at), self.steps.last()) {
            (Some(step), _) => (step.line.clone(), step.place.clone()),
            (None, Some(last)) => {
                (format!("its end after {}", last.line), format!("its end after {}", last.place))
            }
            (None, None) => ("no steps".to_owned(), "no steps".to_owned()),
        };
        let there = if at < theirs.len() { "something else there" } else { "nothing more there" };
        let (here, told) = (readable(&here), readable(&told));
        Err(Difference { what: "the program", here, told, there: there.to_owned() })
    }
}

/// Where two lists differ first.
fn first_difference<T: PartialEq>(ours: &[T], theirs: &[T]) -> usize {
    ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count()
}

/// What two statements differ in, if they do.
fn differ(what: &'static str, here: &str, there: &str) -> Result<(), Difference> {
    if here == there {
        return Ok(());
    }
    let here = readable(here);
    Err(Difference { what, told: here.clone(), here, there: readable(there) })
}

/// The limits of links that all parties must have alike, under any protocol: how long they wait for one another, how long
/// they stay for the last messages, and how much a link carries though its receiver reads another. What a protocol
/// promises of its end rests on these: of two parties that wait for different times a third one can make one act on a
/// silence that the other doesn't take for one.
///
/// Clients may have others: nothing rests on what a client waits for. So these are no part of the session's identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartyLimits {
    silence: Duration,
    linger: Duration,
    inbox: u64,
}

impl PartyLimits {
    pub(crate) fn of(limits: &Limits) -> Self {
        Self { silence: limits.silence, linger: limits.linger, inbox: limits.inbox as u64 }
    }

    /// The first difference to another party's.
    pub(crate) fn compare(&self, theirs: &Self) -> Result<(), Difference> {
        if self == theirs {
            return Ok(());
        }
        let differ = |what, here: String, there: String| differ(what, &here, &there);
        let seconds = |time: Duration| time.as_secs_f64().to_string();
        differ("silence_seconds", seconds(self.silence), seconds(theirs.silence))?;
        differ("linger_seconds", seconds(self.linger), seconds(theirs.linger))?;
        differ("inbox_bytes", self.inbox.to_string(), theirs.inbox.to_string())
    }
}

/// The first message: what I am about to run, and fresh randomness.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) agreement: Agreement,
    /// The sender's; only those of parties matter, to parties.
    pub(crate) limits: PartyLimits,
    /// Known to all; makes the session's identity fresh.
    pub(crate) nonce: [u8; 32],
    /// For this receiver alone; half of the pair's key.
    pub(crate) seed: [u8; 32],
}

impl Drop for Hello {
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}

impl Hello {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Serialising plain data into a growing vector can't fail.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    pub(crate) fn from_bytes(peer: &str, bytes: &[u8]) -> Result<Self, Error> {
        match postcard::take_from_bytes(bytes) {
            Ok((hello, [])) => Ok(hello),
            _ => Err(Error::Malformed {
                peer: peer.to_owned(),
                what: "first message (another version, or not Tacit)",
            }),
        }
    }
}

/// A first message that states this agreement; a pure function for tests and fuzzing.
#[doc(hidden)]
pub fn write_first_message(
    agreement: &Agreement,
    limits: &Limits,
    nonce: [u8; 32],
    seed: [u8; 32],
) -> Vec<u8> {
    Hello { agreement: agreement.clone(), limits: PartyLimits::of(limits), nonce, seed }.to_bytes()
}

/// What a first message states, and the bytes that it would be written as; a pure function for tests and fuzzing.
///
/// # Errors
/// [`Error::Malformed`] if it is no first message.
#[doc(hidden)]
pub fn read_first_message(bytes: &[u8]) -> Result<(Agreement, Vec<u8>), Error> {
    let hello = Hello::from_bytes("peer", bytes)?;
    Ok((hello.agreement.clone(), hello.to_bytes()))
}

/// The key of a pair of endpoints of a session that said this first to one another, the one with the lower number first; a pure
/// function for tests.
///
/// # Errors
/// [`Error::Malformed`] if one is no first message.
#[doc(hidden)]
pub fn key_of_first_messages(session: &[u8; 32], low: &[u8], high: &[u8]) -> Result<[u8; 16], Error> {
    let [low, high] = [Hello::from_bytes("peer", low)?, Hello::from_bytes("peer", high)?];
    Ok(pair_key(session, &low.seed, &high.seed))
}

/// The run's identity: the hash of what was agreed and of all parties' nonces.
pub(crate) fn identity(agreement: &Agreement, nonces: &[[u8; 32]]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"tacit session 1");
    let agreement = postcard::to_stdvec(agreement).unwrap_or_default();
    hash.update((agreement.len() as u64).to_le_bytes());
    hash.update(agreement);
    for nonce in nonces {
        hash.update(nonce);
    }
    hash.finalize().into()
}

/// The key of a pair, from both halves: those of the endpoint with the lower number first.
pub(crate) fn pair_key(id: &[u8; 32], low: &[u8; 32], high: &[u8; 32]) -> [u8; 16] {
    let mut secret = [0; 64];
    secret[..32].copy_from_slice(low);
    secret[32..].copy_from_slice(high);
    let mut key = [0; 16];
    let expanded = hkdf::Hkdf::<Sha256>::new(Some(id), &secret).expand(b"tacit pair key", &mut key);
    debug_assert!(expanded.is_ok(), "16 bytes are within HKDF's limit");
    secret.zeroize();
    key
}

/// The beginning of a statement, fit to be shown: bounded, and without control characters.
fn readable(text: &str) -> String {
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = shown.take(MAX_SHOWN).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Disagreement;

    type Change = fn(&mut Agreement);

    fn step(number: u8) -> ProgramStep {
        ProgramStep {
            digest: [number; 4],
            line: format!("line {number}: x"),
            place: format!("line {number}"),
        }
    }

    fn agreement() -> Agreement {
        Agreement {
            version: VERSION,
            lane: 1,
            lanes: 2,
            parties: vec!["P0".into(), "P1".into()],
            clients: vec!["alice".into()],
            protocol: "replicated".into(),
            instances: 1,
            parameters: String::new(),
            window: 65536,
            inputs: vec!["a: int64[3]".into(), "b: int64[3]".into()],
            outputs: vec!["int64[3] to alice".into()],
            steps: [1, 2, 3].map(step).to_vec(),
            program: [3; 32],
        }
    }

    #[test]
    fn every_difference_is_named() {
        let ours = agreement();
        assert_eq!(ours.compare(&ours), Ok(()));
        let changes: [(&str, &str, &str, Change); 17] = [
            ("version", &VERSION.to_string(), "999", |a| a.version = 999),
            ("the number of lanes", "2", "3", |a| a.lanes = 3),
            ("which lane", "1", "0", |a| a.lane = 0),
            ("parties", "P0, P1", "P1, P0", |a| a.parties.reverse()),
            ("clients", "alice", "", |a| a.clients.clear()),
            ("the protocol", "replicated", "astra", |a| a.protocol = "astra".into()),
            ("--count", "1", "2", |a| a.instances = 2),
            ("parameters", "", "x", |a| a.parameters = "x".into()),
            ("window_bytes", "65536", "65537", |a| a.window = 65537),
            ("inputs", "b: int64[3]", "b: int64[4]", |a| a.inputs[1] = "b: int64[4]".into()),
            ("inputs", "b: int64[3]", "no more", |a| drop(a.inputs.pop())),
            ("outputs", "no more", "bool to bob", |a| a.outputs.push("bool to bob".into())),
            ("the program", "line 2", "something else there", |a| a.steps[1] = step(9)),
            ("the program", "line 3", "nothing more there", |a| drop(a.steps.pop())),
            ("the program", "its end after line 3", "something else there", |a| a.steps.push(step(4))),
            ("the program", "line 1", "nothing more there", |a| a.steps.clear()),
            ("the program (its hash)", "0303", "0404", |a| a.program = [4; 32]),
        ];
        for (what, here, there, change) in changes {
            let mut theirs = agreement();
            change(&mut theirs);
            let difference = ours.compare(&theirs).unwrap_err();
            assert!(difference.what.contains(what), "{difference:?}");
            assert!(
                difference.here.starts_with(here) && difference.there.starts_with(there),
                "{difference:?}"
            );
            assert!(difference.told.starts_with(here) && !difference.told.contains(": x"), "{difference:?}");
        }
        let nothing = Agreement { steps: Vec::new(), ..agreement() };
        assert_eq!(nothing.compare(&ours).unwrap_err().here, "no steps");
    }

    #[test]
    fn different_limits_are_named_with_their_values_and_what_to_do() {
        let limits = Limits::default();
        let ours = PartyLimits::of(&limits);
        assert_eq!(ours.compare(&ours), Ok(()));
        let second = Duration::from_secs(1);
        let changes = [
            (Limits { silence: 13 * second, ..limits.clone() }, "silence_seconds: P0 has 10, P1 has 13"),
            (Limits { linger: second / 2, ..limits.clone() }, "linger_seconds: P0 has 1, P1 has 0.5"),
            (Limits { inbox: 1, ..limits.clone() }, "inbox_bytes: P0 has 268435456, P1 has 1"),
        ];
        for (limits, says) in changes {
            let Difference { what, here, there, .. } = ours.compare(&PartyLimits::of(&limits)).unwrap_err();
            let (peer, me, others) = ("P1".to_owned(), "P0".to_owned(), Vec::new());
            let error = Disagreement { peer, me, what, here, there, others }.to_string();
            assert!(error.starts_with(&format!("P1 disagrees on {says}; ")), "{error}");
            assert!(error.ends_with("under [limits] in every party's parties.toml"), "{error}");
        }
        // What a party and nobody else has to bear with.
        let other = Limits { patience: second, frame: 100, callers: 1, connect: second, ..limits };
        assert_eq!(ours.compare(&PartyLimits::of(&other)), Ok(()));
    }

    #[test]
    fn a_peers_statement_is_shown_bounded_and_without_control_characters() {
        let ours = agreement();
        let theirs = Agreement { inputs: vec![format!("\x1b[2J\r{}", "é".repeat(1 << 18))], ..agreement() };
        let there = ours.compare(&theirs).unwrap_err().there;
        assert!(there.len() < 1000 && !there.chars().any(char::is_control), "{} bytes", there.len());
    }

    #[test]
    fn lines_stay_at_home() {
        let message = write_first_message(&agreement(), &Limits::default(), [1; 32], [2; 32]);
        let (read, _) = read_first_message(&message).unwrap();
        assert!(read.steps.iter().all(|step| step.line.is_empty() && step.place.is_empty()));
        assert_eq!(agreement().compare(&read), Ok(()));
        assert_eq!(identity(&agreement(), &[]), identity(&read, &[]));
    }

    #[test]
    fn malformed_first_messages_are_refused() {
        let limits = PartyLimits::of(&Limits::default());
        let hello = Hello { agreement: agreement(), limits, nonce: [1; 32], seed: [2; 32] };
        let bytes = hello.to_bytes();
        assert!(Hello::from_bytes("P1", &bytes).is_ok());
        for length in 0..bytes.len() {
            assert!(Hello::from_bytes("P1", &bytes[..length]).is_err());
        }
        assert!(Hello::from_bytes("P1", &[0xff; 64]).is_err());
        assert!(Hello::from_bytes("P1", &[bytes, vec![0]].concat()).is_err());
    }

    #[test]
    fn pair_keys_depend_on_session_and_halves() {
        let key = pair_key(&[0; 32], &[1; 32], &[2; 32]);
        assert_ne!(key, pair_key(&[1; 32], &[1; 32], &[2; 32]));
        assert_ne!(key, pair_key(&[0; 32], &[2; 32], &[1; 32]));
    }
}
