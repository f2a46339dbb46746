//! The programs under the protocol that servers run, against the same in the clear.

use std::collections::HashMap;
use std::sync::Arc;
use tacit::advanced::program::plan::OpKind;
use tacit::batcher;
use tacit::program::{Data, Value};
use tacit::{Compiled, Error, Fill, Local, Report, Residents, Run, State};
use tacit_kdc::circuits::{self, Class, Form, block_bytes, drawn_bytes};
use tacit_kdc::clear::Key;
use tacit_kdc::enctype::{CONFOUNDER, Enctype};
use tacit_kdc::programs::{Programs, RECORD, TOGETHER, Task, rows, to_bits, to_bytes, together};

/// All three servers, in this process.
struct Servers {
    local: Local,
    states: Vec<State>,
    programs: Programs,
}

impl Servers {
    fn new(enctype: Enctype, protocol: &str) -> Self {
        let local = Local::new(protocol).unwrap();
        let programs = Programs::new(enctype, local.parties.clone()).unwrap();
        Self { states: local.parties.iter().map(|_| State::new()).collect(), local, programs }
    }

    fn try_run(&mut self, compiled: &Arc<Compiled>, fill: &Fill, inputs: &[Value]) -> Result<Run, Error> {
        let residents = self.states.iter_mut().map(|state| Residents { state, fill, store: None }).collect();
        self.local.run_on(compiled, residents, inputs, &|_, _| ())
    }

    fn run(&mut self, (task, count): (Task, usize), fill: &Fill, inputs: &[Value]) -> Run {
        let compiled = self.programs.get(task, count).unwrap();
        self.try_run(&compiled, fill, inputs).unwrap()
    }

    /// What a run of zeros takes.
    fn blank(&mut self, task: Task, count: usize) -> Report {
        let compiled = self.programs.get(task, count).unwrap();
        self.blank_of(&compiled, &task.fill(&vec![vec!["key".to_owned(); 2]; count]))
    }

    fn blank_of(&mut self, compiled: &Arc<Compiled>, fill: &Fill) -> Report {
        let zeros = |shape: &[usize]| {
            let data = Data::Bool(vec![false; shape.iter().product()]);
            Value { shape: shape.to_vec(), data }
        };
        let mut inputs: Vec<Value> = compiled.inputs().iter().map(|input| zeros(&input.shape)).collect();
        inputs.extend(compiled.known().iter().map(|known| zeros(&known.shape)));
        self.try_run(compiled, fill, &inputs).unwrap().report
    }

    fn enrol(&mut self, drawn: bool, record: &str, parts: &[Vec<u8>]) {
        let fill = Fill::new().keeping(RECORD, record);
        let inputs: Vec<Value> = parts.iter().map(|part| to_bits(part)).collect();
        self.run((Task::Enrol { drawn }, 1), &fill, &inputs);
    }
}

/// What comes out of a run of so many requests, by request.
fn outputs(run: &Run, count: usize) -> Vec<Vec<Vec<u8>>> {
    let all: Vec<Vec<Vec<u8>>> = run.outputs.iter().flatten().map(|value| to_bytes(value, count)).collect();
    (0..count).map(|request| all.iter().filter_map(|output| output.get(request).cloned()).collect()).collect()
}

fn pattern(seed: usize, count: usize) -> Vec<u8> {
    (0..count).map(|at| (seed * 37 + at * 91 + at * at * 7) as u8).collect()
}

fn padded(message: &[u8], width: usize) -> Vec<u8> {
    [message, &vec![0; width - message.len()]].concat()
}

/// What servers draw for so many requests: rows of bits.
fn draws(who: usize, enctype: Enctype, count: usize) -> (Vec<u8>, Value) {
    let bytes = pattern(who, count * drawn_bytes(enctype));
    let value = Value { shape: vec![count, 8 * drawn_bytes(enctype)], ..to_bits(&bytes) };
    (bytes, value)
}

