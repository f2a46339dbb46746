//! What a plan sends, roughly: to choose between ways that a protocol has beside one another, as numbers in rings and
//! numbers as bits.

use crate::capabilities::Traffic;
use crate::domain::Domain;
use crate::plan::{Op, OpKind, Plan, Reg};

/// What a round counts as: about the bits that a link of 1 Gbit/s carries meanwhile, of some 0.25 ms.
pub(super) const ROUND: u64 = 1 << 18;

/// Bits that all parties send for inputs, ANDs, products and outputs: of a product of which some parts are zero by the plan, the
/// others alone.
pub(super) fn weight(plan: &Plan, traffic: Traffic) -> u64 {
    let register = |reg: u32| {
        let shape = plan.register(reg);
        u64::from(shape.rows) * shape.cols as u64 * shape.domain.bits()
    };
    let ends = plan.inputs.iter().map(|input| input.reg).chain(plan.outputs.iter().map(|output| output.reg));
    let inside = plan.counted_ops().map(|(op, _, times)| {
        times.saturating_mul(match &op.kind {
            OpKind::Mul { dst, .. } | OpKind::MatMul { dst, .. } => {
                let parts = traffic.part.saturating_mul(op.parts().count().into());
                register(*dst).saturating_mul(parts)
            }
            kind => kind.ands(plan).saturating_mul(traffic.and),
        })
    });
    ends.map(|reg| register(reg).saturating_mul(traffic.ends)).chain(inside).fold(0, u64::saturating_add)
}

/// Whether numbers as bits can't be cheaper, or are out of the question: what is kept has one form in all programs; as bits a
/// product of two elements of matrices of more than three bits takes more ANDs than there are for each here; and the proof of a
/// shuffle, if there is one, has an element for each bit.
pub(super) fn is_for_rings(plan: &Plan, proves: bool) -> bool {
    let is_of_numbers = |&reg: &Reg| plan.register(reg).domain != Domain::Bits;
    let shuffles =
        |op: &Op| matches!(&op.kind, OpKind::Shuffle { cols, .. } if cols.iter().any(is_of_numbers));
    if proves && plan.counted_ops().any(|(op, _, _)| shuffles(op)) {
        return true;
    }
    let (mut all_ands, mut products) = (0u64, 0u64);
    for (op, _, times) in plan.counted_ops() {
        if let OpKind::MatMul { shape, .. } = &op.kind {
            let terms = (shape.batch * shape.m * shape.k * shape.n) as u64;
            products = products.saturating_add(times.saturating_mul(terms));
        }
        all_ands = all_ands.saturating_add(times.saturating_mul(op.kind.ands(plan)));
    }
    let is_kept = !plan.keeps.is_empty() || !plan.kept.is_empty();
    is_kept || products > 0 && products.saturating_mul(16) >= all_ands
}

#[cfg(test)]
mod tests {
    use super::weight;
    use crate::capabilities::{ProofCosts, Traffic};
    use crate::domain::Domain;
    use crate::plan::Plan;
    use crate::{Builder, Capabilities, Dtype, NodeId, Range, Recipient, lower};

    /// Each of three parties sends as much.
    const TRAFFIC: Traffic = Traffic { ends: 3, and: 3, part: 1 };

    fn plan(
        ways: Capabilities,
        (lo, hi): (i128, i128),
        body: impl Fn(&mut Builder, [NodeId; 2]) -> NodeId,
    ) -> Plan {
        let mut build = Builder::new();
        let range = Some(Range::new(lo, hi).unwrap());
        let both = ["a", "b"].map(|name| build.input("alice", name, Dtype::Int, &[40], range).unwrap());
        let result = body(&mut build, both);
        build.reveal(result, Recipient::All).unwrap();
        lower(&build.finish().unwrap(), ways).unwrap().plan
    }

    /// A proof of a shuffle has an element for each bit, or for each number.
    #[test]
    fn what_is_shuffled_with_a_proof_is_in_rings() {
        let proofs = ProofCosts { rounds: 12, many: 1 << 14, shuffled: 1 << 24 };
        let ways = Capabilities::THREE_COMPONENTS.with_shuffle(3).or_bits(TRAFFIC);
        for (ways, in_rings) in [(ways, false), (ways.with_proofs(proofs), true)] {
            let plan = plan(ways, (0, 1000), |build, [a, _]| build.shuffle(&[a]).unwrap()[0]);
            assert_eq!(plan.register(plan.outputs[0].reg).domain != Domain::Bits, in_rings);
        }
    }

    /// A number that is made of a bit takes two products, of which one party sends the first and two the second.
    #[test]
    fn parts_that_nobody_sends_weigh_nothing() {
        let mut build = Builder::new();
        let bit = build.input("alice", "a", Dtype::Bool, &[40], None).unwrap();
        let number = build.astype(bit, Dtype::Int).unwrap();
        build.reveal(number, Recipient::All).unwrap();
        let plan = lower(&build.finish().unwrap(), Capabilities::THREE_COMPONENTS).unwrap().plan;
        let ends = plan.register(plan.inputs[0].reg).domain.bits()
            + plan.register(plan.outputs[0].reg).domain.bits();
        let made = plan.register(plan.outputs[0].reg).domain.bits();
        assert_eq!(weight(&plan, TRAFFIC), 40 * (3 * ends + 3 * made));
    }

    /// Comparisons of narrow numbers are cheaper as bits, products in rings; both together as whichever sends less.
    #[test]
    fn a_program_is_lowered_in_the_cheaper_of_two_ways() {
        let rings = Capabilities::THREE_COMPONENTS;
        let is_in_rings = |range, body: fn(&mut Builder, [NodeId; 2]) -> NodeId| {
            let [one, other] =
                [rings, Capabilities::BITS].map(|ways| weight(&plan(ways, range, body), TRAFFIC));
            let chosen = plan(rings.or_bits(TRAFFIC), range, body);
            assert_eq!(weight(&chosen, TRAFFIC), one.min(other));
            one <= other
        };
        let narrow = (0, 1000);
        assert!(!is_in_rings(narrow, |build, [a, b]| build.less(a, b).unwrap()));
        assert!(is_in_rings(narrow, |build, [a, b]| build.mul(a, b).unwrap()));
        assert!(is_in_rings((0, 1 << 30), |build, [a, b]| {
            let product = build.mul(a, b).unwrap();
            build.less(product, a).unwrap()
        }));
        // What is neither compared nor multiplied is in rings, if only its ends are as short.
        assert!(!is_in_rings((0, 3), |build, [a, b]| {
            let least = build.less(a, b).unwrap();
            build.select(least, a, b).unwrap()
        }));
    }
}
