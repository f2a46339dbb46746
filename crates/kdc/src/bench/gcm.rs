//! The paper's flow with codes: AES-128 in Galois/counter mode (NIST SP 800-38D) under a private encryption type, to be measured.
//!
//! With powers of H shared and the ciphertext public, GHASH is linear: ANDs with public bits cost nothing. So a
//! message's code takes one more block of AES, and the comparison of one that came takes 127 ANDs. A login is three
//! runs, each after acceptance of the one before: the verdict on the timestamp with what it says; the ciphertexts of
//! ticket and reply; their codes.
//!
//! **No KDC's.** No nonce may come twice under a key: servers would have to note counters durably before they use them. Here batches
//! count, and keys are the bench's own.

use super::paper::{BLOCKS, Paper};
use super::streams::{
    self, AES, BITS, BLOCK, Clear, NONCE, SCHEDULE, counter, nonce, part, pattern, sum, value,
};
use crate::programs::{to_bits, to_bytes};
use crate::server::Failure;
use std::sync::Arc;
use std::time::Instant;
use tacit::circuit::arith::{self, Style};
use tacit::circuit::crypto::aes::{encrypt_expanded, key_schedule};
use tacit::circuit::{Builder as Gates, Circuit, Wire};
use tacit::program::{Builder, Dtype, NodeId, ProgramError, Recipient, Uses, Value};
use tacit::{Compiled, Fill, Local, Residents, Run, State};

/// Powers of H that the longest message takes: one for each of its blocks, and one for its length.
const POWERS: usize = BLOCKS[2] + 1;
/// Bits of a key's record: the expanded key, and powers of H from the first on.
const RECORD: usize = SCHEDULE + POWERS * BITS;

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

