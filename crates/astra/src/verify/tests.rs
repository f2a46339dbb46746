use super::permutation::Piles;
use super::*;
use std::sync::Mutex;
use tacit_program::cost::Phase;
use tacit_program::plan::{Modulus, Width};
use tacit_session::Agreement;
use tacit_testkit::{Draws, Fate, Interceptor, Rng, World, party_names};
use tacit_threeparty::PARTIES;

const DOMAINS: [Domain; 10] = [
    Domain::Bits,
    Domain::Ring(Width::W8),
    Domain::Ring(Width::W16),
    Domain::Ring(Width::W32),
    Domain::Ring(Width::W64),
    Domain::Modular(Modulus::PowerOfTwo(13)),
    Domain::Modular(Modulus::PowerOfTwo(45)),
    Domain::Modular(Modulus::PowerOfTwo(100)),
    Domain::Modular(Modulus::Mersenne61),
    Domain::Modular(Modulus::Prime128),
];

const W64: Domain = Domain::Ring(Width::W64);

/// Products of a whole batch of a run in one lane.
const BATCH: usize = 1 << 20;

fn rules() -> Rules {
    Rules::of_lanes(1)
}

/// Products that a trusted dealer shares: the same numbers at all parties, of which each notes its own.
#[derive(Clone, Copy)]
struct Dealt {
    domain: Domain,
    count: usize,
    seed: u64,
    /// What `P_2`'s component of one result is off by, as if `P_0` had told it a wrong share: the product and the error.
    wrong: Option<(usize, u128)>,
}

const fn dealt(domain: Domain, count: usize, seed: u64) -> Dealt {
    Dealt { domain, count, seed, wrong: None }
}

/// The components of `a`, `b` and `c`, in the order of their numbers.
fn shared<E: Element>(dealt: &Dealt) -> [[Vec<E>; PARTIES]; 3] {
    let mut rng = Rng::new(dealt.seed);
    let mut draw = || E::from_u128(u128::from(rng.word()) << 64 | u128::from(rng.word()));
    let mut components = || [(); PARTIES].map(|()| (0..dealt.count).map(|_| draw()).collect::<Vec<E>>());
    let [a, b, mut c] = [(); 3].map(|()| components());
    for at in 0..dealt.count {
        let sum = |v: &[Vec<E>; PARTIES]| v[0][at].wrapping_add(v[1][at]).wrapping_add(v[2][at]);
        c[0][at] = sum(&a).wrapping_mul(sum(&b)).wrapping_sub(c[1][at]).wrapping_sub(c[2][at]);
    }
    if let Some((at, error)) = dealt.wrong {
        c[2][at] = c[2][at].wrapping_add(E::from_u128(error));
    }
    [a, b, c]
}

/// Bits, one a word.
fn shared_bits(dealt: &Dealt) -> [[Vec<u64>; PARTIES]; 3] {
    let parity = |word: &u64| word & 1;
    let words = shared::<u64>(dealt);
    words.map(|components| components.map(|plane| plane.iter().map(parity).collect()))
}

fn packed(bits: &[u64]) -> Vec<u64> {
    let pack = |bits: &[u64]| bits.iter().enumerate().fold(0, |word, (at, bit)| word | bit << at);
    bits.chunks(64).map(pack).collect()
}

fn note(unchecked: &mut Unchecked, dealt: &Dealt) {
    let me = unchecked.me;
    let held = [turn::component(me, 0), turn::component(me, 1)];
    if dealt.domain == Domain::Bits {
        let [a, b, c] = shared_bits(dealt).map(|components| held.map(|which| packed(&components[which])));
        let slices = |planes: &'_ [Vec<u64>; 2]| [planes[0].clone(), planes[1].clone()];
        let (a, b, c) = (slices(&a), slices(&b), slices(&c));
        let results = (me > 0).then_some([c[0].as_slice(), c[1].as_slice()]);
        return unchecked.note(Domain::Bits, dealt.count, [&a[0], &a[1]], [&b[0], &b[1]], results);
    }
    with_element!(dealt.domain, E => {
        let [a, b, c] = shared::<E>(dealt).map(|components| held.map(|which| components[which].clone()));
        let results = (me > 0).then_some([c[0].as_slice(), c[1].as_slice()]);
        unchecked.note::<E>(dealt.domain, dealt.count, [&a[0], &a[1]], [&b[0], &b[1]], results);
    });
}

