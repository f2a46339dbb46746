//! Bodies that are repeated: each is a section of the plan, and so its steps are written once.
//!
//! Every state has a register of its own. It is written before the section, and between two turns with what the turn made.
//! A body of one step is no section: what a state or a result takes over is where it was.

use std::ops::Range;

use super::lowering::{Lowering, View};
use super::numbers::bits::number::Number;
use super::term::Term;
use crate::error::{Fault, ProgramError};
use crate::loops::{Loop, Visit};
use crate::node::{Node, NodeId};
use crate::operations::Operation;
use crate::plan::{Layout, Local, Reg};
use crate::types::Dtype;
use crate::width::Format;

/// Operations of a plan, each counted as often as it is computed. Material that is made ahead of time has a place for each.
const MAX_OPERATIONS: u64 = 1 << 24;

/// Where a node's elements are; and their format if they are bits, which are one more axis then.
pub(super) struct Place {
    pub(super) reg: Reg,
    pub(super) layout: Layout,
    pub(super) format: Option<Format>,
}

impl Lowering<'_> {
    /// Lowers nodes one after another, and a body among them when its turn comes. `own` is the body that they are of.
    pub(super) fn nodes(&mut self, nodes: Range<usize>, own: Option<&Loop>) -> Result<(), ProgramError> {
        let program = self.program;
        let mut place = nodes.start;
        while place < nodes.end {
            if let Some(inner) = program.loop_from(place).filter(|inner| Some(*inner) != own) {
                if inner.times > 1 {
                    self.section(inner)?;
                } else {
                    self.nodes(inner.body.clone(), Some(inner))?;
                }
                place = inner.body.end;
            }
            let id = NodeId::new(place as u32);
            if program.node(id).ty.secret && !self.rectified.leaves_out(id) {
                self.begin(id);
                self.enter_arm_of(id);
                self.secret(id, own.is_some_and(|own| own.times > 1));
                self.offered()?;
                self.look_beside_circuits();
                self.offered()?;
            }
            place += 1;
        }
        Ok(())
    }

    /// One secret node; where it is one of a section, states and steps have their registers.
    fn secret(&mut self, id: NodeId, in_section: bool) {
        let node = self.program.node(id);
        if self.is_watched(id) {
            self.watch(id);
        }
        if in_section && matches!(node.operation, Operation::State { .. } | Operation::Step) {
            return;
        }
        if node.operation == Operation::ShuffleToo && !self.debug {
            // It was shuffled with the first one.
        } else if node.operation == Operation::SortToo {
            // Likewise.
        } else if node.operation == Operation::Sort {
            self.sort(id, node.operands[0]);
        } else if node.operation == Operation::Shuffle {
            self.shuffle(id, node.operands[0]);
        } else if node.operation == Operation::Step {
            let Place { reg, layout, format } = self.place(id, node.operands[0]);
            self.put(id, Place { reg, layout: layout.first(), format });
        } else if let Some(from) =
            self.program.taken(Visit { node: id, step: 0 }).filter(|_| !self.hides(node))
        {
            self.take(id, from);
        } else if self.is_binary(node) {
            self.binary(id, node);
        } else {
            let view = self.node(id, node);
            self.views[id.index()] = Some(view);
        }
    }

    /// Whether what a node assumes is what masks rest on that hide numbers.
    fn hides(&self, node: &Node) -> bool {
        matches!(node.operation, Operation::Assume { .. }) && self.capabilities.numbers.field().is_some()
    }

    /// A body of several steps.
    fn section(&mut self, body: &Loop) -> Result<(), ProgramError> {
        let mut states = Vec::with_capacity(body.carry.len());
        for &(state, _) in &body.carry {
            self.begin(state);
            let initial = self.formed(state, self.program.node(state).operands[0]);
            let reg = self.fresh(self.plan.shape(initial.reg).domain, initial.layout.len());
            self.plan.local(Local::Copy { a: initial.reg, layout: initial.layout, at: 0, dst: reg });
            states.push(reg);
            self.put_whole(state, reg, initial.format);
        }
        let steps = self.program.steps(body);
        let over: Vec<Place> =
            steps.iter().map(|&step| self.place(step, self.program.node(step).operands[0])).collect();
        let (inside, before) = self.begin_watching(body);
        self.plan.begin_section();
        for (&step, Place { reg, layout, format }) in steps.iter().zip(over) {
            let (first, stride) = (layout.first(), layout.strides[0]);
            let dst = self.fresh(self.plan.shape(reg).domain, first.len());
            self.plan.slice(Local::Copy { a: reg, layout: first, at: 0, dst }, stride);
            self.put_whole(step, dst, format);
        }
        self.nodes(body.body.clone(), Some(body))?;
        let mut carry: Vec<Local> = self.end_watching(inside, before).into_iter().collect();
        for (&(state, result), &dst) in body.carry.iter().zip(&states) {
            self.begin(result);
            let Place { reg: mut a, mut layout, .. } = self.formed(state, result);
            if states.contains(&a) {
                // All states change at once.
                let before = a;
                a = self.fresh(self.plan.shape(before).domain, layout.len());
                let whole = Layout::whole(&[layout.len()]);
                self.plan.local(Local::Copy { a: before, layout, at: 0, dst: a });
                layout = whole;
            }
            carry.push(Local::Copy { a, layout, at: 0, dst });
            self.offered()?;
        }
        self.plan.end_section(body.times, carry);
        if self.plan.operations() > MAX_OPERATIONS {
            self.refuse(|_| Fault::TooMany {
                what: "messages' addresses in all steps",
                limit: MAX_OPERATIONS as usize,
            });
        }
        self.offered()
    }

    /// Where the elements of `from` are, in the domain of `id`.
    pub(super) fn place(&mut self, id: NodeId, from: NodeId) -> Place {
        let own = self.ty(from);
        if self.capabilities.numbers.are_bits() && own.kind != Dtype::Bool {
            let number = self.number(from);
            return Place { format: Some(number.format()), reg: number.reg, layout: number.layout };
        }
        let View { reg, layout } = if own.secret { self.view(from).clone() } else { self.share(id, from) };
        Place { reg, layout, format: None }
    }

    /// Where the elements of `from` are, in the form of a state.
    fn formed(&mut self, state: NodeId, from: NodeId) -> Place {
        let place = self.place(state, from);
        let Some(format) = place.format else { return place };
        let signed = format.signed;
        let wanted = Format::of(self.ty(state));
        let number = self.formatted(&Number { reg: place.reg, layout: place.layout, signed }, wanted);
        Place { reg: number.reg, layout: number.layout, format: Some(wanted) }
    }

    /// Says where the elements of a node are.
    fn put(&mut self, id: NodeId, Place { reg, layout, format }: Place) {
        match format {
            Some(Format { signed, .. }) => self.numbers[id.index()] = Some(Number { reg, layout, signed }),
            None => self.views[id.index()] = Some(View { reg, layout }),
        }
    }

    /// Says that the elements of a node are those of a register.
    pub(super) fn put_whole(&mut self, id: NodeId, reg: Reg, format: Option<Format>) {
        let bits = format.map(|format| format.bits);
        let axes: Vec<usize> = self.ty(id).shape.iter().copied().chain(bits).collect();
        self.put(id, Place { reg, layout: Layout::whole(&axes), format });
    }

    /// A node that is another one as it is.
    pub(super) fn take(&mut self, id: NodeId, from: NodeId) {
        let ty = self.ty(id);
        let mut place = self.place(id, from);
        if let Some(format) = place.format
            && format.bits > Format::of(ty).bits
        {
            place = self.formed(id, from);
        }
        self.put(id, place);
    }

    /// A sharing of public elements.
    fn share(&mut self, id: NodeId, from: NodeId) -> View {
        let (domain, walk) = (self.domain(id), Layout::whole(&self.ty(from).shape));
        let reg = self.register(&Term::vector(self.public_raw(from, &walk, domain), domain));
        View { reg, layout: walk }
    }
}
