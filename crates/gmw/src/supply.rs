//! Triples and random bits as a supply: what a plan draws is made when it asks for it.

use crate::masks::{Masks, masks};
use crate::pairs::{TRANSFERS, pairs};
use crate::strings::Strings;
use crate::transfers::Transfers;
use crate::triples::triples;
use std::ops::Range;
use std::sync::Arc;
use tacit_additive::SEED_WORDS;
use tacit_engine::supply::{CheckScope, Demand, Drawer, Pool, Supply, SupplyKind};
use tacit_engine::{Error, Material};
use tacit_kernel::Buffer;
use tacit_net::Phase;
use tacit_ot::{Choices, Form, Ot, Params, Request, Roles, Sink};
use tacit_program::plan::Domain;
use tacit_session::Session;

/// Triples for ANDs, 64 side by side.
const TRIPLE: SupplyKind = SupplyKind::Triple(Domain::Bits);

/// Words of triples that are made at a time, 64 in each. While they are, transfers take 4 bits for each AND and other party, and
/// corrections 4 more but for the next party: 2^24 ANDs are 8 MiB of each.
const MADE_AT_ONCE: usize = 1 << 18;

/// Of products with vectors of so many bits as many as take the same memory.
pub(crate) const fn made_at_once(length: usize) -> usize {
    MADE_AT_ONCE / length
}

/// How many items of each kind a plan draws: of 64 bits each, and of masks one for each branch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Triples, and products of a bit with a vector: the kind, bits of the vector, and how many.
    pub(crate) products: Vec<(SupplyKind, usize, usize)>,
    /// Random bits, by kind: each party draws its own share.
    pub(crate) random: Vec<(SupplyKind, usize)>,
    /// Masks for branches, by kind: their words, and how many.
    pub(crate) masks: Vec<(SupplyKind, usize, usize)>,
}

impl Wanted {
    /// # Errors
    /// [`Error::Supply`] if something else is drawn.
    pub(crate) fn of(demand: &Demand) -> Result<Self, Error> {
        let mut wanted = Self { products: Vec::new(), random: Vec::new(), masks: Vec::new() };
        for (kind, count) in demand.counts() {
            // Of each item there are 64 bits.
            let count = usize::try_from(count).ok().filter(|count| count.checked_mul(64).is_some());
            match (kind, count) {
                (TRIPLE, Some(count)) => wanted.products.push((kind, 1, count)),
                (SupplyKind::Scaling { length: length @ 1..=128 }, Some(count)) => {
                    wanted.products.push((kind, length.into(), count));
                }
                (
                    SupplyKind::RandomBit(Domain::Bits) | SupplyKind::RandomElement(Domain::Bits),
                    Some(count),
                ) => wanted.random.push((kind, count)),
                (SupplyKind::Masks { words }, Some(count)) => {
                    wanted.masks.push((kind, words as usize, count));
                }
                _ => return Err(Error::Supply(format!("preprocessing makes no {kind}, or not so many"))),
            }
        }
        Ok(wanted)
    }

    /// Whether anything of it is made of transfers.
    pub(crate) fn takes_transfers(&self) -> bool {
        !self.products.is_empty() || !self.masks.is_empty()
    }

    /// Random transfers from each party to each other one, where masks are made of so many seeds.
    pub(crate) fn transfers(&self, seeds: usize) -> u64 {
        let of_masks = if seeds > 1 { TRANSFERS } else { 1 };
        let products = self.products.iter().map(|&(_, _, count)| (64, count));
        let all = products.chain(self.masks.iter().map(|&(_, _, count)| (of_masks, count)));
        all.fold(0, |sum, (each, count)| (each as u64).saturating_mul(count as u64).saturating_add(sum))
    }

    /// The masks of all branches, kind by kind, of so many seeds each.
    pub(crate) fn mask_layout(&self, seeds: usize) -> Masks {
        let words = self.masks.iter().flat_map(|&(_, words, count)| std::iter::repeat_n(words, count));
        Masks::new(words, seeds > 0)
    }
}

/// Where masks come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskGen {
    /// From seeds, among as many parties as there is a way for; among more at full length.
    Seeds,
    /// At full length.
    Vectors,
}

