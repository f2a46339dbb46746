//! Frames between front and servers, and between admin and front: a kind, a length, and bytes.

use std::io::{self, Read, Write};

/// Bytes of a frame at most.
pub const MAX_FRAME: usize = 1 << 16;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A client's request; the reply is a reply.
    Request,
    /// An admin's order; the reply is text.
    Order,
}

/// Writes a frame.
///
/// # Errors
/// If the link is lost, or the bytes are too many.
pub fn write(link: &mut impl Write, kind: Kind, bytes: &[u8]) -> io::Result<()> {
    if bytes.len() > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a frame has at most 64 KiB"));
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
        0 => Kind::Request,
        1 => Kind::Order,
        _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame of no kind")),
    };
    Ok((kind, read_bytes(link, u32::from_be_bytes(length) as usize)?))
}

/// Reads so many bytes.
///
/// # Errors
/// If they are too many, or the link is lost.
pub fn read_bytes(link: &mut impl Read, count: usize) -> io::Result<Vec<u8>> {
    if count > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame has at most 64 KiB"));
    }
    let mut bytes = vec![0; count];
    link.read_exact(&mut bytes)?;
    Ok(bytes)
}
