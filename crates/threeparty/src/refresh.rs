//! Fresh shares of what stays: components of zero are added to the components of a value (Herzberg et al. 1995, for three
//! replicated components).
//!
//! `z_0 + z_1 + z_2 = 0`, and `x_i` becomes `x_i + z_i`. Each party has two of the three `z_i`, and so knows the third:
//! nothing is lost if all three parties know all of them. `z_0` and `z_1` are uniform to everybody else. So whoever has the
//! components `x_0` and `x_2` of before and `x_1 + z_1` and `x_0 + z_0` of after lacks `z_1`, which hides `x_1`.
//!
//! All parties come to the same `z_i` from what all of them have been told alike: nothing is left that one party could get
//! wrong for another.
//!
//! **The check value.** Before old shares go, [`same`] compares what the fresh ones are of with what the old ones are of. A coin
//! chooses 128 subsets of the elements. Of each component both holders tell the sums over these of the *difference* of fresh and
//! old; they have to tell the same, and the three components' sums have to add up to zero. That difference is `z_i`, which all
//! parties know, so it tells nobody anything.
//!
//! Each component lies at an honest party at least, whose word is as its share is. Those shares are fixed before the coin is
//! opened. If they are of another value, some element of `z_0 + z_1 + z_2` isn't zero, and a random subset's sum of it is zero
//! with a chance of one half at most, in any group: all are with one of 2^-128.

use crate::scheme::PARTIES;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_engine::{Error, KeptShare, bytes_of, vector, with_element};
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::{Buffer, Element};
use tacit_program::plan::{Domain, Register};
use tacit_session::{At, Draw, PrssStream, Session, step};
use zeroize::Zeroizing;

/// The messages of fresh vectors begin at this number.
const FRESH: u32 = 0x100;
/// The sums of differences are told under this one.
const SUMS: u32 = 0x200;
/// Subsets of the elements of which sums are compared, a bit of a block for each.
const SUBSETS: usize = 128;
/// Elements of which the coin's blocks are made at a time, between two looks at the links.
const PIECE: usize = 1 << 12;

/// Fresh shares of a kept value.
///
/// # Errors
/// [`Error::Refused`] if the share is none of two components; those of links, and an echo that isn't as it has to be.
pub fn refresh(session: &mut Session, share: &KeptShare) -> Result<KeptShare, Error> {
    let shape = share.shape();
    let [first, second] = zeros(session, shape)?;
    let mut third = Buffer::new(first.len());
    vector::sub_assign(shape, &mut third, &first);
    vector::sub_assign(shape, &mut third, &second);
    let mut components = [first, second, third];
    let fresh = share.plus(|number| {
        let refused = || Error::Refused(format!("a kept value has no component {number}"));
        components.get(usize::from(number)).cloned().ok_or_else(refused)
    });
    components.iter_mut().for_each(Buffer::wipe);
    fresh
}

/// Makes sure that fresh shares are of what the old ones are of, once each party has made its own. Three rounds.
///
/// # Errors
/// [`Error::Refused`] if the shares aren't of two components each, of one shape; a rejection if the values differ, or somebody says
/// so; those of links and of the coin.
///
/// # Security
/// Nothing of the fresh shares may still change: the coin is tossed here.
pub fn same(session: &mut Session, old: &KeptShare, fresh: &KeptShare) -> Result<(), Error> {
    let refused = || Error::Refused("fresh shares are of another sharing than the old ones".to_owned());
    let holders = |share: &KeptShare| -> Option<BTreeMap<u8, usize>> {
        let of = share.parts.iter().map(|part| Some((part.number, part.other?.into())));
        of.collect::<Option<BTreeMap<_, _>>>().filter(|those| those.len() == 2)
    };
    let held = holders(old).filter(|held| holders(fresh).as_ref() == Some(held)).ok_or_else(refused)?;
    if old.shape() != fresh.shape() {
        return Err(refused());
    }
    let (shape, sums) = (old.shape(), Register { cols: SUBSETS, ..old.shape() });
    let coin = session.toss(16)?.try_into().map_err(|_| refused())?;
    let mut own = BTreeMap::new();
    for number in held.keys() {
        let mut difference = fresh.part(*number, shape)?;
        vector::sub_assign(shape, &mut difference, &old.part(*number, shape)?);
        let of_subsets = subset_sums(session, &coin, shape, &difference)?;
        own.insert(*number, message_of(sums, &of_subsets, &(0..SUBSETS)));
        difference.wipe();
    }
    let at = At { lane: 0, part: step::KEPT, op: SUMS, batch: 0 };
    let told = session.broadcast(at, &own.values().flatten().copied().collect::<Vec<u8>>())?;
    let mut third: Option<&[u8]> = None;
    let mut alike = true;
    for (number, other) in &held {
        // It holds this component, and the one that this party lacks: in the order of their numbers.
        let lacked = (0..PARTIES as u8).find(|number| !held.contains_key(number)).ok_or_else(refused)?;
        let (first, second) = told[*other].split_at(message_bytes(shape.domain, SUBSETS));
        let (theirs, lacked) = if *number < lacked { (first, second) } else { (second, first) };
        alike &= own[number] == theirs && third.is_none_or(|third| third == lacked);
        third = Some(lacked);
    }
    let mut sum = Buffer::new(bytes_of(shape.domain, SUBSETS));
    for message in own.values().map(Vec::as_slice).chain(third) {
        let mut theirs = Buffer::new(sum.len());
        unpack_columns(sums, message, 0..SUBSETS, &mut theirs);
        vector::add_assign(sums, &mut sum, &theirs);
    }
    let is_zero = message_of(sums, &sum, &(0..SUBSETS)).iter().all(|byte| *byte == 0);
    if alike && is_zero {
        return Ok(());
    }
    Err(session.reject("fresh shares are of another value than the old ones").into())
}

