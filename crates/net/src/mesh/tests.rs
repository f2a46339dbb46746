mod hurried;
mod leaving;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::memory::{self, MemoryTransport};

pub(super) fn names(parties: usize, clients: usize) -> Vec<String> {
    let parties = (0..parties).map(|party| format!("P{party}"));
    parties.chain((0..clients).map(|client| format!("C{client}"))).collect()
}

fn meshes_with(parties: usize, clients: usize, limits: &Limits) -> Vec<Mesh> {
    let ends = memory::mesh(parties, clients).into_iter().enumerate();
    ends.map(|(me, end)| Mesh::new(Box::new(end), me, names(parties, clients), limits.clone())).collect()
}

pub(super) fn meshes(parties: usize, clients: usize) -> Vec<Mesh> {
    meshes_with(parties, clients, &Limits::default())
}

/// Limits under which a silent peer is lost soon, with room for a machine that is busy.
fn impatient() -> Limits {
    Limits { silence: Duration::from_millis(800), ..Limits::default() }
}

pub(super) fn at(op: u32) -> At {
    At::op(op)
}

#[test]
fn messages_arrive_and_are_counted_by_phase() {
    let mut meshes = meshes(2, 0);
    let (first, second) = meshes.split_at_mut(1);
    let (first, second) = (&mut first[0], &mut second[0]);
    assert!(!second.arrived(0).unwrap());
    first.send(1, at(1), b"hello").unwrap();
    first.set_phase(Phase::Online);
    let mut buffer = first.buffer(3000);
    buffer.resize(3000, 7);
    first.send_vec(1, at(2), buffer).unwrap();
    assert!(second.arrived(0).unwrap());
    assert_eq!(second.recv(0, at(1), 5).unwrap(), b"hello");
    let message = second.recv_bounded(0, at(2), 3000).unwrap();
    assert_eq!(message, [7; 3000]);
    second.recycle(message);

    let counters = first.counters();
    assert_eq!(counters.with_peer(Phase::Setup, 1).sent_bytes, 5);
    assert_eq!(counters.in_phase(Phase::Online).sent_bytes, 3000);
    assert_eq!(counters.total().sent_messages, 2);
    assert_eq!(counters.wire(1).sent, 3005 + 32);
    assert_eq!(second.counters().with_peer(Phase::Setup, 0).received_bytes, 3005);
    assert_eq!(second.counters().wire_total().received, 3005 + 32);
}

#[test]
fn messages_aside_have_an_order_of_their_own() {
    let mut meshes = meshes(2, 0);
    let aside = |op| at(op).with_part(At::ASIDE);
    for address in [aside(0), at(0), at(1), aside(1)] {
        meshes[0].send(1, address, &[address.op as u8]).unwrap();
    }
    assert_eq!(meshes[1].recv(0, at(0), 1).unwrap(), [0]);
    for address in [aside(0), aside(1)] {
        assert_eq!(meshes[1].recv(0, address, 1).unwrap(), [address.op as u8]);
        assert!(meshes[1].arrived(0).unwrap(), "another is still here");
    }
    assert_eq!(meshes[1].recv(0, at(1), 1).unwrap(), [1]);
    meshes[0].send(1, aside(3), &[]).unwrap();
    assert!(!meshes[1].arrived(0).unwrap(), "what stands aside isn't awaited by others");
    let error = meshes[1].recv(0, aside(2), 0).unwrap_err();
    assert_eq!(*error.what(), ErrorKind::WrongAddress { expected: aside(2), got: aside(3) });
}

#[test]
fn every_length_arrives() {
    let mut meshes = meshes(2, 0);
    for (op, len) in [0, 1, 63, 64, 65, 65_535, 65_536, 65_537].into_iter().enumerate() {
        let payload: Vec<u8> = (0..len).map(|i| i as u8).collect();
        meshes[0].send(1, at(op as u32), &payload).unwrap();
        assert_eq!(meshes[1].recv(0, at(op as u32), len).unwrap(), payload);
    }
}

