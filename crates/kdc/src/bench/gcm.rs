//! The paper's flow with codes: AES-128 in Galois/counter mode (NIST SP 800-38D) under a private encryption type, to be measured.
//!
//! With powers of H shared and the ciphertext public, GHASH is linear: ANDs with public bits cost nothing. So a
//! message's code takes one more block of AES, and the comparison of one that came takes 127 ANDs. A login is three
//! runs, each after acceptance of the one before: the verdict on the timestamp with what it says; the ciphertexts of
//! ticket and reply; their codes.
//!
//! **No KDC's.** No nonce may come twice under a key: servers would have to note counters durably before they use them. Here batches
//! count, and keys are the bench's own.

use super::paper::{BLOCK, BLOCKS, Paper, pattern, value};
use crate::programs::{to_bits, to_bytes};
use crate::server::Failure;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use std::sync::Arc;
use std::time::Instant;
use tacit::circuit::arith::{self, Style};
use tacit::circuit::crypto::aes::{Variant, encrypt_expanded, key_schedule};
use tacit::circuit::{Builder as Gates, Circuit, Wire};
use tacit::program::{Builder, Dtype, ProgramError, Recipient, Uses, Value};
use tacit::{Compiled, Fill, Local, Residents, Run, State};

const AES: Variant = Variant::Aes128;
const BITS: usize = 8 * BLOCK;
/// Powers of H that the longest message takes: one for each of its blocks, and one for its length.
const POWERS: usize = BLOCKS[2] + 1;
/// Blocks of ticket and reply.
const SEALED: usize = BLOCKS[1] + BLOCKS[2];
/// Bytes of an expanded key: eleven blocks.
const SCHEDULE: usize = 11 * BLOCK;
/// Bits of a key's record: the expanded key, and powers of H from the first on.
const RECORD: usize = 8 * SCHEDULE + POWERS * BITS;

/// The sum of two products' bits, where there are any.
fn add(b: &mut Gates, sum: &mut [Option<Wire>], at: usize, bits: &[Option<Wire>]) {
    for (sum, &bit) in sum[at..].iter_mut().zip(bits) {
        *sum = match (*sum, bit) {
            (Some(sum), Some(bit)) => Some(b.xor(sum, bit)),
            (sum, bit) => sum.or(bit),
        };
    }
}

/// A product of polynomials over GF(2), Karatsuba's way as long as that saves gates.
fn product(b: &mut Gates, x: &[Wire], y: &[Wire]) -> Vec<Option<Wire>> {
    let half = x.len() / 2;
    let mut out = vec![None; 2 * x.len()];
    if half < 8 {
        for (at, &x) in x.iter().enumerate() {
            let row: Vec<Option<Wire>> = y.iter().map(|&y| Some(b.and(x, y))).collect();
            add(b, &mut out, at, &row);
        }
        return out;
    }
    let [low, high] = [(&x[..half], &y[..half]), (&x[half..], &y[half..])].map(|(x, y)| product(b, x, y));
    let [sum_x, sum_y] = [x, y].map(|bits| arith::xor(b, &bits[..half], &bits[half..]));
    let mut middle = product(b, &sum_x, &sum_y);
    add(b, &mut middle, 0, &low);
    add(b, &mut middle, 0, &high);
    add(b, &mut out, 0, &low);
    add(b, &mut out, half, &middle);
    add(b, &mut out, 2 * half, &high);
    out
}

/// A block's bits as coefficients, and back: the first one is the most significant bit of the first byte.
fn turned(block: &[Wire]) -> Vec<Wire> {
    block.chunks(8).flat_map(|byte| byte.iter().rev().copied()).collect()
}

/// A sum of products modulo x^128 + x^7 + x^2 + x + 1, as a block.
fn sum_of_products(b: &mut Gates, pairs: &[(&[Wire], &[Wire])]) -> Vec<Wire> {
    let mut sum = vec![None; 2 * BITS];
    for (x, y) in pairs {
        let product = product(b, &turned(x), &turned(y));
        add(b, &mut sum, 0, &product);
    }
    for at in (BITS..2 * BITS).rev() {
        let bit = [sum[at]];
        for place in [0, 1, 2, 7] {
            add(b, &mut sum, at - BITS + place, &bit);
        }
    }
    let zero = b.constant(false);
    turned(&sum[..BITS].iter().map(|bit| bit.unwrap_or(zero)).collect::<Vec<_>>())
}

