//! `kill -9` of a server. While an admin gives a principal a key: at whatever moment that is, the principal is there at all servers
//! or at none, or else it can be given a key again; and others log in. While all give keys fresh shares: all keys stay, and the
//! next time all get fresh shares.

mod processes;

use processes::{PROGRAM, REALM, Realm, now, start};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use tacit::setup::Config;
use tacit::{Standing, State};
use tacit_kdc::clear::Key;
use tacit_kdc::client::{Client, Wish, ask};
use tacit_kdc::enctype::Enctype;
use tacit_kdc::messages::read_error;
use tacit_kdc::realm::{Principals, Sessions};

const ENCTYPE: Enctype = Enctype::Aes128Sha1;
const ITERATIONS: u32 = 4096;

/// Moments from when a server notes that an order has begun to when the admin is told of it, a part of that time apart.
const MOMENTS: u32 = 9;

/// How long servers may take to find one another again, and what one of them has missed.
const SETTLES: Duration = Duration::from_mins(3);

/// A number that no other request of this test has.
static NONCE: AtomicU32 = AtomicU32::new(1);

/// Errors of RFC 4120: nobody has this name, the password is wrong, and there is no service now; and that of whoever is locked,
/// as is for a minute who has asked ten times and had no verdict.
const UNKNOWN: i64 = 6;
const WRONG: i64 = 24;
const UNAVAILABLE: i64 = 29;
const TOO_MANY: i64 = 18;

fn key(name: &str, password: &str) -> Key {
    Key::of_password(ENCTYPE, password.as_bytes(), format!("{REALM}{name}").as_bytes(), ITERATIONS)
}

impl Realm {
    /// The admin's command that adds a principal with a password.
    fn adds(&self, name: &str, password: &str) -> Child {
        self.gives("add", name, password)
    }

    /// One that gives a principal a password.
    fn gives(&self, verb: &str, name: &str, password: &str) -> Child {
        let mut command = Command::new(PROGRAM);
        command.arg(verb).arg(self.admin()).args([name, "--iterations"]).arg(ITERATIONS.to_string());
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = streams.spawn().unwrap();
        child.stdin.take().unwrap().write_all(password.as_bytes()).unwrap();
        child
    }

    /// Why a login isn't granted, if it isn't, once there is another reason than that there is no service.
    fn login(&self, name: &str, password: &str, within: Duration) -> Option<i64> {
        let (until, key) = (Instant::now() + within, key(name, password));
        let client = Client { realm: REALM, name, key: &key };
        loop {
            // The same request within a second would get the same reply, whatever has become of the principal.
            let nonce = NONCE.fetch_add(1, Ordering::Relaxed);
            let mut confounder = [0; 16];
            confounder[..4].copy_from_slice(&nonce.to_le_bytes());
            let wish = Wish::of("krbtgt/M.EXAMPLE", nonce);
            let request = client.initial(&wish, now(), confounder);
            let told =
                TcpStream::connect(("127.0.0.1", self.port)).and_then(|mut link| ask(&mut link, &request));
            let refused = told.map_or(Some(UNAVAILABLE), |reply| {
                read_error(&reply).or_else(|| client.initial_reply(&reply, &wish).is_err().then_some(-1))
            });
            let is_for_now = matches!(refused, Some(UNAVAILABLE | TOO_MANY));
            if !is_for_now || Instant::now() > until {
                return refused;
            }
            thread::sleep(Duration::from_secs(1));
        }
    }

    fn principals(&self, server: usize) -> Principals {
        Principals::load(&self.part(&format!("P{server}/principals.json"))).unwrap()
    }

    /// The key that each server has of a principal: its version and its record.
    fn keys(&self, name: &str) -> [Option<(u64, String)>; 3] {
        [0, 1, 2].map(|server| {
            let principals = self.principals(server);
            principals.get(name).map(|principal| (principal.kvno, principal.record.clone()))
        })
    }

