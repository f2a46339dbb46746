//! Offline, for products that are checked: what makes a triple of each (figure 8, offline).
//!
//! For a product `z = x y` of masked values let `l_x = x_1 + x_2`, and `gamma = l_x l_y`. `P_0` shares `gamma` as
//! [`products`](crate::products) has it, so `P_2`'s part is what it is sent and `P_1`'s is drawn, with `x_1 y_1` added.
//! `P_1` and `P_2` draw `delta_x`, `delta_y` and the two parts of `delta_z` from the key that `P_0` hasn't. Then
//!
//! ```text
//! a = (delta_x, x_1, x_2)    b = (delta_y, y_1, y_2)    c_0 = delta_z + delta_x delta_y
//!                                                       c_i = delta_x y_i + delta_y x_i + gamma_i - delta_(z,i)
//! ```
//!
//! are sharings of three components. Two parties know each component, except `c_1` and `c_2`, which the check sends to
//! `P_0`. If `gamma` is right then `c = a b`, as
//!
//! ```text
//! (delta_x + l_x)(delta_y + l_y) = delta_x delta_y + delta_x l_y + delta_y l_x + gamma
//! ```
//!
//! An error in `gamma` or `c_1 + c_2` is an error of the triple, of the same size. `P_0` keeps `c_1 + c_2`, the paper's
//! `-chi`. `delta_z`, which no other triple has, hides it from `P_0`.
//!
//! **Sums of products.** In a product of vectors, each pair of entries makes a triple. `P_2` adds up its parts of
//! `gamma`, and `P_0` adds up `c_1 + c_2`; only the sums are kept. The deltas of operands belong to their entries.
//!
//! `P_1` needn't draw its parts again online: the first part of a sum is the one that [`products`](crate::products)
//! draws for a result, less all other parts. In the same way the first `delta_z` follows from what `P_1` and `P_2`
//! draw. As these are uniform, so are all.

use crate::counts::Noted;
use crate::draws::{Drawn, Walk};
use crate::flat::{Batch, pack, unpack};
use crate::groups::{Group, LEFT, RIGHT};
use crate::planted::{Mistake, planted};
use crate::state::AstraEngine;
use crate::step;
use std::ops::Range;
use tacit_engine::wire::message_bytes;
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::{Element, bits, ring};
use tacit_program::plan::{Domain, MatrixShape, OpKind, Reg};
use tacit_session::At;
use tacit_threeparty::Arithmetic;
use tacit_threeparty::products::{Slice, block};

/// Products of a sum that are made together; they fill a message.
const SUMMED: usize = 8192;

/// Of some products' operands the components that a party has of them in the walk that is on: `P_0` both masks, the
/// others their mask offline and `m` online.
struct Operands<E> {
    x: Vec<Vec<E>>,
    y: Vec<Vec<E>>,
}

/// What an evaluator draws for some products: `delta_x`, `delta_y`, `delta_(z,1) + delta_(z,2)`, `delta_(z,1)`.
struct Deltas<E> {
    x: Vec<E>,
    y: Vec<E>,
    both: Vec<E>,
    one: Vec<E>,
}

impl AstraEngine {
    /// The components that [`Operands`] has.
    fn components(&self) -> std::ops::RangeInclusive<usize> {
        if self.walk == Walk::Online && self.me != 0 { 0..=0 } else { self.held_masks() }
    }

    /// Offline: makes a job's products.
    pub(crate) fn make_products(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        if let Some(group) = Group::of(&self.party.plan, job, kind) {
            return self.make_group(&group);
        }
        match *kind {
            // The deltas of the right matrix are for all rows: so all are made with the last.
            OpKind::MatMul { a, b, shape, dst } if job.last => {
                with_element!(self.party.domain(dst), E => self.make_sums::<E>(job, a, b, shape, dst))
            }
            OpKind::Msb { a, dst } if job.stage == 0 => self.make_msbs(job, a, dst),
            _ => Ok(()),
        }
    }

    /// Offline: makes some products.
    pub(crate) fn make_group(&mut self, group: &Group<'_>) -> Result<(), Error> {
        match group.batch.domain {
            Domain::Bits => self.make_each(group, &Arithmetic::<u64>::BITS),
            domain => with_element!(domain, E => self.make_each(group, &Arithmetic::<E>::NUMBERS)),
        }
    }

