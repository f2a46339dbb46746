//! Where a store's filling ends that somebody doesn't go on with.

use super::*;
use crate::Observer;

/// Goes on to so many parts.
struct GoesOn(u64);

impl Observer for GoesOn {
    fn goes_on(&mut self) -> bool {
        let more = self.0.checked_sub(1);
        self.0 = more.unwrap_or_default();
        more.is_some()
    }
}

#[test]
fn all_end_before_the_part_that_one_does_not_go_on_to() {
    for parts in 0..3 {
        let folder = Folder(tempfile::tempdir().unwrap());
        let stores = (0..3).map(|me| vec![folder.open(me)]).collect();
        let ended = play(stores, |me, _, session, store: Store| {
            let mut writer = store.writer(Epoch([1; 32])).unwrap();
            let (mut supply, mut observer) = (Counting::new(me), GoesOn(if me == 1 { parts } else { 9 }));
            let ended = fill(&mut supply, session, &MADE, &mut writer, &mut observer);
            // What was provided before the last part, and that one.
            let provided = supply.base.into_iter().chain(supply.now).filter(|(kind, _)| *kind == TRIPLES);
            (ended.unwrap_err(), provided.map(|(_, count)| count).sum::<u64>())
        });
        for (error, provided) in ended.into_iter().flatten() {
            assert_eq!(error, Error::Refused("P1 ends, so nothing more is made".to_owned()));
            assert_eq!(provided, parts * 20_160);
        }
    }
}
