//! The session itself: handshake, identity, PRSS streams, and the checks that parties make with one another.

mod accept;

use crate::handshake::{Difference, Hello, MAX_HELLO, PartyLimits, VERSION, identity, pair_key};
use crate::{Agreement, Commitment, Disagreement, Entropy, Error, PrssStream, step};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tacit_net::{At, Limits, Mesh, Phase};
use zeroize::Zeroize;

/// One endpoint's part in a run. Endpoints are numbered: parties from 0, then clients.
///
/// The first failure of any call is final; all keys go with the session.
pub struct Session {
    me: usize,
    agreement: Agreement,
    id: [u8; 32],
    mesh: Mesh,
    streams: Vec<Option<PrssStream>>,
    entropy: Box<dyn Entropy>,
    coins: u32,
    echoes: u32,
    barriers: u32,
    /// Whether others may know how a check will end whose verdicts aren't all in.
    challenged: bool,
    /// The first operation of the plan that is running, counted through the session.
    first_op: u32,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("me", &self.name(self.me)).finish_non_exhaustive()
    }
}

impl Session {
    /// Agrees with everybody on what is run and makes the pairs' keys.
    ///
    /// Everybody sends everybody it has a link to what it is about to run, a nonce for all and a seed for that receiver. A
    /// difference is an error on both sides that says what differs, and who; parties differ also if the limits of their links do
    /// by which others are kept waiting.
    ///
    /// The lane and their number are part of what is agreed, and so every lane has keys of its own. Then the parties compare (and
    /// tell the clients) a hash of all parties' nonces, so that nobody can have told two parties different things. Two rounds.
    ///
    /// # Errors
    /// [`Error::Disagreement`] if endpoints are about to run different things, [`Error::CheckFailed`] if one told two
    /// parties different things, [`Error::Malformed`], [`Error::Entropy`], and those of links.
    pub fn establish(
        mut mesh: Mesh,
        agreement: Agreement,
        mut entropy: Box<dyn Entropy>,
    ) -> Result<Self, Error> {
        let lane = mesh.lane();
        let agreement = Agreement { version: VERSION, lane: lane.number, lanes: lane.count, ..agreement };
        mesh.set_phase(Phase::Setup);
        mesh.trust_check_failures_from(agreement.parties.len());
        let result = Self::exchange(&mut mesh, &agreement, entropy.as_mut());
        let (id, streams) = match result {
            Ok(done) => done,
            Err(error) => {
                mesh.abort(&error.to_string());
                return Err(error);
            }
        };
        let me = mesh.me();
        Ok(Self {
            me,
            agreement,
            id,
            mesh,
            streams,
            entropy,
            coins: 0,
            echoes: 0,
            barriers: 0,
            challenged: false,
            first_op: 0,
        })
    }

    /// This endpoint's number.
    pub fn me(&self) -> usize {
        self.me
    }

    /// The number of the run's lane that this session is for.
    pub fn lane(&self) -> u16 {
        self.agreement.lane
    }

    /// How many lanes the run has.
    pub fn lanes(&self) -> u16 {
        self.agreement.lanes
    }

    /// How many computing parties there are.
    pub fn parties(&self) -> usize {
        self.agreement.parties.len()
    }

    /// How many endpoints there are, clients included.
    pub fn endpoints(&self) -> usize {
        self.parties() + self.agreement.clients.len()
    }

    /// An endpoint's name.
    pub fn name(&self, endpoint: usize) -> &str {
        let parties = self.parties();
        if endpoint < parties {
            &self.agreement.parties[endpoint]
        } else {
            &self.agreement.clients[endpoint - parties]
        }
    }

    /// The endpoint of a name.
    pub fn endpoint(&self, name: &str) -> Option<usize> {
        (0..self.endpoints()).find(|&endpoint| self.name(endpoint) == name)
    }

    /// The run's identity, the same for everybody and never seen before.
    pub fn id(&self) -> &[u8; 32] {
        &self.id
    }

    /// Goes on to another plan in the same session. The last one had `operations` operations, inputs or outputs,
    /// whichever are most: addresses are counted on from there, so that none comes twice. The new one has `more`.
    /// All endpoints do so at the same point.
    ///
    /// # Errors
    /// When all addresses are used, or the new plan would use more than are left: 2^32 operations.
    pub fn next_plan(&mut self, operations: u32, more: u32) -> Result<(), Error> {
        let first = self.first_op.checked_add(operations).ok_or(Error::Exhausted)?;
        first.checked_add(more).ok_or(Error::Exhausted)?;
        self.first_op = first;
        self.mesh.count_from(first);
        self.streams.iter_mut().flatten().for_each(|stream| stream.count_from(first));
        Ok(())
    }

