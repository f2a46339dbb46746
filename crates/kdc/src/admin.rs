//! The admin's side: a realm's folders, and keys, which go as shares straight to each server.

use crate::clear::Key;
use crate::enctype::Enctype;
use crate::order::{Change, NEXT_KVNO, Order, tag};
use crate::programs::{Programs, to_bits};
use crate::realm::Settings;
use crate::server::{Failure, ORDERED, now};
use crate::wire::{self, Kind};
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use tacit::program::{Data, Value};
use tacit::{Seat, setup};
use zeroize::Zeroizing;

/// Where a principal's key comes from.
pub enum Origin {
    /// A password, which the admin's client hashes.
    Password(Zeroizing<Vec<u8>>),
    /// A key that somebody has, such as a service in its keytab.
    Key(Key),
    /// Drawn by the admin's client and the servers together: nobody has it.
    Random,
}

/// Makes folders for three servers, the front and the admin, on ports from `port` up: two of the front, three of what it relays,
/// three of the servers among themselves.
///
/// # Errors
/// If something is there already, or can't be written.
pub fn init(folder: &Path, realm: &str, enctype: Enctype, host: &str, port: u16) -> Result<(), Failure> {
    let address = |offset: u16| format!("{host}:{}", port + offset);
    if realm.is_empty() || !realm.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-') {
        return Err(Failure::Refused(format!("realm {realm:?} isn't of letters, digits, dots and hyphens")));
    }
    if port > u16::MAX - 8 {
        return Err(Failure::Refused(format!("there are no 8 ports from {port} up")));
    }
    let settings = Settings {
        realm: realm.to_owned(),
        enctype,
        protocol: "replicated-malicious".to_owned(),
        listen: address(0),
        orders: address(1),
        servers: [address(2), address(3), address(4)],
        max_life: 10 * 3600,
        max_renewable_life: 7 * 24 * 3600,
        max_password_age: 0,
        max_wrong_passwords: 10,
        max_skew: 300,
        max_datagram: 1400,
    };
    let text = toml::to_string(&settings).map_err(|error| Failure::Refused(error.to_string()))?;
    setup::init(folder, 3, &["admin".to_owned()], host, port + 5).map_err(tacit::Error::Setup)?;
    fs::create_dir_all(folder.join("front"))?;
    for part in ["P0", "P1", "P2", "front", "admin"] {
        fs::write(folder.join(part).join("kdc.toml"), &text)?;
    }
    Ok(())
}

/// Gives a principal a new key: what the servers say. The key has this version, or the next one that the servers say.
///
/// # Errors
/// If the order is refused, or the servers can't be reached.
pub fn add(
    folder: &Path,
    principal: &str,
    origin: &Origin,
    kvno: Option<u64>,
) -> Result<(u64, String), Failure> {
    let settings = Settings::load(&folder.join("kdc.toml"))?;
    let enctype = settings.enctype;
    let (salt, key) = match origin {
        Origin::Password(password) => {
            let salt = default_salt(&settings.realm, principal);
            let key = Key::of_password(enctype, password, salt.as_bytes(), enctype.iterations());
            (salt, Zeroizing::new(key.bytes().to_vec()))
        }
        Origin::Key(key) if key.enctype() == enctype => (String::new(), Zeroizing::new(key.bytes().to_vec())),
        Origin::Key(key) => {
            let reason = format!("the key's type is {}, and the realm's is {enctype}", key.enctype());
            return Err(Failure::Refused(reason));
        }
        Origin::Random => (String::new(), random_key(enctype)?),
    };
    let drawn = matches!(origin, Origin::Random);
    let kvno = match kvno {
        Some(kvno) => kvno,
        None => {
            let told = send(&settings, &made(principal, Change::Version)?)?;
            next_kvno(&told).ok_or(Failure::Refused(told))?
        }
    };
    let change = Change::Key { salt, drawn, kvno };
    order(folder, &settings, principal, change, &to_bits(&key)).map(|told| (kvno, told))
}

/// The greatest version that servers say the next key has to have: one that lies, or a front that does, has numbers left out and
/// no more.
fn next_kvno(told: &str) -> Option<u64> {
    told.lines().filter_map(|line| line.split_once(NEXT_KVNO)?.1.trim().parse().ok()).max()
}

/// Locks, unlocks or deletes a principal: what the servers say.
///
/// # Errors
/// As [`add`].
pub fn change(folder: &Path, principal: &str, change: Change) -> Result<String, Failure> {
    let settings = Settings::load(&folder.join("kdc.toml"))?;
    let says_nothing = Value { shape: vec![1], data: Data::Bool(vec![true]) };
    order(folder, &settings, principal, change, &says_nothing)
}

/// Sends an order, and takes part in what it asks for.
fn order(
    folder: &Path,
    settings: &Settings,
    principal: &str,
    change: Change,
    own: &Value,
) -> Result<String, Failure> {
    let mut seat = Seat::open(&folder.join("parties.toml"))?;
    let bytes = made(principal, change)?;
    let task = Order::read(&bytes).map_err(Failure::Refused)?.task();
    let compiled = Programs::new(settings.enctype, seat.parties())?.get(task, 1)?;
    let mut inputs = vec![None; compiled.inputs().len()];
    inputs[0] = Some(own.clone());
    seat.tag(tag(&bytes));
    // Servers that refuse the order don't want the run. What the front says of that proves nothing: the run's end does.
    let (ended, run) = channel();
    let protocol = settings.protocol.clone();
    thread::spawn(move || {
        let run = seat.run_within(&compiled, &protocol, &inputs, &|_, _| (), ORDERED);
        let _ = ended.send(run);
    });
    let told = send(settings, &bytes)?;
    match run.recv() {
        Ok(Ok(_)) => Ok(told),
        Ok(Err(error)) => Err(Failure::Refused(format!("{error}; the servers say:\n{told}"))),
        Err(_) => Err(Failure::Refused(format!("the run didn't end; the servers say:\n{told}"))),
    }
}

/// The bytes of a new order.
fn made(principal: &str, change: Change) -> Result<Vec<u8>, Failure> {
    let mut number = [0; 16];
    random(&mut number)?;
    let number = u128::from_le_bytes(number);
    let order = Order { principal: principal.to_owned(), change, at: now(), number };
    let bytes = order.to_bytes().map_err(|error| Failure::Refused(error.to_string()))?;
    Order::read(&bytes).map_err(Failure::Refused)?;
    Ok(bytes)
}

/// Sends an order through the front: what it says that the servers say.
fn send(settings: &Settings, bytes: &[u8]) -> Result<String, Failure> {
    let mut front = TcpStream::connect(&settings.orders)?;
    front.set_read_timeout(Some(Duration::from_mins(1)))?;
    wire::write(&mut front, Kind::Order, bytes)?;
    Ok(shown(&wire::read(&mut front)?.1))
}

/// What somebody says, fit to be shown: without control characters.
fn shown(bytes: &[u8]) -> String {
    let is_fit = |c: &char| *c == '\n' || !c.is_control();
    String::from_utf8_lossy(bytes).chars().filter(is_fit).collect()
}

/// The salt of a principal's password (RFC 4120, section 4): realm and components, end to end.
pub fn default_salt(realm: &str, principal: &str) -> String {
    format!("{realm}{}", principal.replace('/', ""))
}

/// Bytes of a new key.
///
/// # Errors
/// If the system has no randomness.
pub fn random_key(enctype: Enctype) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut key = Zeroizing::new(vec![0; enctype.key_bytes()]);
    random(&mut key)?;
    Ok(key)
}

fn random(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(|error| Failure::Refused(format!("the system has no randomness: {error}")))
}
