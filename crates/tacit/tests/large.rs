//! More data than links hold.

use std::time::Duration;
use tacit::advanced::engine::{Participants, executor::Unobserved};
use tacit::advanced::net::{Limits, Mesh, memory};
use tacit::program::{Builder, Data, Dtype, NodeId, Range, Recipient, Value};
use tacit::{Compiled, Endpoint, Source, play, protocol};

/// Every party gives `len` numbers; `make` makes the program of them. Everybody has to end well.
fn check(len: usize, make: impl Fn(&mut Builder, &[NodeId])) {
    let limits = Limits { inbox: 40 << 20, silence: Duration::from_secs(15), ..Limits::default() };
    let parties = ["P0", "P1", "P2"].map(str::to_owned).to_vec();
    let mut builder = Builder::new();
    let range = Range::new(-(1 << 50), 1 << 50);
    let inputs: Vec<NodeId> =
        parties.iter().map(|name| builder.input(name, "x", Dtype::Int, &[len], range).unwrap()).collect();
    make(&mut builder, &inputs);
    let compiled = Compiled::new(builder.finish().unwrap()).unwrap();
    let clients = Participants::clients_of(compiled.plan(), &parties);
    let names: Vec<String> = parties.iter().chain(&clients).cloned().collect();
    let links = memory::mesh(3, clients.len());
    let protocol = protocol("replicated").unwrap();
    let endpoint = Endpoint::new(&compiled, protocol, parties, clients).unwrap();
    std::thread::scope(|scope| {
        for (me, transport) in links.into_iter().enumerate() {
            let mesh = Mesh::new(Box::new(transport), me, names.clone(), limits.clone());
            let endpoint = &endpoint;
            scope.spawn(move || {
                let value = Value { shape: vec![len], data: Data::Int((0..len as i64).collect()) };
                let inputs = [0, 1, 2]
                    .map(|input| (input == me).then(|| endpoint.compiled.encode(input, &value).unwrap()));
                play(endpoint, mesh, Source::InRun, inputs.to_vec(), &mut Unobserved).unwrap();
            });
        }
    });
}

#[test]
#[ignore = "takes a gigabyte of memory and some ten seconds; `make test-long` runs it"]
fn all_parties_give_more_than_an_inbox_holds() {
    check(7_000_000, |builder, inputs| {
        for &input in inputs {
            let total = builder.index(input, &[tacit::program::Index::At(0)]).unwrap();
            builder.reveal(total, Recipient::All).unwrap();
        }
    });
}

#[test]
#[ignore = "takes a gigabyte of memory and some ten seconds; `make test-long` runs it"]
fn all_parties_and_a_client_learn_more_than_an_inbox_holds() {
    check(7_000_000, |builder, inputs| {
        builder.reveal(inputs[0], Recipient::Role("P1".into())).unwrap();
        builder.reveal(inputs[1], Recipient::All).unwrap();
        builder.reveal(inputs[2], Recipient::Role("alice".into())).unwrap();
        builder.reveal(inputs[2], Recipient::All).unwrap();
    });
}
