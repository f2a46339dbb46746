//! `tacit doctor`: what keeps an endpoint of a deployment from its runs, and what to do about it. Nothing is changed, and no
//! run is disturbed.

use crate::args::DoctorArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::table::seconds;
use serde::Serialize;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tacit::advanced::net::setup::{Seen, enrolled, hello, look};
use tacit::advanced::session::VERSION as MESSAGES;
use tacit::setup::{Config, SetupError};

/// A certificate that ends sooner is told of.
const MONTH: u64 = 30 * DAY;
const DAY: u64 = 24 * 3600;
/// Clocks that differ by more are told of: certificates begin and end by them.
const CLOCKS: Duration = Duration::from_mins(1);
/// What is to be done if versions differ.
const ONE_VERSION: &str = "Give everybody the same version of Tacit";
/// How long a server on this machine takes to answer at most.
const OWN: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warning,
    Wrong,
}

/// What was looked at, and how it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Finding {
    check: &'static str,
    /// The endpoint that it is about.
    about: String,
    state: State,
    says: String,
    /// What to do, if something is.
    advice: Option<&'static str>,
}

impl Finding {
    fn new(check: &'static str, about: &str, state: State, says: impl Into<String>) -> Self {
        Self { check, about: about.to_owned(), state, says: says.into(), advice: None }
    }

    fn advice(self, advice: &'static str) -> Self {
        Self { advice: Some(advice), ..self }
    }
}

pub(crate) fn doctor(context: &mut Context<'_>, args: &DoctorArgs) -> Result<(), Failure> {
    let path = configuration(&args.deployment);
    let config = Config::load(&path).map_err(tacit::Error::from)?;
    let (mut wrong, mut all) = (0, 0);
    let mut tell = |finding: Finding| {
        all += 1;
        wrong += usize::from(finding.state == State::Wrong);
        context.line(&if context.json {
            serde_json::to_string(&finding).map_err(|error| Failure::aborted(error.to_string()))?
        } else {
            text(&finding)
        })
    };
    let name = config.names().swap_remove(config.me());
    let (own, links) = (env!("CARGO_PKG_VERSION"), hello::VERSION);
    let says = format!("Tacit {own}, versions {links} of the link protocol and {MESSAGES} of runs' messages");
    tell(Finding::new("version", &name, State::Ok, says))?;
    tell(keys(&config, &name))?;
    if let Some(finding) = certificate(&config, &name, SystemTime::now()) {
        tell(finding)?;
    }
    if !config.is_client() {
        tell(clients(&config, &name))?;
        tell(port(&config, &name, args.within))?;
    }
    for (number, party) in config.parties().iter().enumerate().filter(|(number, _)| *number != config.me()) {
        match look(&config, number, args.within) {
            Ok(seen) => {
                for finding in reached(&party.name, &seen) {
                    tell(finding)?;
                }
            }
            Err(error) => tell(unreached(&party.name, &error))?,
        }
    }
    if wrong > 0 {
        return Err(Failure::wrong(format!("{wrong} of {all} checks found something wrong")));
    }
    Ok(())
}

/// A configuration, or the one in a folder.
fn configuration(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("parties.toml") } else { path.to_owned() }
}

fn text(Finding { check, about, state, says, advice }: &Finding) -> String {
    let state = match state {
        State::Ok => "ok",
        State::Warning => "warning",
        State::Wrong => "WRONG",
    };
    let advice = advice.map_or_else(String::new, |advice| format!("\n         {advice}"));
    format!("{state:8} {check} of {about}: {says}{advice}")
}

fn keys(config: &Config, name: &str) -> Finding {
    match config.check_identity() {
        Ok(()) => {
            Finding::new("keys", name, State::Ok, "they are those of the list, and nobody else's to read")
        }
        Err(error) => Finding::new("keys", name, State::Wrong, error.to_string())
            .advice("Put this endpoint's own key.pem and certificate.pem beside parties.toml, or renew them"),
    }
}

/// How long the certificate lasts; nothing with plain TCP, or if it can't be read, which its key's check tells.
fn certificate(config: &Config, name: &str, now: SystemTime) -> Option<Finding> {
    let end = config.certificate_expiry().ok()??;
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let left = end.saturating_sub(now);
    let says = format!("it ends in {} days", left / DAY);
    let renew = "Renew it (tacit certificate renew): everybody has to accept the new one by then";
    Some(match left {
        0 => Finding::new("certificate", name, State::Wrong, "it has ended").advice(renew),
        _ if left < MONTH => Finding::new("certificate", name, State::Warning, says).advice(renew),
        _ => Finding::new("certificate", name, State::Ok, says),
    })
}

