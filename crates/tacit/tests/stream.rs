//! Streams: one program on part after part.

use std::sync::Arc;
use tacit::advanced::engine::Clear;
use tacit::advanced::program::plan::Domain;
use tacit::circuit::arith::{Style, circuits};
use tacit::program::{Builder, Data, Dtype, Range, Recipient, Value};
use tacit::{Compiled, Error, Feed, Local, Stream, protocol};

/// Bits of a number.
const WIDTH: usize = 9;

/// Sums of a number of `P1`'s and one of the client `alice`'s.
fn sums(instances: usize) -> Arc<Compiled> {
    let circuit = Arc::new(circuits::add(Style::Small, WIDTH as u32));
    let mut builder = Builder::new();
    let inputs = [("P1", "a"), ("alice", "b")]
        .map(|(owner, name)| builder.input(owner, name, Dtype::Bool, &[instances, WIDTH], None).unwrap());
    for output in builder.circuit(&circuit, &inputs).unwrap() {
        builder.reveal(output, Recipient::All).unwrap();
    }
    Compiled::new(builder.finish().unwrap()).unwrap()
}

/// Instances of a part.
const PART: usize = 65;

fn stream(times: u64, rest: usize) -> Stream {
    let instances = PART as u64 * times + rest as u64;
    Stream { part: sums(PART), times, rest: (rest > 0).then(|| sums(rest)), instances }
}

/// Gives number `factor * i` for instance `i`, and keeps what comes out.
struct Numbers {
    /// The input, if this endpoint has one.
    input: Option<(usize, u64)>,
    instances: usize,
    learnt: Vec<u64>,
    fails_at: Option<u64>,
}

impl Numbers {
    fn new(input: Option<(usize, u64)>, instances: usize) -> Self {
        Self { input, instances, learnt: Vec::new(), fails_at: None }
    }
}

impl Feed for Numbers {
    fn inputs(&mut self, part: u64) -> Result<Vec<Option<Clear>>, Error> {
        let Some((input, factor)) = self.input else { return Ok(vec![None, None]) };
        if self.fails_at == Some(part) {
            return Err(Error::Feed("the well is dry".to_owned()));
        }
        let first = part as usize * PART;
        let numbers = (first..self.instances.min(first + PART)).map(|i| factor * i as u64);
        let bits: Vec<u64> =
            numbers.flat_map(|number| (0..WIDTH).map(move |bit| number >> bit & 1)).collect();
        let mut inputs = vec![None, None];
        inputs[input] = Some(Clear::from_words(Domain::Bits, &bits));
        Ok(inputs)
    }

    fn outputs(&mut self, _part: u64, outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        let bits = outputs[0].as_ref().map(Clear::to_words).unwrap_or_default();
        let number = |bits: &[u64]| bits.iter().rev().fold(0, |number, bit| 2 * number + bit);
        self.learnt.extend(bits.chunks_exact(WIDTH).map(number));
        Ok(())
    }
}

fn feeds(instances: usize) -> [Numbers; 4] {
    [None, Some((0, 3)), None, Some((1, 7))].map(|input| Numbers::new(input, instances))
}

fn played(stream: &Stream, feeds: &mut [Numbers; 4]) -> Result<tacit::Report, Error> {
    let feeds = feeds.iter_mut().map(|feed| feed as &mut (dyn Feed + Send)).collect();
    Local::new("replicated").unwrap().stream(stream, feeds)
}

#[test]
fn a_stream_computes_every_instance_in_order_and_costs_what_it_says() {
    for (times, rest) in [(1, 0), (1, 1), (3, 0), (3, 64)] {
        let (stream, instances) = (stream(times, rest), times as usize * PART + rest);
        let mut feeds = feeds(instances);
        let report = played(&stream, &mut feeds).unwrap();
        let expected: Vec<u64> = (0..instances as u64).map(|i| 10 * i % (1 << WIDTH)).collect();
        assert!(feeds.iter().all(|feed| feed.learnt == expected));
        let local = Local::new("replicated").unwrap();
        let cost = stream.price("replicated", &local.parties, 1).unwrap();
        assert_eq!(report.endpoints.len(), 4);
        for (endpoint, (name, traffic)) in report.endpoints.iter().enumerate() {
            assert_eq!(traffic.payload(), cost.sent_by(endpoint), "{name}, {times} times and {rest}");
        }
        assert_eq!(report.rounds, cost.phase(tacit::program::Phase::Online).rounds);
    }
}

/// Products of both parties' numbers.
fn products(instances: usize) -> Arc<Compiled> {
    let mut build = Builder::new();
    let range = Range::new(0, 3);
    let [a, b] =
        ["P0", "P1"].map(|owner| build.input(owner, owner, Dtype::Int, &[instances], range).unwrap());
    let product = build.mul(a, b).unwrap();
    build.reveal(product, Recipient::All).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// Gives threes for one of two inputs.
struct Threes<'a> {
    stream: &'a Stream,
    protocol: &'a str,
    input: usize,
}

impl Feed for Threes<'_> {
    fn inputs(&mut self, part: u64) -> Result<Vec<Option<Clear>>, Error> {
        let rest = self.stream.rest.as_ref().filter(|_| part >= self.stream.times);
        let compiled = rest.unwrap_or(&self.stream.part).for_protocol(&*protocol(self.protocol)?)?;
        let shape = compiled.inputs()[self.input].shape.clone();
        let threes = Value { data: Data::Int(vec![3; shape[0]]), shape };
        let mut inputs = vec![None, None];
        inputs[self.input] = Some(compiled.encode(self.input, &threes)?);
        Ok(inputs)
    }

    fn outputs(&mut self, _part: u64, _outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        Ok(())
    }
}

/// Base OTs and keys of MACs are made in the first part, and stay.
#[test]
fn what_is_made_once_in_a_stream_is_priced_once() {
    for name in ["gmw", "mascot"] {
        let stream = Stream { part: products(5), times: 3, rest: Some(products(2)), instances: 17 };
        let local = Local::new(name).unwrap();
        let mut feeds = [0, 1].map(|input| Threes { stream: &stream, protocol: name, input });
        let feeds = feeds.iter_mut().map(|feed| feed as &mut (dyn Feed + Send)).collect();
        let report = local.stream(&stream, feeds).unwrap();
        let cost = stream.price(name, &local.parties, 1).unwrap();
        for (endpoint, (party, traffic)) in report.endpoints.iter().enumerate() {
            assert_eq!(traffic.payload(), cost.sent_by(endpoint), "{name}, {party}");
        }
        let alone = |compiled| tacit::price(compiled, name, &local.parties).unwrap().total.sent_by(0);
        assert!(cost.sent_by(0) < 3 * alone(&stream.part) + alone(&products(2)), "{name}");
    }
}

#[test]
fn a_feed_that_fails_ends_the_run_for_all_and_says_why() {
    for endpoint in [1, 3] {
        let mut feeds = feeds(3 * PART);
        feeds[endpoint].fails_at = Some(1);
        let error = played(&stream(3, 0), &mut feeds).unwrap_err();
        assert!(error.is_abort() && error.to_string().contains("the well is dry"), "{error}");
        assert!(feeds.iter().all(|feed| feed.learnt.len() <= PART));
    }
}

#[test]
fn a_debug_program_is_refused() {
    let part = Compiled::debug(sums(PART).program().clone()).unwrap();
    let error = played(&Stream { part, times: 1, rest: None, instances: 1 }, &mut feeds(PART)).unwrap_err();
    assert!(error.to_string().contains("debug"), "{error}");
}
