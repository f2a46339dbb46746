//! The model tenants on supplies from stores: parties fill them, another process opens them, and runs draw from them.

#[path = "supplies/set_back.rs"]
mod set_back;

use set_back::Coalition;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tacit_additive::{Additive, MAC_COMMIT, MAC_OPEN};
use tacit_engine::executor::Unobserved;
use tacit_engine::supply::{Demand, Stock, Supply, SupplyKind, fill};
use tacit_engine::{Checks, Client, Engine, Error, Participants, Protocol, ProtocolSpec};
use tacit_net::Phase;
use tacit_program::cost::{Flow, Step};
use tacit_program::plan::{Op, Plan};
use tacit_program::{Builder, Capabilities, Dtype, Range, Recipient, lower};
use tacit_session::{Session, step};
use tacit_store::{Binding, Epoch, Run, Store};
use tacit_testkit::conformance::{Subject, equality};
use tacit_testkit::tenants::{BITS, FIELDS, MACS};
use tacit_testkit::{Case, Deviation, Draws, Fate, Interceptor, Message};
use tempfile::TempDir;

/// A tenant whose parties, before each run, fill a store of their own with what its plan draws and more, and give it to the
/// engine as another process finds it. They have used different numbers of blocks before.
struct Shelved {
    inner: &'static Additive,
    /// Every party's stores, run by run.
    stores: Mutex<Vec<(usize, TempDir)>>,
    /// Instead of them, stores that stay, some of them in the hands of a coalition.
    coalition: Option<Coalition>,
}

/// Items of each kind that a run leaves.
const MORE: u64 = 300;

