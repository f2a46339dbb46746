//! What one run needs of a party's state, apart from it, so that others go on meanwhile.

use super::fill::Fill;
use super::values::{Begun, State, at};
use super::versions::Name;
use super::wanted::Wanted;
use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tacit_program::Program;
use tacit_store::KeptStanding as Standing;

impl State {
    /// What a run of a program needs of it, in memory: of what fills its slots the shares that may be picked, and of
    /// what it keeps the versions there are. What the run keeps or settles goes to the state itself at once, durably;
    /// only then is it held for a moment.
    ///
    /// # Errors
    /// [`Error::Refused`] if it fills what the program hasn't, or too many versions are kept; [`Error::Store`].
    pub(crate) fn apart(home: &Arc<Mutex<Self>>, program: &Program, fill: &Fill) -> Result<Self, Error> {
        let (slots, keeps) = (fill.wanted(program)?, fill.keeps(program)?);
        Self::needed(home, &slots, keeps.iter().map(|(keep, _)| &keep.name))
    }

    /// The same of what gives the value of a name fresh shares.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn apart_of(home: &Arc<Mutex<Self>>, name: &str) -> Result<Self, Error> {
        let slot = Wanted { name: name.to_owned(), version: None, rows: Vec::new() };
        Self::needed(home, &[slot], [])
    }

    fn needed<'k>(
        home: &Arc<Mutex<Self>>,
        slots: &'k [Wanted],
        kept: impl IntoIterator<Item = &'k String>,
    ) -> Result<Self, Error> {
        let mut own = at(home);
        for Wanted { name, version, .. } in slots {
            for number in own.pickable(name, *version) {
                // What is not this party's to read is refused where it is picked, and trouble with the folder here.
                if let Err(error @ Error::Store(_)) = own.share(name, number) {
                    return Err(error);
                }
            }
        }
        let mut names = BTreeMap::new();
        for name in slots.iter().map(|slot| &slot.name).chain(kept) {
            let Some(known) = own.names.get(name) else { continue };
            let wanted = slots.iter().filter(|slot| slot.name == *name).filter_map(|slot| slot.version);
            let told = own.told(name, &wanted.collect::<Vec<_>>());
            let version = |number: u64| Some((number, known.versions.get(&number)?.clone()));
            let versions = told.versions.iter().filter_map(|told| version(told.number)).collect();
            names.insert(name.clone(), Name { last: known.last, versions });
        }
        let begun = own.claims.tick();
        own.claims.begun.insert(begun);
        drop(own);
        let begun = Some(Begun { home: home.clone(), at: begun });
        Ok(Self { names, home: Some(home.clone()), begun, ..Self::default() })
    }

    /// The same anew, as the state is by now; nothing if this isn't apart from another one.
    ///
    /// # Errors
    /// As [`State::apart`].
    pub(super) fn look_again(&mut self, program: &Program, fill: &Fill) -> Result<(), Error> {
        if let Some(home) = self.home.clone() {
            *self = Self::apart(&home, program, fill)?;
        }
        Ok(())
    }

    /// The versions of a name that a run may read here: the one that is wanted; or the last that all have, and those after it of
    /// which that isn't known.
    fn pickable(&self, name: &str, wanted: Option<u64>) -> Vec<u64> {
        let versions = || self.names.get(name).into_iter().flat_map(|known| &known.versions);
        let settled = versions().filter(|(_, version)| version.standing == Standing::Settled);
        let last = settled.map(|(number, _)| *number).max();
        let is_pickable = |number: u64| wanted.map_or(last <= Some(number), |wanted| wanted == number);
        let live = versions().filter(|(_, version)| version.standing != Standing::Dropped);
        live.map(|(number, _)| *number).filter(|number| is_pickable(*number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::about::About;
    use super::super::settle::Passable;
    use super::super::versions::{Made, Version};
    use super::*;
    use crate::{Compiled, Local, Residents, Run};
    use tacit_program::{Builder, Data, Dtype, Range, Recipient, Uses, Value};

    fn keeper() -> Arc<Compiled> {
        let mut build = Builder::new();
        let x = build.input("P0", "x", Dtype::Int, &[1], Range::new(-9, 9)).unwrap();
        build.keep(x, "x", Uses::default()).unwrap();
        Compiled::new(build.finish().unwrap()).unwrap()
    }

    fn reader() -> Arc<Compiled> {
        let mut build = Builder::new();
        let x = build.kept("x", Dtype::Int, &[1], Range::new(-9, 9)).unwrap();
        build.reveal(x, Recipient::All).unwrap();
        Compiled::new(build.finish().unwrap()).unwrap()
    }

    fn number(number: i64) -> Value {
        Value { shape: vec![1], data: Data::Int(vec![number]) }
    }

    /// Three parties' states, of which each run has what it needs apart.
    struct Homes {
        local: Local,
        homes: Vec<Arc<Mutex<State>>>,
    }

    impl Homes {
        fn new() -> Self {
            let local = Local::new("replicated").unwrap();
            let homes = local.parties.iter().map(|_| Arc::new(Mutex::new(State::new()))).collect();
            Self { local, homes }
        }

        fn apart(&self, compiled: &Compiled) -> Vec<State> {
            let apart = |home| State::apart(home, compiled.program(), &Fill::new()).unwrap();
            self.homes.iter().map(apart).collect()
        }

        fn run(
            &self,
            compiled: &Arc<Compiled>,
            states: &mut [State],
            inputs: &[Value],
        ) -> Result<Run, Error> {
            let fill = Fill::new();
            let own = states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
            self.local.run_on(compiled, own, inputs, &|_, _| ())
        }
    }

    /// Keeps numbers as versions of one name, in folders.
    fn keep(local: &Local, folder: &std::path::Path, numbers: &[i64]) {
        let mut states = local.open_states(folder).unwrap();
        for number in numbers {
            let fill = Fill::new();
            let own = states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
            local.run_on(&keeper(), own, &[self::number(*number)], &|_, _| ()).unwrap();
        }
    }

    #[test]
    fn a_run_has_what_it_may_read_in_memory_and_nothing_else() {
        let (local, folder) = (Local::new("replicated").unwrap(), tempfile::tempdir().unwrap());
        keep(&local, folder.path(), &[1, 2, 3]);
        let read = |fill: &Fill| -> (Vec<u64>, Vec<u64>) {
            let home = local.open_states(folder.path()).unwrap().swap_remove(0);
            let home = Arc::new(Mutex::new(home));
            let apart = State::apart(&home, reader().program(), fill).unwrap();
            let has = |state: &State| {
                let own = state.names["x"].versions.iter().filter(|(_, version)| version.share.is_some());
                own.map(|(number, _)| *number).collect()
            };
            (has(&apart), has(&at(&home)))
        };
        assert_eq!(read(&Fill::new()), (vec![3], vec![3]));
        assert_eq!(read(&[("x", "x@1")].into()), (vec![1], vec![1]));
        // One that isn't there is for all parties to refuse.
        assert_eq!(read(&[("x", "x@7")].into()), (vec![], vec![]));
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_said_to_be() {
        let (local, folder) = (Local::new("replicated").unwrap(), tempfile::tempdir().unwrap());
        keep(&local, folder.path(), &[1]);
        let home = Arc::new(Mutex::new(local.open_states(folder.path()).unwrap().swap_remove(0)));
        std::fs::remove_dir_all(folder.path().join(&local.parties[0])).unwrap();
        let apart = State::apart(&home, reader().program(), &Fill::new()).map(drop);
        assert!(matches!(apart, Err(Error::Store(_))), "{apart:?}");
    }

    /// One party's share isn't as it was written: no run reads it, and others go on.
    #[test]
    fn a_share_that_was_changed_costs_the_runs_that_read_it() {
        let (local, folder) = (Local::new("replicated").unwrap(), tempfile::tempdir().unwrap());
        keep(&local, folder.path(), &[1]);
        let home = folder.path().join(&local.parties[1]);
        let files = std::fs::read_dir(&home).unwrap().map(|file| file.unwrap().path());
        let shares = files.filter(|file| file.is_file() && file.file_name().unwrap().len() > 20);
        for share in shares {
            let mut bytes = std::fs::read(&share).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            std::fs::write(&share, bytes).unwrap();
        }
        let mut states = local.open_states(folder.path()).unwrap();
        let mut read = |compiled: &Arc<Compiled>, inputs: &[Value]| {
            let fill = Fill::new();
            let own = states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
            local.run_on(compiled, own, inputs, &|_, _| ())
        };
        let refused = read(&reader(), &[]).unwrap_err();
        assert!(matches!(refused, Error::Refused(_)), "{refused:?}");
        read(&keeper(), &[number(2)]).unwrap();
        assert_eq!(read(&reader(), &[]).unwrap().outputs, [Some(number(2))]);
    }

    /// Some took what they need before another run kept the next version, and some after: all look again, and read the new one.
    #[test]
    fn who_looked_before_another_run_kept_something_looks_again() {
        let homes = Homes::new();
        let keep = |kept: i64| homes.run(&keeper(), &mut homes.apart(&keeper()), &[number(kept)]).unwrap();
        for early in 0..3 {
            let last = 2 * early as i64 + 1;
            keep(last - 1);
            let before = homes.apart(&reader()).swap_remove(early);
            keep(last);
            let mut states = homes.apart(&reader());
            states[early] = before;
            let done = homes.run(&reader(), &mut states, &[]).unwrap();
            assert_eq!(done.outputs, [Some(number(last))]);
            // One that has no other place to look is refused as ever.
            let mut states = homes.apart(&reader());
            states[early] = State::new();
            let refused = homes.run(&reader(), &mut states, &[]).unwrap_err().to_string();
            assert!(refused.contains(&format!("P{early} lacks x@")), "{refused}");
        }
    }

    #[test]
    fn what_a_run_keeps_apart_is_the_states_at_once_and_no_number_comes_twice() {
        let homes = Homes::new();
        let keep = |states: &mut [State], kept: i64| homes.run(&keeper(), states, &[number(kept)]);
        let (mut first, mut second) = (homes.apart(&keeper()), homes.apart(&keeper()));
        assert_eq!(keep(&mut first, 5).unwrap().report.kept, ["x@1"]);
        for home in &homes.homes {
            assert_eq!(at(home).version("x", 1).unwrap().standing, Standing::Settled);
        }
        // Two that began together, which no honest first party lets be.
        let refused = keep(&mut second, 6).unwrap_err().to_string();
        assert!(refused.contains("another run has kept x@1 meanwhile"), "{refused}");
        assert_eq!(keep(&mut homes.apart(&keeper()), 7).unwrap().report.kept, ["x@2"]);
    }

    /// A version of `x` with the first one's share, by a run that began with this one.
    fn made(state: &State, number: u64, after: u64) -> Made {
        let Version { about, digests, share, .. } = state.version("x", 1).unwrap().clone();
        let about = About { version: number, session: [number as u8; 32], ..about };
        Made { about, after: Some(after), digests, share: share.unwrap() }
    }

    /// A run began when the second version wasn't known to be all parties', and another one has read that since: an
    /// answer came of it, so the run keeps nothing in its place.
    #[test]
    fn nothing_comes_in_the_place_of_a_version_that_was_settled_meanwhile() {
        let homes = Homes::new();
        let keep = |kept: i64| homes.run(&keeper(), &mut homes.apart(&keeper()), &[number(kept)]).unwrap();
        keep(1);
        for home in &homes.homes {
            let second = made(&at(home), 2, 1);
            at(home).put(vec![second]).unwrap();
            let mut begun = State::apart(home, keeper().program(), &Fill::new()).unwrap();
            let third = made(&begun, 3, 1);
            at(home).settle("x", 2, &Passable::new()).unwrap();
            let refused = begun.put(vec![third]).unwrap_err().to_string();
            assert!(refused.contains("another run has kept"), "{refused}");
            assert_eq!(at(home).version("x", 2).unwrap().standing, Standing::Settled);
            assert!(at(home).version("x", 3).is_none());
        }
        assert_eq!(keep(4).report.kept, ["x@3"]);
    }

    /// A run began before its value was dropped everywhere. What it keeps may have all of a table that was dropped.
    #[test]
    fn nothing_follows_a_version_that_was_dropped_meanwhile() {
        let homes = Homes::new();
        let keep = |states: &mut [State]| homes.run(&keeper(), states, &[number(2)]);
        homes.run(&keeper(), &mut homes.apart(&keeper()), &[number(1)]).unwrap();
        let mut begun = homes.apart(&keeper());
        for home in &homes.homes {
            at(home).drop_value("x").unwrap();
        }
        let refused = keep(&mut begun).unwrap_err().to_string();
        assert!(refused.contains("x@1, which x@2 is to follow, was dropped meanwhile"), "{refused}");
        for home in &homes.homes {
            assert!(at(home).list().iter().all(|listed| listed.standing != Standing::Settled));
        }
        assert_eq!(keep(&mut homes.apart(&keeper())).unwrap().report.kept, ["x@2"]);
    }

    /// The other order: such a run has put the third version away, and then one that looked before would read the
    /// second. It has no answer, or the name would have had a value that its later ones were made without. What was
    /// settled before may still be read.
    #[test]
    fn what_a_later_version_was_made_without_is_read_by_nobody() {
        let homes = Homes::new();
        let keep = |kept: i64| homes.run(&keeper(), &mut homes.apart(&keeper()), &[number(kept)]).unwrap();
        let read = |states: &mut [State]| homes.run(&reader(), states, &[]);
        keep(1);
        let mut oldest = homes.apart(&reader());
        let put = |number: u64, after: u64| {
            for home in &homes.homes {
                let mut state = at(home);
                let made = made(&state, number, after);
                state.put(vec![made]).unwrap();
            }
        };
        put(2, 1);
        let [mut early, mut earlier] = [(), ()].map(|()| homes.apart(&reader()));
        put(3, 1);
        let refused = read(&mut early).unwrap_err().to_string();
        assert!(refused.contains("another run has kept x@3 meanwhile"), "{refused}");
        // Nor once the third is settled, and the second gone with it.
        assert_eq!(read(&mut homes.apart(&reader())).unwrap().outputs, [Some(number(1))]);
        let refused = read(&mut earlier).unwrap_err().to_string();
        assert!(refused.contains("another run has kept x@3 meanwhile"), "{refused}");
        for home in &homes.homes {
            assert_eq!(at(home).version("x", 3).unwrap().standing, Standing::Settled);
        }
        assert_eq!(read(&mut oldest).unwrap().outputs, [Some(number(1))]);
        // One that was made of what is read passes nothing over.
        put(4, 3);
        let mut early = homes.apart(&reader());
        at(&homes.homes[0]).settle("x", 4, &Passable::new()).unwrap();
        put(5, 4);
        assert_eq!(read(&mut early).unwrap().outputs, [Some(number(1))]);
    }
}
