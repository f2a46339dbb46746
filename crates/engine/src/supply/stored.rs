//! Supplies from a store, and how they get there.
//!
//! A store has a shelf for each kind, by its code, and on it blocks of some items: one after another the items' first parts,
//! then their second ones, and so on. A block is what the store gives out and what it knows as used; a run takes whole ones.

use super::lists::{agreed, agreed_checks, list_message, read_lists};
use super::{Blocks, CheckScope, Demand, Drawer, Draws, Journal, Supply, SupplyKind};
use crate::{Error, Material, Observer};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tacit_kernel::Buffer;
use tacit_session::{At, Session, step};
use tacit_store::{
    Available, Binding, Epoch, MAX_LIST_BYTES, Material as Stored, NoAgreement, Reserved, Restored, Run,
    Spent, Store, Unit, WHOLE, Writer,
};

/// Items of a kind that are made at a time where a store is filled: whole blocks, and whole batches of 2,016 triples. It is one
/// less than two rounds of vector OLE make, for masks and the value that their check gives up. So next to nothing is thrown away.
const FILLED_AT_ONCE: u64 = 20_160;

/// Bytes of items of all kinds together that are made at a time, unless single blocks have more.
const FILLED_BYTES: u64 = 64 << 20;

/// Bytes of items, without what the protocol adds to them, that are read at a time at most, but for a single block.
const READ_BYTES: u64 = 256 << 10;

/// A store of supplies, which one run at a time draws from.
#[derive(Clone)]
pub struct Stock(Arc<Mutex<Shelves>>);

struct Shelves {
    store: Store,
    /// Held by whoever draws, as long as that lives.
    held: Weak<()>,
}

impl fmt::Debug for Stock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stock").finish_non_exhaustive()
    }
}

impl Stock {
    /// Takes a store that was opened for supplies.
    pub fn new(store: Store) -> Self {
        Self(Arc::new(Mutex::new(Shelves { store, held: Weak::new() })))
    }

    /// Whether its supplies are good for this.
    pub fn is_for(&self, binding: &Binding) -> bool {
        self.lock().store.is_for(binding)
    }

    /// Epochs that the store knew less of than its anchor: somebody put an older copy in its place.
    pub fn restored(&self) -> Vec<Restored> {
        self.lock().store.restored().to_vec()
    }

    /// Does something with the store. Whoever draws from it waits meanwhile, so that nothing here waits for a peer.
    pub fn with<T>(&self, act: impl FnOnce(&mut Store) -> T) -> T {
        act(&mut self.lock().store)
    }

    /// Destroys epochs that are drawn from no more, unless there are values that stay under their keys; whether it has. It has
    /// not, and nothing is done, while a run draws, which may have agreed on one of them. Nobody waits while they are erased.
    ///
    /// # Errors
    /// As [`Store::destroy`]; what was destroyed before stays so.
    pub fn discard(&self, epochs: &[Epoch]) -> Result<bool, tacit_store::Error> {
        let mut spent = Vec::new();
        let retired = {
            let mut shelves = self.lock();
            if shelves.held.strong_count() > 0 {
                return Ok(false);
            }
            let kept = shelves.store.kept_keys();
            let mut unkept = epochs.iter().filter(|epoch| kept.iter().all(|kept| kept.epoch != **epoch));
            unkept.try_for_each(|epoch| {
                // Others may have it that this party hasn't.
                if shelves.store.key(*epoch).is_ok() {
                    spent.push(shelves.store.retire(*epoch)?);
                }
                Ok(())
            })
        };
        spent.into_iter().try_for_each(Spent::erase).and(retired).map(|()| true)
    }

    /// Begins a run of so many lanes, which together draw so many blocks of each kind, and gives each its supply. All parties
    /// have to say the same. It lasts until both it and all its supplies are dropped.
    ///
    /// # Errors
    /// [`Error::Refused`] while another run lasts.
    pub fn lanes(&self, count: u16, all: Blocks) -> Result<(SuppliedRun, Vec<StoredSupply>), Error> {
        Ok(self.run(&self.hold()?, count, all))
    }

    /// Begins to draw from two epochs, in one lane each: from this one, and from any other, whose key then stays for what is
    /// kept under it. Else as [`Stock::lanes`].
    ///
    /// # Errors
    /// As [`Stock::lanes`]; [`Error::Refused`] if the store has no such epoch.
    pub fn pair(&self, from: [u8; 32]) -> Result<[StoredSupply; 2], Error> {
        let held = self.hold()?;
        let mut pair = [(); 2].map(|()| {
            let (_, mut lanes) = self.run(&held, 1, Blocks::new());
            lanes.swap_remove(0)
        });
        pair[0].under(from)?;
        pair[1].apart_from = Some(Epoch(from));
        pair[1].keeps();
        Ok(pair)
    }

