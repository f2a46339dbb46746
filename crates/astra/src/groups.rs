//! Products that are checked, wherever they stand: ANDs of rows of bits, products of numbers, and the ANDs of a circuit's
//! layer. What is checked of them is the same once their operands are laid out alike ([`flat`](crate::flat)).

use crate::draws::Drawn;
use crate::flat::{Batch, pack_bits};
use crate::seats::other_holder;
use crate::state::AstraEngine;
use crate::step;
use tacit_engine::bank::{Bank, row_words, words_of};
use tacit_engine::layer::{all, each_row};
use tacit_engine::tile::Tile;
use tacit_engine::wire::message_bytes;
use tacit_engine::{Error, Job};
use tacit_kernel::Element;
use tacit_program::plan::{Domain, OpKind, Plan, Reg, Rows};
use tacit_session::Draw;
use tacit_threeparty::Arithmetic;
use tacit_threeparty::circuits::Piece;
use tacit_threeparty::conversions::draw_rows;
use tacit_threeparty::products::{Results, Slice, block};

/// Products of one message.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) batch: Batch,
    pub(crate) job: &'a Job,
    place: Place<'a>,
}

/// Where left operands, right operands and results stand.
#[derive(Clone, Copy)]
enum Place<'a> {
    Rows([Rows; 3]),
    Numbers([Reg; 3]),
    Layer(Piece<'a>),
}

/// Which of a group's vectors.
pub(crate) const LEFT: usize = 0;
pub(crate) const RIGHT: usize = 1;
pub(crate) const RESULT: usize = 2;

impl<'a> Group<'a> {
    /// A job's, if it is one of ANDs or of products of numbers.
    pub(crate) fn of(plan: &Plan, job: &'a Job, kind: &OpKind) -> Option<Self> {
        let (domain, count, first, place) = match *kind {
            OpKind::And { a, b, dst } => {
                let rows = dst.count as usize;
                (Domain::Bits, rows * job.cols.len(), rows * (job.cols.start / 64), Place::Rows([a, b, dst]))
            }
            OpKind::Mul { a, b, dst } => {
                (plan.register(dst).domain, job.cols.len(), job.cols.start, Place::Numbers([a, b, dst]))
            }
            _ => return None,
        };
        Some(Self { batch: AstraEngine::batch(job, domain, count, first), job, place })
    }

    /// Some ANDs of a layer.
    pub(crate) fn of_layer(piece: Piece<'a>) -> Self {
        let op = piece.job.op;
        let batch = Batch {
            domain: Domain::Bits,
            count: piece.ands.len() * piece.job.cols.len(),
            op,
            first: piece.block as usize * 2,
            draws: (Draw { part: step::CIRCUIT, op }, 1),
            at: piece.at,
        };
        Self { batch, job: piece.job, place: Place::Layer(piece) }
    }
}

impl AstraEngine {
    /// A component of the left operands, of the right ones or of the results.
    pub(crate) fn vector<E: Element>(&mut self, group: &Group<'_>, which: usize, component: usize) -> Vec<E> {
        let cols = group.job.cols.clone();
        let zeros = || vec![E::ZERO; group.batch.words()];
        match group.place {
            Place::Numbers(regs) => self.party.component(component).get(regs[which]).words()[cols].to_vec(),
            Place::Rows(rows) => {
                let mut out = zeros();
                let (rows, bank) = (rows[which], self.party.component(component));
                let stride = row_words(bank.shape(rows.reg).cols);
                pack_bits(bank.get(rows.reg).words(), stride, Bank::stack(rows), cols, &mut out);
                out
            }
            Place::Layer(piece) => {
                let mut out = zeros();
                let words = piece.row_words();
                let (tile, component) = self.tile_of(group.job, component);
                let mut copy = |to: &mut [u64]| {
                    for (and, row) in piece.ands.iter().zip(to.chunks_exact_mut(words)) {
                        row.copy_from_slice(tile.row(and[which], component));
                    }
                };
                if cols.len() == words * 64 {
                    copy(bytemuck::cast_slice_mut(&mut out));
                } else {
                    let mut rows = vec![0; piece.ands.len() * words];
                    copy(&mut rows);
                    pack_bits(&rows, words, all(piece.ands.len()), 0..cols.len(), &mut out);
                }
                out
            }
        }
    }

    /// `P_0`: the sum of both components that it holds of a mask.
    pub(crate) fn mask_sum<E: Element>(
        &mut self,
        group: &Group<'_>,
        which: usize,
        arithmetic: &Arithmetic<E>,
    ) -> Vec<E> {
        if let Place::Numbers(regs) = group.place {
            return self.party.sum_of(regs[which], group.job.cols.clone());
        }
        let mut mask = self.vector(group, which, 1);
        (arithmetic.add)(&mut mask, &self.vector(group, which, 2));
        mask
    }

