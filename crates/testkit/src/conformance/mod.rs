//! What every protocol has to show.
//!
//! | module | shows |
//! | --- | --- |
//! | [`equality`] | results are those of the clear reference, for whoever learns them and nobody else |
//! | [`cost`] | payload bytes on every link are those declared, exactly, and chains of messages as long as the plan says |
//! | [`views`] | what a party receives is uniform, whatever the inputs and whatever the party does |
//! | [`predictions`] | nor is anything told to a party and a client who put together what they have |
//! | [`robust`] | deviations and deaths end in errors that name who is at fault, never in a hang or a panic |
//! | [`attacks`] | for protocols that promise it: one that deviates is noticed, and nobody has a wrong output |
//! | [`known`] | what all parties hold before a run: in circuits with secrets, and where a party holds another value |
//! | [`order`] | nothing is released before what it waits for is where it must be |
//! | [`links`] | the same over memory, TCP and TLS, for a few dozen cases |
//! | [`residents`] | what one run keeps another one reads, for nothing; a share that was changed is noticed |
//! | [`lanes`] | lanes share no address, no stream and no link, and a failure of one ends all |
//! | [`refusals`] | what a protocol doesn't offer it refuses before anything is sent |
//! | [`wire`] | addresses don't repeat, lengths don't depend on secrets, bytes are those of a kept trace |
//!
//! Programs come from the [`catalogue`], one for every operation, and from [`crate::generate`]. A protocol that is fair reveals
//! outputs to parties alone: what would be a client's goes to a party, see `Subject::lowered`.

pub mod attacks;
pub mod catalogue;
pub mod circuits;
pub mod cost;
pub mod equality;
pub mod known;
pub mod lanes;
pub mod links;
mod mount;
pub mod order;
pub mod predictions;
pub mod refusals;
pub mod residents;
pub mod robust;
pub mod views;
pub mod wire;

use std::collections::BTreeMap;
use std::path::PathBuf;

use attacks::Sort;
use catalogue::Numbers;
use tacit_engine::{Participants, Protocol, Security};
use tacit_program::plan::{Plan, To};
use tacit_program::{Fault, Lowered, Program, Recipient, lower};

use crate::case::party_names;
use crate::{Case, Rng, generate};

/// A protocol among so many parties, and what the suite has to know about it. A protocol for several sizes mounts the
/// suite for each.
pub struct Subject {
    /// The protocol.
    pub protocol: &'static dyn Protocol,
    /// How many parties run it.
    pub parties: usize,
    /// What a corrupt party is told of others' randomness: `told(corrupt, endpoint, call)` says whether `corrupt`
    /// learns what `endpoint` draws in its `call`-th draw after the handshake. What is told is held fixed when a
    /// view is examined.
    pub told: fn(corrupt: usize, endpoint: usize, call: usize) -> bool,
    /// Whether parties draw masks afresh, where others take them from keys that they share.
    pub fresh_masks: bool,
    /// The file of hashes that a seeded run's trace must have.
    pub baseline: PathBuf,
    /// Whether what a party sends one other for an operation it sends them all.
    pub broadcasts: bool,
    /// What its messages are for; empty if nobody attacks it.
    pub sorts: &'static [Sort],
    /// Of what the suite tries one in so many is enough; 1 for all of it. For many parties, whose runs take longer.
    pub one_in: usize,
    /// The longest vectors that it is tried on; others are made shorter, or left out if their length is what is tried. For
    /// protocols whose runs take memory.
    pub longest: usize,
}

/// Takes one in so many of what is tried, from the first on.
pub(crate) struct Cut {
    one_in: usize,
    seen: usize,
}

impl Cut {
    pub(crate) fn takes(&mut self) -> bool {
        self.seen += 1;
        (self.seen - 1).is_multiple_of(self.one_in)
    }
}

impl Subject {
    /// A protocol among so many parties that nobody attacks and that has no baseline, of which a corrupt party is told nothing
    /// more.
    ///
    /// # Panics
    /// If the protocol isn't for so many.
    pub fn new(protocol: &'static dyn Protocol, parties: usize) -> Self {
        let spec = protocol.spec();
        assert!(spec.parties.contains(&parties), "{} is for {} parties", spec.name, spec.party_count());
        Self {
            protocol,
            parties,
            told: |_, _, _| false,
            fresh_masks: false,
            baseline: PathBuf::new(),
            broadcasts: false,
            sorts: &[],
            one_in: 1,
            longest: usize::MAX,
        }
    }

    /// Of these lengths any, as far as it is tried.
    pub(crate) fn length(&self, rng: &mut Rng, lengths: &[usize]) -> usize {
        rng.pick(lengths).min(self.longest)
    }

    /// An operation of the catalogue; `None` if it isn't defined for such numbers, or the protocol doesn't offer it.
    pub(crate) fn sample(
        &self,
        name: &str,
        numbers: Numbers,
        len: usize,
        owners: [&str; 2],
        to: &[Recipient],
    ) -> Option<Program> {
        let program = catalogue::program(name, numbers, len, owners, to).ok()?;
        self.offers(&program).then_some(program)
    }

    /// Whether the protocol has means for a program. [`counted`] says how often it has.
    pub fn offers(&self, program: &Program) -> bool {
        self.try_lowered(program).is_some_and(|lowered| {
            let names = party_names(self.parties);
            let clients = Participants::clients_of(&lowered.plan, &names);
            let participants = Participants::new(&lowered.plan, &names, &clients);
            participants.is_ok_and(|roles| self.protocol.admit(&lowered.plan, &roles).is_ok())
        })
    }

    /// How much of what is tried this subject tries.
    pub(crate) fn cut(&self) -> Cut {
        Cut { one_in: self.one_in, seen: 0 }
    }

