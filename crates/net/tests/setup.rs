//! From files to links: what is written, who is let in, and what is said when somebody is not.

mod common;
#[path = "setup/lanes.rs"]
mod lanes;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use common::{Deployment, address, client_mesh, free_ports, mesh, over, replace_certificate};
use tacit_net::frame::{FrameKind, Header};
use tacit_net::setup::{Config, Listener, Security, SetupError, connect, connect_lanes, hello, init, quiet};
use tacit_net::stream::StreamTransport;
use tacit_net::{AbortFlag, At, ErrorKind, Lane, MAX_LANES, Mesh, Transport};

const SHORT: Duration = Duration::from_millis(700);

/// What everybody ends with, all having started together.
fn outcomes(deployment: &Deployment) -> Vec<String> {
    let results = deployment.try_meshes().into_iter();
    results.map(|result| result.map_or_else(|error| error.to_string(), |_| "fine".to_owned())).collect()
}

/// Somebody over plain TCP that calls for these lanes, of so many, all in one call, for a run with these clients.
fn call_for(
    deployment: &Deployment,
    caller: usize,
    lanes: &[u16],
    count: u16,
    clients: &[usize],
) -> Vec<TcpStream> {
    let config = deployment.config(caller);
    let prints = vec![None; config.names().len()];
    let guests = hello::Members::of(clients.iter().copied());
    let hello = hello::Hello { guests, ..hello::Hello::new(caller, 2, &config.names(), &prints) };
    let to = address(&config, 0);
    let call = |&number: &u16| {
        let mut socket = loop {
            match TcpStream::connect(&to) {
                Ok(socket) => break socket,
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        };
        let lane = Lane { number, count };
        socket.write_all(&hello::Hello { lane, call: 7, ..hello.clone() }.bytes()).unwrap();
        socket
    };
    lanes.iter().map(call).collect()
}

/// Parties and a client over plain TCP, without fingerprints, so that whoever calls can say a proper hello.
fn without_fingerprints(clients: usize) -> Deployment {
    let deployment = Deployment::new(2, clients).with(Security::Tcp);
    for endpoint in 0..2 + clients {
        let text = fs::read_to_string(deployment.path(endpoint)).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("fingerprint")).collect();
        fs::write(deployment.path(endpoint), lines.join("\n")).unwrap();
    }
    deployment
}

#[test]
fn init_writes_one_folder_each_and_overwrites_nothing() {
    let deployment = Deployment::new(3, 2);
    for (endpoint, name) in ["P0", "P1", "P2", "C0", "C1"].into_iter().enumerate() {
        let config = deployment.config(endpoint);
        assert_eq!((config.me(), config.security()), (endpoint, Security::Tls));
        assert_eq!(config.names()[endpoint], name);
        let folder = deployment.path(endpoint).parent().unwrap();
        assert!(folder.ends_with(name));
        let key = fs::metadata(folder.join("key.pem")).unwrap();
        assert_eq!(key.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 3);
    }
    let before = fs::read(deployment.path(1)).unwrap();
    let dir = deployment.path(1).ancestors().nth(2).unwrap();
    let again = init(dir, 3, &[], "127.0.0.1", 7000).unwrap_err();
    assert!(again.to_string().contains("P0 is there already"), "{again}");
    assert_eq!(fs::read(deployment.path(1)).unwrap(), before);
}

#[test]
fn init_refuses_what_would_not_work_and_writes_nothing() {
    let nowhere = env::temp_dir().join(format!("tacit-net-nowhere-{}", std::process::id()));
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    for (parties, clients, host, port) in [
        (1, names(&[]), "127.0.0.1", 7000),
        (3, names(&["P1"]), "127.0.0.1", 7000),
        (3, names(&["a", "a"]), "127.0.0.1", 7000),
        (3, names(&["../up"]), "127.0.0.1", 7000),
        (3, names(&[""]), "127.0.0.1", 7000),
        (3, names(&[]), "a\"b\nme = 1", 7000),
        (3, names(&[]), "127.0.0.1", 65_534),
        (3, names(&[]), "127.0.0.1", 0),
        (300, names(&[]), "127.0.0.1", 7000),
    ] {
        let refused = init(&nowhere, parties, &clients, host, port);
        assert!(matches!(refused, Err(SetupError::Init { .. })), "{clients:?} {host} {port}");
        assert!(!nowhere.exists());
    }
}

