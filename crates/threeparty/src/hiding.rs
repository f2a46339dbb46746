//! Hides the components of outputs from clients, by a sharing of zero that all parties know and clients don't.
//!
//! Parties' inputs have a component that is zero. So the components of several outputs can tell more than the outputs.

use crate::messages::at;
use crate::planted::{Mistake, planted};
use crate::scheme::Scheme;
use crate::step;
use subtle::ConstantTimeEq;
use tacit_engine::vector::{add_assign, fill, sub_assign};
use tacit_engine::{Error, Participants};
use tacit_kernel::Buffer;
use tacit_program::plan::{Domain, Plan, Register};
use tacit_session::{Draw, PrssStream, Session};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of the key.
pub const KEY_BYTES: usize = 16;

/// Whether a client learns anything.
pub fn clients_learn(plan: &Plan, participants: &Participants) -> bool {
    plan.outputs.iter().any(|output| participants.clients_that_learn(output.to).next().is_some())
}

/// What hides components, once all parties have accepted.
pub struct Hiding(PrssStream);

impl Hiding {
    /// Accepts, and waits until the others do. If clients learn anything, the parties then have a key that clients
    /// don't: two draw it from theirs, and both send it to the third.
    pub fn after(
        accept: impl FnOnce(&mut Session) -> Result<(), Error>,
        session: &mut Session,
        scheme: &Scheme,
        clients_learn: bool,
    ) -> Result<Option<Self>, Error> {
        let [one, other, receiver] = scheme.key.map(|number| scheme.parties[number]);
        let (me, mut key) = (session.me(), Zeroizing::new([0; KEY_BYTES]));
        if clients_learn && me != receiver {
            let peer = if me == one { other } else { one };
            session.stream(peer).fill(Draw { part: step::OUTPUT_KEY, op: 0 }, 0, key.as_mut_slice());
            session.mesh().send(receiver, at(step::OUTPUT_KEY, 0), key.as_slice())?;
        }
        accept(session)?;
        if clients_learn && me == receiver {
            key = receive_key(session, [one, other])?;
        }
        Ok(clients_learn.then(|| Self(PrssStream::new(&key, session.lane()))))
    }

    /// Hides an output's components that belong to these numbers: two are masked, and the third has what makes the sum
    /// of all masks zero.
    pub fn hide(&mut self, output: u32, shape: Register, components: [(usize, &mut Buffer); 2]) {
        let masks = [step::OUTPUT, step::OUTPUT_DIGEST].map(|part| {
            let mut mask = Buffer::new(components[0].1.len());
            fill(&mut self.0, Draw { part, op: output }, shape, &mut mask);
            mask
        });
        let is_xor = planted(Mistake::HiddenByXor);
        let shape = if is_xor { Register { domain: Domain::Bits, ..shape } } else { shape };
        for (component, values) in components {
            for (masked, mask) in (1..).zip(&masks) {
                if component == masked {
                    add_assign(shape, values, mask);
                } else if component == 0 {
                    sub_assign(shape, values, mask);
                }
            }
        }
    }
}

/// Receives the key from both parties that drew it, who must send the same. A single one could send another, chosen by its
/// effect on an output of few bits.
///
/// # Errors
/// If the two said different keys; those of links.
fn receive_key(session: &mut Session, drawers: [usize; 2]) -> Result<Zeroizing<[u8; KEY_BYTES]>, Error> {
    let mut keys = [(); 2].map(|()| Zeroizing::new([0; KEY_BYTES]));
    for (from, key) in drawers.into_iter().zip(&mut keys) {
        let mut message = session.mesh().recv(from, at(step::OUTPUT_KEY, 0), KEY_BYTES)?;
        key.copy_from_slice(&message);
        message.zeroize();
    }
    let [key, other] = keys;
    if bool::from(key.ct_eq(other.as_slice())) || planted(Mistake::KeyFromOne) {
        return Ok(key);
    }
    Err(session.reject("two parties said different keys").into())
}
