//! How fast the parties' links are, measured by the parties together before a run that depends on it.
//!
//! Pairs measure one after another, in the order (0, 1), (0, 2), ..., (1, 2), ..., so that none disturbs another. The
//! order is the same for all, so nobody waits in a circle.
//!
//! A pair sends eight small messages to and fro. Each end times three round trips and takes the median. Then each sends
//! the other a short burst, and after it one as long as the receiver asks for: about [`BURST_TIME`] at the speed that
//! it saw, and no more than [`LONGEST`] messages. A burst is timed from its first message's arrival to its last one's,
//! so the round trip has no part in it.
//!
//! Each party tells the others what it has measured, and all compare a hash of it. Of the figures of a pair's two ends
//! the worse count: the longer round trip, the lower bandwidth. So a party that lies, or is slow on purpose, makes its
//! own links look worse and no other. A decision by these figures must not matter to anybody's secrets.

use crate::session::control;
use crate::{Error, Session, step};
use std::time::Duration;
use tacit_net::{At, Phase, Profile, Shape};

/// Small messages between two parties, half of them each way. The first two see to it that both are there.
const ECHOES: u32 = 8;

/// Bytes of a small message.
const ECHO_BYTES: usize = 16;

/// Bytes of a burst's message.
const MESSAGE: usize = 8 << 10;

/// Messages of a first burst.
const SHORTEST: u32 = 4;

/// Messages of a second burst, at most: both bursts both ways are a mebibyte.
const LONGEST: u32 = 60;

/// How long a second burst is to take.
const BURST_TIME: Duration = Duration::from_millis(50);

/// Bits per second of what takes no time that can be measured.
const FASTEST: u64 = 1_000_000_000_000;

/// Bytes of what a party says of one of its links: round trip in microseconds, bits per second.
const LINK_BYTES: usize = 12;

/// Most bytes of a selection.
const MAX_TOLD: usize = 64;

impl Session {
    /// Measures the links between all pairs of parties: a profile by their names, the same for every party. Parties
    /// only, all at the same point.
    ///
    /// Takes four round trips and two bursts of a pair after the other, and two rounds; for three parties 200 ms apart
    /// about three seconds. On links of a long round trip a burst is over before their transport has found its speed: they
    /// seem slower than they are to something long.
    ///
    /// # Errors
    /// [`Error::CheckFailed`] if somebody told two parties different things; [`Error::Malformed`] if a peer asks for a burst
    /// that is too long; a peer that says nothing ends the session by the links' limits.
    pub fn measure(&mut self) -> Result<Profile, Error> {
        self.mesh().set_phase(Phase::Setup);
        let (me, parties) = (self.me(), self.parties());
        let mut row = vec![0; parties * LINK_BYTES];
        // Whoever has the lower number comes first: with others than this one for the pairs below it.
        for peer in self.others() {
            let shape = self.measure_link(peer)?;
            if let Some(place) = row.chunks_exact_mut(LINK_BYTES).nth(peer) {
                place.copy_from_slice(&to_bytes(shape));
            }
        }
        let mut rows = self.broadcast(control(step::MEASURED, 0), &row)?;
        rows[me] = row;
        self.echo(&rows.concat())?;
        let said =
            |by: usize, of: usize| rows[by].chunks_exact(LINK_BYTES).nth(of).map_or(NOTHING_SAID, from_bytes);
        let pairs = (0..parties).flat_map(|one| (one + 1..parties).map(move |other| (one, other)));
        let link = |(one, other): (usize, usize)| {
            let shape = worse(said(one, other), said(other, one));
            (self.name(one).to_owned(), self.name(other).to_owned(), shape)
        };
        Ok(Profile::of_pairs(pairs.map(link).collect()))
    }

    /// Tells the other parties what this one has selected already, in at most 64 bytes. Returns what each party told,
    /// by party. Parties only; one round.
    ///
    /// # Errors
    /// [`Error::Malformed`] if somebody tells what is no text; if a link fails.
    pub fn tell_parties(&mut self, settled: &str) -> Result<Vec<String>, Error> {
        debug_assert!(settled.len() <= MAX_TOLD, "as many bytes are sent, whatever is told");
        let mut message = settled.as_bytes().to_vec();
        message.resize(MAX_TOLD, 0);
        self.tell_all(control(step::MADE_WITH, 0), &message, MAX_TOLD, "word of what is settled", |told| {
            let text = told.split(|&byte| byte == 0).next().unwrap_or_default();
            Some(std::str::from_utf8(text).ok().filter(|_| told.len() == MAX_TOLD)?.to_owned())
        })
    }

