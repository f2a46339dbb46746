//! Fresh shares of kept values: an old copy of one party's folder and a new one of another's don't combine.

mod states;

use states::{NAMES, World, copy, ints, keeps, on_disk, reveals};
use std::sync::Mutex;
use tacit::advanced::net::{Limits, Mesh};
use tacit::program::{Recipient, Uses};
use tacit::{Error, Protocol, Standing, State, play_refresh, protocol};
use tacit_testkit::{Altered, Deviation, World as Links, in_threads};

#[test]
fn a_value_stays_as_it_is_and_so_do_its_uses() {
    let reveal = reveals(Recipient::All);
    let uses = Uses::new(vec![reveal.hash()], Some(vec!["alice".into()])).with_writers(vec![[7; 32]]);
    let bound = keeps(&uses);
    for name in NAMES {
        let mut world = World::new(name);
        world.run(&keeps(&Uses::default()), &[ints(&[3, -4, 5])]).unwrap();
        for version in 2..4 {
            let fresh = world.local.refresh(&mut world.states, "x").unwrap();
            assert_eq!(fresh, format!("x@{version}"), "{name}");
            let run = world.run(&reveal, &[]).unwrap();
            assert_eq!(
                (run.outputs[0].as_ref().unwrap(), &run.report.read[0].1),
                (&ints(&[3, -4, 5]), &fresh)
            );
        }
        let mut world = World::new(name);
        world.run(&bound, &[ints(&[3, -4, 5])]).unwrap();
        world.local.refresh(&mut world.states, "x").unwrap();
        for state in &world.states {
            let all = state.list();
            let [old, fresh] = [1, 2].map(|version| {
                let is_it =
                    |listed: &&tacit::Listed| listed.about.name == "x" && listed.about.version == version;
                all.iter().find(is_it).unwrap()
            });
            assert_eq!((old.standing, old.bytes, fresh.standing), (Standing::Dropped, 0, Standing::Settled));
            assert_eq!(fresh.about.replaces, Some(1));
            let (session, replaces) = (old.about.session, None);
            assert_ne!(session, fresh.about.session);
            assert_eq!(tacit::About { version: 1, session, replaces, ..fresh.about.clone() }, old.about);
        }
        assert!(world.refused(&reveal).contains("may be learnt by alice only"));
        assert!(world.run(&keeps(&Uses::default()), &[ints(&[3, -4, 5])]).is_err());
    }
}

