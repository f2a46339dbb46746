//! Very many small instances, and one large one.

use tacit_store::{Available, Binding, Epoch, Run, Store};

const SHELF: u64 = 7;
const EPOCH: Epoch = Epoch([7; 32]);

fn binding() -> Binding {
    Binding {
        me: "P0".into(),
        parties: vec!["P0".into(), "P1".into()],
        clients: Vec::new(),
        protocol: "test".into(),
        parameters: String::new(),
        plan: None,
    }
}

#[test]
fn a_hundred_thousand_small_instances_are_usable() {
    const COUNT: u64 = 100_000;
    let root = tempfile::tempdir().unwrap();
    let (path, anchors) = (root.path().join("store"), root.path().join("anchors"));
    let mut store = Store::create(&path, &anchors, &binding()).unwrap();
    let mut writer = store.writer(EPOCH).unwrap();
    for index in 0..COUNT {
        writer.put(SHELF, &index.to_le_bytes()).unwrap();
    }
    assert_eq!(writer.finish(&mut store), Ok(COUNT));
    let run = |first, instances| Run { epoch: EPOCH, shelf: SHELF, first, instances };
    for first in 0..100 {
        let mut taken = store.take_run(run(first, 1)).unwrap();
        assert_eq!(taken.next().unwrap().unwrap()[..], first.to_le_bytes());
    }
    drop(store);
    let mut store = Store::open(&path, &anchors, &binding()).unwrap();
    assert_eq!(store.available(SHELF), [Available { epoch: EPOCH, next: 100, count: COUNT }]);
    for (index, got) in (90_000_u64..).zip(store.take_run(run(90_000, 10_000)).unwrap()) {
        assert_eq!(got.unwrap()[..], index.to_le_bytes());
    }
    assert_eq!(store.available(SHELF), []);
    assert!(!path.join(EPOCH.to_string()).exists());
}

/// Longer than a segment, between short ones.
#[test]
fn a_large_instance_is_usable() {
    const LARGE: usize = 70 << 20;
    let root = tempfile::tempdir().unwrap();
    let mut store =
        Store::create(&root.path().join("store"), &root.path().join("anchors"), &binding()).unwrap();
    let mut writer = store.writer(EPOCH).unwrap();
    let large: Vec<u8> = (0..LARGE).map(|i| (i ^ i >> 9) as u8).collect();
    for material in [&[1][..], &large, &[2]] {
        writer.put(SHELF, material).unwrap();
    }
    writer.finish(&mut store).unwrap();
    let taken = store.take_run(Run { epoch: EPOCH, shelf: SHELF, first: 0, instances: 3 }).unwrap();
    let taken: Vec<_> = taken.map(Result::unwrap).collect();
    assert!(taken[0][..] == [1] && taken[1][..] == large && taken[2][..] == [2]);
}
