//! What a service is to those who have its steps run together.

use crate::error::Error;
use crate::report::Report;

/// What a request wants to have computed next.
pub trait Step: Send {
    /// Steps of one kind run together: what they compute differs by their inputs alone.
    type Kind: Ord;

    /// Its kind.
    fn kind(&self) -> Self::Kind;

    /// Names it among all steps: a cryptographic hash of its kind and of all on which parties have to agree before they run it, and
    /// of nothing that a party may not tell the others.
    ///
    /// A roll tells 64 bits of it, and whoever sends requests may find two steps with the same by 2^32 tries. So what must be alike
    /// the run compares, too, as a session does with public inputs and with what fills slots.
    fn mark(&self) -> [u8; 32];

    /// Whether its request wants nothing after it.
    fn is_last(&self) -> bool;
}

/// A party's part in answering requests that came together.
pub trait Service: Sync {
    /// What requests want.
    type Step: Step;
    /// What comes of a step.
    type Outcome: Send;

    /// Why this party doesn't run a step any more, if it doesn't, as things are now. It is asked before the roll is called and
    /// again before the run: what is refused then costs the other parties the time that they wait for it.
    fn refusal(&self) -> impl Fn(&Self::Step) -> Option<String>;

    /// Runs steps of one kind together, which all parties want alike, under this tag: what comes of each, in their order. There are
    /// from one to [`Bounds::together`](super::Bounds::together) of them; a service that has no program for so many pads them.
    ///
    /// # Errors
    /// Why nothing does.
    fn run(&self, tag: String, steps: &[Self::Step]) -> Result<Vec<Self::Outcome>, Error>;

    /// Hears what a roll has taken in which this party wanted something for so many requests.
    fn has_called(&self, _report: &Report, _wanted: usize) {}
}
