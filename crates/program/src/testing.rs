//! For tests: plans executed in the clear, random programs, random inputs.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::TestRng;

use crate::plan::{
    Domain, Form, Layout, Local, MatrixShape, Modulus, OpKind, Opening, Operand, OutputOp, Plan, Public, Reg,
    Rows, SECOND_COMPONENT,
};
use crate::value::words_of;
use crate::{
    Builder, Capabilities, Data, Dtype, Index, InputType, Lowered, NodeId, Program, Range, Recipient, Value,
};

/// Executes a plan on unpacked elements. Numbers have random additive components, so that every carry and
/// wrap occurs. Panics where a plan reads what isn't written or is already freed.
pub(crate) struct Clear<'a> {
    plan: &'a Plan,
    rng: TestRng,
    registers: Vec<Option<Vec<Option<u128>>>>,
    /// The additive components of every number and of every bit, drawn once for a register.
    addends: HashMap<Reg, [Vec<u128>; 3]>,
}

impl<'a> Clear<'a> {
    pub(crate) fn run(plan: &'a Plan, inputs: &[Vec<u64>], rng: TestRng) -> Vec<Vec<u64>> {
        let mut clear =
            Self { plan, rng, registers: vec![None; plan.registers.len()], addends: HashMap::new() };
        for (input, words) in plan.inputs.iter().zip(inputs) {
            let words = match input.form {
                Form::Elements => elements(words, plan.register(input.reg).domain),
                Form::Bits { width, .. } => bits(words, width),
                Form::Signed => {
                    let modulus = clear.modulus(input.reg);
                    words.iter().map(|&word| modulus.reduce((word as i64).into())).collect()
                }
            };
            clear.write(input.reg, 0, words);
        }
        let mut pending = HashMap::new();
        for level in &plan.levels {
            for step in &level.local {
                clear.local(step);
            }
            let mut done = Vec::new();
            for stage in &level.stages {
                let kind = &plan.ops[stage.op as usize].kind;
                if stage.stage == 0 {
                    let results = clear.begin(kind);
                    pending.insert(stage.op, results);
                }
                if stage.stage + 1 == kind.stages() {
                    done.extend(pending.remove(&stage.op).unwrap());
                }
            }
            for (rows, words) in done {
                clear.write_rows(rows, &words);
            }
            for &reg in &level.free {
                clear.registers[reg as usize] = None;
            }
        }
        let limbs = |output: &OutputOp| {
            let read = clear.read(output.reg);
            let (words, limbs) = match output.form {
                Form::Elements => (read, plan.register(output.reg).domain.limbs()),
                Form::Bits { width, signed } => (numbers(&read, width, signed), width.div_ceil(64).into()),
                Form::Signed => {
                    let modulus = plan.register(output.reg).domain.modulus();
                    let negative = |&word: &u128| word > modulus.last() / 2;
                    let signed =
                        |word| if negative(&word) { word.wrapping_sub(modulus.last() + 1) } else { word };
                    (read.into_iter().map(signed).collect(), 1)
                }
            };
            words.into_iter().flat_map(|word| words_of(word as i128).into_iter().take(limbs)).collect()
        };
        plan.outputs.iter().map(limbs).collect()
    }

