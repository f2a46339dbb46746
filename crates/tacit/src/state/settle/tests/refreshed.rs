//! Fresh shares again and again, where runs of them break off and a party lies.

use super::*;
use crate::play_refresh;
use crate::state::agree::MAX_JUMP;
use crate::state::values::MAX_VERSIONS;
use tacit_net::{Limits, Mesh};
use tacit_testkit::{Deviation, World as Links, in_threads};

impl World {
    /// Fresh shares of `x`, over these links; whether all have them.
    fn refresh_over(&mut self, links: &Links) -> bool {
        let protocol = crate::protocol(&self.local.protocol).unwrap();
        let parties = self.local.parties.clone();
        let states: Vec<_> = std::mem::take(&mut self.states).into_iter().map(Mutex::new).collect();
        let ended = in_threads(links.transports(), |me, transport| {
            let mesh = Mesh::new(transport, me, parties.clone(), Limits::default());
            play_refresh(&*protocol, &parties, mesh, "x", &mut at(&states[me]), None)
        });
        self.states = states.into_iter().map(|state| state.into_inner().unwrap()).collect();
        ended.iter().all(Result::is_ok)
    }

    /// The same where the third party leaves before this message of its to another.
    fn broken_off(&mut self, to: usize, nth: usize) -> bool {
        self.refresh_over(&Links::new(3, 0).intercept(Deviation::Death.at(2, to, nth)))
    }

    fn refresh(&mut self) -> Result<String, Error> {
        self.local.refresh(&mut self.states, "x")
    }

    fn last(&self, party: usize) -> u64 {
        self.states[party].names["x"].last
    }

    /// How many versions of `x` of this standing a party's index has.
    fn count(&self, party: usize, standing: Standing) -> usize {
        self.states[party].names["x"].versions.values().filter(|one| one.standing == standing).count()
    }
}

/// Messages of the third party to each of the others while nobody deviates.
fn messages() -> usize {
    let links = Links::new(3, 0);
    assert!(World::new(&["x"], &[1]).refresh_over(&links));
    let counts = [0, 1].map(|to| links.trace().link(2, to).count());
    counts[0].max(counts[1])
}

/// What a party may tell of its count where the others count from `least` to `most`.
fn lies([least, most]: [u64; 2]) -> [u64; 7] {
    [0, least, most, most + 1, least + MAX_JUMP - 1, least + MAX_JUMP, u64::MAX]
}

/// The third party lies of its count in every way, and breaks the run off at every message. The others stay near enough, and once
/// it does neither the name has its next version.
#[test]
fn nobody_brings_the_counts_of_others_too_far_apart() {
    let messages = messages();
    let mut at_bound = 0;
    for (lie, to, nth) in
        (0..7).flat_map(|lie| (0..2).flat_map(move |to| (0..messages).map(move |nth| (lie, to, nth))))
    {
        at_bound += usize::from(is_whole_after(&[(lie, to, nth)]));
    }
    assert!(at_bound > 0, "some run leaves them as far apart as may be");
    // One such run after another.
    let mut drawn = 1_u64;
    let mut draw = |below: usize| {
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (drawn >> 33) as usize % below
    };
    for _ in 0..20 {
        let attacks: Vec<_> = (0..6).map(|_| (draw(7), draw(2), draw(messages))).collect();
        is_whole_after(&attacks);
    }
}

/// Whether counts were as far apart after such lies as they may be, each in a run that breaks off at such a message.
fn is_whole_after(attacks: &[(usize, usize, usize)]) -> bool {
    let mut world = World::new(&["x"], &[5]);
    let mut is_at_bound = false;
    for &(lie, to, nth) in attacks {
        let before = [world.last(0), world.last(1)];
        let (least, most) = (before[0].min(before[1]), before[0].max(before[1]));
        world.states[2].names.get_mut("x").unwrap().last = lies([least, most])[lie];
        world.broken_off(to, nth);
        let after = [world.last(0), world.last(1)];
        assert!(after[0] >= before[0] && after[1] >= before[1], "{attacks:?}: {before:?}, {after:?}");
        assert!(after[0].max(after[1]) <= most + MAX_JUMP, "{attacks:?}: {before:?}, {after:?}");
        let apart = after[0].abs_diff(after[1]);
        assert!(apart <= MAX_JUMP, "{attacks:?}: {after:?}");
        is_at_bound |= apart == MAX_JUMP;
        // What it told isn't what its folder says. The others have theirs there.
        world.restarts(0..3);
        assert_eq!([world.last(0), world.last(1)], after, "{attacks:?}");
    }
    let fresh = (0..3).find_map(|_| world.refresh().ok());
    assert_eq!(fresh, Some(format!("x@{}", world.last(0))), "{attacks:?}");
    assert_eq!(world.read("x"), Ok(number(5)), "{attacks:?}");
    is_at_bound
}

