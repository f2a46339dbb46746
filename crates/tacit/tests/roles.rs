//! Who plays what and how numbers are compared, as the network would have it: measured over shaped links on a clock of
//! their own, negotiated by all alike, and quickest as predicted.

use std::sync::Arc;
use std::time::Duration;
use tacit::advanced::engine::{Clear, Engine, Error as EngineError, Observer};
use tacit::advanced::net::{Limits, Mesh, Phase, Profile, Shape, Shaped};
use tacit::advanced::session::step;
use tacit::program::{Builder, Data, Dtype, Range, Recipient, Value};
use tacit::{
    Comparison, Compiled, Endpoint, Error, Making, RoleAssignment, Selection, Source, negotiate, play,
    players, price, protocol, select,
};
use tacit_testkit::{Fate, Interceptor, World};

const ORDERS: [&str; 6] = ["012", "021", "102", "120", "201", "210"];

fn parties() -> Vec<String> {
    ["berlin", "london", "new york"].map(str::to_owned).to_vec()
}

/// Products of `alice`'s numbers, each of `count` in so many rounds, for alice.
fn products(count: usize, depth: usize) -> Arc<Compiled> {
    let mut builder = Builder::new();
    let a = builder.input("alice", "a", Dtype::Int, &[count], Range::new(-1, 1)).unwrap();
    let product = (0..depth).fold(a, |product, _| builder.mul(product, a).unwrap());
    builder.reveal(product, Recipient::Role("alice".into())).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

/// The links between three machines of the paper (section 6: P_0 and P_1, P_1 and P_2, P_0 and P_2), if the parties
/// have these of its roles.
fn paper(machines: [usize; 3], bandwidths: [u64; 3]) -> Profile {
    let rtts = [201_928, 81_736, 229_792].map(Duration::from_micros);
    let pairs = [(0, 1), (1, 2), (0, 2)].into_iter().zip(rtts.into_iter().zip(bandwidths));
    let name = |machine| parties()[machines.iter().position(|&other| other == machine).unwrap()].clone();
    let pair = |((one, other), (rtt, bandwidth))| (name(one), name(other), Shape { rtt, bandwidth });
    Profile::of_pairs(pairs.map(pair).collect())
}

const MBIT: u64 = 1_000_000;

/// What one endpoint saw of a run.
#[derive(Debug)]
struct Seen {
    players: Vec<String>,
    comparison: Option<Comparison>,
    /// When phases began.
    phases: Vec<(Phase, Duration)>,
    output: Option<Clear>,
}

impl Seen {
    fn start(&self, phase: Phase) -> Duration {
        self.phases.iter().find(|(other, _)| *other == phase).map(|(_, at)| *at).unwrap()
    }
}

struct Phases(Vec<(Phase, Duration)>);

impl Observer for Phases {
    fn phase(&mut self, phase: Phase, engine: &mut dyn Engine) -> Result<(), EngineError> {
        self.0.extend(engine.session().map(|session| (phase, session.mesh().now())));
        Ok(())
    }
}

/// Lets the three parties and alice run a program over links of this profile, and negotiates roles before if they are
/// open.
fn run(
    name: &str,
    compiled: &Arc<Compiled>,
    profile: &Profile,
    interceptor: Option<Interceptor>,
) -> Vec<Result<Seen, Error>> {
    run_each([name; 4], compiled, profile, interceptor)
}

/// The same, each under a protocol of its own.
fn run_each(
    protocols: [&str; 4],
    compiled: &Arc<Compiled>,
    profile: &Profile,
    interceptor: Option<Interceptor>,
) -> Vec<Result<Seen, Error>> {
    let mut world = World::new(3, 1).latency(Duration::from_micros(1));
    if let Some(interceptor) = interceptor {
        world = world.intercept(interceptor);
    }
    let names = [parties(), vec!["alice".to_owned()]].concat();
    let one = |me: usize, mesh: Mesh| {
        let name = protocols[me];
        let mut endpoint = Endpoint::new(compiled, protocol(name)?, parties(), vec!["alice".into()])?;
        let (mut mesh, mut comparison) = (mesh, None);
        if tacit::is_open(name)? {
            let price = |name: &str| Ok(price(compiled, name, &parties())?.total);
            let settled;
            (mesh, settled) = negotiate(mesh, &endpoint, name, price)?;
            endpoint = endpoint.under(settled.protocol)?;
            comparison = settled.comparison;
        }
        let size = compiled.inputs()[0].shape[0];
        let value =
            Value { shape: vec![size], data: Data::Int((0..size as i64).map(|i| i % 3 - 1).collect()) };
        let value = if me == 3 { Some(endpoint.compiled.encode(0, &value)?) } else { None };
        let mut phases = Phases(Vec::new());
        let (outputs, _) = play(&endpoint, mesh, Source::InRun, vec![value], &mut phases)?;
        let output = outputs.into_iter().next().flatten();
        Ok(Seen { players: players(&*endpoint.protocol, &parties()), comparison, phases: phases.0, output })
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = world
            .transports()
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(me, links)| {
                let (one, names) = (&one, names.clone());
                scope.spawn(move || {
                    let links = Shaped::new(links, me, &names, profile);
                    one(me, Mesh::new(Box::new(links), me, names, Limits::default()))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn all(runs: Vec<Result<Seen, Error>>) -> Vec<Seen> {
    runs.into_iter().map(Result::unwrap).collect()
}

fn selection(name: &str, compiled: &Arc<Compiled>, net: &Profile, making: Making) -> Selection {
    select(name, &parties(), net, making, |name| Ok(price(compiled, name, &parties())?.total)).unwrap()
}

fn predicted(compiled: &Arc<Compiled>, net: &Profile) -> RoleAssignment {
    selection("astra", compiled, net, Making::InRun).roles.unwrap()
}

/// What a party waits for, from the first offline message until the last thing is checked.
fn took(seen: &[Seen]) -> Duration {
    let party = |seen: &Seen| seen.start(Phase::Output).saturating_sub(seen.start(Phase::Offline));
    seen.iter().take(3).map(party).max().unwrap()
}

/// The same in all orders, and in the one that is selected; everybody has the same of it, and what comes out is right.
fn compare(compiled: &Arc<Compiled>, profile: &Profile) -> ([Duration; 6], Vec<Seen>) {
    let settled = all(run("astra", compiled, profile, None));
    assert!(settled.iter().all(|seen| seen.players == settled[0].players), "{settled:?}");
    let in_order = ORDERS.map(|order| {
        let seen = all(run(&format!("astra roles={order}"), compiled, profile, None));
        assert!(seen[3].output.is_some() && seen[3].output == settled[3].output);
        took(&seen)
    });
    (in_order, settled)
}

/// What is selected by measuring is what is selected by the profile itself, and within a tenth of the quickest order,
/// by prediction and by the clock.
fn settles_well(compiled: &Arc<Compiled>, profile: &Profile) -> Vec<String> {
    let seating = predicted(compiled, profile);
    let (in_order, settled) = compare(compiled, profile);
    assert_eq!(settled[0].players, seating.parties, "{profile:?}");
    let all = ORDERS.map(|order| {
        let total = price(compiled, &format!("astra roles={order}"), &parties()).unwrap().total;
        total.network_seconds(profile, &parties())
    });
    assert!(seating.seconds.total <= 1.1 * all.into_iter().fold(f64::MAX, f64::min), "{seating} of {all:?}");
    let least = in_order.into_iter().min().unwrap();
    // Who has measured begins when the last word of that has come, and so apart from others.
    let apart = (0..3).flat_map(|one| (0..one).map(move |other| (one, other)));
    let apart = apart.filter_map(|(one, other)| profile.between(&parties()[one], &parties()[other]));
    let apart = apart.map(|shape| shape.rtt / 2).max().unwrap();
    assert!(took(&settled) <= least.mul_f64(1.1) + apart, "{:?} of {in_order:?}", took(&settled));
    seating.parties
}

const MACHINES: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The party that has a machine's place.
fn at(machines: [usize; 3], machine: usize) -> String {
    parties()[machines.iter().position(|&other| other == machine).unwrap()].clone()
}

/// On the paper's network in whatever order: those who are near play `P_1` and `P_2`.
#[test]
fn the_papers_roles_are_found_on_its_network() {
    let compiled = products(10, 12);
    for machines in MACHINES {
        let profile = paper(machines, [25 * MBIT; 3]);
        assert_eq!(settles_well(&compiled, &profile)[0], at(machines, 0), "{machines:?}");
    }
}

/// Section 6.2: one pair has less. Whichever it is, it is given the least to carry: `P_0` and `P_1` send each other nearly
/// nothing.
#[test]
fn a_restricted_pair_gets_the_least_to_carry() {
    let compiled = products(100_000, 2);
    for restricted in 0..3 {
        let mut bandwidths = [25 * MBIT; 3];
        bandwidths[restricted] = 10 * MBIT;
        settles_well(&compiled, &paper([2, 0, 1], bandwidths));
        let pairs = [(0, 1), (1, 2), (0, 2)].into_iter().enumerate();
        let lan = pairs.map(|(pair, (one, other))| {
            let bandwidth = if pair == restricted { 100 * MBIT } else { 1000 * MBIT };
            (parties()[one].clone(), parties()[other].clone(), Shape { bandwidth, ..Shape::LAN })
        });
        let lan = Profile::of_pairs(lan.collect());
        let players = settles_well(&compiled, &lan);
        assert_eq!(lan.between(&players[0], &players[1]).unwrap().bandwidth, 100 * MBIT);
    }
}

/// Online only `P_1` and `P_2` talk, and the prediction is exact but for frames' headers.
#[test]
fn predicted_seconds_are_those_of_shaped_links() {
    let profile = paper([2, 0, 1], [25 * MBIT; 3]);
    for (count, depth) in [(1, 1), (10, 20), (50_000, 3)] {
        let compiled = products(count, depth);
        for order in ORDERS {
            let name = format!("astra roles={order}");
            let seen = all(run(&name, &compiled, &profile, None));
            let cost = price(&compiled, &name, &parties()).unwrap().total;
            let predicted = cost.phase(tacit::program::Phase::Online).network_seconds(&profile, &parties());
            let online = |seen: &Seen| seen.start(Phase::Verify).saturating_sub(seen.start(Phase::Online));
            let measured = seen[..3].iter().map(online).max().unwrap().as_secs_f64();
            assert!((measured / predicted - 1.0).abs() < 0.01, "{measured} s, not {predicted} s");
        }
    }
}

#[test]
fn where_all_pairs_are_alike_the_order_is_the_usual_one() {
    let shape = Shape { rtt: Duration::from_millis(10), bandwidth: 100 * MBIT };
    let seen = all(run("astra roles=auto", &products(100, 3), &Profile::uniform(shape), None));
    assert!(seen.iter().all(|seen| seen.players == parties()), "{seen:?}");
}

/// Small differences don't count, so that the order is the same from run to run.
#[test]
fn small_differences_change_nothing() {
    let compiled = products(100, 3);
    let shape = |rtt| Shape { rtt: Duration::from_micros(rtt), bandwidth: 100 * MBIT };
    let names = parties();
    let pair = |one: usize, other: usize, rtt| (names[one].clone(), names[other].clone(), shape(rtt));
    let players = |pairs| predicted(&compiled, &Profile::of_pairs(pairs)).parties;
    assert_eq!(players(vec![pair(0, 1, 9_700), pair(1, 2, 10_300), pair(0, 2, 10_000)]), parties());
    let others = players(vec![pair(0, 1, 7_000), pair(1, 2, 10_000), pair(0, 2, 10_000)]);
    assert_eq!(others[0], "new york");
}

fn errors(runs: Vec<Result<Seen, Error>>) -> Vec<String> {
    runs.into_iter().map(|run| run.unwrap_err().to_string()).collect()
}

/// A party that says the order itself while the others leave it open, and one that runs another protocol.
#[test]
fn everybody_leaves_it_open_or_nobody() {
    let compiled = products(2, 1);
    let world = |other| {
        let open = "astra roles=auto";
        errors(run_each([open, other, open, open], &compiled, &Profile::uniform(Shape::LAN), None))
    };
    for error in world("astra roles=201") {
        assert!(error.contains("disagrees on the protocol's parameters"), "{error}");
        assert!(error.contains("roles=auto") && error.contains("roles=201"), "{error}");
    }
    for error in world("replicated") {
        assert!(error.contains("disagrees on the protocol: "), "{error}");
    }
}

/// Alters what some message says, of those from one endpoint to another.
fn alter(
    from: usize,
    to: Option<usize>,
    part: u16,
    change: impl Fn(&mut Vec<u8>) + Send + 'static,
) -> Interceptor {
    Box::new(move |message| {
        if message.from != from || to.is_some_and(|to| to != message.to) || message.frame.at.part != part {
            return Fate::Deliver;
        }
        let mut frame = message.frame.clone();
        // A shaped link's time stands behind the payload.
        let stamp = frame.payload.split_off(frame.payload.len() - 8);
        change(&mut frame.payload);
        frame.payload.extend(stamp);
        Fate::Replace(vec![frame])
    })
}

/// All is well for the parties, and the client goes by nobody who stands alone.
#[test]
fn a_client_goes_by_what_all_parties_tell_it() {
    let profile = paper([2, 0, 1], [25 * MBIT; 3]);
    let lie = || alter(1, Some(3), step::SETTLED, |order| order.copy_from_slice(b"210"));
    let error = errors(run("astra", &products(2, 5), &profile, Some(lie()))).swap_remove(3);
    assert!(error.contains("what the parties have settled does not match"), "{error}");
    let unknown: Interceptor = Box::new(|message| {
        let mut frame = message.frame.clone();
        if message.to == 3 && frame.at.part == step::SETTLED {
            frame.payload[..3].copy_from_slice(b"011");
        }
        Fate::Replace(vec![frame])
    });
    let error = errors(run("astra", &products(2, 5), &profile, Some(unknown))).swap_remove(3);
    assert!(error.contains("values that the protocol does not have"), "{error}");
}

/// What a party tells of its store is read before anybody shows it.
#[test]
fn what_a_party_tells_of_its_store_is_a_value_or_nothing() {
    let clearing: Interceptor = Box::new(|message| {
        let mut frame = message.frame.clone();
        if message.from == 1 && frame.at.part == step::MADE_WITH {
            frame.payload[..4].copy_from_slice(b"\x1b[2J");
        }
        Fate::Replace(vec![frame])
    });
    let profile = Profile::uniform(WAN);
    let errors = errors(run("astra", &products(2, 5), &profile, Some(clearing)));
    for me in [0, 2] {
        assert!(errors[me].contains("a party says that its store"), "{}", errors[me]);
    }
    assert!(!errors.concat().contains('\x1b'));
}

/// A party can make its own links look worse and no others: here it is left out online, and all is well.
#[test]
fn a_party_that_is_slow_on_purpose_changes_its_own_links_only() {
    let slow: Interceptor = Box::new(|message| {
        let is_echo = message.frame.at.part == step::ECHOES && message.from == 1;
        if is_echo { Fate::Delay(Duration::from_millis(50)) } else { Fate::Deliver }
    });
    let profile = Profile::uniform(Shape { rtt: Duration::from_millis(10), bandwidth: 100 * MBIT });
    let seen = all(run("astra", &products(2, 5), &profile, Some(slow)));
    assert!(seen.iter().all(|seen| seen.players == ["london", "berlin", "new york"]), "{seen:?}");
}

/// Who tells one party something else than another one: nobody goes on.
#[test]
fn who_says_two_different_things_is_noticed() {
    let profile = Profile::uniform(Shape { rtt: Duration::from_millis(10), bandwidth: 100 * MBIT });
    let two_faced =
        alter(1, Some(2), step::MEASURED, |row| row[..4].copy_from_slice(&1_000_000_u32.to_le_bytes()));
    let errors = errors(run("astra", &products(2, 5), &profile, Some(two_faced)));
    assert!(errors.iter().any(|error| error.contains("what was sent to everybody")), "{errors:?}");
}

/// Which of `alice`'s numbers are positive, for alice.
fn signs(count: usize) -> Arc<Compiled> {
    let mut builder = Builder::new();
    let bound = 1 << 62;
    let a = builder.input("alice", "a", Dtype::Int, &[count], Range::new(-bound, bound)).unwrap();
    let zero = Value { shape: vec![], data: Data::Int(vec![0]) };
    let zero = builder.constant(&zero, Dtype::Int).unwrap();
    let positive = builder.greater(a, zero).unwrap();
    builder.reveal(positive, Recipient::Role("alice".into())).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

const WAN: Shape = Shape { rtt: Duration::from_millis(40), bandwidth: 100 * MBIT };

/// On a far network few comparisons are garbled and many aren't; all select the same, the client is told, and it is
/// what the clock says is quicker. Whether roles are left open, too, is of no matter.
#[test]
fn numbers_are_compared_as_the_network_would_have_it() {
    let profile = Profile::uniform(WAN);
    for (count, expected) in [(10, "garbled"), (10_000, "prefix")] {
        let compiled = signs(count);
        let both = ["prefix", "garbled"]
            .map(|way| all(run(&format!("astra roles=012 comparison={way}"), &compiled, &profile, None)));
        for name in ["astra comparison=auto", "astra roles=012 comparison=auto"] {
            let predicted = selection(name, &compiled, &profile, Making::InRun).comparison.unwrap();
            assert_eq!(predicted.picked, expected, "{predicted}");
            let settled = all(run(name, &compiled, &profile, None));
            for (me, seen) in settled.iter().enumerate() {
                let comparison = seen.comparison.as_ref().unwrap();
                assert_eq!((comparison.picked, &seen.players), (expected, &parties()), "{me}");
                assert_eq!(comparison.seconds.len(), if me < 3 { 2 } else { 0 }, "{comparison}");
            }
            assert!(settled[3].output.is_some());
            assert!(both.iter().all(|seen| seen[3].output == settled[3].output));
            let [prefix, garbled] = both.each_ref().map(|seen| took(seen));
            let least = prefix.min(garbled);
            assert!(least < prefix.max(garbled) && took(&settled) <= least + WAN.rtt / 2, "{count}");
        }
    }
}

/// Whoever makes material offline doesn't wait for it.
#[test]
fn what_is_made_ahead_is_not_waited_for() {
    let net = Profile::uniform(WAN);
    let picked = |count, making| {
        selection("astra comparison=auto", &signs(count), &net, making).comparison.unwrap().picked
    };
    assert_eq!([10, 800, 10_000].map(|count| picked(count, Making::InRun)), ["garbled", "prefix", "prefix"]);
    assert_eq!(
        [10, 800, 10_000].map(|count| picked(count, Making::Offline)),
        ["garbled", "garbled", "prefix"]
    );
}

/// Where links take no time, or nothing is compared, it is as usual.
#[test]
fn what_makes_no_difference_is_as_usual() {
    let free = Profile::of_pairs(Vec::new());
    let wan = Profile::uniform(WAN);
    for (compiled, net) in [(signs(10), &free), (products(10, 2), &wan)] {
        let selection = selection("astra comparison=auto", &compiled, net, Making::InRun);
        assert_eq!(selection.comparison.unwrap().picked, "prefix");
        assert_eq!(selection.roles.unwrap().parties, parties());
    }
}

/// Somebody may say that its links take an hour; the others then keep no more material than they would have anyway.
#[test]
fn no_network_makes_comparisons_take_gigabytes() {
    let hour = Shape { rtt: Duration::from_hours(1), bandwidth: 1000 * MBIT };
    let net = Profile::uniform(hour);
    let picked = |count| {
        let compiled = signs(count);
        selection("astra comparison=auto", &compiled, &net, Making::InRun).comparison.unwrap().picked
    };
    assert_eq!([100_000, 3_000_000].map(picked), ["garbled", "prefix"]);
}

#[test]
fn everybody_leaves_comparisons_open_or_nobody() {
    let open = "astra comparison=auto";
    let compiled = signs(3);
    for other in ["astra", "astra comparison=garbled", "astra roles=012 comparison=auto"] {
        let protocols = [open, open, other, open];
        for error in errors(run_each(protocols, &compiled, &Profile::uniform(Shape::LAN), None)) {
            assert!(error.contains("disagrees on the protocol's parameters"), "{error}");
            assert!(error.contains("comparison=auto"), "{error}");
        }
    }
}

/// A protocol that has one way to compare leaves nothing open.
#[test]
fn comparisons_are_left_open_where_there_is_a_choice() {
    for name in ["replicated comparison=auto", "astra comparison=auot"] {
        assert!(matches!(protocol(name), Err(Error::Refused(_))), "{name}");
        assert!(tacit::is_open(name).is_err());
    }
    let is_open = |name| tacit::is_open(name).unwrap();
    assert!(is_open("astra roles=201 comparison=auto") && is_open("astra comparison=garbled"));
    assert!(!is_open("astra roles=201") && !is_open("astra roles=201 comparison=garbled"));
}
