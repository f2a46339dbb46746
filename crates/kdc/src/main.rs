//! The command `tacit-kdc`: a Kerberos KDC on three servers.

use clap::{Args, Parser, Subcommand};
use std::fs;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tacit::setup::{Profile, load_profile};
use tacit_kdc::admin::{self, Origin};
use tacit_kdc::bench::paper::{self, Paper};
use tacit_kdc::bench::storm::{self, Storm};
use tacit_kdc::bench::{Bench, gcm};
use tacit_kdc::clear::Key;
use tacit_kdc::enctype::Enctype;
use tacit_kdc::front;
use tacit_kdc::keytab;
use tacit_kdc::order::{Change, Holder};
use tacit_kdc::realm::{Sessions, Settings};
use tacit_kdc::refresh;
use tacit_kdc::server::{Failure, Server};
use zeroize::Zeroizing;

/// A Kerberos KDC whose long-term keys exist nowhere: three servers have shares of them.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes folders for three servers, the front and the admin
    Init {
        /// Where the folders go
        folder: PathBuf,
        /// The realm
        #[arg(long)]
        realm: String,
        /// The encryption type of all keys: 17, 18 or 19
        #[arg(long, default_value_t = 18)]
        enctype: i32,
        /// Who knows the keys of sessions
        #[arg(long, default_value_t)]
        sessions: Sessions,
        /// Where the front takes requests of clients
        #[arg(long, default_value = "127.0.0.1")]
        host: String,
        /// Where it takes orders, and where servers listen; edit the files for machines of their own
        #[arg(long, default_value = "127.0.0.1")]
        inside: String,
        /// The first of eight ports: the front's for clients
        #[arg(long, default_value_t = 8800)]
        port: u16,
    },
    /// Serves as one of the three servers
    Serve {
        /// The server's folder
        folder: PathBuf,
        /// What `bench --net` says
        #[arg(long, hide = true)]
        net: Option<String>,
    },
    /// Relays between clients and servers
    Front {
        /// The front's folder
        folder: PathBuf,
    },
    /// Adds a principal that there isn't yet, with the password that is the first line of standard input
    Add(PasswordArgs),
    /// Gives a principal that there is a new password: the first line of standard input
    Passwd(PasswordArgs),
    /// Draws a key, writes it to a new keytab, and gives it to a principal, which may be new
    Ktadd {
        #[command(flatten)]
        key: KeyArgs,
        /// The new keytab
        #[arg(long, value_name = "FILE")]
        keytab: PathBuf,
    },
    /// Gives a principal, which may be new, the newest key that a keytab has of it
    ImportKeytab {
        #[command(flatten)]
        key: KeyArgs,
        /// The keytab
        file: PathBuf,
    },
    /// Gives a principal, which may be new, a key that nobody ever has, as krbtgt's must be
    Rotate(KeyArgs),
    /// Gives a principal no more tickets, nor anybody one for it
    Lock(Who),
    /// Takes that back
    Unlock(Who),
    /// Gives all keys fresh shares; to be called at all three servers, when they are stopped
    Refresh {
        /// The server's folder
        folder: PathBuf,
        /// Seconds that it waits for the others, for each key
        #[arg(long, default_value_t = 60)]
        within: u64,
    },
    /// Measures how many requests a realm on this machine answers
    Bench(BenchArgs),
    /// One of the processes of `bench --every`
    #[command(hide = true)]
    PaperServer {
        /// Its folder
        folder: PathBuf,
        /// The protocol
        #[arg(long)]
        protocol: String,
        /// Logins of a batch at most
        #[arg(long)]
        most: usize,
    },
    /// Strikes a principal off, and drops its key
    Delete(Who),
}

#[derive(Args)]
struct Who {
    /// The admin's folder
    folder: PathBuf,
    /// The principal, without its realm
    principal: String,
}

