//! OTs between parties: that they are right, what they cost, and that nothing is sent twice under one address.

mod common;

use common::{Had, Keep, fit, play, run};
use std::collections::HashSet;
use tacit_ot::{Choices, Form, Ot, Params, Request, Roles, Security, step};
use tacit_session::{Error, Phase};
use tacit_testkit::{Draws, World};

fn params(k: usize, security: Security) -> Params {
    Params::new(k, security).and_then(|params| params.with_rows(1024)).expect("there are such parameters")
}

fn both(params: Params, count: usize, given: Option<&[u64]>, form: Form) -> Vec<Had> {
    let had = play(&World::new(2, 0), 2, &params, &Draws::fixed(1), |session| {
        run(session, Roles::Both, params, count, given, form)
    });
    had.into_iter().map(|had| had.expect("nobody deviates")).collect()
}

#[test]
fn both_directions_fit_and_cost_what_they_should() {
    for k in 1..=8 {
        for security in [Security::SemiHonest, Security::Malicious] {
            let params = params(k, security);
            for count in [1, 64, params.batch(), params.batch() + 1, 3 * params.batch() + 65] {
                for chosen in [false, true] {
                    let given: Vec<u64> = (0..count.div_ceil(64) as u64)
                        .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
                        .collect();
                    let given = chosen.then_some(given.as_slice());
                    let had = both(params, count, given, Form::Random);
                    let what = format!("{params}, {count} OTs, chosen: {chosen}");
                    for [from, to] in [[0, 1], [1, 0]] {
                        assert!(fit(&had[from], &had[to], [from, to], count), "{what}");
                        if let Some(given) = given {
                            assert_eq!(had[to].ots.0[from].choices, given, "{what}");
                        }
                        // In both directions a party is sender and receiver.
                        let sent = |phase| had[from].counters.with_peer(phase, to).sent_bytes;
                        assert_eq!(
                            sent(Phase::Offline),
                            params.extension_bytes(count, chosen).iter().sum::<u64>()
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn each_link_of_one_direction_carries_its_declared_bytes() {
    for k in [1, 4, 5] {
        for security in [Security::SemiHonest, Security::Malicious] {
            let (params, count) = (params(k, security), 2000);
            let had = play(&World::new(2, 0), 2, &params, &Draws::fixed(1), |session| {
                let roles = if session.me() == 0 { Roles::Sender } else { Roles::Receiver };
                let before = session.mesh().counters().in_phase(Phase::Setup).sent_bytes;
                run(session, roles, params, count, None, Form::Correlated).map(|had| (had, before))
            });
            let had: Vec<(Had, u64)> = had.into_iter().map(|had| had.expect("nobody deviates")).collect();
            assert!(fit(&had[0].0, &had[1].0, [0, 1], count));
            for (party, (had, before)) in had.iter().enumerate() {
                let sent = |phase| had.counters.in_phase(phase).sent_bytes;
                assert_eq!(sent(Phase::Setup) - before, params.setup_bytes()[party], "{params}");
                assert_eq!(sent(Phase::Offline), params.extension_bytes(count, false)[party], "{params}");
            }
        }
    }
}

#[test]
fn all_pairs_of_three_parties_have_secrets_of_their_own() {
    let params = params(4, Security::Malicious);
    let count = 1000;
    let had = play(&World::new(3, 0), 3, &params, &Draws::fixed(2), |session| {
        run(session, Roles::Both, params, count, None, Form::Correlated)
    });
    let had: Vec<Had> = had.into_iter().map(|had| had.expect("nobody deviates")).collect();
    let mut differences = HashSet::new();
    for [from, to] in [[0, 1], [1, 0], [0, 2], [2, 0], [1, 2], [2, 1]] {
        assert!(fit(&had[from], &had[to], [from, to], count));
        let [zeros, ones] = &had[from].ots.0[to].sent;
        let difference = zeros[0] ^ ones[0];
        assert!(zeros.iter().zip(ones).all(|(zero, one)| zero ^ one == difference));
        differences.insert(difference);
    }
    assert_eq!(differences.len(), 6);
}

#[test]
fn no_two_messages_have_one_address_and_lengths_tell_nothing() {
    let params = params(4, Security::Malicious);
    let shape = |seed| {
        let world = World::new(2, 0);
        let had = play(&world, 2, &params, &Draws::fixed(seed), |session| {
            run(session, Roles::Both, params, 3000, None, Form::Random)
        });
        assert!(had.iter().all(Result::is_ok));
        let shape = world.trace().skeleton();
        let addresses: HashSet<_> = shape.iter().map(|&(from, to, at, _)| (from, to, at)).collect();
        assert_eq!(addresses.len(), shape.len());
        shape
    };
    assert_eq!(shape(1), shape(2));
}

#[test]
fn ots_without_a_setup_are_refused() {
    let params = params(4, Security::Malicious);
    let had = play(&World::new(2, 0), 2, &params, &Draws::fixed(1), |session| {
        let mut ot = Ot::setup(session, &[], Roles::Both, params, 0)?;
        let request = Request { op: 1, count: 1, choices: Choices::Random, form: Form::Random };
        ot.extend(session, &request, &mut Keep::of(2))
    });
    assert!(had.iter().any(|had| matches!(had, Err(Error::Rejected { .. }))), "{had:?}");
}

#[test]
fn more_batches_than_there_are_numbers_are_refused() {
    let params = params(4, Security::Malicious);
    let had = play(&World::new(2, 0), 2, &params, &Draws::fixed(1), |session| {
        let mut ot = Ot::setup(session, &[1 - session.me()], Roles::Both, params, 0)?;
        for count in [params.batch() << 32, usize::MAX, 1] {
            let request = Request { op: 1, count, choices: Choices::Random, form: Form::Random };
            let refused = ot.extend(session, &request, &mut Keep::of(2));
            assert_eq!(refused, Err(Error::Exhausted), "the first failure is final");
        }
        Ok(())
    });
    assert!(had.iter().all(Result::is_ok), "{had:?}");
}

#[test]
fn equal_choices_in_two_extensions_give_unrelated_ots() {
    let (params, count) = (params(4, Security::Malicious), 1000);
    let choices = [0x0123_4567_89ab_cdef; 16];
    for form in [Form::Random, Form::Correlated] {
        let world = World::new(2, 0);
        let had = play(&world, 2, &params, &Draws::fixed(1), |session| {
            let me = session.me();
            // Who only sends has no choices.
            let given: (Roles, &[&[u64]]) =
                if me == 0 { (Roles::Sender, &[]) } else { (Roles::Receiver, &[&choices]) };
            let mut ot = Ot::setup(session, &[1 - me], given.0, params, 0)?;
            let mut keeps = [Keep::of(2), Keep::of(2)];
            for (op, keep) in (1..).zip(&mut keeps) {
                ot.extend(session, &Request { op, count, choices: Choices::Given(given.1), form }, keep)?;
            }
            Ok(keeps)
        });
        let had: Vec<[Keep; 2]> = had.into_iter().map(|had| had.expect("nobody deviates")).collect();
        let mut values = HashSet::new();
        for (sender, receiver) in had[0].iter().zip(&had[1]) {
            let (sent, received) = (&sender.0[1].sent, &receiver.0[0]);
            assert_eq!([sent[0].len(), sent[1].len(), received.values.len()], [count; 3]);
            for (i, value) in received.values.iter().enumerate() {
                assert_eq!(*value, sent[(choices[i / 64] >> (i % 64) & 1) as usize][i]);
            }
            values.extend(sent.concat());
        }
        assert_eq!(values.len(), 4 * count, "{form:?}");
        let trace = world.trace();
        let columns = trace.link(1, 0).filter(|one| one.at.part == step::COLUMNS);
        // Choices that aren't given are the first tree's own, and need no correction there.
        let columns = columns.flat_map(|one| one.payload.chunks(16)).filter(|chunk| **chunk != [0; 16]);
        let columns: Vec<&[u8]> = columns.collect();
        assert!(columns.len() > 31 * 1536 * 2 / 128);
        assert_eq!(columns.iter().collect::<HashSet<_>>().len(), columns.len());
    }
}

#[test]
fn products_with_a_fixed_number_are_shared() {
    use tacit_kernel::Element;
    use tacit_kernel::field::Fp128;
    use tacit_ot::copee::{Field, initialize, initialize_bytes};
    let params = params(4, Security::Malicious);
    let deltas = [3_u128, Fp128::MODULUS - 2];
    let had = play(&World::new(2, 0), 2, &params, &Draws::fixed(1), |session| {
        let me = session.me();
        let before = session.mesh().counters().in_phase(Phase::Setup).sent_bytes;
        let mut both = initialize(session, &[1 - me], Field::Prime, &deltas[me].to_le_bytes(), 7)?;
        let sent = session.mesh().counters().in_phase(Phase::Setup).sent_bytes - before;
        Ok((both.remove(0), sent))
    });
    let mut had = had.into_iter().map(|had| had.expect("nobody deviates"));
    let [((mut a, _), sent), ((_, mut b), _)] = [(); 2].map(|()| had.next().expect("two parties"));
    assert_eq!(sent, initialize_bytes(Field::Prime));
    let (mut t, mut q, mut message) = ([0], [0], Vec::new());
    a.extend(&[10], &mut t, &mut message);
    b.extend(&message, &mut q);
    let sum = Fp128::from_u128(t[0]).wrapping_add(Fp128::from_u128(q[0]));
    assert_eq!(sum, Fp128::from_u128(20).wrapping_neg());
}
