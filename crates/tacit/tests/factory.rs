//! Stores that are filled ahead of any program, and what becomes of them: drawn from, used up, filled up, put back, destroyed
//! half made.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tacit::advanced::engine::Protocol;
use tacit::advanced::engine::executor::Unobserved;
use tacit::advanced::engine::supply::{Stock, SupplyKind};
use tacit::advanced::net::{Limits, Mesh};
use tacit::advanced::store::{Overview, Standing};
use tacit::program::{Builder, Data, Dtype, Range, Recipient, Value};
use tacit::{Compiled, Error, Filling, Kept, Local, Made, Prepared, StorePath, play_fill, protocol};
use tacit_mascot::step;
use tacit_session::step::ACCEPT;
use tacit_testkit::links::Mortal;
use tacit_testkit::tenants::MACS;
use tacit_testkit::{Fate, Interceptor, World, in_threads};
use tempfile::TempDir;

const PROTOCOL: &str = "mascot";

struct Folder {
    folder: TempDir,
    parties: usize,
}

impl Folder {
    fn new() -> Self {
        Self::of(2)
    }

    fn of(parties: usize) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        Self { folder, parties }
    }

    fn place(&self) -> StorePath {
        StorePath::simulated(self.folder.path().join("stores"))
    }

    fn stock(&self, named: &[(&str, u64)], up_to: bool) -> Vec<Prepared> {
        let filling = Filling::of(&*protocol(PROTOCOL).unwrap(), self.parties, named).unwrap();
        local(self.parties).stock(&Filling { up_to, ..filling }, &self.place(), &|_, _| {}).unwrap()
    }

    fn open(&self) -> Vec<Kept> {
        local(self.parties).open_stores(&products(), &self.place()).unwrap()
    }

    /// Blocks that a party has unused, of all kinds together.
    fn left(&self, party: &str) -> u64 {
        let StorePath { store, anchors } = self.place();
        let stocks = Overview::read(&store.join(party), &anchors).unwrap().epochs;
        let left = |standing| match standing {
            Standing::Unused(left) | Standing::Restored(left) => left,
            Standing::Unanchored => panic!("the anchor lies where it is looked for"),
        };
        stocks.iter().map(|stock| left(stock.standing())).sum()
    }
}

fn local(parties: usize) -> Local {
    Local::among(PROTOCOL, parties).unwrap()
}

