//! Who sends or takes as slowly as each wait allows.

use super::*;

/// Links to three endpoints of which the last one gives a message and takes bytes every nine seconds, and gives signs of life
/// all the time. Its clock goes on while somebody waits.
struct Trickle {
    now: Duration,
    due: Duration,
    op: u32,
    /// Bytes of a message.
    len: usize,
    queued: usize,
    /// Bytes taken at a time.
    takes: usize,
    /// Instead of messages there are signs of life of another one.
    signs: bool,
}

const EACH: Duration = Duration::from_secs(9);

impl Transport for Trickle {
    fn is_linked(&self, peer: usize) -> bool {
        peer != 0
    }
    fn send(&mut self, to: usize, frame: Frame) {
        self.queued += if to == 2 { 1 + frame.payload.len() } else { 0 };
    }
    fn flush(&mut self) -> bool {
        self.queued == 0
    }
    fn backlog(&self, to: usize) -> usize {
        if to == 2 { self.queued } else { 0 }
    }
    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        if wait.is_zero() {
            return None;
        }
        self.now += wait.min(Duration::from_secs(1));
        if self.now < self.due {
            return Some((2, Event::Progress));
        }
        self.due += EACH;
        self.op += 1;
        self.queued = self.queued.saturating_sub(self.takes);
        if self.signs {
            let at = At { part: 1, batch: self.op, ..At::default() };
            return Some((1, Event::Frame(Frame { kind: FrameKind::KeepAlive, at, payload: vec![] })));
        }
        Some((2, Event::Frame(Frame::data(at(self.op), vec![0; self.len]))))
    }
    fn hold(&mut self, _peer: usize, _hold: bool) {}
    fn now(&self) -> Duration {
        self.now
    }
    fn wire_bytes(&self, _peer: usize) -> crate::WireBytes {
        crate::WireBytes::default()
    }
    fn finish(&mut self) -> bool {
        true
    }
}

/// The mesh of a party over such links, whose waits for the third endpoint add up or don't.
fn trickle(is_hurried: bool, len: usize, takes: usize) -> Mesh {
    let links = Trickle { now: Duration::ZERO, due: EACH, op: 0, len, queued: 0, takes, signs: false };
    let limits = Limits { outbox: 1000, patience: Duration::from_secs(24), ..Limits::default() };
    let mut mesh = Mesh::new(Box::new(links), 0, names(2, 1), limits);
    if is_hurried {
        mesh.hurry(2);
    }
    mesh
}

/// Receives a hundred messages.
fn receives(mut mesh: Mesh, len: usize) -> (Duration, Option<ErrorKind>) {
    let failure = (1..=100).find_map(|op| mesh.recv(2, at(op), len).err());
    (mesh.now(), failure.map(|error| error.what().clone()))
}

/// Sends a thousand bytes more than may be queued, waits for room, and then until all have gone out.
fn sends(mut mesh: Mesh) -> [(Duration, Option<ErrorKind>); 2] {
    let after = |failure: Option<Error>, mesh: &Mesh| (mesh.now(), failure.map(|error| error.what().clone()));
    let room = mesh.send(2, at(1), &[0; 2000]).err();
    let room = after(room, &mesh);
    let out = mesh.push_out().err();
    [room, after(out, &mesh)]
}

#[test]
fn a_client_that_sends_each_message_just_in_time_ends_its_run() {
    let (took, failure) = receives(trickle(false, 10, 0), 10);
    assert_eq!((took, failure), (100 * EACH, None));
    let (took, failure) = receives(trickle(true, 10, 0), 10);
    assert!(matches!(failure, Some(ErrorKind::Slow { .. })), "{failure:?}");
    assert!(took < Duration::from_secs(14), "{took:?}");
}

#[test]
fn who_sends_enough_is_waited_for() {
    let (took, failure) = receives(trickle(true, 1 << 20, 0), 1 << 20);
    assert_eq!((took, failure), (100 * EACH, None));
}

#[test]
fn a_client_that_takes_some_bytes_at_a_time_ends_its_run() {
    // Parties are waited for while they take anything.
    let [room, out] = sends(trickle(false, 0, 10));
    assert!(room.1.is_none() && room.0 >= 100 * EACH, "{room:?}");
    assert!(out.1.is_none() && out.0 >= 200 * EACH, "{out:?}");
    let [room, _] = sends(trickle(true, 0, 10));
    assert!(matches!(room.1, Some(ErrorKind::Slow { .. })), "{room:?}");
    assert!(room.0 < Duration::from_secs(14), "{room:?}");
    // Where there is room.
    let mut mesh = trickle(true, 0, 10);
    mesh.send(2, at(1), &[0; 900]).unwrap();
    let error = mesh.push_out().unwrap_err();
    assert!(matches!(error.what(), ErrorKind::Slow { .. }), "{error}");
    assert!(mesh.now() < Duration::from_secs(14), "{:?}", mesh.now());
}

#[test]
fn who_takes_enough_is_waited_for() {
    let mut mesh = trickle(true, 0, 1 << 20);
    for op in 0..10 {
        mesh.send(2, at(op), &vec![0; 3 << 20]).unwrap();
    }
    mesh.push_out().unwrap();
    assert!(mesh.now() >= 30 * EACH, "{:?}", mesh.now());
}

/// What this party passes on is queued for the client, too, which takes none of it.
#[test]
fn signs_of_life_of_others_do_not_keep_a_party_that_pushes_out() {
    let links = Trickle { now: Duration::ZERO, due: EACH, op: 0, len: 0, queued: 0, takes: 0, signs: true };
    let mut mesh = Mesh::new(Box::new(links), 0, names(2, 1), Limits::default());
    mesh.send(2, at(1), &[0]).unwrap();
    let error = mesh.push_out().unwrap_err();
    assert!(matches!(error.what(), ErrorKind::Silent { .. }), "{error}");
    assert!(mesh.now() < Duration::from_secs(11), "{:?}", mesh.now());
}
