//! Nothing is released before all that it waits for is where it must be, whoever withholds it.

mod common;
#[path = "order/table.rs"]
mod table;
#[path = "order/withheld.rs"]
mod withheld;

use std::collections::{BTreeSet, HashSet};
use tacit_testkit::World;

#[test]
fn the_table_names_messages_that_there_are() {
    let world = World::new(2, 0);
    common::play(&world, 2, 1, |session, preprocessing| preprocessing.triples(session, 22));
    let sent: HashSet<table::Kind> =
        world.trace().skeleton().into_iter().map(|(_, _, at, _)| (at.part, at.op)).collect();
    for (what, released, needs) in table::TABLE {
        assert!(sent.contains(&released) && needs.iter().all(|need| sent.contains(need)), "{what}");
    }
}

#[test]
fn nothing_leaves_early() {
    for parties in [2, 3] {
        assert_eq!(withheld::early(parties, || {}), BTreeSet::new(), "{parties} parties");
    }
}