/// 64 products, each of a number of P0 and one of P1.
fn products() -> Arc<Compiled> {
    let mut build = Builder::new();
    let [a, b] = ["P0", "P1"]
        .map(|owner| build.input(owner, owner, Dtype::Int, &[64], Range::new(-100, 100)).unwrap());
    let product = build.mul(a, b).unwrap();
    build.reveal(product, Recipient::All).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

fn numbers(of: impl Fn(i64) -> i64) -> Value {
    Value { shape: vec![64], data: Data::Int((0..64).map(of).collect()) }
}

fn run(stores: &mut [Kept]) -> Result<(), Error> {
    let inputs = [numbers(|i| i - 32), numbers(|i| 3 * i - 90)];
    let run = local(stores.len()).run_stored(&products(), stores, &inputs, &|_, _| {})?;
    assert_eq!(run.outputs[0], Some(numbers(|i| (i - 32) * (3 * i - 90))));
    Ok(())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Inputs of this program are in ranges, so each takes bits and a mask for each of them.
const TWO_RUNS: [(&str, u64); 4] = [("triples", 8_192), ("bits", 4_096), ("masks", 4_096), ("elements", 64)];

#[test]
fn what_is_filled_for_any_program_is_drawn_until_it_is_used_up_and_then_runs_are_refused() {
    let folder = Folder::new();
    let made = folder.stock(&TWO_RUNS, false);
    assert_eq!(made[0].epoch, made[1].epoch);
    assert!(made.iter().all(|made| made.disk_bytes > 0 && made.supplies.len() == 5), "{made:?}");
    let mut runs = 0;
    let refused = loop {
        let before = folder.left("P0");
        let mut stores = folder.open();
        if let Err(error) = run(&mut stores) {
            break error;
        }
        drop(stores);
        assert!(folder.left("P0") < before && folder.left("P0") == folder.left("P1"));
        runs += 1;
    };
    let says = refused.to_string();
    assert!(runs > 1 && matches!(refused, Error::NoMaterial(_)) && !refused.is_abort(), "{runs}: {says}");
    assert!(says.contains("`tacit offline`, run by all parties together, makes"), "{says}");
}

#[test]
fn as_much_is_made_as_runs_of_a_program_draw() {
    let folder = Folder::new();
    let made = local(2).offline(&products(), 2, &folder.place(), &|_, _| {}).unwrap();
    assert!(made.iter().all(|made| made.instances == 2 && !made.supplies.is_empty()), "{made:?}");
    let mut stores = folder.open();
    assert!(run(&mut stores).is_ok() && run(&mut stores).is_ok());
    assert!(matches!(run(&mut stores), Err(Error::NoMaterial(_))));
    assert_eq!(folder.left("P1"), 0);
}

#[test]
fn stores_are_filled_up_and_no_further() {
    let folder = Folder::new();
    let wanted = [("triples", 128), ("masks", 64)];
    let first = folder.stock(&wanted, true);
    let again = folder.stock(&wanted, true);
    assert!(again.iter().all(|made| made.epoch == first[0].epoch && made.supplies.is_empty()), "{again:?}");
    let more = folder.stock(&[("triples", 192)], true);
    assert!(more.iter().all(|made| made.epoch != first[0].epoch && made.disk_bytes > 0), "{more:?}");
}

#[test]
fn what_a_protocol_does_not_stock_is_refused() {
    let refused = |name: &str, named: &[(&str, u64)]| {
        let protocol = protocol(name).unwrap();
        Filling::of(&*protocol, *protocol.spec().parties.start(), named).unwrap_err().to_string()
    };
    assert!(refused(PROTOCOL, &[("tripels", 1)]).contains("it stocks triples, bits, elements, masks"));
    assert!(refused("astra", &[("triples", 1)]).contains("it stocks nothing"));
    assert!(refused(PROTOCOL, &[]).contains("say how much of what"));
}

/// The anchor knows what the copy has forgotten; and a store is open once.
#[test]
fn a_store_that_is_put_back_gives_nothing_twice() {
    let folder = Folder::new();
    folder.stock(&TWO_RUNS, false);
    let (store, kept) = (folder.place().store.join("P1"), folder.folder.path().join("copy"));
    copy(&store, &kept);
    let mut stores = folder.open();
    run(&mut stores).unwrap();
    let error = local(2).open_stores(&products(), &folder.place()).unwrap_err().to_string();
    assert!(error.contains("another process uses it"), "{error}");
    drop(stores);
    let left = folder.left("P1");
    fs::remove_dir_all(&store).unwrap();
    copy(&kept, &store);
    let mut stores = folder.open();
    assert!(stores[0].restored().is_empty() && !stores[1].restored().is_empty());
    drop(stores.split_off(0));
    assert_eq!(folder.left("P1"), left);
}

/// With its anchor or without: whose store was set back is named by all, and its epoch isn't used any more.
#[test]
fn a_store_that_is_set_back_is_refused_by_all_with_its_name() {
    let one = &["P1"][..];
    for (parties, restored, with_anchor) in
        [(2, one, false), (2, one, true), (3, one, false), (3, &["P1", "P2"], true)]
    {
        let folder = Folder::of(parties);
        let epoch = folder.stock(&TWO_RUNS, false)[0].epoch;
        let StorePath { store, anchors } = folder.place();
        let mut set_back: Vec<_> = restored.iter().map(|name| (*name, store.join(name))).collect();
        if with_anchor {
            // P0's journal knows more than this copy of its anchor, and counts.
            set_back.push(("anchors", anchors));
        }
        let backup = folder.folder.path().join("backup");
        for (name, path) in &set_back {
            copy(path, &backup.join(name));
        }
        run(&mut folder.open()).unwrap();
        for (name, path) in &set_back {
            fs::remove_dir_all(path).unwrap();
            copy(&backup.join(name), path);
        }
        let before = folder.left("P0");
        let says = refused(&mut folder.open());
        let stores: Vec<_> = restored.iter().map(|name| format!("the store of {name}")).collect();
        let [was, has] = if restored.len() == 1 { ["was", "has"] } else { ["were", "have"] };
        let whose = format!("{} {was} set back: the key of epoch {epoch}", stores.join(" and "));
        assert!(says.contains(&whose), "{says}");
        assert_eq!(folder.left("P0"), before, "nothing is used");
        let says = refused(&mut folder.open());
        assert!(says.contains(&format!("{} {has} no unused", restored.join(" and "))), "{says}");
        let more = folder.stock(&TWO_RUNS, false);
        assert!(more.iter().all(|made| made.epoch != epoch));
        run(&mut folder.open()).unwrap();
    }
}

fn refused(stores: &mut [Kept]) -> String {
    let error = run(stores).unwrap_err();
    assert!(matches!(error, Error::NoMaterial(_)) && !error.is_abort(), "{error}");
    error.to_string()
}

/// Whoever ends well has the whole epoch, and nobody else any of it.
#[test]
fn a_party_that_dies_while_stores_are_filled_leaves_none_half_full() {
    let parties: Vec<String> = ["P0", "P1"].map(str::to_owned).to_vec();
    let wanted: Vec<_> = MACS.stocks(2).remove(0).1.into_iter().map(|kind| (kind, 128)).collect();
    for frames in (0..40).step_by(3) {
        let folder = Folder::new();
        let path = |me: usize| folder.place().store.join(&parties[me]);
        let world = World::new(2, 0);
        let mut links = world.transports();
        let mortal = links[1].take().expect("it has links");
        links[1] = Some(Box::new(Mortal::new(mortal, 2, frames)));
        let ended = in_threads(links, |me, links| {
            let place = StorePath { store: path(me), anchors: folder.place().anchors };
            let stock = Stock::new(place.open_supplies(&MACS, &parties, me).unwrap());
            let mesh = Mesh::new(links, me, parties.clone(), Limits::default());
            let filling = Filling { wanted: wanted.clone(), up_to: false };
            let made = play_fill(&MACS, &parties, mesh, &filling, &stock, &mut Unobserved);
            let available = |(kind, _): &(SupplyKind, u64)| stock.with(|store| store.available(kind.code()));
            let epochs: Vec<_> = filling.wanted.iter().map(available).collect();
            (made.is_ok(), epochs)
        });
        // What others lack no run agrees on: of one that dies at the very end the others may have an epoch alone.
        for (is_well, shelves) in ended {
            assert!(shelves.iter().all(|shelf| shelf.is_empty() != is_well), "{frames} frames: {shelves:?}");
        }
    }
}

/// Kinds of messages of a filling session in which no bit may be another: shares of what is opened, commitments to what is left
/// of MACs and their openings, that a party accepts what was made, and at last that it has it.
const CHECKED: [u16; 5] = [step::SHARES, step::COMMITMENT, step::OPENING, step::ACCEPT, ACCEPT];

/// Lets `P1` flip a bit of one of the messages to `P0`. `which` is told the message's part, and how many of this part there were
/// before.
fn flipping(mut which: impl FnMut(u16, usize) -> bool + Send + 'static) -> Interceptor {
    let mut before = HashMap::new();
    Box::new(move |message| {
        let mut frame = message.frame.clone();
        if (message.from, message.to) == (1, 0) {
            let nth = before.entry(frame.at.part).or_insert(0);
            if which(frame.at.part, *nth) {
                frame.payload[0] ^= 4;
            }
            *nth += 1;
        }
        Fate::Replace(vec![frame])
    })
}

/// Fills stores of all parties under `mascot`. How it ended at each party; whether all of its shelves have something, or
/// none has.
fn filled(
    folder: &Folder,
    named: &[(&str, u64)],
    interceptor: Interceptor,
) -> Vec<(Result<Made, Error>, bool)> {
    let parties = folder.parties;
    let protocol = protocol(PROTOCOL).unwrap();
    let names: Vec<String> = (0..parties).map(|party| format!("P{party}")).collect();
    let filling = Filling::of(&*protocol, parties, named).unwrap();
    in_threads(World::new(parties, 0).intercept(interceptor).transports(), |me, links| {
        let StorePath { store, anchors } = folder.place();
        let place = StorePath { store: store.join(&names[me]), anchors };
        let stock = Stock::new(place.open_supplies(&*protocol, &names, me).unwrap());
        let mesh = Mesh::new(links, me, names.clone(), Limits::default());
        let made = play_fill(&*protocol, &names, mesh, &filling, &stock, &mut Unobserved);
        let available = |(kind, _): &(SupplyKind, u64)| stock.with(|store| store.available(kind.code()));
        let shelves = || filling.wanted.iter().map(available);
        let has_all = shelves().all(|shelf| !shelf.is_empty());
        assert!(has_all || shelves().all(|shelf| shelf.is_empty()), "{made:?}");
        (made, has_all)
    })
}

/// Nobody has anything to use, now or when the stores are opened again.
fn is_empty(folder: &Folder, ended: &[(Result<Made, Error>, bool)]) -> bool {
    let nobody = ended.iter().all(|(made, has)| made.is_err() && !has);
    nobody && (0..ended.len()).all(|party| folder.left(&format!("P{party}")) == 0)
}

#[test]
fn a_message_that_is_altered_while_stores_are_filled_leaves_nothing_to_use() {
    let wanted = [("triples", 64), ("bits", 64), ("elements", 64), ("masks", 64)];
    for parties in [2, 3] {
        // How many messages of each kind there are.
        let counts = Arc::new(Mutex::new(HashMap::<u16, usize>::new()));
        let counting = Arc::clone(&counts);
        let count = move |part, before| {
            counting.lock().unwrap().insert(part, before + 1);
            false
        };
        let folder = Folder::of(parties);
        let ended = filled(&folder, &wanted, flipping(count));
        assert!(ended.iter().all(|(made, has)| made.is_ok() && *has));
        for part in CHECKED {
            let count = counts.lock().unwrap()[&part];
            let nth = if parties == 2 { count - 1 } else { count / 2 };
            let folder = Folder::of(parties);
            let alter = flipping(move |other, before| (other, before) == (part, nth));
            let ended = filled(&folder, &wanted, alter);
            let what = format!("{parties} parties, part {part:#x}, message {nth} of {count}");
            assert!(is_empty(&folder, &ended), "{what}");
            assert!(matches!(ended[0].0, Err(Error::Aborted { .. })), "{what}: {:?}", ended[0].0);
        }
    }
}

/// What is made at once has 20,160 triples at most, which all accept; then they go to disk. In what is made next somebody opens
/// something else.
#[test]
fn a_message_that_is_altered_in_the_second_part_of_a_filling_leaves_nothing_of_the_first() {
    let folder = Folder::new();
    let (accepted, disk) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let path = folder.place().store.join("P1");
    let written = Arc::clone(&disk);
    let mut altered = false;
    let alter = flipping(move |part, _| {
        accepted.fetch_or(part == step::ACCEPT, Ordering::Relaxed);
        let alters = part == step::OPENING && accepted.load(Ordering::Relaxed) && !altered;
        if alters {
            altered = true;
            written.store(bytes_in(&path), Ordering::Relaxed);
        }
        alters
    });
    let ended = filled(&folder, &[("triples", 20_161)], alter);
    assert!(is_empty(&folder, &ended), "{ended:?}");
    assert!(disk.load(Ordering::Relaxed) > 20_000 * 96, "the first part's shares and MACs were on disk");
    assert!(["P0", "P1"].iter().all(|party| bytes_in(&folder.place().store.join(party)) < 1 << 16));
}

/// Bytes of all files in a folder.
fn bytes_in(folder: &Path) -> u64 {
    let sizes = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() { bytes_in(&path) } else { fs::metadata(path).unwrap().len() }
    });
    sizes.sum()
}
