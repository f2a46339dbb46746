//! Links that stay: parties that serve, and clients that attend, over TLS and TCP.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::Deployment;
use tacit_net::setup::{Attendance, Hub, News, Security, SetupError, Speaker, Word, connect, quiet};
use tacit_net::{At, Frame, Mesh, Transport};

const LONG: Duration = Duration::from_secs(30);

/// Two parties that have all their links.
fn met(deployment: &Deployment, runs: u16) -> [Hub; 2] {
    let mut hubs = [0, 1].map(|party| Hub::open(&deployment.config(party), runs).unwrap());
    let start = Instant::now();
    while !hubs.iter().all(|hub| (0..=runs).all(|lane| hub.is_ready(lane))) {
        assert!(start.elapsed() < LONG, "they don't meet");
        look(&mut hubs);
    }
    hubs
}

/// What both hear at a look.
fn look(hubs: &mut [Hub; 2]) -> [Vec<News>; 2] {
    hubs.each_mut().map(|hub| hub.next(Some(Duration::from_millis(5))).unwrap())
}

/// Looks until this is so.
fn until(hubs: &mut [Hub; 2], mut so: impl FnMut(&mut [Hub; 2], [Vec<News>; 2]) -> bool) {
    let start = Instant::now();
    loop {
        let news = look(hubs);
        if so(hubs, news) {
            return;
        }
        assert!(start.elapsed() < LONG, "it doesn't come about");
    }
}

fn mesh(links: impl Transport + 'static, me: usize, endpoints: usize) -> Mesh {
    let names = (0..endpoints).map(|endpoint| format!("E{endpoint}")).collect();
    Mesh::new(Box::new(links), me, names, tacit_net::Limits::default())
}

/// A run of two: each tells the other something, and leaves.
fn run(hubs: &mut [Hub; 2], lane: u16) {
    let meshes = [0, 1].map(|me| mesh(hubs[me].lend(lane, &[]).unwrap(), me, 2));
    assert!(hubs.iter_mut().all(|hub| !hub.is_ready(lane) && hub.lend(lane, &[]).is_none()));
    thread::scope(|scope| {
        for mut mesh in meshes {
            scope.spawn(move || {
                let other = 1 - mesh.me();
                for op in 0..3 {
                    mesh.send(other, At::op(op), &[op as u8; 1000]).unwrap();
                    assert_eq!(mesh.recv(other, At::op(op), 1000).unwrap(), [op as u8; 1000]);
                }
                mesh.close().unwrap();
            });
        }
    });
    until(hubs, |hubs, _| hubs.iter().all(|hub| hub.is_ready(lane)));
}

#[test]
fn links_come_back_after_a_run() {
    for security in [Security::Tls, Security::Tcp] {
        let deployment = Deployment::new(2, 0).with(security);
        let mut hubs = met(&deployment, 2);
        for number in 0..10 {
            run(&mut hubs, 1 + number % 2);
        }
        assert_eq!(hubs.each_ref().map(Hub::connections), [3, 3]);
    }
}

#[test]
fn a_lane_whose_run_ended_badly_is_connected_anew_and_others_stay() {
    let deployment = Deployment::new(2, 0);
    let mut hubs = met(&deployment, 2);
    for ends in ["dropped", "aborted"] {
        let [mut one, other] = [0, 1].map(|me| mesh(hubs[me].lend(1, &[]).unwrap(), me, 2));
        if ends == "aborted" {
            one.abort("it is over");
        }
        drop((one, other));
        assert!(hubs.iter().all(|hub| hub.is_ready(2)));
        until(&mut hubs, |hubs, _| hubs.iter().all(|hub| hub.is_ready(1)));
        run(&mut hubs, 1);
        run(&mut hubs, 2);
    }
}

