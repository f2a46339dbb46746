//! The whole store: what it gives, and what it does when something fails, is old, damaged or somebody else's.

mod anchors;
mod damage;
mod faults;
mod supplies;
mod usage;

use std::fs::{self, DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Binding, Epoch, Error, PlanBinding, Run, Store, WHOLE};

pub(crate) fn binding() -> Binding {
    Binding {
        me: "P0".into(),
        parties: ["P0", "P1", "P2"].map(String::from).into(),
        clients: vec!["alice".into()],
        protocol: "astra".into(),
        parameters: String::new(),
        plan: Some(plan_binding()),
    }
}

pub(crate) fn plan_binding() -> PlanBinding {
    PlanBinding { inputs: "a: int64[3]".into(), program: [3; 32], plan: [5; 32] }
}

const A: Epoch = Epoch([0xaa; 32]);
const B: Epoch = Epoch([0xbb; 32]);

/// A folder with a store and its anchors.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Self {
        // In memory where that can be had: there are many syncs in these tests.
        let memory = tempfile::tempdir_in("/dev/shm");
        Self { root: memory.or_else(|_| tempfile::tempdir()).unwrap() }
    }

    fn store(&self) -> PathBuf {
        self.root.path().join("store")
    }

    fn anchors(&self) -> PathBuf {
        self.root.path().join("anchors")
    }

    fn create(&self) -> Result<Store, Error> {
        Store::create(&self.store(), &self.anchors(), &binding())
    }

    fn open(&self) -> Result<Store, Error> {
        Store::open(&self.store(), &self.anchors(), &binding())
    }

    fn adopt(&self) -> Result<Store, Error> {
        Store::adopt(&self.store(), &self.anchors(), &binding())
    }

    /// A place with an epoch of so many instances.
    fn with(epoch: Epoch, count: u64) -> Self {
        let place = Self::new();
        write(&mut place.create().unwrap(), epoch, count).unwrap();
        place
    }

    /// The anchor's file: the only one there is.
    fn anchor(&self) -> PathBuf {
        let entries = fs::read_dir(self.anchors()).unwrap().map(|entry| entry.unwrap().path());
        entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "anchor")).unwrap()
    }

    fn journal(&self) -> PathBuf {
        self.store().join("journal")
    }

    /// A copy of everything, to be changed.
    fn copy(&self) -> Self {
        let copy = Self::new();
        copy_folder(self.root.path(), copy.root.path());
        copy
    }
}

/// What is put in for an instance: it says which it is, and lengths differ.
fn material(epoch: Epoch, index: u64) -> Vec<u8> {
    let len = [5, 0, 70, 300, 1, 33][index as usize % 6];
    (0..len).map(|i| epoch.0[0] ^ (index as u8).wrapping_mul(31) ^ (i as u8)).collect()
}

fn write(store: &mut Store, epoch: Epoch, count: u64) -> Result<u64, Error> {
    let mut writer = store.writer(epoch)?;
    for index in 0..count {
        writer.put(WHOLE, &material(epoch, index))?;
    }
    writer.finish(store)
}

/// Takes a run and checks each material; returns the indices that were given.
fn take(store: &mut Store, epoch: Epoch, first: u64, instances: u64) -> Result<Vec<u64>, Error> {
    let mut given = Vec::new();
    for (index, got) in (first..).zip(store.take_run(Run { epoch, shelf: WHOLE, first, instances })?) {
        assert_eq!(&got?[..], material(epoch, index), "{index} of {epoch}");
        given.push(index);
    }
    Ok(given)
}

/// `next` and `count` of an epoch that has unused material.
fn unused(store: &Store, epoch: Epoch) -> Option<(u64, u64)> {
    let found = store.available(WHOLE).into_iter().find(|own| own.epoch == epoch);
    found.map(|own| (own.next, own.count))
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            DirBuilder::new().mode(0o700).create(&to).unwrap();
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn flip(path: &Path, at: u64, bits: u8) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ bits], at).unwrap();
}

fn cut(path: &Path, len: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
}
