//! Readers of a preprocessing store's files, and of the list of epochs that a peer sends.
//!
//! Behind a checksum nothing would be tried, so bytes are also taken as what a file says, and given the right one.

use tacit_engine::supply::read_lists;
use tacit_store::{
    Binding, Epoch, MAX_EPOCHS, Unit, Used, Wanted, agree, decode, encode, read_index_header, read_ledger,
    seal_binding, write_index_header, write_ledger,
};

/// What a store is for: it comes back as it was.
pub fn store_binding(bytes: &[u8]) {
    for bytes in [bytes, &seal_binding(bytes)] {
        match Binding::from_bytes(bytes) {
            Ok(binding) => assert_eq!(binding.to_bytes(), bytes),
            Err(error) => drop(error.to_string()),
        }
    }
}

/// A journal or an anchor: shortened, it says the same; and what it says is used is the most that any record says.
pub fn store_ledger(bytes: &[u8]) {
    match read_ledger(bytes) {
        Ok((shortened, _)) => {
            assert!(shortened.len() <= bytes.len());
            assert_eq!(read_ledger(&shortened), Ok((shortened.clone(), false)));
        }
        Err(error) => drop(error.to_string()),
    }
    let (records, _) = bytes.as_chunks::<4>();
    let records = records.iter().map(|[epoch, shelf, next, checks]| {
        let used = Used { next: u64::from(*next), checks: u64::from(*checks) };
        ((Epoch([*epoch; 32]), u64::from(*shelf)), used)
    });
    let records: Vec<((Epoch, u64), Used)> = records.collect();
    let grows = |one: &((Epoch, u64), Used), later: &((Epoch, u64), Used)| {
        one.0 != later.0 || one.1.next <= later.1.next && one.1.checks <= later.1.checks
    };
    let sound =
        (0..records.len().min(64)).all(|at| records[at + 1..].iter().all(|later| grows(&records[at], later)));
    let read = read_ledger(&write_ledger(&[1; 32], records.iter().take(64).copied()));
    if records.len() <= 64 {
        assert_eq!(read.is_ok(), sound, "numbers only grow");
    }
}

/// The head of an epoch's index: it comes back as it was, and what it counts is there.
pub fn store_index(bytes: &[u8]) {
    match read_index_header(bytes) {
        Ok(header) => assert!(bytes.starts_with(&header)),
        Err(error) => drop(error.to_string()),
    }
    let Some((count, rest)) = bytes.split_first_chunk() else { return };
    let count = u64::from_le_bytes(*count);
    let header = write_index_header([1; 32], Epoch([2; 32]), 5, count);
    let read = read_index_header(&[&header[..], rest].concat());
    assert_eq!(read.is_ok(), count > 0 && u128::from(count) * 16 == rest.len() as u128);
}

/// A peer's list of epochs: it comes back as it was, is bounded, and leads to one agreement or one error.
pub fn store_list(bytes: &[u8]) {
    match decode(bytes) {
        Ok(list) => {
            assert!(list.len() <= MAX_EPOCHS);
            assert_eq!(encode(&list), bytes);
            let (before, after) = list.split_at(list.len() / 2);
            for others in [&list[..], before, after] {
                let wanted = |lists| [Wanted { shelf: 0, instances: 2, lists, unit: Unit::default() }];
                // Some are to be taken last.
                let last = |epoch: &Epoch| epoch.0[0] % 2 == 1;
                let picked = agree(&wanted(vec![("P0", &list[..]), ("P1", others)]), last);
                let swapped = agree(&wanted(vec![("P1", others), ("P0", &list)]), last);
                assert_eq!(picked.is_ok(), swapped.is_ok());
                match picked {
                    Ok(runs) => assert!(others.iter().any(|own| {
                        let run = runs[0];
                        own.epoch == run.epoch && own.next <= run.first && own.count - run.first >= 2
                    })),
                    Err(error) => drop(error.to_string()),
                }
            }
        }
        Err(error) => drop(error.to_string()),
    }
    // Of supplies a peer sends a list for each shelf, each after its length.
    let frame = |list: &[u8]| [&(list.len() as u32).to_le_bytes()[..], list].concat();
    let framed = frame(bytes);
    let twice = decode(bytes).ok().map(|list| vec![list.clone(), list]);
    assert_eq!(read_lists(&framed.repeat(2), 2), twice);
    for count in [1, 3] {
        assert_eq!(read_lists(&framed.repeat(count), 2), None, "{count} lists");
    }
    if let Some(lists) = read_lists(bytes, 2) {
        assert_eq!(lists.iter().flat_map(|list| frame(&encode(list))).collect::<Vec<u8>>(), bytes);
    }
}
