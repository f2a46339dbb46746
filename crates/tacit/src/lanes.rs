//! One endpoint's part in a run of several lanes: independent runs of plans side by side, each over links of its
//! own, with keys of its own, in a thread of its own.

use crate::compiled::Compiled;
use crate::endpoint::{Endpoint, Feed, Once, Played, establish};
use crate::error::Error;
use crate::kept::Source;
use crate::material::{agree_source, part, refuse_other, refuse_other_stock, take_agreed};
use crate::part::{Start, client, party};
use crate::state::keeping::{Keeping, refuse_homeless};
use crate::state::residents::Residents;
use std::sync::Arc;
use tacit_engine::supply::{Blocks, StoredSupply};
use tacit_engine::{Clear, Observer, Participants, Protocol};
use tacit_net::{AbortFlag, Lane, MAX_LANES, Mesh};
use tacit_store::Store;

/// What one lane runs: a program, and its inputs.
pub type LaneInputs<'a, V> = (&'a Arc<Compiled>, &'a [V]);

/// An endpoint's part in one lane.
pub struct Strand<'a> {
    /// What is run. All strands have the same parties and clients.
    pub endpoint: &'a Endpoint,
    /// The lane's links.
    pub mesh: Mesh,
    /// Where its inputs come from, and where its outputs go.
    pub feed: &'a mut (dyn Feed + Send),
    /// Is told how the lane goes on.
    pub observer: &'a mut (dyn Observer + Send),
    /// What a party keeps between runs, for a program that reads or keeps values.
    pub residents: Option<Residents<'a>>,
}

/// The same for one lane.
enum Own<'a> {
    InRun,
    Material(&'a mut Store),
    /// And the blocks that it draws.
    Supply(Box<StoredSupply>, Blocks),
}

/// Plays an endpoint's part in all lanes, one for each strand, each in a thread of its own; what each took.
///
/// Everybody must run as many lanes, and the same program in the same lane: else all end with an error before
/// anything is sent that depends on a secret. So they do unless all parties take from stores, or none does. What is taken
/// from a store is used from the moment that the parties have agreed on it. After a failed check all is destroyed that was
/// made in the same offline session; that of supplies also after a check without a verdict.
///
/// # Errors
/// Of the lane that failed first, unless a check failed in another: who deviates can end a lane to hide that. All others are
/// aborted with it. It says whether a check was under way in any ([`Error::is_attempt`]). [`Error::NoMaterial`] if the
/// parties' stores have too little in common, and [`Error::Refused`] before anything is sent if a store is for something
/// else, or another run draws from it.
pub fn play_lanes(strands: Vec<Strand<'_>>, source: Source<'_>) -> Result<Vec<Played>, Error> {
    let count = lane_count(strands.len())?;
    let mut drawing = None;
    let sources: Vec<Own<'_>> = match source {
        Source::InRun => (0..count).map(|_| Own::InRun).collect(),
        Source::Material(store) => {
            let [strand] = &strands[..] else {
                return Err(Error::Refused("a run on material from a store has one lane".to_owned()));
            };
            refuse_other(strand.endpoint, strand.mesh.me(), store)?;
            vec![Own::Material(store)]
        }
        Source::Supplies(stock) => {
            strands.iter().try_for_each(|lane| refuse_other_stock(lane.endpoint, lane.mesh.me(), stock))?;
            let draws: Vec<Blocks> = strands.iter().map(|lane| lane.endpoint.draws()).collect();
            let mut all = Blocks::new();
            for (kind, blocks) in draws.iter().flatten() {
                let sum = all.entry(*kind).or_default();
                *sum = sum.saturating_add(*blocks);
            }
            // A plan that draws nothing needs no supply, unless the key of kept values is there.
            let under_key = |lane: &Strand<'_>| {
                lane.endpoint.protocol.keeps_under_key() && lane.endpoint.compiled.has_residents()
            };
            let needs = |(lane, draws): (&Strand<'_>, &Blocks)| !draws.is_empty() || under_key(lane);
            let needs: Vec<bool> = strands.iter().zip(&draws).map(needs).collect();
            let begun = stock.lanes(needs.iter().filter(|needs| **needs).count() as u16, all);
            let (run, supplies) = begun.map_err(|refused| Error::Refused(refused.to_string()))?;
            drawing = Some(run);
            let mut supplies = supplies.into_iter().peekable();
            let own = |(draws, needs): (Blocks, bool)| match supplies.next_if(|_| needs) {
                Some(supply) => Own::Supply(Box::new(supply), draws),
                None => Own::InRun,
            };
            draws.into_iter().zip(needs).map(own).collect()
        }
    };
    let played = play_each(count, strands.into_iter().zip(sources).collect());
    match drawing {
        Some(run) => played.map_err(|failed| failed.destroying(|| run.destroy())),
        None => played,
    }
}