#[derive(Args)]
struct BenchArgs {
    /// What clients ask for: as (a login) or tgs (a ticket by another)
    #[arg(long, default_value = "as", value_parser = ["as", "tgs"])]
    request: String,
    /// The encryption type: 17, 18 or 19
    #[arg(long, default_value_t = 18)]
    enctype: i32,
    /// Who knows the keys of sessions
    #[arg(long, default_value_t)]
    sessions: Sessions,
    /// The protocol
    #[arg(long, default_value = "replicated-malicious")]
    protocol: String,
    /// Requests
    #[arg(long, default_value_t = 200)]
    count: usize,
    /// Clients that ask at a time
    #[arg(long, default_value_t = 64)]
    clients: usize,
    /// The paper's flow instead, batch after batch of so many logins, in one process: 33 blocks of AES each, and no codes
    #[arg(long, value_name = "LOGINS")]
    paper: Option<usize>,
    /// The same with codes: AES-128 in Galois/counter mode, in three runs a batch
    #[arg(long, value_name = "LOGINS", conflicts_with = "paper")]
    gcm: Option<usize>,
    /// With --paper, three processes instead: so many logins come in a second, and go together every so many milliseconds; with 0
    /// each goes at once, if none is under way
    #[arg(long, value_name = "MILLISECONDS", requires = "paper")]
    every: Option<u64>,
    /// Servers' links to one another are held to a network: a round trip and a bandwidth (0.13ms,1gbit), lan, wan or a file
    #[arg(long, value_name = "NET", conflicts_with_all = ["paper", "gcm"])]
    net: Option<String>,
    /// The first of eight ports
    #[arg(long, default_value_t = 8900)]
    port: u16,
    /// Prints a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct KeyArgs {
    #[command(flatten)]
    who: Who,
    /// The key's version, if it isn't to be the keytab's that is imported, or the next one
    #[arg(long)]
    kvno: Option<u64>,
}

#[derive(Args)]
struct PasswordArgs {
    #[command(flatten)]
    key: KeyArgs,
    /// How often a password is hashed: each login of the client takes that long, and so does each try of who guesses
    #[arg(long, default_value_t = admin::ITERATIONS)]
    iterations: u32,
    /// Takes a password of less than 8 characters
    #[arg(long)]
    weak: bool,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(match &error {
                Failure::Tacit(tacit::Error::Stopped { .. }) => 3,
                Failure::Tacit(error) if error.is_abort() => 1,
                Failure::Unsettled(_) => 1,
                _ => 2,
            })
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Init { folder, realm, enctype, sessions, host, inside, port } => {
            let enctype = Enctype::try_from(enctype).map_err(Failure::Refused)?;
            admin::init(&folder, &realm, (enctype, sessions), [&host, &inside], port)
        }
        Command::Serve { folder, net } => {
            let mut server = Server::open(&folder)?;
            if let Some(net) = net {
                server.shape(network(&net)?);
            }
            server.serve()
        }
        Command::Front { folder } => front::relay(&Settings::load(&folder.join("kdc.toml"))?),
        Command::Add(args) => password(&args, Holder::New),
        Command::Passwd(args) => password(&args, Holder::Known),
        Command::Ktadd { key, keytab } => ktadd(&key, &keytab),
        Command::ImportKeytab { key, file } => {
            let KeyArgs { who, kvno } = &key;
            let Settings { realm, enctype, .. } = Settings::load(&who.folder.join("kdc.toml"))?;
            let bytes = Zeroizing::new(fs::read(&file)?);
            let (known, version) = from_keytab(&bytes, &realm, &who.principal, enctype)?;
            give(who, Holder::Any, &Origin::Key(known), kvno.or(Some(version)))
        }
        Command::Rotate(KeyArgs { who, kvno }) => give(&who, Holder::Any, &Origin::Random, kvno),
        Command::Lock(who) => change(&who, Change::Lock),
        Command::Unlock(who) => change(&who, Change::Unlock),
        Command::Delete(who) => change(&who, Change::Delete),
        Command::Refresh { folder, within } => {
            let count = refresh::all(&folder, Duration::from_secs(within))?;
            println!("fresh shares of {count} keys");
            Ok(())
        }
        Command::Bench(args) => bench(&args),
        Command::PaperServer { folder, protocol, most } => storm::serve(&folder, &protocol, most),
    }
}

