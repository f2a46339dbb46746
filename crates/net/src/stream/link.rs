//! One socket with what waits to be written to it and what has been read from it so far.

use std::io::{self, ErrorKind as IoErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, SystemTime};

use super::outbox::Outbox;
use super::reader::FrameReader;
use crate::channel::Channel;
use crate::counters::WireBytes;
use crate::error::ErrorKind;
use crate::frame::{Frame, FrameTooLong};
use crate::pool::Pool;
use crate::tls::Tls;
use crate::tls::pin::{Fingerprint, expiry};

/// Stretches written by one call of the operating system.
const SLICES: usize = 32;
/// Bytes read beyond a payload's end while one is under way, for the next header and short frames: what is
/// caught of the next payload here has to be copied.
const STAGED_WITH_PAYLOAD: usize = 4 << 10;
/// Payloads below this size take longer to be called for one by one than to be copied, and several are read at a time.
const SHORT: usize = 16 << 10;
/// Bytes encrypted at a time.
const CIPHER: usize = 128 << 10;

/// Bytes of short frames read at a time.
const STAGING: usize = 32 << 10;

/// Buffers that all links share.
pub(crate) struct Scratch {
    pub(super) pool: Pool,
    staging: Vec<u8>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { pool: Pool::default(), staging: vec![0; STAGING] }
    }
}

/// One socket, in the clear or under TLS.
pub(super) struct Link {
    socket: TcpStream,
    tls: Option<Box<Tls>>,
    outbox: Outbox,
    reader: FrameReader,
    wire: WireBytes,
    /// Not to be read at present.
    pub(super) held: bool,
    /// Nothing more can be written. The reading side finds out why, once it has read what came before.
    mute: bool,
    /// When the certificate ends that the other side has shown, in seconds since 1970.
    until: Option<u64>,
    /// That certificate's fingerprint.
    pub(super) shown: Option<Fingerprint>,
}

/// What came of a look at a link's reading side.
pub(super) enum Reading {
    /// Nothing is there.
    Idle,
    /// Bytes have come, and perhaps frames.
    Progress,
    /// The link is at its end.
    Lost(ErrorKind),
}

impl Link {
    /// A link over a channel, with what is still to be sent and read from before there were frames.
    pub(super) fn new(
        channel: Channel,
        limit: usize,
        pool: &mut Pool,
        done: &mut dyn FnMut(Frame),
    ) -> Result<Self, FrameTooLong> {
        let Channel { socket, tls, unsent, unread } = channel;
        let certificate = tls.as_ref().and_then(|tls| tls.peer_certificate());
        let (until, shown) = (certificate.and_then(expiry), certificate.map(|shown| Fingerprint::of(shown)));
        let mut link = Self {
            socket,
            tls,
            outbox: Outbox::starting_with(unsent),
            reader: FrameReader::new(limit),
            wire: WireBytes::default(),
            held: false,
            mute: false,
            until,
            shown,
        };
        link.reader.push(&unread, pool, done)?;
        Ok(link)
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// How long the certificate is still valid that the other side has shown; nothing with plain TCP.
    pub(super) fn left(&self) -> Option<Duration> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Some(Duration::from_secs(self.until?).saturating_sub(now))
    }

    /// Refuses payloads of more than so many bytes from now on.
    ///
    /// # Errors
    /// If one that is under way is longer.
    pub(super) fn limit(&mut self, bytes: usize) -> Result<(), FrameTooLong> {
        self.reader.limit(bytes)
    }

    pub(super) fn wire(&self) -> WireBytes {
        self.wire
    }

    pub(super) fn send(&mut self, frame: Frame, pool: &mut Pool) {
        if !self.mute {
            self.outbox.push(frame, pool);
        }
    }

    /// Bytes that have not reached the socket.
    pub(super) fn backlog(&self) -> usize {
        self.outbox.len() + self.tls.as_ref().map_or(0, |tls| tls.pending().len())
    }

    /// Writes as much as the socket takes.
    pub(super) fn flush(&mut self, pool: &mut Pool) {
        while self.backlog() > 0 && !self.mute {
            let written = match &mut self.tls {
                None => write_plain(&self.socket, &mut self.outbox, pool),
                Some(tls) => write_cipher(&self.socket, tls, &mut self.outbox, pool),
            };
            match written {
                Ok(count) => self.wire.sent += count as u64,
                Err(error) if error.kind() == IoErrorKind::WouldBlock => break,
                Err(error) if error.kind() == IoErrorKind::Interrupted => {}
                Err(_) => {
                    self.mute = true;
                    self.outbox.clear();
                }
            }
        }
        if self.mute
            && let Some(tls) = &mut self.tls
        {
            tls.drop_pending();
        }
    }

