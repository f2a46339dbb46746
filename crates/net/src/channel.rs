//! A connection on its way to becoming a link: bytes, in the clear or under TLS, before there are frames.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::frame::FrameKind;
use crate::mesh::readable;
use crate::stream::reader::parse_frames;
use crate::tls::{Tls, TlsError};

/// Plain bytes read at a time. What is said before there are frames is short.
const PIECE: usize = 8 << 10;

/// A non-blocking connection.
pub(crate) struct Channel {
    pub(crate) socket: TcpStream,
    pub(crate) tls: Option<Box<Tls>>,
    /// Plain bytes that still have to be written; with TLS they are in its care.
    pub(crate) unsent: Vec<u8>,
    /// Plain bytes that have come and not been used.
    pub(crate) unread: Vec<u8>,
}

/// What ends a connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChannelError {
    #[error("closed the connection")]
    Closed,
    #[error("cannot be reached: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Channel {
    pub(crate) fn new(socket: TcpStream, tls: Option<Tls>) -> Self {
        Self { socket, tls: tls.map(Box::new), unsent: Vec::new(), unread: Vec::new() }
    }

    /// Goes on with the TLS handshake; `true` once bytes can be exchanged.
    pub(crate) fn secure(&mut self) -> Result<bool, ChannelError> {
        let Some(tls) = &mut self.tls else { return Ok(true) };
        let mut open = true;
        loop {
            let done = tls.handshake();
            // A failed handshake has something to say, too.
            while !tls.pending().is_empty() {
                match retry(|| self.socket.write(tls.pending()))? {
                    Some(count) => tls.wrote(count),
                    None => break,
                }
            }
            if done? {
                return Ok(true);
            }
            if !open {
                return Err(ChannelError::Closed);
            }
            match retry(|| self.socket.read(tls.room()))? {
                None => return Ok(false),
                Some(0) => open = false,
                Some(count) => tls.filled(count),
            }
        }
    }

    /// Queues bytes, and writes as much as the socket takes.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        match &mut self.tls {
            Some(tls) => tls.encrypt(bytes)?,
            None => self.unsent.extend_from_slice(bytes),
        }
        self.flush()
    }

    /// Writes as much as the socket takes of what is queued.
    pub(crate) fn flush(&mut self) -> Result<(), ChannelError> {
        loop {
            let pending = self.tls.as_ref().map_or(&self.unsent[..], |tls| tls.pending());
            if pending.is_empty() {
                return Ok(());
            }
            let Some(count) = retry(|| self.socket.write(pending))? else { return Ok(()) };
            match &mut self.tls {
                Some(tls) => tls.wrote(count),
                None => drop(self.unsent.drain(..count)),
            }
        }
    }

    /// Whether something is queued that the socket has not taken yet.
    pub(crate) fn is_backed_up(&self) -> bool {
        !self.unsent.is_empty() || self.tls.as_ref().is_some_and(|tls| !tls.pending().is_empty())
    }

    /// Takes in one piece of what has come. `false` if there is nothing.
    pub(crate) fn receive(&mut self) -> Result<bool, ChannelError> {
        let Self { socket, tls, unread, .. } = self;
        let before = unread.len();
        if let Some(tls) = tls {
            // The handshake may have brought more than it needed.
            tls.decrypt(&mut |plain| unread.extend_from_slice(plain))?;
            if unread.len() > before {
                return Ok(true);
            }
            match retry(|| socket.read(tls.room()))? {
                None => return Ok(false),
                Some(0) => return Err(ChannelError::Closed),
                Some(count) => tls.filled(count),
            }
            tls.decrypt(&mut |plain| unread.extend_from_slice(plain))?;
            return Ok(true);
        }
        let mut piece = [0; PIECE];
        match retry(|| socket.read(&mut piece))? {
            None => Ok(false),
            Some(0) => Err(ChannelError::Closed),
            Some(count) => {
                unread.extend(piece.iter().take(count));
                Ok(true)
            }
        }
    }

    /// Whether the other side has hung up and left nothing to be read. Takes nothing in.
    pub(crate) fn is_dead(&self) -> bool {
        match self.socket.peek(&mut [0]) {
            Ok(count) => count == 0 && self.unread.is_empty(),
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }

    /// Whether the other side has hung up, be it with words that are still to be read. Takes nothing in.
    pub(crate) fn has_hung_up(&self) -> bool {
        let signs = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let mut watched = [PollFd::new(&self.socket, PollFlags::RDHUP)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut watched, Some(&now)).is_ok()
            && watched.iter().any(|socket| socket.revents().intersects(signs))
    }

    /// The reason that the other side gave before it hung up, if it did both. What has come stays unread.
    pub(crate) fn reason_for_leaving(&mut self, limit: usize) -> Option<String> {
        if !self.has_hung_up() {
            return None;
        }
        // No more than the operating system holds can come now.
        while matches!(self.receive(), Ok(true)) {}
        let frames = parse_frames(&self.unread, limit).ok()?;
        let abort = frames.into_iter().find(|frame| frame.kind == FrameKind::Abort)?;
        Some(readable(&abort.payload))
    }

    /// Ends the connection, and lets what has been written arrive if that is still possible.
    pub(crate) fn hang_up(&self) {
        // If this fails there is nobody to hear it.
        let _ = self.socket.shutdown(Shutdown::Write);
    }
}

/// The result of a call on a non-blocking socket; `None` if it would block.
fn retry(mut call: impl FnMut() -> io::Result<usize>) -> Result<Option<usize>, ChannelError> {
    loop {
        match call() {
            Ok(count) => return Ok(Some(count)),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => return Ok(None),
                ErrorKind::Interrupted => {}
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => return Err(ChannelError::Closed),
                _ => return Err(error.into()),
            },
        }
    }
}
