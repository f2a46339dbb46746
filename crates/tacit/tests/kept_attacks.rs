//! Parties that die, fall silent or deviate at any message of a run on kept values: afterwards the value is the old one or the
//! new one, whole, and all parties agree on which.

mod states;

use states::{World, compiled, on_disk};
use std::sync::{Arc, Mutex};
use tacit::advanced::engine::Clear;
use tacit::advanced::engine::executor::Unobserved;
use tacit::advanced::net::{Limits, Mesh};
use tacit::advanced::session::step;
use tacit::program::{Builder, Data, Dtype, NodeId, ProgramError, Recipient, Uses, Value};
use tacit::{Compiled, Endpoint, Error, Feed, Played, Source, Strand, play_lanes, protocol};
use tacit_testkit::{Deviation, Fate, Interceptor, World as Links, in_threads};

const OLD: [bool; 3] = [true, false, true];
const MASK: [bool; 3] = [true, true, false];

fn bools(values: [bool; 3]) -> Value {
    Value { shape: vec![3], data: Data::Bool(values.to_vec()) }
}

fn kept(build: &mut Builder, name: &str) -> Result<NodeId, ProgramError> {
    build.kept(name, Dtype::Bool, &[3], None)
}

/// How the next version of `x` is made of it and `mask`, and the same in the clear.
struct Turn {
    compiled: Arc<Compiled>,
    new: [bool; 3],
}

impl Turn {
    /// By an AND, which proofs are about; or by an XOR, which takes no message.
    fn new(by_and: bool) -> Self {
        let compiled = compiled(|build| {
            let (x, mask) = (kept(build, "x")?, kept(build, "mask")?);
            let next = if by_and { build.and(x, mask)? } else { build.xor(x, mask)? };
            build.reveal(next, Recipient::All)?;
            build.keep(next, "x", Uses::default())
        });
        let new = [0, 1, 2].map(|at| if by_and { OLD[at] & MASK[at] } else { OLD[at] ^ MASK[at] });
        Self { compiled, new }
    }
}

fn keeps(writer: &Compiled) -> Arc<Compiled> {
    compiled(|build| {
        for name in ["x", "mask"] {
            let given = build.input("P0", name, Dtype::Bool, &[3], None)?;
            build.keep(given, name, Uses::default().with_writers(vec![writer.hash()]))?;
        }
        Ok(())
    })
}

fn reads() -> Arc<Compiled> {
    compiled(|build| {
        let x = kept(build, "x")?;
        build.reveal(x, Recipient::All)
    })
}

/// Parties that keep `x` and `mask`.
fn world(name: &str, writer: &Compiled) -> World {
    let mut world = World::new(name);
    world.run(&keeps(writer), &[bools(OLD), bools(MASK)]).unwrap();
    world
}

/// What an endpoint learns.
#[derive(Default)]
struct Learns(Vec<Option<Clear>>);

impl Feed for Learns {
    fn inputs(&mut self, _part: u64) -> Result<Vec<Option<Clear>>, Error> {
        Ok(Vec::new())
    }

    fn outputs(&mut self, _part: u64, outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        self.0 = outputs;
        Ok(())
    }
}

/// What a client gives.
struct Gives(Option<Clear>);

impl Feed for Gives {
    fn inputs(&mut self, _part: u64) -> Result<Vec<Option<Clear>>, Error> {
        Ok(vec![self.0.take()])
    }

    fn outputs(&mut self, _part: u64, _outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        Ok(())
    }
}

/// How a party's part ended, and what it has learnt.
type Ended = (Result<Played, Error>, Vec<Option<Clear>>);

