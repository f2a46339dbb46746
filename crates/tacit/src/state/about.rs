//! What is known of a kept value: everything about it but the value.

use crate::endpoint::Endpoint;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use tacit_engine::{KeptShare, Protocol};
use tacit_program::{Dtype, Feature, Keep, KeptType, Recipient};

/// What the parties know of a kept value, the same at all of them. Its hash names the value: no two runs have the same session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// What it is called.
    pub name: String,
    /// Which value of that name, from 1 on.
    pub version: u64,
    /// What its elements are, as programs say it.
    pub kind: String,
    /// Lengths of the axes.
    pub shape: Vec<u64>,
    /// The least and the greatest that a raw element can be.
    pub range: (i128, i128),
    /// Names of the parties, in order.
    pub parties: Vec<String>,
    /// How it is shared: the protocol, and who plays its roles.
    pub sharing: String,
    /// What names the key that its MACs are under, if it has any.
    pub key: Option<[u8; 32]>,
    /// The run's session.
    pub session: [u8; 32],
    /// Hash of the program that kept it.
    pub program: [u8; 32],
    /// Hashes of the programs that may read it; any may if none is named.
    pub readers: Vec<[u8; 32]>,
    /// Who may learn what depends on it; with `None` anybody.
    pub learners: Option<Vec<String>>,
    /// Hashes of the programs that may keep the next version, as the first one of the name has it.
    pub writers: Vec<[u8; 32]>,
    /// The soundness of the run that made it, if its protocol offers a choice: a run that promises more doesn't read it.
    pub soundness: Option<u32>,
    /// The version that these are fresh shares of: it is dropped as soon as all have them.
    pub replaces: Option<u64>,
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

/// How a protocol shares what it keeps. Two protocols of one name and the same roles read one another's values.
pub(crate) fn sharing(protocol: &dyn Protocol) -> String {
    let (name, roles) = (protocol.spec().name, protocol.roles());
    if roles.is_empty() {
        return name.to_owned();
    }
    let roles: String = roles.iter().map(ToString::to_string).collect();
    format!("{name} roles={roles}")
}

/// The soundness of a protocol's runs, if it offers a choice.
fn soundness(protocol: &dyn Protocol) -> Option<u32> {
    let offers = protocol.parameters().iter().any(|parameter| parameter.name == SOUNDNESS);
    protocol.value(SOUNDNESS).parse().ok().filter(|_| offers)
}

const SOUNDNESS: &str = "soundness";

/// The first digits of a program's hash.
fn digits(hash: &[u8; 32]) -> String {
    format!("{:016x}...", u64::from_be_bytes(*hash.first_chunk().unwrap_or(&[0; 8])))
}

impl About {
    /// Of what a run keeps; `writers` may keep the version after it.
    pub(crate) fn new(
        endpoint: &Endpoint,
        keep: &Keep,
        (version, writers): (u64, &[[u8; 32]]),
        session: [u8; 32],
        share: &KeptShare,
    ) -> Self {
        let program = endpoint.compiled.program();
        let ty = &program.node(keep.node).ty;
        Self {
            name: keep.name.clone(),
            version,
            kind: ty.kind.to_string(),
            shape: ty.shape.iter().map(|&length| length as u64).collect(),
            range: (ty.range.lo(), ty.range.hi()),
            parties: endpoint.parties.clone(),
            sharing: sharing(&*endpoint.protocol),
            key: share.key,
            session,
            program: endpoint.compiled.hash(),
            readers: keep.uses.programs.clone(),
            learners: keep.uses.learners.clone(),
            writers: writers.to_vec(),
            soundness: soundness(&*endpoint.protocol),
            replaces: None,
        }
    }

    /// Of fresh shares of the same: nothing else changes, and no use is added.
    pub(crate) fn refreshed(&self, version: u64, session: [u8; 32]) -> Self {
        Self { version, session, replaces: Some(self.version), ..self.clone() }
    }

    /// Of the table after some of its rows were kept anew: what it may be used for stays, whoever keeps.
    pub(crate) fn rewritten(&self, version: u64, program: [u8; 32], session: [u8; 32]) -> Self {
        Self { version, session, program, replaces: Some(self.version), ..self.clone() }
    }

