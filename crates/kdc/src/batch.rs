//! Requests that came together: each is answered in a thread of its own, and what they compute on shared keys at the same time runs
//! together, as instances of one run.
//!
//! All servers have the same requests in the same order, so each makes the same runs of them, and names them alike: by a hash of
//! the requests, the number of runs before, and which requests go together.

use crate::circuits::{self, Class, Expected, Form, TIMESTAMP_BYTES};
use crate::exchange::{Answer, Given, Sealed, Shares, answer};
use crate::programs::{TOGETHER, Task};
use crate::server::{Node, Step, lock, log, now};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use tacit::Error;

/// What a step of one request comes to: its outputs, and the median of the clocks.
type Outcome = Result<(Vec<Vec<u8>>, i64), String>;

/// Where requests wait for one another.
#[derive(Default)]
struct Meeting {
    seats: Mutex<Seats>,
    changed: Condvar,
}

#[derive(Default)]
struct Seats {
    /// Requests that aren't answered yet.
    left: usize,
    /// What those want that wait, by their numbers.
    asked: BTreeMap<usize, Step>,
    told: BTreeMap<usize, Outcome>,
}

/// Answers requests. `named` is what all servers were sent of them.
pub(crate) fn answer_all(node: &Node, named: &[u8], requests: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut hash = String::new();
    for byte in Sha256::digest(named) {
        // Writing into a string can't fail.
        let _ = write!(hash, "{byte:02x}");
    }
    let meeting = Meeting::default();
    lock(&meeting.seats).left = requests.len();
    // What a request sees of principals doesn't change while it is answered.
    let principals = node.principals().clone();
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(requests.len());
        for (number, request) in requests.iter().enumerate() {
            let (meeting, principals) = (&meeting, &principals);
            threads.push(scope.spawn(move || {
                let mut shares = Together { node, meeting, number };
                logged(answer(&node.settings, principals, request, now(), &node.memory, &mut shares))
            }));
        }
        let mut round = 0_u64;
        while let Some(asked) = meeting.all_asked() {
            let mut tasks: BTreeMap<Task, Vec<(usize, Step)>> = BTreeMap::new();
            for (number, step) in asked {
                tasks.entry(step.task).or_default().push((number, step));
            }
            let most = TOGETHER[TOGETHER.len() - 1];
            thread::scope(|runs| {
                for (task, steps) in &tasks {
                    for steps in steps.chunks(most) {
                        let (hash, meeting) = (&hash, &meeting);
                        runs.spawn(move || run_steps(node, meeting, (hash, round, *task), steps));
                    }
                }
            });
            round += 1;
        }
        threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

fn logged(Answer { bytes, line, failed }: Answer) -> Vec<u8> {
    log(line);
    if let Some(error) = failed {
        log(error);
    }
    bytes
}

/// Runs steps of one task together, and tells each request what came of its own.
fn run_steps(
    node: &Node,
    meeting: &Meeting,
    (hash, round, task): (&str, u64, Task),
    steps: &[(usize, Step)],
) {
    let numbers: Vec<usize> = steps.iter().map(|(number, _)| *number).collect();
    let which = Sha256::digest(format!("{task:?} {numbers:?}"));
    let tag = format!("{hash} {round} {:016x}", u64::from_be_bytes(*which.first_chunk().unwrap_or(&[0; 8])));
    let own: Vec<Step> = steps.iter().map(|(_, step)| step.clone()).collect();
    let done = node.run(tag, &own).map_err(|error| error.to_string());
    let mut seats = lock(&meeting.seats);
    for (place, number) in numbers.into_iter().enumerate() {
        let outcome = match &done {
            Ok((outputs, median)) => Ok((outputs[place].clone(), *median)),
            Err(error) => Err(error.clone()),
        };
        seats.told.insert(number, outcome);
    }
    meeting.changed.notify_all();
}

impl Meeting {
    /// What all requests want that aren't answered yet; nothing if all are.
    fn all_asked(&self) -> Option<BTreeMap<usize, Step>> {
        let waits = |seats: &mut Seats| seats.asked.len() < seats.left;
        let seats = lock(&self.seats);
        let mut seats = self.changed.wait_while(seats, waits).unwrap_or_else(PoisonError::into_inner);
        (seats.left > 0).then(|| std::mem::take(&mut seats.asked))
    }

    fn ask(&self, number: usize, step: Step) -> Outcome {
        let mut seats = lock(&self.seats);
        seats.asked.insert(number, step);
        self.changed.notify_all();
        let waits = |seats: &mut Seats| !seats.told.contains_key(&number);
        let mut seats = self.changed.wait_while(seats, waits).unwrap_or_else(PoisonError::into_inner);
        seats.told.remove(&number).unwrap_or_else(|| Err("nothing came of it".to_owned()))
    }
}

/// One request among those that came together.
struct Together<'a> {
    node: &'a Node,
    meeting: &'a Meeting,
    number: usize,
}

