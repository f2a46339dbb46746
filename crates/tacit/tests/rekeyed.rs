//! Kept values move to the key of another epoch: by any deviation they stay what they were, under one key at a time, or fall with
//! the epoch whose check had no verdict.

mod states;

use states::{SMALL, World, compiled, ints};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tacit::advanced::engine::supply::Stock;
use tacit::advanced::net::{Limits, Mesh};
use tacit::advanced::session::step;
use tacit::program::{Dtype, Recipient, Uses, Value};
use tacit::{Compiled, Error, Filling, Local, Residents, Run, Standing, StorePath, play_refresh, protocol};
use tacit_additive::{MAC_COMMIT, MAC_OPEN, REKEY_SHARES, REKEY_SUM};
use tacit_testkit::{Deviation, World as Links, in_threads};

/// Parties that keep in folders, and have stores.
struct Own {
    folder: tempfile::TempDir,
    parties: usize,
}

impl Own {
    fn place(&self) -> StorePath {
        StorePath::simulated(self.folder.path().join("stores"))
    }

    fn local(&self) -> Local {
        Local::among("mascot", self.parties).unwrap()
    }

    fn world(&self) -> World {
        let local = self.local();
        let states = local.open_states(&self.folder.path().join("state")).unwrap();
        World { local, states, fill: tacit::Fill::new() }
    }

    /// One more epoch.
    fn stock(&self, named: &[(&str, u64)]) {
        let filling = Filling::of(&*protocol("mascot").unwrap(), self.parties, named).unwrap();
        self.local().stock(&filling, &self.place(), &|_, _| {}).unwrap();
    }

    fn run(&self, compiled: &Arc<Compiled>, inputs: &[Value]) -> Result<Run, Error> {
        let mut world = self.world();
        let mut stores = world.local.open_stores(compiled, &self.place()).unwrap();
        let both = world.states.iter_mut().zip(&mut stores);
        let residents =
            both.map(|(state, store)| Residents { state, fill: &world.fill, store: Some(store) }).collect();
        world.local.run_on(compiled, residents, inputs, &|_, _| {})
    }

    /// Keeps `x` under the only epoch that there is, and makes another one.
    fn keeping(parties: usize, named: &[(&str, u64)]) -> Self {
        let own = Self { folder: folder(), parties };
        own.stock(named);
        own.run(&keeps(), &[ints(&[5, -6, 7])]).unwrap();
        own.stock(&NEXT);
        own
    }

    /// The same again, in a folder of its own.
    fn again(&self) -> Self {
        let folder = folder();
        copy_all(self.folder.path(), folder.path());
        Self { folder, parties: self.parties }
    }

    /// All parties' parts in moving `x`, over these links.
    fn moved(&self, links: &Links) -> Vec<Result<String, Error>> {
        let world = self.world();
        let (protocol, parties) = (protocol("mascot").unwrap(), world.local.parties.clone());
        let states: Vec<_> = world.states.into_iter().map(Mutex::new).collect();
        let StorePath { store, anchors } = self.place();
        let open = |(me, party): (usize, &String)| {
            let place = StorePath { store: store.join(party), anchors: anchors.clone() };
            place.open_supplies(&*protocol, &parties, me).map(|store| Mutex::new(Some(Stock::new(store))))
        };
        let stocks: Vec<_> = parties.iter().enumerate().map(open).collect::<Result<_, _>>().unwrap();
        in_threads(links.transports(), |me, transport| {
            let mesh = Mesh::new(transport, me, parties.clone(), Limits::default());
            let stock = stocks[me].lock().unwrap().take().unwrap();
            play_refresh(&*protocol, &parties, mesh, "x", &mut states[me].lock().unwrap(), Some(&stock))
        })
    }

    /// What all read, with the version; or that it is refused.
    fn read(&self) -> Result<(Value, String), Error> {
        let run = self.run(&reads(), &[])?;
        Ok((run.outputs[0].clone().unwrap(), run.report.read[0].1.clone()))
    }

    /// The keys that versions of `x` which count are under, by party.
    fn keys(&self) -> Vec<Vec<Option<[u8; 32]>>> {
        let of = |state: &tacit::State| {
            let all = state.list();
            let counts = all.iter().filter(|one| one.about.name == "x" && one.standing == Standing::Settled);
            counts.map(|one| one.about.key).collect()
        };
        self.world().states.iter().map(of).collect()
    }
}

/// In memory, if there is such a folder.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    std::fs::set_permissions(to, std::fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// What products take, a move, and an input.
const KEEPS: [(&str, u64); 3] = [("triples", 192), ("bits", 64), ("masks", 64)];
const NEXT: [(&str, u64); 2] = [("triples", 192), ("masks", 64)];

fn keeps() -> Arc<Compiled> {
    compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[3], Some(SMALL))?;
        build.keep(x, "x", Uses::default())
    })
}

/// The squares.
fn reads() -> Arc<Compiled> {
    compiled(|build| {
        let x = build.kept("x", Dtype::Int, &[3], Some(SMALL))?;
        let square = build.mul(x, x)?;
        build.reveal(square, Recipient::All)
    })
}

