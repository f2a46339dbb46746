//! What parties agree on and check with one another, and what becomes of a party that doesn't play by the rules.

use std::time::Duration;
use tacit_net::{Frame, Limits};
use tacit_session::{Agreement, Draw, Error, Mesh, Session, step};
use tacit_testkit::{Deviation, Draws, Fate, Interceptor, Trace, World, in_threads, party_names};

const DRAW: Draw = Draw { part: step::OPERATION, op: 0 };

fn agreement(parties: usize, clients: usize) -> Agreement {
    let clients = (0..clients).map(|number| format!("C{number}")).collect();
    Agreement { clients, ..Agreement::among(party_names(parties), "any", String::new()) }
}

/// Lets every endpoint of a world establish a session and then do something, each in a thread.
fn play<T: Send>(
    world: &World,
    agreements: &[Agreement],
    draws: &Draws,
    part: impl Fn(&mut Session) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    play_within(world, agreements, &vec![Limits::default(); agreements.len()], draws, part)
}

/// The same, each endpoint with limits of its own.
fn play_within<T: Send>(
    world: &World,
    agreements: &[Agreement],
    limits: &[Limits],
    draws: &Draws,
    part: impl Fn(&mut Session) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    in_threads(world.transports(), |me, links| {
        let agreement = agreements[me].clone();
        let names = [&agreement.parties[..], &agreement.clients[..]].concat();
        let mesh = Mesh::new(links, me, names, limits[me].clone());
        let mut session = Session::establish(mesh, agreement, draws.of(me))?;
        let result = part(&mut session)?;
        session.close().map(|()| result)
    })
}

/// Parties only, all of one mind.
fn among<T: Send>(
    world: &World,
    parties: usize,
    draws: &Draws,
    part: impl Fn(&mut Session) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    play(world, &vec![agreement(parties, 0); parties], draws, part)
}

/// What others wait for is agreed: a party that waits for longer is refused by all, whoever it is, and whatever a client
/// waits for.
#[test]
fn parties_with_other_limits_are_refused_by_all_and_clients_are_not() {
    let usual = Limits { silence: Duration::from_secs(10), ..Limits::default() };
    let others = [
        ("silence_seconds", Limits { silence: Duration::from_secs(13), ..usual.clone() }),
        ("linger_seconds", Limits { linger: Duration::from_secs(2), ..usual.clone() }),
        ("inbox_bytes", Limits { inbox: 1000, ..usual.clone() }),
    ];
    for (what, other) in others {
        for who in 0..4 {
            let mut limits = vec![usual.clone(); 4];
            limits[who] = other.clone();
            let (world, agreements) = (World::new(3, 1), vec![agreement(3, 1); 4]);
            let results = play_within(&world, &agreements, &limits, &Draws::fixed(1), |_| Ok(()));
            for (endpoint, result) in results.into_iter().enumerate() {
                if who == 3 {
                    assert_eq!(result, Ok(()), "a client with another {what}");
                    continue;
                }
                let error = result.expect_err("a run with different limits").to_string();
                assert!(error.contains(&format!("disagrees on {what}: ")), "{endpoint}: {error}");
                assert!(
                    error.contains("under [limits] in every party's parties.toml"),
                    "{endpoint}: {error}"
                );
            }
        }
    }
}

/// What the honest parties of three say if party 1 deviates.
fn complaints<T: std::fmt::Debug>(results: &[Result<T, Error>]) -> [String; 2] {
    [0, 2].map(|party| results[party].as_ref().expect_err("both notice").to_string())
}

#[test]
fn a_plan_that_would_use_addresses_again_is_refused() {
    let results = among(&World::new(2, 0), 2, &Draws::fixed(1), |session| {
        session.next_plan(u32::MAX - 10, 10)?;
        assert_eq!(session.next_plan(10, 1), Err(Error::Exhausted));
        assert_eq!(session.next_plan(5, 6), Err(Error::Exhausted));
        session.next_plan(5, 5)
    });
    assert_eq!(results, [Ok(()), Ok(())]);
}

