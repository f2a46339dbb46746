//! Which inputs or outputs are under way together, and what is opened before others.

use std::ops::Range;

use super::WINDOW;
use crate::job;
use crate::{Clear, Error};
use tacit_program::plan::{Plan, Reg};

/// Bytes of inputs or outputs that may be sent before others' are received.
const MAX_IN_FLIGHT_BYTES: u64 = (MAX_IN_FLIGHT * job::MESSAGE_BYTES) as u64;

/// Messages of one output that an engine sends before it receives any of the same output. An output of more is the
/// last of its group, so its other messages follow when it is revealed.
pub const MAX_IN_FLIGHT: usize = WINDOW;

/// Cuts inputs or outputs, given by their registers, into groups of which all but the last have [`MAX_IN_FLIGHT_BYTES`]
/// in all at most. A group is sent before any of it is received: if the parties sent more in a ring, all could wait for
/// room.
pub(super) fn groups(plan: &Plan, regs: impl Iterator<Item = Reg>) -> Vec<Range<usize>> {
    let (mut groups, mut start, mut bytes, mut end) = (Vec::new(), 0, 0, 0);
    for reg in regs {
        let register = plan.register(reg);
        bytes += (register.len() as u64 * register.domain.bits()).div_ceil(8);
        end += 1;
        if bytes > MAX_IN_FLIGHT_BYTES {
            groups.push(start..end);
            (start, bytes) = (end, 0);
        }
    }
    if start < end {
        groups.push(start..end);
    }
    groups
}

/// The groups in which outputs are sent and opened, the guard by itself before the others. A protocol that checks what it opens
/// does so once for each.
pub fn output_groups(plan: &Plan) -> Vec<Range<usize>> {
    let own = plan.own_outputs();
    let guard = plan.guard.map(|guard| guard as usize..plan.outputs.len());
    let others = groups(plan, plan.outputs[..own].iter().map(|output| output.reg));
    guard.into_iter().chain(others).collect()
}

/// Ends the run if an output is the guard and says that a number was outside of a range that the program assumes.
pub(super) fn look(plan: &Plan, output: usize, value: &Clear) -> Result<(), Error> {
    if plan.guard.is_some_and(|guard| guard as usize == output)
        && value.to_elements(plan.outputs[output].form) != [1]
    {
        return Err(Error::OutsideAssumed);
    }
    Ok(())
}
