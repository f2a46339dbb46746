//! Whole runs in one process.

use tacit::program::{Builder, Data, Kind, Range, Recipient, Value};
use tacit::{Compiled, Local};

#[test]
fn whose_numbers_are_larger_and_by_how_much() {
    let mut builder = Builder::new();
    let kind = Kind::Fixed { frac: 16 };
    let range = Range::of_reals(0.0, 1e6, 16).unwrap();
    let a = builder.input("alice", "a", kind, &[1000], Some(range)).unwrap();
    let b = builder.input("bob", "b", kind, &[1000], Some(range)).unwrap();
    let larger = builder.greater(a, b).unwrap();
    let count = builder.sum(larger, None, false).unwrap();
    let difference = builder.sub(a, b).unwrap();
    let total = builder.sum(difference, None, false).unwrap();
    let best = builder.argmax(a, None, false).unwrap();
    let small = builder.relu(difference).unwrap();
    let eighth = builder.rescale(small, 9).unwrap();
    builder.reveal(count, Recipient::All).unwrap();
    builder.reveal(total, Recipient::Role("alice".into())).unwrap();
    builder.reveal(best, Recipient::Role("bob".into())).unwrap();
    builder.reveal(eighth, Recipient::Role("bob".into())).unwrap();
    let compiled = Compiled::new(builder.finish().unwrap()).unwrap();
    let of = |seed: u64| {
        let data: Vec<f64> =
            (0..1000).map(|i| ((i * 7919 + seed * 104_729) % 1_000_003) as f64 * 0.99).collect();
        Value { shape: vec![1000], data: Data::Float(data) }
    };
    let (x, y) = (of(1), of(12));
    let run = Local::new("replicated").unwrap().run(&compiled, &[x.clone(), y.clone()], &|_, _| {}).unwrap();
    let words: Vec<Vec<u64>> = compiled
        .inputs()
        .iter()
        .zip([&x, &y])
        .map(|(declared, value)| tacit::program::encode(declared, value).unwrap())
        .collect();
    let (Data::Float(x), Data::Float(y)) = (x.data, y.data) else { unreachable!() };
    let larger = x.iter().zip(&y).filter(|(x, y)| x > y).count() as i64;
    assert_eq!(run.outputs[0].as_ref().unwrap().data, Data::Int(vec![larger]));
    let Data::Float(total) = &run.outputs[1].as_ref().unwrap().data else { panic!("fixed-point output") };
    let expected: f64 = x.iter().zip(&y).map(|(x, y)| x - y).sum();
    assert!((total[0] - expected).abs() < 0.1);
    let truth = tacit::program::reference::run(compiled.program(), &words).unwrap();
    for (got, expected) in run.outputs.iter().zip(&truth) {
        assert_eq!(got.as_ref(), Some(expected));
    }
}
