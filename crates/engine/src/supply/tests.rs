//! Demands, draws, checks of several lanes, and supplies from stores, with a dealer who counts.

mod ends;
mod failures;

use super::*;
use crate::executor::Unobserved;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;
use tacit_net::{AbortFlag, Lane, Limits, Mesh, memory};
use tacit_program::Modulus;
use tacit_program::plan::{Builder, Domain, Layout, Local, OpKind, Plan, Rows, To};
use tacit_session::{Agreement, OsEntropy};
use tacit_store::{Available, Binding, Epoch, NoAgreement, Store};
use tempfile::TempDir;

const BITS: SupplyKind = SupplyKind::Triple(Domain::Bits);
const FIELD: Domain = Domain::Modular(Modulus::Mersenne61);
const TRIPLES: SupplyKind = SupplyKind::Triple(FIELD);
const RANDOM: SupplyKind = SupplyKind::RandomBit(FIELD);
const MASKS: SupplyKind = SupplyKind::Masks { words: 3 };
const KEY: [u8; 16] = *b"a share of a key";

/// A branch of two arms in the whole plan, the second with a branch in it; and an AND before and after.
fn branches(cols: usize) -> Plan {
    let mut builder = Builder::new();
    let owner = builder.role("P0");
    let [a, which] = [(); 2].map(|()| builder.bits(1, cols));
    builder.input(owner, a);
    builder.input(owner, which);
    let condition = Rows::one(which, 0);
    let arms = [0, 1].map(|arm| builder.region(0, condition, arm));
    let inner = [0, 1].map(|arm| builder.region(arms[1], condition, arm));
    for region in [0, arms[0], arms[0], arms[1], inner[0], inner[1], 0] {
        builder.in_region(region);
        let dst = builder.bits(1, cols);
        let [a, dst_rows] = [a, dst].map(|reg| Rows::one(reg, 0));
        builder.interact(OpKind::And { a, b: a, dst: dst_rows });
        builder.output(dst, To::All);
    }
    builder.finish()
}

fn ranges(plan: &Plan, arms: Arms) -> (Vec<(SupplyKind, u64)>, Vec<Range<u64>>) {
    let needs = |drawer| match drawer {
        // So many that every operation is told from the others.
        Drawer::Op(op) => vec![(BITS, 10 + u64::from(op))],
        Drawer::Input(_) => vec![(RANDOM, 1), (BITS, 0)],
        _ => Vec::new(),
    };
    let demand = Demand::of(plan, arms, needs);
    let ops = (0..plan.ops.len() as u32).map(|op| demand.range(Drawer::Op(op), BITS).unwrap());
    assert_eq!(demand.range(Drawer::Input(1), RANDOM), Some(1..2));
    assert_eq!(demand.range(Drawer::Input(1), BITS), None);
    (demand.counts().collect(), ops.collect())
}

#[test]
fn arms_that_exclude_one_another_share_ranges_and_count_once() {
    let (counts, shared) = ranges(&branches(1), Arms::Shared);
    // Operations 0 and 6 stand outside; 1 and 2 in one arm, 3 in the other, and 4 and 5 in arms within it.
    let expected = [0..10, 26..37, 37..49, 26..39, 39..53, 39..54, 10..26];
    assert_eq!(shared, expected);
    assert_eq!(counts, [(BITS, 54), (RANDOM, 2)]);
    let plan = branches(1);
    for (one, a) in plan.ops.iter().zip(&shared) {
        for (other, b) in plan.ops.iter().zip(&shared) {
            let overlap = a.start < b.end && b.start < a.end;
            let may = std::ptr::eq(one, other) || plan.exclude_each_other(one.region, other.region);
            assert!(!overlap || may, "{a:?} and {b:?}");
        }
    }
}

