//! What a client sends and gets in runs, as vectors: a client's half without I/O makes the same of it, here and in JavaScript
//! (`crates/client-js/js/test.mjs`). With `TACIT_BASELINE=write` in the environment the files are written anew.

use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;
use tacit::program::{Builder, Dtype, Modulus, Range, Recipient};
use tacit::{Compiled, Protocol};
use tacit_client::components::{Binding, component_digest};
use tacit_client::vector::row;
use tacit_client::wire::vector_of;
use tacit_engine::{Clear, wire};
use tacit_program::plan::{Domain, Plan, To, Width};
use tacit_replicated::step;
use tacit_testkit::{Case, Delivery, Draws};

/// The client's number, behind three parties.
const ALICE: usize = 3;

/// A part of an output's component, and a digest of it, as [`tacit_session::step`]s of three parties number them.
const OUTPUT_DIGEST: u16 = 0x201;

/// Alice learns products of her numbers with those of a party, and which of hers are negative.
fn program() -> Arc<Compiled> {
    let mut build = Builder::new();
    let small = Range::new(-1000, 1000);
    let x = build.input("alice", "x", Dtype::Int, &[5], small).unwrap();
    let y = build.input("P0", "y", Dtype::Int, &[5], small).unwrap();
    let flags = build.input("alice", "flags", Dtype::Bool, &[5], None).unwrap();
    let product = build.mul(x, y).unwrap();
    let less = build.less(x, y).unwrap();
    let both = build.and(less, flags).unwrap();
    for output in [product, both] {
        build.reveal(output, Recipient::Role("alice".into())).unwrap();
    }
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// All learn sums of Alice's numbers and a party's: numbers that are only added need not be shown to be in their range.
fn sums() -> Arc<Compiled> {
    let mut build = Builder::new();
    let small = Range::new(-1000, 1000);
    let x = build.input("alice", "x", Dtype::Int, &[5], small).unwrap();
    let y = build.input("P0", "y", Dtype::Int, &[5], small).unwrap();
    let sum = build.add(x, y).unwrap();
    build.reveal(sum, Recipient::All).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from_digit(digit.into(), 16);
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(digit).collect()
}

fn kind(domain: Domain) -> &'static str {
    match domain {
        Domain::Bits => "bits",
        Domain::Ring(Width::W8) => "ring8",
        Domain::Ring(Width::W16) => "ring16",
        Domain::Ring(Width::W32) => "ring32",
        Domain::Ring(Width::W64) => "ring64",
        Domain::Modular(Modulus::Prime128) => "prime128",
        Domain::Modular(_) => panic!("no such register here"),
    }
}

/// Elements as numbers without sign.
fn decimal(values: &Clear) -> Vec<String> {
    let number = |limbs: &[u64]| limbs.iter().rev().fold(0, |high, &low| high << 64 | u128::from(low));
    values.to_words().chunks(values.domain().limbs()).map(|limbs| number(limbs).to_string()).collect()
}

fn call(request: &Json) -> Json {
    serde_json::from_str(&tacit_client_js::call(&request.to_string())).unwrap()
}

/// The messages of one sender or receiver at an address, in order.
fn messages(trace: &[Delivery], is_it: impl Fn(&&Delivery) -> bool) -> Vec<Vec<u8>> {
    let mut all: Vec<&Delivery> = trace.iter().filter(is_it).collect();
    all.sort_by_key(|delivery| delivery.at.batch);
    all.into_iter().map(|delivery| delivery.payload.clone()).collect()
}

/// How an input was shared: the request, and what was sent. Which seed is for which component the messages tell.
fn shared(trace: &[Delivery], plan: &Plan, input: u32, values: &Clear) -> Json {
    let shape = plan.register(plan.inputs[input as usize].reg);
    let is_seed = |delivery: &&Delivery| {
        delivery.at.part == step::SEED && [delivery.from, delivery.to].contains(&ALICE)
    };
    let seeds = trace.iter().filter(is_seed).flat_map(|delivery| delivery.payload.chunks(16).map(hex));
    // Not as they came: threads decide that.
    let mut seeds: Vec<String> = seeds.collect();
    seeds.sort();
    let is_input = |to: usize| {
        move |delivery: &&Delivery| {
            (delivery.from, delivery.to, delivery.at.part, delivery.at.op) == (ALICE, to, step::INPUT, input)
        }
    };
    let sent: Vec<_> =
        (0..ALICE).map(|to| messages(trace, is_input(to))).filter(|all| !all.is_empty()).collect();
    assert!(sent.len() == 2 && sent[0] == sent[1], "the third component goes to its two holders alike");
    let sent = json!({"messages": sent[0].iter().map(|message| hex(message)).collect::<Vec<_>>()});
    let pairs = seeds.iter().flat_map(|one| seeds.iter().map(move |other| [one, other]));
    let request = |seeds: [&String; 2]| {
        json!({
            "do": "share", "input": input, "seeds": seeds, "lane": 0, "of": kind(shape.domain),
            "values": decimal(values)
        })
    };
    let request = pairs.map(request).find(|request| call(request) == sent);
    json!({"request": request.expect("two seeds give what was sent"), "answer": sent})
}