/// Powers of H and an expanded key.
struct Key<'w> {
    schedule: &'w [Wire],
    powers: Vec<&'w [Wire]>,
}

impl<'w> Key<'w> {
    fn of(record: &'w [Wire]) -> Self {
        let (schedule, powers) = record.split_at(8 * SCHEDULE);
        Self { schedule, powers: powers.chunks(BITS).collect() }
    }

    fn block(&self, b: &mut Gates, counter: &[Wire]) -> Vec<Wire> {
        encrypt_expanded(b, Style::Small, AES, self.schedule, counter)
    }

    /// The code of a ciphertext, whose last block says its length, under the counter of its message.
    fn code(&self, b: &mut Gates, first: &[Wire], sealed: &[Wire]) -> Vec<Wire> {
        let blocks = sealed.chunks(BITS);
        let powers = self.powers[..blocks.len()].iter().rev();
        let pairs: Vec<(&[Wire], &[Wire])> =
            blocks.zip(powers).map(|(block, power)| (block, *power)).collect();
        let hash = sum_of_products(b, &pairs);
        let pad = self.block(b, first);
        arith::xor(b, &hash, &pad)
    }
}

fn input(b: &mut Gates, bits: usize) -> Vec<Wire> {
    b.input(u32::try_from(bits).expect("messages are short"))
}

/// A key to its record.
fn enrol() -> Circuit {
    let mut b = Gates::new();
    let key = input(&mut b, BITS);
    let schedule = key_schedule(&mut b, Style::Small, AES, &key);
    let zeros = vec![b.constant(false); BITS];
    let h = encrypt_expanded(&mut b, Style::Small, AES, &schedule, &zeros);
    let mut powers = vec![h.clone()];
    for _ in 1..POWERS {
        let next = sum_of_products(&mut b, &[(powers.last().map_or(&h[..], |last| last), &h)]);
        powers.push(next);
    }
    b.finish(vec![[schedule, powers.concat()].concat()])
}

/// Whether a timestamp has the right code, and if so what it says. Public are its counters, its ciphertext with its
/// length, and the code that came.
fn verify() -> Circuit {
    let mut b = Gates::new();
    let count = BLOCKS[0];
    let [counters, sealed, came] = [count + 1, count + 1, 1].map(|blocks| blocks * BITS);
    let public = input(&mut b, counters + sealed + came);
    let record = input(&mut b, RECORD);
    let key = Key::of(&record);
    let (counters, rest) = public.split_at(counters);
    let (sealed, came) = rest.split_at(sealed);
    let code = key.code(&mut b, &counters[..BITS], sealed);
    let differs = arith::xor(&mut b, &code, came);
    // Right is what differs nowhere: a tree of ANDs.
    let mut same: Vec<Wire> = differs.into_iter().map(|bit| b.not(bit)).collect();
    while same.len() > 1 {
        same = same.chunks(2).map(|pair| if let [x, y] = *pair { b.and(x, y) } else { pair[0] }).collect();
    }
    let mut text = Vec::new();
    for (counter, block) in counters[BITS..].chunks(BITS).zip(sealed.chunks(BITS)) {
        let stream = key.block(&mut b, counter);
        text.extend(arith::xor(&mut b, &stream, block));
    }
    let text = text.into_iter().map(|bit| b.and(bit, same[0])).collect();
    b.finish(vec![same, text])
}

/// Ciphertexts of ticket and reply. Public are counters and texts; the first block of each has the session key added,
/// which all draw.
fn seal() -> Circuit {
    let mut b = Gates::new();
    let public = input(&mut b, 2 * SEALED * BITS);
    let drawn: [_; 3] = std::array::from_fn(|_| input(&mut b, BITS));
    let [client, krbtgt] = std::array::from_fn(|_| input(&mut b, RECORD));
    let [client, krbtgt] = [&client, &krbtgt].map(|record| Key::of(record));
    let sum = arith::xor(&mut b, &drawn[0], &drawn[1]);
    let session = arith::xor(&mut b, &sum, &drawn[2]);
    let (counters, texts) = public.split_at(SEALED * BITS);
    let mut sealed = Vec::new();
    for (at, (counter, text)) in counters.chunks(BITS).zip(texts.chunks(BITS)).enumerate() {
        let stream = if at < BLOCKS[1] { &krbtgt } else { &client }.block(&mut b, counter);
        let mut block = arith::xor(&mut b, &stream, text);
        if at == 0 || at == BLOCKS[1] {
            block = arith::xor(&mut b, &block, &session);
        }
        sealed.extend(block);
    }
    b.finish(vec![sealed])
}

