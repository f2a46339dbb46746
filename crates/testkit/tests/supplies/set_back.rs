//! A coalition of all parties but one that puts older copies of its stores back, and says of them what it likes: the same as the
//! honest party, more, or less. What that one draws rests on its own store alone.

use super::{Shelved, case};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tacit_additive::Additive;
use tacit_engine::supply::{CheckScope, Demand, Drawer, Stock, Supply, SupplyKind};
use tacit_engine::{Error, Material};
use tacit_kernel::Buffer;
use tacit_session::{Session, step};
use tacit_spdz::MASCOT;
use tacit_store::{Available, NoAgreement, Run as Blocks, Store};
use tacit_testkit::tenants::MACS;
use tacit_testkit::{Case, Draws, Fate, Interceptor, Run};
use tempfile::TempDir;

const PARTIES: usize = 3;

/// Who follows the protocol.
const HONEST: usize = 0;

/// Those who don't.
const CORRUPT: Range<usize> = 1..PARTIES;

/// Runs that a store has enough for.
const RUNS: u64 = 4;

/// What a party drew, by who drew it for what, and where.
type Drawn = HashMap<(Drawer, SupplyKind, u64), Vec<Buffer>>;

/// All parties' stores, which stay from run to run.
pub(super) struct Coalition {
    folder: PathBuf,
    /// What runs draw.
    kinds: Mutex<BTreeSet<SupplyKind>>,
    /// What each party drew in the first run.
    drawn: Vec<Arc<Mutex<Drawn>>>,
    /// Whether those who are corrupt take again what they had drawn, wherever the parties say that they draw.
    again: Mutex<bool>,
}

impl Coalition {
    fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            kinds: Mutex::default(),
            drawn: (0..PARTIES).map(|_| Arc::default()).collect(),
            again: Mutex::default(),
        }
    }

    pub(super) fn supply(
        &self,
        shelved: &Shelved,
        session: &mut Session,
        demand: &Demand,
    ) -> Result<Box<dyn Supply>, Error> {
        let me = session.me();
        let mut store = self.open(me);
        lock(&self.kinds).extend(demand.blocks().into_keys());
        if store.checked_keys().is_empty() {
            let wanted: Vec<(SupplyKind, u64)> = demand
                .blocks()
                .into_iter()
                .map(|(kind, blocks)| (kind, RUNS * blocks * kind.per_block()))
                .collect();
            shelved.fill(session, &wanted, &mut store)?;
            if CORRUPT.contains(&me) {
                copy_all(&self.of(me), &self.copy_of(me));
            }
        }
        let (_, mut lanes) = Stock::new(store).lanes(1, demand.blocks())?;
        let again = *lock(&self.again) && CORRUPT.contains(&me);
        Ok(Box::new(Remembering { inner: lanes.remove(0), drawn: self.drawn[me].clone(), again }))
    }

    /// Where a party's store and its anchor are.
    fn of(&self, party: usize) -> PathBuf {
        self.folder.join(format!("P{party}"))
    }

    /// The same as they were before the first run, of one that is corrupt.
    fn copy_of(&self, party: usize) -> PathBuf {
        self.folder.join(format!("copy of P{party}"))
    }

    fn open(&self, party: usize) -> Store {
        Shelved::open(&self.of(party), party, PARTIES)
    }

    /// Puts the copies back, and has each corrupt store's journal say what another one's does.
    fn set_back(&self, claim: Claim) {
        for party in CORRUPT {
            fs::remove_dir_all(self.of(party)).expect("it is there");
            copy_all(&self.copy_of(party), &self.of(party));
            let mut store = self.open(party);
            let epoch = store.checked_keys()[0].epoch;
            let checks = |store: &Store| store.checked_keys()[0].next;
            let wanted = match claim {
                Claim::AsItIs => 0,
                Claim::AsHonest | Claim::MoreUsed => checks(&self.open(HONEST)),
                Claim::MoreChecks => checks(&self.open(HONEST)) + 2,
            };
            while checks(&store) < wanted {
                store.begin_check(epoch).expect("none is under way");
                store.pass_check(epoch).expect("one is under way");
            }
            if claim == Claim::MoreUsed {
                // More than the honest party, as much as leaves enough for a run.
                for (shelf, own) in self.available() {
                    let used = Blocks { epoch, shelf, first: 0, instances: own.count * 2 / RUNS };
                    let reserved = store.reserve(used).expect("nothing is used");
                    store.put_away(reserved).expect("it is there");
                }
            }
        }
    }

    /// What the honest party has, of each kind that runs draw.
    fn available(&self) -> Vec<(u64, Available)> {
        let store = self.open(HONEST);
        let own = |kind: &SupplyKind| Some((kind.code(), *store.available(kind.code()).first()?));
        lock(&self.kinds).iter().filter_map(own).collect()
    }

    /// Blocks that it has unused.
    fn left(&self) -> u64 {
        self.available().into_iter().map(|(_, own)| own.count - own.next).sum()
    }
}

