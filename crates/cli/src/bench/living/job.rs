//! What is run, and a party's part in it.

use crate::bench::operands::coin_word;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tacit::program::{Builder, Data, Dtype, InputType, ProgramError, Range, Recipient, Value};
use tacit::setup::Config;
use tacit::{Compiled, Error, Holdings, Offer, QUEUE, Seat, Served, Server, protocol};

/// Runs at a time, as `tacit serve` has it.
const AT_ONCE: u16 = 4;

const FRAC: u8 = 16;

/// Raw values of so many bits, around zero.
const BITS: u32 = 17;

/// The name that clients play.
const CLIENT: &str = "client0";
pub(super) const OPEN: &str = "client";

/// What a party's process is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(super) protocol: String,
    pub(super) features: usize,
    pub(super) seed: u64,
    /// Whether the party serves; else it gathers its links for each run.
    pub(super) serves: bool,
    /// Instances that a run has at most, and how long it waits for them.
    pub(super) batch: u8,
    pub(super) window_ms: u64,
}

impl Job {
    /// The party's part, until this process is ended.
    ///
    /// # Errors
    /// Why it can't go on.
    pub(crate) fn play(&self, config: &Path) -> Result<(), Failure> {
        let config = Config::load(config).map_err(Error::from)?;
        let compiled = self.program()?;
        let weights = (config.me() == 0).then(|| self.weights(&compiled.inputs()[0]));
        let inputs = vec![weights, None];
        if self.serves {
            let serving = tacit::Serving {
                protocol: self.protocol.clone(),
                at_once: AT_ONCE,
                queue: QUEUE,
                batch: self.batch.into(),
                window: Duration::from_millis(self.window_ms),
                runs: None,
                open: vec![OPEN.to_owned()],
                holdings: Holdings::default(),
            };
            let mut server = Server::open(&config, vec![Offer { compiled, inputs }], serving)?;
            return server.serve(&mut |served: Served<'_>| served.result.map(drop).map_err(Failure::from));
        }
        let mut seat = Seat::with(config)?;
        loop {
            seat.run(&compiled, &self.protocol, &inputs, &|_, _| ())?;
        }
    }

    pub(super) fn program(&self) -> Result<Arc<Compiled>, Failure> {
        let program = self.build(if self.serves { OPEN } else { CLIENT }).map_err(Error::from)?;
        Ok(Compiled::new(program)?.for_protocol(&*protocol(&self.protocol)?)?)
    }

    /// The score of a row of this client's.
    fn build(&self, client: &str) -> Result<tacit::program::Program, ProgramError> {
        let mut build = Builder::new();
        let (kind, half) = (Dtype::Fixed { frac: FRAC }, 1 << (BITS - 1));
        let range = Range::new(-half, half - 1);
        let weights = build.input("P0", "weights", kind, &[self.features], range)?;
        let row = build.input(client, "row", kind, &[1, self.features], range)?;
        let score = build.matmul(row, weights)?;
        build.reveal(score, Recipient::Role(client.to_owned()))?;
        build.finish()
    }

    pub(super) fn weights(&self, declared: &InputType) -> Value {
        self.numbers(declared, 0)
    }

    /// Numbers that look random: the weights are number 0, and rows come after them.
    pub(super) fn numbers(&self, declared: &InputType, number: u64) -> Value {
        let start = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number << 32);
        let half = 1_i64 << (BITS - 1);
        let raw = |at: usize| (coin_word(start.wrapping_add(at as u64)) >> (64 - BITS)) as i64 - half;
        let unit = f64::from(1 << FRAC);
        let data = (0..self.features).map(|at| raw(at) as f64 / unit).collect();
        Value { shape: declared.shape.clone(), data: Data::Float(data) }
    }
}
