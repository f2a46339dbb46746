//! Which memory each register of a plan has, laid out before the run: registers that are never written at the same time share it.

use super::touch;
use tacit_kernel::Buffer;
use tacit_program::plan::Reg;

/// Most bytes of memory that a register of so many is given where more is free: a small one that is written for long would keep a
/// large one's from all others. Thirds of registers, as conversions in turns have them, take the memory of whole ones.
pub(super) fn most_for(bytes: usize) -> usize {
    4 * bytes + 4096
}

/// A place that a register hasn't.
const NOWHERE: usize = usize::MAX;

/// Memory by places, and each register's place.
#[derive(Debug, Default)]
pub(super) struct Places {
    of: Vec<usize>,
    memory: Vec<Option<Buffer>>,
}

impl Places {
    /// A register's memory; nothing if it has none, or another register has it, since it is written out of the plan's order.
    pub(super) fn take(&mut self, reg: Reg, bytes: usize) -> Option<Buffer> {
        let place = self.memory.get_mut(*self.of.get(reg as usize)?)?;
        let mut buffer = place.take_if(|buffer| buffer.capacity() >= bytes)?;
        buffer.reuse(bytes);
        Some(buffer)
    }

    /// Takes back what a register had; not if its place has other memory meanwhile.
    pub(super) fn give_back(&mut self, reg: Reg, buffer: Buffer) -> Option<Buffer> {
        let place = self.of.get(reg as usize).and_then(|&place| self.memory.get_mut(place));
        match place {
            Some(place @ None) => {
                *place = Some(buffer);
                None
            }
            _ => Some(buffer),
        }
    }

    /// Whether a register has a place.
    pub(super) fn has(&self, reg: Reg) -> bool {
        self.of.get(reg as usize).is_some_and(|&place| place < self.memory.len())
    }

    /// What no register has.
    pub(super) fn free(&mut self) -> impl Iterator<Item = &mut Buffer> {
        self.memory.iter_mut().flatten()
    }

    /// The same, and no places any more.
    pub(super) fn memory(self) -> impl Iterator<Item = Buffer> {
        self.memory.into_iter().flatten()
    }
}

/// Places, as they are found by going through a plan.
pub(super) struct LayOut {
    of: Vec<usize>,
    /// Of each place.
    bytes: Vec<usize>,
    written: Vec<bool>,
    free: Vec<usize>,
}

impl LayOut {
    pub(super) fn new(registers: usize) -> Self {
        Self { of: vec![NOWHERE; registers], bytes: vec![], written: vec![false; registers], free: vec![] }
    }

    /// A register is written. It gets the smallest place that is free and large enough, and not too large; else the
    /// largest of the smaller ones becomes as large, since nothing has come from the system yet.
    pub(super) fn make(&mut self, reg: Reg, bytes: usize) {
        let reg = reg as usize;
        if std::mem::replace(&mut self.written[reg], true) {
            return;
        }
        let size = |at: &usize| self.bytes[self.free[*at]];
        let all = 0..self.free.len();
        let fits = all.clone().filter(|at| (bytes..=most_for(bytes)).contains(&size(at))).min_by_key(size);
        let grows = || all.filter(|at| size(at) < bytes).max_by_key(size);
        let known = self.of[reg];
        let place = match self.free.iter().position(|&place| place == known) {
            // One that is written again stays where it was.
            Some(at) => self.free.swap_remove(at),
            None => {
                if let Some(at) = fits.or_else(grows) {
                    self.free.swap_remove(at)
                } else {
                    self.bytes.push(0);
                    self.bytes.len() - 1
                }
            }
        };
        self.bytes[place] = self.bytes[place].max(bytes);
        self.of[reg] = place;
    }

    /// A register is freed.
    pub(super) fn free(&mut self, reg: Reg) {
        if std::mem::replace(&mut self.written[reg as usize], false) {
            self.free.push(self.of[reg as usize]);
        }
    }

    /// Of all places.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.iter().map(|&bytes| bytes as u64).sum()
    }

    /// All memory, from the system.
    pub(super) fn end(self) -> Places {
        let memory = |bytes: usize| {
            let mut buffer = Buffer::new(bytes);
            touch(buffer.bytes_mut());
            Some(buffer)
        };
        Places { of: self.of, memory: self.bytes.into_iter().map(memory).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each turn leaves a small register for good and frees a large one.
    #[test]
    fn what_is_small_and_stays_has_no_large_place() {
        let turns = 20;
        let mut layout = LayOut::new(2 * turns);
        for turn in 0..turns as Reg {
            layout.make(2 * turn, 1 << 20);
            if turn > 0 {
                layout.free(2 * (turn - 1));
            }
            layout.make(2 * turn + 1, 8);
        }
        let told = layout.bytes();
        let bytes = layout.end().memory().map(|buffer| buffer.len()).sum::<usize>();
        assert_eq!(bytes as u64, told);
        assert!(bytes <= (2 << 20) + 8 * turns, "{bytes}");
    }

    /// Of a plan that writes `a`, frees it, writes a larger `b` and a small `c` beside it, and `a` again.
    #[test]
    fn registers_that_are_never_written_at_once_share_memory() {
        let [a, b, c] = [0, 1, 2];
        let mut layout = LayOut::new(4);
        layout.make(a, 100);
        layout.free(a);
        layout.make(b, 300);
        layout.make(b, 300);
        layout.make(c, 10);
        layout.free(b);
        layout.make(a, 100);
        let mut places = layout.end();
        assert_eq!(places.memory.iter().flatten().map(Buffer::len).sum::<usize>(), 310);
        let first = places.take(a, 100).unwrap();
        assert_eq!(first.len(), 100);
        // Out of order, and without a place.
        assert!(places.take(b, 300).is_none() && places.take(3, 1).is_none());
        assert!(places.give_back(3, Buffer::new(1)).is_some());
        assert!(places.give_back(a, first).is_none());
        assert!(places.give_back(b, Buffer::new(300)).is_some());
        let second = places.take(b, 300).unwrap();
        assert_eq!((second.len(), places.free().count()), (300, 1));
        // What is too small for its register stays.
        assert!(places.give_back(b, Buffer::new(10)).is_none());
        assert!(places.take(b, 300).is_none());
        assert_eq!(places.memory().count(), 2);
    }
}
