//! What lies in servers' memory and in their files while they answer: no key in one piece, neither as bytes nor as
//! the bits that an engine computes on.

mod processes;

use aho_corasick::AhoCorasick;
use processes::{REALM, Realm, Running, now};
use std::fs::{self, File};
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tacit_kdc::admin::{self, Origin};
use tacit_kdc::circuits;
use tacit_kdc::clear::Key;
use tacit_kdc::client::{Client, Wish, ask};
use tacit_kdc::enctype::{Enctype, Usage};
use tacit_kdc::order::Holder;
use tacit_kdc::realm::Sessions;

const SERVICE: &str = "host/files.example";

/// Bytes that are read of a process at a time.
const CHUNK: usize = 1 << 24;

/// What is searched for, with what it is.
struct Needles {
    all: Vec<(String, Vec<u8>)>,
    search: AhoCorasick,
    longest: usize,
}

impl Needles {
    /// Each key as its bytes, and as one byte for each bit, from the least significant bit or the most significant one of a byte.
    fn new(keys: &[(String, Vec<u8>)]) -> Self {
        let bits = |key: &[u8], first: bool| -> Vec<u8> {
            key.iter()
                .flat_map(|byte| (0..8).map(move |bit| byte >> if first { bit } else { 7 - bit } & 1))
                .collect()
        };
        let all: Vec<(String, Vec<u8>)> = keys
            .iter()
            .flat_map(|(name, key)| {
                let forms = [
                    ("bytes", key.clone()),
                    ("bits", bits(key, true)),
                    ("bits from above", bits(key, false)),
                ];
                forms.map(|(form, bytes)| (format!("{name} as {form}"), bytes))
            })
            .collect();
        let search = AhoCorasick::new(all.iter().map(|(_, needle)| needle)).unwrap();
        let longest = all.iter().map(|(_, needle)| needle.len()).max().unwrap();
        Self { all, search, longest }
    }

    /// The names of those that are somewhere in these bytes.
    fn found_in(&self, bytes: &[u8], found: &mut Vec<String>) {
        for place in self.search.find_overlapping_iter(bytes) {
            let (name, _) = &self.all[place.pattern().as_usize()];
            if !found.contains(name) {
                found.push(name.clone());
            }
        }
    }

    /// Those that a process has in memory that it may write to, and how many bytes that is.
    fn found_in_process(&self, process: u32) -> (Vec<String>, usize) {
        let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
        let memory = File::open(format!("/proc/{process}/mem")).unwrap();
        let (mut found, mut searched) = (Vec::new(), 0);
        let mut chunk = vec![0; CHUNK];
        for line in maps.lines() {
            let mut words = line.split(' ');
            let (range, rights) = (words.next().unwrap(), words.next().unwrap());
            if !rights.starts_with("rw") {
                continue;
            }
            let (start, end) = range.split_once('-').unwrap();
            let [mut at, end] = [start, end].map(|word| u64::from_str_radix(word, 16).unwrap());
            while at < end {
                let count = CHUNK.min((end - at) as usize);
                // What a process has given back meanwhile isn't there.
                let Ok(count) = memory.read_at(&mut chunk[..count], at) else { break };
                self.found_in(&chunk[..count], &mut found);
                searched += count;
                // A needle may lie across two chunks.
                let last = at + count as u64 >= end || count == 0;
                at = if last { end } else { at + count.saturating_sub(self.longest).max(1) as u64 };
            }
        }
        (found, searched)
    }
}

/// All files in a folder.
fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, into) } else { into.push(path) }
    }
}

/// A process that holds what it is given: it waits for the end of it.
fn planted(bytes: &[u8]) -> Running {
    let mut child = Command::new("sort").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    Running(child)
}

/// The constant of a derived key (RFC 3961, section 5.3).
fn derived(key: &Key, usage: u32, kind: u8) -> Vec<u8> {
    key.derive(&[&usage.to_be_bytes()[..], &[kind]].concat()).to_vec()
}

/// What servers keep of a key as shares, usage by usage: the round keys of Ke behind Ke itself, and the states of HMAC after the two
/// blocks of Ki.
fn recorded(name: &str, key: &Key, into: &mut Vec<(String, Vec<u8>)>) {
    let enctype = key.enctype();
    let bits: Vec<bool> =
        key.bytes().iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
    let record = circuits::enrol(enctype).evaluate(&[bits]).unwrap().swap_remove(0);
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    let record: Vec<u8> = record.chunks(8).map(byte).collect();
    let digest = if enctype == Enctype::Aes128Sha256 { 32 } else { 20 };
    for (usage, keys) in Usage::ALL.iter().zip(record.chunks(circuits::keys_bytes(enctype))) {
        let (schedule, states) = keys.split_at(keys.len() - 2 * digest);
        let (own, further) = schedule.split_at(enctype.key_bytes());
        assert_eq!(own, derived(key, usage.number(), 0xaa), "a record begins with Ke");
        into.push((format!("round keys of {name} for {usage:?}"), further.to_vec()));
        for (state, pad) in states.chunks(digest).zip(["inner", "outer"]) {
            into.push((format!("{pad} state of {name} for {usage:?}"), state.to_vec()));
        }
    }
}