/// The codes of both. Public are the counters of the messages, and the ciphertexts with their lengths.
fn codes() -> Circuit {
    let mut b = Gates::new();
    let public = input(&mut b, (2 + SEALED + 2) * BITS);
    let [client, krbtgt] = std::array::from_fn(|_| input(&mut b, RECORD));
    let (firsts, sealed) = public.split_at(2 * BITS);
    let (ticket, reply) = sealed.split_at((BLOCKS[1] + 1) * BITS);
    let first = Key::of(&krbtgt).code(&mut b, &firsts[..BITS], ticket);
    let second = Key::of(&client).code(&mut b, &firsts[BITS..], reply);
    b.finish(vec![first, second])
}

/// A program of a circuit: what is public, what all draw, and kept keys.
fn program(
    parties: &[String],
    count: usize,
    circuit: Circuit,
    slots: &[&str],
    draws: bool,
) -> Result<Arc<Compiled>, Failure> {
    let circuit = Arc::new(circuit);
    let make = || -> Result<_, ProgramError> {
        let mut build = Builder::new();
        let width = circuit.inputs().first().map_or(0, |&bits| bits as usize);
        let mut operands = vec![build.known("public", Dtype::Bool, &[count, width], None)?];
        for party in parties.iter().filter(|_| draws) {
            operands.push(build.input(party, "drawn", Dtype::Bool, &[count, BITS], None)?);
        }
        for slot in slots {
            operands.push(build.kept(slot, Dtype::Bool, &[RECORD], None)?);
        }
        for output in build.circuit(&circuit, &operands)? {
            build.reveal(output, Recipient::All)?;
        }
        build.finish()
    };
    Ok(Compiled::new(make().map_err(tacit::Error::from)?)?)
}

/// Keeps the record of a key that a party gives.
fn keeper() -> Result<Arc<Compiled>, Failure> {
    let circuit = Arc::new(enrol());
    let make = || -> Result<_, ProgramError> {
        let mut build = Builder::new();
        let key = build.input("P0", "key", Dtype::Bool, &[BITS], None)?;
        let record = build.circuit(&circuit, &[key])?[0];
        build.keep(record, "key", Uses::default())?;
        build.finish()
    };
    Ok(Compiled::new(make().map_err(tacit::Error::from)?)?)
}

/// Three servers in this process, and what batches have taken.
struct Servers {
    local: Local,
    states: Vec<State>,
    seconds: f64,
    sent_bytes: Vec<u64>,
    rounds: u64,
}

impl Servers {
    fn run(&mut self, compiled: &Arc<Compiled>, fill: &Fill, inputs: &[Value]) -> Result<Run, Failure> {
        let residents = self.states.iter_mut().map(|state| Residents { state, fill, store: None }).collect();
        let start = Instant::now();
        let run = self.local.run_on(compiled, residents, inputs, &|_, _| ())?;
        self.seconds += start.elapsed().as_secs_f64();
        self.rounds += run.report.rounds;
        for (sum, (_, traffic)) in self.sent_bytes.iter_mut().zip(&run.report.endpoints) {
            *sum += traffic.payload();
        }
        Ok(run)
    }
}

/// What comes out of a run, by output and login.
fn outputs(run: Run, logins: usize) -> Vec<Vec<Vec<u8>>> {
    run.outputs.into_iter().flatten().map(|output| to_bytes(&output, logins)).collect()
}

