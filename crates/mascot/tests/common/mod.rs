//! Parties of a world that preprocess, each in a thread.

// Not every test file uses all of it.
#![allow(dead_code)]

use tacit_kernel::Element;
use tacit_kernel::field::Fp128;
use tacit_mascot::{FieldElement, Preprocessing, Shares, Triples};
use tacit_ot::Params;
use tacit_session::{Agreement, Error, Phase, Session};
use tacit_testkit::{Draws, Links, World, party_names};

/// Steps, tosses and comparisons of the setup: what is made after it has numbers from here on.
pub(crate) const SETUP: u32 = 8;
pub(crate) const SETUP_TOSSES: u32 = 3;
pub(crate) const SETUP_ECHOES: u32 = 4;

/// Small batches of OTs.
pub(crate) fn params() -> Params {
    Params::DEFAULT.with_rows(512).expect("there are such batches")
}

/// Lets every party of a world do its part after the setup, each in a thread.
pub(crate) fn play<T: Send>(
    world: &World,
    parties: usize,
    seed: u64,
    part: impl Fn(&mut Session, &mut Preprocessing) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    play_on(world.transports(), parties, seed, part)
}

/// The same on given links.
pub(crate) fn play_on<T: Send>(
    links: Links,
    parties: usize,
    seed: u64,
    part: impl Fn(&mut Session, &mut Preprocessing) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    play_from(links, parties, seed, |_| {}, part)
}

/// The same; before its setup each party does something.
pub(crate) fn play_from<T: Send>(
    links: Links,
    parties: usize,
    seed: u64,
    before: impl Fn(&Session) + Sync,
    part: impl Fn(&mut Session, &mut Preprocessing) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    play_in::<Fp128, T>(links, parties, seed, before, part)
}

/// The same in a field.
pub(crate) fn play_in<E: FieldElement, T: Send>(
    links: Links,
    parties: usize,
    seed: u64,
    before: impl Fn(&Session) + Sync,
    part: impl Fn(&mut Session, &mut Preprocessing<E>) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    let agreement = Agreement::among(party_names(parties), "mascot", params().to_string());
    tacit_testkit::play(links, &agreement, &Draws::fixed(seed), |session| {
        before(session);
        let mut preprocessing = Preprocessing::setup(session, params(), 0)?;
        session.mesh().set_phase(Phase::Offline);
        part(session, &mut preprocessing)
    })
}

/// The values of all parties' shares.
pub(crate) fn values<'a, E: FieldElement>(all: impl IntoIterator<Item = &'a Shares<E>>) -> Vec<E> {
    let lists: Vec<&[E]> = all.into_iter().map(|shares| &*shares.values).collect();
    sums(&lists)
}

/// Sums by place.
pub(crate) fn sums<E: FieldElement>(lists: &[&[E]]) -> Vec<E> {
    (0..lists[0].len()).map(|at| lists.iter().fold(E::ZERO, |sum, list| sum.wrapping_add(list[at]))).collect()
}

/// Whether all parties' shares are of triples.
pub(crate) fn check_triples<E: FieldElement>(triples: &[Triples<E>]) -> bool {
    let a = values(triples.iter().map(|triples| &triples.a));
    let b = values(triples.iter().map(|triples| &triples.b));
    let c = values(triples.iter().map(|triples| &triples.c));
    a.iter().zip(&b).zip(&c).all(|((a, b), c)| a.wrapping_mul(*b) == *c)
}

/// An element plus a number, both as bytes.
pub(crate) fn plus(word: [u8; 16], number: u128) -> [u8; 16] {
    let word = Fp128::from_u128(u128::from_le_bytes(word));
    Element::wrapping_add(word, Fp128::from_u128(number)).to_u128().to_le_bytes()
}
