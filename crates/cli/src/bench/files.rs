//! A benchmark's program, operands and right result, where they come from files.

use super::workload::Workload;
use crate::context::Context;
use crate::failure::Failure;
use crate::front::Unmade;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};
use tacit::SavedPlan;
use tacit::program::{Data, Program, Value};

/// The files of a network, or of tables and a query, as long as this is there.
pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    /// Makes what is measured.
    pub(super) fn new(
        context: &Context<'_>,
        what: Workload,
        quick: bool,
        seed: u64,
    ) -> Result<Self, Failure> {
        let folder =
            tempfile::tempdir().map_err(|error| Failure::aborted(format!("no temporary folder: {error}")))?;
        let work = json!({"work": what, "quick": quick, "seed": seed}).to_string();
        context.front.measured(&work, folder.path()).map_err(|unmade| match unmade {
            Unmade::Refused(why) => Failure::usage(why),
            Unmade::Wrong(why) => Failure::wrong(why),
        })?;
        Ok(Self(folder))
    }

    pub(super) fn files(&self) -> Files {
        Files { folder: self.0.path().to_owned() }
    }
}

/// The program that is measured.
pub(super) const MEASURED: &str = "bench";

/// The program that keeps a network's weights.
pub(super) const KEEPING: &str = "keep";

/// Where a benchmark's programs and operands are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Files {
    folder: PathBuf,
}

impl Files {
    /// A program of these.
    pub(super) fn program(&self, name: &str) -> Result<Program, Failure> {
        let path = self.folder.join(format!("{name}.plan"));
        let bytes = std::fs::read(&path)
            .map_err(|error| Failure::input(format!("{} can't be read: {error}", path.display())))?;
        let saved = SavedPlan::from_bytes(&bytes)
            .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
        Ok(saved.program)
    }

    /// The numbers of an input of a program.
    pub(super) fn input(&self, program: &str, input: usize, shape: &[usize]) -> Result<Value, tacit::Error> {
        read(&self.folder.join(format!("{program}-{input}.npy")), shape)
    }

    /// How near the result is to that in floating point, where that is known.
    pub(super) fn accuracy(&self, got: &Value) -> Result<Option<Accuracy>, tacit::Error> {
        let path = self.folder.join("float.npy");
        if !path.exists() {
            return Ok(None);
        }
        Ok(Some(Accuracy::of(got, &read(&path, &got.shape)?)))
    }
}

fn read(path: &Path, shape: &[usize]) -> Result<Value, tacit::Error> {
    crate::npy::read(path, shape)
        .map_err(|error| tacit::Error::Refused(format!("{}: {error}", path.display())))
}

/// How near a network's scores are to those in floating point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Accuracy {
    /// Rows whose highest score is the same.
    pub(crate) argmax: usize,
    pub(crate) rows: usize,
    /// The largest error of a score, in parts of the distance from the lowest to the highest of its row.
    pub(crate) error: f64,
}

impl Accuracy {
    /// Of scores row by row.
    fn of(got: &Value, expected: &Value) -> Self {
        let (Data::Float(got), Data::Float(expected), &[rows, scores, ..]) =
            (&got.data, &expected.data, &got.shape[..])
        else {
            return Self { argmax: 0, rows: 0, error: f64::INFINITY };
        };
        let highest = |row: &[f64]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        let mut all = Self { argmax: 0, rows, error: 0.0 };
        for (got, expected) in got.chunks(scores.max(1)).zip(expected.chunks(scores.max(1))) {
            let ends = expected.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &score| {
                [low.min(score), high.max(score)]
            });
            let error = got.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            all.error = all.error.max(error / (ends[1] - ends[0]));
            all.argmax += usize::from(highest(got) == highest(expected));
        }
        all
    }

    /// In words.
    pub(super) fn to_text(self) -> String {
        let Self { argmax, rows, error } = self;
        format!(
            "highest score of {argmax} of {rows} rows the same, largest error {:.4} % of the spread",
            100.0 * error
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_parts_of_the_spread_of_their_row() {
        let value = |data: [f64; 6]| Value { shape: vec![2, 3], data: Data::Float(data.to_vec()) };
        let float = value([0.0, 10.0, 5.0, 1.0, 2.0, 3.0]);
        let got = value([0.0, 10.5, 5.0, 1.0, 3.2, 3.0]);
        let accuracy = Accuracy::of(&got, &float);
        assert_eq!((accuracy.argmax, accuracy.rows), (1, 2));
        assert!((accuracy.error - 0.6).abs() < 1e-9, "{accuracy:?}");
        assert!((Accuracy::of(&float, &float).error).abs() < f64::EPSILON);
    }
}
