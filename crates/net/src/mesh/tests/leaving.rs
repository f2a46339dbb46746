//! Who is left out, late or leaves early.

use super::*;

/// A deadline that nobody reaches whose message comes, and one that ends soon.
fn within(mesh: &Mesh, millis: u64) -> Duration {
    mesh.now() + Duration::from_millis(millis)
}

#[test]
fn who_fails_is_left_out_and_the_others_go_on() {
    // One is lost, one aborts, one sends another address, another length, something malformed; each had sent a message.
    for way in 0..5 {
        let mut ends = memory::mesh(3, 0).into_iter();
        let mut raw = ends.next().unwrap();
        let mut meshes: Vec<Mesh> =
            (1..).zip(ends).map(|(me, end)| Mesh::new(Box::new(end), me, names(3, 0), impatient())).collect();
        for mesh in &mut meshes {
            mesh.tolerate_failures(Duration::ZERO);
        }
        raw.send(1, Frame::data(at(1), vec![1]));
        let abort =
            |part| Frame { kind: FrameKind::Abort, at: At { part, ..At::default() }, payload: vec![] };
        match way {
            0 => drop(raw),
            // Whomever it blames, the abort is its own.
            1 => raw.send(1, abort(2)),
            2 => raw.send(1, Frame::data(at(3), vec![1])),
            3 => raw.send(1, Frame::data(at(2), vec![1, 2])),
            _ => raw
                .send(1, Frame { kind: FrameKind::KeepAlive, at: At { part: 9, ..at(0) }, payload: vec![] }),
        }
        let [first, second] = &mut meshes[..] else { panic!() };
        let soon = within(first, 5000);
        assert_eq!(first.recv_by(0, at(1), 1, soon).unwrap(), Some(vec![1]), "{way}");
        assert_eq!(first.recv_by(0, at(2), 1, soon).unwrap(), None, "{way}");
        assert!(first.now() < soon, "{way}: nobody waits for one that has failed");
        first.send(0, at(4), &[0; 100]).unwrap();
        first.send(2, at(5), b"x").unwrap();
        assert_eq!(second.recv_by(1, at(5), 1, soon).unwrap(), Some(b"x".to_vec()), "{way}");
        first.tick_now().unwrap();
        let error = first.require_all().unwrap_err();
        assert_eq!(error.peer().unwrap().index, 0, "{way}: {error}");
        assert_eq!(first.tick().unwrap_err(), error, "an error is final again");
    }
}

#[test]
fn a_deadline_ends_whatever_signs_of_life_come() {
    let mut mesh = Mesh::new(Box::new(Flood { signs: 0 }), 1, names(3, 0), Limits::default());
    mesh.tolerate_failures(Duration::ZERO);
    assert_eq!(mesh.recv_by(0, at(1), 1, Duration::from_secs(2)).unwrap(), None);
    assert!((2..3).contains(&mesh.now().as_secs()), "{:?}", mesh.now());
    // Who was late once is out, and costs no more time.
    assert_eq!(mesh.recv_by(0, at(2), 1, Duration::from_secs(9)).unwrap(), None);
    assert!(mesh.now().as_secs() < 3);
}

/// However many frames of one come first, or last.
#[test]
fn a_flood_of_one_costs_no_frame_of_another() {
    for before in [BURST - 1, BURST, BURST + 1, 3 * BURST] {
        let mut ends = memory::mesh(3, 0).into_iter();
        let mut flood = ends.next().unwrap();
        let mut mesh = Mesh::new(Box::new(ends.next().unwrap()), 1, names(3, 0), Limits::default());
        let mut other = ends.next().unwrap();
        mesh.tolerate_failures(Duration::ZERO);
        let sign = |number: usize| {
            let at = At { batch: number as u32, ..At::default() };
            Frame { kind: FrameKind::KeepAlive, at, payload: vec![] }
        };
        (0..before).for_each(|number| flood.send(1, sign(number)));
        other.send(1, Frame { kind: FrameKind::Data, at: at(1), payload: b"x".to_vec() });
        (0..before).for_each(|number| flood.send(1, sign(number)));
        assert_eq!(mesh.recv_by(0, at(1), 1, Duration::ZERO).unwrap(), None);
        let soon = within(&mesh, 500);
        assert_eq!(mesh.recv_by(2, at(1), 1, soon).unwrap(), Some(b"x".to_vec()), "{before}");
    }
}

#[test]
fn what_came_while_this_party_was_busy_is_not_late() {
    let mut meshes = meshes(2, 0);
    meshes[0].tolerate_failures(Duration::ZERO);
    let deadline = within(&meshes[0], 20);
    meshes[1].send(0, at(1), b"x").unwrap();
    thread::sleep(Duration::from_millis(30));
    assert_eq!(meshes[0].recv_by(1, at(1), 1, deadline).unwrap(), Some(b"x".to_vec()));
    assert_eq!(meshes[0].recv_by(1, at(2), 1, deadline).unwrap(), None);
}

#[test]
fn signs_of_life_are_passed_on_only_while_somebody_waits_for_them() {
    let mut ends = memory::mesh(3, 0).into_iter();
    let mut origin = ends.next().unwrap();
    let mut mesh = Mesh::new(Box::new(ends.next().unwrap()), 1, names(3, 0), Limits::default());
    let mut other = ends.next().unwrap();
    for (number, passed) in [(1, true), (2, false)] {
        let at = At { batch: number, ..At::default() };
        origin.send(1, Frame { kind: FrameKind::KeepAlive, at, payload: vec![] });
        mesh.tick_now().unwrap();
        assert_eq!(other.poll(Duration::ZERO).is_some(), passed, "{number}");
        mesh.tolerate_failures(Duration::ZERO);
    }
}

