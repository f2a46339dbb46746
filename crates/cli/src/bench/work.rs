//! What a benchmark computes: its program, its operands, and whether the result is right.

use super::spec::{Model, Ring, Spec, What};
use crate::failure::Failure;
use std::sync::Arc;
use tacit::Compiled;
use tacit::program::{
    Builder, Data, Index, InputType, Kind, Modulus, NodeId, Program, ProgramError, Range, Recipient, Value,
    encode, reference,
};

/// Who gives the left operands, who the right ones, and who looks at the result. All of them are parties.
const LEFT: &str = "P0";
const RIGHT: &str = "P1";
const CHECKER: &str = "P0";

/// Fraction bits of predictions.
const FRAC: u8 = 16;

/// Raw values of 64-bit comparisons: half of the range, so that a difference fits 64 bits.
const COMPARED_BITS: u32 = 63;

/// Features are in -8 to 8 and weights in -1 to 1: raw values of so many bits.
const FEATURE_BITS: u32 = 20;
const WEIGHT_BITS: u32 = 17;

/// A benchmark's program and what its operands are.
pub(crate) struct Work {
    pub(crate) compiled: Arc<Compiled>,
    operands: Vec<Operand>,
}

/// How the elements of an input are made.
#[derive(Clone, Copy)]
struct Operand {
    /// Raw values have so many bits; no value comes twice before each has come once.
    bits: u32,
    /// Whether all are odd: factors of a chain, whose product would otherwise soon be all zeros.
    odd: bool,
}

impl Work {
    pub(crate) fn new(spec: &Spec) -> Result<Self, Failure> {
        let mut draft = Draft { build: Builder::new(), operands: Vec::new() };
        let program = draft.program(spec).map_err(tacit::Error::from)?;
        Ok(Self { compiled: Compiled::new(program)?, operands: draft.operands })
    }

    /// The values of one input; the same for the same seed.
    pub(crate) fn operand(&self, spec: &Spec, input: usize) -> Value {
        let declared = &self.compiled.inputs()[input];
        let numbers = Numbers::new(self.operands[input], spec.seed, input as u64);
        let count: usize = declared.shape.iter().product();
        Value { shape: declared.shape.clone(), data: numbers.data(declared.kind, count) }
    }

    /// Whether an input is `party`'s to give.
    pub(crate) fn gives(&self, party: &str, input: usize) -> bool {
        self.compiled.inputs()[input].owner == party
    }

    /// Whether `party` learns the result.
    pub(crate) fn checks(party: &str) -> bool {
        party == CHECKER
    }

    /// Compares an output with the clear result.
    ///
    /// # Errors
    /// How many elements differ, and the first that does.
    pub(crate) fn check(&self, spec: &Spec, got: &Value) -> Result<(), String> {
        let encoded = |(input, declared): (usize, &InputType)| encode(declared, &self.operand(spec, input));
        let inputs: Result<Vec<_>, _> = self.compiled.inputs().iter().enumerate().map(encoded).collect();
        let expected = inputs.and_then(|inputs| reference::run(self.compiled.program(), &inputs));
        let expected = expected.map_err(|error| error.to_string())?.swap_remove(0);
        let differs = differing(&expected.data, &got.data);
        match differs.first() {
            None => Ok(()),
            Some(first) => Err(format!(
                "{} of {} elements of the result are wrong, the first at {first}",
                differs.len(),
                expected.data.len()
            )),
        }
    }
}

fn differing(expected: &Data, got: &Data) -> Vec<usize> {
    fn places<T: PartialEq>(expected: &[T], got: &[T]) -> Vec<usize> {
        (0..expected.len()).filter(|&at| expected.get(at) != got.get(at)).collect()
    }
    match (expected, got) {
        (Data::Bool(a), Data::Bool(b)) => places(a, b),
        (Data::Int(a), Data::Int(b)) => places(a, b),
        (Data::Unsigned(a), Data::Unsigned(b)) => places(a, b),
        (Data::Wide(a), Data::Wide(b)) => places(a, b),
        (Data::Float(a), Data::Float(b)) => places(a, b),
        _ => (0..expected.len()).collect(),
    }
}

/// A program in the making.
struct Draft {
    build: Builder,
    operands: Vec<Operand>,
}

