//! What a party holds against requests.

use super::{Desk, LOSSES, MAX_TAG, shown};
use crate::endpoint::hex;
use crate::living::control::Request;
use crate::state::fill::{Fill, MAX_FILL_BYTES};
use tacit_net::setup::{Client, Hub};

impl Desk {
    /// Why this party wouldn't run what a client asks for.
    pub(super) fn objection(&self, hub: &Hub, client: &Client, request: &Request) -> Option<String> {
        let name = &self.names[self.me];
        if self.left == Some(0) {
            return Some(format!("{name} has begun all its runs"));
        }
        let Some(needs) = self.programs.get(&request.program) else {
            return Some(format!("{name} doesn't serve the program of hash {}", hex(&request.program)));
        };
        if request.protocol != self.protocol {
            let (own, its) = (&self.protocol, shown(&request.protocol));
            return Some(format!("{name} serves with protocol {own:?}, and {its:?} is asked for"));
        }
        if request.tag.len() > MAX_TAG {
            return Some(format!("a tag has {MAX_TAG} bytes at most"));
        }
        if let Err(reason) = self.fill_of(&request.program, &request.fill) {
            return Some(format!("{name} refuses: {reason}"));
        }
        if self.is_aside(client) {
            return Some(format!(
                "{name} runs nothing more for {} until it is started again: it was lost {LOSSES} times in the middle of a check",
                client.name
            ));
        }
        if !needs.contains(&request.plays) {
            let plays = shown(&request.plays);
            return Some(format!(
                "the program has no name {plays:?} for a client to play: {}",
                needs.join(", ")
            ));
        }
        match hub.owner(&request.plays) {
            Some(owner) if owner == *client => None,
            Some(owner) => Some(format!("{} is a client's name, and not {}'s", owner.name, client.name)),
            None if self.open.contains(&request.plays) => None,
            None => Some(format!(
                "{} is nobody's name whom {name} knows, and {name} doesn't say that any client may play it (--open)",
                request.plays
            )),
        }
    }

    /// What a run of a program is about that a request asks for.
    ///
    /// # Errors
    /// What of it this party leaves to no request.
    pub(crate) fn fill_of(&self, program: &[u8; 32], asked: &Fill) -> Result<Fill, String> {
        if !asked.is_short() {
            return Err(format!("a request says {MAX_FILL_BYTES} bytes of slots and rows at most"));
        }
        match self.residents.get(program) {
            Some(compiled) => self.fill.chosen(asked, compiled.program()),
            None if asked.is_empty() => Ok(Fill::new()),
            None => Err("the program neither reads nor keeps what stays".to_owned()),
        }
    }
}