impl Shelved {
    fn new(inner: &'static Additive) -> &'static Self {
        Box::leak(Box::new(Self { inner, stores: Mutex::default(), coalition: None }))
    }

    /// The stores, by party; they go with this.
    fn take(&self) -> Vec<(usize, TempDir)> {
        std::mem::take(&mut self.stores.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn open(folder: &Path, me: usize, parties: usize) -> Store {
        let names: Vec<String> = (0..parties).map(|party| format!("P{party}")).collect();
        let binding = Binding {
            me: names[me].clone(),
            parties: names,
            clients: Vec::new(),
            protocol: "model".into(),
            parameters: String::new(),
            plan: None,
        };
        let path = |name: &str| folder.join(name);
        Store::create(&path("store"), &path("anchors"), &binding).expect("a store in a folder of its own")
    }

    /// Fills a store with so many items of each kind.
    fn fill(
        &self,
        session: &mut Session,
        wanted: &[(SupplyKind, u64)],
        store: &mut Store,
    ) -> Result<(), Error> {
        let mut live = self.inner.live_supply(session)?;
        let mut writer = store.writer(Epoch(*session.id()))?;
        fill(live.as_mut(), session, wanted, &mut writer, &mut Unobserved)?;
        writer.finish(store)?;
        Ok(session.barrier()?)
    }

    fn supply(&self, session: &mut Session, demand: &Demand) -> Result<Box<dyn Supply>, Error> {
        if let Some(coalition) = &self.coalition {
            return coalition.supply(self, session, demand);
        }
        let (me, parties) = (session.me(), session.parties());
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let mut store = Self::open(folder.path(), me, parties);
        let epoch = Epoch(*session.id());
        let wanted: Vec<(SupplyKind, u64)> =
            demand.counts().map(|(kind, count)| (kind, count + MORE)).collect();
        if !wanted.is_empty() {
            self.fill(session, &wanted, &mut store)?;
        }
        for (kind, _) in &wanted {
            let run = Run { epoch, shelf: kind.code(), first: 0, instances: 1 + me as u64 % 2 };
            let reserved = store.reserve(run)?;
            store.put_away(reserved)?;
        }
        drop(store);
        let (_, mut lanes) = Stock::new(Self::open(folder.path(), me, parties)).lanes(1, demand.blocks())?;
        self.stores.lock().unwrap_or_else(PoisonError::into_inner).push((me, folder));
        Ok(Box::new(lanes.remove(0)))
    }
}

impl Protocol for Shelved {
    fn spec(&self) -> &ProtocolSpec {
        self.inner.spec()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        self.inner.price(plan, participants, step)
    }

    fn has_online_messages(&self, op: &Op, stage: u32) -> bool {
        self.inner.has_online_messages(op, stage)
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        self.inner.checks(plan, participants)
    }

    fn setup(&self, plan: &Plan, participants: &Participants) -> Checks {
        self.inner.setup(plan, participants)
    }

    fn demand(&self, plan: &Plan, participants: &Participants) -> Demand {
        self.inner.demand(plan, participants)
    }

    fn engine(
        &self,
        mut session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        let supply = self.supply(&mut session, &self.demand(&plan, &participants))?;
        let mut engine = self.inner.engine(session, plan, participants)?;
        engine.supply(supply)?;
        Ok(engine)
    }

    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        self.inner.client(session, plan, participants)
    }
}

fn subject(protocol: &'static Shelved, parties: usize, one_in: usize) -> Subject {
    Subject { broadcasts: true, one_in, ..Subject::new(protocol, parties) }
}

#[test]
fn programs_give_the_same_on_supplies_from_stores() {
    for (inner, parties) in [(&BITS, 2), (&BITS, 3), (&FIELDS, 2), (&FIELDS, 5), (&MACS, 3)] {
        let shelved = Shelved::new(inner);
        let subject = subject(shelved, parties, 2);
        equality::random_programs(&subject, 0..6);
        for name in ["input", "mul", "matmul", "less", "select", "truncate"] {
            equality::operation(&subject, name);
        }
        for (party, folder) in shelved.take() {
            let store = Shelved::open(folder.path(), party, parties);
            assert_eq!(store.restored(), [], "nothing is read that isn't noted");
        }
    }
}

/// Two products, one comparison: checks before the comparison's opening, before the outputs and of them.
fn case(protocol: &'static dyn Protocol, parties: usize) -> Case {
    let mut build = Builder::new();
    let range = Range::new(-100, 100);
    let [a, b] =
        ["P0", "alice"].map(|owner| build.input(owner, owner, Dtype::Int, &[3], range).expect("an input"));
    let product = build.mul(a, b).expect("a product");
    let less = build.less(product, a).expect("a comparison");
    build.reveal(product, Recipient::All).expect("the node is there");
    build.reveal(less, Recipient::Role("P1".into())).expect("the node is there");
    let program = build.finish().expect("something is revealed");
    let plan = lower(&program, protocol.capabilities()).expect("the tenant has all of it").plan;
    Case::new(protocol, parties, plan, &[vec![3, 4, u64::MAX], vec![7, 0, 9]])
}

/// How many blocks of each store are unused, of the kind of which most are, and whether there is a key.
fn left(shelved: &Shelved, parties: usize) -> Vec<u64> {
    let mut stores = shelved.take();
    stores.sort_by_key(|(party, _)| *party);
    let left = |(party, folder): &(usize, TempDir)| {
        let store = Shelved::open(folder.path(), *party, parties);
        let kinds = [SupplyKind::Triple, SupplyKind::RandomBit].map(|kind| kind(FIELDS_DOMAIN).code());
        let left = kinds.into_iter().flat_map(|shelf| store.available(shelf)).map(|own| own.count - own.next);
        left.max().unwrap_or(0)
    };
    stores.iter().map(left).collect()
}

const FIELDS_DOMAIN: tacit_program::plan::Domain =
    tacit_program::plan::Domain::Modular(tacit_program::Modulus::Prime128);

/// A message that is lost before the first check's commitments burns what the run had reserved; one of them, or later
/// in the check, destroys all that is under the key, at whoever had begun it; and so does an opening that doesn't
/// fit, at whoever sees it. The others are told that a check failed, for which a run on a store destroys what it
/// draws from.
#[test]
fn a_check_without_a_verdict_destroys_what_its_key_is_for() {
    const PARTIES: usize = 3;
    let shelved = Shelved::new(&MACS);
    let case = case(shelved, PARTIES);
    let run = case.run(&Draws::fixed(1));
    run.outcomes();
    let whole = left(shelved, PARTIES);
    assert!(whole.iter().all(|left| *left >= 1), "{whole:?}");
    let (from, to) = (1, 0);
    let link: Vec<u16> = run.trace.link(from, to).map(|delivery| delivery.at.part).collect();
    let at = |part: u16| link.iter().position(|other| *other == part).expect("there is such a message");
    for (part, deviation, destroys) in [
        (step::OPERATION, Deviation::Death, false),
        // Nobody has committed to anything yet.
        (step::COIN_OPEN, Deviation::Death, false),
        (MAC_COMMIT, Deviation::Death, true),
        (MAC_OPEN, Deviation::Flip(3), true),
        (MAC_OPEN, Deviation::Death, true),
    ] {
        let world = case.world().intercept(deviation.at(from, to, at(part)));
        let run = case.run_in(&world, &Draws::fixed(1));
        let failed = run.endings.iter().flatten().filter(|ending| ending.result.is_err()).count();
        assert!(failed >= PARTIES - 1, "{deviation:?} of {part:x}");
        let left = left(shelved, PARTIES);
        for party in (0..PARTIES).filter(|&party| party != from) {
            if deviation == Deviation::Flip(3) && party != to {
                let ending = run.endings[party].as_ref().expect("it took part");
                assert!(ending.result.as_ref().is_err_and(Error::is_failed_check), "{:?}", ending.result);
                continue;
            }
            let expected = if destroys { 0 } else { whole[party] };
            assert_eq!(left[party], expected, "P{party} after {deviation:?} of {part:x}");
        }
    }
}

/// Whenever a client is lost, within a check or not, whoever hears of it first and says so, and however late a party is: keys
/// stay, and what wasn't reserved.
#[test]
fn a_client_that_is_lost_has_no_keys_destroyed() {
    const PARTIES: usize = 3;
    const ALICE: usize = PARTIES;
    let shelved = Shelved::new(&MACS);
    let case = case(shelved, PARTIES);
    let run = case.run(&Draws::fixed(1));
    run.outcomes();
    let whole = left(shelved, PARTIES);
    assert_eq!(whole, [whole[0]; PARTIES], "all have filled theirs alike");
    let (parts, ops): (Vec<u16>, Vec<u32>) =
        run.trace.link(2, 1).map(|delivery| (delivery.at.part, delivery.at.op)).unzip();
    // Before that stores are filled, and who hears of a loss there has none: one may be about to, as another one sends its list.
    let is_epoch = |(part, op): (&u16, &u32)| (*part, *op) == (step::STORED, 0);
    let lists = parts.iter().zip(&ops).position(is_epoch).expect("they agree on an epoch");
    let slow = |message: &Message<'_>, how: usize| match (how, message.from, message.to) {
        (1, 2, 0) => Fate::Delay(Duration::from_millis(3)),
        (2, 1, 0) if message.frame.at.part == MAC_OPEN => Fate::Delay(Duration::from_millis(10)),
        _ => Fate::Deliver,
    };
    let mut failed = 0;
    for (nth, part) in parts.iter().enumerate().skip(lists) {
        for how in 0..3 {
            let interceptor: Interceptor = Box::new(move |message| {
                if (message.from, message.to, message.nth) == (2, 1, nth) {
                    Fate::Lose(ALICE)
                } else {
                    slow(message, how)
                }
            });
            let world = case.world().intercept(interceptor);
            // What somebody had sent of a check arrives, though it leaves.
            let world = if how == 2 { world.resetting() } else { world };
            let run = case.run_in(&world, &Draws::fixed(1));
            failed += usize::from(run.endings[0].as_ref().is_some_and(|ending| ending.result.is_err()));
            let left = left(shelved, PARTIES);
            assert!(left.len() == PARTIES || nth == lists, "after message {nth} ({part:x}), {how}");
            let kept = left.iter().all(|left| *left >= whole[0]);
            assert!(kept, "after message {nth} ({part:x}), {how}: {left:?} of {whole:?}");
        }
    }
    assert!(failed > parts.len(), "{failed}");
}