impl Draft {
    fn program(&mut self, spec: &Spec) -> Result<Program, ProgramError> {
        let result = match spec.what {
            What::And { count, depth } => self.chain(Kind::Bool, 1, count, depth, and_then_xor)?,
            What::Mul { ring: Ring(modulus), count, depth } => {
                self.chain(Kind::Modular(modulus), raw_bits(modulus), count, depth, Builder::mul)?
            }
            What::Dot { ring, count, length } => self.matmul(ring, count, 1, length, 1)?,
            What::MatMul { ring, count, m, k, n } => self.matmul(ring, count, m, k, n)?,
            What::Compare { count } => self.compare(count)?,
            What::Predict { model, rows, features } => self.predict(model, rows, features)?,
        };
        self.build.reveal(result, Recipient::Role(CHECKER.to_owned()))?;
        std::mem::take(&mut self.build).finish()
    }

    /// An input of raw values of `bits` bits; signed kinds take them around zero.
    fn input(
        &mut self,
        owner: &str,
        kind: Kind,
        shape: &[usize],
        bits: u32,
        odd: bool,
    ) -> Result<NodeId, ProgramError> {
        let half = 1_i128 << (bits - 1);
        let range = if kind.is_ranged() { Range::new(-half, half - 1) } else { None };
        let name = format!("operand {}", self.operands.len());
        self.operands.push(Operand { bits, odd });
        self.build.input(owner, &name, kind, shape, range)
    }

    /// `x * y[0] * y[1] * ...`, with `count` products in `depth` layers.
    fn chain(
        &mut self,
        kind: Kind,
        bits: u32,
        count: usize,
        depth: usize,
        multiply: fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>,
    ) -> Result<NodeId, ProgramError> {
        let width = count / depth;
        let mut product = self.input(LEFT, kind, &[width], bits, false)?;
        let factors = self.input(RIGHT, kind, &[count], bits, depth > 1 && bits > 1)?;
        for layer in 0..depth {
            let start = (layer * width) as i64;
            let stop = start + width as i64;
            let places = Index::Slice { start: Some(start), stop: Some(stop), step: 1 };
            let factor = self.build.index(factors, &[places])?;
            product = multiply(&mut self.build, product, factor)?;
        }
        Ok(product)
    }

    fn matmul(
        &mut self,
        Ring(modulus): Ring,
        count: usize,
        m: usize,
        k: usize,
        n: usize,
    ) -> Result<NodeId, ProgramError> {
        let (kind, bits) = (Kind::Modular(modulus), raw_bits(modulus));
        let a = self.input(LEFT, kind, &[count, m, k], bits, false)?;
        let b = self.input(RIGHT, kind, &[count, k, n], bits, false)?;
        self.build.matmul(a, b)
    }

    fn compare(&mut self, count: usize) -> Result<NodeId, ProgramError> {
        let a = self.input(LEFT, Kind::Int, &[count], COMPARED_BITS, false)?;
        let b = self.input(RIGHT, Kind::Int, &[count], COMPARED_BITS, false)?;
        self.build.less(a, b)
    }

    fn predict(&mut self, model: Model, rows: usize, features: usize) -> Result<NodeId, ProgramError> {
        let kind = Kind::Fixed { frac: FRAC };
        let x = self.input(LEFT, kind, &[rows, features], FEATURE_BITS, false)?;
        let weights = self.input(RIGHT, kind, &[features], WEIGHT_BITS, false)?;
        let bias = self.input(RIGHT, kind, &[], WEIGHT_BITS, false)?;
        // With twice the fraction bits: what is only compared need not be truncated.
        let product = self.build.matmul_raw(x, weights)?;
        let score = self.build.add(product, bias)?;
        match model {
            Model::Linear => self.build.rescale(score, FRAC),
            Model::LogisticSign => {
                let zero = self.real(0.0)?;
                self.build.greater(score, zero)
            }
            Model::Logistic3 => self.three_pieces(score),
        }
    }

    /// 0 below -1/2, x + 1/2 up to 1/2, 1 above (SecureML, section 4.2). Truncation and both comparisons go
    /// side by side.
    fn three_pieces(&mut self, score: NodeId) -> Result<NodeId, ProgramError> {
        let (low, high, zero) = (self.real(-0.5)?, self.real(0.5)?, self.real(0.0)?);
        let above_low = self.build.greater(score, low)?;
        let above_high = self.build.greater(score, high)?;
        let score = self.build.rescale(score, FRAC)?;
        let (raised, lowered) = (self.build.add(score, high)?, self.build.sub(score, high)?);
        let rising = self.build.select(above_low, raised, zero)?;
        let falling = self.build.select(above_high, lowered, zero)?;
        self.build.sub(rising, falling)
    }

