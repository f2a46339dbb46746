//! Whole runs in one process.

use std::sync::{Arc, Mutex};
use tacit::program::Cost;
use tacit::program::{Builder, Data, Dtype, Range, Recipient, Source, Value};
use tacit::{Compiled, Endpoint, Local, protocol};

#[test]
fn whose_numbers_are_larger_and_by_how_much() {
    let mut builder = Builder::new();
    let kind = Dtype::Fixed { frac: 16 };
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
        .map(|(declared, value)| tacit::advanced::program::encode(declared, value).unwrap())
        .collect();
    let (Data::Float(x), Data::Float(y)) = (x.data, y.data) else { unreachable!() };
    let larger = x.iter().zip(&y).filter(|(x, y)| x > y).count() as i64;
    assert_eq!(run.outputs[0].as_ref().unwrap().data, Data::Int(vec![larger]));
    let Data::Float(total) = &run.outputs[1].as_ref().unwrap().data else { panic!("fixed-point output") };
    let expected: f64 = x.iter().zip(&y).map(|(x, y)| x - y).sum();
    assert!((total[0] - expected).abs() < 0.1);
    let truth = tacit::advanced::program::reference::run(compiled.program(), &words).unwrap();
    for (got, expected) in run.outputs.iter().zip(&truth) {
        assert_eq!(got.as_ref(), Some(expected));
    }
}

#[test]
fn measured_bytes_are_the_predicted_ones() {
    use tacit::advanced::net::Phase;
    let mut builder = Builder::new();
    let range = Range::new(-1000, 1000);
    let a = builder.input("alice", "a", Dtype::Int, &[77], range).unwrap();
    let b = builder.input("P1", "b", Dtype::Int, &[77], range).unwrap();
    let product = builder.mul(a, b).unwrap();
    let larger = builder.maximum(product, a).unwrap();
    builder.reveal(larger, Recipient::All).unwrap();
    let compiled = Compiled::new(builder.finish().unwrap()).unwrap();
    let local = Local::new("replicated").unwrap();
    let value = |sign: i64| Value { shape: vec![77], data: Data::Int((0..77).map(|i| sign * i).collect()) };
    let run = local.run(&compiled, &[value(3), value(-2)], &|_, _| {}).unwrap();
    let cost = tacit::price(&compiled, "replicated", &local.parties).unwrap().total;
    for phase in Phase::ALL.into_iter().skip(1) {
        for (endpoint, (name, traffic)) in run.report.endpoints.iter().enumerate() {
            assert_eq!(traffic.in_phase(phase), cost.phase(phase).sent_by(endpoint), "{name}, {phase}");
        }
    }
    assert_eq!(run.report.rounds, cost.phase(Phase::Online).rounds);
}

#[test]
fn a_debug_run_of_a_right_protocol_finds_no_difference() {
    let mut builder = Builder::new();
    let a = builder.input("alice", "a", Dtype::Int, &[5], Range::new(-9, 9)).unwrap();
    let b = builder.relu(a).unwrap();
    builder.reveal(b, Recipient::All).unwrap();
    let compiled = Compiled::debug(builder.finish().unwrap()).unwrap();
    let value = Value { shape: vec![5], data: Data::Int(vec![-9, -1, 0, 1, 9]) };
    let run = Local::new("replicated").unwrap().debug(&compiled, &[value], &|_, _| {}).unwrap();
    assert_eq!(run.outputs[0].as_ref().unwrap().data, Data::Int(vec![0, 0, 0, 1, 9]));
    assert_eq!(run.outputs.len(), 1);
}

/// A program of `len` products of alice's numbers by P1's, and its inputs.
fn products(len: usize, depth: usize) -> (Arc<Compiled>, [Value; 2], Value) {
    let mut builder = Builder::new();
    let range = Range::new(-9, 9);
    let a = builder.input("alice", "a", Dtype::Int, &[len], range).unwrap();
    let b = builder.input("P1", "b", Dtype::Int, &[len], range).unwrap();
    let product = (0..depth).fold(a, |product, _| builder.mul(product, b).unwrap());
    builder.reveal(product, Recipient::All).unwrap();
    let numbers = |factor: i64| (0..len as i64).map(|i| i * factor % 10).collect::<Vec<_>>();
    let truth = numbers(3).iter().zip(numbers(-7)).map(|(a, b)| a * b.pow(depth as u32)).collect();
    let value = |numbers| Value { shape: vec![len], data: Data::Int(numbers) };
    let inputs = [value(numbers(3)), value(numbers(-7))];
    (Compiled::new(builder.finish().unwrap()).unwrap(), inputs, value(truth))
}