/// What `P_0` has to be told of some products.
fn told(dealt: &Dealt) -> Vec<u8> {
    if dealt.domain == Domain::Bits {
        let [.., c] = shared_bits(dealt);
        let sum: Vec<u64> = c[1].iter().zip(&c[2]).map(|(one, two)| one ^ two).collect();
        return bytemuck::cast_slice(&packed(&sum)).to_vec();
    }
    let low = |sum: u128| sum & u128::MAX >> (128 - dealt.domain.bits());
    with_element!(dealt.domain, E => {
        let [.., c] = shared::<E>(dealt);
        let sum = c[1].iter().zip(&c[2]).map(|(&one, &two)| E::from_u128(low(one.wrapping_add(two).to_u128())));
        bytemuck::cast_slice(&sum.collect::<Vec<E>>()).to_vec()
    })
}

/// Lets three parties establish a session and then do something offline, each in a thread.
fn play<T: Send>(
    world: &World,
    draws: &Draws,
    part: impl Fn(&mut Session) -> Result<T, Error> + Sync,
) -> Vec<Result<T, Error>> {
    let agreement = Agreement::among(party_names(PARTIES), "any", String::new());
    tacit_testkit::play(world.transports(), &agreement, draws, |session| {
        session.mesh().set_phase(tacit_session::Phase::Offline);
        part(session)
    })
}

/// All that a party notes of some products.
fn noted(session: &Session, seats: Seats, products: &[Dealt]) -> Unchecked {
    let mut unchecked = Unchecked::new(seats.role(session.me()).expect("a party"), seats, rules());
    for dealt in products {
        note(&mut unchecked, dealt);
    }
    unchecked
}

/// Notes and checks products in a world, in order of seats; what each party was told.
fn check(world: &World, draws: &Draws, products: &[Dealt]) -> Vec<Result<Vec<Buffer>, Error>> {
    play(world, draws, |session| Ok(noted(session, Seats::IN_ORDER, products).check(session)?.collect()))
}

fn world() -> World {
    World::new(PARTIES, 0)
}

#[test]
fn honest_products_of_every_domain_pass_and_p_0_is_told_the_rest() {
    for (number, domain) in DOMAINS.into_iter().enumerate() {
        for count in [1, 2, 63, 64, 65, 700] {
            let products = dealt(domain, count, number as u64);
            for (me, received) in check(&world(), &Draws::fixed(1), &[products]).into_iter().enumerate() {
                let received = received.unwrap_or_else(|error| panic!("{domain:?}, {count}: {error}"));
                if me > 0 {
                    assert!(received.is_empty());
                    continue;
                }
                let [received] = received.as_slice() else { panic!("one for each call") };
                let mask = |bytes: &[u8]| with_low_bits(domain, bytes);
                assert_eq!(mask(received.bytes()), mask(&told(&products)), "{domain:?}, {count}");
            }
        }
    }
}

/// Elements without what stands above the bits that count.
fn with_low_bits(domain: Domain, bytes: &[u8]) -> Vec<u128> {
    if domain == Domain::Bits {
        return bytes.iter().map(|&byte| u128::from(byte)).collect();
    }
    with_element!(domain, E => {
        let low = |value: &E| value.to_u128() & u128::MAX >> (128 - domain.bits());
        bytes.chunks_exact(E::BYTES).map(|value| low(&bytemuck::pod_read_unaligned(value))).collect()
    })
}

