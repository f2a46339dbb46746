//! The one place that names all protocols.

use crate::Error;
use tacit_engine::Protocol;
use tacit_replicated::Replicated;

static PROTOCOLS: [&dyn Protocol; 1] = [&Replicated::COMPUTATIONAL];

/// All protocols.
pub fn protocols() -> impl Iterator<Item = &'static dyn Protocol> {
    PROTOCOLS.into_iter()
}

/// The protocol of a name.
pub fn protocol(name: &str) -> Result<&'static dyn Protocol, Error> {
    protocols().find(|protocol| protocol.spec().name == name).ok_or_else(|| {
        let known: Vec<&str> = protocols().map(|protocol| protocol.spec().name).collect();
        Error::Refused(format!("no protocol is named {name:?}; there are: {}", known.join(", ")))
    })
}