#[test]
fn logins_on_shared_keys_are_those_of_the_clear_and_go_together() {
    let enctype = Enctype::Aes128Sha1;
    let mut servers = Servers::new(enctype, "replicated-malicious");
    // Clients' keys are the admin's to give; the service's is drawn by all four.
    let names = ["ann", "ben"];
    let clients = names.map(|name| Key::of_password(enctype, name.as_bytes(), b"salt", 2));
    for (name, key) in names.iter().zip(&clients) {
        servers.enrol(false, name, &[key.bytes().to_vec()]);
    }
    let parts: Vec<Vec<u8>> = (0..4).map(|who| pattern(who, enctype.key_bytes())).collect();
    let service: Vec<u8> =
        (0..enctype.key_bytes()).map(|at| parts.iter().fold(0, |sum, part| sum ^ part[at])).collect();
    let service = Key::new(enctype, &service).unwrap();
    servers.enrol(true, "service", &parts);

    // Three requests of other lengths: two are right, and one has another's key.
    let count = together(3);
    let timestamps = [28, 22, 27].map(|length| pattern(7, length));
    let sealed = [(0, 0), (1, 1), (0, 2)].map(|(who, at)| clients[who].seal(1, [3; 16], &timestamps[at]));
    let mut public = sealed.map(|sealed| circuits::verifies(enctype, Class::TIMESTAMP, &sealed)).to_vec();
    let records = ["ann", "ben", "ben", "ben"].map(|name| vec![name.to_owned()]);
    public.push(public[2].clone());
    let clocks = [5i64, 1_795_521_599, -1];
    let mut inputs = clocks.map(|clock| to_bits(&clock.to_le_bytes())).to_vec();
    inputs.push(rows(&public));
    let told = outputs(&servers.run((Task::Verify, count), &Task::Verify.fill(&records), &inputs), count);
    for (request, right) in [true, true, false].into_iter().enumerate() {
        let message = if right { &timestamps[request][..] } else { &[] };
        let shown = padded(message, block_bytes(Class::TIMESTAMP) - CONFOUNDER);
        assert_eq!(told[request][..2], [vec![u8::from(right)], shown]);
    }

    let class = Class::ALL[0];
    let forms = [(150, 160), (112, 113), (80, 167), (80, 167)]
        .map(|(ticket, part)| (Form { bytes: ticket, key_at: 26 }, Form { bytes: part, key_at: 18 }));
    let plain = |form: Form, seed: usize| {
        let mut plain = pattern(seed, form.bytes);
        plain[form.key_at..form.key_at + enctype.key_bytes()].fill(0);
        plain
    };
    let plains = forms.map(|(ticket, part)| (plain(ticket, 1), plain(part, 2)));
    let public: Vec<Vec<bool>> = forms
        .iter()
        .zip(&plains)
        .map(|((ticket, part), (first, second))| {
            circuits::replies(enctype, class, (first, *ticket), (second, *part))
        })
        .collect();
    let drawn = [11, 12, 13].map(|who| draws(who, enctype, count));
    let mut inputs: Vec<Value> = drawn.iter().map(|(_, value)| value.clone()).collect();
    inputs.push(rows(&public));
    let records = ["ann", "ben", "ann", "ann"].map(|name| vec!["service".to_owned(), name.to_owned()]);
    let task = Task::Reply(class);
    let told = outputs(&servers.run((task, count), &task.fill(&records), &inputs), count);
    let width = drawn_bytes(enctype);
    for request in 0..3 {
        let sum: Vec<u8> = (request * width..(request + 1) * width)
            .map(|at| drawn.iter().fold(0, |sum, (bytes, _)| sum ^ bytes[at]))
            .collect();
        let (session, client) = (&sum[..enctype.key_bytes()], &clients[usize::from(request == 1)]);
        for (key, usage, first, form, plain) in [
            (&service, 2, 0, forms[request].0, &plains[request].0),
            (client, 3, 2, forms[request].1, &plains[request].1),
        ] {
            let mut expected = plain.clone();
            expected[form.key_at..form.key_at + session.len()].copy_from_slice(session);
            let blocks = &told[request][first];
            assert_eq!(blocks.len(), block_bytes(class));
            let sealed = [&blocks[..16 + plain.len()], &told[request][first + 1]].concat();
            assert_eq!(*key.open(usage, &sealed).unwrap(), expected, "{request}");
        }
    }
}

