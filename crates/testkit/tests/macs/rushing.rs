//! Two lanes share a key, and a party stalls the check of one until the other's has told it the key ("Rushing at
//! SPDZ", S&P 2025).
//!
//! The last party adds 1 to what it opens of an output, in both lanes, and its own code takes it for the others'
//! share, so that all it says fits. It commits honestly in lane 0, reads the others' `sigma`, withholds its own, and
//! so ends no check. All `sigma` add up to minus the key times the first element's weight. In lane 1 it commits to
//! what makes the sum nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tacit_additive::{MAC_COMMIT, MAC_OPEN, check_weights};
use tacit_engine::executor::Unobserved;
use tacit_engine::planted::Mistake;
use tacit_engine::supply::{CheckScope, Demand, Drawer, Stock, Supply, SupplyKind, fill};
use tacit_engine::{Error, Material, Protocol};
use tacit_kernel::Buffer;
use tacit_net::{Frame, Limits};
use tacit_program::plan::{Builder, Domain, Modulus, Plan, To};
use tacit_session::{Agreement, Session, step};
use tacit_store::{Binding, Epoch, Store};
use tacit_testkit::tenants::MACS;
use tacit_testkit::{Altered, Case, Draws, Fate, Interceptor, Run, World, party_names, play};
use tempfile::TempDir;

/// Where the key is, and who counts its checks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// A count that ends with the run.
    OfTheRun,
    /// The store that the key is from.
    Stored,
}

/// How the honest party's lane 1 ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    WrongOutput,
    /// It began a check, which wasn't noted.
    Refused,
    /// It began none.
    NoCheck,
}

const PRIME: Modulus = Modulus::Prime128;
const DOMAIN: Domain = Domain::Modular(PRIME);
const LANES: u16 = 2;
/// The number of the check that outputs are in, in each lane.
const OF_OUTPUTS: u32 = 1;
/// Where the `sigma` of this field is.
const SIGMA: usize = 8;
/// How long a lane waits before it looks again.
const GLANCE: Duration = Duration::from_micros(200);

fn plan() -> Plan {
    let mut build = Builder::new();
    let x = build.row(DOMAIN, 1);
    let owner = build.role("P0");
    build.input(owner, x);
    build.output(x, To::All);
    build.finish()
}

/// What the coalition knows of lane 0's check.
#[derive(Default)]
struct Seen {
    weight: Option<u128>,
    sigmas: BTreeMap<usize, u128>,
}

impl Seen {
    /// The key: all `sigma` add up to minus the key times the weight of the error.
    fn key(&self, parties: usize) -> Option<u128> {
        let weight = self.weight.filter(|_| self.sigmas.len() == parties)?;
        let sum = self.sigmas.values().fold(0, |sum, sigma| PRIME.add(sum, *sigma));
        Some(PRIME.mul(PRIME.sub(0, sum), inverse(weight)))
    }
}

/// By Fermat: the power of p - 2.
fn inverse(value: u128) -> u128 {
    let exponent = PRIME.last() - 1;
    (0..128).rev().fold(1, |power, bit| {
        let square = PRIME.mul(power, power);
        if exponent >> bit & 1 == 1 { PRIME.mul(square, value) } else { square }
    })
}

/// The last party and those with it attack; the first is honest.
pub(crate) fn stalled(
    parties: usize,
    corrupt: &'static [usize],
    mistakes: &'static [Mistake],
    keys: Keys,
) -> End {
    // On a busy machine the honest party may give up before the attack has come so far.
    let attacked = [1, 4, 16].into_iter().find_map(|patience| {
        let stores = Stores::filled(parties);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let protocol = Altered::supplied(
            &MACS,
            before(parties, corrupt, mistakes, &seen),
            // The coalition keeps to no turns and no journal.
            stores.supplies(move |me| keys == Keys::OfTheRun || corrupt.contains(&me)),
        );
        let mut case = Case::new(protocol, parties, plan(), &[vec![5, 0]]);
        let patience = Duration::from_secs(patience);
        case.limits = Limits { silence: patience, patience, ..case.limits };
        let world = case.world_in_lanes(LANES).intercept(interceptor(corrupt, seen.clone()));
        let lanes = case.run_in_lanes(&world, &[1, 2].map(Draws::fixed));
        lock(&seen).key(parties).map(|_| (stores, case, lanes))
    });
    let (stores, case, lanes) = attacked.expect("the attack came so far");
    let end = end(&case, &lanes, corrupt);
    // Nothing of the key is left at honest parties whose stores count its checks.
    for me in (0..parties).filter(|me| !corrupt.contains(me)) {
        let (left, has_key) = stores.left(me);
        let expected = keys == Keys::OfTheRun;
        assert_eq!((left > 0, has_key), (expected, expected), "P{me}");
    }
    end
}

