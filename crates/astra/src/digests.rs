//! Digests under keys that are drawn: what two parties compare, of messages that a third one knows.

use crate::planted::{KNOWN_KEY, Mistake, planted, tell};
use crate::step;
use subtle::ConstantTimeEq;
use tacit_engine::Error;
use tacit_kernel::digest::{DIGEST_BYTES, Digest, KEY_BYTES};
use tacit_session::{At, Draw, PrssStream, Session};
use zeroize::Zeroize;

/// A digest under a key that is drawn.
pub(crate) fn digest_under(stream: &mut PrssStream, draw: Draw) -> Digest {
    let mut key = [0; KEY_BYTES];
    stream.fill(draw, 0, &mut key);
    if planted(Mistake::GivenKeyKnown) && draw.part == step::GIVEN_DIGEST {
        key = KNOWN_KEY;
    }
    let digest = new_digest(&key, draw.part);
    key.zeroize();
    digest
}

/// A digest under a key that was drawn for this.
pub(crate) fn new_digest(key: &[u8; KEY_BYTES], part: u16) -> Digest {
    tell(part, key);
    let mut key = *key;
    if planted(Mistake::OnePointTwice) {
        key.copy_within(..KEY_BYTES / 2, KEY_BYTES / 2);
    }
    let digest = Digest::new(&key);
    key.zeroize();
    digest
}

/// A digest, to send it or to compare it.
pub(crate) fn value(session: &mut Session, digest: &Digest) -> Result<[u8; DIGEST_BYTES], Error> {
    let too_long = "more than 128 GiB would be compared at once, of which a difference could pass; make several runs of this one";
    let mut value = digest.value().ok_or_else(|| session.mesh().abort(too_long))?;
    let [first, second] = [Mistake::FirstPointUnchecked, Mistake::SecondPointUnchecked].map(planted);
    if first {
        value[..DIGEST_BYTES / 2].fill(0);
    }
    if second {
        value[DIGEST_BYTES / 2..].fill(0);
    }
    Ok(value)
}

/// Receives what another party has of something, and says whether it is the same.
pub(crate) fn is_same(session: &mut Session, from: usize, at: At, mine: &[u8]) -> Result<bool, Error> {
    let theirs = session.mesh().recv(from, at, mine.len())?;
    Ok(bool::from(theirs.ct_eq(mine)))
}

/// What goes into a digest of a message: all of it, but for a mistake.
pub(crate) fn digested(message: &[u8], mistake: Mistake) -> &[u8] {
    if planted(mistake) { &message[..message.len() / 2] } else { message }
}
