//! `astra-fair`: one party that wants the outputs alone. Nearly all of them go by the clock: fairness rests on who waits for
//! how long.
//!
//! Roles are rotated by the seed. Whoever attacks runs the protocol's own code, and withholds, delays and alters what that
//! sends to each other party. It has the outputs once it has been sent a piece of what it lacks: whatever happens
//! afterwards can't take that back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tacit_astra::Astra;
use tacit_astra::planted::{Mistake, plant};
use tacit_astra::step;
use tacit_engine::executor::{Unobserved, run_party};
use tacit_engine::{Clear, Error};
use tacit_net::{At, Event, Frame, FrameKind, Mesh, Transport};
use tacit_program::{Builder, Dtype, Range, Recipient};
use tacit_session::Session;
use tacit_testkit::react::{Act, Attacker};
use tacit_testkit::{Altered, Case, Draws, Fate, Run, World, in_threads, with_parameters};

use super::table::{Attack, Outcome, Version};

/// All of them.
pub(crate) fn attacks() -> Vec<Attack> {
    vec![
        attack("P0 waits for longer than P2, and P1 doesn't commit", longer_waits_of_first),
        attack("P2 waits for longer than P1, and P0 aborts between", longer_waits_of_evaluator),
        attack("P1 is never done, and P0's clock stands still", clock_of_first),
        attack("P0 gives P2 its verdict when P1 gives up", late_verdict),
        attack("P1 is ready so late that P2's commitment is late", late_commitment),
        attack("P0 aborts late, with its proof", late_abort),
        attack("P0 says nothing to P1", silence),
        attack("P0 fails P1's check", failed_check),
        attack("P1 claims that P0 aborted", claimed_abort),
        attack("P1 commits to another value", other_commitment),
        attack("P0 promises P1 another mask", other_promise),
        attack("P1 opens another output to P0", other_output),
        attack("P1 makes P0 abort, whose link is reset", lost_abort),
        attack("P1 makes P2 end, whose link is reset", lost_opening),
        attack("P1 opens nothing, and P2's link is held", large_outputs),
        attack("P0 opens nothing to P2, and P1 is busy with other things", busy_with_others),
    ]
}

const fn attack(name: &'static str, run: fn(Version, u64) -> Outcome) -> Attack {
    Attack { name, protocol: "astra-fair", runs: SEATS.len() as u64, long: false, run }
}

/// Who plays `P_0`, `P_1` and `P_2`.
const SEATS: [(&str, [usize; 3]); 6] = [
    ("012", [0, 1, 2]),
    ("120", [1, 2, 0]),
    ("201", [2, 0, 1]),
    ("021", [0, 2, 1]),
    ("102", [1, 0, 2]),
    ("210", [2, 1, 0]),
];

/// Limits of silence for which one that attacks lives on: more than any wait.
const LIVES: u32 = 60;

/// How long frames are under way if nothing else is said.
const WAY: Duration = Duration::from_millis(1);

/// What is sent in place of a frame: when, to which role, and what.
type Sent = Vec<(Duration, usize, Frame)>;

/// What one that attacks does with a frame of its own code to a role, at a time.
type Plan = Box<dyn FnMut(usize, Frame, Duration) -> Sent + Send>;

/// The frame as it is.
fn as_is(to: usize, frame: Frame, now: Duration) -> Sent {
    vec![(now, to, frame)]
}

/// A frame with a bit flipped.
fn flipped(mut frame: Frame) -> Frame {
    frame.payload[0] ^= 1;
    frame
}

/// A run that is attacked.
struct Scene {
    seats: [usize; 3],
    case: Case,
    world: World,
}

impl Scene {
    /// Products for all. The mistakes are planted at everybody, or at one role.
    fn new(version: Version, seed: u64, at: Option<usize>, mistakes: &'static [Mistake]) -> Self {
        let mut build = Builder::new();
        let range = Range::new(-8, 7);
        let [a, b, c] =
            ["P0", "P1", "P2"].map(|owner| build.input(owner, owner, Dtype::Int, &[3], range).unwrap());
        let product = build.mul(a, b).unwrap();
        let sum = build.add(product, c).unwrap();
        build.reveal(sum, Recipient::All).unwrap();
        let inputs = [vec![3, 7, 1], vec![2, 5, 0], vec![1, 1, 1]];
        Self::of(version, seed, at, mistakes, build, &inputs)
    }

