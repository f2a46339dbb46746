//! The flow of Araki et al., section 5.3: 33 blocks of AES-128 in counter mode for each login, without codes, in batches.
//!
//! **Not Kerberos, and not safe as a KDC**: without codes a client can change what its own ticket says. It is here to be measured
//! beside the paper, with keys of its own that no realm has.

use super::streams::{self, AES, BITS, BLOCK, Clear, SCHEDULE, nonce, pattern, sum, value};
use crate::programs::{to_bits, to_bytes};
use crate::server::Failure;
use std::sync::Arc;
use std::time::Instant;
use tacit::circuit::Builder as Gates;
use tacit::circuit::arith::Style;
use tacit::circuit::crypto::aes::key_schedule;
use tacit::program::{Builder, Dtype, ProgramError, Recipient, Uses, Value};
use tacit::{Compiled, Fill, Local, Residents, State};

/// Blocks of a login: of a timestamp under the client's key, of a ticket under krbtgt's, of a reply under the client's.
pub(super) const BLOCKS: [usize; 3] = [3, 14, 16];

/// Keeps an expanded key that a party gives.
pub(super) fn keeper() -> Result<Arc<Compiled>, Failure> {
    let mut gates = Gates::new();
    let key = gates.input(BITS as u32);
    let schedule = key_schedule(&mut gates, Style::Small, AES, &key);
    let circuit = Arc::new(gates.finish(vec![schedule]));
    let program = || -> Result<_, ProgramError> {
        let mut build = Builder::new();
        let key = build.input("P0", "key", Dtype::Bool, &[BITS], None)?;
        let schedule = build.circuit(&circuit, &[key])?[0];
        build.keep(schedule, "key", Uses::default())?;
        build.finish()
    };
    Ok(Compiled::new(program().map_err(tacit::Error::from)?)?)
}

/// So many logins, all of one client: key streams of their messages. The first block of ticket and of reply has the
/// session key added, which is the sum of what three servers draw. Texts are public, so whoever knows a stream adds
/// them by itself.
pub(super) fn logins(parties: &[String], count: usize) -> Result<Arc<Compiled>, Failure> {
    let cipher = Arc::new(streams::cipher());
    let program = || -> Result<_, ProgramError> {
        let mut build = Builder::new();
        let nonces = streams::nonces(&mut build, count, BLOCKS.len())?;
        let session = streams::drawn(&mut build, parties, count)?;
        let [client, krbtgt] =
            ["client", "krbtgt"].map(|slot| build.kept(slot, Dtype::Bool, &[SCHEDULE], None));
        let (client, krbtgt) = (client?, krbtgt?);
        for (message, (blocks, key)) in BLOCKS.into_iter().zip([client, krbtgt, client]).enumerate() {
            let numbers = 1..blocks as u32 + 1;
            let stream = streams::stream(&mut build, &cipher, (nonces, message), numbers, key)?;
            if message == 0 {
                build.reveal(stream, Recipient::All)?;
            } else {
                streams::reveal_with_session(&mut build, stream, blocks, session)?;
            }
        }
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
    let [client, krbtgt] = keys.map(Clear::new);
    let compiled = logins(&local.parties, logins_each)?;
    let fill = Fill::new();
    let (mut seconds, mut sent_bytes, mut rounds) = (Vec::new(), Vec::new(), 0);
    for batch in 0..batches {
        let nonce = |login, message| nonce(batch, (login, logins_each), message);
        let nonces: Vec<Vec<u8>> =
            (0..logins_each).map(|login| [0, 1, 2].map(|message| nonce(login, message)).concat()).collect();
        let texts: Vec<[Vec<u8>; 3]> = (0..logins_each)
            .map(|login| std::array::from_fn(|at| pattern(3 * login + at, batch, BLOCK * BLOCKS[at])))
            .collect();
        let drawn = [4, 5, 6].map(|who| -> Vec<Vec<u8>> {
            (0..logins_each).map(|login| pattern(who + 3 * login, batch, BLOCK)).collect()
        });
        let mut inputs: Vec<Value> = drawn.iter().map(|all| value(all)).collect();
        inputs.push(streams::nonces_value(&nonces));
        let residents =
            states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
        let start = Instant::now();
        let run = local.run_on(&compiled, residents, &inputs, &|_, _| ())?;
        seconds.push(start.elapsed().as_secs_f64());
        rounds = run.report.rounds;
        sent_bytes = run.report.endpoints.iter().map(|(_, traffic)| traffic.payload()).collect();
        let outputs: Vec<Vec<Vec<u8>>> =
            run.outputs.iter().flatten().map(|output| to_bytes(output, logins_each)).collect();
        for (login, texts) in texts.iter().enumerate() {
            let session = drawn.iter().fold(vec![0; BLOCK], |all, own| sum(&all, &own[login]));
            let parts = [&outputs[..1], &outputs[1..3], &outputs[3..]];
            for (message, (parts, key)) in parts.into_iter().zip([&client, &krbtgt, &client]).enumerate() {
                let stream: Vec<u8> = parts.iter().flat_map(|part| part[login].clone()).collect();
                let mut text = texts[message].clone();
                let sealed = sum(&stream, &text);
                if message > 0 {
                    text.iter_mut().zip(&session).for_each(|(text, session)| *text ^= session);
                }
                if sealed != key.add_stream(nonce(login, message), 1, &text) {
                    return Err(Failure::Refused(format!("login {login} differs from the clear one")));
                }
            }
        }
    }
    Ok(Paper { logins: logins_each, seconds, sent_bytes, rounds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_logins_are_those_of_the_clear() {
        for protocol in ["replicated", "replicated-malicious"] {
            let paper = run(protocol, 5, 2).unwrap();
            assert_eq!((paper.seconds.len(), paper.sent_bytes.len()), (2, 3));
        }
        let parties = Local::new("replicated").unwrap().parties;
        assert_eq!(streams::ands(&logins(&parties, 5).unwrap()), 5 * 33 * 5120);
    }
}
