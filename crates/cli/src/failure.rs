//! Why a command failed: one sentence for people, a few fields for machines, an exit code for both.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tacit::advanced::engine::Error as Cause;
use tacit::advanced::net::setup::SetupError;
use tacit::advanced::session::Error as SessionError;

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
    /// Who was at fault, or brought the news.
    peer: Option<String>,
    /// The phase of the run.
    phase: Option<String>,
    /// The user's line.
    line: Option<String>,
}

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FailureKind {
    /// The command line is wrong.
    Usage,
    /// A file, a value or a program is wrong, or doesn't fit the others.
    Input,
    /// A run was aborted.
    Aborted,
    /// A server stops, because of a failed check or too many attempts: nothing to be started again unattended.
    Stopped,
    /// A run's output is not what it should be, or its traffic not what was declared.
    Wrong,
}

impl Failure {
    fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), peer: None, phase: None, line: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Input, message)
    }

    pub(crate) fn aborted(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Aborted, message)
    }

    pub(crate) fn wrong(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Wrong, message)
    }

    /// Results that can't be written.
    pub(crate) fn write(error: &std::io::Error) -> Self {
        Self::aborted(format!("the results can't be written: {error}"))
    }

    /// The same, of a server that has counted attempts: whoever starts it again unattended lets them begin anew.
    pub(crate) fn after_attempts(self, attempts: u64) -> Self {
        match attempts {
            0 => self,
            _ => Self {
                kind: FailureKind::Stopped,
                message: format!("{} (attempts so far: {attempts})", self.message),
                ..self
            },
        }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Whether a server stops that is not to be started again unattended.
    pub(crate) fn is_stop(&self) -> bool {
        self.kind == FailureKind::Stopped
    }

    pub(crate) const fn exit_code(&self) -> i32 {
        match self.kind {
            FailureKind::Usage | FailureKind::Input => 2,
            FailureKind::Aborted | FailureKind::Wrong => 1,
            FailureKind::Stopped => 3,
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({"error": self})
    }
}

impl From<tacit::Error> for Failure {
    fn from(error: tacit::Error) -> Self {
        let message = error.to_string();
        match error {
            tacit::Error::Aborted { at, cause, .. } => {
                let (peer, phase) = blamed(&cause);
                let line = at.map(|at| at.to_string());
                Self { peer, phase, line, ..Self::new(FailureKind::Aborted, message) }
            }
            tacit::Error::Differs(difference) => {
                Self { line: Some(difference.at.to_string()), ..Self::new(FailureKind::Wrong, message) }
            }
            tacit::Error::Program(program) => {
                Self { line: Some(program.at.to_string()), ..Self::new(FailureKind::Input, message) }
            }
            tacit::Error::Setup(error) => {
                let (kind, peer) = setup(error);
                Self { peer, phase: Some("setup".to_owned()), ..Self::new(kind, message) }
            }
            tacit::Error::Stopped { .. } => Self::new(FailureKind::Stopped, message),
            tacit::Error::NotDestroyed { failed, .. } | tacit::Error::AfterKeeping { failed, .. } => {
                Self { message, ..Self::from(*failed) }
            }
            tacit::Error::Value(_)
            | tacit::Error::Refused(_)
            | tacit::Error::Store(_)
            | tacit::Error::NoMaterial(_) => Self::new(FailureKind::Input, message),
            // A feed's failure, and whatever else may end a run.
            _ => Self::new(FailureKind::Aborted, message),
        }
    }
}

/// The peer and the phase that an abort names.
fn blamed(cause: &Cause) -> (Option<String>, Option<String>) {
    let (peer, phase) = match cause {
        Cause::Session(error) | Cause::During { source: error, .. } => match error {
            SessionError::Link(link) => {
                (link.peer().map(|peer| peer.name.clone()), Some(link.phase().name()))
            }
            SessionError::Disagreement(found) => (Some(found.peer.clone()), Some("setup")),
            SessionError::Malformed { peer, .. } => (Some(peer.clone()), Some("setup")),
            SessionError::CheckFailed { peer, .. }
            | SessionError::InconsistentInput { peer, .. }
            | SessionError::Differs { peer, .. } => (Some(peer.clone()), None),
            // Nobody is to blame.
            _ => (None, None),
        },
        _ => (None, None),
    };
    (peer, phase.map(str::to_owned))
}

/// Files that are wrong are bad input; peers that can't be reached or disagree end a run.
fn setup(error: SetupError) -> (FailureKind, Option<String>) {
    match error {
        SetupError::Refused { peer, .. }
        | SetupError::Differs { peer, .. }
        | SetupError::GaveUp { peer, .. } => (FailureKind::Aborted, Some(peer)),
        SetupError::Missing { .. } => (FailureKind::Aborted, None),
        _ => (FailureKind::Input, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit::advanced::session::Disagreement;

    #[test]
    fn a_failure_is_one_object_with_all_its_fields() {
        let failure = Failure::input("no such file");
        assert_eq!(
            failure.to_json(),
            json!({"error": {"kind": "input", "message": "no such file", "peer": null, "phase": null, "line": null}})
        );
        assert_eq!(failure.exit_code(), 2);
        assert_eq!(Failure::usage("x").exit_code(), 2);
        assert_eq!(Failure::aborted("x").exit_code(), 1);
        assert_eq!(Failure::wrong("x").exit_code(), 1);
        assert_eq!(Failure::aborted("x").after_attempts(0).exit_code(), 1);
        assert_eq!(Failure::aborted("x").after_attempts(2).exit_code(), 3);
    }

    #[test]
    fn an_abort_names_the_peer_and_the_phase() {
        let cause = SessionError::Disagreement(Box::new(Disagreement {
            peer: "P1".into(),
            me: "P0".into(),
            what: "the protocol",
            here: "a".into(),
            there: "b".into(),
            others: Vec::new(),
        }));
        let cause = Cause::Session(cause);
        let failure = Failure::from(tacit::Error::Aborted { lane: None, at: None, attempt: false, cause });
        assert_eq!(failure.exit_code(), 1);
        assert_eq!(failure.to_json()["error"]["peer"], "P1");
        assert_eq!(failure.to_json()["error"]["phase"], "setup");
    }
}
