//! Rows of tables that stay: read and kept as a run says.

mod states;

use states::{NAMES, SMALL, World, compiled, ints, keeps, on_disk, reveals};
use tacit::program::{Data, Dtype, Range, Recipient, Uses, Value};
use tacit::{Fill, Residents, Standing};

/// Rows of a table are kept anew, of numbers and of bits, and the others stay: under every protocol, in memory and on disk.
#[test]
fn rows_of_a_table_are_kept_anew() {
    let puts = compiled(|build| {
        let x = build.input("P1", "x", Dtype::Int, &[2, 2], Some(SMALL))?;
        let zero = build.constant(&Value { shape: vec![2, 2], data: Data::Int(vec![0; 4]) }, Dtype::Int)?;
        let negative = build.less(x, zero)?;
        build.keep(x, "keys", Uses::default())?;
        build.keep(negative, "flags", Uses::default())
    });
    let table = compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[5, 2], Some(SMALL))?;
        let zero = build.constant(&Value { shape: vec![5, 2], data: Data::Int(vec![0; 10]) }, Dtype::Int)?;
        let negative = build.less(x, zero)?;
        let uses = Uses::default().with_writers(vec![puts.hash()]);
        build.keep(x, "keys", uses.clone())?;
        build.keep(negative, "flags", uses)
    });
    let reads = compiled(|build| {
        let keys = build.kept("keys", Dtype::Int, &[5, 2], Some(SMALL))?;
        let flags = build.kept("flags", Dtype::Bool, &[5, 2], None)?;
        build.reveal(keys, Recipient::All)?;
        build.reveal(flags, Recipient::All)
    });
    let mut values: Vec<i64> = (0..10).map(|at| 3 * at - 14).collect();
    let given = Value { shape: vec![5, 2], data: Data::Int(values.clone()) };
    for name in NAMES {
        let folder = tempfile::tempdir().unwrap();
        let mut world = on_disk(name, folder.path());
        let rows = |keys: &str| Fill::new().keeping("keys", keys).keeping("flags", "flags[4,1]");
        world.fill = rows("keys[4,1]");
        let new = Value { shape: vec![2, 2], data: Data::Int(vec![-1, 99, 50, -100]) };
        let no_table = world.run(&puts, std::slice::from_ref(&new)).unwrap_err().to_string();
        assert!(no_table.contains("there is no table \"keys\""), "{no_table}");
        world.fill = Fill::new();
        world.run(&table, std::slice::from_ref(&given)).unwrap();
        world.fill = rows("keys[4,1]");
        let run = world.run(&puts, std::slice::from_ref(&new)).unwrap();
        assert_eq!(run.report.kept, ["keys@2", "flags@2"], "{name}");
        // What is on disk is what there is.
        drop(world);
        let mut world = on_disk(name, folder.path());
        let standing: Vec<_> = world.states[0].list().iter().map(|value| value.standing).collect();
        let (dropped, settled) = (Standing::Dropped, Standing::Settled);
        assert_eq!(standing, [dropped, settled, dropped, settled], "{name}");
        let outputs: Vec<Value> = world.run(&reads, &[]).unwrap().outputs.into_iter().flatten().collect();
        values.splice(8..10, [-1, 99]);
        values.splice(2..4, [50, -100]);
        assert_eq!(outputs[0].data, Data::Int(values.clone()), "{name}");
        assert_eq!(outputs[1].data, Data::Bool(values.iter().map(|x| *x < 0).collect()), "{name}");
        values = (0..10).map(|at| 3 * at - 14).collect();
        for (keys, says) in [
            ("keys[5,0]", "keys@2 has no row 5"),
            ("keys[1]", "keys@2 is int [1, 2], of those rows; the program keeps int [2, 2]"),
            ("keys[1,1]", "names a row twice"),
        ] {
            world.fill = rows(keys);
            let refused = world.run(&puts, std::slice::from_ref(&new)).unwrap_err().to_string();
            assert!(refused.contains(says), "{refused}");
        }
    }
}

