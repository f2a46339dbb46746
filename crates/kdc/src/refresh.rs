//! Fresh shares of all keys of a realm whose servers are stopped: what was stolen of one of them before doesn't
//! combine with what is stolen of another one after.

#[cfg(test)]
mod tests;

use crate::lists::Reader;
use crate::order::AdminKey;
use crate::programs::{Programs, Task, given, to_bits, to_bytes};
use crate::realm::{Principals, Settings};
use crate::server::{Failure, admit, drop_ended, kept, log, now, padded};
use std::path::Path;
use std::time::Duration;
use tacit::setup::Config;
use tacit::{Error, Seat, State};

/// Gives every key of a realm fresh shares, together with the two other servers, which do the same within such a
/// time. The old shares are dropped. How many keys there were.
///
/// # Errors
/// If the servers don't have the same keys, even when each has carried out what both others have; if a link fails, or the server
/// still runs. Then each key has either its old shares, at all servers, or fresh ones.
pub fn all(folder: &Path, within: Duration) -> Result<usize, Failure> {
    let settings = Settings::load(&folder.join("kdc.toml"))?;
    let config = Config::load(&folder.join("parties.toml")).map_err(Error::Setup)?;
    if config.is_client() {
        return Err(Failure::Refused(format!("{} is no server's folder", folder.display())));
    }
    admit(&config, &settings)?;
    let mut state = State::of(&config, &folder.join("state"))?;
    let file = folder.join("principals.json");
    let mut principals = Principals::load(&file)?;
    let (me, names, admin) = (config.me(), config.names(), AdminKey::load(folder)?);
    let mut seat = Seat::with(config)?;
    let compiled = Programs::new(settings.enctype, seat.parties())?.get(Task::TellLists, 1)?;
    let mut tell = |own: &[u8]| {
        let inputs = given(me, 0, vec![to_bits(&padded(own))], None);
        let run = seat.run_within(&compiled, &settings.protocol, &inputs, &|_, _| (), within)?;
        Ok(run.outputs.iter().flatten().map(|told| to_bytes(told, 1).swap_remove(0)).collect())
    };
    let holds = kept(state.list());
    principals.begin_strays(&holds);
    let (settings, admin) = (&settings, &admin);
    let reader = Reader { me, names: &names, settings, admin, holds: &holds, old_too: true, now: now() };
    let settled = reader.settle(&mut principals, &mut tell)?;
    settled.carried.iter().for_each(log);
    let ended = if settled.differ.is_empty() { principals.begun() } else { Vec::new() };
    settled.ended.iter().chain(&ended).for_each(|record| principals.finish(record));
    principals.save(&file)?;
    if drop_ended(&mut state, &mut principals)? {
        principals.save(&file)?;
    }
    if !settled.differ.is_empty() {
        let reason = format!(
            "the servers don't know the same, and no key has fresh shares. {}",
            settled.differ.join(". ")
        );
        return Err(Failure::Refused(reason));
    }
    let records = principals.records();
    // All servers go through them in the same order.
    for record in &records {
        seat.refresh(&mut state, record, within).map_err(|error| {
            Failure::Refused(format!("stopped at {record}, and those after it keep their shares: {error}"))
        })?;
    }
    Ok(records.len())
}
