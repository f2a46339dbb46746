//! Plans executed in the clear, element by element, without a thought for speed.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::TestRng;

use crate::insertion;
use crate::plan::{
    Domain, Form, Insertion, Layout, Local, MatrixShape, Modulus, OpKind, Opening, Operand, OutputOp, Plan,
    Public, Reg, Register, Rows, SECOND_COMPONENT, Section,
};
use crate::value::words_of;

/// Executes a plan on unpacked elements. Numbers have random additive components, so that every carry and
/// wrap occurs. Panics where a plan reads what isn't written or is already freed.
pub(crate) struct Clear<'a> {
    plan: &'a Plan,
    rng: TestRng,
    registers: Vec<Option<Vec<Option<u128>>>>,
    /// The additive components of every number and of every bit, drawn once for a register.
    components: HashMap<Reg, [Vec<u128>; 3]>,
}

impl<'a> Clear<'a> {
    pub(crate) fn run(plan: &'a Plan, inputs: &[Vec<u64>], rng: TestRng) -> Vec<Vec<u64>> {
        let mut clear =
            Self { plan, rng, registers: vec![None; plan.registers.len()], components: HashMap::new() };
        let given = plan.inputs.iter().map(|input| (input.reg, input.form));
        let given = given.chain(plan.public_inputs.iter().map(|input| (input.reg, input.form)));
        for ((reg, form), words) in given.zip(inputs) {
            let words = match form {
                Form::Elements => elements(words, plan.register(reg).domain),
                Form::Bits { width, .. } => bits(words, width),
                Form::Signed => {
                    let modulus = clear.modulus(reg);
                    words.iter().map(|&word| modulus.reduce((word as i64).into())).collect()
                }
            };
            clear.write(reg, 0, words);
        }
        let mut pending = HashMap::new();
        for visit in plan.visits() {
            for (section, turn) in &visit.begins {
                clear.begin_turn(section, *turn);
            }
            let level = visit.level;
            for step in &level.local {
                clear.local(step);
            }
            let mut done = Vec::new();
            for stage in visit.stages() {
                let kind = &plan.op(stage.op).kind;
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
            level.free.iter().for_each(|&reg| clear.free(reg));
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

    fn begin_turn(&mut self, section: &Section, turn: u32) {
        if turn > 0 {
            section.carry.iter().for_each(|step| self.free(step.writes()));
            section.carry.iter().for_each(|step| self.local(step));
            section.kept.iter().for_each(|&reg| self.free(reg));
        }
        section.slices.iter().for_each(|slice| self.local(&slice.of_turn(turn)));
    }

    fn free(&mut self, reg: Reg) {
        self.registers[reg as usize] = None;
        self.components.remove(&reg);
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
                // A mask that isn't uniform has room for 2^40 times the number: so the sum wraps around no modulus, and
                // all before it is checked.
                let room = modulus.last() / 2 + modulus.last() / (1 << 40);
                let is_bits = self.plan.register(*dst).domain == Domain::Bits;
                assert!(is_bits || *how == Opening::Masked || opened.iter().all(|&value| value <= room));
                vec![(Rows::one(*dst, 0), opened)]
            }
            OpKind::Shuffle { cols, blocks, dst, .. } => {
                let mut order: Vec<usize> = (0..*blocks).collect();
                (1..*blocks).rev().for_each(|at| order.swap(at, self.rng.random_range(0..=at)));
                let shuffled = cols.iter().zip(dst).map(|(&from, &dst)| {
                    let from = self.read(from);
                    let length = from.len() / blocks;
                    let block = |&at: &usize| from[at * length..(at + 1) * length].to_vec();
                    (Rows::one(dst, 0), order.iter().flat_map(block).collect())
                });
                shuffled.collect()
            }
            OpKind::Random { dst, bits } => {
                let (modulus, cols) = (self.modulus(*dst), self.plan.register(*dst).cols);
                let mut draw = |_| {
                    let drawn = u128::from(self.rng.next_u64()) << 64 | u128::from(self.rng.next_u64());
                    if *bits { drawn & 1 } else { modulus.reduce_unsigned(drawn) }
                };
                vec![(Rows::one(*dst, 0), (0..cols).map(&mut draw).collect())]
            }
            OpKind::PairMask { dst, .. } => {
                let drawn = (0..self.plan.register(*dst).cols).map(|_| u128::from(self.rng.next_u64() & 1));
                vec![(Rows::one(*dst, 0), drawn.collect())]
            }
            OpKind::Compose { a, mask, dst } => {
                let Register { domain, cols, .. } = self.plan.register(*dst);
                let width = domain.bits() as u8;
                let [a, mask] = [a, mask].map(|&reg| numbers(&self.read(reg), width, false));
                assert_eq!([a.len(), mask.len()], [cols; 2], "as many bits as the numbers have");
                vec![(Rows::one(*dst, 0), zip(&a, &mask, |a, b| domain.modulus().add(a, b)))]
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
            Local::Gather { a, index, block, .. } => {
                let (a, index) = (self.read(*a), self.read(*index));
                let at = |place: &u128| a[*place as usize * block..(*place as usize + 1) * block].to_vec();
                (whole, index.iter().flat_map(at).collect())
            }
            Local::Insertion(step) => (whole, self.insertion(step, cols)),
            Local::XorPublic { a, c, .. } => (whole, zip(&self.read(*a), &self.public(c, dst), |a, b| a ^ b)),
            Local::AndPublic { a, c, .. } => (whole, zip(&self.read(*a), &self.public(c, dst), |a, b| a & b)),
        };
        assert!(step.reads().iter().all(|reg| *reg != dst), "a step writes what it reads");
        let public = |reg: &Reg| self.plan.register(*reg).public;
        assert!(!public(&dst) || step.reads().iter().all(public), "a public register is made of public ones");
        assert_eq!(words.len(), rows.count as usize * cols);
        self.write_rows(rows, &words);
    }

    /// A step of a sort.
    fn insertion(&self, step: &Insertion, cols: usize) -> Vec<u128> {
        let numbers = |reg: Reg| self.read(reg).into_iter().map(|word| word as u32).collect::<Vec<u32>>();
        let words = |reg: Reg| {
            let bits = self.read(reg);
            bits.chunks(64)
                .map(|bits| bits.iter().rev().fold(0, |word, &bit| word << 1 | bit as u64))
                .collect()
        };
        let mut out = vec![0; cols];
        match step {
            Insertion::Numbers { block, words, at, .. } => {
                let number = |col: usize| ((col / block / words) as u128) << at;
                return (0..cols).map(|col| number(col) >> (col % block) & 1).collect();
            }
            Insertion::Places { rows, above, .. } => insertion::places(*rows, *above, &mut out),
            Insertion::Descend { gaps, right, by, .. } => {
                let right: Vec<u64> = words(*right);
                insertion::descend(&numbers(*gaps), &right, *by, &mut out);
            }
            Insertion::Pairs { gaps, count, first, .. } => {
                insertion::pairs(&numbers(*gaps), *count as usize, *first, &mut out)
                    .expect("an order is random");
            }
            Insertion::Order { ranks, .. } => insertion::order(&numbers(*ranks), &mut out),
            Insertion::Merge { sorted, gaps, less, .. } => {
                let (sorted, less): (_, Vec<u64>) = (sorted.map(numbers).unwrap_or_default(), words(*less));
                insertion::merge(&sorted, &numbers(*gaps), &less, &mut out).expect("all pairs were compared");
            }
        }
        out.into_iter().map(u128::from).collect()
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
        if !self.components.contains_key(&a) {
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
            self.components.insert(a, [first, second, rest]);
        }
        self.components[&a][usize::from(component)].clone()
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
