//! Shares of MACs of values that parties have, unchecked.
//!
//! For each of its values `x` party `P_j` makes shared products with all others' shares of the key: `q + t = x Delta^(i)`, with
//! `q` for `P_i` and `t` for `P_j`. The shares of the MAC are
//!
//! ```text
//! m^(i) = q^(i,j)          m^(j) = x Delta^(j) + sum of t^(j,i)          sum of m = x Delta
//! ```
//!
//! Products are made in one of two ways:
//!
//! - by [`copee`](tacit_ot::copee), 2,048 bytes each at 128 bits, as in the paper: where there are few, and in other fields than that of
//!   2^128 - 159 elements;
//! - by [`vole`](tacit_ot::vole), where there are many. It gives `P_j` and `P_i` shares `q' + t = u Delta^(i)` for random `u`,
//!   others with each `P_i`. `P_j` sends `x - u`, and `q = q' + (x - u) Delta^(i)`: 16 bytes, and 11 for `u`.
//!
//! In the first a corrupt `P_j` may use another `x` for each bit of `Delta^(i)`, in both another one for each `P_i`; nothing here
//! notices ([`crate::authenticate`] does).

use crate::field::FieldElement;
use crate::key::MacKey;
use crate::planted::initialize;
use crate::secret::Secret;
use crate::step;
use std::marker::PhantomData;
use std::ops::Range;
use tacit_ot::copee::{Field, Multiplicand, Multiplier};
use tacit_ot::vole::Vole;
use tacit_ot::{Ot, Params};
use tacit_session::{At, Error, Session};

/// Bytes of a message of products, of 128 values in a field of 128 bits.
const PIECE_BYTES: usize = 1 << 18;

/// The same of differences.
const DIFFERENCES: usize = 1 << 14;

/// Whether MACs are made by vector OLE, if the most values that a party has are so many: from where that sends less, its base
/// included. So it depends on nothing that was made before.
pub(crate) fn by_vole(field: Field, params: &Params, most: usize) -> bool {
    if field != Field::Prime {
        return false;
    }
    let corrected = Vole::base_bytes() + Vole::bytes(params, most) + (field.bytes() * most) as u64;
    (field.product_bytes() * most) as u64 > corrected
}

/// What a party has to make MACs with all others.
pub(crate) struct Macs<E: FieldElement> {
    links: Vec<Link>,
    /// For vector OLE, and for triples.
    pub(crate) ot: Ot,
    /// What is kept between vector OLEs, from the first one on.
    vole: Option<Vole>,
    of: PhantomData<E>,
}

/// What a party has with another one.
struct Link {
    peer: usize,
    /// For this party's values and the peer's key share.
    own: Multiplicand,
    /// For the peer's values and this party's key share.
    theirs: Multiplier,
}

impl<E: FieldElement> Macs<E> {
    /// Makes base OTs by the bits of the key share, with all other parties. One round.
    ///
    /// # Errors
    /// If a peer sends something that isn't a point, or a link fails.
    pub(crate) fn setup(session: &mut Session, ot: Ot, key: &MacKey<E>, op: u32) -> Result<Self, Error> {
        let peers: Vec<usize> = session.others().collect();
        let halves = initialize(session, &peers, E::FIELD, key.bytes(), op)?;
        let links = peers.into_iter().zip(halves);
        let links = links.map(|(peer, (own, theirs))| Link { peer, own, theirs }).collect();
        Ok(Self { links, ot, vole: None, of: PhantomData })
    }

    /// Makes this party's shares of all MACs, by owner: party `j` has `counts[j]` values, this one `values`. `op` is
    /// a number that no other step has.
    ///
    /// # Errors
    /// If a check of vector OLE fails, or a link does. The session is over.
    pub(crate) fn make(
        &mut self,
        session: &mut Session,
        key: &MacKey<E>,
        op: u32,
        values: &[E],
        counts: &[usize],
    ) -> Result<Vec<Secret<E>>, Error> {
        let me = session.me();
        let mut macs: Vec<Secret<E>> = counts.iter().map(|&count| Secret::zeros(count)).collect();
        for (mac, value) in macs[me].iter_mut().zip(values) {
            *mac = value.wrapping_mul(key.share());
        }
        let most = counts.iter().max().copied().unwrap_or_default();
        if by_vole(E::FIELD, self.ot.params(), most) {
            self.add_corrected(session, key, op, values, &mut macs)?;
        } else {
            self.add_products(session, op, values, &mut macs)?;
        }
        Ok(macs)
    }

