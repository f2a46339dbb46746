use super::*;
use crate::files::fault::{Fault, plant, seen};
use std::fs;
use tempfile::TempDir;

fn value(name: &str, version: u64, about: Vec<u8>, share: &[u8]) -> KeptValue {
    KeptValue { name: name.to_owned(), version, about, share: share.to_vec().into() }
}

const KEY: Option<[u8; 32]> = Some([7; 32]);

fn temporary() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn open(path: &Path) -> Result<KeptFolder, Error> {
    KeptFolder::open(path, KEY)
}

fn standings(folder: &KeptFolder) -> Vec<(u64, KeptStanding)> {
    folder.entries().iter().map(|entry| (entry.version, entry.standing)).collect()
}

#[test]
fn what_is_put_away_is_there_when_it_is_opened_again() {
    let place = temporary();
    let path = place.path().join("state");
    let mut folder = open(&path).unwrap();
    assert!(matches!(open(&path), Err(Error::InUse { .. })));
    folder.put(vec![value("w", 1, vec![1], b"first")]).unwrap();
    folder.put(vec![value("w", 2, vec![2], b"second")]).unwrap();
    folder.put(vec![value("käse / ..", 1, vec![3], b"")]).unwrap();
    folder.settle(&[("w", 1)], &[]).unwrap();
    folder.drop_version("w", 2, vec![]).unwrap();
    drop(folder);
    let folder = open(&path).unwrap();
    let (p, s, d) = (KeptStanding::Pending, KeptStanding::Settled, KeptStanding::Dropped);
    assert_eq!(standings(&folder), [(1, s), (2, d), (1, p)]);
    assert_eq!(*folder.share("w", 1).unwrap(), b"first");
    assert!(folder.share("w", 2).is_err() && folder.share("w", 3).is_err());
    assert_eq!(folder.share("käse / ..", 1).unwrap().len(), 0);
    for file in files::names(&path).unwrap() {
        let bytes = std::fs::read(path.join(&file)).unwrap();
        assert!(!bytes.windows(5).any(|window| window == b"first"), "{file}");
    }
}

#[test]
fn a_number_that_is_passed_is_known_and_has_no_share() {
    let place = temporary();
    let path = place.path().join("state");
    let mut folder = filled(&path);
    folder.drop_version("w", 2, vec![2]).unwrap();
    for (number, forgotten) in [(7, &[][..]), (9, &[7, 1])] {
        folder.pass("w", number, vec![number as u8], forgotten).unwrap();
        assert!(matches!(folder.pass("w", number, vec![], &[]), Err(Error::KeptTwice { .. })));
        let put = folder.put(vec![value("w", number, vec![], b"late")]);
        assert!(matches!(put, Err(Error::KeptTwice { .. })));
    }
    assert!(matches!(folder.pass("w", 1, vec![], &[]), Err(Error::KeptTwice { .. })));
    drop(folder);
    let folder = open(&path).unwrap();
    let (s, d) = (KeptStanding::Settled, KeptStanding::Dropped);
    assert_eq!(standings(&folder), [(1, s), (2, d), (9, d)], "what isn't dropped isn't forgotten");
    assert!(folder.share("w", 9).is_err());
}

#[test]
fn a_changed_byte_another_key_and_a_swapped_file_are_refused() {
    let place = temporary();
    let path = place.path().join("state");
    let mut folder = open(&path).unwrap();
    folder.put(vec![value("a", 1, vec![1], b"share of a")]).unwrap();
    folder.put(vec![value("b", 1, vec![2], b"share of b")]).unwrap();
    drop(folder);
    let other = KeptFolder::open(&path, Some([8; 32])).unwrap_err();
    assert!(matches!(other, Error::Sealed { .. }), "{other}");
    let [a, b] = ["a", "b"].map(|name| path.join(file_of(name, 1)));
    let (own, foreign) = (std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap());
    for at in 0..own.len() {
        let mut changed = own.clone();
        changed[at] ^= 0x10;
        std::fs::write(&a, &changed).unwrap();
        assert!(matches!(open(&path).unwrap().share("a", 1), Err(Error::Sealed { .. })), "{at}");
    }
    std::fs::write(&a, &foreign).unwrap();
    assert!(matches!(open(&path).unwrap().share("a", 1), Err(Error::Sealed { .. })));
    std::fs::write(&a, &own).unwrap();
    assert_eq!(*open(&path).unwrap().share("a", 1).unwrap(), b"share of a");
    let index = std::fs::read(path.join(INDEX)).unwrap();
    for at in (0..index.len()).step_by(5) {
        let mut changed = index.clone();
        changed[at] ^= 1;
        std::fs::write(path.join(INDEX), &changed).unwrap();
        assert!(matches!(open(&path), Err(Error::Sealed { .. })), "{at}");
    }
}

