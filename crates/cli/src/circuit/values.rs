//! The values of an input: one for all instances, or a file with a line for each.

use crate::circuit::form::Form;
use crate::failure::Failure;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The values of an input, read through once.
#[derive(Debug)]
pub(crate) enum Given {
    /// The same for all instances.
    Same {
        /// Its packed bits.
        value: Vec<u64>,
        /// Whether it is a file's only line.
        file: bool,
    },
    /// One for each instance.
    Each {
        /// A file with a value on every line.
        path: PathBuf,
        /// How many there are, 2 at least.
        count: u64,
    },
}

impl Given {
    /// A value, or `@` and the name of a file whose values are checked and counted.
    ///
    /// # Errors
    /// A text for the user; of a file with its name and line.
    pub(crate) fn new(text: &str, form: Form, width: usize) -> Result<Self, String> {
        let Some(path) = text.strip_prefix('@') else {
            return Ok(Self::Same { value: form.read(text.as_bytes(), width)?, file: false });
        };
        let mut lines = Lines::open(Path::new(path), form, width)?;
        let first = lines.next()?.ok_or_else(|| format!("{path}: no values"))?;
        let mut count = 1;
        while lines.next()?.is_some() {
            count += 1;
        }
        if count == 1 {
            return Ok(Self::Same { value: first, file: true });
        }
        Ok(Self::Each { path: path.into(), count })
    }

    /// How many values a file has.
    fn told(&self) -> Option<u64> {
        match self {
            Self::Same { file, .. } => file.then_some(1),
            Self::Each { count, .. } => Some(*count),
        }
    }
}

/// How many instances there are: as many as the files say that have more than one value, and as `count` says.
/// `None` if nothing says it.
///
/// # Errors
/// If they don't all say the same.
pub(crate) fn instances(given: &[Option<Given>], count: Option<u64>) -> Result<Option<u64>, Failure> {
    let told = given.iter().enumerate().filter_map(|(input, given)| Some((input, given.as_ref()?.told()?)));
    let many: Vec<(usize, u64)> = told.clone().filter(|&(_, values)| values > 1).collect();
    let Some(&(first, values)) = many.first() else {
        return Ok(count.or_else(|| told.map(|(_, values)| values).next()));
    };
    if let Some((other, others)) = many.iter().find(|&&(_, others)| others != values) {
        return Err(Failure::input(format!(
            "input {first} has {values} values and input {other} has {others}: an input has one, or as many as \
             the others"
        )));
    }
    match count {
        Some(count) if count != values => {
            Err(Failure::input(format!("--count says {count}, but input {first} has {values} values")))
        }
        _ => Ok(Some(values)),
    }
}

/// Reads a file of values, line by line.
#[derive(Debug)]
pub(crate) struct Lines {
    reader: BufReader<File>,
    path: PathBuf,
    form: Form,
    width: usize,
    /// Lines read so far.
    read: u64,
    line: Vec<u8>,
}

impl Lines {
    /// Files are read twice, and so have to be such that they can be.
    pub(crate) fn open(path: &Path, form: Form, width: usize) -> Result<Self, String> {
        let can_not = |error: &std::io::Error| format!("{} can't be read: {error}", path.display());
        // Asked before it is opened: a pipe that nobody writes to would never be open.
        if !std::fs::metadata(path).map_err(|error| can_not(&error))?.is_file() {
            return Err(format!("{} is no file that can be read twice", path.display()));
        }
        let file = File::open(path).map_err(|error| can_not(&error))?;
        if !file.metadata().map_err(|error| can_not(&error))?.is_file() {
            return Err(format!("{} is no file that can be read twice", path.display()));
        }
        let reader = BufReader::with_capacity(1 << 16, file);
        Ok(Self { reader, path: path.into(), form, width, read: 0, line: Vec::new() })
    }

