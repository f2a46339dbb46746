use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, ServerName};

use super::pin::{Fingerprint, Identity, client_config, server_config};
use super::*;

/// An identity that is valid in these years.
fn identity(years: (i32, i32)) -> Identity {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.not_before = rcgen::date_time_ymd(years.0, 1, 1);
    params.not_after = rcgen::date_time_ymd(years.1, 1, 1);
    let certificate = params.self_signed(&key).unwrap();
    Identity {
        certificate: certificate.der().clone(),
        key: PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
    }
}

fn good() -> Identity {
    identity((2000, 2900))
}

fn print(identity: &Identity) -> Fingerprint {
    Fingerprint::of(&identity.certificate)
}

/// Both sides of a connection, of which each expects the other to have this fingerprint.
fn pair(
    (client, client_print): (&Identity, Fingerprint),
    (server, server_print): (&Identity, Fingerprint),
) -> (Tls, Tls) {
    let config = client_config(client, vec![server_print]).unwrap();
    let name = ServerName::try_from("peer").unwrap();
    let client = UnbufferedClientConnection::new(Arc::new(config), name).unwrap();
    let config = server_config(server, vec![client_print]).unwrap();
    let server = UnbufferedServerConnection::new(Arc::new(config)).unwrap();
    (Tls::client(client), Tls::server(server))
}

/// Carries what is pending to the other side, at most `piece` bytes. `false` if there was nothing.
fn carry(from: &mut Tls, to: &mut Tls, piece: usize) -> bool {
    let room = to.room();
    let count = from.pending().len().min(room.len()).min(piece);
    room[..count].copy_from_slice(&from.pending()[..count]);
    from.wrote(count);
    to.filled(count);
    count > 0
}

/// The handshake in pieces; how it ends for the client and for the server.
fn shake(client: &mut Tls, server: &mut Tls, piece: usize) -> (Result<bool, String>, Result<bool, String>) {
    let (mut first, mut second) = (Ok(false), Ok(false));
    loop {
        if first == Ok(false) {
            first = client.handshake().map_err(|error| error.to_string());
        }
        let there = carry(client, server, piece);
        if second == Ok(false) {
            second = server.handshake().map_err(|error| error.to_string());
        }
        let back = carry(server, client, piece);
        if !there && !back {
            return (first, second);
        }
    }
}

fn open_pair() -> (Tls, Tls) {
    let (one, other) = (good(), good());
    let (mut client, mut server) = pair((&one, print(&one)), (&other, print(&other)));
    assert_eq!(shake(&mut client, &mut server, 1 << 20), (Ok(true), Ok(true)));
    (client, server)
}

#[test]
fn both_sides_know_each_other_whatever_the_pieces() {
    for piece in [1, 7, 1000, 1 << 20] {
        let (one, other) = (good(), good());
        let (mut client, mut server) = pair((&one, print(&one)), (&other, print(&other)));
        assert_eq!(shake(&mut client, &mut server, piece), (Ok(true), Ok(true)));
        assert_eq!(client.peer_certificate(), Some(&other.certificate));
        assert_eq!(server.peer_certificate(), Some(&one.certificate));
    }
}

#[test]
fn data_goes_both_ways() {
    let (mut client, mut server) = open_pair();
    for len in [1, 63, 64, 65, 16_383, 16_384, 16_385, 100_000, 1_000_000] {
        let data: Vec<u8> = (0..len).map(|i| (i * 3) as u8).collect();
        for (from, to) in [(&mut client, &mut server)] {
            from.encrypt(&data).unwrap();
            assert!(from.pending().len() > len);
            let mut got = Vec::new();
            while carry(from, to, 50_000) {
                to.decrypt(&mut |plain| got.extend_from_slice(plain)).unwrap();
            }
            assert!(got == data);
        }
        server.encrypt(&data).unwrap();
        let mut got = Vec::new();
        while carry(&mut server, &mut client, 1 << 20) {
            client.decrypt(&mut |plain| got.extend_from_slice(plain)).unwrap();
        }
        assert!(got == data);
    }
}