/// What each endpoint does before it begins.
fn before(
    parties: usize,
    corrupt: &'static [usize],
    mistakes: &'static [Mistake],
    seen: &Arc<Mutex<Seen>>,
) -> impl Fn(usize) + Send + Sync + 'static {
    let seen = seen.clone();
    move |me| {
        let is_corrupt = corrupt.contains(&me);
        tacit_engine::planted::plant(if is_corrupt { &[Mistake::ChecksAtOnce] } else { mistakes });
        if me + 1 == parties {
            let seen = seen.clone();
            tacit_additive::planted::before_commitments(Box::new(move |session, check, coin, sigmas| {
                if check != OF_OUTPUTS {
                    return Ok(());
                }
                let weight = check_weights(coin, session.lane(), 0, DOMAIN, 1)[0];
                if session.lane() == 0 {
                    lock(&seen).weight = Some(weight);
                    return Ok(());
                }
                let key = loop {
                    let key = lock(&seen).key(parties);
                    match key {
                        Some(key) => break key,
                        None => session.mesh().pause(GLANCE)?,
                    }
                };
                add(&mut sigmas[SIGMA..], PRIME.mul(key, weight));
                Ok(())
            }));
        }
    }
}

/// Adds 1 to what the last party opens, at itself to what it hears; in lane 0 the coalition's openings and those for
/// it stay away.
fn interceptor(corrupt: &'static [usize], seen: Arc<Mutex<Seen>>) -> Interceptor {
    let attacker = *corrupt.last().expect("somebody attacks");
    Box::new(move |message| {
        let Frame { at, payload, .. } = message.frame;
        let is_error = message.from == attacker || (message.from, message.to) == (0, attacker);
        if at.part == step::OUTPUT && is_error {
            let mut changed = payload.clone();
            add(&mut changed, 1);
            return Fate::Replace(vec![Frame::data(*at, changed)]);
        }
        if (at.part, at.lane, at.op) == (MAC_OPEN, 0, OF_OUTPUTS) {
            let sigma = payload[SIGMA..].first_chunk().expect("sixteen bytes");
            lock(&seen).sigmas.insert(message.from, u128::from_le_bytes(*sigma));
            if corrupt.contains(&message.from) || corrupt.contains(&message.to) {
                return Fate::Replace(Vec::new());
            }
        }
        Fate::Deliver
    })
}

fn end(case: &Case, lanes: &[Run], corrupt: &[usize]) -> End {
    let honest = || (0..case.parties()).filter(|party| !corrupt.contains(party));
    let result = |lane: usize, me: usize| &lanes[lane].endings[me].as_ref().expect("it took part").result;
    let committed = || {
        let mut sent = lanes[0].trace.deliveries().iter();
        sent.any(|sent| {
            let at = (sent.at.part, sent.at.lane, sent.at.op);
            !corrupt.contains(&sent.from) && at == (MAC_COMMIT, 1, OF_OUTPUTS)
        })
    };
    assert!(honest().all(|me| result(0, me).is_err()), "lane 0 has no verdict");
    let mut ends = honest().map(|me| match result(1, me) {
        Ok(outcome) => {
            assert_ne!(outcome.outputs[0].as_ref(), Some(&case.inputs[0]), "the attack did nothing");
            End::WrongOutput
        }
        Err(error) if error.to_string().contains("a check is under way") => End::Refused,
        Err(_) => {
            assert!(!committed(), "no check is begun beside another");
            End::NoCheck
        }
    });
    let first = ends.next().expect("somebody is honest");
    assert!(ends.all(|end| end == first));
    first
}

/// Adds to the element that stands first in some bytes.
fn add(bytes: &mut [u8], value: u128) {
    let element = bytes.first_chunk_mut().expect("sixteen bytes");
    *element = PRIME.add(u128::from_le_bytes(*element), value).to_le_bytes();
}