    /// Tells every client that takes part what the parties have selected, in at most 64 bytes. Parties only; one round.
    ///
    /// # Errors
    /// If a link fails.
    pub fn send_selection(&mut self, settled: &str) -> Result<(), Error> {
        debug_assert!(settled.len() <= MAX_TOLD, "clients read no more");
        for client in self.parties()..self.endpoints() {
            if self.mesh().is_linked(client) {
                self.mesh().send(client, control(step::SETTLED, 0), settled.as_bytes())?;
            }
        }
        Ok(())
    }

    /// What the parties have selected: all tell this client the same. Clients only.
    ///
    /// # Errors
    /// [`Error::CheckFailed`] if two parties tell different things; [`Error::Malformed`] if it is no text.
    pub fn receive_selection(&mut self) -> Result<String, Error> {
        let mut first: Option<Vec<u8>> = None;
        for party in 0..self.parties() {
            let told = self.mesh().recv_bounded(party, control(step::SETTLED, 0), MAX_TOLD)?;
            if *first.get_or_insert_with(|| told.clone()) != told {
                return self.fail(party, "what the parties have settled");
            }
        }
        match String::from_utf8(first.unwrap_or_default()) {
            Ok(text) => Ok(text),
            Err(_) => self.malformed(0, "word of what is settled"),
        }
    }

    /// This end's measurement of a link.
    fn measure_link(&mut self, peer: usize) -> Result<Shape, Error> {
        let rtt = self.time_echoes(peer)?;
        let bandwidth = if self.me() < peer {
            self.send_bursts(peer)?;
            self.time_bursts(peer)?
        } else {
            let bandwidth = self.time_bursts(peer)?;
            self.send_bursts(peer)?;
            bandwidth
        };
        Ok(Shape { rtt, bandwidth })
    }

    /// The median of this end's round trips.
    fn time_echoes(&mut self, peer: usize) -> Result<Duration, Error> {
        let first = self.me() < peer;
        let mut sent = Duration::ZERO;
        let mut round_trips = Vec::new();
        for turn in 0..ECHOES {
            let at = control(step::ECHOES, 0).with_batch(turn);
            if (turn % 2 == 0) == first {
                sent = self.mesh().now();
                self.mesh().send(peer, at, &[0; ECHO_BYTES])?;
            } else {
                let echo = self.mesh().recv(peer, at, ECHO_BYTES)?;
                self.mesh().recycle(echo);
                // The peer may have been with somebody else before.
                if turn >= 2 {
                    round_trips.push(self.mesh().now().saturating_sub(sent));
                }
            }
        }
        round_trips.sort_unstable();
        Ok(round_trips.get(round_trips.len() / 2).copied().unwrap_or_default())
    }

    fn send_bursts(&mut self, peer: usize) -> Result<(), Error> {
        self.send_burst(peer, 0, SHORTEST)?;
        let length = self.mesh().recv(peer, control(step::BURST_LENGTH, 0), 4)?;
        let length = length.try_into().map_or(0, u32::from_le_bytes);
        if !(SHORTEST..=LONGEST).contains(&length) {
            return self.malformed(peer, "length of a burst");
        }
        self.send_burst(peer, 1, length)
    }

    fn send_burst(&mut self, peer: usize, burst: u32, length: u32) -> Result<(), Error> {
        // What repeats itself might pass faster than other bytes.
        let mut message = vec![0; MESSAGE];
        self.entropy().fill(&mut message)?;
        for number in 0..length {
            self.mesh().send(peer, at_burst(burst, number), &message)?;
        }
        Ok(())
    }

