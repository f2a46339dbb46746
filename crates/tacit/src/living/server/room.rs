//! The memory that a server's runs may take.

use crate::compiled::Compiled;
use crate::endpoint::hex;
use crate::error::Error;
use tacit_engine::bank::Bank;

/// What all runs under way have together.
pub(super) struct Room {
    pub(super) bytes: Option<u64>,
    /// At a time at most.
    pub(super) runs: usize,
}

impl Room {
    /// Refuses a program of which so many runs with so many instances each could take more than there is. Counted is what is
    /// laid out before a run, of one component of the sharing: a protocol has one or several.
    ///
    /// # Errors
    /// [`Error::Refused`] if so.
    pub(super) fn holds(&self, compiled: &Compiled, instances: usize) -> Result<(), Error> {
        let Some(limit) = self.bytes else { return Ok(()) };
        let one = Bank::bytes_of(compiled.plan());
        let most = one.saturating_mul(instances as u64).saturating_mul(self.runs as u64);
        if most <= limit {
            return Ok(());
        }
        Err(Error::Refused(format!(
            "the program of hash {} can take {most} bytes of memory and more: {one} of each component of its sharing, {instances} \
             instances to a run and {} runs at a time; allowed are {limit}: have fewer at a time, or allow more",
            hex(&compiled.hash()),
            self.runs
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::{Builder, Dtype, Range, Recipient};

    #[test]
    fn what_runs_could_take_together_is_bounded() {
        let mut build = Builder::new();
        let x = build.input("alice", "x", Dtype::Int, &[1000], Range::new(-(1 << 30), 1 << 30)).unwrap();
        let square = build.mul(x, x).unwrap();
        build.reveal(square, Recipient::Role("alice".into())).unwrap();
        let compiled = Compiled::new(build.finish().unwrap()).unwrap();
        let one = Bank::bytes_of(compiled.plan());
        // Two registers of eight bytes a number.
        assert!((16_000..40_000).contains(&one), "{one}");
        let room = |bytes| Room { bytes, runs: 3 };
        room(Some(6 * one)).holds(&compiled, 2).unwrap();
        room(None).holds(&compiled, 16).unwrap();
        let refused = room(Some(6 * one - 1)).holds(&compiled, 2).unwrap_err().to_string();
        for part in [hex(&compiled.hash()), (6 * one).to_string(), (6 * one - 1).to_string()] {
            assert!(refused.contains(&part), "{part}: {refused}");
        }
        assert!(room(Some(u64::MAX)).holds(&compiled, usize::MAX).is_ok());
    }
}