/// What a random bit or a branch's `s` masks is opened in every arm: under one of them for two it would show their difference.
#[test]
fn arms_share_triples_and_nothing_else() {
    let plan = branches(1);
    for kind in [RANDOM, SupplyKind::RandomElement(Domain::Bits), SupplyKind::Masks { words: 2 }] {
        let demand = Demand::of(&plan, Arms::Shared, |drawer| match drawer {
            Drawer::Op(_) => vec![(kind, 3)],
            _ => Vec::new(),
        });
        let ops = 0..plan.ops.len() as u32;
        let mut ranges: Vec<_> = ops.map(|op| demand.range(Drawer::Op(op), kind).unwrap()).collect();
        ranges.sort_by_key(|range| range.start);
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{kind}: {ranges:?}");
        assert_eq!(demand.counts().collect::<Vec<_>>(), [(kind, 3 * plan.ops.len() as u64)]);
    }
}

/// Where columns are in arms of their own, what one column doesn't use another may.
#[test]
fn ranges_stay_apart_unless_the_protocol_says_so_and_all_columns_are_in_one_arm() {
    for (cols, arms) in [(1, Arms::Apart), (2, Arms::Apart), (2, Arms::Shared)] {
        let (counts, mut ranges) = ranges(&branches(cols), arms);
        assert_eq!(counts, [(BITS, (10..17).sum()), (RANDOM, 2)]);
        ranges.sort_by_key(|range| range.start);
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}

/// What repeats draws in each turn what it hasn't drawn before.
#[test]
fn every_turn_of_a_section_has_ranges_of_its_own() {
    let mut builder = Builder::new();
    let owner = builder.role("P0");
    let [a, once, again] = [(); 3].map(|()| builder.bits(1, 2));
    builder.input(owner, a);
    let and = |builder: &mut Builder, dst| {
        let [a, dst] = [a, dst].map(|reg| Rows::one(reg, 0));
        builder.interact(OpKind::And { a, b: a, dst });
    };
    and(&mut builder, once);
    builder.begin_section();
    and(&mut builder, again);
    builder.end_section(3, Vec::new());
    builder.output(once, To::All);
    builder.output(again, To::All);
    let plan = builder.finish();
    let demand = Demand::of(&plan, Arms::Apart, |drawer| match drawer {
        Drawer::Op(_) => vec![(BITS, 5)],
        _ => Vec::new(),
    });
    let ranges = (0..4).map(|op| demand.range(Drawer::Op(op), BITS));
    assert!(ranges.eq([0..5, 5..10, 10..15, 15..20].map(Some)));
    assert_eq!((demand.range(Drawer::Op(4), BITS), demand.counts().next()), (None, Some((BITS, 20))));
}

/// Which arm is active may be another one in each turn, so what one turn doesn't use another may.
#[test]
fn arms_that_are_in_what_repeats_stay_apart() {
    // The whole branch repeats, or a branch in one of its arms, or its condition is another one after the turns.
    for case in ["arms", "inner arms", "condition"] {
        let mut builder = Builder::new();
        let owner = builder.role("P0");
        let [a, which, dst, made] = [(); 4].map(|()| builder.bits(1, 1));
        builder.input(owner, a);
        builder.input(owner, which);
        let condition = Rows::one(which, 0);
        let and = |builder: &mut Builder, region, dst| {
            builder.in_region(region);
            let [a, dst] = [a, dst].map(|reg| Rows::one(reg, 0));
            builder.interact(OpKind::And { a, b: a, dst });
            builder.in_region(0);
        };
        let arms = [0, 1].map(|arm| builder.region(0, condition, arm));
        let inner = [0, 1].map(|arm| builder.region(arms[0], condition, arm));
        let (before, turn, after) = match case {
            "arms" => (None, arms, None),
            "inner arms" => (Some(arms[1]), inner, None),
            _ => (Some(arms[0]), [0; 2], Some(arms[1])),
        };
        if let Some(region) = before {
            and(&mut builder, region, dst);
        }
        builder.begin_section();
        for region in turn {
            and(&mut builder, region, made);
        }
        let copy = Local::Copy { a: made, layout: Layout::whole(&[1]), at: 0, dst: which };
        builder.end_section(2, if case == "condition" { vec![copy] } else { Vec::new() });
        if let Some(region) = after {
            and(&mut builder, region, dst);
        }
        builder.output(dst, To::All);
        builder.output(made, To::All);
        let plan = builder.finish();
        let (counts, ranges) = ranges_of_all(&plan);
        let all = (0..plan.op_count()).map(|op| 10 + u64::from(op)).sum();
        assert_eq!(counts, [(BITS, all)], "{case}: {ranges:?}");
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{case}: {ranges:?}");
    }
}

/// What arms that may share draw: the counts, and every operation's range in the order of their places.
fn ranges_of_all(plan: &Plan) -> (Vec<(SupplyKind, u64)>, Vec<Range<u64>>) {
    let demand = Demand::of(plan, Arms::Shared, |drawer| match drawer {
        Drawer::Op(op) => vec![(BITS, 10 + u64::from(op))],
        _ => Vec::new(),
    });
    let mut ranges: Vec<Range<u64>> = demand.ranges(BITS).collect();
    ranges.sort_by_key(|range| range.start);
    (demand.counts().collect(), ranges)
}

#[test]
fn a_drawer_draws_its_own_items_once_in_any_order() {
    let demand = Demand::of(&branches(1), Arms::Shared, |drawer| match drawer {
        Drawer::Op(_) => vec![(BITS, 8)],
        _ => Vec::new(),
    });
    let mut draws = Draws::new(Arc::new(demand));
    let mut note = |op, items| draws.note(Drawer::Op(op), BITS, items);
    // Operations 1 and 3 are in arms that exclude one another, and share what they draw.
    assert_eq!(note(1, 2..4), Ok(18..20));
    assert_eq!(note(3, 2..4), Ok(18..20));
    assert_eq!(note(1, 6..8), Ok(22..24));
    assert_eq!((note(1, 0..2), note(1, 4..6), note(1, 3..3)), (Ok(16..18), Ok(20..22), Ok(19..19)));
    for items in [0..1, 3..5, 7..8, 0..8] {
        let says = note(1, items.clone()).unwrap_err().to_string();
        assert!(says.contains("again"), "{items:?}: {says}");
    }
    #[expect(clippy::reversed_empty_ranges, reason = "a mistake to be refused")]
    for items in [7..9, 8..9, 0..u64::MAX, 5..4] {
        assert!(note(3, items.clone()).is_err(), "{items:?}");
    }
    assert!(
        draws.note(Drawer::Op(1), RANDOM, 0..1).is_err() && draws.note(Drawer::Stock, BITS, 0..1).is_err()
    );
}

/// Every party's part in every lane, in threads of their own; what came of it, by party and lane.
fn play<T: Send, S: Send>(
    seats: Vec<Vec<S>>,
    play: impl Fn(usize, u16, &mut Session, S) -> T + Sync,
) -> Vec<Vec<T>> {
    let (parties, lanes) = (seats.len(), seats[0].len());
    let names: Vec<String> = (0..parties).map(|party| format!("P{party}")).collect();
    let mut links: Vec<Vec<_>> = (0..parties).map(|_| Vec::new()).collect();
    for _ in 0..lanes {
        links.iter_mut().zip(memory::mesh(parties, 0)).for_each(|(links, link)| links.push(link));
    }
    let agreement = Agreement::among(names.clone(), "supplies", String::new());
    let ties: Vec<AbortFlag> = (0..parties).map(|_| AbortFlag::default()).collect();
    scope(|threads| {
        let (names, agreement, play, ties) = (&names, &agreement, &play, &ties);
        let start = |(me, lane, link, seat)| {
            let number = u16::try_from(lane).unwrap();
            let lane = Lane { number, count: lanes as u16 };
            threads.spawn(move || {
                let mesh = Mesh::new(Box::new(link), me, names.clone(), Limits::default());
                let mesh = mesh.in_lane(lane, ties[me].clone());
                let mut session = Session::establish(mesh, agreement.clone(), Box::new(OsEntropy)).unwrap();
                let done = play(me, number, &mut session, seat);
                // Who is done before others waits for them, however the run ended.
                let _ = session.close();
                done
            })
        };
        let mut running = Vec::new();
        for (me, (links, seats)) in links.into_iter().zip(seats).enumerate() {
            let lanes = links.into_iter().zip(seats).enumerate();
            running.push(lanes.map(|(lane, (link, seat))| start((me, lane, link, seat))).collect::<Vec<_>>());
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, T>| thread.join().unwrap();
        running.into_iter().map(|lanes| lanes.into_iter().map(join).collect()).collect()
    })
}

/// Checks of three lanes at three parties, which come to them at different times: what each party began, in order, and the
/// most that were under way there at once.
fn checks(scopes: impl Fn() -> Vec<CheckScope>) -> Vec<(Vec<(u16, u64)>, usize)> {
    const EACH: [u64; 3] = [1, 4, 2];
    let seats = (0..3).map(|_| scopes()).collect();
    let logs = [(); 3].map(|()| (Mutex::new(Vec::new()), AtomicUsize::new(0), AtomicUsize::new(0)));
    play(seats, |me, lane, session, scope| {
        let (log, now, most) = &logs[me];
        for number in 0..EACH[usize::from(lane)] {
            // Elsewhere the lanes come in another order.
            let late = (u64::from(lane) + me as u64) % 3 * 4 + number;
            sleep(Duration::from_millis(late));
            let check = scope.turn(session).and_then(Turn::begin).unwrap();
            log.lock().unwrap().push((lane, check.number()));
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            session.barrier().unwrap();
            sleep(Duration::from_millis(2));
            session.barrier().unwrap();
            now.fetch_sub(1, Ordering::SeqCst);
            check.pass().unwrap();
        }
        scope.ending().well();
        session.barrier().unwrap();
    });
    logs.into_iter().map(|(log, _, most)| (log.into_inner().unwrap(), most.into_inner())).collect()
}

#[test]
fn lanes_that_share_a_key_check_one_after_another_in_one_order_everywhere() {
    let shared = || CheckScope::unkept(3);
    let order = [(0, 0), (1, 1), (2, 2), (1, 3), (2, 4), (1, 5), (1, 6)];
    for (log, most) in checks(shared) {
        assert_eq!((&log[..], most), (&order[..], 1));
    }
    // Lanes with keys of their own needn't wait, and the count shows it.
    let apart = checks(|| (0..3).map(|_| CheckScope::alone()).collect());
    assert!(apart.iter().any(|(_, most)| *most > 1));
}

/// A lane that ends well before its turn is passed over, and one that fails in its check lets no other lane begin one.
#[test]
fn a_check_without_a_verdict_is_the_last_one() {
    for fails in [false, true] {
        let seats = (0..2).map(|_| CheckScope::unkept(3)).collect();
        let ended = play(seats, |_, lane, session, scope| match lane {
            0 => {
                scope.ending().well();
                None
            }
            1 => {
                let check = scope.turn(session).and_then(Turn::begin).unwrap();
                if fails {
                    drop(check);
                } else {
                    check.pass().unwrap();
                    scope.ending().well();
                }
                None
            }
            _ => Some(scope.turn(session).and_then(Turn::begin).map(|check| check.pass().unwrap())),
        });
        for lanes in ended {
            match lanes.into_iter().flatten().next().unwrap() {
                Ok(()) => assert!(!fails),
                Err(Error::Supply(says)) => assert!(fails && says.contains("destroyed"), "{says}"),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// A dealer whose items say which they are.
struct Counting {
    me: usize,
    draws: Draws,
    /// Items that were provided before.
    base: Counts,
    now: Vec<(SupplyKind, u64)>,
    checks: CheckScope,
}

type Counts = std::collections::HashMap<SupplyKind, u64>;

impl Counting {
    fn new(me: usize) -> Self {
        let (draws, base) = (Draws::default(), Counts::new());
        Self { me, draws, base, now: Vec::new(), checks: CheckScope::alone() }
    }
}

/// What an item has in a part, with MACs of other bytes.
fn item(me: usize, kind: SupplyKind, index: u64, part: usize, bytes: usize) -> Vec<u8> {
    let own = [me as u64, kind.code(), index, part as u64].map(u64::to_le_bytes);
    own.as_flattened().iter().cycle().take(bytes).zip(0..).map(|(byte, at): (&u8, u8)| byte ^ at).collect()
}

/// What a draw has, of items by their numbers in an epoch: twice as many parts as the kind has.
fn items(me: usize, kind: SupplyKind, items: Range<u64>) -> Vec<Vec<u8>> {
    let parts = kind.part_bytes();
    let part = |part: usize| {
        let bytes = parts[part % parts.len()];
        items.clone().flat_map(|index| item(me, kind, index, part, bytes)).collect()
    };
    (0..2 * parts.len()).map(part).collect()
}

impl Supply for Counting {
    fn key(&mut self) -> Result<Material, Error> {
        Ok(Material::of_bytes(&KEY))
    }

    fn provide(&mut self, _: &mut Session, demand: &Arc<Demand>) -> Result<(), Error> {
        for (kind, count) in self.now.drain(..) {
            *self.base.entry(kind).or_default() += count;
        }
        self.now = demand.counts().collect();
        self.draws = Draws::new(demand.clone());
        Ok(())
    }

    fn draw(&mut self, drawer: Drawer, kind: SupplyKind, range: Range<u64>) -> Result<Vec<Buffer>, Error> {
        let range = self.draws.note(drawer, kind, range)?;
        let base = self.base.get(&kind).copied().unwrap_or_default();
        let parts = items(self.me, kind, base + range.start..base + range.end);
        Ok(parts
            .iter()
            .flat_map(|part| Material::of_bytes(part).into_parts(&[part.len()]).unwrap())
            .collect())
    }

    fn checks(&self) -> &CheckScope {
        &self.checks
    }
}

/// A folder with the parties' stores.
struct Folder(TempDir);

const MADE: [(SupplyKind, u64); 4] = [(TRIPLES, 70_000), (BITS, 100), (RANDOM, 1), (MASKS, 5)];

impl Folder {
    /// Two parties' stores, with so many epochs.
    fn new(epochs: u8) -> Self {
        let folder = Self(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap());
        for epoch in 0..epochs {
            let stores = (0..2).map(|me| vec![folder.open(me)]).collect();
            play(stores, |me, _, session, mut store: Store| {
                let mut writer = store.writer(Epoch([epoch; 32])).unwrap();
                fill(&mut Counting::new(me), session, &MADE, &mut writer, &mut Unobserved).unwrap();
                writer.finish(&mut store).unwrap();
            });
        }
        folder
    }

    fn open(&self, me: usize) -> Store {
        let binding = Binding {
            me: format!("P{me}"),
            parties: ["P0", "P1", "P2"].map(str::to_owned).to_vec(),
            clients: Vec::new(),
            protocol: "supplies".to_owned(),
            parameters: String::new(),
            plan: None,
        };
        let path = |name: &str| self.0.path().join(name);
        Store::create(&path(&binding.me), &path("anchors"), &binding).unwrap()
    }

    /// A run of so many lanes, which draws so much in all.
    fn lanes(&self, lanes: u16, all: &[(SupplyKind, u64)]) -> Vec<Vec<StoredSupply>> {
        let all = Demand::stock(all).blocks();
        (0..2).map(|me| Stock::new(self.open(me)).lanes(lanes, all.clone()).unwrap().1).collect()
    }

    fn path(&self, me: usize) -> impl AsRef<Path> {
        self.0.path().join(format!("P{me}"))
    }
}

/// Draws `count` items of a kind in pieces, not in order, and holds them against those of an epoch from `first` on.
fn draw_all(supply: &mut StoredSupply, me: usize, kind: SupplyKind, first: u64, count: u64) {
    let grain = 37;
    for piece in (0..count.div_ceil(grain)).rev() {
        let range = piece * grain..count.min((piece + 1) * grain);
        let drawn = supply.draw(Drawer::Stock, kind, range.clone()).unwrap();
        let drawn: Vec<&[u8]> = drawn.iter().map(Buffer::bytes).collect();
        assert_eq!(drawn, items(me, kind, first + range.start..first + range.end), "{kind} {range:?}");
        assert!(supply.draw(Drawer::Stock, kind, range.start..range.start + 1).is_err());
    }
}

#[test]
fn what_is_filled_in_is_drawn_once_by_lanes_and_runs_from_whole_blocks() {
    let folder = Folder::new(1);
    let demand = |wanted: &[(SupplyKind, u64)]| Arc::new(Demand::stock(wanted));
    play(folder.lanes(2, &[(TRIPLES, 400), (MASKS, 4), (BITS, 128)]), |me, lane, session, mut supply| {
        // Lane 0 agrees first, and has agreed on nothing yet.
        assert!(lane > 0 || supply.key().is_err());
        supply.provide(session, &demand(&[(TRIPLES, 100), (MASKS, 2), (BITS, 1)])).unwrap();
        assert_eq!(supply.key().unwrap().into_buffer().bytes(), KEY);
        // Blocks of 64, and masks of branches one by one.
        draw_all(&mut supply, me, TRIPLES, 128 * u64::from(lane), 100);
        draw_all(&mut supply, me, MASKS, 2 * u64::from(lane), 2);
        draw_all(&mut supply, me, BITS, 64 * u64::from(lane), 1);
        // The next plan of the stream, and one that draws nothing.
        supply.provide(session, &demand(&[(TRIPLES, 64)])).unwrap();
        draw_all(&mut supply, me, TRIPLES, 256 + 64 * u64::from(lane), 64);
        supply.provide(session, &demand(&[])).unwrap();
        assert!(supply.draw(Drawer::Stock, TRIPLES, 0..1).is_err());
        supply.checks().ending().well();
    });
    // Of the next run; a crash of one party before burns what it had taken.
    drop(folder.open(1).reserve(tacit_store::Run {
        epoch: Epoch([0; 32]),
        shelf: TRIPLES.code(),
        first: 6,
        instances: 3,
    }));
    let last = [(TRIPLES, 1), (MASKS, 1)];
    play(folder.lanes(1, &last), |me, _, session, mut supply| {
        supply.provide(session, &demand(&last)).unwrap();
        draw_all(&mut supply, me, TRIPLES, 64 * 9, 1);
        draw_all(&mut supply, me, MASKS, 4, 1);
    });
    let ended = play(folder.lanes(1, &last), |_, _, session, mut supply| {
        supply.provide(session, &demand(&last)).unwrap_err()
    });
    for error in ended.into_iter().flatten() {
        assert!(matches!(error, Error::NoMaterial(NoAgreement::None { .. })), "{error}");
    }
}

#[test]
fn a_run_has_one_epoch_and_so_one_key() {
    let folder = Folder::new(2);
    let triples = |count| Arc::new(Demand::stock(&[(TRIPLES, count)]));
    let first = [(TRIPLES, 40_000)];
    let ended = play(folder.lanes(1, &first), |me, _, session, mut supply| {
        supply.provide(session, &triples(40_000)).unwrap();
        draw_all(&mut supply, me, TRIPLES, 0, 100);
        // The other epoch would have enough.
        supply.provide(session, &triples(40_000)).unwrap_err()
    });
    for error in ended.into_iter().flatten() {
        assert!(
            matches!(error, Error::NoMaterial(NoAgreement::TooFew { wanted: 625, left: 469, .. })),
            "{error}"
        );
    }
    play(folder.lanes(1, &first), |me, _, session, mut supply| {
        supply.provide(session, &triples(40_000)).unwrap();
        draw_all(&mut supply, me, TRIPLES, 0, 100);
        // More than is read at a time, with a block between that is here in part.
        for range in [7_000..7_010, 100..7_000, 7_010..40_000] {
            let drawn = supply.draw(Drawer::Stock, TRIPLES, range.clone()).unwrap();
            let drawn: Vec<&[u8]> = drawn.iter().map(Buffer::bytes).collect();
            assert!(drawn == items(me, TRIPLES, range));
        }
    });
}

/// The first lane alone would take what is nearly used up.
#[test]
fn lanes_have_an_epoch_with_enough_for_all_of_them() {
    let folder = Folder::new(2);
    let triples = |count| Arc::new(Demand::stock(&[(TRIPLES, count)]));
    play(folder.lanes(1, &[(TRIPLES, 69_000)]), |_, _, session, mut supply| {
        supply.provide(session, &triples(69_000)).unwrap();
    });
    for (all, suffices) in [(64, false), (64 + 5_000, true)] {
        let ended = play(folder.lanes(2, &[(TRIPLES, all)]), |_, lane, session, mut supply| {
            let provided = supply.provide(session, &triples([64, 5_000][usize::from(lane)]));
            provided.inspect(|()| supply.checks().ending().well())
        });
        assert!(ended.iter().all(|lanes| lanes[0].is_ok() && lanes[1].is_ok() == suffices), "{ended:?}");
    }
}

/// Else a second run could have the key while the first one's check has no verdict, or pass that for it.
#[test]
fn a_stock_has_one_run_at_a_time_and_each_its_epoch() {
    let folder = Folder::new(2);
    let demand = Arc::new(Demand::stock(&[(TRIPLES, 1)]));
    let stocks: Vec<Stock> = (0..2).map(|me| Stock::new(folder.open(me))).collect();
    let lanes = || stocks.iter().map(|stock| stock.lanes(1, demand.blocks()).unwrap()).collect::<Vec<_>>();
    let first = lanes();
    assert!(stocks.iter().all(|stock| matches!(stock.lanes(1, demand.blocks()), Err(Error::Refused(_)))));
    let (runs, supplies): (Vec<SuppliedRun>, Vec<Vec<StoredSupply>>) = first.into_iter().unzip();
    play(supplies, |_, _, session, mut supply| {
        supply.provide(session, &demand).unwrap();
        drop(supply.checks().turn(session).and_then(Turn::begin).unwrap());
    });
    assert!(matches!(stocks[0].lanes(1, demand.blocks()), Err(Error::Refused(_))), "its end isn't told yet");
    drop(runs);
    // The next run knows nothing of the first one's epoch, and has none to destroy yet.
    let (runs, supplies): (Vec<SuppliedRun>, Vec<Vec<StoredSupply>>) = lanes().into_iter().unzip();
    runs[0].destroy().unwrap();
    play(supplies, |_, _, session, mut supply| {
        supply.provide(session, &demand).unwrap();
        supply.checks().turn(session).and_then(Turn::begin).unwrap().pass().unwrap();
    });
}

#[test]
fn a_check_on_stored_supplies_is_noted_and_one_without_a_verdict_destroys_them() {
    let folder = Folder::new(1);
    let demand = Arc::new(Demand::stock(&[(TRIPLES, 1)]));
    let checks = |passes: bool| {
        play(folder.lanes(2, &[(TRIPLES, 128)]), |_, _, session, mut supply| {
            supply.provide(session, &demand).unwrap();
            let check = supply.checks().turn(session).and_then(Turn::begin)?;
            let number = check.number();
            if passes {
                check.pass()?;
                supply.checks().ending().well();
            }
            Ok::<u64, Error>(number)
        })
    };
    assert_eq!(checks(true), [[Ok(0), Ok(1)], [Ok(0), Ok(1)]]);
    assert_eq!(folder.open(0).available(TRIPLES.code()).len(), 1);
    for lanes in checks(false) {
        // Of numbers that no check before had; and the other lane begins none.
        assert_eq!(lanes[0], Ok(2));
        assert!(matches!(lanes[1], Err(Error::Supply(_))), "{:?}", lanes[1]);
    }
    for me in 0..2 {
        assert_eq!(folder.open(me).available(TRIPLES.code()), [] as [Available; 0]);
        let left = std::fs::read_dir(folder.path(me)).unwrap().count();
        assert_eq!(left, 3, "binding, journal and lock");
    }
}