    /// The first operation of the plan that is running, counted through the session: no two plans have the same.
    pub fn first_operation(&self) -> u32 {
        self.first_op
    }

    /// The links' limits.
    pub fn limits(&self) -> &Limits {
        self.mesh.limits()
    }

    /// The links.
    pub fn mesh(&mut self) -> &mut Mesh {
        &mut self.mesh
    }

    /// Fresh randomness of this endpoint's own.
    pub fn entropy(&mut self) -> &mut dyn Entropy {
        self.entropy.as_mut()
    }

    /// The stream shared with `peer`. A peer without a link (oneself; another client) has none: a caller's mistake.
    ///
    /// # Panics
    /// If there is no link to `peer`.
    pub fn stream(&mut self, peer: usize) -> &mut PrssStream {
        self.streams[peer].as_mut().expect("only linked endpoints share a stream")
    }

    /// The streams shared with two peers at once.
    ///
    /// # Panics
    /// If there is no link to either, or they are the same.
    pub fn two_streams(&mut self, first: usize, second: usize) -> (&mut PrssStream, &mut PrssStream) {
        match self.streams.get_disjoint_mut([first, second]) {
            Ok([Some(a), Some(b)]) => (a, b),
            _ => panic!("only two different linked endpoints share two streams"),
        }
    }

    /// Tosses `bytes` coins that no party can bias or foresee: all commit, everybody's commitment in hand all
    /// open, the hash of all values is the coin. With its opening everybody sends a hash of all commitments that
    /// it holds, so that nobody can have committed to one value here and to another there. Parties only; two
    /// rounds.
    ///
    /// # Errors
    /// [`Error::CheckFailed`] if an opening is not what was committed to, or commitments differ; those of links.
    ///
    /// # Security
    /// After an error the session is of no more use: another toss would give whoever failed it another try.
    ///
    /// # Panics
    /// Never: a commitment that was just made has an opening.
    pub fn toss(&mut self, bytes: usize) -> Result<Vec<u8>, Error> {
        let toss = self.coins;
        self.coins += 1;
        let label = format!("coin toss {toss}");
        let mut mine = [0; 32];
        self.entropy.fill(&mut mine)?;
        let (commitment, opening) = Commitment::new(&self.id, self.me, &label, &mine, self.entropy.as_mut())?;
        let mut commitments = self.broadcast(control(step::COIN_COMMIT, toss), &commitment.0)?;
        commitments[self.me] = commitment.0.to_vec();
        let seen = self.hash(b"tacit commitments 1", &commitments.concat());
        let opened = [mine, opening.0, seen].concat();
        self.challenge();
        let opened = self.broadcast(control(step::COIN_OPEN, toss), &opened)?;
        let mut hash = Sha256::new_with_prefix(b"tacit coin 1");
        hash.update(self.id);
        hash.update(toss.to_le_bytes());
        for party in 0..self.parties() {
            if party == self.me {
                hash.update(mine);
                continue;
            }
            let (message, theirs) = opened[party].split_at(64);
            if !bool::from(theirs.ct_eq(&seen)) {
                return self.fail(party, "the commitments of a coin");
            }
            match Commitment::opened(&commitments[party], &self.id, party, &label, message) {
                Some(value) => hash.update(value),
                None => return self.fail(party, "the opening of a coin"),
            }
        }
        let mut coins = vec![0; bytes];
        let expanded = hkdf::Hkdf::<Sha256>::new(None, &hash.finalize()).expand(b"coins", &mut coins).is_ok();
        assert!(expanded, "a toss gives at most 8,160 bytes");
        Ok(coins)
    }

    /// Notes that something leaves now after which others can know how a check will end, such as the word that lets the
    /// first seed of a proof's points be released. [`Session::toss`] notes the opening of a coin.
    pub fn challenge(&mut self) {
        self.challenged = true;
    }

    /// Whether others may know how a check will end that this party hasn't all acceptances of ([`Session::accept`]). A run that
    /// ends then may have been ended for that: whoever lost whom, it counts as an attempt.
    pub fn is_challenged(&self) -> bool {
        self.challenged
    }

    /// Notes that a check has passed whose verdict this party reached by itself, from what all have opened: nobody any more
    /// knows of a check what this party doesn't.
    pub fn settle(&mut self) {
        self.challenged = false;
    }

