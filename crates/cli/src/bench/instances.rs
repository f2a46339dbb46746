//! Benchmarks of circuits: many instances, in parts, so that memory doesn't grow with their number.

use super::operands::{CHECKER, LEFT, RIGHT, THIRD, coin_word};
use super::random_circuit;
use super::workload::Workload;
use crate::failure::Failure;
use std::sync::Arc;
use tacit::advanced::engine::{Clear, bytes_of};
use tacit::advanced::program::plan::Domain;
use tacit::circuit::arith::Style;
use tacit::circuit::crypto::aes::{Variant, circuits as aes};
use tacit::circuit::{self, Circuit, Wire};
use tacit::program::{Builder, Dtype, Index, NodeId, Program, ProgramError, Recipient};
use tacit::{Compiled, Stream};
use tacit_kernel::Buffer;

/// Bits of inputs and outputs that a part has at most: 16 MiB in each component.
const PART_BITS: usize = 1 << 27;

/// Blocks up to which a benchmark of AES takes the circuit with fewer rounds: then rounds are what takes time.
const FEW_BLOCKS: usize = 1000;

/// What one of `lanes` lanes runs: all have equally many parts, the last of which may be smaller.
pub(crate) fn stream(all: Workload, lane: usize, lanes: usize, window: usize) -> Result<Stream, Failure> {
    let shape = Shape::new(all);
    let instances = |lane: usize| shape.instances(all.part(lane, lanes));
    let parts = instances(0).div_ceil((PART_BITS / shape.bits()).max(1)).max(1);
    let each = instances(lane).div_ceil(parts);
    let compiled = |instances: usize| -> Result<Arc<Compiled>, Failure> {
        let program = shape.program(instances).map_err(tacit::Error::from)?;
        Ok(Compiled::new(program)?.with_window(window))
    };
    let last = instances(lane) - each * (parts - 1);
    let (part, parts) = (compiled(each)?, parts as u64);
    let instances = instances(lane) as u64;
    if last == each {
        return Ok(Stream { part, times: parts, rest: None, instances });
    }
    Ok(Stream { part, times: parts - 1, rest: Some(compiled(last)?), instances })
}

/// The program of all of it at once.
pub(crate) fn program(what: Workload) -> Result<Program, ProgramError> {
    let shape = Shape::new(what);
    shape.program(shape.instances(what))
}

/// What a part's program is made of.
enum Shape {
    /// So many chains of ANDs side by side.
    Chains { circuit: Arc<Circuit>, width: usize, depth: usize },
    /// A key for every block.
    Blocks { circuit: Arc<Circuit> },
    /// Wires that go from inputs to outputs.
    Wires { circuit: Arc<Circuit> },
    /// Arms of a branch, each with another circuit.
    Arms { circuits: Vec<Arc<Circuit>> },
    /// One key for all blocks, whose round keys are made once a part.
    Counter { schedule: Arc<Circuit>, encrypt: Arc<Circuit> },
}

impl Shape {
    fn new(what: Workload) -> Self {
        match what {
            Workload::Aes { count, shared_key } => {
                let style = if count < FEW_BLOCKS { Style::Shallow } else { Style::Small };
                if shared_key {
                    let (schedule, encrypt) = (
                        aes::key_schedule(style, Variant::Aes128),
                        aes::encrypt_expanded(style, Variant::Aes128),
                    );
                    Self::Counter { schedule: Arc::new(schedule), encrypt: Arc::new(encrypt) }
                } else {
                    Self::Blocks { circuit: Arc::new(aes::encrypt(style, Variant::Aes128)) }
                }
            }
            Workload::Wires { .. } => Self::Wires { circuit: Arc::new(wires()) },
            Workload::Branch { arms, gates, wires, seed, .. } => {
                let circuit =
                    |arm| Arc::new(random_circuit::branch(gates, wires, seed.wrapping_add(arm)).circuit);
                Self::Arms { circuits: (0..arms as u64).map(circuit).collect() }
            }
            Workload::And { count, depth } => {
                // As many chains as a word has bits, if the count is a multiple.
                let chains = count / depth;
                let width: u32 = 1 << chains.trailing_zeros().min(6);
                let circuit = Arc::new(chain(width, depth));
                Self::Chains { circuit, width: width as usize, depth }
            }
            _ => unreachable!("other benchmarks have no circuit"),
        }
    }

    /// Bits of an instance's inputs and outputs; of a branch the ANDs of all arms, which are more.
    fn bits(&self) -> usize {
        match self {
            Self::Chains { circuit, .. } | Self::Blocks { circuit } | Self::Wires { circuit } => {
                circuit.input_bits() + circuit.output_bits()
            }
            Self::Arms { circuits } => circuits.iter().map(|circuit| circuit.ands()).sum(),
            Self::Counter { .. } => 256,
        }
    }

    fn instances(&self, what: Workload) -> usize {
        match (self, what) {
            (Self::Chains { width, depth, .. }, Workload::And { count, .. }) => count / (width * depth),
            (_, Workload::Aes { count, .. } | Workload::Wires { count } | Workload::Branch { count, .. }) => {
                count
            }
            _ => unreachable!("a shape is its benchmark's"),
        }
    }

