//! Where the masks of clients' inputs come from.

use tacit_session::PrssStream;
use tacit_threeparty::messages::SEED_BYTES;
use zeroize::Zeroizing;

/// Where one of the components `x_1` and `x_2` of a client's inputs comes from.
pub(crate) struct ClientMasks {
    pub(crate) client: usize,
    pub(crate) component: usize,
    pub(crate) seed: Zeroizing<[u8; SEED_BYTES]>,
    pub(crate) stream: PrssStream,
    /// Whether the client has the seed.
    pub(crate) sent: bool,
}