fn clients(config: &Config, name: &str) -> Finding {
    match enrolled(config) {
        Ok(enrolled) => {
            let (listed, since) = (config.clients().len(), enrolled.len());
            let says = format!("{listed} in parties.toml, {since} enrolled since");
            Finding::new("clients", name, State::Ok, says)
        }
        Err(error) => Finding::new("clients", name, State::Wrong, error.to_string())
            .advice("Mend clients.toml, or remove it and enrol the clients again (tacit client add)"),
    }
}

/// Whether this party listens on its port, or could.
fn port(config: &Config, name: &str, within: Duration) -> Finding {
    let address = match config.own_address() {
        Ok(address) => address,
        Err(error) => return Finding::new("port", name, State::Wrong, error.to_string()),
    };
    // A server is asked before anything else: that neither takes its port nor is a call that it turns away.
    let Err(error) = look(config, config.me(), within.min(OWN)) else {
        return Finding::new("port", name, State::Ok, format!("it listens on {address}"));
    };
    // The address is tried on a port that nobody has: a server that starts now isn't in its way.
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_matches(['[', ']']);
    if let Err(error) = TcpListener::bind((host, 0)) {
        return Finding::new("port", name, State::Wrong, format!("{address} can't be had: {error}"))
            .advice("Make `listen` an address of this machine, with a port from 1024 on");
    }
    if TcpStream::connect(address).is_ok() {
        return Finding::new("port", name, State::Wrong, error.to_string()).advice(
            "Another program has the port, the server is in a single run, or it has another list or key",
        );
    }
    Finding::new("port", name, State::Warning, format!("nobody listens on {address}"))
        .advice("Start the server, unless it is to be down")
}

/// What a party that has answered is like.
fn reached(name: &str, seen: &Seen) -> Vec<Finding> {
    let Seen { address, round_trip, clock_ahead, serves, messages, differs } = seen;
    let state = if *serves { "serves" } else { "waits for a single run" };
    let says = format!("{address} answers in {} and {state}", seconds(round_trip.as_secs_f64()));
    let version = match *messages {
        MESSAGES => Finding::new("version", name, State::Ok, "its runs' messages have the same version"),
        theirs => {
            let theirs = if theirs == 0 { "an older one".to_owned() } else { format!("version {theirs}") };
            let says = format!("its runs' messages have {theirs}, and this side's version {MESSAGES}");
            Finding::new("version", name, State::Wrong, says).advice(ONE_VERSION)
        }
    };
    let list = match differs {
        None => Finding::new("list", name, State::Ok, "it has the same parties with the same keys"),
        Some(differs) => Finding::new("list", name, State::Wrong, differs)
            .advice("Compare names and fingerprints with its owner, and make the lists the same"),
    };
    let (ahead, way) = (Duration::from_micros(clock_ahead.unsigned_abs()), clock_ahead.signum());
    let way = if way < 0 { "behind" } else { "ahead of" };
    let says_clock = format!("it is {} {way} this one's", seconds(ahead.as_secs_f64()));
    let clock = if ahead > CLOCKS + *round_trip {
        Finding::new("clock", name, State::Warning, says_clock)
            .advice("Set both clocks: certificates begin and end by them")
    } else {
        Finding::new("clock", name, State::Ok, says_clock)
    };
    vec![Finding::new("link", name, State::Ok, says), version, list, clock]
}

