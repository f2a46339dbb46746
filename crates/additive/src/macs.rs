//! MACs of authenticated shares, and the check of all that was opened.
//!
//! **Shares** (Damgard, Pastro, Smart, Zakarias 2012). Of each `x` party `P_i` holds `x_i` and `m_i`, where all `x_i` add up to
//! `x` and all `m_i` to `alpha x`. Of the key `alpha`, one for each field and session, `P_i` has a share `alpha_i`. So what is
//! linear is local: with a public `c` the first party adds `c` to its `x_i` and each its `alpha_i c` to its `m_i`.
//!
//! **Recorder.** Products and openings are those of the protocol without MACs. What was opened is recorded with this
//! party's share of its MAC, and hashed.
//!
//! **Check** (Keller, Orsini, Scholl 2016, protocol 2), of all that was recorded since the last one:
//!
//! 1. All compare a hash of what was opened: everybody holds all of it now, and the same.
//! 2. They toss a coin ([`Session::toss`]), from which follow weights `r_j`.
//! 3. `a = sum r_j a_j` of the opened values, and `sigma_i = sum r_j m_j,i - alpha_i a`.
//! 4. Each commits to its `sigma_i`.
//! 5. All compare a hash of all commitments: everybody's are in everybody's hands, and the same.
//! 6. All open theirs. The `sigma_i` have to add up to 0.
//!
//! If some `a_j` is wrong by `e_j`, the `sigma_i` add up to `-alpha sum r_j e_j`, plus what deviators add without knowing
//! `alpha`, nor any other's `sigma_i` before they have committed to theirs. In a field of p elements all of it is 0 with a probability
//! below 2/p for each check: 2^-60 in the smaller field, 2^-127 in the larger one.
//!
//! # Security
//! Checks on a key are made one after another, whichever lanes have it ([`CheckScope`](tacit_engine::supply::CheckScope)). A
//! failed check is the last one: the session is closed, and the key is gone.

use crate::bank::SecretBank;
use crate::cost::{HASH_BITS, to_all};
use crate::planted::{open_committed, will_commit};
use crate::share::Share;
use crate::vectors::row;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tacit_engine::bank::Part;
use tacit_engine::supply::Turn;
use tacit_engine::vector::{add_assign, sub_assign};
use tacit_engine::{Checks, Error, Material, bytes_of, with_element};
use tacit_kernel::{Buffer, Element, ring};
use tacit_net::Phase;
use tacit_program::plan::{Domain, Local, Plan, Reg, Register};
use tacit_session::{At, Draw, PrssStream, Session};
use zeroize::ZeroizeOnDrop;

/// A step of this protocol: commitments to what has to add up to 0.
pub const MAC_COMMIT: u16 = 0x12;
/// A step of this protocol: openings of these commitments.
pub const MAC_OPEN: u16 = 0x13;

/// A party's shares of the keys, of each field one. Wiped when they are dropped, never printed.
#[derive(ZeroizeOnDrop)]
pub struct Keys {
    #[zeroize(skip)]
    fields: &'static [Domain],
    shares: Vec<u128>,
}

impl Keys {
    /// From a share of each field's key.
    ///
    /// # Panics
    /// If there isn't one for each.
    pub fn new(fields: &'static [Domain], shares: Vec<u128>) -> Self {
        assert_eq!(fields.len(), shares.len(), "a share for each field");
        Self { fields, shares }
    }

    /// As a supply hands them over: the shares one after another, as elements.
    pub fn to_material(&self) -> Material {
        let share = |(domain, share): (&Domain, &u128)| {
            with_element!(*domain, E => {
                let mut buffer = Buffer::of_words::<E>(1);
                buffer.words_mut::<E>()[0] = E::from_u128(*share);
                buffer
            })
        };
        Material::new(self.fields.iter().zip(&self.shares).map(share).collect())
    }

    /// From what a supply hands over.
    ///
    /// # Errors
    /// [`Error::Supply`] if these are no keys of such fields.
    pub(crate) fn of_material(fields: &'static [Domain], material: Material) -> Result<Self, Error> {
        let sizes: Vec<usize> = fields.iter().map(|&domain| bytes_of(domain, 1)).collect();
        let parts = material.into_parts(&sizes);
        let mut parts = parts.ok_or_else(|| Error::Supply("the supply has no keys of MACs".to_owned()))?;
        let share = |(domain, part): (&Domain, &mut Buffer)| {
            let share = with_element!(*domain, E => part.words::<E>()[0].to_u128());
            part.wipe();
            share
        };
        let shares = fields.iter().zip(&mut parts).map(share).collect();
        Ok(Self::new(fields, shares))
    }