    /// Waits until a server has noted that an order has begun.
    fn begins(&self, server: usize, adds: &mut Child) {
        while self.principals(server).begun().is_empty() && adds.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills a server at once.
    fn kills(&mut self, server: usize) {
        self.processes[server].0.kill().unwrap();
        self.processes[server].0.wait().unwrap();
    }

    /// Starts a server again, and waits until it serves.
    fn starts(&mut self, server: usize) {
        let part = format!("P{server}");
        self.processes[server] = start(self.folder.path(), "serve", &part);
        let until = Instant::now() + Duration::from_mins(10);
        while !fs::read_to_string(self.folder.path().join(format!("{part}.log")))
            .unwrap()
            .contains(" serves ")
        {
            assert!(Instant::now() < until, "{part} starts again");
            thread::sleep(Duration::from_millis(200));
        }
    }
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn a_server_that_is_killed_leaves_a_principal_whole_or_to_be_given_a_key_again() {
    let mut realm = Realm::new(ENCTYPE, Sessions::Shared, 0);
    assert!(realm.adds("ann", "correct horse").wait().unwrap().success());
    let mut adds = realm.adds("ben", "correct horse");
    realm.begins(0, &mut adds);
    let since = Instant::now();
    assert!(adds.wait().unwrap().success());
    let took = since.elapsed();
    let mut came = Vec::new();
    for moment in 0..MOMENTS {
        let (name, server) = (format!("user{moment}"), moment as usize % 3);
        let mut adds = realm.adds(&name, "correct horse");
        realm.begins(server, &mut adds);
        thread::sleep(took * moment / (MOMENTS - 1));
        realm.kills(server);
        let told = adds.wait().unwrap().code();
        realm.starts(server);
        assert_eq!(realm.login("ann", "correct horse", SETTLES), None, "{name}: others log in");
        let login = realm.login(&name, "correct horse", SETTLES);
        let keys = realm.keys(&name);
        let alike = keys.iter().all(|key| *key == keys[0]);
        match login {
            None => assert!(alike && keys[0].is_some() && told != Some(2), "{name}: {told:?}, {keys:?}"),
            Some(UNKNOWN) => {
                assert!(alike && keys[0].is_none() && told != Some(0), "{name}: {told:?}, {keys:?}");
            }
            // One server alone has carried it out. That is the admin's to hear of, and to do again.
            Some(UNAVAILABLE) => assert!(!alike && told == Some(1), "{name}: {told:?}, {keys:?}"),
            code => panic!("{name}: error {code:?}"),
        }
        came.push((told, login));
        if login == Some(UNAVAILABLE) {
            // All take that, whether they have the principal or not.
            let rotates = Command::new(PROGRAM).arg("rotate").arg(realm.admin()).arg(&name).status();
            assert!(rotates.unwrap().success(), "{name} is given a key that nobody has");
        }
        let verb = if login == Some(UNKNOWN) { "add" } else { "passwd" };
        let told = realm.gives(verb, &name, "battery staple").wait().unwrap();
        assert!(told.success(), "{name} is given a key again");
        assert_eq!(realm.login(&name, "battery staple", SETTLES), None, "{name} logs in with it");
        assert_eq!(realm.login(&name, "correct horse", SETTLES), Some(WRONG));
    }
    println!("the admin was told, and a login came to: {came:?}");
    assert!(came.iter().any(|(told, _)| *told != Some(0)), "no order was broken off");
    assert_eq!(realm.login("ben", "correct horse", SETTLES), None);
}

/// Seconds between two times at which keys get fresh shares.
const EVERY: i64 = 20;

/// Principals beside krbtgt: more than servers give fresh shares at a time.
const NAMES: [&str; 6] = ["ann", "ben", "carl", "dora", "eve", "fred"];

impl Realm {
    /// How often each server has said that all keys have fresh shares, since it started.
    fn refreshes(&self) -> [usize; 3] {
        let all = format!("fresh shares of {} keys", NAMES.len() + 1);
        [0, 1, 2].map(|server| {
            let log = fs::read_to_string(self.folder.path().join(format!("P{server}.log"))).unwrap();
            log.lines().filter(|line| *line == all).count()
        })
    }

    /// Waits until all servers have said so once more.
    fn refresh_all(&self) {
        let (before, until) = (self.refreshes(), Instant::now() + SETTLES);
        while self.refreshes().iter().zip(before).any(|(now, before)| *now == before) {
            if Instant::now() > until {
                let logs = [0, 1, 2].map(|server| {
                    fs::read_to_string(self.folder.path().join(format!("P{server}.log"))).unwrap()
                });
                panic!("all keys get fresh shares: {logs:#?}");
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// What a server has of each key: versions, and where they stand.
    fn shares(&self, server: usize) -> BTreeMap<String, Vec<(u64, Standing)>> {
        let part = self.part(&format!("P{server}"));
        let key = State::key(&Config::load(&part.join("parties.toml")).unwrap()).unwrap();
        let mut shares: BTreeMap<String, Vec<(u64, Standing)>> = BTreeMap::new();
        for one in State::look(&part.join("state"), key).unwrap() {
            if one.standing != Standing::Dropped {
                shares.entry(one.about.name).or_default().push((one.about.version, one.standing));
            }
        }
        shares
    }

    /// What all servers have alike: one version of each key. The next turn may come as one folder after another is read.
    fn same_shares(&self) -> BTreeMap<String, Vec<(u64, Standing)>> {
        let until = Instant::now() + SETTLES;
        loop {
            let [first, others @ ..] = [0, 1, 2].map(|server| self.shares(server));
            let is_one = |versions: &Vec<_>| matches!(versions[..], [(_, Standing::Settled)]);
            let are_alike = others.iter().all(|other| *other == first);
            if are_alike && first.len() == NAMES.len() + 1 && first.values().all(is_one) {
                return first;
            }
            assert!(Instant::now() < until, "{first:?}, {others:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn all_log_in(&self) {
        for name in NAMES {
            assert_eq!(self.login(name, "correct horse", SETTLES), None, "{name} logs in");
        }
    }
}

/// Sleeps until the next time at which keys get fresh shares.
fn next_turn() {
    let turn = (now() / EVERY + 1) * EVERY;
    while now() < turn {
        thread::sleep(Duration::from_millis(5));
    }
}

fn now_nanos() -> u32 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos()
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn a_server_that_is_killed_amid_fresh_shares_leaves_every_key() {
    let mut realm = Realm::new(ENCTYPE, Sessions::Shared, EVERY);
    for name in NAMES {
        assert!(realm.adds(name, "correct horse").wait().unwrap().success());
    }
    realm.refresh_all();
    let (mut amid, keys) = (0, NAMES.len() + 1);
    for moment in 0..MOMENTS {
        let server = moment as usize % 3;
        let before = realm.shares(server);
        // Whether it has fresh shares of a key, whoever else has.
        let is_fresh =
            |(record, versions): (&String, &Vec<(u64, Standing)>)| before.get(record) != Some(versions);
        let fresh = || realm.shares(server).iter().filter(|entry| is_fresh(*entry)).count();
        let (wanted, until) = (moment as usize % keys, Instant::now() + SETTLES);
        next_turn();
        while fresh() < wanted.max(1) && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        // No two runs of the test are alike.
        thread::sleep(Duration::from_nanos(u64::from(now_nanos() % 30_000_000)));
        realm.kills(server);
        let left = realm.shares(server);
        let count = left.iter().filter(|entry| is_fresh(*entry)).count();
        let pending = left.values().flatten().filter(|(_, standing)| *standing == Standing::Pending).count();
        println!(
            "P{server} was killed with fresh shares of {count} of {keys} keys, {pending} of them pending"
        );
        amid += usize::from(count < keys || pending > 0);
        realm.starts(server);
        realm.all_log_in();
        realm.refresh_all();
        let first = realm.same_shares();
        let older = |(record, versions): (&String, &Vec<(u64, Standing)>)| {
            first[record][0].0 > versions.iter().map(|(version, _)| *version).max().unwrap_or(0)
        };
        assert!(left.iter().all(older), "all are fresher than when it was killed: {left:?}, {first:?}");
    }
    realm.all_log_in();
    assert!(amid > MOMENTS as usize / 2, "{amid} turns were under way");
}
