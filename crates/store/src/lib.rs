//! Where a party keeps the material of an offline phase, so that an online run uses it once or never.
//!
//! An *epoch* is what one offline session made: material for some number of instances of one plan, numbered from 0.
//! Every party has material of its own for each instance. It is secret bytes, which mean nothing here. A [`Store`] is a
//! folder that holds one party's epochs for one [`Binding`]: one protocol with its parameters, one program, one list of
//! parties and clients.
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
//! let mine = store.available();
//! let theirs = tacit_store::decode(&theirs)?;
//! let run = tacit_store::agree(&[("P0", &mine), ("P1", &theirs)], 10)?;
//! for material in store.take_run(run)? {
//!     let _bytes: &[u8] = &material?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Before the first byte is read, two files record durably that it is used. One is the store's *journal*. The other is
//! the *anchor*, which lies outside the store and so isn't rolled back with it. The one that records more wins.
//! Material that was read is overwritten.
//!
//! Decision 9 in `docs/adr` has the reasons; `docs/deployment.md` has what an operator must know.

mod agree;
mod binding;
mod epoch;
mod error;
mod files;
mod format;
mod index;
mod ledger;
mod material;
mod overview;
mod place;
mod store;
mod taken;
mod writer;

#[cfg(test)]
mod tests;

pub use agree::{Available, MAX_EPOCHS, MAX_LIST_BYTES, NoAgreement, NotAList, Run, agree, decode, encode};
pub use binding::Binding;
#[doc(hidden)]
pub use binding::seal_binding;
pub use epoch::Epoch;
pub use error::Error;
pub use format::{Malformed, VERSION};
#[doc(hidden)]
pub use index::{read_index_header, write_index_header};
#[doc(hidden)]
pub use ledger::{Used, read_ledger, write_ledger};
pub use material::Material;
pub use overview::{Overview, Standing, Stock};
pub use place::default_anchors;
pub use store::{Restored, Store};
pub use taken::Taken;
pub use writer::Writer;
