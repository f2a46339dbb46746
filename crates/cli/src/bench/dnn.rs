//! `tacit bench dnn`: a neural network is asked in secret. Python makes the network, its plans and its inputs; the parties
//! read them from files.

mod paper;

use super::files::Folder;
use super::measure::protocol;
use super::names::ModelName;
use super::party::Bench;
use super::spec::BenchArgs;
use super::workload::{Network, Workload};
use crate::context::Context;
use crate::failure::Failure;

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
    if args.experiment.paper {
        return paper::paper(context, args, args.model().map(|_| network));
    }
    let what = Workload::Dnn { network, rows, weights: args.weights() };
    let folder = Folder::new(context, what, args.quick, args.seed())?;
    let mut spec = args.spec_of(what, 1)?;
    spec.files = Some(folder.files());
    protocol(context, args, &Bench::new(spec)?)
}
