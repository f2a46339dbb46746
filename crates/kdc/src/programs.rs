//! The programs that servers run on shared keys: one for each form of a message, compiled once and kept.

use crate::circuits::{self, Form, Layout, Sizes};
use crate::enctype::{Enctype, Usage};
use std::sync::Arc;
use tacit::circuit::Circuit;
use tacit::program::{Builder, Data, Dtype, Index, NodeId, ProgramError, Recipient, Uses, Value};
use tacit::{Compiled, Error};

/// ANDs of all programs that are kept at most: about a gigabyte.
const MAX_KEPT: usize = 12_000_000;

/// Bits of a clock.
const CLOCK: usize = 64;

/// What an admin gives for a new key.
pub const ADMIN: &str = "admin";

/// What a program does, and on what form of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Tells whether a timestamp of so many bytes was sealed under the client's key, and the servers' clocks.
    Verify(usize),
    /// Opens such a timestamp, after that.
    Open(usize),
    /// Makes a ticket and the reply's encrypted part, after that.
    Reply(Form, Form),
    /// Tells whether a ticket and an authenticator were sealed as they should be, and the servers' clocks.
    VerifyFurther(Sizes),
    /// Opens such a ticket, but for its key.
    OpenTicket(Sizes),
    /// Opens such an authenticator, but for its checksum and its subkey.
    OpenAuthenticator(Sizes, Layout),
    /// Makes ticket and reply after that, for a request with a body of so many bytes.
    ReplyFurther(Sizes, Layout, usize, Form, Form),
    /// Has the admin take part, and no more: that proves an order which takes no shares.
    Approve {
        /// Named by the order's hash.
        order: String,
    },
    /// Keeps the record of a new key.
    Enrol {
        /// What the record is kept as: named by the order's hash, so that all who run it mean the same.
        record: String,
        /// Whether the servers draw parts of the key, too, so that not even the admin knows it.
        drawn: bool,
    },
}

/// What fills the slot of a client's record.
pub const CLIENT: &str = "client";
/// What fills the slot of krbtgt's record, where its tickets are opened.
pub const KRBTGT: &str = "krbtgt";
/// What fills the slot of a service's record.
pub const SERVICE: &str = "service";