#[test]
fn who_is_late_is_still_told() {
    let mut meshes = meshes(2, 0);
    meshes[0].tolerate_failures(Duration::ZERO);
    let soon = within(&meshes[0], 10);
    assert_eq!(meshes[0].recv_by(1, at(1), 1, soon).unwrap(), None);
    meshes[0].send(1, at(2), b"x").unwrap();
    let error = meshes[0].abort("somebody was late");
    assert!(matches!(error.what(), ErrorKind::GaveUp { .. }));
    assert_eq!(meshes[1].recv(0, at(2), 1).unwrap(), b"x");
    assert!(matches!(meshes[1].recv(0, at(3), 1).unwrap_err().what(), ErrorKind::Aborted { .. }));
}

#[test]
fn without_leave_a_late_message_ends_the_run() {
    let mut meshes = meshes(2, 0);
    let deadline = within(&meshes[0], 30);
    let error = meshes[0].recv_by(1, at(1), 1, deadline).unwrap_err();
    assert!(matches!(error.what(), ErrorKind::Silent { .. }), "{error}");
    assert!(matches!(meshes[1].recv(0, at(1), 1).unwrap_err().what(), ErrorKind::Aborted { .. }));
}

#[test]
fn leaving_works_without_one_that_takes_nothing() {
    let limits = Limits { outbox: 1000, ..impatient() };
    let mut meshes = meshes_with(3, 0, &limits);
    let mut first = meshes.remove(0);
    first.tolerate_failures(Duration::ZERO);
    for op in 0..10 {
        first.send(1, at(op), &[0; 1000]).unwrap();
    }
    first.send(2, at(0), b"x").unwrap();
    first.close().unwrap();
    assert_eq!(meshes[1].recv(0, at(0), 1).unwrap(), b"x");
}

#[test]
fn nobody_left_out_nothing_changed() {
    let mut meshes = meshes(2, 0);
    meshes[0].tolerate_failures(Duration::ZERO);
    meshes[0].require_all().unwrap();
    meshes[1].abort("no");
    assert!(matches!(meshes[0].recv(1, at(0), 0).unwrap_err().what(), ErrorKind::Aborted { .. }));
}

/// A client that has given all stays to the end, and hears which it is.
#[test]
fn who_leaves_early_hears_how_the_run_ends() {
    // All end well; the client needs nothing but their goodbyes, and they nothing of it.
    let mut meshes = meshes(2, 1);
    let client = thread::spawn({
        let client = meshes.pop().unwrap();
        move || client.see_out()
    });
    while !meshes.iter().all(|mesh| mesh.peers[2].has_left()) {
        for mesh in &mut meshes {
            mesh.service().unwrap();
        }
    }
    assert!(meshes.iter().all(|mesh| mesh.peers[2].listens() && !mesh.peers[2].is_present()));
    meshes.pop().unwrap().close().unwrap();
    assert!(!client.is_finished(), "one party's end is not the run's");
    meshes.pop().unwrap().close().unwrap();
    client.join().unwrap().unwrap();

    // One is lost; one aborts, though the client has left; one has ended well and another aborts.
    let ends: [fn(Vec<Mesh>); 3] = [
        |mut meshes| drop(meshes.remove(0)),
        |mut meshes| drop(meshes[0].abort("a check fails")),
        |mut meshes| {
            meshes.remove(1).close().unwrap();
            meshes[0].abort("a check fails");
        },
    ];
    for (end, says) in
        ends.into_iter().zip(["lost P0", "P0 aborted: a check fails", "P0 aborted: a check fails"])
    {
        let mut meshes = self::meshes(2, 1);
        let client = meshes.pop().unwrap();
        let client = thread::spawn(move || client.see_out());
        while !meshes.iter().all(|mesh| mesh.peers[2].has_left()) {
            for mesh in &mut meshes {
                mesh.service().unwrap();
            }
        }
        end(meshes);
        let error = client.join().unwrap().unwrap_err().to_string();
        assert!(error.starts_with(says), "{error}");
    }
}

/// The run goes on without a client that has given all and is lost.
#[test]
fn who_has_left_early_may_be_lost() {
    let mut meshes = meshes(2, 1);
    let mut client = meshes.pop().unwrap();
    for party in 0..2 {
        client.transport.send(party, farewell::goodbye(true));
    }
    drop(client);
    let (first, second) = meshes.split_at_mut(1);
    first[0].send(1, at(1), &[7]).unwrap();
    second[0].send(0, at(1), &[7]).unwrap();
    assert_eq!(first[0].recv(1, at(1), 1).unwrap(), [7]);
    assert_eq!(second[0].recv(0, at(1), 1).unwrap(), [7]);
    for mesh in meshes {
        mesh.close().unwrap();
    }
}

/// Parties that compute are waited for; those of which nothing is heard any more are not.
#[test]
fn who_leaves_early_waits_for_signs_of_life() {
    let limits =
        Limits { silence: Duration::from_millis(500), patience: Duration::from_secs(2), ..Limits::default() };
    let mut meshes = meshes_with(2, 1, &limits);
    let client = meshes.pop().unwrap();
    let start = Instant::now();
    let client = thread::spawn(move || client.see_out());
    while start.elapsed() < Duration::from_secs(5) {
        meshes[0].tick().unwrap();
        thread::sleep(Duration::from_millis(5));
    }
    assert!(!client.is_finished());
    let error = client.join().unwrap().unwrap_err();
    assert!(matches!(error.what(), ErrorKind::Silent { .. }), "{error}");
}
