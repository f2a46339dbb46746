//! Readers of outside bytes, each as one function from bytes: whatever they are, it must not panic, and what was
//! read must satisfy what its reader promises.
//!
//! The fuzzer's binaries in `fuzz/` and the ordinary tests over the kept corpora call the same functions. See
//! `docs/fuzzing.md`.

mod circuits;
mod mutate;
mod seeds;
mod store;
mod values;

use std::collections::BTreeSet;
use std::path::Path;

use tacit_net::frame::{HEADER_BYTES, Header, MAX_PAYLOAD};
use tacit_net::setup::hello::{Hello, MAX_ENDPOINTS, MAX_HELLO};
use tacit_net::setup::{Client, Config, Fingerprint, parse_enrolled};
use tacit_net::stream::parse_frames;
use tacit_net::{Frame, Profile, Shape};
use tacit_program::{Capabilities, Fault, Feature, Field, Node, Numbers, Operation, Program, lower};

pub use circuits::{bristol_fashion, bristol_old, circuit_bytes};
pub use mutate::mutant;
pub use store::{store_binding, store_index, store_ledger, store_list};
pub use values::value;

/// Frames of more bytes than this are refused by [`frames`].
const FRAME_LIMIT: usize = 1 << 26;
/// Programs of more elements than this, over all nodes, are read by [`program`] but not lowered, to save time.
const LOWERED_ELEMENTS: usize = 1 << 12;
/// Programs of more elements than this are not lowered to bits: each operation may be a circuit of thousands of gates.
const BINARY_ELEMENTS: usize = 1 << 6;

/// A reader under test.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: that of the fuzzer's binary and of the folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Reads, and checks what must hold; a panic is a finding.
    pub run: fn(&[u8]),
    /// Inputs to start from, always the same.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// The most that it may hold allocated at a time, in bytes: so much in any case ...
    pub fixed: usize,
    /// ... and so much for each byte of its input.
    pub per_byte: usize,
}

/// All targets.
pub const TARGETS: [Target; 18] = [
    Target { name: "header", run: header, seeds: seeds::headers, fixed: 1 << 10, per_byte: 0 },
    Target { name: "frames", run: frames, seeds: seeds::frames, fixed: 5 << 18, per_byte: 16 },
    Target { name: "hello", run: hello, seeds: seeds::hellos, fixed: 1 << 13, per_byte: 8 },
    Target { name: "config", run: config, seeds: seeds::configs, fixed: 1 << 17, per_byte: 1 << 9 },
    Target { name: "clients", run: clients, seeds: seeds::clients, fixed: 1 << 17, per_byte: 1 << 9 },
    Target { name: "profile", run: profile, seeds: seeds::profiles, fixed: 1 << 17, per_byte: 1 << 9 },
    Target { name: "shape", run: shape, seeds: seeds::shapes, fixed: 1 << 12, per_byte: 16 },
    Target { name: "fingerprint", run: fingerprint, seeds: seeds::fingerprints, fixed: 1 << 12, per_byte: 8 },
    Target { name: "handshake", run: handshake, seeds: seeds::handshakes, fixed: 5 << 18, per_byte: 128 },
    Target { name: "program", run: program, seeds: seeds::programs, fixed: 4 << 20, per_byte: 1 << 14 },
    Target {
        name: "bristol_fashion",
        run: bristol_fashion,
        seeds: seeds::bristol_fashion,
        fixed: 1 << 20,
        per_byte: 1 << 8,
    },
    Target {
        name: "bristol_old",
        run: bristol_old,
        seeds: seeds::bristol_old,
        fixed: 1 << 20,
        per_byte: 1 << 8,
    },
    Target {
        name: "circuit_bytes",
        run: circuit_bytes,
        seeds: seeds::circuits,
        fixed: 1 << 20,
        per_byte: 1 << 8,
    },
    Target { name: "value", run: value, seeds: seeds::values, fixed: 1 << 14, per_byte: 64 },
    Target {
        name: "store_binding",
        run: store_binding,
        seeds: seeds::bindings,
        fixed: 5 << 18,
        per_byte: 128,
    },
    Target { name: "store_ledger", run: store_ledger, seeds: seeds::ledgers, fixed: 1 << 16, per_byte: 64 },
    Target { name: "store_index", run: store_index, seeds: seeds::indices, fixed: 1 << 12, per_byte: 8 },
    Target { name: "store_list", run: store_list, seeds: seeds::lists, fixed: 1 << 12, per_byte: 64 },
];