    fn begin(&mut self, kind: &OpKind) -> Vec<(Rows, Vec<u128>)> {
        match kind {
            OpKind::And { a, b, dst } => {
                let (a, b) = (self.read_rows(*a), self.read_rows(*b));
                vec![(*dst, zip(&a, &b, |a, b| a & b))]
            }
            OpKind::Mul { a, b, dst } => {
                let (a, b) = (self.read(*a), self.read(*b));
                let modulus = self.modulus(*dst);
                vec![(Rows::one(*dst, 0), zip(&a, &b, |a, b| modulus.mul(a, b)))]
            }
            OpKind::MatMul { a, b, shape, dst } => {
                vec![(Rows::one(*dst, 0), matmul(&self.read(*a), &self.read(*b), *shape, self.modulus(*dst)))]
            }
            OpKind::Split { a, bits, s } => {
                let (first, _) = self.split(*a);
                let rows = (0..*bits).flat_map(|bit| first.iter().map(move |word| word >> bit & 1));
                vec![(Rows::run(*s, 0, u32::from(*bits)), rows.collect())]
            }
            OpKind::Inject { a, dst } => vec![(Rows::one(*dst, 0), self.read_rows(*a))],
            OpKind::Open { a, dst, how } => {
                let (opened, modulus) = (self.read(*a), self.modulus(*dst));
                // What is masked wraps around no modulus.
                let room = modulus.last() / 2 + modulus.last() / (1 << 40);
                assert!(*how == Opening::Verified || opened.iter().all(|&value| value <= room));
                vec![(Rows::one(*dst, 0), opened)]
            }
            OpKind::Random { dst, bits } => {
                let (modulus, cols) = (self.modulus(*dst), self.plan.register(*dst).cols);
                let mut draw = |_| {
                    let drawn = u128::from(self.rng.next_u64()) << 64 | u128::from(self.rng.next_u64());
                    if *bits { drawn & 1 } else { modulus.reduce_unsigned(drawn) }
                };
                vec![(Rows::one(*dst, 0), (0..cols).map(&mut draw).collect())]
            }
            OpKind::Msb { a, dst } => {
                let top = self.plan.register(*a).domain.bits() - 1;
                vec![(Rows::one(*dst, 0), self.read(*a).iter().map(|word| word >> top & 1).collect())]
            }
            OpKind::Circuit { circuit, inputs, dst } => {
                let instances = kind.extent(self.plan);
                let widths = circuit.inputs.iter();
                let operands: Vec<Vec<u64>> = inputs
                    .iter()
                    .zip(widths)
                    .map(|(input, width)| self.packed(*input, *width, instances))
                    .collect();
                let operands: Vec<&[u64]> = operands.iter().map(Vec::as_slice).collect();
                let outputs =
                    circuit.evaluate(&operands, instances).expect("operands are the circuit's inputs");
                let bits = |instance: usize| {
                    circuit.outputs.iter().zip(&outputs).flat_map(move |(&bits, words)| {
                        let first = instance * bits as usize;
                        (first..first + bits as usize).map(|at| words[at / 64] >> (at % 64) & 1)
                    })
                };
                vec![(Rows::one(*dst, 0), (0..instances).flat_map(bits).map(u128::from).collect())]
            }
            OpKind::Shift { a, by, dst } => {
                let k = self.plan.register(*a).domain.bits();
                assert!(
                    self.read(*a).iter().all(|word| word >> (k - 1) == 0),
                    "a shift of a number beyond 2^(k-1)"
                );
                let (first, second) = self.split(*a);
                let shifted = zip(&first, &second, |s, t| {
                    let wrap = (s | t) >> (k - 1);
                    (s >> by).wrapping_add(t >> by).wrapping_sub(wrap << (k - u64::from(*by)))
                });
                vec![(Rows::one(*dst, 0), shifted)]
            }
        }
    }

