//! What an owner declared of its table, checked on the arrays that it gives: nobody else can, and joins and groups rest on it.
//!
//! Python's reader of tables puts rows in order and fills a table up itself. Arrays come as whoever made them left them.

use crate::failure::Failure;
use serde::Deserialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use tacit::SavedPlan;
use tacit::program::{Data, InputType, Value};

/// What everybody knows of a table.
#[derive(Deserialize)]
struct Schema {
    name: String,
    owner: String,
    unique: Vec<Vec<String>>,
    order: Vec<String>,
}

/// What marks the input that says which rows there are, and further parts of columns.
const MARK: char = '#';

/// Refuses arrays of a table whose rows aren't as its owner declared them.
pub(crate) fn check(
    saved: &SavedPlan,
    declared: &[InputType],
    values: &[Option<Value>],
) -> Result<(), Failure> {
    let Ok(serde_json::Value::Object(mut result)) = serde_json::from_str(saved.result()) else {
        return Ok(());
    };
    let Some(tables) = result.remove("tables") else { return Ok(()) };
    let tables: Vec<Schema> = serde_json::from_value(tables)
        .map_err(|error| Failure::input(format!("the plan's tables are damaged: {error}")))?;
    for schema in tables {
        let given: BTreeMap<&str, &Data> = declared
            .iter()
            .zip(values)
            .filter(|(input, _)| input.owner == schema.owner)
            .filter_map(|(input, value)| Some((input.name.as_str(), &value.as_ref()?.data)))
            .collect();
        let title = format!("table {} of {}", schema.name, schema.owner);
        Rows::of(&schema, &given)
            .map_or(Ok(()), |rows| rows.check(&schema))
            .map_err(|wrong| Failure::input(format!("{title}{wrong}; nothing was sent")))?;
    }
    Ok(())
}

/// A table's arrays, of which each has an element for a row.
struct Rows<'a> {
    /// Which rows count.
    there: &'a [bool],
    /// Arrays by the column that they are of, and by its part.
    columns: BTreeMap<&'a str, Vec<&'a Data>>,
}

impl<'a> Rows<'a> {
    /// Those that are given, if it is known which rows count.
    fn of(schema: &Schema, given: &BTreeMap<&'a str, &'a Data>) -> Option<Self> {
        let (mut there, mut columns) = (None, BTreeMap::<&str, Vec<&Data>>::new());
        for (name, data) in given {
            let Some(rest) = name.strip_prefix(schema.name.as_str()) else { continue };
            match (rest.chars().next(), data) {
                (Some(MARK), Data::Bool(rows)) => there = Some(rows.as_slice()),
                (Some('.'), _) => {
                    columns.entry(rest[1..].trim_end_matches([MARK, '?'])).or_default().push(data);
                }
                _ => {}
            }
        }
        let there = there.filter(|there| !there.is_empty())?;
        // A damaged plan may say that columns have other lengths.
        columns.retain(|_, parts| parts.iter().all(|data| data.len() == there.len()));
        Some(Self { there, columns })
    }

    fn check(&self, schema: &Schema) -> Result<(), String> {
        self.check_filled()?;
        let keys = |names: &[String]| -> Vec<&Data> {
            names.iter().filter_map(|name| self.columns.get(name.as_str())).flatten().copied().collect()
        };
        let order = keys(&schema.order);
        let falls = (1..self.there.len()).find(|&row| compared(&order, row - 1, row) == Ordering::Greater);
        if let Some(row) = falls {
            let names = schema.order.join(", ");
            return Err(format!(
                ", row {row}: {names} is less than in the row before, and rows are declared to ascend by it: sort them"
            ));
        }
        for unique in &schema.unique {
            let key = keys(unique);
            let mut rows: Vec<usize> = (0..self.there.len()).filter(|&row| self.there[row]).collect();
            rows.sort_by(|&a, &b| compared(&key, a, b));
            let same = rows.windows(2).find(|pair| compared(&key, pair[0], pair[1]) == Ordering::Equal);
            if let Some(&[a, b]) = same {
                let names = unique.join(", ");
                return Err(format!(": rows {a} and {b} have the same {names}, which is declared unique"));
            }
        }
        Ok(())
    }

    /// What fills a table up are copies of its first row, before it.
    fn check_filled(&self) -> Result<(), String> {
        let first = self.there.iter().position(|&there| there);
        if let Some(row) = first.and_then(|first| (first..self.there.len()).find(|&row| !self.there[row])) {
            return Err(format!(
                ", row {row}: it doesn't count, and is behind rows that do: put it before them"
            ));
        }
        let first = first.unwrap_or(self.there.len() - 1);
        for (name, parts) in &self.columns {
            if let Some(row) = (0..first).find(|&row| compared(parts, row, first) != Ordering::Equal) {
                return Err(format!(
                    ", column {name:?}, row {row}: it fills the table up, and isn't as row {first}, the first that counts"
                ));
            }
        }
        Ok(())
    }
}

/// How two rows stand, by the first of these arrays in which they differ.
fn compared(arrays: &[&Data], a: usize, b: usize) -> Ordering {
    let differ = arrays.iter().map(|data| match data {
        Data::Bool(bits) => bits[a].cmp(&bits[b]),
        Data::Int(numbers) => numbers[a].cmp(&numbers[b]),
        Data::Unsigned(numbers) => numbers[a].cmp(&numbers[b]),
        Data::Wide(numbers) => numbers[a].cmp(&numbers[b]),
        Data::Float(numbers) => numbers[a].total_cmp(&numbers[b]),
    });
    differ.into_iter().find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(there: &[bool], keys: &[i64], more: &[i64]) -> String {
        let (there, keys, more) =
            (Data::Bool(there.to_vec()), Data::Int(keys.to_vec()), Data::Int(more.to_vec()));
        let given =
            BTreeMap::from([("t#00", &there), ("t.key", &keys), ("t.more", &more), ("t2.key", &more)]);
        let schema = Schema {
            name: "t".to_owned(),
            owner: "alice".to_owned(),
            unique: vec![vec!["key".to_owned()]],
            order: vec!["key".to_owned()],
        };
        Rows::of(&schema, &given).unwrap().check(&schema).err().unwrap_or_default()
    }

    #[test]
    fn rows_are_as_their_owner_declared_them() {
        let (t, f) = (true, false);
        assert_eq!(wrong(&[t, t, t], &[1, 2, 5], &[9, 9, 3]), "");
        assert_eq!(wrong(&[f, f, t, t], &[1, 1, 1, 5], &[9, 9, 9, 3]), "");
        assert_eq!(wrong(&[f, f], &[0, 0], &[0, 0]), "");
        assert!(wrong(&[t, t, t], &[1, 5, 2], &[9, 9, 3]).contains("row 2: key is less than"));
        assert!(wrong(&[t, t, t], &[1, 2, 2], &[9, 9, 3]).contains("rows 1 and 2 have the same key"));
        assert!(wrong(&[t, f, t], &[1, 2, 3], &[9, 9, 3]).contains("row 1: it doesn't count"));
        assert!(wrong(&[f, t, t], &[1, 1, 3], &[8, 9, 3]).contains("column \"more\", row 0: it fills"));
    }
}
