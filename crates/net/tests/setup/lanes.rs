//! Links of several lanes.

use super::*;

/// A mesh for each lane.
fn meshes(config: &Config, links: Vec<StreamTransport>) -> Vec<Mesh> {
    let (count, tie) = (links.len() as u16, AbortFlag::default());
    let mesh = |(lane, links): (Lane, StreamTransport)| over(config, links).in_lane(lane, tie.clone());
    Lane::all(count).zip(links).map(mesh).collect()
}

#[test]
fn each_lane_has_its_own_links() {
    const LANES: u16 = 3;
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(3, 1).with(security);
        thread::scope(|scope| {
            for me in 0..4 {
                let config = deployment.config(me);
                scope.spawn(move || {
                    let links = if me < 3 {
                        Listener::bind(&config).unwrap().gather_lanes(&[3], LANES, Duration::from_secs(20))
                    } else {
                        connect_lanes(&config, &[3], LANES, Duration::from_secs(20), &quiet())
                    };
                    let mut lanes = meshes(&config, links.unwrap());
                    assert_eq!(lanes.len(), usize::from(LANES));
                    let peers: Vec<usize> = (0..4).filter(|&peer| lanes[0].is_linked(peer)).collect();
                    assert_eq!(peers.len(), 3);
                    // All send in one order, and receive in another.
                    for (number, mesh) in lanes.iter_mut().enumerate() {
                        for &peer in &peers {
                            mesh.send(peer, At::op(1), &[me as u8, number as u8]).unwrap();
                        }
                    }
                    for (number, mesh) in lanes.iter_mut().enumerate().rev() {
                        for &peer in &peers {
                            let message = mesh.recv(peer, At::op(1), 2).unwrap();
                            assert_eq!(message, [peer as u8, number as u8]);
                        }
                    }
                    for mesh in lanes {
                        mesh.close().unwrap();
                    }
                });
            }
        });
    }
}

/// Of two runs that a client begins at once, every party serves each whole.
#[test]
fn lanes_of_two_runs_are_not_mixed() {
    const LANES: u16 = 4;
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(2, 1).with(security);
        thread::scope(|scope| {
            for party in 0..2 {
                let config = deployment.config(party);
                scope.spawn(move || {
                    let mut listener = Listener::bind(&config).unwrap();
                    for _ in 0..2 {
                        let links = listener.gather_lanes(&[2], LANES, Duration::from_secs(20)).unwrap();
                        let said = meshes(&config, links).into_iter().map(|mut mesh| {
                            let run = mesh.recv(2, At::op(0), 1).unwrap();
                            mesh.send(2, At::op(1), &run).unwrap();
                            mesh.close().unwrap();
                            run
                        });
                        let said: Vec<_> = said.collect();
                        assert!(said.iter().all(|run| *run == said[0]), "{said:?}");
                    }
                });
            }
            for run in 0..2 {
                let config = deployment.config(2);
                scope.spawn(move || {
                    let links =
                        connect_lanes(&config, &[2], LANES, Duration::from_secs(20), &quiet()).unwrap();
                    for mut mesh in meshes(&config, links) {
                        (0..2).for_each(|party| mesh.send(party, At::op(0), &[run]).unwrap());
                        (0..2).for_each(|party| assert_eq!(mesh.recv(party, At::op(1), 1).unwrap(), [run]));
                        mesh.close().unwrap();
                    }
                });
            }
        });
    }
}

#[test]
fn another_number_of_lanes_is_an_error_on_both_sides() {
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(2, 0).with(security);
        let texts = [1, 3].map(|party| {
            let (config, lanes) = (deployment.config(party / 2), party as u16);
            thread::spawn(move || {
                let mut listener = Listener::bind(&config).unwrap();
                listener.gather_lanes(&[], lanes, Duration::from_secs(20)).unwrap_err().to_string()
            })
        });
        let [zero, one] = texts.map(|thread| thread.join().unwrap());
        assert!(
            zero.starts_with("P1 does not fit in with this side: its run is in 3 lanes, this side's in 1")
        );
        assert!(
            one.starts_with("P0 does not fit in with this side: its run is in 1 lanes, this side's in 3")
        );
    }
}

#[test]
fn so_many_lanes_are_refused() {
    let deployment = Deployment::new(2, 1);
    let config = deployment.config(0);
    let mut listener = Listener::bind(&config).unwrap();
    for lanes in [0, MAX_LANES + 1] {
        let client = connect_lanes(&deployment.config(2), &[2], lanes, SHORT, &quiet());
        for result in [listener.gather_lanes(&[], lanes, SHORT), client] {
            let error = result.unwrap_err();
            assert!(matches!(&error, SetupError::WrongUse { .. }), "{error}");
            assert!(error.to_string().contains("1 to 64 lanes"), "{error}");
        }
    }
}

#[test]
fn a_lane_that_is_missing_is_named_and_one_called_for_twice_turned_away() {
    let deployment = without_fingerprints(0);
    let mut listener = Listener::bind(&deployment.config(0)).unwrap();
    let _calls = call_for(&deployment, 1, &[0, 2, 0], 3, &[]);
    let error = listener.gather_lanes(&[], 3, SHORT).unwrap_err().to_string();
    assert!(error.starts_with("no call from P1 for lane 1 within 1 s"), "{error}");
    assert!(error.contains("is P1, which has called for lane 0 of 3 already"), "{error}");
}

#[test]
fn lanes_and_connections_that_wait_are_bounded() {
    let deployment = without_fingerprints(1);
    let mut listener = Listener::bind(&deployment.config(0)).unwrap();
    let all: Vec<u16> = (0..MAX_LANES).collect();
    // The client is not awaited: its call waits. There is no room for another.
    let _calls = call_for(&deployment, 2, &all, MAX_LANES, &[2]);
    let error = listener.gather(&[], SHORT).unwrap_err();
    assert!(!error.to_string().contains("turned away"), "{error}");
    let _more = call_for(&deployment, 2, &[0], 1, &[2]);
    let _far = call_for(&deployment, 1, &[MAX_LANES], MAX_LANES + 1, &[]);
    let error = listener.gather(&[], SHORT).unwrap_err().to_string();
    assert!(error.contains("is C0, of which 64 connections wait already"), "{error}");
    assert!(error.contains("is for lane 64 of 65; a run has 1 to 64 lanes"), "{error}");
    // Its turn comes, with all its lanes.
    let _party = call_for(&deployment, 1, &all, MAX_LANES, &[2]);
    let links = listener.gather_lanes(&[2], MAX_LANES, Duration::from_secs(20)).unwrap();
    assert!(links.len() == 64 && links.iter().all(|lane| lane.is_linked(2)));
}
