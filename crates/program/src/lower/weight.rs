//! What a plan sends, roughly: to choose between ways that a protocol has beside one another, as numbers in rings and numbers as bits.

use crate::plan::{OpKind, Plan};

/// What a round counts as: about the bits that a link of 1 Gbit/s carries meanwhile, of some 0.25 ms.
pub(super) const ROUND: u64 = 1 << 18;

/// Bits that each party sends for inputs, ANDs, products and outputs, as three parties with replicated shares do. Checks are
/// left out: what they take hardly grows with a program.
pub(super) fn weight(plan: &Plan) -> u64 {
    let register = |reg: u32| {
        let shape = plan.register(reg);
        u64::from(shape.rows) * shape.cols as u64 * shape.domain.bits()
    };
    let ends = plan.inputs.iter().map(|input| input.reg).chain(plan.outputs.iter().map(|output| output.reg));
    let inside = plan.counted_ops().map(|(op, _, times)| {
        times.saturating_mul(match &op.kind {
            OpKind::Mul { dst, .. } | OpKind::MatMul { dst, .. } => register(*dst),
            kind => kind.ands(plan),
        })
    });
    ends.map(register).chain(inside).fold(0, u64::saturating_add)
}

/// Whether numbers as bits can't be cheaper, or are out of the question: what is kept has one form in all programs; and as bits a
/// product of two elements of matrices of more than three bits takes more ANDs than there are for each here.
pub(super) fn is_for_rings(plan: &Plan) -> bool {
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
    use crate::plan::Plan;
    use crate::{Builder, Capabilities, Dtype, NodeId, Range, Recipient, lower};

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

    /// Comparisons of narrow numbers are cheaper as bits, products in rings; both together as whichever sends less.
    #[test]
    fn a_program_is_lowered_in_the_cheaper_of_two_ways() {
        let rings = Capabilities::THREE_COMPONENTS;
        let is_in_rings = |range, body: fn(&mut Builder, [NodeId; 2]) -> NodeId| {
            let [one, other] = [rings, Capabilities::BITS].map(|ways| weight(&plan(ways, range, body)));
            let chosen = plan(rings.or_bits(), range, body);
            assert_eq!(weight(&chosen), one.min(other));
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