    /// Reads once, and hands complete frames to `done`.
    pub(super) fn read(&mut self, scratch: &mut Scratch, done: &mut dyn FnMut(Frame)) -> Reading {
        let result = match &mut self.tls {
            None => read_plain(&self.socket, &mut self.reader, scratch, done),
            Some(tls) => read_cipher(&self.socket, tls, &mut self.reader, &mut scratch.pool, done),
        };
        match result {
            Ok(0) if self.reader.is_between_frames() => closed("closed the connection"),
            Ok(0) => closed("closed the connection in the middle of a message"),
            Ok(count) => {
                self.wire.received += count as u64;
                Reading::Progress
            }
            Err(Fault::Io(error)) => match error.kind() {
                IoErrorKind::WouldBlock | IoErrorKind::Interrupted => Reading::Idle,
                IoErrorKind::ConnectionReset | IoErrorKind::BrokenPipe => closed("reset the connection"),
                _ => closed(&error.to_string()),
            },
            Err(Fault::TooLong(FrameTooLong { limit, got })) => {
                Reading::Lost(ErrorKind::TooLong { limit, got })
            }
            Err(Fault::Tls(detail)) => Reading::Lost(ErrorKind::Malformed { detail }),
        }
    }

    /// Says that nothing more will be written.
    pub(super) fn finish(&mut self) {
        self.mute = true;
        // If this fails the peer is gone already.
        let _ = self.socket.shutdown(Shutdown::Write);
    }
}

fn closed(how: &str) -> Reading {
    Reading::Lost(ErrorKind::Closed { how: how.to_owned() })
}

enum Fault {
    Io(io::Error),
    TooLong(FrameTooLong),
    Tls(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<FrameTooLong> for Fault {
    fn from(error: FrameTooLong) -> Self {
        Self::TooLong(error)
    }
}

fn write_plain(mut socket: &TcpStream, outbox: &mut Outbox, pool: &mut Pool) -> io::Result<usize> {
    let mut slices = [IoSlice::new(&[]); SLICES];
    let count = outbox.slices(&mut slices);
    let written = socket.write_vectored(slices.get(..count).unwrap_or_default())?;
    outbox.advance(written, pool);
    Ok(written)
}

/// Encrypts the next stretches when all ciphertext is out, and writes.
fn write_cipher(
    mut socket: &TcpStream,
    tls: &mut Tls,
    outbox: &mut Outbox,
    pool: &mut Pool,
) -> io::Result<usize> {
    if tls.pending().is_empty() {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let count = outbox.slices(&mut slices);
        let mut taken = 0;
        for slice in slices.get(..count).unwrap_or_default() {
            let part = slice.get(..slice.len().min(CIPHER - taken)).unwrap_or_default();
            tls.encrypt(part).map_err(io::Error::other)?;
            taken += part.len();
        }
        outbox.advance(taken, pool);
    }
    let written = socket.write(tls.pending())?;
    tls.wrote(written);
    Ok(written)
}

fn read_plain(
    mut socket: &TcpStream,
    reader: &mut FrameReader,
    scratch: &mut Scratch,
    done: &mut dyn FnMut(Frame),
) -> Result<usize, Fault> {
    let Scratch { pool, staging } = scratch;
    let short = reader.payload_len() < SHORT;
    let room = reader.room();
    let in_place = room.len();
    let count = if in_place == 0 {
        socket.read(staging)?
    } else {
        let staged = if short { staging.len() } else { STAGED_WITH_PAYLOAD };
        let staging = staging.get_mut(..staged).unwrap_or_default();
        socket.read_vectored(&mut [IoSliceMut::new(room), IoSliceMut::new(staging)])?
    };
    if count > 0 {
        if in_place > 0 {
            reader.filled(count.min(in_place), done);
        }
        let beyond = count.saturating_sub(in_place);
        reader.push(staging.get(..beyond).unwrap_or_default(), pool, done)?;
    }
    Ok(count)
}

fn read_cipher(
    mut socket: &TcpStream,
    tls: &mut Tls,
    reader: &mut FrameReader,
    pool: &mut Pool,
    done: &mut dyn FnMut(Frame),
) -> Result<usize, Fault> {
    let count = socket.read(tls.room())?;
    if count > 0 {
        tls.filled(count);
        let mut too_long = None;
        tls.decrypt(&mut |plain| {
            if too_long.is_none() {
                too_long = reader.push(plain, pool, done).err();
            }
        })
        .map_err(|error| Fault::Tls(error.to_string()))?;
        too_long.map_or(Ok(()), Err)?;
    }
    Ok(count)
}
