//! What this protocol family makes of three components.

use tacit_threeparty::{PARTIES, Scheme};

/// `P_i` has number `i`.
pub(crate) const SCHEME: Scheme = Scheme {
    family: "replicated",
    parties: [0, 1, 2],
    public: 0,
    to_parties: [1, 2, 0],
    to_clients: [0, 1, 2],
    parts: &[0, 1, 2],
    masked: 2,
    key: [0, 1, 2],
    confirmed: false,
};

/// The components of a client's inputs that come from streams, as far as a party holds them.
pub(crate) fn held_streams(party: usize) -> impl Iterator<Item = usize> {
    (0..PARTIES)
        .filter(move |&component| component != SCHEME.masked && SCHEME.holders(component).contains(&party))
}
