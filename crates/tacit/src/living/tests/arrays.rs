//! What clients give: what isn't as the program declares it is refused before anything is asked for, and what reaches
//! the parties in another form than it has to ends that client's run alone.

use super::*;
use crate::Source;
use crate::living::control::bound;
use crate::living::server::shared::mesh;
use crate::registry::Chosen;
use crate::run::{Given, Own, endpoint_of, run_over};
use tacit_net::{Frame, FrameKind};
use tacit_replicated::step::{INPUT, SEED};
use tacit_testkit::react::{Act, Attacker, reacting};

/// Twice a table of two rows, for whoever plays `guest`, and whether a flag is set, which nobody learns.
fn table() -> Arc<Compiled> {
    let mut build = Builder::new();
    let x = build.input("guest", "x", Dtype::Int, &[2, 3], Range::new(-9, 9)).unwrap();
    let flag = build.input("guest", "flag", Dtype::Bool, &[], None).unwrap();
    let square = build.mul(x, x).unwrap();
    for learnt in [square, flag] {
        build.reveal(learnt, Recipient::Role("guest".into())).unwrap();
    }
    Compiled::new(build.finish().unwrap()).unwrap()
}

fn rows(shape: &[usize], values: Vec<i64>) -> Value {
    Value { shape: shape.to_vec(), data: Data::Int(values) }
}

fn flag() -> Value {
    Value { shape: vec![], data: Data::Bool(vec![true]) }
}

/// What alice gives, and what comes of it.
fn honest() -> (Vec<Option<Value>>, Vec<Option<Value>>) {
    let given = vec![Some(rows(&[2, 3], vec![1, -2, 3, -4, 9, -9])), Some(flag())];
    (given, vec![Some(rows(&[2, 3], vec![1, 4, 9, 16, 81, 81])), Some(flag())])
}

#[test]
fn what_is_not_as_the_program_declares_it_is_refused_with_its_name_and_nothing_is_asked() {
    let (house, program) = (House::new(), table());
    let parties = house.serve(&program);
    let mut alice = seat(house.config("alice"), Some("guest"));
    let mut run =
        |x: Option<Value>, flag: Option<Value>| alice.run(&program, PROTOCOL, &[x, flag], &|_, _| ());
    let all = || vec![1, 2, 3, 4, 5, 6];
    let wrong = [
        Some(rows(&[3, 2], all())),
        Some(rows(&[6], all())),
        Some(rows(&[2, 3, 1], all())),
        Some(rows(&[], vec![1])),
        Some(rows(&[2, 3], vec![1, 2, 3, 4, 5])),
        Some(rows(&[2, 3], vec![1, 2, 3, 4, 5, 6, 7])),
        Some(rows(&[2, 3], vec![])),
        Some(rows(&[usize::MAX, 3], all())),
        Some(rows(&[0, 3], vec![])),
        Some(rows(&[2, 3], vec![1, 2, 3, 4, 5, 10])),
        Some(rows(&[2, 3], vec![-10, 2, 3, 4, 5, 6])),
        Some(rows(&[2, 3], vec![1, 2, i64::MIN, 4, 5, i64::MAX])),
        Some(Value { shape: vec![2, 3], data: Data::Bool(vec![true; 6]) }),
        Some(Value { shape: vec![2, 3], data: Data::Float(vec![0.5; 6]) }),
        Some(Value { shape: vec![2, 3], data: Data::Float(vec![f64::NAN; 6]) }),
        Some(Value { shape: vec![2, 3], data: Data::Unsigned(vec![10; 6]) }),
        Some(Value { shape: vec![2, 3], data: Data::Wide(vec![u128::MAX; 6]) }),
        None,
    ];
    for x in wrong {
        let said = run(x.clone(), Some(flag())).unwrap_err();
        assert!(matches!(said, Error::Value(_) | Error::Refused(_)), "{x:?}: {said:?}");
        assert!(said.to_string().contains('x'), "{x:?}: {said}");
    }
    let said = run(honest().0.swap_remove(0), Some(rows(&[], vec![1]))).unwrap_err();
    assert!(said.to_string().contains("flag"), "{said}");
    for plays in ["nobody", "P0", ""] {
        let mut other = seat(house.config("bob"), Some(plays));
        let said = other.run(&program, PROTOCOL, &honest().0, &|_, _| ()).unwrap_err();
        assert!(matches!(said, Error::Refused(_)), "{plays:?}: {said:?}");
    }
    let (given, learnt) = honest();
    assert_eq!(alice.run(&program, PROTOCOL, &given, &|_, _| ()).unwrap().outputs, learnt);
    for party in parties {
        let (done, ended, _) = party.end();
        done.unwrap();
        assert_eq!(ended.len(), 1, "{ended:?}");
    }
}