impl Drop for Together<'_> {
    /// The others go on without it.
    fn drop(&mut self) {
        lock(&self.meeting.seats).left -= 1;
        self.meeting.changed.notify_all();
    }
}

impl Together<'_> {
    fn step(&self, task: Task, public: Vec<bool>, records: &[&str]) -> Result<(Vec<Vec<u8>>, i64), Error> {
        let records = records.iter().map(|record| (*record).to_owned()).collect();
        self.meeting.ask(self.number, Step { task, public, records }).map_err(Error::Refused)
    }

    /// The class of messages of so many bytes, codes not counted.
    fn class(longest: usize) -> Result<Class, Error> {
        Class::of(longest).ok_or_else(|| Error::Refused("a message is too long for any program".to_owned()))
    }

    fn sizes(&self, given: Given<'_>, more: usize) -> Result<circuits::Sizes, Error> {
        let code = self.node.settings.enctype.mac_bytes();
        let longest = given.ticket.len().max(given.authenticator.len()).saturating_sub(code).max(more);
        Ok(circuits::Sizes { class: Self::class(longest)?, key_at: given.key_at })
    }

    /// Ciphertexts with their codes, of plaintexts of so many bytes.
    fn sealed(outputs: &[Vec<u8>], ticket: usize, part: usize) -> Result<Sealed, Error> {
        let [ticket_blocks, ticket_code, part_blocks, part_code] = outputs else {
            return Err(Error::Refused("a reply has four parts".to_owned()));
        };
        let put = |blocks: &[u8], code: &[u8], plain: usize| {
            let end = (crate::enctype::CONFOUNDER + plain).min(blocks.len());
            [&blocks[..end], code].concat()
        };
        Ok(Sealed {
            ticket: put(ticket_blocks, ticket_code, ticket),
            part: put(part_blocks, part_code, part),
        })
    }
}

/// What was opened if a bit says that it was, cut to so many bytes.
fn opened(outputs: Vec<Vec<u8>>, bytes: usize) -> Option<Vec<u8>> {
    let [is_right, mut opened] = <[Vec<u8>; 2]>::try_from(outputs).ok()?;
    opened.truncate(bytes);
    (is_right == [1]).then_some(opened)
}

impl Shares for Together<'_> {
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<(Option<Vec<u8>>, i64), Error> {
        let enctype = self.node.settings.enctype;
        let bytes = (sealed.len() - enctype.sealed_bytes(0)).min(TIMESTAMP_BYTES);
        let (outputs, now) = self.step(Task::Verify, circuits::verifies(enctype, sealed), &[client])?;
        Ok((opened(outputs, bytes), now))
    }

    fn reply(
        &mut self,
        service: &str,
        client: &str,
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Sealed, Error> {
        let class = Self::class(crate::enctype::CONFOUNDER + ticket.0.len().max(part.0.len()))?;
        let public = circuits::replies(self.node.settings.enctype, class, ticket, part);
        let (outputs, _) = self.step(Task::Reply(class), public, &[service, client])?;
        Self::sealed(&outputs, ticket.0.len(), part.0.len())
    }

    fn verify_further(&mut self, krbtgt: &str, given: Given<'_>) -> Result<(Option<Vec<u8>>, i64), Error> {
        let (enctype, sizes) = (self.node.settings.enctype, self.sizes(given, 0)?);
        let public = circuits::verifies_further(enctype, sizes, given.ticket, given.authenticator);
        let (outputs, now) = self.step(Task::VerifyFurther(sizes.class), public, &[krbtgt])?;
        Ok((opened(outputs, given.ticket.len() - enctype.sealed_bytes(0)), now))
    }

    fn open_authenticator(
        &mut self,
        krbtgt: &str,
        given: Given<'_>,
        expected: Expected<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let (enctype, sizes) = (self.node.settings.enctype, self.sizes(given, 0)?);
        let public =
            circuits::opens_authenticator(enctype, sizes, given.ticket, given.authenticator, expected);
        let (outputs, _) = self.step(Task::OpenAuthenticator(sizes.class), public, &[krbtgt])?;
        Ok(opened(outputs, expected.bytes.len()))
    }

    fn reply_further(
        &mut self,
        krbtgt: &str,
        service: &str,
        (given, expected, body): (Given<'_>, Expected<'_>, &[u8]),
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Option<Sealed>, Error> {
        let plain = crate::enctype::CONFOUNDER + ticket.0.len().max(part.0.len());
        let sizes = self.sizes(given, plain.max(body.len()))?;
        let sent = (given.ticket, given.authenticator);
        let enctype = self.node.settings.enctype;
        let public = circuits::replies_further(enctype, sizes, sent, expected, body, ticket, part);
        let (outputs, _) = self.step(Task::ReplyFurther(sizes.class), public, &[krbtgt, service])?;
        let Some((is_right, outputs)) = outputs.split_first() else { return Ok(None) };
        if is_right != &[1] {
            return Ok(None);
        }
        Self::sealed(outputs, ticket.0.len(), part.0.len()).map(Some)
    }
}
