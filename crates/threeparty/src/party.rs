//! A party's two components of every register, and what they are computed with.

use crate::matrices::RightMatrices;
use crate::scheme::{PARTIES, Scheme, next, other_holder, prev};
use std::sync::Arc;
use tacit_engine::bank::{Bank, Part, words_of};
use tacit_engine::tile::Tiles;
use tacit_engine::{Clear, Error, KeptShare, Participants};
use tacit_kernel::{Element, Word, bits, ring, transpose};
use tacit_program::plan::{Domain, Plan, Reg, Register, Rows, To, Width};
use tacit_session::Session;

/// One party of three.
pub struct Party {
    /// Its links and keys.
    pub session: Session,
    /// What is run.
    pub plan: Arc<Plan>,
    /// Who gives inputs and receives outputs.
    pub participants: Participants,
    /// Who has which number.
    pub scheme: Scheme,
    /// `i` of the party that holds `x_i` and `x_(i-1)`.
    pub number: usize,
    /// Components `x_i`.
    pub own: Bank,
    /// Components `x_(i-1)`.
    pub prev: Bank,
    /// The right matrices of the product that is being computed.
    pub right: RightMatrices,
    /// The circuits' tiles that are under way.
    pub tiles: Tiles,
}

impl Party {
    /// Takes all memory that the plan needs.
    ///
    /// # Errors
    /// [`Error::Refused`] in a deployment of another number of parties.
    pub fn new(
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
        scheme: Scheme,
    ) -> Result<Self, Error> {
        debug_assert!(scheme.is_sound(), "{scheme:?}");
        let number = scheme.number(session.me()).filter(|_| session.parties() == PARTIES);
        let number = number.ok_or_else(|| {
            let (family, parties) = (scheme.family, session.parties());
            Error::Refused(format!("{family} is for three parties; this deployment has {parties}"))
        })?;
        // A bank's component 0 takes the public values.
        let bank = |component: usize| {
            let part = Part::Component(((component + PARTIES - scheme.public) % PARTIES) as u8);
            let mut bank = Bank::new(plan.clone(), part);
            bank.reserve();
            bank
        };
        let (own, prev) = (bank(number), bank(prev(number)));
        let (right, tiles) = (RightMatrices::default(), Tiles::new(2));
        Ok(Self { session, plan, participants, scheme, number, own, prev, right, tiles })
    }

    /// The bank of a component that this party holds.
    #[inline]
    pub fn component(&self, component: usize) -> &Bank {
        if component == self.number { &self.own } else { &self.prev }
    }

    /// The same, to write to.
    #[inline]
    pub fn component_mut(&mut self, component: usize) -> &mut Bank {
        if component == self.number { &mut self.own } else { &mut self.prev }
    }

    /// Whether this party holds a component.
    pub const fn holds(&self, component: usize) -> bool {
        component == self.number || component == prev(self.number)
    }

    /// The components that this party holds: its own and the one before.
    pub const fn held(&self) -> [usize; 2] {
        [self.number, prev(self.number)]
    }

    /// The component that this party lacks.
    pub const fn lacked(&self) -> usize {
        next(self.number)
    }

    /// A register's domain.
    pub fn domain(&self, reg: Reg) -> Domain {
        self.plan.register(reg).domain
    }

    /// The width of a register's ring of words.
    pub fn width(&self, reg: Reg) -> Width {
        match self.domain(reg) {
            Domain::Ring(width) => width,
            Domain::Bits | Domain::Modular(_) => unreachable!("lowering gives conversions rings of words"),
        }
    }

    /// An input's owner, as an endpoint, and its register and shape.
    pub fn input(&self, input: u32) -> (usize, Reg, Register) {
        let operation = &self.plan.inputs[input as usize];
        (self.participants.endpoint(operation.owner), operation.reg, self.plan.register(operation.reg))
    }

    /// The values of an input of this party's own.
    ///
    /// # Errors
    /// [`Error::Refused`] if there are none, or others than the plan says.
    pub fn own_values<'a>(&self, input: u32, values: Option<&'a Clear>) -> Result<&'a Clear, Error> {
        let values = values.ok_or_else(|| Error::Refused(format!("no values for input {input}")))?;
        let (.., shape) = self.input(input);
        if (values.domain(), values.cols()) != (shape.domain, shape.cols) {
            return Err(Error::Refused(format!("input {input} has another shape than the plan's")));
        }
        Ok(values)
    }

    /// Whether the last input is this one.
    pub fn is_last_input(&self, input: u32) -> bool {
        input as usize + 1 == self.plan.inputs.len()
    }

    /// An output's register, shape and who learns it.
    pub fn output(&self, output: u32) -> (Reg, Register, To) {
        let operation = &self.plan.outputs[output as usize];
        (operation.reg, self.plan.register(operation.reg), operation.to)
    }

    /// This party's components of what is kept, by their numbers.
    pub fn keep(&self, keep: u32) -> KeptShare {
        let reg = self.plan.keeps[keep as usize].reg;
        let held = self.held().map(|component| {
            let other = self.scheme.parties[other_holder(component, self.number)];
            (component as u8, Some(other), self.component(component).get(reg))
        });
        KeptShare::new(self.plan.register(reg), None, held)
    }

    /// Takes what all parties hold.
    pub fn public_input(&mut self, input: u32, values: &Clear) {
        let reg = self.plan.public_inputs[input as usize].reg;
        for component in self.held() {
            self.component_mut(component).write_public(reg, values);
        }
    }

    /// Takes this party's components of what was kept, into the memory that the bank has for them.
    ///
    /// # Errors
    /// [`Error::Refused`] if they are another's, or of something else.
    pub fn load_kept(&mut self, kept: u32, share: &KeptShare) -> Result<(), Error> {
        let reg = self.plan.kept[kept as usize].reg;
        let shape = self.plan.register(reg);
        for component in self.held() {
            share.read(component as u8, shape, self.component_mut(component).make(reg))?;
        }
        Ok(())
    }

    /// The sum of this party's components of columns of numbers.
    pub fn sum_of<E: Element>(&self, a: Reg, cols: std::ops::Range<usize>) -> Vec<E> {
        let mut sum = vec![E::ZERO; cols.len()];
        let [own, prev] = [&self.own, &self.prev].map(|bank| &bank.get(a).words::<E>()[cols.clone()]);
        ring::add(own, prev, &mut sum);
        sum
    }

    /// The XOR of some components of columns of one row, as words.
    pub fn bits_of<W: Word>(
        &self,
        rows: Rows,
        cols: &std::ops::Range<usize>,
        components: &[usize],
    ) -> Vec<W> {
        let words = words_of(cols, self.plan.register(rows.reg).cols);
        let mut packed = vec![0; words.len()];
        for &component in components {
            bits::xor_assign(&mut packed, &self.component(component).row(rows, 0)[words.clone()]);
        }
        let mut out = vec![W::ZERO; cols.len()];
        transpose::bit_to_words::<W>(&packed, &mut out);
        out
    }

    /// Forgets a register.
    pub fn free(&mut self, reg: Reg) {
        self.own.free(reg);
        self.prev.free(reg);
    }

    /// Goes on to another plan in the same session, with the same memory.
    pub fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        self.session.next_plan(self.plan.addresses(), plan.addresses())?;
        self.own.next(plan.clone());
        self.prev.next(plan.clone());
        (self.plan, self.participants) = (plan, participants);
        Ok(())
    }
}
