//! ANDs of one bit with others, as products of the bit with a vector (VS gates of Heath, Kolesnikov, Peceny, ASIACRYPT 2020), in
//! circuits with branches whose inactive wires are zero ([`tacit_circuit::motif`]), on one instance.
//!
//! A supply gives a random bit `a`, a random vector `b`, and their product `c` ([`SupplyKind::Scaling`]). For a bit `x` and the vector
//! `y` all open `d = x ^ a`, once, and `e = y ^ b`: a bit more than the vector has. `z = c ^ d b ^ e a`, to which the first party
//! adds `d e`. Each product draws an item's lane of its own, of the next power of two of its length.

use crate::demand::{layer_scalings, scaling, scalings_opened};
use crate::messages::layer_at;
use crate::planted::{Mistake, planted};
use crate::share::Share;
use crate::state::{Opening, Party};
use crate::vectors::row;
use std::collections::BTreeMap;
use tacit_circuit::{Layer, Layered};
use tacit_engine::supply::{Drawer, SupplyKind};
use tacit_engine::{Error, Job};
use tacit_kernel::{Buffer, bits};
use tacit_program::plan::Domain;

impl Party {
    pub(crate) fn scalings_begin(&mut self, job: &Job, circuit: &Layered) -> Result<(), Error> {
        let layer = &circuit.layers[job.stage as usize];
        let mut triple = self.scalings_drawn(job, circuit)?;
        if planted(Mistake::ScalarsUnmasked) {
            triple[0].value.bytes_mut().fill(0);
        }
        let tile = self.tiles.get(job);
        let operands = [0, 1].map(|side| {
            let mut operand = packed(layer.ands.len());
            for (place, gate) in layer.ands.iter().enumerate() {
                bits::set(operand.value.words_mut(), place, bits::get(tile.row(gate[side], 0), 0));
            }
            operand
        });
        let opening = Opening::new(shape(layer), operands, triple);
        let mut message = Buffer::of_words::<u64>(scalings_opened(layer).div_ceil(64));
        for (bit, (side, place)) in places(layer).enumerate() {
            bits::set(message.words_mut(), bit, bits::get(opening.masked[side].value.words(), place));
        }
        let at = layer_at(job, circuit, 0);
        self.openings.insert(at, opening);
        self.shared.send_to_all(&mut self.session, at, &message.bytes()[..scalings_opened(layer).div_ceil(8)])
    }

    pub(crate) fn scalings_finish(&mut self, job: &Job, circuit: &Layered) -> Result<(), Error> {
        let layer = &circuit.layers[job.stage as usize];
        let at = layer_at(job, circuit, 0);
        let mut opening = self.openings.remove(&at).expect("what ends has begun");
        let mut heard = Buffer::of_words::<u64>(scalings_opened(layer).div_ceil(64));
        for party in self.others() {
            let message =
                self.shared.receive(&mut self.session, party, at, scalings_opened(layer).div_ceil(8))?;
            heard.bytes_mut()[..message.len()].copy_from_slice(&message);
            self.session.mesh().recycle(message);
            for (bit, (side, place)) in places(layer).enumerate() {
                let masked = opening.masked[side].value.words_mut();
                let sum = bits::get(masked, place) ^ bits::get(heard.words(), bit);
                bits::set(masked, place, sum);
            }
        }
        // Of a product all ANDs have the first one's bit.
        let mut first = 0;
        for ands in layer.scalings() {
            let scalar = opening.masked[0].value.words_mut();
            let bit = bits::get(scalar, first);
            for place in first..first + ands.len() {
                bits::set(scalar, place, bit);
            }
            first += ands.len();
        }
        let share = self.result(opening);
        let tile = self.tiles.get(job);
        for (place, gate) in layer.ands.iter().enumerate() {
            bits::set(tile.row(gate[2], 0), 0, bits::get(share.value.words(), place));
        }
        Ok(())
    }

    /// Triples for a layer's ANDs, those of a product with the same first factor.
    fn scalings_drawn(&mut self, job: &Job, circuit: &Layered) -> Result<[Share; 3], Error> {
        let layer = &circuit.layers[job.stage as usize];
        if job.stage == 0 {
            self.scalings_used.clear();
        }
        let mut drawn = BTreeMap::new();
        for (kind, count) in layer_scalings(layer) {
            let used = self.scalings_used.entry(kind).or_default();
            let first = std::mem::replace(used, *used + count);
            let parts = self.drawn(Drawer::Op(job.op), kind, first..first + count)?.shares;
            drawn.insert(kind, (0, parts));
        }
        let mut triple = [(); 3].map(|()| packed(layer.ands.len()));
        let mut place = 0;
        for ands in layer.scalings() {
            let SupplyKind::Scaling { length } = scaling(ands.len()) else {
                unreachable!("products draw scalings")
            };
            let Some((lane, parts)) = drawn.get_mut(&scaling(ands.len())) else {
                return Err(Error::Supply("a layer's products are drawn by their lengths".to_owned()));
            };
            let (item, bit) = (*lane / 64, *lane % 64);
            *lane += usize::from(!planted(Mistake::LanesReused));
            for within in 0..ands.len() {
                let words = [item, item * usize::from(length) + within];
                for (part, word) in [words[0], words[1], words[1]].into_iter().enumerate() {
                    let value = bits::get(&parts[part].value.words()[word..=word], bit);
                    bits::set(triple[part].value.words_mut(), place, value);
                }
                place += 1;
            }
        }
        Ok(triple)
    }
}

/// What is opened of a layer, in the order of its message: the first factor of each product, and then all second
/// ones; which operand, and of which AND.
fn places(layer: &Layer) -> impl Iterator<Item = (usize, usize)> {
    let scalars = layer.scalings().scan(0, |next, ands| {
        let first = *next;
        *next += ands.len();
        Some((0, first))
    });
    scalars.chain((0..layer.ands.len()).map(|and| (1, and)))
}

fn shape(layer: &Layer) -> tacit_program::plan::Register {
    row(Domain::Bits, 64 * layer.ands.len().div_ceil(64))
}

/// So many zeros.
fn packed(count: usize) -> Share {
    Share { value: Buffer::of_words::<u64>(count.div_ceil(64)), mac: None }
}