    /// The same, where what comes before `first` is left out.
    pub(crate) fn cut_from(&self, first: usize) -> Cut {
        Cut { one_in: self.one_in, seen: self.one_in - first % self.one_in }
    }

    /// The last party's name.
    pub(crate) fn last(&self) -> String {
        format!("P{}", self.parties - 1)
    }

    /// A run of a plan.
    pub(crate) fn case(&self, plan: Plan, inputs: &[Vec<u64>]) -> Case {
        Case::new(self.protocol, self.parties, plan, inputs)
    }

    /// Which parties are corrupt together in the suite: each one alone, and every set of as many as the protocol
    /// withstands. Among many parties the first and the last such set stand for the rest.
    pub(crate) fn coalitions(&self) -> Vec<Vec<usize>> {
        let (parties, most) = (self.parties, self.protocol.spec().corruptions.among(self.parties));
        if parties > FEW {
            return vec![(0..most).collect(), (parties - most..parties).collect()];
        }
        let alone = (0..parties).map(|party| vec![party]);
        let sets = (0..1_u32 << parties).filter(|set| most > 1 && set.count_ones() as usize == most);
        let together = sets.map(|set| (0..parties).filter(|party| set >> party & 1 == 1).collect());
        alone.chain(together).collect()
    }

    /// Whether the protocol is fair. Then outputs are for parties alone, and a run has one lane; the rest it refuses.
    pub(crate) fn is_fair(&self) -> bool {
        self.protocol.spec().security == Security::Fair
    }

    /// A program that the protocol has means for, lowered to them, and to outputs for parties alone if it is fair.
    /// # Panics
    /// If it hasn't.
    pub fn lowered(&self, program: &Program) -> Lowered {
        self.try_lowered(program).expect("the protocol offers it")
    }

    fn try_lowered(&self, program: &Program) -> Option<Lowered> {
        let mut lowered = lower(program, self.protocol.capabilities()).ok()?;
        if self.is_fair() {
            for_parties(&mut lowered.plan, &party_names(self.parties));
        }
        Some(lowered)
    }
}

/// So many parties have few enough coalitions to try all that matter.
const FEW: usize = 5;

/// Results and costs of every operation of the catalogue.
///
/// # Panics
/// At the first difference.
pub fn every_operation(subject: &Subject) {
    for name in catalogue::names() {
        equality::operation(subject, name);
        cost::operation(subject, name);
    }
}

/// All that tests of each time may try one in so many of ([`Subject::one_in`]), but for views and long rows.
///
/// # Panics
/// If anything is wrong, or the subject tries less than all.
pub fn whole(subject: &Subject) {
    assert_eq!(subject.one_in, 1, "all of it");
    every_operation(subject);
    equality::random_programs(subject, 0..200);
    cost::random_programs(subject, 0..300);
    circuits::random(subject, 0..60);
    residents::random_programs(subject, 0..60);
    known::results_and_costs(subject);
    known::other_values(subject);
    robust::every_message_altered(subject);
    robust::random_deviations(subject, 0..400);
}

/// How many of the suite's programs a protocol runs, and how many it refuses: one of every operation on all numbers that
/// it is defined for, and random ones. To be pinned for each protocol, so that none passes the suite by refusing.
pub fn counted(subject: &Subject) -> [usize; 2] {
    let mut counts = [0; 2];
    programs(subject, |program| counts[usize::from(!subject.offers(program))] += 1);
    counts
}

/// What the protocol lacks for those that it refuses, each with how many of them it is lacking for first.
///
/// # Panics
/// If one is refused for anything else.
pub fn lacking(subject: &Subject) -> BTreeMap<&'static str, usize> {
    let mut lacking = BTreeMap::new();
    programs(subject, |program| {
        let Err(error) = lower(program, subject.protocol.capabilities()) else { return };
        match *error.fault {
            Fault::NotOffered { missing, .. } => *lacking.entry(missing).or_default() += 1,
            other => panic!("a program is refused: {other}"),
        }
    });
    lacking
}

fn programs(subject: &Subject, mut with: impl FnMut(&Program)) {
    for name in catalogue::names() {
        for numbers in Numbers::all() {
            if let Ok(program) = catalogue::program(name, numbers, 3, ["P0", "alice"], &[Recipient::All]) {
                with(&program);
            }
        }
    }
    for seed in 0..200 {
        with(&generate::program(&mut Rng::new(seed), subject.parties, 14, 3));
    }
}

/// Gives every output that a client learns to one party instead, to each in turn; clients that then do nothing are left out.
fn for_parties(plan: &mut Plan, parties: &[String]) {
    let owners: Vec<String> =
        plan.inputs.iter().map(|input| plan.roles[input.owner as usize].clone()).collect();
    let clients = plan.roles.iter().any(|role| !parties.contains(role));
    let learner = |(index, to): (usize, To)| match to {
        To::All if !clients => None,
        To::One(role) if parties.contains(&plan.roles[role as usize]) => {
            Some(plan.roles[role as usize].clone())
        }
        _ => Some(parties[index % parties.len()].clone()),
    };
    let learners: Vec<Option<String>> =
        plan.outputs.iter().map(|output| output.to).enumerate().map(learner).collect();
    plan.roles.clear();
    let mut role = |name: String| {
        let known = plan.roles.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            plan.roles.push(name);
            plan.roles.len() - 1
        }) as u32
    };
    for (input, owner) in plan.inputs.iter_mut().zip(owners) {
        input.owner = role(owner);
    }
    for (output, learner) in plan.outputs.iter_mut().zip(learners) {
        output.to = learner.map_or(To::All, |name| To::One(role(name)));
    }
}
