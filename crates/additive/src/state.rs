//! A party's state, and what all operations do with it.

use crate::arm_masks::ArmMasks;
use crate::bank::SecretBank;
use crate::demand::single;
use crate::macs::Macs;
use crate::preprocessing::Manner;
use crate::share::{FIRST, OwnMask, Share};
use crate::shared::Shared;
use crate::vectors::part_of;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;
use tacit_engine::bank::{Bank, Part};
use tacit_engine::supply::{Demand, Drawer, Supply, SupplyKind};
use tacit_engine::tile::Tiles;
use tacit_engine::{Error, Participants};
use tacit_kernel::Buffer;
use tacit_program::plan::{OutputOp, Plan, Reg, Register};
use tacit_session::{At, Session};

/// One party of any number. All shares and keys are wiped when they are dropped.
pub(crate) struct Party {
    pub(crate) manner: Manner,
    pub(crate) session: Session,
    pub(crate) plan: Arc<Plan>,
    pub(crate) participants: Participants,
    /// Its shares.
    pub(crate) bank: SecretBank,
    /// Their MACs, once it has its share of the key, if values are authenticated; gone with the first check that fails or has
    /// no verdict.
    pub(crate) macs: Option<Macs>,
    /// The circuits' tiles that are under way.
    pub(crate) tiles: Tiles,
    /// What it draws from: of its own, once it has made it, if it was given no other.
    pub(crate) supply: Option<Box<dyn Supply>>,
    /// Whether it was given one.
    pub(crate) is_supplied: bool,
    /// Masked operands that others are still to send their shares of, by the messages' address.
    pub(crate) openings: HashMap<At, Opening>,
    /// What the plan draws, once it is provided for.
    pub(crate) demand: Arc<Demand>,
    /// Triples that the arms of each branch share, by what draws its masks; none if arms share nothing.
    pub(crate) intervals: BTreeMap<u32, Range<u64>>,
    /// The masks of branches, by what drew them.
    pub(crate) arm_masks: HashMap<u32, ArmMasks>,
    /// Items of triples that the layers so far of circuits under way have used up, by operation. Of short rows alone it counts.
    pub(crate) items_used: BTreeMap<u32, u64>,
    /// Products of a bit with a vector that the layers so far of a circuit have used up, by kind.
    pub(crate) scalings_used: BTreeMap<SupplyKind, u64>,
    /// Messages of jobs in arms that exclude one another, as they are made and taken apart.
    pub(crate) shared: Shared,
    /// What hides the bits of inputs that have to be in ranges.
    pub(crate) bit_masks: BTreeMap<u32, BitMasks>,
    /// Inputs that are under way, where they go under masks.
    pub(crate) given: BTreeMap<u32, Given>,
    /// What owners of inputs told all, and isn't compared yet.
    pub(crate) told_inputs: Option<Sha256>,
    /// Outputs that are under way, or checked, where there are MACs.
    pub(crate) told: BTreeMap<u32, Told>,
    /// The coin for outputs, where a mistake has it tossed early.
    pub(crate) early_coin: Option<Vec<u8>>,
    /// Checks that the plan still asks for.
    pub(crate) checks: u64,
}

/// Masked operands of a product, as far as their shares have come, and this party's shares of the triple.
pub(crate) struct Opening {
    /// Of so many elements each; of bits in whole words.
    pub(crate) shape: Register,
    /// `d = x - a` and `e = y - b`; of their MACs this party's shares.
    pub(crate) masked: [Share; 2],
    pub(crate) triple: [Share; 3],
}

/// Random bits `r` that hide those of an input, and how its owner knows them: by a mask `a` of its own, for which all have
/// opened `d = r - a`.
pub(crate) struct BitMasks {
    /// `r`.
    pub(crate) masks: Share,
    /// `d`: of this party its share, until it is opened.
    pub(crate) opened: Share,
    /// The owner's `a`, if this is the owner.
    pub(crate) known: Option<OwnMask>,
    /// For a client: shares of `a` and of what proves it.
    pub(crate) triple: Vec<Share>,
}

/// An input that is under way.
pub(crate) struct Given {
    /// What hides it.
    pub(crate) mask: Share,
    /// What its owner tells, where this is the owner.
    pub(crate) told: Option<Buffer>,
}

/// An output that is under way, or was checked.
pub(crate) struct Told {
    /// What all open: this party's share.
    pub(crate) share: Share,
    /// The value, once it is opened and checked.
    pub(crate) opened: Option<Buffer>,
    /// The mask, if this is who learns it.
    pub(crate) mask: Option<OwnMask>,
    /// Shares of the mask of a client that learns it, and of what proves it.
    pub(crate) triple: Vec<Share>,
}

