//! The programs that servers run on shared keys: one for each step of a request, each class of lengths and each
//! number of requests that go together. Which keys they read is said by each run, and so is all that servers know of
//! a request.

use crate::circuits::{self, Class};
use crate::enctype::{Enctype, Usage};
use crate::realm::Sessions;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tacit::circuit::Circuit;
use tacit::program::{Builder, Data, Dtype, Index, NodeId, ProgramError, Recipient, Uses, Value};
use tacit::{Compiled, Error, Fill};
use zeroize::Zeroize;

/// How many requests go together: the least of these that they fit into.
pub const TOGETHER: [usize; 6] = [1, 4, 16, 64, 128, 256];

/// How many requests come together at most: they run a few at a time.
pub const MAX_REQUESTS: usize = crate::wire::MAX_BATCH;

/// Bits of a clock.
const CLOCK: usize = 64;

/// Bytes that a server tells of what it knows of principals, at a time.
pub const TOLD: usize = 4096;

/// What an admin gives for a new key.
pub const ADMIN: &str = "admin";

/// What a new record is called by the program that keeps it; each run says what it is kept as.
pub const RECORD: &str = "record";

/// What a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Task {
    /// Tells whether timestamps were sealed under their clients' keys, opens those that were, and tells the servers' clocks.
    Verify,
    /// Makes tickets and the replies' encrypted parts, after that.
    Reply(Class),
    /// Tells whether tickets and authenticators were sealed as they should be, opens those tickets but for their keys, and tells
    /// the servers' clocks.
    VerifyFurther(Class),
    /// Opens authenticators that have the form that they should have, but for their checksums and their subkeys.
    OpenAuthenticator(Class),
    /// Makes tickets and replies after that.
    ReplyFurther(Class),
    /// [`Self::Verify`] where servers know session keys: what they draw together is opened, too.
    VerifyAndDraw,
    /// [`Self::Reply`] where all servers know the plaintexts.
    SealReply(Class),
    /// Tells whether tickets were sealed as they should be, opens those with their keys, and opens what servers draw together and
    /// their clocks: authenticators are theirs to open.
    OpenTicket(Class),
    /// Makes tickets after that, whose plaintexts all servers know.
    SealTicket(Class),
    /// Tells a part of what each server knows of principals.
    TellLists,
    /// Has the admin take part, and no more: that proves an order which takes no shares.
    Approve,
    /// Keeps the record of a new key.
    Enrol {
        /// Whether the servers draw parts of the key, too, so that not even the admin knows it.
        drawn: bool,
    },
}

impl Task {
    /// The tasks of requests.
    pub fn requests(sessions: Sessions) -> impl Iterator<Item = Self> {
        let of_class = move |class| match sessions {
            Sessions::Shared => vec![
                Self::Reply(class),
                Self::VerifyFurther(class),
                Self::OpenAuthenticator(class),
                Self::ReplyFurther(class),
            ],
            Sessions::Servers => {
                vec![Self::SealReply(class), Self::OpenTicket(class), Self::SealTicket(class)]
            }
        };
        let first = if sessions == Sessions::Shared { Self::Verify } else { Self::VerifyAndDraw };
        [first].into_iter().chain(Class::ALL.into_iter().flat_map(of_class))
    }

    /// Whether nothing more is computed for a request after it.
    pub fn is_last(self) -> bool {
        matches!(self, Self::Reply(_) | Self::ReplyFurther(_) | Self::SealReply(_) | Self::SealTicket(_))
    }

    /// The tasks of orders.
    pub const ORDERS: [Self; 3] = [Self::Approve, Self::Enrol { drawn: false }, Self::Enrol { drawn: true }];

    /// The keys that one request takes: slots that records fill, and of which usage the keys are.
    fn keys(self) -> &'static [(&'static str, Usage)] {
        match self {
            Self::Verify | Self::VerifyAndDraw => &[("client", Usage::Timestamp)],
            Self::Reply(_) | Self::SealReply(_) => &[("service", Usage::Ticket), ("client", Usage::Reply)],
            Self::VerifyFurther(_) | Self::OpenAuthenticator(_) | Self::OpenTicket(_) => {
                &[("krbtgt", Usage::Ticket)]
            }
            Self::ReplyFurther(_) => &[("krbtgt", Usage::Ticket), ("service", Usage::Ticket)],
            Self::SealTicket(_) => &[("service", Usage::Ticket)],
            Self::TellLists | Self::Approve | Self::Enrol { .. } => &[],
        }
    }

    /// Whether servers tell their clocks.
    pub fn tells_clocks(self) -> bool {
        matches!(self, Self::Verify | Self::VerifyFurther(_)) || self.opens_drawn()
    }

    /// Whether servers draw a session key and confounders.
    pub fn draws(self) -> bool {
        matches!(self, Self::Reply(_) | Self::ReplyFurther(_)) || self.opens_drawn()
    }

    /// Whether the sum of what they draw is opened to them, and no circuit takes it.
    pub fn opens_drawn(self) -> bool {
        matches!(self, Self::VerifyAndDraw | Self::OpenTicket(_))
    }

    /// What fills the slots, of requests each of which names its records in the task's order.
    pub fn fill(self, records: &[Vec<String>]) -> Fill {
        let mut fill = Fill::new();
        for (request, records) in records.iter().enumerate() {
            for ((slot, _), record) in self.keys().iter().zip(records) {
                fill = fill.reading(&slot_of(slot, request), record);
            }
        }
        fill
    }
}

