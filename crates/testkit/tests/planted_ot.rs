//! Mistakes planted in oblivious transfer: each lets an attacker through whom the right form notices, or who learns nothing
//! there.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use tacit_kernel::gf128::Gf128;
use tacit_net::{AbortFlag, Event, Frame, Lane, Limits, Mesh, Transport};
use tacit_ot::planted::{Mistake, plant};
use tacit_ot::{Choices, Form, Ot, Params, Received, Request, Roles, Sent, Sink, step};
use tacit_session::{Agreement, Error, Phase, Session};
use tacit_testkit::react::{Act, Attacker, reacting};
use tacit_testkit::{Draws, Fate, Interceptor, Links, World, in_threads, party_names};

/// One batch with these.
const COUNT: usize = 384;
const ROWS: usize = 512;
const TREES: usize = 32;

fn params() -> Params {
    Params::DEFAULT.with_rows(ROWS).expect("there are such batches")
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
fn transfer(links: Links, mistakes: &'static [Mistake], form: Form, lane: u16) -> [Result<Had, Error>; 2] {
    let sinks = Default::default();
    let [sender, receiver] = transfer_to(&sinks, links, mistakes, form, lane);
    let [sent, received] = sinks.map(|had| had.into_inner().expect("nobody panics"));
    [sender.map(|()| sent), receiver.map(|()| received)]
}

/// The same with sinks that outlive failures.
fn transfer_to(
    sinks: &[Mutex<Had>; 2],
    links: Links,
    mistakes: &'static [Mistake],
    form: Form,
    lane: u16,
) -> [Result<(), Error>; 2] {
    let agreement = Agreement::among(party_names(2), "ot", params().to_string());
    let party = |me: usize, links: Box<dyn Transport>| -> Result<(), Error> {
        plant(mistakes);
        let mesh = Mesh::new(links, me, agreement.parties.clone(), Limits::default());
        let mesh = mesh.in_lane(Lane { number: lane, count: 2 }, AbortFlag::default());
        let mut session = Session::establish(mesh, agreement.clone(), Draws::fixed(5).of(me))?;
        let roles = if me == 0 { Roles::Sender } else { Roles::Receiver };
        let mut ot = Ot::setup(&mut session, &[1 - me], roles, params(), 0)?;
        session.mesh().set_phase(Phase::Offline);
        let request = Request { op: 1, count: COUNT, choices: Choices::Random, form };
        ot.extend(&mut session, &request, &mut *sinks[me].lock().expect("nobody panics"))?;
        session.close()
    };
    let mut had = in_threads(links, party).into_iter();
    [(); 2].map(|()| had.next().expect("two parties"))
}

fn in_world(world: &World, mistakes: &'static [Mistake], form: Form) -> [Result<Had, Error>; 2] {
    transfer(world.transports(), mistakes, form, 0)
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

/// What the receiver finds out of the sender's secret from an OT whose choice it said differently to one tree: the four
/// bits by which its value isn't the sender's.
fn block_found(sender: &Had, receiver: &Had, ot: usize, tree: usize) -> Option<u128> {
    let theirs = sender.sent[receiver.chose(ot)][ot];
    (0..16).find(|block| receiver.values[ot] ^ block << (4 * tree) == theirs)
}

#[test]
fn a_choice_that_differs_between_columns_tells_the_secret() {
    let (ot, tree) = (77, 9);
    let attack = |mistakes| {
        let flip = altering(step::COLUMNS, move |columns| columns[column_of(tree) + ot / 8] ^= 1 << (ot % 8));
        in_world(&World::new(2, 0).intercept(flip), mistakes, Form::Correlated)
    };
    let [sender, receiver] = attack(&[Mistake::ColumnsUnchecked]).map(|had| had.expect("nobody looks"));
    let delta = sender.sent[0][0] ^ sender.sent[1][0];
    assert_eq!(block_found(&sender, &receiver, ot, tree), Some(delta >> (4 * tree) & 15));
    assert_ne!(delta >> (4 * tree) & 15, 0, "or there'd be nothing to see");
    assert!(is_rejected(&attack(&[])));
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
    let (ot, tree) = (200, 4);
    let attack = |mistakes| {
        let world = World::new(2, 0);
        let mut links = world.transports();
        let corrupt = links[1].take().expect("it has links");
        links[1] = Some(reacting(corrupt, Box::new(WaitsForCoin { ot, tree, columns: None })));
        transfer(links, mistakes, Form::Correlated, 0)
    };
    let [sender, receiver] = attack(&[Mistake::CoinEarly]).map(|had| had.expect("the hashes fit"));
    let delta = sender.sent[0][0] ^ sender.sent[1][0];
    assert_eq!(block_found(&sender, &receiver, ot, tree), Some(delta >> (4 * tree) & 15));
    assert_ne!(delta >> (4 * tree) & 15, 0, "or there'd be nothing to see");
    // The right sender waits for the columns, and its coin is never seen.
    let [sender, _] = attack(&[]);
    assert!(sender.is_err());
}

#[test]
fn ots_that_leave_early_are_there_in_spite_of_a_failed_check() {
    let sent = |mistakes| {
        let spoil = altering(step::COLUMNS, |columns| columns.iter_mut().for_each(|byte| *byte = !*byte));
        let world = World::new(2, 0).intercept(spoil);
        let sinks: [Mutex<Had>; 2] = Default::default();
        assert!(is_rejected(&transfer_to(&sinks, world.transports(), mistakes, Form::Random, 0)));
        sinks[0].lock().expect("nobody panics").sent[0].len()
    };
    assert_eq!(sent(&[Mistake::HandedOutEarly]), COUNT);
    assert_eq!(sent(&[]), 0);
}

/// Sums of a tree's second level that are both wrong: the sender's leaves are, whatever it misses.
#[test]
fn trees_that_are_not_are_noticed_by_their_digest() {
    let attack = |mistakes| {
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
        let had = in_world(&World::new(2, 0).intercept(watching), mistakes, Form::Random);
        let extended = parts.lock().expect("nobody panics").contains(&step::COIN);
        (is_rejected(&had), extended)
    };
    // With the mistake the extension goes on with leaves that aren't.
    assert_eq!(attack(&[Mistake::TreesUnchecked]), (true, true));
    assert_eq!(attack(&[]), (true, false));
}

/// One side's sum is wrong: whether that is noticed depends on a bit of the secret. The right form ends the run at the
/// setup for about half of all secrets, before anything is made; all others aren't harmed.
#[test]
fn a_guess_of_a_bit_is_right_or_ends_the_setup() {
    let [mut ended, mut fine] = [0; 2];
    for tree in 0..TREES {
        // A tree of height 4: three levels of two sums, and the sum of checks.
        let at = tree * (3 * 32 + 32);
        let alter = altering(step::TREES, move |trees| trees[at] ^= 1);
        let had = in_world(&World::new(2, 0).intercept(alter), &[], Form::Random);
        if is_rejected(&had) {
            ended += 1;
            continue;
        }
        fine += 1;
        let [sender, receiver] = had.map(|had| had.expect("nobody notices"));
        assert!((0..COUNT).all(|ot| receiver.values[ot] == sender.sent[receiver.chose(ot)][ot]));
    }
    assert!(ended >= 6 && fine >= 6, "{ended} ended, {fine} fine");
}

/// The same randomness in two lanes: nothing of theirs is the same, for everything depends on the lane.
#[test]
fn lanes_of_equal_randomness_have_equal_ots_only_if_nothing_is_bound_to_them() {
    let in_lane = |lane, mistakes| {
        let world = World::new(2, 0);
        let [sender, _] = transfer(world.transports(), mistakes, Form::Random, lane);
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
        let [sender, _] = in_world(&World::new(2, 0), mistakes, Form::Random).map(|had| had.expect("fine"));
        sender.sent[0].iter().zip(&sender.sent[1]).filter(|(zero, one)| zero == one).count()
    };
    assert_eq!(both_known(&[Mistake::ZeroDelta]), COUNT);
    assert_eq!(both_known(&[]), 0);
}
