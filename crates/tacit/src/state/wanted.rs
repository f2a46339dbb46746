//! What fills a slot, as a run says it: `weights`, `weights@3`, or rows of a table, `principals@3[17,42]`.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Rows that one slot takes of a table at most.
const MAX_ROWS: usize = 1 << 16;

/// The value that is to fill a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) name: String,
    /// The version that is wanted; the newest if none is.
    pub(super) version: Option<u64>,
    /// The rows that are wanted, in this order, counted from 0; all if none are.
    pub(super) rows: Vec<u64>,
}

impl Wanted {
    /// What the text says.
    ///
    /// # Errors
    /// [`Error::Refused`] if it names no kept value.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let refused = || {
            Error::Refused(format!(
                "{text:?} names no kept value: write weights@3, or weights for the newest, and behind that the rows of a table: \
                 weights@3[17,42]"
            ))
        };
        let (value, rows) = match text.split_once('[') {
            Some((value, rows)) => {
                let rows = rows.strip_suffix(']').ok_or_else(refused)?.split(',');
                let rows = rows.map(|row| row.trim().parse()).collect::<Result<Vec<u64>, _>>();
                (value, rows.ok().filter(|rows| rows.len() <= MAX_ROWS).ok_or_else(refused)?)
            }
            None => (text, Vec::new()),
        };
        let (name, version) = match value.split_once('@') {
            Some((name, version)) => {
                (name, Some(version.parse().ok().filter(|version| *version > 0).ok_or_else(refused)?))
            }
            None => (value, None),
        };
        // A star says what a request may choose, and names nothing.
        if name.is_empty() || name == "*" {
            return Err(refused());
        }
        Ok(Self { name: name.to_owned(), version, rows })
    }

    /// The same of a version that was picked, as it is reported.
    pub(super) fn picked(&self, version: u64) -> String {
        Self { version: Some(version), ..self.clone() }.to_string()
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(version) = self.version {
            write!(f, "@{version}")?;
        }
        if self.rows.is_empty() {
            return Ok(());
        }
        write!(f, "[{}]", self.rows.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_versions_and_rows_are_read_and_nothing_else() {
        for text in ["w", "w@3", "w[0]", "w@3[17,42,17]", "my keys@1"] {
            assert_eq!(Wanted::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Wanted::parse("w@3[1, 2]").unwrap().rows, [1, 2]);
        for text in [
            "", "@3", "w@", "w@0", "w@x", "w@1@2", "w[", "w[]", "w[1", "w[1]x", "w[-1]", "w[a]", "[1]",
            "w[1]@3", "*", "w[*]",
        ] {
            assert!(Wanted::parse(text).unwrap_err().to_string().contains("names no kept value"), "{text}");
        }
    }
}
