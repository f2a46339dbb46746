//! Lines that aren't blank, their words, and the numbers among them.

use super::{Fault, FormatError};

/// Words that are quoted in an error are cut to so many bytes.
const QUOTED: usize = 32;

/// The lines of a file.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    /// What is left; nothing behind the last line.
    rest: Option<&'a [u8]>,
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        // An end of line at the end of the file begins no other.
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        Self { rest: Some(text), number: 0 }
    }

    /// The next line that isn't blank, or an error that says what it should have been.
    pub(super) fn expect(&mut self, expected: &'static str) -> Result<Words<'a>, FormatError> {
        self.next()
            .ok_or_else(|| self.at_end(Fault::Expected { expected, found: "the end of the file".to_owned() }))
    }

    /// A fault that shows at the end of the file.
    pub(super) fn at_end(&self, fault: Fault) -> FormatError {
        FormatError { line: self.number, fault }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Words<'a>;

    fn next(&mut self) -> Option<Words<'a>> {
        while let Some(rest) = self.rest {
            let end = rest.iter().position(|&byte| byte == b'\n');
            let line = &rest[..end.unwrap_or(rest.len())];
            self.rest = end.map(|end| &rest[end + 1..]);
            self.number += 1;
            let words = Words { rest: line.strip_suffix(b"\r").unwrap_or(line), line: self.number };
            if words.peek().is_some() {
                return Some(words);
            }
        }
        None
    }
}

/// The words of a line.
#[derive(Clone)]
pub(super) struct Words<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Words<'a> {
    /// The next word, which must be a number.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<u32, FormatError> {
        let word = self.next();
        match word {
            Some(word) if is_number(word) => {
                number(word).ok_or_else(|| self.fault(Fault::Large { found: quote(word) }))
            }
            _ => Err(self.unexpected(expected, word)),
        }
    }

    /// The rest of the line, which must be numbers.
    pub(super) fn numbers(mut self, expected: &'static str) -> Result<Vec<u32>, FormatError> {
        let mut numbers = Vec::new();
        while self.peek().is_some() {
            numbers.push(self.number(expected)?);
        }
        Ok(numbers)
    }

    /// The line must end here.
    pub(super) fn end(&mut self) -> Result<(), FormatError> {
        match self.next() {
            None => Ok(()),
            word => Err(self.unexpected("the end of the line", word)),
        }
    }

    /// The next word if it is a number; stays before any other.
    pub(super) fn another_number(&mut self) -> Result<Option<u32>, FormatError> {
        match self.peek() {
            Some(word) if is_number(word) => self.number("a number").map(Some),
            _ => Ok(None),
        }
    }

    fn peek(&self) -> Option<&'a [u8]> {
        self.clone().next()
    }

    /// A word that shouldn't stand there, or the end of the line.
    pub(super) fn unexpected(&self, expected: &'static str, word: Option<&[u8]>) -> FormatError {
        let found = word.map_or_else(|| "the end of the line".to_owned(), quote);
        self.fault(Fault::Expected { expected, found })
    }

    /// A fault of this line.
    pub(super) fn fault(&self, fault: Fault) -> FormatError {
        FormatError { line: self.line, fault }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
        let start = self.rest.iter().position(|byte| !is_space(byte))?;
        let word = &self.rest[start..];
        let (word, rest) = word.split_at(word.iter().position(is_space).unwrap_or(word.len()));
        self.rest = rest;
        Some(word)
    }
}

/// Whether a word is meant as a number.
pub(super) fn is_number(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit)
}

fn number(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0_u32, |number, digit| number.checked_mul(10)?.checked_add(u32::from(digit - b'0')))
}

fn quote(word: &[u8]) -> String {
    let shown = &word[..word.len().min(QUOTED)];
    let more = if shown.len() < word.len() { "..." } else { "" };
    format!("`{}{more}`", shown.escape_ascii())
}
