//! Which values and rows a run is about: what fills a program's slots, and where in tables it keeps rows.

use super::wanted::Wanted;
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use tacit_program::{Keep, Program};

/// Bytes of what a request says of slots and tables at most.
pub(crate) const MAX_FILL_BYTES: usize = 1 << 13;

/// What a program's slots are filled with in a run, and the rows of tables that it keeps.
///
/// - A slot is filled by `weights@3`, or `weights` for the newest version; or by rows of a table along its first axis, counted
///   from 0, `principals@3[17,42]`. A slot that isn't named is filled by the newest value of its own name.
/// - What a program keeps as `principals` becomes the next version of that name; or, of a table that there is, these rows become
///   it, `principals[17,42]`, and all others stay as they are; or it is kept under a name of the run's own ([`Fill::keeping`]).
///
/// A party that serves says here what requests may choose ([`Serving`](crate::Serving)): `principals[*]` or `principals@3[*]`
/// are rows of that table, whichever a request names, and `*` for a slot is any value. What a party names itself no request
/// changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fill {
    slots: BTreeMap<String, String>,
    keeps: BTreeMap<String, String>,
}

impl<S: Into<String>, V: Into<String>> FromIterator<(S, V)> for Fill {
    fn from_iter<I: IntoIterator<Item = (S, V)>>(slots: I) -> Self {
        let slots = slots.into_iter().map(|(slot, value)| (slot.into(), value.into())).collect();
        Self { slots, keeps: BTreeMap::new() }
    }
}

impl<S: Into<String>, V: Into<String>, const N: usize> From<[(S, V); N]> for Fill {
    fn from(slots: [(S, V); N]) -> Self {
        slots.into_iter().collect()
    }
}

impl Fill {
    /// Each slot is filled by the newest value of its own name, and what is kept is whole.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with this value, or these rows of a table, in a slot.
    #[must_use]
    pub fn reading(mut self, slot: &str, value: &str) -> Self {
        self.slots.insert(slot.to_owned(), value.to_owned());
        self
    }

    /// The same for what the program keeps under a name: it becomes these rows of the table of that name, `principals[17,42]`, or
    /// it is kept under another name that nothing is kept under yet.
    #[must_use]
    pub fn keeping(mut self, name: &str, becomes: &str) -> Self {
        self.keeps.insert(name.to_owned(), becomes.to_owned());
        self
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.keeps.is_empty()
    }

    /// Whether it is short enough to be asked for.
    pub(crate) fn is_short(&self) -> bool {
        let all = self.slots.iter().chain(&self.keeps);
        all.map(|(name, value)| name.len() + value.len()).sum::<usize>() <= MAX_FILL_BYTES
    }

    /// What is to fill each of a program's slots.
    ///
    /// # Errors
    /// [`Error::Refused`] if a slot is named that the program hasn't, or a text names no value.
    pub(super) fn wanted(&self, program: &Program) -> Result<Vec<Wanted>, Error> {
        let kept = program.kept();
        if let Some(unknown) = self.slots.keys().find(|name| !kept.iter().any(|slot| slot.name == **name)) {
            return Err(Error::Refused(format!("the program reads no kept value that it calls {unknown:?}")));
        }
        kept.iter().map(|slot| Wanted::parse(self.slots.get(&slot.name).unwrap_or(&slot.name))).collect()
    }

    /// What a program keeps, under the names that this run says, and the rows that each becomes; none of what is kept whole.
    ///
    /// # Errors
    /// [`Error::Refused`] if a name is said that the program doesn't keep, a text names no rows or another name, or two values
    /// would have one name.
    pub(super) fn keeps(&self, program: &Program) -> Result<Vec<(Keep, Vec<u64>)>, Error> {
        let keeps = program.keeps();
        if let Some(unknown) = self.keeps.keys().find(|name| !keeps.iter().any(|keep| keep.name == **name)) {
            return Err(Error::Refused(format!("the program keeps nothing as {unknown:?}")));
        }
        let mut all: Vec<(Keep, Vec<u64>)> = Vec::with_capacity(keeps.len());
        for keep in keeps {
            let mut kept = (keep.clone(), Vec::new());
            if let Some(text) = self.keeps.get(&keep.name) {
                let Wanted { name, version, rows } = Wanted::parse(text)?;
                if version.is_some() || (!rows.is_empty() && name != keep.name) {
                    return Err(Error::Refused(format!(
                        "{text:?} is nothing that {0} can be kept as: write {0}[17,42] for rows of the table of that name, or another \
                         name",
                        keep.name
                    )));
                }
                if rows.iter().collect::<BTreeSet<_>>().len() < rows.len() {
                    return Err(Error::Refused(format!("{text:?} names a row twice")));
                }
                (kept.0.name, kept.1) = (name, rows);
            }
            if all.iter().any(|(other, _)| other.name == kept.0.name) {
                return Err(Error::Refused(format!("two values would be kept as {:?}", kept.0.name)));
            }
            all.push(kept);
        }
        Ok(all)
    }

