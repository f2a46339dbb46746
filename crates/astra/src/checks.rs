//! What a party still has to check before material leaves or outputs are opened, and what it checks with.

use crate::counts::{Noted, products, results_of};
use crate::digests::{digest_under, digested, is_same, value};
use crate::garbling::{MANY_GARBLED, msb_count};
use crate::planted::{Mistake, planted};
use crate::prepared::Prepared;
use crate::seats::Seats;
use crate::step;
use crate::verify::{Rules, Unchecked};
use tacit_engine::Error;
use tacit_kernel::Element;
use tacit_kernel::digest::Digest;
use tacit_program::plan::{Domain, OpKind, Plan};
use tacit_session::{Draw, PrssStream, Session};
use tacit_threeparty::hiding::{Hiding, clients_learn};
use tacit_threeparty::messages::at;
use tacit_threeparty::{PARTIES, Party};

/// Refuses what has no check.
pub(crate) fn refuse_unverified(plan: &Plan) -> Result<(), Error> {
    let verified = |kind: &OpKind| match kind {
        OpKind::And { .. } | OpKind::Circuit { .. } | OpKind::Mul { .. } | OpKind::Msb { .. } => true,
        OpKind::MatMul { shape, .. } => shape.k > 0,
        OpKind::Split { .. }
        | OpKind::Inject { .. }
        | OpKind::Shift { .. }
        | OpKind::Open { .. }
        | OpKind::Random { .. }
        | OpKind::PairMask { .. }
        | OpKind::Compose { .. }
        | OpKind::Shuffle { .. } => false,
    };
    if plan.ops.iter().all(|op| verified(&op.kind)) {
        return Ok(());
    }
    Err(Error::Refused(
        "protocol \"astra-malicious\" verifies ANDs, products and garbled signs; this plan has conversions by two additive components, or \
         matrices without entries"
            .into(),
    ))
}

/// What a party still has to check, and what it checks with.
pub(crate) struct Verified {
    /// `i` of `P_i`.
    me: usize,
    /// Of all instances that were prepared and not sealed.
    unchecked: Unchecked,
    /// Of `P_0`: where what the check tells of the instance that is prepared belongs, note by note.
    noted: Vec<Noted>,
    /// Instances that were prepared before that one, and their notes.
    prepared: Vec<(Prepared, Vec<Noted>)>,
    /// Of what was garbled since the last seal: of `P_1` as it made it, of `P_2` as it has it.
    digest_of_garbled: Option<Digest>,
    /// Numbers whose MSB extraction was garbled since then.
    garbled: u64,
    /// Of the run that is on.
    running: Running,
    /// What hides outputs' components from clients, once everybody has accepted.
    pub(crate) hiding: Option<Hiding>,
}

/// The online check of a run.
#[derive(Default)]
struct Running {
    /// Of inputs that `P_1` and `P_2` were both given and haven't compared: at these two.
    given: Option<Digest>,
    /// Whether there are any.
    has_given: bool,
    /// Of what `P_1` shows: at `P_0` and at `P_2`.
    shown: Option<Digest>,
    /// Of what `P_0` computes of it, for each evaluator that this party compares with: its role.
    computed: Vec<(usize, Digest)>,
    /// Results that went into the digests.
    results: u64,
    /// The sum of the tags of garbled outputs: of `P_2` those that it has, of `P_1` those that belong to the bits that it got.
    tags: u128,
    /// How many outputs these are.
    tagged: u64,
}

impl Running {
    /// Keys are drawn from those of the instance: they are used once.
    fn new(me: usize, streams: &mut [PrssStream; PARTIES]) -> Self {
        let mut digest = |other: usize, part: u16| digest_under(&mut streams[other], Draw { part, op: 0 });
        let given = (me != 0).then(|| digest(3 - me, step::GIVEN_DIGEST));
        let shown = (me != 1).then(|| digest(2 - me, step::SHOWN_DIGEST));
        let others = if me == 0 { 1..=2 } else { 0..=0 };
        let computed = others.map(|other| (other, digest(other, step::COMPUTED_DIGEST))).collect();
        Self { given, has_given: false, shown, computed, results: 0, tags: 0, tagged: 0 }
    }