    /// Opens a value of each party to all, none of whom can choose its own by another's: all commit, compare a hash of all
    /// commitments, so that everybody's are in everybody's hands, and open. All values, by party. Parties only; three rounds,
    /// of 32 bytes, 32 bytes, and the value with 32 bytes. The first address is the commitments', the second the openings'.
    ///
    /// # Errors
    /// [`Error::Rejected`] if somebody opens what it hasn't committed to; [`Error::CheckFailed`] if commitments differ.
    pub fn open_committed(&mut self, at: [At; 2], label: &str, value: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let (id, me) = (self.id, self.me);
        let (commitment, opening) = Commitment::new(&id, me, label, value, self.entropy.as_mut())?;
        let mut commitments = self.broadcast(at[0], &commitment.0)?;
        commitments[me] = commitment.0.to_vec();
        self.echo(&commitments.concat())?;
        self.challenge();
        let mut opened = self.broadcast(at[1], &[value, &opening.0].concat())?;
        for party in self.others() {
            let value = Commitment::opened(&commitments[party], &id, party, label, &opened[party]);
            let Some(len) = value.map(<[u8]>::len) else {
                let what = format!("{} opened something that it hadn't committed to", self.name(party));
                return Err(self.reject(&what));
            };
            opened[party].truncate(len);
        }
        opened[me] = value.to_vec();
        Ok(opened)
    }

    /// Checks that all parties hold the same `value`, by its hash. Parties only; one round.
    ///
    /// # Errors
    /// [`Error::CheckFailed`] if a party holds another; those of links.
    pub fn echo(&mut self, value: &[u8]) -> Result<(), Error> {
        let echo = self.echoes;
        self.echoes += 1;
        self.compare(control(step::ECHO, echo), value, "what was sent to everybody")
    }

    /// Checks, as [`Session::echo`] does, that all parties were given the same before anything is computed on it. A difference
    /// is [`Error::Differs`] and no failed check: somebody may just have been given something else.
    ///
    /// # Errors
    /// [`Error::Differs`] if a party was given another; those of links.
    pub fn agree(&mut self, value: &[u8], what: &str) -> Result<(), Error> {
        let echo = self.echoes;
        self.echoes += 1;
        let Some(party) = self.unlike(control(step::ECHO, echo), value)? else { return Ok(()) };
        let error = Error::Differs { peer: self.name(party).to_owned(), what: what.to_owned() };
        self.mesh.abort(&error.to_string());
        Err(error)
    }

    /// Compares, pair by pair, how much was drawn of the pair's stream, and of `others` that it has by another key: blocks,
    /// by party. Parties only; one round of 8 bytes a link.
    ///
    /// # Errors
    /// [`Error::CheckFailed`] if a party drew another number; those of links.
    pub fn compare_draws(&mut self, others: &[(usize, u64)]) -> Result<(), Error> {
        self.mesh.set_phase(Phase::Verify);
        let at = control(step::DRAWN, 0);
        let mut drawn: Vec<u64> = (0..self.parties())
            .map(|party| self.streams[party].as_ref().map_or(0, PrssStream::drawn))
            .collect();
        for &(party, blocks) in others {
            drawn[party] = drawn[party].wrapping_add(blocks);
        }
        for party in self.others() {
            self.mesh.send(party, at, &drawn[party].to_le_bytes())?;
        }
        for party in self.others() {
            let theirs = self.mesh.recv(party, at, 8)?;
            if theirs != drawn[party].to_le_bytes() {
                return self.fail(party, "the amount of shared randomness drawn");
            }
        }
        Ok(())
    }

    /// Compares with other parties the digest of what both were given, before anything is computed on it. One round of 32
    /// bytes with every party that this is called for; `values` has for each the party and its value.
    ///
    /// # Errors
    /// [`Error::InconsistentInput`] if one of them was given something else; those of links.
    pub fn compare_shared(&mut self, values: &[(usize, &[u8])], what: &str) -> Result<(), Error> {
        let at = control(step::SHARED_INPUT, 0);
        let digests: Vec<[u8; 32]> =
            values.iter().map(|(_, value)| self.hash(b"tacit shared 1", value)).collect();
        for ((party, _), digest) in values.iter().zip(&digests) {
            self.mesh.send(*party, at, digest)?;
        }
        for (&(party, _), digest) in values.iter().zip(&digests) {
            let theirs = self.mesh.recv(party, at, digest.len())?;
            if !bool::from(theirs.ct_eq(digest)) {
                return Err(self.inconsistent(party, what));
            }
        }
        Ok(())
    }

