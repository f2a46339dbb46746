//! What was made ahead of time: `P_2`'s shares of products of masks, the masks of outputs, and keys.
//!
//! What a key gives again isn't kept. As material, in this order: of `P_2` its shares, operation after operation, each as
//! its vectors stand in memory; of `P_0` both components of every output; of all the keys that they share with the other
//! two, by role, each with the number of blocks that were drawn of it. Sizes follow from the plan.

use crate::PARTIES;
use std::ops::Range;
use tacit_engine::bank::row_words;
use tacit_engine::{Error, Material, bytes_of, with_element};
use tacit_kernel::{Buffer, Element};
use tacit_program::plan::{Kind, Plan, Reg};
use tacit_session::{Draw, Session, Stream, step};
use zeroize::Zeroize;

const KEY_BYTES: usize = 16;

/// Bytes of a key and of the count of what was drawn.
const ENTRY_BYTES: usize = KEY_BYTES + 8;

/// The keys of an instance that a party shares with each other role; none with itself.
#[derive(Default)]
pub(crate) struct Keys([[u8; KEY_BYTES]; PARTIES]);

impl Drop for Keys {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Keys {
    /// Fresh keys, from those of the session. `parties` has the session's number of each role.
    pub(crate) fn fresh(session: &mut Session, parties: [usize; PARTIES]) -> Self {
        let mut keys = Self::default();
        for (key, party) in keys.0.iter_mut().zip(parties) {
            if party != session.me() {
                session.stream(party).fill(Draw { part: step::INSTANCE_KEY, op: 0 }, 0, key);
            }
        }
        keys
    }

    /// The streams of the keys, from their beginnings: each walk through the plan draws the same again.
    pub(crate) fn streams(&self, lane: u16) -> [Stream; PARTIES] {
        self.0.each_ref().map(|key| Stream::new(key, lane))
    }
}

/// Where everything is that a party keeps.
pub(crate) struct Places {
    /// The party's role.
    me: usize,
    /// First bytes of operations' shares, and the end.
    shares: Vec<usize>,
    /// Registers that are outputs, and the first bytes of their components.
    outputs: Vec<(Reg, [Range<usize>; 2])>,
    /// Bytes before the keys.
    body: usize,
}

impl Places {
    pub(crate) fn new(plan: &Plan, me: usize) -> Self {
        let mut places = Self { me, shares: Vec::new(), outputs: Vec::new(), body: 0 };
        if me == 2 {
            for op in &plan.ops {
                places.shares.push(places.body);
                places.body += share_bytes(plan, &op.kind).next_multiple_of(16);
            }
            places.shares.push(places.body);
        }
        if me == 0 {
            let mut regs: Vec<Reg> = plan.outputs.iter().map(|output| output.reg).collect();
            regs.sort_unstable();
            regs.dedup();
            for reg in regs {
                let register = plan.register(reg);
                let bytes = bytes_of(register.domain, register.cols);
                let first = places.body..places.body + bytes;
                let second = first.end..first.end + bytes;
                places.body = second.end;
                places.outputs.push((reg, [first, second]));
            }
        }
        places
    }

    /// Bytes of all.
    fn bytes(&self) -> usize {
        self.body + (PARTIES - 1) * ENTRY_BYTES
    }

    /// Where the key of a role and its count are.
    fn entries(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (me, body) = (self.me, self.body);
        (0..PARTIES).filter(move |&role| role != me).zip((body..).step_by(ENTRY_BYTES))
    }
}

/// Bytes of the vectors that an operation's shares are.
fn share_bytes(plan: &Plan, kind: &Kind) -> usize {
    match kind {
        Kind::And { dst, .. } => dst.count as usize * row_words(plan.register(dst.reg).cols) * 8,
        Kind::Circuit { circuit, .. } => kind.extent(plan).div_ceil(128) * 16 * circuit.ands() as usize,
        Kind::Split { s, bits, .. } => *bits as usize * row_words(plan.register(*s).cols) * 8,
        kind => {
            let register = plan.register(kind.writes()[0]);
            let numbers = if matches!(kind, Kind::Shift { .. }) { 2 } else { 1 };
            with_element!(register.domain, E => numbers * register.len() * E::BYTES)
        }
    }
}

/// One instance's.
pub(crate) struct Ahead {
    places: Places,
    memory: Buffer,
    pub(crate) keys: Keys,
    /// Blocks that were drawn of each key when this was made.
    pub(crate) drawn: [u64; PARTIES],
}

impl Ahead {
    /// For an instance that is to be made, in memory that was used before.
    pub(crate) fn new(places: Places, keys: Keys, mut memory: Buffer) -> Self {
        memory.reuse(places.bytes());
        Self { places, memory, keys, drawn: [0; PARTIES] }
    }

    /// An operation's shares.
    pub(crate) fn shares(&self, op: u32) -> &[u8] {
        &self.memory.bytes()[self.places.shares[op as usize]..self.places.shares[op as usize + 1]]
    }

    /// An operation's shares, to write to.
    pub(crate) fn shares_mut(&mut self, op: u32) -> &mut [u8] {
        let range = self.places.shares[op as usize]..self.places.shares[op as usize + 1];
        &mut self.memory.bytes_mut()[range]
    }

    /// The components of outputs: registers, and for both components their bytes.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = (Reg, [&[u8]; 2])> {
        let outputs = self.places.outputs.iter();
        outputs
            .map(|(reg, ranges)| (*reg, ranges.each_ref().map(|range| &self.memory.bytes()[range.clone()])))
    }

    /// Keeps the components of outputs.
    pub(crate) fn keep_outputs(&mut self, component: impl Fn(Reg, usize) -> Buffer) {
        for (reg, ranges) in &self.places.outputs {
            for (which, range) in ranges.iter().enumerate() {
                let buffer = component(*reg, which);
                self.memory.bytes_mut()[range.clone()].copy_from_slice(buffer.bytes());
            }
        }
    }

    /// As material.
    pub(crate) fn into_material(mut self) -> Material {
        for (role, place) in self.places.entries() {
            let entry = &mut self.memory.bytes_mut()[place..place + ENTRY_BYTES];
            entry[..KEY_BYTES].copy_from_slice(&self.keys.0[role]);
            entry[KEY_BYTES..].copy_from_slice(&self.drawn[role].to_le_bytes());
        }
        Material::new(std::mem::take(&mut self.memory))
    }

    /// Reads what [`Ahead::into_material`] wrote.
    ///
    /// # Errors
    /// If its size isn't that of the plan's material for this role.
    pub(crate) fn from_material(material: Material, places: Places) -> Result<Self, Error> {
        let memory = material.into_buffer();
        if memory.len() != places.bytes() {
            return Err(Error::Refused(format!(
                "the material has {} bytes; this party's for this plan has {}",
                memory.len(),
                places.bytes()
            )));
        }
        let mut ahead = Self { places, memory, keys: Keys::default(), drawn: [0; PARTIES] };
        for (role, place) in ahead.places.entries() {
            let (key, drawn) = ahead.memory.bytes()[place..place + ENTRY_BYTES].split_at(KEY_BYTES);
            ahead.keys.0[role].copy_from_slice(key);
            ahead.drawn[role] = drawn.iter().rev().fold(0, |count, &byte| count << 8 | u64::from(byte));
        }
        Ok(ahead)
    }

    /// Its memory, for another instance.
    pub(crate) fn into_memory(mut self) -> Buffer {
        std::mem::take(&mut self.memory)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.memory.wipe();
    }
}