    /// The next value; `None` at the end. Empty lines may follow the last one.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u64>>, String> {
        if !self.advance()? {
            return Ok(None);
        }
        if self.line.is_empty() {
            let empty = self.read;
            while self.advance()? {
                if !self.line.is_empty() {
                    self.read = empty;
                    return Err(self.fault("an empty line between values"));
                }
            }
            return Ok(None);
        }
        let value = self.form.read(&self.line, self.width);
        value.map(Some).map_err(|why| self.fault(&why))
    }

    /// The file's name, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a line, without space around it; `false` at the end.
    fn advance(&mut self) -> Result<bool, String> {
        // A line's end, a carriage return, and some space.
        let most = self.form.longest(self.width) + 16;
        self.line.clear();
        self.read += 1;
        let read = self.reader.by_ref().take(most as u64 + 1).read_until(b'\n', &mut self.line);
        let length = read.map_err(|error| format!("{} can't be read: {error}", self.path.display()))?;
        if length > most {
            return Err(self.fault(&format!("more characters than a value of {} bits has", self.width)));
        }
        let end = self.line.trim_ascii_end().len();
        self.line.truncate(end);
        Ok(length > 0)
    }

    fn fault(&self, why: &str) -> String {
        format!("{}, line {}: {why}", self.path.display(), self.read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn given(text: &str, width: usize) -> Result<Given, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Given::new(&format!("@{}", file.path().display()), Form::Hex, width)
    }

    #[test]
    fn values_are_counted_and_empty_lines_may_follow() {
        for (text, expected) in [("1", 1), ("1\n", 1), ("1\r\n2\n3\n\n  \n", 3), ("0\n00\n", 2)] {
            assert_eq!(given(text, 8).unwrap().told(), Some(expected), "{text:?}");
        }
        let long = "00ff\n".repeat(100_000);
        assert_eq!(given(&long, 8).unwrap().told(), Some(100_000));
    }

    #[test]
    fn a_line_that_is_no_value_is_named() {
        for (text, expected) in [
            ("1\n2\n1ff\n", ", line 3: a number that 8 bits don't hold"),
            ("1\nx\n", ", line 2: 'x' is no hex digit"),
            ("1\n\n2\n", ", line 2: an empty line between values"),
            ("\n1", ", line 1: an empty line between values"),
            ("", ": no values"),
            ("\n\n", ": no values"),
            (&"1".repeat(1000), ", line 1: more characters than a value of 8 bits has"),
        ] {
            let error = given(text, 8).unwrap_err();
            assert!(error.ends_with(expected), "{error}");
        }
        let error = Given::new("@/nowhere", Form::Hex, 8).unwrap_err();
        assert!(error.starts_with("/nowhere can't be read"), "{error}");
        let error = Given::new("@/dev/null", Form::Hex, 8).unwrap_err();
        assert!(error.contains("read twice"), "{error}");
    }

    #[test]
    fn the_number_of_instances_is_what_all_say() {
        let of = |texts: &[&str]| texts.iter().map(|text| given(text, 8).ok()).collect::<Vec<_>>();
        let inline = || vec![Given::new("7", Form::Hex, 8).ok(), None];
        assert_eq!(instances(&of(&["1\n2", "3"]), None), Ok(Some(2)));
        assert_eq!(instances(&of(&["1\n2", "3\n4"]), Some(2)), Ok(Some(2)));
        assert_eq!(instances(&of(&["1"]), None), Ok(Some(1)));
        assert_eq!(instances(&of(&["1"]), Some(9)), Ok(Some(9)));
        assert_eq!(instances(&inline(), None), Ok(None));
        assert_eq!(instances(&inline(), Some(9)), Ok(Some(9)));
        let error = instances(&of(&["1\n2", "3\n4\n5"]), None).unwrap_err();
        assert!(error.message().contains("input 0 has 2 values and input 1 has 3"));
        let error = instances(&of(&["1\n2", "3"]), Some(3)).unwrap_err();
        assert!(error.message().contains("--count says 3, but input 0 has 2 values"));
    }
}
