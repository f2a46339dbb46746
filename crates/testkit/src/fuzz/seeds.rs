//! Messages, files and texts as they are meant to be, and some that just aren't: where a fuzzer begins.

use tacit_circuit::arith::{Style, circuits};
use tacit_circuit::{Circuit, Gate, Wire, bristol};
use tacit_net::frame::{Header, MAX_PAYLOAD};
use tacit_net::setup::hello::{Hello, MAX_ENDPOINTS};
use tacit_net::setup::{Fingerprint, INSECURE_TCP};
use tacit_net::{At, Frame, FrameKind, Lane, Limits, MAX_LANES};
use tacit_session::{Agreement, ProgramStep, write_first_message};
use tacit_store::{Available, Binding, Epoch, PlanBinding, Used, encode, write_index_header, write_ledger};

use crate::{Rng, generate};

const KINDS: [FrameKind; 4] = [FrameKind::Data, FrameKind::KeepAlive, FrameKind::Abort, FrameKind::Goodbye];

pub(super) fn headers() -> Vec<Vec<u8>> {
    let at = At { lane: 1, part: 2, op: 3, batch: u32::MAX };
    let header = |kind, len| Header { kind, at, len }.bytes().to_vec();
    let mut seeds: Vec<Vec<u8>> =
        [0, 1, 63, 64, 65, 65_536, 1 << 26, MAX_PAYLOAD].map(|len| header(FrameKind::Data, len)).into();
    seeds.extend(KINDS.map(|kind| header(kind, 0)));
    seeds.extend([vec![0xff; 16], vec![0; 15]]);
    seeds
}

pub(super) fn frames() -> Vec<Vec<u8>> {
    let frame = |kind, op, len: usize| {
        let payload = (0..len).map(|i| (i * 7) as u8).collect();
        let frame = Frame { kind, at: At::op(op), payload };
        [&frame.header().bytes()[..], &frame.payload].concat()
    };
    let data = |op, len| frame(FrameKind::Data, op, len);
    let mut seeds: Vec<Vec<u8>> = [0, 1, 63, 64, 65, 1000].map(|len| data(9, len)).into();
    seeds.extend(KINDS.map(|kind| frame(kind, 0, 20)));
    seeds
        .push([data(0, 3), data(1, 0), frame(FrameKind::KeepAlive, 0, 0), data(2, 100), data(3, 1)].concat());
    seeds.push([data(0, 64), frame(FrameKind::Goodbye, 0, 0)].concat());
    // Cut in a header and in a payload; announced and not sent.
    seeds.push([&data(0, 5)[..], &data(1, 5)[..7]].concat());
    seeds.push(data(0, 500)[..400].to_vec());
    for len in [1 << 20, 1 << 26, MAX_PAYLOAD] {
        seeds.push(Header { kind: FrameKind::Data, at: At::op(0), len }.bytes().to_vec());
    }
    seeds
}

pub(super) fn hellos() -> Vec<Vec<u8>> {
    let hello = |sender, parties, clients: usize, tls: bool| {
        let names: Vec<String> = (0..parties + clients).map(|number| format!("E{number}")).collect();
        let print = |number: usize| tls.then_some(Fingerprint([number as u8; 32]));
        let prints: Vec<_> = (0..names.len()).map(print).collect();
        Hello::new(sender, parties, &names, &prints).bytes()
    };
    let usual = hello(1, 3, 1, true);
    let in_lane = |number, count| {
        let names = ["P0", "P1"].map(str::to_owned);
        Hello { lane: Lane { number, count }, call: u64::MAX, ..Hello::new(1, 2, &names, &[None; 2]) }.bytes()
    };
    let changed = |at: usize, value: u8| {
        let mut bytes = usual.clone();
        bytes[at] = value;
        bytes
    };
    vec![
        hello(0, 2, 0, true),
        hello(1, 3, 0, false),
        hello(2, 3, 2, true),
        hello(4, 3, 2, true),
        hello(0, 5, 10, false),
        hello(MAX_ENDPOINTS - 1, 3, MAX_ENDPOINTS - 3, true),
        in_lane(1, 2),
        in_lane(MAX_LANES - 1, MAX_LANES),
        in_lane(0, MAX_LANES + 1),
        in_lane(2, 2),
        in_lane(0, 0),
        [&usual[..], b"what follows"].concat(),
        usual[..7].to_vec(),
        usual[..10].to_vec(),
        usual[..28].to_vec(),
        usual[..usual.len() - 1].to_vec(),
        changed(0, b'T'),
        changed(8, 99),
        changed(10, 4),
        changed(13, 0xff),
        changed(15, 0xff),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![],
        usual.clone(),
        changed(20, 1),
        changed(20, 2),
    ]
}