/// How an input was shared of which all parties but the first have a stream's share: the request, and what that one was sent.
fn shared_additively(trace: &[Delivery], plan: &Plan, input: u32, values: &Clear) -> Json {
    let shape = plan.register(plan.inputs[input as usize].reg);
    let of = |from: usize, to: usize, part: u16| {
        messages(trace, move |delivery| (delivery.from, delivery.to, delivery.at.part) == (from, to, part))
    };
    let id: [u8; 32] = of(0, ALICE, step::CONFIRM)[0].clone().try_into().unwrap();
    let key = |party: usize| {
        let [low, high] = [(party, ALICE), (ALICE, party)].map(|(from, to)| of(from, to, step::HELLO));
        hex(&tacit_session::key_of_first_messages(&id, &low[0], &high[0]).unwrap())
    };
    let sent = |to: usize| {
        let is_it = move |delivery: &&Delivery| {
            (delivery.from, delivery.to, delivery.at.part, delivery.at.op) == (ALICE, to, step::INPUT, input)
        };
        messages(trace, is_it)
    };
    assert!((1..ALICE).all(|party| sent(party).is_empty()), "others have their shares by their streams");
    let sent = json!({"messages": sent(0).iter().map(|message| hex(message)).collect::<Vec<_>>()});
    let keys: Vec<String> = (1..ALICE).map(key).collect();
    let request = json!({
        "do": "share-additive", "input": input, "keys": keys, "lane": 0, "of": kind(shape.domain),
        "values": decimal(values)
    });
    assert_eq!(call(&request), sent);
    json!({"request": request, "answer": sent})
}

/// What each party sent of an input, or of an output.
fn parts(trace: &[Delivery], part: u16, op: u32) -> Vec<Vec<String>> {
    let from = |party: usize| {
        let is_it = move |delivery: &&Delivery| {
            (delivery.from, delivery.to, delivery.at.part, delivery.at.op) == (party, ALICE, part, op)
        };
        messages(trace, is_it).iter().map(|message| hex(message)).collect()
    };
    (0..ALICE).map(from).collect()
}

/// How an input was shared under a mask: the request, and what all parties were sent.
fn shared_masked(trace: &[Delivery], plan: &Plan, input: u32, values: &Clear) -> Json {
    let declared = &plan.inputs[input as usize];
    let sent = |to: usize| {
        let is_it = move |delivery: &&Delivery| {
            (delivery.from, delivery.to, delivery.at.part, delivery.at.op) == (ALICE, to, step::INPUT, input)
        };
        messages(trace, is_it)
    };
    assert!((1..ALICE).all(|party| sent(party) == sent(0)), "all parties are told the same");
    let sent = json!({"messages": sent(0).iter().map(|message| hex(message)).collect::<Vec<_>>()});
    let mut request = json!({
        "do": "share-masked", "input": input, "of": kind(plan.register(declared.reg).domain),
        "values": decimal(values), "parts": parts(trace, step::INPUT, input)
    });
    if let Some(range) = plan.proved_range(declared) {
        request["range"] = json!([range.lo().to_string(), range.hi().to_string()]);
    }
    assert_eq!(call(&request), sent);
    json!({"request": request, "answer": sent})
}

/// How an output that all parties say alike was opened: the request, and what came out.
fn opened_checked(trace: &[Delivery], plan: &Plan, output: u32, _: &str, learnt: &Clear) -> Json {
    let (declared, shape) =
        (&plan.outputs[output as usize], plan.register(plan.outputs[output as usize].reg));
    let request = json!({
        "do": "open-checked", "of": kind(shape.domain), "count": shape.cols,
        "alone": matches!(declared.to, To::One(_)), "parts": parts(trace, step::OUTPUT, output)
    });
    let answer = json!({"values": decimal(learnt)});
    assert_eq!(call(&request), answer);
    json!({"request": request, "answer": answer})
}

