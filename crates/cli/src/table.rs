//! Plain tables, and numbers with units.

use std::fmt::{self, Write};

/// Rows of text under a head; the first column to the left, the others to the right.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: impl IntoIterator<Item = String>) -> Self {
        Self { rows: vec![head.into_iter().collect()] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                // Writing into a string can't fail.
                let _ = match column {
                    0 => write!(line, "{cell:width$}"),
                    _ => write!(line, "  {cell:>width$}"),
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A count, of bytes as a rule, with its thousands apart.
pub(crate) fn bytes(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time, in the unit that suits it.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}

/// A rate, with the prefix that suits it; a unit of several letters begins with a space.
pub(crate) fn rate(per_second: f64, unit: &str) -> String {
    let (scaled, prefix) = match per_second {
        r if r >= 1e9 => (r / 1e9, "G"),
        r if r >= 1e6 => (r / 1e6, "M"),
        r if r >= 1e3 => (r / 1e3, "k"),
        r => (r, ""),
    };
    format!("{scaled:.3} {prefix}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let cells = |row: [&str; 2]| row.map(str::to_owned);
        let mut table = Table::new(cells(["phase", "P0"]));
        table.row(cells(["on", "1,000"]));
        assert_eq!(table.to_string(), "phase     P0\non     1,000\n");
    }

    #[test]
    fn numbers_have_their_units() {
        assert_eq!(bytes(0), "0");
        assert_eq!(bytes(999), "999");
        assert_eq!(bytes(1_234_567), "1,234,567");
        assert_eq!(seconds(1.5), "1.50 s");
        assert_eq!(seconds(0.0015), "1.50 ms");
        assert_eq!(seconds(0.000_001_5), "1.5 us");
        assert_eq!(rate(26_000_000.0, " products/s"), "26.000 M products/s");
        assert_eq!(rate(2.5e9, "B/s"), "2.500 GB/s");
    }
}