#[test]
fn all_endpoints_have_one_identity_that_every_nonce_makes_another() {
    let identities = |seed: u64, varied: usize| {
        let draws = Draws::varying(seed, 0, std::sync::Arc::new(move |who, call| (who, call) == (varied, 0)));
        let all = vec![agreement(3, 2); 5];
        let ids = play(&World::new(3, 2), &all, &draws, |session| Ok(*session.id()));
        let ids: Vec<_> = ids.into_iter().map(Result::unwrap).collect();
        assert!(ids.iter().all(|id| *id == ids[0]));
        ids[0]
    };
    let id = identities(1, usize::MAX);
    assert_eq!(id, identities(1, usize::MAX));
    assert_ne!(id, identities(2, usize::MAX));
    for party in 0..3 {
        assert_ne!(id, identities(1, party), "P{party}'s nonce");
    }
    assert_eq!(id, identities(1, 3), "a client's nonce is for nobody's identity");
}

#[test]
fn every_pair_has_a_stream_of_its_own() {
    let all = vec![agreement(3, 1); 4];
    let drawn = play(&World::new(3, 1), &all, &Draws::fixed(1), |session| {
        let me = session.me();
        let peers: Vec<usize> = if me == 3 { vec![0, 1, 2] } else { (0..4).filter(|&p| p != me).collect() };
        let drawn = peers.into_iter().map(|peer| {
            let mut block = [0; 16];
            session.stream(peer).fill(DRAW, 0, &mut block);
            ((me.min(peer), me.max(peer)), block)
        });
        Ok(drawn.collect::<Vec<_>>())
    });
    let mut by_pair = std::collections::BTreeMap::<_, Vec<_>>::new();
    for (pair, block) in drawn.into_iter().flat_map(Result::unwrap) {
        by_pair.entry(pair).or_default().push(block);
    }
    assert_eq!(by_pair.len(), 6);
    let mut seen = std::collections::HashSet::new();
    for (pair, blocks) in by_pair {
        assert_eq!(blocks.len(), 2, "{pair:?}");
        assert_eq!(blocks[0], blocks[1], "{pair:?}");
        assert!(seen.insert(blocks[0]), "{pair:?}");
    }
}

#[test]
fn whoever_is_about_to_run_something_else_is_told_and_told_of() {
    type Change = fn(&mut Agreement);
    let changes: [(&str, Change); 5] = [
        ("who the parties are", |agreement| agreement.parties[1].push('x')),
        ("the protocol", |agreement| agreement.protocol.push('x')),
        ("the protocol's parameters", |agreement| agreement.parameters.push('x')),
        ("the inputs", |agreement| agreement.inputs.push("x".into())),
        ("the program (its hash)", |agreement| agreement.program[0] ^= 1),
    ];
    for (differs, change) in changes {
        let mut agreements = vec![agreement(3, 1); 4];
        change(&mut agreements[2]);
        let results = play(&World::new(3, 1), &agreements, &Draws::fixed(1), |_| Ok(()));
        for (me, result) in results.into_iter().enumerate() {
            let Err(Error::Disagreement(found)) = result else { panic!("{result:?}") };
            let (odd, peer) = if me == 2 { ("P2", "P0") } else { ("P2", "P2") };
            assert_eq!((found.what, found.peer.as_str()), (differs, peer), "{found}");
            assert!(found.to_string().contains(odd) && (me == 2 || found.others.is_empty()), "{found}");
        }
    }
}

#[test]
fn two_stories_about_a_nonce_are_noticed() {
    // The nonce is what follows the agreement and goes to all; the seed behind it, for one alone, may differ.
    let nonce_at = |frame: &Frame| frame.payload.len() - 64;
    let world = World::new(3, 0).intercept(Box::new(move |message| {
        let mut frame = message.frame.clone();
        if (message.from, message.to, frame.at.part) == (1, 2, step::HELLO) {
            let at = nonce_at(&frame);
            frame.payload[at] ^= 1;
        }
        Fate::Replace(vec![frame])
    }));
    for error in complaints(&among(&world, 3, &Draws::fixed(1), |_| Ok(()))) {
        assert!(error.contains("the session's identity"), "{error}");
    }
}