/// How an output was opened: the request, and what came out.
fn opened(trace: &[Delivery], plan: &Plan, output: u32, family: &str, learnt: &Clear) -> Json {
    let shape = plan.register(plan.outputs[output as usize].reg);
    let of = |part: u16| {
        let is_it = move |from: usize| {
            move |delivery: &&Delivery| {
                (delivery.from, delivery.to, delivery.at.part, delivery.at.op) == (from, ALICE, part, output)
            }
        };
        (0..ALICE).map(move |from| (from, messages(trace, is_it(from)))).filter(|(_, all)| !all.is_empty())
    };
    let parts: Vec<(usize, Vec<Vec<u8>>)> = of(step::OUTPUT).collect();
    let texts = |messages: &Vec<Vec<u8>>| messages.iter().map(|message| hex(message)).collect::<Vec<_>>();
    let texts: Vec<Vec<String>> = parts.iter().map(|(_, messages)| texts(messages)).collect();
    let (count, elements) = (shape.cols, kind(shape.domain));
    let digests: Vec<(usize, Vec<Vec<u8>>)> = of(OUTPUT_DIGEST).collect();
    let request = if digests.is_empty() {
        json!({"do": "open", "of": elements, "count": count, "parts": texts})
    } else {
        let is_id = |delivery: &&Delivery| delivery.at.part == step::CONFIRM && delivery.to == ALICE;
        let session: [u8; 32] = trace.iter().find(is_id).unwrap().payload.clone().try_into().unwrap();
        let binding = Binding { family, session: &session, plan: 0 };
        // Which digest is of which component they say themselves.
        let confirmation = |(_, part): &(usize, Vec<Vec<u8>>)| {
            let part = vector_of(row(shape.domain, shape.cols), part).unwrap();
            let digest = component_digest(binding, output, shape, &part);
            let its = |(_, message): &&(usize, Vec<Vec<u8>>)| message[0][32..] == digest;
            let (party, message) = digests.iter().find(its).expect("each component is confirmed");
            json!({"party": party, "message": hex(&message[0])})
        };
        let confirmations: Vec<Json> = parts.iter().map(confirmation).collect();
        json!({
            "do": "open-confirmed", "family": family, "session": hex(&session), "plan": 0, "output": output,
            "of": elements, "count": count, "parts": texts, "confirmations": confirmations
        })
    };
    let answer = json!({"values": decimal(learnt)});
    assert_eq!(call(&request), answer);
    if let Some(confirmations) = request["confirmations"].as_array() {
        let of = |confirmations: &[&Json], parts: &[Vec<String>]| {
            let mut request = request.clone();
            (request["confirmations"], request["parts"]) = (json!(confirmations), json!(parts));
            call(&request)["error"].to_string()
        };
        let [a, b, c] = [0, 1, 2].map(|at| &confirmations[at]);
        let whole = "three components, each confirmed by another party";
        assert!(of(&[], &[]).contains(whole) && of(&[a, b], &texts[..2]).contains(whole));
        assert!(of(&[a, a, c], &texts).contains(whole));
        assert_ne!(of(&[b, a, c], &texts), "null", "components are confirmed in each other's place");
    }
    json!({"request": request, "answer": answer})
}

/// The numbers of a program's inputs.
fn numbers(numbers: [i64; 5]) -> Vec<u64> {
    numbers.map(|number| number as u64).to_vec()
}

/// A program's run of a protocol of three parties: how Alice's inputs were shared, and what she learnt was opened.
fn run(
    (name, family): (&str, &str),
    program: &Arc<Compiled>,
    inputs: &[Vec<u64>],
    alices: &[u32],
) -> [Vec<Json>; 2] {
    let protocol: &'static Arc<dyn Protocol> = Box::leak(Box::new(tacit::protocol(name).unwrap()));
    let plan = program.for_protocol(&**protocol).unwrap().plan().as_ref().clone();
    let case = Case::new(&**protocol, 3, plan, inputs);
    let run = case.run(&Draws::fixed(1));
    let outcomes = run.outcomes();
    let trace = run.trace.deliveries();
    let (shared, opened): (Shared, Opened) = match name {
        "gmw" => (shared_additively, opened),
        "mascot" => (shared_masked, opened_checked),
        _ => (shared, opened),
    };
    let share = |&input: &u32| shared(trace, &case.plan, input, &case.inputs[input as usize]);
    let open = |output: u32| {
        let learnt = outcomes[ALICE].outputs[output as usize].as_ref().unwrap();
        opened(trace, &case.plan, output, family, learnt)
    };
    [alices.iter().map(share).collect(), (0..case.plan.outputs.len() as u32).map(open).collect()]
}

/// How an input was shared, of a run's messages.
type Shared = fn(&[Delivery], &Plan, u32, &Clear) -> Json;

/// How an output was opened, of a run's messages and the protocol's family.
type Opened = fn(&[Delivery], &Plan, u32, &str, &Clear) -> Json;

#[test]
fn a_clients_half_without_io_makes_the_bytes_of_a_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/client");
    for (name, family) in [
        ("replicated", "replicated"),
        ("replicated-malicious", "replicated"),
        ("astra", "astra"),
        ("astra-malicious", "astra"),
        ("gmw", "gmw"),
        ("mascot", "mascot"),
    ] {
        let [x, y] = [numbers([-1000, -1, 0, 7, 1000]), numbers([3, -5, 6, 7, -8])];
        let inputs = [x.clone(), y.clone(), vec![1, 0, 1, 1, 1]];
        let [mut shares, mut opens] = run((name, family), &program(), &inputs, &[0, 2]);
        if name == "mascot" {
            let [more_shares, more_opens] = run((name, family), &sums(), &[x, y], &[0]);
            shares.extend(more_shares);
            opens.extend(more_opens);
        }
        let vector = json!({"protocol": name, "shares": shares, "opens": opens});
        let text = serde_json::to_string_pretty(&vector).unwrap() + "\n";
        let path = folder.join(format!("{name}.json"));
        if std::env::var("TACIT_BASELINE").is_ok_and(|value| value == "write") {
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            kept,
            text,
            "other bytes than {} says; TACIT_BASELINE=write writes it anew",
            path.display()
        );
    }
    // What pieces are is the same at both ends.
    assert_eq!(wire::columns_per_message(64), 8192);
}
