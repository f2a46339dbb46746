//! An admin's orders.
//!
//! An order reaches the servers through the front, which proves nothing. What proves it is the run that it asks for: the admin takes
//! part in it under its TLS key, and the program has a name in it that is the order's hash. So a run of anything but the
//! admin's own order ends before anything is shared.

use crate::messages::Name;
use crate::programs::Task;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// What becomes of a principal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Change {
    /// It has a new key; it may be new itself.
    Key {
        /// What its password is hashed with; nothing for keys of no password.
        salt: String,
        /// Whether the servers draw parts of the key, so that nobody ever has it.
        drawn: bool,
    },
    /// It gets no tickets, nor anybody one for it.
    Lock,
    /// It does again.
    Unlock,
    /// It is no more, and neither is its key.
    Delete,
}

/// A change that an admin orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The principal's name.
    pub principal: String,
    /// What becomes of it.
    pub change: Change,
    /// A number that never comes twice.
    pub number: u128,
}

impl Order {
    /// Reads one.
    ///
    /// # Errors
    /// In words, if it is none that a server carries out.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let order: Self = serde_json::from_slice(bytes).map_err(|error| format!("no order: {error}"))?;
        if Name::of_text(&order.principal).is_none() {
            return Err(format!(
                "{:?} names no principal: letters, digits and signs but / @ [ ] \\, with / between components",
                order.principal
            ));
        }
        if order.principal.starts_with("krbtgt/") && matches!(order.change, Change::Key { drawn: false, .. })
        {
            return Err("nobody may know the key of krbtgt: add it with --random".to_owned());
        }
        Ok(order)
    }

    /// As it is sent.
    ///
    /// # Errors
    /// Never, of what it holds.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// What proves the order of these bytes, and carries out what takes shares.
    pub fn task(&self, bytes: &[u8]) -> Task {
        let mut hash = String::new();
        for byte in Sha256::digest(bytes) {
            let _ = write!(hash, "{byte:02x}");
        }
        match self.change {
            Change::Key { drawn, .. } => Task::Enrol { record: format!("key {hash}"), drawn },
            Change::Lock | Change::Unlock | Change::Delete => {
                Task::Approve { order: format!("order {hash}") }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(principal: &str, change: Change) -> Order {
        Order { principal: principal.into(), change, number: 1 << 100 }
    }

    #[test]
    fn what_servers_run_is_named_by_all_of_an_order() {
        let drawn = |drawn| Change::Key { salt: String::new(), drawn };
        let mut tasks = Vec::new();
        for (principal, change, number) in [
            ("ann", drawn(true), 1),
            ("ann", drawn(true), 2),
            ("ben", drawn(true), 1),
            ("ann", drawn(false), 1),
            ("ann", Change::Key { salt: "salt".into(), drawn: false }, 1),
            ("ann", Change::Lock, 1),
            ("ann", Change::Unlock, 1),
            ("ann", Change::Delete, 1),
        ] {
            let bytes = Order { number, ..order(principal, change) }.to_bytes().unwrap();
            let task = Order::read(&bytes).unwrap().task(&bytes);
            assert!(!tasks.contains(&task));
            tasks.push(task);
        }
    }

    #[test]
    fn orders_that_no_server_carries_out_are_refused() {
        let given = || Change::Key { salt: String::new(), drawn: false };
        for (order, says) in [
            (order("krbtgt/REALM", given()), "--random"),
            (order("ann@REALM", given()), "names no principal"),
            (order("", Change::Lock), "names no principal"),
            (order("a//b", Change::Delete), "names no principal"),
        ] {
            let refused = Order::read(&order.to_bytes().unwrap()).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
        assert!(Order::read(b"{}").unwrap_err().contains("no order"));
    }
}