fn print(digit: char) -> String {
    digit.to_string().repeat(64)
}

const HEAD: &str = "me = \"P0\"\ntransport = \"tls\"\nkey = \"key.pem\"\ncertificate = \"certificate.pem\"\n";

/// Three parties of a list.
fn three() -> String {
    let party = |name: &str, address: &str, digit: char| {
        format!("[[party]]\nname = \"{name}\"\naddress = \"{address}\"\nfingerprint = \"{}\"\n", print(digit))
    };
    [
        party("P0", "10.0.0.1:7700", 'a'),
        party("P1", "10.0.0.2:7700", 'b'),
        party("P2", "server.example.org:7700", 'c'),
    ]
    .concat()
}

/// A client of a list.
fn client(name: &str, digit: char) -> String {
    format!("[[client]]\nname = \"{name}\"\nfingerprint = \"{}\"\n", print(digit))
}

/// Three parties and a client.
pub(super) fn deployment() -> String {
    [HEAD, &three(), &client("alice", 'd')].concat()
}

pub(super) fn clients() -> Vec<Vec<u8>> {
    let texts = [
        String::new(),
        client("bob", 'e'),
        client("bob", 'e') + &client("carol", 'f'),
        client("bob", 'e') + &client("bob", 'f'),
        client("bob", 'a'),
        client("alice", 'e'),
        "[[client]]\nname = \"bob\"\n".to_owned(),
        "client = [{ name = \"bob\", fingerprint = \"short\" }]".to_owned(),
    ];
    texts.map(String::into_bytes).to_vec()
}

pub(super) fn configs() -> Vec<Vec<u8>> {
    let (head, parties, client) = (HEAD, three(), client("alice", 'd'));
    let limits = "[limits]\nframe_bytes = 1048576\ninbox_bytes = 1000000\noutbox_bytes = 65536\n\
                  silence_seconds = 2.5\npatience_seconds = 60.0\nconnect_seconds = 5.0\n\
                  handshake_seconds = 1.0\nlinger_seconds = 0.5\ncallers = 8\n";
    let local = "party = [{ name = \"P0\", address = \"127.0.0.1:7700\" }, \
                 { name = \"P1\", address = \"[::1]:7701\" }]\n";
    let tcp = format!("me = \"P0\"\ntransport = \"tcp\"\n{local}");
    let tls = format!("{head}{parties}");
    let texts = [
        tls.clone(),
        format!("{head}{parties}{client}"),
        format!("{head}{parties}{client}{limits}").replace("me = \"P0\"", "me = \"alice\""),
        format!("listen = \"0.0.0.0:7700\"\n{head}{parties}"),
        tcp.clone(),
        format!("{tcp}client = [{{ name = \"bob\" }}]\n"),
        format!("{tcp}limits = {{ silence_seconds = 1e-3 }}\n"),
        format!("insecure_tcp = \"{INSECURE_TCP}\"\n{tcp}").replace("127.0.0.1", "10.0.0.1"),
        tcp.replace("127.0.0.1", "10.0.0.1"),
        tcp.replace("P1", "P0"),
        tcp.replace(":7701", ""),
        tcp.replace("me = \"P0\"", "me = \"eve\""),
        tls.replace("key.pem", "../../etc/key"),
        tls.replace(&print('b'), &print('a')),
        format!("{tls}[limits]\nsilence_seconds = nan\n"),
        format!("{tls}[limits]\nframe_bytes = 9223372036854775807\n"),
        format!("{tls}[limits]\ncallers = -1\n"),
        format!("me = {}", "[".repeat(200)),
        format!("a{} = 1", ".a".repeat(200)),
        String::new(),
    ];
    texts.map(String::into_bytes).into()
}

pub(super) fn profiles() -> Vec<Vec<u8>> {
    let pair = |one, other, net| format!("[[pair]]\nbetween = [\"{one}\", \"{other}\"]\nnet = \"{net}\"\n");
    let usual = format!("default = \"lan\"\n{}", pair("P0", "P2", "wan"));
    let texts = [
        usual.clone(),
        "default = \"lan\"\n".to_owned(),
        "default = \"40ms,100mbit\"\n".to_owned(),
        [pair("P0", "P1", "0.47ms,1gbit"), pair("P0", "P2", "20ms,50mbit"), pair("alice", "P0", "lan")]
            .concat(),
        format!("{usual}{}", pair("P2", "P0", "lan")),
        usual.replace("wan", "man"),
        usual.replace(", \"P2\"", ""),
        usual.replace("\"P2\"", "\"P2\", \"P1\""),
        format!("speed = 1\n{usual}"),
        pair("P0", "P0", "0us,1kbit"),
        String::new(),
    ];
    texts.map(String::into_bytes).into()
}

