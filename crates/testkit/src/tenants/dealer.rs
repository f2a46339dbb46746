//! The dealer, which all parties trust: code of the process that plays all of them.
//!
//! Every party draws a seed, gives it to the dealer and gets a receipt. It expands its shares of whatever the dealer gives
//! from the seed. The shares of a product, say, would then add up to anything, so the dealer tells the first party what
//! makes them add up: the other parties send that one their receipts, and the dealer expands the seeds that belong to
//! them. No party sees another's seed, and a receipt, which is the seed's hash, tells nothing of it.
//!
//! **MACs.** Where values are authenticated the dealer draws a key of each field for the session, of which each party has
//! a share, and gives shares of the key times each value along with those of the value (Damgard et al. 2012).
//!
//! What a plan draws is dealt when the plan asks for it, at an address of the plan and the kind: nothing is given twice.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tacit_additive::{FIRST, Keys, mul_add, row};
use tacit_engine::supply::{CheckScope, Demand, Drawer, Pool, Supply, SupplyKind};
use tacit_engine::vector::{add_assign, sub_assign};
use tacit_engine::{Error, Material, bytes_of, with_element};
use tacit_kernel::{Buffer, Element, bits};
use tacit_net::Phase;
use tacit_program::plan::{Domain, Register};
use tacit_session::{At, Draw, PrssStream, Session};

/// Bytes of a seed, and of a receipt.
pub(super) const SEED_BYTES: usize = 16;

/// A step of these protocols: receipts of seeds.
const RECEIPT: u16 = 0x10;

/// A step of these protocols: draws of shares of keys.
const KEY: u16 = 0x11;

/// A step of these protocols: draws of all else; op counts the plans, and batch the kinds that one draws.
const DEALT: u16 = 0x14;

/// Where in a stream a party's shares of the first vector begin; those of the next ones follow.
const SHARES: u64 = 0;
/// What only the dealer makes of the stream, and of its own mask the owner.
const SECRET: u64 = 4;
/// A party's shares of the first vector's MACs; those of the next ones follow.
const MACS: u64 = 8;

type Seed = [u8; SEED_BYTES];

/// The seeds that parties of this process gave their dealer, by receipt.
static SEEDS: Mutex<BTreeMap<Seed, Seed>> = Mutex::new(BTreeMap::new());

/// What a party has of the dealer in a session: a supply that is dealt as a plan asks for it.
pub(super) struct Dealer {
    me: usize,
    /// This party's stream; after it, in the dealer's hands, those of all others, where this is the first party.
    streams: Vec<PrssStream>,
    /// Shares of the keys of MACs, of this party and in the dealer's hands of all others; none without MACs.
    keys: Vec<Keys>,
    /// Plans that were provided for.
    plans: u32,
    /// All that the plan draws: the vectors of each kind, their MACs if there are any, and elements that this party knows.
    pool: Pool,
    checks: CheckScope,
}

impl Supply for Dealer {
    fn key(&mut self) -> Result<Material, Error> {
        Ok(self.keys.first().map_or_else(Material::default, Keys::to_material))
    }

    fn provide(&mut self, _: &mut Session, demand: &Arc<Demand>) -> Result<(), Error> {
        self.pool = Pool::new(demand.clone());
        for (batch, (kind, count)) in (0..).zip(demand.counts()) {
            let at = At { part: DEALT, op: self.plans, batch, ..At::default() };
            let dealt = self.deal(at, kind, count);
            self.pool.put(kind, dealt);
        }
        self.plans += 1;
        Ok(())
    }

    fn draw(&mut self, drawer: Drawer, kind: SupplyKind, items: Range<u64>) -> Result<Vec<Buffer>, Error> {
        self.pool.draw(drawer, kind, items)
    }

    fn checks(&self) -> &CheckScope {
        &self.checks
    }
}

impl Dealer {
    /// Gives the dealer this party's seed. One message from every other party to the first. The dealer draws keys for values
    /// in `fields`.
    pub(super) fn meet(session: &mut Session, fields: &'static [Domain]) -> Result<Self, Error> {
        session.mesh().set_phase(Phase::Offline);
        let (me, parties, lane) = (session.me(), session.parties(), session.lane());
        let mut seed = Seed::default();
        session.entropy().fill(&mut seed)?;
        let mut streams = vec![PrssStream::new(&seed, lane)];
        let receipt = deposit(seed);
        let at = At { part: RECEIPT, ..At::default() };
        if me != FIRST {
            session.mesh().send(FIRST, at, &receipt)?;
            return Ok(Self::new(me, streams, fields));
        }
        for party in (0..parties).filter(|&party| party != me) {
            let receipt = session.mesh().recv(party, at, SEED_BYTES)?;
            let Some(seed) = collect(&receipt) else {
                let what = format!("{} has no receipt of the dealer's", session.name(party));
                return Err(session.reject(&what).into());
            };
            streams.push(PrssStream::new(&seed, lane));
        }
        Ok(Self::new(me, streams, fields))
    }