    fn hold(&self) -> Result<Arc<()>, Error> {
        let mut shelves = self.lock();
        if shelves.held.strong_count() > 0 {
            return Err(Error::Refused("another run draws from this store; one at a time".to_owned()));
        }
        let held = Arc::new(());
        shelves.held = Arc::downgrade(&held);
        Ok(held)
    }

    fn run(&self, held: &Arc<()>, count: u16, all: Blocks) -> (SuppliedRun, Vec<StoredSupply>) {
        let (stock, held) = (self.clone(), held.clone());
        let run = SuppliedRun { stock, _held: held, epoch: Arc::default(), all: Arc::new(all) };
        let lane = |checks| {
            let (run, draws) = (run.clone(), Draws::default());
            StoredSupply { run, checks, keeps: false, apart_from: None, draws, kinds: HashMap::new() }
        };
        let lanes = CheckScope::shared(count, Box::new(run.clone())).into_iter().map(lane).collect();
        (run, lanes)
    }

    fn lock(&self) -> MutexGuard<'_, Shelves> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run that draws from a stock, all its lanes from one epoch.
#[derive(Clone)]
pub struct SuppliedRun {
    stock: Stock,
    _held: Arc<()>,
    /// Which epoch, once the parties have agreed.
    epoch: Arc<OnceLock<Epoch>>,
    /// What all lanes draw together.
    all: Arc<Blocks>,
}

impl SuppliedRun {
    /// Destroys the epoch that the run draws from, if the parties had agreed on one: for after any check that failed.
    ///
    /// # Errors
    /// If it isn't noted, or not overwritten.
    pub fn destroy(&self) -> Result<(), tacit_store::Error> {
        self.epoch.get().map_or(Ok(()), |epoch| self.stock.lock().store.destroy(*epoch))
    }

    fn epoch(&self) -> Result<Epoch, Error> {
        let epoch = self.epoch.get().copied();
        epoch.ok_or_else(|| Error::Supply("no epoch of supplies is agreed on yet".to_owned()))
    }
}

impl Journal for SuppliedRun {
    fn begin(&mut self) -> Result<u64, Error> {
        Ok(self.stock.lock().store.begin_check(self.epoch()?)?)
    }

    fn pass(&mut self) -> Result<(), Error> {
        Ok(self.stock.lock().store.pass_check(self.epoch()?)?)
    }

    fn destroy(&mut self) -> Result<(), Error> {
        Ok(Self::destroy(self)?)
    }
}

/// The supply of one lane, from a store that all lanes of a run draw from. They take what they need by turns, in the same
/// order at all parties, from one epoch, and share its key.
pub struct StoredSupply {
    run: SuppliedRun,
    checks: CheckScope,
    /// Whether the run keeps values under the epoch's key.
    keeps: bool,
    /// An epoch that isn't drawn from.
    apart_from: Option<Epoch>,
    draws: Draws,
    /// What was reserved for the plan that runs.
    kinds: HashMap<SupplyKind, Taken>,
}

/// A lane's blocks of a kind.
struct Taken {
    reserved: Reserved,
    /// How many items of each are still to be drawn; those that arms share count for each.
    left: Vec<u64>,
    /// Blocks that were read and of which something is still to be drawn.
    read: BTreeMap<u64, Stored>,
}

impl Taken {
    /// Reads the first of these blocks, and those behind it up to one that is here already, or as many as are read at a time.
    fn read_on(&mut self, store: &mut Store, kind: SupplyKind, blocks: Range<u64>) -> Result<(), Error> {
        let most = blocks.end.min(blocks.start + (READ_BYTES / block_bytes(kind)).max(1));
        let end = self.read.range(blocks.start..most).next().map_or(most, |(block, _)| *block);
        let first = self.reserved.run().first;
        let read = store.read(&mut self.reserved, first + blocks.start..first + end)?;
        self.read.extend((blocks.start..).zip(read));
        Ok(())
    }
}

impl StoredSupply {
    /// Draws from this epoch and no other, for a run on values whose MACs are under its key. All parties say the same, before
    /// anything is provided.
    ///
    /// # Errors
    /// [`Error::Refused`] if the store has no such epoch, or the run draws from another one.
    pub fn under(&mut self, epoch: [u8; 32]) -> Result<(), Error> {
        let epoch = Epoch(epoch);
        let refused =
            |why: &str| Error::Refused(format!("its MACs are under the key of epoch {epoch}, {why}"));
        let mut shelves = self.run.stock.lock();
        let known = shelves.store.key(epoch);
        known.map_err(|_| refused("which this party's store of supplies has no more"))?;
        shelves.store.keep_key(epoch)?;
        drop(shelves);
        if *self.run.epoch.get_or_init(|| epoch) == epoch {
            return Ok(());
        }
        Err(refused("and other values of the run are under that of another"))
    }

