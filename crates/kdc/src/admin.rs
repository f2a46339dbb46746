//! The admin's side: a realm's folders, and keys, which go as shares straight to each server.

#[cfg(test)]
mod tests;

use crate::clear::Key;
use crate::enctype::Enctype;
use crate::order::{Change, Holder, NEXT_KVNO, Order, OrderKey, tag};
use crate::programs::{MAX_REQUESTS, Programs, to_bits, wipe};
use crate::realm::{Sessions, Settings};
use crate::server::{Failure, ORDERED, REFUSED, now};
use crate::wire::{self, Kind, SILENCE, Timed};
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tacit::program::{Data, Value};
use tacit::{Error, Seat, setup};
use zeroize::Zeroizing;

/// Iterations of a password's hash, unless another number is said: servers, and who listens, can try passwords.
pub const ITERATIONS: u32 = 100_000;

/// How long the front has to say what the servers say, once the run has ended.
const TOLD: Duration = Duration::from_secs(20);

/// How long the front may take with an order.
const FRONT: Duration = Duration::from_mins(1);

/// How many more orders for a key than the others one server may have carried out alone, without `--kvno` being said.
const ALONE: u64 = 16;

/// Where a principal's key comes from.
pub enum Origin {
    /// A password, which the admin's client hashes so often.
    Password(Zeroizing<Vec<u8>>, u32),
    /// A key that somebody has, such as a service in its keytab.
    Key(Key),
    /// Drawn by the admin's client and the servers together: nobody has it.
    Random,
}

/// Makes folders for three servers, the front and the admin, on ports from `port` up: the one for clients at the
/// first host; and at the second one the one for orders, three of what the front relays, three of the servers among
/// themselves.
///
/// # Errors
/// If something is there already, or can't be written.
pub fn init(
    folder: &Path,
    realm: &str,
    (enctype, sessions): (Enctype, Sessions),
    [host, inside]: [&str; 2],
    port: u16,
) -> Result<(), Failure> {
    let address = |offset: u16| format!("{inside}:{}", port + offset);
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
        sessions,
        listen: format!("{host}:{port}"),
        orders: address(1),
        servers: [address(2), address(3), address(4)],
        max_life: 10 * 3600,
        max_renewable_life: 7 * 24 * 3600,
        max_password_age: 0,
        max_wrong_passwords: 10,
        max_skew: 300,
        max_datagram: 1400,
        max_of_address: 64,
        max_together: MAX_REQUESTS,
        refresh_every: 0,
    };
    let text = toml::to_string(&settings).map_err(|error| Failure::Refused(error.to_string()))?;
    setup::init(folder, 3, &["admin".to_owned()], inside, port + 5).map_err(tacit::Error::Setup)?;
    fs::create_dir_all(folder.join("front"))?;
    for part in ["P0", "P1", "P2", "front", "admin"] {
        fs::write(folder.join(part).join("kdc.toml"), &text)?;
    }
    let public = OrderKey::draw(&folder.join("admin"))?;
    for server in ["P0", "P1", "P2"] {
        public.save(&folder.join(server))?;
    }
    Ok(())
}

/// Gives a principal a new key: its version, and what the servers say. The key has this version, or the next one that the servers
/// say. They refuse a principal that isn't as it is to be.
///
/// # Errors
/// If the order is refused, or the servers can't be reached.
pub fn give(
    folder: &Path,
    principal: &str,
    holder: Holder,
    origin: &Origin,
    kvno: Option<u64>,
) -> Result<(u64, String), Failure> {
    let settings = Settings::load(&folder.join("kdc.toml"))?;
    let enctype = settings.enctype;
    let ((salt, iterations), key) = match origin {
        Origin::Password(_, iterations) if *iterations < enctype.iterations() => {
            let least = enctype.iterations();
            return Err(Failure::Refused(format!(
                "a password of this type is hashed {least} times at least"
            )));
        }
        Origin::Password(password, iterations) => {
            let salt = default_salt(&settings.realm, principal);
            let key = Key::of_password(enctype, password, salt.as_bytes(), *iterations);
            ((salt, *iterations), Zeroizing::new(key.bytes().to_vec()))
        }
        Origin::Key(key) if key.enctype() == enctype => {
            ((String::new(), 0), Zeroizing::new(key.bytes().to_vec()))
        }
        Origin::Key(key) => {
            let reason = format!("the key's type is {}, and the realm's is {enctype}", key.enctype());
            return Err(Failure::Refused(reason));
        }
        Origin::Random => ((String::new(), 0), random_key(enctype)?),
    };
    let drawn = matches!(origin, Origin::Random);
    let kvno = kvno.map_or_else(|| next_version(folder, principal), Ok)?;
    let change = Change::Key { salt, iterations, drawn, kvno, holder };
    order(folder, &settings, principal, change, to_bits(&key)).map(|told| (kvno, told))
}

/// The version that the servers say a principal's next key has.
///
/// # Errors
/// If they can't be reached.
pub fn next_version(folder: &Path, principal: &str) -> Result<u64, Failure> {
    let settings = Settings::load(&folder.join("kdc.toml"))?;
    let told = send(folder, &settings, &made(principal, Change::Version)?)?;
    next_kvno(&told).ok_or(Failure::Refused(told))
}

