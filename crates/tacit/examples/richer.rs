//! A program with all its parties in this process, and what it would cost on a network.
//!
//!     cargo run --release --example richer

use tacit::program::{Builder, Data, Dtype, Range, Recipient, Value};
use tacit::{Compiled, Local, price};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // How many of alice's numbers are larger than bob's? Both learn that, and nobody learns a number.
    let mut build = Builder::new();
    let range = Range::new(0, 1_000_000);
    let a = build.input("alice", "a", Dtype::Int, &[3], range)?;
    let b = build.input("bob", "b", Dtype::Int, &[3], range)?;
    let larger = build.greater(a, b)?;
    let count = build.sum(larger, None, false)?;
    build.reveal(count, Recipient::All)?;
    let compiled = Compiled::new(build.finish()?)?;

    let local = Local::new("replicated")?;
    println!("{:?}", price(&compiled, &local.protocol, &local.parties)?.total);

    let numbers = |numbers: [i64; 3]| Value { shape: vec![3], data: Data::Int(numbers.to_vec()) };
    let run = local.run(&compiled, &[numbers([1, 5, 9]), numbers([2, 4, 8])], &|_, _| ())?;
    println!("{:?}", run.outputs[0]);
    assert_eq!(run.outputs[0].as_ref().map(|value| &value.data), Some(&Data::Int(vec![2])));
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
