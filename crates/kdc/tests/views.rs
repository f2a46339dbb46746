//! What one server receives while requests are answered: for the keys of one realm and for those of another it looks
//! alike, but for what all are to learn.
//!
//! **The experiment.** All that the server knows is held fixed: its randomness, its parts of records and what it draws. Of other
//! keys other parts of records follow, which it doesn't hold, and other session keys in tickets given and made. All else that it
//! can't know is drawn anew in each run. Where servers know session keys these are held fixed, too.
//!
//! In every run of both realms messages have the same addresses, lengths and times; what is opened of requests is the same,
//! unless it is ciphertext; and the bits that the server receives for ANDs look alike with those that are opened
//! ([`Sample::check_alike`]).
//!
//! Requests go together, half of them wrong; each is one of the sample's rows, as its bits have masks of their own. Of
//! all ANDs the first ones are looked at, and some out of all layers. The contents of proofs and inputs are the
//! protocol's, whose own tests look at them.

use std::iter::repeat_with;
use std::sync::Arc;
use std::time::Duration;
use tacit::advanced::engine::{Clear, KeptPart, KeptShare, Protocol};
use tacit::advanced::net::At;
use tacit::advanced::program::plan::Domain;
use tacit::{Compiled, Local, protocol};
use tacit_kdc::circuits::{self, Class, Expected, Form, Sizes, drawn_bytes};
use tacit_kdc::clear::Key;
use tacit_kdc::enctype::{Enctype, session_usage};
use tacit_kdc::programs::{Programs, Task};
use tacit_kdc::realm::Sessions;
use tacit_testkit::conformance::views::hidden;
use tacit_testkit::sample::{BitRow, Sample};
use tacit_testkit::{Case, Draws, Rng, Run};
use zeroize::Zeroizing;

const ENCTYPE: Enctype = Enctype::Aes128Sha1;

/// Requests of a run.
const REQUESTS: usize = 64;
const RUNS: u64 = 8;

/// ANDs whose bits are looked at: those of the first ones, of which products are taken, too, and of so many others.
const FIRST: usize = 20;
const OTHERS: usize = 120;
/// Bits that are looked at of what is opened of a request.
const OPENED: usize = 60;

/// Where an authenticator has its checksum.
const CHECKSUM_AT: usize = 23;
const AUTHENTICATOR: usize = 110;
const TICKET: Form = Form { bytes: 150, key_at: 26 };
const PART: Form = Form { bytes: 160, key_at: 18 };

fn bytes(rng: &mut Rng, count: usize) -> Vec<u8> {
    repeat_with(|| rng.word() as u8).take(count).collect()
}

fn bits(bytes: &[u8]) -> impl Iterator<Item = bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1))
}

fn add(sum: &mut [u8], bytes: &[u8]) {
    sum.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum ^= byte);
}

