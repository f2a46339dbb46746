//! Requests of one program in one run: each is an instance of it.
//!
//! A run of several instances is one of a program that has each client's inputs and outputs once for each instance
//! ([`tacit_program::Program::times`]), so what is promised of it is what is promised of a program with as many clients. Docs:
//! decision 36 in `docs/adr`.

use crate::compiled::Batch;
use crate::endpoint::Endpoint;
use crate::error::Error;
use std::sync::Arc;

/// Instances that a run has at most, whatever a party allows.
pub(crate) const MOST: usize = 16;

/// What an endpoint has to know of a run with so many players, and its batch if there are several instances. `one` is for a run
/// of one instance, whose clients are the program's names that clients play.
///
/// # Errors
/// If there can't be as many instances, or the protocol doesn't run them.
pub(crate) fn in_run(one: &Endpoint, players: usize) -> Result<(Endpoint, Option<Arc<Batch>>), Error> {
    let names = one.clients.len().max(1);
    let count = players / names;
    if count <= 1 {
        return Ok((one.clone(), None));
    }
    if count > MOST || !count.is_power_of_two() || !players.is_multiple_of(names) {
        return Err(Error::Refused(format!("a run hasn't {count} instances of a program")));
    }
    let batch = one.compiled.times(count, &one.clients)?;
    let names = batch.names();
    let endpoint = Endpoint::new(&batch.compiled, one.protocol.clone(), one.parties.clone(), names)?;
    Ok((endpoint, Some(batch)))
}

/// How many instances a run of a program can have, if a party allows so many.
pub(crate) fn most(one: &Endpoint, allowed: usize) -> usize {
    let taken = |name: &String| one.parties.contains(name);
    let fits = allowed > 1
        && !one.clients.is_empty()
        // What all parties know is said of a run, not of an instance.
        && one.compiled.program().known().is_empty()
        && (one.compiled.program().times(2, &one.clients).is_ok())
        && !(0..MOST)
            .any(|at| one.clients.iter().any(|client| taken(&tacit_program::Instances::name(client, at))));
    if fits { allowed.clamp(1, MOST) } else { 1 }
}