    fn new(me: usize, mut streams: Vec<PrssStream>, fields: &'static [Domain]) -> Self {
        let mut key = |stream: &mut PrssStream| {
            let share = |domain: &Domain| {
                let at = At { part: KEY, op: domain.limbs() as u32, ..At::default() };
                let share = expand(stream, at, SECRET, row(*domain, 1));
                with_element!(*domain, E => share.words::<E>()[0].to_u128())
            };
            Keys::new(fields, fields.iter().map(share).collect())
        };
        let keys = if fields.is_empty() { Vec::new() } else { streams.iter_mut().map(&mut key).collect() };
        Self { me, streams, keys, plans: 0, pool: Pool::default(), checks: CheckScope::alone() }
    }

    /// What this party gets of so many items of a kind, at an address.
    fn deal(&mut self, at: At, kind: SupplyKind, count: u64) -> Vec<Buffer> {
        let shapes = shapes(kind, count as usize);
        let known = self.mask(at, kind, shapes[0]);
        let mut shares = self.expand_all(at, SHARES, &shapes);
        let others = shares.split_off(1);
        let mut values = shares.remove(0);
        // What the values add up to, which the dealer alone knows.
        let sums = if others.is_empty() {
            Vec::new()
        } else {
            self.complete(at, kind, known.as_ref(), &shapes, &mut values, &others)
        };
        if !self.keys.is_empty() {
            values.extend(self.macs(at, &shapes, &sums));
        }
        let is_own = matches!(kind, SupplyKind::InputMask { owner, .. } if usize::from(owner) == self.me);
        values.extend(known.filter(|_| is_own));
        values
    }

    /// A mask, as far as it is for this process's eyes: its owner's, and the dealer's.
    fn mask(&mut self, at: At, kind: SupplyKind, shape: Register) -> Option<Buffer> {
        let SupplyKind::InputMask { owner, .. } = kind else { return None };
        let owner = usize::from(owner);
        let place = if owner == self.me { 0 } else { owner };
        let stream = self.streams.get_mut(place).filter(|_| owner == self.me || self.me == FIRST)?;
        Some(expand(stream, at, SECRET, shape))
    }

    /// All shares of some vectors that can be expanded here, party by party.
    fn expand_all(&mut self, at: At, first: u64, shapes: &[Register]) -> Vec<Vec<Buffer>> {
        let of_stream = |stream: &mut PrssStream| {
            let vectors = (first..).zip(shapes);
            vectors.map(|(which, &shape)| expand(stream, at, which, shape)).collect()
        };
        self.streams.iter_mut().map(of_stream).collect()
    }

    /// The dealer's part: makes the first party's share of the last vector what the others' leave of its value. Gives the
    /// values of all vectors.
    fn complete(
        &mut self,
        at: At,
        kind: SupplyKind,
        mask: Option<&Buffer>,
        shapes: &[Register],
        own: &mut [Buffer],
        others: &[Vec<Buffer>],
    ) -> Vec<Buffer> {
        let sum = |vector: usize| {
            let mut sum = own[vector].clone();
            for shares in others {
                add_assign(shapes[vector], &mut sum, &shares[vector]);
            }
            sum
        };
        let mut sums: Vec<Buffer> = (0..shapes.len()).map(sum).collect();
        let last = shapes.len() - 1;
        let value = match kind {
            SupplyKind::RandomBit(domain) => self.random_bits(at, domain, shapes[0].cols),
            SupplyKind::InputMask { .. } => mask.cloned().expect("the dealer knows all masks"),
            SupplyKind::Triple(domain) => {
                let mut product = Buffer::new(sums[0].len());
                mul_add(domain, &sums[0], &sums[1], &mut product);
                product
            }
            SupplyKind::Masks { words } => {
                zero_masks(words as usize, &sums, own);
                return sums;
            }
            SupplyKind::Scaling { length } => {
                let mut product = sums[1].clone();
                let items = product.words_mut::<u64>().chunks_exact_mut(length.into());
                for (item, bits) in items.zip(sums[0].words::<u64>()) {
                    for word in item {
                        *word &= bits;
                    }
                }
                product
            }
            SupplyKind::RandomElement(_) => return sums,
        };
        own[last].clone_from(&value);
        for shares in others {
            sub_assign(shapes[last], &mut own[last], &shares[last]);
        }
        sums[last] = value;
        sums
    }

