//! A key service: it hands out session keys, and no server of it ever knows one. Three servers and their principals meet over
//! mutual TLS, here in threads on loopback, elsewhere each on its own machine with its own folder.
//!
//! A principal enrols with a long-term key that it shares among the servers. On a request these draw a session key together and
//! wrap it under two long-term keys: that of who asks, and that of whom it wants to talk to. The two wrapped keys are all that
//! leaves. Each server looks by itself whether a request is allowed, and a run is what all three want: one that refuses is
//! enough. A kept key is for that one program alone, whatever else all servers want.
//!
//!     cargo run --release --example key_service

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tacit::circuit::crypto::aes::{self, Variant};
use tacit::circuit::{self, Circuit, arith::Style};
use tacit::program::{Builder, Data, Dtype, Index, Recipient, Uses, Value};
use tacit::setup::{self, Config};
use tacit::{Asker, Compiled, Fill, Holdings, Run, Seat, Server, Serving, State, Wanted};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const PROTOCOL: &str = "replicated-malicious";
const SERVERS: [&str; 3] = ["P0", "P1", "P2"];
const PRINCIPALS: [&str; 4] = ["ann", "ben", "mail", "files"];
const BITS: usize = 128;
/// How long a server waits for the others to want a run, too.
const WITHIN: Duration = Duration::from_secs(5);

/// The exclusive or of a block and AES of a number under a key: done twice it gives the block back.
fn wrapping() -> Arc<Circuit> {
    let mut build = circuit::Builder::new();
    let [key, number, block] = [0; 3].map(|_| build.input(BITS as u32));
    let stream = aes::encrypt(&mut build, Style::Small, Variant::Aes128, &key, &number);
    let wrapped = block.iter().zip(&stream).map(|(block, stream)| build.xor(*block, *stream)).collect();
    Arc::new(build.finish(vec![wrapped]))
}

/// A session key that each server has drawn a part of, wrapped under two kept keys.
fn issue() -> Result<Arc<Compiled>, Failure> {
    let mut build = Builder::new();
    let keys = build.kept("keys", Dtype::Bool, &[2, BITS], None)?;
    let [p0, p1, p2] = SERVERS.map(|server| build.input(server, "part", Dtype::Bool, &[BITS], None));
    let number = build.known("number", Dtype::Bool, &[BITS], None)?;
    let session = build.xor(p0?, p1?)?;
    let session = build.xor(session, p2?)?;
    for row in [0, 1] {
        let key = build.index(keys, &[Index::At(row)])?;
        let wrapped = build.circuit(&wrapping(), &[key, number, session])?[0];
        build.reveal(wrapped, Recipient::All)?;
    }
    Ok(Compiled::new(build.finish()?)?)
}

/// Keeps a principal's key as a row of the table.
fn enrol(principal: &str) -> Result<Arc<Compiled>, Failure> {
    let mut build = Builder::new();
    let key = build.input(principal, "key", Dtype::Bool, &[1, BITS], None)?;
    build.keep(key, "keys", Uses::new(vec![issue()?.hash()], None))?;
    Ok(Compiled::new(build.finish()?)?)
}

/// Keeps a table of no keys yet, which [`issue`] alone may read, and [`enrol`] alone may write.
fn table() -> Result<Arc<Compiled>, Failure> {
    let mut build = Builder::new();
    let zeros = build.input("P0", "zeros", Dtype::Bool, &[PRINCIPALS.len(), BITS], None)?;
    let writers = PRINCIPALS.map(|principal| Ok(enrol(principal)?.hash()));
    let writers = writers.into_iter().collect::<Result<_, Failure>>()?;
    build.keep(zeros, "keys", Uses::new(vec![issue()?.hash()], None).with_writers(writers))?;
    Ok(Compiled::new(build.finish()?)?)
}

/// What no server takes part in: it shows a key to all of them.
fn steal() -> Result<Arc<Compiled>, Failure> {
    let mut build = Builder::new();
    let key = build.kept("keys", Dtype::Bool, &[1, BITS], None)?;
    build.reveal(key, Recipient::All)?;
    Ok(Compiled::new(build.finish()?)?)
}

