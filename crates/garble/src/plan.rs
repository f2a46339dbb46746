//! A circuit laid out for garbling.

use std::ops::Range;

use tacit_circuit::{Circuit, Given, Layered};
use tacit_kernel::bits::words;
use tacit_kernel::garble::{LABEL, MAX_ROW, TABLE};

use crate::error::{Error, length};

/// Instances that a batch has at most.
pub const MAX_INSTANCES: u64 = 1 << 32;

/// Instances of a tile at least, but for the last one: a word of packed bits.
const MIN_ROW: usize = 64;

/// Bytes of all rows of a tile that stay in a core's cache beside what is streamed through it.
const CACHED: usize = 1 << 18;

/// A circuit as it is garbled and evaluated, and which of its inputs the garblers know.
///
/// The same circuit and inputs always make the same plan. A row of labels has a slot only from the first layer that
/// reads it to its last reader, inputs too, so that an adder of any width is a handful of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(crate) layered: Layered,
    known: Vec<bool>,
    /// For each bit of all inputs where it comes from.
    pub(crate) sources: Vec<Source>,
    tile: usize,
}

/// Where a bit of the inputs comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Whether the garblers know it.
    pub(crate) known: bool,
    /// Which input it belongs to, among those that are known or those that aren't.
    pub(crate) input: usize,
    /// Which bit of it.
    pub(crate) position: usize,
}

impl Plan {
    /// Lays out a circuit; `known` says of each input whether the garblers know it when they garble.
    ///
    /// # Panics
    /// If it doesn't say it of every input.
    pub fn new(circuit: &Circuit, known: &[bool]) -> Self {
        assert_eq!(known.len(), circuit.inputs().len(), "every input is known or not");
        let layered = Layered::with_inputs(circuit, &vec![Given { late: true, public: false }; known.len()]);
        let mut sources = Vec::with_capacity(circuit.input_bits());
        let mut counts = [0; 2];
        for (&bits, &known) in circuit.inputs().iter().zip(known) {
            let input = &mut counts[usize::from(known)];
            sources.extend((0..bits as usize).map(|position| Source { known, input: *input, position }));
            *input += 1;
        }
        let row = CACHED / (LABEL * layered.slots as usize);
        let tile = (row / MIN_ROW * MIN_ROW).clamp(MIN_ROW, MAX_ROW);
        Self { layered, known: known.to_vec(), sources, tile }
    }

    /// Instances of a tile: pieces start at multiples of it.
    pub fn tile(&self) -> usize {
        self.tile
    }

    /// ANDs of an instance.
    pub fn ands(&self) -> u64 {
        self.layered.ands()
    }

    /// Bits of each input.
    pub fn inputs(&self) -> &[u32] {
        &self.layered.inputs
    }

    /// For each input whether the garblers know it.
    pub fn known(&self) -> &[bool] {
        &self.known
    }

    /// Bits of all outputs together.
    pub fn output_bits(&self) -> usize {
        self.layered.output_slots.len()
    }

    /// Bytes of the tables of so many instances.
    pub fn table_bytes(&self, instances: usize) -> usize {
        (self.ands() as usize).saturating_mul(TABLE).saturating_mul(instances)
    }

    /// The lengths of the inputs that are known, or of those that aren't, in bits.
    fn kind(&self, known: bool) -> impl Iterator<Item = usize> {
        let inputs = self.inputs().iter().zip(&self.known);
        inputs.filter(move |input| *input.1 == known).map(|input| *input.0 as usize)
    }

    /// Checks packed bits for the inputs that the garblers know.
    pub(crate) fn check_known(&self, known: &[&[u64]], instances: usize) -> Result<(), Error> {
        let expected = self.kind(true).count();
        if known.len() != expected {
            return Err(Error::Inputs { expected, found: known.len() });
        }
        for (bits, row) in self.kind(true).zip(known) {
            length("an input that is known", "words", bits.saturating_mul(words(instances)), row.len())?;
        }
        Ok(())
    }

    /// Checks active labels for the other inputs.
    pub(crate) fn check_labels(&self, labels: &[&[u8]], instances: usize) -> Result<(), Error> {
        let expected = self.kind(false).count();
        if labels.len() != expected {
            return Err(Error::Inputs { expected, found: labels.len() });
        }
        for (bits, row) in self.kind(false).zip(labels) {
            length("the labels of an input", "bytes", label_bytes(bits, instances), row.len())?;
        }
        Ok(())
    }

    /// Checks that instances are a piece that starts at `first` or later, and says how many they are.
    pub(crate) fn check_piece(&self, piece: &Range<u64>, first: u64) -> Result<usize, Error> {
        let &Range { start, end } = piece;
        if start < first || !start.is_multiple_of(self.tile as u64) {
            return Err(Error::Piece { start, end, tile: self.tile, first });
        }
        check_instances(piece)
    }

    /// The bits of an input, counted from the first one's first.
    ///
    /// # Panics
    /// If there is no such input.
    pub(crate) fn bits_of(&self, input: usize) -> Range<usize> {
        let first: usize = self.inputs()[..input].iter().map(|&bits| bits as usize).sum();
        first..first + self.inputs()[input] as usize
    }

    /// Keys of a tile.
    pub(crate) fn keys(&self) -> usize {
        self.ands() as usize + self.output_bits()
    }
}

/// Bytes of labels of some bits.
pub(crate) fn label_bytes(bits: usize, instances: usize) -> usize {
    bits.saturating_mul(instances).saturating_mul(LABEL)
}

/// Checks that a batch has these instances, and says how many they are.
pub(crate) fn check_instances(&Range { start, end }: &Range<u64>) -> Result<usize, Error> {
    match end.checked_sub(start).map(usize::try_from) {
        Some(Ok(instances)) if end <= MAX_INSTANCES => Ok(instances),
        _ => Err(Error::Instances { start, end }),
    }
}
