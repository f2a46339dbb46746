//! Rolls: small runs that tell all parties what each wants for each request.

use crate::compiled::Compiled;
use crate::error::Error;
use crate::living::asker::{Asker, Wanted};
use crate::report::Report;
use crate::state::fill::Fill;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tacit_program::{Builder, Data, Dtype, Recipient, Value};

/// Bits of what a party says that it wants of a request.
const MARK: usize = u64::BITS as usize;

pub(super) struct Roll {
    asker: Asker,
    parties: usize,
    me: usize,
    /// Programs by the requests for which they have room, ascending.
    programs: BTreeMap<usize, Arc<Compiled>>,
    within: Duration,
}

impl Roll {
    pub(super) fn new(
        asker: Asker,
        parties: &[String],
        me: usize,
        (rooms, within): (&[usize], Duration),
    ) -> Result<Self, Error> {
        let program = |&room: &usize| Ok::<_, Error>((room, roll(parties, room)?));
        let programs = rooms.iter().map(program).collect::<Result<_, _>>()?;
        Ok(Self { asker, parties: parties.len(), me, programs, within })
    }

    pub(super) fn programs(&self) -> impl Iterator<Item = &Arc<Compiled>> {
        self.programs.values()
    }

    /// Requests that there is room for.
    pub(super) fn most(&self) -> usize {
        self.programs.keys().last().copied().unwrap_or_default()
    }

    /// Tells the others the marks of what this party wants, by the numbers of its requests, among so many: the numbers of those
    /// of which all parties say the same mark; and what that took.
    pub(super) fn call(
        &self,
        tag: String,
        own: &BTreeMap<usize, u64>,
        requests: usize,
    ) -> Result<(BTreeSet<usize>, Report), Error> {
        let (room, compiled) = self.programs.range(requests..).next().ok_or_else(|| {
            Error::Refused(format!("{requests} requests came together, and {} may", self.most()))
        })?;
        // Whoever wants something says no 0.
        let marks: Vec<u64> = (0..*room).map(|number| own.get(&number).map_or(0, |mark| mark | 1)).collect();
        let inputs = (0..self.parties).map(|party| (party == self.me).then(|| to_bits(&marks))).collect();
        let (compiled, fill, within) = (compiled.clone(), Fill::new(), self.within);
        let run = self.asker.run(Wanted { compiled, tag, inputs, fill, within })?;
        let all: Vec<Vec<u64>> = run.outputs.iter().flatten().map(to_marks).collect();
        Ok((alike(&all, requests), run.report))
    }
}

/// The program of a roll among these parties, with room for so many requests.
///
/// # Errors
/// What compiling says.
pub fn roll(parties: &[String], room: usize) -> Result<Arc<Compiled>, Error> {
    let mut build = Builder::new();
    for party in parties {
        let told = build.input(party, "marks", Dtype::Bool, &[room * MARK], None)?;
        build.reveal(told, Recipient::All)?;
    }
    Compiled::new(build.finish()?)
}

fn to_bits(marks: &[u64]) -> Value {
    let bits = marks.iter().flat_map(|mark| (0..MARK).map(move |bit| mark >> bit & 1 == 1));
    Value { shape: vec![marks.len() * MARK], data: Data::Bool(bits.collect()) }
}

fn to_marks(value: &Value) -> Vec<u64> {
    let Data::Bool(bits) = &value.data else { return Vec::new() };
    let mark = |bits: &[bool]| bits.iter().rev().fold(0, |mark, &bit| mark << 1 | u64::from(bit));
    bits.chunks(MARK).map(mark).collect()
}

/// The requests of which all parties say the same, and not nothing.
fn alike(all: &[Vec<u64>], requests: usize) -> BTreeSet<usize> {
    let is_alike = |number: &usize| {
        let first = all.first().and_then(|own| own.get(*number)).filter(|mark| **mark != 0);
        first.is_some() && all.iter().all(|own| own.get(*number) == first)
    };
    (0..requests).filter(is_alike).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_say_alike_is_wanted() {
        let all = |marks: [u64; 3]| marks.map(|mark| vec![0, mark]).to_vec();
        assert_eq!(alike(&all([5, 5, 5]), 2), BTreeSet::from([1]));
        for marks in [[5, 5, 7], [0, 5, 5], [5, 5, 0], [0, 0, 0]] {
            assert!(alike(&all(marks), 2).is_empty(), "{marks:?}");
        }
        // One has said less than it should.
        assert_eq!(alike(&[vec![5, 5], vec![5, 5], vec![5]], 2), BTreeSet::from([0]));
        assert!(alike(&[], 2).is_empty());
        let marks = [0, 1, u64::MAX, 1 << 63];
        assert_eq!(to_marks(&to_bits(&marks)), marks);
    }
}
