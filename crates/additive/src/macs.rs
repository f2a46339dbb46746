//! MACs of authenticated shares, and the check of all that was opened.
//!
//! **Shares** (Damgard, Pastro, Smart, Zakarias 2012). Of each `x` party `P_i` holds `x_i` and `m_i`, where all `x_i` add up to
//! `x` and all `m_i` to `alpha x`. The key `alpha`, one for each field and session, is the dealer's; `P_i` has a share
//! `alpha_i` of it. So what is linear is local: with a public `c` the first party adds `c` to its `x_i` and each its `alpha_i c` to
//! its `m_i`.
//!
//! **Recorder.** Products and openings are those of the protocol without MACs. What was opened is recorded with this
//! party's share of its MAC, and what all have to hold alike is hashed.
//!
//! **Check** (Keller, Orsini, Scholl 2016, figure "MACCheck"), of all that was recorded since the last one:
//!
//! 1. All compare a hash of what was opened and of what owners of inputs told: everybody holds all of it now, and the same.
//! 2. They toss a coin ([`tacit_session::Session::toss`]), from which follow weights `r_j`.
//! 3. `a = sum r_j a_j` of the opened values, and `sigma_i = sum r_j m_j,i - alpha_i a`.
//! 4. Each commits to its `sigma_i`.
//! 5. All compare a hash of all commitments: everybody's are in everybody's hands, and the same.
//! 6. All open theirs. The `sigma_i` have to add up to 0.
//!
//! If some `a_j` is wrong by `e_j`, the `sigma_i` add up to `-alpha sum r_j e_j`, plus what deviators add without knowing
//! `alpha`, nor any other's `sigma_i` before they have committed to theirs. In a field of p elements all of it is 0 with a probability
//! below 2/p: of the smaller field 2^-60 for each check.
//!
//! # Security
//! Checks on a key are made one after another, whichever lanes have it ([`CheckScope`](tacit_engine::supply::CheckScope)). A
//! failed check is the last one: the session is closed, and the key is gone.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tacit_engine::bank::{Bank, Part};
use tacit_engine::vector::{add_assign, sub_assign};
use tacit_engine::{Checks, Error, Material, bytes_of, with_element};
use tacit_kernel::{Buffer, Element, ring};
use tacit_net::Phase;
use tacit_program::plan::{Domain, Local, Modulus, Plan, Reg, Register};
use tacit_session::{At, Commitment, Draw, PrssStream, Session};

use super::Mistake;
use super::cost::to_all;
use super::dealer::row;
use super::share::Share;

/// A step of this protocol: commitments to what has to add up to 0.
pub const MAC_COMMIT: u16 = 0x12;
/// A step of this protocol: openings of these commitments.
pub const MAC_OPEN: u16 = 0x13;

/// A party's shares of the keys, of each field one.
pub(super) struct Keys([u128; 2]);

impl Keys {
    /// The fields.
    pub(super) const DOMAINS: [Domain; 2] =
        [Domain::Modular(Modulus::Mersenne61), Domain::Modular(Modulus::Prime128)];

    /// From a share of each field's key.
    pub(super) const fn new(shares: [u128; 2]) -> Self {
        Self(shares)
    }

    /// As a supply hands them over: the shares one after another, as elements.
    pub(super) fn to_material(&self) -> Material {
        let share = |(domain, share): (Domain, u128)| {
            with_element!(domain, E => {
                let mut buffer = Buffer::of_words::<E>(1);
                buffer.words_mut::<E>()[0] = E::from_u128(share);
                buffer
            })
        };
        Material::new(Self::DOMAINS.into_iter().zip(self.0).map(share).collect())
    }

    /// From what a supply hands over.
    pub(super) fn of_material(material: Material) -> Result<Self, Error> {
        let shares = material.into_parts(&Self::DOMAINS.map(|domain| bytes_of(domain, 1)));
        let shares = shares.ok_or_else(|| Error::Supply("the supply has no keys of MACs".to_owned()))?;
        let share = |place: usize| {
            let domain = Self::DOMAINS[place];
            with_element!(domain, E => shares[place].words::<E>()[0].to_u128())
        };
        Ok(Self::new([share(0), share(1)]))
    }

    /// `out += alpha_i values`.
    pub(super) fn add_times(&self, shape: Register, values: &Buffer, out: &mut Buffer) {
        let key = self.0[usize::from(shape.domain == Self::DOMAINS[1])];
        with_element!(shape.domain, E => {
            ring::mul_add_splat(values.words(), E::from_u128(key), out.words_mut());
        });
    }
}

/// What was opened, and this party's share of its MAC.
struct Record {
    shape: Register,
    value: Buffer,
    mac: Buffer,
}

/// A party's part of all MACs, and what it recorded since the last check.
pub(super) struct Macs {
    keys: Keys,
    /// Shares of MACs where the engine's bank has those of values; public registers as they are.
    pub(super) bank: Bank,
    records: Vec<Record>,
    /// Of all that everybody has to hold alike.
    transcript: Sha256,
    /// Checks that were made.
    checks: u32,
}

impl Macs {
    pub(super) fn new(keys: Keys, plan: Arc<Plan>) -> Self {
        // A public value enters MACs by the key, and in no component by itself.
        let mut bank = Bank::new(plan, Part::Component(1));
        bank.reserve();
        Self { keys, bank, records: Vec::new(), transcript: Sha256::new(), checks: 0 }
    }