    fn make_each<E: Element>(&mut self, group: &Group<'_>, arithmetic: &Arithmetic<E>) -> Result<(), Error> {
        let batch = &group.batch;
        self.draw_result_masks::<E>(group);
        let mut operands =
            |which| self.components().map(|component| self.vector(group, which, component)).collect();
        let operands = Operands { x: operands(LEFT), y: operands(RIGHT) };
        let share = self.drawn_share(group);
        let at = At { part: batch.at.part + step::OFFLINE, ..batch.at };
        let bytes = message_bytes(batch.domain, batch.count);
        if self.me == 0 {
            let part = gamma(arithmetic, &operands, &share);
            let message = pack(batch.domain, &part, 1, batch.count, self.party.session.mesh().buffer(bytes));
            let to = self.seats.party(2);
            self.party.session.mesh().send_vec(to, at, message)?;
            if unnoted(batch.domain) {
                return Ok(());
            }
            self.note_masks(batch.domain, batch.count, &operands);
            let place =
                Noted { domain: batch.domain, op: batch.op, first: batch.first, results: batch.count, of: 1 };
            self.verified().noted(place);
            return self.check_full();
        }
        let gamma = if self.me == 2 {
            let from = self.seats.party(0);
            let message = self.party.session.mesh().recv(from, at, bytes)?;
            let gamma = unpack(batch.domain, &message, 1, batch.count);
            self.party.session.mesh().recycle(message);
            gamma
        } else {
            share
        };
        if !unnoted(batch.domain) {
            let deltas = Deltas {
                x: self.deltas(batch, Drawn::LeftDelta),
                y: self.deltas(batch, Drawn::RightDelta),
                both: self.deltas(batch, Drawn::ResultDelta),
                one: self.deltas(batch, Drawn::FirstDelta),
            };
            self.note_triples(batch.domain, batch.count, arithmetic, &operands, &gamma, deltas);
            self.check_full()?;
        }
        if self.me == 2 { self.keep_group(group, &gamma) } else { Ok(()) }
    }

    /// Checks whole batches, if there are any.
    fn check_full(&mut self) -> Result<(), Error> {
        match &mut self.verified {
            Some(verified) => verified.check_full(&mut self.party.session),
            None => Ok(()),
        }
    }

    /// Notes an evaluator's part of some triples.
    fn note_triples<E: Element>(
        &mut self,
        domain: Domain,
        count: usize,
        arithmetic: &Arithmetic<E>,
        operands: &Operands<E>,
        gamma: &[E],
        deltas: Deltas<E>,
    ) {
        let (x, y) = (&operands.x[0], &operands.y[0]);
        let one = if planted(Mistake::DeltaInOnePart) { &deltas.both } else { &deltas.one };
        let mut part = gamma.to_vec();
        if self.me == 1 {
            (arithmetic.mul_add)(x, y, &mut part);
            (arithmetic.sub)(&mut part, one);
        } else {
            (arithmetic.sub)(&mut part, &deltas.both);
            (arithmetic.add)(&mut part, one);
        }
        (arithmetic.mul_add)(&deltas.x, y, &mut part);
        (arithmetic.mul_add)(&deltas.y, x, &mut part);
        let mut zero = deltas.both;
        (arithmetic.mul_add)(&deltas.x, &deltas.y, &mut zero);
        self.verified().note(domain, count, [&deltas.x, x], [&deltas.y, y], Some([&zero, &part]));
    }

    /// Notes `P_0`'s part of some triples.
    fn note_masks<E: Element>(&mut self, domain: Domain, count: usize, operands: &Operands<E>) {
        self.verified().note(domain, count, pair(&operands.x), pair(&operands.y), None);
    }

