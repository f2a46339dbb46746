//! What a benchmark computes: its program, its operands, and whether the result is right.

use super::files::{Accuracy, Files, KEEPING, MEASURED};
use super::instances::{random_bits, stream};
use super::operands::{BIDDERS, CHECKER, LEFT, RIGHT};
use super::spec::Spec;
use super::workload::{Model, Ring, Weights, Workload};
use crate::failure::Failure;
use std::sync::Arc;
use tacit::advanced::engine::Clear;
use tacit::advanced::engine::clear::ClearEngine;
use tacit::advanced::engine::executor::{Unobserved, run_party};
use tacit::advanced::program::{encode, reference};
use tacit::program::{
    Builder, Data, Dtype, Index, InputType, Modulus, NodeId, Pieces, Piecewise, Program, ProgramError, Range,
    Recipient, Value,
};
use tacit::{Compiled, Stream, protocol};

/// Fraction bits of predictions.
const FRAC: u8 = 16;

/// Raw values of 64-bit comparisons: half of the range, so that a difference fits 64 bits.
const COMPARED_BITS: u32 = 63;

/// Bids: raw values of so many bits.
const BID_BITS: u32 = 20;

/// Numbers beside a key have so many bits at most.
const PAYLOAD_BITS: u32 = 32;

/// Raw values of dividends and divisors: those of fixed(16) without a declared range.
const QUOTIENT_BITS: u32 = 48;

/// Features are in -8 to 8 and weights in -1 to 1: raw values of so many bits.
const FEATURE_BITS: u32 = 20;
const WEIGHT_BITS: u32 = 17;

/// What one of a benchmark's lanes runs, and what its operands are.
pub(crate) struct Work {
    /// One part but for circuits.
    pub(crate) stream: Stream,
    operands: Operands,
    seed: u64,
    /// Whether rows of the result may be in any order.
    any_order: bool,
}

