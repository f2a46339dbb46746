//! Why a session can't begin or go on.

use tacit_net::ErrorKind;

/// Why a session can't begin or go on. All are final: a session that failed is never used again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A link failed, or another endpoint said that it aborts.
    #[error(transparent)]
    Link(#[from] tacit_net::Error),
    /// Two endpoints are about to run different things.
    #[error("{0}")]
    Disagreement(Box<Disagreement>),
    /// A peer's control message can't be read.
    #[error("{peer} sent a malformed {what}")]
    Malformed {
        /// Who sent it.
        peer: String,
        /// What it should have been.
        what: &'static str,
    },
    /// A check between parties failed.
    #[error(
        "{what} does not match what {peer} holds; somebody deviated from the protocol, and the session is closed for good"
    )]
    CheckFailed {
        /// With whom the comparison failed.
        peer: String,
        /// What was compared.
        what: &'static str,
    },
    /// An owner of inputs gave two parties what doesn't fit together, or one of the two says so. Nothing was computed
    /// on it, and so this is no failed check: a client could else have preprocessed material destroyed.
    #[error("{what} does not match what {peer} holds: its owner, or {peer}, deviated from the protocol")]
    InconsistentInput {
        /// With whom the comparison failed.
        peer: String,
        /// What was compared.
        what: String,
    },
    /// Parties were given different things before anything was computed on them: a mistake, as a rule, and no failed check.
    #[error("{peer} has other {what} than this party: all parties have to be given the same")]
    Differs {
        /// Whose are different.
        peer: String,
        /// What differs.
        what: String,
    },
    /// What was seen can't be, if everybody follows the protocol. Who is at fault can't be known.
    #[error("{what}; somebody deviated from the protocol, and the session is closed for good")]
    Rejected {
        /// What was seen.
        what: String,
    },
    /// A session ran so many plans that its addresses are used up.
    #[error("this session has no addresses left for another part of the run; begin a new run for the rest")]
    Exhausted,
    /// The operating system gave no randomness.
    #[error("no randomness from the operating system: {0}")]
    Entropy(String),
}

/// What two endpoints are about to run differently.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{peer} disagrees on {what}: {me} has {}, {peer} has {}{}; {}",
    stated(here),
    stated(there),
    as_well(others, me),
    advice(what, here, there)
)]
pub struct Disagreement {
    /// Whose statement differs from ours.
    pub peer: String,
    /// Who we are.
    pub me: String,
    /// What differs.
    pub what: &'static str,
    /// Our statement.
    pub here: String,
    /// Theirs.
    pub there: String,
    /// Whose statements differ from ours, too.
    pub others: Vec<String>,
}

/// A statement, which may be empty.
fn stated(statement: &str) -> &str {
    if statement.is_empty() { "nothing" } else { statement }
}

/// Who else differs: where most do, it is this side that does.
fn as_well(others: &[String], me: &str) -> String {
    match others {
        [] => String::new(),
        [other] => format!("; {other} differs from {me}, too"),
        _ => format!("; {} differ from {me}, too", others.join(", ")),
    }
}

/// What to do about different statements.
fn advice(what: &str, here: &str, there: &str) -> &'static str {
    if matches!(what, "silence_seconds" | "linger_seconds" | "inbox_bytes") {
        return "say the same under [limits] in every party's parties.toml";
    }
    // A protocol's parameters, one of which the parties measure the network for; or somebody was told the network.
    let measures = |statement: &str| statement.contains("=auto");
    if measures(here) == measures(there) {
        "make sure that both run the same program with the same options"
    } else {
        "one side goes by a network that it was given, or has all parameters, and the other measures: give everybody, clients \
         too, the same --net (in Python net=), or the same parameters, such as `comparison=garbled roles=012`"
    }
}

impl Error {
    /// Whether a check failed, here or at whoever ended the session: somebody deviated from the protocol. A link that
    /// was lost is no failed check.
    pub fn is_failed_check(&self) -> bool {
        match self {
            Self::CheckFailed { .. } | Self::Rejected { .. } => true,
            Self::Link(link) => matches!(link.what(), ErrorKind::Aborted { check_failed: true, .. }),
            Self::Disagreement(_)
            | Self::Malformed { .. }
            | Self::InconsistentInput { .. }
            | Self::Differs { .. }
            | Self::Exhausted
            | Self::Entropy(_) => false,
        }
    }
}
