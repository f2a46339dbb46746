//! What parties tell one another of their stores, and what they agree on from that.

use tacit_session::Session;
use tacit_store::{Available, Epoch, NoAgreement, Run, Unit, Wanted, agree, decode, encode, same_checks};

/// What a party has on some shelves, as a message.
pub fn list_message(lists: &[Vec<Available>]) -> Vec<u8> {
    let lists = lists.iter().map(|list| encode(list));
    lists.flat_map(|list| [&(list.len() as u32).to_le_bytes()[..], &list].concat()).collect()
}

/// The lists of so many shelves in a message of a peer, if it is one.
pub fn read_lists(mut bytes: &[u8], shelves: usize) -> Option<Vec<Vec<Available>>> {
    let mut lists = Vec::with_capacity(shelves);
    for _ in 0..shelves {
        let (len, rest) = bytes.split_first_chunk()?;
        let (list, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        lists.push(decode(list).ok()?);
        bytes = rest;
    }
    bytes.is_empty().then_some(lists)
}

/// What a run uses that wants so many instances of each shelf, which people call so, given what each party has there; from
/// epochs that are to be taken `last` only if no other suffices. All parties have made sure that they hold the same lists.
///
/// # Errors
/// [`NoAgreement`], once all parties have come to see it: none then has only another's word for it.
pub fn agreed(
    session: &mut Session,
    wanted: &[(u64, u64, Unit)],
    lists: &[Vec<Vec<Available>>],
    last: impl Fn(&Epoch) -> bool,
) -> Result<Vec<Run>, NoAgreement> {
    let names: Vec<String> = (0..session.parties()).map(|party| session.name(party).to_owned()).collect();
    let shelf = |(index, (shelf, instances, unit)): (usize, &(u64, u64, Unit))| {
        let lists = lists.iter().map(|lists| &lists[index][..]);
        let lists = names.iter().map(String::as_str).zip(lists).collect();
        Wanted { shelf: *shelf, instances: *instances, lists, unit: unit.clone() }
    };
    let wanted: Vec<Wanted<'_>> = wanted.iter().enumerate().map(shelf).collect();
    agree(&wanted, last).inspect_err(|_| {
        // If one doesn't come, this one has its error nonetheless.
        let _ = session.barrier();
    })
}

/// Makes sure that all parties know of the same checks of an epoch's key, given what each has told of its keys. All parties have
/// made sure that they hold the same lists.
///
/// # Errors
/// [`NoAgreement::SetBack`], once all parties have come to see it.
pub(super) fn agreed_checks(
    session: &mut Session,
    epoch: Epoch,
    lists: &[&[Available]],
) -> Result<(), NoAgreement> {
    let names: Vec<String> = (0..session.parties()).map(|party| session.name(party).to_owned()).collect();
    let lists: Vec<_> = names.iter().map(String::as_str).zip(lists.iter().copied()).collect();
    same_checks(epoch, &lists).inspect_err(|_| {
        let _ = session.barrier();
    })
}