    fn program(&self, instances: usize) -> Result<Program, ProgramError> {
        let mut build = Builder::new();
        let result = match self {
            Self::Chains { circuit, .. } | Self::Blocks { circuit } => {
                let bits = |input: usize| circuit.inputs()[input] as usize;
                let a = input(&mut build, LEFT, &[instances, bits(0)])?;
                let b = input(&mut build, RIGHT, &[instances, bits(1)])?;
                build.circuit(circuit, &[a, b])?[0]
            }
            Self::Wires { circuit } => {
                let mut inputs = Vec::new();
                for (owner, &bits) in [LEFT, RIGHT, THIRD].into_iter().zip(circuit.inputs()) {
                    inputs.push(input(&mut build, owner, &[instances, bits as usize])?);
                }
                let opened = build.circuit(circuit, &inputs)?[0];
                build.reveal(opened, Recipient::All)?;
                return build.finish();
            }
            Self::Arms { circuits } => {
                let x = input(&mut build, LEFT, &[instances, circuits[0].input_bits()])?;
                let conditions = input(&mut build, RIGHT, &[circuits.len() - 1])?;
                branch(&mut build, circuits, conditions, x, 0)?
            }
            Self::Counter { schedule, encrypt } => {
                let key = input(&mut build, LEFT, &[128])?;
                let counters = input(&mut build, RIGHT, &[instances, 128])?;
                let round_keys = build.circuit(schedule, &[key])?[0];
                build.circuit(encrypt, &[round_keys, counters])?[0]
            }
        };
        build.reveal(result, Recipient::Role(CHECKER.to_owned()))?;
        build.finish()
    }
}

/// Branches inside one another, of circuits on the same inputs: those of the two halves have their conditions after the one
/// that stands first.
fn branch(
    build: &mut Builder,
    circuits: &[Arc<Circuit>],
    conditions: NodeId,
    x: NodeId,
    first: usize,
) -> Result<NodeId, ProgramError> {
    if let [circuit] = circuits {
        return Ok(build.circuit(circuit, &[x])?[0]);
    }
    let (of_set, of_not) = circuits.split_at(circuits.len() / 2);
    let condition = build.index(conditions, &[Index::At(first as i64)])?;
    let (set, not) = (build.if_set(condition, x)?, build.unless_set(condition, x)?);
    let set = branch(build, of_set, conditions, set, first + 1)?;
    let not = branch(build, of_not, conditions, not, first + of_set.len())?;
    build.select(condition, set, not)
}

fn input(build: &mut Builder, owner: &str, shape: &[usize]) -> Result<NodeId, ProgramError> {
    build.input(owner, &format!("bits of {owner}"), Dtype::Bool, shape, None)
}

/// `width` chains of `depth` ANDs, each a step of a register with a feedback that isn't linear:
/// `(p, q, r)` becomes `(q, r, p ^ q r)`. A step can be undone, so that random bits stay random all along.
fn chain(width: u32, depth: usize) -> Circuit {
    let mut build = circuit::Builder::new();
    let (state, rest) = (build.input(2 * width), build.input(width));
    let (p, q) = state.split_at(width as usize);
    let (mut p, mut q, mut r) = (p.to_vec(), q.to_vec(), rest);
    for _ in 0..depth {
        let step = |((&p, &q), &r): ((&Wire, &Wire), &Wire)| {
            let both = build.and(q, r);
            build.xor(p, both)
        };
        let next = p.iter().zip(&q).zip(&r).map(step).collect();
        (p, q, r) = (q, r, next);
    }
    build.finish(vec![[p, q, r].concat()])
}

/// A block of AES of which the parties have 48, 40 and 40 bits (Chaudhari et al. 2019, section 6.1.1), as it is.
fn wires() -> Circuit {
    let mut build = circuit::Builder::new();
    let block = [48, 40, 40].map(|bits| build.input(bits)).concat();
    build.finish(vec![block])
}

/// Random bits, all of them there: part `part` of input `input` of lane `lane`.
pub(crate) fn random_bits(seed: u64, lane: u64, part: u64, input: u64, cols: usize) -> Clear {
    let mut data = Buffer::new(bytes_of(Domain::Bits, cols));
    let stream = coin_word(seed ^ coin_word(lane << 48 | input << 40 | part));
    for (index, word) in (0..).zip(data.words_mut::<u64>()) {
        *word = coin_word(stream.wrapping_add(index));
    }
    Clear::new(Domain::Bits, cols, data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_have_equally_many_parts_that_add_up() {
        for (count, lanes) in [(1, 1), (5, 2), (1_000_001, 3), (700_000, 1)] {
            let what = Workload::Aes { count, shared_key: false };
            let all: Vec<Stream> =
                (0..lanes).map(|lane| stream(what, lane, lanes, 1 << 17).unwrap()).collect();
            let parts = |lane: &Stream| lane.times + u64::from(lane.rest.is_some());
            let blocks = |compiled: &Arc<Compiled>| compiled.inputs()[0].shape[0] as u64;
            assert!(all.iter().all(|lane| parts(lane) == parts(&all[0])));
            let sum = |lane: &Stream| lane.times * blocks(&lane.part) + lane.rest.as_ref().map_or(0, blocks);
            assert_eq!(all.iter().map(sum).sum::<u64>(), count as u64);
        }
    }

    #[test]
    fn chains_have_the_ands_and_the_depth_that_they_say() {
        for (width, depth) in [(1, 1), (64, 20), (4, 100)] {
            let circuit = chain(width, depth);
            assert_eq!((circuit.ands(), circuit.depth() as usize), (width as usize * depth, depth));
        }
    }

    #[test]
    fn random_bits_are_others_in_every_part() {
        let mut seen = std::collections::HashSet::new();
        for (lane, part, input) in [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)] {
            for word in random_bits(7, lane, part, input, 6400).data().words::<u64>() {
                assert!(seen.insert(*word));
            }
        }
    }
}
