//! Where the sharings of zero come from that mask ANDs and products (Araki et al. 2016, section 2.2).

/// Their source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZeroSharing {
    /// From the streams of the keys that two parties share: no message.
    Computational,
    /// From fresh randomness of each party's, sent to a neighbour: an element more for each product and party.
    InformationTheoretic,
}
