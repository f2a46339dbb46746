//! Vectors of words to some parties and from some, in messages.

use tacit_kernel::Buffer;
use tacit_net::At;
use tacit_session::{Error, Session};

/// Words of a message: 64 KiB.
pub(crate) const PIECE: usize = 8192;

/// Messages that are sent to each before one is received.
pub(crate) const IN_FLIGHT: usize = 64;

/// Sends each of these parties its vector, and receives one from each of `from`: all of `words` words.
///
/// # Errors
/// If a link fails, or a message has another length.
pub(crate) fn exchange(
    session: &mut Session,
    at: At,
    told: &[(usize, Buffer)],
    from: &[usize],
    words: usize,
) -> Result<Vec<Buffer>, Error> {
    let at = |piece: usize| At { batch: piece as u32, ..at };
    let range = |piece: usize| 8 * piece * PIECE..8 * words.min((piece + 1) * PIECE);
    let pieces = words.div_ceil(PIECE);
    let mut heard: Vec<Buffer> = from.iter().map(|_| Buffer::of_words::<u64>(words)).collect();
    for step in 0..pieces + IN_FLIGHT {
        if step < pieces {
            for (peer, vector) in told {
                session.mesh().send(*peer, at(step), &vector.bytes()[range(step)])?;
            }
        }
        let Some(piece) = step.checked_sub(IN_FLIGHT).filter(|&piece| piece < pieces) else { continue };
        for (&peer, vector) in from.iter().zip(&mut heard) {
            let message = session.mesh().recv(peer, at(piece), range(piece).len())?;
            vector.bytes_mut()[range(piece)].copy_from_slice(&message);
            session.mesh().recycle(message);
        }
    }
    Ok(heard)
}

/// Rounds of vectors of so many words.
pub(crate) const fn rounds(words: usize) -> usize {
    words.div_ceil(PIECE).div_ceil(IN_FLIGHT + 1)
}
