//! A circuit where bools are elements of a field, 0 and 1: an AND is a product, and so is an XOR, `u + v - 2 u v`.
//!
//! All products at a depth are one of vectors, for all instances, and each is made once: an AND and an XOR of the
//! same wires share it, and [`steps`] has more that gates don't take. Complements cost nothing, as `(1 - u) v = v - u
//! v`, and neither does a gate with a public bit: its product is local. Each product is sent: circuits of more
//! products than [`PRODUCTS`] are refused.

use crate::error::Fault;
use crate::lower::lowering::Lowering;
use crate::lower::term::Term;
use crate::node::NodeId;
use crate::plan::{Domain, Layout, Reg};
use crate::types::Type;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use steps::{Step, steps};
use tacit_circuit::{Circuit, Gate};

mod steps;

/// Products of a circuit, at most: two operands of each are copied by a step of the plan.
const PRODUCTS: usize = 1 << 15;

/// A wire's bits, in all instances.
#[derive(Clone)]
pub(in crate::lower) enum Bits {
    /// Known when the plan is made, the same in all instances.
    Known(bool),
    /// Known when the plan is made, one for each instance.
    Public(Arc<[bool]>),
    /// In a register, or their complements.
    Secret { from: Source, complement: bool },
}

/// Elements of a register, one for each instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::lower) struct Source {
    pub(in crate::lower) reg: Reg,
    pub(in crate::lower) offset: usize,
    pub(in crate::lower) stride: usize,
}

/// Numbers of which a gate's result is a sum: multiples of elements of registers, of products that are to be made, and a
/// constant.
#[derive(Clone, Default)]
struct Linear {
    terms: Vec<(i128, Factor)>,
    constant: i128,
}

/// What a multiple of is added.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Factor {
    One(Source),
    /// A product, its operands in order.
    Product(Source, Source),
    /// `s (x - y)`, with the complements of `x` and `y`.
    Difference(Source, (Source, bool), (Source, bool)),
}

