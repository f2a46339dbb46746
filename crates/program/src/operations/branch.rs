//! Arms of branches. [`crate::branches`] says what is in which.

use super::check::bool;
use super::entry::Entry;
use crate::codec::put_flag;
use crate::error::Fault;

pub(super) fn within(set: bool) -> Entry<'static> {
    Entry::new("cond", 51, Some(2))
        .written(move |out| put_flag(out, set))
        .typed(|operation, x| {
            bool(operation, x[0].kind)?;
            if x[0].rank() != 0 || !x[0].secret {
                return Err(Fault::Branch { what: "the condition has to be a single secret bool" });
            }
            Ok((x[1].kind, x[1].shape.clone(), x[1].range))
        })
        .secret()
}
