//! Mistakes planted in oblivious transfer: each lets an attacker through whom the right form notices, or who learns nothing
//! there.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use tacit_kernel::gf128::Gf128;
use tacit_net::{AbortFlag, Event, Frame, Lane, Limits, Mesh, Transport};
use tacit_ot::planted::{Mistake, plant};
use tacit_ot::{Choices, Form, Ot, Params, Received, Request, Roles, Security, Sent, Sink, step};
use tacit_session::{Agreement, Error, Phase, Session};
use tacit_testkit::react::{Act, Attacker, reacting};
use tacit_testkit::{Draws, Fate, Interceptor, Links, World, in_threads, party_names};

/// One batch with these.
const COUNT: usize = 384;
const ROWS: usize = 512;

/// The usual height of trees, and all that are tried.
const USUAL: usize = 4;
const HEIGHTS: [usize; 4] = [1, 2, USUAL, 8];

fn params(height: usize) -> Params {
    let params = Params::new(height, Security::Malicious);
    params.and_then(|params| params.with_rows(ROWS)).expect("there are such batches")
}

/// What parties have: the sender both values, the receiver the choices and its values.
#[derive(Default)]
struct Had {
    sent: [Vec<u128>; 2],
    choices: Vec<u64>,
    values: Vec<u128>,
}

impl Sink for Had {
    fn sent(&mut self, ots: Sent<'_>) {
        self.sent[0].extend_from_slice(ots.zeros);
        self.sent[1].extend_from_slice(ots.ones);
    }

    fn received(&mut self, ots: Received<'_>) {
        self.choices.extend_from_slice(ots.choices);
        self.values.extend_from_slice(ots.values);
    }
}

impl Had {
    fn chose(&self, ot: usize) -> usize {
        (self.choices[ot / 64] >> (ot % 64) & 1) as usize
    }
}

/// `P0` is the sender and `P1` the receiver; mistakes are planted in both. `lane` is the run's, of two.
fn transfer(
    height: usize,
    links: Links,
    mistakes: &'static [Mistake],
    form: Form,
    lane: u16,
) -> [Result<Had, Error>; 2] {
    let sinks = Default::default();
    let [sender, receiver] = transfer_to(&sinks, height, links, mistakes, form, lane);
    let [sent, received] = sinks.map(|had| had.into_inner().expect("nobody panics"));
    [sender.map(|()| sent), receiver.map(|()| received)]
}

/// The same with sinks that outlive failures.
fn transfer_to(
    sinks: &[Mutex<Had>; 2],
    height: usize,
    links: Links,
    mistakes: &'static [Mistake],
    form: Form,
    lane: u16,
) -> [Result<(), Error>; 2] {
    let params = params(height);
    let agreement = Agreement::among(party_names(2), "ot", params.to_string());
    let party = |me: usize, links: Box<dyn Transport>| -> Result<(), Error> {
        plant(mistakes);
        let mesh = Mesh::new(links, me, agreement.parties.clone(), Limits::default());
        let mesh = mesh.in_lane(Lane { number: lane, count: 2 }, AbortFlag::default());
        let mut session = Session::establish(mesh, agreement.clone(), Draws::fixed(5).of(me))?;
        let roles = if me == 0 { Roles::Sender } else { Roles::Receiver };
        let mut ot = Ot::setup(&mut session, &[1 - me], roles, params, 0)?;
        session.mesh().set_phase(Phase::Offline);
        let request = Request { op: 1, count: COUNT, choices: Choices::Random, form };
        ot.extend(&mut session, &request, &mut *sinks[me].lock().expect("nobody panics"))?;
        session.close()
    };
    let mut had = in_threads(links, party).into_iter();
    [(); 2].map(|()| had.next().expect("two parties"))
}

fn in_world(
    height: usize,
    interceptor: Interceptor,
    mistakes: &'static [Mistake],
    form: Form,
) -> [Result<Had, Error>; 2] {
    let world = World::new(2, 0).intercept(interceptor);
    transfer(height, world.transports(), mistakes, form, 0)
}

fn is_rejected<T>(had: &[Result<T, Error>; 2]) -> bool {
    had.iter().any(|had| had.as_ref().is_err_and(Error::is_failed_check))
}