/// What a party gets of some items.
pub(crate) struct Drawn {
    /// Its shares of their parts.
    pub(crate) shares: Vec<Share>,
    /// The elements themselves, if they are a mask of this party's.
    pub(crate) known: Option<OwnMask>,
}

impl Party {
    pub(crate) fn new(manner: Manner, session: Session, plan: Arc<Plan>, participants: Participants) -> Self {
        let bank = SecretBank::new(plan.clone(), Part::Component(session.me() as u8));
        Self {
            manner,
            session,
            participants,
            bank,
            macs: None,
            tiles: Tiles::new(1),
            supply: None,
            is_supplied: false,
            openings: HashMap::new(),
            demand: Arc::default(),
            intervals: BTreeMap::new(),
            arm_masks: HashMap::new(),
            items_used: BTreeMap::new(),
            scalings_used: BTreeMap::new(),
            shared: Shared::default(),
            bit_masks: BTreeMap::new(),
            given: BTreeMap::new(),
            told_inputs: None,
            told: BTreeMap::new(),
            early_coin: None,
            checks: plan.checks(),
            plan,
        }
    }

    /// Whether this is the party that takes public values into its share.
    pub(crate) fn is_first(&self) -> bool {
        self.session.me() == FIRST
    }

    /// All other parties.
    pub(crate) fn others(&self) -> Vec<usize> {
        self.session.others().collect()
    }

    /// What this party gets of items of a kind.
    pub(crate) fn drawn(
        &mut self,
        drawer: Drawer,
        kind: SupplyKind,
        items: Range<u64>,
    ) -> Result<Drawn, Error> {
        let authenticated = self.manner.is_authenticated();
        let count = kind.part_bytes().len();
        if items.is_empty() {
            let nothing = || Share { value: Buffer::default(), mac: authenticated.then(Buffer::default) };
            return Ok(Drawn {
                shares: (0..count).map(|_| nothing()).collect(),
                known: Some(OwnMask::new(Buffer::default())),
            });
        }
        let mut values = self.supply.as_mut().ok_or_else(lost)?.draw(drawer, kind, items)?.into_iter();
        let shares: Vec<Buffer> = values.by_ref().take(count).collect();
        let macs: Vec<Buffer> =
            if authenticated { values.by_ref().take(count).collect() } else { Vec::new() };
        if shares.len() != count || authenticated && macs.len() != count {
            return Err(Error::Supply(format!("{kind} have {count} parts, and fewer came")));
        }
        let mut macs = macs.into_iter();
        let shares = shares.into_iter().map(|value| Share { value, mac: macs.next() }).collect();
        Ok(Drawn { shares, known: values.next().map(OwnMask::new) })
    }

    /// A register's share.
    ///
    /// # Errors
    /// [`Error::Supply`] if its MACs are gone.
    pub(crate) fn share(&self, reg: Reg) -> Result<Share, Error> {
        let mac = self.macs()?.map(|macs| macs.bank.get(reg).clone());
        Ok(Share { value: self.bank.get(reg).clone(), mac })
    }

    /// Some columns of a register of one row.
    pub(crate) fn part(&self, reg: Reg, cols: &Range<usize>) -> Result<Share, Error> {
        let part = |bank: &Bank| part_of(bank.shape(reg).domain, bank.get(reg), cols.start, cols.len());
        Ok(Share { value: part(&self.bank), mac: self.macs()?.map(|macs| part(&macs.bank)) })
    }

    /// Writes a register's share.
    pub(crate) fn put_share(&mut self, reg: Reg, share: Share) {
        let (value, mac) = share.into_parts();
        self.bank.put(reg, value);
        if let (Some(macs), Some(mac)) = (&mut self.macs, mac) {
            macs.bank.put(reg, mac);
        }
    }

    /// Writes some columns of a register of one row.
    pub(crate) fn put_part(&mut self, reg: Reg, cols: &Range<usize>, share: &Share) {
        put_part(&mut self.bank, reg, cols, &share.value);
        if let (Some(macs), Some(mac)) = (&mut self.macs, &share.mac) {
            put_part(&mut macs.bank, reg, cols, mac);
        }
    }

