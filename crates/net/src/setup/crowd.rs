//! Callers that have not said who they are yet. They may be outsiders, who must not keep the others out.
//!
//! Before the TLS handshake of a caller ends, only two things are known of it: where it calls from and how far it has
//! come. Its certificate is the last thing that it shows. So callers wait at steps ([`super::greeting::Step`]), and
//! each step has room for so many. If there are too many, the host with the most callers at that step loses the one
//! that has waited longest.
//!
//! So silent callers keep out nobody who speaks. Callers that speak and don't go on keep out only those whom they
//! outrun, with more new calls within one round trip than a step has room for. A host with many callers harms itself
//! first. A caller that is put out may call again, as peers do by themselves.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use super::greeting::Greeting;

/// Those who have called.
pub(super) struct Crowd {
    callers: Vec<Greeting>,
    /// The room of each step.
    room: usize,
}

impl Crowd {
    pub(super) fn new(room: usize) -> Self {
        Self { callers: Vec::new(), room }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Greeting> {
        self.callers.iter()
    }

    /// Takes all out, those first who have come furthest: whose keys are known.
    pub(super) fn take(&mut self) -> Vec<Greeting> {
        let mut callers = std::mem::take(&mut self.callers);
        callers.sort_by_key(|caller| (std::cmp::Reverse(caller.step()), caller.since));
        callers
    }

    /// Takes one in; who has to make room, if the step that it is at has none.
    pub(super) fn admit(&mut self, caller: Greeting) -> Option<Greeting> {
        let step = caller.step();
        self.callers.push(caller);
        let here = || self.callers.iter().enumerate().filter(|(_, caller)| caller.step() == step);
        if here().count() <= self.room {
            return None;
        }
        let mut hosts: HashMap<IpAddr, usize> = HashMap::new();
        for (_, caller) in here() {
            *hosts.entry(host(caller)).or_default() += 1;
        }
        let most = |caller: &Greeting| hosts.get(&host(caller)).copied().unwrap_or(0);
        let (oldest, _) = here().min_by_key(|(_, caller)| (std::cmp::Reverse(most(caller)), caller.since))?;
        Some(self.callers.remove(oldest))
    }
}

/// Where somebody calls from. In IPv6 one network of 64 bits is one host: it has all addresses that it likes.
fn host(caller: &Greeting) -> IpAddr {
    match caller.address.ip().to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address @ IpAddr::V4(_) => address,
    }
}