#[test]
fn everybody_gets_the_same_coins_and_other_ones_each_time() {
    for parties in 2..=5 {
        let tosses = among(&World::new(parties, 0), parties, &Draws::fixed(1), |session| {
            Ok([session.toss(1)?, session.toss(100)?, session.toss(8160)?])
        });
        let tosses: Vec<_> = tosses.into_iter().map(Result::unwrap).collect();
        assert!(tosses.iter().all(|toss| *toss == tosses[0]));
        assert_eq!(tosses[0].each_ref().map(Vec::len), [1, 100, 8160]);
        assert_ne!(tosses[0][1][..], tosses[0][2][..100]);
    }
}

/// A toss of three parties.
fn toss_with(draws: &Draws, interceptor: Option<Interceptor>) -> (Vec<Result<Vec<u8>, Error>>, Trace) {
    let mut world = World::new(3, 0);
    if let Some(interceptor) = interceptor {
        world = world.intercept(interceptor);
    }
    let results = among(&world, 3, draws, |session| session.toss(16));
    (results, world.trace())
}

/// What `from` sent to `to` for a coin: commitment and opening.
fn coin(trace: &Trace, from: usize, to: usize) -> [Vec<u8>; 2] {
    [step::COIN_COMMIT, step::COIN_OPEN].map(|part| {
        let message = trace.link(from, to).find(|delivery| delivery.at.part == part);
        message.expect("the coin was tossed").payload.clone()
    })
}

/// Replaces what `from` sends to some for a coin.
fn replace(from: usize, to: &'static [usize], by: [Vec<u8>; 2]) -> Interceptor {
    Box::new(move |message| {
        let which = match message.frame.at.part {
            step::COIN_COMMIT => 0,
            step::COIN_OPEN => 1,
            _ => return Fate::Deliver,
        };
        if message.from != from || !to.contains(&message.to) {
            return Fate::Deliver;
        }
        // The last 32 bytes of an opening say what the sender has seen: those stay its own.
        let mut payload = by[which].clone();
        if which == 1 {
            payload.truncate(64);
            payload.extend_from_slice(&message.frame.payload[64..]);
        }
        Fate::Replace(vec![Frame::data(message.frame.at, payload)])
    })
}

#[test]
fn another_partys_commitment_and_opening_are_no_coin() {
    let draws = Draws::fixed(1);
    let (_, trace) = toss_with(&draws, None);
    let stolen = coin(&trace, 0, 2);
    let (results, _) = toss_with(&draws, Some(replace(1, &[0, 2], stolen)));
    for error in complaints(&results) {
        assert!(error.contains("of a coin does not match what P1 holds"), "{error}");
    }
}

#[test]
fn an_opening_that_is_not_what_was_committed_to_is_noticed() {
    let draws = Draws::fixed(1);
    let (_, trace) = toss_with(&draws, None);
    for byte in [0, 31, 32, 63] {
        let [commitment, mut opening] = coin(&trace, 1, 0);
        opening[byte] ^= 0x10;
        let (results, _) = toss_with(&draws, Some(replace(1, &[0, 2], [commitment, opening])));
        for error in complaints(&results) {
            assert!(error.contains("the opening of a coin does not match what P1 holds"), "{error}");
        }
    }
}

#[test]
fn two_commitments_of_one_party_are_noticed() {
    // The other toss has the same identity and another coin of party 1, drawn after its nonce and two seeds: it
    // opens well to whoever got its commitment.
    let other = Draws::varying(1, 1, std::sync::Arc::new(|who, call| who == 1 && call >= 3));
    let (results, trace) = toss_with(&other, None);
    assert!(results.iter().all(Result::is_ok));
    let (results, _) = toss_with(&Draws::fixed(1), Some(replace(1, &[2], coin(&trace, 1, 2))));
    for error in complaints(&results) {
        assert!(error.contains("the commitments of a coin"), "{error}");
    }
}

#[test]
fn what_was_sent_to_everybody_is_the_same_everywhere() {
    let same = among(&World::new(3, 0), 3, &Draws::fixed(1), |session| {
        session.echo(b"the same")?;
        session.echo(b"")?;
        session.barrier()
    });
    assert!(same.iter().all(Result::is_ok), "{same:?}");
}