    /// `out += alpha_i values`.
    pub fn add_times(&self, shape: Register, values: &Buffer, out: &mut Buffer) {
        let keys = self.fields.iter().zip(&self.shares);
        for (_, share) in keys.filter(|(domain, _)| **domain == shape.domain) {
            with_element!(shape.domain, E => {
                ring::mul_add_splat(values.words(), E::from_u128(*share), out.words_mut());
            });
        }
    }
}

/// What was opened, and this party's share of its MAC.
struct Record {
    shape: Register,
    opened: Share,
}

/// A party's part of all MACs, and what it recorded since the last check.
pub(crate) struct Macs {
    /// Shares of MACs where the engine's bank has those of values; public registers as they are.
    pub(crate) bank: SecretBank,
    recorder: Recorder,
}

impl Macs {
    pub(crate) fn new(keys: Keys, plan: Arc<Plan>) -> Self {
        // A public value enters MACs by the key, and in no component by itself.
        Self { bank: SecretBank::new(plan, Part::Component(1)), recorder: Recorder::new(keys, 0) }
    }

    /// A linear step on shares of MACs.
    pub(crate) fn local(&mut self, step: &Local) -> Result<(), Error> {
        self.bank.run(step, &mut || Ok(()))?;
        if let Local::Constant { value, dst } | Local::AddPublic { c: value, dst, .. } = step
            && !self.bank.shape(*dst).public
        {
            let value = self.bank.public_value(value, *dst);
            self.add_times_to(*dst, &value);
        }
        Ok(())
    }

    /// Adds a public value to the MACs of a vector.
    pub(crate) fn add_public(&self, shape: Register, value: &Buffer, mac: &mut Buffer) {
        self.recorder.keys.add_times(shape, value, mac);
    }

    fn add_times_to(&mut self, dst: Reg, value: &Buffer) {
        let mut mac = self.bank.take(dst);
        self.recorder.keys.add_times(self.bank.shape(dst), value, &mut mac);
        self.bank.put(dst, mac);
    }

    /// [`Recorder::record`].
    pub(crate) fn record(&mut self, shape: Register, opened: Share) {
        self.recorder.record(shape, opened);
    }

    /// Whether something was recorded and not checked.
    pub(crate) fn has_unchecked(&self) -> bool {
        !self.recorder.records.is_empty()
    }

    /// [`Recorder::check`].
    ///
    /// # Errors
    /// As it has.
    pub(crate) fn check(
        &mut self,
        session: &mut Session,
        turn: Turn,
        coin: Option<Vec<u8>>,
    ) -> Result<(), Error> {
        self.recorder.check(session, turn, coin)
    }
}

/// What was opened under a party's keys since the last check.
pub(crate) struct Recorder {
    pub(crate) keys: Keys,
    records: Vec<Record>,
    /// Of all that everybody has to hold alike.
    transcript: Sha256,
    /// The next check's number in the session.
    checks: u32,
}

impl Recorder {
    /// Nothing yet. Checks have numbers from `first` on, which no other keys' have in the session.
    pub(crate) fn new(keys: Keys, first: u32) -> Self {
        Self { keys, records: Vec::new(), transcript: Sha256::new(), checks: first }
    }

    /// Notes a value that was opened, and this party's share of its MAC.
    ///
    /// # Panics
    /// If there is none: all is authenticated.
    pub(crate) fn record(&mut self, shape: Register, opened: Share) {
        assert!(opened.mac.is_some(), "what is opened has a MAC");
        let length = bytes_of(shape.domain, shape.cols) as u64;
        self.transcript.update(length.to_le_bytes());
        self.transcript.update(opened.value.bytes());
        self.records.push(Record { shape, opened });
    }

    /// Checks all that was noted, in a turn at the keys. Six rounds. It begins in the journal with the commitment: before it
    /// others know nothing by which they could tell the verdict. A `coin` that is tossed already is a mistake that tests plant.
    ///
    /// # Errors
    /// If something doesn't fit: the session is closed.
    pub(crate) fn check(
        &mut self,
        session: &mut Session,
        turn: Turn,
        coin: Option<Vec<u8>>,
    ) -> Result<(), Error> {
        session.echo(&self.transcript.clone().finalize())?;
        let coin = match coin {
            Some(coin) => coin,
            None => session.toss(COIN_BYTES)?,
        };
        let mut own = self.sigmas(&coin, session.lane());
        will_commit(session, self.checks, &coin, &mut own)?;
        let at = [MAC_COMMIT, MAC_OPEN].map(|part| At { part, op: self.checks, ..At::default() });
        let check = turn.begin()?;
        // Each key counts its checks by itself, and a session may have several at a time.
        let label = format!("MAC check {} of operation {}", check.number(), self.checks);
        let opened = open_committed(session, at, &label, &own)?;
        if !opened.iter().fold(Sums::new(self.keys.fields), Sums::plus).are_zero() {
            return Err(session.reject("what was opened doesn't fit its MACs").into());
        }
        session.settle();
        self.records.clear();
        self.checks += 1;
        check.pass()
    }