/// All parties' parts in a run on what they keep, over these links.
fn played(name: &str, world: &mut World, compiled: &Arc<Compiled>, links: &Links) -> Vec<Ended> {
    let parties = world.local.parties.clone();
    let endpoint = Endpoint::new(compiled, protocol(name).unwrap(), parties.clone(), Vec::new()).unwrap();
    let states: Vec<_> = std::mem::take(&mut world.states).into_iter().map(Mutex::new).collect();
    let fill = &world.fill;
    let ended = in_threads(links.transports(), |me, transport| {
        let mesh = Mesh::new(transport, me, parties.clone(), Limits::default());
        let mut state = states[me].lock().unwrap();
        let residents = Some(tacit::Residents { state: &mut state, fill, store: None });
        let (mut feed, mut observer) = (Learns::default(), Unobserved);
        let strand =
            Strand { endpoint: &endpoint, mesh, feed: &mut feed, observer: &mut observer, residents };
        let played = play_lanes(vec![strand], Source::InRun).map(|mut played| played.swap_remove(0));
        (played, feed.0)
    });
    world.states = states.into_iter().map(|state| state.into_inner().unwrap()).collect();
    ended
}

/// The value that all read now, and its version.
fn read(world: &mut World, what: &str) -> (Value, String) {
    let run = world.run(&reads(), &[]).unwrap_or_else(|error| panic!("{what}: {error}"));
    let (value, version) = (run.outputs.into_iter().next().flatten().unwrap(), run.report.read[0].1.clone());
    (value, version)
}

/// Has one party deviate in each way at each message of a run, and looks at what `after` says of each.
fn at_each_message(
    name: &str,
    turn: &Turn,
    compiled: &Arc<Compiled>,
    kinds: &[Deviation],
    mut after: impl FnMut(&mut World, usize, Vec<Ended>, &[Option<Clear>], &str),
) {
    let mut honest_world = world(name, &turn.compiled);
    let honest = Links::new(honest_world.local.parties.len(), 0);
    let right = played(name, &mut honest_world, compiled, &honest);
    assert!(right.iter().all(|(played, _)| played.is_ok()), "{name}");
    for (from, to) in honest.trace().links() {
        for nth in 0..honest.trace().link(from, to).count() {
            for deviation in kinds {
                let what = format!("{name}: {deviation:?} at message {nth} from {from} to {to}");
                let mut world = world(name, &turn.compiled);
                let links = Links::new(world.local.parties.len(), 0).intercept(deviation.at(from, to, nth));
                let ended = played(name, &mut world, compiled, &links);
                after(&mut world, from, ended, &right[0].1, &what);
            }
        }
    }
}

/// How each of the parties refuses a run.
fn refusals(name: &str, world: &mut World, compiled: &Arc<Compiled>) -> Vec<String> {
    let links = Links::new(world.local.parties.len(), 0);
    let ended = played(name, world, compiled, &links).into_iter().map(|(played, _)| match played {
        Err(Error::Refused(reason)) => reason,
        other => panic!("{name}: {other:?}"),
    });
    ended.collect()
}

/// Whoever has the share that is amiss, every party refuses the run by itself, and says which value it is.
#[test]
fn all_parties_refuse_what_is_missing_foreign_or_not_to_be_read() {
    let turn = Turn::new(true);
    for name in ["replicated", "replicated-malicious", "astra-malicious", "gmw"] {
        for at in 0..World::new(name).local.parties.len() {
            let mut world = world(name, &turn.compiled);
            let before = std::mem::replace(&mut world.states[at], tacit::State::new());
            for reason in refusals(name, &mut world, &reads()) {
                assert!(reason.contains(&format!("P{at} lacks x@1")), "{name}: {reason}");
            }
            world.states[at] = self::world(name, &turn.compiled).states.swap_remove(at);
            for reason in refusals(name, &mut world, &reads()) {
                assert!(
                    reason.contains("x@1 of P") && reason.contains("is another value"),
                    "{name}: {reason}"
                );
            }
            world.states[at] = before;
            assert_eq!(read(&mut world, name).0, bools(OLD));
        }
        let mut world = world(name, &turn.compiled);
        let other = compiled(|build| {
            let given = build.input("P0", "x", Dtype::Bool, &[3], None)?;
            build.keep(given, "y", Uses::new(vec![turn.compiled.hash()], None))
        });
        world.run(&other, &[bools(OLD)]).unwrap();
        let reads = compiled(|build| {
            let y = kept(build, "y")?;
            build.reveal(y, Recipient::All)
        });
        for reason in refusals(name, &mut world, &reads) {
            assert!(reason.contains("y@1 may be read by other programs only"), "{name}: {reason}");
        }
    }
}

