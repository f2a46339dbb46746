//! The flow of Araki et al., section 5.3: 33 blocks of AES-128 in counter mode for each login, without codes, in batches.
//!
//! **Not Kerberos, and not safe as a KDC**: without codes a client can change what its own ticket says. It is here to be measured
//! beside the paper, with keys of its own that no realm has.

use crate::programs::{rows, to_bits, to_bytes};
use crate::server::Failure;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use std::sync::Arc;
use std::time::Instant;
use tacit::circuit::arith::{self, Style};
use tacit::circuit::crypto::aes::{Variant, encrypt_expanded, key_schedule};
use tacit::circuit::{Builder as Gates, Circuit};
use tacit::program::{Builder, Dtype, ProgramError, Recipient, Uses, Value};
use tacit::{Compiled, Fill, Local, Residents, State};

/// Blocks of a login: of a timestamp under the client's key, of a ticket under krbtgt's, of a reply under the client's.
pub(super) const BLOCKS: [usize; 3] = [3, 14, 16];
pub(super) const BLOCK: usize = 16;

fn all_blocks() -> usize {
    BLOCKS.iter().sum()
}

/// Counters and texts of a login, both keys expanded and what three servers draw, to texts plus key stream. What was drawn is the
/// session key: the first block of ticket and of reply.
fn login() -> Circuit {
    let mut b = Gates::new();
    let width = (8 * BLOCK * all_blocks()) as u32;
    let (counters, texts) = (b.input(width), b.input(width));
    let drawn: [_; 3] = std::array::from_fn(|_| b.input(8 * BLOCK as u32));
    let [client, krbtgt] = std::array::from_fn(|_| b.input(8 * Variant::Aes128.schedule_bytes() as u32));
    let sum = arith::xor(&mut b, &drawn[0], &drawn[1]);
    let session = arith::xor(&mut b, &sum, &drawn[2]);
    let mut outputs = Vec::new();
    for (at, (counter, text)) in counters.chunks(8 * BLOCK).zip(texts.chunks(8 * BLOCK)).enumerate() {
        let is_ticket = (BLOCKS[0]..BLOCKS[0] + BLOCKS[1]).contains(&at);
        let schedule = if is_ticket { &krbtgt } else { &client };
        let stream = encrypt_expanded(&mut b, Style::Small, Variant::Aes128, schedule, counter);
        let mut sealed = arith::xor(&mut b, &stream, text);
        if at == BLOCKS[0] || at == BLOCKS[0] + BLOCKS[1] {
            sealed = arith::xor(&mut b, &sealed, &session);
        }
        outputs.extend(sealed);
    }
    b.finish(vec![outputs])
}

/// Keeps an expanded key that a party gives.
fn keeper() -> Result<Arc<Compiled>, Failure> {
    let mut gates = Gates::new();
    let key = gates.input(8 * BLOCK as u32);
    let schedule = key_schedule(&mut gates, Style::Small, Variant::Aes128, &key);
    let circuit = Arc::new(gates.finish(vec![schedule]));
    let program = || -> Result<_, ProgramError> {
        let mut build = Builder::new();
        let key = build.input("P0", "key", Dtype::Bool, &[8 * BLOCK], None)?;
        let schedule = build.circuit(&circuit, &[key])?[0];
        build.keep(schedule, "key", Uses::default())?;
        build.finish()
    };
    Ok(Compiled::new(program().map_err(tacit::Error::from)?)?)
}

/// So many logins, all of one client.
fn logins(parties: &[String], count: usize) -> Result<Arc<Compiled>, Failure> {
    let circuit = Arc::new(login());
    let program = || -> Result<_, ProgramError> {
        let mut build = Builder::new();
        let width = 8 * BLOCK * all_blocks();
        let mut operands = vec![
            build.known("counters", Dtype::Bool, &[count, width], None)?,
            build.known("texts", Dtype::Bool, &[count, width], None)?,
        ];
        for party in parties {
            operands.push(build.input(party, "drawn", Dtype::Bool, &[count, 8 * BLOCK], None)?);
        }
        for slot in ["client", "krbtgt"] {
            operands.push(build.kept(slot, Dtype::Bool, &[8 * Variant::Aes128.schedule_bytes()], None)?);
        }
        let sealed = build.circuit(&circuit, &operands)?[0];
        build.reveal(sealed, Recipient::All)?;
        build.finish()
    };
    Ok(Compiled::new(program().map_err(tacit::Error::from)?)?)
}