    fn real(&mut self, x: f64) -> Result<NodeId, ProgramError> {
        self.build.constant(&Value { shape: vec![], data: Data::Float(vec![x]) }, Kind::Fixed { frac: FRAC })
    }
}

/// Bits of the numbers that elements are made of: all are below the modulus.
fn raw_bits(modulus: Modulus) -> u32 {
    match modulus {
        Modulus::PowerOfTwo(n) => u32::from(n).min(64),
        Modulus::Mersenne61 => 60,
        Modulus::Prime128 => 64,
    }
}

/// `f & !p`, so that a chain doesn't soon end in zeros; the XOR is free.
fn and_then_xor(build: &mut Builder, p: NodeId, f: NodeId) -> Result<NodeId, ProgramError> {
    let both = build.and(p, f)?;
    build.xor(both, f)
}

/// Numbers of some bits, in an order that looks random: a bijection of the count, so that all are distinct.
struct Numbers {
    operand: Operand,
    offset: u64,
    mask: u64,
}

impl Numbers {
    fn new(operand: Operand, seed: u64, input: u64) -> Self {
        // Each input starts elsewhere.
        let offset = seed.wrapping_add(input << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let free = operand.bits - u32::from(operand.odd);
        Self { operand, offset, mask: u64::MAX >> (64 - free) }
    }

    /// Every step can be undone modulo 2^bits: adding, multiplying by odd numbers, folding high bits onto low.
    fn at(&self, index: u64) -> u64 {
        let fold = self.operand.bits.div_ceil(2).max(1);
        let mut x = index.wrapping_add(self.offset) & self.mask;
        for factor in [0xbf58_476d_1ce4_e5b9_u64, 0x94d0_49bb_1331_11eb] {
            x ^= x.unbounded_shr(fold);
            x = x.wrapping_mul(factor) & self.mask;
        }
        x ^= x.unbounded_shr(fold);
        if self.operand.odd { x << 1 | 1 } else { x }
    }

    fn data(&self, kind: Kind, count: usize) -> Data {
        let words = (0..count as u64).map(|index| self.at(index));
        let half = 1_i64.unbounded_shl(self.operand.bits - 1);
        match kind {
            Kind::Bool => {
                Data::Bool((0..count as u64).map(|index| coin(index.wrapping_add(self.offset))).collect())
            }
            // Different ones stay so, and odd ones odd, when they are multiplied by an odd number.
            Kind::Modular(modulus) if modulus.bits() > 64 => {
                Data::Wide(words.map(|word| modulus.mul(word.into(), SPREAD)).collect())
            }
            Kind::Modular(_) => Data::Unsigned(words.collect()),
            Kind::Int => Data::Int(words.map(|word| word as i64 - half).collect()),
            Kind::Fixed { frac } => {
                let unit = (1_u64 << frac) as f64;
                Data::Float(words.map(|word| (word as i64 - half) as f64 / unit).collect())
            }
        }
    }
}

/// An odd number of 128 bits without structure: the fraction of the golden ratio.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// A bit that looks random.
fn coin(index: u64) -> bool {
    let mixed = (index ^ index >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 63 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_distinct() {
        for bits in [4, 17, 20] {
            let numbers = Numbers::new(Operand { bits, odd: false }, 7, 1);
            let seen: std::collections::HashSet<u64> =
                (0..1 << bits).map(|index| numbers.at(index)).collect();
            assert_eq!(seen.len(), 1 << bits);
        }
        let numbers = Numbers::new(Operand { bits: 64, odd: false }, 7, 1);
        let seen: std::collections::HashSet<u64> = (0..100_000).map(|index| numbers.at(index)).collect();
        assert_eq!(seen.len(), 100_000);
    }

    #[test]
    fn a_wrong_element_is_found() {
        let spec = Spec { what: What::Compare { count: 65 }, ..Spec::example() };
        let work = Work::new(&spec).unwrap();
        let inputs: Vec<_> = (0..2)
            .map(|input| encode(&work.compiled.inputs()[input], &work.operand(&spec, input)).unwrap())
            .collect();
        let mut truth = reference::run(work.compiled.program(), &inputs).unwrap().swap_remove(0);
        assert_eq!(work.check(&spec, &truth), Ok(()));
        let Data::Bool(bits) = &mut truth.data else { panic!("a comparison gives bools") };
        assert!(bits.contains(&true) && bits.contains(&false));
        bits[64] = !bits[64];
        assert!(work.check(&spec, &truth).unwrap_err().contains("1 of 65 elements"));
    }
}
