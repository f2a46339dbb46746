//! Where a party keeps the material of an offline phase, so that an online run uses it once or never.
//!
//! An *epoch* is what one offline session made. Its material lies on *shelves*, in instances, numbered from 0. It is of one of
//! two sorts: for some runs of one plan, an instance for each on a single shelf; or a supply that any plan draws from, with a
//! shelf for each kind, all under one key.
//!
//! Every party has material of its own for each instance. It is secret bytes, which mean nothing here. A [`Store`] is a folder
//! that holds one party's epochs for one [`Binding`]: one protocol with its parameters, one list of parties, and one program with
//! its clients, or any.
//!
//! Offline, each party hands its verified material to a [`Writer`]. Nothing of an epoch can be used before
//! [`Writer::finish`] returns. Online, the parties exchange [`Store::available`] (as [`encode`]d lists), all come to
//! the same [`Run`] by [`agree`], and each takes its part:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (binding, theirs): (tacit_store::Binding, Vec<u8>) = todo!();
//! let anchors = tacit_store::default_anchors().ok_or("say where anchors lie")?;
//! let mut store = tacit_store::Store::open("store".as_ref(), &anchors, &binding)?;
//! let shelf = tacit_store::WHOLE;
//! let mine = store.available(shelf);
//! let theirs = tacit_store::decode(&theirs)?;
//! let lists = vec![("P0", &mine[..]), ("P1", &theirs[..])];
//! let wanted = tacit_store::Wanted { shelf, instances: 10, lists, unit: Default::default() };
//! for run in tacit_store::agree(&[wanted], |_| false)? {
//!     for material in store.take_run(run)? {
//!         let _bytes: &[u8] = &material?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Before the first byte is read, two files record durably that it is used. One is the store's *journal*. The other is
//! the *anchor*, which lies outside the store and so isn't rolled back with it. The one that records more wins.
//! Material that was read is overwritten.
//!
//! A failed check on a supply's key destroys its epoch, and so does a process that ends between [`Store::begin_check`] and
//! [`Store::pass_check`].
//!
//! Shares of values that stay from one run to the next lie in a [`KeptFolder`].
//!
//! Decisions 9, 16 and 23 in `docs/adr` have the reasons; `docs/deployment.md` has what an operator must know.

mod agree;
mod binding;
mod epoch;
mod error;
mod files;
mod format;
mod index;
mod kept;
mod lasting;
mod ledger;
mod material;
mod overview;
mod place;
mod planted;
mod spent;
mod store;
mod taken;
mod writer;

#[cfg(test)]
mod tests;

pub use agree::{
    Available, MAX_EPOCHS, MAX_LIST_BYTES, NoAgreement, NotAList, Run, Unit, Wanted, agree, decode, encode,
    same_checks,
};
#[doc(hidden)]
pub use binding::seal_binding;
pub use binding::{Binding, PlanBinding};
pub use epoch::Epoch;
pub use error::Error;
pub use format::{Malformed, VERSION};
#[doc(hidden)]
pub use index::{read_index_header, write_index_header};
pub use kept::{KeptEntry, KeptFolder, KeptStanding, KeptValue};
pub use ledger::WHOLE;
#[doc(hidden)]
pub use ledger::{Used, read_ledger, write_ledger};
pub use material::Material;
pub use overview::{EpochStanding, Overview, Standing, Stock};
pub use place::default_anchors;
pub use spent::Spent;
pub use store::{Restored, Store};
pub use taken::{Reserved, Taken};
pub use writer::Writer;