#[test]
fn many_notes_of_many_domains_are_checked_at_once_and_in_any_seats() {
    let products: Vec<Dealt> =
        (0..24).map(|at| dealt(DOMAINS[at % DOMAINS.len()], [0, 3, 130, 17][at % 4], at as u64)).collect();
    for seats in Seats::ALL {
        let results = play(&world(), &Draws::fixed(2), |session| {
            let me = seats.role(session.me()).unwrap();
            let mut unchecked = Unchecked::new(me, seats, rules());
            for _ in 0..2 {
                for dealt in &products {
                    note(&mut unchecked, dealt);
                }
                assert_eq!(unchecked.len(), products.iter().map(|dealt| dealt.count).sum());
                let received: Vec<Buffer> = unchecked.check(session)?.collect();
                assert_eq!((unchecked.len(), received.len()), (0, if me == 0 { products.len() } else { 0 }));
                for (received, dealt) in received.iter().zip(&products) {
                    let mask = |bytes: &[u8]| with_low_bits(dealt.domain, bytes);
                    assert_eq!(mask(received.bytes()), mask(&told(dealt)));
                }
            }
            assert!(unchecked.check(session)?.next().is_none(), "nothing is left to check");
            Ok(())
        });
        assert!(results.into_iter().all(|result| result.is_ok()));
    }
}

#[test]
fn what_is_sent_is_what_the_cost_says() {
    let sets: Vec<Vec<(Domain, usize)>> = DOMAINS
        .into_iter()
        .map(|domain| vec![(domain, 1000)])
        .chain([vec![], vec![(W64, 20_000), (Domain::Bits, 777)], vec![(Domain::Bits, BATCH + 5)]])
        .collect();
    for set in sets {
        let products: Vec<Dealt> = set.iter().map(|&(domain, count)| dealt(domain, count, 9)).collect();
        let sent = play(&world(), &Draws::fixed(3), |session| {
            let mut unchecked = noted(session, Seats::IN_ORDER, &products);
            let noted = unchecked.len();
            unchecked.check_full(session)?;
            assert_eq!(unchecked.len(), noted % BATCH, "whole batches are checked, and nothing else");
            drop(unchecked.check(session)?);
            let counters = session.mesh().counters();
            Ok([0, 1, 2].map(|to| counters.with_peer(tacit_session::Phase::Offline, to).sent_bytes))
        });
        let counts: Vec<(Domain, u64)> = set.iter().map(|&(domain, count)| (domain, count as u64)).collect();
        let mut declared = [[0; PARTIES]; PARTIES];
        for (phase, flow) in cost(Seats::IN_ORDER, rules(), &counts).flows {
            assert_eq!(phase, Phase::Offline);
            declared[flow.from][flow.to] += flow.bytes();
        }
        for (from, sent) in sent.into_iter().enumerate() {
            assert_eq!(sent.unwrap(), declared[from], "{set:?}: party {from}");
        }
    }
}

#[test]
fn a_product_of_a_whole_batch_costs_twenty_elements() {
    let cost = cost(Seats::IN_ORDER, rules(), &[(W64, BATCH as u64)]);
    let bytes = |from, to| -> u64 {
        let flows = cost.flows.iter().filter(|(_, flow)| (flow.from, flow.to) == (from, to));
        flows.map(|(_, flow)| flow.bytes()).sum()
    };
    for (from, to, elements) in [(0, 1, 4), (0, 2, 6), (1, 0, 5), (1, 2, 2), (2, 0, 1), (2, 1, 2)] {
        let rest = bytes(from, to) - elements * 8 * BATCH as u64;
        assert!(rest < 400, "{from} to {to}: {rest} bytes for all products together");
    }
    assert_eq!(cost.rounds, [(Phase::Offline, 7)]);
}

#[test]
fn small_checks_take_as_many_rounds_as_are_declared() {
    let time = |count| {
        let world = world();
        let products = dealt(W64, count, 1);
        let done = Mutex::new(Vec::new());
        play(&world, &Draws::fixed(1), |session| {
            drop(noted(session, Seats::IN_ORDER, &[products]).check(session)?);
            done.lock().unwrap().push(world.now());
            Ok(())
        });
        done.into_inner().unwrap().into_iter().max().unwrap().as_millis()
    };
    assert_eq!(time(100) - time(0), 7);
}

