//! Fresh shares of what is kept: what parties send for them doesn't determine them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tacit_engine::{KeptPart, KeptShare, Protocol};
use tacit_program::plan::{Domain, Width};
use tacit_replicated::Replicated;
use tacit_session::Agreement;
use tacit_testkit::{Draws, World, party_names, play};

/// A party draws two vectors, and sends them. Whoever sends its own last can give their sums any value.
const VECTORS: usize = 2;

/// A party's share of three zeros.
fn zeros(me: usize) -> KeptShare {
    let [next, prev] = [me + 1, me + 2].map(|party| party % 3);
    let part = |(number, other): (usize, usize)| KeptPart {
        number: number as u8,
        other: Some(other as u8),
        bytes: vec![0; 3 * 8].into(),
    };
    KeptShare {
        domain: Domain::Ring(Width::W64),
        cols: 3,
        key: None,
        parts: [(me, next), (prev, prev)].map(part).to_vec(),
    }
}

/// Fresh shares of each party; and how often each had drawn before. What is drawn from `from` on is another thing in each run.
fn fresh(run: u64, from: [usize; 3]) -> (Vec<KeptShare>, [usize; 3]) {
    let drawn: Arc<[AtomicUsize; 3]> = Arc::default();
    let counted = drawn.clone();
    let varies = move |me: usize, call: usize| {
        counted[me].store(call + 1, Ordering::SeqCst);
        call >= from[me]
    };
    let agreement = Agreement::among(party_names(3), "replicated", "fresh".to_owned());
    let draws = Draws::varying(1, run, Arc::new(varies));
    let done = play(World::new(3, 0).transports(), &agreement, &draws, |session| {
        let before = drawn[session.me()].load(Ordering::SeqCst);
        let share = Replicated::COMPUTATIONAL.refresh(session, &zeros(session.me()))?;
        Ok::<_, tacit_engine::Error>((share, before))
    });
    let (shares, before): (Vec<_>, Vec<_>) = done.into_iter().map(|done| done.unwrap()).unzip();
    (shares, before.try_into().unwrap())
}

#[test]
fn the_same_vectors_give_other_shares_in_each_run() {
    let (_, before) = fresh(0, [usize::MAX; 3]);
    let after = before.map(|drawn| drawn + VECTORS);
    assert!(fresh(1, after) == fresh(1, after), "all is drawn alike");
    let [(one, _), (other, _)] = [1, 2].map(|run| fresh(run, after));
    for (one, other) in one.iter().zip(&other) {
        for (one, other) in one.parts.iter().zip(&other.parts) {
            assert!(one.number == other.number && one.bytes != other.bytes, "only vectors make shares");
        }
    }
}