/// A name that nobody knew of is kept under a number that nobody has had; and programs' counts are brought nearer, too.
#[test]
fn what_is_kept_first_goes_on_after_a_lie() {
    let mut world = World::new(&["x"], &[5]);
    for state in &mut world.states {
        *state = State::new();
    }
    world.states[2].names.entry("x".to_owned()).or_default().last = MAX_JUMP;
    let refused = world.run(&keeper(&["x"]), &[number(6)]).map(drop).unwrap_err().to_string();
    assert!(refused.contains("too far apart"), "{refused}");
    world.states[2] = State::new();
    assert!(world.run(&keeper(&["x"]), &[number(6)]).is_err());
    assert_eq!(
        world.run(&keeper(&["x"]), &[number(6)]).unwrap().report.kept,
        [format!("x@{}", MAX_JUMP + 1)]
    );
    assert_eq!(world.read("x"), Ok(number(6)));
}

/// A name that gets fresh shares again and again has a short entry in the index, and an old copy of a folder is noticed as ever.
#[test]
fn fresh_shares_leave_two_dropped_versions() {
    let mut world = World::new(&["x"], &[5]);
    let old = tempfile::tempdir().unwrap();
    let file = old.path().join("old");
    for version in 2..9 {
        assert_eq!(world.refresh().unwrap(), format!("x@{version}"));
        if version == 3 {
            world.states[1].export(&file).unwrap();
        }
        world.restarts([version as usize % 3]);
        for party in 0..3 {
            assert_eq!(world.count(party, Standing::Settled), 1);
            assert_eq!(world.count(party, Standing::Dropped), 2.min(version as usize - 1));
        }
    }
    world.states[1] = State::import(&file, &old.path().join("P1"), None).unwrap();
    let refused = world.read("x").unwrap_err();
    assert!(refused.contains("P1 lacks x@8, which others have"), "{refused}");
    assert!(world.refresh().unwrap_err().to_string().contains("P1 lacks x@8"));
    // Nor where the others have dropped all.
    for party in [0, 2] {
        world.states[party].drop_value("x").unwrap();
    }
    let refused = world.read("x").unwrap_err();
    assert!(refused.contains("P0, P2 lacks x@3, which others have"), "{refused}");
    world.run(&keeper(&["x"]), &[number(6)]).map(drop).unwrap_err();
}

/// Each time all have put their fresh shares away, but one that leaves: nobody settles them.
#[test]
fn what_runs_leave_that_break_off_does_not_pile_up() {
    let messages = messages();
    let mut left = 0;
    for nth in 0..messages {
        let mut world = World::new(&["x"], &[5]);
        for _ in 0..4 {
            if world.broken_off(1, nth) {
                continue;
            }
            for party in 0..2 {
                let [pending, dropped] =
                    [Standing::Pending, Standing::Dropped].map(|standing| world.count(party, standing));
                assert!(pending <= 1 && dropped <= 4, "{nth}: {pending} pending, {dropped} dropped");
                left += pending;
            }
        }
        world.restarts(0..3);
        world.refresh().unwrap();
        assert_eq!([0, 1, 2].map(|party| world.count(party, Standing::Pending)), [0; 3]);
        assert_eq!(world.read("x"), Ok(number(5)));
    }
    assert!(left > 3, "{left}");
}

/// As many versions as a name may have are left of runs that broke off: the next one strikes the last of them off, and goes on.
#[test]
fn what_runs_left_refuses_no_name() {
    let left = |world: &mut World| {
        let made = (2..=MAX_VERSIONS as u64).flat_map(|version| made(&world.states[0], &["x"], version));
        let made: Vec<_> = made.collect();
        world.states[0].put(made).unwrap();
        assert!(world.states[0].admit("x").unwrap_err().to_string().contains("1000 versions of x are kept"));
    };
    let mut world = World::new(&["x"], &[5]);
    left(&mut world);
    assert_eq!(world.run(&keeper(&["x"]), &[number(6)]).unwrap().report.kept, ["x@1001"]);
    assert_eq!(world.read("x"), Ok(number(6)));
    let mut world = World::new(&["x"], &[5]);
    left(&mut world);
    assert_eq!(world.refresh().unwrap(), "x@1001");
    assert_eq!(world.read("x"), Ok(number(5)));
}

