//! Programs of numbers under a protocol that has bits alone: values go in and come out as under any other.

use std::sync::Arc;
use tacit::advanced::engine::{Clear, Participants, Protocol, executor::Unobserved};
use tacit::advanced::net::{Limits, Mesh, memory};
use tacit::advanced::program::Capabilities;
use tacit::advanced::program::plan::{Domain, Form};
use tacit::program::{Builder, Data, Dtype, Modulus, Range, Recipient, Value};
use tacit::{Compiled, Endpoint, Error, Source, play, protocol};
use tacit_replicated::Replicated;
use tacit_testkit::Altered;

/// The three-party protocol without its rings.
fn bits_alone() -> Arc<dyn Protocol> {
    Arc::new(Altered::offering(&Replicated::COMPUTATIONAL, Capabilities::BITS))
}

fn value(data: Data) -> Value {
    Value { shape: vec![data.len()], data }
}

/// Everybody's outputs in a run of all endpoints.
fn run(compiled: &Arc<Compiled>, inputs: &[Value]) -> Vec<Vec<Option<Value>>> {
    let parties = ["P0", "P1", "P2"].map(str::to_owned).to_vec();
    let clients = Participants::clients_of(compiled.plan(), &parties);
    let names: Vec<String> = parties.iter().chain(&clients).cloned().collect();
    let links = memory::mesh(parties.len(), clients.len());
    let endpoint = Endpoint::new(compiled, bits_alone(), parties, clients).unwrap();
    let own = &endpoint.compiled;
    let part = |me: usize, mesh: Mesh| {
        let given = own.plan().inputs.iter().zip(inputs).enumerate();
        let given: Vec<Option<Clear>> = given
            .map(|(at, (op, value))| {
                (endpoint.participants.endpoint(op.owner) == me).then(|| own.encode(at, value).unwrap())
            })
            .collect();
        let (outputs, _) = play(&endpoint, mesh, Source::InRun, given, &mut Unobserved).unwrap();
        let outputs = outputs.iter().enumerate();
        outputs.map(|(at, clear)| clear.as_ref().map(|clear| own.decode(at, clear).unwrap())).collect()
    };
    std::thread::scope(|scope| {
        let (part, names) = (&part, &names);
        let threads: Vec<_> = links
            .into_iter()
            .enumerate()
            .map(|(me, link)| {
                let mesh = Mesh::new(Box::new(link), me, names.clone(), Limits::default());
                scope.spawn(move || part(me, mesh))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn numbers_of_every_kind_go_in_and_come_out() {
    let mut build = Builder::new();
    let ints = build.input("alice", "ints", Dtype::Int, &[3], Range::new(-9, 9)).unwrap();
    let fixed = Dtype::Fixed { frac: 4 };
    let prices = build.input("P1", "prices", fixed, &[3], Range::of_reals(0.0, 100.0, 4)).unwrap();
    let wide = Dtype::Modular(Modulus::PowerOfTwo(100));
    let wide = build.input("P2", "wide", wide, &[3], None).unwrap();
    let total = build.mul(ints, prices).unwrap();
    let square = build.mul(wide, wide).unwrap();
    let cheap = build.less(prices, ints).unwrap();
    for (node, to) in [(total, "alice"), (square, "carol"), (cheap, "P0")] {
        build.reveal(node, Recipient::Role(to.into())).unwrap();
    }
    let compiled = Compiled::new(build.finish().unwrap()).unwrap();
    let inputs = [
        value(Data::Int(vec![-9, 2, 9])),
        value(Data::Float(vec![99.9375, 1.5, 0.0])),
        value(Data::Wide(vec![1 << 99, (1 << 100) - 1, 1 << 49])),
    ];
    let expected = [
        value(Data::Float(vec![-899.4375, 3.0, 0.0])),
        value(Data::Wide(vec![0, 1, 1 << 98])),
        value(Data::Bool(vec![false, true, true])),
    ];
    let outputs = run(&compiled, &inputs);
    // Parties, then alice and carol.
    for (endpoint, output) in [(3, 0), (4, 1), (0, 2)] {
        assert_eq!(outputs[endpoint][output], Some(expected[output].clone()), "output {output}");
    }
    assert_eq!(outputs.concat().iter().flatten().count(), 3, "nobody learns what is another's");
}

#[test]
fn a_plan_is_made_once_for_what_is_offered() {
    let mut build = Builder::new();
    let a = build.input("alice", "a", Dtype::Int, &[3], Range::new(-9, 9)).unwrap();
    build.reveal(a, Recipient::All).unwrap();
    let compiled = Compiled::new(build.finish().unwrap()).unwrap().with_window(1 << 20);
    let own = compiled.for_protocol(&*bits_alone()).unwrap();
    assert!(Arc::ptr_eq(&own, &compiled.for_protocol(&*bits_alone()).unwrap()));
    assert!(Arc::ptr_eq(&own, &own.for_protocol(&*bits_alone()).unwrap()));
    assert!(Arc::ptr_eq(&compiled, &compiled.for_protocol(&*protocol("replicated").unwrap()).unwrap()));
    assert_eq!((own.hash(), own.plan().window), (compiled.hash(), 1 << 20));
    let input = &own.plan().inputs[0];
    assert_eq!(own.plan().register(input.reg).domain, Domain::Bits);
    assert_eq!(input.form, Form::Bits { width: 5, signed: true });
    let encoded = own.encode(0, &value(Data::Int(vec![-9, 0, 9]))).unwrap();
    assert_eq!(encoded.cols(), 15);
    let outside = own.encode(0, &value(Data::Int(vec![-10, 0, 9])));
    assert!(outside.unwrap_err().to_string().contains("declared range -9 to 9"));
    let other = own.encode(0, &value(Data::Bool(vec![true; 3])));
    assert!(matches!(other, Err(Error::Refused(_))));
    assert!(matches!(own.decode(1, &encoded), Err(Error::Refused(_))));
}

#[test]
fn what_is_not_offered_is_refused_before_a_run() {
    let mut build = Builder::new();
    let a = build.input("alice", "a", Dtype::Modular(Modulus::Mersenne61), &[3], None).unwrap();
    build.reveal(a, Recipient::All).unwrap();
    let compiled = Compiled::new(build.finish().unwrap()).unwrap();
    let parties = ["P0", "P1", "P2"].map(str::to_owned).to_vec();
    let refused = Endpoint::new(&compiled, bits_alone(), parties, vec!["alice".into()]).err().unwrap();
    assert!(matches!(&refused, Error::Program(_)));
    assert!(refused.to_string().contains("modulo a prime"), "{refused}");
}