/// Runs batches of logins, one of which in each batch has a wrong code, and compares what comes out with the same in the clear.
///
/// # Errors
/// If anything differs.
pub fn run(protocol: &str, logins: usize, batches: usize) -> Result<Paper, Failure> {
    let local = Local::new(protocol)?;
    let states = local.parties.iter().map(|_| State::new()).collect();
    let parties = local.parties.clone();
    let mut servers = Servers { local, states, seconds: 0.0, sent_bytes: vec![0; 3], rounds: 0 };
    let [client, krbtgt] = [Clear::new([3; BLOCK]), Clear::new([5; BLOCK])];
    let keeper = keeper()?;
    for (name, key) in [("client", &client), ("krbtgt", &krbtgt)] {
        servers.run(&keeper, &Fill::new().keeping("key", name), &[to_bits(&key.bytes)])?;
    }
    let verify = program(&parties, logins, verify(), &["client"], false)?;
    let seal = program(&parties, logins, seal(), &["client", "krbtgt"], true)?;
    let codes = program(&parties, logins, codes(), &["client", "krbtgt"], false)?;
    let (fill, mut seconds) = (Fill::new(), Vec::new());
    let same = |one: &[u8], other: &[u8], what: &str| {
        let differs = || Failure::Refused(format!("{what} differs from the clear one"));
        (one == other).then_some(()).ok_or_else(differs)
    };
    for batch in 0..batches {
        (servers.seconds, servers.rounds) = (0.0, 0);
        servers.sent_bytes.fill(0);
        // Nonces of timestamps, tickets and replies: none comes twice under a key.
        let nonce = |login: usize, message: u8| {
            let number = ((batch * logins + login) as u64).to_be_bytes();
            let mut nonce = [message; 12];
            nonce[4..].copy_from_slice(&number);
            nonce
        };
        let texts: Vec<[Vec<u8>; 3]> = (0..logins)
            .map(|login| std::array::from_fn(|at| pattern(3 * login + at, batch, BLOCK * BLOCKS[at])))
            .collect();
        let stamps: Vec<(Vec<u8>, [u8; BLOCK])> =
            (0..logins).map(|login| client.seal(nonce(login, 0), &texts[login][0])).collect();
        let is_wrong = |login: usize| login + 1 == logins;
        let public: Vec<Vec<u8>> = (0..logins)
            .map(|login| {
                let (sealed, mut code) = stamps[login].clone();
                code[3] ^= u8::from(is_wrong(login));
                let counters = (1..BLOCKS[0] as u32 + 2).flat_map(|number| counter(nonce(login, 0), number));
                [counters.collect(), sealed, length(BLOCKS[0]).to_vec(), code.to_vec()].concat()
            })
            .collect();
        let told = outputs(servers.run(&verify, &fill, &[value(&public)])?, logins);
        for login in 0..logins {
            let nothing = vec![0; BLOCK * BLOCKS[0]];
            same(&told[0][login], &[u8::from(!is_wrong(login))], "a verdict")?;
            same(&told[1][login], if is_wrong(login) { &nothing } else { &texts[login][0] }, "a timestamp")?;
        }

        let public: Vec<Vec<u8>> = (0..logins)
            .map(|login| {
                let counters = [1, 2].into_iter().flat_map(|message| {
                    (2..BLOCKS[usize::from(message)] as u32 + 2)
                        .flat_map(move |number| counter(nonce(login, message), number))
                });
                [counters.collect(), texts[login][1].clone(), texts[login][2].clone()].concat()
            })
            .collect();
        let drawn = [4, 5, 6]
            .map(|who| (0..logins).map(|login| pattern(who + 3 * login, batch, BLOCK)).collect::<Vec<_>>());
        let mut inputs: Vec<Value> = drawn.iter().map(|all| value(all)).collect();
        inputs.push(value(&public));
        let sealed = outputs(servers.run(&seal, &fill, &inputs)?, logins).swap_remove(0);

        let public: Vec<Vec<u8>> = (0..logins)
            .map(|login| {
                let firsts = [1, 2].into_iter().flat_map(|message| counter(nonce(login, message), 1));
                let (ticket, reply) = sealed[login].split_at(BLOCK * BLOCKS[1]);
                let lengths = [1, 2].map(|message| length(BLOCKS[message]).to_vec());
                let [first, second] = lengths;
                [firsts.collect(), ticket.to_vec(), first, reply.to_vec(), second].concat()
            })
            .collect();
        let told = outputs(servers.run(&codes, &fill, &[value(&public)])?, logins);
        seconds.push(servers.seconds);
        for login in 0..logins {
            let (ticket, reply) = sealed[login].split_at(BLOCK * BLOCKS[1]);
            for (message, (key, sealed)) in [(&krbtgt, ticket), (&client, reply)].into_iter().enumerate() {
                let mut text = texts[login][message + 1].clone();
                for (at, byte) in text.iter_mut().take(BLOCK).enumerate() {
                    *byte ^= drawn.iter().fold(0, |sum, all| sum ^ all[login][at]);
                }
                let (own, code) = key.seal(nonce(login, message as u8 + 1), &text);
                same(sealed, &own, "a ciphertext")?;
                same(&told[message][login], &code, "a code")?;
            }
        }
    }
    Ok(Paper { logins, seconds, sent_bytes: servers.sent_bytes, rounds: servers.rounds })
}