fn unreached(name: &str, error: &SetupError) -> Finding {
    let advice = match error {
        SetupError::Refused { .. } => {
            "The keys don't fit the lists: compare fingerprints with its owner, on both sides, and both clocks"
        }
        SetupError::Differs { .. } => ONE_VERSION,
        SetupError::Missing { .. } => {
            "Is its server up, its address right, its port open to this machine? A server in the midst of a single run \
             (tacit run) doesn't answer"
        }
        _ => "Mend what is wrong on this side first",
    };
    Finding::new("link", name, State::Wrong, error.to_string()).advice(advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::tacit;
    use hello::Hello;
    use std::io::{Read, Write};

    #[test]
    fn a_certificate_is_told_of_before_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let configs = tacit::setup::init(folder.path(), 3, &[], "127.0.0.1", 30_000).unwrap();
        let config = Config::load(&configs[0]).unwrap();
        let end = SystemTime::UNIX_EPOCH + Duration::from_secs(config.certificate_expiry().unwrap().unwrap());
        let state =
            |before: u64| certificate(&config, "P0", end - Duration::from_secs(before)).unwrap().state;
        assert_eq!(
            [MONTH + 1, MONTH - 1, 1, 0].map(state),
            [State::Ok, State::Warning, State::Warning, State::Wrong]
        );
    }

    #[test]
    fn clocks_versions_and_lists_that_differ_are_told_of() {
        use State::{Ok, Warning, Wrong};
        let states = |clock_ahead: i64, messages: u16, differs: Option<String>| {
            let (address, round_trip) = ("127.0.0.1:1".parse().unwrap(), Duration::from_secs(1));
            let seen = Seen { address, round_trip, clock_ahead, serves: true, messages, differs };
            reached("P1", &seen).into_iter().map(|finding| finding.state).collect::<Vec<_>>()
        };
        assert_eq!(states(-60_900_000, MESSAGES, None), [Ok, Ok, Ok, Ok]);
        assert_eq!(states(-61_100_000, MESSAGES + 1, None), [Ok, Wrong, Ok, Warning]);
        assert_eq!(states(i64::MIN, 0, Some("a name".into())), [Ok, Wrong, Wrong, Warning]);
    }

    /// Hears a caller's hello, and answers as P1 would, but for what the test changes in its bytes.
    fn answers(port: &TcpListener, change: impl FnOnce(&Hello, &mut Vec<u8>)) {
        let (mut caller, _) = port.accept().unwrap();
        let (mut heard, mut chunk) = (Vec::new(), [0; 4096]);
        let asked = loop {
            let len = caller.read(&mut chunk).unwrap();
            assert!(len > 0, "it hung up");
            heard.extend_from_slice(&chunk[..len]);
            if let Some((hello, _)) = Hello::parse(&heard).unwrap() {
                break hello;
            }
        };
        let answer = Hello { sender: 1, messages: MESSAGES, ..asked.clone() };
        let mut bytes = answer.bytes();
        change(&answer, &mut bytes);
        caller.write_all(&bytes).unwrap();
    }

    /// One has a later version of the link protocol, where the version stands in all versions to come; others a later one of a
    /// session's messages, or one that doesn't say it.
    #[test]
    fn a_party_of_another_version_is_told_of_with_what_to_do() {
        let (port, folder) = (TcpListener::bind("127.0.0.1:0").unwrap(), tempfile::tempdir().unwrap());
        let path = folder.path().join("parties.toml");
        let text = format!(
            "me = \"alice\"\ntransport = \"tcp\"\n[[party]]\nname = \"P0\"\naddress = \"127.0.0.1:1\"\n\
             [[party]]\nname = \"P1\"\naddress = \"{}\"\n[[client]]\nname = \"alice\"\n",
            port.local_addr().unwrap()
        );
        std::fs::write(&path, text).unwrap();
        let found = |change: &(dyn Fn(&Hello, &mut Vec<u8>) + Sync)| {
            let path = path.display().to_string();
            std::thread::scope(|scope| {
                scope.spawn(|| answers(&port, change));
                let (code, said, _) = tacit(&["doctor", &path]);
                assert_eq!(code, 1, "{said}");
                said
            })
        };
        let same = found(&|_, _| ());
        assert!(same.contains("ok       version of P1"), "{same}");
        let links = hello::VERSION + 1;
        let said = found(&|_, bytes| bytes[8..10].copy_from_slice(&links.to_le_bytes()));
        let word = format!("speaks version {links} of the link protocol, this side version");
        assert!(
            said.contains("WRONG    link of P1") && said.contains(&word) && said.contains(ONE_VERSION),
            "{said}"
        );
        for (messages, says) in
            [(MESSAGES + 1, format!("version {}", MESSAGES + 1)), (0, "an older one".into())]
        {
            let said = found(&|answer, bytes| *bytes = Hello { messages, ..answer.clone() }.bytes());
            let word = format!("WRONG    version of P1: its runs' messages have {says}, and this side's");
            assert!(said.contains(&word) && said.contains(ONE_VERSION), "{said}");
        }
    }
}
