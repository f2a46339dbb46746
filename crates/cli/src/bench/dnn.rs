//! `tacit bench dnn`: a neural network is asked in secret. Python makes the network, its plan and its inputs; the parties
//! read them from files.

use super::files::Files;
use super::measure::protocol;
use super::party::Bench;
use super::spec::{BenchArgs, ModelName};
use super::what::{Network, What};
use crate::context::Context;
use crate::failure::Failure;
use clap::ValueEnum;

pub(super) fn dnn(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    let network = match args.model() {
        None => Network::Squeezenet,
        Some(ModelName::Network(network)) => network,
        Some(ModelName::Linear(_)) => {
            return Err(Failure::usage("bench dnn: --model is resnet50, densenet121, squeezenet or mlp"));
        }
    };
    let rows = args.rows_or(1);
    if rows == 0 {
        return Err(Failure::usage("--rows 0 leaves nothing to measure"));
    }
    let folder =
        tempfile::tempdir().map_err(|error| Failure::aborted(format!("no temporary folder: {error}")))?;
    let name = network.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    context.front.network(&name, rows, args.quick, folder.path()).map_err(Failure::usage)?;
    let mut spec = args.spec_of(What::Dnn { network, rows }, 1)?;
    spec.files = Some(Files::in_folder(folder.path()));
    protocol(context, args, &Bench::new(spec)?)
}
