//! What is run, and a party's part in it.

use crate::bench::operands::coin_word;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tacit::program::{Builder, Data, Dtype, InputType, Program, ProgramError, Range, Recipient, Uses, Value};
use tacit::setup::Config;
use tacit::{Compiled, Error, Fill, Holdings, Offer, Seat, Served, Server, State, protocol};

/// Runs at a time, as `tacit serve` has it.
const AT_ONCE: u16 = 4;

const FRAC: u8 = 16;

/// Raw values of so many bits, around zero.
const BITS: u32 = 17;

const KIND: Dtype = Dtype::Fixed { frac: FRAC };

/// The range of all numbers.
fn range() -> Option<Range> {
    let half = 1 << (BITS - 1);
    Range::new(-half, half - 1)
}

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
    /// Whether parties that serve read weights that they keep; else the first one gives them to each run.
    pub(super) kept: bool,
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
        let weights = (config.me() == 0 && !self.reads()).then(|| self.weights(&compiled.inputs()[0]));
        let inputs = if self.reads() { vec![None] } else { vec![weights, None] };
        if self.serves {
            let mut offers = vec![Offer { compiled, inputs }];
            if self.reads() {
                offers.push(Offer { compiled: self.keeper()?, inputs: vec![None] });
            }
            let state = self.reads().then(|| (State::new(), Fill::new()));
            let serving = tacit::Serving {
                batch: self.batch.into(),
                window: Duration::from_millis(self.window_ms),
                open: vec![OPEN.to_owned()],
                holdings: Holdings { store: None, state },
                ..tacit::Serving::new(&self.protocol, AT_ONCE)
            };
            let mut server = Server::open(&config, offers, serving)?;
            return server.serve(&mut |served: Served<'_>| served.result.map(drop).map_err(Failure::from));
        }
        let mut seat = Seat::with(config)?;
        loop {
            seat.run(&compiled, &self.protocol, &inputs, &|_, _| ())?;
        }
    }

    /// Whether the weights are no input of what is asked for.
    pub(super) fn reads(&self) -> bool {
        self.serves && self.kept
    }

    /// What clients ask for.
    pub(super) fn program(&self) -> Result<Arc<Compiled>, Failure> {
        self.compiled(self.build(self.reads()))
    }

    /// The same where the first party gives the weights: what the right answers are.
    pub(super) fn plain(&self) -> Result<Arc<Compiled>, Failure> {
        self.compiled(self.build(false))
    }

    /// Keeps a client's weights.
    fn keeper(&self) -> Result<Arc<Compiled>, Failure> {
        let keeper = || {
            let mut build = Builder::new();
            let weights = build.input(OPEN, "weights", KIND, &[self.features], range())?;
            build.keep(weights, "weights", Uses::default())?;
            build.finish()
        };
        self.compiled(keeper())
    }

    /// Has the parties keep the weights, as a client with this configuration.
    ///
    /// # Errors
    /// If they don't.
    pub(super) fn keep(&self, config: &Path) -> Result<(), Failure> {
        let keeper = self.keeper()?;
        let mut seat = Seat::open(config)?;
        seat.play(Some(OPEN.to_owned()));
        let weights = self.weights(&keeper.inputs()[0]);
        seat.run(&keeper, &self.protocol, &[Some(weights)], &|_, _| ())?;
        Ok(())
    }

    fn compiled(&self, program: Result<Program, ProgramError>) -> Result<Arc<Compiled>, Failure> {
        let program = program.map_err(Error::from)?;
        Ok(Compiled::new(program)?.for_protocol(&*protocol(&self.protocol)?)?)
    }

    /// The score of a client's row, by weights that are kept or those of the first party.
    fn build(&self, kept: bool) -> Result<Program, ProgramError> {
        let client = if self.serves { OPEN } else { CLIENT };
        let mut build = Builder::new();
        let weights = if kept {
            build.kept("weights", KIND, &[self.features], range())?
        } else {
            build.input("P0", "weights", KIND, &[self.features], range())?
        };
        let row = build.input(client, "row", KIND, &[1, self.features], range())?;
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
