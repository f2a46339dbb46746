//! A kept value moves to another key of MACs.
//!
//! Of `x_1 .. x_m` party `P_i` has shares `x_k,i` with MACs under the old key `alpha`. Let `x_0` be a random element under that
//! key, which nobody knows: of the supply, the factor of a triple, or the sum of an input mask of each party. Of each party's
//! `m + 1` shares all get shares under the new key `beta`, as of its inputs (Damgard, Pastro, Smart, Zakarias 2012, figure 1),
//! and a random sum shows that they are of the same:
//!
//! 1. `P_i` has a mask `r_k,i` of its own under `beta` for each of its shares, and tells all `d_k,i = x_k,i - r_k,i`. All add
//!    up `[x'_k] = sum over i of ([r_k,i] + d_k,i)`.
//! 2. All compare a hash of all that was told, and toss a coin, from which follow weights `w_1 .. w_m`.
//! 3. All open `t = x_0 + sum w_k x_k`, and check its MAC under `alpha`.
//! 4. They check that `t` is `x'_0 + sum w_k x'_k`, by that one's MAC under `beta`. It isn't opened.
//! 5. Each adds shares of zero, as in any refresh: what its store had of the masks tells nothing of its share.
//!
//! A party that put in others than its shares, or has others than it kept, changed some `x'_k - x_k` before the coin,
//! and passes for one sum of weights in p; or it has opened another `t`, or changed MACs: 2/p for each of the checks.
//!
//! # Security
//! `d` are uniform, since masks are; `t` is, since `x_0` is, and it is all that is new in what either check opens. Nothing under `beta`
//! is weighed before the check under `alpha` has passed, and nothing is handed out before both have. A check that fails takes its own
//! key along: of the other one nothing was shown.

use crate::keep::{MACS, refresh};
use crate::macs::{COIN_BYTES, Keys, Recorder, weights};
use crate::messages::{REKEY_SHARES, REKEY_SUM, tell_all};
use crate::planted::{Mistake, planted, will_tell};
use crate::share::{FIRST, OwnMask, Share};
use crate::vectors::{joined, part_of, row};
use sha2::Digest;
use std::sync::Arc;
use tacit_engine::supply::{Demand, Drawer, Supply, SupplyKind};
use tacit_engine::vector::{add_assign, sub_assign};
use tacit_engine::{Error, KeptShare, with_element};
use tacit_kernel::{Buffer, Element};
use tacit_program::plan::{Domain, Register};
use tacit_session::{At, Session};

/// Moves a kept value from the key of one supply to that of another, of these fields.
///
/// # Errors
/// As [`tacit_engine::Protocol::rekey`].
pub(crate) fn rekey(
    fields: &'static [Domain],
    session: &mut Session,
    share: &KeptShare,
    from: &mut dyn Supply,
    to: &mut dyn Supply,
) -> Result<KeptShare, Error> {
    let (me, shape) = (session.me(), share.shape());
    if !fields.contains(&shape.domain) || share.key.is_none() {
        return Err(Error::Refused("a kept value without MACs has no key to move to another".to_owned()));
    }
    let kept = Share { value: share.part(me as u8, shape)?, mac: Some(share.part(MACS | me as u8, shape)?) };
    let all = row(shape.domain, shape.cols + 1);
    // First, as they are what is lacking if anything is: then nothing of the old epoch is used up.
    let masks = Masks::draw(session, to, all)?;
    let hidden = hidden(session, from, shape.domain)?;
    let mut old = Recorder::new(Keys::of_material(fields, from.key()?)?, 0);
    let mut new = Recorder::new(Keys::of_material(fields, to.key()?)?, 1);
    if from.key_name() != share.key || to.key_name() == share.key {
        return Err(Error::Refused("a kept value moves from its own key to another one".to_owned()));
    }

    // x_1 .. x_m, x_0.
    let own = after(&kept, &hidden);
    let mut told = own.value.clone();
    sub_assign(all, &mut told, &masks.own);
    let early = if planted(Mistake::RekeyCoinEarly) { Some(session.toss(COIN_BYTES)?) } else { None };
    will_tell(early.as_deref(), &mut told);
    let at = |part| move |batch| At { part, batch, ..At::default() };
    let (sum, hash) = tell_all(session, all, &told, at(REKEY_SHARES))?;
    // Before a check begins: nothing that is weighed is shown, and no key is destroyed.
    session.agree(&hash.finalize(), "masked shares")?;
    let mut moved = masks.sum;
    if me == FIRST {
        add_assign(all, &mut moved.value, &sum);
    }
    if let Some(mac) = &mut moved.mac {
        new.keys.add_times(all, &sum, mac);
    }

    let coin = match early {
        Some(coin) => coin,
        None => session.toss(COIN_BYTES)?,
    };
    let weights = weights(&coin, session.lane(), 0, shape);
    let one = row(shape.domain, 1);
    let sums = [&own, &moved].map(|shares| shares.map(|part| weighed(shape, &weights, part)));
    let [mut opened, expected] = sums;
    let (t, _) = tell_all(session, one, &opened.value, at(REKEY_SUM))?;
    opened.value = t.clone();
    old.record(one, opened);
    let turn = from.checks().turn(session)?;
    old.check(session, turn, None)?;
    new.record(one, Share { value: t, mac: expected.mac.clone() });
    let turn = to.checks().turn(session)?;
    if !planted(Mistake::RekeyUnchecked) {
        new.check(session, turn, None)?;
    }

    let part = |buffer: &Buffer| part_of(shape.domain, buffer, 0, shape.cols);
    let fresh = moved.map(part);
    let parts = [(me as u8, Some(&fresh.value)), (MACS | me as u8, fresh.mac.as_ref())];
    let parts = parts.into_iter().filter_map(|(number, part)| Some((number, None, part?)));
    // Until here it is what lay in the store, but for one party's `d`: an old copy of that would be enough.
    refresh(session, &KeptShare::new(shape, to.key_name(), parts))
}

