//! From numbers to bits and back, by the two additive components of a sharing: what is the same whoever does it.
//!
//! `x = S + T`, where one party knows `S`, the sum of its components, and the two others know the third component, `T`.
//!
//! **Split** shares the bits of `S` between two components, of which one is drawn.
//!
//! **Select** takes bits back to numbers: it shares `A + v D + E`, where the party that knows `S` knows the numbers `A` and
//! `D`, and the others know the bit `v` and the number `E`.
//!
//! - *Inject*: a bit `b = u xor v` with `u` of `S` and `v` of `T` is `u + v (1 - 2u)`: `A = u`, and `D = 1 - 2A` is not sent.
//! - *Shift*: `w`, the wrap of `S + T`, is `msb(S) or msb(T)` for a sum below 2^(k-1), so
//!   `(S >> d) + (T >> d) - w 2^(k-d) = sar(S, d) + sar(T, d) + msb(S) msb(T) 2^(k-d)`, where `sar` copies the top
//!   bit down: `A = sar(S, d)`, `D = msb(S) 2^(k-d)`, `v = msb(T)`, `E = sar(T, d)`.

use crate::party::Party;
use crate::products::{Results, block};
use tacit_engine::bank::{Bank, row_words, words_of};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Job, with_word};
use tacit_kernel::{Word, bits, transpose};
use tacit_program::plan::{OpKind, Reg, Rows};
use tacit_session::{Draw, PrssStream};

/// What takes bits back to numbers.
#[derive(Clone, Copy, Debug)]
pub enum Selection {
    /// A row of bits becomes numbers.
    Inject(Rows),
    /// Numbers are shifted by so many bits.
    Shift(Reg, u32),
}

impl Selection {
    /// Of an operation.
    ///
    /// # Panics
    /// If it is another one.
    pub fn of(kind: &OpKind) -> Self {
        match *kind {
            OpKind::Inject { a, .. } => Self::Inject(a),
            OpKind::Shift { a, by, .. } => Self::Shift(a, by.into()),
            _ => unreachable!("only these take bits to numbers"),
        }
    }

    /// Numbers that are shared for each element: `A` and, if it doesn't follow, `D`.
    pub const fn numbers(self) -> usize {
        match self {
            Self::Inject(_) => 1,
            Self::Shift(..) => 2,
        }
    }
}

/// A party's part of `A + v D`, of its parts of `A` and of `D`; where this follows from `A`, `one` says whether the 1 is in
/// its part.
pub fn part<W: Word>(a: &[W], d: Option<&[W]>, v: &[W], one: bool) -> Vec<W> {
    let one = if one { W::ONE } else { W::ZERO };
    let part = |((at, &a), &v): ((usize, &W), &W)| {
        let d = d.map_or_else(|| one.wrapping_sub(a.wrapping_add(a)), |d| d[at]);
        a.wrapping_add(v.wrapping_mul(d))
    };
    a.iter().enumerate().zip(v).map(part).collect()
}

/// Fills a job's columns of rows of a bank from a stream: row after row of the operation's.
pub fn draw_rows(stream: &mut PrssStream, draw: Draw, bank: &mut Bank, job: &Job, rows: Rows) {
    let cols = bank.shape(rows.reg).cols;
    let (stride, words) = (row_words(cols), words_of(&job.cols, cols));
    let out = bank.make(rows.reg).words_mut::<u64>();
    section(Section::Randomness, || {
        for index in 0..rows.count {
            let start = rows.row(index) as usize * stride;
            let block = block::<u64>(index as usize * stride + words.start);
            let row = bytemuck::cast_slice_mut(&mut out[start + words.start..start + words.end]);
            stream.fill(draw, block, row);
        }
    });
}

impl Party {
    /// Of the party that knows `S`: shares a job's bits of it, less the component `drawn`, which holds what was drawn for
    /// them; the message has the other component.
    pub fn split(&mut self, job: &Job, a: Reg, rows: Rows, drawn: usize) -> Vec<u8> {
        let [own, prev] = self.held();
        let rest = if drawn == own { prev } else { own };
        let cols = self.plan.register(rows.reg).cols;
        let (stride, words) = (row_words(cols), words_of(&job.cols, cols));
        let mut planes = self.component_mut(rest).take(rows.reg);
        with_word!(self.width(a), W => {
            let sum = self.sum_of::<W>(a, job.cols.clone());
            let planes = &mut planes.words_mut()[words.start..];
            section(Section::Slicing, || transpose::to_planes::<W>(&sum, rows.count as usize, planes, stride));
        });
        for start in (0..rows.count as usize).map(|row| row * stride) {
            let range = start + words.start..start + words.end;
            let drawn = &self.component(drawn).get(rows.reg).words()[range.clone()];
            bits::xor_assign(&mut planes.words_mut()[range], drawn);
        }
        let message = self.message_of(job, &Results::Rows(rows), &planes);
        self.component_mut(rest).put(rows.reg, planes);
        message
    }

    /// Of the party that knows `S`: `A` and, where it doesn't follow, `D`.
    pub fn selected<W: Word>(&self, job: &Job, selection: Selection) -> Vec<Vec<W>> {
        match selection {
            Selection::Inject(rows) => vec![self.bits_of(rows, &job.cols, &self.held())],
            Selection::Shift(a, by) => {
                let sum = self.sum_of::<W>(a, job.cols.clone());
                let wrap = |word: &W| word.shr(W::BITS - 1).shl(W::BITS - by);
                vec![sum.iter().map(|word| word.sar(by)).collect(), sum.iter().map(wrap).collect()]
            }
        }
    }

    /// Of the others, who have `T` as a component: `v`.
    pub fn selector<W: Word>(&self, job: &Job, selection: Selection, third: usize) -> Vec<W> {
        match selection {
            Selection::Inject(rows) => self.bits_of(rows, &job.cols, &[third]),
            Selection::Shift(a, _) => {
                self.words_of(a, job, third).iter().map(|word: &W| word.shr(W::BITS - 1)).collect()
            }
        }
    }

    /// Of one of these: `E`, if there is any.
    pub fn addend<W: Word>(&self, job: &Job, selection: Selection, third: usize) -> Option<Vec<W>> {
        match selection {
            Selection::Inject(_) => None,
            Selection::Shift(a, by) => {
                Some(self.words_of(a, job, third).iter().map(|word: &W| word.sar(by)).collect())
            }
        }
    }

    /// A job's columns of a component.
    fn words_of<W: Word>(&self, a: Reg, job: &Job, component: usize) -> &[W] {
        &self.component(component).get(a).words()[job.cols.clone()]
    }
}
