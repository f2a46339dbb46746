//! What lowering knows on its way through a program, and what all of it takes: nodes' types and domains, registers, views.

use std::collections::HashMap;
use std::sync::Arc;

use tacit_circuit::{Circuit, Given, Layered};

use super::fused::Rectified;
use super::numbers::bits::number::Number;
use super::scaling::{Scaling, scalings};
use crate::capabilities::Capabilities;
use crate::error::{Fault, ProgramError};
use crate::expand::Expanded;
use crate::node::NodeId;
use crate::plan::{self, Domain, Form, Layout, Local, Reg, Width};
use crate::program::Program;
use crate::types::{Dtype, Type};
use crate::width;

/// Bits of a register that hold what is repeated for matrix products on bits: 256 MiB in each component of a sharing.
const SLAB_BITS: usize = 1 << 31;

/// A secret node's elements: a walk over a register of one row.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) reg: Reg,
    pub(super) layout: Layout,
}

pub(super) struct Lowering<'a> {
    pub(super) program: &'a Program,
    /// What the program was made of, if that had sorts.
    pub(super) networks: Option<&'a Expanded>,
    pub(super) capabilities: Capabilities,
    /// Whether all secrets are revealed.
    pub(super) debug: bool,
    /// Whether inputs of which a number is outside its range are taken as the least numbers in it.
    pub(super) holds_ranges: bool,
    /// The node that is lowered, and what it can't be for.
    pub(super) at: NodeId,
    pub(super) fault: Option<Fault>,
    /// How products with public numbers and quotients come about.
    pub(super) scalings: HashMap<NodeId, Scaling>,
    /// Of each node's ring.
    pub(super) widths: Vec<Option<Width>>,
    pub(super) plan: plan::Builder,
    /// Of each secret node, once it is lowered; where numbers are bits, of bools alone.
    pub(super) views: Vec<Option<View>>,
    /// Where numbers are bits: those of each node, once they are in a register.
    pub(super) numbers: Vec<Option<Number>>,
    /// Bits to which operands of sums of products may be repeated at a time.
    pub(super) slab_bits: usize,
    /// What has to be there before the elements of others are brought into order: the slab before.
    pub(super) slab: Option<Reg>,
    /// Public inputs, by the registers that hold sharings of them.
    pub(super) known: HashMap<Reg, Reg>,
    /// Which nodes are read by something else than circuits, by number; empty until that is asked.
    pub(super) read_elsewhere: Vec<bool>,
    /// Bits that were turned into numbers.
    pub(super) injected: HashMap<(Reg, Domain), Reg>,
    /// Signs that were extracted.
    pub(super) signs: HashMap<Reg, Reg>,
    /// What is rectified and truncated at once.
    pub(super) rectified: Rectified,
    /// Bits that have to be 1, or the run ends without outputs; and the first node that has one.
    pub(super) inside: Vec<Reg>,
    pub(super) first_inside: Option<NodeId>,
    /// Nodes whose ranges are looked at beside the circuits that come next.
    pub(super) unseen: Vec<NodeId>,
    /// The deepest circuit since somebody asked: its depth and its result.
    pub(super) deepest: Option<(u32, Reg)>,
    /// Regions of arms.
    pub(super) regions: HashMap<u32, u32>,
    /// What puts masks of arms in their places, by the arm around and the condition.
    pub(super) swaps: HashMap<(u32, Reg), plan::Swap>,
    /// Conditions from outside of repeated bodies, in each that has a branch by them.
    pub(super) conditions: HashMap<(usize, Reg), Reg>,
    /// Circuits that were laid out, each with what was said of its inputs.
    pub(super) circuits: Vec<(Arc<Circuit>, Vec<Given>, Arc<Layered>)>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(program: &'a Program, capabilities: Capabilities) -> Self {
        let scalings = scalings(program, capabilities.numbers.field());
        Self {
            program,
            networks: None,
            capabilities,
            debug: false,
            holds_ranges: false,
            at: NodeId::new(0),
            fault: None,
            widths: width::infer(program, |id| scalings.get(&id).map(|scaling| scaling.width)),
            scalings,
            plan: plan::Builder::new(),
            views: vec![None; program.nodes().len()],
            numbers: vec![None; program.nodes().len()],
            slab_bits: SLAB_BITS,
            slab: None,
            known: HashMap::new(),
            read_elsewhere: Vec::new(),
            injected: HashMap::new(),
            signs: HashMap::new(),
            rectified: Rectified::default(),
            inside: Vec::new(),
            first_inside: None,
            unseen: Vec::new(),
            deepest: None,
            regions: HashMap::new(),
            swaps: HashMap::new(),
            conditions: HashMap::new(),
            circuits: Vec::new(),
        }
    }

    /// The next steps are those of a node.
    pub(super) fn begin(&mut self, id: NodeId) {
        self.at = id;
        self.plan.at_node(self.number_of(id));
    }

    /// A node's number in the program that was to be lowered.
    pub(super) fn number_of(&self, id: NodeId) -> u32 {
        self.networks.map_or(id.number(), |networks| networks.origin[id.index()])
    }

    /// Notes why the node can't be lowered; what steps it has then doesn't matter. `fault` is given its operation.
    pub(super) fn refuse(&mut self, fault: impl FnOnce(&'static str) -> Fault) {
        let operation = self.program.node(self.at).operation.name();
        self.fault.get_or_insert_with(|| fault(operation));
    }

    /// Refuses a node that needs what the protocol hasn't.
    pub(super) fn offered(&mut self) -> Result<(), ProgramError> {
        if let Some(feature) = self.plan.needs().missing_in(self.capabilities.features).next() {
            self.refuse(|operation| Fault::NotOffered { operation, missing: feature.description() });
        }
        match self.fault.take() {
            None => Ok(()),
            Some(fault) => {
                Err(ProgramError { at: self.program.source(self.at).clone(), fault: Box::new(fault) })
            }
        }
    }

    pub(super) fn ty(&self, id: NodeId) -> &'a Type {
        &self.program.node(id).ty
    }

    /// Where a node's elements live; a public one would be in the least ring that holds it.
    pub(super) fn domain(&self, id: NodeId) -> Domain {
        let ty = self.ty(id);
        match (ty.kind, self.capabilities.numbers.field()) {
            (Dtype::Modular(modulus), _) => modulus.domain(),
            (_, Some(field)) => field.domain(),
            (Dtype::Bool, None) => Domain::Bits,
            (_, None) => Domain::Ring(self.widths[id.index()].unwrap_or(ty.width())),
        }
    }

    /// How a node's elements stand in a register of [`Self::domain`].
    pub(super) fn form(&self, id: NodeId) -> Form {
        match (self.ty(id).kind, self.capabilities.numbers.field()) {
            (Dtype::Modular(_), _) | (_, None) => Form::Elements,
            (_, Some(_)) => Form::Signed,
        }
    }

    /// A new register of one row.
    pub(super) fn fresh(&mut self, domain: Domain, cols: usize) -> Reg {
        self.plan.row(domain, cols)
    }

    pub(super) fn view(&self, id: NodeId) -> &View {
        match &self.views[id.index()] {
            Some(view) => view,
            None => unreachable!("a secret operand is lowered before what is made of it"),
        }
    }

    /// A register that holds a secret node's elements in order and nothing else.
    pub(super) fn whole(&mut self, id: NodeId) -> Reg {
        let View { reg, layout } = self.view(id).clone();
        let whole = self.gathered(reg, layout);
        self.views[id.index()] = Some(View { reg: whole, layout: Layout::whole(&self.ty(id).shape) });
        whole
    }

    /// A register that holds what a walk over another meets; the same one if that is all of it in order.
    pub(super) fn gathered(&mut self, reg: Reg, layout: Layout) -> Reg {
        let from = self.plan.shape(reg);
        if layout.is_whole(from.cols) {
            return reg;
        }
        let dst = self.fresh_as(reg, from.domain, layout.len());
        if let Some(before) = self.slab {
            self.plan.after(dst, before);
        }
        self.plan.local(Local::Copy { a: reg, layout, at: 0, dst });
        dst
    }

    /// A register that holds what walks over others meet, one after another.
    pub(super) fn joined(&mut self, domain: Domain, parts: &[(Reg, Layout)]) -> Reg {
        let parts: Vec<&(Reg, Layout)> = parts.iter().filter(|(_, layout)| !layout.is_empty()).collect();
        if let [(reg, layout)] = parts[..] {
            return self.gathered(*reg, layout.clone());
        }
        let dst = self.fresh(domain, parts.iter().map(|(_, layout)| layout.len()).sum());
        let mut at = 0;
        for (reg, layout) in parts {
            self.plan.local(Local::Copy { a: *reg, layout: layout.clone(), at, dst });
            at += layout.len();
        }
        dst
    }

    /// A new register of one row, public if another is.
    pub(super) fn fresh_as(&mut self, like: Reg, domain: Domain, cols: usize) -> Reg {
        if self.plan.shape(like).public { self.plan.public(domain, cols) } else { self.fresh(domain, cols) }
    }

    /// The view of a node through another walk.
    pub(super) fn walk(&self, id: NodeId, change: impl FnOnce(&Layout) -> Layout) -> View {
        let View { reg, layout } = self.view(id);
        View { reg: *reg, layout: change(layout) }
    }

    pub(super) fn reshape(&mut self, id: NodeId, shape: &[usize]) -> View {
        let View { reg, layout } = self.view(id);
        match layout.reshape(shape) {
            Some(layout) => View { reg: *reg, layout },
            None => View { reg: self.whole(id), layout: Layout::whole(shape) },
        }
    }
}
