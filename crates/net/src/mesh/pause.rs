//! Waiting for something that isn't on the links.

use std::time::Duration;

use super::Mesh;
use crate::error::Error;

impl Mesh {
    /// Waits for so long at most, for what other lanes of this endpoint do: the links go on meanwhile, and peers hear that
    /// this party is alive. Returns early if something comes.
    ///
    /// # Errors
    /// As [`Mesh::tick`]: an abort, here or elsewhere, or a lost peer.
    pub fn pause(&mut self, wait: Duration) -> Result<(), Error> {
        self.alive()?;
        self.unflushed = false;
        let event = self.transport.poll(wait);
        self.sound(self.transport.now());
        event.map_or(Ok(()), |(peer, event)| self.handle(peer, event))
    }
}
