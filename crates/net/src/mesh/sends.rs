//! How what is sent goes out.

/// With which other messages one goes out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sends {
    /// With the next receive.
    Apart,
    /// With more, if more follows at once: see [`Mesh::gather_sends`](super::Mesh::gather_sends).
    Together,
}
