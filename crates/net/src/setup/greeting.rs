//! One connection from its first byte to the other side's hello.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::hello::{Hello, NotAHello};
use crate::channel::{Channel, ChannelError};
use crate::tls::Tls;

/// A connection being set up, as caller or as listener.
pub(super) struct Greeting {
    pub(super) channel: Channel,
    /// The other end.
    pub(super) address: SocketAddr,
    /// When it has to be done.
    pub(super) deadline: Instant,
    stage: Stage,
    /// What a caller says as soon as the connection is secure. A listener answers later.
    hello: Option<Vec<u8>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Connecting,
    Securing,
    Listening,
}

/// Why a connection came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error(transparent)]
    Channel(#[from] ChannelError),
    #[error(transparent)]
    Hello(#[from] NotAHello),
}

impl Greeting {
    /// The listener's side of a connection.
    pub(super) fn answer(
        socket: TcpStream,
        address: SocketAddr,
        tls: Option<Tls>,
        deadline: Instant,
    ) -> Self {
        let channel = Channel::new(socket, tls);
        Self { channel, address, deadline, stage: Stage::Securing, hello: None }
    }

    /// Begins to call; the caller's side of a connection.
    pub(super) fn call(
        address: SocketAddr,
        tls: Option<Tls>,
        hello: Vec<u8>,
        deadline: Instant,
    ) -> Result<Self, ChannelError> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)
            .map_err(std::io::Error::from)?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {}
            Err(error) => return Err(std::io::Error::from(error).into()),
        }
        let socket = TcpStream::from(socket);
        socket.set_nodelay(true)?;
        let channel = Channel::new(socket, tls);
        Ok(Self { channel, address, deadline, stage: Stage::Connecting, hello: Some(hello) })
    }

    /// Goes on as far as it can without waiting: the other side's hello, once it is here. Bytes that came
    /// after it are left in the channel.
    pub(super) fn advance(&mut self) -> Result<Option<Hello>, Fault> {
        if self.stage == Stage::Connecting {
            if let Some(error) = self.channel.socket.take_error().map_err(ChannelError::from)? {
                return Err(ChannelError::from(error).into());
            }
            if self.channel.socket.peer_addr().is_err() {
                return Ok(None);
            }
            self.stage = Stage::Securing;
        }
        if self.stage == Stage::Securing {
            if !self.channel.secure()? {
                return Ok(None);
            }
            if let Some(hello) = self.hello.take() {
                self.channel.send(&hello)?;
            }
            self.stage = Stage::Listening;
        }
        self.channel.flush()?;
        loop {
            // A hello is bounded, so this reads little more than one.
            if let Some((hello, used)) = Hello::parse(&self.channel.unread)? {
                self.channel.unread.drain(..used);
                return Ok(Some(hello));
            }
            if !self.channel.receive()? {
                return Ok(None);
            }
        }
    }

    /// What the socket is to be watched for.
    pub(super) fn watch(&self) -> PollFd<'_> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, self.stage != Stage::Connecting);
        flags.set(PollFlags::OUT, self.stage == Stage::Connecting || self.channel.is_backed_up());
        PollFd::from_borrowed_fd(self.channel.socket.as_fd(), flags)
    }
}
