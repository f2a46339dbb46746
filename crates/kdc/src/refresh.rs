//! Fresh shares of all keys of a realm whose servers are stopped: what was stolen of one of them before doesn't combine with what is
//! stolen of another one after.

#[cfg(test)]
mod tests;

use crate::realm::{Principals, Settings};
use crate::server::{Failure, admit, drop_ended};
use std::path::Path;
use std::time::Duration;
use tacit::setup::Config;
use tacit::{Error, Seat, State};

/// Gives every key of a realm fresh shares, together with the two other servers, which do the same within such a time. The old shares
/// are dropped. How many keys there were.
///
/// # Errors
/// If the servers don't have the same keys, a link fails, or the server still runs. Then each key has either its old shares, at all
/// servers, or fresh ones.
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
    if drop_ended(&mut state, &mut principals)? {
        principals.save(&file)?;
    }
    let mut seat = Seat::with(config)?;
    let records = principals.records();
    // All servers go through them in the same order.
    for record in &records {
        seat.refresh(&mut state, record, within).map_err(|error| {
            let all = "do all servers have the same keys? See \"What is missing\" on the page about the KDC";
            Failure::Refused(format!(
                "stopped at {record}, and those after it keep their shares: {error}; {all}"
            ))
        })?;
    }
    Ok(records.len())
}