/// ANDs of a program's circuit that are paid for, and its layers.
fn ands(compiled: &Compiled) -> (u64, usize) {
    let ops = compiled.plan().ops.iter();
    ops.fold((0, 0), |(ands, layers), op| match &op.kind {
        OpKind::Circuit { circuit, .. } => (ands + circuit.ands(), layers + circuit.layers.len() - 1),
        _ => (ands, layers),
    })
}

/// What runs of requests of the least class are called.
fn of_requests() -> [(&'static str, Task); 9] {
    let class = Class::ALL[0];
    [
        ("AS: verify", Task::Verify),
        ("AS: reply", Task::Reply(class)),
        ("TGS: verify", Task::VerifyFurther(class)),
        ("TGS: authenticator", Task::OpenAuthenticator(class)),
        ("TGS: reply", Task::ReplyFurther(class)),
        ("AS: verify (`servers`)", Task::VerifyAndDraw),
        ("AS: reply (`servers`)", Task::SealReply(class)),
        ("TGS: verify (`servers`)", Task::OpenTicket(class)),
        ("TGS: reply (`servers`)", Task::SealTicket(class)),
    ]
}

/// What a program's circuits cost: ANDs of one request, and the rounds of all.
#[test]
fn programs_cost_what_the_page_says() {
    let documented = documented(include_str!("../../../docs/kerberos.md"));
    for (at, enctype) in Enctype::ALL.into_iter().enumerate() {
        let parties = Local::new("replicated").unwrap().parties.clone();
        let programs = Programs::new(enctype, parties).unwrap();
        let enrolment = ("enrolment", Task::Enrol { drawn: true });
        for (name, task) in [enrolment].into_iter().chain(of_requests()) {
            let cost = ands(&programs.get(task, 1).unwrap());
            if !matches!(task, Task::Enrol { .. }) {
                for count in TOGETHER {
                    assert_eq!(ands(&programs.get(task, count).unwrap()), cost, "{name}, {count} together");
                }
            }
            assert_eq!(documented[name][at], cost, "{name} under {enctype}");
        }
    }
}

/// Rounds of a run of one request under type 17, and what each server sends, whatever it is of; and rounds of many together.
#[test]
fn runs_take_the_rounds_and_bytes_that_the_page_says() {
    let enctype = Enctype::Aes128Sha1;
    let documented = rows_of(include_str!("../../../docs/kerberos.md"), "| run of one request");
    let mut servers = Servers::new(enctype, "replicated-malicious");
    servers.enrol(false, "key", &[pattern(1, enctype.key_bytes())]);
    let roll = batcher::roll(&servers.local.parties, 1).unwrap();
    let rolls = [("roll", servers.blank_of(&roll, &Fill::new()))];
    let runs = of_requests().map(|(name, task)| (name, servers.blank(task, 1)));
    for (name, report) in rolls.into_iter().chain(runs) {
        for (_, traffic) in &report.endpoints {
            assert_eq!(documented[name], [report.rounds, traffic.payload()], "{name}");
        }
    }
    let most = TOGETHER[TOGETHER.len() - 1];
    assert_eq!(servers.blank(Task::Verify, most).rounds, documented["AS: verify"][0]);
}

/// The page's table of ANDs and layers: those of each run under each encryption type.
fn documented(page: &str) -> HashMap<String, Vec<(u64, usize)>> {
    let pairs = |numbers: Vec<u64>| numbers.chunks(2).map(|pair| (pair[0], pair[1] as usize)).collect();
    rows_of(page, "| run | 17: ANDs").into_iter().map(|(name, numbers)| (name, pairs(numbers))).collect()
}

/// A table's rows of numbers, by their names.
fn rows_of(page: &str, head: &str) -> HashMap<String, Vec<u64>> {
    let rows = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let of = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().replace(',', ""));
        let name = cells.next().unwrap_or_default();
        (name, cells.map(|cell| cell.parse().unwrap()).collect())
    };
    rows.take_while(|line| line.starts_with('|')).map(of).collect()
}
