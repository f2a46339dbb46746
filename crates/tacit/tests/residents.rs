//! Values that stay: kept by one run, read by later ones, under every protocol.

mod states;

use states::{NAMES, SMALL, World, compiled, copy, ints, keeps, kept, on_disk, reveals};
use std::sync::Arc;
use tacit::program::{Data, Dtype, Program, Range, Recipient, Uses, Value};
use tacit::{Compiled, Error, Fill, Filling, Local, Residents, Standing, State, StorePath};

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
        let uses = Uses::default().with_writers(vec![reads.hash()]);
        let run = world.run(&keeps(&uses), &[ints(&[3, -4, 5])]).unwrap();
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

/// Of a run in which a number isn't in its assumed range nothing stays, and the next one is as if it hadn't been.
#[test]
fn what_a_run_would_keep_is_not_kept_where_an_assumption_does_not_hold() {
    let keeps = compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[3], Some(SMALL))?;
        let small = build.assume(x, Range::new(0, 15).unwrap())?;
        build.keep(small, "x", Uses::default())
    });
    for name in NAMES {
        let mut world = World::new(name);
        for (numbers, version) in [([1, 2, 15], 1), ([0, 16, 3], 1), ([4, 0, 0], 2)] {
            let run = world.run(&keeps, &[ints(&numbers)]);
            if numbers[1] == 16 {
                let error = run.unwrap_err();
                assert!(matches!(error, Error::OutsideAssumed { .. }), "{name}: {error}");
                assert!(error.is_abort() && !error.is_failed_check() && !error.is_attempt());
            } else {
                assert_eq!(run.unwrap().report.kept, [format!("x@{version}")], "{name}");
            }
        }
        let read = world.run(&reveals(Recipient::All), &[]).unwrap();
        assert_eq!(read.outputs, [Some(ints(&[4, 0, 0]))], "{name}");
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
        Filling::of(&*protocol, world.local.parties.len(), &[("triples", 128), ("bits", 200), ("masks", 64)])
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
    // What draws nothing has the key by what it reads.
    let adds = compiled(|build| {
        let x = build.kept("x", Dtype::Int, &[1], Some(SMALL))?;
        let twice = build.add(x, x)?;
        build.keep(twice, "twice", Uses::default())
    });
    let reveals = compiled(|build| {
        let twice = build.kept("twice", Dtype::Int, &[1], Range::new(-200, 200))?;
        build.reveal(twice, Recipient::All)
    });
    assert_eq!(run(&mut world, &adds, &[]).unwrap().report.kept, ["twice@1"]);
    assert_eq!(run(&mut world, &reveals, &[]).unwrap().outputs[0].as_ref().unwrap(), &ints(&[-14]));
    assert_eq!(world.local.refresh(&mut world.states, "x").unwrap(), "x@2");
    let outputs = run(&mut world, &reads, &[]).unwrap().outputs;
    assert_eq!(outputs[0].as_ref().unwrap(), &ints(&[49]));

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
    let named = keeps(&Uses::new(vec![reveals(Recipient::All).hash()], None));
    let uses = Uses::new(Vec::new(), Some(vec!["alice".into()])).with_writers(vec![named.hash()]);
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
    world.states.iter_mut().for_each(|state| state.drop_value("copy").unwrap());
    world.run(&copies(Some(Vec::new())), &[]).unwrap();

    // And only by the programs that are named.
    let reveal = reveals(Recipient::All);
    world.run(&named, &[ints(&[4, 5, 6])]).unwrap();
    assert!(world.refused(&sum).contains("x@2 may be read by other programs only"));
    assert_eq!(world.run(&reveal, &[]).unwrap().outputs[0].as_ref().unwrap(), &ints(&[4, 5, 6]));
}

/// Another client's program doesn't overwrite a name: its first keeper says who may, for as long as the name lives.
#[test]
fn who_may_keep_a_name_again_is_said_by_whoever_made_it() {
    let overwrites = |uses: Uses| {
        compiled(|build| {
            let x = build.input("mallory", "x", Dtype::Int, &[3], Some(SMALL))?;
            build.keep(x, "x", uses)
        })
    };
    let foreign = overwrites(Uses::default());
    let named = overwrites(Uses::new(Vec::new(), Some(Vec::new())));
    // Whoever is named as a writer doesn't name others.
    let widens = overwrites(Uses::default().with_writers(vec![foreign.hash()]));
    let owner = keeps(&Uses::default().with_writers(vec![named.hash(), widens.hash()]));
    for name in NAMES {
        let mut world = World::new(name);
        world.run(&owner, &[ints(&[1, 2, 3])]).unwrap();
        let refused = |world: &mut World| {
            let refused =
                world.run(&foreign, &[ints(&[7, 7, 7])]).map(|run| run.outputs).unwrap_err().to_string();
            assert!(refused.contains("\"x\" is for other programs to keep"), "{name}: {refused}");
        };
        refused(&mut world);
        for writer in [&named, &widens] {
            world.run(writer, &[ints(&[4, 5, 6])]).unwrap();
            refused(&mut world);
        }
        world.run(&owner, &[ints(&[1, 2, 3])]).unwrap();
        assert_eq!(world.run(&reveals(Recipient::All), &[]).unwrap().report.read[0].1, "x@4");
        // The name is free once all of it is dropped, everywhere.
        world.states[0].drop_value("x").unwrap();
        assert!(world.run(&foreign, &[ints(&[7, 7, 7])]).is_err());
        world.states[1..].iter_mut().for_each(|state| state.drop_value("x").unwrap());
        assert_eq!(world.run(&foreign, &[ints(&[7, 7, 7])]).unwrap().report.kept, ["x@5"]);
        assert!(world.run(&owner, &[ints(&[1, 2, 3])]).is_err());
    }
}

/// A party whose disk is an old copy takes part in no run that keeps the next version either.
#[test]
fn nothing_is_kept_after_an_old_copy() {
    let mut world = World::new("replicated");
    let keep = keeps(&Uses::default());
    world.run(&keep, &[ints(&[1, 2, 3])]).unwrap();
    world.states[1] = State::new();
    let refused = world.run(&keep, &[ints(&[1, 2, 3])]).map(|run| run.outputs).unwrap_err().to_string();
    assert!(refused.contains("P1 lacks x@1"), "{refused}");
}

/// What was kept with less soundness than a run promises isn't read by it.
#[test]
fn a_run_reads_nothing_that_is_less_sound_than_it_promises() {
    let mut world = World::new("replicated-malicious");
    world.run(&keeps(&Uses::default()), &[ints(&[1, 2, 3])]).unwrap();
    world.local.protocol = "replicated-malicious soundness=100".to_owned();
    let refused = world.refused(&reveals(Recipient::All));
    assert!(refused.contains("x@1 was kept at soundness 50, and this run promises 100"), "{refused}");
    world.run(&keeps(&Uses::default()), &[ints(&[1, 2, 3])]).unwrap();
    world.run(&reveals(Recipient::All), &[]).unwrap();
    world.local.protocol = "replicated-malicious".to_owned();
    world.run(&reveals(Recipient::All), &[]).unwrap();
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