fn network(net: &str) -> Result<Profile, Failure> {
    load_profile(net).map_err(|error| Failure::Refused(format!("--net: {error}")))
}

/// What the paper says of its servers with one core (Araki et al. 2016, section 5.3): logins a second.
const PAPERS: f64 = 2970.0;

fn bench_paper(args: &BenchArgs, logins: usize) -> Result<(), Failure> {
    let batches = (args.count / logins).max(3);
    let (measured, name, blocks) = if args.gcm.is_some() {
        (gcm::run(&args.protocol, logins, batches)?, "gcm", 36)
    } else {
        (paper::run(&args.protocol, logins, batches)?, "paper", 33)
    };
    let Paper { mut seconds, sent_bytes, rounds, .. } = measured;
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    let per_second = logins as f64 / median;
    if args.json {
        let all = serde_json::json!({
            "bench": "kerberos", "request": name, "protocol": args.protocol, "parties": 3, "transport": "memory",
            "net": null, "threads": 1, "count": logins, "depth": null, "seconds": median, "offline_seconds": 0.0,
            "verify_seconds": null, "per_second": per_second, "online_per_second": per_second, "sent_bytes": sent_bytes,
            "offline_sent_bytes": [0, 0, 0], "rounds": rounds, "offline_rounds": 0, "batches": batches,
            "version": env!("CARGO_PKG_VERSION"),
        });
        println!("{all}");
    } else {
        println!(
            "{logins} logins of {blocks} blocks a batch ({name}, {}), median of {batches}: {median:.3} s, {per_second:.0} a second; the paper: \
             {PAPERS:.0} with one core a server, three of which share this machine here",
            args.protocol
        );
    }
    Ok(())
}

/// What the paper says that its servers with 16 cores take for a batch, and a client waits for its login.
const PAPERS_LATENCY: [f64; 2] = [0.110, 0.232];