/// What lanes cost that run these.
fn price_of<'a>(local: &Local, lanes: impl IntoIterator<Item = &'a Arc<Compiled>>) -> Cost {
    let endpoint = |compiled| {
        let protocol = tacit::protocol(&local.protocol).unwrap();
        Endpoint::new(compiled, protocol, local.parties.clone(), vec!["alice".into()]).unwrap()
    };
    let lanes: Vec<Endpoint> = lanes.into_iter().map(endpoint).collect();
    tacit::price_lanes(&lanes, &local.protocol).unwrap()
}

#[test]
fn lanes_have_results_of_their_own_and_costs_that_add_up() {
    let jobs = [(1, 1), (63, 3), (65, 2)].map(|(len, depth)| products(len, depth));
    let local = Local::new("replicated").unwrap();
    let lanes: Vec<_> = jobs.iter().map(|(compiled, inputs, _)| (compiled, &inputs[..])).collect();
    let told = Mutex::new((0, 0));
    let progress = |done, total| {
        let mut most = told.lock().unwrap();
        *most = (most.0.max(done), most.1.max(total));
    };
    let runs = local.run_lanes(&lanes, &progress).unwrap();
    assert_eq!(runs.len(), 3);
    let mut rounds = Vec::new();
    for ((compiled, inputs, truth), run) in jobs.iter().zip(&runs) {
        assert_eq!(run.outputs, [Some(truth.clone())]);
        let alone = local.run(compiled, inputs, &|_, _| {}).unwrap();
        let sent = |run: &tacit::Run| -> Vec<(String, u64)> {
            run.report.endpoints.iter().map(|(name, sent)| (name.clone(), sent.payload())).collect()
        };
        assert_eq!(sent(run), sent(&alone), "a lane sends what a run alone does");
        rounds.push(run.report.rounds);
    }
    assert_eq!(rounds, [1, 3, 2]);
    let all = tacit::Report::of_lanes(runs.iter().map(|run| &run.report));
    assert_eq!(all.rounds, 3);
    let cost = price_of(&local, jobs.iter().map(|(compiled, ..)| compiled));
    for (endpoint, (name, traffic)) in all.endpoints.iter().enumerate() {
        assert_eq!(traffic.payload(), cost.sent_by(endpoint), "{name}");
    }
    assert_eq!(cost.phase(tacit::program::Phase::Online).rounds, 3);
    let (done, total) = *told.lock().unwrap();
    assert_eq!((done, done), (total, 6));
}

/// Where a run promises something over all its lanes, each checks more than a run alone does.
#[test]
fn lanes_that_check_more_send_what_the_price_says() {
    let local = Local::new("astra-malicious").unwrap();
    let (compiled, inputs, truth) = products(5000, 2);
    let mut sent = Vec::new();
    for count in [1, 2, 3, 9] {
        let runs = local.run_lanes(&vec![(&compiled, &inputs[..]); count], &|_, _| {}).unwrap();
        assert!(runs.iter().all(|run| run.outputs == [Some(truth.clone())]));
        let cost = price_of(&local, vec![&compiled; count]);
        let all = tacit::Report::of_lanes(runs.iter().map(|run| &run.report));
        for (endpoint, (name, traffic)) in all.endpoints.iter().enumerate() {
            assert_eq!(traffic.payload(), cost.sent_by(endpoint), "{name} in {count} lanes");
        }
        sent.push(cost.bytes() / count as u64);
    }
    assert!(sent.is_sorted() && sent[0] < sent[3], "{sent:?} bytes a lane");
}

#[test]
fn lanes_that_do_not_go_together_are_refused() {
    let local = Local::new("replicated").unwrap();
    let (compiled, inputs, _) = products(3, 1);
    let refused = |lanes: &[(&Arc<Compiled>, &[Value])]| {
        let error = local.run_lanes(lanes, &|_, _| {}).unwrap_err();
        assert!(!error.is_abort());
        error.to_string()
    };
    assert!(refused(&[]).contains("1 to 64 lanes, not 0"));
    assert!(refused(&[(&compiled, &inputs[..]); 65]).contains("not 65"));
    let mut builder = Builder::new();
    let a = builder.input("bob", "a", Dtype::Int, &[1], Range::new(0, 9)).unwrap();
    builder.reveal(a, Recipient::All).unwrap();
    let other = Compiled::new(builder.finish().unwrap()).unwrap();
    let value = [Value { shape: vec![1], data: Data::Int(vec![1]) }];
    let reason = refused(&[(&compiled, &inputs[..]), (&other, &value[..])]);
    assert!(reason.contains("different clients: [\"alice\"] and [\"bob\"]"), "{reason}");
    // A wrong input in one lane, and nobody is called.
    let reason = refused(&[(&compiled, &inputs[..]), (&compiled, &inputs[..1])]);
    assert!(reason.contains("has 2 inputs"), "{reason}");
}