#[test]
fn runs_follow_one_another_on_one_port_with_clients_that_wait_their_turn() {
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(2, 2).with(security);
        let servers: Vec<_> = (0..2)
            .map(|party| {
                let config = deployment.config(party);
                thread::spawn(move || {
                    let mut listener = Listener::bind(&config).unwrap();
                    for client in [2, 3, 3] {
                        let links = listener.gather(&[client], Duration::from_secs(20)).unwrap();
                        let mut mesh = over(&config, links);
                        let message = mesh.recv(client, At::op(1), 1).unwrap();
                        mesh.send_vec(client, At::op(2), message).unwrap();
                        mesh.close().unwrap();
                    }
                })
            })
            .collect();
        // Both of C1's connections, and C0's, are made at once.
        let clients: Vec<_> = [2_usize, 3, 3]
            .into_iter()
            .map(|client| {
                let config = deployment.config(client);
                thread::spawn(move || {
                    let mut mesh = client_mesh(&config, &[client]).unwrap();
                    for party in 0..2 {
                        mesh.send(party, At::op(1), &[client as u8]).unwrap();
                    }
                    for party in 0..2 {
                        assert_eq!(mesh.recv(party, At::op(2), 1).unwrap(), [client as u8]);
                    }
                    mesh.close().unwrap();
                })
            })
            .collect();
        for thread in servers.into_iter().chain(clients) {
            thread.join().unwrap();
        }
    }
}

/// A client that came and left before the others were here is not taken for the one that comes again.
#[test]
fn who_leaves_before_the_run_begins_may_come_again() {
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(2, 2).with(security);
        thread::scope(|scope| {
            for party in 0..2 {
                let config = deployment.config(party);
                scope.spawn(move || {
                    let mut mesh = mesh(&config).unwrap();
                    for client in [2, 3] {
                        let message = mesh.recv(client, At::op(1), 1).unwrap();
                        mesh.send_vec(client, At::op(2), message).unwrap();
                    }
                    mesh.close().unwrap();
                });
            }
            let gone =
                connect_lanes(&deployment.config(2), &[2, 3], 1, SHORT, &quiet()).unwrap_err().to_string();
            assert!(gone.contains("waits for others of this run (C1), who didn't come within 1 s"), "{gone}");
            for client in [2, 3] {
                let config = deployment.config(client);
                scope.spawn(move || {
                    let mut mesh = mesh(&config).unwrap();
                    (0..2).for_each(|party| mesh.send(party, At::op(1), &[7]).unwrap());
                    (0..2).for_each(|party| assert_eq!(mesh.recv(party, At::op(2), 1).unwrap(), [7]));
                    mesh.close().unwrap();
                });
            }
        });
    }
}

/// A party that gives up while another still waits for somebody ends the run for that one, too.
#[test]
fn a_run_given_up_before_all_are_here_is_over_for_all() {
    let deployment = without_fingerprints(1);
    let first = deployment.config(0);
    let other = thread::spawn(move || {
        let links = Listener::bind(&first).unwrap().gather(&[2], Duration::from_secs(20)).unwrap();
        over(&first, links).abort("the answer differs");
    });
    let second = deployment.config(1);
    let waiting = thread::spawn(move || mesh(&second).unwrap_err().to_string());
    // The client never gets to P1.
    let _calls = call_for(&deployment, 2, &[0], 1, &[2]);
    assert_eq!(waiting.join().unwrap(), "P0 gave up before the run began: the answer differs");
    other.join().unwrap();
}

/// Parties whose programs name other clients say so, and don't wait for somebody who never comes.
#[test]
fn other_clients_are_an_error_on_both_sides() {
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(2, 2).with(security);
        let texts = [vec![3], vec![2, 3]].into_iter().enumerate().map(|(party, clients)| {
            let config = deployment.config(party);
            thread::spawn(move || {
                let mut listener = Listener::bind(&config).unwrap();
                listener.gather(&clients, Duration::from_secs(20)).unwrap_err().to_string()
            })
        });
        let texts: Vec<_> = texts.collect::<Vec<_>>().into_iter().map(|text| text.join().unwrap()).collect();
        let same = "give everybody the same program";
        let zero =
            "P1 does not fit in with this side: the clients of its run are C0, C1, those of this side's C1";
        let one =
            "P0 does not fit in with this side: the clients of its run are C1, those of this side's C0, C1";
        assert_eq!(texts, [format!("{zero}: {same}"), format!("{one}: {same}")]);
    }
}

