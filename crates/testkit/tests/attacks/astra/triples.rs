//! On the check of what is made offline.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tacit_astra::Astra;
use tacit_astra::attackers::bucket;
use tacit_astra::planted::{Mistake, Told, coin_alike};
use tacit_astra::step;
use tacit_net::{Event, Frame, FrameKind};
use tacit_testkit::react::{Act, Attacker, reacting};
use tacit_testkit::{Case, Draws};

use super::{
    Does, OFFLINE_OPERATION, Seen, ands, bit, changes, delivered, held, mistaken, mistakes, products, told,
    wrong_outputs,
};
use crate::table::{Outcome, Version};

/// Products of a batch, and the one that `P_0` makes wrong.
const PRODUCTS: usize = 40;
const VICTIM: usize = 7;

/// What parties put into a coin, by party: as it is sent in openings.
type Values = BTreeMap<usize, Vec<u8>>;

/// A session's first coin, from its identity and what all three put into it.
fn coin(id: &[u8], values: &Values) -> [u8; 16] {
    let mut hash = Sha256::new_with_prefix(b"tacit coin 1");
    hash.update(id);
    hash.update(0_u32.to_le_bytes());
    for value in values.values() {
        hash.update(&value[..32]);
    }
    let mut coin = [0; 16];
    let expanded = hkdf::Hkdf::<Sha256>::new(None, &hash.finalize()).expand(b"coins", &mut coin);
    expanded.expect("16 bytes are within the limit");
    coin
}

/// Adds 2^63 to the triples at these places.
fn spoil(frame: &mut Frame, triples: &[u32]) {
    for &triple in triples {
        frame.payload[8 * triple as usize + 7] ^= 0x80;
    }
}

/// `P_0` makes a product wrong by 2^63 and withholds its part of the triples from `P_2`, and all that follows there, until it
/// knows the coin; then it makes those triples wrong alike that come to lie in the product's bucket.
struct Withholds {
    /// The coin, if it is known: from what `P_0` was told inside, and all parties' values.
    coin: Box<dyn Fn() -> Option<[u8; 16]> + Send>,
    lanes: u16,
    values: Seen<Values>,
    held: VecDeque<Frame>,
    wakes: Option<Duration>,
}

impl Withholds {
    fn release(&mut self, act: &mut Act<'_>) {
        let Some(coin) = (self.coin)() else { return };
        self.wakes = None;
        let triples = bucket(&coin, (0, PRODUCTS), VICTIM, self.lanes);
        for mut frame in self.held.drain(..) {
            if frame.at.part == step::CHECK_TRIPLES {
                spoil(&mut frame, &triples);
            }
            act.send(2, frame);
        }
    }

    fn note(&self, party: usize, frame: &Frame) {
        if frame.kind == FrameKind::Data && frame.at.part == step::COIN_OPEN {
            let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
            values.insert(party, frame.payload.clone());
        }
    }
}

impl Attacker for Withholds {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        self.note(0, &frame);
        if frame.kind != FrameKind::Data || to != 2 {
            return act.send(to, frame);
        }
        if frame.at.part == OFFLINE_OPERATION {
            frame.payload[8 * VICTIM + 7] ^= 0x80;
        }
        if frame.at.part == step::CHECK_TRIPLES || !self.held.is_empty() {
            self.held.push_back(frame);
            self.wakes.get_or_insert(act.now());
            self.release(act);
        } else {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        if let Event::Frame(frame) = &event {
            self.note(from, frame);
        }
        act.hear(from, event);
        self.release(act);
    }

    fn wakes(&self) -> Option<Duration> {
        self.wakes.filter(|_| !self.held.is_empty())
    }

    fn woken(&mut self, act: &mut Act<'_>) {
        self.wakes = Some(act.now() + Duration::from_millis(20));
        self.release(act);
    }
}

pub(super) fn withheld(version: Version, seed: u64) -> Outcome {
    let mistakes = mistakes(version, &[Mistake::CoinBeforeTriples]);
    let inside = Told::default();
    let tells = Arc::clone(&inside);
    let protocol =
        super::protocol(&Astra::MALICIOUS, move |_| mistakes, move |me| (me == 0).then(|| tells.clone()));
    let case = products(protocol, PRODUCTS);
    let values: Seen<Values> = Seen::default();
    let (known, id) = (Arc::clone(&values), Arc::clone(&inside));
    let coin = move || {
        let values = known.lock().unwrap_or_else(PoisonError::into_inner);
        (values.len() == 3).then(|| coin(&told(&id, step::HELLO).expect("P_0 knows its session"), &values))
    };
    let attacker = Withholds { coin: Box::new(coin), lanes: 1, values, held: VecDeque::new(), wakes: None };
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), 0, Box::new(attacker));
    wrong_outputs(&case, &run.endings, 0)
}

