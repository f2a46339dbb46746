//! A deployment that lives, by its commands: values that stay, clients that come and go, certificates that are renewed.

use crate::{PORT, command, object, tacit, write_numbers};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};
use tacit::SavedPlan;
use tacit::program::{Builder, Dtype, NodeId, Program, Range, Recipient, Uses};
use tacit::setup::Config;

const FIRST: u16 = PORT + 44;
const METRICS: u16 = PORT + 47;
/// How long a run waits for the other one of its batch at most: long enough for two processes to start on a busy machine.
const WINDOW_MS: &str = "10000";

fn range() -> Option<Range> {
    Range::new(-1000, 1000)
}

/// Two numbers of an owner.
fn given(build: &mut Builder, owner: &str) -> NodeId {
    build.input(owner, "x", Dtype::Int, &[2], range()).unwrap()
}

/// Keeps two numbers of a guest as rows of the table.
fn put() -> Program {
    let mut build = Builder::new();
    let x = given(&mut build, "guest");
    build.keep(x, "table", Uses::default()).unwrap();
    build.finish().unwrap()
}

/// Keeps P0's two numbers as a table, of which the other program may keep rows.
fn make() -> Program {
    let mut build = Builder::new();
    let x = given(&mut build, "P0");
    let writers = tacit::Compiled::new(put()).unwrap().hash();
    build.keep(x, "table", Uses::default().with_writers(vec![writers])).unwrap();
    build.finish().unwrap()
}

/// Tells a guest its numbers times two rows of the table.
fn ask() -> Program {
    let mut build = Builder::new();
    let x = given(&mut build, "guest");
    let rows = build.kept("keys", Dtype::Int, &[2], range()).unwrap();
    let products = build.mul(x, rows).unwrap();
    build.reveal(products, Recipient::Role("guest".into())).unwrap();
    build.finish().unwrap()
}

/// A deployment of three parties and alice, and dave with a key of his own, whom nobody knows.
pub(crate) struct House(tempfile::TempDir);

