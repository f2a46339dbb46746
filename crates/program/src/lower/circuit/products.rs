//! A circuit where bools are elements of a field, 0 and 1: an AND is a product, and so is an XOR, `u + v - 2 u v`.
//!
//! All gates at a depth, over ANDs and XORs, are one product of vectors, for all instances. Complements cost nothing:
//! that of an XOR's operand is the XOR's, and an AND's operand is `1 - u`. This is dear: circuits of more gates than
//! [`GATES`] are refused.

use crate::error::Fault;
use crate::lower::Lowering;
use crate::lower::term::Term;
use crate::plan::{Domain, Layout, Reg};
use crate::program::NodeId;
use crate::types::Type;
use std::sync::Arc;
use tacit_circuit::{Circuit, Gate};

/// ANDs and XORs of a circuit, at most: two operands of each are copied by a step of the plan.
const GATES: usize = 1 << 14;

/// A wire's bits, in all instances.
#[derive(Clone, Copy)]
enum Bits {
    /// Known when the plan is made.
    Known(bool),
    /// In a register, or their complements.
    Secret { from: Source, complement: bool },
}

/// Elements of a register, one for each instance.
#[derive(Clone, Copy)]
struct Source {
    reg: Reg,
    offset: usize,
    stride: usize,
}

/// A gate whose result isn't known before its product is.
struct Waiting {
    wire: usize,
    is_xor: bool,
    operands: [(Source, bool); 2],
}

impl Lowering<'_> {
    /// The register of all outputs of a circuit, instance after instance.
    pub(super) fn circuit_by_products(
        &mut self,
        circuit: &Arc<Circuit>,
        operands: &[NodeId],
        ty: &Type,
    ) -> Reg {
        let domain = self.domain(operands[0]);
        let count =
            circuit.gates().iter().filter(|gate| matches!(gate, Gate::And(..) | Gate::Xor(..))).count();
        if count > GATES {
            let missing = "circuits of so many gates; it has a field alone, where each gate is a product";
            self.refuse(|operation| Fault::NotOffered { operation, missing });
            return self.fresh(domain, ty.len());
        }
        let batch = &ty.shape[..ty.rank() - 1];
        let instances = batch.iter().product();
        let mut wires = Vec::with_capacity(circuit.wires());
        for (&id, &width) in operands.iter().zip(circuit.inputs()) {
            let width = width as usize;
            let all = self.term(id, &[batch, &[width]].concat(), domain);
            let reg = self.register(&all);
            wires.extend((0..width).map(|offset| Bits::Secret {
                from: Source { reg, offset, stride: width },
                complement: false,
            }));
        }
        let depths = depths(circuit);
        let deepest = depths.iter().copied().max().unwrap_or(0);
        wires.resize(circuit.wires(), Bits::Known(false));
        for depth in 0..=deepest {
            let first = circuit.input_bits();
            let gates = circuit.gates().iter().enumerate();
            let here = gates.filter(|(gate, _)| depths[first + gate] == depth);
            let mut waiting = Vec::new();
            let mut complements = Vec::new();
            for (place, gate) in here {
                if let Gate::Not(_) = gate {
                    complements.push((first + place, *gate));
                } else {
                    match folded(*gate, &wires) {
                        Ok(bits) => wires[first + place] = bits,
                        Err((is_xor, operands)) => {
                            waiting.push(Waiting { wire: first + place, is_xor, operands });
                        }
                    }
                }
            }
            self.multiply(domain, instances, &mut waiting, &mut wires);
            for (wire, gate) in complements {
                if let Ok(bits) = folded(gate, &wires) {
                    wires[wire] = bits;
                }
            }
        }
        let outputs: Vec<Bits> =
            circuit.outputs().iter().flatten().map(|&wire| wires[wire as usize]).collect();
        self.interleaved(domain, instances, &outputs)
    }

    /// All gates of one depth, as one product.
    fn multiply(&mut self, domain: Domain, instances: usize, waiting: &mut [Waiting], wires: &mut [Bits]) {
        if waiting.is_empty() {
            return;
        }
        waiting.sort_by_key(|gate| gate.is_xor);
        let ands = waiting.iter().filter(|gate| !gate.is_xor).count();
        let [left, right] = [0, 1].map(|side| {
            // An XOR's complements are its result's.
            let operand = |gate: &Waiting| {
                let (source, complement) = gate.operands[side];
                (source, complement && !gate.is_xor)
            };
            let sources: Vec<(Source, bool)> = waiting.iter().map(operand).collect();
            self.lined_up(domain, instances, &sources)
        });
        let product = self.mul(&Term::Secret(left), &Term::Secret(right));
        let run = |from: usize, to: usize| Layout {
            offset: from * instances,
            shape: vec![(to - from) * instances],
            strides: vec![1],
        };
        let product = self.register(&product);
        let exclusive = (ands < waiting.len()).then(|| {
            let part = run(ands, waiting.len());
            let [u, v, both] =
                [left, right, product].map(|reg| Term::Secret(self.gathered(reg, part.clone())));
            let minus_two = Term::integer(-2, domain, self.len_of(&both));
            let (sum, twice) = (self.add(&u, &v), self.mul(&both, &minus_two));
            let exclusive = self.add(&sum, &twice);
            self.register(&exclusive)
        });
        for (place, gate) in waiting.iter().enumerate() {
            let (reg, row) = match exclusive {
                Some(exclusive) if gate.is_xor => (exclusive, place - ands),
                _ => (product, place),
            };
            let complement = gate.is_xor && gate.operands[0].1 != gate.operands[1].1;
            let from = Source { reg, offset: row * instances, stride: 1 };
            wires[gate.wire] = Bits::Secret { from, complement };
        }
    }

    /// Wires one after another, complements of those that are marked.
    fn lined_up(&mut self, domain: Domain, instances: usize, sources: &[(Source, bool)]) -> Reg {
        let walk = |source: &Source| Layout {
            offset: source.offset,
            shape: vec![instances],
            strides: vec![source.stride as isize],
        };
        let parts: Vec<(Reg, Layout)> =
            sources.iter().map(|(source, _)| (source.reg, walk(source))).collect();
        let lined_up = self.joined(domain, &parts);
        if sources.iter().all(|(_, complement)| !complement) {
            return lined_up;
        }
        // 1 - u = (-1) u + 1.
        let minus_one = domain.modulus().last();
        let vector = |of: [u128; 2]| {
            let rows = sources.iter().map(|(_, complement)| of[usize::from(*complement)]);
            Term::vector(rows.flat_map(|word| std::iter::repeat_n(word, instances)).collect(), domain)
        };
        let signed = self.mul(&Term::Secret(lined_up), &vector([1, minus_one]));
        let result = self.add(&signed, &vector([0, 1]));
        self.register(&result)
    }

    /// The bits of all outputs, instance after instance.
    fn interleaved(&mut self, domain: Domain, instances: usize, outputs: &[Bits]) -> Reg {
        let mut constants = [None; 2];
        let mut sources = Vec::with_capacity(outputs.len());
        for bits in outputs {
            sources.push(match *bits {
                Bits::Secret { from, complement } => (from, complement),
                Bits::Known(bit) => {
                    let reg = *constants[usize::from(bit)]
                        .get_or_insert_with(|| self.register(&Term::splat(bit.into(), domain, 1)));
                    (Source { reg, offset: 0, stride: 0 }, false)
                }
            });
        }
        let rows = self.lined_up(domain, instances, &sources);
        let turned =
            Layout { offset: 0, shape: vec![instances, outputs.len()], strides: vec![1, instances as isize] };
        self.gathered(rows, turned)
    }
}

