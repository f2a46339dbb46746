//! What links carry: three parties that send to both others at once, and a message there and back.

use super::limits::Loopback;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use tacit::advanced::net::{At, Error, Mesh};

/// Bytes of a message.
const MESSAGE: usize = 64 << 10;
/// Messages on their way before the first is taken.
const PIPELINE_DEPTH: u32 = 16;
/// How long a side is left alone until it sleeps.
const PAUSE: Duration = Duration::from_millis(5);

/// How much is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ring {
    /// Messages from each party to each other one.
    pub(crate) messages: u32,
    /// Messages there and back while both are awake.
    pub(crate) awake: u32,
    /// The same after a pause each.
    pub(crate) asleep: u32,
}

impl Ring {
    pub(crate) const DEFAULT: Self = Self { messages: 10_000, awake: 5000, asleep: 100 };
    pub(crate) const QUICK: Self = Self { messages: 500, awake: 50, asleep: 3 };

    /// Plays one party's part.
    pub(crate) fn play(self, mut mesh: Mesh) -> Result<Loopback, Error> {
        // Once to warm up.
        round(&mut mesh, 0, PIPELINE_DEPTH)?;
        let start = Instant::now();
        round(&mut mesh, 1, self.messages)?;
        let seconds = start.elapsed().as_secs_f64();
        let sent = f64::from(self.messages) * (MESSAGE * (mesh.endpoints() - 1) * mesh.endpoints()) as f64;
        let awake_seconds = ping(&mut mesh, 2, self.awake, Duration::ZERO)?;
        let asleep_seconds = ping(&mut mesh, 3, self.asleep, PAUSE)?;
        mesh.close()?;
        Ok(Loopback { bytes_per_second: sent / seconds, awake_seconds, asleep_seconds })
    }
}

/// So many messages to each of the others, and as many from each.
fn round(mesh: &mut Mesh, part: u16, messages: u32) -> Result<(), Error> {
    let others: Vec<usize> = (0..mesh.endpoints()).filter(|&peer| peer != mesh.me()).collect();
    // Not the same bytes everywhere, though nothing here could take advantage of it.
    let payload: Vec<u8> = (0..MESSAGE).map(|byte| (byte * 31) as u8).collect();
    for number in 0..messages + PIPELINE_DEPTH {
        for &peer in &others {
            if number < messages {
                mesh.send(peer, at(part, number), &payload)?;
            }
            if let Some(number) = number.checked_sub(PIPELINE_DEPTH) {
                let message = mesh.recv(peer, at(part, number), MESSAGE)?;
                mesh.recycle(message);
            }
        }
    }
    Ok(())
}

/// The median time of a message from the first party to the second and back; the others have nothing to do.
fn ping(mesh: &mut Mesh, part: u16, times: u32, pause: Duration) -> Result<f64, Error> {
    let mut trips = Vec::new();
    for number in 0..times {
        match mesh.me() {
            0 => {
                std::thread::sleep(pause);
                let start = Instant::now();
                mesh.send(1, at(part, number), &[0; 8])?;
                mesh.recv(1, at(part, number), 8)?;
                trips.push(start.elapsed().as_secs_f64());
            }
            1 => {
                mesh.recv(0, at(part, number), 8)?;
                mesh.send(0, at(part, number), &[0; 8])?;
            }
            _ => {}
        }
    }
    trips.sort_by(f64::total_cmp);
    Ok(trips.get(trips.len() / 2).copied().unwrap_or_default())
}

fn at(part: u16, number: u32) -> At {
    At { lane: 0, part, op: number, batch: 0 }
}