    /// The same in the words that all use who mean the same.
    ///
    /// # Errors
    /// [`Error::Refused`] if a text names no value, or a choice.
    pub(crate) fn canonical(&self) -> Result<Self, Error> {
        let texts = |texts: &BTreeMap<String, String>| {
            let said =
                |(name, text): (&String, &String)| Ok((name.clone(), Wanted::parse(text)?.to_string()));
            texts.iter().map(said).collect::<Result<_, Error>>()
        };
        Ok(Self { slots: texts(&self.slots)?, keeps: texts(&self.keeps)? })
    }

    /// Whether it leaves something of a program to requests.
    pub(crate) fn leaves(&self, program: &Program) -> bool {
        let slots = program.kept().into_iter().filter_map(|slot| self.slots.get(&slot.name));
        let keeps = program.keeps().iter().filter_map(|keep| self.keeps.get(&keep.name));
        slots.chain(keeps).any(|text| Choice::read(text).is_some())
    }

    /// Refuses names that none of these programs has, and texts that name neither a value nor a choice.
    ///
    /// # Errors
    /// [`Error::Refused`].
    pub(crate) fn refuse_unknown<'p>(
        &self,
        programs: impl Iterator<Item = &'p Program>,
    ) -> Result<(), Error> {
        for text in self.slots.values().chain(self.keeps.values()).filter(|text| Choice::read(text).is_none())
        {
            Wanted::parse(text)?;
        }
        let (mut slots, mut keeps) = (self.slots.clone(), self.keeps.clone());
        for program in programs {
            for slot in program.kept() {
                slots.remove(&slot.name);
            }
            for keep in program.keeps() {
                keeps.remove(&keep.name);
            }
        }
        if let Some((name, value)) = slots.iter().chain(&keeps).next() {
            return Err(Error::Refused(format!(
                "no program reads or keeps {name:?}, which is to be {value:?}"
            )));
        }
        Ok(())
    }

    /// What a run is about that a request asks for, at a party that says this of its own.
    ///
    /// # Errors
    /// What of it isn't the request's to say, or that it has to say more.
    pub(crate) fn chosen(&self, asked: &Self, program: &Program) -> Result<Self, String> {
        let slots: Vec<String> = program.kept().into_iter().map(|slot| slot.name).collect();
        let keeps: Vec<String> = program.keeps().iter().map(|keep| keep.name.clone()).collect();
        let slots = chosen("slot", (&self.slots, &asked.slots), &slots)?;
        let keeps = chosen("table", (&self.keeps, &asked.keeps), &keeps)?;
        Ok(Self { slots, keeps })
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = self.slots.iter().map(|(slot, value)| format!("{slot:?} from {value:?}"));
        let keeps = self.keeps.iter().map(|(name, rows)| format!("{name:?} to {rows:?}"));
        f.write_str(&slots.chain(keeps).collect::<Vec<_>>().join(", "))
    }
}

/// What fills some of a program's slots, or where it keeps: this party's own, and a request's where that may choose.
fn chosen(
    what: &str,
    (own, asked): (&BTreeMap<String, String>, &BTreeMap<String, String>),
    names: &[String],
) -> Result<BTreeMap<String, String>, String> {
    if let Some((name, _)) = asked.iter().find(|(name, _)| !names.contains(name)) {
        return Err(format!("the program has no {what} {name:?}"));
    }
    let mut all = BTreeMap::new();
    for name in names {
        let text = match (own.get(name).map(|text| (text, Choice::read(text))), asked.get(name)) {
            (Some((_, Some(choice))), Some(asked)) => choice.admit(name, asked)?,
            (Some((text, Some(_))), None) => {
                return Err(format!(
                    "the request has to say what {what} {name:?} is about, as {text} has it"
                ));
            }
            (Some((text, None)), None) => text.clone(),
            (None, None) => continue,
            (_, Some(_)) => {
                return Err(format!("{what} {name:?} isn't a request's to choose"));
            }
        };
        all.insert(name.clone(), text);
    }
    Ok(all)
}

/// What a request may choose.
enum Choice<'a> {
    Any,
    Rows { table: &'a str, version: Option<u64> },
}

impl<'a> Choice<'a> {
    /// What a party's own words leave to requests, if they leave anything.
    fn read(text: &'a str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        let table = text.strip_suffix("[*]")?;
        let (table, version) = match table.split_once('@') {
            Some((table, version)) => (table, Some(version.parse().ok().filter(|version| *version > 0)?)),
            None => (table, None),
        };
        if table.is_empty() || table.contains('[') {
            return None;
        }
        Some(Self::Rows { table, version })
    }