/// Alters the messages of a step from one party to another.
fn altering(
    (from, to, part): (usize, usize, u16),
    mut alter: impl FnMut(&mut [u8]) + Send + 'static,
) -> Interceptor {
    Box::new(move |message| {
        let mut frame = message.frame.clone();
        if (message.from, message.to, frame.at.part) == (from, to, part) {
            alter(&mut frame.payload);
        }
        Fate::Replace(vec![frame])
    })
}

/// What the honest parties say when one deviates.
fn caught(results: Vec<Result<Vec<Buffer>, Error>>, corrupt: usize, what: &str) {
    for (party, result) in results.into_iter().enumerate().filter(|(party, _)| *party != corrupt) {
        assert!(result.is_err(), "{what}: party {party} noticed nothing");
    }
}

#[test]
fn a_product_that_is_off_by_anything_is_noticed() {
    for (number, domain) in DOMAINS.into_iter().enumerate() {
        let top = 1_u128 << (domain.bits() - 1);
        for error in [1, top] {
            for (count, at) in [(1, 0), (200, 199)] {
                let wrong = Dealt { wrong: Some((at, error)), ..dealt(domain, count, number as u64) };
                let results = check(&world(), &Draws::fixed(number as u64), &[wrong]);
                caught(results, 0, &format!("{domain:?}, off by {error}"));
            }
        }
    }
}

#[test]
fn whatever_one_party_alters_is_noticed_by_both_others() {
    const MESSAGES: [(usize, usize, u16); 22] = [
        (1, 0, step::CHECK_PRODUCTS),
        (2, 0, step::CHECK_PRODUCTS),
        (0, 2, step::CHECK_TRIPLES),
        (1, 2, step::CHECK_TRIPLES),
        (2, 1, step::CHECK_TRIPLES),
        (0, 1, step::CHECK_OPENED),
        (0, 2, step::CHECK_OPENED),
        (1, 0, step::CHECK_OPENED),
        (1, 2, step::CHECK_DIGEST),
        (2, 1, step::CHECK_DIGEST),
        (2, 0, step::CHECK_DIGEST),
        (0, 1, step::CHECK_ZERO),
        (0, 2, step::CHECK_ZERO),
        (1, 0, step::CHECK_ZERO),
        (1, 2, step::CHECK_ZERO),
        (2, 0, step::CHECK_ZERO),
        (2, 1, step::CHECK_ZERO),
        (0, 1, step::CHECK_ACCEPT),
        (0, 2, step::CHECK_ACCEPT),
        (1, 0, step::CHECK_ACCEPT),
        (1, 2, step::CHECK_ACCEPT),
        (2, 0, step::CHECK_ACCEPT),
    ];
    for message in MESSAGES {
        for seed in 0..6 {
            for domain in [Domain::Bits, W64, Domain::Modular(Modulus::Mersenne61)] {
                let mut done = false;
                let alter = move |payload: &mut [u8]| {
                    if !std::mem::replace(&mut done, true) {
                        let bit = Rng::new(seed).below(8 * (payload.len() - 1));
                        payload[bit / 8] ^= 1 << (bit % 8);
                    }
                };
                let world = world().intercept(altering(message, alter));
                let mut results = check(&world, &Draws::fixed(seed), &[dealt(domain, 300, seed)]);
                if message.2 == step::CHECK_ACCEPT {
                    // Nothing is wrong with the products, and whoever has all verdicts is done.
                    assert!(results.swap_remove(message.1).is_err(), "{message:?}");
                    continue;
                }
                caught(results, message.0, &format!("{message:?} of {domain:?}, seed {seed}"));
            }
        }
    }
}