    /// Compares what both evaluators were given with the other one.
    fn compare_given(&self, session: &mut Session, other: usize) -> Result<(), Error> {
        let given = self.given.as_ref().filter(|_| self.has_given && !planted(Mistake::GivenNotCompared));
        let Some(given) = given else { return Ok(()) };
        let given = value(session, given)?;
        Ok(session.compare_shared(&[(other, &given)], "what an owner of inputs gave")?)
    }

    /// `P_0` tells both others its digests of what it computed.
    fn tell(&self, session: &mut Session, seats: Seats) -> Result<(), Error> {
        self.computed.iter().try_for_each(|(role, computed)| {
            let computed = value(session, computed)?;
            Ok(session.mesh().send(seats.party(*role), at(step::COMPUTED_DIGEST, 0), &computed)?)
        })
    }
}

impl Verified {
    /// In a run of so many lanes; `me` is the party's role.
    pub(crate) fn new(me: usize, seats: Seats, plan: &Plan, lanes: u16) -> Self {
        let mut unchecked = Unchecked::new(me, seats, Rules::of_lanes(lanes));
        unchecked.reserve(&products(plan));
        Self {
            me,
            unchecked,
            noted: Vec::new(),
            prepared: Vec::new(),
            digest_of_garbled: None,
            garbled: 0,
            running: Running::default(),
            hiding: None,
        }
    }

    /// Notes a party's components of some triples: of `a` and `b` of `P_0` those of `x_1` and `x_2`, of the others
    /// component 0 and their own, and of `c` likewise.
    pub(crate) fn note<E: Element>(
        &mut self,
        domain: Domain,
        count: usize,
        a: [&[E]; 2],
        b: [&[E]; 2],
        c: Option<[&[E]; 2]>,
    ) {
        let (a, b, c) = (self.in_turn(a), self.in_turn(b), c.map(|c| self.in_turn(c)));
        self.unchecked.note(domain, count, a, b, c);
    }

