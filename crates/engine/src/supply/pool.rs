//! Supplies in memory.

use super::{Demand, Drawer, Draws, SupplyKind};
use crate::Error;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use tacit_kernel::Buffer;

/// All that one plan draws, in memory, and what of it is drawn. Wiped when it is dropped.
#[derive(Debug, Default)]
pub struct Pool {
    draws: Draws,
    kinds: BTreeMap<SupplyKind, Vec<Buffer>>,
}

impl Pool {
    /// For what a demand says; of no kind is there anything yet.
    pub fn new(demand: Arc<Demand>) -> Self {
        Self { draws: Draws::new(demand), kinds: BTreeMap::new() }
    }

    /// Takes all items of a kind: each part of them in a buffer, and whatever the protocol adds in like parts, in the order in
    /// which [`draw`](Self::draw) gives them.
    pub fn put(&mut self, kind: SupplyKind, parts: Vec<Buffer>) {
        self.kinds.insert(kind, parts);
    }

    /// Items of a kind, counted from the drawer's first, as [`Supply::draw`](super::Supply::draw).
    ///
    /// # Errors
    /// [`Error::Supply`] for items that aren't the drawer's, that it has drawn before, or that aren't there.
    pub fn draw(
        &mut self,
        drawer: Drawer,
        kind: SupplyKind,
        items: Range<u64>,
    ) -> Result<Vec<Buffer>, Error> {
        let items = self.draws.note(drawer, kind, items)?;
        let items = items.start as usize..items.end as usize;
        let bytes = kind.part_bytes();
        let parts = self.kinds.get(&kind).into_iter().flatten().zip(bytes.iter().cycle());
        let part = |(part, bytes): (&Buffer, &usize)| {
            let own = part.bytes().get(bytes * items.start..bytes * items.end)?;
            let mut drawn = Buffer::new(own.len());
            drawn.bytes_mut().copy_from_slice(own);
            Some(drawn)
        };
        let drawn = parts.map(part).collect::<Option<Vec<Buffer>>>().filter(|drawn| !drawn.is_empty());
        drawn.ok_or_else(|| Error::Supply(format!("there are no {kind} {items:?}")))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.kinds.values_mut().flatten().for_each(Buffer::wipe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::plan::Domain;

    #[test]
    fn items_are_drawn_once_part_by_part() {
        let kind = SupplyKind::Triple(Domain::Bits);
        let mut pool = Pool::new(Arc::new(Demand::stock(&[(kind, 3)])));
        let part = |first: u8| {
            let mut part = Buffer::new(24);
            part.bytes_mut().iter_mut().zip(first..).for_each(|(byte, value)| *byte = value);
            part
        };
        assert!(pool.draw(Drawer::Stock, kind, 0..1).is_err(), "nothing is there yet");
        pool.put(kind, vec![part(0), part(50), part(100)]);
        let drawn = pool.draw(Drawer::Stock, kind, 1..3).unwrap();
        assert!(
            drawn
                .iter()
                .map(Buffer::bytes)
                .eq([part(0), part(50), part(100)].iter().map(|p| &p.bytes()[8..]))
        );
        assert!(pool.draw(Drawer::Stock, kind, 2..3).is_err(), "drawn before");
        assert!(pool.draw(Drawer::Stock, kind, 3..4).is_err(), "nobody's");
        assert!(pool.draw(Drawer::Op(0), kind, 0..1).is_err(), "not its own");
    }
}
