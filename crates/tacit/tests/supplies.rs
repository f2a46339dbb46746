//! Supplies for real: filled in one session, drawn in others by lanes that share their key.

use std::sync::Arc;
use std::thread;

use tacit::advanced::engine::executor::Unobserved;
use tacit::advanced::engine::supply::{Stock, SupplyKind};
use tacit::advanced::engine::{Clear, Protocol};
use tacit::advanced::net::{Limits, Mesh, memory};
use tacit::advanced::program::plan::Domain;
use tacit::advanced::store::Overview;
use tacit::program::{Builder, Data, Dtype, Modulus, Range, Recipient, Value};
use tacit::{
    Compiled, Endpoint, Error, Feed, Filling, Made, Source, StorePath, Strand, play_fill, play_lanes,
};
use tacit_testkit::tenants::{BITS, FIELDS, MACS};
use tempfile::TempDir;

const FIELD: Domain = Domain::Modular(Modulus::Prime128);

/// Enough for a run or two.
fn wanted() -> Vec<(SupplyKind, u64)> {
    let mask = |owner| SupplyKind::InputMask { domain: FIELD, owner };
    vec![
        (SupplyKind::Triple(FIELD), 5_000),
        (SupplyKind::RandomBit(FIELD), 2_000),
        (mask(0), 640),
        (mask(1), 640),
    ]
}

/// A product, which is compared with one of its factors, if it `compares`: such a plan has more checks than one that doesn't.
fn program(compares: bool) -> Arc<Compiled> {
    let mut build = Builder::new();
    let range = Range::new(-100, 100);
    let [a, b] = ["P0", "P1"].map(|owner| build.input(owner, owner, Dtype::Int, &[3], range).unwrap());
    let product = build.mul(a, b).unwrap();
    build.reveal(product, Recipient::All).unwrap();
    if compares {
        let less = build.less(product, a).unwrap();
        build.reveal(less, Recipient::All).unwrap();
    }
    Compiled::new(build.finish().unwrap()).unwrap()
}

const INPUTS: [[i64; 3]; 2] = [[3, -4, 7], [5, 6, -1]];

fn ints(values: Vec<i64>) -> Value {
    Value { shape: vec![3], data: Data::Int(values) }
}

fn parties() -> Vec<String> {
    ["P0", "P1"].map(str::to_owned).to_vec()
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn path(&self, me: usize) -> StorePath {
        let path = |name: &str| self.0.path().join(name);
        StorePath { store: path(&format!("P{me}")), anchors: path("anchors") }
    }

    fn stock(&self, protocol: &dyn Protocol, me: usize) -> Stock {
        Stock::new(self.path(me).open_supplies(protocol, &parties(), me).unwrap())
    }

    /// All parties fill their stores.
    fn fill(&self) -> Vec<Made> {
        let made = together(1, |me, mut meshes| {
            let stock = self.stock(&MACS, me);
            let filling = Filling { wanted: wanted(), up_to: false };
            play_fill(&MACS, &parties(), meshes.remove(0), &filling, &stock, &mut Unobserved)
        });
        made.into_iter().map(Result::unwrap).collect()
    }

    /// What is unused of each kind, as people are shown it.
    fn left(&self, me: usize) -> Vec<(u64, u64)> {
        let StorePath { store, anchors } = self.path(me);
        let stocks = Overview::read(&store, &anchors).unwrap().epochs;
        let left = |stock: &tacit::advanced::store::Stock| match stock.standing() {
            tacit::advanced::store::Standing::Unused(left) => left,
            other => panic!("{other:?}"),
        };
        stocks.iter().map(|stock| (stock.shelf, left(stock))).collect()
    }
}