/// Who wants to talk to whom. No number comes twice, whoever asks: else two session keys for one principal would be wrapped by
/// one stream.
#[derive(Clone, Copy)]
struct Request<'a> {
    from: &'a str,
    to: &'a str,
    number: u128,
}

/// A server, as those who ask it see it: with a policy of its own.
struct Desk {
    number: usize,
    asker: Asker,
    /// Who may ask for whom.
    allowed: Vec<(&'static str, &'static str)>,
    /// The last number that anybody asked with.
    last: Mutex<u128>,
}

impl Desk {
    /// This server's part in a run that all want, or none has.
    fn wants(
        &self,
        compiled: Arc<Compiled>,
        tag: String,
        fill: Fill,
        inputs: Vec<Option<Value>>,
    ) -> Result<Run, Failure> {
        Ok(self.asker.run(Wanted { compiled, tag, inputs, fill, within: WITHIN })?)
    }

    fn enrols(&self, principal: &str) -> Result<Run, Failure> {
        let row = Fill::new().keeping("keys", &format!("keys[{}]", row(principal)?));
        self.wants(enrol(principal)?, format!("enrol {principal}"), row, vec![None])
    }

    fn begins(&self) -> Result<Run, Failure> {
        let shape = vec![PRINCIPALS.len(), BITS];
        let zeros = Value { data: Data::Bool(vec![false; PRINCIPALS.len() * BITS]), shape };
        let given = (self.number == 0).then_some(zeros);
        self.wants(table()?, "begin".to_owned(), Fill::new(), vec![given])
    }

    /// The session key, wrapped twice, if the policy is for it.
    fn answers(&self, Request { from, to, number }: Request<'_>) -> Result<Run, Failure> {
        if !self.allowed.contains(&(from, to)) {
            return Err(format!("{} doesn't let {from} talk to {to}", SERVERS[self.number]).into());
        }
        let mut last = self.last.lock().expect("nobody panics");
        if number <= *last {
            return Err(
                format!("{} has had a number that is not before {number}", SERVERS[self.number]).into()
            );
        }
        *last = number;
        drop(last);
        let mut inputs = vec![None, None, None, Some(bits(number))];
        inputs[self.number] = Some(bits(drawn()?));
        let keys = Fill::new().reading("keys", &format!("keys[{},{}]", row(from)?, row(to)?));
        self.wants(issue()?, format!("{from} to {to}, {number}"), keys, inputs)
    }
}

/// A principal's row of the table.
fn row(principal: &str) -> Result<usize, Failure> {
    Ok(PRINCIPALS.iter().position(|one| *one == principal).ok_or("an unknown principal")?)
}

fn drawn() -> Result<u128, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_le_bytes(bytes))
}

/// As the circuits have them, the lowest bit first.
fn bits(number: u128) -> Value {
    let bits = (0..BITS).map(|at| number >> at & 1 == 1).collect();
    Value { shape: vec![BITS], data: Data::Bool(bits) }
}

fn plain(value: Value) -> Vec<bool> {
    if let Data::Bool(bits) = value.data { bits } else { Vec::new() }
}

/// What each server makes of something, all at the same time.
fn each<'a, T: Send>(
    desks: &'a [Desk],
    ask: impl Fn(&'a Desk) -> Result<T, Failure> + Sync,
) -> Vec<Result<T, Failure>> {
    thread::scope(|scope| {
        let asked: Vec<_> = desks.iter().map(|desk| scope.spawn(|| ask(desk))).collect();
        asked.into_iter().map(|server| server.join().expect("no server panics")).collect()
    })
}

/// A principal gives its key to the servers, as shares.
fn gives(config: &Path, principal: &str, key: u128) -> Result<(), Failure> {
    let mut seat = Seat::open(config)?;
    seat.tag(format!("enrol {principal}"));
    let key = Value { shape: vec![1, BITS], ..bits(key) };
    seat.run(&enrol(principal)?, PROTOCOL, &[Some(key)], &|_, _| ())?;
    Ok(())
}

