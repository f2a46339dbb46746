//! What the offline phase made: `P_2`'s shares of products of masks and its garbled circuits, the tags of these that
//! `P_1` compares, the masks of outputs, and keys.
//!
//! What a key gives again isn't kept. The material has, in this order:
//!
//! - of `P_2` its shares, operation after operation, each as its vectors stand in memory;
//! - of `P_1`, where garbled circuits are checked, their outputs' tags;
//! - of `P_0` both components of every output and of all that is kept or, if it checks products online, what the check of their triples told
//!   it, added up for each result ([`masked`](crate::masked));
//! - of `P_1` and `P_2`, where outputs are fair, the commitments that they were sent ([`fair`](crate::fair));
//! - of all, the keys that they share with the other two, by role, each with the number of blocks that were drawn of
//!   it, and what batches of garbled circuits are told apart by.
//!
//! Sizes follow from the plan.

use crate::counts::Noted;
use crate::garbling::Form;
use crate::step;
use tacit_engine::bank::{Bank, row_words};
use tacit_engine::{Error, Material, bytes_of, with_element};
use tacit_garble::Batch;
use tacit_kernel::{Buffer, Element};
use tacit_program::plan::{Domain, OpKind, Plan, Reg};
use tacit_session::{Draw, PrssStream, Session};
use tacit_threeparty::PARTIES;
use zeroize::Zeroize;

const KEY_BYTES: usize = 16;

/// Bytes of a key and of the count of what was drawn.
const ENTRY_BYTES: usize = KEY_BYTES + 8;

/// Bytes of all these of a party.
const ENTRIES_BYTES: usize = (PARTIES - 1) * ENTRY_BYTES;

/// Bytes of a batch of garbled circuits: the session's value and the number.
const BATCH_BYTES: usize = 16 + 4;

/// Bytes of two commitments.
const PROMISE_BYTES: usize = 2 * 32;

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
    pub(crate) fn streams(&self, lane: u16) -> [PrssStream; PARTIES] {
        self.0.each_ref().map(|key| PrssStream::new(key, lane))
    }
}

/// Where everything is that a party keeps.
pub(crate) struct Places {
    /// The party's role.
    me: usize,
    /// First bytes of operations' shares, or of what the check told, and the end.
    shares: Vec<usize>,
    /// Registers that are outputs or kept, and the bytes of each of their components.
    outputs: Vec<(Reg, usize)>,
    /// Bytes of what others have committed to, where outputs are fair.
    promised: usize,
}

impl Places {
    pub(crate) fn new(plan: &Plan, me: usize, verified: bool) -> Self {
        let mut places = Self { me, shares: vec![0], outputs: Vec::new(), promised: 0 };
        let mut end = 0;
        for op in plan.all_ops().filter(|_| me == 2 || verified) {
            end += share_bytes(plan, &op.kind, me, verified).next_multiple_of(16);
            places.shares.push(end);
        }
        if me == 0 && !verified {
            let kept = plan.keeps.iter().map(|keep| keep.reg);
            let mut regs: Vec<Reg> = plan.outputs.iter().map(|output| output.reg).chain(kept).collect();
            regs.sort_unstable();
            regs.dedup();
            let with_bytes = |reg| {
                let register = plan.register(reg);
                (reg, bytes_of(register.domain, register.cols))
            };
            places.outputs.extend(regs.into_iter().map(with_bytes));
        }
        places
    }

    /// The same, with what `P_1` and `P_2` are promised where outputs are fair.
    pub(crate) fn promising(self, fair: bool) -> Self {
        Self { promised: if fair && self.me != 0 { PROMISE_BYTES } else { 0 }, ..self }
    }

    /// Bytes of all shares.
    pub(crate) fn share_bytes(&self) -> usize {
        self.shares.last().copied().unwrap_or_default()
    }