/// Whoever may write rows opens a table to no use that it isn't for, nor puts in it what is for fewer.
#[test]
fn rows_are_kept_under_the_uses_of_their_table() {
    let puts = |uses: Uses, range: Range| {
        compiled(|build| {
            let x = build.input("P1", "x", Dtype::Int, &[1], Some(range))?;
            build.keep(x, "x", uses)
        })
    };
    let (auditor, others) = (Some(vec!["auditor".to_owned()]), Some(vec!["bob".to_owned()]));
    let open = puts(Uses::default(), SMALL);
    let same = puts(Uses::new(vec![], auditor.clone()), SMALL);
    let other = puts(Uses::new(vec![], others), SMALL);
    let reader = puts(Uses::new(vec![open.hash()], auditor.clone()), SMALL);
    let wide = puts(Uses::new(vec![], auditor.clone()), Range::new(-101, 100).unwrap());
    let stranger = puts(Uses::default(), Range::new(0, 1).unwrap());
    let writers = [&open, &same, &other, &reader, &wide].map(|one| one.hash()).to_vec();
    let table = compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[5], Some(SMALL))?;
        build.keep(x, "x", Uses::new(vec![], auditor).with_writers(writers))
    });
    let mut world = World::new("replicated");
    world.run(&table, &[ints(&[1, 2, 3, 4, 5])]).unwrap();
    world.fill = Fill::new().keeping("x", "x[2]");
    world.run(&open, &[ints(&[7])]).unwrap();
    world.run(&same, &[ints(&[7])]).unwrap();
    for (program, says) in [
        (&other, "x@3 may be used for more than the program lets \"x\" be used for"),
        (&reader, "x@3 may be used for more than the program lets \"x\" be used for"),
        (&wide, "x@3 can be -100 to 100, and the program keeps -101 to 100 in it"),
        (&stranger, "is for other programs to keep"),
    ] {
        let refused = world.run(program, &[ints(&[1])]).map(|run| run.outputs).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
    let about = &world.states[0].list()[2].about;
    assert_eq!((about.learners.clone(), about.readers.len()), (Some(vec!["auditor".to_owned()]), 0));
    world.fill = Fill::from([("x", "x[2,1,0]")]);
    let refused = world.refused(&reveals(Recipient::All));
    assert!(refused.contains("may be learnt by auditor only"), "{refused}");
}

/// Rows that change all day leave no more behind than is told of; a table doesn't become one of its rows by mistake.
#[test]
fn a_table_whose_rows_change_stays_as_large_as_it_is() {
    let puts = compiled(|build| {
        let x = build.input("P1", "x", Dtype::Int, &[1], Some(SMALL))?;
        build.keep(x, "x", Uses::default())
    });
    let grows = compiled(|build| {
        let x = build.input("P1", "x", Dtype::Int, &[6], Some(SMALL))?;
        build.keep(x, "x", Uses::default())
    });
    let table = compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[5], Some(SMALL))?;
        build.keep(x, "x", Uses::default().with_writers(vec![puts.hash(), grows.hash()]))
    });
    let folder = tempfile::tempdir().unwrap();
    let mut world = on_disk("replicated", folder.path());
    world.run(&table, &[ints(&[1, 2, 3, 4, 5])]).unwrap();
    for change in 0..40 {
        world.fill = Fill::new().keeping("x", &format!("x[{}]", change % 5));
        world.run(&puts, &[ints(&[change])]).unwrap();
    }
    world.fill = Fill::new();
    let refused = world.run(&puts, &[ints(&[7])]).map(|run| run.outputs).unwrap_err().to_string();
    assert!(
        refused.contains("x@41 is int [5], and the program would keep int [1] in its place"),
        "{refused}"
    );
    // On disk and in memory there are the last dropped ones, of which a run that is under way may ask, and the table.
    let in_memory = world.states[0].list();
    drop(world);
    let on_disk_again = on_disk("replicated", folder.path()).states[1].list();
    for opened in [in_memory, on_disk_again] {
        let dropped = opened.iter().filter(|value| value.standing == Standing::Dropped).count();
        assert_eq!((dropped, opened.len(), opened.last().unwrap().about.version), (2, 3, 41));
    }
    let mut world = on_disk("replicated", folder.path());
    world.run(&grows, &[ints(&[1, 2, 3, 4, 5, 6])]).unwrap();
    world.fill = Fill::from([("x", "x@1")]);
    assert!(world.refused(&reveals(Recipient::All)).contains("x@1 isn't kept"));
}

/// A run keeps under a name of its own what is new, and nothing in the place of another.
#[test]
fn what_is_kept_has_the_name_that_the_run_says() {
    let keep = compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[3], Some(SMALL))?;
        build.keep(x, "x", Uses::default())
    });
    let mut world = World::new("replicated");
    for name in ["ann", "ben"] {
        world.fill = Fill::new().keeping("x", name);
        assert_eq!(world.run(&keep, &[ints(&[1, 2, 3])]).unwrap().report.kept, [format!("{name}@1")]);
    }
    let refused = world.run(&keep, &[ints(&[4, 5, 6])]).map(|run| run.outputs).unwrap_err().to_string();
    assert!(
        refused.contains("\"ben\" is kept already, and the program calls what it keeps \"x\""),
        "{refused}"
    );
    world.fill = Fill::from([("x", "ben")]);
    assert_eq!(world.run(&reveals(Recipient::All), &[]).unwrap().outputs, [Some(ints(&[1, 2, 3]))]);
    let fills = ["kim", "kim", "lee"].map(|name| Fill::new().keeping("x", name));
    let own = world.states.iter_mut().zip(&fills).map(|(state, fill)| Residents { state, fill, store: None });
    let refused =
        world.local.run_on(&keep, own.collect(), &[ints(&[1, 2, 3])], &|_, _| {}).unwrap_err().to_string();
    assert!(refused.contains("keeps a value under another name"), "{refused}");
}