fn bench_storm(args: &BenchArgs, per_second: usize, every: u64) -> Result<(), Failure> {
    let storm = Storm {
        protocol: args.protocol.clone(),
        logins: args.count,
        per_second,
        every: Duration::from_millis(every),
        port: args.port,
    };
    let folder = std::env::temp_dir().join(format!("tacit-kdc-storm-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let waited = storm.run(&folder);
    fs::remove_dir_all(&folder)?;
    let waited = waited?;
    let part =
        |sorted: &[f64], part: f64| sorted.get((part * sorted.len() as f64) as usize).copied().unwrap_or(0.0);
    let [run, login] = [&waited.runs, &waited.logins].map(|all| [part(all, 0.5), part(all, 0.95)]);
    let answered = args.count as f64 / waited.seconds;
    if args.json {
        let all = serde_json::json!({
            "bench": "kerberos", "request": "paper", "protocol": args.protocol, "parties": 3, "transport": "tls", "net": null,
            "threads": null, "count": args.count, "per_second": answered, "asked_per_second": per_second,
            "every_milliseconds": every, "seconds": waited.seconds, "batches": waited.runs.len(),
            "run_median_seconds": run[0], "run_late_seconds": run[1], "median_seconds": login[0], "late_seconds": login[1],
            "version": env!("CARGO_PKG_VERSION"),
        });
        println!("{all}");
    } else {
        let [ours, papers] = PAPERS_LATENCY.map(|seconds| 1000.0 * seconds);
        println!(
            "{} logins, {per_second} a second, together every {every} ms ({}): {answered:.0} a second; a run takes {:.1} ms, and {:.1} ms \
             for one of 20; a login {:.1} ms, and {:.1} ms for one of 20; the paper: {ours:.0} and {papers:.0} ms",
            args.count,
            args.protocol,
            1000.0 * run[0],
            1000.0 * run[1],
            1000.0 * login[0],
            1000.0 * login[1],
        );
    }
    Ok(())
}

fn bench(args: &BenchArgs) -> Result<(), Failure> {
    if let (Some(per_second), Some(every)) = (args.paper, args.every) {
        return bench_storm(args, per_second, every);
    }
    if let Some(logins) = args.paper.or(args.gcm).filter(|logins| *logins > 0) {
        return bench_paper(args, logins);
    }
    let bench = Bench {
        enctype: Enctype::try_from(args.enctype).map_err(Failure::Refused)?,
        sessions: args.sessions,
        further: args.request == "tgs",
        protocol: args.protocol.clone(),
        count: args.count,
        clients: args.clients,
        net: args.net.clone(),
        port: args.port,
    };
    args.net.as_deref().map(network).transpose()?;
    let folder = std::env::temp_dir().join(format!("tacit-kdc-bench-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let measured = bench.run(&folder);
    fs::remove_dir_all(&folder)?;
    let measured = measured?;
    let per_second = args.count as f64 / measured.seconds;
    let (median, late) = (measured.latency(0.5), measured.latency(0.95));
    // Who leads sends other bytes than who follows.
    let each = |bytes: u64| bytes as f64 / args.count.max(1) as f64;
    let request_bytes: Vec<f64> = measured.sent_bytes.iter().map(|&bytes| each(bytes)).collect();
    let most = request_bytes.iter().copied().fold(0.0, f64::max);
    if args.json {
        let all = serde_json::json!({
            "bench": "kerberos", "request": args.request, "enctype": args.enctype,
            "sessions": args.sessions, "protocol": args.protocol, "parties": 3,
            "transport": "tls", "net": args.net, "threads": null, "count": args.count, "clients": args.clients, "depth": null,
            "seconds": measured.seconds, "offline_seconds": 0.0, "verify_seconds": null, "per_second": per_second,
            "online_per_second": per_second, "median_seconds": median, "late_seconds": late,
            "cpu_seconds": measured.cpu_seconds, "peak_rss_bytes": measured.peak_rss_bytes,
            "sent_bytes": measured.sent_bytes, "wire_bytes": measured.wire_bytes, "rounds": measured.rounds,
            "offline_sent_bytes": [0, 0, 0], "offline_rounds": 0,
            "request_bytes": request_bytes, "request_rounds": measured.rounds,
            "version": env!("CARGO_PKG_VERSION"),
        });
        println!("{all}");
    } else {
        println!(
            "{} requests ({}, enctype {}, sessions {}, {}), {} at a time: {:.1} a second; a reply takes {:.3} s, and {:.3} s for one of 20; \
             a request takes {:.0} rounds, and {:.0} bytes of each server",
            args.count,
            args.request,
            args.enctype,
            args.sessions,
            args.protocol,
            args.clients,
            per_second,
            median,
            late,
            measured.rounds,
            most
        );
    }
    Ok(())
}

fn change(who: &Who, change: Change) -> Result<(), Failure> {
    println!("{}", admin::change(&who.folder, &who.principal, change)?);
    Ok(())
}

/// Characters of a password, at least.
const SHORTEST: usize = 8;

/// Gives a principal a password.
fn password(args: &PasswordArgs, holder: Holder) -> Result<(), Failure> {
    let mut line = Zeroizing::new(String::new());
    io::stdin().lock().read_line(&mut line)?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() {
        return Err(Failure::Refused("no password on standard input".to_owned()));
    }
    if password.chars().count() < SHORTEST && !args.weak {
        let reason = format!(
            "the password has less than {SHORTEST} characters, and whoever listens to a login can try all of those: give \
             another one, or --weak"
        );
        return Err(Failure::Refused(reason));
    }
    let origin = Origin::Password(Zeroizing::new(password.as_bytes().to_vec()), args.iterations);
    give(&args.key.who, holder, &origin, args.key.kvno)
}

/// Gives a principal a key, and says what the servers say.
fn give(who: &Who, holder: Holder, origin: &Origin, kvno: Option<u64>) -> Result<(), Failure> {
    println!("{}", admin::give(&who.folder, &who.principal, holder, origin, kvno)?.1);
    Ok(())
}

/// Gives a principal a key that is drawn here, and written to a keytab.
fn ktadd(KeyArgs { who, kvno }: &KeyArgs, file: &Path) -> Result<(), Failure> {
    let Who { folder, principal } = who;
    let Settings { realm, enctype, .. } = Settings::load(&folder.join("kdc.toml"))?;
    let none = || Failure::Refused(format!("there are no keys of type {enctype}"));
    let key = Key::new(enctype, &admin::random_key(enctype)?).ok_or_else(none)?;
    let kvno = kvno.map_or_else(|| admin::next_version(folder, principal), Ok)?;
    let entry = keytab::Entry {
        realm,
        name: principal.clone(),
        kvno: u32::try_from(kvno).map_err(|_| Failure::Refused(format!("no keytab has version {kvno}")))?,
        etype: enctype.number(),
        key: Zeroizing::new(key.bytes().to_vec()),
    };
    // The file comes first: a key that couldn't be written would be lost.
    let mut new = new_secret(file)?;
    io::Write::write_all(&mut new, &keytab::write(&[entry]))?;
    new.sync_all()?;
    let given = give(who, Holder::Any, &Origin::Key(key), Some(kvno));
    match &given {
        Ok(()) => {}
        Err(Failure::Unsettled(_)) => {
            eprintln!("{} is kept: its key may be {principal}'s now", file.display());
        }
        Err(_) => fs::remove_file(file)?,
    }
    given
}

/// A principal's newest key in a keytab, and its version: tickets name it, and whoever has the keytab looks for the key by it.
fn from_keytab(bytes: &[u8], realm: &str, principal: &str, enctype: Enctype) -> Result<(Key, u64), Failure> {
    let none = || Failure::Refused(format!("no key of {principal}@{realm} of type {enctype} in the keytab"));
    let entries = keytab::read(bytes).map_err(|error| Failure::Refused(error.to_string()))?;
    let entry = keytab::newest(&entries, realm, principal, enctype).ok_or_else(none)?;
    Ok((Key::new(enctype, &entry.key).ok_or_else(none)?, entry.kvno.into()))
}

/// A new file that its owner alone reads.
fn new_secret(file: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let new = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    new.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_from_a_keytab_keeps_its_version() {
        let entry = |kvno: u32, name: &str, byte: u8| keytab::Entry {
            realm: "EXAMPLE.COM".to_owned(),
            name: name.to_owned(),
            kvno,
            etype: Enctype::Aes128Sha1.number(),
            key: Zeroizing::new(vec![byte; 16]),
        };
        let bytes = keytab::write(&[entry(4, "host/a", 1), entry(7, "host/a", 2), entry(9, "host/b", 3)]);
        let found = |name, enctype| from_keytab(&bytes, "EXAMPLE.COM", name, enctype);
        let (key, version) = found("host/a", Enctype::Aes128Sha1).unwrap();
        assert_eq!((key.bytes(), version), (&[2; 16][..], 7));
        for (name, enctype) in [("host/c", Enctype::Aes128Sha1), ("host/a", Enctype::Aes256Sha1)] {
            let told = found(name, enctype).err().unwrap().to_string();
            assert!(told.contains(&format!("no key of {name}@EXAMPLE.COM")), "{told}");
        }
    }
}