    /// This party's shares of the MACs of vectors; the dealer, who knows their values, makes the first party's what the
    /// others' leave of the key times the value.
    fn macs(&mut self, at: At, shapes: &[Register], values: &[Buffer]) -> Vec<Buffer> {
        let mut shares = self.expand_all(at, MACS, shapes);
        let others = shares.split_off(1);
        let mut own = shares.remove(0);
        for (vector, value) in values.iter().enumerate() {
            own[vector].bytes_mut().fill(0);
            self.keys.iter().for_each(|key| key.add_times(shapes[vector], value, &mut own[vector]));
            for shares in &others {
                sub_assign(shapes[vector], &mut own[vector], &shares[vector]);
            }
        }
        own
    }

    /// Bits that no n-1 parties know: the XOR of a bit of each party's stream.
    fn random_bits(&mut self, at: At, domain: Domain, count: usize) -> Buffer {
        let shape = row(Domain::Bits, count);
        let mut sum = Buffer::new(bytes_of(Domain::Bits, count));
        for stream in &mut self.streams {
            add_assign(shape, &mut sum, &expand(stream, at, SECRET, shape));
        }
        if domain == Domain::Bits {
            return sum;
        }
        let mut elements = Buffer::new(bytes_of(domain, count));
        with_element!(domain, E => {
            for (place, element) in elements.words_mut::<E>().iter_mut().enumerate() {
                *element = if bits::get(sum.words(), place) { E::ONE } else { E::ZERO };
            }
        });
        elements
    }
}

/// The vectors of so many items of a kind.
fn shapes(kind: SupplyKind, count: usize) -> Vec<Register> {
    let vectors = |domain, vectors: usize| {
        // Of bits an item is a word of them.
        let cols = if domain == Domain::Bits { 64 * count } else { count };
        vec![row(domain, cols); vectors]
    };
    match kind {
        SupplyKind::Triple(domain) => vectors(domain, 3),
        SupplyKind::RandomBit(domain)
        | SupplyKind::RandomElement(domain)
        | SupplyKind::InputMask { domain, .. } => vectors(domain, 1),
        SupplyKind::Masks { words } => {
            [1, words, words].map(|words| row(Domain::Bits, 64 * words as usize * count)).to_vec()
        }
        SupplyKind::Scaling { length } => {
            [1, length, length].map(|bits| row(Domain::Bits, 64 * usize::from(bits) * count)).to_vec()
        }
    }
}

/// Makes the mask of each item that its bit says a sharing of zeros, of vectors that add up to `sums`.
fn zero_masks(words: usize, sums: &[Buffer], own: &mut [Buffer]) {
    let bits = sums[0].words::<u64>();
    for (item, bit) in bits.iter().enumerate().take(sums[1].len() / 8 / words) {
        let (vector, places) = (1 + (bit & 1) as usize, item * words..(item + 1) * words);
        let sum = &sums[vector].words::<u64>()[places.clone()];
        bits::xor_assign(&mut own[vector].words_mut::<u64>()[places], sum);
    }
}

/// A vector of a stream at an address; `which` tells apart those of the same address.
fn expand(stream: &mut PrssStream, at: At, which: u64, shape: Register) -> Buffer {
    debug_assert!(at.batch < 1 << 28, "the address of a draw has no room for batch {}", at.batch);
    let (draw, block) = (Draw { part: at.part, op: at.op }, which << 60 | u64::from(at.batch) << 32);
    let mut share = Buffer::new(bytes_of(shape.domain, shape.cols));
    match shape.domain {
        Domain::Bits => stream.fill(draw, block, share.bytes_mut()),
        domain => with_element!(domain, E => stream.fill_elements::<E>(draw, block, share.words_mut())),
    }
    share
}

/// Gives a seed to the dealer, for a receipt.
fn deposit(seed: Seed) -> Seed {
    let hash = Sha256::new_with_prefix(b"tacit testkit receipt 1").chain_update(seed).finalize();
    let mut receipt = Seed::default();
    receipt.copy_from_slice(&hash[..SEED_BYTES]);
    SEEDS.lock().unwrap_or_else(PoisonError::into_inner).insert(receipt, seed);
    receipt
}

/// The seed that belongs to a receipt. It stays: runs that draw alike give alike receipts.
fn collect(receipt: &[u8]) -> Option<Seed> {
    let receipt = Seed::try_from(receipt).ok()?;
    SEEDS.lock().unwrap_or_else(PoisonError::into_inner).get(&receipt).copied()
}