    fn local(&mut self, step: &Local) {
        let dst = step.writes();
        let whole = Rows::one(dst, 0);
        let cols = self.plan.register(dst).cols;
        let modulus = self.modulus(dst);
        let (rows, words) = match step {
            Local::Constant { value, .. } => (whole, self.public(value, dst)),
            Local::Add { a, b, .. } => (whole, zip(&self.read(*a), &self.read(*b), |a, b| modulus.add(a, b))),
            Local::Sub { a, b, .. } => (whole, zip(&self.read(*a), &self.read(*b), |a, b| modulus.sub(a, b))),
            Local::AddPublic { a, c, .. } => {
                (whole, zip(&self.read(*a), &self.public(c, dst), |a, b| modulus.add(a, b)))
            }
            Local::MulPublic { a, c, .. } => {
                (whole, zip(&self.read(*a), &self.public(c, dst), |a, b| modulus.mul(a, b)))
            }
            Local::MatMulPublic { a, c, left, shape, .. } => {
                let (a, c) = (self.read(*a), elements(c, self.plan.register(dst).domain));
                let (a, c) = if *left { (c, a) } else { (a, c) };
                (whole, matmul(&a, &c, *shape, modulus))
            }
            Local::Sum { a, outer, axis, inner, .. } => {
                let a = self.read(*a);
                assert_eq!(a.len(), outer * axis * inner);
                let term = |o: usize, i: usize| (0..*axis).map(move |at| (o * axis + at) * inner + i);
                let sums = (0..*outer).flat_map(|o| (0..*inner).map(move |i| (o, i)));
                (whole, sums.map(|(o, i)| term(o, i).fold(0, |sum, at| modulus.add(sum, a[at]))).collect())
            }
            Local::Copy { a, layout, at, .. } => {
                let words = self.walk(*a, layout);
                return self.write(dst, *at, words);
            }
            Local::Xor { a, b, dst } => (*dst, zip(&self.read_rows(*a), &self.read_rows(*b), |a, b| a ^ b)),
            Local::Not { a, dst } => (*dst, self.read_rows(*a).iter().map(|bit| 1 - bit).collect()),
            Local::CopyRows { a, dst } => (*dst, self.read_rows(*a)),
            Local::BitComponent { a, component, .. } => (whole, self.additive_component(*a, *component)),
            Local::ShiftComponents { a, by, .. } => {
                let shifted = [0, 1, 2].map(|component| {
                    self.additive_component(*a, component)
                        .iter()
                        .map(|addend| addend >> by)
                        .collect::<Vec<_>>()
                });
                let sum = |a: &[u128], b: &[u128]| zip(a, b, |a, b| modulus.add(a, b));
                (whole, sum(&sum(&shifted[0], &shifted[1]), &shifted[2]))
            }
            Local::PublicBits { a, bits, .. } => {
                let numbers = self.read(*a);
                let bit = |bit: u8| numbers.iter().map(move |number| number >> bit & 1);
                (whole, (0..*bits).flat_map(bit).collect())
            }
            Local::Gather { a, index, .. } => {
                let a = self.read(*a);
                (whole, self.read(*index).iter().map(|&place| a[place as usize]).collect())
            }
            Local::XorPublic { a, c, .. } => (whole, zip(&self.read(*a), &self.public(c, dst), |a, b| a ^ b)),
            Local::AndPublic { a, c, .. } => (whole, zip(&self.read(*a), &self.public(c, dst), |a, b| a & b)),
        };
        assert!(step.reads().iter().all(|reg| *reg != dst), "a step writes what it reads");
        let public = |reg: &Reg| self.plan.register(*reg).public;
        assert!(!public(&dst) || step.reads().iter().all(public), "a public register is made of public ones");
        assert_eq!(words.len(), rows.count as usize * cols);
        self.write_rows(rows, &words);
    }

    /// A circuit's operand of `width` bits, instance after instance.
    fn packed(&mut self, operand: Operand, width: u32, instances: usize) -> Vec<u64> {
        let register = self.plan.register(operand.reg());
        let bits: Vec<u128> = match operand {
            Operand::Each(reg) => self.read(reg),
            Operand::Same(reg) => self.read(reg).repeat(instances),
            Operand::Rows(reg) => {
                let rows = self.read_rows(Rows::run(reg, 0, register.rows));
                let column = |at: usize| rows.iter().skip(at).step_by(register.cols).copied();
                (0..instances).flat_map(column).collect()
            }
            Operand::Component { a, component, negate } => {
                let addend = self.additive_component(a, component);
                let signed = |word: u128| if negate { word.wrapping_neg() } else { word };
                addend.iter().flat_map(|&word| (0..width).map(move |bit| signed(word) >> bit & 1)).collect()
            }
        };
        bits.chunks(64).map(|bits| bits.iter().rev().fold(0, |word, bit| word << 1 | *bit as u64)).collect()
    }

    fn walk(&self, a: Reg, layout: &Layout) -> Vec<u128> {
        let a = self.read(a);
        layout.places().map(|place| a[place]).collect()
    }

    /// Two additive components: the first two of three, and the third.
    fn split(&mut self, a: Reg) -> (Vec<u128>, Vec<u128>) {
        let (x, all) = (self.read(a), self.modulus(a).last());
        let second = self.additive_component(a, SECOND_COMPONENT);
        (zip(&x, &second, |x, t| x.wrapping_sub(t) & all), second)
    }

