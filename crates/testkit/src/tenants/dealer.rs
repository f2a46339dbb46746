//! The dealer of triples, which all parties trust: code of the process that plays all of them.
//!
//! Every party draws a seed, gives it to the dealer and gets a receipt. It expands its share of each triple from the seed. The
//! shares of `c` would then add up to anything, so the dealer tells the first party what makes them add up: the other
//! parties send that one their receipts, and the dealer expands the seeds that belong to them. No party sees another's
//! seed, and a receipt, which is the seed's hash, tells nothing of it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tacit_engine::{bytes_of, with_element};
use tacit_kernel::{Buffer, bits, matrix, ring};
use tacit_net::Phase;
use tacit_program::plan::{Domain, MatrixShape, Register};
use tacit_session::{At, Draw, PrssStream, Session};

use super::FIRST;
use tacit_engine::Error;
use tacit_engine::vector::{add_assign, sub_assign};

/// Bytes of a seed, and of a receipt.
pub(super) const SEED_BYTES: usize = 16;

/// A step of these protocols: receipts of seeds.
const RECEIPT: u16 = 0x10;

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
        lengths.map(|cols| Register { domain, rows: 1, cols, public: false })
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

    /// This party's shares of a triple, for the message of an address; operations are counted through the session.
    pub(super) fn triple(&mut self, at: At, product: Product) -> [Buffer; 3] {
        let shapes = product.shapes();
        let mut shares = self.streams.iter_mut().map(|stream| {
            let mut which = 0;
            shapes.map(|shape| {
                which += 1;
                // Steps of messages are below the fourth part of all numbers.
                let draw = Draw { part: at.part | which << 14, op: at.op };
                expand(stream, draw, u64::from(at.batch) << 32, shape)
            })
        });
        let Some(mut own) = shares.next() else { unreachable!("a party has its own stream") };
        let others: Vec<[Buffer; 3]> = shares.collect();
        if !others.is_empty() {
            let [mut a, mut b, _] = own.clone();
            for other in &others {
                add_assign(shapes[0], &mut a, &other[0]);
                add_assign(shapes[1], &mut b, &other[1]);
            }
            own[2].bytes_mut().fill(0);
            product.add(&a, &b, &mut own[2]);
            for other in &others {
                sub_assign(shapes[2], &mut own[2], &other[2]);
            }
        }
        own
    }
}

fn expand(stream: &mut PrssStream, draw: Draw, block: u64, shape: Register) -> Buffer {
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