    fn of(
        version: Version,
        seed: u64,
        at: Option<usize>,
        mistakes: &'static [Mistake],
        build: Builder,
        inputs: &[Vec<u64>],
    ) -> Self {
        let (roles, seats) = SEATS[seed as usize % SEATS.len()];
        let ours = with_parameters(&Astra::FAIR, &[("roles", roles)]);
        let protocol = match version {
            Version::Ours => ours,
            Version::Planted => Altered::beginning_with(ours, move |party| {
                let all = at.is_none_or(|role| seats[role] == party);
                plant(if all { mistakes } else { &[] });
            }),
        };
        let program = build.finish().unwrap();
        let plan = tacit_program::lower(&program, ours.capabilities()).unwrap().plan;
        let case = Case::new(protocol, 3, plan, inputs);
        let world = case.world();
        Self { seats, case, world }
    }

    fn limit(&self) -> Duration {
        self.case.limits.silence
    }

    /// A role's limit of silence is twice the others'.
    fn waiting_longer(mut self, role: usize) -> Self {
        let mut limits = self.case.limits.clone();
        limits.silence *= 2;
        self.case.own_limits.insert(self.seats[role], limits);
        self
    }

    /// What `P_0` says to each role when it aborts: proofs are the same in every run with these draws.
    fn aborts(&self) -> [Vec<u8>; 3] {
        let second = self.seats[2];
        let world = self.case.world().intercept(Box::new(move |message| {
            let frame = message.frame.clone();
            let commits = (message.from, frame.at.part) == (second, step::FAIR_COMMITMENT);
            Fate::Replace(vec![if commits { flipped(frame) } else { frame }])
        }));
        let run = self.case.run_in(&world, &Draws::fixed(1));
        self.seats.map(|party| {
            let signals = run.trace.received(party);
            let signal = signals.iter().find(|delivery| delivery.at.part == step::FAIR_SIGNAL);
            signal.map(|delivery| delivery.payload.clone()).unwrap_or_default()
        })
    }

    /// Runs with a role that attacks, and says what became of it.
    fn play(self, corrupt: usize, plan: Plan) -> Outcome {
        let opened = Arc::new(AtomicBool::new(false));
        let attacker = Corrupt {
            seats: self.seats,
            plan,
            due: Vec::new(),
            opened: Arc::clone(&opened),
            lives: LIVES * self.limit(),
        };
        let run =
            self.case.run_attacked(&self.world, &Draws::fixed(1), self.seats[corrupt], Box::new(attacker));
        self.judge(corrupt, &run, opened.load(Ordering::SeqCst))
    }

    fn judge(&self, corrupt: usize, run: &Run, opened: bool) -> Outcome {
        let expected = self.case.run_in_the_clear().unwrap().outputs;
        let mut have = Vec::new();
        let mut lack = Vec::new();
        for role in (0..3).filter(|&role| role != corrupt) {
            match &run.endings[self.seats[role]].as_ref().unwrap().result {
                Ok(outcome) if outcome.outputs == expected => have.push(format!("P{role}")),
                Ok(_) => return Outcome::Broken(format!("P{role} has a wrong output")),
                Err(error) => lack.push((format!("P{role}"), error.to_string())),
            }
        }
        match lack.first() {
            None => Outcome::Held("all have the outputs".to_owned()),
            Some((who, error)) if opened => {
                Outcome::Broken(format!("P{corrupt} has the outputs, and {who} has not ({error})"))
            }
            Some((who, _)) if !have.is_empty() => {
                Outcome::Broken(format!("{} has the outputs, and {who} has not", have[0]))
            }
            Some((who, error)) => Outcome::Held(format!("nobody has the outputs; {who}: {error}")),
        }
    }
}

/// A role that sends what it likes, when it likes, and lives on when its code has ended.
struct Corrupt {
    seats: [usize; 3],
    plan: Plan,
    /// What is to be sent at some time.
    due: Sent,
    /// Whether it was sent a piece of an output.
    opened: Arc<AtomicBool>,
    lives: Duration,
}

impl Corrupt {
    fn note(&self, event: &Event) {
        if let Event::Frame(frame) = event
            && frame.kind == FrameKind::Data
            && frame.at.part == step::OUTPUT
        {
            self.opened.store(true, Ordering::SeqCst);
        }
    }