/// A block of a message's counter.
fn counter(nonce: [u8; 12], number: u32) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[..12].copy_from_slice(&nonce);
    block[12..].copy_from_slice(&number.to_be_bytes());
    block
}

/// The block that says how many bits there are: none of additional data, and those of so many blocks.
fn length(blocks: usize) -> [u8; BLOCK] {
    ((BITS * blocks) as u128).to_be_bytes()
}

/// The same in the clear.
struct Clear {
    bytes: [u8; BLOCK],
    cipher: aes::Aes128,
}

impl Clear {
    fn new(bytes: [u8; BLOCK]) -> Self {
        Self { bytes, cipher: aes::Aes128::new(&bytes.into()) }
    }

    fn block(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut block = block.into();
        self.cipher.encrypt_block(&mut block);
        block.into()
    }

    /// Ciphertext and code of whole blocks.
    fn seal(&self, nonce: [u8; 12], text: &[u8]) -> (Vec<u8>, [u8; BLOCK]) {
        let h = u128::from_be_bytes(self.block([0; BLOCK]));
        let (mut sealed, mut hash) = (Vec::new(), 0);
        for (number, block) in (2..).zip(text.chunks(BLOCK)) {
            let stream = self.block(counter(nonce, number));
            sealed.extend(block.iter().zip(stream).map(|(text, stream)| text ^ stream));
        }
        for block in sealed.as_chunks().0.iter().chain([&length(text.len() / BLOCK)]) {
            hash = times(hash ^ u128::from_be_bytes(*block), h);
        }
        let pad = u128::from_be_bytes(self.block(counter(nonce, 1)));
        (sealed, (hash ^ pad).to_be_bytes())
    }
}

/// A product in GCM's field (SP 800-38D, 6.3).
fn times(x: u128, y: u128) -> u128 {
    let (mut z, mut v) = (0, y);
    for bit in (0..BITS).rev() {
        if x >> bit & 1 == 1 {
            z ^= v;
        }
        v = v >> 1 ^ if v & 1 == 1 { 0xe1 << 120 } else { 0 };
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test case 3 of the GCM specification (McGrew and Viega), appendix B.
    #[test]
    fn the_clear_code_is_the_standards() {
        let bytes = |hex: &str| -> Vec<u8> {
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
        };
        let key = Clear::new(bytes("feffe9928665731c6d6a8f9467308308").try_into().unwrap());
        let text = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525\
                    b16aedf5aa0de657ba637b391aafd255";
        let sealed = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05\
                      1ba30b396a0aac973d58e091473f5985";
        let nonce = bytes("cafebabefacedbaddecaf888").try_into().unwrap();
        let (own, code) = key.seal(nonce, &bytes(text));
        assert_eq!(own, bytes(sealed));
        assert_eq!(code[..], bytes("4d5c2af327cd64a62cf35abd2ba6fab4"));
    }

    #[test]
    fn codes_on_shared_keys_are_those_of_the_clear_and_cost_a_block_each() {
        for protocol in ["replicated", "replicated-malicious"] {
            let paper = run(protocol, 3, 2).unwrap();
            assert_eq!((paper.seconds.len(), paper.sent_bytes.len()), (2, 3));
        }
        // What is paid for: ANDs that aren't with public bits.
        let parties = Local::new("replicated").unwrap().parties.clone();
        let paid = |circuit, slots: &[&str], draws| {
            let compiled = program(&parties, 1, circuit, slots, draws).unwrap();
            compiled.plan().ops.iter().fold(0, |sum, op| match &op.kind {
                tacit::advanced::program::plan::OpKind::Circuit { circuit, .. } => sum + circuit.ands(),
                _ => sum,
            })
        };
        let block = 5120;
        let (stamp, all) = (BLOCKS[0] as u64, SEALED as u64);
        assert_eq!(paid(verify(), &["client"], false), (stamp + 1) * block + 127 + stamp * BITS as u64);
        assert_eq!(paid(seal(), &["client", "krbtgt"], true), all * block);
        assert_eq!(paid(codes(), &["client", "krbtgt"], false), 2 * block);
    }
}
