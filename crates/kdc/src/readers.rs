//! What must hold of whatever is read: for fuzzers, and for a test with mutants. Each function takes any bytes.

use crate::clear::Key;
use crate::client::{Client, Wish};
use crate::der::Reader;
use crate::enctype::Enctype;
use crate::keytab;
use crate::lists::List;
use crate::messages::{self, ApRequest, Encrypted, Name, Request, TicketPart};
use crate::order::{Change, Holder, Order};
use crate::realm::{Carried, Principals};
use crate::wire;

/// Requests of clients, and what they hold and servers open.
pub fn messages(bytes: &[u8]) {
    if let Ok(request) = Request::read(bytes) {
        let found = bytes.windows(request.body.len().max(1)).any(|window| window == request.body);
        assert!(found || request.body.is_empty(), "the body is a part of what was sent");
        for (_, value) in &request.padata {
            let _ = ApRequest::read(value);
        }
    }
    let _ = Encrypted::read(&mut Reader::new(bytes));
    let _ = (messages::read_timestamp(bytes), ApRequest::read(bytes));
    if messages::but_for_times(bytes).is_some() {
        assert!(
            messages::read_error(bytes).is_some() && !messages::begins_request(bytes),
            "an error has a code"
        );
    }
    for enctype in Enctype::ALL {
        if let Ok(ticket) = TicketPart::read(bytes, enctype, "R") {
            assert!(messages::ticket_key_at(enctype, bytes.len()).is_some(), "{ticket:?}");
        }
    }
}

/// Keytabs.
pub fn keytabs(bytes: &[u8]) {
    let Ok(entries) = keytab::read(bytes) else { return };
    let written = keytab::write(&entries);
    if let Ok(again) = keytab::read(&written) {
        assert!(again.len() == entries.len(), "as many come back");
    }
}

/// Orders.
pub fn orders(bytes: &[u8]) {
    let Ok(order) = Order::read(bytes) else { return };
    assert!(Name::of_text(&order.principal).is_some(), "whoever is named can be");
    let Ok(written) = order.to_bytes() else { panic!("what was read is written") };
    assert_eq!(Order::read(&written), Ok(order.clone()));
    let is_known = matches!(order.change, Change::Key { drawn: false, .. });
    assert!(!(is_known && order.principal.starts_with("krbtgt/")), "nobody gives krbtgt a key");
}

/// Frames, and messages that go together.
pub fn frames(bytes: &[u8]) {
    if let Ok((kind, frame)) = wire::read(&mut &bytes[..]) {
        let mut written = Vec::new();
        wire::write(&mut written, kind, &frame).expect("what was read is written");
        assert!(bytes.starts_with(&written));
    }
    if let Ok(messages) = wire::unpack(bytes) {
        assert!(messages.len() <= wire::MAX_BATCH);
        let number = *bytes.first_chunk().expect("it has a number");
        assert_eq!(wire::pack_under(number, &messages), bytes);
    }
}

/// A server's file of principals.
pub fn principals(bytes: &[u8]) {
    let Ok(principals) = Principals::read(bytes) else { return };
    let written = principals.to_bytes().expect("what was read is written");
    assert_eq!(Principals::read(&written).ok(), Some(principals));
}

/// What another server tells that it knows of principals.
pub fn lists(bytes: &[u8]) {
    let Ok(list) = serde_json::from_slice::<List>(bytes) else { return };
    let written = serde_json::to_vec(&list).expect("what was read is written");
    assert_eq!(serde_json::from_slice::<List>(&written).ok(), Some(list));
}

/// A reader of this module, its name, and what to begin with.
pub type Target = (&'static str, fn(&[u8]), Vec<Vec<u8>>);

/// All of them.
pub fn targets() -> Vec<Target> {
    let key = Key::of_password(Enctype::Aes128Sha1, b"password", b"salt", 1);
    let client = Client { realm: "R", name: "ann", key: &key };
    let request = client.initial(&Wish::of("host/a.b", 7), 1_795_521_599, [3; 16]);
    let error = messages::error(messages::Code::Skew, 5, "R", None, Some(&[1, 2]));
    let entry = |kvno| keytab::Entry {
        realm: "R".into(),
        name: "host/a.b".into(),
        kvno,
        etype: 17,
        key: key.bytes().to_vec().into(),
    };
    let order =
        |change| Order { principal: "ann".into(), change, at: 5, number: 6 }.to_bytes().unwrap_or_default();
    let holder = Holder::Any;
    let new = Change::Key { salt: "Rann".into(), iterations: 100_000, drawn: false, kvno: 3, holder };
    let mut frame = Vec::new();
    let packed = wire::pack_under([9; 16], &[request.clone(), vec![1]]);
    let _ = wire::write(&mut frame, wire::Kind::Batch, &packed);
    let mut known = Principals::default();
    known.put_key("ann", (3, "key 1".into()), ("Rann".into(), 100_000), 5, 6);
    known.put_key("ann", (4, "key 2".into()), ("Rann".into(), 100_000), 5, 6);
    known.remove("ben");
    known.orders_mut("ann").key = Carried { number: 1 << 100, sent: "00{}".into() };
    vec![
        ("kdc_messages", messages, vec![request, error]),
        ("kdc_keytabs", keytabs, vec![keytab::write(&[entry(1), entry(300)]).to_vec()]),
        ("kdc_orders", orders, vec![order(new), order(Change::Lock)]),
        ("kdc_frames", frames, vec![frame, packed]),
        ("kdc_principals", principals, vec![known.to_bytes().unwrap_or_default()]),
        ("kdc_lists", lists, vec![serde_json::to_vec(&crate::lists::of(&known)).unwrap_or_default()]),
    ]
}
