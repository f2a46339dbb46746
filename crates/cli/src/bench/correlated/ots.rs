//! Random oblivious transfers in both directions.

use super::job::Made;
use std::hint::black_box;
use tacit::advanced::net::At;
use tacit::advanced::session::{Error, Session};
use tacit_ot::{Choices, Form, Ot, Params, Received, Request, Roles, Sent, Sink, step};

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