const MALICIOUS: &[Deviation] = &[Deviation::Flip(9), Deviation::Silence, Deviation::Death];
const CRASHES: &[Deviation] = &[Deviation::Silence, Deviation::Death];

/// The value is the old one or the new one, by its version, at all parties; whoever ended well, or heard that what it
/// kept stays, has the new one; nobody has a wrong output where the protocol promises that; and the next run keeps
/// on.
#[test]
fn whatever_happens_to_a_run_that_keeps_the_value_is_the_old_or_the_new_one() {
    for (name, turn, kinds) in [
        ("replicated-malicious", Turn::new(true), MALICIOUS),
        ("replicated", Turn::new(true), CRASHES),
        ("gmw", Turn::new(false), CRASHES),
    ] {
        let (mut failed, mut stays, mut kept) = (0, 0, [0, 0]);
        at_each_message(name, &turn, &turn.compiled, kinds, |world, from, ended, right, what| {
            let (value, version) = read(world, what);
            let is_new = version == "x@2";
            assert_eq!(value, bools(if is_new { turn.new } else { OLD }), "{what}");
            assert!(is_new || version == "x@1", "{what}: {version}");
            kept[usize::from(is_new)] += 1;
            for (me, (played, outputs)) in ended.iter().enumerate() {
                match played {
                    Ok(_) => assert!(is_new, "{what}: P{me} ended well"),
                    Err(Error::AfterKeeping { kept, .. }) => {
                        assert_eq!((&kept[..], is_new), (&["x@2".to_owned()][..], true), "{what}: P{me}");
                        stays += 1;
                    }
                    Err(_) => failed += 1,
                }
                let has_learnt = me != from && !outputs.is_empty();
                assert!(!has_learnt || outputs == right, "{what}: P{me} has a wrong output");
            }
            let next = world.run(&turn.compiled, &[]).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(next.report.kept[0].starts_with("x@"), "{what}");
        });
        assert!(failed > 20 && kept.iter().all(|count| *count > 0), "{name}: {failed}, {kept:?}");
        assert!(stays > 0, "{name}: nobody was lost between what was kept and the outputs");
    }
}

/// A run that only reads changes nothing, and nobody learns anything but the value.
#[test]
fn whatever_happens_to_a_run_that_reads_the_value_stays() {
    let turn = Turn::new(true);
    let reads = reads();
    for (name, kinds) in [("replicated-malicious", MALICIOUS), ("gmw", CRASHES)] {
        let mut failed = 0;
        at_each_message(name, &turn, &reads, kinds, |world, from, ended, right, what| {
            assert_eq!(read(world, what), (bools(OLD), "x@1".to_owned()), "{what}");
            failed += ended.iter().filter(|(played, _)| played.is_err()).count();
            for (me, (_, outputs)) in ended.iter().enumerate().filter(|(me, _)| *me != from) {
                assert!(outputs.is_empty() || outputs == right, "{what}: P{me} has a wrong output");
            }
        });
        assert!(failed > 20, "{name}: {failed}");
    }
}

/// P2 tells P1 otherwise of its versions than it tells P0, in whatever it tells: no party ends well, and nothing is lost.
#[test]
fn who_tells_two_parties_different_versions_is_noticed() {
    let turn = Turn::new(false);
    for name in ["replicated-malicious", "gmw"] {
        let told = |position: Option<usize>| -> (Links, Arc<Mutex<usize>>) {
            let len = Arc::new(Mutex::new(0));
            let seen = len.clone();
            let lie: Interceptor = Box::new(move |message| {
                let at = message.frame.at;
                if (message.from, message.to, at.part, at.op) != (1, 0, step::KEPT, 0) {
                    return Fate::Deliver;
                }
                let mut frame = message.frame.clone();
                *seen.lock().unwrap() = frame.payload.len();
                let Some(byte) = position.and_then(|position| frame.payload.get_mut(position)) else {
                    return Fate::Deliver;
                };
                *byte ^= 1;
                Fate::Replace(vec![frame])
            });
            let count = world(name, &turn.compiled).local.parties.len();
            (Links::new(count, 0).intercept(lie), len)
        };
        let (honest, len) = told(None);
        let ended = played(name, &mut world(name, &turn.compiled), &turn.compiled, &honest);
        assert!(ended.iter().all(|(played, _)| played.is_ok()));
        let (len, mut echoed) = (*len.lock().unwrap(), 0);
        assert!(len > 100, "{len}");
        for position in (0..len).step_by(3) {
            let mut world = world(name, &turn.compiled);
            let ended = played(name, &mut world, &turn.compiled, &told(Some(position)).0);
            for (me, (played, outputs)) in ended.iter().enumerate() {
                let error = played.as_ref().unwrap_err();
                assert!(outputs.is_empty() && error.is_abort(), "{name}, byte {position}: P{me}: {error}");
                echoed += usize::from(error.to_string().contains("what was sent to everybody"));
            }
            assert_eq!(read(&mut world, name), (bools(OLD), "x@1".to_owned()), "{name}, byte {position}");
        }
        assert!(echoed > len / 6, "{name}: {echoed} of {len}");
    }
}