fn squares() -> Value {
    ints(&[25, 36, 49])
}

#[test]
fn a_value_moves_to_another_key_with_its_uses_and_the_bytes_are_counted() {
    for parties in [2, 3] {
        let own = Own::keeping(parties, &KEEPS);
        let links = Links::new(parties, 0);
        let [before] = own.keys()[0][..] else { panic!("one version") };
        for moved in own.moved(&links) {
            assert_eq!(moved.unwrap(), "x@2");
        }
        let keys = own.keys();
        assert!(keys.iter().all(|own| *own == keys[0]), "{keys:?}");
        assert!(keys[0].len() == 1 && keys[0][0].is_some() && keys[0][0] != before);
        assert_eq!(own.read().unwrap(), (squares(), "x@2".to_owned()));
        for (from, to) in links.trace().links() {
            let sent = |part: u16| -> usize {
                let trace = links.trace();
                let of = trace.link(from, to).filter(|sent| sent.at.part == part);
                of.map(|sent| sent.payload.len()).sum()
            };
            // Three elements and the one that hides their sum; the sum; a coin, and two checks with one each.
            assert_eq!([REKEY_SHARES, REKEY_SUM].map(sent), [4 * 16, 16]);
            assert_eq!([step::COIN_COMMIT, step::COIN_OPEN].map(sent), [3 * 32, 3 * 96]);
            assert_eq!([MAC_COMMIT, MAC_OPEN].map(sent), [2 * 32, 2 * 48]);
        }
        // Nothing more is read under the old key, and the value moves on.
        own.stock(&NEXT);
        let mut world = own.world();
        assert_eq!(world.local.rekey(&mut world.states, "x", &own.place()).unwrap(), "x@3");
        drop(world);
        assert_eq!(own.read().unwrap(), (squares(), "x@3".to_owned()));
    }
}

#[test]
fn what_can_not_move_is_refused_and_stays() {
    let own = Own { folder: folder(), parties: 2 };
    own.stock(&KEEPS);
    own.run(&keeps(), &[ints(&[5, -6, 7])]).unwrap();
    let moved = |own: &Own| {
        let mut world = own.world();
        world.local.rekey(&mut world.states, "x", &own.place()).unwrap_err().to_string()
    };
    let refused = moved(&own);
    assert!(refused.contains("no unused masks"), "{refused}");
    assert_eq!(own.read().unwrap(), (squares(), "x@1".to_owned()));
    let other = Own { folder: folder(), parties: 2 };
    other.stock(&KEEPS);
    let mut world = own.world();
    let refused = world.local.rekey(&mut world.states, "x", &other.place()).unwrap_err().to_string();
    assert!(refused.contains("which this party's store of supplies has no more"), "{refused}");
}

/// Whatever happens to any message, all parties read the value under one key, and the same; unless the old key's own
/// check had no verdict or a bad one: then nobody does.
#[test]
fn a_deviation_at_any_message_leaves_one_key_or_none() {
    let honest = Links::new(2, 0);
    let kept = Own::keeping(2, &KEEPS);
    let [old] = kept.keys()[0][..] else { panic!("one version") };
    assert!(kept.again().moved(&honest).iter().all(Result::is_ok));
    let (mut stayed, mut moved, mut fell) = (0, 0, 0);
    for (from, to) in [(0, 1), (1, 0)] {
        let parts: Vec<u16> = honest.trace().link(from, to).map(|sent| sent.at.part).collect();
        // The old key's check: from what it opens until both parties have its verdict.
        let first = |part: u16| parts.iter().position(|one| *one == part).unwrap();
        let verdicts: Vec<usize> =
            parts.iter().enumerate().filter(|(_, part)| **part == MAC_OPEN).map(|(at, _)| at).collect();
        let check = first(REKEY_SUM)..=verdicts[0] + 1;
        for (nth, part) in parts.iter().enumerate() {
            for deviation in [Deviation::Death, Deviation::Flip(5)] {
                let what = format!("{deviation:?} at message {nth} from {from}, part {part:x}");
                let own = kept.again();
                let ended = own.moved(&Links::new(2, 0).intercept(deviation.at(from, to, nth)));
                match own.read() {
                    Ok((value, version)) => {
                        assert_eq!(value, squares(), "{what}");
                        let keys = own.keys();
                        assert!(keys.iter().all(|own| own.len() == 1 && *own == keys[0]), "{what}: {keys:?}");
                        assert_eq!(version == "x@1", keys[0][0] == old, "{what}");
                        if version == "x@1" {
                            stayed += 1;
                            assert!(ended.iter().all(Result::is_err), "{what}: {ended:?}");
                        } else {
                            moved += 1;
                        }
                    }
                    Err(error) => {
                        fell += 1;
                        assert!(check.contains(&nth), "{what}: {error}");
                        assert!(
                            error.to_string().contains("which this party's store of supplies has no more"),
                            "{what}: {error}"
                        );
                    }
                }
            }
        }
    }
    assert!(stayed > 20 && moved > 2 && fell > 4, "{stayed} {moved} {fell}");
}
