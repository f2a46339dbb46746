//! One party's store: how it is opened, what it has, and how material leaves it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::binding::{self, Binding};
use crate::epoch::hex;
use crate::error::first_error;
use crate::format::Malformed;
use crate::index::{Shelf, Shelves};
use crate::ledger::{self, Contents, Ledger, Used, Uses, WHOLE};
use crate::planted::{Mistake, planted};
use crate::{
    Available, Epoch, Error, MAX_EPOCHS, Material, Reserved, Run, Spent, Taken, Writer, files, lasting, place,
};

/// What follows an epoch's name while it is being written ...
pub(crate) const UNFINISHED: &str = "unfinished";
/// ... and while it is being erased.
const SPENT: &str = "spent";

const BINDING: &str = "binding";
pub(crate) const JOURNAL: &str = "journal";
const LOCK: &str = "lock";

/// One party's material for one [`Binding`], open in this process alone.
///
/// ```text
/// store/binding                            what it is for
/// store/journal                            how far each shelf of each epoch is used
/// store/lock
/// store/lasting                            epochs of supplies whose keys stay
/// store/EPOCH/index-..., material-...      an epoch, shelf by shelf
/// store/EPOCH.unfinished, EPOCH.spent      what the next opening erases
/// anchors/BINDING.anchor, BINDING.lock     how far each shelf of each epoch is used, said once more
/// ```
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    binding: [u8; 32],
    /// Whether shelf [`WHOLE`] holds the key of a supply, and not the instances of a plan.
    is_supply: bool,
    journal: Ledger,
    anchor: Ledger,
    /// What journal and anchor say, for epochs that were ever here.
    uses: Uses,
    /// Epochs with unused material.
    epochs: BTreeMap<Epoch, Shelves>,
    /// How many reservations of an epoch aren't put away, if any: so long it stays.
    reserved: BTreeMap<Epoch, u64>,
    restored: Vec<Restored>,
    /// Epochs whose keys stay when all else of them is used up.
    pub(crate) lasting: BTreeSet<Epoch>,
    /// Whether journal and anchor are known to be on disk as they should be.
    sound: bool,
    /// Held as long as the store is open: against another process on this store, and on a copy of it.
    _locks: [File; 2],
}

/// An epoch of which the anchor knew more than the journal: the store, or its journal, is an older copy. What the anchor
/// says is used stays used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The epoch.
    pub epoch: Epoch,
    /// Its shelf.
    pub shelf: u64,
    /// The first unused instance as the journal had it; of a key, checks.
    pub journal: u64,
    /// As the anchor has it, which counts; `u64::MAX` if the epoch is destroyed.
    pub anchor: u64,
}

/// What is done where something isn't there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// Nothing: it is an error.
    Strict,
    /// The store is made.
    Create,
    /// The anchor takes over what the journal says.
    Adopt,
}