impl House {
    pub(crate) fn new() -> Self {
        let house = Self(tempfile::tempdir().unwrap());
        let port = FIRST.to_string();
        object(&["init", &house.path(""), "--clients", "alice", "--port", &port, "--json"]);
        object(&["init", &house.path("own"), "--clients", "dave", "--port", &port, "--json"]);
        std::fs::rename(house.path("own/dave"), house.path("dave")).unwrap();
        // He puts the servers' own certificates into his list.
        let text = |path: String| std::fs::read_to_string(path).unwrap();
        let (servers, own) = (text(house.path("P0/parties.toml")), text(house.path("dave/parties.toml")));
        let tables = |text: &str, kind: &str| -> String {
            let tables = text.split("\n[[").skip(1).filter(|table| table.starts_with(kind));
            tables.flat_map(|table| ["\n[[", table]).collect()
        };
        let head = own.split("\n[[").next().unwrap();
        let list = format!("{head}{}{}", tables(&servers, "party"), tables(&own, "client"));
        std::fs::write(house.path("dave/parties.toml"), list).unwrap();
        for (name, program) in [("put", put()), ("make", make()), ("ask", ask())] {
            let plan = SavedPlan::new(program, name);
            std::fs::write(house.path(&format!("{name}.plan")), plan.to_bytes()).unwrap();
        }
        for (name, numbers) in [("low", [3, 5]), ("high", [10, 20])] {
            write_numbers(Path::new(&house.path(&format!("{name}.npy"))), numbers);
        }
        house
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    pub(crate) fn config(&self, name: &str) -> String {
        self.path(&format!("{name}/parties.toml"))
    }

    /// The parties keep the table, in a run that all begin by hand.
    pub(crate) fn make(&self) {
        let run = |party: usize| {
            let (config, state) = (self.config(&format!("P{party}")), self.path(&format!("P{party}/state")));
            let (plan, input) = (self.path("make.plan"), format!("x={}", self.path("low.npy")));
            let args = ["run", &plan, "--config", &config, "--state", &state, "--json"];
            let given = if party == 0 { &["--input", &input][..] } else { &[] };
            command(&[&args, given].concat()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        for mut party in [0, 1, 2].map(run) {
            assert!(party.wait().unwrap().success());
        }
    }

    /// A server, watched and logging.
    pub(crate) fn serve(&self, party: u16, more: &[&str], log: Stdio) -> Serves {
        let name = format!("P{party}");
        let (config, state) = (self.config(&name), self.path(&format!("{name}/state")));
        let (put, ask, metrics) =
            (self.path("put.plan"), self.path("ask.plan"), format!("127.0.0.1:{}", METRICS + party));
        let own = ["serve", &put, &ask, "--config", &config, "--state", &state, "--json"];
        let chosen = ["--kept", "keys=table[*]", "--rows", "table[*]", "--open", "guest"];
        let watched = ["--log", "json", "--metrics", &metrics];
        let mut serves = command(&[&own[..], &chosen, &watched, more].concat());
        Serves(Some(serves.stdout(Stdio::piped()).stderr(log).spawn().unwrap()))
    }

    /// A client's process that asks for a plan.
    pub(crate) fn asks(&self, client: &str, plan: &str, numbers: &str, more: &[&str]) -> Child {
        let (plan, input) = (self.path(plan), format!("x={}", self.path(numbers)));
        let config = self.config(client);
        let args = ["run", &plan, "--config", &config, "--plays", "guest", "--input", &input, "--json"];
        command(&[&args, more].concat()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// A server's process, which ends with the test.
pub(crate) struct Serves(pub(crate) Option<Child>);

impl Serves {
    /// Ends it, once what is under way has ended.
    pub(crate) fn ends(mut self) -> Output {
        let server = self.0.take().unwrap();
        kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        server.wait_with_output().unwrap()
    }
}

impl Drop for Serves {
    fn drop(&mut self) {
        if let Some(mut server) = self.0.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// What a client's process learns, or its words.
pub(crate) fn learns(client: Child) -> Result<Json, String> {
    let output = client.wait_with_output().unwrap();
    if !output.status.success() {
        let says = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
        return Err(says);
    }
    let mut told: Json = serde_json::from_slice(&output.stdout).unwrap();
    Ok(told["outputs"].get_mut(0).map_or(Json::Null, |output| output["value"].take()))
}

/// Ticks of the processor that a process has taken.
fn ticks(Serves(process): &Serves) -> u64 {
    let process = process.as_ref().map_or(0, Child::id);
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // The name is in brackets and may have spaces; user's and system's time are the 12th and 13th fields after it.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    [fields[11], fields[12]].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}

pub(crate) fn a_deployment_lives_by_its_commands() {
    let house = House::new();
    house.make();
    let (ask, config, state) = (house.path("ask.plan"), house.config("P0"), house.path("P0/state"));
    let small = ["serve", &ask, "--config", &config, "--state", &state, "--open", "guest", "--memory", "10"];
    let refused = tacit(&small);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && told.contains("4 runs at a time; allowed are 10"), "{told}");
    let together = ["--together", "2", "--window-ms", WINDOW_MS];
    let servers = [0, 1, 2].map(|party| house.serve(party, &together, Stdio::null()));
    let deadline = Instant::now() + Duration::from_secs(30);
    while (0..3).any(|party| TcpStream::connect(("127.0.0.1", METRICS + party)).is_err()) {
        assert!(Instant::now() < deadline, "the servers don't come");
        std::thread::sleep(Duration::from_millis(10));
    }

    // Nobody knows dave, until he is enrolled; no server is restarted.
    let stranger = learns(house.asks("dave", "ask.plan", "high.npy", &["--kept", "keys=table[0,1]"]));
    assert!(stranger.is_err(), "{stranger:?}");
    let dave = Config::load(Path::new(&house.config("dave"))).unwrap();
    let print = dave.clients()[0].fingerprint.unwrap().to_string();
    for party in ["P0", "P1", "P2"] {
        let args = ["client", "add", "dave", &print, "--config", &house.config(party), "--json"];
        let added = tacit(&args);
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        let listed = tacit(&["client", "list", "--config", &house.config(party)]);
        assert!(String::from_utf8_lossy(&listed.stdout).contains(&format!("dave {print}")));
    }

    // A row is kept anew, and two requests of one window are instances of one run on it.
    let kept = house.asks("dave", "put.plan", "high.npy", &["--rows", "table[1,0]"]);
    assert_eq!(learns(kept), Ok(Json::Null));
    let both = [("alice", "low.npy"), ("dave", "high.npy")].map(|(client, numbers)| {
        house.asks(client, "ask.plan", numbers, &["--tag", "one", "--kept", "keys=table[1,0]"])
    });
    let both = both.map(learns);
    assert_eq!(both, [Ok(serde_json::json!([30, 100])), Ok(serde_json::json!([100, 400]))]);

    // P1's certificate is replaced while it serves.
    let renewed = object(&["certificate", "renew", "--config", &house.config("P1"), "--json"]);
    let print = renewed["fingerprint"].as_str().unwrap();
    for endpoint in ["P0", "P2", "alice"] {
        object(&["certificate", "accept", "P1", print, "--config", &house.config(endpoint), "--json"]);
    }
    let used = object(&["certificate", "use", "--config", &house.config("P1"), "--json"]);
    assert_eq!(used["fingerprint"], print);
    let alice = house.asks("alice", "put.plan", "low.npy", &["--rows", "table[0,1]"]);
    assert_eq!(learns(alice), Ok(Json::Null));

    // Who is struck off has no part in anything any more.
    for party in ["P0", "P1", "P2"] {
        assert!(tacit(&["client", "remove", "dave", "--config", &house.config(party)]).status.success());
    }
    let gone = learns(house.asks("dave", "put.plan", "low.npy", &["--rows", "table[0,1]", "--wait", "5"]));
    assert!(gone.is_err(), "{gone:?}");

    // Servers that nobody asks take no time, watched as they are.
    let idle_second = || {
        let before = servers.each_ref().map(ticks);
        std::thread::sleep(Duration::from_secs(1));
        before.iter().zip(servers.each_ref().map(ticks)).all(|(before, after)| after - before < 2)
    };
    // The last client has only just gone.
    assert!((0..5).any(|_| idle_second()), "idle servers take time");

    // What one keeps can be looked at while it serves.
    let (config, state) = (house.config("P2"), house.path("P2/state"));
    let beside = tacit(&["state", "list", &state, "--config", &config]);
    assert!(beside.status.success(), "{beside:?}");

    for server in servers {
        let output = server.ends();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let clients = lines.iter().map(|line| line["clients"].as_object().map_or(0, serde_json::Map::len));
        assert_eq!(clients.collect::<Vec<_>>(), [1, 2, 1], "{text}");
    }
    let shown = tacit(&["state", "show", &state, "table", "--config", &config]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("table@3") && shown.contains("shared by: P0, P1, P2"), "{shown}");
    let listed = tacit(&["state", "list", &state, "--config", &config]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("table@3") && listed.stdout == beside.stdout);
    let (copy, back) = (house.path("copy"), house.path("back"));
    assert!(tacit(&["state", "export", &state, &copy, "--config", &config]).status.success());
    let back = tacit(&["state", "import", &back, &copy, "--config", &config]);
    assert_eq!(back.stdout, listed.stdout);
    // Without the party's key it is closed.
    assert_eq!(tacit(&["state", "list", &state]).status.code(), Some(2));
}

pub(crate) fn a_deployment_that_lives_is_measured() {
    for kept in [&[][..], &["--kept"]] {
        let object = object(&[&["bench", "living", "--quick", "--json"], kept].concat());
        assert_eq!((&object["transport"], &object["clients"]), (&"tls".into(), &4.into()));
        assert_eq!(object["kept"], !kept.is_empty());
        for kind in ["idle", "busy", "batched", "fresh"] {
            let of = |key: &str| object[format!("{kind}_{key}")].as_f64().expect(key);
            assert!(0.0 < of("p50_seconds") && of("p50_seconds") <= of("p99_seconds"), "{object}");
            assert!(of("per_second") > 0.0, "{object}");
        }
    }
    // In the protocol's own words.
    let refused = tacit(&["bench", "living", "--quick", "--protocol", "astra-fair"]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && told.contains("reveals outputs to parties alone"), "{told}");
}
