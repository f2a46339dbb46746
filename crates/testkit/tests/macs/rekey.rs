//! A kept value moves from one key of MACs to another, at the engine's side: what all have then, what it costs, what
//! is released when, and parties that put in something else.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tacit_additive::planted::{Mistake, before_rekeying, plant};
use tacit_additive::{MAC_COMMIT, MAC_OPEN, REKEY_SHARES, REKEY_SUM, check_weights, row};
use tacit_engine::supply::{CheckScope, Demand, Drawer, Supply, SupplyKind};
use tacit_engine::{Error, KeptShare, Material, Protocol, bytes_of, with_element};
use tacit_kernel::{Buffer, Element};
use tacit_net::{Limits, Mesh};
use tacit_program::Modulus;
use tacit_program::plan::Domain;
use tacit_session::{Agreement, Session, step};
use tacit_testkit::tenants::MACS;
use tacit_testkit::{Deviation, Draws, World, in_threads, party_names};

const FIELDS: [Modulus; 2] = [Modulus::Mersenne61, Modulus::Prime128];
/// What each party sends each other one, in this order.
const STAGES: [u16; 17] = [
    REKEY_SHARES,
    step::ECHO,
    step::COIN_COMMIT,
    step::COIN_OPEN,
    REKEY_SUM,
    // The check of the old key ...
    step::ECHO,
    step::COIN_COMMIT,
    step::COIN_OPEN,
    MAC_COMMIT,
    step::ECHO,
    MAC_OPEN,
    // ... and that of the new one.
    step::ECHO,
    step::COIN_COMMIT,
    step::COIN_OPEN,
    MAC_COMMIT,
    step::ECHO,
    MAC_OPEN,
];
/// That of `mascot`.
const FIELD: Modulus = Modulus::Prime128;
/// A step of the dealer's: receipts.
const RECEIPT: u16 = 0x10;
/// How long a party waits for one that has fallen silent.
const SILENCE: Duration = Duration::from_millis(400);
/// Elements of the value.
const COUNT: usize = 3;
/// Added to the part of a share that is of MACs.
const OF_MACS: u8 = 0x80;

/// A dealer's supply whose key has a name.
struct Named {
    inner: Box<dyn Supply>,
    name: [u8; 32],
    /// The party's shares of all that was drawn.
    drawn: Vec<Buffer>,
}

impl Supply for Named {
    fn key(&mut self) -> Result<Material, Error> {
        self.inner.key()
    }

    fn key_name(&self) -> Option<[u8; 32]> {
        Some(self.name)
    }

    fn provide(&mut self, session: &mut Session, demand: &Arc<Demand>) -> Result<(), Error> {
        self.inner.provide(session, demand)
    }

    fn draw(&mut self, drawer: Drawer, kind: SupplyKind, items: Range<u64>) -> Result<Vec<Buffer>, Error> {
        let parts = self.inner.draw(drawer, kind, items)?;
        self.drawn.extend(parts.first().cloned());
        Ok(parts)
    }

    fn checks(&self) -> &CheckScope {
        self.inner.checks()
    }
}

/// What a party has in the end.
struct Moved {
    /// Its shares of the value under the old key, and what they became.
    old: KeptShare,
    new: KeptShare,
    /// Its share of the new key.
    key: u128,
    /// Its shares of the sums of all parties' masks.
    masks: Vec<u128>,
}

/// What a party does before it begins.
type Before = dyn Fn(usize, &mut KeptShare) + Sync;

/// All parties keep a value under one key, and move it to another one.
fn moved(field: Modulus, world: &World, parties: usize, before: &Before) -> Vec<Result<Moved, Error>> {
    let agreement = Agreement::among(party_names(parties), MACS.spec.name, String::new());
    let limits = Limits { silence: SILENCE, ..Limits::default() };
    in_threads(world.transports(), |me, links| {
        let mesh = Mesh::new(links, me, party_names(parties), limits.clone());
        let mut session = Session::establish(mesh, agreement.clone(), Draws::fixed(3).of(me))?;
        let domain = field.domain();
        let mut named = |name: u8| -> Result<Named, Error> {
            Ok(Named { inner: MACS.live_supply(&mut session)?, name: [name; 32], drawn: Vec::new() })
        };
        let (mut from, mut to) = (named(1)?, named(2)?);
        let kind = SupplyKind::InputMask { domain, owner: 0 };
        from.provide(&mut session, &Arc::new(Demand::stock(&[(kind, COUNT as u64)])))?;
        let parts = from.draw(Drawer::Stock, kind, 0..COUNT as u64)?;
        let numbers = [me as u8, OF_MACS | me as u8];
        let parts = numbers.into_iter().zip(&parts).map(|(number, part)| (number, None, part));
        let mut old = KeptShare::new(row(domain, COUNT), from.key_name(), parts);
        before(me, &mut old);
        let new = MACS.rekey(&mut session, &old, &mut from, &mut to)?;
        let sizes: Vec<usize> = FIELDS.iter().map(|field| bytes_of(field.domain(), 1)).collect();
        let keys = to.key()?.into_parts(&sizes).expect("a key of each field");
        let at = FIELDS.iter().position(|one| *one == field).expect("a field that has a key");
        let key = elements(domain, &keys[at])[0];
        let add = |sum: Vec<u128>, mask: &Buffer| {
            sum.into_iter().zip(elements(domain, mask)).map(|(sum, mask)| field.add(sum, mask)).collect()
        };
        let masks = to.drawn.iter().fold(vec![0; COUNT + 1], add);
        session.close()?;
        Ok(Moved { old, new, key, masks })
    })
}

