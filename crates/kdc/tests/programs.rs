//! The programs under the protocol that servers run, against the same in the clear.

use tacit::program::Value;
use tacit::{Fill, Local, Residents, Run, State};
use tacit_kdc::circuits::{Form, drawn_bytes};
use tacit_kdc::clear::Key;
use tacit_kdc::enctype::Enctype;
use tacit_kdc::programs::{CLIENT, Programs, SERVICE, Task, given, to_bits, to_bytes};

/// All three servers, in this process.
struct Servers {
    local: Local,
    states: Vec<State>,
    programs: Programs,
}

impl Servers {
    fn new(enctype: Enctype) -> Self {
        let local = Local::new("replicated-malicious").unwrap();
        let programs = Programs::new(enctype, local.parties.clone()).unwrap();
        Self { states: local.parties.iter().map(|_| State::new()).collect(), local, programs }
    }

    fn run(&mut self, task: &Task, fill: &[(&str, &str)], inputs: &[Value]) -> Run {
        let compiled = self.programs.get(task).unwrap();
        let fill: Fill = fill.iter().map(|(slot, key)| ((*slot).to_owned(), (*key).to_owned())).collect();
        let residents =
            self.states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
        self.local.run_on(&compiled, residents, inputs, &|_, _| ()).unwrap()
    }

    /// What each server gives, in the order of the program's inputs.
    fn all(values: [Vec<Value>; 3]) -> Vec<Value> {
        let mut all = vec![None; 3 * values[0].len()];
        for (me, own) in values.into_iter().enumerate() {
            for (at, value) in given(me, 0, own).into_iter().enumerate().filter(|(_, value)| value.is_some())
            {
                all[at] = value;
            }
        }
        all.into_iter().map(Option::unwrap).collect()
    }

    fn outputs(run: &Run) -> Vec<Vec<u8>> {
        run.outputs.iter().flatten().map(to_bytes).collect()
    }
}

fn pattern(seed: usize, count: usize) -> Vec<u8> {
    (0..count).map(|at| (seed * 37 + at * 91 + at * at * 7) as u8).collect()
}

#[test]
fn a_login_on_shared_keys_is_that_of_the_clear() {
    let enctype = Enctype::Aes256Sha1;
    let mut servers = Servers::new(enctype);
    // The client's key is the admin's to give; the service's is drawn by all four.
    let client = Key::of_password(enctype, b"password", b"saltann", 2);
    let task = Task::Enrol { record: "key a".into(), drawn: false };
    servers.run(&task, &[], &[to_bits(client.bytes())]);
    let parts: Vec<Vec<u8>> = (0..4).map(|who| pattern(who, enctype.key_bytes())).collect();
    let service: Vec<u8> =
        (0..enctype.key_bytes()).map(|at| parts.iter().fold(0, |sum, part| sum ^ part[at])).collect();
    let service = Key::new(enctype, &service).unwrap();
    let task = Task::Enrol { record: "key b".into(), drawn: true };
    servers.run(&task, &[], &parts.iter().map(|part| to_bits(part)).collect::<Vec<_>>());

    let timestamp = pattern(7, 28);
    let sealed = client.seal(1, [3; 16], &timestamp);
    let verify = Task::Verify(sealed.len());
    let clocks = [5i64, 1_795_521_599, -1];
    let give = |sealed: &[u8]| {
        Servers::all(clocks.map(|clock| vec![to_bits(sealed), to_bits(&clock.to_le_bytes())]))
    };
    let told = Servers::outputs(&servers.run(&verify, &[(CLIENT, "key a")], &give(&sealed)));
    assert_eq!(told[0], [1]);
    assert_eq!(told[1..], clocks.map(|clock| clock.to_le_bytes().to_vec()));
    let mut changed = sealed.clone();
    changed[20] ^= 1;
    let told = Servers::outputs(&servers.run(&verify, &[(CLIENT, "key a")], &give(&changed)));
    assert_eq!(told[0], [0]);
    let told = Servers::outputs(&servers.run(&verify, &[(CLIENT, "key b")], &give(&sealed)));
    assert_eq!(told[0], [0], "another's key");

    let open = Task::Open(sealed.len());
    let copies = Servers::all([0; 3].map(|_| vec![to_bits(&sealed)]));
    let told = Servers::outputs(&servers.run(&open, &[(CLIENT, "key a")], &copies));
    assert_eq!(told, [timestamp]);

    let (ticket, part) = (Form { bytes: 150, key_at: 29 }, Form { bytes: 161, key_at: 17 });
    let public = pattern(9, ticket.bytes + part.bytes);
    let drawn: Vec<Vec<u8>> = (11..14).map(|who| pattern(who, drawn_bytes(enctype))).collect();
    let inputs = Servers::all([0, 1, 2].map(|me| vec![to_bits(&public), to_bits(&drawn[me])]));
    let fill = [(SERVICE, "key b"), (CLIENT, "key a")];
    let told = Servers::outputs(&servers.run(&Task::Reply(ticket, part), &fill, &inputs));
    let sum: Vec<u8> =
        (0..drawn_bytes(enctype)).map(|at| drawn[0][at] ^ drawn[1][at] ^ drawn[2][at]).collect();
    let session = &sum[..enctype.key_bytes()];
    for (key, usage, sealed, form, plain) in [
        (&service, 2, &told[0], ticket, &public[..ticket.bytes]),
        (&client, 3, &told[1], part, &public[ticket.bytes..]),
    ] {
        let mut expected = plain.to_vec();
        expected[form.key_at..form.key_at + session.len()].copy_from_slice(session);
        assert_eq!(*key.open(usage, sealed).unwrap(), expected);
    }
    assert_eq!(told[2], [1]);

    // A server that wants another ticket, or another request opened, gets zeros.
    let mut other = public.clone();
    other[50] ^= 1;
    for deviates in 0..3 {
        let public = [0, 1, 2].map(|me| if me == deviates { &other } else { &public });
        let inputs = Servers::all([0, 1, 2].map(|me| vec![to_bits(public[me]), to_bits(&drawn[me])]));
        let told = Servers::outputs(&servers.run(&Task::Reply(ticket, part), &fill, &inputs));
        assert!(told.iter().flatten().all(|&byte| byte == 0), "server {deviates}");
        let sealed = [0, 1, 2].map(|me| if me == deviates { &changed } else { &sealed });
        let copies = Servers::all(sealed.map(|sealed| vec![to_bits(sealed)]));
        let told = Servers::outputs(&servers.run(&open, &[(CLIENT, "key a")], &copies));
        assert!(told.iter().flatten().all(|&byte| byte == 0), "server {deviates}");
    }
}
