//! What preprocessing sends in a run: exact, as [`tacit_mascot::cost`] has it.

use crate::supply::Wanted;
use tacit_engine::Checks;
use tacit_engine::supply::Demand;
use tacit_mascot::cost;
use tacit_ot::Params;
use tacit_ot::copee::Field;
use tacit_program::cost::Phase;

/// The setup of a key, and all that a plan draws, among so many parties.
pub(crate) fn offline(demand: &Demand, parties: usize) -> Checks {
    let params = Params::DEFAULT;
    let mut checks = Checks::default();
    // What nobody makes costs nothing: a plan that draws it ends before anything is sent.
    let Ok(wanted) = Wanted::of(demand, parties) else { return checks };
    let mut add = |rounds: u64, bytes: &dyn Fn(usize) -> u64| {
        checks.between(Phase::Offline, rounds, parties, |from, _| bytes(from));
    };
    add(cost::SETUP_ROUNDS, &|_| cost::setup_bytes(&params));
    let inputs = wanted.inputs();
    let most = inputs.iter().copied().max().unwrap_or(0);
    let (triples, bits) = (wanted.triples, wanted.bits);
    // Made once, before the first that needs it.
    let base = [
        if most > 0 { cost::inputs_base_bytes(Field::Prime, &params, most) } else { 0 },
        cost::triples_base_bytes(Field::Prime, &params, triples),
        cost::triples_base_bytes(Field::Prime, &params, bits),
    ];
    if let Some(&bytes) = base.iter().find(|bytes| **bytes > 0) {
        add(cost::BASE_ROUNDS, &|_| bytes);
    }
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
