//! How many products and garbled circuits a plan has: what has to be checked.

use tacit_program::plan::{Domain, Op, OpKind, Plan};

/// Products of a plan, by domain.
pub(crate) fn products(plan: &Plan) -> Vec<(Domain, u64)> {
    let mut products: Vec<(Domain, u64)> = Vec::new();
    for (op, _, times) in plan.counted_ops() {
        let (domain, of) = match &op.kind {
            OpKind::And { .. } | OpKind::Circuit { .. } => (Domain::Bits, 1),
            OpKind::MatMul { shape, dst, .. } => (plan.register(*dst).domain, shape.k as u64),
            kind => (plan.register(kind.writes()[0]).domain, 1),
        };
        let count = times * results_of(plan, op) * of;
        match products.iter_mut().find(|(known, _)| *known == domain) {
            Some((_, sum)) => *sum += count,
            None => products.push((domain, count)),
        }
    }
    products.retain(|(_, count)| *count > 0);
    products
}

/// Results of an operation's products. MSB extraction has none.
pub(crate) fn results_of(plan: &Plan, op: &Op) -> u64 {
    match &op.kind {
        OpKind::Msb { .. } => 0,
        OpKind::And { dst, .. } => u64::from(dst.count) * plan.register(dst.reg).cols as u64,
        OpKind::Circuit { circuit, .. } => circuit.ands() * op.kind.extent(plan) as u64,
        kind => kind.extent(plan) as u64,
    }
}

/// Where some products belong whose check `P_0` is told something of: results of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    pub(crate) domain: Domain,
    pub(crate) op: u32,
    /// The first result's word in the operation's material.
    pub(crate) first: usize,
    pub(crate) results: usize,
    /// Products that are added up for a result.
    pub(crate) of: usize,
}
