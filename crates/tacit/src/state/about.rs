//! What is known of a kept value: everything about it but the value.

use crate::endpoint::Endpoint;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use tacit_engine::{KeptShare, Protocol};
use tacit_program::{Dtype, Keep, KeptType, Recipient};

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

impl About {
    /// Of what a run keeps.
    pub(crate) fn new(
        endpoint: &Endpoint,
        keep: &Keep,
        version: u64,
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
        }
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

    /// Why a run can't read it; nothing if it can. The same at all parties.
    pub(crate) fn refusal(&self, endpoint: &Endpoint, slot: &KeptType) -> Option<String> {
        self.misfit(endpoint, slot).or_else(|| self.misuse(endpoint, slot))
    }

    /// What of it isn't as the program declares it, or as the run shares values.
    fn misfit(&self, endpoint: &Endpoint, slot: &KeptType) -> Option<String> {
        let sharing = sharing(&*endpoint.protocol);
        let shape: Vec<u64> = slot.shape.iter().map(|&length| length as u64).collect();
        if self.sharing != sharing {
            return Some(format!("{self} is shared as in {:?}; this run is {sharing:?}", self.sharing));
        }
        if self.parties != endpoint.parties {
            let (own, run) = (self.parties.join(", "), endpoint.parties.join(", "));
            return Some(format!("{self} is shared among {own}, and the parties of this run are {run}"));
        }
        if (&self.kind, &self.shape) != (&slot.kind.to_string(), &shape) {
            let (kind, own) = (&self.kind, &self.shape);
            return Some(format!(
                "{self} is {kind} {own:?}; the program reads {} {shape:?} as {:?}",
                slot.kind, slot.name
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
    fn misuse(&self, endpoint: &Endpoint, slot: &KeptType) -> Option<String> {
        let (program, hash) = (endpoint.compiled.program(), endpoint.compiled.hash());
        if !self.readers.is_empty() && !self.readers.contains(&hash) {
            let digits = u64::from_be_bytes(*hash.first_chunk().unwrap_or(&[0; 8]));
            return Some(format!("{self} may be read by other programs only: this one is {digits:016x}..."));
        }
        // A program that may read two values could else be made to reveal one in the other's place.
        if !self.readers.is_empty() && self.name != slot.name {
            return Some(format!(
                "{self} is for programs that it names, as what they call {:?}, and this one would read it as {:?}",
                self.name, slot.name
            ));
        }
        let learners = self.learners.as_ref()?;
        let depends = program.depending_on(slot.node);
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
