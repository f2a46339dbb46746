//! What preprocessing sends in a run: exact, as [`tacit_mascot::cost`] has it.

use crate::supply::Wanted;
use tacit_engine::Checks;
use tacit_engine::supply::Demand;
use tacit_mascot::cost;
use tacit_ot::Params;
use tacit_ot::copee::Field;
use tacit_program::cost::Phase;

/// The setup of a key, and the base of vector OLE with the first plan that draws as much as takes it, among so many parties.
pub(crate) fn setup(demand: &Demand, parties: usize) -> Checks {
    let params = Params::DEFAULT;
    let mut checks = Checks::default();
    let Ok(wanted) = Wanted::of(demand, parties) else { return checks };
    checks.between(Phase::Offline, cost::SETUP_ROUNDS, parties, |_, _| {
        cost::setup_bytes(Field::Prime, &params)
    });
    let most = wanted.inputs().into_iter().max().unwrap_or(0);
    let base = [
        if most > 0 { cost::inputs_base_bytes(Field::Prime, &params, most) } else { 0 },
        cost::triples_base_bytes(Field::Prime, &params, wanted.triples),
        cost::triples_base_bytes(Field::Prime, &params, wanted.bits),
    ];
    if let Some(&bytes) = base.iter().find(|bytes| **bytes > 0) {
        checks.between(Phase::Offline, cost::BASE_ROUNDS, parties, |_, _| bytes);
    }
    checks
}

/// All that a plan draws, among so many parties, once all is set up.
pub(crate) fn offline(demand: &Demand, parties: usize) -> Checks {
    let params = Params::DEFAULT;
    let mut checks = Checks::default();
    // What nobody makes costs nothing: a plan that draws it ends before anything is sent.
    let Ok(wanted) = Wanted::of(demand, parties) else { return checks };
    let mut add = |rounds: u64, bytes: &dyn Fn(usize) -> u64| {
        checks.between(Phase::Offline, rounds, parties, |from, _| bytes(from));
    };
    let inputs = wanted.inputs();
    let most = inputs.iter().copied().max().unwrap_or(0);
    let (triples, bits) = (wanted.triples, wanted.bits);
    if most > 0 {
        add(cost::inputs_rounds(Field::Prime, &params, most), &|from| {
            cost::inputs_bytes(Field::Prime, &params, inputs[from], most)
        });
    }
    if triples > 0 {
        add(cost::triples_rounds(Field::Prime, &params, triples), &|_| {
            cost::triples_bytes(Field::Prime, &params, triples)
        });
    }
    if bits > 0 {
        add(cost::bits_rounds(&params, bits), &|_| cost::bits_bytes(&params, bits));
    }
    checks
}