    /// Ends the session for all because a party holds another share than this one of what somebody gave. No failed check: a client
    /// could else have preprocessed material destroyed, and servers stopped.
    pub fn inconsistent(&mut self, party: usize, what: &str) -> Error {
        let error = Error::InconsistentInput { peer: self.name(party).to_owned(), what: what.to_owned() };
        self.mesh.abort(&error.to_string());
        error
    }

    /// Ends the session for all because something was seen that can't be if everybody follows the protocol.
    pub fn reject(&mut self, what: &str) -> Error {
        let error = Error::Rejected { what: what.to_owned() };
        self.mesh.accuse(&error.to_string());
        error
    }

    /// Waits until every party is here. Parties only; one round of empty messages.
    ///
    /// # Errors
    /// Those of links.
    pub fn barrier(&mut self) -> Result<(), Error> {
        let at = control(step::BARRIER, self.barriers);
        self.barriers += 1;
        self.broadcast(at, &[]).map(|_| ())
    }

    /// Tells everybody that the run is over for this endpoint's part, and why.
    pub fn abort(&mut self, reason: &str) {
        self.mesh.abort(reason);
    }

    /// Ends the session in good order; its keys are gone. A client that has nothing more to give or to receive waits here
    /// until all parties have ended the run, and knows then how.
    ///
    /// # Errors
    /// Those of links, and a client's news that the run was aborted.
    pub fn close(self) -> Result<(), Error> {
        let ended = if self.me < self.parties() { self.mesh.close() } else { self.mesh.see_out() };
        Ok(ended?)
    }

    /// Ends the session and gives its links back, for another one over them; its keys are gone.
    pub fn into_mesh(self) -> Mesh {
        self.mesh
    }

    /// Sends one message to every other party and receives one of the same length from each; own place empty.
    ///
    /// # Errors
    /// Those of links.
    pub fn broadcast(&mut self, at: At, message: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        for party in self.others() {
            self.mesh.send(party, at, message)?;
        }
        let mut received = vec![Vec::new(); self.parties()];
        for party in self.others() {
            received[party] = self.mesh.recv(party, at, message.len())?;
        }
        Ok(received)
    }