    /// The run keeps values under the key that it is given, which then stays as long as the epoch isn't destroyed. It draws from
    /// an epoch with such values rather than from another one, so that they can be read together; all other runs do the
    /// opposite, and leave to reads what there is. All parties say the same, before anything is provided.
    pub fn keeps(&mut self) {
        self.keeps = true;
    }

    /// Agrees with the other parties on an epoch and ranges, and notes durably that they are used; where the epoch is given and
    /// nothing is drawn, just on that. Two rounds. A party whose store was set back is named by all, and destroys what it has
    /// of the epoch.
    fn reserve(&mut self, session: &mut Session, demand: &Demand) -> Result<(), Error> {
        let own = demand.blocks();
        // Who draws first picks an epoch that has enough for all.
        let mut wanted = own.clone();
        if self.run.epoch.get().is_none() {
            for (&kind, &blocks) in &*self.run.all {
                let own = wanted.entry(kind).or_default();
                *own = blocks.max(*own);
            }
        }
        let mut own_lists = self.available(&wanted);
        {
            // It is this lane's turn at all parties, so they have had as many checks in this run.
            let shelves = self.run.stock.lock();
            own_lists.extend([shelves.store.checked_keys(), shelves.store.kept_keys()]);
        }
        let message = list_message(&own_lists);
        let at = At { lane: 0, part: step::STORED, op: 0, batch: 1 };
        let (shelves, most) = (own_lists.len(), own_lists.len() * (4 + MAX_LIST_BYTES));
        let read = |bytes: &[u8]| read_lists(bytes, shelves);
        let lists = session.tell_all(at, &message, most, "lists of its supplies", read)?;
        session.echo(&lists.iter().flat_map(|lists| list_message(lists)).collect::<Vec<u8>>())?;
        let shelf = |(kind, blocks): (&SupplyKind, &u64)| {
            (kind.code(), *blocks, Unit { name: kind.to_string(), each: kind.per_block() })
        };
        let everybodys =
            |at: usize| lists.iter().filter_map(|lists| Some(&lists.get(at)?[..])).collect::<Vec<_>>();
        let [keys, kept] = [everybodys(wanted.len()), everybodys(wanted.len() + 1)];
        let has_values = |epoch: &Epoch| kept.iter().any(|list| list.iter().any(|own| own.epoch == *epoch));
        let wanted_shelves: Vec<_> = wanted.iter().map(shelf).collect();
        let runs = agreed(session, &wanted_shelves, &lists, |epoch| has_values(epoch) != self.keeps)?;
        let epoch = runs.first().map(|run| run.epoch).or(self.run.epoch.get().copied());
        if let Some(epoch) = epoch {
            agreed_checks(session, epoch, &keys).inspect_err(|set_back| self.leave(session, set_back))?;
            if self.keeps {
                self.run.stock.lock().store.keep_key(epoch)?;
            }
        }
        let mut runs: BTreeMap<SupplyKind, Run> = wanted.keys().copied().zip(runs).collect();
        // Not before: other lanes draw meanwhile, and have to serve their links.
        let mut shelves = self.run.stock.lock();
        for (kind, instances) in own {
            let run = runs.remove(&kind).map(|run| Run { instances, ..run });
            let run = run.ok_or_else(|| Error::Supply(format!("the run was to draw no {kind}")))?;
            self.run.epoch.get_or_init(|| run.epoch);
            let reserved = shelves.store.reserve(run)?;
            let left = left(demand, kind, run);
            self.kinds.insert(kind, Taken { reserved, left, read: BTreeMap::new() });
        }
        Ok(())
    }

    /// Destroys the epoch here if this party's store was set back: it would look sound when it is opened next.
    fn leave(&self, session: &Session, why: &NoAgreement) {
        if let NoAgreement::SetBack { epoch, parties } = why
            && parties.iter().any(|party| party == session.name(session.me()))
        {
            // What can't be destroyed isn't used in this run, at least.
            let _ = self.run.stock.lock().store.destroy(*epoch);
        }
    }