#[test]
fn data_that_comes_with_the_handshake_is_kept() {
    let (one, other) = (good(), good());
    let (mut client, mut server) = pair((&one, print(&one)), (&other, print(&other)));
    assert!(!client.handshake().unwrap());
    carry(&mut client, &mut server, 1 << 20);
    assert!(!server.handshake().unwrap());
    carry(&mut server, &mut client, 1 << 20);
    assert!(client.handshake().unwrap());
    client.encrypt(b"early").unwrap();
    carry(&mut client, &mut server, 1 << 20);
    assert!(server.handshake().unwrap());
    let mut got = Vec::new();
    server.decrypt(&mut |plain| got.extend_from_slice(plain)).unwrap();
    assert_eq!(got, b"early");
}

#[test]
fn altered_and_replayed_records_are_refused() {
    let (mut client, mut server) = open_pair();
    client.encrypt(&[7; 1000]).unwrap();
    let mut record = client.pending().to_vec();
    record[500] ^= 1;
    server.room()[..record.len()].copy_from_slice(&record);
    server.filled(record.len());
    let mut got = 0;
    assert!(server.decrypt(&mut |plain| got += plain.len()).is_err());
    assert_eq!(got, 0);

    let (mut client, mut server) = open_pair();
    client.encrypt(&[7; 1000]).unwrap();
    let record = client.pending().to_vec();
    let mut receive = || {
        server.room()[..record.len()].copy_from_slice(&record);
        server.filled(record.len());
        server.decrypt(&mut |_| {})
    };
    receive().unwrap();
    assert!(receive().is_err());
}

#[test]
fn the_wrong_certificate_is_refused_and_the_other_side_told() {
    let (one, other, third) = (good(), good(), good());
    let (mut client, mut server) = pair((&one, print(&one)), (&other, print(&third)));
    let (first, second) = shake(&mut client, &mut server, 1 << 20);
    let expected =
        format!("shows the certificate {}, and the configuration expects {}", print(&other), print(&third));
    assert_eq!(first, Err(expected));
    assert!(second.unwrap_err().starts_with("refuses this side's certificate"));

    let (mut client, mut server) = pair((&one, print(&third)), (&other, print(&other)));
    let (first, second) = shake(&mut client, &mut server, 1 << 20);
    assert!(second.unwrap_err().starts_with(&format!("shows the certificate {}", print(&one))));
    // In TLS 1.3 the client is done before the server has looked; it learns when it listens.
    assert_eq!(first, Ok(true));
    let refused = client.decrypt(&mut |_| {}).unwrap_err().to_string();
    assert!(refused.starts_with("refuses this side's certificate"), "{refused}");
}

#[test]
fn the_right_certificate_without_its_key_is_refused() {
    let (one, other) = (good(), good());
    let thief = Identity { certificate: one.certificate.clone(), key: good().key };
    assert!(client_config(&thief, vec![print(&other)]).is_err(), "key and certificate do not go together");
}

#[test]
fn certificates_out_of_their_time_are_refused() {
    for (years, says) in [((2001, 2002), "has expired"), ((2800, 2900), "is not valid yet")] {
        let (one, late) = (good(), identity(years));
        let (mut client, mut server) = pair((&one, print(&one)), (&late, print(&late)));
        let (first, _) = shake(&mut client, &mut server, 1 << 20);
        assert!(first.clone().unwrap_err().contains(says), "{first:?}");

        let (mut client, mut server) = pair((&late, print(&late)), (&one, print(&one)));
        let (_, second) = shake(&mut client, &mut server, 1 << 20);
        assert!(second.clone().unwrap_err().contains(says), "{second:?}");
    }
}

#[test]
fn garbage_and_endless_messages_are_errors() {
    for fill in [0, 0x16, 0xff] {
        let (one, other) = (good(), good());
        let (_, mut server) = pair((&one, print(&one)), (&other, print(&other)));
        server.room().fill(fill);
        let len = server.room().len();
        server.filled(len);
        assert!(server.handshake().is_err());
    }
}