impl MaskGen {
    /// Seeds of which each mask is made: two parties' shares of zeros are the same string, and three have [`pairs`]. None at full
    /// length.
    pub(crate) const fn seeds(self, parties: usize) -> usize {
        match (self, parties) {
            (Self::Seeds, 2) => 1,
            (Self::Seeds, 3) => 2,
            _ => 0,
        }
    }
}

/// Oblivious transfers with all others, and what of them the plan that runs draws from.
pub(crate) struct Live {
    params: Params,
    mask_gen: MaskGen,
    /// Made with the first plan that needs them.
    transfers: Option<Ot>,
    /// The next extension's number.
    op: u32,
    pool: Pool,
    checks: CheckScope,
}

impl Live {
    /// Nothing is made yet.
    pub(crate) fn new(params: Params, mask_gen: MaskGen) -> Self {
        Self { params, mask_gen, transfers: None, op: 1, pool: Pool::default(), checks: CheckScope::alone() }
    }

    /// So many random transfers with each other party, in both directions; the number of the extension.
    fn extend(&mut self, session: &mut Session, count: usize, sink: &mut dyn Sink) -> Result<u32, Error> {
        let transfers = match &mut self.transfers {
            Some(made) => made,
            none => {
                let peers: Vec<usize> = session.others().collect();
                // Steps have a part of their own, so any number will do.
                none.insert(Ot::setup(session, &peers, Roles::Both, self.params, 0)?)
            }
        };
        let op = self.op;
        self.op = op.checked_add(1).ok_or(tacit_session::Error::Exhausted)?;
        let request = Request { op, count, choices: Choices::Random, form: Form::Random };
        #[cfg(test)]
        let sink = &mut tests::Counted(sink);
        transfers.extend(session, &request, sink)?;
        Ok(op)
    }

    /// So many times 64 triples, or products with vectors of so many bits, piece by piece.
    fn products(
        &mut self,
        session: &mut Session,
        kind: SupplyKind,
        length: usize,
        words: usize,
    ) -> Result<(), Error> {
        let mut made = [1, length, length].map(|length| Buffer::of_words::<u64>(words * length));
        let at_once = made_at_once(length);
        let filled = (0..words).step_by(at_once).try_for_each(|first| -> Result<(), Error> {
            let count = at_once.min(words - first);
            let mut transfers = Transfers::new(session.me(), session.parties(), count, length);
            let op = self.extend(session, 64 * count, &mut transfers)?;
            let mut piece = triples(session, op, &transfers)?;
            for ((all, part), length) in made.iter_mut().zip(&mut piece).zip([1, length, length]) {
                let all = &mut all.words_mut::<u64>()[length * first..length * (first + count)];
                // An item has the bits of its vectors one after another.
                for (bit, part) in part.words::<u64>().chunks_exact(count).enumerate() {
                    for (item, word) in all.chunks_exact_mut(length).zip(part) {
                        item[bit] = *word;
                    }
                }
                part.wipe();
            }
            Ok(())
        });
        if filled.is_err() {
            made.iter_mut().for_each(Buffer::wipe);
        }
        filled.map(|()| self.pool.put(kind, made.into()))
    }

    /// Masks for branches.
    fn masks(&mut self, session: &mut Session, wanted: &Wanted) -> Result<(), Error> {
        let (me, parties) = (session.me(), session.parties());
        let seeds = self.mask_gen.seeds(parties);
        let is_wrong = |words: usize| seeds > 0 && words != SEED_WORDS * seeds;
        if let Some((kind, ..)) = wanted.masks.iter().find(|(_, words, _)| is_wrong(*words)) {
            return Err(Error::Supply(format!(
                "masks among {parties} parties are {seeds} seeds, and no {kind}"
            )));
        }
        let all = wanted.mask_layout(seeds);
        let mut made = if seeds > 1 {
            let mut strings = Strings::new(me, parties, TRANSFERS * all.count());
            let op = self.extend(session, TRANSFERS * all.count(), &mut strings)?;
            pairs(session, op, &strings, all.count())?
        } else {
            let mut strings = Strings::new(me, parties, all.count());
            let op = self.extend(session, all.count(), &mut strings)?;
            masks(session, op, &strings, &all)?
        };
        let mut first = [0; 3];
        for &(kind, words, count) in &wanted.masks {
            let parts = [count, words * count, words * count].into_iter().zip(&made).zip(&mut first);
            let part = |((words, made), first): ((usize, &Buffer), &mut usize)| {
                let mut part = Buffer::of_words::<u64>(words);
                part.words_mut::<u64>().copy_from_slice(&made.words()[*first..*first + words]);
                *first += words;
                part
            };
            self.pool.put(kind, parts.map(part).collect());
        }
        made.iter_mut().for_each(Buffer::wipe);
        Ok(())
    }
}