impl Store {
    /// Opens the store in the folder `store`, with its anchor in the folder `anchors`
    /// ([`default_anchors`](crate::default_anchors)); several stores may have theirs there. Whatever an earlier
    /// process left unfinished, or used and didn't overwrite, is overwritten, at most a segment (64 MiB) for each
    /// epoch and what lay in between.
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::InUse`], at once; [`Error::Exposed`] and [`Error::Foreign`];
    /// [`Error::Binding`] if it was made for something else; [`Error::Damaged`]; [`Error::AnchorLost`], for which
    /// see [`Self::adopt`]; [`Error::AnchorInside`]; [`Error::File`].
    pub fn open(store: &Path, anchors: &Path, binding: &Binding) -> Result<Self, Error> {
        Self::enter(store, anchors, binding, Entry::Strict)
    }

    /// Opens a store, and makes it first if there is none.
    ///
    /// # Errors
    /// As [`Self::open`], and [`Error::NotAStore`] if the folder holds something else.
    pub fn create(store: &Path, anchors: &Path, binding: &Binding) -> Result<Self, Error> {
        files::folder(store)?;
        Self::enter(store, anchors, binding, Entry::Create)
    }

    /// Opens a store whose anchor is lost and lets a new anchor take over what the journal says. Only for somebody
    /// who knows that the store is not an older copy: nothing else shows it.
    ///
    /// # Errors
    /// As [`Self::open`]; [`Error::Damaged`] also if the journal's last record is torn, or an epoch is missing in it.
    pub fn adopt(store: &Path, anchors: &Path, binding: &Binding) -> Result<Self, Error> {
        Self::enter(store, anchors, binding, Entry::Adopt)
    }

    /// What the store in a folder was made for; `None` if there is none. Nothing is locked: what it says is for
    /// [`Self::open`] to be told.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::File`].
    pub fn binding_at(store: &Path) -> Result<Option<Binding>, Error> {
        if files::exists(&store.join(BINDING))? { read_binding(store).map(Some) } else { Ok(None) }
    }

    /// Whether the anchor of the store in a folder lies in the folder `anchors`.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::File`].
    pub fn is_anchored_in(store: &Path, anchors: &Path) -> Result<bool, Error> {
        let Some(binding) = Self::binding_at(store)? else { return Ok(false) };
        files::exists(&anchors.join(anchor_name(&binding.hash())))
    }

    /// Whether it was made for this.
    pub fn is_for(&self, binding: &Binding) -> bool {
        self.binding == binding.hash()
    }

    /// Epochs with unused material on a shelf, ascending: what the parties tell one another before they
    /// [`agree`](crate::agree).
    pub fn available(&self, shelf: u64) -> Vec<Available> {
        let unused = self.epochs.iter().filter_map(|(epoch, shelves)| {
            let (next, count) = (self.used(*epoch, shelf).next, shelves.get(&shelf)?.count());
            Some(Available { epoch: *epoch, next, count })
        });
        unused.filter(|epoch| epoch.next < epoch.count).collect()
    }

    /// Epochs of supplies, ascending, and of each how many checks of its key have begun or passed (`next`): what parties tell
    /// one another before they use anything of an epoch ([`same_checks`](crate::same_checks)). An epoch whose journal was
    /// behind its anchor when the store was opened is left out.
    pub fn checked_keys(&self) -> Vec<Available> {
        let sound = |epoch: &&Epoch| self.restored.iter().all(|restored| restored.epoch != **epoch);
        let keys = self.epochs.keys().filter(|_| self.is_supply).filter(sound);
        let key = |epoch| Available { epoch, next: self.used(epoch, WHOLE).checks, count: u64::MAX };
        keys.copied().map(key).collect()
    }

    /// The key of an epoch of supplies, as often as it is asked for.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Damaged`], [`Error::File`].
    pub fn key(&self, epoch: Epoch) -> Result<Material, Error> {
        let key = self.epochs.get(&epoch).and_then(|shelves| shelves.get(&WHOLE));
        let key = key.filter(|_| self.is_supply).ok_or(Error::Unknown { epoch })?;
        key.read(0..1)?.pop().ok_or(Error::Unknown { epoch })
    }

    /// Epochs whose journal was behind their anchor when the store was opened. To be told to the operator: somebody
    /// restored a copy.
    pub fn restored(&self) -> &[Restored] {
        &self.restored
    }

    /// Bytes that an epoch's files take on disk: material, checksums and where each instance lies.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::File`].
    pub fn bytes_of(&self, epoch: Epoch) -> Result<u64, Error> {
        if !self.epochs.contains_key(&epoch) {
            return Err(Error::Unknown { epoch });
        }
        let folder = self.path.join(epoch.to_string());
        files::names(&folder)?.into_iter().map(|name| files::length(&folder.join(name))).sum()
    }

    /// Begins a new epoch.
    ///
    /// # Errors
    /// [`Error::Closed`], before anything is made that couldn't be noted; [`Error::Known`], [`Error::Full`], [`Error::Worn`],
    /// [`Error::File`].
    pub fn writer(&self, epoch: Epoch) -> Result<Writer, Error> {
        if !self.sound {
            return Err(Error::Closed);
        }
        if self.is_known(epoch) {
            return Err(Error::Known { epoch });
        }
        if self.epochs.len() >= MAX_EPOCHS {
            return Err(Error::Full);
        }
        if self.uses.len() > ledger::MOST_SHELVES {
            return Err(Error::Worn);
        }
        Writer::new(self, epoch)
    }

    /// Takes the material of a run of instances. Before this returns, journal and anchor say durably that the run, and
    /// all before it, is used; unused instances before it are overwritten. Costs two syncs, whatever the run's length.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Used`], [`Error::Beyond`]; [`Error::File`], after which the store is
    /// [`Error::Closed`]. With any error nothing is given.
    pub fn take_run(&mut self, run: Run) -> Result<Taken<'_>, Error> {
        let reserved = self.reserve(run)?;
        Ok(Taken::new(self, reserved))
    }

    /// As [`Self::take_run`], for readers with an order of their own, and from several shelves in turn.
    ///
    /// # Errors
    /// As [`Self::take_run`].
    pub fn reserve(&mut self, run: Run) -> Result<Reserved, Error> {
        let Run { epoch, shelf, first, instances } = run;
        let found = self.epochs.get(&epoch).and_then(|shelves| shelves.get(&shelf));
        let is_key = self.is_supply && shelf == WHOLE;
        let count = found.filter(|_| !is_key).ok_or(Error::Unknown { epoch })?.count();
        let used = self.used(epoch, shelf);
        if first < used.next {
            return Err(Error::Used { epoch, index: first, next: used.next });
        }
        let end = match first.checked_add(instances) {
            Some(end) if end <= count && instances > 0 => end,
            _ => return Err(Error::Beyond { epoch, first, instances, count }),
        };
        self.note((epoch, shelf), Used { next: end, ..used })?;
        self.burn((epoch, shelf), used.next, first)?;
        *self.reserved.entry(epoch).or_default() += 1;
        Ok(Reserved::new(run))
    }

    /// Reads the material of reserved instances that follow one another, and overwrites it. Larger ranges take less for each.
    ///
    /// # Errors
    /// [`Error::Read`] if one isn't of the reserved or was read, and [`Error::Unknown`]: then nothing is. Else one can't be read,
    /// isn't as it was written, or can't be overwritten: then those of the range are lost, and others aren't. What can't be
    /// overwritten now is when the store is opened next.
    pub fn read(&mut self, reserved: &mut Reserved, instances: Range<u64>) -> Result<Vec<Material>, Error> {
        let Run { epoch, shelf, .. } = reserved.run();
        if let Some(index) = instances.clone().find(|index| !reserved.is_unread(*index)) {
            return Err(Error::Read { epoch, index });
        }
        let found = self.epochs.get(&epoch).and_then(|shelves| shelves.get(&shelf));
        let materials = found.ok_or(Error::Unknown { epoch })?.read(instances.clone());
        instances.clone().for_each(|index| reserved.set_read(index));
        if materials.is_ok() {
            self.burn((epoch, shelf), instances.start, instances.end)?;
        } else {
            // Where one is wrong, its place may be, and the others' aren't.
            let burn = |index| self.burn((epoch, shelf), index, index + 1);
            first_error(instances.map(burn))?;
        }
        materials
    }

    /// Overwrites what was reserved and not read, and removes the epoch if nothing of it is left, here or in another
    /// reservation. What isn't put away is overwritten when the store is opened next; it is used either way.
    ///
    /// # Errors
    /// [`Error::File`].
    #[expect(clippy::needless_pass_by_value, reason = "it is put away once")]
    pub fn put_away(&mut self, reserved: Reserved) -> Result<(), Error> {
        self.release(&reserved)
    }

    /// As [`Self::put_away`], once for each reservation.
    pub(crate) fn release(&mut self, reserved: &Reserved) -> Result<(), Error> {
        let Run { epoch, shelf, .. } = reserved.run();
        if let Some(others) = self.reserved.get_mut(&epoch) {
            *others -= 1;
            if *others == 0 {
                self.reserved.remove(&epoch);
            }
        }
        for unread in reserved.unread() {
            self.burn((epoch, shelf), unread.start, unread.end)?;
        }
        self.remove_used_up(epoch)
    }

    /// Destroys an epoch for good, as after a failed check: durably noted in journal and anchor, then overwritten and
    /// removed. If it can't be noted, it is overwritten nonetheless.
    ///
    /// # Errors
    /// [`Error::Unknown`] for an epoch that never was here, [`Error::File`].
    pub fn destroy(&mut self, epoch: Epoch) -> Result<(), Error> {
        self.retire(epoch)?.erase()
    }

    /// As [`Self::destroy`], but for what takes long: what is left to do, for which nobody has to wait.
    ///
    /// # Errors
    /// As [`Self::destroy`].
    pub fn retire(&mut self, epoch: Epoch) -> Result<Spent, Error> {
        if !self.is_known(epoch) {
            return Err(Error::Unknown { epoch });
        }
        let destroyed = Used { next: Used::DESTROYED, ..self.used(epoch, WHOLE) };
        let noted = self.note((epoch, WHOLE), destroyed);
        self.uses.insert((epoch, WHOLE), destroyed);
        ledger::forget_destroyed(&mut self.uses);
        self.epochs.remove(&epoch);
        let spent = self.set_aside(epoch);
        match noted {
            Ok(()) => spent,
            Err(error) => {
                let _ = spent.and_then(Spent::erase);
                Err(error)
            }
        }
    }

    /// Notes durably that a check on an epoch's key begins, before anything of it is sent; its number, which no other
    /// check on the key ever has. If the process ends before [`Self::pass_check`], the next opening destroys the epoch:
    /// others may have learnt the verdict already.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Check`] if a check is under way, [`Error::File`].
    pub fn begin_check(&mut self, epoch: Epoch) -> Result<u64, Error> {
        let used = self.checked(epoch)?;
        if used.pending() {
            return Err(Error::Check { epoch, what: "a check is under way; one at a time" });
        }
        self.count_check(epoch)?;
        Ok(used.checks / 2)
    }

    /// Notes that the check has passed. (If it fails: [`Self::destroy`].)
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::Check`] if none is under way, [`Error::File`].
    pub fn pass_check(&mut self, epoch: Epoch) -> Result<(), Error> {
        if !self.checked(epoch)?.pending() {
            return Err(Error::Check { epoch, what: "no check is under way" });
        }
        self.count_check(epoch)
    }
}

// Opening.
impl Store {
    fn enter(store: &Path, anchors: &Path, binding: &Binding, entry: Entry) -> Result<Self, Error> {
        let bound = store.join(BINDING);
        if !files::exists(&bound)? {
            if entry != Entry::Create {
                return Err(Error::NoStore { path: store.to_owned() });
            }
            if files::names(store)?.iter().any(|name| !beginning(name)) {
                return Err(Error::NotAStore { path: store.to_owned() });
            }
        }
        files::private_folder(store)?;
        let lock = files::lock(&store.join(LOCK))?;
        let hash = binding.hash();
        if !files::exists(&bound)? {
            // The binding comes last: a folder that has one is a store.
            files::replace(store, JOURNAL, &crate::write_ledger(&hash, []))?;
            files::replace(store, BINDING, &binding.to_bytes())?;
        }
        let stored = read_binding(store)?;
        if let Some(differences) = stored.difference(binding) {
            return Err(Error::Binding { path: store.to_owned(), differences });
        }

        files::folder(anchors)?;
        place::apart(store, anchors)?;
        let anchor_name = anchor_name(&hash);
        let anchor_lock = files::lock(&anchors.join(&anchor_name).with_extension("lock"))?;

        let (journal_path, anchor_path) = (store.join(JOURNAL), anchors.join(&anchor_name));
        let journal = Ledger::read(&journal_path, &hash)?;
        let damaged = |what| Error::Damaged { path: journal_path.clone(), cause: Malformed::Meaning(what) };
        let journal = journal.ok_or_else(|| damaged("it is missing"))?;
        let anchor = Ledger::read(&anchor_path, &hash)?;
        let epochs: Vec<Epoch> = files::names(store)?.iter().filter_map(|name| Epoch::parse(name)).collect();

        let nothing = Contents::default();
        let known = anchor.as_ref().unwrap_or(&nothing);
        if journal.torn && (known.torn || entry == Entry::Adopt) {
            // A crash tears one of them at most; and alone, the journal can't say what its last record was.
            return Err(damaged("its last record is torn, and nothing else says what was used last"));
        }
        let unanchored = |epoch: &&Epoch| !known.uses.contains_key(&(**epoch, WHOLE));
        if let Some(epoch) = epochs.iter().find(unanchored).copied() {
            if entry != Entry::Adopt {
                return Err(Error::AnchorLost { epoch, path: anchor_path });
            }
            if epochs.iter().filter(unanchored).any(|epoch| !journal.uses.contains_key(&(*epoch, WHOLE))) {
                return Err(damaged("an epoch of the store is missing in it"));
            }
        }
        // Of a destroyed one the journal says nothing more.
        let is_told = |(epoch, _): &&(Epoch, u64)| {
            epochs.contains(epoch) && !ledger::is_destroyed(&journal.uses, *epoch)
        };
        let there = known.uses.keys().filter(is_told);
        let restored = there.filter_map(|shelf| behind(*shelf, &journal, known)).collect();
        let mut uses = journal.uses.clone();
        for (shelf, used) in &known.uses {
            let before = uses.entry(*shelf).or_default();
            *before = before.or(*used);
        }
        ledger::forget_destroyed(&mut uses);
        let mut store = Self {
            path: store.to_owned(),
            binding: hash,
            is_supply: binding.is_supply(),
            journal: Ledger::open(store, JOURNAL, &hash, Some(&journal), &uses)?,
            anchor: Ledger::open(anchors, &anchor_name, &hash, anchor.as_ref(), &uses)?,
            uses,
            epochs: BTreeMap::new(),
            reserved: BTreeMap::new(),
            restored,
            lasting: lasting::read(store)?,
            sound: true,
            _locks: [lock, anchor_lock],
        };
        store.tidy(&epochs)?;
        Ok(store)
    }

    /// Overwrites what an earlier process left, and takes in the epochs that are whole and unused.
    fn tidy(&mut self, epochs: &[Epoch]) -> Result<(), Error> {
        for name in files::names(&self.path)? {
            let rubbish = name.split_once('.').is_some_and(|(epoch, state)| {
                Epoch::parse(epoch).is_some() && [UNFINISHED, SPENT].contains(&state)
            });
            if rubbish {
                Spent::new(&self.path, name).erase()?;
            }
        }
        for &epoch in epochs {
            let used = self.used(epoch, WHOLE);
            let is_pending = used.pending() && !planted(Mistake::PendingKept);
            if is_pending && used.next != Used::DESTROYED {
                self.note((epoch, WHOLE), Used { next: Used::DESTROYED, ..used })?;
            }
            if self.used(epoch, WHOLE).next == Used::DESTROYED {
                self.set_aside(epoch)?.erase()?;
                continue;
            }
            let shelves = Shelf::all_in(&self.path.join(epoch.to_string()), &self.binding, epoch)?;
            let numbers: Vec<u64> = shelves.keys().copied().collect();
            self.epochs.insert(epoch, shelves);
            for shelf in numbers {
                self.burn((epoch, shelf), 0, self.used(epoch, shelf).next)?;
            }
            self.remove_used_up(epoch)?;
        }
        Ok(())
    }
}

// What writers and readers do.
impl Store {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn binding(&self) -> &[u8; 32] {
        &self.binding
    }

    /// Makes an epoch usable whose files are on disk, in the folder `written`. Journal and anchor know it before it can
    /// be seen, so that an epoch that they don't know is one whose journal or anchor was lost.
    pub(crate) fn admit(&mut self, epoch: Epoch, written: &Path) -> Result<(), Error> {
        self.note((epoch, WHOLE), Used::default())?;
        let path = self.path.join(epoch.to_string());
        files::rename(&self.path, written, &path)?;
        self.epochs.insert(epoch, Shelf::all_in(&path, &self.binding, epoch)?);
        Ok(())
    }

    fn burn(&mut self, (epoch, shelf): (Epoch, u64), from: u64, to: u64) -> Result<(), Error> {
        match self.epochs.get_mut(&epoch).and_then(|shelves| shelves.get_mut(&shelf)) {
            Some(found) if from < to => found.burn(from, to),
            _ => Ok(()),
        }
    }

    /// Removes an epoch of which all is used, but for its key, and nothing reserved is still to be read; unless the key stays.
    fn remove_used_up(&mut self, epoch: Epoch) -> Result<(), Error> {
        if self.reserved.contains_key(&epoch) || self.lasting.contains(&epoch) {
            return Ok(());
        }
        let Some(shelves) = self.epochs.get(&epoch) else { return Ok(()) };
        let mut counted = shelves.iter().filter(|(shelf, _)| !self.is_supply || **shelf != WHOLE);
        if counted.any(|(shelf, found)| self.used(epoch, *shelf).next < found.count()) {
            return Ok(());
        }
        self.epochs.remove(&epoch);
        self.set_aside(epoch)?.erase()
    }

    /// Gives an epoch that is noted as used up another name, if it is there: a folder that is half erased is no epoch.
    fn set_aside(&self, epoch: Epoch) -> Result<Spent, Error> {
        let path = self.path.join(epoch.to_string());
        let spent = Spent::new(&self.path, format!("{epoch}.{SPENT}"));
        if files::exists(&path)? {
            files::rename(&self.path, &path, &spent.path())?;
        }
        Ok(spent)
    }

    /// Whether it has the key of an epoch of supplies.
    pub(crate) fn has_key(&self, epoch: Epoch) -> bool {
        self.is_supply && self.epochs.contains_key(&epoch)
    }

    fn is_known(&self, epoch: Epoch) -> bool {
        self.uses.contains_key(&(epoch, WHOLE))
    }

    fn used(&self, epoch: Epoch, shelf: u64) -> Used {
        self.uses.get(&(epoch, shelf)).copied().unwrap_or_default()
    }

    fn checked(&self, epoch: Epoch) -> Result<Used, Error> {
        let used = self.uses.get(&(epoch, WHOLE)).filter(|used| used.next != Used::DESTROYED);
        used.copied().ok_or(Error::Unknown { epoch })
    }

    fn count_check(&mut self, epoch: Epoch) -> Result<(), Error> {
        let used = self.used(epoch, WHOLE);
        let checks =
            used.checks.checked_add(1).ok_or(Error::Check { epoch, what: "its key has had all checks" })?;
        let counted = Used { checks, ..used };
        if planted(Mistake::ChecksUnnoted) {
            self.uses.insert((epoch, WHOLE), counted);
            return Ok(());
        }
        self.note((epoch, WHOLE), counted)
    }

    /// Says durably how far a shelf is used: in the journal, then in the anchor. So the journal is behind only if it is
    /// a copy. After an error nobody knows what is on disk, and nothing is given any more.
    fn note(&mut self, shelf: (Epoch, u64), used: Used) -> Result<(), Error> {
        if !std::mem::replace(&mut self.sound, false) {
            return Err(Error::Closed);
        }
        self.journal.append(shelf, used)?;
        if used.checks == 0 || !planted(Mistake::AnchorUntold) {
            self.anchor.append(shelf, used)?;
        }
        self.uses.insert(shelf, used);
        self.journal.shorten(&self.uses)?;
        self.anchor.shorten(&self.uses)?;
        self.sound = true;
        Ok(())
    }
}

/// The name of the anchor of stores of a binding.
pub(crate) fn anchor_name(binding: &[u8; 32]) -> String {
    let mut name = String::new();
    let _ = hex(&binding[..16], &mut name);
    name + ".anchor"
}

fn read_binding(store: &Path) -> Result<Binding, Error> {
    let path = store.join(BINDING);
    let bytes = files::read(&path, binding::MAX_BYTES as u64)?;
    Binding::from_bytes(&bytes).map_err(|cause| Error::Damaged { path, cause })
}

/// Whether a file may be in a folder that is just becoming a store.
fn beginning(name: &str) -> bool {
    name == LOCK || [JOURNAL, BINDING].iter().any(|file| name.strip_suffix(".new").unwrap_or(name) == *file)
}

fn behind((epoch, shelf): (Epoch, u64), journal: &Contents, anchor: &Contents) -> Option<Restored> {
    let used = |contents: &Contents| contents.uses.get(&(epoch, shelf)).copied().unwrap_or_default();
    let (journal, anchor) = (used(journal), used(anchor));
    let numbers = [(journal.next, anchor.next), (journal.checks, anchor.checks)];
    let (journal, anchor) = numbers.into_iter().find(|(journal, anchor)| journal < anchor)?;
    Some(Restored { epoch, shelf, journal, anchor })
}