    fn additive_component(&mut self, a: Reg, component: u8) -> Vec<u128> {
        let (x, modulus) = (self.read(a), self.modulus(a));
        if !self.addends.contains_key(&a) {
            let mut draw = |x: &u128| match self.rng.random_range(0..7u8) {
                0 => 0,
                1 => *x,
                2 => modulus.last(),
                3 => modulus.last() / 2,
                4 => modulus.last() / 2 + 1,
                _ => modulus.reduce_unsigned(self.rng.next_u64().into()),
            };
            let [first, second] = [(); 2].map(|()| x.iter().map(&mut draw).collect::<Vec<_>>());
            let rest = zip(&x, &first, |x, addend| modulus.sub(x, addend));
            let rest = zip(&rest, &second, |x, addend| modulus.sub(x, addend));
            self.addends.insert(a, [first, second, rest]);
        }
        self.addends[&a][usize::from(component)].clone()
    }

    fn public(&self, value: &Public, like: Reg) -> Vec<u128> {
        let register = self.plan.register(like);
        match (value, register.domain) {
            (Public::Register(reg), domain) => {
                let public = self.plan.register(*reg);
                assert!(public.public && (public.domain, public.cols) == (domain, register.cols));
                self.read(*reg)
            }
            (Public::Splat(word), _) => vec![*word; register.cols],
            (Public::Vector(words), Domain::Bits) => {
                assert_eq!(words.len(), register.cols.div_ceil(64));
                (0..register.cols).map(|col| u128::from(words[col / 64] >> (col % 64) & 1)).collect()
            }
            (Public::Vector(words), domain) => {
                let elements = elements(words, domain);
                assert_eq!(elements.len(), register.cols);
                assert!(elements.iter().all(|&element| domain.modulus().holds(element)));
                elements
            }
        }
    }

    fn modulus(&self, reg: Reg) -> Modulus {
        self.plan.register(reg).domain.modulus()
    }

    fn read(&self, reg: Reg) -> Vec<u128> {
        let words = self.registers[reg as usize].as_ref().expect("a register is read that isn't there");
        words.iter().map(|word| word.expect("an element is read that was never written")).collect()
    }

    fn read_rows(&self, rows: Rows) -> Vec<u128> {
        let cols = self.plan.register(rows.reg).cols;
        let words = self.registers[rows.reg as usize].as_ref().expect("a register is read that isn't there");
        let row = |index| {
            let start = rows.row(index) as usize * cols;
            words[start..start + cols].iter().map(|word| word.expect("a row is read that was never written"))
        };
        (0..rows.count).flat_map(row).collect()
    }

    fn write_rows(&mut self, rows: Rows, words: &[u128]) {
        let cols = self.plan.register(rows.reg).cols;
        for (index, row) in words.chunks(cols).enumerate() {
            self.write(rows.reg, rows.row(index as u32) as usize * cols, row.to_vec());
        }
    }

    fn write(&mut self, reg: Reg, at: usize, words: Vec<u128>) {
        let (modulus, len) = (self.modulus(reg), self.plan.register(reg).len());
        let register = self.registers[reg as usize].get_or_insert_with(|| vec![None; len]);
        for (place, word) in register[at..at + words.len()].iter_mut().zip(words) {
            *place = Some(modulus.reduce_unsigned(word));
        }
    }
}

/// Elements from the words in which a plan or a caller writes them, reduced.
fn elements(words: &[u64], domain: Domain) -> Vec<u128> {
    let element = |limbs: &[u64]| limbs.iter().rev().fold(0, |high, &low| high << 64 | u128::from(low));
    words.chunks(domain.limbs()).map(element).map(|word| domain.modulus().reduce_unsigned(word)).collect()
}

/// The low bits of each number, one number after another.
fn bits(words: &[u64], width: u8) -> Vec<u128> {
    let number =
        |limbs: &[u64]| (0..width).map(|bit| limbs[usize::from(bit / 64)] >> (bit % 64) & 1).collect();
    let numbers = words.chunks(width.div_ceil(64).into()).map(number);
    numbers.flat_map(|bits: Vec<u64>| bits).map(u128::from).collect()
}

/// Numbers from their bits.
fn numbers(bits: &[u128], width: u8, signed: bool) -> Vec<u128> {
    let number = |bits: &[u128]| {
        let weigh = |(place, bit): (usize, &u128)| {
            let weight = bit << place;
            if signed && place + 1 == bits.len() { weight.wrapping_neg() } else { weight }
        };
        bits.iter().enumerate().map(weigh).fold(0, u128::wrapping_add)
    };
    bits.chunks(width.into()).map(number).collect()
}

