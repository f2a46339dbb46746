//! Supplies: correlated randomness that engines need, and that doesn't depend on any input.
//!
//! A plan's [`Demand`] says how many items of which kinds its run draws, and which of them each operation. An engine asks
//! its [`Supply`] for all of it before the first input, and then draws items by their addresses. It doesn't know where they
//! come from: they are made live in the session, they come from a store that was filled before ([`StoredSupply`]), or a test
//! plays the dealer.
//!
//! **Once only.** An item is drawn once, or not at all: [`Draws`] refuses a drawer what it has drawn. Arms of a branch may
//! share items, if the protocol says so ([`Arms`]), and each draws them once. A store notes durably what a run may draw
//! before any of it is read.
//!
//! **Checks.** All of a supply is under one key, if the protocol has one. A [`CheckScope`] gives the lanes that share it
//! their turns, one check at a time. A check that fails, or has no verdict, destroys the key and all that is under it.

mod checks;
mod demand;
mod kind;
mod lists;
mod pool;
mod stored;
#[cfg(test)]
mod tests;

pub use checks::{Check, CheckScope, Ending, Journal, Turn};
pub use demand::{Arms, Blocks, Demand, Drawer, Draws};
pub use kind::SupplyKind;
pub use lists::{agreed, list_message, read_lists};
pub use pool::Pool;
pub use stored::{Stock, StoredSupply, SuppliedRun, fill};

use crate::{Error, Material};
use std::ops::Range;
use std::sync::Arc;
use tacit_kernel::Buffer;
use tacit_session::Session;

/// Where an engine has its correlated randomness from.
pub trait Supply: Send {
    /// This party's share of the key that all is under; empty for a protocol without one. It can be asked for once something
    /// was provided, and then stays the same.
    ///
    /// # Errors
    /// If nothing was provided yet.
    fn key(&mut self) -> Result<Material, Error>;

    /// What names that key wherever it lives longer than the session, the same at all parties; nothing if it doesn't. It can be
    /// asked for as the key can.
    fn key_name(&self) -> Option<[u8; 32]> {
        None
    }

    /// Makes sure that there is all that a plan draws, checked as far as the protocol promises it. All parties do so at the
    /// same point, once for each plan and before its inputs. What the plan before it hasn't drawn is lost.
    ///
    /// # Errors
    /// [`Error::NoMaterial`] if there isn't enough; nothing that depends on a secret has been sent then.
    fn provide(&mut self, session: &mut Session, demand: &Arc<Demand>) -> Result<(), Error>;

    /// Items of a kind, counted from the drawer's first. Each part of an item, and whatever the protocol adds to it in like
    /// parts, has a buffer of its own, with the items' one after another ([`SupplyKind::part_bytes`]). Sends nothing.
    ///
    /// # Errors
    /// [`Error::Supply`] for items that aren't the drawer's or that it has drawn before.
    fn draw(&mut self, drawer: Drawer, kind: SupplyKind, items: Range<u64>) -> Result<Vec<Buffer>, Error>;

    /// The checks on the key.
    fn checks(&self) -> &CheckScope;
}
