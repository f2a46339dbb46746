//! Servers that are stopped, and whose keys get fresh shares.

use super::*;
use crate::admin;
use crate::order::{self, Change, Holder, Order, OrderKey};
use crate::realm::Sessions;
use crate::server::{Server, now};
use crate::testing::{ENCTYPE, REALM, ports};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use tacit::program::{Builder, Data, Dtype, Recipient, Uses, Value};
use tacit::{Compiled, Fill, Local, Residents, Run};

const NAMES: [&str; 3] = ["P0", "P1", "P2"];
/// One that is in use, and two old ones.
const RECORDS: [&str; 3] = ["key 1", "key 2", "key 3"];

/// One of no order that is known.
const STRAY: &str = "key 9";

fn has_stray(folder: &Path) -> bool {
    let config = Config::load(&folder.join("parties.toml")).unwrap();
    kept(State::of(&config, &folder.join("state")).unwrap().list()).contains(STRAY)
}

fn value() -> Value {
    Value { shape: vec![5], data: Data::Bool(vec![true, false, true, true, false]) }
}

/// A program that keeps a value, and one that opens it.
fn programs() -> [Arc<Compiled>; 2] {
    let mut build = Builder::new();
    let key = build.input("P0", "key", Dtype::Bool, &[5], None).unwrap();
    build.keep(key, "record", Uses::default()).unwrap();
    let mut opens = Builder::new();
    let key = opens.kept("record", Dtype::Bool, &[5], None).unwrap();
    opens.reveal(key, Recipient::All).unwrap();
    [build, opens].map(|build| Compiled::new(build.finish().unwrap()).unwrap())
}

/// A run of all servers on the states in these folders.
fn run(
    folders: &[PathBuf; 3],
    compiled: &Arc<Compiled>,
    fill: &Fill,
    inputs: &[Value],
) -> Result<Run, Error> {
    let mut states = folders.each_ref().map(|folder| {
        let config = Config::load(&folder.join("parties.toml")).unwrap();
        State::of(&config, &folder.join("state")).unwrap()
    });
    let residents = states.iter_mut().map(|state| Residents { state, fill, store: None }).collect();
    Local::new("replicated-malicious").unwrap().run_on(compiled, residents, inputs, &|_, _| ())
}

fn all_of(folders: &[PathBuf; 3], seconds: u64) -> [Result<usize, Failure>; 3] {
    thread::scope(|scope| {
        let one = |folder: &PathBuf| {
            scope.spawn({
                let folder = folder.clone();
                move || all(&folder, Duration::from_secs(seconds))
            })
        };
        folders.each_ref().map(one).map(|thread| thread.join().unwrap())
    })
}

#[test]
fn keys_get_fresh_shares_and_old_ones_do_not_combine_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let realm = folder.path().join("realm");
    admin::init(&realm, REALM, (ENCTYPE, Sessions::Shared), ["127.0.0.1"; 2], ports()).unwrap();
    let folders = NAMES.map(|name| realm.join(name));
    let [keeps, opens] = programs();
    for record in RECORDS {
        run(&folders, &keeps, &Fill::new().keeping("record", record), &[value()]).unwrap();
    }
    // Of an order that nobody knows of any more.
    run(&folders, &keeps, &Fill::new().keeping("record", STRAY), &[value()]).unwrap();
    let server = Server::open(&folders[0]).unwrap();
    assert!(server.node().principals().begun().iter().any(|record| record == STRAY));
    drop(server);
    let mut principals = Principals::default();
    let at = now();
    for (record, kvno, at) in [("key 3", 1, 100), ("key 2", 2, 200), ("key 1", 3, at)] {
        principals.put_key("ann", (kvno, record.into()), (String::new(), 0), at, 1000);
    }
    // The admin's folder has no shares.
    assert!(all(&realm.join("admin"), Duration::from_secs(1)).is_err());

    // A server that has another key than the others: nothing is lost.
    for folder in &folders {
        principals.save(&folder.join("principals.json")).unwrap();
    }
    let mut other = principals.clone();
    other.put_key("ann", (4, "key 0".into()), (String::new(), 0), at, 1000);
    other.save(&folders[1].join("principals.json")).unwrap();
    for told in all_of(&folders, 20) {
        let refused = told.unwrap_err().to_string();
        assert!(folders.iter().all(|folder| has_stray(folder)), "another server may have it as a key");
        assert!(refused.contains("ann: of its key P0 has version 3, P1 has version 4"), "{refused}");
    }

    // One that ended before it noted an order which the others have carried out.
    let settings = Settings::load(&folders[1].join("kdc.toml")).unwrap();
    let change =
        Change::Key { salt: String::new(), iterations: 0, drawn: true, kvno: 4, holder: Holder::Any };
    let order = Order { principal: "ann".into(), change, at, number: 5 };
    let bytes = order.to_bytes().unwrap();
    let record = order::record(&bytes);
    let sent =
        OrderKey::load(&realm.join("admin")).unwrap().sign(REALM, std::str::from_utf8(&bytes).unwrap());
    run(&folders, &keeps, &Fill::new().keeping("record", &record), &[value()]).unwrap();
    let mut ended = principals.clone();
    ended.begin(&record);
    ended.save(&folders[1].join("principals.json")).unwrap();
    order.carry_out(&mut principals, &sent, at, &settings);
    for other in [0, 2] {
        principals.save(&folders[other].join("principals.json")).unwrap();
    }

    let (state, old) = (folders[1].join("state"), folder.path().join("old"));
    copy(&state, &old);
    for told in all_of(&folders, 60) {
        assert_eq!(told.unwrap(), 4);
    }
    let last = Principals::load(&folders[1].join("principals.json")).unwrap();
    assert!(!folders.iter().any(|folder| has_stray(folder)), "nobody knows its order");
    assert!(last.get("ann").unwrap().kvno == 4 && last.begun().is_empty());
    for record in RECORDS.iter().chain([&record.as_str()]) {
        let opened = run(&folders, &opens, &Fill::new().reading("record", record), &[]).unwrap();
        assert_eq!(opened.outputs, [Some(value())]);
        assert_eq!(opened.report.read[0].1, format!("{record}@2"));
    }

    // What one server had before is worth nothing beside what the others have now.
    fs::remove_dir_all(&state).unwrap();
    copy(&old, &state);
    let error = run(&folders, &opens, &Fill::new().reading("record", RECORDS[0]), &[]).unwrap_err();
    assert!(error.to_string().contains("P1 lacks key 1@2"), "{error}");
}

fn copy(from: &Path, to: &Path) {
    fs::DirBuilder::new().mode(0o700).create(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
