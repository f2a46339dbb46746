//! `tacit bench ot`: random oblivious transfers between two parties, in both directions at once, malicious and hashed
//! ([`super::correlated`]).
//!
//! Every value is read once by whoever gets it. Of each tile some OTs are compared afterwards.

use super::correlated::{Figures, Job, Made, What, measure};
use super::limits::Cores;
use super::spec::BenchArgs;
use crate::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use serde_json::json;
use std::hint::black_box;
use tacit::advanced::net::At;
use tacit::advanced::session::{Error, Session};
use tacit_ot::{Choices, Form, Ot, Params, Received, Request, Roles, Sent, Sink, step};

/// OTs if nothing is said, and the quick number.
const USUAL: usize = 1 << 26;
const QUICK: usize = 20_000;

/// OTs of each tile that are compared.
const SAMPLE: usize = 64;

/// Samples in a message.
const PIECE: usize = 1 << 14;

/// Reads all values, and keeps some of each tile.
#[derive(Default)]
struct Reader {
    sum: u128,
    sent: Vec<[u128; 2]>,
    received: Vec<u128>,
    choices: Vec<u64>,
}

impl Sink for Reader {
    fn sent(&mut self, ots: Sent<'_>) {
        self.sum ^= total(ots.zeros) ^ total(ots.ones);
        self.sent.extend(ots.zeros.iter().zip(&*ots.ones).take(SAMPLE).map(|(zero, one)| [*zero, *one]));
    }

    fn received(&mut self, ots: Received<'_>) {
        self.sum ^= total(ots.values);
        self.received.extend(ots.values.iter().take(SAMPLE));
        self.choices.extend(ots.choices.first());
    }
}

fn total(values: &[u128]) -> u128 {
    values.iter().fold(0, |sum, value| sum ^ value)
}

/// A party's part.
pub(super) struct Ots {
    ot: Ot,
    peer: usize,
    reader: Reader,
}

impl Made for Ots {
    fn setup(session: &mut Session, params: Params) -> Result<Self, Error> {
        let peer = 1 - session.me();
        Ok(Self { ot: Ot::setup(session, &[peer], Roles::Both, params, 0)?, peer, reader: Reader::default() })
    }

    fn make(&mut self, session: &mut Session, count: usize) -> Result<(), Error> {
        let request = Request { op: 1, count, choices: Choices::Random, form: Form::Random };
        self.ot.extend(session, &request, &mut self.reader)
    }

    fn verify(self, session: &mut Session) -> Result<bool, Error> {
        black_box(self.reader.sum);
        compare(session, self.peer, &self.reader)
    }
}

pub(super) fn ot(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    let job = Job { what: What::Ots, parties: 2, count: args.count_or(QUICK, USUAL), k: args.height() };
    let params = job.params()?;
    // In both directions a party is sender and receiver.
    let declared = [params.setup_bytes(), params.extension_bytes(job.count, false)];
    let declared = declared.map(|both| both.iter().sum::<u64>());
    let bytes_per_ot = declared[1] as f64 / job.count as f64;
    // Of all that AES could do on the parties' cores.
    let aes_share = |run: &Figures| {
        let cores = Cores::measure(true);
        let needed = aes_bytes(job) * job.count as f64 / cores.aes_bytes_per_second;
        needed * job.parties as f64 / (cores.count.min(job.parties) as f64 * run.seconds)
    };
    let keys = |run: &Figures| json!({ "bytes_per_ot": bytes_per_ot, "aes_share": aes_share(run) });
    let text = |run: &Figures| {
        let head = format!("{} random OTs each way, {}", bytes(job.count as u64), run.transport);
        let mut table = Table::new([head, String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("parameters", params.to_string());
        row("time", seconds(run.seconds));
        row("speed, each way", rate(run.per_second, " OTs/s"));
        row("payload for an OT", format!("{bytes_per_ot:.3} bytes"));
        row("setup", seconds(run.setup_seconds));
        row("share of AES", format!("{:.0} %", 100.0 * aes_share(run)));
        table.to_string()
    };
    measure(context, args, job, ["ot", "softspoken"], declared, keys, text)
}

/// Sends what was received, choices and values, and compares the peer's with what was sent.
fn compare(session: &mut Session, peer: usize, reader: &Reader) -> Result<bool, Error> {
    let at = |batch: usize| At { lane: 0, part: step::SAMPLES, op: 2, batch: batch as u32 };
    // The bits of the choice word are those of the tile's first OTs, which are the sample.
    let mut choices = Vec::with_capacity(reader.received.len());
    let tiles = samples(reader.received.len());
    for (count, word) in tiles.zip(&reader.choices) {
        choices.extend((0..count).map(|bit| u128::from(word >> bit & 1)));
    }
    let mine: Vec<u128> =
        reader.received.iter().zip(choices).flat_map(|(&value, choice)| [choice, value]).collect();
    let mut right = reader.sent.len() == reader.received.len() && !reader.sent.is_empty();
    for (number, (mine, sent)) in mine.chunks(2 * PIECE).zip(reader.sent.chunks(PIECE)).enumerate() {
        session.mesh().send(peer, at(number), bytemuck::cast_slice(mine))?;
        let theirs = session.mesh().recv(peer, at(number), 32 * sent.len())?;
        for (pair, opened) in sent.iter().zip(theirs.as_chunks::<32>().0) {
            let (choice, value) = opened.split_at(16);
            right &= pair[usize::from(choice[0] & 1)].to_le_bytes() == value && pair[0] != pair[1];
        }
    }
    Ok(right)
}

/// How many OTs of each tile are in a sample of so many: a tile has fewer only if it is a batch's, or the run's, last.
fn samples(count: usize) -> impl Iterator<Item = usize> {
    (0..count.div_ceil(SAMPLE)).map(move |tile| SAMPLE.min(count - SAMPLE * tile))
}

/// Bytes of AES that a party needs for an OT in each direction: leaves, all as receiver and all but one of each tree as
/// sender, and the hashes of one row and of two.
fn aes_bytes(job: Job) -> f64 {
    let (k, trees) = (job.k as i32, 128.0 / job.k as f64);
    let leaves = trees * (2.0 * 2_f64.powi(k) - 1.0) / 8.0;
    leaves + 16.0 * 6.0
}