/// A party that says other rows than others is noticed before anything is computed.
#[test]
fn all_parties_keep_the_same_rows() {
    let puts = compiled(|build| {
        let x = build.input("P1", "x", Dtype::Int, &[1], Some(SMALL))?;
        build.keep(x, "x", Uses::default())
    });
    let table = compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[3], Some(SMALL))?;
        build.keep(x, "x", Uses::default().with_writers(vec![puts.hash()]))
    });
    let mut world = World::new("replicated");
    world.run(&table, &[ints(&[1, 2, 3])]).unwrap();
    let fills = ["x[1]", "x[1]", "x[0]"].map(|rows| Fill::new().keeping("x", rows));
    let own = world.states.iter_mut().zip(&fills).map(|(state, fill)| Residents { state, fill, store: None });
    let refused =
        world.local.run_on(&puts, own.collect(), &[ints(&[9])], &|_, _| {}).unwrap_err().to_string();
    assert!(refused.contains("keeps other rows of a table"), "{refused}");
}

#[test]
fn a_plan_reads_the_rows_that_a_run_says() {
    let table = compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[5, 2], Some(SMALL))?;
        let zero = build.constant(&Value { shape: vec![5, 2], data: Data::Int(vec![0; 10]) }, Dtype::Int)?;
        let negative = build.less(x, zero)?;
        build.keep(x, "keys", Uses::default())?;
        build.keep(negative, "flags", Uses::default())
    });
    let reads = compiled(|build| {
        let keys = build.kept("key", Dtype::Int, &[2, 2], Some(SMALL))?;
        let flags = build.kept("flag", Dtype::Bool, &[2, 2], None)?;
        let square = build.mul(keys, keys)?;
        build.reveal(square, Recipient::All)?;
        build.reveal(flags, Recipient::All)
    });
    let values: Vec<i64> = (0..10).map(|at| 3 * at - 14).collect();
    let given = Value { shape: vec![5, 2], data: Data::Int(values.clone()) };
    for name in NAMES {
        let mut world = World::new(name);
        world.run(&table, std::slice::from_ref(&given)).unwrap();
        for rows in [[3, 0], [4, 4], [1, 2]] {
            let of = |table: &str| format!("{table}@1[{},{}]", rows[0], rows[1]);
            world.fill = Fill::from([("key", of("keys")), ("flag", of("flags"))]);
            let run = world.run(&reads, &[]).unwrap();
            let expected: Vec<i64> =
                rows.iter().flat_map(|row| &values[2 * row..2 * row + 2]).copied().collect();
            let outputs: Vec<Value> = run.outputs.into_iter().flatten().collect();
            assert_eq!(outputs[0].data, Data::Int(expected.iter().map(|x| x * x).collect()), "{name}");
            assert_eq!(outputs[1].data, Data::Bool(expected.iter().map(|x| *x < 0).collect()), "{name}");
            assert_eq!(run.report.read[0], ("key".to_owned(), of("keys")));
        }
        for (rows, says) in [
            ("keys[5,0]", "keys@1 has no row 5: it has 5, counted from 0"),
            ("keys[1]", "keys@1 is int [1, 2], of those rows; the program reads int [2, 2] as \"key\""),
            ("keys", "keys@1 is int [5, 2]; the program reads"),
            ("keys[1,x]", "names no kept value"),
        ] {
            world.fill = Fill::from([("key", rows), ("flag", "flags[0,1]")]);
            let refused = world.refused(&reads);
            assert!(refused.contains(says), "{refused}");
        }
    }
}

/// A program that may read a table, or some rows of one, is not made to show a row that its reader doesn't choose.
#[test]
fn named_programs_read_fewer_rows_than_all_and_none_twice() {
    let reads = reveals(Recipient::All);
    let uses = Uses::new(vec![reads.hash()], None);
    let table = compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[5], Some(SMALL))?;
        build.keep(x, "x", uses.clone())
    });
    let mut world = World::new("replicated");
    world.run(&table, &[ints(&[1, 2, 3, 4, 5])]).unwrap();
    world.fill = Fill::from([("x", "x@1[4,0,2]")]);
    assert_eq!(world.run(&reads, &[]).unwrap().outputs[0].as_ref().unwrap(), &ints(&[5, 1, 3]));
    world.fill = Fill::from([("x", "x@1[1,1,1]")]);
    assert!(world.refused(&reads).contains("fewer than all, and none twice"));
    let mut world = World::new("replicated");
    world.run(&keeps(&uses), &[ints(&[1, 2, 3])]).unwrap();
    world.fill = Fill::from([("x", "x@1[2,1,0]")]);
    assert!(world.refused(&reads).contains("fewer than all, and none twice"));
    world.fill = Fill::new();
    world.run(&reads, &[]).unwrap();
}