/// What the coalition says of stores that it has set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// What the copies know.
    AsItIs,
    /// As many checks as the honest party's, of blocks that the copies have unused.
    AsHonest,
    /// As many checks, and more blocks used.
    MoreUsed,
    /// More checks.
    MoreChecks,
}

/// A store's supply, and what was drawn from it.
struct Remembering<S> {
    inner: S,
    drawn: Arc<Mutex<Drawn>>,
    /// Whether what was drawn first is what is drawn again.
    again: bool,
}

impl<S: Supply> Supply for Remembering<S> {
    fn key(&mut self) -> Result<Material, Error> {
        self.inner.key()
    }

    fn key_name(&self) -> Option<[u8; 32]> {
        self.inner.key_name()
    }

    fn provide(&mut self, session: &mut Session, demand: &Arc<Demand>) -> Result<(), Error> {
        self.inner.provide(session, demand)
    }

    fn draw(&mut self, drawer: Drawer, kind: SupplyKind, items: Range<u64>) -> Result<Vec<Buffer>, Error> {
        let fresh = self.inner.draw(drawer, kind, items.clone())?;
        let mut drawn = lock(&self.drawn);
        let first = drawn.entry((drawer, kind, items.start)).or_insert_with(|| fresh.clone());
        Ok(if self.again { first.clone() } else { fresh })
    }

    fn checks(&self) -> &CheckScope {
        self.inner.checks()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    fs::set_permissions(to, fs::metadata(from).expect("it is there").permissions()).expect("it is ours");
    for entry in fs::read_dir(from).expect("it is there").map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("there is room");
        }
    }
}

/// A case, the stores behind its protocol, and the folder that they are in.
fn with_coalition(inner: &'static Additive) -> (Case, &'static Coalition, TempDir) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let coalition = Some(Coalition::new(folder.path().to_owned()));
    let shelved: &'static Shelved =
        Box::leak(Box::new(Shelved { inner, stores: Mutex::default(), coalition }));
    (case(shelved, PARTIES), shelved.coalition.as_ref().expect("it was put there"), folder)
}

/// Where shares of what hides bits of inputs are opened, in either field.
const BIT_MASKS: Range<u16> = tacit_additive::BIT_MASKS..tacit_additive::BIT_MASKS + 2;

/// Elements that the honest party told the others: of inputs, of what hides them, of openings and outputs. All are masked by what
/// it draws, so none comes twice. What clients are told of outputs is open.
fn told(run: &Run) -> HashSet<[u8; 16]> {
    let is_masked = |to: usize, part: u16| match to {
        0..PARTIES => (step::INPUT..step::OFFLINE).contains(&part) || BIT_MASKS.contains(&part),
        _ => (step::INPUT..step::OUTPUT).contains(&part),
    };
    let own =
        run.trace.deliveries().iter().filter(|one| one.from == HONEST && is_masked(one.to, one.at.part));
    own.flat_map(|one| one.payload.as_chunks::<16>().0.iter().copied()).collect()
}