fn zip(a: &[u128], b: &[u128], f: impl Fn(u128, u128) -> u128) -> Vec<u128> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

fn matmul(a: &[u128], b: &[u128], shape: MatrixShape, modulus: Modulus) -> Vec<u128> {
    let MatrixShape { batch, m, k, n } = shape;
    assert_eq!((a.len(), b.len()), (batch * m * k, batch * k * n));
    let entry = |one: usize, row: usize, column: usize| {
        (0..k).fold(0, |sum, at| {
            modulus.add(sum, modulus.mul(a[(one * m + row) * k + at], b[(one * k + at) * n + column]))
        })
    };
    (0..batch).flat_map(|o| (0..m).flat_map(move |r| (0..n).map(move |c| entry(o, r, c)))).collect()
}

/// Lowers a program to what is offered, executes its plan with every node revealed, and compares all with the
/// reference.
pub(crate) fn check(
    program: &Program,
    capabilities: Capabilities,
    inputs: &[Vec<u64>],
    rng: TestRng,
) -> Lowered {
    let lowered = crate::lower_for_debug(program, capabilities).expect("all is offered");
    let outputs = Clear::run(&lowered.plan, inputs, rng);
    let wrong =
        crate::first_difference(program, &lowered, inputs, &outputs).expect("inputs are in their ranges");
    assert_eq!(wrong, None);
    crate::lower(program, capabilities).expect("all is offered")
}

/// Whether a program needs no arithmetic modulo a prime.
pub(crate) fn has_bits(program: &Program) -> bool {
    let prime = |kind| matches!(kind, Dtype::Modular(Modulus::Mersenne61 | Modulus::Prime128));
    !program.nodes().iter().any(|node| node.ty.secret && prime(node.ty.kind))
}

/// Inputs of the declared types: ends of their ranges, and values between them.
pub(crate) fn inputs(types: &[InputType], rng: &mut TestRng) -> Vec<Vec<u64>> {
    let mut draw = |ty: &InputType| {
        if let Dtype::Modular(modulus) = ty.kind {
            return element(rng, modulus) as i128;
        }
        let (lo, hi) = (ty.range.lo(), ty.range.hi());
        match rng.random_range(0..6u8) {
            0 => lo,
            1 => hi,
            2 => 0.clamp(lo, hi),
            3 => rng.random_range(-2..=2).clamp(lo, hi),
            _ => rng.random_range(lo..=hi),
        }
    };
    let words = |ty: &InputType| {
        let len: usize = ty.shape.iter().product();
        (0..len).flat_map(|_| words_of(draw(ty)).into_iter().take(ty.kind.limbs())).collect()
    };
    types.iter().map(words).collect()
}

/// A random program of `steps` operations over a few inputs. What the builder refuses is left out.
pub(crate) fn program(rng: &mut TestRng, steps: usize) -> Program {
    let mut build = Builder::new();
    let mut pool = Vec::new();
    for number in 0..rng.random_range(2..5u8) {
        let shape = shape(rng);
        let kind = kind(rng);
        let range = range(rng, kind);
        let owner = ["alice", "bob"][number as usize % 2];
        pool.push(build.input(owner, &format!("x{number}"), kind, &shape, range).unwrap());
    }
    for number in 0..steps {
        build.at(crate::Source { file: "p.py".into(), line: number as u32, text: String::new() });
        if let Some(node) = step(&mut build, &pool, rng) {
            pool.push(node);
        }
    }
    build.reveal(pool[pool.len() - 1], Recipient::All).unwrap();
    for &node in &pool {
        if rng.random_range(0..3u8) == 0 {
            build.reveal(node, Recipient::Role("carol".into())).unwrap();
        }
    }
    build.finish().unwrap()
}

/// The ends of a modulus's elements, and some between.
fn element(rng: &mut TestRng, modulus: Modulus) -> u128 {
    match rng.random_range(0..4u8) {
        0 => modulus.last(),
        1 => modulus.reduce_unsigned(rng.random_range(0..3)),
        _ => modulus.reduce_unsigned(u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())),
    }
}

