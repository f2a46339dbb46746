//! The command `tacit-kdc`: a Kerberos KDC on three servers.

use clap::{Args, Parser, Subcommand};
use std::fs;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tacit_kdc::admin::{self, Origin};
use tacit_kdc::clear::Key;
use tacit_kdc::enctype::Enctype;
use tacit_kdc::front;
use tacit_kdc::keytab;
use tacit_kdc::order::Change;
use tacit_kdc::realm::Settings;
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
        /// Where all of them listen; edit the files for machines of their own
        #[arg(long, default_value = "127.0.0.1")]
        host: String,
        /// The first of eight ports: the front's for clients
        #[arg(long, default_value_t = 8800)]
        port: u16,
    },
    /// Serves as one of the three servers
    Serve {
        /// The server's folder
        folder: PathBuf,
    },
    /// Relays between clients and servers
    Front {
        /// The front's folder
        folder: PathBuf,
    },
    /// Gives a principal a key: a new principal, or one that has a key already
    Add {
        /// The admin's folder
        folder: PathBuf,
        /// The principal, without its realm
        principal: String,
        #[command(flatten)]
        origin: OriginArgs,
    },
    /// Gives a principal no more tickets, nor anybody one for it
    Lock(Who),
    /// Takes that back
    Unlock(Who),
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
#[group(required = true, multiple = false)]
struct OriginArgs {
    /// A password: the first line of standard input
    #[arg(long)]
    password: bool,
    /// The principal's newest key in this keytab
    #[arg(long, value_name = "FILE")]
    keytab: Option<PathBuf>,
    /// A key that is drawn here, and written to this new keytab
    #[arg(long, value_name = "FILE")]
    write_keytab: Option<PathBuf>,
    /// A key that nobody ever has, as krbtgt's must be
    #[arg(long)]
    random: bool,
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(match &error {
                Failure::Tacit(tacit::Error::Stopped { .. }) => 3,
                Failure::Tacit(error) if error.is_abort() => 1,
                _ => 2,
            })
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Init { folder, realm, enctype, host, port } => {
            let enctype = Enctype::try_from(enctype).map_err(Failure::Refused)?;
            admin::init(&folder, &realm, enctype, &host, port)
        }
        Command::Serve { folder } => Server::open(&folder)?.serve(),
        Command::Front { folder } => front::relay(&Settings::load(&folder.join("kdc.toml"))?),
        Command::Add { folder, principal, origin } => add(&folder, &principal, &origin),
        Command::Lock(who) => change(&who, Change::Lock),
        Command::Unlock(who) => change(&who, Change::Unlock),
        Command::Delete(who) => change(&who, Change::Delete),
    }
}

fn change(who: &Who, change: Change) -> Result<(), Failure> {
    println!("{}", admin::change(&who.folder, &who.principal, change)?);
    Ok(())
}

fn add(folder: &Path, principal: &str, given: &OriginArgs) -> Result<(), Failure> {
    let settings = Settings::load(&folder.join("kdc.toml"))?;
    let (realm, enctype) = (settings.realm.as_str(), settings.enctype);
    let none = || Failure::Refused(format!("no key of {principal}@{realm} of type {enctype} in the keytab"));
    let origin = if let Some(file) = &given.keytab {
        let bytes = Zeroizing::new(fs::read(file)?);
        let entries = keytab::read(&bytes).map_err(|error| Failure::Refused(error.to_string()))?;
        let entry = keytab::newest(&entries, realm, principal, enctype).ok_or_else(none)?;
        Origin::Key(Key::new(enctype, &entry.key).ok_or_else(none)?)
    } else if given.write_keytab.is_some() {
        Origin::Key(Key::new(enctype, &admin::random_key(enctype)?).ok_or_else(none)?)
    } else if given.random {
        Origin::Random
    } else {
        let mut line = Zeroizing::new(String::new());
        io::stdin().lock().read_line(&mut line)?;
        let password = line.trim_end_matches(['\r', '\n']);
        if password.is_empty() {
            return Err(Failure::Refused("no password on standard input".to_owned()));
        }
        Origin::Password(Zeroizing::new(password.as_bytes().to_vec()))
    };
    if let Some(file) = given.write_keytab.as_ref().filter(|file| file.exists()) {
        return Err(Failure::Refused(format!("{} is there already", file.display())));
    }
    let told = admin::add(folder, principal, &origin)?;
    println!("{told}");
    if let (Some(file), Origin::Key(key)) = (&given.write_keytab, &origin) {
        let kvno = told.lines().next().and_then(|line| line.strip_prefix("kvno ")?.parse().ok()).unwrap_or(1);
        let entry = keytab::Entry {
            realm: realm.to_owned(),
            name: principal.to_owned(),
            kvno,
            etype: enctype.number(),
            key: Zeroizing::new(key.bytes().to_vec()),
        };
        write_secret(file, &keytab::write(&[entry]))?;
    }
    Ok(())
}

/// Writes a new file that its owner alone reads.
fn write_secret(file: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut new = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    io::Write::write_all(&mut new, bytes)
}
