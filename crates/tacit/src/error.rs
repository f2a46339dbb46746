//! Why there is no result.

use tacit_engine::Error as Cause;
use tacit_net::ErrorKind;
use tacit_net::setup::SetupError;
use tacit_program::{Difference, ProgramError, Source, ValueError};
use tacit_session::Error as SessionError;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program is wrong; nothing was sent.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A value doesn't fit its declaration; nothing was sent.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The request can't be carried out as it is; nothing was sent.
    #[error("{0}")]
    Refused(String),
    /// The files of the deployment are wrong, or the others couldn't be reached.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The parties have too many requests; nothing was sent.
    #[error("the parties are busy: try again in {seconds} s")]
    Busy {
        /// After how long.
        seconds: u32,
    },
    /// A party doesn't begin the run that this client asks for; nothing secret was sent.
    #[error("{party} doesn't begin the run: {reason}")]
    Declined {
        /// Which.
        party: String,
        /// Why, as it puts it.
        reason: String,
    },
    /// A run that parties wanted had begun, and this party has nothing to show of its end: others may have ended it well.
    #[error("the run had begun, and broke off here: {reason}")]
    BrokeOff {
        /// Why.
        reason: String,
    },
    /// The run was aborted.
    #[error("the run was aborted{}: {cause}{}{}{}{}", in_lane(*lane), place(at.as_deref()), advice(cause), counted(*attempt), address(cause))]
    Aborted {
        /// The lane that failed, if the run had several.
        lane: Option<u16>,
        /// The line of the program that was worked on, if any.
        at: Option<Box<Source>>,
        /// Whether it ended while a check was under way whose end others may have known: [`Error::is_attempt`].
        attempt: bool,
        /// What happened.
        cause: Cause,
    },
    /// A number was outside of a range that the program assumes: the run ended before anything that depends on it was revealed
    /// or kept.
    #[error(
        "the run was aborted: a number was outside of a range that the program assumes{}",
        outside(assumptions)
    )]
    OutsideAssumed {
        /// The lines at which the program assumes ranges.
        assumptions: Vec<Source>,
    },
    /// An output has a value that the program can't have computed.
    #[error("output {output} can't be right: {}{}", impossible(value), assumed(assumptions))]
    WrongOutput {
        /// Which, from 0.
        output: usize,
        /// What is wrong with it.
        value: ValueError,
        /// The lines at which the program assumes ranges.
        assumptions: Vec<Source>,
    },
    /// What feeds a stream couldn't go on: its inputs couldn't be read or its outputs not be written.
    #[error("the run was aborted: {0}")]
    Feed(String),
    /// The store gives nothing; nothing secret was sent.
    #[error(transparent)]
    Store(#[from] tacit_store::Error),
    /// The parties' stores have no unused material in common; nothing secret was sent.
    #[error(transparent)]
    NoMaterial(#[from] tacit_store::NoAgreement),
    /// A check failed, and what should be destroyed because of it is still there.
    #[error(
        "{failed}; the material of its offline session could not be destroyed ({cause}): delete the store"
    )]
    NotDestroyed {
        /// The check's failure.
        failed: Box<Error>,
        /// Why the store couldn't do it.
        cause: tacit_store::Error,
    },
    /// The run failed once all parties had put away what it keeps: that stays, though outputs may be missing.
    #[error("{}", after_keeping(&failed.to_string(), kept))]
    AfterKeeping {
        /// The failure.
        failed: Box<Error>,
        /// What was kept, as `weights@4`.
        kept: Vec<String>,
    },
    /// This party runs nothing more by itself ([`crate::Seat`]); nothing was sent.
    #[error("{}", stopped(*attempts, *failed_check))]
    Stopped {
        /// Runs so far that ended in a failed check, or in the middle of one.
        attempts: u64,
        /// Whether a check failed.
        failed_check: bool,
    },
    /// A debug run found an operation whose result differs from the clear one.
    #[error("{0}")]
    Differs(Box<Difference>),
}

/// Of a value that is no input.
fn impossible(error: &ValueError) -> String {
    match error {
        ValueError::Range { position, value, lo, hi } => {
            format!(
                "element {position:?} is {value}, and all that the program computes for it is from {lo} to {hi}"
            )
        }
        other => other.to_string(),
    }
}

fn after_keeping(failed: &str, kept: &[String]) -> String {
    format!("{failed}; what it kept stays: {}", kept.join(", "))
}

/// Why that may be.
fn assumed(assumptions: &[Source]) -> String {
    if assumptions.is_empty() {
        return "; that is a fault in tacit: please report it".to_owned();
    }
    format!(
        ". The program assumes a range{}, and a value was outside one, so the other results are wrong, too, and may tell more \
         than they should: {WIDER}",
        lines(assumptions)
    )
}