    /// A linear step on shares of MACs.
    pub(super) fn local(&mut self, step: &Local) -> Result<(), Error> {
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
    pub(super) fn add_public(&self, shape: Register, value: &Buffer, mac: &mut Buffer) {
        self.keys.add_times(shape, value, mac);
    }

    fn add_times_to(&mut self, dst: Reg, value: &Buffer) {
        let mut mac = self.bank.take(dst);
        self.keys.add_times(self.bank.shape(dst), value, &mut mac);
        self.bank.put(dst, mac);
    }

    /// Notes a value that was opened, and this party's share of its MAC.
    pub(super) fn record(&mut self, shape: Register, opened: &Share) {
        self.note(shape, &opened.value);
        let mac = opened.mac.clone().expect("all is authenticated");
        self.records.push(Record { shape, value: opened.value.clone(), mac });
    }

    /// Notes what everybody was told.
    pub(super) fn note(&mut self, shape: Register, value: &Buffer) {
        let length = bytes_of(shape.domain, shape.cols) as u64;
        self.transcript.update(length.to_le_bytes());
        self.transcript.update(value.bytes());
    }

    /// Checks all that was recorded, as the check of this number under the key, with a coin that was tossed too early if a mistake is planted.
    pub(super) fn check(
        &mut self,
        session: &mut Session,
        number: u64,
        mistake: Option<Mistake>,
        early: Option<Vec<u8>>,
    ) -> Result<(), Error> {
        session.echo(&self.transcript.clone().finalize())?;
        let coin = match early {
            Some(coin) => coin,
            None => session.toss(COIN_BYTES)?,
        };
        let own = self.sigmas(&coin, session.lane());
        let (id, me, label) = (*session.id(), session.me(), format!("MAC check {number}"));
        let at = |part| At { part, op: self.checks, ..At::default() };
        let (commitment, opening) = Commitment::new(&id, me, &label, &own, session.entropy())?;
        let mut commitments = session.broadcast(at(MAC_COMMIT), &commitment.0)?;
        commitments[me] = commitment.0.to_vec();
        if mistake != Some(Mistake::OpeningsEarly) {
            session.echo(&commitments.concat())?;
        }
        session.challenge();
        let opened = session.broadcast(at(MAC_OPEN), &[&own[..], &opening.0].concat())?;
        let mut total = sum_of_sigmas(&own, None);
        for party in session.others() {
            let sigmas = Commitment::opened(&commitments[party], &id, party, &label, &opened[party]);
            let Some(sigmas) = sigmas else {
                let what = format!("{} opens another commitment of a MAC check", session.name(party));
                return Err(session.reject(&what).into());
            };
            total = sum_of_sigmas(sigmas, Some(total));
        }
        if total.iter().any(|sum| sum.bytes().iter().any(|&byte| byte != 0)) {
            return Err(session.reject("what was opened doesn't fit its MACs").into());
        }
        self.records.clear();
        self.checks += 1;
        Ok(())
    }

    /// `sigma_i` of both fields, one after the other.
    fn sigmas(&self, coin: &[u8], lane: u16) -> Vec<u8> {
        let mut sigmas = Vec::with_capacity(SIGMA_BYTES);
        for domain in Keys::DOMAINS {
            let one = row(domain, 1);
            let [mut value, mut mac] = [(); 2].map(|()| Buffer::new(bytes_of(domain, 1)));
            for (number, record) in
                self.records.iter().enumerate().filter(|(_, record)| record.shape.domain == domain)
            {
                let weights = weights(coin, lane, number, record.shape);
                for (sum, vector) in [(&mut value, &record.value), (&mut mac, &record.mac)] {
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
            sigmas.extend_from_slice(mac.bytes());
        }
        sigmas
    }
}

/// The weights of so many elements of the vector of this number that a check weighs, from its coin: for attackers.
pub fn check_weights(coin: &[u8], number: usize, domain: Domain, count: usize) -> Vec<u128> {
    let weights = weights(coin, 0, number, row(domain, count));
    with_element!(domain, E => weights.words::<E>().iter().map(|weight| weight.to_u128()).collect())
}

/// The weights of a record's elements.
fn weights(coin: &[u8], lane: u16, number: usize, shape: Register) -> Buffer {
    let mut key = [0; COIN_BYTES];
    key.copy_from_slice(coin);
    let mut weights = Buffer::new(bytes_of(shape.domain, shape.cols));
    let draw = Draw { part: MAC_OPEN, op: number as u32 };
    with_element!(shape.domain, E => {
        PrssStream::new(&key, lane).fill_elements::<E>(draw, 0, weights.words_mut());
    });
    weights
}

/// Adds a party's sigmas, field by field.
fn sum_of_sigmas(sigmas: &[u8], sum: Option<Vec<Buffer>>) -> Vec<Buffer> {
    let mut rest = sigmas;
    let mut sums =
        sum.unwrap_or_else(|| Keys::DOMAINS.map(|domain| Buffer::new(bytes_of(domain, 1))).to_vec());
    for (domain, sum) in Keys::DOMAINS.into_iter().zip(&mut sums) {
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
    sums
}

/// Bytes of a coin.
pub(super) const COIN_BYTES: usize = 16;

/// Bytes of an element of each field.
const SIGMA_BYTES: usize = 8 + 16;

/// What checks send, so many of them.
pub(super) fn cost(parties: usize, times: u64) -> Checks {
    let mut checks = Checks::default();
    let hash = 8 * 32;
    for bits in [hash, hash, 3 * hash, hash, hash, hash + 8 * SIGMA_BYTES as u64] {
        checks.round(Phase::Verify, to_all(bits, parties));
    }
    checks.times(times)
}