impl Supply for Live {
    /// There is none.
    fn key(&mut self) -> Result<Material, Error> {
        Ok(Material::default())
    }

    /// Makes all of it, in the offline phase. [`crate::cost::offline`] has what is sent.
    fn provide(&mut self, session: &mut Session, demand: &Arc<Demand>) -> Result<(), Error> {
        session.mesh().set_phase(Phase::Offline);
        let wanted = Wanted::of(demand)?;
        self.pool = Pool::new(demand.clone());
        for &(kind, length, count) in &wanted.products {
            self.products(session, kind, length, count)?;
        }
        if !wanted.masks.is_empty() {
            self.masks(session, &wanted)?;
        }
        for (kind, words) in wanted.random {
            let mut share = Buffer::of_words::<u64>(words);
            session.entropy().fill(share.bytes_mut())?;
            self.pool.put(kind, vec![share]);
        }
        Ok(())
    }

    fn draw(&mut self, drawer: Drawer, kind: SupplyKind, items: Range<u64>) -> Result<Vec<Buffer>, Error> {
        self.pool.draw(drawer, kind, items)
    }

    fn checks(&self) -> &CheckScope {
        &self.checks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::{Mistake, plant};
    use crate::step::{CORRECTIONS, MASK_CORRECTIONS, PAIRS_CHOSEN, PAIRS_OPENED, PAIRS_SWAPPED};
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use tacit_kernel::bits;
    use tacit_ot::{Received, Security, Sent};
    use tacit_session::Agreement;
    use tacit_testkit::sample::{BitRow, Flaw, Sample};
    use tacit_testkit::{Draws, World, party_names, play};

    /// What each party draws of so many items, with a mistake or without.
    fn drawn(
        world: &World,
        parties: usize,
        mistake: Option<Mistake>,
        kind: SupplyKind,
        items: u64,
    ) -> Vec<Vec<Buffer>> {
        let agreement = Agreement::among(party_names(parties), "gmw", String::new());
        let made = play(world.transports(), &agreement, &Draws::fixed(3), |session| {
            if let Some(mistake) = mistake {
                plant(mistake);
            }
            let params = Params::new(4, Security::SemiHonest).expect("there are such trees");
            let mut live = Live::new(params, MaskGen::Seeds);
            live.provide(session, &Arc::new(Demand::stock(&[(kind, items)])))?;
            live.draw(Drawer::Stock, kind, 0..items)
        });
        made.into_iter().map(|made| made.expect("nobody deviates")).collect()
    }

    const WORDS: usize = 64;

    /// Whether what the last of four parties tells two others, and its factors, are uniform together.
    fn corrections(mistake: Option<Mistake>) -> Result<(), Flaw> {
        let world = World::new(4, 0);
        let own = drawn(&world, 4, mistake, TRIPLE, WORDS as u64).pop().expect("there are parties");
        let told = [1, 2].map(|to| told(&world, CORRECTIONS, 3, to));
        let mut sample = Sample::default();
        for triple in 0..64 * WORDS {
            let mut row = BitRow::default();
            for vector in told.iter().flat_map(|told| told.chunks_exact(WORDS)) {
                row.push(bits::get(vector, triple));
            }
            own[..2].iter().for_each(|factor| row.push(bits::get(factor.words(), triple)));
            sample.push(row);
        }
        sample.check(&[])
    }

    #[test]
    fn corrections_by_one_pairs_transfers_are_noticed() {
        assert_eq!(corrections(None), Ok(()));
        assert!(corrections(Some(Mistake::OnePairForAll)).is_err());
    }

    /// Branches whose masks are made in a test.
    const BRANCHES: usize = 640;

    /// The words that a party sends another in a step, piece after piece.
    fn told(world: &World, part: u16, from: usize, to: usize) -> Vec<u64> {
        let trace = world.trace();
        let pieces = trace.link(from, to).filter(|one| one.at.part == part);
        let message: Vec<u8> = pieces.flat_map(|one| one.payload.clone()).collect();
        message.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    /// Whether what the last of four parties tells two others of masks at full length, and its own bits and vectors, are uniform
    /// together: of each branch `f` and the lowest bit of `u`.
    fn mask_corrections(mistake: Option<Mistake>) -> Result<(), Flaw> {
        let world = World::new(4, 0);
        let kind = SupplyKind::Masks { words: 2 };
        let own = drawn(&world, 4, mistake, kind, BRANCHES as u64).pop().expect("there are parties");
        let told = [1, 2].map(|to| told(&world, MASK_CORRECTIONS, 3, to));
        let [s, zero, one] = [0, 1, 2].map(|part| own[part].words::<u64>());
        let mut sample = Sample::default();
        for branch in 0..BRANCHES {
            let mut row = BitRow::default();
            for told in &told {
                row.push(bits::get(told, branch));
                row.push(told[BRANCHES / 64 + 2 * branch] & 1 == 1);
            }
            row.push(s[branch] == 1);
            row.push((zero[2 * branch] ^ one[2 * branch]) & 1 == 1);
            sample.push(row);
        }
        sample.check(&[])
    }

    #[test]
    fn corrections_of_masks_by_one_pairs_transfers_are_noticed() {
        assert_eq!(mask_corrections(None), Ok(()));
        assert!(mask_corrections(Some(Mistake::OnePairForAll)).is_err());
    }

    /// Whether what one of three parties tells both others of a branch's pairs, its share of `s`, and its shares of both others'
    /// pairs are uniform together: every `f`, and of strings the lowest bit.
    fn pair_messages(mistake: Option<Mistake>, honest: usize) -> Result<(), Flaw> {
        // Strings of a branch's both masks, and pairs.
        const STRINGS: usize = 12;
        const PAIRS: usize = 6;
        let world = World::new(3, 0);
        let kind = SupplyKind::Masks { words: 2 * SEED_WORDS as u32 };
        let own = drawn(&world, 3, mistake, kind, BRANCHES as u64).swap_remove(honest);
        let others = [(honest + 1) % 3, (honest + 2) % 3];
        let told = |part| others.map(|to| told(&world, part, honest, to));
        let (chosen, swapped, opened) = (told(PAIRS_CHOSEN), told(PAIRS_SWAPPED), told(PAIRS_OPENED));
        let lowest = |words: &[u64], string: usize| words[SEED_WORDS * string] & 1 == 1;
        let mut sample = Sample::default();
        for branch in 0..BRANCHES {
            let mut row = BitRow::default();
            row.push(own[0].words::<u64>()[branch] == 1);
            for chosen in &chosen {
                let strings = &chosen[BRANCHES / 64..];
                row.push(bits::get(chosen, branch));
                (0..STRINGS).for_each(|string| row.push(lowest(strings, STRINGS * branch + string)));
            }
            for swapped in &swapped {
                let strings = &swapped[PAIRS * BRANCHES / 64..];
                for pair in PAIRS * branch..PAIRS * (branch + 1) {
                    row.push(bits::get(swapped, pair));
                    row.push(lowest(strings, pair));
                }
            }
            for opened in &opened {
                (4 * branch..4 * (branch + 1)).for_each(|string| row.push(lowest(opened, string)));
            }
            sample.push(row);
        }
        sample.check(&[])
    }

    #[test]
    fn swaps_of_pairs_by_one_transfer_are_noticed() {
        for honest in 0..3 {
            assert_eq!(pair_messages(None, honest), Ok(()), "P{honest}");
        }
        assert!(pair_messages(Some(Mistake::OneTransferForAll), 2).is_err());
    }

    /// Branches whose slots are counted.
    const SLOTS: usize = 2560;

    /// The places at which two parties have their common seed, in the first mask and in the second; and `s`.
    type Places = ([[usize; 2]; 2], u64);

    /// How often each two of three parties have their common seeds where.
    fn places(mistake: Option<Mistake>) -> [BTreeMap<Places, usize>; 3] {
        let kind = SupplyKind::Masks { words: 2 * SEED_WORDS as u32 };
        let made = drawn(&World::new(3, 0), 3, mistake, kind, SLOTS as u64);
        let mut found = [(); 3].map(|()| BTreeMap::new());
        for branch in 0..SLOTS {
            let s = made.iter().fold(0, |s, own| s ^ own[0].words::<u64>()[branch]);
            for (found, [one, other]) in found.iter_mut().zip(COALITIONS) {
                let common = [1, 2].map(|mask| {
                    let seeds = |party: usize| -> [&[u64]; 2] {
                        let all = &made[party][mask].words::<u64>()[4 * branch..4 * branch + 4];
                        [&all[..2], &all[2..]]
                    };
                    let [one, other] = [seeds(one), seeds(other)];
                    let pairs = (0..4).map(|at| [at / 2, at % 2]);
                    let common: Vec<[usize; 2]> = pairs.filter(|[a, b]| one[*a] == other[*b]).collect();
                    assert_eq!(common.len(), 1, "two parties have one seed in common in either case");
                    common[0]
                });
                *found.entry((common, s)).or_default() += 1;
            }
        }
        found
    }

    /// Two of three parties.
    const COALITIONS: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];

    /// Both masks' places and `s`, which `s ^ t` shows whoever guesses `t`: uniform together. In the paper's order
    /// two coalitions of three read `s` from the places.
    #[test]
    fn places_of_common_seeds_tell_nothing_unless_they_are_in_the_papers_order() {
        for (counts, parties) in places(None).into_iter().zip(COALITIONS) {
            assert_eq!(counts.len(), 4 * 4 * 2, "{parties:?}: all places, whatever s is");
            // 80 each, with a standard deviation of 9.
            assert!(counts.values().all(|count| (25..=140).contains(count)), "{parties:?}: {counts:?}");
        }
        let uniform = [0, 0];
        for (counts, zeros) in places(Some(Mistake::SeedsInOrder)).into_iter().zip([[0, 0], [1, 0], [1, 1]]) {
            let found: Vec<Places> = counts.into_keys().collect();
            let mut leaks = [([zeros, uniform], 0), ([uniform, zeros], 1)];
            leaks.sort_unstable();
            assert_eq!(found, leaks);
        }
    }

    /// Counts transfers before it hands them on.
    pub(super) struct Counted<'a>(pub(super) &'a mut dyn Sink);