/// The version that the next key has to have at all servers. The middle one of three that are told is no lie of one server's; a
/// greater one is an honest server's if it has carried out orders that the others haven't, and one that is far greater isn't.
fn next_kvno(told: &str) -> Option<u64> {
    let version = |line: &str| line.split_once(NEXT_KVNO)?.1.trim().parse().ok();
    let mut versions: Vec<u64> = told.lines().filter_map(version).collect();
    versions.sort_unstable();
    let most = versions.get(versions.len() / 2)?.saturating_add(ALONE);
    versions.into_iter().rfind(|version| *version <= most)
}

/// Locks, unlocks or deletes a principal: what the servers say.
///
/// # Errors
/// As [`give`].
pub fn change(folder: &Path, principal: &str, change: Change) -> Result<String, Failure> {
    let settings = Settings::load(&folder.join("kdc.toml"))?;
    let says_nothing = Value { shape: vec![1], data: Data::Bool(vec![true]) };
    order(folder, &settings, principal, change, says_nothing)
}

/// Takes part in what an order asks for, and sends it.
fn order(
    folder: &Path,
    settings: &Settings,
    principal: &str,
    change: Change,
    own: Value,
) -> Result<String, Failure> {
    let mut own = Wiped(vec![Some(own)]);
    let mut seat = Seat::open(&folder.join("parties.toml"))?;
    let bytes = made(principal, change)?;
    let task = Order::read(&bytes).map_err(Failure::Refused)?.task();
    let compiled = Programs::new(settings.enctype, seat.parties())?.get(task, 1)?;
    own.0.resize(compiled.inputs().len(), None);
    seat.tag(tag(&bytes));
    // What the front says proves nothing, nor does its silence: the run's end does.
    let (said, told) = channel();
    let (front, sent, sender) = (settings.clone(), bytes, folder.to_owned());
    thread::scope(|scope| {
        let run = scope.spawn(|| seat.run_within(&compiled, &settings.protocol, &own.0, &|_, _| (), ORDERED));
        thread::spawn(move || {
            let told = send(&sender, &front, &sent);
            let _ = said.send(told);
        });
        let run = run.join();
        let told = match told.recv_timeout(TOLD) {
            Ok(Ok(told)) => told,
            Ok(Err(error)) => format!("nothing, as far as the front tells ({error})"),
            Err(_) => "nothing, as far as the front tells".to_owned(),
        };
        match run {
            Ok(Ok(_)) if told.contains(REFUSED) || told.lines().count() < 3 => {
                Ok(format!("the order is carried out, as its run says; the servers say:\n{told}"))
            }
            Ok(Ok(_)) => Ok(told),
            Ok(Err(error)) if has_not_begun(&error) => {
                Err(Failure::Refused(format!("{error}; the servers say:\n{told}")))
            }
            Ok(Err(error)) => Err(Failure::Unsettled(format!("{error}; the servers say:\n{told}"))),
            Err(_) => Err(Failure::Unsettled(format!("the run's thread ended; the servers say:\n{told}"))),
        }
    })
}

/// Whether a run that ended so gave nothing to anybody.
fn has_not_begun(error: &Error) -> bool {
    matches!(
        error,
        Error::Program(_)
            | Error::Value(_)
            | Error::Refused(_)
            | Error::Setup(_)
            | Error::Busy { .. }
            | Error::Declined { .. }
    )
}

/// Inputs that are wiped in the end.
struct Wiped(Vec<Option<Value>>);

impl Drop for Wiped {
    fn drop(&mut self) {
        self.0.iter_mut().flatten().for_each(wipe);
    }
}

/// The bytes of a new order.
fn made(principal: &str, change: Change) -> Result<Vec<u8>, Failure> {
    let mut below = [0; 8];
    random(&mut below)?;
    // Later ones are greater, of one clock, and no two are alike.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let number = since.as_nanos() << 64 | u128::from(u64::from_le_bytes(below));
    let order = Order { principal: principal.to_owned(), change, at: now(), number };
    let bytes = order.to_bytes().map_err(|error| Failure::Refused(error.to_string()))?;
    Order::read(&bytes).map_err(Failure::Refused)?;
    Ok(bytes)
}

/// Sends an order through the front: what it says that the servers say.
fn send(folder: &Path, settings: &Settings, bytes: &[u8]) -> Result<String, Failure> {
    let order = std::str::from_utf8(bytes).map_err(|error| Failure::Refused(error.to_string()))?;
    let bytes = OrderKey::load(folder)?.sign(&settings.realm, order).into_bytes();
    let mut front = TcpStream::connect(&settings.orders)?;
    front.set_write_timeout(Some(SILENCE))?;
    wire::write(&mut front, Kind::Order, &bytes)?;
    heard(&mut front, Instant::now() + FRONT)
}

/// What a front says until a time, however slowly it says it.
fn heard(front: &mut TcpStream, until: Instant) -> Result<String, Failure> {
    Ok(shown(&wire::read(&mut Timed { link: front, until })?.1))
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
    getrandom::fill(bytes).map_err(no_randomness)
}

fn no_randomness(error: getrandom::Error) -> Failure {
    Failure::Refused(format!("the system has no randomness: {error}"))
}