/// What becomes of the bytes of an input.
type Alters = fn(&mut Vec<u8>);

const WAYS: [(&str, Alters); 5] = [
    ("nothing", |bytes| bytes.clear()),
    ("a byte less", |bytes| bytes.truncate(bytes.len().saturating_sub(1))),
    ("a byte more", |bytes| bytes.push(0)),
    ("twice as much", |bytes| bytes.extend(bytes.clone())),
    ("a mebibyte", |bytes| bytes.resize(1 << 20, 7)),
];

/// Sends a message about inputs in another form, the one of this number.
struct Misshapes {
    nth: usize,
    alters: Alters,
    count: Arc<AtomicU16>,
}

impl Attacker for Misshapes {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if frame.kind == FrameKind::Data
            && [INPUT, SEED].contains(&frame.at.part)
            && usize::from(self.count.fetch_add(1, Ordering::SeqCst)) == self.nth
        {
            (self.alters)(&mut frame.payload);
        }
        act.send(to, frame);
    }
}

/// Bob's part in a run over links that an attacker sits on.
fn misshaped(
    house: &House,
    program: &Arc<Compiled>,
    protocol: &str,
    attacker: Misshapes,
) -> Result<Run, Error> {
    let (config, chosen) = (house.config("bob"), Chosen::of(protocol)?);
    let mut bob = by_hand(&config);
    tell_all(
        &mut bob,
        &ToParty::Ask(Request { protocol: chosen.to_string(), ..request(program, 7, "guest") }),
    );
    let begun = [0, 1, 2].map(|party| match heard(&mut bob, party) {
        Some(ToClient::Begin { run, players, .. }) => (run, players),
        other => panic!("{other:?}"),
    });
    let (run, players) = begun[0].clone();
    let clients = vec!["guest".to_owned()];
    let endpoint = endpoint_of(&config, program, chosen.protocol.clone(), clients)?;
    let endpoint = endpoint.bound_to(bound(run, "", &Fill::new(), &players));
    let links = reacting(Box::new(bob.lend(3 + players.len())), Box::new(attacker));
    let mesh = mesh(links, &config, 3, &players);
    let (given, _) = honest();
    let given = Given::Values(vec![given.iter().map(Option::as_ref).collect()]);
    let own = Own { given, source: Source::InRun, residents: None, measured: None };
    Ok(run_over(3, &chosen, &[endpoint], own, &|_, _| (), || Ok(vec![mesh]))?.swap_remove(0))
}

/// No party panics or takes such an input for another one; each goes on, with alice, whose links stay.
#[test]
fn an_input_of_another_length_ends_the_run_of_its_client_alone() {
    let (house, program) = (House::new(), table());
    let parties = house.serve(&program);
    let mut alice = seat(house.config("alice"), Some("guest"));
    let count = Arc::new(AtomicU16::new(0));
    let bob = |nth, alters, count: &Arc<AtomicU16>| {
        misshaped(&house, &program, PROTOCOL, Misshapes { nth, alters, count: count.clone() })
    };
    assert_eq!(bob(usize::MAX, WAYS[0].1, &count).unwrap().outputs, honest().1);
    let messages = usize::from(count.load(Ordering::SeqCst));
    assert!(messages >= 3, "{messages}");
    for nth in 0..messages {
        for (what, alters) in WAYS {
            let ended = bob(nth, alters, &Arc::default());
            assert!(ended.is_err(), "message {nth}: {what}");
        }
        let (given, learnt) = honest();
        assert_eq!(alice.run(&program, PROTOCOL, &given, &|_, _| ()).unwrap().outputs, learnt);
    }
    for party in parties {
        let (done, ended, _) = party.end();
        done.unwrap();
        let well = ended.iter().filter(|run| run.is_ok()).count();
        assert_eq!((well, ended.len()), (1 + messages, 1 + messages * (1 + WAYS.len())), "{ended:?}");
        let panicked = ended.iter().find(|run| run.as_ref().is_err_and(|error| error.contains("panicked")));
        assert_eq!(panicked.map(|run| run.as_ref().unwrap_err()), None);
    }
}