    /// Why a run can't keep what a program keeps as these rows of it; nothing if it can. The same at all parties.
    pub(crate) fn rows_refusal(&self, endpoint: &Endpoint, keep: &Keep, rows: &[u64]) -> Option<String> {
        if let Some(foreign) = self.foreign(&*endpoint.protocol, &endpoint.parties) {
            return Some(foreign);
        }
        let count = self.rows();
        if let Some(row) = rows.iter().find(|row| **row >= count) {
            return Some(format!("{self} has no row {row}: it has {count}, counted from 0"));
        }
        let ty = &endpoint.compiled.program().node(keep.node).ty;
        let kept: Vec<u64> = ty.shape.iter().map(|&length| length as u64).collect();
        let mut own = self.shape.clone();
        own[0] = rows.len() as u64;
        if (&self.kind, &own) != (&ty.kind.to_string(), &kept) {
            return Some(format!(
                "{self} is {} {own:?}, of those rows; the program keeps {} {kept:?} as {:?}",
                self.kind, ty.kind, keep.name
            ));
        }
        let (low, high) = (real(ty.kind, self.range.0), real(ty.kind, self.range.1));
        if ty.range.lo() < self.range.0 || self.range.1 < ty.range.hi() {
            let (from, to) = (real(ty.kind, ty.range.lo()), real(ty.kind, ty.range.hi()));
            return Some(format!(
                "{self} can be {low} to {high}, and the program keeps {from} to {to} in it"
            ));
        }
        if let (Some(table), Some(run)) = (self.soundness, soundness(&*endpoint.protocol))
            && run < table
        {
            return Some(format!(
                "{self} was kept at soundness {table}, and this run promises {run}: run it at {table}"
            ));
        }
        // What the program lets others do with what it keeps, the table may let them do, and no more.
        let (readers, learners) = (&keep.uses.programs, &keep.uses.learners);
        let is_read_wider = !readers.is_empty()
            && (self.readers.is_empty() || !self.readers.iter().all(|reader| readers.contains(reader)));
        let is_learnt_wider = learners.as_ref().is_some_and(|learners| {
            !self.learners.as_ref().is_some_and(|own| own.iter().all(|learner| learners.contains(learner)))
        });
        (is_read_wider || is_learnt_wider).then(|| {
            format!(
                "{self} may be used for more than the program lets {:?} be used for: say the same uses",
                keep.name
            )
        })
    }

    /// Why a run can't keep what a program keeps in its place; nothing if it can. The same at all parties. A table grows, and
    /// doesn't become one of fewer or other rows: who writes rows and says none would leave but those.
    pub(crate) fn whole_refusal(&self, endpoint: &Endpoint, keep: &Keep) -> Option<String> {
        let ty = &endpoint.compiled.program().node(keep.node).ty;
        let kept: Vec<u64> = ty.shape.iter().map(|&length| length as u64).collect();
        let is_one = self.kind == ty.kind.to_string() && self.shape.len() == kept.len();
        if is_one && self.shape.get(1..) == kept.get(1..) && kept.first() >= self.shape.first() {
            return None;
        }
        Some(format!(
            "{self} is {} {:?}, and the program would keep {} {kept:?} in its place: say which rows that becomes, {}[17], or drop \
             the table first",
            self.kind, self.shape, ty.kind, self.name
        ))
    }

    /// Rows of the table that it is.
    pub(crate) fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Its bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Serialising plain data into a growing vector can't fail.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    /// Names the value.
    pub(crate) fn hash(&self) -> [u8; 32] {
        Sha256::new_with_prefix(b"tacit kept 1").chain_update(self.to_bytes()).finalize().into()
    }

    /// Why a run can't read it, or these rows of it if there are any; nothing if it can. The same at all parties.
    pub(crate) fn refusal(&self, endpoint: &Endpoint, slot: &KeptType, rows: &[u64]) -> Option<String> {
        let foreign = self.foreign(&*endpoint.protocol, &endpoint.parties);
        foreign.or_else(|| self.misfit(endpoint, slot, rows)).or_else(|| self.misuse(endpoint, slot, rows))
    }

    /// The programs that may keep the version after it, if this one may.
    ///
    /// # Errors
    /// Why it may not, in words.
    pub(crate) fn writable(&self, program: &[u8; 32]) -> Result<Vec<[u8; 32]>, String> {
        if self.writers.contains(program) {
            return Ok(self.writers.clone());
        }
        Err(format!(
            "{:?} is for other programs to keep: this one is {}, and neither made {self} first nor is named as a writer of it",
            self.name,
            digits(program)
        ))
    }

    /// How it is shared otherwise than under a protocol among these parties.
    pub(crate) fn foreign(&self, protocol: &dyn Protocol, parties: &[String]) -> Option<String> {
        let sharing = sharing(protocol);
        if self.sharing != sharing {
            return Some(format!("{self} is shared as in {:?}; this run is {sharing:?}", self.sharing));
        }
        if self.parties != parties {
            let (own, run) = (self.parties.join(", "), parties.join(", "));
            return Some(format!("{self} is shared among {own}, and the parties of this run are {run}"));
        }
        None
    }