    /// Sizes of the material's parts.
    fn sizes(&self) -> Vec<usize> {
        let outputs = self.outputs.iter().flat_map(|&(_, bytes)| [bytes; 2]);
        let promised = (self.promised > 0).then_some(self.promised);
        let ends = [ENTRIES_BYTES + BATCH_BYTES];
        [self.share_bytes()].into_iter().chain(outputs).chain(promised).chain(ends).collect()
    }

    /// The other roles, and where the key shared with each and its count are.
    fn entries(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let me = self.me;
        (0..PARTIES).filter(move |&role| role != me).zip((0..).step_by(ENTRY_BYTES))
    }
}

/// Bytes of the vectors that an operation's shares are.
fn share_bytes(plan: &Plan, kind: &OpKind, me: usize, verified: bool) -> usize {
    match kind {
        OpKind::Msb { a, .. } => Form::of(plan, *a, verified).kept(me, plan.register(*a).cols),
        _ if me == 1 => 0,
        OpKind::And { dst, .. } => dst.count as usize * row_words(plan.register(dst.reg).cols) * 8,
        OpKind::Circuit { circuit, .. } => kind.extent(plan).div_ceil(128) * 16 * circuit.ands() as usize,
        OpKind::Split { s, bits, .. } => *bits as usize * row_words(plan.register(*s).cols) * 8,
        kind => {
            let register = plan.register(kind.writes()[0]);
            let numbers = if matches!(kind, OpKind::Shift { .. }) { 2 } else { 1 };
            with_element!(register.domain, E => numbers * register.len() * E::BYTES)
        }
    }
}

/// One instance's.
pub(crate) struct Prepared {
    places: Places,
    shares: Buffer,
    /// The components of outputs, two for each register.
    outputs: Vec<Buffer>,
    /// Commitments of the other two, where outputs are fair ([`fair`](crate::fair)); else empty.
    pub(crate) promised: Buffer,
    pub(crate) keys: Keys,
    /// The batch of garbled circuits that operation 0 would have; the others follow.
    batch: Batch,
    /// Blocks that were drawn of each key when this was made.
    pub(crate) drawn: [u64; PARTIES],
}

impl Prepared {
    /// For an instance that is to be made, in memory that was used before.
    pub(crate) fn new(places: Places, keys: Keys, batch: Batch, mut memory: Buffer) -> Self {
        memory.reuse(places.share_bytes());
        let promised = Buffer::new(places.promised);
        Self { places, shares: memory, outputs: Vec::new(), promised, keys, batch, drawn: [0; PARTIES] }
    }

    /// What tells this instance from all others.
    pub(crate) fn instance(&self) -> [u8; BATCH_BYTES] {
        let mut instance = [0; BATCH_BYTES];
        instance[..16].copy_from_slice(&self.batch.session);
        instance[16..].copy_from_slice(&self.batch.number.to_le_bytes());
        instance
    }

    /// An operation's batch of garbled circuits. No two operations that were prepared in one session have the same.
    pub(crate) fn batch(&self, op: u32) -> Batch {
        Batch { number: self.batch.number.wrapping_add(op), ..self.batch }
    }

    /// An operation's shares.
    pub(crate) fn shares(&self, op: u32) -> &[u8] {
        &self.shares.bytes()[self.places.shares[op as usize]..self.places.shares[op as usize + 1]]
    }

    /// An operation's shares, to write to.
    pub(crate) fn shares_mut(&mut self, op: u32) -> &mut [u8] {
        let range = self.places.shares[op as usize]..self.places.shares[op as usize + 1];
        &mut self.shares.bytes_mut()[range]
    }

