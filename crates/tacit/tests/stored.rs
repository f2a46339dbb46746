//! Two phases for real: material that is made in one session and consumed, once or never, in others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use tacit::advanced::engine::executor::Unobserved;
use tacit::advanced::engine::{Clear, Security};
use tacit::advanced::net::{Limits, Mesh, Phase};
use tacit::advanced::session::step;
use tacit::advanced::store::{Available, Store, WHOLE};
use tacit::program::{Builder, Data, Dtype, Range, Recipient, Value};
use tacit::{
    Compiled, Endpoint, Error, Filling, Instance, Kept, Local, Report, Source, StorePath, play, price,
    price_offline, protocol, protocols,
};
use tacit_testkit::{Deviation, Fate, Interceptor, World};
use tempfile::TempDir;

const PROTOCOL: &str = "astra";

/// Whose numbers are larger, and what is the sum of products? alice gives one list and P1 the other.
fn program(range: i128) -> Arc<Compiled> {
    let mut builder = Builder::new();
    let range = Range::new(-range, range);
    let a = builder.input("alice", "a", Dtype::Int, &[3], range).unwrap();
    let b = builder.input("P1", "b", Dtype::Int, &[3], range).unwrap();
    let larger = builder.greater(a, b).unwrap();
    let products = builder.mul(a, b).unwrap();
    let sum = builder.sum(products, None, false).unwrap();
    builder.reveal(larger, Recipient::All).unwrap();
    builder.reveal(sum, Recipient::Role("alice".into())).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

fn ints(values: [i64; 3]) -> Value {
    Value { shape: vec![3], data: Data::Int(values.to_vec()) }
}

/// A folder with the stores of all parties in it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        // In memory where that can be had: there are many syncs in these tests.
        Self(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn place(&self) -> StorePath {
        StorePath::simulated(self.0.path().join("stores"))
    }

    fn party(&self, name: &str) -> StorePath {
        let place = self.place();
        StorePath { store: place.store.join(name), anchors: place.anchors }
    }
}

fn local() -> Local {
    Local::new(PROTOCOL).unwrap()
}

fn make(folder: &Folder, count: u64) {
    local().offline(&program(100), count, &folder.place(), &|_, _| {}).unwrap();
}

fn stores(folder: &Folder) -> Vec<Kept> {
    local().open_stores(&program(100), &folder.place()).unwrap()
}

fn material(kept: &mut Kept) -> &mut Store {
    match kept {
        Kept::Material(store) => store,
        _ => panic!("it is for one program"),
    }
}

/// A run on other numbers each time; its report, once its outputs are right.
fn run(stores: &mut [Kept], number: i64) -> Result<Report, Error> {
    let (a, b) = ([number, -7, 50], [4, 4, number % 100]);
    let run = local().run_stored(&program(100), stores, &[ints(a), ints(b)], &|_, _| {})?;
    let larger = a.iter().zip(&b).map(|(a, b)| a > b).collect();
    let sum = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    assert_eq!(run.outputs[0].as_ref().map(|value| &value.data), Some(&Data::Bool(larger)));
    assert_eq!(run.outputs[1].as_ref().map(|value| &value.data), Some(&Data::Int(vec![sum])));
    Ok(run.report)
}

fn index(report: &Report) -> u64 {
    report.material.expect("material from a store").index
}

#[test]
fn what_one_session_makes_is_used_by_as_many_runs_and_no_more() {
    let folder = Folder::new();
    let prepared = local().offline(&program(100), 5, &folder.place(), &|_, _| {}).unwrap();
    let names: Vec<&str> = prepared.iter().map(|party| party.party.as_str()).collect();
    assert_eq!(names, ["P0", "P1", "P2"]);
    for party in &prepared {
        assert_eq!((party.instances, party.epoch), (5, prepared[0].epoch));
        let on_disk: u64 = fs::read_dir(folder.party(&party.party).store.join(party.epoch.to_string()))
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();
        assert_eq!(party.disk_bytes, on_disk, "{}", party.party);
        for link in &party.links {
            assert_eq!(link.bytes, link.declared.unwrap(), "{} to {}", party.party, link.to);
        }
    }
    let price = price(&program(100), PROTOCOL, &local().parties).unwrap().total;
    let ahead = price_offline(&program(100), PROTOCOL, &local().parties, 5).unwrap();
    assert_eq!(ahead.phase(Phase::Offline).bytes(), 5 * price.phase(Phase::Offline).bytes());
    // More than the seeds of an instance: shares.
    assert!(prepared[0].links[1].bytes > 5 * 16, "P0 sends P2 {} bytes", prepared[0].links[1].bytes);

    let mut stores = stores(&folder);
    for expected in 0..5 {
        let report = run(&mut stores, 10 + expected as i64).unwrap();
        assert_eq!(report.material, Some(Instance { epoch: prepared[0].epoch, index: expected }));
        for (name, traffic) in &report.endpoints {
            assert_eq!(traffic.in_phase(Phase::Offline), 0, "{name}");
        }
        // Besides the offline phase a run sends what it always sends.
        for (endpoint, (name, traffic)) in report.endpoints.iter().enumerate() {
            for phase in [Phase::Input, Phase::Online, Phase::Verify, Phase::Output] {
                let declared = price.phase(phase).sent_by(endpoint);
                assert_eq!(traffic.in_phase(phase), declared, "{name}: {phase}");
            }
        }
    }
    let error = run(&mut stores, 1).unwrap_err();
    assert!(matches!(error, Error::NoMaterial(_)) && !error.is_abort(), "{error}");
    let says = error.to_string();
    assert!(says.contains("P0 and P1 and P2 have no unused material for this program"), "{says}");
    assert!(says.contains("tacit offline"), "{says}");
    // More can be made in the same stores, and is used across openings.
    drop(stores);
    make(&folder, 2);
    for expected in 0..2 {
        let mut stores = self::stores(&folder);
        assert_eq!(index(&run(&mut stores, 3).unwrap()), expected);
    }
}

/// Runs' checks go together, which few small runs save the most by; the price knows it to the byte.
#[test]
fn the_price_of_many_runs_is_what_is_sent() {
    for name in [
        "astra",
        "astra comparison=garbled",
        "astra-malicious",
        "astra-malicious comparison=garbled",
        "astra-malicious roles=120",
        "astra-fair",
    ] {
        // Clients can't have fair outputs.
        let compiled = if name == "astra-fair" { sums(20) } else { program(100) };
        let local = Local::new(name).unwrap();
        let one = price(&compiled, name, &local.parties).unwrap().total.phase(Phase::Offline);
        for count in [1, 2, 9] {
            let folder = Folder::new();
            let sent = ahead_of(&local, &compiled, count, &folder);
            let declared = price_offline(&compiled, name, &local.parties, count).unwrap();
            let offline = declared.phase(Phase::Offline);
            assert_eq!(sent, offline.bytes() + declared.phase(Phase::Verify).bytes());
            let apart = count * one.bytes();
            let together = protocol(name).unwrap().spec().security != Security::SemiHonest && count > 1;
            assert!(if together { offline.bytes() < apart } else { offline.bytes() == apart }, "{name}");
            assert!(offline.rounds <= count * one.rounds, "{name}");
        }
    }
}

/// So many products that they are sealed in between, of instances that don't divide them evenly.
#[test]
fn the_price_of_many_runs_is_what_is_sent_however_they_are_sealed() {
    let (local, folder) = (Local::new("astra-malicious").unwrap(), Folder::new());
    let compiled = conjunctions(3_500_001);
    let sent = ahead_of(&local, &compiled, 4, &folder);
    let declared = price_offline(&compiled, &local.protocol, &local.parties, 4).unwrap();
    assert_eq!(sent, declared.bytes());

    let (local, folder) = (Local::new("astra-malicious comparison=garbled").unwrap(), Folder::new());
    let compiled = comparisons(6_000);
    let sent = ahead_of(&local, &compiled, 4, &folder);
    let declared = price_offline(&compiled, &local.protocol, &local.parties, 4).unwrap();
    assert_eq!(sent, declared.bytes());
}

/// What making material sends; on each link it is what was declared.
fn ahead_of(local: &Local, compiled: &Arc<Compiled>, count: u64, folder: &Folder) -> u64 {
    let prepared = local.offline(compiled, count, &folder.place(), &|_, _| {}).unwrap();
    let links = prepared.iter().flat_map(|party| &party.links);
    links
        .inspect(|link| assert_eq!(link.bytes, link.declared.unwrap(), "{}: {prepared:?}", local.protocol))
        .map(|link| link.bytes)
        .sum()
}

/// Sums of products, for all parties.
fn sums(len: usize) -> Arc<Compiled> {
    let mut builder = Builder::new();
    let [a, b] = ["P0", "P1"]
        .map(|owner| builder.input(owner, owner, Dtype::Int, &[len], Range::new(-100, 100)).unwrap());
    let products = builder.mul(a, b).unwrap();
    let sum = builder.sum(products, None, false).unwrap();
    builder.reveal(sum, Recipient::All).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

/// ANDs of so many bits.
fn conjunctions(len: usize) -> Arc<Compiled> {
    let mut builder = Builder::new();
    let [a, b] = ["P0", "P1"].map(|owner| builder.input(owner, owner, Dtype::Bool, &[len], None).unwrap());
    let both = builder.and(a, b).unwrap();
    builder.reveal(both, Recipient::All).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

fn comparisons(len: usize) -> Arc<Compiled> {
    let mut builder = Builder::new();
    let range = Range::new(-100, 100);
    let [a, b] = ["P0", "P1"].map(|owner| builder.input(owner, owner, Dtype::Int, &[len], range).unwrap());
    let larger = builder.greater(a, b).unwrap();
    builder.reveal(larger, Recipient::All).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

#[test]
fn material_is_for_one_program_these_parties_and_these_roles() {
    let folder = Folder::new();
    make(&folder, 1);
    let refused = |local: &Local, compiled: &Arc<Compiled>| {
        let error = local.open_stores(compiled, &folder.place()).unwrap_err();
        assert!(!error.is_abort());
        error.to_string()
    };
    let says = refused(&local(), &program(101));
    assert!(says.contains("made for something else") && says.contains("the program (its hash)"), "{says}");
    let says = refused(&Local::new("astra roles=120").unwrap(), &program(100));
    assert!(says.contains("the protocol's parameters") && says.contains("roles=120"), "{says}");
    let mut others = local();
    others.parties = ["P0", "P1", "server"].map(str::to_owned).to_vec();
    fs::rename(folder.party("P2").store, folder.party("server").store).unwrap();
    let says = refused(&others, &program(100));
    assert!(says.contains("the parties: in the store \"P0, P1, P2\", wanted \"P0, P1, server\""), "{says}");
    let says = refused(&Local::new("replicated").unwrap(), &program(100));
    assert!(says.contains("\"replicated\" has no offline phase"), "{says}");
}

#[test]
fn offline_sessions_that_cant_be_are_refused() {
    let folder = Folder::new();
    let refused = |local: &Local, compiled: &Arc<Compiled>, count| {
        let error = local.offline(compiled, count, &folder.place(), &|_, _| {}).unwrap_err();
        assert!(matches!(error, Error::Refused(_)), "{error}");
        error.to_string()
    };
    assert!(refused(&Local::new("replicated").unwrap(), &program(100), 1).contains("no offline phase"));
    for count in [0, 1 << 40] {
        assert!(refused(&local(), &program(100), count).contains("makes material for 1 to"));
    }
    let debug = Compiled::debug(program(100).program().clone()).unwrap();
    assert!(refused(&local(), &debug, 1).contains("debug"));
    assert!(!folder.place().store.exists());
}

/// A protocol says that it has an offline phase, or what its supplies are, if and only if it sends something in it.
#[test]
fn protocols_with_an_offline_phase_say_so() {
    for protocol in protocols() {
        let local = Local::new(protocol.spec().name).unwrap();
        let total = price(&sums(100), &local.protocol, &local.parties).unwrap().total;
        let says = protocol.prepares() || !protocol.stocks(local.parties.len()).is_empty();
        assert_eq!(says, total.phase(Phase::Offline).bytes() > 0, "{}", local.protocol);
    }
    assert!(protocol(PROTOCOL).unwrap().prepares());
}

/// Who is behind or ahead: all use what nobody has used.
#[test]
fn the_party_that_has_used_most_is_followed() {
    let folder = Folder::new();
    make(&folder, 6);
    let mut stores = stores(&folder);
    assert_eq!(index(&run(&mut stores, 1).unwrap()), 0);
    let Available { epoch, .. } = material(&mut stores[2]).available(WHOLE)[0];
    // As after a run that only P2 had begun when all were killed.
    let burnt = tacit::advanced::store::Run { epoch, shelf: WHOLE, first: 1, instances: 3 };
    drop(material(&mut stores[2]).take_run(burnt).unwrap());
    assert_eq!(index(&run(&mut stores, 2).unwrap()), 4);
    assert_eq!(index(&run(&mut stores, 3).unwrap()), 5);
    assert!(matches!(run(&mut stores, 4), Err(Error::NoMaterial(_))));
}

#[test]
fn an_epoch_that_one_party_lacks_is_passed_over() {
    let folder = Folder::new();
    make(&folder, 1);
    make(&folder, 2);
    let mut stores = stores(&folder);
    let Available { epoch, .. } =
        *material(&mut stores[1]).available(WHOLE).iter().find(|own| own.count == 1).unwrap();
    material(&mut stores[1]).destroy(epoch).unwrap();
    assert_eq!([run(&mut stores, 1), run(&mut stores, 2)].map(|report| index(&report.unwrap())), [0, 1]);
    let says = run(&mut stores, 3).unwrap_err().to_string();
    assert!(says.contains("P1 has no unused material"), "{says}");
}

#[test]
fn a_store_put_back_from_a_copy_is_noticed_and_nothing_is_used_twice() {
    let folder = Folder::new();
    make(&folder, 4);
    let copy = folder.0.path().join("copy");
    copy_folder(&folder.party("P1").store, &copy);
    let mut used = BTreeSet::new();
    let mut open = stores(&folder);
    for number in 0..2 {
        assert!(used.insert(index(&run(&mut open, number).unwrap())));
    }
    drop(open);
    fs::remove_dir_all(folder.party("P1").store).unwrap();
    copy_folder(&copy, &folder.party("P1").store);
    let mut open = stores(&folder);
    let [restored] = open[1].restored()[..] else { panic!("{:?}", open[1].restored()) };
    assert_eq!((restored.journal, restored.anchor), (0, 2));
    for number in 0..2 {
        assert!(used.insert(index(&run(&mut open, number).unwrap())));
    }
    assert!(matches!(run(&mut open, 4), Err(Error::NoMaterial(_))));
}

fn copy_folder(from: &Path, to: &Path) {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn a_store_is_open_once() {
    let folder = Folder::new();
    make(&folder, 1);
    let open = stores(&folder);
    let error = local().open_stores(&program(100), &folder.place()).unwrap_err().to_string();
    assert!(error.contains("another process uses it"), "{error}");
    let error = local().offline(&program(100), 1, &folder.place(), &|_, _| {}).unwrap_err().to_string();
    assert!(error.contains("another process uses it"), "{error}");
    drop(open);
    assert_eq!(index(&run(&mut stores(&folder), 1).unwrap()), 0);
}

/// What an endpoint has of a run, its store still open.
type Ended = (Result<Option<Instance>, Error>, Option<Kept>);

/// A run over the links of a world, in which things go wrong; `with` says which parties have their stores.
fn run_in(folder: &Folder, interceptor: Interceptor, with: [bool; 3]) -> Vec<Ended> {
    let (compiled, parties) = (program(100), local().parties);
    let protocol = protocol(PROTOCOL).unwrap();
    let endpoint = &Endpoint::new(&compiled, protocol, parties, vec!["alice".into()]).unwrap();
    let world = World::new(3, 1).intercept(interceptor);
    let mut stores: Vec<Option<Kept>> = stores(folder).into_iter().map(Some).collect();
    stores.iter_mut().zip(with).filter(|(_, with)| !with).for_each(|(store, _)| *store = None);
    stores.push(None);
    thread::scope(|scope| {
        let seats = world.transports().into_iter().flatten().zip(stores).enumerate();
        let threads: Vec<_> = seats
            .map(|(me, (links, mut store))| {
                scope.spawn(move || {
                    let names = ["P0", "P1", "P2", "alice"].map(str::to_owned).to_vec();
                    let mesh = Mesh::new(links, me, names, Limits::default());
                    let values = [(3, ints([1, 2, 3])), (1, ints([3, 2, 1]))];
                    let give = |(input, (owner, value)): (usize, &(usize, Value))| -> Option<Clear> {
                        (*owner == me).then(|| endpoint.compiled.encode(input, value).unwrap())
                    };
                    let inputs = values.iter().enumerate().map(give).collect();
                    let source =
                        store.as_mut().map_or(Source::InRun, |kept| Source::Material(material(kept)));
                    let played = play(endpoint, mesh, source, inputs, &mut Unobserved);
                    (played.map(|(_, played)| played.material), store)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn left(kept: &Kept) -> Option<u64> {
    let Kept::Material(store) = kept else { panic!("it is for one program") };
    store.available(WHOLE).first().map(|own| own.next)
}

#[test]
fn a_failed_check_destroys_the_epoch_at_all_parties() {
    let folder = Folder::new();
    make(&folder, 3);
    // What P0 says that it has drawn is another number when it reaches P1: P1's check fails, and P1 tells the others.
    let drawn: Interceptor = Box::new(|message| {
        if (message.from, message.to, message.frame.at.part) == (0, 1, step::DRAWN) {
            let mut frame = message.frame.clone();
            frame.payload[0] ^= 1;
            return Fate::Replace(vec![frame]);
        }
        Fate::Deliver
    });
    let ended = run_in(&folder, drawn, [true; 3]);
    for (me, (result, store)) in ended.iter().enumerate().take(3) {
        let error = result.as_ref().unwrap_err();
        assert!(error.is_abort() && error.is_failed_check(), "P{me}: {error}");
        assert_eq!(left(store.as_ref().unwrap()), None, "P{me}: {error}");
    }
    drop(ended);
    let says = run(&mut stores(&folder), 1).unwrap_err().to_string();
    assert!(says.contains("P0 and P1 and P2 have no unused material"), "{says}");
}

#[test]
fn a_lost_connection_burns_what_was_taken_and_no_more() {
    let folder = Folder::new();
    make(&folder, 8);
    let mut expected = 0;
    for (from, to, nth) in [(2, 0, 2), (1, 2, 4), (1, 2, 6), (2, 1, 5), (0, 1, 4)] {
        let ended = run_in(&folder, Deviation::Death.at(from, to, nth), [true; 3]);
        assert!(ended.iter().any(|(result, _)| result.is_err()));
        let mut most = expected;
        for (me, (result, store)) in ended.iter().enumerate().take(3) {
            if let Err(error) = result {
                assert!(!error.is_failed_check(), "P{me}: {error}");
            }
            let next = left(store.as_ref().unwrap()).expect("nothing is destroyed");
            assert!((expected..=expected + 1).contains(&next), "P{me}: {next}");
            most = most.max(next);
        }
        drop(ended);
        expected = most;
    }
    assert!(expected > 2, "most runs began");
    assert_eq!(index(&run(&mut stores(&folder), 1).unwrap()), expected);
}

#[test]
fn all_parties_have_stores_or_none_does() {
    let folder = Folder::new();
    make(&folder, 1);
    let ended = run_in(&folder, Box::new(|_| Fate::Deliver), [true, false, true]);
    for (me, (result, store)) in ended.iter().enumerate().take(3) {
        let error = result.as_ref().unwrap_err();
        assert!(matches!(error, Error::Refused(_)), "P{me}: {error}");
        assert!(error.to_string().contains("P0 and P2 with one, P1 without"), "P{me}: {error}");
        assert!(store.as_ref().is_none_or(|store| left(store) == Some(0)), "nothing is used");
    }
    assert!(ended[3].0.as_ref().unwrap_err().is_abort(), "alice hears of it");
}

#[test]
fn who_tells_two_parties_different_things_about_its_store_is_noticed() {
    let folder = Folder::new();
    make(&folder, 3);
    // P2 tells P1 that it is one further than it tells P0.
    let lie: Interceptor = Box::new(|message| {
        if (message.from, message.to, message.frame.at.part) == (2, 1, step::STORED) {
            let mut frame = message.frame.clone();
            frame.payload[5 + 32] += 1;
            return Fate::Replace(vec![frame]);
        }
        Fate::Deliver
    });
    let ended = run_in(&folder, lie, [true; 3]);
    for (me, (result, store)) in ended.iter().enumerate().take(3) {
        let error = result.as_ref().unwrap_err();
        assert!(error.is_abort(), "P{me}: {error}");
        assert_eq!(left(store.as_ref().unwrap()), Some(0), "P{me}: {error}");
    }
    drop(ended);
    for (position, bytes) in [(0, 1), (4, 48), (5 + 32, 9)] {
        let nonsense: Interceptor = Box::new(move |message| {
            if (message.from, message.to, message.frame.at.part) == (2, 1, step::STORED) {
                let mut frame = message.frame.clone();
                frame.payload[position] ^= bytes;
                return Fate::Replace(vec![frame]);
            }
            Fate::Deliver
        });
        let ended = run_in(&folder, nonsense, [true; 3]);
        assert!(ended.iter().all(|(result, _)| result.is_err()));
    }
    assert_eq!(index(&run(&mut stores(&folder), 1).unwrap()), 0);
}

/// `x & y` where a bit is set, else `x ^ (!(x | y) & y)`: an AND in one arm, two in the other one.
fn branch(cols: usize) -> Arc<Compiled> {
    let mut build = Builder::new();
    let [x, y] = ["P0", "P1"].map(|owner| build.input(owner, owner, Dtype::Bool, &[cols], None).unwrap());
    let c = build.input("P0", "c", Dtype::Bool, &[], None).unwrap();
    let (set, not) = (build.if_set(c, x).unwrap(), build.unless_set(c, x).unwrap());
    let both = build.and(set, y).unwrap();
    let neither = build.or(not, y).and_then(|either| build.not(either)).unwrap();
    let neither = build.and(neither, y).and_then(|bits| build.xor(bits, not)).unwrap();
    let chosen = build.select(c, both, neither).unwrap();
    build.reveal(chosen, Recipient::All).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// Runs [`branch`] on these stores, with each condition once, and holds the results right and nothing sent before inputs.
fn run_branches(local: &Local, folder: &Folder, compiled: &Arc<Compiled>, cols: usize) {
    let [x, y] = [0b1_0110_1001_u32, 0b0_1100_1010];
    let bits = |word: u32| (0..cols).map(|bit| word >> (bit % 9) & 1 == 1).collect::<Vec<bool>>();
    let of = |shape: Vec<usize>, bits| Value { shape, data: Data::Bool(bits) };
    let name = &local.protocol;
    for condition in [false, true] {
        let mut stores = local.open_stores(compiled, &folder.place()).unwrap();
        let inputs = [of(vec![cols], bits(x)), of(vec![cols], bits(y)), of(vec![], vec![condition])];
        let run = local.run_stored(compiled, &mut stores, &inputs, &|_, _| {}).unwrap();
        let expected = bits(if condition { x & y } else { x ^ (!(x | y) & y) });
        let got = run.outputs[0].as_ref().map(|value| &value.data);
        assert_eq!(got, Some(&Data::Bool(expected)), "{name}");
        for (party, traffic) in &run.report.endpoints {
            assert_eq!(traffic.in_phase(Phase::Offline), 0, "{name}, {party}");
        }
    }
}

/// How a run of [`branch`] on stores that have too little, or something else, ends.
fn refused(local: &Local, folder: &Folder, compiled: &Arc<Compiled>, cols: usize) -> String {
    let shapes = [vec![cols], vec![cols], vec![]];
    let inputs = shapes.map(|shape| Value { data: Data::Bool(vec![true; shape.iter().product()]), shape });
    let stores = local.open_stores(compiled, &folder.place());
    let ended = stores.and_then(|mut stores| local.run_stored(compiled, &mut stores, &inputs, &|_, _| {}));
    ended.map(|_| ()).expect_err("there is no such material").to_string()
}

/// Triples, masks of branches, and products of bits with vectors come from stores as they come from the run itself,
/// and nothing is sent ahead. A block of a store is 64 items of 64 triples: an AND of the longer rows takes two and a
/// half.
#[test]
fn branches_draw_from_stores() {
    let all = [
        ("gmw", 9),
        ("gmw branching=masked-vectors", 9),
        ("gmw branching=motif", 9),
        ("gmw", 10_000),
        ("gmw branching=masked-vectors", 10_000),
    ];
    for (name, cols) in all {
        let (folder, local, compiled) = (Folder::new(), Local::new(name).unwrap(), branch(cols));
        local.offline(&compiled, 2, &folder.place(), &|_, _| {}).unwrap();
        run_branches(&local, &folder, &compiled, cols);
        let refused = refused(&local, &folder, &compiled, cols);
        assert!(refused.contains("no unused"), "{name}: {refused}");
    }
}

/// What is made for any program serves one with branches, whichever way they are taken and whatever triples are made of. Masks of
/// seeds are for two parties and for three; those of full length are as long as a program's arms.
#[test]
fn stocks_have_masks_for_branches() {
    let compiled = branch(9);
    for parties in [2, 3] {
        let folder = Folder::new();
        let [usual, high, standard, vectors] =
            ["gmw", "gmw ot-height=8", "gmw branching=standard", "gmw branching=masked-vectors"]
                .map(|name| Local::among(name, parties).unwrap());
        let filling = |local: &Local, named: &[_]| Filling::of(&*protocol(&local.protocol)?, parties, named);
        let wanted = filling(&usual, &[("triples", 448), ("branches", 4)]).unwrap();
        let told = Mutex::new(Vec::new());
        let tell = |done, total| told.lock().unwrap().push((done, total));
        let made = high.stock(&wanted, &folder.place(), &tell).unwrap();
        assert_eq!(made.len(), parties);
        let told = told.into_inner().unwrap();
        assert!(told.is_sorted() && told.last() == Some(&(452, 452)), "it says how far it is: {told:?}");
        for local in [&usual, &standard, &high] {
            run_branches(local, &folder, &compiled, 9);
        }
        let out = refused(&usual, &folder, &compiled, 9);
        assert!(out.contains("no unused masks") && out.contains("for branches"), "{out}");
        let other = refused(&vectors, &folder, &compiled, 9);
        assert!(other.contains("branching=masked-vectors"), "{other}");
        for (local, parties) in [(&vectors, parties), (&standard, parties), (&usual, 4)] {
            let none = Filling::of(&*protocol(&local.protocol).unwrap(), parties, &[("branches", 4)]);
            let says = none.unwrap_err().to_string();
            assert!(says.contains("stocks no branches ahead of time; it stocks triples"), "{says}");
        }
    }
}