    /// Tells all other parties something, and hears the same of them: what each has said, this party too. Parties only; one
    /// round.
    ///
    /// # Errors
    /// [`Error::Malformed`] if somebody says what can't be read, or more than `most` bytes; if a link fails.
    pub fn tell_all<T>(
        &mut self,
        at: At,
        own: &[u8],
        most: usize,
        what: &'static str,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        for party in self.others() {
            self.mesh.send(party, at, own)?;
        }
        let mut all = Vec::with_capacity(self.parties());
        for party in 0..self.parties() {
            let told =
                if party == self.me { own.to_vec() } else { self.mesh.recv_bounded(party, at, most)? };
            match read(&told) {
                Some(told) => all.push(told),
                None => return self.malformed(party, what),
            }
        }
        Ok(all)
    }

    fn compare(&mut self, at: At, value: &[u8], what: &'static str) -> Result<(), Error> {
        match self.unlike(at, value)? {
            Some(party) => self.fail(party, what),
            None => Ok(()),
        }
    }

    /// The first party whose value isn't this one, by its hash. Parties only; one round.
    fn unlike(&mut self, at: At, value: &[u8]) -> Result<Option<usize>, Error> {
        let mine = self.hash(b"tacit echo 1", value);
        let theirs = self.broadcast(at, &mine)?;
        Ok(self.others().find(|&party| !bool::from(theirs[party].ct_eq(&mine))))
    }

    /// A hash of something, for something, in this session.
    fn hash(&self, label: &[u8], value: &[u8]) -> [u8; 32] {
        Sha256::new_with_prefix(label).chain_update(self.id).chain_update(value).finalize().into()
    }

    /// Ends the session for all because a peer's message can't be read.
    pub(crate) fn malformed<T>(&mut self, peer: usize, what: &'static str) -> Result<T, Error> {
        let error = Error::Malformed { peer: self.name(peer).to_owned(), what };
        self.mesh.abort(&error.to_string());
        Err(error)
    }

    pub(crate) fn fail<T>(&mut self, peer: usize, what: &'static str) -> Result<T, Error> {
        let error = Error::CheckFailed { peer: self.name(peer).to_owned(), what };
        self.mesh.accuse(&error.to_string());
        Err(error)
    }

    /// All parties but this one.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.me;
        (0..self.parties()).filter(move |&party| party != me)
    }

    fn exchange(
        mesh: &mut Mesh,
        agreement: &Agreement,
        entropy: &mut dyn Entropy,
    ) -> Result<([u8; 32], Vec<Option<PrssStream>>), Error> {
        let me = mesh.me();
        let parties = agreement.parties.len();
        let endpoints = parties + agreement.clients.len();
        // Clients have links to the parties only, and some don't take part.
        let peers: Vec<usize> = (0..endpoints).filter(|&peer| mesh.is_linked(peer)).collect();
        let at = control(step::HELLO, 0);
        let limits = PartyLimits::of(mesh.limits());

        let mut nonce = [0; 32];
        entropy.fill(&mut nonce)?;
        let mut seeds = vec![[0; 32]; endpoints];
        for &peer in &peers {
            entropy.fill(&mut seeds[peer])?;
            let (agreement, limits) = (agreement.clone(), limits.clone());
            let hello = Hello { agreement, limits, nonce, seed: seeds[peer] };
            let mut bytes = hello.to_bytes();
            mesh.send(peer, at, &bytes)?;
            bytes.zeroize();
        }

        let mut hellos: Vec<Option<Hello>> = (0..endpoints).map(|_| None).collect();
        let mut differing = Vec::new();
        for &peer in &peers {
            let name = mesh.name(peer).to_owned();
            let mut bytes = match mesh.recv_bounded(peer, at, MAX_HELLO) {
                Ok(bytes) => bytes,
                // Whoever has seen the difference before ends the run, but what is known here says more.
                Err(_) if !differing.is_empty() => break,
                Err(error) => return Err(error.into()),
            };
            let hello = Hello::from_bytes(&name, &bytes);
            bytes.zeroize();
            let hello = hello?;
            let limits_fit = || if me.max(peer) < parties { limits.compare(&hello.limits) } else { Ok(()) };
            match agreement.compare(&hello.agreement).and_then(|()| limits_fit()) {
                Ok(()) => hellos[peer] = Some(hello),
                Err(difference) => differing.push((name, difference)),
            }
        }
        if let Some((peer, Difference { what, here, told, there })) = differing.first().cloned() {
            let others: Vec<String> = differing.into_iter().skip(1).map(|(name, _)| name).collect();
            let me = mesh.name(me).to_owned();
            let found = Disagreement { peer, me, what, here, there, others };
            mesh.abort(&Disagreement { here: told, ..found.clone() }.to_string());
            return Err(Error::Disagreement(Box::new(found)));
        }

        let nonces: Vec<[u8; 32]> =
            hellos[..parties].iter().map(|hello| hello.as_ref().map_or(nonce, |hello| hello.nonce)).collect();
        let id = identity(agreement, &nonces);
        Self::confirm(mesh, parties, &peers, &id)?;

        let mut streams: Vec<Option<PrssStream>> = (0..endpoints).map(|_| None).collect();
        for (peer, hello) in hellos.iter().enumerate() {
            let Some(hello) = hello else { continue };
            let (low, high) =
                if me < peer { (&seeds[peer], &hello.seed) } else { (&hello.seed, &seeds[peer]) };
            let mut key = pair_key(&id, low, high);
            streams[peer] = Some(PrssStream::new(&key, agreement.lane));
            key.zeroize();
        }
        seeds.zeroize();
        Ok((id, streams))
    }

    /// Parties send everybody the identity they computed; whoever has another one was told other nonces.
    fn confirm(mesh: &mut Mesh, parties: usize, peers: &[usize], id: &[u8; 32]) -> Result<(), Error> {
        let at = control(step::CONFIRM, 0);
        if mesh.me() < parties {
            for &peer in peers {
                mesh.send(peer, at, id)?;
            }
        }
        for &peer in peers.iter().filter(|&&peer| peer < parties) {
            let theirs = mesh.recv(peer, at, id.len())?;
            if !bool::from(theirs.ct_eq(id)) {
                return Err(Error::CheckFailed {
                    peer: mesh.name(peer).to_owned(),
                    what: "the session's identity",
                });
            }
        }
        Ok(())
    }
}

/// The address of a control message; the mesh puts in the lane.
pub(crate) fn control(part: u16, op: u32) -> At {
    At { lane: 0, part, op, batch: 0 }
}
