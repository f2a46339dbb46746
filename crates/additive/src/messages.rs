//! Vectors in messages of the usual length, and the messages' addresses.

use crate::vectors::{add_at, row};
use sha2::{Digest, Sha256};
use std::ops::Range;
use tacit_circuit::Layered;
use tacit_engine::executor::MAX_IN_FLIGHT;
use tacit_engine::wire::{message_bytes, message_of, pieces, unpack_columns};
use tacit_engine::{Error, Job, bytes_of};
use tacit_kernel::Buffer;
use tacit_net::Mesh;
use tacit_program::plan::{Domain, Register};
use tacit_session::{At, Draw, Session, step};

/// Steps of this protocol: what hides the bits of inputs in ranges is opened, of each field's.
pub const BIT_MASKS: u16 = 0x15;
/// A step of this protocol, of what moves to another key: each party's shares under masks of its own.
pub const REKEY_SHARES: u16 = 0x1a;
/// A step of this protocol, of what moves to another key: shares of the weighed sum.
pub const REKEY_SUM: u16 = 0x1b;

/// The address of a job's messages.
pub(crate) fn at(job: &Job) -> At {
    At { part: step::OPERATION + job.stage as u16, op: job.op, batch: job.batch, ..At::default() }
}

/// The address of a piece of a layer of a job's circuit.
pub(crate) fn layer_at(job: &Job, circuit: &Layered, piece: u16) -> At {
    let batch = job.batch * circuit.depth() + job.stage;
    At { part: step::CIRCUIT + piece, op: job.op, batch, ..At::default() }
}

/// The address of a piece of an input.
pub(crate) fn input_at(input: u32, batch: u32) -> At {
    At { part: step::INPUT, op: input, batch, ..At::default() }
}

/// The address of the randomness of an input's shares.
pub(crate) fn input_draw(input: u32) -> Draw {
    Draw { part: step::INPUT, op: input }
}

/// The address of a piece of an output.
pub(crate) fn output_at(output: u32, batch: u32) -> At {
    At { part: step::OUTPUT, op: output, batch, ..At::default() }
}

/// The address of a piece of what hides the bits of inputs in a field.
pub(crate) fn bit_masks_at(field: u16, batch: u32) -> At {
    At { part: BIT_MASKS + field, batch, ..At::default() }
}

/// Sends a vector.
pub(crate) fn send(
    mesh: &mut Mesh,
    to: usize,
    shape: Register,
    values: &Buffer,
    at: impl Fn(u32) -> At,
) -> Result<(), Error> {
    for (batch, range) in pieces(shape) {
        mesh.send(to, at(batch), &message_of(shape, values, &range))?;
    }
    Ok(())
}

/// Receives a vector.
pub(crate) fn receive(
    mesh: &mut Mesh,
    from: usize,
    shape: Register,
    at: impl Fn(u32) -> At,
) -> Result<Buffer, Error> {
    let mut values = Buffer::new(bytes_of(shape.domain, shape.cols));
    for (batch, range) in pieces(shape) {
        let message = mesh.recv(from, at(batch), message_bytes(shape.domain, range.len()))?;
        unpack_columns(shape, &message, range, &mut values);
        mesh.recycle(message);
    }
    Ok(values)
}

/// Sends the first pieces of a vector, of which [`sum_of_shares`] sends the rest.
pub(crate) fn send_first(
    session: &mut Session,
    to: &[usize],
    shape: Register,
    share: &Buffer,
    at: impl Fn(u32) -> At,
) -> Result<(), Error> {
    pieces(shape).take(MAX_IN_FLIGHT).try_for_each(|piece| send_piece(session, to, shape, share, &piece, &at))
}

/// Adds up a vector's shares from `from`, with `own` if there is anybody, and sends the rest of this party's to `to`: as fast
/// as the like comes in, as all parties may be doing the same.
pub(crate) fn sum_of_shares(
    session: &mut Session,
    (from, to): (&[usize], &[usize]),
    shape: Register,
    own: &Buffer,
    at: impl Fn(u32) -> At,
) -> Result<Buffer, Error> {
    let mut sum = own.clone();
    let mut unsent = pieces(shape).skip(MAX_IN_FLIGHT);
    for (batch, range) in pieces(shape) {
        for &party in from {
            let message = session.mesh().recv(party, at(batch), message_bytes(shape.domain, range.len()))?;
            add_piece(shape.domain, &message, &range, &mut sum);
            session.mesh().recycle(message);
        }
        if let Some(piece) = unsent.next() {
            send_piece(session, to, shape, own, &piece, &at)?;
        }
    }
    Ok(sum)
}

/// Tells all a vector, and hears the like of all. The sum of all, and a hash that is the same at all who were told the same.
pub(crate) fn tell_all(
    session: &mut Session,
    shape: Register,
    own: &Buffer,
    at: impl Fn(u32) -> At,
) -> Result<(Buffer, Sha256), Error> {
    let (me, others) = (session.me(), session.others().collect::<Vec<_>>());
    let (mut sum, mut told) = (Buffer::new(own.len()), Sha256::new());
    send_first(session, &others, shape, own, &at)?;
    let mut unsent = pieces(shape).skip(MAX_IN_FLIGHT);
    for (batch, range) in pieces(shape) {
        for party in 0..session.parties() {
            let message = if party == me {
                message_of(shape, own, &range)
            } else {
                session.mesh().recv(party, at(batch), message_bytes(shape.domain, range.len()))?
            };
            told.update(&message);
            add_piece(shape.domain, &message, &range, &mut sum);
            session.mesh().recycle(message);
        }
        if let Some(piece) = unsent.next() {
            send_piece(session, &others, shape, own, &piece, &at)?;
        }
    }
    Ok((sum, told))
}

fn send_piece(
    session: &mut Session,
    to: &[usize],
    shape: Register,
    share: &Buffer,
    (batch, range): &(u32, Range<usize>),
    at: impl Fn(u32) -> At,
) -> Result<(), Error> {
    let message = message_of(shape, share, range);
    for &party in to {
        session.mesh().send(party, at(*batch), &message)?;
    }
    Ok(())
}

/// Adds what a message has to these columns of a vector.
pub(crate) fn add_piece(domain: Domain, message: &[u8], range: &Range<usize>, sum: &mut Buffer) {
    let shape = row(domain, range.len());
    let mut part = Buffer::new(bytes_of(domain, range.len()));
    unpack_columns(shape, message, 0..range.len(), &mut part);
    add_at(domain, range.start, &part, sum);
}
