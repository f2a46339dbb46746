//! One party's part in the preprocessing: what is kept between batches, and what can be asked for.

use crate::authenticate::authenticate;
use crate::batch::{self, batch};
use crate::bind::{self, bind};
use crate::checked_bits::{self, checked_bits};
use crate::field::FieldElement;
use crate::key::MacKey;
use crate::macs::Macs;
use crate::multiply::ots;
use crate::shares::{Inputs, Shares, Squares, Triples};
use crate::{step, tuples};
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_ot::copee::Field;
use tacit_ot::{Ot, Params, Roles};
use tacit_session::{At, Error, Session};

/// Triples of a batch in a field of 128 bits: their OTs fill batches of the usual size ([`Params::batch`]).
pub const BATCH: usize = 2016;

/// Triples of a batch: as many bytes of differences as those of [`BATCH`] have, and no more triples.
pub const fn batch_size(field: Field) -> usize {
    let [usual, own] = [ots(Field::Prime) * Field::Prime.bytes(), ots(field) * field.bytes()];
    if own < usual { BATCH } else { BATCH * usual / own }
}

/// Batches whose checks go together: each takes as many rounds as that of one.
pub const CHECKED_TOGETHER: usize = 10;

/// Preprocessing under one MAC key, with all other parties.
///
/// Everybody makes the same calls in the same order. Each ends when all parties have accepted what it made; only then are
/// shares handed out.
///
/// # Security
/// The first error is final, whatever its kind: the key, base OTs and trees are wiped, and every later call fails with it.
/// Whoever has shares of earlier calls drops them all, too. A lost link is no exception, and [`Error::is_failed_check`] is
/// not to be asked: a corrupt party may open a wrong value, read the honest `sigma`, from which it has the key, and then hang
/// up rather than let the check fail.
pub struct Preprocessing<E: FieldElement = Fp128> {
    /// The session's identity.
    session: [u8; 32],
    state: Result<State<E>, Error>,
}

/// What is kept between batches.
struct State<E: FieldElement> {
    key: MacKey<E>,
    macs: Macs<E>,
    /// The next step's number.
    op: u32,
}

impl<E: FieldElement> std::fmt::Debug for Preprocessing<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Preprocessing").finish_non_exhaustive()
    }
}

impl<E: FieldElement> Preprocessing<E> {
    /// Draws this party's share of the MAC key, and makes base OTs with everybody, in both directions: for triples, and by
    /// the key's bits. Then it is checked that everybody has one share of the key. Steps are numbered from `op` on, which
    /// nothing else of the plan uses. 20 rounds, [`cost::setup_bytes`](crate::cost::setup_bytes) to each other party.
    ///
    /// # Errors
    /// If a peer sends something that isn't a point, or trees that aren't; if somebody's key share isn't the same towards
    /// all; or a link fails.
    pub fn setup(session: &mut Session, params: Params, op: u32) -> Result<Self, Error> {
        if session.parties() < 2 || !params.is_malicious() {
            return Err(session.reject("shares with MACs are for several parties, any of whom may deviate"));
        }
        let peers: Vec<usize> = session.others().collect();
        let key = MacKey::draw(session)?;
        let ot = Ot::setup(session, &peers, Roles::Both, params, op)?;
        let products = op.checked_add(1).ok_or(Error::Exhausted)?;
        let macs = Macs::setup(session, ot, &key, products)?;
        let op = products.checked_add(1).ok_or(Error::Exhausted)?;
        let mut state = State { key, macs, op };
        let ops = state.ops::<{ bind::STEPS }>()?;
        bind(session, &mut state.macs, &state.key, ops)?;
        Ok(Self { session: *session.id(), state: Ok(state) })
    }

    /// This party's share of the MAC key, for what is computed with what was made. Whoever has a copy drops it with the first
    /// error of a call, and of a check of its own.
    ///
    /// # Errors
    /// The first one, if anything has failed before.
    pub fn key(&self) -> Result<E, Error> {
        self.state.as_ref().map(|state| state.key.share()).map_err(Clone::clone)
    }

    /// Makes `count` triples, in batches of [`batch_size`], and a shorter last one, of which [`CHECKED_TOGETHER`] are checked
    /// together.
    /// [`cost::triples_bytes`](crate::cost::triples_bytes) to each other party.
    ///
    /// # Errors
    /// If a check fails or a link does, numbers of steps are used up, or the session isn't that of the setup. Every error is
    /// final, for this call and for all that was made before.
    pub fn triples(&mut self, session: &mut Session, count: usize) -> Result<Triples<E>, Error> {
        self.run(session, |state, session| state.triples(session, count))
    }

    /// Makes random values each of which one party knows: `counts[j]` for party `j`, the same in all parties' calls.
    /// [`cost::inputs_bytes`](crate::cost::inputs_bytes) to each other party.
    ///
    /// # Errors
    /// As [`Preprocessing::triples`].
    ///
    /// # Panics
    /// If there isn't a number for every party.
    pub fn inputs(&mut self, session: &mut Session, counts: &[usize]) -> Result<Inputs<E>, Error> {
        assert_eq!(counts.len(), session.parties(), "a number for every party");
        self.run(session, |state, session| state.inputs(session, counts))
    }