    /// `sigma_i` of all fields, one after the other.
    fn sigmas(&self, coin: &[u8], lane: u16) -> Vec<u8> {
        let mut sigmas = Vec::with_capacity(sigma_bytes(self.keys.fields));
        for &domain in self.keys.fields {
            let one = row(domain, 1);
            let [mut value, mut mac] = [(); 2].map(|()| Buffer::new(bytes_of(domain, 1)));
            for (number, Record { shape, opened }) in
                self.records.iter().enumerate().filter(|(_, record)| record.shape.domain == domain)
            {
                let weights = weights(coin, lane, number, *shape);
                let parts = [(&mut value, Some(&opened.value)), (&mut mac, opened.mac.as_ref())];
                for (sum, vector) in parts.into_iter().filter_map(|(sum, vector)| Some((sum, vector?))) {
                    with_element!(domain, E => {
                        let (weights, vector) = (weights.words::<E>(), vector.words::<E>());
                        let terms = weights.iter().zip(vector).map(|(&weight, &one)| weight.wrapping_mul(one));
                        let sum = &mut sum.words_mut::<E>()[0];
                        *sum = terms.fold(*sum, Element::wrapping_add);
                    });
                }
            }
            let mut times = Buffer::new(mac.len());
            self.keys.add_times(one, &value, &mut times);
            sub_assign(one, &mut mac, &times);
            // What is weighed is public, and this times the key share.
            times.wipe();
            sigmas.extend_from_slice(mac.bytes());
        }
        sigmas
    }
}

/// The weights of so many elements of the vector of this number that a lane's check weighs, from its coin: for attackers.
pub fn check_weights(coin: &[u8], lane: u16, number: usize, domain: Domain, count: usize) -> Vec<u128> {
    let weights = weights(coin, lane, number, row(domain, count));
    with_element!(domain, E => weights.words::<E>().iter().map(|weight| weight.to_u128()).collect())
}

/// The weights of a record's elements.
pub(crate) fn weights(coin: &[u8], lane: u16, number: usize, shape: Register) -> Buffer {
    let mut key = [0; COIN_BYTES];
    key.copy_from_slice(coin);
    let mut weights = Buffer::new(bytes_of(shape.domain, shape.cols));
    let draw = Draw { part: MAC_OPEN, op: number as u32 };
    with_element!(shape.domain, E => {
        PrssStream::new(&key, lane).fill_elements::<E>(draw, 0, weights.words_mut());
    });
    weights
}

/// Sums of parties' sigmas, by field.
struct Sums {
    fields: &'static [Domain],
    sums: Vec<Buffer>,
}

impl Sums {
    fn new(fields: &'static [Domain]) -> Self {
        Self { fields, sums: fields.iter().map(|&domain| Buffer::new(bytes_of(domain, 1))).collect() }
    }

    /// Adds a party's, one field's after another's.
    fn plus(mut self, sigmas: &Vec<u8>) -> Self {
        let mut rest = sigmas.as_slice();
        for (&domain, sum) in self.fields.iter().zip(&mut self.sums) {
            let (bytes, after) = rest.split_at(bytes_of(domain, 1));
            rest = after;
            let mut element = Buffer::new(bytes.len());
            with_element!(domain, E => {
                let mut limbs = [0; 16];
                limbs[..bytes.len()].copy_from_slice(bytes);
                // Bytes of a peer's may be no element.
                element.words_mut::<E>()[0] = E::from_u128(u128::from_le_bytes(limbs));
            });
            add_assign(row(domain, 1), sum, &element);
        }
        self
    }

    fn are_zero(&self) -> bool {
        self.sums.iter().all(|sum| sum.bytes().iter().all(|&byte| byte == 0))
    }
}

/// Bytes of a coin.
pub(crate) const COIN_BYTES: usize = 16;

/// Bytes of an element of each field.
fn sigma_bytes(fields: &[Domain]) -> usize {
    fields.iter().map(|&domain| bytes_of(domain, 1)).sum()
}

/// What checks send in a phase, so many of them.
pub(crate) fn cost(fields: &[Domain], parties: usize, phase: Phase, times: u64) -> Checks {
    let mut checks = Checks::default();
    let hash = HASH_BITS;
    for bits in [hash, hash, 3 * hash, hash, hash, hash + 8 * sigma_bytes(fields) as u64] {
        checks.round(phase, to_all(bits, parties));
    }
    checks.times(times)
}