/// Every party's store, with what both lanes draw and more.
struct Stores(Vec<TempDir>);

impl Stores {
    fn filled(parties: usize) -> Self {
        let folder = || tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let stores = Self((0..parties).map(|_| folder()).collect());
        let case = Case::new(&MACS, parties, plan(), &[vec![5, 0]]);
        let demand = MACS.demand(&case.plan, case.roles());
        let wanted = demand.counts().map(|(kind, count)| (kind, u64::from(LANES + 1) * count.max(64)));
        let wanted: Vec<(SupplyKind, u64)> = wanted.collect();
        let agreement = Agreement::among(party_names(parties), MACS.spec.name, String::new());
        let filled = play(World::new(parties, 0).transports(), &agreement, &Draws::fixed(9), |session| {
            let mut store = stores.open(session.me());
            let mut live = MACS.live_supply(session)?;
            let mut writer = store.writer(Epoch(*session.id()))?;
            fill(live.as_mut(), session, &wanted, &mut writer, &mut Unobserved)?;
            writer.finish(&mut store)?;
            session.barrier()?;
            Ok::<_, Error>(())
        });
        for filled in filled {
            filled.expect("a store is filled");
        }
        stores
    }

    fn open(&self, me: usize) -> Store {
        let parties = party_names(self.0.len());
        let binding = Binding {
            me: parties[me].clone(),
            parties,
            clients: Vec::new(),
            protocol: MACS.spec.name.into(),
            parameters: String::new(),
            plan: None,
        };
        let path = |name: &str| self.0[me].path().join(name);
        Store::create(&path("store"), &path("anchors"), &binding).expect("a store in a folder of its own")
    }

    /// Each party's supply in a lane; of those that don't note them in the store, checks are counted in the process.
    fn supplies(
        &self,
        is_unnoted: impl Fn(usize) -> bool,
    ) -> impl Fn(usize, u16) -> Box<dyn Supply> + Send + Sync + 'static {
        let of_party = |me: usize| {
            let (_, lanes) = Stock::new(self.open(me)).lanes(LANES, blocks(self.0.len())).expect("one run");
            let scopes = CheckScope::unkept(LANES);
            let supply = |(inner, checks)| -> Option<Box<dyn Supply>> {
                let supply = Unnoted { inner, checks };
                Some(if is_unnoted(me) { Box::new(supply) } else { Box::new(supply.inner) })
            };
            lanes.into_iter().zip(scopes).map(supply).collect::<Vec<_>>()
        };
        let all = Mutex::new((0..self.0.len()).map(of_party).collect::<Vec<_>>());
        move |me, lane| lock(&all)[me][usize::from(lane)].take().expect("a lane has one engine")
    }

    /// How many blocks a party has that no run took, and whether it has their key.
    fn left(&self, me: usize) -> (u64, bool) {
        let (store, kinds) = (self.open(me), blocks(self.0.len()));
        let available = kinds.keys().flat_map(|kind| store.available(kind.code()));
        (available.map(|own| own.count - own.next).sum(), !store.checked_keys().is_empty())
    }
}

/// What both lanes draw.
fn blocks(parties: usize) -> tacit_engine::supply::Blocks {
    let case = Case::new(&MACS, parties, plan(), &[vec![5, 0]]);
    let mut blocks = MACS.demand(&case.plan, case.roles()).blocks();
    for count in blocks.values_mut() {
        *count *= u64::from(LANES);
    }
    blocks
}

/// A supply from a store whose checks the store doesn't count.
struct Unnoted<S> {
    inner: S,
    checks: CheckScope,
}

impl<S: Supply> Supply for Unnoted<S> {
    fn key(&mut self) -> Result<Material, Error> {
        self.inner.key()
    }

    fn provide(&mut self, session: &mut Session, demand: &Arc<Demand>) -> Result<(), Error> {
        self.inner.provide(session, demand)
    }

    fn draw(
        &mut self,
        drawer: Drawer,
        kind: SupplyKind,
        items: std::ops::Range<u64>,
    ) -> Result<Vec<Buffer>, Error> {
        self.inner.draw(drawer, kind, items)
    }

    fn checks(&self) -> &CheckScope {
        &self.checks
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
