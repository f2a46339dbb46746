//! One connection from its first byte to the other side's hello.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

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
    /// Since when it is at its [`Step`].
    pub(super) since: Instant,
    /// When a caller has to have said who it is.
    pub(super) deadline: Option<Instant>,
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

/// How far a caller has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// It has said nothing that makes sense so far.
    Silent,
    /// It has said what anybody can say: the beginning of a TLS handshake, or of a hello over plain TCP.
    Speaking,
    /// It has proved that it has one of the keys of the configuration.
    Known,
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
        let (since, deadline) = (Instant::now(), Some(deadline));
        Self { channel, address, since, deadline, stage: Stage::Securing, hello: None }
    }

    /// Begins to call; the caller's side of a connection.
    pub(super) fn call(address: SocketAddr, tls: Option<Tls>, hello: Vec<u8>) -> Result<Self, ChannelError> {
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
        notice_dead_peers(&socket)?;
        let channel = Channel::new(socket, tls);
        let (stage, hello) = (Stage::Connecting, Some(hello));
        Ok(Self { channel, address, since: Instant::now(), deadline: None, stage, hello })
    }

    /// How far a caller has come.
    pub(super) fn step(&self) -> Step {
        match &self.channel.tls {
            Some(_) if self.stage == Stage::Listening => Step::Known,
            Some(tls) if tls.has_spoken() => Step::Speaking,
            None if !self.channel.unread.is_empty() => Step::Speaking,
            _ => Step::Silent,
        }
    }

    /// Goes on as far as it can without waiting: the other side's hello, once it is here. Bytes that came
    /// after it are left in the channel.
    pub(super) fn advance(&mut self) -> Result<Option<Hello>, Fault> {
        let step = self.step();
        let hello = self.go_on();
        if self.step() != step {
            self.since = Instant::now();
        }
        hello
    }

    fn go_on(&mut self) -> Result<Option<Hello>, Fault> {
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

/// A connection that waits may wait for long: whether the machine at its other end is still there is found out by the
/// operating system, within a minute.
pub(super) fn notice_dead_peers(socket: &TcpStream) -> std::io::Result<()> {
    use rustix::net::sockopt;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(20))?;
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(10))?;
    sockopt::set_tcp_keepcnt(socket, 4)?;
    Ok(())
}