fn elements(domain: Domain, buffer: &Buffer) -> Vec<u128> {
    with_element!(domain, E => buffer.words::<E>().iter().map(|element| element.to_u128()).collect())
}

/// Sums of all parties' elements of a part.
fn sums<'a>(field: Modulus, shares: impl Iterator<Item = &'a KeptShare>, part: u8) -> Vec<u128> {
    let domain = field.domain();
    shares.enumerate().fold(vec![0; COUNT], |sums, (me, share)| {
        let own = share.part(part | me as u8, row(domain, COUNT)).expect("each party has its own");
        sums.into_iter().zip(elements(domain, &own)).map(|(sum, own)| field.add(sum, own)).collect()
    })
}

/// What all keep in the end, if it has MACs under the new key; and what they had.
fn opened(field: Modulus, moved: &[Result<Moved, Error>]) -> [Vec<u128>; 2] {
    let all = || moved.iter().map(|moved| moved.as_ref().expect("a party's part"));
    let values = sums(field, all().map(|moved| &moved.new), 0);
    let key = all().fold(0, |sum, moved| field.add(sum, moved.key));
    let macs: Vec<u128> = values.iter().map(|value| field.mul(key, *value)).collect();
    assert_eq!(sums(field, all().map(|moved| &moved.new), OF_MACS), macs);
    [values, sums(field, all().map(|moved| &moved.old), 0)]
}

#[test]
fn the_value_stays_and_its_macs_are_under_the_new_key() {
    for (field, parties) in FIELDS.into_iter().flat_map(|field| [2, 3, 5].map(|parties| (field, parties))) {
        let world = World::new(parties, 0);
        let moved = moved(field, &world, parties, &|_, _| {});
        let [new, old] = opened(field, &moved);
        assert_eq!(new, old, "{field}, {parties}");
        for (me, moved) in moved.iter().flatten().enumerate() {
            assert_eq!(moved.new.key, Some([2; 32]));
            let part = |share: &KeptShare| share.parts[0].bytes.clone();
            assert_ne!(part(&moved.new), part(&moved.old), "P{me}'s share is fresh");
            let new = moved.new.part(me as u8, row(field.domain(), COUNT)).expect("its own");
            assert_ne!(elements(field.domain(), &new), moved.masks[..COUNT], "P{me}'s share is in no store");
        }
        let bytes = |count: usize| (count * usize::from(field.bits())).div_ceil(8);
        let sigmas: usize = FIELDS.iter().map(|field| field.limbs() * 8).sum();
        let trace = world.trace();
        for (from, to) in trace.links() {
            let sent: Vec<_> = trace.link(from, to).filter(|sent| sent.at.part != RECEIPT).collect();
            let start =
                sent.iter().position(|sent| sent.at.part == REKEY_SHARES).expect("it tells its shares");
            let sent: Vec<(u16, usize)> = sent[start..start + STAGES.len()]
                .iter()
                .map(|sent| (sent.at.part, sent.payload.len()))
                .collect();
            let stages = STAGES.map(|part| {
                (
                    part,
                    match part {
                        REKEY_SHARES => bytes(COUNT + 1),
                        REKEY_SUM => bytes(1),
                        step::COIN_OPEN => 96,
                        MAC_OPEN => sigmas + 32,
                        _ => 32,
                    },
                )
            });
            assert_eq!(sent, stages, "from {from} to {to}");
        }
    }
}