#[test]
fn what_is_not_there_or_shared_otherwise_is_refused() {
    let mut world = World::new("astra");
    let refused = |world: &mut World| match world.local.refresh(&mut world.states, "x") {
        Err(Error::Refused(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert!(refused(&mut world).contains("nothing is kept under the name \"x\""));
    world.run(&keeps(&Uses::default()), &[ints(&[1, 2, 3])]).unwrap();
    world.local.protocol = "astra roles=201".to_owned();
    assert!(refused(&mut world).contains("x@1 is shared as in \"astra roles=012\""));
    world.local.protocol = "astra".to_owned();
    let own = std::mem::take(&mut world.states[2]);
    assert!(refused(&mut world).contains("P2 lacks x@1"));
    world.states[2] = own;
    assert_eq!(world.local.refresh(&mut world.states, "x").unwrap(), "x@2");
}

/// The folder of one party as it was before is worth nothing beside those of the others, who refuse it.
#[test]
fn an_old_copy_of_a_folder_is_refused_and_nothing_of_it_is_left() {
    let reveal = reveals(Recipient::All);
    for name in NAMES {
        let folder = tempfile::tempdir().unwrap();
        let [own, old, file] = ["P1", "old", "copy"].map(|name| folder.path().join(name));
        on_disk(name, folder.path()).run(&keeps(&Uses::default()), &[ints(&[1, 2, 3])]).unwrap();
        copy(&own, &old);
        let world = on_disk(name, folder.path());
        world.states[1].export(&file).unwrap();
        drop(world);
        let files = |place: &std::path::Path| std::fs::read_dir(place).unwrap().count();
        let before = files(&own);
        let mut world = on_disk(name, folder.path());
        world.local.refresh(&mut world.states, "x").unwrap();
        drop(world);
        assert_eq!(files(&own), before, "the file of the old shares is gone");
        let run = on_disk(name, folder.path()).run(&reveal, &[]).unwrap();
        assert_eq!(run.report.read[0].1, "x@2");

        std::fs::remove_dir_all(&own).unwrap();
        copy(&old, &own);
        let refused = on_disk(name, folder.path()).refused(&reveal);
        assert!(refused.contains("P1 lacks x@2"), "{refused}");
        // Nor is it made newer.
        let mut world = on_disk(name, folder.path());
        assert!(
            world.local.refresh(&mut world.states, "x").unwrap_err().to_string().contains("P1 lacks x@2")
        );
        drop(world);
        std::fs::remove_dir_all(&own).unwrap();
        drop(State::import(&file, &own, None).unwrap());
        let refused = on_disk(name, folder.path()).refused(&reveal);
        assert!(refused.contains("P1 lacks x@2"), "{refused}");
    }
}

/// All parties' parts in giving `x` fresh shares, over these links.
fn refreshed(name: &str, world: &mut World, links: &Links) -> Vec<Result<String, Error>> {
    refreshed_under(&*protocol(name).unwrap(), world, links)
}

fn refreshed_under(protocol: &dyn Protocol, world: &mut World, links: &Links) -> Vec<Result<String, Error>> {
    let parties = world.local.parties.clone();
    let states: Vec<_> = std::mem::take(&mut world.states).into_iter().map(Mutex::new).collect();
    let ended = in_threads(links.transports(), |me, transport| {
        let mesh = Mesh::new(transport, me, parties.clone(), Limits::default());
        play_refresh(protocol, &parties, mesh, "x", &mut states[me].lock().unwrap(), None)
    });
    world.states = states.into_iter().map(|state| state.into_inner().unwrap()).collect();
    ended
}

/// Whatever happens to any message of it: all have fresh shares, or what they had, and the same value.
#[test]
fn a_deviation_at_any_message_loses_no_value() {
    for (name, kinds) in [
        ("replicated-malicious", &[Deviation::Flip(9), Deviation::Silence, Deviation::Death][..]),
        ("gmw", &[Deviation::Flip(3), Deviation::Death]),
        ("replicated zero-sharing=information-theoretic", &[Deviation::Flip(3)]),
    ] {
        let keep = keeps(&Uses::default());
        let kept = || {
            let mut world = World::new(name);
            world.run(&keep, &[ints(&[1, -2, 3])]).unwrap();
            world
        };
        let count = kept().local.parties.len();
        let honest = Links::new(count, 0);
        assert!(refreshed(name, &mut kept(), &honest).iter().all(Result::is_ok), "{name}");
        let mut failed = 0;
        for (from, to) in honest.trace().links() {
            for (nth, deviation) in (0..honest.trace().link(from, to).count())
                .flat_map(|nth| kinds.iter().map(move |kind| (nth, kind)))
            {
                let what = format!("{name}: {deviation:?} at message {nth} from {from} to {to}");
                let mut world = kept();
                let links = Links::new(count, 0).intercept(deviation.at(from, to, nth));
                let ended = refreshed(name, &mut world, &links);
                failed += usize::from(ended.iter().any(Result::is_err));
                let run = world.run(&reveals(Recipient::All), &[]);
                let run = run.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(run.outputs[0].as_ref().unwrap(), &ints(&[1, -2, 3]), "{what}");
                let is_fresh = run.report.read[0].1 == "x@2";
                assert!(is_fresh || ended.iter().all(Result::is_err), "{what}: {ended:?}");
                // What some of them made then ends with what comes after it: no copies of it can be put together later.
                let later = refreshed(name, &mut world, &Links::new(count, 0));
                assert!(later.iter().all(Result::is_ok), "{what}: {later:?}");
                for state in &world.states {
                    let all = state.list();
                    let lives =
                        |one: &&tacit::Listed| one.about.name == "x" && one.standing != Standing::Dropped;
                    assert_eq!(all.iter().filter(lives).count(), 1, "{what}");
                }
            }
        }
        assert!(failed > 12, "{name}: {failed}");
    }
}

/// What is added isn't a sharing of zero, at all parties alike or at one: nobody drops the old shares, and the value stays.
#[test]
fn fresh_shares_of_another_value_are_noticed_before_the_old_ones_go() {
    for name in ["replicated-malicious", "replicated", "astra"] {
        let honest: &'static dyn Protocol = &**Box::leak(Box::new(protocol(name).unwrap()));
        let kept = || {
            let mut world = World::new(name);
            world.run(&keeps(&Uses::default()), &[ints(&[1, -2, 3])]).unwrap();
            world
        };
        let read = |world: &mut World| {
            let run = world.run(&reveals(Recipient::All), &[]).unwrap();
            (run.outputs[0].clone().unwrap(), run.report.read[0].1.clone())
        };
        // The third bit of the second element, in the first component: at both that hold it, or at one.
        let changes = |share: &mut tacit::advanced::engine::KeptShare| {
            let first = share.parts.iter_mut().find(|part| part.number == 0);
            if let Some(part) = first {
                part.bytes[8] ^= 4;
            }
        };
        let mistaken = |who: &'static [usize], compares: bool| {
            let change = move |me: usize, share: &mut _| {
                if who.contains(&me) {
                    changes(share);
                }
            };
            Altered::freshening(honest, change, compares)
        };
        let mut unchanged = 0;
        for who in [&[0, 1, 2][..], &[0], &[1], &[2]] {
            let mut world = kept();
            let ended = refreshed_under(&mistaken(who, true), &mut world, &Links::new(3, 0));
            let holds = |state: &State| {
                let all = state.list();
                let settled = all.iter().filter(|one| one.standing == Standing::Settled);
                settled.filter(|one| one.about.name == "x").map(|one| one.about.version).collect::<Vec<_>>()
            };
            if ended.iter().all(Result::is_ok) {
                // Two of the three hold the component, and this one doesn't.
                assert!(who.len() == 1, "{name}: {who:?}");
                unchanged += 1;
                assert_eq!(read(&mut world), (ints(&[1, -2, 3]), "x@2".to_owned()), "{name}");
                continue;
            }
            assert!(ended.iter().all(Result::is_err), "{name}: {ended:?}");
            assert!(ended.iter().any(|end| end.as_ref().unwrap_err().is_failed_check()), "{name}: {ended:?}");
            assert!(world.states.iter().all(|state| holds(state) == [1]), "{name}");
            assert_eq!(read(&mut world), (ints(&[1, -2, 3]), "x@1".to_owned()), "{name}");
            assert!(refreshed(name, &mut world, &Links::new(3, 0)).iter().all(Result::is_ok));
            assert_eq!(read(&mut world).0, ints(&[1, -2, 3]), "{name}");
        }
        assert_eq!(unchanged, 1, "{name}");
        // If nobody compared them the value would be another one.
        let mut world = kept();
        let ended = refreshed_under(&mistaken(&[0, 1, 2], false), &mut world, &Links::new(3, 0));
        assert!(ended.iter().all(Result::is_ok), "{name}: {ended:?}");
        let value = read(&mut world).0;
        assert!([2, -6].map(|second| ints(&[1, second, 3])).contains(&value), "{name}: {value:?}");
    }
}