/// The second version is pending at two parties, and a run that read it from all may be about to settle it at one: it isn't struck
/// off. Afterwards it is, and who lacks it puts it away no more.
#[test]
fn what_some_party_may_be_about_to_settle_is_not_struck_off() {
    let mut world = World::new(&["x"], &[1]);
    world.torn(&["x"], &[1], 2, &[0, 1]);
    let homes: Vec<_> = world.states.drain(..).map(|state| Arc::new(Mutex::new(state))).collect();
    let apart = |home: &Arc<Mutex<State>>| State::apart_of(home, "x").unwrap();
    let second = [("x".to_owned(), 2)];
    let mut reads = apart(&homes[1]);
    reads.claim(&second, &Passable::new()).unwrap();
    world.states = homes.iter().map(apart).collect();
    let refused = world.refresh().unwrap_err().to_string();
    assert!(refused.contains("another run is about to settle x@2"), "{refused}");
    for home in &homes[..2] {
        assert_eq!(at(home).version("x", 2).unwrap().standing, Standing::Pending);
    }
    drop(reads);
    // One that began before that may go on at another party where it didn't know of the run.
    assert!(world.refresh().unwrap_err().to_string().contains("another run is about to settle x@2"));
    world.states = homes.iter().map(apart).collect();
    assert_eq!(world.refresh().unwrap(), "x@3");
    for home in &homes[..2] {
        assert_eq!(at(home).version("x", 2).unwrap().standing, Standing::Dropped);
    }
    assert_eq!(world.read("x"), Ok(number(1)));
}

/// Between what was told and the claim something was settled, or put away.
#[test]
fn what_has_changed_since_it_was_told_is_not_struck_off() {
    let mut world = World::new(&["x"], &[1]);
    world.torn(&["x"], &[1], 2, &[0, 1, 2]);
    let state = &mut world.states[0];
    state.claim_over("x", 1, 3).unwrap();
    state.claim_over("x", 1, 2).unwrap_err();
    // Who lacks the third, of a run that is still under way here, puts it away no more.
    state.raise("x", 3).unwrap();
    assert_eq!(state.list().len(), 2, "what there never was isn't listed");
    let late = Made { after: Some(1), ..made(state, &["x"], 3).swap_remove(0) };
    assert!(state.put(vec![late]).unwrap_err().to_string().contains("another run has kept x@3 meanwhile"));
    state.settle("x", 2, &Passable::new()).unwrap();
    state.claim_over("x", 1, 4).unwrap_err();
    state.strike("x", &[2].into()).unwrap();
    assert_eq!(state.version("x", 2).unwrap().standing, Standing::Settled);
}

/// A run reads a version that it found settled, and that another party told pending: it has been replaced so often meanwhile that
/// nothing is known of it.
#[test]
fn what_was_settled_as_a_run_began_is_read_however_often_it_was_replaced() {
    let mut world = World::new(&["x"], &[1]);
    let homes: Vec<_> = world.states.drain(..).map(|state| Arc::new(Mutex::new(state))).collect();
    let mut reads = State::apart(&homes[0], reader("x").program(), &Fill::new()).unwrap();
    for _ in 0..4 {
        world.states = homes.iter().map(|home| State::apart_of(home, "x").unwrap()).collect();
        world.refresh().unwrap();
    }
    assert!(at(&homes[0]).version("x", 1).is_none());
    reads.claim(&[("x".to_owned(), 1)], &Passable::new()).unwrap();
    reads.settle("x", 1, &Passable::new()).unwrap();
}

/// A run that keeps something began with a version that was dropped so long ago that nothing is known of it.
#[test]
fn nothing_follows_what_is_forgotten() {
    let mut world = World::new(&["x"], &[1]);
    let late = made(&world.states[0], &["x"], 40);
    for _ in 0..4 {
        world.refresh().unwrap();
    }
    let state = &mut world.states[0];
    state.drop_value("x").unwrap();
    assert!(state.version("x", 1).is_none());
    let refused = state.put(late).unwrap_err().to_string();
    assert!(refused.contains("x@1, which x@40 is to follow, was dropped meanwhile"), "{refused}");
}