    /// All products of the sums that are the entries of a product of matrices.
    fn make_sums<E: Element>(
        &mut self,
        job: &Job,
        a: Reg,
        b: Reg,
        shape: MatrixShape,
        dst: Reg,
    ) -> Result<(), Error> {
        let (domain, results, k) = (self.party.domain(dst), shape.batch * shape.m * shape.n, shape.k);
        self.draw_masks::<E>(job, &Slice { reg: dst, bank: 0..results, first: 0 });
        let whole = |reg| -> Vec<Vec<E>> {
            self.components().map(|of| self.party.component(of).get(reg).words().to_vec()).collect()
        };
        let mut whole = Operands { x: whole(a), y: whole(b) };
        let batch = Self::sum_batch(job, domain, results, 0);
        if self.me != 0 {
            // Behind the mask, the deltas of the entries.
            for (of, drawn) in [(&mut whole.x, Drawn::LeftDelta), (&mut whole.y, Drawn::RightDelta)] {
                let deltas = self.deltas(&Batch { count: of[0].len(), ..batch }, drawn);
                of.push(deltas);
            }
        }
        for right in &mut whole.y {
            *right = transposed(right, shape);
        }
        let step = (SUMMED / k).max(1).next_multiple_of(16);
        let mut stream = Pieces { waiting: Vec::new(), left: results * k, piece: 0 };
        for from in (0..results).step_by(step) {
            let sums = from..results.min(from + step);
            let count = sums.len() * k;
            let mut operands = Operands {
                x: whole.x.iter().map(|x| spread(x, sums.clone(), |at| at / shape.n, k)).collect(),
                y: whole.y.iter().map(|y| spread(y, sums.clone(), |at| column(shape, at), k)).collect(),
            };
            let products = Batch { count, first: from * k, ..batch };
            if self.me == 0 {
                let share = self.product_shares::<E>(&products, sums.clone(), k);
                stream.waiting.extend(gamma(&Arithmetic::NUMBERS, &operands, &share));
                self.send_pieces(&mut stream, &batch)?;
                self.note_masks(domain, count, &operands);
                let place = Noted { domain, op: job.op, first: from, results: sums.len(), of: k };
                self.verified().noted(place);
            } else {
                let gamma = if self.me == 1 {
                    self.product_shares::<E>(&products, sums.clone(), k)
                } else {
                    self.recv_pieces(&mut stream, &batch, count)?
                };
                if self.me == 2 {
                    let shares = bytemuck::cast_slice_mut::<u8, E>(self.ahead()?.shares_mut(job.op));
                    for (share, parts) in shares[sums.clone()].iter_mut().zip(gamma.chunks_exact(k)) {
                        *share = parts.iter().fold(E::ZERO, |sum, &part| sum.wrapping_add(part));
                    }
                }
                let totals: Vec<E> =
                    self.deltas(&Batch { count: sums.len(), first: from, ..batch }, Drawn::ResultDelta);
                let mut both = self.deltas(&products, Drawn::ProductDelta);
                settle(&mut both, &totals, k);
                let one = self.deltas(&products, Drawn::FirstDelta);
                let (x, y) = (operands.x.pop(), operands.y.pop());
                let deltas = Deltas { x: x.unwrap_or_default(), y: y.unwrap_or_default(), both, one };
                self.note_triples(domain, count, &Arithmetic::NUMBERS, &operands, &gamma, deltas);
            }
            self.party.session.mesh().tick()?;
            // Where a message ends, nobody waits for a part of one.
            if sums.end == results || (sums.end * k).is_multiple_of(SUMMED) {
                self.check_full()?;
            }
        }
        Ok(())
    }

    /// What `P_0` and `P_1` draw of the `gamma`s of some sums' products: of each sum as much as they draw for the sum.
    fn product_shares<E: Element>(&mut self, products: &Batch, sums: Range<usize>, k: usize) -> Vec<E> {
        let totals: Vec<E> = self.share(products, Drawn::Share, sums);
        let range = products.first..products.first + products.count;
        let mut shares = self.share(products, Drawn::ProductShare, range);
        settle(&mut shares, &totals, k);
        shares
    }

    /// `P_0`: sends whole pieces of what waits, and at the end the rest.
    fn send_pieces<E: Element>(&mut self, stream: &mut Pieces<E>, batch: &Batch) -> Result<(), Error> {
        let to = self.seats.party(2);
        while let Some(count) = stream.next() {
            if stream.waiting.len() < count {
                break;
            }
            let piece: Vec<E> = stream.waiting.drain(..count).collect();
            let message = self.party.session.mesh().buffer(message_bytes(batch.domain, count));
            let message = pack(batch.domain, &piece, 1, count, message);
            self.party.session.mesh().send_vec(to, stream.take(batch, count), message)?;
        }
        Ok(())
    }

    /// `P_2`: takes so many elements.
    fn recv_pieces<E: Element>(
        &mut self,
        stream: &mut Pieces<E>,
        batch: &Batch,
        wanted: usize,
    ) -> Result<Vec<E>, Error> {
        let from = self.seats.party(0);
        while let Some(count) = stream.next().filter(|_| stream.waiting.len() < wanted) {
            let (at, bytes) = (stream.take(batch, count), message_bytes(batch.domain, count));
            let message = self.party.session.mesh().recv(from, at, bytes)?;
            stream.waiting.extend(unpack::<E>(batch.domain, &message, 1, count));
            self.party.session.mesh().recycle(message);
        }
        Ok(stream.waiting.drain(..wanted).collect())
    }

