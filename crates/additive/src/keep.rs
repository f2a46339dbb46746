//! Shares that stay, with their MACs where there are any: these are good under their key alone.

use crate::share::Share;
use crate::state::Party;
use tacit_engine::{Error, KeptShare, bytes_of, vector};
use tacit_kernel::Buffer;
use tacit_session::{Draw, Session, step};

/// Added to a party's number: the part of its share that is of MACs.
pub(crate) const MACS: u8 = 0x80;

impl Party {
    /// This party's share of what is kept, with that of its MACs.
    ///
    /// # Errors
    /// [`Error::Refused`] where the key goes with the session.
    pub(crate) fn keep(&self, keep: u32) -> Result<KeptShare, Error> {
        self.is_checked()?;
        let reg = self.plan.keeps[keep as usize].reg;
        let (shape, me, key) = (self.plan.register(reg), self.session.me() as u8, self.key_name());
        if self.manner.is_authenticated() && key.is_none() {
            return Err(Error::Refused(NO_KEY.to_owned()));
        }
        let share = self.share(reg)?;
        let parts = [(me, Some(&share.value)), (MACS | me, share.mac.as_ref())];
        let parts = parts.into_iter().filter_map(|(number, part)| Some((number, None, part?)));
        Ok(KeptShare::new(shape, key, parts))
    }

    /// Takes this party's share of what was kept.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is another's, of something else, or under another key.
    pub(crate) fn load_kept(&mut self, kept: u32, share: &KeptShare) -> Result<(), Error> {
        let reg = self.plan.kept[kept as usize].reg;
        let (shape, me) = (self.plan.register(reg), self.session.me() as u8);
        if share.key != self.key_name() {
            return Err(Error::Refused("the MACs of a kept value are under another key".to_owned()));
        }
        let authenticated = self.manner.is_authenticated();
        let mac = authenticated.then(|| share.part(MACS | me, shape)).transpose()?;
        self.put_share(reg, Share { value: share.part(me, shape)?, mac });
        Ok(())
    }

    /// What names the key of MACs beyond the session.
    fn key_name(&self) -> Option<[u8; 32]> {
        let supply = self.supply.as_ref().filter(|_| self.manner.is_authenticated());
        supply.and_then(|supply| supply.key_name())
    }
}

/// Fresh shares of a kept value: each pair of parties draws a vector that one of them adds and the other one takes away (Herzberg
/// et al. 1995, by PRSS). Of MACs the same, by itself: they are good under the key that they were. Nothing is sent.
///
/// # Errors
/// [`Error::Refused`] if the share has another length than it says.
///
/// # Security
/// What hides a party's new share from those who know its old one is what it draws with a party that they don't have. Whoever
/// draws something else than the other one does changes the value: with MACs as any share that isn't right.
pub(crate) fn refresh(session: &mut Session, share: &KeptShare) -> Result<KeptShare, Error> {
    let (me, shape) = (session.me(), share.shape());
    let bytes = bytes_of(shape.domain, shape.cols);
    share.plus(|number| {
        let draw = Draw { part: step::KEPT, op: u32::from(number & MACS) };
        let (mut zero, mut drawn) = (Buffer::new(bytes), Buffer::new(bytes));
        for party in session.others() {
            vector::fill(session.stream(party), draw, shape, &mut drawn);
            let combine = if me < party { vector::add_assign } else { vector::sub_assign };
            combine(shape, &mut zero, &drawn);
        }
        drawn.wipe();
        Ok(zero)
    })
}

/// Why nothing is kept where the key goes with the session.
const NO_KEY: &str =
    "the MACs of what is kept are under a key that ends with this run: run on supplies from a store";