/// Alters one of the receiver's messages.
fn altering(part: u16, alter: impl Fn(&mut [u8]) + Send + 'static) -> Interceptor {
    Box::new(move |message| {
        let mut frame = message.frame.clone();
        if (message.from, frame.at.part) == (1, part) {
            alter(&mut frame.payload);
        }
        Fate::Replace(vec![frame])
    })
}

/// Where a tree's part of the columns begins; the first tree has none.
fn column_of(tree: usize) -> usize {
    (tree - 1) * ROWS / 8
}

/// The sender's block of a tree.
fn block(sender: &Had, height: usize, tree: usize) -> u128 {
    (sender.sent[0][0] ^ sender.sent[1][0]) >> (height * tree) & ((1 << height) - 1)
}

/// What the receiver finds out of the sender's secret from an OT whose choice it said differently to one tree: the block
/// by which its value isn't the sender's.
fn block_found([sender, receiver]: &[Had; 2], height: usize, ot: usize, tree: usize) -> Option<u128> {
    let theirs = sender.sent[receiver.chose(ot)][ot];
    (0..1 << height).find(|block| receiver.values[ot] ^ block << (height * tree) == theirs)
}

/// A tree after the first whose block isn't zero, or there'd be nothing to see: parties draw the same secrets each time.
fn tree_to_attack(height: usize) -> usize {
    let [sender, _] = in_world(height, Box::new(|_| Fate::Deliver), &[], Form::Correlated);
    let sender = sender.expect("nobody deviates");
    (3..128 / height).find(|&tree| block(&sender, height, tree) != 0).expect("the secret isn't that short")
}

#[test]
fn a_choice_that_differs_between_columns_tells_the_secret() {
    let ot = 77;
    for height in HEIGHTS {
        let tree = tree_to_attack(height);
        let attack = |mistakes| {
            let flip =
                altering(step::COLUMNS, move |columns| columns[column_of(tree) + ot / 8] ^= 1 << (ot % 8));
            in_world(height, flip, mistakes, Form::Correlated)
        };
        let had = attack(&[Mistake::ColumnsUnchecked]).map(|had| had.expect("nobody looks"));
        assert_eq!(block_found(&had, height, ot, tree), Some(block(&had[0], height, tree)), "k = {height}");
        assert!(is_rejected(&attack(&[])), "k = {height}");
    }
}

/// The receiver keeps its columns until it has the coin. Then it changes a choice for one tree, and that tree's sacrificed
/// rows so that the hash stays.
struct WaitsForCoin {
    ot: usize,
    tree: usize,
    columns: Option<(usize, Frame)>,
}

impl Attacker for WaitsForCoin {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        if frame.at.part == step::COLUMNS {
            self.columns = Some((to, frame));
        } else {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        if let Event::Frame(frame) = &event
            && frame.at.part == step::COIN
            && let Some((to, mut columns)) = self.columns.take()
        {
            let coin: [u8; 16] = frame.payload.as_slice().try_into().expect("a coin");
            let point = Gf128(u128::from_le_bytes(coin));
            let weight = (self.ot / 128 + 1..ROWS / 128).fold(Gf128::ONE, |power, _| power.times(point));
            let column = &mut columns.payload[column_of(self.tree)..][..ROWS / 8];
            column[self.ot / 8] ^= 1 << (self.ot % 8);
            let change = weight.times(Gf128(1 << (self.ot % 128)));
            let last = column.len() - 16;
            column[last..].iter_mut().zip(change.0.to_le_bytes()).for_each(|(byte, change)| *byte ^= change);
            act.send(to, columns);
        }
        act.hear(from, event);
    }
}

#[test]
fn a_coin_before_the_last_column_lets_columns_fit_it() {
    let ot = 200;
    for height in HEIGHTS {
        let tree = tree_to_attack(height);
        let attack = |mistakes| {
            let world = World::new(2, 0);
            let mut links = world.transports();
            let corrupt = links[1].take().expect("it has links");
            links[1] = Some(reacting(corrupt, Box::new(WaitsForCoin { ot, tree, columns: None })));
            transfer(height, links, mistakes, Form::Correlated, 0)
        };
        let had = attack(&[Mistake::CoinEarly]).map(|had| had.expect("the hashes fit"));
        assert_eq!(block_found(&had, height, ot, tree), Some(block(&had[0], height, tree)), "k = {height}");
        // The right sender waits for the columns, and its coin is never seen.
        let [sender, _] = attack(&[]);
        assert!(sender.is_err(), "k = {height}");
    }
}