/// Where that may be, and what helps.
fn outside(assumptions: &[Source]) -> String {
    format!(
        "{}; nothing was kept, and of what depends on it nothing was revealed but that it was so: {WIDER}",
        lines(assumptions)
    )
}

const WIDER: &str = "assume wider ranges, of a network by calibrating with samples like these or a larger margin; a debug run on \
                     made-up data names the line";

fn lines(assumptions: &[Source]) -> String {
    match assumptions {
        [] => String::new(),
        [first] => format!(" at {first}"),
        [first, rest @ ..] => format!(" at {first}, or at one of {} other lines", rest.len()),
    }
}

/// How far an error is from what went wrong, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Distance {
    /// An endpoint refuses to run at all, and the others lose it.
    Refusal,
    /// Something went wrong in the run.
    Run,
    /// A link failed, perhaps because the endpoint at its other end did.
    Link,
    /// Only another endpoint's word that it aborts.
    Echo,
}

impl Error {
    /// The same, of one of a run's lanes.
    pub(crate) fn in_lane(self, lane: u16) -> Self {
        match self {
            Self::Aborted { at, attempt, cause, .. } => {
                Self::Aborted { lane: Some(lane), at, attempt, cause }
            }
            other => other,
        }
    }

    /// The same, of a run that ended while a check was under way, or not.
    pub(crate) fn in_check(self, challenged: bool) -> Self {
        match self {
            Self::Aborted { lane, at, attempt, cause } => {
                Self::Aborted { lane, at, attempt: attempt || challenged, cause }
            }
            other => other,
        }
    }

    /// The same, of a run whose kept values, if there are any, are settled.
    pub(crate) fn after_keeping(self, kept: &[String]) -> Self {
        if kept.is_empty() {
            return self;
        }
        Self::AfterKeeping { failed: Box::new(self), kept: kept.to_vec() }
    }

    /// The same, once what hangs on a check that failed is destroyed: pass or fail tells a bit of what was checked, and nobody
    /// may ask again.
    pub(crate) fn destroying(self, destroy: impl FnOnce() -> Result<(), tacit_store::Error>) -> Self {
        if !self.is_failed_check() {
            return self;
        }
        match destroy() {
            Ok(()) => self,
            Err(cause) => Self::NotDestroyed { failed: Box::new(self), cause },
        }
    }

    /// The same for a log, which has no output in it: of one that can't be right it says where alone.
    pub(crate) fn in_log(&self) -> String {
        match self {
            Self::WrongOutput { output, value, .. } => {
                let place = match value {
                    ValueError::Range { position, .. } | ValueError::NotFinite { position, .. } => {
                        format!(" at element {position:?}")
                    }
                    _ => String::new(),
                };
                format!("output {output} can't be right{place}")
            }
            Self::AfterKeeping { failed, kept } => after_keeping(&failed.in_log(), kept),
            other => other.to_string(),
        }
    }

    /// Whether a run began and was aborted; all other errors come before anything secret was sent.
    pub fn is_abort(&self) -> bool {
        matches!(
            self,
            Self::Aborted { .. }
                | Self::OutsideAssumed { .. }
                | Self::BrokeOff { .. }
                | Self::Feed(_)
                | Self::NotDestroyed { .. }
                | Self::AfterKeeping { .. }
                | Self::Differs(_)
                | Self::Setup(SetupError::GaveUp { .. })
        )
    }

    /// Whether the run was aborted because a check failed, here or at another party: somebody deviated from the protocol.
    pub fn is_failed_check(&self) -> bool {
        match self {
            Self::Aborted { cause, .. } => cause.is_failed_check(),
            Self::NotDestroyed { failed, .. } | Self::AfterKeeping { failed, .. } => failed.is_failed_check(),
            _ => false,
        }
    }

    /// Whether somebody may have tried to get a wrong result past a check: it failed, or the run ended, through whomever, after
    /// others could know how it would end. Every attempt multiplies the chance that one isn't noticed.
    pub fn is_attempt(&self) -> bool {
        match self {
            Self::Aborted { attempt, .. } => *attempt || self.is_failed_check(),
            Self::NotDestroyed { failed, .. } | Self::AfterKeeping { failed, .. } => failed.is_attempt(),
            _ => false,
        }
    }

    /// How far this error is from what went wrong: of the errors of a run's endpoints the one with the least says most.
    pub fn distance(&self) -> Distance {
        match self {
            Self::Aborted { cause, .. } => match link(cause) {
                Some(link) if matches!(link.what(), ErrorKind::Aborted { .. }) => Distance::Echo,
                Some(_) => Distance::Link,
                None => Distance::Run,
            },
            Self::AfterKeeping { failed, .. } => failed.distance(),
            Self::Setup(SetupError::GaveUp { .. }) => Distance::Echo,
            Self::Setup(_) => Distance::Link,
            _ if self.is_abort() => Distance::Run,
            _ => Distance::Refusal,
        }
    }
}