#[test]
fn a_run_that_is_over_sends_nothing_more() {
    let deployment = Deployment::new(2, 0);
    let mut hubs = met(&deployment, 1);
    let over = Arc::new(AtomicBool::new(false));
    let mut links = hubs[0].lend(1, &[]).unwrap();
    links.end_with(over.clone());
    let (mut one, mut other) = (mesh(links, 0, 2), mesh(hubs[1].lend(1, &[]).unwrap(), 1, 2));
    one.send(1, At::op(0), b"before").unwrap();
    one.push_out().unwrap();
    assert_eq!(other.recv(0, At::op(0), 6).unwrap(), b"before");
    over.store(true, Ordering::SeqCst);
    let sent = one.send(1, At::op(1), b"after").and_then(|()| one.push_out());
    // What waits for others ends, too, and its links with it.
    assert!(one.recv(1, At::op(0), 1).is_err(), "{sent:?}");
    drop(one);
    assert!(other.recv(0, At::op(1), 5).is_err());
    drop(other);
    until(&mut hubs, |hubs, _| hubs.iter().all(|hub| hub.is_ready(1)));
    run(&mut hubs, 1);
}

/// However many control messages come at once, none is left out, and the link stays.
#[test]
fn whoever_was_away_hears_all_control_messages() {
    let deployment = Deployment::new(2, 0);
    let mut hubs = met(&deployment, 1);
    for number in 0..200 {
        hubs[0].say(Speaker::Party(1), vec![number]);
    }
    let mut heard = Vec::new();
    until(&mut hubs, |hubs, [_, news]| {
        heard.extend(news.into_iter().map(|news| match news {
            News::Said { by: Speaker::Party(0), message } => message[0],
            other => panic!("{other:?}"),
        }));
        heard.len() == 200 && hubs[1].is_complete()
    });
    assert!(heard.into_iter().eq(0..200));
}

/// What waits to be sent stays here, too, though the other side would take it.
#[test]
fn what_a_run_had_queued_does_not_go_out_once_it_is_over() {
    let deployment = Deployment::new(2, 0);
    let mut hubs = met(&deployment, 1);
    let over = Arc::new(AtomicBool::new(false));
    let [mut links, mut other] = [0, 1].map(|me| hubs[me].lend(1, &[]).unwrap());
    links.end_with(over.clone());
    links.send(1, Frame::data(At::op(0), vec![0; 32 << 20]));
    assert!(!links.flush(), "that is more than a socket takes");
    over.store(true, Ordering::SeqCst);
    let left = links.backlog(1);
    assert!(left > 0);
    for _ in 0..100 {
        let _ = other.poll(Duration::from_millis(1));
        assert!(links.flush() && !links.finish());
    }
    assert_eq!(links.backlog(1), left);
}

#[test]
fn what_comes_after_a_goodbye_belongs_to_the_next_run() {
    let deployment = Deployment::new(2, 0);
    let mut hubs = met(&deployment, 1);
    let [one, other] = [0, 1].map(|me| mesh(hubs[me].lend(1, &[]).unwrap(), me, 2));
    let closing = thread::spawn(move || one.close().unwrap());
    other.close().unwrap();
    closing.join().unwrap();
    // One begins the next run while the other still rests.
    until(&mut hubs, |hubs, _| hubs.iter().all(|hub| hub.is_ready(1)));
    let mut one = mesh(hubs[0].lend(1, &[]).unwrap(), 0, 2);
    one.send(1, At::op(5), b"early").unwrap();
    one.push_out().unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(50) {
        assert!(hubs[1].next(Some(Duration::from_millis(5))).unwrap().is_empty());
    }
    let mut other = mesh(hubs[1].lend(1, &[]).unwrap(), 1, 2);
    assert_eq!(other.recv(0, At::op(5), 5).unwrap(), b"early");
}

