//! How many places there are, and how many of them one address may have at a time.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Places, and who has how many.
pub(super) struct Quota {
    places: usize,
    of_address: usize,
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// A place that is taken until this is dropped.
pub(super) struct Place {
    quota: Arc<Quota>,
    address: IpAddr,
}

impl Quota {
    pub(super) fn new(places: usize, of_address: usize) -> Arc<Self> {
        Arc::new(Self { places, of_address, taken: Mutex::default() })
    }

    /// A place for an address, if there is one and it may have one more.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let address = network(address);
        let mut taken = self.taken();
        let own = taken.get(&address).copied().unwrap_or(0);
        if own >= self.of_address || taken.values().sum::<usize>() >= self.places {
            return None;
        }
        taken.insert(address, own + 1);
        Some(Place { quota: self.clone(), address })
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.quota.taken();
        match taken.get_mut(&self.address) {
            Some(own) if *own > 1 => *own -= 1,
            _ => {
                taken.remove(&self.address);
            }
        }
    }
}

/// What counts as one address: of IPv6 the network's 64 bits, since whoever has one address there has all of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_all_have_no_more_than_there_are() {
        let [one, other, third] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(|text| text.parse().unwrap());
        let quota = Quota::new(3, 2);
        let (first, second) = (quota.take(one), quota.take(one));
        assert!(first.is_some() && second.is_some() && quota.take(one).is_none());
        let last = quota.take(other);
        assert!(last.is_some() && quota.take(third).is_none());
        drop(first);
        let again = quota.take(third);
        assert!(again.is_some() && quota.take(one).is_none());
        drop((second, last, again));
        assert!(quota.taken().is_empty());
    }

    #[test]
    fn addresses_of_one_network_are_one() {
        let quota = Quota::new(9, 1);
        let mut all = ["2001:db8::1", "2001:db8::ffff:1", "::ffff:10.0.0.1", "10.0.0.1", "2001:db8:0:1::1"]
            .map(|text| quota.take(text.parse().unwrap()));
        assert_eq!(all.each_ref().map(Option::is_some), [true, false, true, false, true]);
        all[0] = None;
        assert!(quota.take("2001:db8::2".parse().unwrap()).is_some());
    }
}
