//! Some batches of triples (MASCOT, protocol 4): Multiply of one after another, and all else of all together. What a
//! batch has after Multiply is small, and checks take rounds: so links are full, and nobody waits for checks after
//! each batch.
//!
//! | step | sent to each other party | waits for |
//! | --- | --- | --- |
//! | Multiply, for each batch | OTs with their own checks; a difference for each OT | OTs that have passed |
//! | Combine | commitment and opening of a coin: `r`, `r^` | all differences of all batches |
//! | Authenticate | vector OLE, with its own check; MAC messages for `a`, `b`, `c`, `a^`, `c^` and a mask | `r`, `r^` |
//! | | commitment and opening of a coin | all MAC messages |
//! | | `y`, and the check of its MAC | that coin |
//! | Sacrifice | commitment and opening of a coin: `s` | that check |
//! | | shares of `rho`, and the check of all MACs | `s` |
//! | | that this party accepts | that check |
//!
//! A triple is handed out when all parties have accepted what is checked together.

use crate::authenticate::{authenticate, sum_of_owners};
use crate::coins::Coins;
use crate::combine::{PARTS, combine};
use crate::field::FieldElement;
use crate::key::MacKey;
use crate::macs::Macs;
use crate::multiply::{multiply, tau};
use crate::planted::{Mistake, planted, tap};
use crate::sacrifice::{coin, sacrifice};
use crate::shares::{Shares, Triples};
use tacit_session::{Error, Session};

/// Steps after Multiply that have a number of their own.
pub(crate) const STEPS: usize = 6;

/// Makes triples in batches of such sizes, each of which has numbers for Multiply. All but that all accept.
pub(crate) fn batch<E: FieldElement>(
    session: &mut Session,
    maker: &mut Macs<E>,
    key: &MacKey<E>,
    batches: &[([u32; 2], usize)],
    ops: [u32; STEPS],
) -> Result<Triples<E>, Error> {
    let [macs, sums, made, shares, checked, _] = ops;
    let mut early = None;
    if planted(Mistake::CombinedEarly) {
        early = Some(Coins::toss(session)?);
    }
    let count = batches.iter().map(|(_, size)| size).sum();
    let mut products = Vec::with_capacity(batches.len());
    for &(ops, size) in batches {
        products.push(multiply(session, &mut maker.ot, ops, tau(E::FIELD), size)?);
    }
    let mut coins = match early {
        Some(coins) => coins,
        None => Coins::toss(session)?,
    };
    let mut own = combine(&products, &mut coins);
    drop(products);
    let mut early = None;
    if planted(Mistake::SacrificedEarly) {
        early = Some(coin(session)?);
    }
    tap("authenticated", &mut own);
    let counts = vec![PARTS * count; session.parties()];
    let by_owner = authenticate(session, maker, key, [macs, sums, made], &own, &counts)?;
    let all = Shares { values: own, macs: sum_of_owners(&by_owner, PARTS * count) };
    let s = match early {
        Some(s) => s,
        None => coin(session)?,
    };
    sacrifice(session, key, [shares, checked], s, &all, count)
}