/// A gate whose result isn't known before products are.
struct Waiting {
    wire: usize,
    result: Linear,
    /// Whether its bit is the complement.
    complement: bool,
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
        self.products_of(circuit, &[], wires, domain, instances)
    }

    /// The register of all outputs of a circuit on such inputs, instance after instance. `exclusive` marks gates of
    /// whose operands at most one is set.
    pub(in crate::lower) fn products_of(
        &mut self,
        circuit: &Circuit,
        exclusive: &[bool],
        mut wires: Vec<Bits>,
        domain: Domain,
        instances: usize,
    ) -> Reg {
        let secret: Vec<bool> = wires.iter().map(|bits| matches!(bits, Bits::Secret { .. })).collect();
        let steps = steps(circuit, &secret, exclusive);
        let depths = depths(&steps, &secret);
        wires.resize(circuit.wires(), Bits::Known(false));
        let mut made = HashMap::new();
        for depth in 0..=depths.iter().copied().max().unwrap_or(0) {
            // What takes products has operands that were there before; what takes none may read these products.
            let reads_before =
                |step: &Step| step.operands().iter().all(|&wire| depths[wire as usize] < depth);
            let here = || {
                let all = (circuit.input_bits()..).zip(&steps).filter(|(wire, _)| depths[*wire] == depth);
                all.filter_map(|(wire, step)| Some((wire, step.as_ref()?)))
            };
            let mut waiting = Vec::new();
            for (wire, step) in here().filter(|(_, step)| reads_before(step)) {
                waiting.extend(self.result_of(domain, instances, wire, step, &mut wires));
            }
            self.multiply(domain, instances, &waiting, &mut made, &mut wires);
            for (wire, step) in here().filter(|(_, step)| !reads_before(step)) {
                let product = self.result_of(domain, instances, wire, step, &mut wires);
                debug_assert!(product.is_none(), "a product is deeper than what it reads");
            }
            if made.len() > PRODUCTS {
                let missing = "circuits of more than 32,768 products; here gates are products";
                self.refuse(|operation| Fault::NotOffered { operation, missing });
                break;
            }
        }
        let outputs: Vec<Bits> =
            circuit.outputs().iter().flatten().map(|&wire| wires[wire as usize].clone()).collect();
        self.interleaved(domain, instances, &outputs)
    }

    /// A step's result, unless it takes products.
    fn result_of(
        &mut self,
        domain: Domain,
        instances: usize,
        wire: usize,
        step: &Step,
        wires: &mut [Bits],
    ) -> Option<Waiting> {
        let secret = |wire: u32| match wires[wire as usize] {
            Bits::Secret { from, complement } => Some((from, complement)),
            Bits::Known(_) | Bits::Public(_) => None,
        };
        let bit = |wire| secret(wire).unwrap_or_else(|| unreachable!("choices and carries are of secrets"));
        let result = match *step {
            Step::Choice { s, x, y } => Linear::choice(bit(s), bit(x), bit(y)),
            Step::Carry { s, y, x, c } => Linear::both(bit(s), bit(y)).plus(Linear::both(bit(x), bit(c))),
            Step::Sum(a, b) if let (Some(a), Some(b)) = (secret(a), secret(b)) => {
                let sum = Linear::bit(a).plus(Linear::bit(b));
                let reg = self.linear(domain, instances, &HashMap::new(), &[&sum]);
                wires[wire] = Bits::Secret { from: Source { reg, offset: 0, stride: 1 }, complement: false };
                return None;
            }
            Step::Sum(a, b) => return self.folded_into(domain, wire, Gate::Xor(a, b), wires),
            Step::Gate(gate) => return self.folded_into(domain, wire, gate, wires),
        };
        Some(Waiting { wire, result, complement: false })
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
            Folded::Product { is_xor: false, operands: [u, v] } => {
                return Some(Waiting { wire, result: Linear::both(u, v), complement: false });
            }
            Folded::Product { is_xor: true, operands: [(u, one), (v, other)] } => {
                let result = Linear::exclusive(u, v);
                return Some(Waiting { wire, result, complement: one != other });
            }
        };
        None
    }

    /// All gates of one depth, whose products that nobody has made are one.
    fn multiply(
        &mut self,
        domain: Domain,
        instances: usize,
        waiting: &[Waiting],
        made: &mut HashMap<Factor, Source>,
        wires: &mut [Bits],
    ) {
        let (mut pairs, mut choices, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for &(_, factor) in waiting.iter().flat_map(|gate| &gate.result.terms) {
            if made.contains_key(&factor) || !seen.insert(factor) {
                continue;
            }
            match factor {
                Factor::One(_) => {}
                Factor::Product(..) => pairs.push(factor),
                Factor::Difference(..) => choices.push(factor),
            }
        }
        let factors = [pairs, choices].concat();
        if !factors.is_empty() {
            let plain = |source: Source| (source, false);
            let left = factors.iter().filter_map(|factor| match *factor {
                Factor::Product(a, _) | Factor::Difference(a, ..) => Some(plain(a)),
                Factor::One(_) => None,
            });
            let left = self.lined_up(domain, instances, &left.collect::<Vec<_>>());
            let (mut right, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new());
            for factor in &factors {
                match *factor {
                    Factor::Product(_, b) => right.push(plain(b)),
                    Factor::Difference(_, one, other) => {
                        x.push(one);
                        y.push(other);
                    }
                    Factor::One(_) => {}
                }
            }
            let all = |rows: usize| Layout { offset: 0, shape: vec![rows * instances], strides: vec![1] };
            let mut parts = Vec::new();
            if !right.is_empty() {
                parts.push((self.lined_up(domain, instances, &right), all(right.len())));
            }
            if !x.is_empty() {
                let [x, y] = [&x, &y].map(|side| Term::Secret(self.lined_up(domain, instances, side)));
                let differences = self.sub(&x, &y);
                parts.push((self.register(&differences), all(factors.len() - right.len())));
            }
            let right = self.joined(domain, &parts);
            let product = self.mul(&Term::Secret(left), &Term::Secret(right));
            let reg = self.register(&product);
            let rows = factors.iter().enumerate();
            made.extend(
                rows.map(|(row, &factor)| (factor, Source { reg, offset: row * instances, stride: 1 })),
            );
        }
        // Gates that are the same sums of others are made together.
        let mut alike: Vec<(Vec<i128>, i128, Vec<&Waiting>)> = Vec::new();
        for gate in waiting {
            let factors: Vec<i128> = gate.result.terms.iter().map(|(factor, _)| *factor).collect();
            match alike
                .iter_mut()
                .find(|(known, constant, _)| (known, *constant) == (&factors, gate.result.constant))
            {
                Some((.., gates)) => gates.push(gate),
                None => alike.push((factors, gate.result.constant, vec![gate])),
            }
        }
        for (.., gates) in alike {
            let results: Vec<&Linear> = gates.iter().map(|gate| &gate.result).collect();
            let one = |gate: &Waiting| match gate.result {
                Linear { ref terms, constant: 0 } if let [(1, factor)] = terms[..] => Some(factor.made(made)),
                _ => None,
            };
            let reg = if gates.iter().all(|gate| one(gate).is_some()) {
                None
            } else {
                Some(self.linear(domain, instances, made, &results))
            };
            for (row, gate) in gates.into_iter().enumerate() {
                let from = match reg {
                    Some(reg) => Source { reg, offset: row * instances, stride: 1 },
                    None => one(gate).unwrap_or_else(|| unreachable!("all are products as they are")),
                };
                wires[gate.wire] = Bits::Secret { from, complement: gate.complement };
            }
        }
    }

    /// Sums of the same multiples and constant, one after another.
    fn linear(
        &mut self,
        domain: Domain,
        instances: usize,
        made: &HashMap<Factor, Source>,
        sums: &[&Linear],
    ) -> Reg {
        let len = sums.len() * instances;
        let mut total = Term::integer(sums[0].constant, domain, len);
        for at in 0..sums[0].terms.len() {
            let sources: Vec<(Source, bool)> =
                sums.iter().map(|sum| (sum.terms[at].1.made(made), false)).collect();
            let part = Term::Secret(self.lined_up(domain, instances, &sources));
            total = match sums[0].terms[at].0 {
                1 => self.add(&part, &total),
                -1 => self.sub(&total, &part),
                factor => {
                    let part = self.mul(&part, &Term::integer(factor, domain, len));
                    self.add(&part, &total)
                }
            };
        }
        self.register(&total)
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

impl Linear {
    /// A bit, or its complement.
    fn bit((from, complement): (Source, bool)) -> Self {
        let (factor, constant) = if complement { (-1, 1) } else { (1, 0) };
        Self { terms: vec![(factor, Factor::One(from))], constant }
    }

    fn plus(mut self, other: Self) -> Self {
        self.terms.extend(other.terms);
        Self { constant: self.constant + other.constant, ..self }
    }

    /// `u v`, of bits or their complements.
    fn both((u, not_u): (Source, bool), (v, not_v): (Source, bool)) -> Self {
        let (product, one) = (Factor::of(u, v), Factor::One);
        let (terms, constant) = match (not_u, not_v) {
            (false, false) => (vec![(1, product)], 0),
            (true, false) => (vec![(1, one(v)), (-1, product)], 0),
            (false, true) => (vec![(1, one(u)), (-1, product)], 0),
            (true, true) => (vec![(-1, one(u)), (-1, one(v)), (1, product)], 1),
        };
        Self { terms, constant }
    }

    /// `u xor v`.
    fn exclusive(u: Source, v: Source) -> Self {
        Self { terms: vec![(1, Factor::One(u)), (1, Factor::One(v)), (-2, Factor::of(u, v))], constant: 0 }
    }

    /// `y + s (x - y)`; with the complement of `s` in its place that is `x - s (x - y)`.
    fn choice((s, not_s): (Source, bool), x: (Source, bool), y: (Source, bool)) -> Self {
        let product = Factor::Difference(s, x, y);
        let (start, sign) = if not_s { (x, -1) } else { (y, 1) };
        Self::bit(start).plus(Self { terms: vec![(sign, product)], constant: 0 })
    }
}

impl Factor {
    fn of(u: Source, v: Source) -> Self {
        Self::Product(u.min(v), u.max(v))
    }

    /// Where it is, once products are made.
    fn made(&self, made: &HashMap<Self, Source>) -> Source {
        match self {
            Self::One(from) => *from,
            product => made[product],
        }
    }
}

impl Bits {
    /// Public bits, one for each instance.
    pub(in crate::lower) fn public(bits: Vec<bool>) -> Self {
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

/// For each wire the number of products on the longest way to it.
fn depths(steps: &[Option<Step>], inputs: &[bool]) -> Vec<usize> {
    let mut depths = vec![0; inputs.len()];
    let mut secret = inputs.to_vec();
    for step in steps {
        let operands = step.iter().flat_map(Step::operands).collect::<Vec<_>>();
        let below = operands.iter().map(|&wire| depths[wire as usize]).max().unwrap_or(0);
        let secrets = operands.iter().filter(|&&wire| secret[wire as usize]).count();
        let takes_product = secrets > 1 && !matches!(step, Some(Step::Sum(..)));
        depths.push(below + usize::from(takes_product));
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