#[test]
fn nobody_wakes_while_nothing_happens() {
    let deployment = Deployment::new(2, 1);
    let config = deployment.config(2);
    let mut hubs = met(&deployment, 4);
    let client = thread::spawn(move || Attendance::connect(&config, LONG, &quiet()).unwrap());
    let mut came = 0;
    until(&mut hubs, |_, news| {
        came += news.iter().flatten().filter(|news| matches!(news, News::Came { .. })).count();
        came == 2
    });
    let _client = client.join().unwrap();
    // What was under way has come.
    look(&mut hubs);
    for hub in &mut hubs {
        let (before, start) = (hub.wakeups(), Instant::now());
        let quiet = Duration::from_millis(300);
        while let Some(left) = quiet.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
            hub.next(Some(left)).unwrap();
        }
        // Once because the time was over; a look may end a moment early.
        assert!(hub.wakeups() - before <= 3, "{} times", hub.wakeups() - before);
    }
}

#[test]
fn a_client_asks_is_lent_and_stays() {
    let deployment = Deployment::new(2, 2);
    let configs = [2, 3].map(|client| deployment.config(client));
    let mut hubs = met(&deployment, 2);
    // Whoever calls for one run is told that these serve.
    let config = configs[0].clone();
    let other = thread::spawn(move || connect(&config, &[2]).unwrap_err());
    let clients =
        configs.map(|config| thread::spawn(move || Attendance::connect(&config, LONG, &quiet()).unwrap()));
    let mut guests: [Vec<(u64, String)>; 2] = Default::default();
    until(&mut hubs, |_, news| {
        for (guests, news) in guests.iter_mut().zip(news) {
            guests.extend(news.into_iter().filter_map(|news| match news {
                News::Came { guest, client } => Some((guest, client.name)),
                _ => None,
            }));
        }
        guests.iter().all(|guests| guests.len() == 2) && other.is_finished()
    });
    assert!(matches!(other.join().unwrap(), SetupError::Serves { peer } if peer == "P0"));
    let [mut client, _still] = clients.map(|client| client.join().unwrap());
    for round in 0..3_u8 {
        client.say(0, vec![round]);
        let mut asked = None;
        until(&mut hubs, |_, [news, _]| {
            asked = asked.or_else(|| {
                news.into_iter().find_map(|news| match news {
                    News::Said { by: Speaker::Guest(guest), message } => {
                        (message == [round]).then_some(guest)
                    }
                    _ => None,
                })
            });
            asked.is_some()
        });
        assert!(guests[0].contains(&(asked.unwrap(), "C0".to_owned())));
        let lent = [0, 1].map(|party| {
            let guest = guests[party].iter().find(|(_, name)| name == "C0").unwrap().0;
            hubs[party].say(Speaker::Guest(guest), b"begin".to_vec());
            hubs[party].lend(1, &[guest]).unwrap()
        });
        for party in 0..2 {
            let word = client.next(&[party], LONG);
            assert!(matches!(&word, Some(Word::Said { message, .. }) if message == b"begin"), "{word:?}");
        }
        let links = client.lend(3);
        thread::scope(|scope| {
            for (me, lent) in lent.into_iter().enumerate() {
                scope.spawn(move || {
                    let mut mesh = mesh(lent, me, 3);
                    assert_eq!(mesh.recv(2, At::op(1), 2).unwrap(), b"hi");
                    mesh.close().unwrap();
                });
            }
            let mut mesh = mesh(links, 2, 3);
            (0..2).for_each(|party| mesh.send(party, At::op(1), b"hi").unwrap());
            mesh.see_out().unwrap();
        });
        client = client.after_run().expect("all links stay");
        until(&mut hubs, |hubs, _| hubs.iter().all(|hub| hub.is_ready(1)));
    }
    // Whoever is gone is missed.
    drop(client);
    let mut left = 0;
    until(&mut hubs, |_, news| {
        left += news
            .iter()
            .flatten()
            .filter(|news| matches!(news, News::Left { who: Speaker::Guest(_) }))
            .count();
        left == 2
    });
}