/// Shares that no index names are erased when a folder is opened, so one whose index is gone is refused.
#[test]
fn a_folder_without_its_index_loses_nothing() {
    let dir = temporary();
    let path = dir.path().join("kept");
    let mut folder = open(&path).unwrap();
    folder.put(vec![value("x", 1, vec![1], b"share")]).unwrap();
    drop(folder);
    let [index, aside] = [path.join(INDEX), dir.path().join("aside")];
    std::fs::rename(&index, &aside).unwrap();
    for refused in [open(&path).unwrap_err(), KeptFolder::look(&path, KEY).unwrap_err()] {
        assert!(refused.to_string().contains("it is gone, and shares of values are there"), "{refused}");
    }
    std::fs::rename(&aside, &index).unwrap();
    assert_eq!(&*open(&path).unwrap().share("x", 1).unwrap(), b"share");
}

#[test]
fn other_folders_are_left_alone_and_an_own_key_is_made_once() {
    let place = temporary();
    let path = place.path().join("own");
    files::folder(&path).unwrap();
    std::fs::write(path.join("letter.txt"), b"dear").unwrap();
    assert!(matches!(open(&path), Err(Error::NotAStore { .. })));
    let path = place.path().join("state");
    assert!(KeptFolder::open(&path, None).is_ok());
    assert!(matches!(open(&path), Err(Error::SealedUnder { is_own: true, .. })));
    KeptFolder::open(&path, None).unwrap().put(vec![value("a", 1, vec![], b"x")]).unwrap();
    assert_eq!(*KeptFolder::open(&path, None).unwrap().share("a", 1).unwrap(), b"x");
}

#[test]
fn a_folder_of_a_party_is_not_opened_without_its_key() {
    let place = temporary();
    let path = place.path().join("state");
    open(&path).unwrap().put(vec![value("a", 1, vec![], b"x")]).unwrap();
    assert!(matches!(KeptFolder::open(&path, None), Err(Error::SealedUnder { is_own: false, .. })));
    // No key was made in it by that.
    assert!(open(&path).is_ok());
}

#[test]
fn a_copy_is_put_back_whole_or_not_at_all() {
    let place = temporary();
    let [path, back, copy] = ["state", "back", "copy"].map(|name| place.path().join(name));
    let folder = filled(&path);
    folder.export(&copy).unwrap();
    assert!(matches!(folder.export(&copy), Err(Error::Taken { .. })));
    drop(folder);
    assert!(matches!(KeptFolder::import(&copy, &path, KEY), Err(Error::Taken { .. })));
    let bytes = std::fs::read(&copy).unwrap();
    assert!(!bytes.windows(5).any(|window| window == b"first"));
    let new = place.path().join("back.new");
    for key in [None, Some([8; 32])] {
        assert!(KeptFolder::import(&copy, &back, key).is_err() && !back.exists() && !new.exists());
    }
    std::fs::create_dir(&new).unwrap();
    std::fs::write(new.join("own"), b"of somebody else").unwrap();
    assert!(matches!(KeptFolder::import(&copy, &back, KEY), Err(Error::Taken { .. })));
    assert_eq!(std::fs::read(new.join("own")).unwrap(), b"of somebody else");
    std::fs::remove_dir_all(&new).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(&copy, &changed).unwrap();
        let refused = KeptFolder::import(&copy, &back, KEY);
        assert!(matches!(refused, Err(Error::Sealed { .. })) && !back.exists(), "{at}: {refused:?}");
        std::fs::write(&copy, &bytes[..at]).unwrap();
        assert!(KeptFolder::import(&copy, &back, KEY).is_err() && !back.exists(), "{at}");
    }
    std::fs::write(&copy, &bytes).unwrap();
    drop(KeptFolder::import(&copy, &back, KEY).unwrap());
    plant(Fault::Nothing);
    drop(KeptFolder::import(&copy, &place.path().join("counted"), KEY).unwrap());
    for step in 0..seen().len() {
        let path = place.path().join(format!("back-{step}"));
        plant(Fault::From(step));
        assert!(KeptFolder::import(&copy, &path, KEY).is_err(), "{step}");
        plant(Fault::Nothing);
        let again = if path.exists() {
            open(&path)
        } else {
            // What was begun is for whoever called it to remove.
            let new = path.with_file_name(format!("back-{step}.new"));
            if new.exists() {
                assert!(matches!(KeptFolder::import(&copy, &path, KEY), Err(Error::Taken { .. })), "{step}");
                std::fs::remove_dir_all(new).unwrap();
            }
            KeptFolder::import(&copy, &path, KEY)
        };
        assert_eq!(standings(&again.unwrap()), standings(&open(&back).unwrap()), "{step}");
    }
    let folder = open(&back).unwrap();
    assert_eq!(*folder.share("w", 2).unwrap(), b"second");
}

