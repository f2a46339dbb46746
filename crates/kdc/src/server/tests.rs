//! What a server finds when it starts.

use super::*;
use crate::enctype::Enctype;
use tacit::{Local, Residents};

/// Steps as a server has them that deviates.
pub(super) fn deviated(node: &Node, steps: &[Step]) -> Vec<Step> {
    let mut steps = steps.to_vec();
    if let Some(deviates) = *lock(&node.deviates) {
        steps.iter_mut().for_each(deviates);
    }
    steps
}

#[test]
fn one_clock_that_lies_moves_no_time() {
    let told = |clocks: [i64; 3]| median(&clocks.map(|clock| to_bits(&clock.to_le_bytes())));
    for clocks in [[100, 101, i64::MAX], [i64::MIN, 100, 101], [100, i64::MAX, 101], [101, -5, 100]] {
        assert!((100..=101).contains(&told(clocks)));
    }
}

#[test]
fn what_was_kept_for_an_order_that_broke_off_is_dropped() {
    let enctype = Enctype::Aes128Sha1;
    let local = Local::new("replicated").unwrap();
    let programs = Programs::new(enctype, local.parties.clone()).unwrap();
    let mut states = [(); 3].map(|()| State::new());
    let compiled = programs.get(Task::Enrol { drawn: false }, 1).unwrap();
    for record in ["key 1", "key 2"] {
        let fill = Fill::new().keeping(RECORD, record);
        let residents =
            states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
        let key = to_bits(&vec![5; enctype.key_bytes()]);
        local.run_on(&compiled, residents, &[key], &|_, _| ()).unwrap();
    }
    let mut principals = Principals::default();
    for record in ["key 1", "key 2", "key 3"] {
        principals.begin(record);
    }
    principals.put_key("ann", (1, "key 2".into()), (String::new(), 0), 5, 6);
    let kept = |state: &State| -> Vec<String> {
        let live = state.list().into_iter().filter(|listed| listed.standing != Standing::Dropped);
        live.map(|listed| listed.about.name).collect()
    };
    let state = &mut states[0];
    assert_eq!(kept(state), ["key 1", "key 2"]);
    assert!(drop_ended(state, &mut principals).unwrap());
    assert_eq!(kept(state), ["key 2"]);
    assert!(principals.torn().is_empty() && !drop_ended(state, &mut principals).unwrap());
    assert_eq!(kept(state), ["key 2"]);
}
