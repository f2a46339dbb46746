//! Who has which number, and which of a component's two holders sends it.

/// The number of parties, and of components.
pub const PARTIES: usize = 3;

/// The number after this one: that party holds component `x_i`, too.
#[inline]
pub const fn next(number: usize) -> usize {
    (number + 1) % PARTIES
}

/// The number before this one: component `x_(i-1)` of the party with number `i`.
#[inline]
pub const fn prev(number: usize) -> usize {
    (number + 2) % PARTIES
}

/// What a protocol makes of three components.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// The protocol family's name, which digests bind.
    pub family: &'static str,
    /// The endpoint of the party with each number.
    pub parties: [usize; PARTIES],
    /// The component that takes public values.
    pub public: usize,
    /// For each component the number of the holder that sends it to the party that lacks it.
    pub to_parties: [usize; PARTIES],
    /// The same, to clients; where outputs are confirmed.
    pub to_clients: [usize; PARTIES],
    /// Who sends a client a part of an output, by number; where outputs aren't confirmed.
    pub parts: &'static [usize],
    /// The component of a client's input that doesn't come from a stream.
    pub masked: usize,
    /// The numbers of the two parties that draw the key that hides components from clients, and of the one that takes it.
    pub key: [usize; PARTIES],
    /// Whether a component's other holder confirms what its sender sends.
    pub confirmed: bool,
}

impl Scheme {
    /// The number of a party; none of a client.
    pub fn number(&self, endpoint: usize) -> Option<usize> {
        self.parties.iter().position(|&party| party == endpoint)
    }

    /// Whether a holder is named wherever a component's sender is, and three parties wherever all are.
    pub fn is_sound(&self) -> bool {
        let holds = |(component, sender): (usize, &usize)| *sender == component || *sender == next(component);
        let are_all = |numbers: &[usize; PARTIES]| (0..PARTIES).all(|number| numbers.contains(&number));
        let senders = [self.to_parties, self.to_clients];
        senders.iter().all(|senders| senders.iter().enumerate().all(holds))
            && are_all(&self.parties)
            && are_all(&self.key)
            && self.public < PARTIES
            && self.masked < PARTIES
    }

    /// The endpoints of the two parties that hold a component.
    pub const fn holders(&self, component: usize) -> [usize; 2] {
        [self.parties[component], self.parties[next(component)]]
    }

    /// The endpoint of the party that lacks a component.
    pub const fn lacking(&self, component: usize) -> usize {
        self.parties[prev(component)]
    }
}

/// The holder of a component beside the one with this number.
#[inline]
pub const fn other_holder(component: usize, number: usize) -> usize {
    if number == component { next(component) } else { component }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEME: Scheme = Scheme {
        family: "test",
        parties: [2, 0, 1],
        public: 0,
        to_parties: [1, 2, 0],
        to_clients: [0, 1, 2],
        parts: &[0, 1, 2],
        masked: 1,
        key: [0, 1, 2],
        confirmed: true,
    };

    #[test]
    fn a_component_has_two_holders_and_one_that_lacks_it() {
        for component in 0..PARTIES {
            let [one, other] = SCHEME.holders(component);
            let mut all = [one, other, SCHEME.lacking(component)];
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2]);
            let numbers = [one, other].map(|party| SCHEME.number(party).unwrap());
            assert_eq!(other_holder(component, numbers[0]), numbers[1]);
            assert_eq!(other_holder(component, numbers[1]), numbers[0]);
        }
        assert_eq!(SCHEME.number(3), None);
    }

    #[test]
    fn a_sender_that_lacks_the_component_is_noticed() {
        assert!(SCHEME.is_sound());
        assert!(!Scheme { to_parties: [2, 2, 0], ..SCHEME }.is_sound());
        assert!(!Scheme { to_clients: [0, 0, 2], ..SCHEME }.is_sound());
        assert!(!Scheme { parties: [0, 1, 1], ..SCHEME }.is_sound());
    }
}
