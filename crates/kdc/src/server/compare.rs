//! Servers hold what they know of principals against what the others do, and drop what is kept of orders that came to nothing.

use super::node::{MEET, Node, kept, lock, log, now};
use crate::failure::Failure;
use crate::lists::{Reader, Settled};
use crate::programs::{TOLD, Task, given, to_bits, to_bytes};
use crate::realm::Principals;
use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use tacit::{Fill, Wanted};

/// How often servers hold what they know of principals against what the others do.
const LISTS: Duration = Duration::from_mins(1);

/// How long a comparison may take, from where orders wait for it: however long a server says that its list is.
const WHOLE: Duration = Duration::from_secs(30);

impl Node {
    /// Holds what this server knows of principals against what the others do, once they want that, too, within such a time; takes
    /// what it lacks, and drops what is kept of orders that no server has carried out.
    pub(crate) fn compare(&self, within: Duration) -> Result<Settled, Failure> {
        let mut principals = Principals::clone(&self.principals());
        let mut step = 0;
        let mut tell = |own: &[u8], within: Duration| {
            step += 1;
            self.tell(own, format!("lists {step}"), within)
        };
        let no_records = BTreeSet::new();
        let looked = self.reader(&no_records).first_look(&principals, &mut |own| tell(own, within))?;
        if let Some(settled) = looked {
            return Ok(settled);
        }
        // From here on no order is carried out.
        let file = lock(&self.file);
        let until = Instant::now() + WHOLE;
        principals.clone_from(&self.principals());
        let (broken, holds) = (principals.begun(), kept(self.asker.list()?));
        let settled = self.reader(&holds).settle(&mut principals, &mut |own| {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let reason =
                    format!("servers took more than {} s to compare what they know", WHOLE.as_secs());
                return Err(Failure::Refused(reason));
            }
            tell(own, MEET.min(left))
        })?;
        if !settled.carried.is_empty() {
            settled.ended.iter().for_each(|record| principals.finish(record));
            self.put(&file, |known| *known = principals)?;
            let _ = self.drop_records(&file, &settled.ended);
        }
        if settled.differ.is_empty() {
            self.drop_broken(&file, &broken)?;
        }
        Ok(settled)
    }

    /// Drops what is kept of orders that broke off, of those that are nobody's key meanwhile.
    fn drop_broken(&self, file: &Path, broken: &[String]) -> Result<(), Failure> {
        let left = self.principals().begun().into_iter().filter(|record| broken.contains(record));
        let left: Vec<String> = left.collect();
        if left.is_empty() {
            return Ok(());
        }
        self.put(file, |principals| left.iter().for_each(|record| principals.finish(record)))?;
        let holds = kept(self.asker.list()?);
        let (there, gone): (Vec<String>, _) = left.into_iter().partition(|record| holds.contains(record));
        self.put(file, |principals| gone.iter().for_each(|record: &String| principals.forget(record)))?;
        Ok(self.drop_records(file, &there).map_or(Ok(()), Err)?)
    }

    fn reader<'a>(&'a self, holds: &'a BTreeSet<String>) -> Reader<'a> {
        let Self { me, names, settings, admin_key: admin, .. } = self;
        Reader { me: *me, names, settings, admin, holds, old_too: false, now: now() }
    }

    /// Tells all servers some bytes, and hears what each told.
    pub(super) fn tell(&self, own: &[u8], tag: String, within: Duration) -> Result<Vec<Vec<u8>>, Failure> {
        let compiled = self.programs.get(Task::TellLists, 1)?;
        let inputs = given(self.me, 0, vec![to_bits(&padded(own))], None);
        let run = self.asker.run(Wanted { compiled, tag, inputs, fill: Fill::new(), within })?;
        Ok(run.outputs.iter().flatten().map(|told| to_bytes(told, 1).swap_remove(0)).collect())
    }

    /// Compares again and again, and says in the log what is new.
    pub(super) fn keep_comparing(&self) {
        let mut last = Settled::default();
        loop {
            // The others rest as long between two times, so they come while this one waits.
            match self.compare(2 * LISTS) {
                Ok(settled) if settled == last => {}
                Ok(settled) => {
                    settled
                        .carried
                        .iter()
                        .for_each(|carried| log(format_args!("carried forward: {carried}")));
                    settled
                        .differ
                        .iter()
                        .for_each(|differ| log(format_args!("the servers differ: {differ}")));
                    last = Settled { carried: Vec::new(), ..settled };
                }
                // Most often another server isn't there; requests say so.
                Err(_) => {}
            }
            thread::sleep(LISTS);
        }
    }
}

/// What a server tells at a time, filled up.
pub(crate) fn padded(own: &[u8]) -> Vec<u8> {
    let mut told = own.to_vec();
    told.resize(TOLD, 0);
    told
}