/// Plays an endpoint's part from the handshake to the end: a party's if its number is below the number of
/// parties, a client's else. `inputs` has the values that this endpoint gives, by the index of the input. What it learns, by
/// the index of the output.
///
/// # Errors
/// As [`play_lanes`].
pub fn play(
    endpoint: &Endpoint,
    mesh: Mesh,
    source: Source<'_>,
    inputs: Vec<Option<Clear>>,
    observer: &mut (dyn Observer + Send),
) -> Result<(Vec<Option<Clear>>, Played), Error> {
    let mut feed = Once::new(inputs);
    let strand = Strand { endpoint, mesh, feed: &mut feed, observer, residents: None };
    let played = play_lanes(vec![strand], source)?.swap_remove(0);
    Ok((feed.outputs, played))
}

/// Plays each lane in a thread of its own.
fn play_each(count: u16, strands: Vec<(Strand<'_>, Own<'_>)>) -> Result<Vec<Played>, Error> {
    let tie = AbortFlag::default();
    let play_one = |lane: Lane, (strand, source): (Strand<'_>, Own<'_>)| {
        let Strand { endpoint, mesh, feed, observer, residents } = strand;
        let mesh = mesh.in_lane(lane, tie.clone());
        let result = play_lane(endpoint, mesh, source, feed, observer, residents);
        // Of a lane that ends in order all know, and others go on.
        if let Some(error) =
            result.as_ref().err().filter(|error| !matches!(error, Error::OutsideAssumed { .. }))
        {
            // Most failures are a mesh's, which has done so already.
            tie.set(lane, &error.to_string());
        }
        result
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let mut strands = Lane::all(count).zip(strands);
        let first = strands.next();
        let others: Vec<_> =
            strands.map(|(lane, strand)| scope.spawn(move || play_one(lane, strand))).collect();
        let first = first.map(|(lane, strand)| play_one(lane, strand));
        let others = others
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        first.into_iter().chain(others).collect()
    });
    let first = tie.failed().map(|(lane, _)| lane);
    let mut failed = Vec::new();
    let mut parts = Vec::with_capacity(results.len());
    for (lane, result) in Lane::all(count).zip(results) {
        match result {
            Ok(part) => parts.push(part),
            Err(error) => failed.push((lane, error)),
        }
    }
    worst(failed, first).map_or(Ok(parts), Err)
}

/// Plays an endpoint's part in one lane.
fn play_lane(
    endpoint: &Endpoint,
    mesh: Mesh,
    source: Own<'_>,
    feed: &mut dyn Feed,
    observer: &mut dyn Observer,
    residents: Option<Residents<'_>>,
) -> Result<Played, Error> {
    let me = mesh.me();
    if me < endpoint.parties.len() && residents.is_none() {
        refuse_homeless(endpoint)?;
    }
    let mut session = establish(endpoint, mesh, endpoint.agreement())?;
    if me >= endpoint.parties.len() {
        return client(endpoint, session, feed);
    }
    let residents = residents.filter(|_| endpoint.compiled.has_residents());
    let keeping = residents.map(|residents| Keeping::agree(endpoint, &mut session, residents)).transpose()?;
    let (start, drawn) = match source {
        Own::Material(store) => {
            let (instance, material) = take_agreed(endpoint, &mut session, store)?;
            let played = party(endpoint, session, Start::Material(material), feed, observer, keeping);
            let played = played.map_err(|failed| failed.destroying(|| store.destroy(instance.epoch)))?;
            return Ok(Played { material: Some(instance), ..played });
        }
        Own::InRun => (Start::InRun, None),
        Own::Supply(mut supply, drawn) => {
            if keeping.is_some() && !endpoint.compiled.program().keeps().is_empty() {
                supply.keeps();
            }
            if let Some(key) = keeping.as_ref().and_then(|keeping| keeping.key) {
                supply
                    .under(key)
                    .map_err(|refused| part(&mut session, endpoint.compiled.aborted(refused)))?;
            }
            (Start::Supply(supply), Some(drawn))
        }
    };
    agree_source(endpoint, &mut session, drawn.as_ref())?;
    party(endpoint, session, start, feed, observer, keeping)
}