/// Ends the run before any check of values, so that no key has had more checks than copies know of.
fn early() -> Interceptor {
    Box::new(|message| {
        let is_last = message.from == 1 && BIT_MASKS.contains(&message.frame.at.part);
        if is_last { Fate::Hang } else { Fate::Deliver }
    })
}

fn of(run: &Run, party: usize) -> &Result<tacit_engine::executor::Outcome, Error> {
    &run.endings[party].as_ref().expect("it took part").result
}

#[test]
fn a_coalition_with_older_stores_has_nothing_of_the_honest_party_used_twice() {
    for inner in [&MACS, &MASCOT] {
        for claim in [Claim::AsItIs, Claim::AsHonest, Claim::MoreUsed, Claim::MoreChecks] {
            let (case, coalition, _folder) = with_coalition(inner);
            let first = case.run_and_compare(&Draws::fixed(1));
            let before = told(&first);
            assert!(before.len() > 100, "{}", before.len());
            let left = coalition.left();
            assert!(left > 0);
            coalition.set_back(claim);
            let what = format!("{} {claim:?}", inner.spec.name);
            match claim {
                Claim::AsHonest | Claim::MoreUsed => {
                    let again = told(&case.run_and_compare(&Draws::fixed(2)));
                    assert!(again.len() > 100 && again.is_disjoint(&before), "{what}");
                    assert!(coalition.left() < left, "{what}");
                }
                Claim::AsItIs | Claim::MoreChecks => {
                    let run = case.run(&Draws::fixed(2));
                    let (alike, named) = match claim {
                        Claim::AsItIs => (left, vec!["P1", "P2"]),
                        // It can't know better, and what it has is of no use to anybody.
                        _ => (0, vec!["P0"]),
                    };
                    let Err(Error::NoMaterial(NoAgreement::SetBack { parties, .. })) = of(&run, HONEST)
                    else {
                        panic!("{what}: {:?}", of(&run, HONEST));
                    };
                    assert_eq!(*parties, named, "{what}");
                    assert!(told(&run).is_empty(), "{what}");
                    assert_eq!(coalition.left(), alike, "{what}");
                }
            }
        }
    }
}

/// Numbers of checks tell nothing then: the honest party's journal does.
#[test]
fn a_run_that_ended_before_its_first_check_has_used_what_it_drew() {
    let (case, coalition, _folder) = with_coalition(&MACS);
    let first = case.run_in(&case.world().intercept(early()), &Draws::fixed(1));
    assert!(of(&first, HONEST).is_err());
    let (before, left) = (told(&first), coalition.left());
    assert!(!before.is_empty() && left > 0);
    coalition.set_back(Claim::AsItIs);
    let again = told(&case.run_and_compare(&Draws::fixed(2)));
    assert!(again.len() > 100 && again.is_disjoint(&before));
    assert!(coalition.left() < left);
}

/// Their shares belong to other values than the honest party's do.
#[test]
fn a_coalition_that_draws_again_what_it_had_drawn_gives_no_wrong_output() {
    for inner in [&MACS, &MASCOT] {
        let (case, coalition, _folder) = with_coalition(inner);
        let first = case.run_and_compare(&Draws::fixed(1));
        coalition.set_back(Claim::AsHonest);
        *lock(&coalition.again) = true;
        let run = case.run(&Draws::fixed(2));
        let error = of(&run, HONEST).as_ref().expect_err("what is opened doesn't fit its MACs");
        assert!(error.is_failed_check(), "{error}");
        assert!(told(&run).is_disjoint(&told(&first)));
        assert_eq!(coalition.left(), 0, "the key and all under it is destroyed");
    }
}