fn slot_of(slot: &str, request: usize) -> String {
    format!("{slot} {request}")
}

/// The least number of requests that go together and have room for so many.
pub fn together(requests: usize) -> usize {
    TOGETHER.into_iter().find(|&count| requests <= count).unwrap_or(TOGETHER[TOGETHER.len() - 1])
}

/// Makes programs and keeps them: there are no others than these few.
#[derive(Debug)]
pub struct Programs {
    enctype: Enctype,
    parties: Vec<String>,
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    circuits: HashMap<Task, Arc<Circuit>>,
    compiled: HashMap<(Task, usize), Arc<Compiled>>,
}

impl Programs {
    /// For servers of these names.
    ///
    /// # Errors
    /// [`Error::Refused`] unless they are three.
    pub fn new(enctype: Enctype, parties: Vec<String>) -> Result<Self, Error> {
        if parties.len() != 3 {
            return Err(Error::Refused(format!("a KDC has three servers, not {}", parties.len())));
        }
        Ok(Self { enctype, parties, made: Mutex::default() })
    }

    /// A task's program for so many requests. The first time takes a second or so.
    ///
    /// # Errors
    /// If it can't be compiled.
    pub fn get(&self, task: Task, requests: usize) -> Result<Arc<Compiled>, Error> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.compiled.get(&(task, requests)) {
            return Ok(known.clone());
        }
        let circuit = Self::circuit(task).map(|make| {
            made.circuits.entry(task).or_insert_with(|| Arc::new(make(self.enctype, task))).clone()
        });
        let compiled = Compiled::new(self.program(task, requests, circuit.as_ref())?)?;
        made.compiled.insert((task, requests), compiled.clone());
        Ok(compiled)
    }

    /// How many programs were compiled so far.
    pub fn compiled(&self) -> usize {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).compiled.len()
    }

    /// What makes a task's circuit, if it has one.
    fn circuit(task: Task) -> Option<fn(Enctype, Task) -> Circuit> {
        (!matches!(task, Task::Approve | Task::TellLists)).then_some(|enctype, task| match task {
            Task::Verify | Task::VerifyAndDraw => circuits::verify(enctype, Class::TIMESTAMP),
            Task::OpenTicket(class) => circuits::verify(enctype, class),
            Task::SealReply(class) => circuits::seal(enctype, class, 2),
            Task::SealTicket(class) => circuits::seal(enctype, class, 1),
            Task::Reply(class) => circuits::reply(enctype, class),
            Task::VerifyFurther(class) => circuits::verify_further(enctype, class),
            Task::OpenAuthenticator(class) => circuits::open_authenticator(enctype, class),
            Task::ReplyFurther(class) => circuits::reply_further(enctype, class),
            Task::TellLists | Task::Approve | Task::Enrol { .. } => circuits::enrol(enctype),
        })
    }

    fn program(
        &self,
        task: Task,
        requests: usize,
        circuit: Option<&Arc<Circuit>>,
    ) -> Result<tacit::program::Program, ProgramError> {
        let mut build = Builder::new();
        match (task, circuit) {
            (Task::Enrol { drawn }, Some(circuit)) => self.enrol(&mut build, circuit, drawn)?,
            (_, Some(circuit)) => self.requests(&mut build, task, requests, circuit)?,
            (Task::TellLists, _) => self.tell_lists(&mut build)?,
            // One bit of the admin's, which says nothing: that the admin takes part does.
            _ => {
                let bit = build.input(ADMIN, "approves", Dtype::Bool, &[1], None)?;
                build.reveal(bit, Recipient::All)?;
            }
        }
        build.finish()
    }

    /// All servers tell all of them a part of their lists.
    fn tell_lists(&self, build: &mut Builder) -> Result<(), ProgramError> {
        for party in &self.parties {
            let told = build.input(party, "list", Dtype::Bool, &[8 * TOLD], None)?;
            build.reveal(told, Recipient::All)?;
        }
        Ok(())
    }

    /// What all know of each request, what each server draws, and what a circuit makes of both and of records.
    fn requests(
        &self,
        build: &mut Builder,
        task: Task,
        requests: usize,
        circuit: &Arc<Circuit>,
    ) -> Result<(), ProgramError> {
        let (mut clocks, mut drawn, mut operands) = (Vec::new(), Vec::new(), Vec::new());
        let public = [requests, circuit.inputs().first().map_or(0, |&bits| bits as usize)];
        operands.push(build.known("public", Dtype::Bool, &public, None)?);
        for party in &self.parties {
            if task.tells_clocks() {
                clocks.push(build.input(party, "clock", Dtype::Bool, &[CLOCK], None)?);
            }
            if task.draws() {
                let own = [requests, 8 * circuits::drawn_bytes(self.enctype)];
                drawn.push(build.input(party, "drawn", Dtype::Bool, &own, None)?);
            }
        }
        let mut opened = Vec::new();
        if task.opens_drawn() {
            let mut drawn = drawn.into_iter();
            let first = drawn.next();
            let sum = first.map(|first| drawn.try_fold(first, |sum, own| build.xor(sum, own)));
            opened.extend(sum.transpose()?);
        } else {
            operands.extend(drawn);
        }
        for (slot, usage) in task.keys() {
            let keys = (0..requests).map(|request| self.keys(build, &slot_of(slot, request), *usage));
            let keys = keys.collect::<Result<Vec<_>, _>>()?;
            operands.push(build.stack(&keys, 0)?);
        }
        let outputs = build.circuit(circuit, &operands)?;
        outputs
            .into_iter()
            .chain(opened)
            .chain(clocks)
            .try_for_each(|output| build.reveal(output, Recipient::All))
    }

    fn enrol(&self, build: &mut Builder, circuit: &Arc<Circuit>, drawn: bool) -> Result<(), ProgramError> {
        let count = 8 * self.enctype.key_bytes();
        let mut key = build.input(ADMIN, "key", Dtype::Bool, &[count], None)?;
        for party in self.parties.iter().filter(|_| drawn) {
            let own = build.input(party, "drawn", Dtype::Bool, &[count], None)?;
            key = build.xor(key, own)?;
        }
        let keys = build.circuit(circuit, &[key])?[0];
        build.keep(keys, RECORD, Uses::default())
    }

    /// The keys of a usage, of the record in a slot.
    fn keys(&self, build: &mut Builder, slot: &str, usage: Usage) -> Result<NodeId, ProgramError> {
        let record = build.kept(slot, Dtype::Bool, &[8 * circuits::record_bytes(self.enctype)], None)?;
        let at = Usage::ALL.iter().position(|other| *other == usage).unwrap_or_default();
        let count = 8 * circuits::keys_bytes(self.enctype) as i64;
        let start = at as i64 * count;
        build.index(record, &[Index::Slice { start: Some(start), stop: Some(start + count), step: 1 }])
    }
}