#[test]
fn another_address_or_length_ends_the_run_for_all() {
    let mut meshes = meshes(3, 0);
    meshes[1].send(0, at(4).with_batch(1), &[0; 8]).unwrap();
    let error = meshes[0].recv(1, at(4), 8).unwrap_err();
    assert_eq!(*error.what(), ErrorKind::WrongAddress { expected: at(4), got: at(4).with_batch(1) });
    assert_eq!(
        error.to_string(),
        "P1 sent the message of op 4, batch 1 where op 4, batch 0 was due in the setup phase"
    );
    assert_eq!(error.address().as_deref(), Some("while waiting for op 4, batch 0 of P1"));
    let told = meshes[2].recv(1, at(9), 8).unwrap_err();
    // What is told has one phase and no address; whoever was waited for may be the cause.
    assert_eq!(told.to_string(), format!("P0 aborted: {error} (waiting for P1)"));
    assert_eq!(told.peer().unwrap().name, "P0");
    assert!(matches!(told.what(), ErrorKind::Aborted { origin, .. } if origin == "P0"), "{told}");
    // The first error is the only one.
    assert_eq!(meshes[0].tick().unwrap_err(), error);
    assert_eq!(meshes[0].send(2, at(5), &[]).unwrap_err(), error);

    let mut meshes = self::meshes(2, 0);
    meshes[1].send(0, at(4), &[0; 7]).unwrap();
    let error = meshes[0].recv(1, at(4), 8).unwrap_err();
    assert_eq!(*error.what(), ErrorKind::WrongLength { expected: 8, got: 7 });
    assert_eq!((error.at(), error.peer().unwrap().index), (Some(at(4)), 1));

    let mut meshes = self::meshes(2, 0);
    meshes[1].send(0, at(4), &[0; 7]).unwrap();
    let error = meshes[0].recv_bounded(1, at(4), 6).unwrap_err();
    assert_eq!(*error.what(), ErrorKind::TooLong { limit: 6, got: 7 });
}

#[test]
fn wrong_use_ends_nothing() {
    let limits = Limits { frame: 100, ..Limits::default() };
    let mut meshes = meshes_with(2, 2, &limits);
    for (me, peer, says) in [
        (0, 0, "wrong use: a party has no link to itself in the setup phase"),
        (2, 3, "wrong use: there is no link between C0 and C1 in the setup phase"),
        (1, 9, "wrong use: there is no endpoint 9; there are 4 in the setup phase"),
    ] {
        assert_eq!(meshes[me].send(peer, at(0), &[]).unwrap_err().to_string(), says);
        assert_eq!(meshes[me].recv(peer, at(0), 0).unwrap_err().to_string(), says);
        assert_eq!(meshes[me].arrived(peer).unwrap_err().to_string(), says);
    }
    let error = meshes[0].send(1, at(0), &[0; 101]).unwrap_err();
    assert!(matches!(error.what(), ErrorKind::WrongUse { .. }));
    meshes[0].send(1, at(0), &[0; 100]).unwrap();
    meshes[1].recv(0, at(0), 100).unwrap();
}

#[test]
fn death_is_noticed_by_all_whoever_they_wait_for() {
    let mut meshes = meshes(3, 1);
    let dead = meshes.remove(1);
    let waiters: Vec<_> = meshes
        .into_iter()
        .map(|mut mesh| {
            thread::spawn(move || {
                mesh.set_phase(Phase::Online);
                let from = if mesh.me() == 0 { 2 } else { 0 };
                let start = Instant::now();
                (mesh.recv(from, at(3), 1).unwrap_err(), start.elapsed())
            })
        })
        .collect();
    thread::sleep(Duration::from_millis(50));
    drop(dead);
    for waiter in waiters {
        let (error, took) = waiter.join().unwrap();
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert!(error.to_string().contains("lost P1 (closed the connection)"), "{error}");
        assert_eq!((error.phase(), error.at()), (Phase::Online, Some(at(3))));
    }
}

#[test]
fn silence_is_noticed() {
    let mut meshes = meshes_with(2, 0, &impatient());
    let start = Instant::now();
    let error = meshes[0].recv(1, at(1), 1).unwrap_err();
    assert!(matches!(error.what(), ErrorKind::Silent { .. }), "{error}");
    assert!(start.elapsed() >= impatient().silence);
    assert!(matches!(meshes[1].recv(0, at(1), 1).unwrap_err().what(), ErrorKind::Aborted { .. }));
}

#[test]
fn an_abort_reaches_all_with_its_reason() {
    let mut meshes = meshes(3, 2);
    meshes[1].set_phase(Phase::Verify);
    let error = meshes[1].abort("my data are bad");
    assert_eq!(error.to_string(), "this party aborted: my data are bad in the verify phase");
    assert_eq!(meshes[1].abort("again"), error);
    for me in [0, 2, 3, 4] {
        let from = if me == 0 { 2 } else { 0 };
        let error = meshes[me].recv(from, at(1), 1).unwrap_err();
        let aborted =
            ErrorKind::Aborted { origin: "P1".into(), reason: "my data are bad".into(), check_failed: false };
        assert_eq!(*error.what(), aborted);
    }
}