    /// Keeps what the check of triples told `P_0`, added up for each result.
    pub(crate) fn keep_sums(&mut self, place: &Noted, products: &Buffer) {
        let kept = self.shares_mut(place.op);
        if place.domain == Domain::Bits {
            let words = products.words::<u64>();
            bytemuck::cast_slice_mut(kept)[place.first..place.first + words.len()].copy_from_slice(words);
            return;
        }
        with_element!(place.domain, E => {
            let kept = &mut bytemuck::cast_slice_mut::<u8, E>(kept)[place.first..place.first + place.results];
            if place.of == 1 {
                return kept.copy_from_slice(products.words());
            }
            for (kept, products) in kept.iter_mut().zip(products.words::<E>().chunks_exact(place.of)) {
                *kept = products.iter().fold(E::ZERO, |sum, &product| sum.wrapping_add(product));
            }
        });
    }

    /// Takes the components of outputs into the material.
    pub(crate) fn take_outputs(&mut self, mut banks: [&mut Bank; 2]) {
        for &(reg, _) in &self.places.outputs {
            self.outputs.extend(banks.each_mut().map(|bank| bank.take(reg)));
        }
    }

    /// Gives the components of outputs back.
    pub(crate) fn give_outputs(&mut self, mut banks: [&mut Bank; 2]) {
        let mut outputs = self.outputs.drain(..);
        for &(reg, _) in &self.places.outputs {
            for (bank, component) in banks.iter_mut().zip(&mut outputs) {
                bank.put(reg, component);
            }
        }
    }

    /// As material.
    pub(crate) fn into_material(mut self) -> Material {
        let mut keys = Buffer::new(ENTRIES_BYTES + BATCH_BYTES);
        for (role, place) in self.places.entries() {
            let entry = &mut keys.bytes_mut()[place..place + ENTRY_BYTES];
            entry[..KEY_BYTES].copy_from_slice(&self.keys.0[role]);
            entry[KEY_BYTES..].copy_from_slice(&self.drawn[role].to_le_bytes());
        }
        keys.bytes_mut()[ENTRIES_BYTES..].copy_from_slice(&self.instance());
        let mut parts = vec![std::mem::take(&mut self.shares)];
        parts.append(&mut self.outputs);
        parts.extend(Some(std::mem::take(&mut self.promised)).filter(|promised| !promised.is_empty()));
        parts.push(keys);
        Material::new(parts)
    }

    /// Reads what [`Prepared::into_material`] wrote.
    ///
    /// # Errors
    /// If its size isn't that of the plan's material for this role.
    pub(crate) fn from_material(material: Material, places: Places) -> Result<Self, Error> {
        let (sizes, bytes) = (places.sizes(), material.len());
        let refused = || {
            let expected: usize = sizes.iter().sum();
            Error::Refused(format!(
                "the material has {bytes} bytes; this party's for this plan has {expected}"
            ))
        };
        let mut parts = material.into_parts(&sizes).ok_or_else(refused)?.into_iter();
        let shares = parts.next().unwrap_or_default();
        let mut outputs: Vec<Buffer> = parts.collect();
        let mut entries = outputs.pop().unwrap_or_default();
        let promised = if places.promised > 0 { outputs.pop() } else { None }.unwrap_or_default();
        let (session, number) = entries.bytes()[ENTRIES_BYTES..].split_at(16);
        let mut batch = Batch { session: [0; 16], number: little_endian(number) as u32 };
        batch.session.copy_from_slice(session);
        let mut ahead =
            Self { places, shares, outputs, promised, keys: Keys::default(), batch, drawn: [0; PARTIES] };
        for (role, place) in ahead.places.entries() {
            let (key, drawn) = entries.bytes()[place..place + ENTRY_BYTES].split_at(KEY_BYTES);
            ahead.keys.0[role].copy_from_slice(key);
            ahead.drawn[role] = little_endian(drawn);
        }
        entries.wipe();
        Ok(ahead)
    }

    /// Its memory, for another instance.
    pub(crate) fn into_memory(mut self) -> Buffer {
        std::mem::take(&mut self.shares)
    }
}

/// A number from its bytes.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.shares.wipe();
        self.outputs.iter_mut().for_each(Buffer::wipe);
    }
}