    /// Makes `count` squares of random values, from as many triples.
    /// [`cost::squares_bytes`](crate::cost::squares_bytes) to each other party.
    ///
    /// # Errors
    /// As [`Preprocessing::triples`].
    pub fn squares(&mut self, session: &mut Session, count: usize) -> Result<Squares<E>, Error> {
        self.run(session, |state, session| {
            let triples = state.triples(session, count)?;
            let [shares, check, accept] = state.ops()?;
            let squares = tuples::squares(session, &state.key, [shares, check], triples)?;
            accepted(session, accept, b"squares")?;
            Ok(squares)
        })
    }

    /// Opens shared values to all, and checks their MACs: for tests and benchmarks, which compare what was made.
    ///
    /// # Errors
    /// As [`Preprocessing::triples`], and if there isn't a MAC for each value.
    pub fn open(&mut self, session: &mut Session, shares: &Shares<E>) -> Result<Vec<E>, Error> {
        self.run(session, |state, session| {
            let [op, check] = state.ops()?;
            let mut openings = crate::openings::Openings::default();
            let values = openings.open(session, op, shares.clone())?;
            openings.check(session, &state.key, check)?;
            Ok(values)
        })
    }

    /// Does a part of the work, unless something has failed before.
    fn run<T>(
        &mut self,
        session: &mut Session,
        part: impl FnOnce(&mut State<E>, &mut Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let state = self.state.as_mut().map_err(|error| error.clone())?;
        let done = if *session.id() == self.session {
            part(state, session)
        } else {
            Err(session.reject("a MAC key is for the session that it was made in"))
        };
        if let Err(error) = &done {
            self.state = Err(error.clone());
        }
        done
    }
}

impl Preprocessing<Fp128> {
    /// Makes `count` random bits, elements 0 and 1, from as many triples.
    /// [`cost::bits_bytes`](crate::cost::bits_bytes) to each other party.
    ///
    /// # Errors
    /// As [`Preprocessing::triples`].
    pub fn bits(&mut self, session: &mut Session, count: usize) -> Result<Shares, Error> {
        self.run(session, |state, session| {
            let triples = state.triples(session, count)?;
            let [shares, opened, check, accept] = state.ops()?;
            let bits = tuples::bits(session, &state.key, [shares, opened, check], triples)?;
            accepted(session, accept, b"bits")?;
            Ok(bits)
        })
    }
}

impl Preprocessing<Gf128> {
    /// Makes `count` random bits, elements 0 and 1, of bits that all parties put in.
    /// [`cost::checked_bits_bytes`](crate::cost::checked_bits_bytes) to each other party.
    ///
    /// # Errors
    /// As [`Preprocessing::triples`].
    pub fn bits(&mut self, session: &mut Session, count: usize) -> Result<Shares<Gf128>, Error> {
        self.run(session, |state, session| {
            let ops = state.ops::<{ checked_bits::STEPS }>()?;
            let bits = checked_bits(session, &mut state.macs, &state.key, ops, count)?;
            accepted(session, ops[checked_bits::STEPS - 1], b"bits")?;
            Ok(bits)
        })
    }
}

impl<E: FieldElement> State<E> {
    /// The next numbers of steps.
    fn ops<const N: usize>(&mut self) -> Result<[u32; N], Error> {
        let first = self.op;
        self.op = first.checked_add(N as u32).ok_or(Error::Exhausted)?;
        Ok(std::array::from_fn(|step| first + step as u32))
    }

    fn triples(&mut self, session: &mut Session, count: usize) -> Result<Triples<E>, Error> {
        let mut all = Triples::with_capacity(count);
        let batch_size = batch_size(E::FIELD);
        for first in (0..count).step_by(CHECKED_TOGETHER * batch_size) {
            let end = count.min(first + CHECKED_TOGETHER * batch_size);
            let mut batches = Vec::with_capacity(CHECKED_TOGETHER);
            for first in (first..end).step_by(batch_size) {
                batches.push((self.ops()?, batch_size.min(end - first)));
            }
            let ops = self.ops::<{ batch::STEPS }>()?;
            let made = batch(session, &mut self.macs, &self.key, &batches, ops)?;
            accepted(session, ops[batch::STEPS - 1], b"triples")?;
            all.append(&made);
        }
        Ok(all)
    }

    fn inputs(&mut self, session: &mut Session, counts: &[usize]) -> Result<Inputs<E>, Error> {
        let ops = self.ops()?;
        let [accept] = self.ops()?;
        let draws = self.op;
        self.op = draws.checked_add(counts.len() as u32).ok_or(Error::Exhausted)?;
        let (values, shares) = tuples::split(session, draws, counts)?;
        let macs = authenticate(session, &mut self.macs, &self.key, ops, &values, counts)?;
        accepted(session, accept, b"inputs")?;
        Ok(Inputs { values, shares: tuples::with_macs(shares, &macs) })
    }
}

/// Says that this party accepts, and waits for all others to say so. One round.
fn accepted(session: &mut Session, op: u32, what: &[u8]) -> Result<(), Error> {
    session.accept_at(At { lane: 0, part: step::ACCEPT, op, batch: 0 }, what)
}
