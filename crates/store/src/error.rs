//! Why a store gives nothing.

use std::path::PathBuf;

use crate::Epoch;
use crate::format::Malformed;

/// Why a store gives nothing. No error holds anything secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("cannot {doing} {}: {detail}", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// The process, or the machine, has as many files open as it may: later it may go well.
    #[error("cannot {doing} {}: too many files are open (ulimit -n); fewer clients, or a higher limit", path.display())]
    TooManyOpen {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
    },
    /// Nothing has been made there yet.
    #[error("there is no store at {}; `tacit offline` makes one", path.display())]
    NoStore {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// A folder with other things in it.
    #[error("{} is neither such a folder nor empty; name another one", path.display())]
    NotAStore {
        /// The folder.
        path: PathBuf,
    },
    /// Another process has the store open, or a copy of it.
    #[error("{} is locked: another process uses it, or a copy of it; wait for it or stop it", path.display())]
    InUse {
        /// The lock.
        path: PathBuf,
    },
    /// Others than its owner can read or write it.
    #[error(
        "others than its owner may read or write {} (mode {mode:o}): take their rights away with chmod go=; if anybody may have done so, use nothing of it: delete a store and make new material, and drop kept values or refresh them", path.display()
    )]
    Exposed {
        /// The file or folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is another user's.
    #[error("{} belongs to another user; run as its owner", path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
    },
    /// A file isn't as it was written.
    #[error("{} can't be used: {cause}; if it isn't of another version, delete the store and make new material", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: Malformed,
    },
    /// A file of kept values isn't as it was written, or was sealed under another key.
    #[error("{} can't be used: {cause}; if it is under another key, give that one, else put back a whole copy of what this party keeps, or drop it at all parties", path.display())]
    Sealed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: Malformed,
    },
    /// A folder of kept values is sealed under another key than was given.
    #[error("{} {}", path.display(), if *is_own { "has its key in it, as for trying out: open it without a party's configuration" }
        else { "is sealed under its party's key: say which configuration is that party's (--config parties.toml)" })]
    SealedUnder {
        /// The folder.
        path: PathBuf,
        /// Whether its key lies in it.
        is_own: bool,
    },
    /// A copy is put back only where nothing is.
    #[error("{} is there already; a copy of kept values is put into a folder of its own, and never into others", path.display())]
    Taken {
        /// The file or folder.
        path: PathBuf,
    },
    /// The system gives no randomness.
    #[error("the system gives no randomness: {0}")]
    Entropy(String),
    /// A version comes once.
    #[error("{name}@{version} is or was kept here already")]
    KeptTwice {
        /// The value's name.
        name: String,
        /// Its version.
        version: u64,
    },
    /// The store was made for something else.
    #[error("the store {} was made for something else: {differences}; name another folder", path.display())]
    Binding {
        /// The store.
        path: PathBuf,
        /// All differences, in words.
        differences: String,
    },
    /// The anchor would be rolled back with the store.
    #[error("the anchors at {} lie inside the store, which a copy of it would take along; name a folder outside", path.display())]
    AnchorInside {
        /// Where the anchors were to lie.
        path: PathBuf,
    },
    /// Nothing says whether this store is an old copy.
    #[error(
        "the anchor {} does not know epoch {epoch}, so nothing shows that this store is no older copy whose material has been used since; find the anchor, or delete the store and make new material, or, only if you know that the store was never copied nor restored, let a new anchor take over what the store's journal says (`tacit store adopt`)", path.display()
    )]
    AnchorLost {
        /// The first such epoch.
        epoch: Epoch,
        /// Where the anchor should be.
        path: PathBuf,
    },
    /// An epoch of that name is or was here.
    #[error("epoch {epoch} is known here already; an offline session's identity must be fresh")]
    Known {
        /// The epoch.
        epoch: Epoch,
    },
    /// No epoch of that name has unused material here.
    #[error("there is no unused material of epoch {epoch} in this store")]
    Unknown {
        /// The epoch.
        epoch: Epoch,
    },
    /// It has been used.
    #[error("instance {index} of epoch {epoch} has been used; the first unused one is {next}")]
    Used {
        /// The epoch.
        epoch: Epoch,
        /// The instance asked for.
        index: u64,
        /// The first that is unused.
        next: u64,
    },
    /// The epoch doesn't reach so far.
    #[error("epoch {epoch} has {count} instances; {instances} from {first} on were asked for")]
    Beyond {
        /// The epoch.
        epoch: Epoch,
        /// The first instance asked for.
        first: u64,
        /// How many were asked for.
        instances: u64,
        /// How many the epoch was made with.
        count: u64,
    },
    /// It isn't one of the instances that were reserved, or it was read.
    #[error("instance {index} of epoch {epoch} isn't reserved, or has been read")]
    Read {
        /// The epoch.
        epoch: Epoch,
        /// The instance asked for.
        index: u64,
    },
    /// A check of the epoch is already under way, or none is.
    #[error("epoch {epoch}: {what}")]
    Check {
        /// The epoch.
        epoch: Epoch,
        /// What doesn't fit.
        what: &'static str,
    },
    /// An earlier operation failed in a way that leaves open what is on disk.
    #[error("an earlier write to the folder failed; open it again once its cause is mended")]
    Closed,
    /// An epoch of no instances.
    #[error("an epoch has at least one instance")]
    Empty,
    /// So many epochs have unused material that they couldn't be told to others in one message.
    #[error(
        "{} epochs have unused material; use some of them, or destroy them, before making more",
        crate::MAX_EPOCHS
    )]
    Full,
    /// A longer journal wouldn't be read any more.
    #[error("its journal has had as many epochs as it can hold; make a new store in another folder")]
    Worn,
}

/// The first error of what is all done, whatever becomes of the rest.
pub(crate) fn first_error(done: impl Iterator<Item = Result<(), Error>>) -> Result<(), Error> {
    done.fold(Ok(()), Result::and)
}