fn shape(rng: &mut TestRng) -> Vec<usize> {
    let shapes: [&[usize]; 9] = [&[], &[1], &[3], &[4], &[2, 3], &[3, 1], &[65], &[2, 1, 4], &[4, 4]];
    shapes[rng.random_range(0..shapes.len())].to_vec()
}

fn kind(rng: &mut TestRng) -> Dtype {
    match rng.random_range(0..8u8) {
        0 | 1 => Dtype::Bool,
        2..=4 => Dtype::Int,
        5 | 6 => Dtype::Fixed { frac: rng.random_range(1..=20) },
        _ => {
            let exponents =
                [1, 2, 7, 8, 9, 16, 31, 32, 33, 61, 63, 64, 65, 127, 128].map(Modulus::PowerOfTwo);
            let fields = [Modulus::Mersenne61, Modulus::Prime128];
            Dtype::Modular(exponents.into_iter().chain(fields).nth(rng.random_range(0..17)).unwrap())
        }
    }
}

fn range(rng: &mut TestRng, kind: Dtype) -> Option<Range> {
    if !kind.is_ranged() {
        return None;
    }
    let bits = [1, 3, 7, 8, 13, 15, 16, 29, 31, 32, 61, 63][rng.random_range(0..12)];
    let end = 1i128 << bits;
    Some(match rng.random_range(0..4u8) {
        0 => Range::new(-end, end - 1).unwrap(),
        1 => Range::new(0, end - 1).unwrap(),
        2 => Range::new(1 - end, 0).unwrap(),
        _ => Range::new(-(end / 2), end / 4).unwrap(),
    })
}

fn constant(build: &mut Builder, rng: &mut TestRng) -> NodeId {
    let kind = kind(rng);
    let range = range(rng, kind).unwrap_or(kind.whole());
    let shape = shape(rng);
    let len = shape.iter().product();
    let mut raw = || match kind {
        Dtype::Modular(modulus) => element(rng, modulus) as i128,
        _ => rng.random_range(range.lo()..=range.hi()),
    };
    let raw = (0..len).map(|_| raw()).collect();
    build.public(kind, shape, raw).unwrap()
}

/// A factor, a divisor or a weight.
fn real(rng: &mut TestRng, not_zero: bool) -> f64 {
    let sign = if rng.random_range(0..3u8) == 0 { -1.0 } else { 1.0 };
    let number = match rng.random_range(0..9u8) {
        0 => [0.1, 0.01, 1e-6, 1.0 / 3.0, 1e6, 0.3, 1e-3][rng.random_range(0..7)],
        1 => f64::from(rng.random_range(1..20)),
        2 => f64::from(rng.random_range(1..1_000_000)),
        3 => 2_f64.powi(rng.random_range(-40..40)),
        4 => f64::from(rng.random_range(1..1 << 16)) / 65536.0,
        5 => rng.random_range(0.0..1.0),
        6 if !not_zero => 0.0,
        7 => rng.random_range(0.5..1.0) * 2_f64.powi(rng.random_range(-70..40)),
        _ => rng.random_range(0.01..100.0),
    };
    sign * if not_zero && number == 0.0 { 1.0 } else { number }
}

/// Factors or divisors, of a shape of their own.
fn reals(rng: &mut TestRng, not_zero: bool) -> Value {
    let shape = if rng.random_range(0..2u8) == 0 { vec![] } else { shape(rng) };
    let len = shape.iter().product();
    if rng.random_range(0..5u8) == 0 {
        let least = i64::from(not_zero);
        let end = 1 << [3, 8, 40, 62][rng.random_range(0..4)];
        return Value { shape, data: Data::Int((0..len).map(|_| rng.random_range(least..end)).collect()) };
    }
    Value { shape, data: Data::Float((0..len).map(|_| real(rng, not_zero)).collect()) }
}