    thread_local! {
        /// By peer, and whether this party is the sender.
        static HANDED_OUT: RefCell<BTreeMap<(usize, bool), u64>> = const { RefCell::new(BTreeMap::new()) };
    }

    fn count(peer: usize, is_sender: bool, ots: usize) {
        HANDED_OUT.with_borrow_mut(|all| *all.entry((peer, is_sender)).or_default() += ots as u64);
    }

    impl Sink for Counted<'_> {
        fn sent(&mut self, ots: Sent<'_>) {
            count(ots.peer, true, ots.zeros.len());
            self.0.sent(ots);
        }

        fn received(&mut self, ots: Received<'_>) {
            count(ots.peer, false, ots.values.len());
            self.0.received(ots);
        }
    }

    #[test]
    fn transfers_are_as_many_as_costs_say() {
        for (parties, words, of_a_branch) in [(2, SEED_WORDS, 1), (3, 2 * SEED_WORDS, 7), (4, 6, 1)] {
            let masks = SupplyKind::Masks { words: words as u32 };
            let drawn = [(TRIPLE, 3), (SupplyKind::Scaling { length: 7 }, 2), (masks, 5)];
            let demand = Arc::new(Demand::stock(&drawn));
            let params = Params::new(4, Security::SemiHonest).expect("there are such trees");
            let agreement = Agreement::among(party_names(parties), "gmw", String::new());
            let transports = World::new(parties, 0).transports();
            let handed_out = play(transports, &agreement, &Draws::fixed(3), |session| {
                HANDED_OUT.with_borrow_mut(BTreeMap::clear);
                Live::new(params, MaskGen::Seeds).provide(session, &demand)?;
                Ok::<_, Error>(HANDED_OUT.with_borrow(BTreeMap::clone))
            });
            let said =
                crate::cost::offline(&params, &demand, parties, MaskGen::Seeds.seeds(parties)).transfers;
            assert_eq!(said, 64 * (3 + 2) + of_a_branch * 5, "{parties} parties");
            for (me, handed_out) in handed_out.into_iter().enumerate() {
                let handed_out = handed_out.expect("nobody deviates");
                let others = (0..parties).filter(|&peer| peer != me);
                let expected = others.flat_map(|peer| [false, true].map(|way| ((peer, way), said)));
                assert_eq!(handed_out, expected.collect::<BTreeMap<_, _>>(), "P{me} of {parties}");
            }
        }
    }
}