    /// What a request chooses, if it may.
    fn admit(&self, name: &str, asked: &str) -> Result<String, String> {
        let wanted = Wanted::parse(asked).map_err(|error| error.to_string())?;
        match *self {
            Self::Any => Ok(wanted.to_string()),
            Self::Rows { table, version } => {
                let is_its = wanted.version.is_none() || wanted.version == version;
                if wanted.name != table || !is_its || wanted.rows.is_empty() {
                    return Err(format!(
                        "{name:?} is for rows of {table:?} that a request names, and not for {asked:?}"
                    ));
                }
                Ok(Wanted { version, ..wanted }.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::{Builder, Dtype, Uses};

    /// Reads `keys` and `model`, and keeps `log`.
    fn program() -> Program {
        let mut build = Builder::new();
        let keys = build.kept("keys", Dtype::Bool, &[2, 8], None).unwrap();
        build.kept("model", Dtype::Bool, &[8], None).unwrap();
        build.keep(keys, "log", Uses::default()).unwrap();
        build.finish().unwrap()
    }

    #[test]
    fn a_request_chooses_what_is_left_to_it_and_nothing_else() {
        let program = program();
        let own = Fill::from([("keys", "principals@3[*]"), ("model", "model@2")]).keeping("log", "log[*]");
        let asked = Fill::from([("keys", "principals[17, 42]")]).keeping("log", "log[4,5]");
        let chosen = own.chosen(&asked, &program).unwrap();
        let run =
            Fill::from([("keys", "principals@3[17,42]"), ("model", "model@2")]).keeping("log", "log[4,5]");
        assert_eq!(chosen, run);
        assert_eq!(chosen.keeps(&program).unwrap()[0].1, [4, 5]);
        for (own, asked, says) in [
            (&own, Fill::new(), "has to say what slot"),
            (&own, Fill::from([("keys", "principals[1,2]")]), "has to say what table \"log\""),
            (&own, asked.clone().reading("model", "model@1"), "isn't a request's to choose"),
            (&own, asked.clone().reading("other", "x"), "has no slot \"other\""),
            (&own, asked.clone().reading("keys", "others[1,2]"), "for rows of \"principals\""),
            (&own, asked.clone().reading("keys", "principals@2[1,2]"), "for rows of \"principals\""),
            (&own, asked.clone().reading("keys", "principals@3"), "for rows of \"principals\""),
            (&own, asked.clone().reading("keys", "*"), "names no kept value"),
            (&Fill::new(), asked.clone(), "isn't a request's to choose"),
        ] {
            let refused = own.chosen(&asked, &program).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
        let any = Fill::from([("keys", "*")]);
        let chosen = any.chosen(&Fill::from([("keys", "k@7")]), &program).unwrap();
        assert_eq!(chosen, Fill::from([("keys", "k@7")]));
        // Without a request the same words fill nothing.
        assert!(any.wanted(&program).is_err() && own.keeps(&program).is_err());
    }

    #[test]
    fn rows_are_kept_once_and_under_the_programs_name() {
        let program = program();
        for rows in ["log@1", "log@1[2]", "other[2]", "log[2,3,2]", "log[]"] {
            assert!(Fill::new().keeping("log", rows).keeps(&program).is_err(), "{rows}");
        }
        assert!(Fill::new().keeping("keys", "keys[1]").keeps(&program).is_err());
        let keeps = |fill: Fill| {
            let (keep, rows) = fill.keeps(&program).unwrap().swap_remove(0);
            (keep.name, rows)
        };
        assert_eq!(keeps(Fill::new()), ("log".to_owned(), vec![]));
        assert_eq!(keeps(Fill::new().keeping("log", "log 7")), ("log 7".to_owned(), vec![]));
        assert_eq!(keeps(Fill::new().keeping("log", "log[7]")), ("log".to_owned(), vec![7]));
        assert!(Fill::from([("keys", "*")]).refuse_unknown([&program].into_iter()).is_ok());
        assert!(Fill::from([("kyes", "*")]).refuse_unknown([&program].into_iter()).is_err());
        for text in ["principals@x[*]", "principals@0[*]", "[*]", "principals[*] ", "a[1][*]", ""] {
            let fill = Fill::from([("keys", text)]);
            assert!(fill.refuse_unknown([&program].into_iter()).is_err(), "{text:?}");
            assert!(!fill.leaves(&program), "{text:?}");
        }
        assert!(Fill::from([("keys", "principals[*]")]).leaves(&program));
        assert!(Fill::new().keeping("log", "*").leaves(&program) && !Fill::new().leaves(&program));
        let said = Fill::from([("keys", "keys@3[4, 5]")]).canonical().unwrap();
        assert_eq!(said, Fill::from([("keys", "keys@3[4,5]")]));
        assert!(Fill::from([("keys", "keys[*]")]).canonical().is_err());
        assert!(!Fill::from([("keys", "x".repeat(MAX_FILL_BYTES))]).is_short());
    }
}
