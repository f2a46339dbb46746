//! A sort by one bit: where each row goes follows from how many are before it, so that no keys are compared.
//!
//! A row with 0 goes behind the rows with 0 that stand before it, one with 1 behind all with 0 and the ones that stand before it.
//! These ranks are different, and shuffled they are in a random order, whatever the bits are: they can be opened (a step of a
//! radix sort on shuffles, Hamada et al. 2014; Asharov et al. 2022, section 3). A product of a 32-bit number for each row,
//! and one more column in the shuffle.

use super::NUMBERS;
use crate::lower::lowering::Lowering;
use crate::node::NodeId;
use crate::plan::{Insertion, Layout, Local, OpKind, Opening, Public, Reg};

impl Lowering<'_> {
    /// Where each row goes.
    pub(super) fn ranks(&mut self, keys: NodeId) -> Reg {
        let rows = self.ty(keys).len();
        let bits = self.whole(keys);
        let ones = self.inject(bits, NUMBERS);
        // Ones up to each row, and in all.
        let before = self.running_sums(ones);
        let all = self.stretch(before, rows - 1, 1);
        let place = self.sort_places(rows, rows);
        // Of a row with 0 its place without the ones before it; with 1 it is further by `after`.
        let zero = self.difference(place, before);
        let twice = self.difference(before, zero);
        let [repeated, less, after, moved, rank] = [0; 5].map(|_| self.fresh(NUMBERS, rows));
        let layout = Layout { offset: 0, shape: vec![rows], strides: vec![0] };
        self.plan.local(Local::Copy { a: all, layout, at: 0, dst: repeated });
        self.plan.local(Local::Sub { a: twice, b: repeated, dst: less });
        let last = Public::Splat(rows as u128 - 1);
        self.plan.local(Local::AddPublic { a: less, c: last, dst: after });
        self.plan.interact(OpKind::Mul { a: ones, b: after, dst: moved });
        self.plan.local(Local::Add { a: zero, b: moved, dst: rank });
        rank
    }

    /// The order that shuffled ranks say: a public register of rows' numbers.
    pub(super) fn order_of_ranks(&mut self, ranks: Reg, rows: usize) -> Reg {
        let opened = self.plan.public(NUMBERS, rows);
        self.plan.interact(OpKind::Open { a: ranks, dst: opened, how: Opening::Verified });
        let order = self.plan.public(NUMBERS, rows);
        self.plan.local(Local::Insertion(Insertion::Order { ranks: opened, dst: order }));
        order
    }

    /// The sums of all numbers up to each one, by sums of pairs (Brent and Kung 1982): about two additions for a number.
    fn running_sums(&mut self, a: Reg) -> Reg {
        let count = self.plan.shape(a).cols;
        if count < 2 {
            return a;
        }
        let half = count / 2;
        let [even, odd] = [0, 1].map(|offset| {
            let dst = self.fresh(NUMBERS, half);
            let layout = Layout { offset, shape: vec![half], strides: vec![2] };
            self.plan.local(Local::Copy { a, layout, at: 0, dst });
            dst
        });
        let pairs = self.fresh(NUMBERS, half);
        self.plan.local(Local::Add { a: even, b: odd, dst: pairs });
        let at_odd = self.running_sums(pairs);
        let at_even = self.difference(at_odd, odd);
        let whole = Layout::whole(&[half]);
        let both = self.joined(NUMBERS, &[(at_even, whole.clone()), (at_odd, whole)]);
        let woven = (both, Layout { offset: 0, shape: vec![half, 2], strides: vec![1, half as isize] });
        if count.is_multiple_of(2) {
            return self.gathered(woven.0, woven.1);
        }
        let last = self.fresh(NUMBERS, 1);
        let [before, own] = [(at_odd, half - 1), (a, count - 1)].map(|(a, from)| self.stretch(a, from, 1));
        self.plan.local(Local::Add { a: before, b: own, dst: last });
        self.joined(NUMBERS, &[woven, (last, Layout::whole(&[1]))])
    }

    fn difference(&mut self, a: Reg, b: Reg) -> Reg {
        let dst = self.fresh(NUMBERS, self.plan.shape(a).cols);
        self.plan.local(Local::Sub { a, b, dst });
        dst
    }
}