#[test]
fn ots_that_leave_early_are_there_in_spite_of_a_failed_check() {
    let sent = |mistakes| {
        let spoil = altering(step::COLUMNS, |columns| columns.iter_mut().for_each(|byte| *byte = !*byte));
        let world = World::new(2, 0).intercept(spoil);
        let sinks: [Mutex<Had>; 2] = Default::default();
        let had = transfer_to(&sinks, USUAL, world.transports(), mistakes, Form::Random, 0);
        assert!(is_rejected(&had));
        sinks[0].lock().expect("nobody panics").sent[0].len()
    };
    assert_eq!(sent(&[Mistake::HandedOutEarly]), COUNT);
    assert_eq!(sent(&[]), 0);
}

/// Sums of a tree's second level that are both wrong: the sender's leaves are, whatever it misses.
#[test]
fn trees_that_are_not_are_noticed_by_their_digest() {
    let attack = |height, mistakes| {
        let mut alter = altering(step::TREES, |trees| {
            trees[3] ^= 1;
            trees[16 + 3] ^= 1;
        });
        let parts = Arc::new(Mutex::new(HashSet::new()));
        let seen = Arc::clone(&parts);
        let watching: Interceptor = Box::new(move |message| {
            seen.lock().expect("nobody panics").insert(message.frame.at.part);
            alter(message)
        });
        let had = in_world(height, watching, mistakes, Form::Random);
        let extended = parts.lock().expect("nobody panics").contains(&step::COIN);
        (is_rejected(&had), extended)
    };
    for height in HEIGHTS.into_iter().filter(|height| *height > 1) {
        // With the mistake the extension goes on with leaves that aren't.
        assert_eq!(attack(height, &[Mistake::TreesUnchecked]), (true, true), "k = {height}");
        assert_eq!(attack(height, &[]), (true, false), "k = {height}");
    }
}

/// One side's sum is wrong: whether that is noticed depends on a bit of the secret. The right form ends the run at the
/// setup for about half of all secrets, before anything is made; all others aren't harmed.
#[test]
fn a_guess_of_a_bit_is_right_or_ends_the_setup() {
    for (height, trees) in [(2, 16), (USUAL, 32), (8, 16)] {
        let [mut ended, mut fine] = [0; 2];
        for tree in 0..trees {
            // Each tree has two sums for each level after the first, and the sum of checks.
            let at = tree * (32 * (height - 1) + 32);
            let alter = altering(step::TREES, move |trees| trees[at] ^= 1);
            let had = in_world(height, alter, &[], Form::Random);
            if is_rejected(&had) {
                ended += 1;
                continue;
            }
            fine += 1;
            let [sender, receiver] = had.map(|had| had.expect("nobody notices"));
            assert!((0..COUNT).all(|ot| receiver.values[ot] == sender.sent[receiver.chose(ot)][ot]));
        }
        assert!(ended >= trees / 5 && fine >= trees / 5, "k = {height}: {ended} ended, {fine} fine");
    }
}

/// The same randomness in two lanes: nothing of theirs is the same, for everything depends on the lane.
#[test]
fn lanes_of_equal_randomness_have_equal_ots_only_if_nothing_is_bound_to_them() {
    let in_lane = |lane, mistakes| {
        let world = World::new(2, 0);
        let [sender, _] = transfer(USUAL, world.transports(), mistakes, Form::Random, lane);
        sender.expect("nobody deviates").sent
    };
    let unbound = &[Mistake::ContextUnbound];
    assert_eq!(in_lane(0, unbound), in_lane(1, unbound));
    let [first, second] = [in_lane(0, &[]), in_lane(1, &[])];
    let values: HashSet<u128> = first.concat().into_iter().collect();
    assert!(second.concat().iter().all(|value| !values.contains(value)));
}

#[test]
fn without_a_difference_a_receiver_has_both_values() {
    let both_known = |mistakes| {
        let had = in_world(USUAL, Box::new(|_| Fate::Deliver), mistakes, Form::Random);
        let [sender, _] = had.map(|had| had.expect("fine"));
        sender.sent[0].iter().zip(&sender.sent[1]).filter(|(zero, one)| zero == one).count()
    };
    assert_eq!(both_known(&[Mistake::ZeroDelta]), COUNT);
    assert_eq!(both_known(&[]), 0);
}