/// Makes programs, and keeps those that were made last.
#[derive(Debug)]
pub struct Programs {
    enctype: Enctype,
    parties: Vec<String>,
    /// The one that was wanted last is the last.
    kept: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    task: Task,
    compiled: Arc<Compiled>,
    ands: usize,
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
        Ok(Self { enctype, parties, kept: Vec::new() })
    }

    /// A task's program. The first time takes seconds.
    ///
    /// # Errors
    /// If it can't be compiled.
    pub fn get(&mut self, task: &Task) -> Result<Arc<Compiled>, Error> {
        if let Some(at) = self.kept.iter().position(|kept| kept.task == *task) {
            let known = self.kept.remove(at);
            let compiled = known.compiled.clone();
            self.kept.push(known);
            return Ok(compiled);
        }
        let Some(circuit) = self.circuit(task).map(Arc::new) else { return Self::approve(task) };
        let compiled = self.compile(task, &circuit)?;
        // Orders come once.
        if !matches!(task, Task::Enrol { .. }) {
            let ands = circuit.ands();
            while !self.kept.is_empty()
                && self.kept.iter().map(|kept| kept.ands).sum::<usize>() + ands > MAX_KEPT
            {
                self.kept.remove(0);
            }
            self.kept.push(Kept { task: task.clone(), compiled: compiled.clone(), ands });
        }
        Ok(compiled)
    }

    /// What a task computes; nothing if it computes nothing.
    fn circuit(&self, task: &Task) -> Option<Circuit> {
        let enctype = self.enctype;
        Some(match *task {
            Task::Verify(bytes) => circuits::verify(enctype, bytes),
            Task::Open(bytes) => circuits::open(enctype, bytes, None),
            Task::Reply(ticket, part) => circuits::reply(enctype, ticket, part),
            Task::VerifyFurther(sizes) => circuits::verify_further(enctype, sizes),
            Task::OpenTicket(sizes) => circuits::open(enctype, sizes.ticket, Some(sizes.key_at)),
            Task::OpenAuthenticator(sizes, layout) => circuits::open_authenticator(enctype, sizes, layout),
            Task::ReplyFurther(sizes, layout, body, ticket, part) => {
                circuits::reply_further(enctype, sizes, layout, body, ticket, part)
            }
            Task::Enrol { .. } => circuits::enrol(enctype),
            Task::Approve { .. } => return None,
        })
    }

    /// One bit of the admin's, which says nothing; its name does.
    fn approve(task: &Task) -> Result<Arc<Compiled>, Error> {
        let mut build = Builder::new();
        if let Task::Approve { order } = task {
            let bit = bits(&mut build, ADMIN, order, 1)?;
            build.reveal(bit, Recipient::All)?;
        }
        Compiled::new(build.finish()?)
    }

    fn compile(&self, task: &Task, circuit: &Arc<Circuit>) -> Result<Arc<Compiled>, Error> {
        let mut build = Builder::new();
        let (timestamp, ticket) = ((CLIENT, Usage::Timestamp), (KRBTGT, Usage::Ticket));
        let service = (SERVICE, Usage::Ticket);
        match task {
            Task::Verify(_) => self.verify(&mut build, circuit, timestamp)?,
            Task::Open(_) => self.open(&mut build, circuit, timestamp)?,
            Task::Reply(..) => self.reply(&mut build, circuit, [service, (CLIENT, Usage::Reply)])?,
            Task::VerifyFurther(_) => self.verify(&mut build, circuit, ticket)?,
            Task::OpenTicket(_) | Task::OpenAuthenticator(..) => self.open(&mut build, circuit, ticket)?,
            Task::ReplyFurther(..) => self.reply(&mut build, circuit, [ticket, service])?,
            Task::Enrol { record, drawn } => self.enrol(&mut build, circuit, record, *drawn)?,
            Task::Approve { .. } => return Self::approve(task),
        }
        Compiled::new(build.finish()?)
    }

    /// Three copies of a request, and what a circuit tells of it, with the clocks.
    fn verify(&self, build: &mut Builder, circuit: &Arc<Circuit>, keys: Slot) -> Result<(), ProgramError> {
        let (mut operands, mut clocks) = (Vec::new(), Vec::new());
        for party in &self.parties {
            operands.push(bits(build, party, "request", width(circuit, 0))?);
            clocks.push(bits(build, party, "clock", CLOCK)?);
        }
        operands.push(self.keys(build, keys)?);
        let verdict = build.circuit(circuit, &operands)?[0];
        for output in [verdict].into_iter().chain(clocks) {
            build.reveal(output, Recipient::All)?;
        }
        Ok(())
    }

    /// Three copies of a request, and what a circuit opens of it.
    fn open(&self, build: &mut Builder, circuit: &Arc<Circuit>, keys: Slot) -> Result<(), ProgramError> {
        let mut operands = Vec::new();
        for party in &self.parties {
            operands.push(bits(build, party, "request", width(circuit, 0))?);
        }
        operands.push(self.keys(build, keys)?);
        let message = build.circuit(circuit, &operands)?[0];
        build.reveal(message, Recipient::All)
    }

    /// Three copies of public bytes, what each server draws, and what a circuit makes of both.
    fn reply(
        &self,
        build: &mut Builder,
        circuit: &Arc<Circuit>,
        keys: [Slot; 2],
    ) -> Result<(), ProgramError> {
        let (mut operands, mut drawn) = (Vec::new(), Vec::new());
        for party in &self.parties {
            operands.push(bits(build, party, "public", width(circuit, 0))?);
            drawn.push(bits(build, party, "drawn", 8 * circuits::drawn_bytes(self.enctype))?);
        }
        operands.extend(drawn);
        for slot in keys {
            operands.push(self.keys(build, slot)?);
        }
        for output in build.circuit(circuit, &operands)? {
            build.reveal(output, Recipient::All)?;
        }
        Ok(())
    }

    fn enrol(
        &self,
        build: &mut Builder,
        circuit: &Arc<Circuit>,
        record: &str,
        drawn: bool,
    ) -> Result<(), ProgramError> {
        let count = 8 * self.enctype.key_bytes();
        let mut key = bits(build, ADMIN, "key", count)?;
        for party in self.parties.iter().filter(|_| drawn) {
            let own = bits(build, party, "drawn", count)?;
            key = build.xor(key, own)?;
        }
        let keys = build.circuit(circuit, &[key])?[0];
        build.keep(keys, record, Uses::default())
    }

    /// The keys of a usage, of the record in a slot.
    fn keys(&self, build: &mut Builder, (slot, usage): Slot) -> Result<NodeId, ProgramError> {
        let record = build.kept(slot, Dtype::Bool, &[8 * circuits::record_bytes(self.enctype)], None)?;
        let at = Usage::ALL.iter().position(|other| *other == usage).unwrap_or_default();
        let count = 8 * circuits::keys_bytes(self.enctype) as i64;
        let start = at as i64 * count;
        build.index(record, &[Index::Slice { start: Some(start), stop: Some(start + count), step: 1 }])
    }
}

/// The slot of a record, and which of its keys are used.
type Slot = (&'static str, Usage);

/// Bits of one of a circuit's inputs.
fn width(circuit: &Circuit, input: usize) -> usize {
    circuit.inputs()[input] as usize
}

fn bits(build: &mut Builder, owner: &str, name: &str, count: usize) -> Result<NodeId, ProgramError> {
    build.input(owner, name, Dtype::Bool, &[count], None)
}

/// Bytes as bits, the least significant first.
pub fn to_bits(bytes: &[u8]) -> Value {
    let bits: Vec<bool> = bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
    Value { shape: vec![bits.len()], data: Data::Bool(bits) }
}

/// The bytes of such bits; nothing of anything else.
pub fn to_bytes(value: &Value) -> Vec<u8> {
    let Data::Bool(bits) = &value.data else { return Vec::new() };
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    bits.chunks(8).map(byte).collect()
}

/// The values that one of the three servers gives, each at the index of its input: all give as many, one server after another,
/// behind `before` inputs of others.
pub fn given(me: usize, before: usize, own: Vec<Value>) -> Vec<Option<Value>> {
    let count = own.len();
    let mut given = vec![None; before + 3 * count];
    for (at, value) in own.into_iter().enumerate() {
        given[before + me * count + at] = Some(value);
    }
    given
}