/// The code of a ciphertext, whose last block says its length, from powers of H and the first block of its key stream.
fn code(b: &mut Gates, sealed: &[Wire], powers: &[Wire], pad: &[Wire]) -> Vec<Wire> {
    let powers = powers.chunks(BITS).take(sealed.len() / BITS).collect::<Vec<_>>();
    let pairs: Vec<(&[Wire], &[Wire])> = sealed.chunks(BITS).zip(powers.into_iter().rev()).collect();
    let hash = sum_of_products(b, &pairs);
    arith::xor(b, &hash, pad)
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

/// Whether a timestamp has the right code, and if so what it says: from its ciphertext with its length and the code that came,
/// powers of H, and its key stream from the block on that is added to the code.
fn opens() -> Circuit {
    let mut b = Gates::new();
    let blocks = BLOCKS[0];
    let public = input(&mut b, (blocks + 2) * BITS);
    let powers = input(&mut b, POWERS * BITS);
    let stream = input(&mut b, (blocks + 1) * BITS);
    let (sealed, came) = public.split_at((blocks + 1) * BITS);
    let (pad, stream) = stream.split_at(BITS);
    let code = code(&mut b, sealed, &powers, pad);
    let differs = arith::xor(&mut b, &code, came);
    // Right is what differs nowhere: a tree of ANDs.
    let mut same: Vec<Wire> = differs.into_iter().map(|bit| b.not(bit)).collect();
    while same.len() > 1 {
        same = same.chunks(2).map(|pair| if let [x, y] = *pair { b.and(x, y) } else { pair[0] }).collect();
    }
    let text = arith::xor(&mut b, stream, &sealed[..stream.len()]);
    let text = text.into_iter().map(|bit| b.and(bit, same[0])).collect();
    b.finish(vec![same, text])
}

/// The code of a ciphertext of so many blocks, which all know with its length.
fn closes(blocks: usize) -> Circuit {
    let mut b = Gates::new();
    let [sealed, powers, pad] = [blocks + 1, POWERS, 1].map(|blocks| input(&mut b, blocks * BITS));
    let code = code(&mut b, &sealed, &powers, &pad);
    b.finish(vec![code])
}

/// A key's record as its parts: the expanded key, and powers of H.
fn record(build: &mut Builder, slot: &str) -> Result<[NodeId; 2], ProgramError> {
    let record = build.kept(slot, Dtype::Bool, &[RECORD], None)?;
    Ok([build.index(record, &[part(0, SCHEDULE)])?, build.index(record, &[part(SCHEDULE, POWERS * BITS)])?])
}

fn compiled(
    program: impl FnOnce(&mut Builder) -> Result<(), ProgramError>,
) -> Result<Arc<Compiled>, Failure> {
    let mut build = Builder::new();
    let program = program(&mut build).and_then(|()| build.finish()).map_err(tacit::Error::from)?;
    Ok(Compiled::new(program)?)
}

/// Verdicts on timestamps, with what they say.
fn verify(logins: usize) -> Result<Arc<Compiled>, Failure> {
    let (cipher, opens) = (Arc::new(streams::cipher()), Arc::new(opens()));
    compiled(|build| {
        let nonces = streams::nonces(build, logins, 1)?;
        let blocks = BLOCKS[0];
        let public = build.known("sealed", Dtype::Bool, &[logins, (blocks + 2) * BITS], None)?;
        let [schedule, powers] = record(build, "client")?;
        let stream = streams::stream(build, &cipher, (nonces, 0), 1..blocks as u32 + 2, schedule)?;
        let stream = build.reshape(stream, &[logins as i64, ((blocks + 1) * BITS) as i64])?;
        let outputs = build.circuit(&opens, &[public, powers, stream])?;
        outputs.into_iter().try_for_each(|output| build.reveal(output, Recipient::All))
    })
}

/// Key streams of ticket and reply, whose first blocks have the session key added.
fn seal(parties: &[String], logins: usize) -> Result<Arc<Compiled>, Failure> {
    let cipher = Arc::new(streams::cipher());
    compiled(|build| {
        let nonces = streams::nonces(build, logins, 2)?;
        let session = streams::drawn(build, parties, logins)?;
        for (message, slot) in ["krbtgt", "client"].into_iter().enumerate() {
            let ([schedule, _], blocks) = (record(build, slot)?, BLOCKS[message + 1]);
            let numbers = 2..blocks as u32 + 2;
            let stream = streams::stream(build, &cipher, (nonces, message), numbers, schedule)?;
            streams::reveal_with_session(build, stream, blocks, session)?;
        }
        Ok(())
    })
}

/// The codes of both, from their ciphertexts with their lengths.
fn codes(logins: usize) -> Result<Arc<Compiled>, Failure> {
    let cipher = Arc::new(streams::cipher());
    compiled(|build| {
        let nonces = streams::nonces(build, logins, 2)?;
        for (message, slot) in ["krbtgt", "client"].into_iter().enumerate() {
            let ([schedule, powers], blocks) = (record(build, slot)?, BLOCKS[message + 1]);
            let pad = streams::stream(build, &cipher, (nonces, message), 1..2, schedule)?;
            let pad = build.reshape(pad, &[logins as i64, BITS as i64])?;
            let sealed = build.known(slot, Dtype::Bool, &[logins, (blocks + 1) * BITS], None)?;
            let code = build.circuit(&Arc::new(closes(blocks)), &[sealed, powers, pad])?[0];
            build.reveal(code, Recipient::All)?;
        }
        Ok(())
    })
}

/// Keeps the record of a key that a party gives.
fn keeper() -> Result<Arc<Compiled>, Failure> {
    let circuit = Arc::new(enrol());
    compiled(|build| {
        let key = build.input("P0", "key", Dtype::Bool, &[BITS], None)?;
        let record = build.circuit(&circuit, &[key])?[0];
        build.keep(record, "key", Uses::default())
    })
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
    let (verify, seal, codes) = (verify(logins)?, seal(&parties, logins)?, codes(logins)?);
    let (fill, mut seconds) = (Fill::new(), Vec::new());
    let same = |one: &[u8], other: &[u8], what: &str| {
        let differs = || Failure::Refused(format!("{what} differs from the clear one"));
        (one == other).then_some(()).ok_or_else(differs)
    };
    for batch in 0..batches {
        (servers.seconds, servers.rounds) = (0.0, 0);
        servers.sent_bytes.fill(0);
        let nonce = |login, message| nonce(batch, (login, logins), message);
        let nonces = |messages: &[usize]| {
            let of = |login| messages.iter().flat_map(|&message| nonce(login, message)).collect();
            streams::nonces_value(&(0..logins).map(of).collect::<Vec<_>>())
        };
        let texts: Vec<[Vec<u8>; 3]> = (0..logins)
            .map(|login| std::array::from_fn(|at| pattern(3 * login + at, batch, BLOCK * BLOCKS[at])))
            .collect();
        let is_wrong = |login: usize| login + 1 == logins;
        let public: Vec<Vec<u8>> = (0..logins)
            .map(|login| {
                let (sealed, mut code) = client.seal(nonce(login, 0), &texts[login][0]);
                code[3] ^= u8::from(is_wrong(login));
                [sealed, length(BLOCKS[0]).to_vec(), code.to_vec()].concat()
            })
            .collect();
        let told = outputs(servers.run(&verify, &fill, &[nonces(&[0]), value(&public)])?, logins);
        for login in 0..logins {
            let nothing = vec![0; BLOCK * BLOCKS[0]];
            same(&told[0][login], &[u8::from(!is_wrong(login))], "a verdict")?;
            same(&told[1][login], if is_wrong(login) { &nothing } else { &texts[login][0] }, "a timestamp")?;
        }

        let drawn = [4, 5, 6]
            .map(|who| (0..logins).map(|login| pattern(who + 3 * login, batch, BLOCK)).collect::<Vec<_>>());
        let mut inputs: Vec<Value> = drawn.iter().map(|all| value(all)).collect();
        inputs.push(nonces(&[1, 2]));
        let streams = outputs(servers.run(&seal, &fill, &inputs)?, logins);
        // Texts are public: each server adds them by itself.
        let sealed = |message: usize| -> Vec<Vec<u8>> {
            let stream = |login: usize| {
                [&streams[2 * message - 2][login][..], &streams[2 * message - 1][login]].concat()
            };
            (0..logins).map(|login| sum(&stream(login), &texts[login][message])).collect()
        };
        let sealed = [sealed(1), sealed(2)];
        let with_lengths = |message: usize| {
            let of = |sealed: &Vec<u8>| [&sealed[..], &length(BLOCKS[message])].concat();
            value(&sealed[message - 1].iter().map(of).collect::<Vec<_>>())
        };
        let told = servers.run(&codes, &fill, &[nonces(&[1, 2]), with_lengths(1), with_lengths(2)])?;
        let told = outputs(told, logins);
        seconds.push(servers.seconds);
        for login in 0..logins {
            let session = drawn.iter().fold(vec![0; BLOCK], |all, own| sum(&all, &own[login]));
            for (message, key) in [(1, &krbtgt), (2, &client)] {
                let mut text = texts[login][message].clone();
                text.iter_mut().zip(&session).for_each(|(text, session)| *text ^= session);
                let (own, code) = key.seal(nonce(login, message), &text);
                same(&sealed[message - 1][login], &own, "a ciphertext")?;
                same(&told[message - 1][login], &code, "a code")?;
            }
        }
    }
    Ok(Paper { logins, seconds, sent_bytes: servers.sent_bytes, rounds: servers.rounds })
}

/// The block that says how many bits there are: none of additional data, and those of so many blocks.
fn length(blocks: usize) -> [u8; BLOCK] {
    ((BITS * blocks) as u128).to_be_bytes()
}

impl Clear {
    /// Ciphertext and code of whole blocks.
    fn seal(&self, nonce: [u8; NONCE], text: &[u8]) -> (Vec<u8>, [u8; BLOCK]) {
        let h = u128::from_be_bytes(self.block([0; BLOCK]));
        let (sealed, mut hash) = (self.add_stream(nonce, 2, text), 0);
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
        let parties = Local::new("replicated").unwrap().parties;
        let (block, stamp, all) = (5120, BLOCKS[0] as u64, (BLOCKS[1] + BLOCKS[2]) as u64);
        let paid = |compiled: Result<Arc<Compiled>, Failure>| streams::ands(&compiled.unwrap());
        assert_eq!(paid(verify(2)), 2 * ((stamp + 1) * block + 127 + stamp * BITS as u64));
        assert_eq!(paid(seal(&parties, 2)), 2 * all * block);
        assert_eq!(paid(codes(2)), 2 * 2 * block);
    }
}