    /// Sends what is due, in the order in which it was put there.
    fn send_due(&mut self, act: &mut Act<'_>) {
        let now = act.now();
        for (when, to, frame) in std::mem::take(&mut self.due) {
            if when <= now {
                act.send(self.seats[to], frame);
            } else {
                self.due.push((when, to, frame));
            }
        }
    }
}

impl Attacker for Corrupt {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        let role = self.seats.iter().position(|&party| party == to).unwrap();
        if frame.kind != FrameKind::Data {
            // That its code gives up is nobody's business.
            return;
        }
        self.due.extend((self.plan)(role, frame, act.now()));
        self.send_due(act);
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        self.note(&event);
        act.hear(from, event);
    }

    fn wakes(&self) -> Option<Duration> {
        self.due.iter().map(|(when, ..)| *when).min()
    }

    fn woken(&mut self, act: &mut Act<'_>) {
        self.send_due(act);
    }

    fn ends(&mut self, act: &mut Act<'_>) {
        let end = act.now() + self.lives;
        let mut lost = 0;
        while act.now() < end && lost < 2 {
            self.send_due(act);
            let next = self.wakes().map_or(end, |when| when.min(end));
            if let Some((_, event)) = act.poll(next.saturating_sub(act.now())) {
                self.note(&event);
                lost += usize::from(matches!(event, Event::Lost(_)));
            }
        }
    }
}

