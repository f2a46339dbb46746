//! Whether what a batch began with still holds: its time, the principals as they were then, and shares of their keys.
//!
//! What a request sees of principals doesn't change while it is answered. But a server that deviates can have others wait,
//! and so each looks before each step: else requests could be held back until their principal is locked or has another
//! key, and be granted then.

use crate::realm::Principals;
use crate::server::node::{Node, Step};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// Why a request gets nothing that took too long.
const LATE: &str = "the servers have taken too long";
/// Why one gets nothing whose principal has changed.
const CHANGED: &str = "a principal has changed meanwhile, so the client has to ask again";
/// Why one gets nothing that takes a share which isn't here.
const MISSING: &str = "this server's share of a key is missing";

/// What a batch begins with.
pub(super) struct Terms<'a> {
    pub(super) node: &'a Node,
    pub(super) principals: Arc<Principals>,
    /// When the front has given up.
    until: Instant,
}

impl<'a> Terms<'a> {
    /// Of a batch that may be answered until then.
    pub(super) fn new(node: &'a Node, until: Instant) -> Self {
        Self { node, principals: node.principals(), until }
    }

    /// What has become of them.
    pub(super) fn now(&self) -> Now {
        let known = self.node.principals();
        let is_same = Arc::ptr_eq(&known, &self.principals);
        Now {
            is_late: Instant::now() >= self.until,
            changed: if is_same { BTreeSet::new() } else { known.changed_since(&self.principals) },
            holds: self.node.holds(),
        }
    }
}

/// What has become of them at a moment.
pub(super) struct Now {
    is_late: bool,
    /// Records of principals that aren't as they were.
    changed: BTreeSet<String>,
    /// Records of which this server has its shares.
    holds: Arc<BTreeSet<String>>,
}

impl Now {
    /// Why this server doesn't run a step any more, if it doesn't.
    pub(super) fn refusal(&self, step: &Step) -> Option<&'static str> {
        if self.is_late {
            return Some(LATE);
        }
        if !self.changed.is_disjoint(&step.relies_on) {
            return Some(CHANGED);
        }
        let is_missing = !step.records.iter().all(|record| self.holds.contains(record));
        is_missing.then_some(MISSING)
    }
}