#[test]
fn no_server_has_a_key_in_its_memory_or_in_its_files() {
    search(Enctype::Aes128Sha1, Sessions::Shared);
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn nor_has_it_one_of_another_type() {
    search(Enctype::Aes256Sha1, Sessions::Shared);
    search(Enctype::Aes128Sha256, Sessions::Shared);
}

/// Where servers know session keys they have no other ones.
#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn nor_has_one_that_knows_session_keys_a_long_term_key() {
    search(Enctype::Aes128Sha1, Sessions::Servers);
}

fn search(enctype: Enctype, sessions: Sessions) {
    // One realm at a time: servers take much memory, and all realms the same ports.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let realm = Realm::new(enctype, sessions, 0);
    let key = |name: &str| {
        let bytes = admin::random_key(enctype).unwrap();
        let key = || Key::new(enctype, &bytes).unwrap();
        admin::give(&realm.admin(), name, Holder::Any, &Origin::Key(key()), Some(1)).unwrap();
        key()
    };
    let (ann, service) = (key("ann"), key(SERVICE));
    let subkey = Key::new(enctype, &admin::random_key(enctype).unwrap()).unwrap();
    let client = Client { realm: REALM, name: "ann", key: &ann };
    let mut link = TcpStream::connect(("127.0.0.1", realm.port)).unwrap();
    let mut keys: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, key, usages) in [("ann's key", &ann, [1, 3]), ("the service's key", &service, [2, 2])] {
        keys.push((name.to_owned(), key.bytes().to_vec()));
        for usage in usages {
            keys.push((format!("Ke of {name} for {usage}"), derived(key, usage, 0xaa)));
            keys.push((format!("Ki of {name} for {usage}"), derived(key, usage, 0x55)));
        }
        recorded(name, key, &mut keys);
    }
    let long_term = keys.len();
    keys.push(("the subkey".to_owned(), subkey.bytes().to_vec()));
    // Some logins, and tickets by them: what the last runs have used may still lie where it was.
    for round in 1..4_u32 {
        let krbtgt = format!("krbtgt/{REALM}");
        let wish = Wish::of(&krbtgt, round);
        let reply = ask(&mut link, &client.initial(&wish, now(), [round as u8; 16])).unwrap();
        let ticket = client.initial_reply(&reply, &wish).unwrap();
        let wish = Wish::of(SERVICE, round + 10);
        let asked = client.further(&ticket, &wish, (now(), round), Some(&subkey), [round as u8; 16]);
        let reply = ask(&mut link, &asked).unwrap();
        let further = client.further_reply(&reply, &ticket, Some(&subkey), &wish).unwrap();
        keys.push((format!("session key {round} of the AS"), ticket.session.bytes().to_vec()));
        for (kind, constant) in [("Ke", 0xaa), ("Ki", 0x55)] {
            for usage in [7, 8] {
                let name = format!("{kind} of session key {round} for {usage}");
                keys.push((name, derived(&ticket.session, usage, constant)));
            }
        }
        keys.push((format!("session key {round} of the TGS"), further.session.bytes().to_vec()));
    }
    keys.push(("Ke of the subkey for 9".to_owned(), derived(&subkey, 9, 0xaa)));
    keys.push(("Ki of the subkey for 9".to_owned(), derived(&subkey, 9, 0x55)));
    if sessions == Sessions::Servers {
        keys.truncate(long_term);
    }
    keys.sort();
    keys.dedup();

    let needles = Needles::new(&keys);
    // The search finds each of them where it is, in each form.
    let all: Vec<u8> = needles.all.iter().flat_map(|(_, needle)| [&needle[..], &[7]].concat()).collect();
    let holder = planted(&all);
    let mut there = Vec::new();
    for _ in 0..100 {
        there = needles.found_in_process(holder.0.id()).0;
        if there.len() == needles.all.len() {
            break;
        }
        // It is still reading.
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(there.len(), needles.all.len(), "the search finds what is there");
    drop(holder);

    for process in &realm.processes {
        let (found, searched) = needles.found_in_process(process.0.id());
        assert!(found.is_empty(), "process {} has {found:?}", process.0.id());
        println!("nothing in {} MiB of process {}", searched >> 20, process.0.id());
        assert!(searched > 100_000);
    }
    let mut paths = Vec::new();
    files(realm.folder.path(), &mut paths);
    assert!(paths.len() > 20);
    for path in paths {
        let mut found = Vec::new();
        needles.found_in(&fs::read(&path).unwrap(), &mut found);
        assert!(found.is_empty(), "{} has {found:?}", path.display());
    }
}