#[test]
fn who_never_came_is_named() {
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(3, 1).with(security);
        let config = deployment.config(1);
        let error = Listener::bind(&config).unwrap().gather(&[3], SHORT).unwrap_err();
        let text = error.to_string();
        let refused = format!("no connection to P0 at {} (", address(&config, 0));
        assert!(text.starts_with(&refused) && text.contains("refused"), "{text}");
        assert!(text.contains("no call from P2, no call from C0 within 1 s"), "{text}");

        deployment.add("[limits]\nconnect_seconds = 0.3");
        let text = connect(&deployment.config(3), &[3]).unwrap_err().to_string();
        assert!(text.contains("no connection to P2 at") && text.contains("called in order"), "{text}");
    }
}

#[test]
fn a_caller_waits_for_a_party_that_comes_late() {
    let deployment = Deployment::new(2, 0);
    let (early, late) = (deployment.config(1), deployment.config(0));
    let caller = thread::spawn(move || mesh(&early).map(|_| ()));
    thread::sleep(Duration::from_millis(300));
    mesh(&late).unwrap();
    caller.join().unwrap().unwrap();
}

#[test]
fn a_port_in_use_is_said() {
    let deployment = Deployment::new(2, 0);
    let config = deployment.config(0);
    let _taken = TcpListener::bind(address(&config, 0)).unwrap();
    let error = Listener::bind(&config).unwrap_err();
    assert!(matches!(&error, SetupError::Bind { .. }), "{error}");
    assert!(matches!(connect(&config, &[2]), Err(SetupError::WrongUse { .. })));
    let client = Deployment::new(2, 2).config(2);
    assert!(matches!(connect(&client, &[3]), Err(SetupError::WrongUse { .. })));
}

#[test]
fn an_own_certificate_that_is_not_the_configured_one_is_found_at_home() {
    let deployment = Deployment::new(2, 0);
    replace_certificate(&deployment, 1, (2020, 2100), &[]);
    let text = Listener::bind(&deployment.config(1)).unwrap_err().to_string();
    assert!(text.contains("certificate.pem: its fingerprint is"), "{text}");
    fs::write(deployment.path(0).with_file_name("key.pem"), "no key").unwrap();
    let text = Listener::bind(&deployment.config(0)).unwrap_err().to_string();
    assert!(text.contains("key.pem: not a private key in PEM"), "{text}");
    fs::remove_file(deployment.path(0).with_file_name("key.pem")).unwrap();
    assert!(matches!(Listener::bind(&deployment.config(0)), Err(SetupError::File { .. })));
    let text = Config::load(Path::new("/nowhere/parties.toml")).unwrap_err().to_string();
    assert!(text.starts_with("/nowhere/parties.toml: "), "{text}");
}

#[test]
fn a_key_that_is_not_the_certificates_or_that_others_may_read_is_refused_with_its_name() {
    let deployment = Deployment::new(2, 1);
    let [mine, others] = [0, 1].map(|endpoint| deployment.path(endpoint).with_file_name("key.pem"));
    fs::copy(&others, &mine).unwrap();
    let text = Listener::bind(&deployment.config(0)).unwrap_err().to_string();
    assert!(text.contains("P0/key.pem: not the key of") && text.contains("P0/certificate.pem"), "{text}");

    let client = deployment.path(2).with_file_name("key.pem");
    for path in [&others, &client] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    }
    let refused = [
        Listener::bind(&deployment.config(1)).map(|_| ()).unwrap_err().to_string(),
        connect(&deployment.config(2), &[2]).map(|_| ()).unwrap_err().to_string(),
    ];
    for (text, path) in refused.into_iter().zip([others, client]) {
        let path = path.display();
        let says =
            format!("{path}: others than its owner may read or write it (mode 644): `chmod 600 {path}`");
        assert!(text.starts_with(&says), "{text}");
    }
}

