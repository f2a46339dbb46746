//! Nothing is released before all that it waits for is where it must be, whoever withholds it.

mod common;
#[path = "order/table.rs"]
mod table;
#[path = "order/withheld.rs"]
mod withheld;

use std::collections::BTreeSet;
use tacit_mascot::step;

#[test]
fn the_table_names_messages_that_there_are() {
    let last = withheld::last_messages(2, || {});
    for (what, released, needs) in table::TABLE {
        assert!(last.contains_key(&released) && needs.iter().all(|need| last.contains_key(need)), "{what}");
        for need in needs {
            assert_eq!(matches!(need.0, step::PRODUCTS | step::MACS), last[need] > 0, "{what}");
        }
    }
}

#[test]
fn nothing_leaves_early() {
    for parties in [2, 3] {
        assert_eq!(withheld::early(parties, || {}), BTreeSet::new(), "{parties} parties");
    }
}