/// Sums of elements over as many subsets as there are: an element is in those whose bits its block of the coin's stream has.
fn subset_sums(
    session: &mut Session,
    coin: &[u8; 16],
    shape: Register,
    data: &Buffer,
) -> Result<Buffer, Error> {
    let cipher = Aes128Ctr::new(coin);
    let mut blocks = vec![[0; 16]; PIECE.min(shape.cols)];
    let mut sums = Buffer::new(bytes_of(shape.domain, SUBSETS));
    for first in (0..shape.cols).step_by(PIECE) {
        session.mesh().tick()?;
        cipher.fill(0, first as u64, blocks.as_flattened_mut());
        let chosen = blocks.iter().map(|block| u128::from_le_bytes(*block)).zip(first..shape.cols);
        match shape.domain {
            Domain::Bits => {
                let words = data.words::<u64>();
                let set = chosen.filter(|(_, at)| words[at / 64] >> (at % 64) & 1 == 1);
                let sum = set.fold(0, |sum, (chosen, _)| sum ^ chosen).to_le_bytes();
                sums.bytes_mut().iter_mut().zip(sum).for_each(|(sum, more)| *sum ^= more);
            }
            domain => with_element!(domain, E => {
                let (elements, sums) = (data.words::<E>(), sums.words_mut::<E>());
                for (chosen, at) in chosen {
                    for (subset, sum) in sums.iter_mut().enumerate() {
                        if chosen >> subset & 1 == 1 {
                            *sum = sum.wrapping_add(elements[at]);
                        }
                    }
                }
            }),
        }
    }
    Ok(sums)
}

/// `z_0` and `z_1`: sums of fresh vectors, which each party draws and sends the others, as much as there is to refresh by each
/// link. No key makes these, so they are as good under information-theoretic zero-sharing. A hash of the sums is compared, and a
/// coin's stream is added.
fn zeros(session: &mut Session, shape: Register) -> Result<[Buffer; 2], Error> {
    let mut digest = Sha256::new_with_prefix(b"tacit refresh 1");
    let mut sums = [0, 1].map(|_| Buffer::new(bytes_of(shape.domain, shape.cols)));
    for (op, sum) in (FRESH..).zip(&mut sums) {
        fresh(session, shape, sum)?;
        let mut received = vec![Buffer::new(sum.len()); session.parties()];
        for (batch, cols) in pieces(shape) {
            let at = At { lane: 0, part: step::KEPT, op, batch };
            let own = Zeroizing::new(message_of(shape, sum, &cols));
            let told = Zeroizing::new(session.broadcast(at, &own)?);
            for party in session.others() {
                unpack_columns(shape, &told[party], cols.clone(), &mut received[party]);
            }
        }
        // This party's own place is zero.
        for theirs in &mut received {
            vector::add_assign(shape, sum, theirs);
            theirs.wipe();
        }
        digest.update(&*Zeroizing::new(message_of(shape, sum, &(0..shape.cols))));
    }
    session.echo(&digest.finalize())?;
    // Whoever sends its vectors last can choose the sums so far, and no sum with the stream of a coin that is tossed after them.
    let coin = session.toss(16)?.try_into().map_err(|_| Error::Refused("a coin is too short".to_owned()))?;
    let mut stream = PrssStream::new(&coin, 0);
    for (op, sum) in (FRESH..).zip(&mut sums) {
        let mut more = Buffer::new(sum.len());
        vector::fill(&mut stream, Draw { part: step::KEPT, op }, shape, &mut more);
        vector::add_assign(shape, sum, &more);
        more.wipe();
    }
    Ok(sums)
}

/// Fresh elements of this party's own.
fn fresh(session: &mut Session, shape: Register, out: &mut Buffer) -> Result<(), Error> {
    match shape.domain {
        Domain::Bits => session.entropy().fill(out.bytes_mut())?,
        domain => with_element!(domain, E => {
            let mut bytes = Zeroizing::new(vec![0; shape.cols * E::DRAWN]);
            session.entropy().fill(&mut bytes)?;
            E::draw(&bytes, out.words_mut());
        }),
    }
    Ok(())
}