/// Of the failures of a run's lanes the one that is told: a failed check rather than that of lane `first`, and that rather than
/// another. If a check was under way in any, it is in this.
fn worst(failed: Vec<(Lane, Error)>, first: Option<u16>) -> Option<Error> {
    let challenged = failed.iter().any(|(_, error)| error.is_attempt());
    // Whoever deviates in one lane can have another one end otherwise, before any check: that must not hide the attempt.
    let hides = |error: &Error| challenged && !matches!(error, Error::Aborted { .. });
    let is_less =
        |(lane, error): &(Lane, Error)| (!error.is_failed_check(), hides(error), first != Some(lane.number));
    let (lane, error) = failed.into_iter().min_by_key(is_less)?;
    let error = error.in_check(challenged);
    Some(if lane.has_others() { error.in_lane(lane.number) } else { error })
}

/// So many lanes, if a run under a protocol can have as many: to ask before links are made.
///
/// # Errors
/// [`Error::Refused`] if it can't.
pub fn admitted_lanes(protocol: &dyn Protocol, jobs: usize) -> Result<u16, Error> {
    let count = lane_count(jobs)?;
    protocol.admit_lanes(count).map_err(|refused| Error::Refused(refused.to_string()))?;
    Ok(count)
}

/// So many lanes, if a run can have as many.
pub(crate) fn lane_count(jobs: usize) -> Result<u16, Error> {
    match u16::try_from(jobs) {
        Ok(count) if (1..=MAX_LANES).contains(&count) => Ok(count),
        _ => Err(Error::Refused(format!("a run has 1 to {MAX_LANES} lanes, not {jobs}"))),
    }
}

/// The clients that the lanes' programs name.
///
/// # Errors
/// If they don't all name the same: everybody who takes part does so in all lanes.
pub(crate) fn clients_of<'a>(
    lanes: impl IntoIterator<Item = &'a Arc<Compiled>>,
    parties: &[String],
) -> Result<Vec<String>, Error> {
    let mut lanes = lanes.into_iter().map(|compiled| Participants::clients_of(compiled.plan(), parties));
    let clients = lanes.next().unwrap_or_default();
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let expected = sorted(clients.clone());
    match lanes.map(sorted).find(|other| *other != expected) {
        None => Ok(clients),
        Some(other) => Err(Error::Refused(format!(
            "the programs of a run's lanes name different clients: {expected:?} and {other:?}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_session::Error as SessionError;

    #[test]
    fn a_failed_check_is_told_whatever_ended_first_and_an_attempt_in_any_lane_counts() {
        let aborted = |attempt, cause: SessionError| Error::Aborted {
            lane: None,
            at: None,
            attempt,
            cause: cause.into(),
        };
        let lost = |attempt| aborted(attempt, SessionError::Exhausted);
        let rejected = || aborted(false, SessionError::Rejected { what: "it is wrong".into() });
        let told = |errors: [Error; 3], first| {
            let error = worst(Lane::all(3).zip(errors).collect(), Some(first)).unwrap();
            let Error::Aborted { lane, .. } = &error else { panic!("it was aborted") };
            (*lane, error.is_failed_check(), error.is_attempt())
        };
        assert_eq!(told([lost(false), lost(false), lost(false)], 1), (Some(1), false, false));
        assert_eq!(told([lost(false), lost(false), lost(true)], 1), (Some(1), false, true));
        assert_eq!(told([lost(false), lost(true), rejected()], 1), (Some(2), true, true));
        // Whoever deviates in lane 2 has lane 1 end first, without material.
        let refused = || Error::Refused("no store".into());
        assert_eq!(told([lost(false), refused(), lost(true)], 1), (Some(0), false, true));
        assert!(matches!(worst(vec![(Lane::ONLY, refused())], Some(0)), Some(Error::Refused(_))));
        assert!(worst(Vec::new(), None).is_none());
    }

    #[test]
    fn there_is_a_lane_at_least_and_not_too_many() {
        assert_eq!(lane_count(1).unwrap(), 1);
        assert_eq!(lane_count(64).unwrap(), 64);
        for wrong in [0, 65, 1 << 16] {
            assert!(lane_count(wrong).unwrap_err().to_string().contains("1 to 64 lanes"));
        }
    }
}