/// What each change is, once the folder holds a settled version and a pending one.
fn change(folder: &mut KeptFolder, which: usize) -> Result<(), Error> {
    match which {
        0 => folder.put(vec![value("w", 3, vec![3], b"third"), value("w", 4, vec![4], b"fourth")]),
        1 => folder.settle(&[("w", 2)], &[]),
        2 => folder.settle(&[("w", 2)], &[("w", 1, vec![])]),
        3 => folder.pass("w", 9, vec![9], &[]),
        _ => folder.drop_version("w", 1, vec![]),
    }
}

fn filled(path: &Path) -> KeptFolder {
    let mut folder = open(path).unwrap();
    folder.put(vec![value("w", 1, vec![1], b"first")]).unwrap();
    folder.settle(&[("w", 1)], &[]).unwrap();
    folder.put(vec![value("w", 2, vec![2], b"second")]).unwrap();
    folder
}

/// What there is can be looked at while another process has it open, and is as whole as what that has; nothing is
/// changed or made.
#[test]
fn who_looks_at_a_folder_needs_no_lock_and_changes_nothing() {
    let place = temporary();
    let path = place.path().join("kept");
    assert!(matches!(KeptFolder::look(&path, KEY), Err(Error::File { .. })));
    assert!(!path.exists());
    let mut folder = filled(&path);
    assert!(matches!(open(&path), Err(Error::InUse { .. })));
    let names = files::names(&path).unwrap();
    assert_eq!(KeptFolder::look(&path, KEY).unwrap(), folder.entries());
    // What a change that was broken off has left is for whoever opens it to erase.
    fs::write(path.join("index.new"), b"half").unwrap();
    assert_eq!(KeptFolder::look(&path, KEY).unwrap(), folder.entries());
    fs::remove_file(path.join("index.new")).unwrap();
    assert_eq!(files::names(&path).unwrap(), names);
    change(&mut folder, 2).unwrap();
    assert_eq!(KeptFolder::look(&path, KEY).unwrap(), folder.entries());
    for key in [None, Some([9; 32])] {
        assert!(KeptFolder::look(&path, key).is_err());
    }
    fs::write(path.join("notes.txt"), b"mine").unwrap();
    assert!(matches!(KeptFolder::look(&path, KEY), Err(Error::NotAStore { .. })));
}

/// Whichever operation on files fails, alone or with all after it as if the process had died: the folder opens, and holds what
/// it held before or what it holds after the change; what it holds can be read.
#[test]
fn every_change_is_whole_or_has_not_been_whatever_fails() {
    for which in 0..5 {
        let place = temporary();
        let path = place.path().join("counted");
        let mut folder = filled(&path);
        let before = standings(&folder);
        plant(Fault::Nothing);
        change(&mut folder, which).unwrap();
        let (steps, after) = (seen().len(), standings(&folder));
        assert!(steps > 3 && before != after);
        for step in 0..steps {
            for fault in [Fault::Only(step), Fault::From(step)] {
                let path = place.path().join(format!("{which}-{step}-{fault:?}").replace(['(', ')'], "-"));
                let mut folder = filled(&path);
                plant(fault);
                let failed = change(&mut folder, which);
                assert!(failed.is_err(), "{fault:?}");
                assert_eq!(folder.put(vec![value("other", 1, vec![], b"")]), Err(Error::Closed));
                plant(Fault::Nothing);
                drop(folder);
                let folder = open(&path).unwrap();
                let now = standings(&folder);
                assert!(now == before || now == after, "{which} {fault:?}: {now:?}");
                for (version, standing) in now {
                    let share = folder.share("w", version);
                    assert_eq!(
                        share.is_ok(),
                        standing != KeptStanding::Dropped,
                        "{which} {fault:?} {version}"
                    );
                }
                // Nothing is left of what isn't held.
                let live = folder.entries().iter().filter(|entry| entry.standing != KeptStanding::Dropped);
                assert_eq!(files::names(&path).unwrap().len(), 2 + live.count());
            }
        }
    }
}