#[test]
fn a_key_without_the_pinned_certificate_gets_nowhere() {
    // P1 has made itself a new certificate and told nobody: it finds P0 unwilling, and P0 turns it away.
    let deployment = Deployment::new(2, 0);
    replace_certificate(&deployment, 1, (2020, 2100), &[1]);
    deployment.add("[limits]\nconnect_seconds = 1.0");
    let outcomes = outcomes(&deployment);
    assert!(outcomes[0].contains("no call from P1 within 1 s"), "{outcomes:?}");
    assert!(outcomes[0].contains("which is nobody's in the configuration"), "{outcomes:?}");
    assert!(outcomes[1].contains("refuses this side's certificate"), "{outcomes:?}");

    // P0 has a new one: P1 refuses to talk to it, and P0 hears why.
    let deployment = Deployment::new(2, 0);
    replace_certificate(&deployment, 0, (2020, 2100), &[0]);
    deployment.add("[limits]\nconnect_seconds = 1.0");
    let outcomes = self::outcomes(&deployment);
    assert!(outcomes[1].starts_with("P0 at 127.0.0.1:"), "{outcomes:?}");
    assert!(outcomes[1].contains("and the configuration expects"), "{outcomes:?}");
    assert!(outcomes[0].contains("refuses this side's certificate"), "{outcomes:?}");
}

#[test]
fn certificates_out_of_their_time_are_refused() {
    for (years, says) in [((2010, 2020), "has expired"), ((2100, 2110), "is not valid yet")] {
        // At home, before anything is sent.
        let deployment = Deployment::new(2, 0);
        replace_certificate(&deployment, 0, years, &[0, 1]);
        let text = Listener::bind(&deployment.config(0)).unwrap_err().to_string();
        assert!(text.contains("this side shows a certificate that") && text.contains(says), "{text}");
    }
}

#[test]
fn one_party_does_not_pass_for_another() {
    // P2 has P1's key and configuration, but the fingerprints say that it is P2.
    let deployment = Deployment::new(3, 0);
    deployment.edit(2, "\nme = \"P2\"", "\nme = \"P1\"");
    let text = Listener::bind(&deployment.config(2)).unwrap_err().to_string();
    assert!(text.contains("its fingerprint is"), "{text}");
}

#[test]
fn different_lists_are_an_error_on_both_sides() {
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(2, 1).with(security);
        deployment.edit(1, "name = \"C0\"", "name = \"eve\"");
        let outcomes: Vec<String> = [0, 1]
            .map(|party| deployment.config(party))
            .map(|config| thread::spawn(move || mesh(&config).unwrap_err().to_string()))
            .map(|thread| thread.join().unwrap())
            .to_vec();
        for (text, says) in outcomes.iter().zip([
            "P1 does not fit in with this side: its parties.toml has another name or fingerprint \
             than this side's for C0",
            "P0 does not fit in with this side: its parties.toml has another name or fingerprint \
             than this side's for eve",
        ]) {
            assert_eq!(text, says);
        }
    }
}

/// Whoever has a key and isn't needed can't end a gathering by being wrong.
#[test]
fn a_client_with_another_list_that_is_not_needed_ends_no_gathering() {
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(2, 2).with(security);
        deployment.edit(3, "name = \"C0\"", "name = \"eve\"");
        let configs = [0, 1, 2].map(|endpoint| deployment.config(endpoint));
        thread::scope(|scope| {
            let parties = [&configs[0], &configs[1]].map(|config| {
                let mut listener = Listener::bind(config).unwrap();
                scope.spawn(move || {
                    let links = listener.gather(&[2], Duration::from_secs(20));
                    (links, listener)
                })
            });
            let refused = client_mesh(&deployment.config(3), &[3]).unwrap_err().to_string();
            assert!(refused.contains("does not fit in with this side"), "{refused}");
            client_mesh(&configs[2], &[2]).unwrap();
            let ended = parties.map(|party| party.join().unwrap());
            let away: Vec<String> = ended
                .into_iter()
                .flat_map(|(links, listener)| {
                    links.unwrap();
                    listener.turned_away().map(ToString::to_string).collect::<Vec<_>>()
                })
                .collect();
            assert!(away.iter().any(|why| why.contains("is C1: ")), "{away:?}");
        });
    }
}

