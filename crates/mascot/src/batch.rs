//! A batch of triples (MASCOT, protocol 4).
//!
//! | step | sent to each other party | waits for |
//! | --- | --- | --- |
//! | Multiply | OTs with their own checks; a difference for each OT | OTs that have passed |
//! | Combine | commitment and opening of a coin: `r`, `r^` | all differences |
//! | Authenticate | vector OLE, with its own check; MAC messages for `a`, `b`, `c`, `a^`, `c^` and a mask | `r`, `r^` |
//! | | commitment and opening of a coin | all MAC messages |
//! | | `y`, and the check of its MAC | that coin |
//! | Sacrifice | commitment and opening of a coin: `s` | that check |
//! | | shares of `rho`, and the check of all MACs | `s` |
//! | | that this party accepts | that check |
//!
//! A triple is handed out when all parties have accepted its batch.

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

/// Steps of a batch that have a number of their own.
pub(crate) const STEPS: usize = 8;

/// Makes `count` triples. All but that all accept.
pub(crate) fn batch<E: FieldElement>(
    session: &mut Session,
    maker: &mut Macs<E>,
    key: &MacKey<E>,
    ops: [u32; STEPS],
    count: usize,
) -> Result<Triples<E>, Error> {
    let [ots, differences, macs, sums, made, shares, checked, _] = ops;
    let mut early = None;
    if planted(Mistake::CombinedEarly) {
        early = Some(Coins::toss(session)?);
    }
    let products = multiply(session, &mut maker.ot, [ots, differences], tau(E::FIELD), count)?;
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
