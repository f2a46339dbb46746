//! Versions of kept values, as one party has them.

use super::about::About;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use tacit_engine::{KeptPart, KeptShare};
use tacit_store::KeptStanding as Standing;

/// All versions of a name.
#[derive(Clone, Debug, Default)]
pub(super) struct Name {
    /// The last version that there ever was.
    pub(super) last: u64,
    pub(super) versions: BTreeMap<u64, Version>,
}

#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) about: About,
    pub(super) standing: Standing,
    /// The version that its run began with, 0 for none, if that was a run of this process.
    pub(super) after: Option<u64>,
    /// Digests of the share's parts.
    pub(super) digests: Digests,
    /// Bytes of all parts of the share.
    pub(super) bytes: u64,
    /// Nothing once it is dropped, or before it is read from the folder.
    pub(super) share: Option<Arc<KeptShare>>,
}

/// A version that a run has made.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) about: About,
    /// The version that the run began with: the last one that counted.
    pub(super) after: Option<u64>,
    pub(super) digests: Digests,
    pub(super) share: Arc<KeptShare>,
}

/// A kept value, to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What it is.
    pub about: About,
    /// Where it stands.
    pub standing: Standing,
    /// Bytes of this party's share.
    pub bytes: u64,
}

/// Digests of the parts of a party's share, made when it was kept. They are told to nobody who doesn't hold the part.
pub(super) type Digests = Vec<PartDigest>;

/// A part's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartDigest {
    pub(super) number: u8,
    /// The other party that holds it.
    pub(super) other: Option<u8>,
    pub(super) digest: [u8; 32],
}

/// Digests of a share's parts.
pub(super) fn digests(share: &KeptShare) -> Digests {
    let digest = |part: &KeptPart| {
        let hash = Sha256::new_with_prefix(b"tacit kept part 1").chain_update(&*part.bytes);
        PartDigest { number: part.number, other: part.other, digest: hash.finalize().into() }
    };
    share.parts.iter().map(digest).collect()
}

impl Version {
    pub(super) fn listed(&self) -> Listed {
        Listed { about: self.about.clone(), standing: self.standing, bytes: self.bytes }
    }

    /// Drops it.
    pub(super) fn forget(&mut self) {
        (self.standing, self.digests, self.share, self.bytes) = (Standing::Dropped, Digests::new(), None, 0);
    }
}
