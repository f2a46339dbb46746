//! Requests that come to all parties together, from others than clients.

use super::wanted::{BITS, bits, serving};
use super::*;
use crate::batcher::{Batcher, Bounds, Named, Service, Step};
use crate::{Asker, Report, Wanted};
use sha2::{Digest, Sha256};
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tacit_circuit::arith::{self, Style};

/// Products of what the first party gives and what all know, for so many requests.
fn products(requests: usize) -> Arc<Compiled> {
    let circuit = Arc::new(arith::circuits::multiply(Style::Small, BITS as u32));
    let mut build = Builder::new();
    let given = build.input("P0", "given", Dtype::Bool, &[requests, BITS], None).unwrap();
    let known = build.known("factors", Dtype::Bool, &[requests, BITS], None).unwrap();
    let product = build.circuit(&circuit, &[given, known]).unwrap()[0];
    build.reveal(product, Recipient::All).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

const GIVEN: u8 = 3;

/// What a request wants: three times this number. Odd and even ones are two kinds.
#[derive(Clone, Copy)]
struct Tripled {
    number: u8,
    is_last: bool,
}

impl Step for Tripled {
    type Kind = bool;

    fn kind(&self) -> bool {
        self.number % 2 == 1
    }

    fn mark(&self) -> [u8; 32] {
        Sha256::digest([self.number]).into()
    }

    fn is_last(&self) -> bool {
        self.is_last
    }
}

struct Triples {
    asker: Asker,
    me: usize,
    /// A number that this party wants nothing of any more.
    refused: Option<u8>,
    /// Whether it wants nothing at all once a roll was called, and whether one was.
    ends: bool,
    called: AtomicBool,
    /// How long it waits for a run.
    within: Duration,
    /// It has no more outcomes of a run than these.
    most: usize,
    /// How many steps each run had.
    ran: Mutex<Vec<usize>>,
}

impl Service for Triples {
    type Step = Tripled;
    type Outcome = u8;

    fn refusal(&self) -> impl Fn(&Tripled) -> Option<String> {
        let is_over = self.ends && self.called.load(Ordering::SeqCst);
        move |step| (is_over || Some(step.number) == self.refused).then(|| "not any more".to_owned())
    }

    fn has_called(&self, _report: &Report, _wanted: usize) {
        self.called.store(true, Ordering::SeqCst);
    }

    fn run(&self, tag: String, steps: &[Tripled]) -> Result<Vec<u8>, Error> {
        self.ran.lock().unwrap().push(steps.len());
        let rows = |numbers: &mut dyn Iterator<Item = u8>| {
            let rows: Vec<Value> = numbers.map(bits).collect();
            let all = rows.iter().flat_map(|row| match &row.data {
                Data::Bool(bits) => bits.clone(),
                _ => unreachable!(),
            });
            Value { shape: vec![rows.len(), BITS], data: Data::Bool(all.collect()) }
        };
        let given = (self.me == 0).then(|| rows(&mut steps.iter().map(|_| GIVEN)));
        let inputs = vec![given, Some(rows(&mut steps.iter().map(|step| step.number)))];
        let compiled = products(steps.len());
        let run = self.asker.run(Wanted { compiled, tag, inputs, fill: Fill::new(), within: self.within })?;
        let Some(Some(Value { data: Data::Bool(all), .. })) = run.outputs.into_iter().next() else {
            unreachable!()
        };
        let number = |row: &[bool]| row.iter().rev().fold(0, |number, &bit| number << 1 | u8::from(bit));
        Ok(all.chunks(BITS).map(number).take(self.most).collect())
    }
}

fn bounds() -> Bounds {
    Bounds { rooms: vec![1, 8], together: 3, runs: 2, batches: 2, within: LONG }
}

/// Three parties, with what has requests run together at each.
fn batchers(house: &House) -> ([Party; 3], [(Batcher, Triples); 3]) {
    let all = [0, 1, 2].map(|me| {
        let mut server = Server::open(&house.party(me), Vec::new(), serving(4)).unwrap();
        let (asker, batcher) = (server.asker(), Batcher::new(&mut server, bounds()).unwrap());
        let (called, ran) = Default::default();
        let triples =
            Triples { asker, me, refused: None, ends: false, called, most: usize::MAX, within: LONG, ran };
        (Party::serves(server), (batcher, triples))
    });
    let mut parties = Vec::new();
    let batchers = all.map(|(party, batcher)| {
        parties.push(party);
        batcher
    });
    (parties.try_into().unwrap_or_else(|_| unreachable!()), batchers)
}

/// What a request comes to: a triple, and then three times that; or why there is none.
type Answers = Vec<Option<Result<u8, String>>>;

/// What each party makes of a batch in which request `n` wants three times `n`, and then three times what came of that, unless
/// `wants` has it want something else.
fn answers(
    batchers: &[(Batcher, Triples); 3],
    name: &str,
    requests: usize,
    wants: impl Fn(usize, usize) -> u8 + Sync,
) -> [Answers; 3] {
    let wants = &wants;
    thread::scope(|scope| {
        let threads = batchers.each_ref().map(|(batcher, triples)| {
            scope.spawn(move || {
                let batch = Named { name, requests, begins: true };
                let answers = batcher.turn().answer(triples, batch, |mut request| {
                    let number = wants(triples.me, request.number());
                    let first = request.want(Tripled { number, is_last: false })?;
                    request.want(Tripled { number: first, is_last: true })
                });
                answers.unwrap()
            })
        });
        threads.map(|thread| thread.join().unwrap())
    })
}

#[test]
fn what_requests_want_at_the_same_time_runs_together() {
    let house = House::new();
    let (parties, mut batchers) = batchers(&house);
    let nines = |requests: u8| (0..requests).map(|number| Some(Ok(9 * number))).collect::<Answers>();
    for all in answers(&batchers, "first", 7, |_, number| number as u8) {
        assert_eq!(all, nines(7));
    }
    // Four even numbers and three odd ones, three together at most, and then the same of what came of them.
    for (_, triples) in &batchers {
        let mut ran = std::mem::take(&mut *triples.ran.lock().unwrap());
        ran.sort_unstable();
        assert_eq!(ran, [1, 1, 3, 3, 3, 3]);
    }

    // Another number at one party, a party that wants nothing of one any more, and one whose answer panics.
    batchers[1].1.refused = Some(2);
    let since = Instant::now();
    let all = answers(&batchers, "second", 5, |me, number| {
        assert!((me, number) != (0, 4), "planted");
        if (me, number) == (2, 1) { 5 } else { number as u8 }
    });
    assert!(since.elapsed() < LONG, "nobody waits for a run that doesn't come");
    for (me, all) in all.into_iter().enumerate() {
        let [zero, other, refused, three, panicked] = &all[..] else { panic!("{all:?}") };
        assert_eq!([zero, three], [&Some(Ok(0)), &Some(Ok(27))]);
        let says = |answer: &Option<Result<u8, String>>, what: &str| {
            let why = answer.as_ref().unwrap().as_ref().unwrap_err();
            assert!(why.contains(what), "{why}");
        };
        says(other, "don't want the same");
        says(refused, if me == 1 { "not any more" } else { "don't want the same" });
        if me == 0 {
            assert_eq!(*panicked, None);
        } else {
            says(panicked, "don't want the same");
        }
    }

    // A service that has too few outcomes.
    for (_, triples) in &mut batchers {
        triples.most = 1;
    }
    for all in answers(&batchers, "short", 3, |_, number| 4 * number as u8) {
        assert!(all.iter().all(|answer| answer.as_ref().unwrap().as_ref().unwrap_err().contains("as many")));
    }

    // What a party doesn't want any more once the roll was called, no party runs.
    for (_, triples) in &mut batchers {
        (triples.most, triples.within) = (usize::MAX, Duration::from_millis(300));
        (triples.called, triples.ran) = Default::default();
    }
    batchers[2].1.ends = true;
    for (me, all) in answers(&batchers, "late", 2, |_, number| number as u8).iter().enumerate() {
        let why = all[1].as_ref().unwrap().as_ref().unwrap_err();
        assert!(why.contains(if me == 2 { "not any more" } else { "not all parties want the run" }), "{why}");
    }
    assert!(batchers[2].1.ran.lock().unwrap().is_empty());

    // One that all refuse, and more than a roll has room for.
    for (_, triples) in &mut batchers {
        triples.refused = Some(0);
    }
    for all in answers(&batchers, "third", 1, |_, number| number as u8) {
        assert_eq!(all, [Some(Err("not any more".to_owned()))]);
    }
    let nine = Named { name: "fourth", requests: 9, begins: true };
    let refused = batchers[0].0.turn().answer(&batchers[0].1, nine, |_| ());
    assert!(refused.unwrap_err().to_string().contains("9 requests"));
    let none = Named { name: "fifth", requests: 1, begins: false };
    let over = batchers[0].0.turn().answer(&batchers[0].1, none, |mut request| {
        request.want(Tripled { number: 1, is_last: true }).unwrap_err()
    });
    assert!(over.unwrap()[0].as_ref().unwrap().contains("nothing more"));
    end_well(parties, 0);
}

#[test]
fn bounds_that_hold_nothing_are_refused() {
    let house = House::new();
    let mut server = Server::open(&house.party(0), Vec::new(), serving(4)).unwrap();
    for bounds in [
        Bounds { rooms: Vec::new(), ..bounds() },
        Bounds { rooms: vec![0, 1], ..bounds() },
        Bounds { rooms: vec![4, 4], ..bounds() },
        Bounds { together: 0, ..bounds() },
        Bounds { runs: 0, ..bounds() },
        Bounds { batches: 0, ..bounds() },
    ] {
        assert!(matches!(Batcher::new(&mut server, bounds), Err(Error::Refused(_))));
    }
}