    /// The component of the lower number and the other one, as the check takes them: its first is `x_2`, `x_1`, `x_0` of
    /// `P_0`, `P_1`, `P_2`.
    fn in_turn<'a, E>(&self, [low, high]: [&'a [E]; 2]) -> [&'a [E]; 2] {
        if self.me == 2 { [low, high] } else { [high, low] }
    }

    /// `P_0`: says where what the check tells of the products that were noted last belongs.
    pub(crate) fn noted(&mut self, place: Noted) {
        self.noted.push(place);
    }

    /// Checks whole batches, if there are any.
    pub(crate) fn check_full(&mut self, session: &mut Session) -> Result<(), Error> {
        self.unchecked.check_full(session)
    }

    /// Whether so many products were checked that what was made should leave.
    pub(crate) fn is_full(&self) -> bool {
        self.unchecked.is_full() || self.garbled >= MANY_GARBLED
    }

    /// `P_1` and `P_2`: begin a digest of what is garbled, if none is begun.
    pub(crate) fn begin_garbling_digest(&mut self, stream: &mut PrssStream) {
        self.digest_of_garbled
            .get_or_insert_with(|| digest_under(stream, Draw { part: step::GARBLED_DIGEST, op: 0 }));
    }

    /// Notes a part of what was garbled.
    pub(crate) fn absorb_garbled(&mut self, part: &[u8]) {
        if let Some(digest) = &mut self.digest_of_garbled {
            digest.absorb(part);
        }
    }

    /// Notes that all of it that belongs to some numbers was made.
    pub(crate) fn garbled(&mut self, numbers: usize) {
        if !planted(Mistake::SignsUnnoted) {
            self.garbled += numbers as u64;
        }
    }

    /// Puts an instance aside that was prepared, until all are checked.
    pub(crate) fn put_aside(&mut self, ahead: Prepared) {
        self.prepared.push((ahead, std::mem::take(&mut self.noted)));
    }

    /// Compares what `P_0` and `P_1` garbled; accepts, and waits until the others do.
    fn check_garbled(&mut self, session: &mut Session, seats: Seats) -> Result<(), Error> {
        let (garbled, digest) = (std::mem::take(&mut self.garbled), self.digest_of_garbled.take());
        if garbled == 0 {
            return Ok(());
        }
        match (self.me, digest) {
            (1, Some(digest)) => {
                let digest = value(session, &digest)?;
                session.mesh().send(seats.party(2), at(step::GARBLED_DIGEST, 0), &digest)?;
            }
            (2, Some(digest)) => {
                let digest = value(session, &digest)?;
                let same = is_same(session, seats.party(1), at(step::GARBLED_DIGEST, 0), &digest)?;
                if !same && !planted(Mistake::GarblersUncompared) {
                    return Err(session.reject("two garblers made different circuits").into());
                }
            }
            _ => {}
        }
        Ok(session.accept_at(at(step::GARBLED_ACCEPT, 0), &garbled.to_le_bytes())?)
    }

    /// Checks all instances of a plan that were prepared: only then does anything of them leave.
    pub(crate) fn seal(
        &mut self,
        session: &mut Session,
        seats: Seats,
        plan: &Plan,
    ) -> Result<Vec<Prepared>, Error> {
        self.check_counts(session, plan)?;
        self.check_garbled(session, seats)?;
        let mut received = self.unchecked.check(session)?;
        let prepared = std::mem::take(&mut self.prepared).into_iter();
        let whole = prepared.map(|(mut ahead, noted)| {
            for (place, sums) in noted.iter().zip(received.by_ref()) {
                ahead.keep_sums(place, &sums);
            }
            ahead
        });
        Ok(whole.collect())
    }

    /// Checks that as many products and MSB extractions were noted as the plan has: what isn't noted would go
    /// unchecked.
    fn check_counts(&self, session: &mut Session, plan: &Plan) -> Result<(), Error> {
        let instances = self.prepared.len() as u64;
        let mut noted: Vec<(Domain, u64)> = self.unchecked.noted().collect();
        let mut expected = products(plan);
        for (_, count) in &mut expected {
            *count *= instances;
        }
        expected.retain(|(_, count)| *count > 0);
        noted.sort_unstable();
        expected.sort_unstable();
        let are_all = (noted, self.garbled) == (expected, instances * msb_count(plan));
        if are_all || planted(Mistake::CountsOfLog) {
            return Ok(());
        }
        Err(session.reject("other products and signs were prepared than the plan has").into())
    }

    /// Begins a run on an instance, whose keys' streams these are.
    pub(crate) fn start(&mut self, streams: &mut [PrssStream; PARTIES]) {
        self.running = Running::new(self.me, streams);
    }

    /// Notes a message of what `P_1` shows: `P_0` as it received it, `P_2` as it should be.
    pub(crate) fn shown(&mut self, message: &[u8]) {
        if let Some(digest) = &mut self.running.shown {
            digest.absorb(digested(message, Mistake::OperandsHalfDigested));
        }
    }

    /// Notes what `P_0` computes of some results, or should.
    pub(crate) fn computed(&mut self, message: &[u8], results: usize) {
        // What isn't digested isn't counted.
        if self.running.computed.is_empty() {
            return;
        }
        let digested = digested(message, Mistake::ResultsHalfDigested);
        self.running.computed.iter_mut().for_each(|(_, digest)| digest.absorb(digested));
        self.running.results += results as u64;
    }

    /// Notes the sum of some garbled outputs' tags.
    pub(crate) fn tagged(&mut self, outputs: usize, sum: u128) {
        if !planted(Mistake::SignsUnnoted) {
            self.running.tags ^= sum;
            self.running.tagged += outputs as u64;
        }
    }

    /// Notes a message of an input that `P_1` and `P_2` were both given.
    pub(crate) fn given(&mut self, message: &[u8]) {
        if let Some(digest) = &mut self.running.given {
            digest.absorb(digested(message, Mistake::GivenHalfDigested));
            self.running.has_given = true;
        }
    }

    /// Compares these inputs, once all are here, and before anything is computed on them. Their owner doesn't know the
    /// digest's key.
    pub(crate) fn compare_given(&mut self, session: &mut Session, other: usize) -> Result<(), Error> {
        if planted(Mistake::GivenComparedLast) { Ok(()) } else { self.running.compare_given(session, other) }
    }

    /// Compares all results with those that `P_0` computed; accepts, and waits until the others do.
    pub(crate) fn check(&mut self, party: &mut Party, seats: Seats) -> Result<(), Error> {
        let results = self.verify(&mut party.session, seats, &party.plan)?;
        let accept = |session: &mut Session| {
            if planted(Mistake::OutputsBeforeVerdicts) {
                Ok(())
            } else {
                Ok(session.accept(&results.to_le_bytes())?)
            }
        };
        let learn = clients_learn(&party.plan, &party.participants);
        self.hiding = Hiding::after(accept, &mut party.session, &party.scheme, learn)?;
        Ok(())
    }

    /// Compares all results with those that `P_0` computed, and counts them. Whoever returns from this has no objection.
    pub(crate) fn verify(&mut self, session: &mut Session, seats: Seats, plan: &Plan) -> Result<u64, Error> {
        let running = std::mem::take(&mut self.running);
        self.compare_tags(&running, session, seats)?;
        self.compare(&running, session, seats)?;
        if planted(Mistake::GivenComparedLast) && self.me != 0 {
            running.compare_given(session, seats.party(3 - self.me))?;
        }
        let (results, tagged) = (running.results, running.tagged);
        let expected = plan.counted_ops().map(|(op, _, times)| times * results_of(plan, op)).sum::<u64>();
        let are_all = (results, tagged) == (expected, msb_count(plan));
        if self.unchecked.len() > 0 || self.garbled > 0 || !are_all && !planted(Mistake::CountsOfLog) {
            return Err(session.reject("not all products and signs were checked").into());
        }
        Ok(results)
    }

    /// `P_1` compares the tags that `P_2` has with those of the bits that it got.
    fn compare_tags(&self, running: &Running, session: &mut Session, seats: Seats) -> Result<(), Error> {
        let mine = running.tags.to_le_bytes();
        match self.me {
            2 if running.tagged > 0 => session.mesh().send(seats.party(1), at(step::TAGS, 0), &mine)?,
            1 if running.tagged > 0 => {
                let same = is_same(session, seats.party(2), at(step::TAGS, 0), &mine)?;
                if !same && !planted(Mistake::TagsUnchecked) {
                    return Err(session.reject("a bit isn't what was garbled").into());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Compares all results with those that `P_0` computed.
    fn compare(&self, running: &Running, session: &mut Session, seats: Seats) -> Result<(), Error> {
        if running.results == 0 {
            return Ok(());
        }
        let [shown_at, computed_at] = [step::SHOWN_DIGEST, step::COMPUTED_DIGEST].map(|part| at(part, 0));
        match (self.me, &running.shown) {
            (2, Some(shown)) => {
                let shown = value(session, shown)?;
                session.mesh().send(seats.party(0), shown_at, &shown)?;
            }
            (0, Some(shown)) => {
                if planted(Mistake::ResultsBeforeOperands) {
                    running.tell(session, seats)?;
                }
                let shown = value(session, shown)?;
                if !is_same(session, seats.party(2), shown_at, &shown)? {
                    let differs = "the evaluators have different masked values";
                    return Err(session.reject(differs).into());
                }
                // Only now: see `masked` for why.
                if !planted(Mistake::ResultsBeforeOperands) {
                    running.tell(session, seats)?;
                }
            }
            _ => {}
        }
        for (role, computed) in running.computed.iter().filter(|_| self.me != 0) {
            let computed = value(session, computed)?;
            let same = is_same(session, seats.party(*role), computed_at, &computed)?;
            if !same && !planted(Mistake::WrongResultsPass) {
                return Err(session.reject("a product is wrong").into());
            }
        }
        Ok(())
    }
}
