//! The circuits that are garbled for MSB extraction, and how much is made, sent and kept of them.

use std::ops::Range;
use std::sync::LazyLock;
use tacit_circuit::Circuit;
use tacit_circuit::arith::circuits::masked_msb;
use tacit_garble::Plan as Garbling;
use tacit_kernel::garble::LABEL;
use tacit_program::plan::{Domain, OpKind, Plan, Reg, Width};

/// Bits of numbers whose labels are a message: 64 KiB for a job.
pub(crate) const BITS: usize = 8;

/// Bytes of tables in a message at most.
const TABLES: usize = 64 << 10;

/// A circuit for each width, in the order of [`Width::ALL`].
static CIRCUITS: LazyLock<[Garbling; 4]> = LazyLock::new(|| Width::ALL.map(garbling));

/// The circuit, whose inputs are the bytes of `u_1`, each a message, then `u_2` and `r`, which garblers know.
fn garbling(width: Width) -> Garbling {
    with_bytes_first(&masked_msb(width.bits().into(), 2, 1), width, &[true; 2])
}

/// A circuit whose first input is a word of this width, with an input for each byte of it. `known` says of each of the other
/// inputs whether the garblers know it.
pub(crate) fn with_bytes_first(circuit: &Circuit, width: Width, known: &[bool]) -> Garbling {
    let bytes = vec![BITS as u32; width.bytes()];
    let inputs = [&bytes, &circuit.inputs()[1..]].concat();
    let known = [&vec![false; bytes.len()], known].concat();
    let circuit = Circuit::new(inputs, circuit.gates().to_vec(), circuit.outputs().to_vec());
    Garbling::new(&circuit.expect("as many bits of inputs as before"), &known)
}

/// Of one circuit for each width that of a register's.
pub(crate) fn of_width<'a>(circuits: &'a [Garbling; 4], plan: &Plan, a: Reg) -> &'a Garbling {
    &circuits[Width::ALL.iter().position(|&width| width == width_of(plan, a)).unwrap_or_default()]
}

pub(crate) fn circuit_of(plan: &Plan, a: Reg) -> &'static Garbling {
    of_width(&CIRCUITS, plan, a)
}

pub(crate) fn width_of(plan: &Plan, a: Reg) -> Width {
    match plan.register(a).domain {
        Domain::Ring(width) => width,
        Domain::Bits | Domain::Modular(_) => unreachable!("lowering takes signs of rings of words"),
    }
}

/// Bytes that `P_0` makes for `P_2` of so many numbers: tables, and the bits that decode.
pub(crate) fn garbled_bytes(plan: &Plan, a: Reg, numbers: usize) -> usize {
    circuit_of(plan, a).table_bytes(numbers) + numbers.div_ceil(8)
}

/// Bits of the same, for all numbers of a register.
pub(crate) fn garbled_bits(plan: &Plan, a: Reg) -> u64 {
    let numbers = plan.register(a).cols;
    8 * circuit_of(plan, a).table_bytes(numbers) as u64 + numbers as u64
}

/// Bits of labels that `P_1` sends for all numbers of a register.
pub(crate) fn label_bits(plan: &Plan, a: Reg) -> u64 {
    let register = plan.register(a);
    8 * LABEL as u64 * register.domain.bits() * register.cols as u64
}

/// Bytes of the tags of an output's two bits.
pub(crate) const TAGS: usize = 2 * LABEL;

/// A circuit for each width, in the order of [`Width::ALL`].
static CHECKED_CIRCUITS: LazyLock<[Garbling; 4]> = LazyLock::new(|| Width::ALL.map(checked_garbling));

/// The circuit, whose inputs are the bytes of `u_1`, then `u_2`, `u_3`, `r_1` and `r_2`.
fn checked_garbling(width: Width) -> Garbling {
    with_bytes_first(&masked_msb(width.bits().into(), 3, 2), width, &[true, false, true, false])
}

pub(crate) fn checked_circuit_of(plan: &Plan, a: Reg) -> &'static Garbling {
    of_width(&CHECKED_CIRCUITS, plan, a)
}

/// The inputs whose labels `P_2` has from the offline phase, `u_3` and `r_2`.
pub(crate) fn given(circuit: &Garbling) -> [usize; 2] {
    let inputs = circuit.inputs().len();
    [inputs - 3, inputs - 1]
}

/// Bytes of what is made of some numbers, in the order in which it is sent.
pub(crate) struct Lengths {
    pub(crate) tables: usize,
    /// Commitments to the labels of `u_1`.
    pub(crate) commitments: usize,
    /// Labels of `u_3` and `r_2`; and in the end as many of commitments to their other labels.
    pub(crate) labels: usize,
    pub(crate) decoding: usize,
}

impl Lengths {
    pub(crate) fn of(circuit: &Garbling, numbers: usize) -> Self {
        let [third, mask] = given(circuit);
        let labels = |input: usize| circuit.commitment_bytes(input, numbers) / 2;
        Self {
            tables: circuit.table_bytes(numbers),
            commitments: (0..third - 1).map(|byte| circuit.commitment_bytes(byte, numbers)).sum(),
            labels: labels(third) + labels(mask),
            decoding: numbers.div_ceil(8),
        }
    }

    /// Of what `P_2` keeps.
    pub(crate) fn kept(&self) -> usize {
        self.tables + self.commitments + self.labels + self.decoding
    }

