//! Values that stay: kept by one run, read by later ones, under every protocol.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use tacit::program::{Builder, Data, Dtype, NodeId, Program, ProgramError, Range, Recipient, Uses, Value};
use tacit::{Compiled, Error, Fill, Filling, Local, Residents, Run, Standing, State, StorePath};

/// All parties in this process, with what each keeps.
struct World {
    local: Local,
    states: Vec<State>,
    fill: Fill,
}

impl World {
    fn new(protocol: &str) -> Self {
        let local = Local::new(protocol).unwrap();
        let states = local.parties.iter().map(|_| State::new()).collect();
        Self { local, states, fill: Fill::new() }
    }

    fn run(&mut self, compiled: &Arc<Compiled>, inputs: &[Value]) -> Result<Run, Error> {
        let residents =
            self.states.iter_mut().map(|state| Residents { state, fill: &self.fill, store: None });
        self.local.run_on(compiled, residents.collect(), inputs, &|_, _| {})
    }

    fn refused(&mut self, compiled: &Arc<Compiled>) -> String {
        match self.run(compiled, &[]).map(|run| run.outputs) {
            Err(Error::Refused(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }
}

fn compiled(build: impl FnOnce(&mut Builder) -> Result<(), ProgramError>) -> Arc<Compiled> {
    let mut builder = Builder::new();
    build(&mut builder).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

fn ints(values: &[i64]) -> Value {
    Value { shape: vec![values.len()], data: Data::Int(values.to_vec()) }
}

const SMALL: Range = match Range::new(-100, 100) {
    Some(range) => range,
    None => panic!(),
};

/// Keeps what P0 gives, with its square and whether it is negative; under names.
fn keeps(uses: &Uses) -> Arc<Compiled> {
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

fn kept(build: &mut Builder, name: &str) -> Result<NodeId, ProgramError> {
    build.kept(name, Dtype::Int, &[3], Range::new(-20_000, 20_000))
}

/// Reveals `x` to somebody.
fn reveals(to: Recipient) -> Arc<Compiled> {
    compiled(|build| {
        let x = kept(build, "x")?;
        build.reveal(x, to)
    })
}

const NAMES: [&str; 6] = [
    "replicated",
    "replicated zero-sharing=information-theoretic",
    "replicated-malicious",
    "astra",
    "astra-malicious",
    "gmw",
];

#[test]
fn what_one_run_keeps_later_ones_compute_on() {
    // Products, comparisons and sums of what is kept and what is given, one of them kept again.
    let reads = compiled(|build| {
        let (x, square) = (kept(build, "x")?, kept(build, "square")?);
        let negative = build.kept("negative", Dtype::Bool, &[3], None)?;
        let y = build.input("P1", "y", Dtype::Int, &[3], Some(SMALL))?;
        let product = build.mul(x, y)?;
        let less = build.less(square, y)?;
        let chosen = build.select(negative, product, y)?;
        for output in [product, less, chosen, square] {
            build.reveal(output, Recipient::All)?;
        }
        let clipped = build.minimum(x, y)?;
        build.keep(clipped, "x", Uses::default())
    });
    for name in NAMES {
        let mut world = World::new(name);
        let run = world.run(&keeps(&Uses::default()), &[ints(&[3, -4, 5])]).unwrap();
        assert_eq!(run.report.kept, ["x@1", "square@1", "negative@1"], "{name}");
        for version in 1..3 {
            let run = world.run(&reads, &[ints(&[7, 20, -2])]).unwrap();
            assert_eq!(run.report.kept, [format!("x@{}", version + 1)], "{name}");
            assert_eq!(run.report.read[0], ("x".to_owned(), format!("x@{version}")));
            let x = if version == 1 { [3, -4, 5] } else { [3, -4, -2] };
            let product: Vec<i64> = x.iter().zip([7, 20, -2]).map(|(x, y)| x * y).collect();
            let outputs: Vec<Value> = run.outputs.into_iter().flatten().collect();
            assert_eq!(outputs[0], ints(&product), "{name}");
            assert_eq!(outputs[1].data, Data::Bool(vec![false, true, false]), "{name}");
            assert_eq!(outputs[2], ints(&[7, product[1], -2]), "{name}");
            assert_eq!(outputs[3], ints(&[9, 16, 25]), "{name}");
        }
        assert!(
            world.states.iter().all(|state| state.list().iter().all(|v| v.standing == Standing::Settled))
        );
    }
}

#[test]
fn fixed_point_and_integers_modulo_stay_too() {
    let fixed = Dtype::Fixed { frac: 8 };
    let modular = Dtype::Modular(tacit::program::Modulus::PowerOfTwo(32));
    let keeps = compiled(|build| {
        let a = build.input("P0", "a", fixed, &[2], Range::new(-1 << 12, 1 << 12))?;
        let b = build.input("P0", "b", modular, &[2], None)?;
        build.keep(a, "a", Uses::default())?;
        build.keep(b, "b", Uses::default())
    });
    let reads = compiled(|build| {
        let a = build.kept("a", fixed, &[2], Range::new(-1 << 12, 1 << 14))?;
        let b = build.kept("b", modular, &[2], None)?;
        let (square, twice) = (build.mul(a, a)?, build.add(b, b)?);
        build.reveal(square, Recipient::All)?;
        build.reveal(twice, Recipient::All)
    });
    let given = [
        Value { shape: vec![2], data: Data::Float(vec![1.5, -2.25]) },
        Value { shape: vec![2], data: Data::Int(vec![5, (1 << 31) + 1]) },
    ];
    for name in NAMES {
        let mut world = World::new(name);
        world.run(&keeps, &given).unwrap();
        let outputs: Vec<Value> = world.run(&reads, &[]).unwrap().outputs.into_iter().flatten().collect();
        assert_eq!(outputs[0].data, Data::Float(vec![2.25, 5.0625]), "{name}");
        assert_eq!(outputs[1].data, Data::Unsigned(vec![10, 2]), "{name}");
    }
}

/// MACs are under the key of a store's epoch, and so is what is kept.
#[test]
fn under_mascot_values_stay_with_the_epoch_of_their_store() {
    let local = Local::new("mascot").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = StorePath::simulated(folder.path().join("stores"));
    let protocol = tacit::protocol("mascot").unwrap();
    let (keeps, reads) = (
        compiled(|build| {
            let x = build.input("P0", "x", Dtype::Int, &[1], Some(SMALL))?;
            build.keep(x, "x", Uses::default())
        }),
        compiled(|build| {
            let x = build.kept("x", Dtype::Int, &[1], Some(SMALL))?;
            let square = build.mul(x, x)?;
            build.reveal(square, Recipient::All)
        }),
    );
    let mut world =
        World { states: local.parties.iter().map(|_| State::new()).collect(), local, fill: Fill::new() };
    let refused = world.refused(&reads);
    assert!(refused.contains("under a key that ends with a run"), "{refused}");

    let filling =
        Filling::of(&*protocol, world.local.parties.len(), &[("triples", 1), ("bits", 200), ("masks", 64)])
            .unwrap();
    world.local.stock(&filling, &place, &|_, _| {}).unwrap();
    let run = |world: &mut World, compiled: &Arc<Compiled>, inputs: &[Value]| {
        let mut stores = world.local.open_stores(compiled, &place).unwrap();
        let both = world.states.iter_mut().zip(&mut stores);
        let residents =
            both.map(|(state, store)| Residents { state, fill: &world.fill, store: Some(store) }).collect();
        world.local.run_on(compiled, residents, inputs, &|_, _| {})
    };
    run(&mut world, &keeps, &[ints(&[-7])]).unwrap();
    let outputs = run(&mut world, &reads, &[]).unwrap().outputs;
    assert_eq!(outputs[0].as_ref().unwrap(), &ints(&[49]));
    assert!(world.states[0].list()[0].about.key.is_some());

    // Another store has other keys.
    let other = StorePath::simulated(folder.path().join("other"));
    world.local.stock(&filling, &other, &|_, _| {}).unwrap();
    let mut stores = world.local.open_stores(&reads, &other).unwrap();
    let both = world.states.iter_mut().zip(&mut stores);
    let residents =
        both.map(|(state, store)| Residents { state, fill: &world.fill, store: Some(store) }).collect();
    let refused = world.local.run_on(&reads, residents, &[], &|_, _| {}).unwrap_err().to_string();
    assert!(refused.contains("which this party's store of supplies has no more"), "{refused}");
}

#[test]
fn a_run_says_which_values_fill_the_slots() {
    let mut world = World::new("replicated");
    let keep = keeps(&Uses::default());
    for x in [1, 2, 3] {
        world.run(&keep, &[ints(&[x, x, x])]).unwrap();
    }
    let reveal = reveals(Recipient::All);
    let mut read = |value: &str| {
        world.fill = Fill::from([("x".to_owned(), value.to_owned())]);
        world.run(&reveal, &[]).map(|run| run.outputs[0].clone().unwrap())
    };
    assert_eq!(read("x@2").unwrap(), ints(&[2, 2, 2]));
    assert_eq!(read("square").unwrap(), ints(&[9, 9, 9]));
    assert_eq!(read("x").unwrap(), ints(&[3, 3, 3]));
    for (value, says) in [
        ("x@4", "x@4 isn't kept"),
        ("y", "nothing is kept under the name \"y\""),
        ("x@0", "names no kept value"),
        ("negative", "negative@3 is bool [3]; the program reads int [3] as \"x\""),
    ] {
        let refused = read(value).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
    world.fill = Fill::from([("z".to_owned(), "x".to_owned())]);
    assert!(world.refused(&reveal).contains("reads no kept value that it calls \"z\""));
}

#[test]
fn what_is_not_as_declared_is_refused_by_all() {
    let mut world = World::new("astra");
    world.run(&keeps(&Uses::default()), &[ints(&[1, 2, 3])]).unwrap();
    let narrow = compiled(|build| {
        let x = build.kept("x", Dtype::Int, &[3], Range::new(0, 100))?;
        build.reveal(x, Recipient::All)
    });
    let refused = world.refused(&narrow);
    assert!(refused.contains("x@1 can be -100 to 100, which isn't all within the 0 to 100"), "{refused}");
    world.local.protocol = "astra-malicious".to_owned();
    let refused = world.refused(&reveals(Recipient::All));
    assert!(
        refused.contains("x@1 is shared as in \"astra roles=012\"; this run is \"astra-malicious"),
        "{refused}"
    );
    world.local.protocol = "astra roles=201".to_owned();
    assert!(world.refused(&reveals(Recipient::All)).contains("this run is \"astra roles=201\""));
    let homeless = world.local.run(&reveals(Recipient::All), &[], &|_, _| {}).unwrap_err().to_string();
    assert!(homeless.contains("say where this party keeps them"), "{homeless}");
}

/// Whoever may not learn a value, or what depends on it, doesn't: all parties refuse, before anything is computed.
#[test]
fn uses_are_enforced_by_every_party() {
    let mut world = World::new("replicated-malicious");
    let uses = Uses::new(Vec::new(), Some(vec!["alice".into()]));
    world.run(&keeps(&uses), &[ints(&[1, 2, 3])]).unwrap();
    for (to, says) in [
        (
            Recipient::Role("mallory".into()),
            "may be learnt by alice only, and the program reveals it to mallory",
        ),
        (Recipient::All, "reveals it to all"),
    ] {
        let refused = world.refused(&reveals(to));
        assert!(refused.contains("what depends on x@1") && refused.contains(says), "{refused}");
    }
    let run = world.run(&reveals(Recipient::Role("alice".into())), &[]).unwrap();
    assert_eq!(run.outputs[0].as_ref().unwrap(), &ints(&[1, 2, 3]));

    // Neither by what is computed of it, nor by way of another kept value.
    let sum = compiled(|build| {
        let x = kept(build, "x")?;
        let sum = build.sum(x, None, false)?;
        build.reveal(sum, Recipient::Role("bob".into()))
    });
    assert!(world.refused(&sum).contains("to bob"));
    let copies = |learners: Option<Vec<String>>| {
        compiled(|build| {
            let x = kept(build, "x")?;
            let copy = build.add(x, x)?;
            build.keep(copy, "copy", Uses::new(Vec::new(), learners))
        })
    };
    for learners in [None, Some(vec!["alice".into(), "bob".into()])] {
        assert!(world.refused(&copies(learners)).contains("keeps \"copy\" of it for others, too"));
    }
    world.run(&copies(Some(vec!["alice".into()])), &[]).unwrap();
    world.run(&copies(Some(Vec::new())), &[]).unwrap();

    // And only by the programs that are named.
    let reveal = reveals(Recipient::All);
    let uses = Uses::new(vec![reveal.hash()], None);
    world.run(&keeps(&uses), &[ints(&[4, 5, 6])]).unwrap();
    assert!(world.refused(&sum).contains("x@2 may be read by other programs only"));
    assert_eq!(world.run(&reveal, &[]).unwrap().outputs[0].as_ref().unwrap(), &ints(&[4, 5, 6]));
}

/// A value for some programs alone fills no other slot of theirs: a program that reveals its count doesn't reveal a key.
#[test]
fn a_value_for_named_programs_is_read_by_its_own_name() {
    let counts = compiled(|build| {
        let (count, key) = (kept(build, "count")?, kept(build, "x")?);
        let same = build.equal(count, key)?;
        build.reveal(same, Recipient::All)?;
        build.reveal(count, Recipient::All)
    });
    let mut world = World::new("replicated");
    world.run(&keeps(&Uses::new(vec![counts.hash()], None)), &[ints(&[1, 2, 3])]).unwrap();
    world.fill = Fill::from([("count".to_owned(), "x@1".to_owned())]);
    let refused = world.refused(&counts);
    assert!(
        refused.contains("as what they call \"x\", and this one would read it as \"count\""),
        "{refused}"
    );
}

#[test]
fn where_all_have_the_outputs_or_nobody_has_nothing_is_kept() {
    let mut world = World::new("astra-fair");
    let refused =
        world.run(&keeps(&Uses::default()), &[ints(&[1, 2, 3])]).map(|run| run.outputs).unwrap_err();
    assert!(refused.to_string().contains("values that stay"), "{refused}");
}

#[test]
fn a_missing_an_old_and_a_foreign_share_are_refused_with_the_name() {
    let keep = keeps(&Uses::default());
    let reveal = reveals(Recipient::All);
    for name in NAMES {
        let mut world = World::new(name);
        world.run(&keep, &[ints(&[1, 2, 3])]).unwrap();
        // P1 lost everything; then it has what another deployment kept under the same name.
        let own = std::mem::take(&mut world.states[1]);
        let refused = world.refused(&reveal);
        assert!(refused.contains("P1 lacks x@1, which others have"), "{refused}");
        let mut other = World::new(name);
        other.run(&keep, &[ints(&[1, 2, 3])]).unwrap();
        world.states[1] = other.states.swap_remove(1);
        let refused = world.refused(&reveal);
        assert!(refused.contains("x@1 of P1 is another value than that of P0"), "{refused}");
        world.states[1] = own;
        assert!(world.run(&reveal, &[]).is_ok());
    }
}

#[test]
fn what_is_dropped_is_gone_once_all_have_dropped_it() {
    let mut world = World::new("replicated");
    let keep = keeps(&Uses::default());
    for _ in 0..2 {
        world.run(&keep, &[ints(&[1, 2, 3])]).unwrap();
    }
    let reveal = reveals(Recipient::All);
    world.states[2].drop_value("x@2").unwrap();
    assert!(world.refused(&reveal).contains("x@2 was dropped by P2, and others have it still"));
    for state in &mut world.states[..2] {
        state.drop_value("x@2").unwrap();
    }
    assert_eq!(world.run(&reveal, &[]).unwrap().report.read[0].1, "x@1");
    for state in &mut world.states {
        state.drop_value("x").unwrap();
        assert!(state.drop_value("x").unwrap_err().to_string().contains("nothing is kept as \"x\""));
    }
    assert!(world.refused(&reveal).contains("no version of it is left"));
    // No version comes twice.
    assert_eq!(world.run(&keep, &[ints(&[1, 2, 3])]).unwrap().report.kept[0], "x@3");
}

/// The cost of keeping and of reading is nothing, by every protocol's price and by what is sent.
#[test]
fn keeping_and_reading_send_nothing() {
    let input = |also: bool| {
        compiled(|build| {
            let x = build.input("P0", "x", Dtype::Int, &[3], Some(SMALL))?;
            build.reveal(x, Recipient::All)?;
            if also { build.keep(x, "x", Uses::default()) } else { Ok(()) }
        })
    };
    for name in NAMES {
        let mut world = World::new(name);
        let mut sent = |compiled: &Arc<Compiled>, inputs: &[Value]| {
            let parties = world.local.parties.clone();
            let declared = tacit::price(compiled, name, &parties).unwrap().total;
            let run = world.run(compiled, inputs).unwrap();
            let sent: u64 = run.report.endpoints.iter().map(|(_, traffic)| traffic.payload()).sum();
            assert_eq!(sent, declared.bytes(), "{name}");
            sent
        };
        sent(&input(true), &[ints(&[1, 2, 3])]);
        sent(&input(false), &[ints(&[1, 2, 3])]);
        sent(&reveals(Recipient::All), &[]);
    }
}

#[test]
fn a_saved_program_still_keeps() {
    let keep = keeps(&Uses::default());
    let saved = Program::from_bytes(&keep.program().to_bytes()).unwrap();
    let mut world = World::new("replicated");
    world.run(&Compiled::new(saved).unwrap(), &[ints(&[1, 2, 3])]).unwrap();
}

/// A world whose parties keep in folders.
fn on_disk(protocol: &str, folder: &Path) -> World {
    let local = Local::new(protocol).unwrap();
    let states = local.open_states(folder).unwrap();
    World { local, states, fill: Fill::new() }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o700)).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn what_is_on_disk_is_there_for_other_processes() {
    let keep = keeps(&Uses::default());
    let reveal = reveals(Recipient::All);
    for name in ["replicated", "replicated-malicious", "astra-malicious"] {
        let folder = tempfile::tempdir().unwrap();
        on_disk(name, folder.path()).run(&keep, &[ints(&[1, 2, 3])]).unwrap();
        let mut world = on_disk(name, folder.path());
        assert!(Local::new(name).unwrap().open_states(folder.path()).is_err(), "one process at a time");
        assert_eq!(world.run(&reveal, &[]).unwrap().outputs[0].as_ref().unwrap(), &ints(&[1, 2, 3]));
        world.run(&keep, &[ints(&[4, 5, 6])]).unwrap();
        world.states.iter_mut().for_each(|state| state.drop_value("square").unwrap());
        drop(world);
        let mut world = on_disk(name, folder.path());
        assert_eq!(world.run(&reveal, &[]).unwrap().report.read[0].1, "x@2");
        let listed: Vec<(String, Standing)> = world.states[0]
            .list()
            .into_iter()
            .map(|listed| (listed.about.to_string(), listed.standing))
            .collect();
        let (s, d) = (Standing::Settled, Standing::Dropped);
        let all =
            [("negative@1", s), ("negative@2", s), ("square@1", d), ("square@2", d), ("x@1", s), ("x@2", s)];
        assert_eq!(listed, all.map(|(value, standing)| (value.to_owned(), standing)));
    }
}

/// A disk that was put back, another party's, and a changed byte: the run ends, with the name, and nobody has a result.
#[test]
fn a_disk_that_is_not_as_it_was_left_is_refused() {
    let keep = keeps(&Uses::default());
    let reveal = reveals(Recipient::All);
    for name in NAMES {
        let folder = tempfile::tempdir().unwrap();
        let [own, old, swapped] = ["P1", "old", "swapped"].map(|name| folder.path().join(name));
        on_disk(name, folder.path()).run(&keep, &[ints(&[1, 2, 3])]).unwrap();
        copy(&own, &old);
        on_disk(name, folder.path()).run(&keep, &[ints(&[4, 5, 6])]).unwrap();
        std::fs::rename(&own, &swapped).unwrap();
        copy(&old, &own);
        let refused = on_disk(name, folder.path()).refused(&reveal);
        assert!(refused.contains("P1 lacks x@2, which others have: its state is an older copy"), "{refused}");

        // P0's disk in place of P1's holds parts that P1 doesn't.
        std::fs::remove_dir_all(&own).unwrap();
        copy(&folder.path().join("P0"), &own);
        let error = on_disk(name, folder.path()).run(&reveal, &[]).map(|run| run.outputs).unwrap_err();
        let says = error.to_string();
        let is_noticed =
            says.contains("kept value doesn't fit") || says.contains("holds another share of x@2");
        assert!(is_noticed, "{says}");

        std::fs::remove_dir_all(&own).unwrap();
        std::fs::rename(&swapped, &own).unwrap();
        on_disk(name, folder.path()).run(&reveal, &[]).unwrap();
        let mut noticed = 0;
        for file in std::fs::read_dir(&own).unwrap() {
            let path = file.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            if bytes.len() <= 32 {
                continue;
            }
            let mut changed = bytes.clone();
            let middle = changed.len() / 2;
            changed[middle] ^= 1;
            std::fs::write(&path, &changed).unwrap();
            let read = Local::new(name).unwrap().open_states(folder.path());
            let ended = read.and_then(|states| {
                let local = Local::new(name).unwrap();
                World { local, states, fill: Fill::new() }.run(&reveal, &[])
            });
            noticed += usize::from(ended.is_err());
            let is_read = path.to_string_lossy().ends_with("-2") && !matches!(&ended, Err(Error::Store(_)));
            if let Ok(run) = ended {
                // Another value's file.
                assert!(
                    !is_read || run.outputs[0].as_ref().unwrap() == &ints(&[4, 5, 6]),
                    "{}",
                    path.display()
                );
            }
            std::fs::write(&path, &bytes).unwrap();
        }
        assert_eq!(noticed, 2, "the index, and the file of the value that is read");
    }
}
