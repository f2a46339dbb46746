//! A program with branches as one circuit, in which all wires of inactive arms are zero ([`tacit_circuit::motif`]), for protocols
//! that are asked for it. A comparison with the literature: so programs of bools alone, whose circuit has every element's bits.

use std::sync::Arc;

use super::lowering::{Lowering, View};
use crate::branches::Arm;
use crate::capabilities::Feature;
use crate::error::{Fault, ProgramError};
use crate::node::{Node, NodeId};
use crate::operations::Operation;
use crate::plan::{Domain, Layout, OpKind, Operand};
use crate::types::Dtype;
use tacit_circuit::Layered;
use tacit_circuit::motif::{Bit, Motif, WHOLE};

/// Wires that a program's circuit may have, and bits of its nodes.
const MAX_WIRES: usize = 1 << 24;

/// Wires that a gate may make: what it reads enters arms inside one another, both of each at once.
fn most_wires(node: &Node, depth: usize) -> usize {
    let gates = match &node.operation {
        Operation::Circuit(circuit) => {
            let instances = node.ty.len() / circuit.output_bits().max(1);
            instances.saturating_mul(circuit.gates().len())
        }
        _ => node.ty.len(),
    };
    gates.saturating_mul(6 * (1 + depth))
}

impl Lowering<'_> {
    /// Whether the program's arms are zeroed.
    pub(super) fn zeroes_arms(&self) -> bool {
        let has_arms = !self.program.branches.arms.is_empty();
        !self.debug && has_arms && self.capabilities.offers(Feature::ZeroedArms)
    }

    /// All of the program. What is revealed or kept is where the circuit's output has it.
    pub(super) fn zeroed(&mut self) -> Result<(), ProgramError> {
        self.plan.need(Feature::ZeroedArms);
        let program = self.program;
        let mut bits = Bits { motif: Motif::new(), of_node: Vec::new(), regions: vec![WHOLE] };
        let (mut inputs, mut held) = (Vec::new(), 0_usize);
        for (place, node) in program.nodes().iter().enumerate() {
            let id = NodeId::new(place as u32);
            self.begin(id);
            if node.ty.kind != Dtype::Bool {
                self.refuse(|operation| Fault::NotOffered {
                    operation,
                    missing: "numbers where arms are zeros",
                });
            }
            self.offered()?;
            // Arms stand before what is in them.
            while let Some(&arm) =
                program.branches.arm(bits.regions.len() as u32).filter(|arm| arm.condition < id)
            {
                let region = bits.region(arm);
                bits.regions.push(region);
            }
            let depth = program.branches.depth(program.branches.of_node[place]);
            // Bits in other places make no wires.
            held = held.saturating_add(node.ty.len());
            if held.saturating_add(bits.motif.wires()).saturating_add(most_wires(node, depth)) > MAX_WIRES {
                self.refuse(|_| Fault::TooMany {
                    what: "wires of a circuit with branches",
                    limit: MAX_WIRES,
                });
                return self.offered();
            }
            let made = match &node.operation {
                Operation::Input { .. } | Operation::Kept { .. } => {
                    let view = self.node(id, node);
                    inputs.push(Operand::Each(view.reg));
                    self.views[place] = Some(view);
                    Some(bits.motif.input(node.ty.len()))
                }
                _ => bits.node(
                    node,
                    program.branches.of_node[place],
                    |id| {
                        let number = program.branches.of_node[id.index()];
                        program.branches.arm(number).map(|arm| (number, arm))
                    },
                    |id| &program.node(id).ty.shape[..],
                ),
            };
            let Some(made) = made else {
                self.refuse(|operation| Fault::NotOffered {
                    operation,
                    missing: "this where arms are zeros",
                });
                return self.offered();
            };
            bits.of_node.push(made);
        }
        let mut outputs: Vec<NodeId> = program.outputs().iter().map(|output| output.node).collect();
        outputs.extend(program.keeps().iter().map(|keep| keep.node));
        outputs.retain(|&id| {
            let is_input =
                matches!(program.node(id).operation, Operation::Input { .. } | Operation::Kept { .. });
            program.node(id).ty.secret && !is_input
        });
        let all: Vec<Bit> = outputs.iter().flat_map(|id| &bits.of_node[id.index()]).copied().collect();
        let dst = self.fresh(Domain::Bits, all.len());
        let mut offset = 0;
        for id in outputs {
            let layout = Layout::whole(&self.ty(id).shape);
            let len = layout.len();
            self.views[id.index()] = Some(View { reg: dst, layout: Layout { offset, ..layout } });
            offset += len;
        }
        if offset > 0 {
            let circuit = Arc::new(Layered::early(&bits.motif.finish(&all)));
            self.plan.interact(OpKind::Circuit { circuit, inputs, dst });
        }
        self.offered()
    }
}

/// The bits of a program's nodes.
struct Bits {
    motif: Motif,
    of_node: Vec<Vec<Bit>>,
    /// Those of the program's arms.
    regions: Vec<u32>,
}

impl Bits {
    /// An arm's region.
    fn region(&mut self, arm: Arm) -> u32 {
        let condition = self.of_node[arm.condition.index()][0];
        self.motif.arm(self.regions[arm.parent as usize], condition, arm.set)
    }