    /// Writes some columns of a public register.
    pub(crate) fn put_public(&mut self, reg: Reg, cols: &Range<usize>, opened: &Buffer) {
        put_part(&mut self.bank, reg, cols, opened);
        if let Some(macs) = &mut self.macs {
            put_part(&mut macs.bank, reg, cols, opened);
        }
    }

    /// Adds what all know to a share of a vector.
    pub(crate) fn add_public(&self, shape: Register, share: &mut Share, public: &Buffer) {
        if self.is_first() {
            tacit_engine::vector::add_assign(shape, &mut share.value, public);
        }
        if let (Some(macs), Some(mac)) = (&self.macs, &mut share.mac) {
            macs.add_public(shape, public, mac);
        }
    }

    /// Notes what was opened, with this party's share of its MAC, to be checked.
    pub(crate) fn record(&mut self, shape: Register, opened: Share) {
        if let Some(macs) = &mut self.macs {
            macs.record(shape, opened);
        }
    }

    /// Notes what the owner of an input told all, to be compared.
    pub(crate) fn note_told(&mut self, told: &Buffer) {
        let hash = self.told_inputs.get_or_insert_with(|| Sha256::new_with_prefix(b"tacit inputs 1"));
        hash.update((told.len() as u64).to_le_bytes());
        hash.update(told.bytes());
    }

    /// Compares what owners told all, and checks all that was recorded. If that fails, nothing is left of the keys.
    ///
    /// # Security
    /// A check that begins, in the journal of any party, has a verdict at all of them unless a *party* deviates, is lost or can't
    /// write. For whoever begins has every party's opening of the coin, and those leave a party that holds faults back: from then
    /// on nothing ends its check but what is awaited of parties.
    ///
    /// So a client that is lost, and a party that ends a run for it before the check or after, has no keys destroyed. A party
    /// that is lost within a check still has: then others may know a verdict that this one doesn't.
    pub(crate) fn check_macs(&mut self) -> Result<(), Error> {
        if let Some(told) = self.told_inputs.take() {
            // Before a check begins: a client that tells two parties different things must not have keys destroyed.
            self.session.agree(&told.finalize(), "masked inputs")?;
        }
        // Both come back with the verdict.
        let (macs, supply) = (self.macs.take(), self.supply.take());
        let (mut macs, supply) = (macs.ok_or_else(lost)?, supply.ok_or_else(lost)?);
        let turn = supply.checks().turn(&mut self.session)?;
        self.session.mesh().hold_faults();
        let early = self.early_coin.take();
        macs.check(&mut self.session, turn, early)?;
        (self.macs, self.supply) = (Some(macs), Some(supply));
        Ok(self.session.mesh().raise_faults()?)
    }

    /// Refuses to let a share of a result leave, or stay for other runs, while something that it may depend on isn't checked.
    ///
    /// # Errors
    /// [`Error::Supply`].
    pub(crate) fn is_checked(&self) -> Result<(), Error> {
        let is_told = self.told_inputs.is_some();
        if is_told || self.macs()?.is_some_and(Macs::has_unchecked) {
            return Err(Error::Supply("what was opened isn't checked yet".to_owned()));
        }
        Ok(())
    }

    /// The owner's endpoint, the register and its shape.
    pub(crate) fn input(&self, input: u32) -> (usize, Reg, Register) {
        let operation = &self.plan.inputs[input as usize];
        (self.participants.endpoint(operation.owner), operation.reg, self.plan.register(operation.reg))
    }

    /// An output with its shape.
    pub(crate) fn output(&self, output: u32) -> (OutputOp, Register) {
        let operation = self.plan.outputs[output as usize].clone();
        let shape = self.plan.register(operation.reg);
        (operation, shape)
    }

    /// Who alone learns an output.
    pub(crate) fn single(&self, output: &OutputOp) -> Option<usize> {
        single(&self.participants, output)
    }

    /// The MACs, if values are authenticated.
    fn macs(&self) -> Result<Option<&Macs>, Error> {
        match &self.macs {
            None if self.manner.is_authenticated() => Err(lost()),
            macs => Ok(macs.as_ref()),
        }
    }
}

fn put_part(bank: &mut Bank, reg: Reg, cols: &Range<usize>, part: &Buffer) {
    let start = tacit_engine::bytes_of(bank.shape(reg).domain, cols.start);
    bank.make(reg).bytes_mut()[start..start + part.len()].copy_from_slice(part.bytes());
}

/// After a check that failed or has no verdict, and before there is a supply.
pub(crate) fn lost() -> Error {
    Error::Supply("there are no keys of MACs, or they are gone with a check".to_owned())
}
