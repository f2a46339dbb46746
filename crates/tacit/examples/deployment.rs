//! Three servers and a client over mutual TLS: here each in a thread on loopback, elsewhere each on its own machine with its
//! own folder.
//!
//!     cargo run --release --example deployment

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use tacit::program::{Builder, Data, Dtype, Range, Recipient, Value};
use tacit::setup;
use tacit::{Compiled, Seat};

const PROTOCOL: &str = "replicated-malicious";

/// The sum of the squares of four numbers of alice's, which nobody but alice learns.
fn program() -> Result<Arc<Compiled>, Box<dyn Error + Send + Sync>> {
    let mut build = Builder::new();
    let x =
        build.input("alice", "x", Dtype::Fixed { frac: 16 }, &[4], Range::new(-(100 << 16), 100 << 16))?;
    let squares = build.mul(x, x)?;
    let sum = build.sum(squares, None, false)?;
    build.reveal(sum, Recipient::Role("alice".into()))?;
    Ok(Compiled::new(build.finish()?)?)
}

/// One endpoint's part, with the values that it gives: what it learns.
fn take_part(config: &Path, given: Option<Value>) -> Result<Option<Value>, Box<dyn Error + Send + Sync>> {
    let mut seat = Seat::open(config)?;
    let run = seat.run(&program()?, PROTOCOL, &[given], &|_, _| ())?;
    Ok(run.outputs.into_iter().next().flatten())
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let configs = setup::init(folder.path(), 3, &["alice".to_owned()], "127.0.0.1", 9790)?;
    let numbers = Value { shape: vec![4], data: Data::Float(vec![1.0, -2.5, 3.0, 4.0]) };
    let learnt: Vec<_> = thread::scope(|scope| {
        let given = [None, None, None, Some(numbers)];
        let running: Vec<_> = configs
            .iter()
            .zip(given)
            .map(|(config, given)| scope.spawn(move || take_part(config, given)))
            .collect();
        running.into_iter().map(|endpoint| endpoint.join().expect("no endpoint panics")).collect()
    });
    for (config, learnt) in configs.iter().zip(learnt) {
        println!("{}: {:?}", config.display(), learnt?);
    }
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
