//! All parties in one process, each with what it keeps, and programs that keep and read values.

#![allow(dead_code, reason = "not every test file needs everything")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tacit::program::{Builder, Data, Dtype, NodeId, ProgramError, Range, Recipient, Uses, Value};
use tacit::{Compiled, Error, Fill, Local, Residents, Run, State};

/// All parties in this process, with what each keeps.
pub(crate) struct World {
    pub(crate) local: Local,
    pub(crate) states: Vec<State>,
    pub(crate) fill: Fill,
}

impl World {
    pub(crate) fn new(protocol: &str) -> Self {
        let local = Local::new(protocol).unwrap();
        let states = local.parties.iter().map(|_| State::new()).collect();
        Self { local, states, fill: Fill::new() }
    }

    pub(crate) fn run(&mut self, compiled: &Arc<Compiled>, inputs: &[Value]) -> Result<Run, Error> {
        let residents =
            self.states.iter_mut().map(|state| Residents { state, fill: &self.fill, store: None });
        self.local.run_on(compiled, residents.collect(), inputs, &|_, _| {})
    }

    pub(crate) fn refused(&mut self, compiled: &Arc<Compiled>) -> String {
        match self.run(compiled, &[]).map(|run| run.outputs) {
            Err(Error::Refused(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn compiled(build: impl FnOnce(&mut Builder) -> Result<(), ProgramError>) -> Arc<Compiled> {
    let mut builder = Builder::new();
    build(&mut builder).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

pub(crate) fn ints(values: &[i64]) -> Value {
    Value { shape: vec![values.len()], data: Data::Int(values.to_vec()) }
}

pub(crate) const SMALL: Range = match Range::new(-100, 100) {
    Some(range) => range,
    None => panic!(),
};

/// Keeps what P0 gives, with its square and whether it is negative; under names.
pub(crate) fn keeps(uses: &Uses) -> Arc<Compiled> {
    compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[3], Some(SMALL))?;
        let square = build.mul(x, x)?;
        let zero = build.constant(&ints(&[0, 0, 0]), Dtype::Int)?;
        let negative = build.less(x, zero)?;
        build.keep(x, "x", uses.clone())?;
        build.keep(square, "square", uses.clone())?;
        build.keep(negative, "negative", uses.clone())
    })
}

pub(crate) fn kept(build: &mut Builder, name: &str) -> Result<NodeId, ProgramError> {
    build.kept(name, Dtype::Int, &[3], Range::new(-20_000, 20_000))
}

/// Reveals `x` to somebody.
pub(crate) fn reveals(to: Recipient) -> Arc<Compiled> {
    compiled(|build| {
        let x = kept(build, "x")?;
        build.reveal(x, to)
    })
}

pub(crate) const NAMES: [&str; 6] = [
    "replicated",
    "replicated zero-sharing=information-theoretic",
    "replicated-malicious",
    "astra",
    "astra-malicious",
    "gmw",
];

/// A world whose parties keep in folders.
pub(crate) fn on_disk(protocol: &str, folder: &Path) -> World {
    let local = Local::new(protocol).unwrap();
    let states = local.open_states(folder).unwrap();
    World { local, states, fill: Fill::new() }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}