/// A vector or a matrix that `a` can be multiplied by, from the right or from the left.
fn weights(build: &Builder, a: NodeId, rng: &mut TestRng) -> Result<(Value, bool), crate::ProgramError> {
    let own = build.type_of(a)?.shape.clone();
    let left = rng.random_range(0..3u8) == 0;
    let axis = if left && own.len() > 1 { own.len() - 2 } else { own.len().saturating_sub(1) };
    let terms = own.get(axis).copied().unwrap_or(1);
    let columns = rng.random_range(1..4);
    let shape = match (rng.random_range(0..4u8), left) {
        (0, _) => vec![terms],
        (1, true) => vec![2, columns, terms],
        (1, false) => vec![2, terms, columns],
        (_, true) => vec![columns, terms],
        (_, false) => vec![terms, columns],
    };
    let small = rng.random_range(0..2u8) == 0;
    let data = (0..shape.iter().product())
        .map(|_: usize| if small { f64::from(rng.random_range(-99..99)) / 64.0 } else { real(rng, false) });
    Ok((Value { data: Data::Float(data.collect()), shape }, left))
}

/// The mean of all elements.
fn mean(build: &mut Builder, a: NodeId, keepdims: bool) -> Result<NodeId, crate::ProgramError> {
    let count = build.type_of(a)?.len() as i64;
    let sum = build.sum(a, None, keepdims)?;
    build.divide(sum, &Value { shape: vec![], data: Data::Int(vec![count]) })
}

fn step(build: &mut Builder, pool: &[NodeId], rng: &mut TestRng) -> Option<NodeId> {
    let mut pick = |build: &mut Builder| {
        let any = pool[rng.random_range(0..pool.len())];
        if rng.random_range(0..6u8) == 0 { constant(build, rng) } else { any }
    };
    let (a, b, c) = (pick(build), pick(build), pick(build));
    let axis = rng.random_range(-2..3i64);
    let keepdims = rng.random_range(0..2u8) == 0;
    let place = |rng: &mut TestRng| (rng.random_range(0..3u8) > 0).then(|| rng.random_range(-5..5i64));
    let result = match rng.random_range(0..46u8) {
        0 | 1 => build.add(a, b),
        2 => build.sub(a, b),
        3 => build.neg(a),
        4 | 5 => build.mul(a, b),
        6 => build.matmul(a, b),
        7 => build.sum(a, None, keepdims),
        8 => build.sum(a, Some(&[axis]), keepdims),
        9 => build.sum(a, Some(&[0, 2]), keepdims),
        10 => build.less(a, b),
        11 => build.less_equal(a, b),
        12 => build.greater_equal(a, b),
        13 => build.equal(a, b),
        14 => build.not_equal(a, b),
        15 => build.and(a, b),
        16 => build.or(a, b),
        17 => build.xor(a, b),
        18 => build.not(a),
        19 | 20 => build.select(c, a, b),
        21 => build.minimum(a, b),
        22 => build.maximum(a, b),
        23 => build.max(a, (axis < 2).then_some(axis), keepdims),
        24 => build.argmax(a, (axis < 2).then_some(axis), keepdims),
        25 => build.argmin(a, Some(axis), keepdims),
        26 => build.abs(a),
        27 => build.relu(a),
        28 => build.astype(a, kind(rng)),
        29 => build.shift_right(a, rng.random_range(0..40)),
        30 => build.reshape(a, &[-1]),
        31 => build.transpose(a, None),
        32 => {
            let step = [-2, -1, 1, 2, 3][rng.random_range(0..5)];
            let slice = Index::Slice { start: place(rng), stop: place(rng), step };
            let at = Index::At(rng.random_range(-2..2));
            let entries = [[slice, Index::Ellipsis], [Index::Ellipsis, slice], [at, Index::NewAxis]];
            build.index(a, &entries[rng.random_range(0..3)])
        }
        35 | 36 => build.scale(a, &reals(rng, false)),
        37 | 38 => build.divide(a, &reals(rng, true)),
        39 | 40 => {
            let by = reals(rng, true);
            build.floor_divide(a, &by)
        }
        41 | 42 => {
            let matrix = weights(build, a, rng);
            matrix.and_then(|(matrix, left)| build.weigh(a, &matrix, left))
        }
        43 => mean(build, a, keepdims),
        33 | 34 => {
            let bounds = [rng.random_range(-100..100), rng.random_range(0..100)];
            let [low, high] = bounds.map(|bound| build.public(Dtype::Int, vec![], vec![bound]));
            build.clip(a, low.unwrap(), high.unwrap())
        }
        _ => {
            if keepdims {
                build.concatenate(&[a, b, c], axis)
            } else {
                build.stack(&[a, b], axis)
            }
        }
    };
    result.ok()
}