#[test]
fn a_sender_who_tells_two_stories_is_noticed() {
    // Party 1 sends its proof to all, another one to party 2, and then says that it sent what party 0 has.
    let results = among(&World::new(3, 0), 3, &Draws::fixed(1), |session| {
        session.echo(if session.me() == 2 { b"what P2 was told" } else { b"what P0 was told" })
    });
    for error in complaints(&results) {
        assert!(error.contains("what was sent to everybody"), "{error}");
    }
}

#[test]
fn a_difference_in_what_parties_were_given_is_no_failed_check() {
    let same = among(&World::new(3, 0), 3, &Draws::fixed(1), |session| session.agree(b"the same", "weights"));
    assert!(same.iter().all(Result::is_ok), "{same:?}");
    let results = among(&World::new(3, 0), 3, &Draws::fixed(1), |session| {
        session.agree(if session.me() == 2 { b"old" } else { b"new" }, "weights")
    });
    for error in results.iter().map(|result| result.as_ref().unwrap_err()) {
        assert!(!error.is_failed_check() && error.to_string().contains("other weights"), "{error}");
    }
}

#[test]
fn unequal_draws_from_a_shared_stream_are_noticed() {
    let results = among(&World::new(3, 0), 3, &Draws::fixed(1), |session| {
        let (me, extra) = (session.me(), session.me() == 1);
        for peer in (0..3).filter(|&peer| peer != me) {
            session.stream(peer).fill(DRAW, 0, &mut [0; 64]);
        }
        if extra {
            session.stream(2).fill(DRAW, 4, &mut [0; 16]);
        }
        session.compare_draws(&[])
    });
    for party in [1, 2] {
        let error = results[party].as_ref().expect_err("both holders notice").to_string();
        assert!(error.contains("the amount of shared randomness drawn"), "{error}");
    }
    let equal = among(&World::new(3, 0), 3, &Draws::fixed(1), |session| {
        let next = (session.me() + 1) % 3;
        let before = (session.me() + 2) % 3;
        session.stream(next).fill(DRAW, 0, &mut [0; 64]);
        session.stream(before).fill(DRAW, 0, &mut [0; 64]);
        session.compare_draws(&[])
    });
    assert!(equal.iter().all(Result::is_ok), "{equal:?}");
}

/// An owner of inputs that tells two parties different things ends the run, and has nothing destroyed.
#[test]
fn inputs_that_differ_are_no_failed_check() {
    let results = among(&World::new(3, 0), 3, &Draws::fixed(1), |session| match session.me() {
        0 => session.barrier(),
        me => {
            session.compare_shared(&[(3 - me, &[me as u8])], "what an owner gave")?;
            session.barrier()
        }
    });
    for result in &results {
        let error = result.as_ref().expect_err("the run ends for all");
        assert!(!error.is_failed_check(), "{error}");
    }
    assert!(results[1].as_ref().is_err_and(|error| error.to_string().contains("what an owner gave")));
}

#[test]
fn every_control_message_is_checked() {
    // Every message of a session that does all there is to do, altered in length or lost.
    let part = |session: &mut Session| {
        session.toss(8)?;
        session.echo(b"proof")?;
        session.barrier()?;
        session.compare_draws(&[])
    };
    let world = World::new(3, 0);
    assert!(among(&world, 3, &Draws::fixed(1), part).iter().all(Result::is_ok));
    for (from, to) in world.trace().links() {
        for (nth, delivery) in world.trace().link(from, to).enumerate() {
            let deviations = [Deviation::Extend, Deviation::Silence, Deviation::Death, Deviation::Truncate];
            let empty = delivery.payload.is_empty();
            for deviation in &deviations[..if empty { 3 } else { 4 }] {
                let world = World::new(3, 0).intercept(deviation.at(from, to, nth));
                let results = among(&world, 3, &Draws::fixed(1), part);
                let error = results[to].as_ref().expect_err("the receiver notices").to_string();
                let what = format!("{deviation:?} of {} from P{from} to P{to}", delivery.at);
                assert!(error.contains(&format!("P{from}")), "{what}: {error}");
            }
        }
    }
}