/// Bytes as bits, the least significant first.
pub fn to_bits(bytes: &[u8]) -> Value {
    // Room for all: a vector that grows leaves copies behind.
    let mut bits = Vec::with_capacity(8 * bytes.len());
    bits.extend(bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)));
    Value { shape: vec![bits.len()], data: Data::Bool(bits) }
}

/// The bits of several requests, one behind the other.
pub fn rows<R: Borrow<[bool]>>(rows: &[R]) -> Value {
    let shape = vec![rows.len(), rows.first().map_or(0, |row| row.borrow().len())];
    Value { shape, data: Data::Bool(rows.concat()) }
}

/// The bytes of such bits, of each of so many requests; nothing of anything else.
pub fn to_bytes(value: &Value, requests: usize) -> Vec<Vec<u8>> {
    let Data::Bool(bits) = &value.data else { return vec![Vec::new(); requests] };
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    let row = |row: &[bool]| row.chunks(8).map(byte).collect();
    bits.chunks((bits.len() / requests.max(1)).max(1)).map(row).collect()
}

/// Overwrites bits.
pub(crate) fn wipe(value: &mut Value) {
    if let Data::Bool(bits) = &mut value.data {
        bits.zeroize();
    }
}

/// The values that one of the three servers gives, each at the index of its input: all give as many, one server after another,
/// behind `before` inputs of others; and what all know.
pub fn given(me: usize, before: usize, own: Vec<Value>, known: Option<Value>) -> Vec<Option<Value>> {
    let count = own.len();
    let mut given = vec![None; before + 3 * count];
    for (at, value) in own.into_iter().enumerate() {
        given[before + me * count + at] = Some(value);
    }
    given.extend(known.map(Some));
    given
}