#[test]
fn a_message_that_is_missing_or_cut_short_is_noticed() {
    for part in
        [step::CHECK_PRODUCTS, step::CHECK_TRIPLES, step::CHECK_OPENED, step::CHECK_DIGEST, step::CHECK_ZERO]
    {
        let cut = move |message: &tacit_testkit::Message<'_>| {
            let mut frame = message.frame.clone();
            if message.from == 1 && frame.at.part == part {
                frame.payload.pop();
            }
            Fate::Replace(vec![frame])
        };
        let results = check(&world().intercept(Box::new(cut)), &Draws::fixed(1), &[dealt(W64, 50, 1)]);
        caught(results, 1, &format!("step {part:x} cut short"));
    }
}

/// `P_0` makes one product wrong by 2^63 and as many triples as are in a bucket, those that come to lie with the product
/// under `coin`, and the run's own coin is that of `draws`.
fn attack_knowing(coin: &[u8; COIN_BYTES], draws: &Draws) -> Vec<Result<Vec<Buffer>, Error>> {
    const COUNT: usize = 40;
    const VICTIM: usize = 7;
    let parameters = rules().parameters(COUNT);
    let mut places = vec![0; parameters.triples(COUNT)];
    Piles::default().order::<u64>(coin, 0, &mut places, &mut []);
    let bucket: Vec<u32> = (0..parameters.bucket).map(|row| places[row * COUNT + VICTIM]).collect();
    let alter =
        move |payload: &mut [u8]| bucket.iter().for_each(|&triple| payload[8 * triple as usize + 7] ^= 0x80);
    let world = world().intercept(altering((0, 2, step::CHECK_TRIPLES), alter));
    let wrong = Dealt { wrong: Some((VICTIM, 1 << 63)), ..dealt(W64, COUNT, 5) };
    check(&world, draws, &[wrong])
}

#[test]
fn who_foresees_the_coin_passes_and_nobody_else() {
    let tossed = play(&world(), &Draws::fixed(8), |session| Ok(session.toss(COIN_BYTES)?));
    let coin: [u8; COIN_BYTES] = tossed[1].as_ref().unwrap().as_slice().try_into().unwrap();
    let foreseen = attack_knowing(&coin, &Draws::fixed(8));
    assert!(foreseen.iter().all(Result::is_ok), "all in the bucket are wrong alike");
    for seed in 9..30 {
        caught(attack_knowing(&coin, &Draws::fixed(seed)), 0, "a bucket of another coin");
    }
}

#[test]
fn what_is_received_looks_random_whatever_is_checked() {
    const COUNT: usize = 60_000;
    let world = world();
    let results = play(&world, &Draws::fixed(4), |session| {
        let mut unchecked = Unchecked::new(session.me(), Seats::IN_ORDER, rules());
        let zeros = vec![0_u8; COUNT];
        let zeros = zeros.as_slice();
        let results = (session.me() > 0).then_some([zeros; 2]);
        unchecked.note(Domain::Ring(Width::W8), zeros.len(), [zeros; 2], [zeros; 2], results);
        Ok(unchecked.check(session)?.collect::<Vec<_>>())
    });
    assert!(results.iter().all(Result::is_ok));
    let trace = world.trace();
    for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 1)] {
        for part in [step::CHECK_TRIPLES, step::CHECK_OPENED] {
            let mut seen = [0_u64; 256];
            let messages = trace.link(from, to).filter(|delivery| delivery.at.part == part);
            messages.flat_map(|delivery| &delivery.payload).for_each(|&byte| seen[usize::from(byte)] += 1);
            let total: u64 = seen.iter().sum();
            let expected = total as f64 / 256.0;
            let distance: f64 = seen.iter().map(|&n| (n as f64 - expected).powi(2) / expected).sum();
            // Chi-squared with 255 degrees of freedom passes 373 with a chance below 10^-6; other links carry nothing.
            assert!(total == 0 || distance < 373.0, "{from} to {to}, {part:x}: {distance}");
        }
    }
}