/// For each wire the number of ANDs and XORs on the longest way to it.
fn depths(circuit: &Circuit) -> Vec<usize> {
    let mut depths = vec![0; circuit.input_bits()];
    for gate in circuit.gates() {
        let below = gate.operands().map(|wire| depths[wire as usize]).max().unwrap_or(0);
        depths.push(below + usize::from(matches!(gate, Gate::And(..) | Gate::Xor(..))));
    }
    depths
}

/// A gate's result if it takes no product; else whether it is an XOR, and its operands with their complements.
fn folded(gate: Gate, wires: &[Bits]) -> Result<Bits, (bool, [(Source, bool); 2])> {
    let wire = |wire: u32| wires[wire as usize];
    let flipped = |bits, by: bool| match bits {
        Bits::Known(bit) => Bits::Known(bit != by),
        Bits::Secret { from, complement } => Bits::Secret { from, complement: complement != by },
    };
    let is_xor = matches!(gate, Gate::Xor(..));
    match gate {
        Gate::Constant(bit) => Ok(Bits::Known(bit)),
        Gate::Not(a) => Ok(flipped(wire(a), true)),
        Gate::Xor(a, b) | Gate::And(a, b) => match (wire(a), wire(b)) {
            (Bits::Known(bit), other) | (other, Bits::Known(bit)) if is_xor => Ok(flipped(other, bit)),
            (Bits::Known(true), other) | (other, Bits::Known(true)) => Ok(other),
            (Bits::Known(false), _) | (_, Bits::Known(false)) => Ok(Bits::Known(false)),
            (
                Bits::Secret { from: first, complement: one },
                Bits::Secret { from: second, complement: other },
            ) => Err((is_xor, [(first, one), (second, other)])),
        },
    }
}