/// A random element that nobody knows: of the first kind of which there is any.
fn hidden(session: &mut Session, supply: &mut dyn Supply, domain: Domain) -> Result<Share, Error> {
    let mut none = None;
    for kind in [SupplyKind::RandomElement(domain), SupplyKind::Triple(domain)] {
        match supply.provide(session, &Arc::new(Demand::stock(&[(kind, 1)]))) {
            // All parties come to the same, and nothing is used. A store that was set back isn't one that has too little.
            Err(Error::NoMaterial(reason)) if reason.is_lack() => none = Some(reason),
            Err(error) => return Err(error),
            Ok(()) => {
                let mut parts = supply.draw(Drawer::Stock, kind, 0..1)?;
                let count = kind.part_bytes().len();
                if parts.len() != 2 * count {
                    return Err(Error::Supply(format!("{kind} lack a part")));
                }
                let mac = parts.swap_remove(count);
                let share = Share { value: parts.swap_remove(0), mac: Some(mac) };
                parts.iter_mut().for_each(Buffer::wipe);
                return Ok(share);
            }
        }
    }
    match Masks::draw(session, supply, row(domain, 1)) {
        Err(Error::NoMaterial(masks)) if masks.is_lack() => Err(Error::NoMaterial(none.unwrap_or(masks))),
        drawn => drawn.map(|masks| masks.sum),
    }
}

/// Input masks, as many of each party.
struct Masks {
    /// Shares of the sums of all parties' masks.
    sum: Share,
    /// This party's own.
    own: OwnMask,
}

impl Masks {
    fn draw(session: &mut Session, supply: &mut dyn Supply, shape: Register) -> Result<Self, Error> {
        let Register { domain, cols, .. } = shape;
        let kind = |owner: usize| SupplyKind::InputMask { domain, owner: owner as u16 };
        let wanted: Vec<_> = (0..session.parties()).map(|owner| (kind(owner), cols as u64)).collect();
        supply.provide(session, &Arc::new(Demand::stock(&wanted)))?;
        let (mut sum, mut own) = (None::<Share>, OwnMask::new(Buffer::default()));
        for (owner, (kind, count)) in wanted.into_iter().enumerate() {
            let mut parts = supply.draw(Drawer::Stock, kind, 0..count)?.into_iter();
            let [value, mac] = [parts.next(), parts.next()];
            let lacks = || Error::Supply(format!("{kind} lack a part"));
            let share = Share { value: value.ok_or_else(lacks)?, mac: Some(mac.ok_or_else(lacks)?) };
            if owner == session.me() {
                own = OwnMask::new(parts.next().ok_or_else(lacks)?);
            }
            match &mut sum {
                Some(sum) => sum.add_assign(shape, &share),
                None => sum = Some(share),
            }
        }
        let sum = sum.ok_or_else(|| Error::Supply("there are no parties".to_owned()))?;
        Ok(Self { sum, own })
    }
}

/// One vector's shares after another's.
fn after(first: &Share, second: &Share) -> Share {
    let macs = first.mac.as_ref().zip(second.mac.as_ref());
    Share {
        value: joined([&first.value, &second.value]),
        mac: macs.map(|(first, second)| joined([first, second])),
    }
}

/// The sum of a vector's elements by their weights, and of one more by 1.
fn weighed(shape: Register, weights: &Buffer, vector: &Buffer) -> Buffer {
    with_element!(shape.domain, E => {
        let mut sum = Buffer::of_words::<E>(1);
        let vector = vector.words::<E>();
        let terms = weights.words::<E>().iter().zip(vector).map(|(&weight, &x)| weight.wrapping_mul(x));
        let last = vector.last().copied().unwrap_or_default();
        sum.words_mut::<E>()[0] = terms.fold(last, Element::wrapping_add);
        sum
    })
}
