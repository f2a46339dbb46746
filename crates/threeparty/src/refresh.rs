//! Fresh shares of what stays: components of zero are added to the components of a value (Herzberg et al. 1995, for three
//! replicated components).
//!
//! `z_0 + z_1 + z_2 = 0`, and `x_i` becomes `x_i + z_i`. Each party has two of the three `z_i`, and so knows the third:
//! nothing is lost if all three parties know all of them. `z_0` and `z_1` are uniform to everybody else. So whoever has the
//! components `x_0` and `x_2` of before and `x_1 + z_1` and `x_0 + z_0` of after lacks `z_1`, which hides `x_1`.
//!
//! All parties come to the same `z_i` from what all of them have been told alike: nothing is left that one party could get
//! wrong for another, and so nothing else to check.

use sha2::{Digest, Sha256};
use tacit_engine::wire::{message_of, pieces, unpack_columns};
use tacit_engine::{Error, KeptShare, bytes_of, vector, with_element};
use tacit_kernel::{Buffer, Element};
use tacit_program::plan::{Domain, Register};
use tacit_session::{At, Session, step};
use zeroize::Zeroizing;

/// The messages of fresh vectors begin at this number.
const FRESH: u32 = 0x100;

/// Fresh shares of a kept value.
///
/// # Errors
/// [`Error::Refused`] if the share is none of two components; those of links, and an echo that isn't as it has to be.
pub fn refresh(session: &mut Session, share: &KeptShare) -> Result<KeptShare, Error> {
    let shape = share.shape();
    let [first, second] = zeros(session, shape)?;
    let mut third = Buffer::new(first.len());
    vector::sub_assign(shape, &mut third, &first);
    vector::sub_assign(shape, &mut third, &second);
    let mut components = [first, second, third];
    let fresh = share.plus(|number| {
        let refused = || Error::Refused(format!("a kept value has no component {number}"));
        components.get(usize::from(number)).cloned().ok_or_else(refused)
    });
    components.iter_mut().for_each(Buffer::wipe);
    fresh
}

/// `z_0` and `z_1`: sums of fresh vectors, which each party draws and sends the others, as much as there is to refresh by each
/// link. No key makes them, so they are as good under information-theoretic zero-sharing. A hash of the sums is compared.
fn zeros(session: &mut Session, shape: Register) -> Result<[Buffer; 2], Error> {
    let mut digest = Sha256::new_with_prefix(b"tacit refresh 1");
    let mut sums = [0, 1].map(|_| Buffer::new(bytes_of(shape.domain, shape.cols)));
    for (op, sum) in (FRESH..).zip(&mut sums) {
        fresh(session, shape, sum)?;
        let mut received = vec![Buffer::new(sum.len()); session.parties()];
        for (batch, cols) in pieces(shape) {
            let at = At { lane: 0, part: step::KEPT, op, batch };
            let own = Zeroizing::new(message_of(shape, sum, &cols));
            let told = Zeroizing::new(session.broadcast(at, &own)?);
            for party in session.others() {
                unpack_columns(shape, &told[party], cols.clone(), &mut received[party]);
            }
        }
        // This party's own place is zero.
        for theirs in &mut received {
            vector::add_assign(shape, sum, theirs);
            theirs.wipe();
        }
        digest.update(&*Zeroizing::new(message_of(shape, sum, &(0..shape.cols))));
    }
    session.echo(&digest.finalize())?;
    Ok(sums)
}

/// Fresh elements of this party's own.
fn fresh(session: &mut Session, shape: Register, out: &mut Buffer) -> Result<(), Error> {
    match shape.domain {
        Domain::Bits => session.entropy().fill(out.bytes_mut())?,
        domain => with_element!(domain, E => {
            let mut bytes = Zeroizing::new(vec![0; shape.cols * E::DRAWN]);
            session.entropy().fill(&mut bytes)?;
            E::draw(&bytes, out.words_mut());
        }),
    }
    Ok(())
}