    /// What of it isn't as the program declares it, or as the run promises it.
    fn misfit(&self, endpoint: &Endpoint, slot: &KeptType, rows: &[u64]) -> Option<String> {
        let shape: Vec<u64> = slot.shape.iter().map(|&length| length as u64).collect();
        let mut own = self.shape.clone();
        if !rows.is_empty() {
            let count = self.rows();
            if let Some(row) = rows.iter().find(|row| **row >= count) {
                return Some(format!("{self} has no row {row}: it has {count}, counted from 0"));
            }
            own[0] = rows.len() as u64;
        }
        if (&self.kind, &own) != (&slot.kind.to_string(), &shape) {
            let of = if rows.is_empty() { "" } else { ", of those rows" };
            return Some(format!(
                "{self} is {} {own:?}{of}; the program reads {} {shape:?} as {:?}",
                self.kind, slot.kind, slot.name
            ));
        }
        if let (Some(kept), Some(run)) = (self.soundness, soundness(&*endpoint.protocol))
            && kept < run
        {
            return Some(format!(
                "{self} was kept at soundness {kept}, and this run promises {run}: run it at {kept}, or keep it again at {run}"
            ));
        }
        let (low, high) = self.range;
        if low < slot.range.lo() || slot.range.hi() < high {
            let (from, to) = (real(slot.kind, slot.range.lo()), real(slot.kind, slot.range.hi()));
            let (low, high) = (real(slot.kind, low), real(slot.kind, high));
            return Some(format!(
                "{self} can be {low} to {high}, which isn't all within the {from} to {to} that the program declares"
            ));
        }
        None
    }

    /// What the program would do with it that it may not be used for.
    fn misuse(&self, endpoint: &Endpoint, slot: &KeptType, rows: &[u64]) -> Option<String> {
        let (program, hash) = endpoint.compiled.judged();
        if !self.readers.is_empty() && !self.readers.contains(&hash) {
            return Some(format!("{self} may be read by other programs only: this one is {}", digits(&hash)));
        }
        // A program that may read two values could else be made to reveal one in the other's place.
        if !self.readers.is_empty() && self.name != slot.name {
            return Some(format!(
                "{self} is for programs that it names, as what they call {:?}, and this one would read it as {:?}",
                self.name, slot.name
            ));
        }
        // A program that reads a whole table could else be made to read one row of it many times, or in another's place.
        let is_all = rows.len() as u64 >= self.rows();
        let is_twice = rows.iter().collect::<BTreeSet<_>>().len() < rows.len();
        if !self.readers.is_empty() && !rows.is_empty() && (is_all || is_twice) {
            return Some(format!(
                "{self} is for programs that it names: of its rows they read fewer than all, and none twice"
            ));
        }
        let learners = self.learners.as_ref()?;
        let Some(kept) = program.kept().into_iter().find(|kept| kept.name == slot.name) else {
            return Some(format!("{self} is read by instances of a program that doesn't read it"));
        };
        let depends = program.depending_on(kept.node);
        let allowed = |name: &String| learners.contains(name);
        for output in program.outputs().iter().filter(|output| depends[output.node.index()]) {
            let is_allowed = match &output.to {
                Recipient::All => false,
                Recipient::Role(name) => allowed(name),
            };
            if !is_allowed {
                let to = &output.to;
                return Some(format!(
                    "what depends on {self} may be learnt by {} only, and the program reveals it to {to} ({})",
                    listed(learners),
                    program.output_source(output)
                ));
            }
        }
        if let Some(line) = program.watched_of(&depends)
            && endpoint.protocol.capabilities().offers(Feature::Guard)
        {
            return Some(format!(
                "what depends on {self} may be learnt by {} only, and all learn whether it is in the range that is assumed ({line})",
                listed(learners)
            ));
        }
        let is_wider = |keep: &&Keep| {
            depends[keep.node.index()]
                && !keep.uses.learners.as_ref().is_some_and(|others| others.iter().all(allowed))
        };
        let wider = program.keeps().iter().find(is_wider)?;
        Some(format!(
            "what depends on {self} may be learnt by {} only, and the program keeps {:?} of it for others, too",
            listed(learners),
            wider.name
        ))
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
}

/// A raw value as the user sees it.
fn real(kind: Dtype, raw: i128) -> String {
    match kind {
        Dtype::Fixed { frac } => (raw as f64 / 2_f64.powi(frac.into())).to_string(),
        _ => raw.to_string(),
    }
}
