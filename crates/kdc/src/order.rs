//! An admin's orders.
//!
//! An order reaches the servers through the front, signed by the admin. What proves it is the run that it asks for:
//! the admin takes part in it under its TLS key, and asks for it under a tag that is the order's hash, which the
//! run's session agrees on. So a run of anything but the admin's own order doesn't begin.

mod key;

pub use key::{AdminKey, OrderKey};

use crate::messages::Name;
use crate::programs::Task;
use crate::realm::{Carried, Orders, Principals, Settings};
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
        /// How often it is hashed; 0 for keys of no password.
        iterations: u32,
        /// Whether the servers draw parts of the key, so that nobody ever has it.
        drawn: bool,
        /// The key's version, greater than all that the name has had.
        kvno: u64,
        /// Whether the principal is to be there already.
        #[serde(default, skip_serializing_if = "Holder::is_any")]
        holder: Holder,
    },
    /// It gets no tickets, nor anybody one for it.
    Lock,
    /// It does again.
    Unlock,
    /// It is no more, and neither is its key.
    Delete,
    /// Nothing: the admin is told which version its next key has. No run proves that.
    Version,
}

/// Who may be given a key. Each server looks by itself whether there is such a principal as it begins to carry out the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holder {
    /// Whoever is named, new or not.
    #[default]
    Any,
    /// Nobody yet who is there.
    New,
    /// Somebody who is there.
    Known,
}

