//! Registers of shares, which are wiped.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use tacit_engine::bank::{Bank, Part};
use tacit_program::plan::Plan;

/// A bank that is wiped when it is dropped.
pub(crate) struct SecretBank(Bank);

impl SecretBank {
    /// With all memory that the plan will need.
    pub(crate) fn new(plan: Arc<Plan>, part: Part) -> Self {
        let mut bank = Bank::new(plan, part);
        bank.reserve();
        Self(bank)
    }
}

impl Deref for SecretBank {
    type Target = Bank;

    fn deref(&self) -> &Bank {
        &self.0
    }
}

impl DerefMut for SecretBank {
    fn deref_mut(&mut self) -> &mut Bank {
        &mut self.0
    }
}

impl Drop for SecretBank {
    fn drop(&mut self) {
        self.0.wipe();
    }
}