/// A session key, as each of the two takes it from its reply with its own key.
fn session_key(desks: &[Desk], keys: &[u128], request: Request<'_>) -> Result<Vec<bool>, Failure> {
    let runs: Vec<Run> = each(desks, |desk| desk.answers(request)).into_iter().collect::<Result<_, _>>()?;
    let wrapped: Vec<Value> =
        runs.into_iter().next().into_iter().flat_map(|run| run.outputs).flatten().collect();
    let mut unwrapped = [request.from, request.to].into_iter().zip(wrapped).map(|(principal, wrapped)| {
        let own = keys[row(principal)?];
        let inputs = [plain(bits(own)), plain(bits(request.number)), plain(wrapped)];
        Ok::<_, Failure>(wrapping().evaluate(&inputs)?.swap_remove(0))
    });
    let (one, other) = (unwrapped.next().ok_or("no reply")??, unwrapped.next().ok_or("no reply")??);
    if one != other {
        return Err(format!("{} and {} have different keys", request.from, request.to).into());
    }
    Ok(one)
}

fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let configs = setup::init(folder.path(), 3, &PRINCIPALS.map(str::to_owned), "127.0.0.1", 9820)?;
    let (parties, clients) = configs.split_at(SERVERS.len());

    // The last server is stricter than the others.
    let policies = [
        vec![("ann", "mail"), ("ann", "files"), ("ben", "mail"), ("ben", "files")],
        vec![("ann", "mail"), ("ann", "files"), ("ben", "mail"), ("ben", "files")],
        vec![("ann", "mail"), ("ann", "files"), ("ben", "mail")],
    ];
    let (mut servers, mut desks) = (Vec::new(), Vec::new());
    for ((number, config), allowed) in parties.iter().enumerate().zip(policies) {
        let holdings = Holdings { store: None, state: Some((State::new(), Fill::new())) };
        let serving = Serving { holdings, ..Serving::new(PROTOCOL, 2) };
        let mut server = Server::open(&Config::load(config)?, Vec::new(), serving)?;
        for principal in PRINCIPALS {
            server.expect(&enrol(principal)?)?;
        }
        let last = Mutex::default();
        desks.push(Desk { number, asker: server.asker(), allowed, last });
        let drain = server.drain();
        let serves = thread::spawn(move || server.serve(&mut |_| Ok::<_, tacit::Error>(())));
        servers.push((drain, serves));
    }

    each(&desks, Desk::begins).into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut keys = Vec::new();
    for (principal, config) in PRINCIPALS.into_iter().zip(clients) {
        let key = drawn()?;
        thread::scope(|scope| {
            let gives = scope.spawn(move || gives(config, principal, key));
            each(&desks, |desk| desk.enrols(principal)).into_iter().collect::<Result<Vec<_>, _>>()?;
            gives.join().expect("no client panics")
        })?;
        keys.push(key);
    }

    for (from, to, number) in [("ann", "mail", 1), ("ann", "files", 2), ("ben", "mail", 3)] {
        let session = session_key(&desks, &keys, Request { from, to, number })?;
        assert_eq!(session.len(), BITS);
        println!("{from} and {to} share a key that no server knows");
    }

    // Two servers would have it so; no run begins without the third.
    let refused = each(&desks, |desk| desk.answers(Request { from: "ben", to: "files", number: 4 }));
    // So is a number that has been.
    let again = each(&desks, |desk| desk.answers(Request { from: "ann", to: "mail", number: 3 }));
    // Whatever all servers want, a kept key is for one program alone.
    let stolen = each(&desks, |desk| {
        desk.wants(steal()?, "steal".to_owned(), Fill::new().reading("keys", "keys[0]"), Vec::new())
    });
    for (server, result) in SERVERS.into_iter().cycle().zip(refused.into_iter().chain(again).chain(stolen)) {
        match result {
            Ok(run) => return Err(format!("{server} let it happen: {:?}", run.outputs).into()),
            Err(reason) => println!("{server}: {reason}"),
        }
    }

    for (drain, _) in &servers {
        drain.ask();
    }
    for (_, serves) in servers {
        serves.join().expect("no server panics")?;
    }
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
