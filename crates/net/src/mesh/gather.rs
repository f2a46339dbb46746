//! Sending much at a time.

use super::Mesh;
use super::sends::Sends;

impl Mesh {
    /// For as long as messages that don't wait for one another are under way: what was sent goes out with what follows, once a
    /// socket has its fill or the next message isn't here yet. A call of the system costs as much as several KiB that it sends.
    pub fn gather_sends(&mut self, gathering: bool) {
        self.sends = if gathering { Sends::Together } else { Sends::Apart };
    }
}
