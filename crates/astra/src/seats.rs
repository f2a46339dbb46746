//! Which party plays which role. `P_0` is busy offline and `P_1` and `P_2` online, so it matters between which of them the
//! network is fast.

use tacit_program::cost::Flow;
use tacit_threeparty::{PARTIES, Scheme};

/// The parties that play `P_0`, `P_1` and `P_2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seats([usize; PARTIES]);

impl Seats {
    /// The parties in their order.
    pub(crate) const IN_ORDER: Self = Self([0, 1, 2]);

    pub(crate) const ALL: [Self; 6] =
        [Self::IN_ORDER, Self([0, 2, 1]), Self([1, 0, 2]), Self([1, 2, 0]), Self([2, 0, 1]), Self([2, 1, 0])];

    /// Each as the numbers of the parties that play `P_0`, `P_1` and `P_2`, in the order of [`Seats::ALL`].
    pub(crate) const NAMES: [&str; 6] = ["012", "021", "102", "120", "201", "210"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        let place = Self::NAMES.iter().position(|known| *known == name)?;
        Some(Self::ALL[place])
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[Self::ALL.iter().position(|seats| *seats == self).unwrap_or_default()]
    }

    /// The party that plays a role.
    pub(crate) const fn party(self, role: usize) -> usize {
        self.0[role]
    }

    /// The parties that play all roles, in their order.
    pub(crate) fn parties(self) -> Vec<usize> {
        self.0.to_vec()
    }

    /// From a role to a role.
    pub(crate) fn flow(self, from: usize, to: usize, bits: u64) -> Flow {
        Flow { from: self.party(from), to: self.party(to), bits }
    }

    /// What this protocol family makes of three components: `m` is `x_0`, and the masks are `x_1`, which takes public
    /// values, and `x_2`. `P_0` sends nothing online that a party could go without: where outputs aren't confirmed, `P_1`
    /// has what `P_0` would send.
    pub(crate) fn scheme(self, confirmed: bool) -> Scheme {
        Scheme {
            family: "astra",
            parties: [0, 1, 2].map(|number| self.party(role_of(number))),
            public: 1,
            to_parties: [1, 1, 0],
            to_clients: [1, 2, 0],
            parts: &[1, 0],
            masked: 0,
            key: [0, 1, 2].map(role_of),
            confirmed,
        }
    }

    /// The role that a party plays; none of a client.
    pub(crate) fn role(self, endpoint: usize) -> Option<usize> {
        self.0.iter().position(|&party| party == endpoint)
    }
}

/// The role of the party with a number, which holds `x_i` and `x_(i-1)`; and the number of the party with a role.
pub(crate) const fn role_of(number: usize) -> usize {
    PARTIES - 1 - number
}

/// Which role holds one of the components `x_1` and `x_2` beside a role that does.
pub(crate) const fn other_holder(role: usize, component: usize) -> usize {
    if role == 0 { component } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_seat_three_parties_has_its_name() {
        for (seats, name) in Seats::ALL.into_iter().zip(Seats::NAMES) {
            assert_eq!(Seats::named(name), Some(seats));
            assert_eq!((0..PARTIES).map(|role| seats.party(role).to_string()).collect::<String>(), name);
            assert!((0..PARTIES).all(|role| seats.role(seats.party(role)) == Some(role)));
        }
        assert_eq!((Seats::named("011"), Seats::IN_ORDER.role(3)), (None, None));
    }
}