    /// A node's bits, in its arm; `None` of an operation that there isn't.
    fn node<'a>(
        &mut self,
        node: &'a Node,
        arm: u32,
        arm_of: impl Fn(NodeId) -> Option<(u32, &'a Arm)>,
        shape_of: impl Fn(NodeId) -> &'a [usize],
    ) -> Option<Vec<Bit>> {
        let region = self.regions[arm as usize];
        let (operation, shape) = (&node.operation, &node.ty.shape);
        // An operand's bits, one for each element of the result.
        let walked = |this: &Self, operand: usize, walk: &Layout| -> Vec<Bit> {
            let own = &this.of_node[node.operands[operand].index()];
            walk.places().map(|place| own[place]).collect()
        };
        let whole = |operand: usize| Layout::whole(shape_of(node.operands[operand]));
        let each = |this: &Self, operand: usize| walked(this, operand, &whole(operand).broadcast(shape));
        let motif = |this: &mut Self, f: &dyn Fn(&mut Motif, Bit, Bit) -> Bit| {
            let (a, b) = (each(this, 0), each(this, 1));
            a.into_iter().zip(b).map(|(a, b)| f(&mut this.motif, a, b)).collect::<Vec<Bit>>()
        };
        Some(match operation {
            Operation::Constant(raw) => raw.iter().map(|&bit| self.motif.constant(bit == 1)).collect(),
            Operation::And => motif(self, &|motif, a, b| motif.and(region, a, b)),
            Operation::Xor => motif(self, &|motif, a, b| motif.xor(region, a, b)),
            Operation::Or => motif(self, &|motif, a, b| {
                let (both, sum) = (motif.and(region, a, b), motif.xor(region, a, b));
                motif.xor(region, sum, both)
            }),
            Operation::Equal => motif(self, &|motif, a, b| {
                let sum = motif.xor(region, a, b);
                motif.not(region, sum)
            }),
            Operation::Not => each(self, 0).into_iter().map(|bit| self.motif.not(region, bit)).collect(),
            Operation::Within { .. } => {
                each(self, 1).into_iter().map(|bit| self.motif.enter(region, bit)).collect()
            }
            Operation::Where => {
                self.choice(node, region, arm_of, [0, 1, 2].map(|operand| each(self, operand)))
            }
            Operation::Reshape { .. } => self.of_node[node.operands[0].index()].clone(),
            Operation::Transpose { .. }
            | Operation::Slice { .. }
            | Operation::BroadcastTo { .. }
            | Operation::Windows { .. } => walked(self, 0, &operation.entry().walk(&whole(0))),
            Operation::Concatenate { axis } => {
                let run =
                    |operand: usize| shape_of(node.operands[operand])[*axis..].iter().product::<usize>();
                let turns: usize = shape[..*axis].iter().product();
                let part = |(turn, operand): (usize, usize)| {
                    let own = &self.of_node[node.operands[operand].index()];
                    own[turn * run(operand)..(turn + 1) * run(operand)].to_vec()
                };
                let parts =
                    (0..turns).flat_map(|turn| (0..node.operands.len()).map(move |operand| (turn, operand)));
                parts.flat_map(part).collect()
            }
            Operation::Circuit(circuit) => {
                let batch = &shape[..shape.len() - 1];
                let instances: usize = batch.iter().product();
                let inputs: Vec<Vec<Bit>> = (0..node.operands.len())
                    .map(|operand| {
                        let width = circuit.inputs()[operand] as usize;
                        walked(self, operand, &whole(operand).broadcast(&[batch, &[width]].concat()))
                    })
                    .collect();
                let mut made = Vec::new();
                for instance in 0..instances {
                    let own = |input: &Vec<Bit>| {
                        let width = input.len() / instances;
                        input[instance * width..(instance + 1) * width].to_vec()
                    };
                    let own: Vec<Bit> = inputs.iter().flat_map(own).collect();
                    made.extend(self.motif.circuit(region, circuit, &own));
                }
                made
            }
            _ => return None,
        })
    }

    /// One of two by a condition; of arms by the same condition the sum of both, which are zeros where they aren't taken.
    fn choice<'a>(
        &mut self,
        node: &Node,
        region: u32,
        arm_of: impl Fn(NodeId) -> Option<(u32, &'a Arm)>,
        [conditions, set, not]: [Vec<Bit>; 3],
    ) -> Vec<Bit> {
        // The region that a result comes out of, if it does.
        let leaves = |operand: usize, set: bool| {
            let (number, arm) = arm_of(node.operands[operand])?;
            ((arm.condition, arm.set) == (node.operands[0], set)).then(|| self.regions[number as usize])
        };
        let leaving = [leaves(1, true), leaves(2, false)];
        let mut made = Vec::with_capacity(set.len());
        for ((condition, set), not) in conditions.into_iter().zip(set).zip(not) {
            let motif = &mut self.motif;
            let bit = if leaving == [None; 2] {
                let [set, not] = [set, not].map(|bit| motif.enter(region, bit));
                let sum = motif.xor(region, set, not);
                let sum = motif.and(region, condition, sum);
                motif.xor(region, not, sum)
            } else {
                let [set, not] =
                    [(set, leaving[0], true), (not, leaving[1], false)].map(|(bit, leaves, set)| {
                        let arm = leaves.unwrap_or_else(|| motif.arm(region, condition, set));
                        let bit = motif.enter(arm, bit);
                        motif.leave(bit)
                    });
                motif.xor(region, set, not)
            };
            made.push(bit);
        }
        made
    }
}
