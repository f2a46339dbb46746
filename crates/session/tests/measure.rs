//! Parties that measure their links, and what becomes of a party that doesn't play by the rules meanwhile.

use std::time::Duration;
use tacit_net::{Frame, Limits, Profile, Shape, Shaped};
use tacit_session::{Agreement, Error, Mesh, Session, step};
use tacit_testkit::{Deviation, Draws, Fate, Interceptor, World, in_threads, party_names};

const PARTIES: usize = 3;

/// Lets three parties measure links of a profile, and end the session.
fn measure(profile: &Profile, interceptor: Option<Interceptor>) -> Vec<Result<Profile, Error>> {
    let mut world = World::new(PARTIES, 0).latency(Duration::from_micros(1));
    if let Some(interceptor) = interceptor {
        world = world.intercept(interceptor);
    }
    let names = party_names(PARTIES);
    let agreement = Agreement::among(names.clone(), "any", "roles=auto".to_owned());
    in_threads(world.transports(), |me, links| {
        let links = Shaped::new(links, me, &names, profile);
        let mesh = Mesh::new(Box::new(links), me, names.clone(), Limits::default());
        let mut session = Session::establish(mesh, agreement.clone(), Draws::fixed(7).of(me))?;
        let measured = session.measure()?;
        session.close().map(|()| measured)
    })
}

fn pairs(shapes: [(u64, u64); 3]) -> Profile {
    let pair = |((one, other), (ms, mbit)): ((usize, usize), (u64, u64))| {
        let shape = Shape { rtt: Duration::from_millis(ms), bandwidth: mbit * 1_000_000 };
        (format!("P{one}"), format!("P{other}"), shape)
    };
    Profile::of_pairs([(0, 1), (0, 2), (1, 2)].into_iter().zip(shapes).map(pair).collect())
}

/// Nothing of one link comes into another's figures.
#[test]
fn what_is_measured_is_what_the_links_are() {
    let profile = pairs([(200, 25), (1, 1000), (80, 2)]);
    let measured = measure(&profile, None);
    for result in &measured {
        let result = result.as_ref().unwrap();
        assert_eq!(result, measured[0].as_ref().unwrap());
        for (one, other) in [("P0", "P1"), ("P0", "P2"), ("P1", "P2")] {
            let (is, was) = (result.between(one, other).unwrap(), profile.between(one, other).unwrap());
            let off = |is: f64, was: f64| (is / was - 1.0).abs();
            assert!(off(is.rtt.as_secs_f64(), was.rtt.as_secs_f64()) < 0.02, "{is:?} {was:?}");
            assert!(off(is.bandwidth as f64, was.bandwidth as f64) < 0.05, "{is:?} {was:?}");
        }
    }
}

/// Alters one step's messages of P1, to one party or to all.
fn alter(part: u16, to: Option<usize>, change: impl Fn(&mut Vec<u8>) + Send + 'static) -> Interceptor {
    Box::new(move |message| {
        let at = message.frame.at;
        if message.from != 1 || to.is_some_and(|to| to != message.to) || at.part != part {
            return Fate::Deliver;
        }
        // A shaped link's time stands behind the payload.
        let (payload, stamp) = message.frame.payload.split_last_chunk::<8>().expect("all links are shaped");
        let mut payload = payload.to_vec();
        change(&mut payload);
        payload.extend(stamp);
        Fate::Replace(vec![Frame::data(at, payload)])
    })
}

fn messages(results: Vec<Result<Profile, Error>>) -> Vec<String> {
    results
        .into_iter()
        .map(|result| result.map_or_else(|error| error.to_string(), |_| String::new()))
        .collect()
}

#[test]
fn bursts_of_any_other_length_are_refused() {
    let profile = Profile::uniform(Shape::LAN);
    for length in [0_u32, 1, 61, u32::MAX] {
        let ask = alter(step::BURST_LENGTH, None, move |bytes| bytes.copy_from_slice(&length.to_le_bytes()));
        let errors = messages(measure(&profile, Some(ask)));
        assert!(errors[0].contains("P1 sent a malformed length of a burst"), "{errors:?}");
        assert!(errors.iter().all(|error| !error.is_empty()), "{errors:?}");
    }
}

#[test]
fn who_tells_two_parties_different_figures_ends_it_for_all() {
    let profile = Profile::uniform(Shape::LAN);
    for to in [0, 2] {
        let two_faced = alter(step::MEASURED, Some(to), |row| row[24] ^= 1);
        let errors = messages(measure(&profile, Some(two_faced)));
        assert!(errors.iter().any(|error| error.contains("what was sent to everybody")), "{errors:?}");
        assert!(errors.iter().all(|error| !error.is_empty()), "{errors:?}");
    }
}

/// Whatever one party leaves out, cuts short, prolongs, repeats or sends too late, at whichever of its messages: nobody
/// waits for ever, and nobody goes on who was sent something else than was due.
#[test]
fn every_deviation_ends_in_an_error() {
    let profile = Profile::uniform(Shape::LAN);
    for nth in [2, 5, 8, 60] {
        for deviation in [
            Deviation::Silence,
            Deviation::Hang,
            Deviation::Death,
            Deviation::Truncate,
            Deviation::Extend,
            Deviation::ReplayOlder,
            Deviation::Delay(Duration::from_mins(1)),
        ] {
            for (from, to) in [(0, 1), (2, 1), (1, 2)] {
                let results = measure(&profile, Some(deviation.at(from, to, nth)));
                assert!(
                    results[to].is_err(),
                    "{deviation:?} of message {nth} from {from} to {to}: {results:?}"
                );
            }
        }
    }
}