    /// Adds products by COPEe. While a message travels the next one is computed.
    fn add_products(
        &mut self,
        session: &mut Session,
        op: u32,
        values: &[E],
        macs: &mut [Secret<E>],
    ) -> Result<(), Error> {
        let me = session.me();
        let bytes = E::FIELD.product_bytes();
        let size = PIECE_BYTES / bytes;
        let pieces = macs.iter().map(|macs| macs.len()).max().map_or(0, |most| most.div_ceil(size));
        let at = |piece: usize| At { lane: 0, part: step::MACS, op, batch: piece as u32 };
        let mut shares = Secret::<E>::zeros(size);
        for piece in 0..=pieces {
            let own = part(values.len(), size, piece);
            if !own.is_empty() {
                for link in &mut self.links {
                    let shares = &mut shares[..own.len()];
                    let mut message = session.mesh().buffer(bytes * own.len());
                    E::extend_own(&mut link.own, &values[own.clone()], shares, &mut message);
                    session.mesh().send_vec(link.peer, at(piece), message)?;
                    add(&mut macs[me][own.clone()], shares);
                }
            }
            let Some(last) = piece.checked_sub(1) else { continue };
            for link in &mut self.links {
                let macs = &mut macs[link.peer];
                let theirs = part(macs.len(), size, last);
                if !theirs.is_empty() {
                    let message = session.mesh().recv(link.peer, at(last), bytes * theirs.len())?;
                    E::extend_theirs(&mut link.theirs, &message, &mut macs[theirs]);
                    session.mesh().recycle(message);
                }
            }
        }
        Ok(())
    }

    /// Adds products by vector OLE, corrected.
    fn add_corrected(
        &mut self,
        session: &mut Session,
        key: &MacKey<E>,
        op: u32,
        values: &[E],
        macs: &mut [Secret<E>],
    ) -> Result<(), Error> {
        let me = session.me();
        let most = macs.iter().map(|macs| macs.len()).max().unwrap_or_default();
        let vole = if let Some(vole) = self.vole.take() {
            vole
        } else {
            let links = self.links.iter_mut();
            let mut products: Vec<_> =
                links.map(|link| (link.peer, &mut link.own, &mut link.theirs)).collect();
            Vole::base(session, &mut products, op)?
        };
        let (vole, made) = vole.extend(session, &mut self.ot, op, most)?;
        self.vole = Some(vole);
        let at = |piece: usize| At { lane: 0, part: step::MACS, op, batch: piece as u32 };
        for piece in 0..most.div_ceil(DIFFERENCES) {
            let own = part(values.len(), DIFFERENCES, piece);
            for one in made.iter().filter(|_| !own.is_empty()) {
                let random = Secret::<E>::elements(&one.values[own.clone()]);
                let differences = values[own.clone()].iter().zip(random).map(|(x, u)| x.wrapping_sub(*u));
                let differences: Vec<E> = differences.collect();
                session.mesh().send(one.peer, at(piece), bytemuck::cast_slice(&differences))?;
                add(&mut macs[me][own.clone()], Secret::elements(&one.shares[own.clone()]));
            }
            for one in &made {
                let macs = &mut macs[one.peer];
                let theirs = part(macs.len(), DIFFERENCES, piece);
                if theirs.is_empty() {
                    continue;
                }
                let message = session.mesh().recv(one.peer, at(piece), E::BYTES * theirs.len())?;
                let shares = Secret::<E>::elements(&one.theirs[theirs.clone()]);
                let all = macs[theirs].iter_mut().zip(shares).zip(message.chunks_exact(E::BYTES));
                for ((mac, share), bytes) in all {
                    let difference = E::from_bytes(bytes);
                    *mac = share.wrapping_add(difference.wrapping_mul(key.share()));
                }
                session.mesh().recycle(message);
            }
        }
        Ok(())
    }
}

fn add<E: FieldElement>(sums: &mut [E], others: &[E]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum = sum.wrapping_add(*other);
    }
}

/// The values of a party that has so many which are in a piece.
fn part(count: usize, size: usize, piece: usize) -> Range<usize> {
    count.min(size * piece)..count.min(size * (piece + 1))
}