/// Two lanes of a run. `P_0` lets the first one go on, notes its coin, and withholds its part of the second one's triples until
/// then; the first has revealed its outputs long before.
pub(super) fn stalled_lane(version: Version, seed: u64) -> Outcome {
    let case = products(mistaken(mistakes(version, &[Mistake::CoinOfAllLanes])), PRODUCTS);
    let world = case.world_in_lanes(2);
    let mut links = [world.transports_in(0), world.transports_in(1)];
    let values: Seen<Values> = Seen::default();
    let (own, others) = (Arc::clone(&values), Arc::clone(&values));
    let note = |values: &Seen<Values>, party, frame: &Frame| {
        if frame.at.part == step::COIN_OPEN {
            values.lock().unwrap_or_else(PoisonError::into_inner).insert(party, frame.payload.clone());
        }
    };
    let sends = move |to, frame: Frame, act: &mut Act<'_>| {
        note(&own, 0, &frame);
        act.send(to, frame);
    };
    let watches = Does::boxed(sends, move |from, frame: &Frame| note(&others, from, frame));
    let coin = move || {
        let values = values.lock().unwrap_or_else(PoisonError::into_inner);
        let opened: Vec<Vec<u8>> = values.values().map(|value| value[..32].to_vec()).collect();
        (values.len() == 3).then(|| coin_alike(&opened))
    };
    let stalls = Box::new(Withholds {
        coin: Box::new(coin),
        lanes: 2,
        values: Seen::default(),
        held: VecDeque::new(),
        wakes: None,
    });
    for (links, attacker) in links.iter_mut().zip([watches, stalls]) {
        links[0] = links[0].take().map(|links| reacting(links, attacker));
    }
    let draws = [Draws::fixed(2 * seed), Draws::fixed(2 * seed + 1)];
    let lanes = case.run_over_lanes(links.into(), &draws);
    if lanes[0][1].as_ref().is_none_or(|ending| ending.result.is_err()) && version == Version::Planted {
        return Outcome::Held("the first lane revealed nothing".to_owned());
    }
    wrong_outputs(&case, &lanes[1], 0)
}

/// `P_0` makes one of many products wrong: in the first, a middle or the last batch of 64, which isn't full.
pub(super) fn beyond_a_batch(version: Version, seed: u64) -> Outcome {
    const MISTAKES: &[Mistake] = &[Mistake::SmallBatches, Mistake::LaterBatchesPass];
    let mistakes = if version == Version::Planted { MISTAKES } else { &MISTAKES[..1] };
    let wrong = [5, 70, 149][seed as usize % 3];
    one_wrong(&ands(mistaken(mistakes), &[1; 150], &[1; 150]), seed, wrong)
}

/// The same in a batch as large as they are, and the one behind it.
pub(super) fn beyond_a_whole_batch(version: Version, seed: u64) -> Outcome {
    let count = (1 << 20) + 50;
    let ones = vec![1; count];
    let case = ands(mistaken(mistakes(version, &[Mistake::LaterBatchesPass])), &ones, &ones);
    one_wrong(&case, seed, count - 1)
}

/// `P_0` makes this AND wrong.
fn one_wrong(case: &Case, seed: u64, wrong: usize) -> Outcome {
    let mut first = 0;
    let attacker = changes(move |to, frame| {
        if (to, frame.at.part) == (2, OFFLINE_OPERATION) {
            let bits = 8 * frame.payload.len();
            if (first..first + bits).contains(&wrong) {
                frame.payload[(wrong - first) / 8] ^= 1 << (wrong % 8);
            }
            first += bits;
        }
    });
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), 0, attacker);
    wrong_outputs(case, &run.endings, 0)
}

/// Nothing notes products of numbers, and `P_0` makes one wrong.
pub(super) fn unnoted_products(version: Version, seed: u64) -> Outcome {
    let mistakes = mistakes(version, &[Mistake::PathUnnoted, Mistake::CountsOfLog]);
    let case = products(mistaken(mistakes), PRODUCTS);
    let attacker = changes(|to, frame| {
        if (to, frame.at.part) == (2, OFFLINE_OPERATION) {
            frame.payload[8 * VICTIM] ^= 1;
        }
    });
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), 0, attacker);
    wrong_outputs(&case, &run.endings, 0)
}

/// `P_1` opens `rho_0 + 1` to `P_0`, of the product's first triple `(d, e, f)`. What has to be zero is then off by `e_2` at
/// `P_0`, and so it passes once in a few times; when it does, `P_1` knows `e_2`, and with `sigma_2 = y_2 - e_2`, which `P_0`
/// opened, the mask of `y`. All goes on as if nothing was, and `P_1` has `P_2`'s input.
pub(super) fn undigested(version: Version, seed: u64) -> Outcome {
    let y = seed & 1;
    let case = ands(mistaken(mistakes(version, &[Mistake::DifferencesUndigested])), &[1], &[y]);
    let mut done = false;
    let attacker = changes(move |to, frame| {
        if (to, frame.at.part) == (0, step::CHECK_OPENED) && !std::mem::replace(&mut done, true) {
            frame.payload[0] ^= 1;
        }
    });
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), 1, attacker);
    if run.endings[2].as_ref().is_none_or(|ending| ending.result.is_err()) {
        return held(&run, 2);
    }
    // Behind the byte of rho_2.
    let sigma = bit(&delivered(&run, 0, 1, step::CHECK_OPENED, 0), 8);
    let masked = bit(&delivered(&run, 2, 1, step::INPUT, 1), 0);
    if masked ^ sigma == y {
        return Outcome::Broken("the run ends well, and P1 knows an input of P2".to_owned());
    }
    Outcome::Held("the run ends well, and P1 is wrong about P2's input".to_owned())
}