#[test]
fn that_a_check_failed_reaches_all_and_is_passed_on() {
    let accusation = |error: &Error| match error.what() {
        ErrorKind::Aborted { check_failed, .. } => *check_failed,
        _ => panic!("{error}"),
    };
    for (accuser, believed) in [(0, true), (4, false)] {
        let mut meshes = meshes(3, 2);
        for mesh in &mut meshes {
            mesh.trust_check_failures_from(3);
        }
        meshes[accuser].accuse("a check failed");
        assert_eq!(accusation(&meshes[1].recv(2, at(1), 1).unwrap_err()), believed);
        // The other client hears it from P1 at the latest.
        assert_eq!(accusation(&meshes[3].recv(2, at(1), 1).unwrap_err()), believed);
    }
}

/// A party's word comes with what a client did on hearing it, and the client's link is read first.
#[test]
fn a_client_that_leaves_on_a_failed_check_does_not_hide_it() {
    for is_lost in [false, true] {
        let mut ends = memory::mesh(3, 2).into_iter();
        let (mut accuser, me, _other, mut client) =
            (ends.next().unwrap(), ends.next().unwrap(), ends.next(), ends.next().unwrap());
        let mut mesh = Mesh::new(Box::new(me), 1, names(3, 2), impatient());
        mesh.trust_check_failures_from(3);
        let abort =
            |batch| Frame { kind: FrameKind::Abort, at: At { batch, ..At::default() }, payload: vec![] };
        if is_lost {
            drop(client);
        } else {
            client.send(1, abort(1));
        }
        accuser.send(1, Frame::data(at(7), vec![1]));
        accuser.send(1, abort(1));
        let error = mesh.recv(2, at(1), 1).unwrap_err();
        assert_eq!(error.peer().unwrap().index, 0, "{error}");
        assert!(matches!(error.what(), ErrorKind::Aborted { check_failed: true, .. }), "{error}");
    }
}

#[test]
fn a_clients_abort_reaches_other_clients() {
    let mut meshes = meshes(3, 2);
    meshes[4].abort("my data are bad");
    assert!(meshes[0].tick_now().is_err());
    let error = meshes[3].recv(1, at(1), 1).unwrap_err();
    assert_eq!(error.to_string(), "P0 says that the run ended at C1: my data are bad (waiting for P1)");
    assert_eq!(error.address().as_deref(), Some("while waiting for op 1, batch 0 of P1"));
}