#[test]
fn another_version_is_said() {
    let deployment = Deployment::new(2, 0).with(Security::Tcp);
    let config = deployment.config(1);
    let old = TcpListener::bind(address(&config, 0)).unwrap();
    let server = thread::spawn(move || {
        let (mut socket, _) = old.accept().unwrap();
        socket.write_all(b"tacitnet\x63\0\0\0\0\0\0\0").unwrap();
        socket.read_to_end(&mut Vec::new())
    });
    let text = mesh(&config).unwrap_err().to_string();
    assert!(text.contains("P0") && text.contains("speaks version 99"), "{text}");
    let _ = server.join().unwrap();
}

/// A peer over plain TCP that says a proper hello and then what it likes.
fn impostor(after_hello: Vec<u8>) -> ErrorKind {
    let deployment = Deployment::new(2, 0).with(Security::Tcp);
    let (config, theirs) = (deployment.config(0), deployment.config(1));
    let prints: Vec<_> = config.parties().iter().map(|party| party.fingerprint).collect();
    let mut bytes = hello::Hello::new(1, 2, &theirs.names(), &prints).bytes();
    bytes.extend(after_hello);
    let mut listener = Listener::bind(&config).unwrap();
    let mut socket = TcpStream::connect(address(&config, 0)).unwrap();
    socket.write_all(&bytes).unwrap();
    let mut mesh = over(&config, listener.gather(&[], Duration::from_secs(20)).unwrap());
    // The end of its words, not of the connection: that would be a reset, with our hello unread.
    socket.shutdown(Shutdown::Write).unwrap();
    mesh.recv(1, At::op(0), 1).unwrap_err().what().clone()
}

#[test]
fn frames_too_long_and_cut_short_are_told_apart() {
    let header = |len| Header { kind: FrameKind::Data, at: At::op(0), len }.bytes().to_vec();
    // The limit of payloads, and the time that a shaped link adds.
    let limit = (64 << 20) + 8;
    assert_eq!(impostor(header(limit + 1)), ErrorKind::TooLong { limit, got: limit + 1 });
    let cut = ErrorKind::Closed { how: "closed the connection in the middle of a message".to_owned() };
    assert_eq!(impostor(header(limit)), cut);
    assert_eq!(impostor(header(1)[..15].to_vec()), cut);
    let closed = ErrorKind::Closed { how: "closed the connection".to_owned() };
    assert_eq!(impostor(Vec::new()), closed);
}

#[test]
fn altered_ciphertext_ends_the_link() {
    // P1 reaches P0 through somebody who lets the handshake pass and flips a bit later on.
    let deployment = Deployment::new(2, 0);
    let (zero, port) = (deployment.config(0), free_ports(1));
    let real = address(&zero, 0);
    deployment.edit(1, &real, &format!("127.0.0.1:{port}"));
    let between = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let flipper = thread::spawn(move || {
        let (caller, _) = between.accept().unwrap();
        let party = loop {
            match TcpStream::connect(&real) {
                Ok(party) => break party,
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        };
        let (mut caller_end, mut party_end) = (caller.try_clone().unwrap(), party.try_clone().unwrap());
        let back = thread::spawn(move || std::io::copy(&mut party_end, &mut caller_end));
        let (mut caller, mut party) = (caller, party);
        let (mut passed, mut buffer) = (0, vec![0; 65_536]);
        while let Ok(count @ 1..) = caller.read(&mut buffer) {
            passed += count;
            if passed > 100_000 {
                buffer[count / 2] ^= 1;
            }
            if party.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = party.shutdown(Shutdown::Write);
        let _ = back.join();
    });
    let one = deployment.config(1);
    let sender = thread::spawn(move || {
        let mut mesh = mesh(&one).unwrap();
        let start = Instant::now();
        let mut op = 0;
        while mesh.send(0, At::op(op), &vec![7; 50_000]).and_then(|()| mesh.tick()).is_ok() {
            assert!(start.elapsed() < Duration::from_secs(20));
            op += 1;
        }
    });
    let mut mesh = mesh(&zero).unwrap();
    let error = (0..).find_map(|op| mesh.recv(1, At::op(op), 50_000).err()).unwrap();
    assert!(matches!(error.what(), ErrorKind::Malformed { .. }), "{error}");
    assert!(error.to_string().contains("broke TLS"), "{error}");
    drop(mesh);
    sender.join().unwrap();
    flipper.join().unwrap();
}
