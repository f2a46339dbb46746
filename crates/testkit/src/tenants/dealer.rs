//! The dealer, which all parties trust: code of the process that plays all of them.
//!
//! Every party draws a seed, gives it to the dealer and gets a receipt. It expands its shares of whatever the dealer gives
//! from the seed. The shares of a product, say, would then add up to anything, so the dealer tells the first party what
//! makes them add up: the other parties send that one their receipts, and the dealer expands the seeds that belong to
//! them. No party sees another's seed, and a receipt, which is the seed's hash, tells nothing of it.
//!
//! What is given is addressed by the message that it is for: nothing is given twice, and in no certain order.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tacit_engine::vector::{add_assign, sub_assign};
use tacit_engine::{Error, bytes_of, with_element};
use tacit_kernel::{Buffer, Element, bits, matrix, ring};
use tacit_net::Phase;
use tacit_program::plan::{Domain, MatrixShape, Register};
use tacit_session::{At, Draw, PrssStream, Session};

use super::FIRST;

/// Bytes of a seed, and of a receipt.
pub(super) const SEED_BYTES: usize = 16;

/// A step of these protocols: receipts of seeds.
const RECEIPT: u16 = 0x10;

/// Where in a stream a party's shares of the first vector begin; those of the next ones follow.
const SHARES: u64 = 0;
/// What only the dealer makes of the stream, and for its own mask the party.
const SECRET: u64 = 4;

type Seed = [u8; SEED_BYTES];

/// The seeds that parties of this process gave their dealer, by receipt.
static SEEDS: Mutex<BTreeMap<Seed, Seed>> = Mutex::new(BTreeMap::new());

/// A product of vectors element by element, or of matrices.
#[derive(Clone, Copy, Debug)]
pub(super) enum Product {
    /// Of so many elements each.
    Elements { domain: Domain, count: usize },
    /// Of matrices of numbers.
    Matrices { domain: Domain, shape: MatrixShape },
}

impl Product {
    /// The shapes of both factors and of the product.
    pub(super) fn shapes(self) -> [Register; 3] {
        let (domain, lengths) = match self {
            Self::Elements { domain, count } => (domain, [count; 3]),
            Self::Matrices { domain, shape: MatrixShape { batch, m, k, n } } => {
                (domain, [batch * m * k, batch * k * n, batch * m * n])
            }
        };
        lengths.map(|cols| row(domain, cols))
    }

    /// `z += a b`.
    pub(super) fn add(self, a: &Buffer, b: &Buffer, z: &mut Buffer) {
        match self {
            Self::Elements { domain: Domain::Bits, .. } => bits::and_xor(a.words(), b.words(), z.words_mut()),
            Self::Elements { domain, .. } => with_element!(domain, E => {
                ring::mul_add::<E>(a.words(), b.words(), z.words_mut());
            }),
            Self::Matrices { domain, shape: MatrixShape { batch, m, k, n } } => with_element!(domain, E => {
                let (a, b, z) = (a.words::<E>(), b.words::<E>(), z.words_mut::<E>());
                for index in 0..batch {
                    let (left, right) = (&a[index * m * k..][..m * k], &b[index * k * n..][..k * n]);
                    matrix::matmul(left, right, &mut z[index * m * n..][..m * n], m, k, n);
                }
            }),
        }
    }
}

/// What the dealer gives shares of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Supply {
    /// Factors that nobody knows, and their product.
    Triple(Product),
    /// Elements that nobody knows.
    Random { domain: Domain, count: usize },
    /// Elements 0 and 1 that nobody knows.
    RandomBits { domain: Domain, count: usize },
}

impl Supply {
    /// The shapes of its vectors, one row each.
    fn shapes(self) -> Vec<Register> {
        match self {
            Self::Triple(product) => product.shapes().to_vec(),
            Self::Random { domain, count } | Self::RandomBits { domain, count } => vec![row(domain, count)],
        }
    }
}

/// What a party has of the dealer in a session.
pub(super) struct Dealer {
    /// This party's stream; after it, in the dealer's hands, those of all others, where this is the first party.
    streams: Vec<PrssStream>,
}

impl Dealer {
    /// Gives the dealer this party's seed. One message from every other party to the first.
    pub(super) fn meet(session: &mut Session) -> Result<Self, Error> {
        session.mesh().set_phase(Phase::Offline);
        let (me, parties, lane) = (session.me(), session.parties(), session.lane());
        let mut seed = Seed::default();
        session.entropy().fill(&mut seed)?;
        let mut streams = vec![PrssStream::new(&seed, lane)];
        let receipt = deposit(seed);
        let at = At { part: RECEIPT, ..At::default() };
        if me != FIRST {
            session.mesh().send(FIRST, at, &receipt)?;
            return Ok(Self { streams });
        }
        for party in (0..parties).filter(|&party| party != me) {
            let receipt = session.mesh().recv(party, at, SEED_BYTES)?;
            let Some(seed) = collect(&receipt) else {
                let what = format!("{} has no receipt of the dealer's", session.name(party));
                return Err(session.reject(&what).into());
            };
            streams.push(PrssStream::new(&seed, lane));
        }
        Ok(Self { streams })
    }

    /// This party's shares of a supply's vectors, for the message of an address; operations are counted through the
    /// session.
    pub(super) fn draw(&mut self, at: At, supply: Supply) -> Vec<Buffer> {
        let shapes = supply.shapes();
        let shares = self.streams.iter_mut().map(|stream| {
            let vectors = (SHARES..).zip(&shapes);
            vectors.map(|(which, &shape)| expand(stream, at, which, shape)).collect::<Vec<_>>()
        });
        let mut shares: Vec<Vec<Buffer>> = shares.collect();
        let others = shares.split_off(1);
        let mut own = shares.remove(0);
        if !others.is_empty() {
            self.complete(at, supply, &shapes, &mut own, &others);
        }
        own
    }

    /// The dealer's part: makes the first party's share of the last vector what the others' leave of its value.
    fn complete(
        &mut self,
        at: At,
        supply: Supply,
        shapes: &[Register],
        own: &mut [Buffer],
        others: &[Vec<Buffer>],
    ) {
        let sum = |vector: usize| {
            let mut sum = own[vector].clone();
            others.iter().for_each(|shares| add_assign(shapes[vector], &mut sum, &shares[vector]));
            sum
        };
        let mut value = match supply {
            Supply::Triple(product) => {
                let mut value = Buffer::new(own[2].len());
                product.add(&sum(0), &sum(1), &mut value);
                value
            }
            Supply::Random { .. } => return,
            Supply::RandomBits { domain, count } => self.random_bits(at, domain, count),
        };
        let last = shapes.len() - 1;
        others.iter().for_each(|shares| sub_assign(shapes[last], &mut value, &shares[last]));
        own[last] = value;
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

/// One row of so many elements.
pub(super) const fn row(domain: Domain, cols: usize) -> Register {
    Register { domain, rows: 1, cols, public: false }
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