/// A frame's header: it is too long, or comes back as it was.
pub fn header(bytes: &[u8]) {
    let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else { return };
    for limit in [0, 1, FRAME_LIMIT, MAX_PAYLOAD] {
        match Header::parse(*header, limit) {
            Ok(read) => {
                assert!(read.len <= limit);
                assert_eq!(read.bytes(), *header);
            }
            Err(error) => assert!(error.got > limit && limit < MAX_PAYLOAD, "{error}"),
        }
    }
}

/// A stream of frames: those read are the bytes that came, and less than a frame is left.
pub fn frames(bytes: &[u8]) {
    let Ok(frames) = parse_frames(bytes, FRAME_LIMIT) else { return };
    let wire = |frame: &Frame| [&frame.header().bytes()[..], &frame.payload].concat();
    let again: Vec<u8> = frames.iter().flat_map(wire).collect();
    let rest = bytes.strip_prefix(&again[..]).expect("frames are the bytes that came");
    if let Some(header) = rest.first_chunk::<HEADER_BYTES>() {
        let next = Header::parse(*header, FRAME_LIMIT).expect("another length is an error");
        assert!(rest.len() < HEADER_BYTES + next.len, "a whole frame is left");
    }
}

/// What a connection's other side says first: it comes back as it was, takes a bounded part of the bytes, and
/// differs from itself in nothing.
pub fn hello(bytes: &[u8]) {
    match Hello::parse(bytes) {
        Ok(Some((hello, used))) => {
            assert!(used <= MAX_HELLO && hello.entries.len() <= MAX_ENDPOINTS);
            assert_eq!(Some(&hello.bytes()[..]), bytes.get(..used));
            let names = vec!["P0".to_owned(); hello.entries.len()];
            assert_eq!(hello.difference(&hello, &names), None);
            let other = Hello::new(0, 2, &names, &vec![None; names.len()]);
            assert_ne!(other.difference(&Hello { parties: 3, ..hello }, &names), None);
        }
        Ok(None) => assert!(bytes.len() < MAX_HELLO, "{} bytes are not enough", bytes.len()),
        Err(error) => drop(error.to_string()),
    }
}

/// `parties.toml`: what is read keeps to the limits that the rest relies on.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Config::parse(&text, Path::new("parties.toml")) {
        Ok(config) => {
            let names = config.names();
            assert!((2..=MAX_ENDPOINTS).contains(&names.len()) && config.parties().len() >= 2);
            assert_eq!(config.is_client(), config.me() >= config.parties().len());
            for (number, name) in names.iter().enumerate() {
                assert_eq!(config.endpoint(name), Some(number), "names are distinct");
            }
            let limits = config.limits();
            assert!(limits.frame > 0 && limits.frame < MAX_PAYLOAD && limits.callers > 0);
            assert!(!limits.silence.is_zero() && !limits.connect.is_zero());
        }
        Err(error) => drop(error.to_string()),
    }
}

/// `clients.toml`: no name or fingerprint comes twice, there or in `parties.toml`, and each is proven.
pub fn clients(bytes: &[u8]) {
    let config = Config::parse(&seeds::deployment(), Path::new("parties.toml")).expect("it is sound");
    match parse_enrolled(&config, &String::from_utf8_lossy(bytes)) {
        Ok(clients) => {
            let mut names: BTreeSet<String> = config.names().into_iter().collect();
            let own = config.parties().iter().map(|party| party.fingerprint);
            let own = own.chain(config.clients().iter().map(|client| client.fingerprint));
            let mut prints: BTreeSet<[u8; 32]> = own.flatten().map(|print| print.0).collect();
            for Client { name, fingerprint } in clients {
                assert!(names.insert(name) && fingerprint.is_some_and(|print| prints.insert(print.0)));
            }
        }
        Err(error) => drop(error),
    }
}