/// `P_0`'s limit is longer than `P_2`'s: it decides when `P_2` takes its silence for *continue*, and opens.
fn longer_waits_of_first(version: Version, seed: u64) -> Outcome {
    let mut scene = Scene::new(version, seed, Some(0), &[Mistake::LimitOfItsOwn]);
    if version == Version::Ours {
        scene = scene.waiting_longer(0);
    }
    scene.play(
        1,
        Box::new(|to, frame, now| match frame.at.part {
            step::FAIR_COMMITMENT => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_2`'s limit is longer than `P_1`'s: a valid abort comes to it in time, when `P_1` has opened `m`.
fn longer_waits_of_evaluator(version: Version, seed: u64) -> Outcome {
    let mut scene = Scene::new(version, seed, Some(2), &[Mistake::LimitOfItsOwn]);
    if version == Version::Ours {
        scene = scene.waiting_longer(2);
    }
    let (limit, abort) = (scene.limit(), scene.aborts()[2].clone());
    scene.play(
        0,
        Box::new(move |to, mut frame, now| match (frame.at.part, to) {
            (step::FAIR_SIGNAL, 2) => {
                frame.payload.clone_from(&abort);
                vec![(now + limit * 19 / 2, to, frame)]
            }
            (step::FAIR_SIGNAL | step::FAIR_OPENING | step::OUTPUT, _) => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_0` gives its verdict, and its clock starts when it hears that `P_1` is done: `P_2` takes its silence for *continue*.
fn clock_of_first(version: Version, seed: u64) -> Outcome {
    Scene::new(version, seed, None, &[Mistake::VerdictBeforeWords]).play(
        1,
        Box::new(|to, frame, now| match (frame.at.part, to) {
            (step::ACCEPT | step::FAIR_COMMITMENT, 0) => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_1` waits in vain for `P_2`'s word that it is ready. That comes when `P_1` has given up, whose own word `P_2` has long
/// had: it goes on alone, and opens `m`.
fn late_verdict(version: Version, seed: u64) -> Outcome {
    let scene = Scene::new(version, seed, None, &[Mistake::VerdictAwaited]);
    let limit = scene.limit();
    let me = scene.seats[0];
    scene.play(
        0,
        Box::new(move |to, frame, now| match (frame.at.part, to) {
            (step::FAIR_VERDICT, 2) => {
                let late = now + 4 * limit;
                let sign = |number: u32| {
                    let at = At { part: me as u16, batch: 1000 + number, ..At::default() };
                    (now + number * limit / 4, 2, Frame { kind: FrameKind::KeepAlive, at, payload: vec![] })
                };
                (1..16).map(sign).chain([(late, to, frame)]).collect()
            }
            (step::FAIR_SIGNAL | step::FAIR_OPENING | step::OUTPUT, _) => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_2` waits for `P_1` as long as it may, and commits when `P_0` has decided to abort.
fn late_commitment(version: Version, seed: u64) -> Outcome {
    let scene = Scene::new(version, seed, None, &[Mistake::NoWordToTheLate]);
    let limit = scene.limit();
    scene.play(
        1,
        Box::new(move |to, frame, now| match frame.at.part {
            step::FAIR_READY => vec![((now + 4 * limit).saturating_sub(3 * WAY / 2), to, frame)],
            // What its code hears of P_0 it keeps to itself.
            step::FAIR_REPORT => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_2` is told to go on, and `P_1` to abort, when `P_2` has waited for its report long enough.
fn late_abort(version: Version, seed: u64) -> Outcome {
    let scene = Scene::new(version, seed, None, &[Mistake::LateSignals]);
    let (limit, abort) = (scene.limit(), scene.aborts()[1].clone());
    scene.play(
        0,
        Box::new(move |to, mut frame, now| match (frame.at.part, to) {
            (step::FAIR_SIGNAL, 1) => {
                frame.payload.clone_from(&abort);
                vec![(now + limit * 19 / 2, to, frame)]
            }
            (step::FAIR_OPENING | step::OUTPUT, _) => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_1` would stop, without anything that it could show `P_2`.
fn silence(version: Version, seed: u64) -> Outcome {
    Scene::new(version, seed, None, &[Mistake::SilenceAborts]).play(
        0,
        Box::new(|to, frame, now| match (frame.at.part, to) {
            (step::FAIR_SIGNAL, 1) | (step::FAIR_OPENING | step::OUTPUT, _) => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_1` stops, and `P_2` would go on.
fn failed_check(version: Version, seed: u64) -> Outcome {
    Scene::new(version, seed, None, &[Mistake::NoVerdicts]).play(
        0,
        Box::new(|to, frame, now| match (frame.at.part, to) {
            (step::COMPUTED_DIGEST, 1) => as_is(to, flipped(frame), now),
            (step::ACCEPT, 2) => {
                // At once, before it hears of P_1.
                let verdict = Frame::data(At { part: step::FAIR_VERDICT, ..frame.at }, vec![1]);
                vec![(now, to, frame), (now, to, verdict)]
            }
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_2` would stop, when `P_0` has opened its mask to `P_1`.
fn claimed_abort(version: Version, seed: u64) -> Outcome {
    Scene::new(version, seed, None, &[Mistake::AbortWithoutProof]).play(
        1,
        Box::new(|to, mut frame, now| {
            if frame.at.part == step::FAIR_REPORT {
                frame.payload[0] = 1;
            }
            as_is(to, frame, now)
        }),
    )
}

/// `P_0` would go on, and be opened nothing that fits.
fn other_commitment(version: Version, seed: u64) -> Outcome {
    Scene::new(version, seed, None, &[Mistake::CommitmentsDiffer]).play(
        1,
        Box::new(|to, frame, now| match (frame.at.part, to) {
            (step::FAIR_COMMITMENT, _) => as_is(to, flipped(frame), now),
            (step::FAIR_OPENING | step::OUTPUT, 0) => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// What `P_2` opens to `P_1` would not fit, and `P_0` opens nothing.
fn other_promise(version: Version, seed: u64) -> Outcome {
    Scene::new(version, seed, None, &[Mistake::PromisesUncompared]).play(
        0,
        Box::new(|to, frame, now| match (frame.at.part, to) {
            (step::FAIR_PROMISE, 1) => as_is(to, flipped(frame), now),
            (step::FAIR_OPENING | step::OUTPUT, _) => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_0` would add what `P_1` opens to what it has, though `P_2` opens what was promised.
fn other_output(version: Version, seed: u64) -> Outcome {
    Scene::new(version, seed, None, &[Mistake::OpeningsUnchecked]).play(
        1,
        Box::new(|to, frame, now| match (frame.at.part, to) {
            (step::OUTPUT, 0) => as_is(to, flipped(frame), now),
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_0`'s proof would be lost with its link, and `P_2` take its silence for *continue*.
fn lost_abort(version: Version, seed: u64) -> Outcome {
    let mut scene = Scene::new(version, seed, None, &[Mistake::LeavesAtOnce]);
    scene.world = scene.world.latency(Duration::from_secs(3)).resetting();
    scene.play(
        1,
        Box::new(|to, frame, now| match frame.at.part {
            step::FAIR_COMMITMENT => as_is(to, flipped(frame), now),
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_2` has its outputs before its openings, which take a while, are at `P_0`: they would be lost with its link.
fn lost_opening(version: Version, seed: u64) -> Outcome {
    let mut scene = Scene::new(version, seed, None, &[Mistake::LeavesAtOnce]);
    scene.world = scene.world.latency(Duration::from_secs(3)).resetting();
    let mut report = None;
    scene.play(
        1,
        Box::new(move |to, frame, now| match (frame.at.part, to) {
            (step::FAIR_REPORT, _) => {
                report = Some(frame);
                vec![]
            }
            (step::FAIR_OPENING, 2) => {
                let report = report.take().map(|report| (now, 2, report));
                report.into_iter().chain([(now, 2, frame)]).collect()
            }
            (step::FAIR_OPENING | step::OUTPUT, 0) => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}

/// `P_1`, who learns nothing, goes on to something that takes longer than anybody waits, as whoever feeds a stream may: here
/// it is just gone. What it opens to `P_2` has to have left by then, as `P_0` opens nothing.
fn busy_with_others(version: Version, seed: u64) -> Outcome {
    let (_, seats) = SEATS[seed as usize % SEATS.len()];
    let mut build = Builder::new();
    let a = build.input("P0", "a", Dtype::Int, &[3], Range::new(-8, 7)).unwrap();
    for role in [0, 2] {
        build.reveal(a, Recipient::Role(format!("P{}", seats[role]))).unwrap();
    }
    let scene = Scene::of(version, seed, None, &[Mistake::OpeningsQueued], build, &[vec![3, 7, 1]]);
    let case = &scene.case;
    let world = case.world().intercept(Box::new(move |message| {
        let opens = matches!(message.frame.at.part, step::FAIR_OPENING | step::OUTPUT);
        let withheld = (message.from, message.to) == (seats[0], seats[2]) && opens;
        if withheld { Fate::Replace(vec![]) } else { Fate::Deliver }
    }));
    let names: Vec<String> = (0..3).map(|party| case.name(party).to_owned()).collect();
    let play = |me: usize, links: Box<dyn Transport>| -> Result<Vec<Option<Clear>>, Error> {
        let mesh = Mesh::new(links, me, names.clone(), case.limits.clone());
        let session = Session::establish(mesh, case.agreements[me].clone(), Draws::fixed(1).of(me))?;
        let mut engine = case.protocol.engine(session, Arc::clone(&case.plan), case.roles().clone())?;
        let inputs = [(me == 0).then(|| case.inputs[0].clone())];
        let outcome = run_party(engine.as_mut(), &case.plan, &inputs, &mut Unobserved)?;
        if me != seats[1] {
            engine.close()?;
        }
        Ok(outcome.outputs)
    };
    let results = in_threads(world.transports(), play);
    let expected = case.run_in_the_clear().unwrap().outputs;
    let has = |role: usize| {
        let mut outputs = results[seats[role]].iter().flatten().zip(&expected);
        outputs.any(|(output, expected)| output.is_some() && output == expected)
    };
    match (has(0), has(2)) {
        (true, false) => Outcome::Broken("P0 has the outputs, and P2 has not".to_owned()),
        (true, true) => Outcome::Held("all have the outputs".to_owned()),
        (false, _) => Outcome::Held("P0 has no outputs".to_owned()),
    }
}

/// `P_0` waits for `P_1`'s openings in vain, while `P_2`'s link is held: what comes when it is read again comes too late.
fn large_outputs(version: Version, seed: u64) -> Outcome {
    const LEN: usize = 40_000;
    let mut build = Builder::new();
    let range = Range::new(-(1 << 50), 1 << 50);
    let [a, b, c] =
        ["P0", "P1", "P2"].map(|owner| build.input(owner, owner, Dtype::Int, &[LEN], range).unwrap());
    let sum = build.add(a, b).unwrap();
    let sum = build.add(sum, c).unwrap();
    build.reveal(sum, Recipient::All).unwrap();
    let inputs = [vec![1; LEN], vec![2; LEN], vec![3; LEN]];
    let mut scene = Scene::of(version, seed, None, &[Mistake::LargeOutputs], build, &inputs);
    scene.case.limits.inbox = 200_000;
    scene.play(
        1,
        Box::new(|to, frame, now| match (frame.at.part, to) {
            (step::FAIR_OPENING | step::OUTPUT, 0) => vec![],
            _ => as_is(to, frame, now),
        }),
    )
}