/// A protocol that can't run a program says so before anything starts, wherever it is asked.
#[test]
fn what_a_protocol_does_not_admit_is_refused_before_anything_starts() {
    use tacit::Error;
    let compiled = |to: Recipient| {
        let mut builder = Builder::new();
        let a = builder.input("alice", "a", Dtype::Int, &[3], Range::new(-9, 9)).unwrap();
        let b = builder.input("bob", "b", Dtype::Int, &[3], Range::new(-9, 9)).unwrap();
        let product = builder.mul(a, b).unwrap();
        builder.reveal(product, to).unwrap();
        Compiled::new(builder.finish().unwrap()).unwrap()
    };
    let local = Local::new("astra-fair").unwrap();
    let value = |x: i64| Value { shape: vec![3], data: Data::Int(vec![x; 3]) };
    let inputs = [value(3), value(-2)];
    for to in [Recipient::All, Recipient::Role("alice".into())] {
        let compiled = compiled(to);
        let refused = [
            local.run(&compiled, &inputs, &|_, _| {}).unwrap_err(),
            tacit::price(&compiled, "astra-fair", &local.parties).unwrap_err(),
            tacit::price_offline(&compiled, "astra-fair", &local.parties, 2).unwrap_err(),
        ];
        for error in refused {
            assert!(matches!(&error, Error::Refused(reason) if reason.contains("to=[\"P0\", ")), "{error}");
        }
    }
    let compiled = compiled(Recipient::Role("P1".into()));
    assert!(local.run(&compiled, &inputs, &|_, _| {}).is_ok());
    let job: tacit::LaneInputs<'_, Value> = (&compiled, &inputs);
    let error = local.run_lanes(&[job, job], &|_, _| {}).unwrap_err();
    assert!(matches!(&error, Error::Refused(reason) if reason.contains("in one lane")), "{error}");
}

/// Of endpoints that fail together the one that refuses is heard, not one that only lost it.
#[test]
fn a_refusal_says_more_than_a_loss() {
    use tacit::advanced::engine::executor::Unobserved;
    use tacit::advanced::net::{Limits, Mesh, memory};
    use tacit::{Distance, Endpoint, Error, Source, play};
    let mut builder = Builder::new();
    let a = builder.input("P0", "a", Dtype::Int, &[1], Range::new(-9, 9)).unwrap();
    builder.reveal(a, Recipient::All).unwrap();
    let compiled = Compiled::new(builder.finish().unwrap()).unwrap();
    let names: Vec<String> = (0..3).map(|party| format!("P{party}")).collect();
    let protocol = tacit::protocol("replicated").unwrap();
    let endpoint = Endpoint::new(&compiled, protocol, names.clone(), Vec::new()).unwrap();
    let mut links = memory::mesh(3, 0).into_iter();
    let first = Mesh::new(Box::new(links.next().unwrap()), 0, names, Limits::default());
    drop(links);
    let lost = play(&endpoint, first, Source::InRun, vec![None], &mut Unobserved).unwrap_err();
    assert_eq!(lost.distance(), Distance::Link, "{lost}");
    assert!(Error::Refused(String::new()).distance() < lost.distance());
}

/// Whoever is told how many jobs are finished can say at which line a run is: each in turn, and from the first on where material
/// is made before.
#[test]
fn progress_tells_the_lines_in_the_order_in_which_they_are_computed() {
    let mut builder = Builder::new();
    let line = |builder: &mut Builder, line| {
        builder.at(Source { file: "lines.py".into(), line, text: String::new() });
    };
    let [a, b] =
        ["a", "b"].map(|name| builder.input("alice", name, Dtype::Int, &[9], Range::new(0, 100)).unwrap());
    line(&mut builder, 5);
    let product = builder.mul(a, b).unwrap();
    line(&mut builder, 6);
    let larger = builder.greater(product, a).unwrap();
    line(&mut builder, 7);
    let chosen = builder.select(larger, product, b).unwrap();
    builder.reveal(chosen, Recipient::All).unwrap();
    let compiled = Compiled::new(builder.finish().unwrap()).unwrap();
    let given = |first: i64| Value { shape: vec![9], data: Data::Int((first..first + 9).collect()) };
    for (name, times) in [("replicated", 1), ("astra", 2)] {
        let planned = compiled.for_protocol(&*protocol(name).unwrap()).unwrap();
        let told = Mutex::new(Vec::new());
        let finished = |done: usize, _| told.lock().unwrap().push(planned.at_work(done - 1).unwrap().line);
        Local::new(name).unwrap().run(&compiled, &[given(1), given(3)], &finished).unwrap();
        let mut lines = told.into_inner().unwrap();
        lines.dedup();
        assert_eq!(lines, [5, 6, 7].repeat(times), "{name}");
    }
}