/// The keys of a realm: none of them is known to a server.
struct Keys {
    /// By slot: the principal's key, and its record.
    kept: [(&'static str, Key, Vec<u8>); 3],
    /// Of the ticket that is given, of its authenticator, and of the ticket that is made.
    session: Key,
    subkey: Key,
    issued: Key,
}

impl Keys {
    fn of(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut key = || Key::new(ENCTYPE, &bytes(&mut rng, ENCTYPE.key_bytes())).unwrap();
        let enrol = circuits::enrol(ENCTYPE);
        let kept = ["krbtgt", "service", "client"].map(|slot| {
            let key = key();
            let record = enrol.evaluate(&[bits(key.bytes()).collect()]).unwrap().swap_remove(0);
            let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
            (slot, key, record.chunks(8).map(byte).collect())
        });
        Self { kept, session: key(), subkey: key(), issued: key() }
    }

    fn key(&self, slot: &str) -> &Key {
        &self.kept.iter().find(|(name, ..)| *name == slot).unwrap().1
    }

    /// Each server's parts of a record: those that this one holds are the same whatever the record is.
    fn shares(&self, slot: &str, server: usize) -> [Arc<KeptShare>; 3] {
        let (at, (.., record)) =
            self.kept.iter().enumerate().find(|(_, (name, ..))| slot.starts_with(name)).unwrap();
        let mut rng = Rng::new(100 + at as u64);
        let mut parts = [(); 3].map(|()| bytes(&mut rng, record.len()));
        // Server i holds the parts i and i - 1.
        let lacks = (server + 1) % 3;
        parts[lacks].clone_from(record);
        for held in [server, (server + 2) % 3] {
            let held = parts[held].clone();
            add(&mut parts[lacks], &held);
        }
        [0, 1, 2].map(|holder| {
            let part = |(number, other): (usize, usize)| KeptPart {
                number: number as u8,
                other: Some(other as u8),
                bytes: Zeroizing::new(parts[number].clone()),
            };
            let parts = [(holder, (holder + 1) % 3), ((holder + 2) % 3, (holder + 2) % 3)].map(part).to_vec();
            Arc::new(KeptShare { domain: Domain::Bits, cols: 8 * record.len(), key: None, parts })
        })
    }

    /// What each server draws: the sum has the key of the tickets that are made, and confounders.
    fn drawn(&self, rng: &mut Rng, server: usize) -> [Vec<u8>; 3] {
        let count = drawn_bytes(ENCTYPE);
        let mut drawn = [(); 3].map(|()| bytes(rng, REQUESTS * count));
        drawn[server] = bytes(&mut Rng::new(200), REQUESTS * count);
        let [own, other] = [server, (server + 2) % 3].map(|held| drawn[held].clone());
        for (request, last) in drawn[(server + 1) % 3].chunks_mut(count).enumerate() {
            let session = &mut last[..ENCTYPE.key_bytes()];
            session.copy_from_slice(self.issued.bytes());
            for others in [&own, &other] {
                add(session, &others[request * count..]);
            }
        }
        drawn
    }

    /// What all servers know of a request, one that is right or one that is wrong.
    fn public(&self, task: Task, class: Class, is_right: bool, rng: &mut Rng) -> Vec<bool> {
        let mut confounder = || *bytes(rng, 16).first_chunk().unwrap();
        let around = |form: Form| vec![7; form.bytes];
        let without = |form: Form| {
            let mut plain = around(form);
            plain[form.key_at..form.key_at + ENCTYPE.key_bytes()].fill(0);
            plain
        };
        let (ticket, part) = (without(TICKET), without(PART));
        let (ticket, part) = ((&ticket[..], TICKET), (&part[..], PART));
        match task {
            Task::Verify | Task::VerifyAndDraw => {
                let mut sealed = self.key("client").seal(1, confounder(), &[5; 28]);
                sealed[30] ^= u8::from(!is_right);
                return circuits::verifies(ENCTYPE, Class::TIMESTAMP, &sealed);
            }
            Task::Reply(_) => return circuits::replies(ENCTYPE, class, ticket, part),
            Task::SealReply(_) | Task::SealTicket(_) => {
                let whole = [ticket, part].map(|(plain, form)| {
                    let mut plain = plain.to_vec();
                    let place = form.key_at..form.key_at + ENCTYPE.key_bytes();
                    plain[place].copy_from_slice(self.issued.bytes());
                    (confounder(), plain)
                });
                let messages = whole.each_ref().map(|(confounder, plain)| (*confounder, &plain[..]));
                let count = if matches!(task, Task::SealTicket(_)) { 1 } else { 2 };
                return circuits::seals(ENCTYPE, class, &messages[..count]);
            }
            _ => {}
        }
        let mut given = around(TICKET);
        given[TICKET.key_at..TICKET.key_at + ENCTYPE.key_bytes()].copy_from_slice(self.session.bytes());
        let mut given = self.key("krbtgt").seal(2, confounder(), &given);
        if let Task::OpenTicket(_) = task {
            given[40] ^= u8::from(!is_right);
            return circuits::verifies(ENCTYPE, class, &given);
        }
        let mut body = vec![9; 90];
        let (code_end, subkey_at) = (CHECKSUM_AT + ENCTYPE.mac_bytes(), AUTHENTICATOR - ENCTYPE.key_bytes());
        let mut plain = vec![3; AUTHENTICATOR];
        plain[CHECKSUM_AT..code_end].copy_from_slice(&self.session.checksum(session_usage::BODY, &body));
        plain[subkey_at..].copy_from_slice(self.subkey.bytes());
        let mut authenticator = self.session.seal(session_usage::AUTHENTICATOR, confounder(), &plain);
        // What servers expect has zeros where they know nothing.
        let is_opened: Vec<bool> = (0..AUTHENTICATOR).map(|at| (50..55).contains(&at)).collect();
        let is_secret = |at: usize| (CHECKSUM_AT..code_end).contains(&at) || at >= subkey_at;
        let is_fixed: Vec<bool> = (0..AUTHENTICATOR).map(|at| !is_opened[at] && !is_secret(at)).collect();
        let mut looks: Vec<u8> = (0..AUTHENTICATOR).map(|at| 3 * u8::from(is_fixed[at])).collect();
        match task {
            Task::VerifyFurther(_) => authenticator[40] ^= u8::from(!is_right),
            Task::OpenAuthenticator(_) => looks[0] ^= u8::from(!is_right),
            _ => body[0] ^= u8::from(!is_right),
        }
        let expected = Expected {
            bytes: &looks,
            is_fixed: &is_fixed,
            is_opened: &is_opened,
            checksum_at: CHECKSUM_AT,
            subkey_at: Some(subkey_at),
        };
        let sizes = Sizes { class, key_at: TICKET.key_at };
        match task {
            Task::VerifyFurther(_) => circuits::verifies_further(ENCTYPE, sizes, &given, &authenticator),
            Task::OpenAuthenticator(_) => {
                circuits::opens_authenticator(ENCTYPE, sizes, &given, &authenticator, expected)
            }
            _ => {
                let sent = (&given[..], &authenticator[..]);
                circuits::replies_further(ENCTYPE, sizes, sent, expected, &body, ticket, part)
            }
        }
    }
}

/// A step of requests, under the protocol that servers run, and who is curious.
struct Step {
    task: Task,
    class: Class,
    compiled: Arc<Compiled>,
    protocol: &'static dyn Protocol,
    server: usize,
}

/// What the curious server sees of all runs.
struct Seen {
    sample: Sample,
    /// Of each message among any servers who sends it to whom, its address and its length; and how long all takes.
    outline: (Vec<(usize, usize, At, usize)>, Duration),
    /// What is opened of each request, in the last run.
    opened: Vec<Vec<bool>>,
}

impl Step {
    fn new(task: Task, server: usize) -> Self {
        let protocol: &Arc<dyn Protocol> = Box::leak(Box::new(protocol("replicated-malicious").unwrap()));
        let parties = Local::new("replicated-malicious").unwrap().parties.clone();
        let programs = Programs::new(ENCTYPE, parties).unwrap();
        let compiled = programs.get(task, REQUESTS).unwrap().for_protocol(protocol.as_ref()).unwrap();
        Self { task, class: Class::ALL[0], compiled, protocol: protocol.as_ref(), server }
    }

    /// A run on keys: what the server can't know follows from a seed.
    fn case(&self, keys: &Keys, seed: u64) -> Case {
        let mut rng = Rng::new(seed);
        let drawn = self.task.draws().then(|| keys.drawn(&mut rng, self.server));
        let of_server = |server: usize| {
            let clock = self.task.tells_clocks().then(|| vec![1; 8]);
            clock.into_iter().chain(drawn.as_ref().map(|drawn| drawn[server].clone()))
        };
        let own: Vec<Vec<u8>> = (0..3).flat_map(of_server).collect();
        let inputs: Vec<Vec<u64>> = own.iter().map(|own| bits(own).map(u64::from).collect()).collect();
        let plan = self.compiled.plan();
        let mut case = Case::new(self.protocol, 3, (**plan).clone(), &inputs);
        let public: Vec<u64> = (0..REQUESTS)
            .flat_map(|request| keys.public(self.task, self.class, request % 2 == 0, &mut rng))
            .map(u64::from)
            .collect();
        let known = &plan.public_inputs[0];
        case.public_inputs = vec![Clear::from_elements(plan.register(known.reg).domain, known.form, &public)];
        case.kept = vec![Vec::new(); 3];
        for slot in self.compiled.program().kept() {
            let shares = keys.shares(&slot.name, self.server);
            case.kept.iter_mut().zip(shares).for_each(|(kept, share)| kept.push(share));
        }
        case
    }

    /// What is opened of each request.
    fn opened(&self, case: &Case, run: &Run) -> Vec<Vec<bool>> {
        let outcome = run.outcomes()[self.server];
        // Clocks come last, and are of no request; what is drawn and opened before them is of no key.
        let last = if self.task.tells_clocks() { 3 } else { 0 } + usize::from(self.task.opens_drawn());
        let count = outcome.outputs.len() - last;
        let mut opened = vec![Vec::new(); REQUESTS];
        for (output, clear) in case.plan.outputs.iter().zip(&outcome.outputs).take(count) {
            let all = clear.as_ref().unwrap().to_elements(output.form);
            for (opened, own) in opened.iter_mut().zip(all.chunks(all.len() / REQUESTS)) {
                opened.extend(own.iter().map(|&bit| bit == 1));
            }
        }
        opened
    }

    /// All runs on a realm's keys.
    fn seen(&self, realm: u64) -> Seen {
        let mut keys = Keys::of(realm);
        if Task::requests(Sessions::Servers).any(|task| task == self.task) {
            let Keys { session, subkey, issued, .. } = Keys::of(0);
            keys = Keys { session, subkey, issued, ..keys };
        }
        let mut seen: Option<Seen> = None;
        for run in 0..RUNS {
            let number = realm << 32 | run;
            let case = self.case(&keys, number);
            let hidden = Arc::new(hidden(&case, self.server, |_, _, _| false));
            let run = case.run_in(&case.world(), &Draws::varying(7, number, hidden));
            let opened = self.opened(&case, &run);
            let outline = (run.trace.skeleton(), run.took);
            // An AND's message has a word for its bits of all requests.
            let ands: Vec<&[u8; 8]> = run
                .trace
                .received(self.server)
                .into_iter()
                .filter(|delivery| delivery.stage(&case.plan).is_some())
                .flat_map(|delivery| delivery.payload.as_chunks().0)
                .collect();
            let others = ands[FIRST..].iter().step_by((ands.len() / OTHERS).max(1)).take(OTHERS);
            let ands: Vec<&&[u8; 8]> = ands[..FIRST].iter().chain(others).collect();
            let seen = seen.get_or_insert_with(|| Seen {
                sample: Sample::default(),
                outline: outline.clone(),
                opened: Vec::new(),
            });
            assert_eq!(outline, seen.outline, "messages depend on what is hidden");
            for (request, opened) in opened.iter().enumerate() {
                let mut row = BitRow::default();
                let masked = ands.iter().map(|and| and[request / 8] >> (request % 8) & 1 == 1);
                for bit in masked.chain(opened.iter().copied().step_by(opened.len().div_ceil(OPENED))) {
                    row.push(bit);
                }
                seen.sample.push(row);
            }
            seen.opened = opened;
        }
        seen.unwrap()
    }
}

/// Compares what one server sees of a step for two realms' keys.
fn check(task: Task, server: usize) {
    let step = Step::new(task, server);
    let [one, other] = [1, 2].map(|realm| step.seen(realm));
    assert!(one.outline == other.outline, "{task:?}, server {server}: messages depend on keys");
    // Right requests come to something, and wrong ones to nothing.
    for (request, opened) in one.opened.iter().enumerate() {
        let has_no_wrong = matches!(task, Task::Reply(_) | Task::SealReply(_) | Task::SealTicket(_));
        let is_right = request % 2 == 0 || has_no_wrong;
        assert_eq!(opened.iter().any(|&bit| bit), is_right, "{task:?}, request {request}");
    }
    if !task.is_last() {
        assert_eq!(one.opened, other.opened, "{task:?}: what is opened depends on keys");
    }
    let multiplied: Vec<usize> = (0..FIRST).collect();
    if let Err(flaw) = one.sample.check_alike(&other.sample, &multiplied) {
        panic!("{task:?}, server {server}: {flaw}");
    }
    println!(
        "{task:?}, server {server}: {} bits of {} requests",
        one.sample.bits(),
        REQUESTS * RUNS as usize
    );
}

#[test]
fn a_server_sees_the_same_of_a_timestamp_whatever_the_key_is() {
    check(Task::Verify, 0);
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn servers_see_the_same_of_each_step_whatever_the_keys_are() {
    let class = Class::ALL[0];
    let further = [Task::VerifyFurther(class), Task::OpenAuthenticator(class), Task::ReplyFurther(class)];
    let known =
        [Task::VerifyAndDraw, Task::SealReply(class), Task::OpenTicket(class), Task::SealTicket(class)];
    for (server, task) in
        [Task::Verify, Task::Verify, Task::Reply(class)].into_iter().chain(further).chain(known).enumerate()
    {
        check(task, (server + 1) % 3);
    }
}
