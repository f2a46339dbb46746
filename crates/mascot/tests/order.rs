//! Nothing is released before all that it waits for is where it must be, whoever withholds it.

mod common;
#[path = "order/table.rs"]
mod table;
#[path = "order/withheld.rs"]
mod withheld;

use std::collections::BTreeSet;

#[test]
fn nothing_leaves_early() {
    for parties in [2, 3] {
        assert_eq!(withheld::early(parties, || {}), BTreeSet::new(), "{parties} parties");
    }
}
