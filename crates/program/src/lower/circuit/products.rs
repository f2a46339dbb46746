//! A circuit where bools are elements of a field, 0 and 1: an AND is a product, and so is an XOR, `u + v - 2 u v`.
//!
//! All gates at a depth, over ANDs and XORs, are one product of vectors, for all instances. Complements cost nothing:
//! that of an XOR's operand is the XOR's, and an AND's operand is `1 - u`. Neither does a gate with a public bit: its
//! product is local. This is dear: circuits of more gates than [`GATES`] are refused.

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
#[derive(Clone)]
enum Bits {
    /// Known when the plan is made, the same in all instances.
    Known(bool),
    /// Known when the plan is made, one for each instance.
    Public(Arc<[bool]>),
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
            let missing = "circuits of more than 16,384 gates; here each is a product";
            self.refuse(|operation| Fault::NotOffered { operation, missing });
            return self.fresh(domain, ty.len());
        }
        let batch = &ty.shape[..ty.rank() - 1];
        let instances = batch.iter().product();
        let mut wires = Vec::with_capacity(circuit.wires());
        for (&id, &width) in operands.iter().zip(circuit.inputs()) {
            let width = width as usize;
            let shape = [batch, &[width]].concat();
            if !self.ty(id).secret {
                let walk = Layout::whole(&self.ty(id).shape).broadcast(&shape);
                let all = self.public_raw(id, &walk, domain);
                let column = |bit: usize| all.iter().skip(bit).step_by(width).map(|&bit| bit == 1);
                wires.extend((0..width).map(|bit| Bits::public(column(bit).collect())));
                continue;
            }
            let all = self.term(id, &shape, domain);
            let reg = self.register(&all);
            wires.extend((0..width).map(|offset| Bits::Secret {
                from: Source { reg, offset, stride: width },
                complement: false,
            }));
        }
        let depths = depths(circuit, &wires);
        let deepest = depths.iter().copied().max().unwrap_or(0);
        wires.resize(circuit.wires(), Bits::Known(false));
        let gates = || (circuit.input_bits()..).zip(circuit.gates());
        for depth in 0..=deepest {
            // What takes products has operands that were there before; what takes none may read these products.
            let reads_before = |gate: &Gate| gate.operands().all(|wire| depths[wire as usize] < depth);
            let here = || gates().filter(|(wire, _)| depths[*wire] == depth);
            let mut waiting = Vec::new();
            for (wire, gate) in here().filter(|(_, gate)| reads_before(gate)) {
                waiting.extend(self.folded_into(domain, wire, *gate, &mut wires));
            }
            self.multiply(domain, instances, &mut waiting, &mut wires);
            for (wire, gate) in here().filter(|(_, gate)| !reads_before(gate)) {
                let product = self.folded_into(domain, wire, *gate, &mut wires);
                debug_assert!(product.is_none(), "a product is deeper than what it reads");
            }
        }
        let outputs: Vec<Bits> =
            circuit.outputs().iter().flatten().map(|&wire| wires[wire as usize].clone()).collect();
        self.interleaved(domain, instances, &outputs)
    }

    /// A gate's result, unless it takes a product.
    fn folded_into(
        &mut self,
        domain: Domain,
        wire: usize,
        gate: Gate,
        wires: &mut [Bits],
    ) -> Option<Waiting> {
        wires[wire] = match folded(gate, wires) {
            Folded::Bits(bits) => bits,
            Folded::Local { is_xor, secret, public } => {
                let from = self.with_public(domain, is_xor, secret, &public);
                Bits::Secret { from, complement: false }
            }
            Folded::Product { is_xor, operands } => return Some(Waiting { wire, is_xor, operands }),
        };
        None
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

    /// A secret wire with a public one.
    fn with_public(
        &mut self,
        domain: Domain,
        is_xor: bool,
        secret: (Source, bool),
        public: &[bool],
    ) -> Source {
        let secret = Term::Secret(self.lined_up(domain, public.len(), &[secret]));
        let public = Term::vector(public.iter().map(|&bit| bit.into()).collect(), domain);
        let result = if is_xor { self.exclusive_or(&secret, &public) } else { self.mul(&secret, &public) };
        Source { reg: self.register(&result), offset: 0, stride: 1 }
    }

    /// Wires one after another, complements of those that are marked.
    fn lined_up(&mut self, domain: Domain, instances: usize, sources: &[(Source, bool)]) -> Reg {
        let part = |source: &Source| {
            let Source { reg, offset, stride } = *source;
            (reg, Layout { offset, shape: vec![instances], strides: vec![stride as isize] })
        };
        let marked = sources.iter().filter(|(_, complement)| *complement);
        let marked: Vec<(Reg, Layout)> = marked.map(|(source, _)| part(source)).collect();
        if marked.is_empty() {
            let parts: Vec<(Reg, Layout)> = sources.iter().map(|(source, _)| part(source)).collect();
            return self.joined(domain, &parts);
        }
        let plain = self.joined(domain, &marked);
        let reg = self.not(plain);
        let mut offsets = (0..).step_by(instances);
        let parts: Vec<(Reg, Layout)> = sources
            .iter()
            .map(|(source, complement)| match complement {
                true => part(&Source { reg, offset: offsets.next().unwrap_or(0), stride: 1 }),
                false => part(source),
            })
            .collect();
        self.joined(domain, &parts)
    }

    /// The bits of all outputs, instance after instance.
    fn interleaved(&mut self, domain: Domain, instances: usize, outputs: &[Bits]) -> Reg {
        let mut constants = [None; 2];
        let mut sources = Vec::with_capacity(outputs.len());
        for bits in outputs {
            sources.push(match bits {
                Bits::Secret { from, complement } => (*from, *complement),
                Bits::Public(bits) => {
                    let term = Term::vector(bits.iter().map(|&bit| bit.into()).collect(), domain);
                    (Source { reg: self.register(&term), offset: 0, stride: 1 }, false)
                }
                &Bits::Known(bit) => {
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

impl Bits {
    /// Public bits, one for each instance.
    fn public(bits: Vec<bool>) -> Self {
        match bits[..] {
            [first, ..] if bits.iter().all(|&bit| bit == first) => Self::Known(first),
            _ => Self::Public(Arc::from(bits)),
        }
    }

    fn complement(&self) -> Self {
        match self {
            Self::Known(bit) => Self::Known(!bit),
            Self::Public(bits) => Self::Public(bits.iter().map(|bit| !bit).collect()),
            &Self::Secret { from, complement } => Self::Secret { from, complement: !complement },
        }
    }
}

/// For each wire the number of ANDs and XORs of two secrets on the longest way to it.
fn depths(circuit: &Circuit, inputs: &[Bits]) -> Vec<usize> {
    let mut depths = vec![0; circuit.input_bits()];
    let mut secret: Vec<bool> =
        inputs.iter().take(depths.len()).map(|bits| matches!(bits, Bits::Secret { .. })).collect();
    for gate in circuit.gates() {
        let below = gate.operands().map(|wire| depths[wire as usize]).max().unwrap_or(0);
        let secrets = gate.operands().filter(|&wire| secret[wire as usize]).count();
        depths.push(below + usize::from(secrets == 2));
        secret.push(secrets > 0);
    }
    depths
}

/// What a gate takes.
enum Folded {
    /// Nothing: this is its result.
    Bits(Bits),
    /// Steps without a message, on a secret operand with its complement and a public one.
    Local { is_xor: bool, secret: (Source, bool), public: Arc<[bool]> },
    /// A product of two operands, each with its complement.
    Product { is_xor: bool, operands: [(Source, bool); 2] },
}

fn folded(gate: Gate, wires: &[Bits]) -> Folded {
    let wire = |wire: u32| &wires[wire as usize];
    let is_xor = matches!(gate, Gate::Xor(..));
    let (a, b) = match gate {
        Gate::Constant(bit) => return Folded::Bits(Bits::Known(bit)),
        Gate::Not(a) => return Folded::Bits(wire(a).complement()),
        Gate::Xor(a, b) | Gate::And(a, b) => (wire(a), wire(b)),
    };
    Folded::Bits(match (a, b) {
        (Bits::Known(bit), other) | (other, Bits::Known(bit)) => match (is_xor, bit) {
            (true, true) => other.complement(),
            (true, false) | (false, true) => other.clone(),
            (false, false) => Bits::Known(false),
        },
        (Bits::Public(a), Bits::Public(b)) => {
            let pairs = a.iter().zip(b.iter());
            Bits::public(pairs.map(|(a, b)| if is_xor { a ^ b } else { a & b }).collect())
        }
        (Bits::Public(public), &Bits::Secret { from, complement })
        | (&Bits::Secret { from, complement }, Bits::Public(public)) => {
            return Folded::Local { is_xor, secret: (from, complement), public: public.clone() };
        }
        (&Bits::Secret { from: a, complement: one }, &Bits::Secret { from: b, complement: other }) => {
            return Folded::Product { is_xor, operands: [(a, one), (b, other)] };
        }
    })
}
