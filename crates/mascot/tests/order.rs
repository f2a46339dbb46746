//! Nothing is released before all that it waits for is where it must be, whoever withholds it.

mod common;
#[path = "order/table.rs"]
mod table;
#[path = "order/withheld.rs"]
mod withheld;

use common::SETUP;
use std::collections::BTreeSet;
use tacit_mascot::step;

#[test]
fn the_tables_name_messages_that_there_are() {
    for (made, table, _) in table::TABLES {
        let last = withheld::last_messages(2, (made, || {}));
        for (what, released, needs) in table {
            let all = needs.iter().chain([released]);
            for kind in all {
                assert!(last.contains_key(kind), "{made:?}, {what}: {kind:?}");
            }
            for need in needs.iter().filter(|need| need.1 >= SETUP) {
                // MAC messages are short where they come of vector OLE.
                let several = match need.0 {
                    step::MACS => made != table::Made::ManyInputs,
                    part => {
                        matches!(part, step::PRODUCTS | tacit_ot::step::ANSWER | tacit_ot::step::VOLE_BASE)
                    }
                };
                assert_eq!(several, last[need] > 0, "{what}");
            }
        }
    }
}

#[test]
fn nothing_leaves_early() {
    none_leaves_early(|parties| if parties == 2 { 1 } else { 4 });
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn nothing_leaves_early_on_any_link() {
    none_leaves_early(|_| 1);
}

fn none_leaves_early(stride: fn(usize) -> usize) {
    for (made, table, parties) in table::TABLES {
        for &parties in parties {
            let early = withheld::early(parties, (made, || {}), table, stride(parties));
            assert_eq!(early, BTreeSet::new(), "{made:?}, {parties} parties");
        }
    }
}
