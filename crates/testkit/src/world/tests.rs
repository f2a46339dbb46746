use super::*;
use std::time::Instant;
use tacit_net::At;

fn ends(world: &World) -> Vec<Box<dyn Transport>> {
    world.transports().into_iter().flatten().collect()
}

fn frame(op: u32) -> Frame {
    Frame::data(At::op(op), vec![op as u8; 3])
}

/// Sends a frame, and what was sent before it.
fn send(end: &mut dyn Transport, to: usize, frame: Frame) {
    end.send(to, frame);
    end.flush();
}

fn op(event: Option<(usize, Event)>) -> (usize, u32) {
    match event {
        Some((from, Event::Frame(frame))) => (from, frame.at.op),
        other => panic!("expected a frame, got {other:?}"),
    }
}

#[test]
fn an_hour_of_waiting_takes_no_time() {
    let world = World::new(2, 0);
    let mut ends = ends(&world);
    let mut second = ends.pop().unwrap();
    let start = Instant::now();
    let minute = Duration::from_mins(1);
    let waiter = std::thread::spawn(move || (second.poll(40 * minute).is_none(), second.now()));
    assert!(ends[0].poll(30 * minute).is_none());
    assert_eq!(ends[0].now(), 30 * minute);
    assert!(ends[0].poll(5 * minute).is_none());
    drop(ends);
    let (_, ended) = waiter.join().unwrap();
    assert_eq!(ended, 35 * minute + LATENCY, "the other's end is what it saw");
    assert!(start.elapsed() < minute);
}

#[test]
fn frames_that_were_flushed_arrive_in_order_after_the_latency() {
    let world = World::new(1, 1).latency(Duration::from_secs(2));
    let mut ends = ends(&world);
    let mut second = ends.pop().unwrap();
    let mut first = ends.pop().unwrap();
    send(first.as_mut(), 1, frame(1));
    first.send(1, frame(2));
    assert_eq!(first.backlog(1), 2 * (HEADER_BYTES + 3));
    first.flush();
    first.send(1, frame(3));
    drop(first);
    assert!(second.poll(Duration::ZERO).is_none());
    assert_eq!(op(second.poll(Duration::from_secs(9))), (0, 1));
    assert_eq!(second.now(), Duration::from_secs(2));
    assert_eq!(op(second.poll(Duration::ZERO)), (0, 2));
    assert!(matches!(second.poll(Duration::ZERO), Some((0, Event::Lost(ErrorKind::Closed { .. })))));
    assert_eq!(second.wire_bytes(0).received, 2 * (HEADER_BYTES as u64 + 3));
    assert_eq!(world.trace().deliveries().len(), 2);
}

#[test]
fn computing_takes_the_time_that_is_charged() {
    let busy = Duration::from_secs(3);
    let charge = move |endpoint, frame: &Frame| {
        if (endpoint, frame.at.op) == (0, 2) { busy } else { Duration::ZERO }
    };
    let world = World::new(2, 0).charging(charge);
    let mut ends = ends(&world);
    let mut second = ends.pop().unwrap();
    let other = std::thread::spawn(move || {
        let mut heard = Vec::new();
        while heard.len() < 2 {
            if let Some(event) = second.poll(Duration::from_secs(1)) {
                heard.push((op(Some(event)).1, second.now()));
                send(second.as_mut(), 0, frame(9));
            }
        }
        heard
    });
    send(ends[0].as_mut(), 1, frame(1));
    send(ends[0].as_mut(), 1, frame(2));
    assert_eq!(ends[0].now(), busy, "what comes meanwhile doesn't end it");
    assert_eq!(op(ends[0].poll(Duration::ZERO)), (1, 9));
    drop(ends);
    assert_eq!(other.join().unwrap(), [(1, LATENCY), (2, busy + LATENCY)]);
}

#[test]
fn what_is_delayed_delays_what_follows() {
    let late = Duration::from_secs(5);
    let world = World::new(2, 0)
        .intercept(Box::new(move |message| if message.nth == 0 { Fate::Delay(late) } else { Fate::Deliver }));
    let mut ends = ends(&world);
    let mut second = ends.pop().unwrap();
    send(ends[0].as_mut(), 1, frame(1));
    send(ends[0].as_mut(), 1, frame(2));
    drop(ends);
    assert_eq!(op(second.poll(Duration::from_secs(9))), (0, 1));
    assert_eq!(op(second.poll(Duration::from_secs(9))), (0, 2));
    assert_eq!(second.now(), late + LATENCY);
}

#[test]
fn the_dead_are_lost_to_all_and_all_to_them() {
    let world = World::new(3, 0).intercept(Box::new(|_| Fate::Die));
    let mut ends = ends(&world);
    send(ends[1].as_mut(), 2, frame(1));
    let lost = |event: Option<(usize, Event)>| match event {
        Some((from, Event::Lost(_))) => from,
        other => panic!("expected a lost link, got {other:?}"),
    };
    std::thread::scope(|scope| {
        for (me, end) in ends.iter_mut().enumerate() {
            scope.spawn(move || {
                let minute = Duration::from_mins(1);
                if me == 1 {
                    assert_eq!([lost(end.poll(minute)), lost(end.poll(minute))], [0, 2]);
                } else {
                    assert_eq!(lost(end.poll(minute)), 1);
                }
            });
        }
    });
}

#[test]
fn a_silent_link_says_nothing_of_its_end() {
    let world = World::new(2, 0).intercept(Box::new(|_| Fate::Cut));
    let mut ends = ends(&world);
    let mut second = ends.pop().unwrap();
    send(ends[0].as_mut(), 1, frame(1));
    send(ends[0].as_mut(), 1, Frame { kind: FrameKind::Goodbye, ..frame(2) });
    drop(ends);
    assert!(second.poll(Duration::from_mins(1)).is_none());
}

#[test]
fn a_held_peer_waits() {
    let world = World::new(3, 0);
    let mut ends = ends(&world);
    let mut third = ends.pop().unwrap();
    send(ends[0].as_mut(), 2, frame(1));
    send(ends[1].as_mut(), 2, frame(2));
    third.hold(0, true);
    drop(ends);
    assert_eq!(op(third.poll(Duration::from_secs(1))), (1, 2));
    assert!(matches!(third.poll(Duration::ZERO), Some((1, Event::Lost(_)))));
    assert!(third.poll(Duration::ZERO).is_none());
    third.hold(0, false);
    assert!(third.poll(Duration::ZERO).is_none(), "it had no room to come before");
    assert_eq!(op(third.poll(LATENCY)), (0, 1));
}

#[test]
fn what_a_link_has_under_way_is_lost_when_it_is_reset() {
    let world = World::new(2, 0).resetting();
    let mut ends = ends(&world);
    let mut second = ends.pop().unwrap();
    send(ends[0].as_mut(), 1, frame(1));
    assert!(!ends[0].finish());
    drop(ends);
    assert!(matches!(second.poll(Duration::from_secs(1)), Some((0, Event::Lost(_)))));
}