/// What the operands are.
enum Operands {
    /// Numbers: how each input's are made, and how many elements of it the lanes before have.
    Numbers(Vec<(Operand, u64)>),
    /// Random bits of this lane.
    Bits { lane: u64 },
    /// Numbers in files: those of a program's inputs, and of the inputs of the program that keeps what it reads, in order.
    Files { files: Files, program: &'static str, keeping: Option<Box<Program>> },
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
    /// The work of lane `lane` of several, whose operands come after those of the lane before.
    pub(crate) fn new(spec: &Spec, lane: usize, previous: Option<&Self>) -> Result<Self, Failure> {
        let (seed, lanes) = (spec.seed, usize::from(spec.lanes));
        if spec.what.is_circuit() {
            let stream = stream(spec.what, lane, lanes, spec.window)?;
            return Ok(Self {
                stream,
                operands: Operands::Bits { lane: lane as u64 },
                seed,
                any_order: false,
            });
        }
        if let Some(files) = &spec.files {
            let keeping = keeps(spec).then(|| files.program(KEEPING).map(Box::new)).transpose()?;
            let operands = Operands::Files { files: files.clone(), program: MEASURED, keeping };
            let stream = compiled(spec, files.program(MEASURED)?)?;
            return Ok(Self { stream, operands, seed, any_order: false });
        }
        let mut draft = Draft { build: Builder::new(), operands: Vec::new() };
        let program = draft.program(spec.what.part(lane, lanes)).map_err(tacit::Error::from)?;
        let before = |input: usize| match previous {
            Some(Self { stream, operands: Operands::Numbers(numbers), .. }) => {
                numbers[input].1 + elements(&stream.part, input)
            }
            _ => 0,
        };
        let operands = draft.operands.iter().enumerate().map(|(input, &operand)| (operand, before(input)));
        let operands = Operands::Numbers(operands.collect());
        let any_order = matches!(spec.what, Workload::Shuffle { .. });
        Ok(Self { stream: compiled(spec, program)?, operands, seed, any_order })
    }

    /// What is run before the measured work, for that to read: a network's weights are kept.
    pub(crate) fn keeping(spec: &Spec) -> Result<Option<Self>, Failure> {
        let Some(files) = spec.files.as_ref().filter(|_| keeps(spec)) else { return Ok(None) };
        let operands = Operands::Files { files: files.clone(), program: KEEPING, keeping: None };
        let stream = compiled(spec, files.program(KEEPING)?)?;
        Ok(Some(Self { stream, operands, seed: spec.seed, any_order: false }))
    }

    /// Every program, and how often it is run.
    pub(crate) fn programs(&self) -> impl Iterator<Item = (&Compiled, u64)> {
        let Stream { part, times, rest, .. } = &self.stream;
        std::iter::once((&**part, *times)).chain(rest.iter().map(|rest| (&**rest, 1)))
    }

    /// The program of a part.
    fn part(&self, part: u64) -> &Arc<Compiled> {
        let Stream { part: whole, times, rest, .. } = &self.stream;
        rest.as_ref().filter(|_| part >= *times).unwrap_or(whole)
    }

    /// The values of one input in one part; the same for the same seed and lane.
    fn operand(&self, part: u64, input: usize) -> Result<Clear, tacit::Error> {
        let compiled = self.part(part);
        match &self.operands {
            Operands::Bits { lane } => {
                let cols = elements(compiled, input) as usize;
                Ok(random_bits(self.seed, *lane, part, input as u64, cols))
            }
            Operands::Numbers(_) | Operands::Files { .. } => compiled.encode(input, &self.number(input)?),
        }
    }

    /// The numbers of an input.
    fn number(&self, input: usize) -> Result<Value, tacit::Error> {
        let declared = &self.stream.part.inputs()[input];
        let (operand, before) = match &self.operands {
            Operands::Numbers(numbers) => numbers[input],
            Operands::Files { files, program, .. } => return files.input(program, input, &declared.shape),
            Operands::Bits { .. } => unreachable!("a circuit's operands are bits"),
        };
        let numbers = Numbers::new(operand, self.seed, input as u64, before);
        let data = numbers.data(declared.kind, elements(&self.stream.part, input) as usize);
        Ok(Value { shape: declared.shape.clone(), data })
    }

    /// The operands that a party gives in a part.
    pub(crate) fn inputs(&self, part: u64, party: &str) -> Result<Vec<Option<Clear>>, tacit::Error> {
        let inputs = self.part(part).inputs().iter().enumerate();
        inputs
            .map(|(input, declared)| {
                let gives = declared.owner == party;
                gives.then(|| self.operand(part, input)).transpose()
            })
            .collect()
    }

    /// Whether `party` learns the result.
    pub(crate) fn checks(party: &str) -> bool {
        party == CHECKER
    }

    /// Compares what came out of a part with the clear result.
    ///
    /// # Errors
    /// What differs.
    pub(crate) fn check(&self, part: u64, outputs: &[Option<Clear>]) -> Result<(), String> {
        let came: Option<Vec<&Clear>> = outputs.iter().map(Option::as_ref).collect();
        let Some(came) = came.filter(|came| !came.is_empty()) else {
            return Err("the result did not come out".to_owned());
        };
        let compiled = self.part(part);
        match &self.operands {
            Operands::Numbers(_) | Operands::Files { .. } => {
                let decoded = came.into_iter().enumerate().map(|(output, got)| compiled.decode(output, got));
                let got: Result<Vec<Value>, _> = decoded.collect();
                self.compare(&got.map_err(|error| error.to_string())?)
            }
            Operands::Bits { .. } => {
                let inputs: Result<Vec<_>, _> =
                    (0..compiled.inputs().len()).map(|input| self.operand(part, input).map(Some)).collect();
                let mut engine = ClearEngine::new(compiled.plan().clone());
                let inputs = inputs.map_err(|error| error.to_string())?;
                let clear = run_party(&mut engine, compiled.plan(), &inputs, &mut Unobserved);
                let expected = clear.map_err(|error| error.to_string())?.outputs;
                if expected == outputs { Ok(()) } else { Err(format!("the result of part {part} is wrong")) }
            }
        }
    }

    /// How near what came out is to the result in floating point, where that is known.
    pub(crate) fn accuracy(&self, outputs: &[Option<Clear>]) -> Result<Option<Accuracy>, tacit::Error> {
        match (&self.operands, outputs) {
            (Operands::Files { files, .. }, [Some(got)]) => files.accuracy(&self.stream.part.decode(0, got)?),
            _ => Ok(None),
        }
    }

    /// Compares numbers with the clear result.
    fn compare(&self, got: &[Value]) -> Result<(), String> {
        let encoded = |declared: &InputType, number: Result<Value, tacit::Error>| {
            let number = number.map_err(|error| error.to_string())?;
            encode(declared, &number).map_err(|error| error.to_string())
        };
        let inputs = self.stream.part.inputs().iter().enumerate();
        let mut inputs: Vec<_> =
            inputs.map(|(input, declared)| encoded(declared, self.number(input))).collect();
        if let Operands::Files { files, keeping: Some(keeping), .. } = &self.operands {
            let types = keeping.input_types();
            let given = types.iter().enumerate();
            let given = given
                .map(|(input, declared)| encoded(declared, files.input(KEEPING, input, &declared.shape)));
            let nodes = reference::trace(keeping, &given.collect::<Result<Vec<_>, _>>()?);
            let nodes = nodes.map_err(|error| error.to_string())?;
            // What is kept has 64 bits at most.
            let word = |&raw: &i128| raw as u64;
            let kept = keeping.keeps().iter().map(|keep| nodes[keep.node.index()].iter().map(word).collect());
            inputs.extend(kept.map(Ok));
        }
        let inputs: Result<Vec<_>, _> = inputs.into_iter().collect();
        let expected = reference::run(self.stream.part.program(), &inputs?);
        let expected = expected.map_err(|error| error.to_string())?;
        if expected.len() != got.len() {
            return Err(format!("{} results came out, of {}", got.len(), expected.len()));
        }
        expected.into_iter().zip(got).try_for_each(|(expected, got)| {
            if self.any_order {
                // No row may get lost or change; where it is, is nobody's to say.
                return same(&sorted_rows(expected), &sorted_rows(got.clone()));
            }
            same(&expected, got)
        })
    }
}

/// Compares a result with the clear one.
fn same(expected: &Value, got: &Value) -> Result<(), String> {
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

/// Whether something is kept before.
const fn keeps(spec: &Spec) -> bool {
    matches!(spec.what, Workload::Dnn { weights: Weights::Kept, .. })
}

/// A program that is run once.
fn compiled(spec: &Spec, program: Program) -> Result<Stream, Failure> {
    let compiled = Compiled::new(program)?.for_protocol(&*protocol(&spec.protocol)?)?;
    Ok(Stream { part: compiled.with_window(spec.window), times: 1, rest: None, instances: 1 })
}

/// Rows of integers in ascending order.
fn sorted_rows(value: Value) -> Value {
    let Value { shape, data: Data::Int(numbers) } = value else { return value };
    let mut rows: Vec<&[i64]> = numbers.chunks(*shape.last().unwrap_or(&1)).collect();
    rows.sort_unstable();
    let data = Data::Int(rows.concat());
    Value { shape, data }
}

fn elements(compiled: &Compiled, input: usize) -> u64 {
    compiled.inputs()[input].shape.iter().product::<usize>() as u64
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
    fn program(&mut self, what: Workload) -> Result<Program, ProgramError> {
        let result = match what {
            Workload::And { .. }
            | Workload::Aes { .. }
            | Workload::Wires { .. }
            | Workload::Branch { .. } => {
                unreachable!("circuits go in parts")
            }
            Workload::Dnn { .. }
            | Workload::Join { .. }
            | Workload::Groupby { .. }
            | Workload::Tpch { .. } => {
                unreachable!("networks and tables come from files")
            }
            Workload::Mul { ring, count, depth } => self.chain(ring, count, depth)?,
            Workload::Dot { ring, count, length } => self.matmul(ring, count, 1, length, 1)?,
            Workload::MatMul { ring, count, m, k, n } => self.matmul(ring, count, m, k, n)?,
            Workload::Compare { count } => self.compare(count)?,
            Workload::Sort { count, bits, columns } => self.sort(count, bits, columns)?,
            Workload::Shuffle { count, bits, columns } => self.shuffle(count, bits, columns)?,
            Workload::Divide { count } => self.divide(count)?,
            Workload::Exp { count } => self.exp(count)?,
            Workload::Auction { bids } => self.auction(bids)?,
            Workload::Predict { model, rows, features } => self.predict(model, rows, features)?,
        };
        self.build.reveal(result, Recipient::Role(CHECKER.to_owned()))?;
        std::mem::take(&mut self.build).finish()
    }

    /// An input of raw values of `bits` bits; signed kinds take them around zero.
    fn input(
        &mut self,
        owner: &str,
        kind: Dtype,
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
    fn chain(&mut self, Ring(modulus): Ring, count: usize, depth: usize) -> Result<NodeId, ProgramError> {
        let (kind, bits, width) = (Dtype::Modular(modulus), raw_bits(modulus), count / depth);
        let mut product = self.input(LEFT, kind, &[width], bits, false)?;
        let factors = self.input(RIGHT, kind, &[count], bits, depth > 1 && bits > 1)?;
        for layer in 0..depth {
            let start = (layer * width) as i64;
            let stop = start + width as i64;
            let places = Index::Slice { start: Some(start), stop: Some(stop), step: 1 };
            let factor = self.build.index(factors, &[places])?;
            product = self.build.mul(product, factor)?;
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
        let (kind, bits) = (Dtype::Modular(modulus), raw_bits(modulus));
        let a = self.input(LEFT, kind, &[count, m, k], bits, false)?;
        let b = self.input(RIGHT, kind, &[count, k, n], bits, false)?;
        self.build.matmul(a, b)
    }

    fn compare(&mut self, count: usize) -> Result<NodeId, ProgramError> {
        let a = self.input(LEFT, Dtype::Int, &[count], COMPARED_BITS, false)?;
        let b = self.input(RIGHT, Dtype::Int, &[count], COMPARED_BITS, false)?;
        self.build.less(a, b)
    }

    /// Keys, and numbers of another owner beside them; all of them sorted.
    fn sort(&mut self, count: usize, bits: u32, columns: usize) -> Result<NodeId, ProgramError> {
        let keys = self.input(LEFT, Dtype::Int, &[1, count], bits, false)?;
        let mut all = Vec::with_capacity(columns);
        for _ in 0..columns {
            all.push(self.input(RIGHT, Dtype::Int, &[1, count], bits.min(PAYLOAD_BITS), false)?);
        }
        let sorted = self.build.sort(keys, &all)?;
        self.build.concatenate(&sorted, 0)
    }

    /// A matrix of two owners' numbers, whose columns go together.
    fn shuffle(&mut self, count: usize, bits: u32, columns: usize) -> Result<NodeId, ProgramError> {
        let mut all = Vec::with_capacity(columns);
        for column in 0..columns {
            let owner = if column % 2 == 0 { LEFT } else { RIGHT };
            all.push(self.input(owner, Dtype::Int, &[count], bits, false)?);
        }
        let shuffled = self.build.shuffle(&all)?;
        self.build.stack(&shuffled, 1)
    }

    fn divide(&mut self, count: usize) -> Result<NodeId, ProgramError> {
        let kind = Dtype::Fixed { frac: FRAC };
        let a = self.input(LEFT, kind, &[count], QUOTIENT_BITS, false)?;
        let b = self.input(RIGHT, kind, &[count], QUOTIENT_BITS, false)?;
        self.build.ratio(a, b)
    }

    /// As `tacit.exp` of fixed(16) without a declared range.
    fn exp(&mut self, count: usize) -> Result<NodeId, ProgramError> {
        let a = self.input(LEFT, Dtype::Fixed { frac: FRAC }, &[count], QUOTIENT_BITS, false)?;
        let table = include_str!("exp.txt").split_ascii_whitespace().map(str::parse);
        let table = table.collect::<Result<_, std::num::ParseIntError>>();
        let pieces = Pieces::Even { low: -820_015, high: 1_408_208, bits: 13 };
        let function = table.ok().and_then(|table| Piecewise::new(pieces, 13, 4, 4, table));
        self.build.piecewise(a, function.expect("the table is one of four terms for each piece").into(), FRAC)
    }

    /// The bidder with the highest bid, and the second highest bid: as `examples/vickrey.py`.
    fn auction(&mut self, bids: usize) -> Result<NodeId, ProgramError> {
        let all = self.input(BIDDERS, Dtype::Int, &[bids], BID_BITS, false)?;
        let build = &mut self.build;
        let ints = |rows: usize, numbers: Vec<i64>| Value {
            shape: vec![rows, numbers.len() / rows],
            data: Data::Int(numbers),
        };
        let who = build.constant(&ints(1, (0..bids as i64).collect()), Dtype::Int)?;
        let all = build.reshape(all, &[1, bids as i64])?;
        // Bids, who bids, and whom each has outbid so far.
        let mut rows = build.concatenate(&[all, who], 0)?;
        let (mut height, mut width) = (2, bids);
        while width > 1 {
            if width % 2 == 1 {
                let nobody =
                    build.constant(&ints(height, vec![-(1 << (BID_BITS - 1)); height]), Dtype::Int)?;
                rows = build.concatenate(&[rows, nobody], 1)?;
            }
            let each_second = |start| Index::Slice { start: Some(start), stop: None, step: 2 };
            let [left, right] = [0, 1].map(|start| build.index(rows, &[Index::Ellipsis, each_second(start)]));
            let (left, right) = (left?, right?);
            let first = Index::Slice { start: None, stop: Some(1), step: 1 };
            let (bid, other) = (build.index(left, &[first])?, build.index(right, &[first])?);
            let outbid = build.less(bid, other)?;
            let winners = build.select(outbid, right, left)?;
            let losers = build.select(outbid, bid, other)?;
            rows = build.concatenate(&[winners, losers], 0)?;
            (height, width) = (height + 1, width.div_ceil(2));
        }
        let winner = build.index(rows, &[Index::At(1)])?;
        let outbid = build.index(rows, &[Index::Slice { start: Some(2), stop: None, step: 1 }])?;
        let price = build.max(outbid, Some(0), false)?;
        build.concatenate(&[winner, price], 0)
    }

    fn predict(&mut self, model: Model, rows: usize, features: usize) -> Result<NodeId, ProgramError> {
        let kind = Dtype::Fixed { frac: FRAC };
        let x = self.input(LEFT, kind, &[rows, features], FEATURE_BITS, false)?;
        let weights = self.input(RIGHT, kind, &[features], WEIGHT_BITS, false)?;
        let bias = self.input(RIGHT, kind, &[], WEIGHT_BITS, false)?;
        // With twice the fraction bits: what is only compared need not be truncated.
        let product = self.build.matmul_raw(x, weights)?;
        let score = self.build.add(product, bias)?;
        match model {
            Model::Linear => self.build.rescale(score, FRAC),
            Model::Score => Ok(score),
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
        self.build.constant(&Value { shape: vec![], data: Data::Float(vec![x]) }, Dtype::Fixed { frac: FRAC })
    }
}

/// Bits of the numbers that elements are made of: all are below the modulus.
fn raw_bits(modulus: Modulus) -> u32 {
    match modulus {
        Modulus::PowerOfTwo(n) => u32::from(n).min(64),
        Modulus::Mersenne61 => 60,
        Modulus::Prime128 | Modulus::Gf128 => 64,
    }
}

/// Numbers of some bits, in an order that looks random: a bijection of the count, so that all are distinct.
struct Numbers {
    operand: Operand,
    offset: u64,
    mask: u64,
}

impl Numbers {
    /// The numbers of an input from number `first` on.
    fn new(operand: Operand, seed: u64, input: u64, first: u64) -> Self {
        // Each input starts elsewhere.
        let offset = seed.wrapping_add(input << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(first);
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

    fn data(&self, kind: Dtype, count: usize) -> Data {
        let words = (0..count as u64).map(|index| self.at(index));
        let half = 1_i64.unbounded_shl(self.operand.bits - 1);
        match kind {
            Dtype::Bool => unreachable!("bits are a circuit's operands"),
            // Different ones stay so, and odd ones odd, when they are multiplied by an odd number.
            Dtype::Modular(modulus) if modulus.bits() > 64 => {
                Data::Wide(words.map(|word| modulus.mul(word.into(), SPREAD)).collect())
            }
            Dtype::Modular(_) => Data::Unsigned(words.collect()),
            Dtype::Int => Data::Int(words.map(|word| (word as i64).wrapping_sub(half)).collect()),
            Dtype::Fixed { frac } => {
                let unit = (1_u64 << frac) as f64;
                Data::Float(words.map(|word| (word as i64 - half) as f64 / unit).collect())
            }
        }
    }
}

/// An odd number of 128 bits without structure: the fraction of the golden ratio.
const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_distinct() {
        for bits in [4, 17, 20] {
            let numbers = Numbers::new(Operand { bits, odd: false }, 7, 1, 0);
            let seen: std::collections::HashSet<u64> =
                (0..1 << bits).map(|index| numbers.at(index)).collect();
            assert_eq!(seen.len(), 1 << bits);
        }
        let numbers = Numbers::new(Operand { bits: 64, odd: false }, 7, 1, 0);
        let seen: std::collections::HashSet<u64> = (0..100_000).map(|index| numbers.at(index)).collect();
        assert_eq!(seen.len(), 100_000);
    }

    #[test]
    fn operands_of_lanes_go_on_from_one_another() {
        let spec = |lanes| Spec {
            what: Workload::Mul { ring: Ring(Modulus::PowerOfTwo(64)), count: 7, depth: 1 },
            lanes,
            ..Spec::example()
        };
        let whole = Work::new(&spec(1), 0, None).unwrap();
        let first = Work::new(&spec(3), 0, None).unwrap();
        let second = Work::new(&spec(3), 1, Some(&first)).unwrap();
        let third = Work::new(&spec(3), 2, Some(&second)).unwrap();
        let numbers = |work: &Work, input| match work.number(input).unwrap().data {
            Data::Unsigned(numbers) => numbers,
            other => panic!("{other:?}"),
        };
        for input in 0..2 {
            let parts = [&first, &second, &third].map(|work| numbers(work, input));
            assert_eq!(parts.concat(), numbers(&whole, input));
        }
    }

    #[test]
    fn a_wrong_element_is_found() {
        let work =
            Work::new(&Spec { what: Workload::Compare { count: 65 }, ..Spec::example() }, 0, None).unwrap();
        let inputs: Vec<_> = (0..2)
            .map(|input| encode(&work.stream.part.inputs()[input], &work.number(input).unwrap()).unwrap())
            .collect();
        let mut truth = reference::run(work.stream.part.program(), &inputs).unwrap();
        assert_eq!(work.compare(&truth), Ok(()));
        assert!(work.compare(&[]).unwrap_err().contains("0 results came out, of 1"));
        let Data::Bool(bits) = &mut truth[0].data else { panic!("a comparison gives bools") };
        assert!(bits.contains(&true) && bits.contains(&false));
        bits[64] = !bits[64];
        assert!(work.compare(&truth).unwrap_err().contains("1 of 65 elements"));
    }
}