    /// What this party has on each shelf, of the epoch if there is one already.
    fn available(&self, wanted: &Blocks) -> Vec<Vec<Available>> {
        let (shelves, agreed) = (self.run.stock.lock(), self.run.epoch.get());
        let list = |kind: &SupplyKind| {
            let mut list = shelves.store.available(kind.code());
            list.retain(|own| {
                agreed.is_none_or(|epoch| own.epoch == *epoch) && self.apart_from != Some(own.epoch)
            });
            list
        };
        wanted.keys().map(list).collect()
    }

    /// Overwrites what wasn't drawn.
    fn put_away(&mut self) -> Result<(), Error> {
        let mut shelves = self.run.stock.lock();
        for (_, blocks) in self.kinds.drain() {
            shelves.store.put_away(blocks.reserved)?;
        }
        Ok(())
    }
}

impl Supply for StoredSupply {
    fn key(&mut self) -> Result<Material, Error> {
        let epoch = self.run.epoch()?;
        Ok(Material::of_bytes(&self.run.stock.lock().store.key(epoch)?))
    }

    fn key_name(&self) -> Option<[u8; 32]> {
        self.run.epoch.get().map(|epoch| epoch.0)
    }

    fn provide(&mut self, session: &mut Session, demand: &Arc<Demand>) -> Result<(), Error> {
        let turn = self.checks.turn(session)?;
        self.draws = Draws::default();
        self.put_away()?;
        // What is under a given key has checks even if nothing is drawn.
        if !demand.is_empty() || self.run.epoch.get().is_some() {
            self.reserve(session, demand)?;
        }
        drop(turn);
        self.draws = Draws::new(demand.clone());
        Ok(())
    }

    fn draw(&mut self, drawer: Drawer, kind: SupplyKind, items: Range<u64>) -> Result<Vec<Buffer>, Error> {
        let items = self.draws.note(drawer, kind, items)?;
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let nothing = || Error::Supply(format!("nothing is provided of {kind}"));
        let blocks = self.kinds.get_mut(&kind).ok_or_else(nothing)?;
        let per_block = kind.per_block();
        let mut out = Vec::new();
        let mut next = items.start;
        while next < items.end {
            let (block, end) = (next / per_block, items.end.min((next / per_block + 1) * per_block));
            if !blocks.read.contains_key(&block) {
                // Of a block that is drawn in part the rest waits, and would have all wait that is read with it.
                let whole = block..(items.end / per_block).max(block + 1);
                blocks.read_on(&mut self.run.stock.lock().store, kind, whole)?;
            }
            let stored = blocks.read.remove(&block).ok_or_else(nothing)?;
            let within = next - block * per_block..end - block * per_block;
            append(kind, &stored, within, (next - items.start, items.end - items.start), &mut out)?;
            let left = &mut blocks.left[block as usize];
            *left = left.saturating_sub(end - next);
            if *left > 0 {
                blocks.read.insert(block, stored);
            }
            next = end;
        }
        Ok(out)
    }