/// A network's profile with a shape for each pair: links are the same from both ends.
pub fn profile(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Profile::parse(&text) {
        Ok(profile) => assert_eq!(profile.between("P0", "P1"), profile.between("P1", "P0")),
        Err(error) => drop(error.to_string()),
    }
}

/// A link's round trip and bandwidth: printed, it is read as the same.
pub fn shape(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<Shape>() {
        Ok(shape) => {
            assert!(shape.bandwidth > 0);
            assert!(shape.passing(usize::MAX) >= shape.passing(1));
            assert_eq!(shape.to_string().parse(), Ok(shape), "{text:?} is printed as {shape}");
        }
        Err(error) => drop(error.to_string()),
    }
}

/// A certificate's fingerprint: printed, it is the text in small letters.
pub fn fingerprint(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(fingerprint) = text.parse::<Fingerprint>() {
        assert_eq!(fingerprint.to_string(), text.to_lowercase());
    }
}

/// The session's first message: written again, it is read as the same. (It need not be the same bytes: numbers may come longer
/// than they have to be, and the nanoseconds of either of two times as more than a second, which is then a second more.)
pub fn handshake(bytes: &[u8]) {
    match tacit_session::read_first_message(bytes) {
        Ok((agreement, again)) => {
            assert!(again.len() <= bytes.len() + 2);
            let read = tacit_session::read_first_message(&again);
            assert_eq!(read.expect("what is written is read"), (agreement, again));
        }
        Err(error) => drop(error.to_string()),
    }
}

/// A program: it comes back as it was, hashes, and is lowered, or refused, for every kind of engine.
pub fn program(bytes: &[u8]) {
    let program = match Program::from_bytes(bytes) {
        Ok(program) => program,
        Err(error) => return drop(error.to_string()),
    };
    assert_eq!(program.to_bytes(), bytes);
    let _ = program.hash();
    let elements = program.nodes().iter().fold(0_usize, |sum, node| sum.saturating_add(node.ty.len()));
    if elements > LOWERED_ELEMENTS {
        return;
    }
    let [two, three] = [Capabilities::TWO_COMPONENTS, Capabilities::THREE_COMPONENTS];
    let is_long = |node: &Node| matches!(node.operation, Operation::WideProduct { .. });
    for capabilities in [two, two.with(Feature::Msb), three.with(Feature::Msb), three] {
        match lower(&program, capabilities) {
            Ok(lowered) => {
                assert_eq!(lowered.inputs.len(), program.inputs().len());
                assert_eq!(lowered.outputs.len(), program.outputs().len());
            }
            Err(error) => {
                let is_too_long = matches!(*error.fault, Fault::TruncationGuard { .. });
                let has_long = program.nodes().iter().any(is_long);
                assert!(is_too_long && has_long, "rings can run all else: {error}");
            }
        }
    }
    if let Err(error) = lower(&program, Capabilities { numbers: Numbers::ElementsAlone, ..two }) {
        drop(error.to_string());
    }
    if elements > BINARY_ELEMENTS {
        return;
    }
    for field in [Field::Fp61, Field::Fp128] {
        if let Err(error) = lower(&program, Capabilities::masked_opening(field)) {
            drop(error.to_string());
        }
    }
    let branches = Capabilities::BITS.with_openings().with(Feature::Branches);
    let arms = [Feature::MaskedArms, Feature::ZeroedArms].map(|feature| branches.with(feature));
    for capabilities in [Capabilities::BITS, branches].into_iter().chain(arms) {
        if let Err(error) = lower(&program, capabilities) {
            drop(error.to_string());
        }
    }
}
