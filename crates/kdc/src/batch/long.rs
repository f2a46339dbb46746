//! Ten thousand requests of all sorts.

use super::*;
use crate::admin::Origin;
use crate::clear::Key;
use crate::client::{Client, Ticket, Wish};
use crate::messages::{flag, read_error};
use crate::testing::{ENCTYPE, KRBTGT, REALM, Realm, confounder};
use crate::wire::MAX_BATCH;

const REQUESTS: u32 = 10_000;
const SERVICES: [&str; 2] = ["host/a.b", "HTTP/a-web-server-with-a-rather-long-name.department.example"];

/// Whether a reply is what it has to be.
type Judge<'a> = Box<dyn Fn(&[u8]) -> bool + 'a>;

/// A request of the mix, what it has to come to, and how its reply is judged.
struct Asked<'a> {
    bytes: Vec<u8>,
    code: Option<i64>,
    is_right: Judge<'a>,
}

/// Requests of every task, class and number together: none has anything compiled, since all is there from the start.
#[test]
#[ignore = "takes half an hour, and more on a busy machine"]
fn ten_thousand_mixed_requests_have_no_plan_compiled() {
    let realm = Realm::serving(|settings| {
        settings.protocol = "replicated".to_owned();
        settings.max_wrong_passwords = usize::MAX;
    });
    let names = ["c", "ann", "a-client-with-a-name-that-is-as-long-as-some-are"];
    let keys = names.map(|name| realm.client(name));
    for service in SERVICES {
        realm.add(service, &Origin::Random);
    }
    let wrong = Key::of_password(ENCTYPE, b"guess", b"salt", 2);
    let subkey = Key::of_password(ENCTYPE, b"subkey", b"salt", 2);
    let clients: Vec<Client<'_>> =
        names.iter().zip(&keys).map(|(name, key)| Client { realm: REALM, name, key }).collect();
    let tickets: Vec<Ticket> = clients
        .iter()
        .zip(1..)
        .map(|(client, nonce)| {
            let wish = Wish { options: flag::RENEWABLE, ..Wish::of(KRBTGT, nonce) };
            let reply = &realm.answers(&[client.initial(&wish, now(), confounder(nonce))])[0][0];
            client.initial_reply(reply, &wish).unwrap()
        })
        .collect();
    let ready = realm.nodes.each_ref().map(|node| node.made());
    // One pseudo-random number after another (Numerical Recipes' generator): which sort, of whom, for what.
    let mut state = 1_u32;
    let mut draw = move |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let mut make = |nonce: u32| -> Asked<'_> {
        let who = draw(names.len());
        let (client, ticket) = (clients[who], &tickets[who]);
        let wish = Wish::of(SERVICES[draw(2)], nonce);
        let further = |wish: Wish<'static>, subkey: Option<&'_ Key>| {
            client.further(ticket, &wish, (now(), nonce), subkey, confounder(nonce))
        };
        let always = || Box::new(|_: &[u8]| true);
        match draw(10) {
            0..4 => Asked {
                bytes: client.initial(&wish, now(), confounder(nonce)),
                code: None,
                is_right: Box::new(move |reply| client.initial_reply(reply, &wish).is_ok()),
            },
            4..7 => {
                let subkey = (draw(2) == 0).then_some(&subkey);
                Asked {
                    bytes: further(wish, subkey),
                    code: None,
                    is_right: Box::new(move |reply| {
                        client.further_reply(reply, ticket, subkey, &wish).is_ok()
                    }),
                }
            }
            7 => {
                let wish = Wish { options: flag::RENEW, ..Wish::of(KRBTGT, nonce) };
                Asked {
                    bytes: further(wish, None),
                    code: None,
                    is_right: Box::new(move |reply| client.further_reply(reply, ticket, None, &wish).is_ok()),
                }
            }
            8 => {
                let guess = Client { key: &wrong, ..client };
                Asked {
                    bytes: guess.initial(&wish, now(), confounder(nonce)),
                    code: Some(24),
                    is_right: always(),
                }
            }
            _ => Asked {
                bytes: further(Wish::of("host/none", nonce), None),
                code: Some(7),
                is_right: always(),
            },
        }
    };
    let (mut asked, mut size) = (100, 0);
    while asked < 100 + REQUESTS {
        // From one request to as many as can come together.
        size = size % MAX_BATCH + 1;
        let batch: Vec<Asked<'_>> = (0..size as u32).map(|number| make(asked + number)).collect();
        asked += size as u32;
        let requests: Vec<Vec<u8>> = batch.iter().map(|request| request.bytes.clone()).collect();
        for replies in realm.answers(&requests) {
            for (request, reply) in batch.iter().zip(replies) {
                assert_eq!(read_error(&reply), request.code);
                assert!((request.is_right)(&reply));
            }
        }
        assert_eq!(realm.nodes.each_ref().map(|node| node.made()), ready, "after {asked} requests");
    }
}