/// A party that lacks a message sends nothing that comes after it, and nobody what comes after that: what a check
/// weighs is everywhere before its coin, and the old key's verdict before anything is weighed under the new one.
#[test]
fn nothing_is_released_before_what_it_rests_on_is_everywhere() {
    let honest = World::new(3, 0);
    assert!(moved(FIELD, &honest, 3, &|_, _| {}).iter().all(Result::is_ok));
    let before = |from, to| {
        let trace = honest.trace();
        trace.link(from, to).position(|sent| sent.at.part == REKEY_SHARES).expect("it tells its shares")
    };
    for (from, stage) in (0..3).flat_map(|from| (0..STAGES.len()).map(move |stage| (from, stage))) {
        let to = (from + 1) % 3;
        let at = before(from, to) + stage;
        let world = World::new(3, 0).intercept(Deviation::Silence.at(from, to, at));
        let ended = moved(FIELD, &world, 3, &|_, _| {});
        assert!(ended[to].is_err());
        // Whoever has the last opening has the verdict.
        for (sender, receiver) in world.trace().links().into_iter().filter(|_| stage + 1 < STAGES.len()) {
            let sent = world.trace().link(sender, receiver).count() - before(sender, receiver);
            if sender == to {
                assert_eq!(sent, stage + 1, "to {receiver} without stage {stage}");
            } else {
                assert!(
                    sent <= stage + 2,
                    "{sender} sent {sent} to {receiver}, and {to} lacks stage {stage}"
                );
            }
        }
    }
}

/// Another share than it kept, and an old one: what is opened doesn't fit the old key's MACs.
#[test]
fn a_party_with_another_share_fails_under_the_old_key() {
    for corrupt in [0, 1] {
        let world = World::new(2, 0);
        let ended = moved(FIELD, &world, 2, &move |me, share| {
            if me == corrupt {
                share.parts[0].bytes[5] ^= 1;
            }
        });
        assert!(ended.iter().all(failed));
        assert_eq!(checks_begun(&world), [true, false]);
    }
}

/// One that puts in another `x_i`, and opens what is right under the old key: it passes where nothing is compared with what is
/// under the new one, and with a coin that it knows before.
#[test]
fn a_party_that_puts_in_another_share_fails_under_the_new_key() {
    let attacked = |parties: usize, mistakes: &'static [Mistake]| {
        let world = World::new(parties, 0);
        let ended = moved(FIELD, &world, parties, &move |me, _| {
            plant(mistakes);
            if me + 1 == parties {
                before_rekeying(Box::new(move |coin, told| match coin {
                    None => shift(told, 1, 7),
                    // Errors that the weights cancel.
                    Some(coin) => {
                        let weights = check_weights(coin, 0, 0, FIELD.domain(), COUNT);
                        shift(told, 0, weights[1]);
                        shift(told, 1, FIELD.sub(0, weights[0]));
                    }
                }));
            }
        });
        (world, ended)
    };
    for parties in [2, 3] {
        let (world, ended) = attacked(parties, &[]);
        assert!(ended.iter().all(failed));
        assert_eq!(checks_begun(&world), [true, true]);
        let [new, old] = opened(FIELD, &attacked(parties, &[Mistake::RekeyUnchecked]).1);
        assert_eq!((new[0], new[1], new[2]), (old[0], FIELD.add(old[1], 7), old[2]));
        let [new, old] = opened(FIELD, &attacked(parties, &[Mistake::RekeyCoinEarly]).1);
        assert!(new[0] != old[0] && new[1] != old[1] && new[2] == old[2]);
    }
}

/// One that tells two others different things is noticed before any check begins, and nothing falls.
#[test]
fn other_shares_for_each_party_end_it_before_a_check() {
    let honest = World::new(3, 0);
    assert!(moved(FIELD, &honest, 3, &|_, _| {}).iter().all(Result::is_ok));
    let nth = honest.trace().link(2, 0).position(|sent| sent.at.part == REKEY_SHARES).expect("it tells");
    let world = World::new(3, 0).intercept(Deviation::Flip(3).at(2, 0, nth));
    let ended = moved(FIELD, &world, 3, &|_, _| {});
    assert!(ended.iter().all(|ended| ended.is_err() && !failed(ended)));
    assert_eq!(checks_begun(&world), [false, false]);
}

/// Adds to an element of what a party tells.
fn shift(told: &mut Buffer, at: usize, by: u128) {
    with_element!(FIELD.domain(), E => {
        let element = &mut told.words_mut::<E>()[at];
        *element = element.wrapping_add(E::from_u128(by));
    });
}

fn failed(ended: &Result<Moved, Error>) -> bool {
    ended.as_ref().is_err_and(Error::is_failed_check)
}

/// Of the old key's check and of the new one's, whether anybody has committed to anything.
fn checks_begun(world: &World) -> [bool; 2] {
    let trace = world.trace();
    let sent: Vec<_> = trace.deliveries().iter().filter(|sent| sent.at.part == MAC_COMMIT).collect();
    [0, 1].map(|check| sent.iter().any(|sent| sent.at.op == check))
}