/// Both parties' parts, each with so many links to the other.
fn together<T: Send>(lanes: usize, play: impl Fn(usize, Vec<Mesh>) -> T + Sync) -> Vec<T> {
    let mut links: Vec<Vec<Mesh>> = vec![Vec::new(), Vec::new()];
    for _ in 0..lanes {
        for (me, link) in memory::mesh(2, 0).into_iter().enumerate() {
            links[me].push(Mesh::new(Box::new(link), me, parties(), Limits::default()));
        }
    }
    thread::scope(|scope| {
        let play = &play;
        let start = |(me, links)| scope.spawn(move || play(me, links));
        let threads: Vec<_> = links.into_iter().enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

struct Values {
    inputs: Vec<Option<Clear>>,
    outputs: Vec<Option<Clear>>,
}

impl Feed for Values {
    fn inputs(&mut self, _: u64) -> Result<Vec<Option<Clear>>, Error> {
        Ok(self.inputs.clone())
    }

    fn outputs(&mut self, _: u64, outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        self.outputs = outputs;
        Ok(())
    }
}

/// Runs in lanes, one for each program; who has a stock draws from it. All outputs, lane by lane, once they are right.
fn run(programs: &[Arc<Compiled>], stocks: [Option<&Stock>; 2]) -> Vec<Result<(), Error>> {
    together(programs.len(), |me, meshes| {
        let endpoint =
            |compiled| Endpoint::new(compiled, Arc::new(MACS.clone()), parties(), Vec::new()).unwrap();
        let endpoints: Vec<Endpoint> = programs.iter().map(endpoint).collect();
        let mut lanes: Vec<(Values, Unobserved)> = endpoints
            .iter()
            .map(|endpoint| {
                let own = endpoint.compiled.encode(me, &ints(INPUTS[me].to_vec())).unwrap();
                let inputs = (0..2).map(|party| (party == me).then(|| own.clone())).collect();
                (Values { inputs, outputs: Vec::new() }, Unobserved)
            })
            .collect();
        let strands =
            endpoints.iter().zip(meshes).zip(&mut lanes).map(|((endpoint, mesh), (feed, observer))| Strand {
                endpoint,
                mesh,
                feed,
                observer,
                residents: None,
            });
        play_lanes(strands.collect(), stocks[me].map_or(Source::InRun, Source::Supplies))?;
        for (endpoint, (values, _)) in endpoints.iter().zip(&lanes) {
            let decoded =
                |at: usize| endpoint.compiled.decode(at, values.outputs[at].as_ref().unwrap()).unwrap();
            assert_eq!(decoded(0), ints(INPUTS[0].iter().zip(INPUTS[1]).map(|(a, b)| a * b).collect()));
            if values.outputs.len() > 1 {
                let less = INPUTS[0].iter().zip(INPUTS[1]).map(|(a, b)| a * b < *a).collect();
                assert_eq!(decoded(1).data, Data::Bool(less));
            }
        }
        Ok(())
    })
}

#[test]
fn lanes_of_different_programs_draw_from_one_epoch_until_it_is_used_up() {
    let folder = Folder::new();
    let made = folder.fill();
    assert_eq!(made[0].epoch, made[1].epoch);
    let blocks: Vec<u64> = wanted().into_iter().map(|(_, count)| count.div_ceil(64)).collect();
    let unused = |me| folder.left(me).into_iter().map(|(_, left)| left).collect::<Vec<_>>();
    assert_eq!([unused(0), unused(1)], [blocks.clone(), blocks]);
    // Lanes with one check, with more, and with one again.
    let programs = [false, true, false].map(program);
    let mut runs = 0;
    loop {
        let stocks = [0, 1].map(|me| folder.stock(&MACS, me));
        let before = unused(0);
        let ended = run(&programs, [Some(&stocks[0]), Some(&stocks[1])]);
        if let Some(error) = ended.iter().find_map(|ended| ended.as_ref().err()) {
            // Other lanes may have taken the last, and end with the one that has none.
            let is_out = |ended: &Result<(), Error>| matches!(ended, Err(Error::NoMaterial(_)));
            assert!(ended.iter().all(Result::is_err) && ended.iter().any(is_out), "{error}");
            break;
        }
        runs += 1;
        drop(stocks);
        let after = unused(0);
        assert_eq!(after, unused(1));
        assert!(before.iter().zip(&after).all(|(before, after)| after < before), "{before:?} {after:?}");
    }
    assert!(runs > 1, "{runs}");
    // What is made in the runs is the same to engines.
    assert!(run(&programs, [None, None]).into_iter().all(|ended| ended.is_ok()));
}

/// Later, others would have learnt what its first parts told.
#[test]
fn a_stream_that_would_run_out_of_supplies_does_not_begin() {
    let folder = Folder::new();
    folder.fill();
    let ended = together(1, |me, mut meshes| {
        let endpoint = Endpoint::new(&program(false), Arc::new(MACS.clone()), parties(), Vec::new()).unwrap();
        let endpoint = endpoint.repeated(100, None, 100).unwrap();
        let own = endpoint.compiled.encode(me, &ints(INPUTS[me].to_vec())).unwrap();
        let inputs = (0..2).map(|party| (party == me).then(|| own.clone())).collect();
        let (mut values, mut observer) = (Values { inputs, outputs: Vec::new() }, Unobserved);
        let (mesh, feed) = (meshes.remove(0), &mut values);
        let strand = Strand { endpoint: &endpoint, mesh, feed, observer: &mut observer, residents: None };
        let error = play_lanes(vec![strand], Source::Supplies(&folder.stock(&MACS, me))).unwrap_err();
        assert!(values.outputs.is_empty());
        error
    });
    for error in ended {
        let says = error.to_string();
        assert!(matches!(error, Error::NoMaterial(_)) && !error.is_abort(), "{says}");
        assert!(says.contains(" are wanted") && says.contains("`tacit offline`"), "{says}");
    }
}

#[test]
fn all_draw_from_stores_or_none_does_and_each_from_its_own() {
    let folder = Folder::new();
    folder.fill();
    let before = folder.left(1);
    let stock = folder.stock(&MACS, 1);
    let ended = run(&[program(false)], [None, Some(&stock)]);
    for error in ended.into_iter().map(Result::unwrap_err) {
        assert!(
            matches!(&error, Error::Refused(says) if says.contains("P1 with one, P0 without")),
            "{error}"
        );
    }
    drop(stock);
    assert_eq!(folder.left(1), before, "nothing is used");
    // Of another protocol there is no store here, nor supplies of what lacks them.
    assert!(matches!(folder.path(0).open_supplies(&FIELDS, &parties(), 0), Err(Error::Store(_))));
    let other = Folder::new();
    let stocks = [0, 1].map(|me| other.stock(&BITS, me));
    for error in
        run(&[program(false)], [Some(&stocks[0]), Some(&stocks[1])]).into_iter().map(Result::unwrap_err)
    {
        assert!(matches!(error, Error::Refused(_)), "{error}");
    }
}