    /// Bits per second of a peer's second burst.
    fn time_bursts(&mut self, peer: usize) -> Result<u64, Error> {
        let seen = self.time_burst(peer, 0, SHORTEST)?;
        let wanted = u128::from(seen) * BURST_TIME.as_millis() / 8000 / MESSAGE as u128;
        let length = u32::try_from(wanted).unwrap_or(LONGEST).clamp(SHORTEST, LONGEST);
        self.mesh().send(peer, control(step::BURST_LENGTH, 0), &length.to_le_bytes())?;
        self.time_burst(peer, 1, length)
    }

    fn time_burst(&mut self, peer: usize, burst: u32, length: u32) -> Result<u64, Error> {
        let mut start = Duration::ZERO;
        for number in 0..length {
            let message = self.mesh().recv(peer, at_burst(burst, number), MESSAGE)?;
            self.mesh().recycle(message);
            if number == 0 {
                start = self.mesh().now();
            }
        }
        let took = self.mesh().now().saturating_sub(start);
        Ok(speed(u64::from(length - 1) * MESSAGE as u64, took))
    }
}

/// What counts for a party that the rows say nothing of: there is none.
const NOTHING_SAID: Shape = Shape { rtt: Duration::ZERO, bandwidth: FASTEST };

fn at_burst(burst: u32, number: u32) -> At {
    control(step::BURST, burst).with_batch(number)
}

/// Bits per second.
fn speed(bytes: u64, took: Duration) -> u64 {
    let bits = u128::from(bytes) * 8 * 1_000_000_000;
    let speed = bits.checked_div(took.as_nanos()).and_then(|speed| u64::try_from(speed).ok());
    speed.unwrap_or(FASTEST).clamp(1, FASTEST)
}

/// What counts of what two ends say.
fn worse(one: Shape, other: Shape) -> Shape {
    Shape { rtt: one.rtt.max(other.rtt), bandwidth: one.bandwidth.min(other.bandwidth) }
}

fn to_bytes(shape: Shape) -> [u8; LINK_BYTES] {
    let mut bytes = [0; LINK_BYTES];
    let rtt = u32::try_from(shape.rtt.as_micros()).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&rtt.to_le_bytes());
    bytes[4..].copy_from_slice(&shape.bandwidth.to_le_bytes());
    bytes
}

/// The inverse, within what can be: a peer may say anything.
fn from_bytes(bytes: &[u8]) -> Shape {
    let Some((rtt, bandwidth)) = bytes.split_first_chunk::<4>() else { return NOTHING_SAID };
    let bandwidth = <[u8; 8]>::try_from(bandwidth).map_or(1, u64::from_le_bytes);
    Shape {
        rtt: Duration::from_micros(u64::from(u32::from_le_bytes(*rtt))),
        bandwidth: bandwidth.clamp(1, FASTEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read_within_bounds() {
        let shape = Shape { rtt: Duration::from_micros(201_928), bandwidth: 25_000_000 };
        assert_eq!(from_bytes(&to_bytes(shape)), shape);
        let slow = Shape { rtt: Duration::from_hours(10), bandwidth: 0 };
        let longest = Duration::from_micros(u64::from(u32::MAX));
        assert_eq!(from_bytes(&to_bytes(slow)), Shape { rtt: longest, bandwidth: 1 });
        assert_eq!(from_bytes(&[0xff; LINK_BYTES]), Shape { rtt: longest, bandwidth: FASTEST });
    }

    #[test]
    fn the_worse_of_two_ends_counts() {
        let shape = |ms, bandwidth| Shape { rtt: Duration::from_millis(ms), bandwidth };
        assert_eq!(worse(shape(10, 7), shape(9, 5)), shape(10, 5));
        assert_eq!(worse(shape(9, 5), shape(10, 7)), shape(10, 5));
    }

    #[test]
    fn speeds_have_bounds() {
        assert_eq!(speed(125_000, Duration::from_millis(100)), 10_000_000);
        assert_eq!(speed(1 << 40, Duration::ZERO), FASTEST);
        assert_eq!(speed(0, Duration::from_secs(1)), 1);
    }

    /// Both bursts both ways are no more than is promised.
    #[test]
    fn a_pair_exchanges_a_mebibyte_at_most() {
        assert_eq!(2 * (SHORTEST + LONGEST) as usize * MESSAGE, 1 << 20);
    }
}