/// How the paper's flow was measured: three parties in this process.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Logins of a batch.
    pub logins: usize,
    /// From the run's beginning to its end, of each batch.
    pub seconds: Vec<f64>,
    /// Bytes that each server sent for one batch.
    pub sent_bytes: Vec<u64>,
    /// Rounds of one batch.
    pub rounds: u64,
}

/// Runs batches of logins, and compares what comes out with the same in the clear.
///
/// # Errors
/// If anything differs.
pub fn run(protocol: &str, logins_each: usize, batches: usize) -> Result<Paper, Failure> {
    let local = Local::new(protocol)?;
    let mut states: Vec<State> = local.parties.iter().map(|_| State::new()).collect();
    let keys = [[3_u8; BLOCK], [5; BLOCK]];
    let keeper = keeper()?;
    for (name, key) in ["client", "krbtgt"].into_iter().zip(keys) {
        let fill = Fill::new().keeping("key", name);
        let residents =
            states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
        local.run_on(&keeper, residents, &[to_bits(&key)], &|_, _| ())?;
    }
    let compiled = logins(&local.parties, logins_each)?;
    let fill = Fill::new();
    let (mut seconds, mut sent_bytes, mut rounds) = (Vec::new(), Vec::new(), 0);
    for batch in 0..batches {
        let width = BLOCK * all_blocks();
        let of = |seed, width| -> Vec<Vec<u8>> {
            (0..logins_each).map(|login| pattern(seed + 3 * login, batch, width)).collect()
        };
        let (counters, texts) = (of(1, width), of(2, width));
        let drawn = [4, 5, 6].map(|who| of(who, BLOCK));
        let mut inputs: Vec<Value> = drawn.iter().map(|all| value(all)).collect();
        inputs.extend([value(&counters), value(&texts)]);
        let residents =
            states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
        let start = Instant::now();
        let run = local.run_on(&compiled, residents, &inputs, &|_, _| ())?;
        seconds.push(start.elapsed().as_secs_f64());
        rounds = run.report.rounds;
        sent_bytes = run.report.endpoints.iter().map(|(_, traffic)| traffic.payload()).collect();
        let output = run.outputs.into_iter().flatten().next();
        let output = output.map(|output| to_bytes(&output, logins_each)).unwrap_or_default();
        for login in 0..logins_each {
            let session: Vec<u8> =
                (0..BLOCK).map(|at| drawn.iter().fold(0, |sum, all| sum ^ all[login][at])).collect();
            let own = clear(keys, &counters[login], &texts[login], &session);
            if output.get(login) != Some(&own) {
                return Err(Failure::Refused(format!("login {login} differs from the clear one")));
            }
        }
    }
    Ok(Paper { logins: logins_each, seconds, sent_bytes, rounds })
}

/// Bytes that look like others' in no other batch.
pub(super) fn pattern(seed: usize, batch: usize, count: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 151 + at * at * 7 + seed * 41 + batch * 13) as u8).collect()
}

/// Rows of bits.
pub(super) fn value(all: &[Vec<u8>]) -> Value {
    let row = |bytes: &Vec<u8>| match to_bits(bytes).data {
        tacit::program::Data::Bool(bits) => bits,
        _ => Vec::new(),
    };
    rows(&all.iter().map(row).collect::<Vec<_>>())
}

fn clear([client, krbtgt]: [[u8; BLOCK]; 2], counters: &[u8], texts: &[u8], session: &[u8]) -> Vec<u8> {
    let [client, krbtgt] = [client, krbtgt].map(|key| aes::Aes128::new(&key.into()));
    let mut out = Vec::new();
    for (at, (counter, text)) in counters.chunks(BLOCK).zip(texts.chunks(BLOCK)).enumerate() {
        let is_ticket = (BLOCKS[0]..BLOCKS[0] + BLOCKS[1]).contains(&at);
        let mut block = [0; BLOCK];
        block.copy_from_slice(counter);
        let mut block = block.into();
        (if is_ticket { &krbtgt } else { &client }).encrypt_block(&mut block);
        let has_key = at == BLOCKS[0] || at == BLOCKS[0] + BLOCKS[1];
        let more = |at: usize| if has_key { session[at] } else { 0 };
        out.extend((0..BLOCK).map(|at| block[at] ^ text[at] ^ more(at)));
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_papers_logins_are_those_of_the_clear() {
        for protocol in ["replicated", "replicated-malicious"] {
            let paper = super::run(protocol, 5, 2).unwrap();
            assert_eq!((paper.seconds.len(), paper.sent_bytes.len()), (2, 3));
        }
        assert_eq!(super::login().ands(), 33 * 5120);
    }
}