    /// What `P_0` and `P_1` draw for some elements.
    fn share<E: Element>(&mut self, batch: &Batch, drawn: Drawn, range: Range<usize>) -> Vec<E> {
        let mut share = vec![E::ZERO; range.len()];
        self.streams[1 - self.me].fill_elements(batch.draw(drawn), block::<E>(range.start), &mut share);
        share
    }

    /// What `P_1` and `P_2` draw for some products. Bits that fill the last word are zero.
    pub(crate) fn deltas<E: Element>(&mut self, batch: &Batch, drawn: Drawn) -> Vec<E> {
        let mut deltas = vec![E::ZERO; batch.words()];
        self.fill_deltas(batch, drawn, &mut deltas);
        deltas
    }

    /// The same, into memory that is there.
    pub(crate) fn fill_deltas<E: Element>(&mut self, batch: &Batch, drawn: Drawn, out: &mut [E]) {
        self.streams[3 - self.me].fill_elements(batch.draw(drawn), block::<E>(batch.first), out);
        #[cfg(feature = "planted")]
        crate::planted::share(drawn, bytemuck::cast_slice_mut(out));
        if batch.domain == Domain::Bits {
            bits::clear_tail(bytemuck::cast_slice_mut(out), batch.count);
        }
    }

    /// Results of a product of matrices. Its messages are counted by themselves, as it is made with its last job.
    pub(crate) fn sum_batch(job: &Job, domain: Domain, count: usize, first: usize) -> Batch {
        let batch = Self::batch(job, domain, count, first);
        Batch { at: At { batch: 0, ..batch.at }, ..batch }
    }
}

/// Whether nothing of such products is noted, by mistake.
pub(crate) fn unnoted(domain: Domain) -> bool {
    domain != Domain::Bits && planted(Mistake::PathUnnoted)
}

/// Elements that travel in pieces of [`SUMMED`].
struct Pieces<E> {
    /// Made and not sent, or received and not taken.
    waiting: Vec<E>,
    /// Elements that are still to travel.
    left: usize,
    /// The next message's number.
    piece: u32,
}

impl<E> Pieces<E> {
    /// Elements of the next message, if there is one.
    fn next(&self) -> Option<usize> {
        (self.left > 0).then(|| self.left.min(SUMMED))
    }

    /// The next message's address.
    fn take(&mut self, batch: &Batch, count: usize) -> At {
        let at = At { part: batch.at.part + step::OFFLINE, batch: self.piece, ..batch.at };
        self.left -= count;
        self.piece += 1;
        at
    }
}

/// Both masks, of `P_0`.
fn pair<E>(components: &[Vec<E>]) -> [&[E]; 2] {
    [&components[0], &components[1]]
}

/// `P_0`'s part of some products of masks, less what it draws.
fn gamma<E: Element>(arithmetic: &Arithmetic<E>, operands: &Operands<E>, share: &[E]) -> Vec<E> {
    let mut part = vec![E::ZERO; share.len()];
    (arithmetic.sub)(&mut part, share);
    let ([x_1, x_2], [y_1, y_2]) = (pair(&operands.x), pair(&operands.y));
    (arithmetic.cross)(x_2, x_1, y_2, y_1, &mut part);
    part
}

/// Sets the first of every `k` elements so that they add up to their total.
fn settle<E: Element>(elements: &mut [E], totals: &[E], k: usize) {
    for (elements, &total) in elements.chunks_exact_mut(k).zip(totals) {
        if let [first, others @ ..] = elements {
            *first = others.iter().fold(total, |left, &other| left.wrapping_sub(other));
        }
    }
}

/// The columns of a batch of right matrices, one after another.
fn transposed<E: Element>(right: &[E], shape: MatrixShape) -> Vec<E> {
    let MatrixShape { k, n, .. } = shape;
    let mut out = vec![E::ZERO; right.len()];
    for (matrix, out) in right.chunks_exact((k * n).max(1)).zip(out.chunks_exact_mut((k * n).max(1))) {
        ring::copy_strided(matrix, 0, &[n, k], &[1, n as isize], out);
    }
    out
}

/// Which of the columns that [`transposed`] lines up an entry of a product is of.
fn column(shape: MatrixShape, entry: usize) -> usize {
    entry / (shape.m * shape.n) * shape.n + entry % shape.n
}

/// Of each of some sums the `k` entries of one operand, which stand at a row.
fn spread<E: Element>(operand: &[E], sums: Range<usize>, row: impl Fn(usize) -> usize, k: usize) -> Vec<E> {
    let mut out = Vec::with_capacity(sums.len() * k);
    for at in sums {
        let row = row(at);
        out.extend_from_slice(&operand[row * k..(row + 1) * k]);
    }
    out
}