/// A client's doing is known for the client's at parties that hear of it through another one; and it can blame nobody else.
#[test]
fn what_a_client_does_at_one_party_is_the_clients_at_all() {
    let origin = |error: &Error| match error.what() {
        ErrorKind::Aborted { origin, .. } => origin.clone(),
        _ => panic!("{error}"),
    };
    let abort = Frame { kind: FrameKind::Abort, at: At { part: 4, ..At::default() }, payload: vec![] };
    for (frame, says) in [
        (Frame::data(at(9), vec![]), "says that the run ended at C0: C0 sent the message of op 9"),
        (abort, "says that the run ended at C0: "),
    ] {
        let mut meshes = meshes(3, 2);
        for mesh in &mut meshes {
            mesh.trust_check_failures_from(3);
        }
        meshes[3].transport.send(1, frame);
        meshes[1].recv(3, at(1), 0).unwrap_err();
        for hears in [0, 2, 4] {
            let error = meshes[hears].recv(if hears == 0 { 2 } else { 0 }, at(1), 0).unwrap_err();
            assert_eq!(origin(&error), "C0", "{error}");
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}

/// Whoever it told would take it for the client's own.
#[test]
fn a_client_that_hears_of_an_abort_tells_nobody() {
    for (tells, from) in [(2, 1), (1, 2)] {
        let mut meshes = meshes(2, 1);
        for mesh in &mut meshes {
            mesh.trust_check_failures_from(2);
        }
        let abort = Frame { kind: FrameKind::Abort, at: At::default(), payload: vec![] };
        meshes[from].transport.send(tells, abort);
        meshes[tells].recv(from, at(1), 0).unwrap_err();
        let heard = meshes[0].transport.poll(Duration::ZERO);
        // A party does: a client's abort has to reach the others.
        assert_eq!(heard.is_some(), tells == 1, "{heard:?}");
    }
}

impl Mesh {
    /// `tick` without regard to the clock.
    pub(super) fn tick_now(&mut self) -> Result<(), Error> {
        self.serviced = Duration::ZERO;
        self.tick()
    }
}

#[test]
fn after_a_goodbye_only_what_is_still_due_is_missed() {
    let mut meshes = meshes(3, 0);
    meshes[0].send(1, at(1), &[1]).unwrap();
    meshes.remove(0).close().unwrap();
    let [first, second] = &mut meshes[..] else { panic!() };
    first.send(2, at(5), &[2]).unwrap();
    assert_eq!(second.recv(1, at(5), 1).unwrap(), [2]);
    assert_eq!(first.recv(0, at(1), 1).unwrap(), [1]);
    first.tick_now().unwrap();
    first.send(0, at(2), &[0]).unwrap();
    let error = first.recv(0, at(2), 1).unwrap_err();
    assert!(error.to_string().starts_with("lost P0 (said goodbye before it had sent all)"), "{error}");
}

#[test]
fn a_sign_of_life_is_passed_along_a_chain() {
    // P0 waits for P1, who waits for P2, who computes for many times the limit of silence.
    let limits = impatient();
    let mut meshes = meshes_with(3, 0, &limits);
    let mut computing = meshes.pop().unwrap();
    let mut middle = meshes.pop().unwrap();
    let mut first = meshes.pop().unwrap();
    let chain = [
        thread::spawn(move || first.recv(1, at(1), 1).map(|_| first)),
        thread::spawn(move || {
            let message = middle.recv(2, at(1), 1)?;
            middle.send_vec(0, at(1), message)?;
            middle.tick_now().map(|()| middle)
        }),
    ];
    let start = Instant::now();
    while start.elapsed() < 3 * limits.silence {
        thread::sleep(Duration::from_millis(1));
        computing.tick().unwrap();
    }
    computing.send(1, at(1), &[9]).unwrap();
    for link in chain {
        link.join().unwrap().unwrap();
    }
}

#[test]
fn patience_with_the_living_ends_too() {
    let limits = Limits { patience: Duration::from_millis(1800), ..impatient() };
    let mut meshes = meshes_with(2, 0, &limits);
    let mut computing = meshes.pop().unwrap();
    let mut waiting = meshes.pop().unwrap();
    let waiter = thread::spawn(move || waiting.recv(1, at(1), 1).unwrap_err());
    while computing.tick().is_ok() {
        thread::sleep(Duration::from_millis(1));
    }
    let error = waiter.join().unwrap();
    assert!(matches!(error.what(), ErrorKind::Stalled { .. }), "{error}");
}

#[test]
fn a_full_inbox_holds_the_sender_back_until_it_is_used() {
    let limits = Limits { inbox: 100_000, outbox: 50_000, ..Limits::default() };
    let mut meshes = meshes_with(2, 0, &limits);
    let mut reader = meshes.pop().unwrap();
    let mut sender = meshes.pop().unwrap();
    let messages = 100;
    let thread = thread::spawn(move || {
        for op in 0..messages {
            sender.send(1, at(op), &[op as u8; 10_000]).unwrap();
        }
        sender
    });
    while reader.peers[0].bytes() <= limits.inbox {
        reader.tick_now().unwrap();
    }
    // With the inbox full nothing more is taken in, though there is more to come.
    reader.tick_now().unwrap();
    assert!(reader.peers[0].bytes() < limits.inbox + 20_000);
    assert!(!thread.is_finished());
    for op in 0..messages {
        assert_eq!(reader.recv(0, at(op), 10_000).unwrap(), [op as u8; 10_000]);
    }
    thread.join().unwrap();
}

#[test]
fn two_that_send_more_than_their_queues_hold_do_not_block_each_other() {
    let limits = Limits { outbox: 10_000, ..Limits::default() };
    let threads: Vec<_> = meshes_with(2, 0, &limits)
        .into_iter()
        .map(|mut mesh| {
            thread::spawn(move || {
                let peer = 1 - mesh.me();
                for op in 0..200 {
                    mesh.send(peer, at(op), &[op as u8; 5000]).unwrap();
                }
                for op in 0..200 {
                    let message = mesh.recv(peer, at(op), 5000).unwrap();
                    mesh.recycle(message);
                }
                mesh.close().unwrap();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// The first end as a bare transport, to send what no mesh would.
fn with_raw_peer() -> (MemoryTransport, Vec<Mesh>) {
    let mut ends = memory::mesh(3, 0).into_iter();
    let raw = ends.next().unwrap();
    let meshes =
        (1..).zip(ends).map(|(me, end)| Mesh::new(Box::new(end), me, names(3, 0), Limits::default()));
    (raw, meshes.collect())
}

#[test]
fn what_no_mesh_sends_is_malformed() {
    let (mut raw, mut meshes) = with_raw_peer();
    let sign = Frame { kind: FrameKind::KeepAlive, at: At { part: 3, ..At::default() }, payload: vec![] };
    raw.send(1, sign);
    let error = meshes[0].recv(2, at(1), 1).unwrap_err();
    assert!(error.to_string().contains("a sign of life of endpoint 3"), "{error}");

    let (mut raw, mut meshes) = with_raw_peer();
    raw.send(1, Frame { kind: FrameKind::Goodbye, at: at(0), payload: vec![] });
    raw.send(1, Frame::data(at(1), vec![1]));
    let error = meshes[0].recv(2, at(1), 1).unwrap_err();
    assert!(error.to_string().contains("a frame after its goodbye"), "{error}");
}

/// Links over which signs of life come without end, one every ten microseconds, for ten seconds.
struct Flood {
    signs: u32,
}

impl Transport for Flood {
    fn is_linked(&self, peer: usize) -> bool {
        peer != 1
    }
    fn send(&mut self, _to: usize, _frame: Frame) {}
    fn flush(&mut self) -> bool {
        true
    }
    fn backlog(&self, _to: usize) -> usize {
        0
    }
    fn poll(&mut self, _wait: Duration) -> Option<(usize, Event)> {
        self.signs += 1;
        assert!(self.signs < 1_000_000, "the flood outlasted all patience");
        let at = At { batch: self.signs, ..At::default() };
        Some((0, Event::Frame(Frame { kind: FrameKind::KeepAlive, at, payload: vec![] })))
    }
    fn hold(&mut self, _peer: usize, _hold: bool) {}
    fn now(&self) -> Duration {
        Duration::from_micros(10) * self.signs
    }
    fn wire_bytes(&self, _peer: usize) -> crate::WireBytes {
        crate::WireBytes::default()
    }
    fn finish(&mut self) -> bool {
        true
    }
    fn buffer(&mut self, capacity: usize) -> Vec<u8> {
        Vec::with_capacity(capacity)
    }
    fn recycle(&mut self, _buffer: Vec<u8>) {}
}

#[test]
fn a_flood_of_signs_does_not_outlast_patience() {
    let limits = Limits { patience: Duration::from_secs(2), ..Limits::default() };
    let mut mesh = Mesh::new(Box::new(Flood { signs: 0 }), 1, names(3, 0), limits);
    let error = mesh.recv(0, at(1), 1).unwrap_err();
    assert!(matches!(error.what(), ErrorKind::Stalled { .. }), "{error}");
}

/// Links on which a message is always at hand. It says how many frames have gone out.
#[derive(Default)]
struct AtHand {
    come: u32,
    queued: usize,
    out: Arc<AtomicUsize>,
}

impl Transport for AtHand {
    fn is_linked(&self, peer: usize) -> bool {
        peer == 1
    }
    fn send(&mut self, _to: usize, _frame: Frame) {
        self.queued += 1;
    }
    fn flush(&mut self) -> bool {
        self.out.fetch_add(std::mem::take(&mut self.queued), Ordering::Relaxed);
        true
    }
    fn backlog(&self, _to: usize) -> usize {
        self.queued
    }
    fn poll(&mut self, _wait: Duration) -> Option<(usize, Event)> {
        self.come += 1;
        let aside = if self.come == 3 { At::ASIDE } else { 0 };
        Some((1, Event::Frame(Frame::data(At { part: aside, ..at(self.come) }, vec![]))))
    }
    fn hold(&mut self, _peer: usize, _hold: bool) {}
    fn now(&self) -> Duration {
        Duration::ZERO
    }
    fn wire_bytes(&self, _peer: usize) -> crate::WireBytes {
        crate::WireBytes::default()
    }
    fn finish(&mut self) -> bool {
        true
    }
}

#[test]
fn what_is_sent_waits_for_more_only_while_it_is_gathered() {
    let out = Arc::new(AtomicUsize::new(0));
    let links = AtHand { out: out.clone(), ..AtHand::default() };
    let mut mesh = Mesh::new(Box::new(links), 0, names(2, 0), Limits::default());
    let gone_after = |mesh: &mut Mesh, come: At| {
        mesh.send(1, at(9), &[]).unwrap();
        mesh.recv(1, come, 0).unwrap();
        out.load(Ordering::Relaxed)
    };
    mesh.gather_sends(true);
    assert_eq!(gone_after(&mut mesh, at(1)), 0);
    assert_eq!(gone_after(&mut mesh, at(2)), 0);
    let aside = At { part: At::ASIDE, ..at(3) };
    assert_eq!(gone_after(&mut mesh, aside), 3, "messages aside are of other work");
    assert_eq!(gone_after(&mut mesh, at(4)), 3);
    mesh.gather_sends(false);
    assert_eq!(gone_after(&mut mesh, at(5)), 5);
}

#[test]
fn an_aborts_text_is_bounded_and_readable() {
    let (mut raw, mut meshes) = with_raw_peer();
    let mut text = vec![b'\n', 0xff];
    text.resize(10_000, b'x');
    raw.send(1, Frame { kind: FrameKind::Abort, at: At { part: 77, ..At::default() }, payload: text });
    let error = meshes[0].recv(2, at(1), 1).unwrap_err();
    let ErrorKind::Aborted { origin, reason, .. } = error.what() else { panic!("{error}") };
    assert_eq!(origin, "P0");
    assert!(reason.starts_with(" \u{fffd}xxx") && reason.len() < 1100, "{reason}");
    assert_eq!(leave::clip(&"é".repeat(REASON)).len(), REASON);
    assert_eq!(leave::clip(&format!("x{}", "é".repeat(REASON))).len(), REASON - 1);
}

/// Two endpoints' meshes in each of two lanes: `[lane][endpoint]`.
fn in_two_lanes() -> [Vec<Mesh>; 2] {
    let ties = [AbortFlag::default(), AbortFlag::default()];
    [0, 1].map(|number| {
        let lane = Lane { number, count: 2 };
        meshes(2, 0).into_iter().zip(&ties).map(|(mesh, tie)| mesh.in_lane(lane, tie.clone())).collect()
    })
}

#[test]
fn addresses_get_the_lane() {
    let [_, mut second] = in_two_lanes();
    second[0].send(1, at(3), b"x").unwrap();
    assert!(second[1].arrived(0).unwrap());
    assert_eq!(second[1].peers[0].pop(false).unwrap().at, At { lane: 1, ..at(3) });
    // A message of another lane is another message.
    second[1].transport.send(0, Frame::data(at(4), vec![]));
    let error = second[0].recv(1, at(4), 0).unwrap_err();
    let expected = At { lane: 1, ..at(4) };
    assert_eq!(*error.what(), ErrorKind::WrongAddress { expected, got: at(4) });
    assert!(error.to_string().contains("op 4, batch 0, lane 1 was due"), "{error}");
}

#[test]
fn a_lane_that_fails_ends_the_others_of_its_endpoint_and_so_of_all() {
    let [mut first, mut second] = in_two_lanes();
    let (mut waits, mut works) = (first.remove(0), first.remove(0));
    let (mut fails, mut hears) = (second.remove(0), second.remove(0));
    thread::scope(|scope| {
        let waiter = scope.spawn(move || {
            let error = waits.recv(1, at(1), 1).unwrap_err();
            assert_eq!(waits.send(1, at(2), &[]).unwrap_err(), error, "an error is final");
            error.to_string()
        });
        fails.abort("no more power");
        let error = waiter.join().unwrap();
        let says = "this party aborted: lane 1 failed: this party aborted: no more power";
        assert!(error.starts_with(says), "{error}");
    });
    // The other endpoint hears of it in both lanes, whichever it looks at first.
    let error = works.recv(0, at(1), 1).unwrap_err().to_string();
    assert!(error.starts_with("P0 aborted: lane 1 failed: "), "{error}");
    let error = hears.tick().and_then(|()| hears.recv(0, at(1), 1)).unwrap_err().to_string();
    assert!(error.contains("lane 0 failed: "), "{error}");
}

#[test]
fn a_lane_that_is_done_is_not_called_back() {
    let [mut first, mut second] = in_two_lanes();
    let closing = first.pop().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| first.pop().unwrap().close().unwrap());
        closing.close().unwrap();
    });
    let error = second[0].abort("late");
    assert!(matches!(error.what(), ErrorKind::GaveUp { reason } if reason == "late"), "{error}");
}