    fn checks(&self) -> &CheckScope {
        &self.checks
    }
}

impl Drop for StoredSupply {
    fn drop(&mut self) {
        // What can't be overwritten now is when the store is opened next; it is used either way.
        let _ = self.put_away();
    }
}

/// How many items of each block of a run are drawn, by all drawers together.
fn left(demand: &Demand, kind: SupplyKind, run: Run) -> Vec<u64> {
    let per_block = kind.per_block();
    let mut left = vec![0; run.instances as usize];
    for range in demand.ranges(kind) {
        let blocks = range.start / per_block..range.end.div_ceil(per_block);
        for block in blocks {
            let drawn = range.end.min((block + 1) * per_block) - range.start.max(block * per_block);
            left[block as usize] += drawn;
        }
    }
    left
}

/// Copies items of a block into the buffers of their parts: `at` is where in them, and how many items they are for.
pub(super) fn append(
    kind: SupplyKind,
    block: &[u8],
    items: Range<u64>,
    (at, count): (u64, u64),
    out: &mut Vec<Buffer>,
) -> Result<(), Error> {
    let parts = kind.part_bytes();
    let round = parts.iter().sum::<usize>() * kind.per_block() as usize;
    if round == 0 || block.is_empty() || !block.len().is_multiple_of(round) {
        return Err(Error::Supply(format!("a block of {kind} has {} bytes", block.len())));
    }
    let columns = block.len() / round * parts.len();
    if out.is_empty() {
        out.extend((0..columns).map(|column| Buffer::new(parts[column % parts.len()] * count as usize)));
    }
    let fit = |(column, out): (usize, &Buffer)| out.len() == parts[column % parts.len()] * count as usize;
    if out.len() != columns || !out.iter().enumerate().all(fit) {
        return Err(Error::Supply(format!("blocks of {kind} have different parts")));
    }
    let mut rest = block;
    for (column, out) in out.iter_mut().enumerate() {
        let bytes = parts[column % parts.len()];
        let (own, after) = rest.split_at(bytes * kind.per_block() as usize);
        let own = &own[bytes * items.start as usize..bytes * items.end as usize];
        out.bytes_mut()[bytes * at as usize..][..own.len()].copy_from_slice(own);
        rest = after;
    }
    Ok(())
}

/// Makes so many items of each kind, rounded up to whole blocks, and puts them into an epoch of a store with their key.
/// Nothing of it may be used before all parties have it on disk. All make one part after another, and end together before one
/// that some observer doesn't go on to: nobody has a check under way there, with anybody.
///
/// # Errors
/// [`Error::Refused`] for more than can be counted, and if somebody doesn't go on; else the first failure, of the supply or of
/// the store.
pub fn fill(
    supply: &mut dyn Supply,
    session: &mut Session,
    wanted: &[(SupplyKind, u64)],
    writer: &mut Writer,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let whole = |&(kind, count): &(SupplyKind, u64)| {
        let blocks = count.checked_next_multiple_of(kind.per_block());
        blocks
            .map(|count| (kind, count))
            .ok_or_else(|| Error::Refused(format!("{count} {kind} are too many")))
    };
    let mut left = wanted.iter().map(whole).collect::<Result<Vec<(SupplyKind, u64)>, Error>>()?;
    let total: u64 = left.iter().map(|(_, left)| left).sum();
    for part in 0.. {
        if left.iter().all(|(_, left)| *left == 0) {
            break;
        }
        go_on(session, observer.goes_on(), part)?;
        let bytes = FILLED_BYTES / left.iter().filter(|(_, left)| *left > 0).count().max(1) as u64;
        let now: Vec<_> = left.iter().map(|(kind, left)| (*kind, at_once(*kind, bytes).min(*left))).collect();
        supply.provide(session, &Arc::new(Demand::stock(&now)))?;
        if part == 0 {
            put(writer, WHOLE, supply.key()?)?;
        }
        for ((kind, count), (_, left)) in now.into_iter().zip(&mut left) {
            let per_block = kind.per_block();
            for block in 0..count / per_block {
                let items = block * per_block..(block + 1) * per_block;
                let parts = supply.draw(Drawer::Stock, kind, items)?;
                put(writer, kind.code(), Material::new(parts))?;
            }
            session.mesh().tick()?;
            *left -= count;
        }
        let missing: u64 = left.iter().map(|(_, left)| left).sum();
        observer.progress((total - missing) as usize, total as usize);
    }
    Ok(())
}

/// Says whether this party goes on to a part, and hears it of all. One round.
fn go_on(session: &mut Session, goes_on: bool, part: u32) -> Result<(), Error> {
    let at = At { lane: 0, part: step::STORED, op: 1, batch: part };
    let read = |said: &[u8]| match said {
        [0] => Some(false),
        [1] => Some(true),
        _ => None,
    };
    let all = session.tell_all(at, &[u8::from(goes_on)], 1, "word on whether it goes on", read)?;
    match all.iter().position(|goes_on| !goes_on) {
        Some(party) => Err(Error::Refused(format!("{} ends, so nothing more is made", session.name(party)))),
        None => Ok(()),
    }
}

/// How many items of a kind are made at a time, of so many bytes at most: whole blocks, and fewer of long ones.
fn at_once(kind: SupplyKind, bytes: u64) -> u64 {
    let blocks = (bytes / block_bytes(kind)).clamp(1, FILLED_AT_ONCE / kind.per_block());
    blocks * kind.per_block()
}

/// Bytes of a block's items, without what the protocol adds to them: 1 at least.
fn block_bytes(kind: SupplyKind) -> u64 {
    (kind.part_bytes().iter().sum::<usize>() as u64 * kind.per_block()).max(1)
}

fn put(writer: &mut Writer, shelf: u64, material: Material) -> Result<(), Error> {
    let mut bytes = material.into_buffer();
    let written = writer.put(shelf, bytes.bytes());
    bytes.wipe();
    Ok(written?)
}