impl Holder {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

/// How a refusal begins that says which version a key has to have.
pub const NEXT_KVNO: &str = "the next key's version is ";
/// Bytes of a salt.
const MAX_SALT: usize = 255;
/// Iterations of a password's hash: clients are told, and have to do them at each login. MIT's do no more than 2^24.
const MAX_ITERATIONS: u32 = 1 << 24;
/// Versions that a new key may leave out.
const MAX_KVNO_JUMP: u64 = 1 << 16;

/// What names an order: a hash of its bytes. It is the tag of the run that proves it, so all who take part mean the same.
pub fn tag(bytes: &[u8]) -> String {
    let mut tag = "order ".to_owned();
    for byte in Sha256::digest(bytes) {
        let _ = write!(tag, "{byte:02x}");
    }
    tag
}

/// What the record is kept as that an order makes.
pub fn record(bytes: &[u8]) -> String {
    tag(bytes).replace("order", "key")
}

/// A change that an admin orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The principal's name.
    pub principal: String,
    /// What becomes of it.
    pub change: Change,
    /// When it was ordered, by the admin's clock: in seconds since 1970.
    pub at: i64,
    /// A number that is greater than those of orders before, and never comes twice.
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
        if matches!(&order.change, Change::Key { salt, .. } if salt.len() > MAX_SALT) {
            return Err(format!("a salt has {MAX_SALT} bytes at most: every client is told it"));
        }
        if matches!(&order.change, Change::Key { iterations, .. } if *iterations > MAX_ITERATIONS) {
            return Err(format!("a password is hashed {MAX_ITERATIONS} times at most"));
        }
        if order.principal.starts_with("krbtgt/") && matches!(order.change, Change::Key { drawn: false, .. })
        {
            return Err("nobody may know the key of krbtgt: give it one with rotate".to_owned());
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

    /// What proves the order, and carries out what takes shares.
    pub fn task(&self) -> Task {
        match self.change {
            Change::Key { drawn, .. } => Task::Enrol { drawn },
            Change::Lock | Change::Unlock | Change::Delete | Change::Version => Task::Approve,
        }
    }

    /// Carries it out, `sent` as the admin signed it, once its run has ended well: records that end with it, and what
    /// becomes of the principal, in words.
    pub fn carry_out(
        &self,
        principals: &mut Principals,
        sent: &str,
        now: i64,
        settings: &Settings,
    ) -> (Vec<String>, String) {
        let name = &self.principal;
        let Settings { max_skew, max_life, max_renewable_life, .. } = *settings;
        let (ended, told) = match &self.change {
            Change::Key { salt, iterations, kvno, .. } => {
                // A ticket for krbtgt may begin as much later as one may be renewed.
                let later = if name.starts_with("krbtgt/") { max_renewable_life } else { 0 };
                let life = max_life + later + 2 * max_skew;
                let record = record(key::unsigned(sent).as_bytes());
                // From now on, by this server's clock: the admin's may be slow, and another one's tickets good for longer.
                principals.put_key(name, (*kvno, record), (salt.clone(), *iterations), now, life);
                (Vec::new(), format!("kvno {kvno}"))
            }
            Change::Delete => (principals.remove(name), "deleted".to_owned()),
            change => {
                let revoked = *change == Change::Lock;
                if let Some(principal) = principals.get_mut(name) {
                    principal.revoked = revoked;
                }
                (Vec::new(), if revoked { "locked" } else { "unlocked" }.to_owned())
            }
        };
        let (orders, sent) = (principals.orders_mut(name), sent.to_owned());
        *slot(orders, &self.change) = Carried { number: self.number, sent };
        (ended, told)
    }

    /// The number that it has to be above, of a name of which this was carried out.
    pub fn least(&self, orders: &Orders) -> u128 {
        let (key, lock) = (orders.key.number, orders.lock.number);
        // Whoever was struck off has neither, and whoever is has both.
        let before = match self.change {
            Change::Key { .. } => key,
            Change::Lock | Change::Unlock => lock,
            Change::Delete | Change::Version => key.max(lock),
        };
        before.max(orders.deleted.number)
    }

    /// Why a server doesn't carry it out whose clock says `now`.
    ///
    /// # Errors
    /// In words, for the admin.
    pub fn admit(&self, principals: &Principals, now: i64, max_skew: i64) -> Result<(), String> {
        let Self { principal: name, change, at, .. } = self;
        if at.abs_diff(now) > max_skew.unsigned_abs() {
            return Err("the admin's clock and a server's differ".to_owned());
        }
        if self.number <= self.least(&principals.orders(name)) {
            return Err(format!("a later order for {name} has been carried out: is the admin's clock slow?"));
        }
        match change {
            Change::Key { holder: Holder::New, .. } if principals.get(name).is_some() => {
                Err(format!("there is a principal {name} already: passwd gives it a new password"))
            }
            Change::Key { holder: Holder::Known, .. } if principals.get(name).is_none() => {
                Err(format!("there is no principal {name}"))
            }
            Change::Key { kvno, .. } => {
                let next = principals.next_kvno(name);
                if *kvno < next {
                    return Err(format!("{NEXT_KVNO}{next}"));
                }
                // What follows them has to have numbers, too.
                if *kvno > next + MAX_KVNO_JUMP {
                    return Err(format!("the next key's version is {next}, and {kvno} is far from it"));
                }
                Ok(())
            }
            _ if principals.get(name).is_none() => Err(format!("there is no principal {name}")),
            _ => Ok(()),
        }
    }
}

/// Where an order of this kind is noted.
fn slot<'o>(orders: &'o mut Orders, change: &Change) -> &'o mut Carried {
    match change {
        Change::Key { .. } => &mut orders.key,
        Change::Delete => &mut orders.deleted,
        Change::Lock | Change::Unlock | Change::Version => &mut orders.lock,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(principal: &str, change: Change) -> Order {
        Order { principal: principal.into(), change, at: 1000, number: 1 << 100 }
    }

    fn given(drawn: bool, kvno: u64, holder: Holder) -> Change {
        Change::Key { salt: String::new(), iterations: 0, drawn, kvno, holder }
    }

    #[test]
    fn what_servers_run_is_named_by_all_of_an_order() {
        let key = |drawn, kvno| given(drawn, kvno, Holder::Any);
        let salted = |iterations| Change::Key {
            salt: "salt".into(),
            iterations,
            drawn: false,
            kvno: 1,
            holder: Holder::Any,
        };
        let mut tags = Vec::new();
        for (principal, change, number, at) in [
            ("ann", key(true, 1), 1, 1),
            ("ann", key(true, 1), 2, 1),
            ("ann", key(true, 1), 1, 2),
            ("ann", key(true, 2), 1, 1),
            ("ben", key(true, 1), 1, 1),
            ("ann", key(false, 1), 1, 1),
            ("ann", given(false, 1, Holder::New), 1, 1),
            ("ann", given(false, 1, Holder::Known), 1, 1),
            ("ann", salted(0), 1, 1),
            ("ann", salted(1), 1, 1),
            ("ann", Change::Lock, 1, 1),
            ("ann", Change::Unlock, 1, 1),
            ("ann", Change::Delete, 1, 1),
        ] {
            let bytes = Order { at, number, ..order(principal, change) }.to_bytes().unwrap();
            let tag = tag(&bytes);
            assert!(!tags.contains(&tag) && record(&bytes).starts_with("key "));
            tags.push(tag);
        }
    }

    #[test]
    fn a_keys_version_is_the_orders_and_never_comes_twice() {
        let mut principals = Principals::default();
        let key = |kvno| order("ann", given(true, kvno, Holder::Any));
        key(5).admit(&principals, 1000, 300).unwrap();
        principals.put_key("ann", (5, "a".into()), (String::new(), 0), 1000, 10);
        assert_eq!(key(5).admit(&principals, 1000, 300).unwrap_err(), format!("{NEXT_KVNO}6"));
        key(6).admit(&principals, 1300, 300).unwrap();
        assert!(key(6).admit(&principals, 1301, 300).unwrap_err().contains("clock"));
        assert!(key(u64::MAX).admit(&principals, 1000, 300).is_err());
        order("ann", Change::Lock).admit(&principals, 1000, 300).unwrap();
        assert!(order("ben", Change::Lock).admit(&principals, 1000, 300).is_err());
        principals.remove("ann");
        assert!(key(5).admit(&principals, 1000, 300).is_err(), "of one that was struck off neither");
    }

    #[test]
    fn a_key_is_for_a_principal_that_is_as_it_is_to_be() {
        let mut principals = Principals::default();
        let admitted = |principals: &Principals, kvno| {
            [Holder::New, Holder::Known, Holder::Any].map(|holder| {
                order("ann", given(true, kvno, holder)).admit(principals, 1000, 300).map_err(|refused| {
                    assert!(refused.contains("principal ann"), "{refused}");
                })
            })
        };
        assert_eq!(admitted(&principals, 1), [Ok(()), Err(()), Ok(())]);
        principals.put_key("ann", (1, "a".into()), (String::new(), 0), 1000, 10);
        assert_eq!(admitted(&principals, 2), [Err(()), Ok(()), Ok(())]);
        principals.remove("ann");
        assert_eq!(admitted(&principals, 2), [Ok(()), Err(()), Ok(())]);
        // Orders that were noted before are for whoever is named.
        let noted = br#"{"principal":"ann","change":{"key":{"salt":"","iterations":0,"drawn":true,"kvno":2}},"at":1000,"number":7}"#;
        let read = Order::read(noted).unwrap();
        assert_eq!(read.change, given(true, 2, Holder::Any));
        assert_eq!(read.to_bytes().unwrap(), noted);
    }

    #[test]
    fn orders_that_no_server_carries_out_are_refused() {
        let hashed = |iterations| Change::Key {
            salt: String::new(),
            iterations,
            drawn: false,
            kvno: 1,
            holder: Holder::Any,
        };
        for (order, says) in [
            (order("krbtgt/REALM", hashed(0)), "rotate"),
            (order("ann@REALM", hashed(0)), "names no principal"),
            (order("ann", hashed(MAX_ITERATIONS + 1)), "is hashed"),
            (order("", Change::Lock), "names no principal"),
            (order("a//b", Change::Delete), "names no principal"),
        ] {
            let refused = Order::read(&order.to_bytes().unwrap()).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
        assert!(Order::read(b"{}").unwrap_err().contains("no order"));
    }
}
