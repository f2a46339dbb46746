//! The addresses of inputs and outputs, and vectors that travel in pieces.

use crate::step;
use tacit_engine::Error;
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_kernel::Buffer;
use tacit_program::plan::Register;
use tacit_session::{At, Session};

pub use tacit_client::components::{HASH_BYTES, SEED_BYTES};

/// The address of a message of which there is one of a kind for an operation.
pub const fn at(part: u16, op: u32) -> At {
    At { lane: 0, part, op, batch: 0 }
}

/// The address of a client's seeds.
pub const fn seed_at() -> At {
    at(step::SEED, 0)
}

/// The address of a piece of an input.
pub const fn input_at(input: u32, batch: u32) -> At {
    At { batch, ..at(step::INPUT, input) }
}

/// The address of a piece of an output.
pub const fn output_at(output: u32, batch: u32) -> At {
    At { batch, ..at(step::OUTPUT, output) }
}

/// The address of what confirms an output.
pub const fn digest_at(output: u32) -> At {
    at(step::OUTPUT_DIGEST, output)
}

/// Sends a vector in its pieces, each to all receivers.
pub fn send_vector(
    session: &mut Session,
    receivers: &[usize],
    at: impl Fn(u32) -> At,
    shape: Register,
    data: &Buffer,
) -> Result<(), Error> {
    for (batch, range) in pieces(shape) {
        let message = message_of(shape, data, &range);
        for &to in receivers {
            session.mesh().send(to, at(batch), &message)?;
        }
    }
    Ok(())
}

/// Receives a vector in its pieces.
pub fn recv_vector(
    session: &mut Session,
    from: usize,
    at: impl Fn(u32) -> At,
    shape: Register,
    out: &mut Buffer,
) -> Result<(), Error> {
    for (batch, range) in pieces(shape) {
        let message = session.mesh().recv(from, at(batch), message_bytes(shape.domain, range.len()))?;
        unpack_columns(shape, &message, range, out);
        session.mesh().recycle(message);
    }
    Ok(())
}