fn in_lane(lane: Option<u16>) -> String {
    lane.map_or_else(String::new, |lane| format!(" in lane {lane}"))
}

/// Why a party runs nothing more.
fn stopped(attempts: u64, failed_check: bool) -> String {
    if failed_check {
        return "a check failed, so this party runs nothing more by itself: somebody deviated from the protocol, and with \
                every further run has another chance not to be noticed; find out who before you start it again"
            .to_owned();
    }
    format!(
        "{attempts} runs ended in the middle of a check, so this party runs nothing more by itself: somebody may deviate and \
         end each run that it would be noticed in; find out why links are lost before you start it again"
    )
}

/// What an attempt means for whoever runs again.
fn counted(attempt: bool) -> &'static str {
    if attempt { "; a check was under way, so this counts as an attempt to deviate" } else { "" }
}

fn place(at: Option<&Source>) -> String {
    at.map_or_else(String::new, |at| format!(" (at {at})"))
}

/// What to do about it.
fn advice(cause: &Cause) -> String {
    let Some(link) = link(cause) else { return String::new() };
    let peer = link.peer().map_or("this party", |peer| peer.name.as_str());
    match link.what() {
        ErrorKind::Closed { .. } => format!("; see what {peer} says, and run again"),
        ErrorKind::Silent { .. } | ErrorKind::Stalled { .. } | ErrorKind::Slow { .. } => {
            format!("; see whether {peer} still runs and can be reached, and run again")
        }
        _ => String::new(),
    }
}

/// Which message it was, for whoever looks for a fault in Tacit.
fn address(cause: &Cause) -> String {
    link(cause)
        .and_then(tacit_net::Error::address)
        .map_or_else(String::new, |address| format!(" [{address}]"))
}

/// The failure of a link that ended a run.
pub(crate) fn link(cause: &Cause) -> Option<&tacit_net::Error> {
    match cause {
        Cause::Session(SessionError::Link(link)) | Cause::During { source: SessionError::Link(link), .. } => {
            Some(link)
        }
        _ => None,
    }
}

/// A failure that is no line's of a program.
pub(crate) fn aborted(cause: Cause) -> Error {
    match cause {
        Cause::Refused(reason) => Error::Refused(reason),
        cause => Error::Aborted { lane: None, at: None, attempt: false, cause },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_once_values_are_kept_says_which_and_is_what_it_was() {
        let failed = || {
            let cause = SessionError::CheckFailed { peer: "P1".into(), what: "an output" };
            Error::Aborted { lane: None, at: None, attempt: false, cause: cause.into() }
        };
        assert!(matches!(failed().after_keeping(&[]), Error::Aborted { .. }));
        let error = failed().after_keeping(&["x@2".into(), "y@1".into()]);
        assert!(error.to_string().ends_with("; what it kept stays: x@2, y@1"), "{error}");
        assert!(error.is_abort() && error.is_failed_check() && error.is_attempt());
        assert_eq!(error.distance(), failed().distance());
    }

    #[test]
    fn what_is_logged_of_a_wrong_output_is_where_it_is() {
        let wrong = || {
            let value = ValueError::Range { position: vec![3], value: "271828".into(), lo: 0.0, hi: 31415.0 };
            Error::WrongOutput { output: 1, value, assumptions: Vec::new() }
        };
        assert!(wrong().to_string().contains("271828"));
        assert_eq!(wrong().in_log(), "output 1 can't be right at element [3]");
        let kept = wrong().after_keeping(&["x@2".into()]).in_log();
        assert_eq!(kept, "output 1 can't be right at element [3]; what it kept stays: x@2");
        let other = Error::Refused("it isn't served".into());
        assert_eq!(other.in_log(), other.to_string());
    }

    #[test]
    fn an_abort_says_what_happened_then_what_to_do_then_where_in_tacit() {
        let mut meshes = tacit_net::memory::mesh(2, 0).into_iter().enumerate().map(|(me, links)| {
            let names = vec!["P0".to_owned(), "P1".to_owned()];
            tacit_net::Mesh::new(Box::new(links), me, names, tacit_net::Limits::default())
        });
        let mut here = meshes.next().unwrap();
        drop(meshes);
        let link = here.recv(1, tacit_net::At::op(4), 1).unwrap_err();
        let at = Source { file: "big.py".into(), line: 9, text: "a * b".into() };
        let cause = Cause::During { node: 3, source: link.clone().into() };
        let at_line = Some(Box::new(at.clone()));
        let says = Error::Aborted { lane: None, at: at_line, attempt: false, cause }.to_string();
        assert!(says.starts_with("the run was aborted: lost P1 ("), "{says}");
        let rest = format!(
            ") in the setup phase (at {at}); see what P1 says, and run again [while waiting for op 4, batch 0 of P1]"
        );
        assert!(says.ends_with(&rest), "{says}");
    }
}