pub(super) fn shapes() -> Vec<Vec<u8>> {
    let texts = [
        "lan",
        "wan",
        "40ms,100mbit",
        "0.47ms, 1gbit",
        "2s,64kbit",
        "0us,0.001kbit",
        "0.1us,1000000gbit",
        "3600s,1.000001mbit",
        "1e-9s,3.3333333333kbit",
        "3601s,1gbit",
        "1ms,infgbit",
        "nanms,1gbit",
        "-1ms,1mbit",
        "1e308s,1mbit",
        "40,100",
        ",",
        "",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}

pub(super) fn fingerprints() -> Vec<Vec<u8>> {
    let texts = [
        "0".repeat(64),
        "5f".repeat(32),
        "aB".repeat(32),
        "0123456789abcdef".repeat(4),
        "0".repeat(63),
        "0".repeat(65),
        format!("{}g", "0".repeat(63)),
        format!("{}+1", "0".repeat(62)),
        format!("{}é", "0".repeat(62)),
        String::new(),
    ];
    texts.map(String::into_bytes).into()
}

pub(super) fn handshakes() -> Vec<Vec<u8>> {
    let agreement = |parties: usize, clients: &[&str], inputs: &str| Agreement {
        version: 3,
        lane: 1,
        lanes: 3,
        parties: (0..parties).map(|number| format!("P{number}")).collect(),
        clients: clients.iter().map(|&name| name.to_owned()).collect(),
        protocol: "replicated".to_owned(),
        instances: 1,
        parameters: String::new(),
        window: 65_536,
        inputs: inputs.split("; ").map(str::to_owned).collect(),
        outputs: vec!["int (1000,) to alice".to_owned()],
        steps: (0..parties as u8)
            .map(|number| ProgramStep { digest: [number; 4], ..Default::default() })
            .collect(),
        program: [3; 32],
    };
    let message =
        |agreement: &Agreement| write_first_message(agreement, &Limits::default(), [1; 32], [2; 32]);
    let usual = message(&agreement(3, &["alice", "bob"], "alice.a: int (1000,); bob.b: fixed(16) (1000,)"));
    let other = Agreement {
        version: u32::MAX,
        instances: u64::MAX,
        parameters: "x".repeat(300),
        window: u64::MAX,
        protocol: String::new(),
        ..agreement(0, &[], "")
    };
    // Lengths that are announced and don't come.
    let many = [3, 1, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    vec![
        message(&agreement(2, &[], "")),
        message(&agreement(3, &[], "P0.x: bool ()")),
        message(&agreement(3, &["alice"], "alice.é: wrapping(64) (2, 3)")),
        message(&agreement(100, &["a", "b", "c"], "")),
        message(&other),
        usual[..usual.len() - 1].to_vec(),
        usual[..10].to_vec(),
        [&usual[..], &[0]].concat(),
        many.to_vec(),
        [&many[..8], &[0x0f], &[0; 40]].concat(),
        [&[3, 1, 3, 3, 2, b'P', b'0'][..], &many[3..]].concat(),
        [&[0x83, 0x80, 0x00][..], &usual[1..]].concat(),
        vec![],
        usual,
    ]
}

pub(super) fn programs() -> Vec<Vec<u8>> {
    let program = |seed, steps| generate::program(&mut Rng::new(seed), 3, steps, 5).to_bytes();
    let mut seeds: Vec<Vec<u8>> = (0..24).map(|seed| program(seed, 1 + seed as usize / 2)).collect();
    let usual = program(100, 6);
    seeds.push(usual[..usual.len() / 2].to_vec());
    seeds.push([&usual[..], &[0]].concat());
    seeds.push(usual[..16].to_vec());
    seeds
}

/// Circuits with everything that a format can say.
fn some_circuits() -> Vec<Circuit> {
    let small = |inputs: &[u32], gates: &[Gate], outputs: &[&[Wire]]| {
        let outputs = outputs.iter().map(|wires| wires.to_vec()).collect();
        Circuit::new(inputs.to_vec(), gates.to_vec(), outputs).expect("a seed is well formed")
    };
    let (xor, and, not) = (Gate::Xor, Gate::And, Gate::Not);
    vec![
        circuits::add(Style::Small, 1),
        circuits::add(Style::Small, 9),
        circuits::add(Style::Small, 65),
        small(&[], &[], &[]),
        small(&[3], &[], &[&[2, 1, 0]]),
        small(&[0, 2, 0], &[and(0, 1), xor(2, 2), not(3)], &[&[], &[4, 4], &[0]]),
        small(&[], &[Gate::Constant(true), Gate::Constant(false), and(0, 1)], &[&[0, 1, 2]]),
        small(&[1, 1], &[xor(0, 1), xor(2, 1), and(3, 2), xor(4, 2), not(5), not(6)], &[&[7, 2]]),
        small(&[1 << 24], &[not(1 << 23)], &[&[1 << 24, 1 << 22]]),
    ]
}

pub(super) fn bristol_fashion() -> Vec<Vec<u8>> {
    let mut texts: Vec<String> = some_circuits().iter().map(bristol::write).collect();
    let header = "3 7\n1 3\n1 2\n";
    texts.extend(
        [
            "2 1 0 1 3 XOR\n4 2 0 1 2 3 5 4 MAND\n1 1 4 6 EQW\n",
            "1 1 1 3 EQ\r\n\r\n1 1 3 5 INV\t\r\n2 1 3 2 6 AND",
            "1 1 2 5 EQ\n",
            "2 1 0 7 5 XOR\n",
            "2 1 0 4 5 XOR\n",
            "2 1 0 1 2 XOR\n",
            "2 1 0 1 5 NOR\n",
            "0 0 MAND\n",
            "4294967295 4294967295 4294967296 MAND\n",
        ]
        .map(|gates| format!("{header}{gates}")),
    );
    texts.extend(
        ["4294967295 4294967295\n1 4294967295\n1 1\n", "1 3\n4294967295 1\n", "1 3\n2 1 1\n"]
            .map(str::to_owned),
    );
    texts.push(String::new());
    texts.into_iter().map(String::into_bytes).collect()
}

pub(super) fn bristol_old() -> Vec<Vec<u8>> {
    let texts = [
        "4 6\n1 1   2\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n1 1 2 4 INV\n2 1 4 3 5 XOR\n",
        "1 3\n2 0 1\r\n2 1 0 1 2 AND",
        "1 4\n2 1 1\n2 1 0 1 3 AND\n",
        "0 3\n2 1 0\n",
        "0 2\n2 1 1\n0\n",
        "1 3\n1 1 2\n2 1 0 1 2 AND\n",
        "1 3\n1 1 1\n1 1 0 2 EQW\n",
        "2 4\n1 1 1\n1 1 3 2 INV\n1 1 2 3 INV\n",
        "4294967295 4294967295\n4294967294 0 1\n1 1 0 4294967294 INV\n",
        "1 3 1\n",
        "",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}

pub(super) fn circuits() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = some_circuits().iter().map(Circuit::to_bytes).collect();
    let usual = seeds[1].clone();
    seeds.push(usual[..usual.len() / 2].to_vec());
    seeds.push([&usual[..], &[0]].concat());
    // Counts that are announced and don't come; a number in more bytes than it takes.
    seeds.push([&usual[..8], &[0xff, 0xff, 0xff, 0xff, 0x0f]].concat());
    seeds.push([&usual[..8], &[0, 0xff, 0xff, 0xff, 0xff, 0x0e]].concat());
    seeds.push([&usual[..8], &[0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]].concat());
    seeds.push([&usual[..8], &[0x80, 0, 0, 0]].concat());
    seeds
}

pub(super) fn values() -> Vec<Vec<u8>> {
    // Kind and its detail, shape, range, then kind, number and words of the elements, then an output's words.
    let value = |kind: [u8; 2], shape: &[u8], range: [i64; 2], data: u8, words: &[u64]| {
        let mut bytes = kind.to_vec();
        bytes.push(shape.len() as u8);
        bytes.extend_from_slice(shape);
        bytes.extend(range.iter().flat_map(|end| end.to_le_bytes()));
        bytes.extend([data, words.len() as u8]);
        let words = words.iter().chain(words);
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        bytes
    };
    let floats = |data: &[f64]| data.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    let whole = [i64::MIN, i64::MAX];
    vec![
        value([0, 0], &[2], [0, 1], 0, &[0, 1]),
        value([1, 0], &[], [-5, 5], 1, &[3]),
        value([1, 0], &[2, 2], whole, 1, &[0, 1, i64::MIN as u64, i64::MAX as u64]),
        value([1, 0], &[2], [0, 10], 2, &[10, u64::MAX]),
        value([2, 15], &[3], whole, 3, &floats(&[0.5, -1.25, 1e6])),
        value([2, 15], &[3], [0, 1 << 20], 3, &floats(&[f64::NAN, f64::INFINITY, -0.0])),
        value([2, 31], &[2], whole, 3, &floats(&[1e300, -1e300])),
        value([2, 0], &[2], whole, 3, &floats(&[0.25, -0.25])),
        value([2, 31], &[2], whole, 1, &[1 << 30, u64::MAX]),
        value([3, 0], &[2], whole, 2, &[255, 256]),
        value([3, 3], &[2], whole, 2, &[0, u64::MAX]),
        value([3, 2], &[1, 1, 1], whole, 1, &[u64::MAX]),
        value([1, 0], &[0, 3], whole, 1, &[]),
        value([1, 0], &[5, 5, 5], whole, 1, &[1]),
        vec![],
    ]
}

pub(super) fn bindings() -> Vec<Vec<u8>> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let usual = Binding {
        me: "P0".into(),
        parties: names(&["P0", "P1", "P2"]),
        clients: names(&["alice", "bob"]),
        protocol: "astra".into(),
        parameters: String::new(),
        plan: Some(PlanBinding { inputs: "a: int64[3]".into(), program: [0x3a; 32], plan: [5; 32] }),
    };
    let bare = Binding { parties: Vec::new(), clients: Vec::new(), plan: None, ..usual.clone() };
    let long = Binding {
        plan: usual.plan.clone().map(|plan| PlanBinding { inputs: "é".repeat(300), ..plan }),
        parameters: "soundness=100".into(),
        ..usual.clone()
    };
    let bytes = usual.to_bytes();
    let fields = |bytes: &[u8]| bytes[12..bytes.len() - 32].to_vec();
    let mut newer = bytes.clone();
    newer[8] = 9;
    vec![
        bare.to_bytes(),
        long.to_bytes(),
        fields(&bytes),
        fields(&long.to_bytes()),
        fields(&bytes)[..20].to_vec(),
        // A length of which nothing comes.
        vec![2, b'P', b'0', 0xff, 0xff, 0xff, 0xff, 0x0f],
        newer,
        bytes[..bytes.len() - 1].to_vec(),
        bytes,
        vec![],
    ]
}

pub(super) fn ledgers() -> Vec<Vec<u8>> {
    let on = |shelf, next, checks| ((Epoch([1; 32]), shelf), Used { next, checks });
    let used = |epoch, next, checks| ((Epoch([epoch; 32]), 0), Used { next, checks });
    let ledger = |records: &[((Epoch, u64), Used)]| write_ledger(&[9; 32], records.iter().copied());
    let usual = ledger(&[used(1, 0, 0), used(2, 0, 0), on(7, 5, 0), used(2, 3, 1), used(1, u64::MAX, 0)]);
    let mut flipped = usual.clone();
    flipped[100] ^= 1;
    vec![
        ledger(&[]),
        ledger(&[used(1, 5, 0), used(1, 4, 0)]),
        ledger(&[used(1, 5, 1), used(1, 6, 0)]),
        usual[..usual.len() - 1].to_vec(),
        usual[..usual.len() - 64].to_vec(),
        usual[..63].to_vec(),
        flipped,
        usual,
        vec![1, 0, 0, 0, 2, 0, 0, 0, 1, 7, 5, 0, 2, 0, 3, 1],
        vec![1, 7, 2, 0, 1, 7, 1, 0],
        vec![],
    ]
}

pub(super) fn indices() -> Vec<Vec<u8>> {
    let index = |count: u64, entries: usize| {
        let mut bytes = write_index_header([1; 32], Epoch([2; 32]), 5, count);
        bytes.resize(bytes.len() + 16 * entries, 7);
        bytes
    };
    let counted = |count: u64, entries: usize| [&count.to_le_bytes()[..], &vec![7; 16 * entries]].concat();
    vec![
        index(1, 1),
        index(3, 3),
        index(3, 2),
        index(0, 0),
        index(1 << 60, 1),
        index(u64::MAX, 0),
        index(1, 1)[..100].to_vec(),
        counted(2, 2),
        counted(1 << 60, 0),
        counted(0, 0),
        vec![],
    ]
}

pub(super) fn lists() -> Vec<Vec<u8>> {
    let own = |epoch, next, count| Available { epoch: Epoch([epoch; 32]), next, count };
    let usual = [own(1, 0, 10), own(2, 9, 10), own(9, u64::MAX - 3, u64::MAX)];
    let bytes = encode(&usual);
    vec![
        encode(&usual[..1]),
        encode(&[own(1, 10, 10)]),
        encode(&[own(1, u64::MAX, 0)]),
        [&bytes[48..96], &bytes[..48]].concat(),
        [&bytes[..48], &bytes[..48]].concat(),
        bytes[..95].to_vec(),
        bytes,
        vec![],
    ]
}
