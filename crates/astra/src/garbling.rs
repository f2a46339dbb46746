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

/// Bytes of the tags of an output's two bits.
pub(crate) const TAGS: usize = 2 * LABEL;

/// A circuit for each width, in the order of [`Width::ALL`]; then those of checked garbling.
static CIRCUITS: [LazyLock<[Garbling; 4]>; 2] = [
    LazyLock::new(|| Width::ALL.map(|width| garbling(width, false))),
    LazyLock::new(|| Width::ALL.map(|width| garbling(width, true))),
];

/// The circuit, whose inputs are the bytes of `u_1`, each a message, then `u_2` and `r`, which garblers know; of checked
/// garbling `u_2`, `u_3`, `r_1` and `r_2`, of which they know the first and the third.
fn garbling(width: Width, checked: bool) -> Garbling {
    let bits = width.bits().into();
    if checked {
        with_bytes_first(&masked_msb(bits, 3, 2), width, &[true, false, true, false])
    } else {
        with_bytes_first(&masked_msb(bits, 2, 1), width, &[true; 2])
    }
}

/// A circuit whose first input is a word of this width, with an input for each byte of it. `known` says of each of the other
/// inputs whether the garblers know it.
fn with_bytes_first(circuit: &Circuit, width: Width, known: &[bool]) -> Garbling {
    let bytes = vec![BITS as u32; width.bytes()];
    let inputs = [&bytes, &circuit.inputs()[1..]].concat();
    let known = [&vec![false; bytes.len()], known].concat();
    let circuit = Circuit::new(inputs, circuit.gates().to_vec(), circuit.outputs().to_vec());
    Garbling::new(&circuit.expect("as many bits of inputs as before"), &known)
}

/// How the MSBs of a register's numbers are garbled.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) circuit: &'static Garbling,
    /// Whether two garble, and the evaluator checks what they made.
    pub(crate) checked: bool,
}

impl Form {
    pub(crate) fn of(plan: &Plan, a: Reg, checked: bool) -> Self {
        let domain = plan.register(a).domain;
        let width = Width::ALL.iter().position(|&width| domain == Domain::Ring(width));
        let width = width.expect("lowering takes MSBs of rings of words");
        Self { circuit: &CIRCUITS[usize::from(checked)][width], checked }
    }

    /// The inputs whose labels `P_2` has from the offline phase: `u_3` and `r_2`, where it checks.
    pub(crate) fn given(self) -> impl Iterator<Item = usize> {
        let inputs = self.circuit.inputs().len();
        [inputs - 3, inputs - 1].into_iter().filter(move |_| self.checked)
    }

    /// Bytes of the commitments to the labels of each byte of `u_1`.
    pub(crate) fn byte_commitments(self, numbers: usize) -> usize {
        self.circuit.commitment_bytes(0, numbers)
    }

    /// Of what is made of so many numbers.
    pub(crate) fn lengths(self, numbers: usize) -> Lengths {
        Lengths {
            tables: self.circuit.table_bytes(numbers),
            commitments: if self.checked {
                (self.circuit.inputs().len() - 4) * self.byte_commitments(numbers)
            } else {
                0
            },
            labels: self.given().map(|input| self.circuit.commitment_bytes(input, numbers) / 2).sum(),
            decoding: numbers.div_ceil(8),
        }
    }

    /// Bytes that a party keeps of so many numbers: `P_2` what it evaluates, `P_1` the tags of both bits of each output
    /// where they are checked.
    pub(crate) fn kept(self, me: usize, numbers: usize) -> usize {
        match me {
            1 if self.checked => TAGS * numbers,
            2 => self.lengths(numbers).kept(),
            _ => 0,
        }
    }
}

/// Bits that `P_0` sends `P_2` for all numbers of a register: what decodes takes one for each.
pub(crate) fn garbled_bits(plan: &Plan, a: Reg, checked: bool) -> u64 {
    let numbers = plan.register(a).cols;
    let lengths = Form::of(plan, a, checked).lengths(numbers);
    8 * (lengths.sent() - lengths.decoding) as u64 + numbers as u64
}

/// Bits of labels that `P_1` sends for all numbers of a register.
pub(crate) fn label_bits(plan: &Plan, a: Reg) -> u64 {
    let register = plan.register(a);
    8 * LABEL as u64 * register.domain.bits() * register.cols as u64
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
    fn a_circuit_has_few_ands_and_jobs_are_pieces() {
        let forms = [false, true].into_iter().flat_map(|checked| Width::ALL.map(|width| (checked, width)));
        for (checked, width) in forms {
            let bits = u64::from(width.bits());
            let mut builder = Builder::new();
            let (a, dst) = (builder.ring(width, 1300), builder.bits(1, 1300));
            builder.interact(OpKind::Msb { a, dst });
            builder.output(dst, To::All);
            let plan = builder.finish();
            let form = Form::of(&plan, a, checked);
            // One for each bit but the highest; or two, and three less.
            let ands = if checked { 2 * bits - 3 } else { bits - 1 };
            assert_eq!(form.circuit.ands(), ands);
            for job in tacit_engine::jobs(&plan, 0, 0) {
                assert!(job.cols.start.is_multiple_of(form.circuit.tile()), "{width:?}");
                let parts = message_ranges(form.lengths(job.cols.len()).sent()).count().max(width.bytes());
                assert!(parts <= PARTS as usize, "{width:?}: {parts} messages");
            }
            // Tables; commitments to u_1; labels of u_3 and r_2 with the other commitments; what decodes.
            let more = if checked { 256 * bits + 256 * (bits + 1) } else { 0 };
            assert_eq!(garbled_bits(&plan, a, checked), 1300 * (256 * ands + more + 1));
            assert_eq!(label_bits(&plan, a), 1300 * 128 * bits);
        }
    }
}
