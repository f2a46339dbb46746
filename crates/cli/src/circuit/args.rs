//! What can be said of a circuit's run.

use crate::args::{AnyProtocolArgs, WaitArgs, WindowArgs};
use crate::circuit::form::Form;
use crate::circuit::values::Given;
use crate::failure::Failure;
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use tacit::circuit::Circuit;

/// The most instances of one run: the bytes of any of them still fit in 64 bits.
const MAX_INSTANCES: u64 = 1 << 40;

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(group(ArgGroup::new("what").required(true).multiple(true).args(["config", "simulate", "cost", "list"])))]
pub(crate) struct CircuitArgs {
    /// A circuit's file in Bristol Fashion or the older Bristol format, or a name that --list shows
    #[arg(value_name = "FILE", required_unless_present = "list", conflicts_with = "list")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) protocol: AnyProtocolArgs,
    /// Run as the party or client whose configuration this is; with --cost, reckon with its parties and its window
    #[arg(long, value_name = "parties.toml", conflicts_with_all = ["simulate", "list"])]
    pub(crate) config: Option<PathBuf>,
    /// Run all parties and clients in this process; N parties, or as many as the protocol is for
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = crate::args::ALL,
        value_parser = crate::args::number_of_parties, conflicts_with_all = ["cost", "list"])]
    pub(crate) simulate: Option<usize>,
    /// Say what a run will cost; nothing is run
    #[arg(long, conflicts_with_all = ["list", "inputs", "verbose"])]
    pub(crate) cost: bool,
    /// Print the circuits that have names: bits of inputs and outputs, ANDs, depth
    #[arg(long)]
    list: bool,
    /// The value of input I: one for all instances (see --once), a number in hex whose bit j, from the least significant, is
    /// the input's j-th wire: of bytes the last comes first. Or @FILE, with a line for each instance
    #[arg(long = "input", value_name = "I=VALUE", value_parser = numbered)]
    inputs: Vec<(usize, String)>,
    /// Input I has one value for all instances, which is shared once and not for each of them. Everybody has to say the
    /// same; a simulation sees it by itself
    #[arg(long, value_name = "I", value_delimiter = ',')]
    once: Vec<usize>,
    /// Who gives input I: a party or a client. If not said, the party of number I modulo the number of parties
    #[arg(long = "owner", value_name = "I=NAME", value_parser = numbered)]
    owners: Vec<(usize, String)>,
    /// How many instances there are; needed in a deployment where no file of one's own tells
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_INSTANCES))]
    pub(crate) count: Option<u64>,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// Take and print values as 0s and 1s in the order of the wires
    #[arg(long)]
    bits: bool,
    /// The network that --cost reckons with: lan, wan, ROUND-TRIP,BANDWIDTH such as 20ms,1gbit, or a file with a
    /// value for each pair. If not said: times for lan, and roles as in a simulation
    #[arg(long, value_name = "PROFILE")]
    pub(crate) net: Option<String>,
    /// Say what was sent, in how many rounds and how long it took
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl CircuitArgs {
    /// How values are written.
    pub(crate) fn form(&self) -> Form {
        if self.bits { Form::Bits } else { Form::Hex }
    }

    /// Who gives each input.
    pub(crate) fn owners(&self, inputs: usize, parties: &[String]) -> Result<Vec<String>, Failure> {
        let named = by_number("--owner", &self.owners, inputs)?;
        let owner = |(input, name): (usize, Option<&String>)| {
            name.or_else(|| parties.get(input % parties.len().max(1))).cloned().unwrap_or_default()
        };
        Ok(named.into_iter().enumerate().map(owner).collect())
    }

    /// Which inputs have one value for all instances, as far as that is said.
    pub(crate) fn once(&self, inputs: usize) -> Result<Vec<bool>, Failure> {
        let mut once = vec![false; inputs];
        for &input in &self.once {
            let slot = once.get_mut(input).ok_or_else(|| {
                Failure::usage(format!("--once {input}: the circuit has {inputs} inputs, counted from 0"))
            })?;
            *slot = true;
        }
        Ok(once)
    }

    /// What is given here, input by input; files are read through, and every line of them is one of the input's
    /// values.
    pub(crate) fn given(&self, circuit: &Circuit) -> Result<Vec<Option<Given>>, Failure> {
        let texts = by_number("--input", &self.inputs, circuit.inputs().len())?;
        let texts = texts.into_iter().zip(circuit.inputs()).enumerate();
        texts
            .map(|(input, (text, &width))| {
                text.map(|text| Given::new(text, self.form(), width as usize))
                    .transpose()
                    .map_err(|why| Failure::input(format!("input {input}: {why}")))
            })
            .collect()
    }
}

/// What an option says of each input.
fn by_number<'a>(
    option: &str,
    said: &'a [(usize, String)],
    inputs: usize,
) -> Result<Vec<Option<&'a String>>, Failure> {
    let mut texts = vec![None; inputs];
    for (input, text) in said {
        let slot = texts.get_mut(*input).ok_or_else(|| {
            Failure::usage(format!("{option} {input}=...: the circuit has {inputs} inputs, counted from 0"))
        })?;
        if slot.replace(text).is_some() {
            return Err(Failure::usage(format!("{option} {input}=... is given twice")));
        }
    }
    Ok(texts)
}

/// `I=text`.
fn numbered(text: &str) -> Result<(usize, String), String> {
    match text.split_once('=') {
        Some((input, text)) if !text.is_empty() => match input.parse() {
            Ok(input) => Ok((input, text.to_owned())),
            Err(_) => Err(format!("{input:?} is no number of an input; they are counted from 0")),
        },
        Some((_, "")) => Err("nothing stands after =".to_owned()),
        _ => Err("the number of an input stands before =, from 0 on".to_owned()),
    }
}