    /// Draws the masks of the results, as far as this party holds them.
    pub(crate) fn draw_result_masks<E: Element>(&mut self, group: &Group<'_>) {
        let (job, draw) = (group.job, group.batch.draw(Drawn::Mask));
        match group.place {
            Place::Numbers([.., dst]) => {
                let place = Slice { reg: dst, bank: job.cols.clone(), first: job.cols.start };
                self.draw_masks::<E>(job, &place);
            }
            Place::Rows([.., dst]) => {
                for component in self.held_masks() {
                    let stream = &mut self.streams[other_holder(self.me, component)];
                    draw_rows(stream, draw, self.party.component_mut(component), job, dst);
                }
            }
            Place::Layer(piece) => {
                let words = piece.row_words();
                for component in self.held_masks() {
                    let mut rows = vec![0_u64; piece.ands.len() * words];
                    let stream = &mut self.streams[other_holder(self.me, component)];
                    stream.fill_elements(draw, piece.block, &mut rows);
                    let (tile, component) = self.tile_of(job, component);
                    for (and, row) in piece.ands.iter().zip(rows.chunks_exact(words)) {
                        tile.row(and[RESULT], component).copy_from_slice(row);
                    }
                }
            }
        }
    }

    /// What `P_0` and `P_1` draw of the products of masks: nothing, of `P_2`.
    pub(crate) fn drawn_share<E: Element>(&mut self, group: &Group<'_>) -> Vec<E> {
        if self.me == 2 {
            return Vec::new();
        }
        let (mut share, cols) = (vec![E::ZERO; group.batch.words()], &group.job.cols);
        let (stream, draw) = (&mut self.streams[1 - self.me], group.batch.draw(Drawn::Share));
        let mut rows: Vec<u64>;
        let (words, count) = match group.place {
            Place::Numbers(_) => {
                stream.fill_elements(draw, block::<E>(group.batch.first), &mut share);
                return share;
            }
            Place::Rows([.., dst]) => {
                let total = self.party.plan.register(dst.reg).cols;
                let (stride, words) = (row_words(total), words_of(cols, total));
                rows = vec![0; dst.count as usize * words.len()];
                for (index, row) in rows.chunks_exact_mut(words.len().max(1)).enumerate() {
                    stream.fill_elements(draw, block::<u64>(index * stride + words.start), row);
                }
                (words.len(), dst.count as usize)
            }
            Place::Layer(piece) => {
                rows = vec![0; piece.ands.len() * piece.row_words()];
                stream.fill_elements(draw, piece.block, &mut rows);
                (piece.row_words(), piece.ands.len())
            }
        };
        pack_bits(&rows, words, all(count), 0..cols.len(), &mut share);
        share
    }

    /// `P_2`: keeps its shares of the products of masks.
    pub(crate) fn keep_group<E: Element>(&mut self, group: &Group<'_>, shares: &[E]) -> Result<(), Error> {
        let (job, bytes) = (group.job, bytemuck::cast_slice::<E, u8>(shares));
        let message = || &bytes[..message_bytes(Domain::Bits, group.batch.count)];
        match group.place {
            Place::Rows([.., dst]) => self.keep_shares(job, &Results::Rows(dst), message()),
            Place::Layer(piece) => self.keep_layer_shares(piece, message()),
            Place::Numbers(_) => {
                let kept = bytemuck::cast_slice_mut::<u8, E>(self.ahead()?.shares_mut(job.op));
                kept[job.cols.clone()].copy_from_slice(shares);
                Ok(())
            }
        }
    }

    /// `P_2`: keeps its shares of some ANDs of a layer, as a message has them.
    pub(crate) fn keep_layer_shares(&mut self, piece: Piece<'_>, message: &[u8]) -> Result<(), Error> {
        let shares = bytemuck::cast_slice_mut::<u8, u64>(self.ahead()?.shares_mut(piece.job.op));
        let shares = &mut shares[piece.block as usize * 2..];
        each_row(piece.job, piece.ands.len(), message, |index, row| {
            shares[index * row.len()..][..row.len()].copy_from_slice(row);
        });
        Ok(())
    }

    /// A job's tile, and the place of a component in it.
    fn tile_of(&mut self, job: &Job, component: usize) -> (&mut Tile, usize) {
        if self.has_one_mask() {
            return (self.mask_tiles.get(job), 0);
        }
        let place = usize::from(component != self.party.number);
        (self.party.tiles.get(job), place)
    }
}