    pub(crate) fn sent(&self) -> usize {
        self.kept() + self.labels
    }
}

/// What `P_2` keeps of some numbers.
pub(crate) struct Kept<'a> {
    pub(crate) tables: &'a [u8],
    pub(crate) commitments: &'a [u8],
    pub(crate) labels: &'a [u8],
    pub(crate) decoding: &'a [u8],
}

impl<'a> Kept<'a> {
    pub(crate) fn of(lengths: &Lengths, bytes: &'a [u8]) -> Self {
        let (tables, rest) = bytes.split_at(lengths.tables);
        let (commitments, rest) = rest.split_at(lengths.commitments);
        let (labels, decoding) = rest.split_at(lengths.labels);
        Self { tables, commitments, labels, decoding }
    }
}

/// Bytes that a party keeps for the MSB extraction of so many numbers: `P_2` what it evaluates, `P_1` the tags of both
/// bits of each output.
pub(crate) fn kept_bytes(plan: &Plan, a: Reg, me: usize, numbers: usize) -> usize {
    match me {
        0 => 0,
        1 => TAGS * numbers,
        _ => Lengths::of(checked_circuit_of(plan, a), numbers).kept(),
    }
}

/// Bits that `P_0` sends `P_2` for all numbers of a register.
pub(crate) fn checked_bits(plan: &Plan, a: Reg) -> u64 {
    let numbers = plan.register(a).cols;
    let lengths = Lengths::of(checked_circuit_of(plan, a), numbers);
    8 * (lengths.sent() - lengths.decoding) as u64 + numbers as u64
}

/// Numbers with a garbled MSB extraction after which instances are sealed, so that what was made doesn't pile up in
/// memory: 116 MB.
pub(crate) const MANY_GARBLED: u64 = 1 << 14;

/// Instances with so many MSB extractions each after which they are sealed for that; none without any.
pub(crate) fn instances(signs: u64) -> Option<u64> {
    (signs > 0).then(|| MANY_GARBLED.div_ceil(signs))
}

/// MSB extractions of a plan.
pub(crate) fn msb_count(plan: &Plan) -> u64 {
    let signs = plan.counted_ops().filter(|(op, ..)| matches!(op.kind, OpKind::Msb { .. }));
    signs.map(|(op, _, times)| times * op.kind.extent(plan) as u64).sum()
}

/// Messages that a job has at most: of labels as many as a number has bytes; of what is made offline two for each, or
/// where it is checked nine.
pub(crate) const PARTS: u32 = 128;

/// What is garbled, cut into messages.
pub(crate) fn message_ranges(bytes: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    (0..bytes).step_by(TABLES).map(move |start| start..bytes.min(start + TABLES)).enumerate()
}

/// Whether a party receives anything in a stage: `P_2` tables offline and labels online in the first, `P_1` a bit in
/// the second.
pub(crate) fn receives(me: usize, stage: u32) -> bool {
    (me == 2) == (stage == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::plan::{Builder, OpKind, To};

    #[test]
    fn a_circuit_has_an_and_for_each_bit_but_the_highest_and_jobs_are_pieces() {
        for (width, circuit) in Width::ALL.into_iter().zip(CIRCUITS.iter()) {
            assert_eq!(circuit.ands(), u64::from(width.bits()) - 1);
            let mut builder = Builder::new();
            let (a, dst) = (builder.ring(width, 1300), builder.bits(1, 1300));
            builder.interact(OpKind::Msb { a, dst });
            builder.output(dst, To::All);
            let plan = builder.finish();
            for job in tacit_engine::jobs(&plan, 0, 0) {
                assert!(job.cols.start.is_multiple_of(circuit.tile()), "{width:?}");
                let bytes = garbled_bytes(&plan, a, job.cols.len());
                let parts = message_ranges(bytes).count().max(width.bytes());
                assert!(parts <= PARTS as usize, "{width:?}: {parts} messages");
            }
            assert_eq!(garbled_bits(&plan, a), 1300 * (256 * (u64::from(width.bits()) - 1) + 1));
            assert_eq!(label_bits(&plan, a), 1300 * 128 * u64::from(width.bits()));
        }
    }

    #[test]
    fn two_ands_a_bit_three_less_and_jobs_are_pieces() {
        for (width, circuit) in Width::ALL.into_iter().zip(CHECKED_CIRCUITS.iter()) {
            let bits = u64::from(width.bits());
            assert_eq!(circuit.ands(), 2 * bits - 3);
            let mut builder = Builder::new();
            let (a, dst) = (builder.ring(width, 1300), builder.bits(1, 1300));
            builder.interact(OpKind::Msb { a, dst });
            builder.output(dst, To::All);
            let plan = builder.finish();
            for job in tacit_engine::jobs(&plan, 0, 0) {
                assert!(job.cols.start.is_multiple_of(circuit.tile()), "{width:?}");
                let parts = message_ranges(Lengths::of(circuit, job.cols.len()).sent()).count();
                assert!(parts.max(width.bytes()) <= PARTS as usize, "{width:?}: {parts} messages");
            }
            // Tables; commitments to u_1; labels of u_3 and r_2 with the other commitments; what decodes.
            let expected = 256 * (2 * bits - 3) + 256 * bits + 256 * (bits + 1) + 1;
            assert_eq!(checked_bits(&plan, a), 1300 * expected);
        }
    }
}
