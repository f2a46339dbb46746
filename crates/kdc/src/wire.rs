//! Frames between front and servers, and between admin and front: a kind, a length, and bytes.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Bytes of an order, or of what is told of it, at most.
pub const MAX_FRAME: usize = 1 << 16;
/// Bytes of a request or its reply at most: several times what the longest class of messages takes.
pub const MAX_REQUEST: usize = 1 << 14;
/// Requests that go together at most.
pub const MAX_BATCH: usize = 256;
/// Bytes of those, and of what stands between them.
const MAX_PACKED: usize = NUMBER + MAX_BATCH * (4 + MAX_REQUEST);
/// Bytes of the number that names those that came together.
const NUMBER: usize = 16;

/// How long a message may take from its first byte to its last.
pub const SILENCE: Duration = Duration::from_secs(10);

/// How long the servers may take with requests that came together. After that the front has given up, and no honest server
/// computes anything for them any more.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Requests of clients that came together; the reply is as many replies.
    Batch,
    /// An admin's order; the reply is text.
    Order,
}

/// Writes a frame.
///
/// # Errors
/// If the link is lost, or the bytes are too many.
pub fn write(link: &mut impl Write, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    if bytes.len() > most(kind) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many bytes for a frame"));
    }
    let mut frame = vec![u8::from(kind == Kind::Order)];
    frame.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    frame.extend_from_slice(bytes);
    link.write_all(&frame)
}

/// Reads a frame.
///
/// # Errors
/// If the link is lost, or what comes is none.
pub fn read(link: &mut impl Read) -> io::Result<(Kind, Vec<u8>)> {
    let mut head = [0; 5];
    link.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    let kind = match kind {
        0 => Kind::Batch,
        1 => Kind::Order,
        _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame of no kind")),
    };
    Ok((kind, read_bytes(link, u32::from_be_bytes(length) as usize, most(kind))?))
}

/// Bytes of a frame at most.
fn most(kind: Kind) -> usize {
    match kind {
        Kind::Batch => MAX_PACKED,
        Kind::Order => MAX_FRAME,
    }
}

/// Reads so many bytes.
///
/// # Errors
/// If they are too many, or the link is lost.
pub fn read_bytes(link: &mut impl Read, count: usize, most: usize) -> io::Result<Vec<u8>> {
    if count > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame longer than any may be"));
    }
    let mut bytes = Vec::new();
    // What is only said to come takes no memory.
    if link.take(count as u64).read_to_end(&mut bytes)? < count {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

/// A link that is read until a time: who sends a byte now and then holds nobody up.
pub struct Timed<'l> {
    /// The link.
    pub link: &'l mut TcpStream,
    /// When it ends.
    pub until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.link.set_read_timeout(Some(left))?;
        self.link.read(buffer)
    }
}

/// Messages behind a number that no other ones have.
pub fn pack_under(number: [u8; NUMBER], messages: &[Vec<u8>]) -> Vec<u8> {
    let mut packed = number.to_vec();
    for message in messages {
        packed.extend_from_slice(&(message.len() as u32).to_be_bytes());
        packed.extend_from_slice(message);
    }
    packed
}

/// The same without a number, as replies are.
pub fn pack(messages: &[Vec<u8>]) -> Vec<u8> {
    pack_under([0; NUMBER], messages)
}

/// Those messages.
///
/// # Errors
/// If they are too many or too long, or the bytes are none.
pub fn unpack(packed: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let none = || io::Error::new(io::ErrorKind::InvalidData, "these bytes are no messages that go together");
    let mut rest = packed.get(NUMBER..).ok_or_else(none)?;
    let mut messages = Vec::new();
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk().ok_or_else(none)?;
        let length = u32::from_be_bytes(*length) as usize;
        let (message, behind) = behind.split_at_checked(length).ok_or_else(none)?;
        if messages.len() >= MAX_BATCH || length > MAX_REQUEST {
            return Err(none());
        }
        messages.push(message.to_vec());
        rest = behind;
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_messages_come_back_and_nothing_else_does() {
        let messages = vec![vec![1, 2, 3], Vec::new(), vec![7; 300]];
        let packed = pack_under([9; NUMBER], &messages);
        assert_eq!(unpack(&packed).unwrap(), messages);
        for end in 0..packed.len() {
            assert!(
                unpack(&packed[..end]).is_ok_and(|some| some.len() < messages.len())
                    || unpack(&packed[..end]).is_err()
            );
        }
        assert!(unpack(&pack(&vec![vec![]; MAX_BATCH + 1])).is_err());
        assert!(unpack(&pack(&[vec![0; MAX_REQUEST + 1]])).is_err());
        assert!(unpack(&pack(&vec![vec![0; MAX_REQUEST]; MAX_BATCH])).is_ok());
        assert_eq!(pack(&vec![vec![0; MAX_REQUEST]; MAX_BATCH]).len(), MAX_PACKED);
        let mut frame = Vec::new();
        write(&mut frame, Kind::Batch, &packed).unwrap();
        assert_eq!(read(&mut &frame[..]).unwrap(), (Kind::Batch, packed.clone()));
        assert!(read(&mut &frame[..frame.len() - 1]).is_err());
        frame[0] = 2;
        assert!(read(&mut &frame[..]).is_err());
        // A length that isn't there takes no memory, and one that can't be is refused.
        assert!(read(&mut &[0, 0, 16, 0, 0][..]).is_err());
        assert!(read(&mut &[0, 0xff, 0xff, 0xff, 0xff][..]).is_err());
        assert!(write(&mut Vec::new(), Kind::Order, &vec![0; MAX_FRAME + 1]).is_err());
    }
}