/// A folder is as whole as memory: a party that dies in a run that keeps, in either half of it, comes back to the
/// value of the others.
#[test]
fn a_party_that_dies_comes_back_to_the_value_of_the_others() {
    let turn = Turn::new(true);
    let name = "replicated-malicious";
    for nth in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let mut world = on_disk(name, folder.path());
        world.run(&keeps(&turn.compiled), &[bools(OLD), bools(MASK)]).unwrap();
        let links = Links::new(3, 0).intercept(Deviation::Death.at(1, 2, nth));
        let ended = played(name, &mut world, &turn.compiled, &links);
        drop(world);
        let mut world = on_disk(name, folder.path());
        let what = format!("P1 dies at message {nth} to P2");
        let (value, version) = read(&mut world, &what);
        let is_new = version == "x@2";
        assert_eq!(value, bools(if is_new { turn.new } else { OLD }), "{what}");
        assert!(is_new || ended.iter().all(|(played, _)| played.is_err()), "{what}");
    }
}

/// Whatever a client says, no party takes it for another party's deviation: under `replicated` and `astra` nobody compares what it
/// gives before it is kept, and servers that end for good at a failed check would end at any client's word.
#[test]
fn a_client_that_deviates_fails_no_check() {
    let keeps = compiled(|build| {
        let x = build.input("alice", "x", Dtype::Bool, &[3], None)?;
        build.keep(x, "x", Uses::default())
    });
    let value = keeps.encode(0, &bools(OLD)).unwrap();
    for name in ["replicated", "replicated-malicious", "astra", "astra-malicious", "gmw"] {
        let parties = World::new(name).local.parties;
        let client = parties.len();
        let clients = vec!["alice".to_owned()];
        let endpoint =
            Endpoint::new(&keeps, protocol(name).unwrap(), parties.clone(), clients.clone()).unwrap();
        let names: Vec<String> = parties.iter().chain(&clients).cloned().collect();
        let play = |links: &Links| {
            in_threads(links.transports(), |me, transport| {
                let mesh = Mesh::new(transport, me, names.clone(), Limits::default());
                let (mut state, fill) = (tacit::State::new(), tacit::Fill::new());
                let residents = (me != client).then_some(tacit::Residents {
                    state: &mut state,
                    fill: &fill,
                    store: None,
                });
                let (mut feed, mut observer) = (Gives((me == client).then(|| value.clone())), Unobserved);
                let strand =
                    Strand { endpoint: &endpoint, mesh, feed: &mut feed, observer: &mut observer, residents };
                play_lanes(vec![strand], Source::InRun)
            })
        };
        let honest = Links::new(client, 1);
        assert!(play(&honest).iter().all(Result::is_ok), "{name}");
        let mut ended = 0;
        for (from, to) in honest.trace().links().into_iter().filter(|(from, _)| *from == client) {
            for nth in 0..honest.trace().link(from, to).count() {
                let links = Links::new(client, 1).intercept(Deviation::Flip(0).at(from, to, nth));
                for error in play(&links).into_iter().take(client).filter_map(Result::err) {
                    assert!(!error.is_attempt(), "{name}: message {nth} to {to}: {error}");
                    ended += 1;
                }
            }
        }
        assert!(ended > 0, "{name}: nothing that it changed was noticed");
    }
}
