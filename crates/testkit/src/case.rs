//! One plan, one protocol, one set of inputs: everybody's part in it, from the handshake to the end.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tacit_engine::clear::ClearEngine;
use tacit_engine::executor::{self, Observer, Unobserved};
use tacit_engine::{Clear, Engine, Error, KeptShare, Outcome, Participants, Protocol};
use tacit_net::{AbortFlag, Counters, Lane, Limits, Mesh, Phase, Transport};
use tacit_program::cost::{Flow, Step};
use tacit_program::plan::{OutputOp, Plan};
use tacit_session::{Agreement, Session};

use crate::react::{Attacker, reacting};
use crate::{Draws, Trace, World};

/// Runs that endpoints play in one thread.
const BATCH: usize = 64;

/// What so many parties are called.
pub fn party_names(parties: usize) -> Vec<String> {
    (0..parties).map(|party| format!("P{party}")).collect()
}

/// Every endpoint's links, by its number; `None` for one that never comes.
pub type Links = Vec<Option<Box<dyn Transport>>>;

/// What is run, and by whom. Parties are called `P0`, `P1`, ...; whoever else the plan names is a client.
#[derive(Clone)]
pub struct Case {
    /// The protocol.
    pub protocol: &'static dyn Protocol,
    /// What is executed.
    pub plan: Arc<Plan>,
    /// The values of all the plan's inputs.
    pub inputs: Vec<Clear>,
    /// The values of all its public inputs; none unless a test gives some.
    pub public_inputs: Vec<Clear>,
    /// Those of parties that hold others; none unless a test gives some.
    pub own_public_inputs: BTreeMap<usize, Vec<Clear>>,
    /// Each party's shares of what the plan reads of what is kept; none unless a test gives some.
    pub kept: Vec<Vec<Arc<KeptShare>>>,
    /// What each endpoint states in the handshake: the same, unless a test makes it differ.
    pub agreements: Vec<Agreement>,
    /// Sizes and times that all endpoints put up with.
    pub limits: Limits,
    /// Those of endpoints that go by others.
    pub own_limits: BTreeMap<usize, Limits>,
    /// Whether all parties wait for one another before they begin with the operations. In a world, where time
    /// passes only on links, the chains of messages that a trace tells are then exactly the dependent ones.
    pub in_step: bool,
    names: Vec<String>,
    parties: usize,
    participants: Participants,
}

/// What one endpoint has at the end.
#[derive(Debug)]
pub struct Ending {
    /// Its outputs, or why it has none.
    pub result: Result<Outcome, Error>,
    /// What it sent and received; nothing if there was no session.
    pub counters: Counters,
}

/// What became of a run in a [`World`].
#[derive(Debug)]
pub struct Run {
    /// By endpoint; `None` for one that never came.
    pub endings: Vec<Option<Ending>>,
    /// What was delivered.
    pub trace: Trace,
    /// How long it took, by the world's clock.
    pub took: Duration,
}

impl Run {
    /// Everybody's outputs.
    ///
    /// # Panics
    /// If an endpoint has none.
    pub fn outcomes(&self) -> Vec<&Outcome> {
        outcomes(self.endings.iter().flatten())
    }
}

/// Everybody's outputs.
///
/// # Panics
/// If an endpoint has none.
pub fn outcomes<'a>(endings: impl IntoIterator<Item = &'a Ending>) -> Vec<&'a Outcome> {
    let outcome = |(endpoint, ending): (usize, &'a Ending)| match &ending.result {
        Ok(outcome) => outcome,
        Err(error) => panic!("endpoint {endpoint} has no result: {error}"),
    };
    endings.into_iter().enumerate().map(outcome).collect()
}

impl Case {
    /// A plan with its inputs, raw elements as [`tacit_program::encode`] makes them, among so many parties.
    pub fn new(protocol: &'static dyn Protocol, parties: usize, plan: Plan, inputs: &[Vec<u64>]) -> Self {
        let mut names = party_names(parties);
        let clients = Participants::clients_of(&plan, &names);
        let roles = Participants::new(&plan, &names, &clients)
            .expect("every role is a party or one of these clients");
        let clear = |(input, words): (&tacit_program::plan::InputOp, &Vec<u64>)| {
            Clear::from_elements(plan.register(input.reg).domain, input.form, words)
        };
        let inputs = plan.inputs.iter().zip(inputs).map(clear).collect();
        let agreement = Agreement {
            clients: clients.clone(),
            window: plan.window as u64,
            ..Agreement::among(names.clone(), protocol.spec().name, protocol.parameter_values())
        };
        names.extend(clients);
        let agreements = vec![agreement; names.len()];
        Self {
            protocol,
            plan: Arc::new(plan),
            inputs,
            public_inputs: Vec::new(),
            own_public_inputs: BTreeMap::new(),
            kept: Vec::new(),
            agreements,
            limits: Limits::default(),
            own_limits: BTreeMap::new(),
            in_step: false,
            names,
            parties,
            participants: roles,
        }
    }

    /// How many compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// Parties and clients.
    pub fn endpoints(&self) -> usize {
        self.names.len()
    }

    /// What a step of the run sends, as the protocol says.
    pub fn price(&self, step: Step<'_>) -> Vec<(Phase, Flow)> {
        self.protocol.price(&self.plan, &self.participants, step)
    }

    /// Who the plan's names are.
    pub fn roles(&self) -> &Participants {
        &self.participants
    }

    /// An endpoint's name.
    pub fn name(&self, endpoint: usize) -> &str {
        &self.names[endpoint]
    }

    /// Whether an endpoint is a client that learns nothing: it is done as soon as it has given its inputs.
    pub fn only_gives(&self, endpoint: usize) -> bool {
        let learns = |output: &OutputOp| self.participants.learns(endpoint, output.to);
        endpoint >= self.parties && !self.plan.outputs.iter().any(learns)
    }

    /// A world with a seat for everybody.
    pub fn world(&self) -> World {
        World::new(self.parties, self.endpoints() - self.parties)
    }

    /// Runs in a world where nothing goes wrong.
    pub fn run(&self, draws: &Draws) -> Run {
        self.run_in(&self.world(), draws)
    }

    /// Runs in this world, which nobody has used.
    ///
    /// # Panics
    /// As [`Case::run_over`].
    pub fn run_in(&self, world: &World, draws: &Draws) -> Run {
        let endings = self.run_over(world.transports(), draws);
        Run { endings, trace: world.trace(), took: world.now() }
    }

    /// Runs in this world, which nobody has used, with an attacker in place of one endpoint: it has that one's inputs and
    /// keys. Its own ending is what its code made of it.
    ///
    /// # Panics
    /// As [`Case::run_over`].
    pub fn run_attacked(
        &self,
        world: &World,
        draws: &Draws,
        endpoint: usize,
        attacker: Box<dyn Attacker>,
    ) -> Run {
        let mut transports = world.transports();
        transports[endpoint] = transports[endpoint].take().map(|links| reacting(links, attacker));
        let endings = self.run_over(transports, draws);
        Run { endings, trace: world.trace(), took: world.now() }
    }

    /// Runs many times, each time in a world of its own; endpoints keep their threads. Lazy: runs go in batches.
    ///
    /// # Panics
    /// As [`Case::run_over`].
    pub fn run_each<'a>(
        &'a self,
        times: impl Iterator<Item = (World, Draws)> + 'a,
    ) -> impl Iterator<Item = Run> + 'a {
        let mut times = times.peekable();
        std::iter::from_fn(move || {
            times.peek()?;
            let batch: Vec<(World, Draws)> = times.by_ref().take(BATCH).collect();
            let transports = batch.iter().map(|(world, draws)| (world.transports(), draws)).collect();
            let endings = self.play_all(transports).into_iter().zip(batch);
            let run = |(endings, (world, _)): (Vec<Option<Ending>>, (World, Draws))| Run {
                endings,
                trace: world.trace(),
                took: world.now(),
            };
            Some(endings.map(run).collect::<Vec<_>>())
        })
        .flatten()
    }

    /// Runs over these links, every endpoint in a thread of its own.
    ///
    /// # Panics
    /// If an endpoint's thread panics, with its message: no message and no link may bring that about.
    pub fn run_over(&self, transports: Links, draws: &Draws) -> Vec<Option<Ending>> {
        self.play_all(vec![(transports, draws)]).remove(0)
    }

    /// A world with so many seats for everybody.
    pub fn world_in_lanes(&self, lanes: u16) -> World {
        World::in_lanes(self.parties, self.endpoints() - self.parties, lanes)
    }

    /// Runs the same in several lanes of this world, which nobody has used. Runs are numbered by lane; each has
    /// the whole trace and took the whole time.
    ///
    /// # Panics
    /// As [`Case::run_over`].
    pub fn run_in_lanes(&self, world: &World, draws: &[Draws]) -> Vec<Run> {
        let links = (0..draws.len() as u16).map(|lane| world.transports_in(lane)).collect();
        let lanes = self.run_over_lanes(links, draws);
        let run = |endings| Run { endings, trace: world.trace(), took: world.now() };
        lanes.into_iter().map(run).collect()
    }

    /// Runs the same in several lanes over these links, with a thread for every endpoint and lane. An endpoint's
    /// lanes are tied together.
    ///
    /// # Panics
    /// As [`Case::run_over`].
    pub fn run_over_lanes(&self, links: Vec<Links>, draws: &[Draws]) -> Vec<Vec<Option<Ending>>> {
        let ties: Vec<AbortFlag> = (0..self.endpoints()).map(|_| AbortFlag::default()).collect();
        std::thread::scope(|scope| {
            let lanes: Vec<Vec<_>> = Lane::all(draws.len() as u16)
                .zip(links)
                .zip(draws)
                .map(|((lane, links), draws)| {
                    let seats = links.into_iter().zip(&ties).enumerate();
                    let start = |(me, (transport, tie)): (usize, (Option<_>, &AbortFlag))| {
                        let tie = tie.clone();
                        transport
                            .map(|transport| scope.spawn(move || self.play(me, transport, draws, lane, tie)))
                    };
                    seats.map(start).collect()
                })
                .collect();
            let join = |(me, thread): (usize, Option<std::thread::ScopedJoinHandle<'_, Ending>>)| {
                thread.map(|thread| thread.join().unwrap_or_else(|panic| self.panicked(me, panic.as_ref())))
            };
            lanes.into_iter().map(|threads| threads.into_iter().enumerate().map(join).collect()).collect()
        })
    }

    /// Every endpoint's part in several runs, one after another.
    fn play_all(&self, runs: Vec<(Links, &Draws)>) -> Vec<Vec<Option<Ending>>> {
        let mut seats: Vec<Vec<_>> = (0..self.endpoints()).map(|_| Vec::new()).collect();
        let mut endings: Vec<Vec<Option<Ending>>> = Vec::new();
        for (transports, draws) in runs {
            endings.push(Vec::new());
            for (seat, transport) in seats.iter_mut().zip(transports) {
                seat.push((transport, draws));
            }
        }
        let joined: Vec<_> = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for (me, seat) in seats.into_iter().enumerate() {
                let play = move |(transport, draws): (Option<_>, _)| {
                    transport
                        .map(|transport| self.play(me, transport, draws, Lane::ONLY, AbortFlag::default()))
                };
                threads.push(scope.spawn(move || seat.into_iter().map(play).collect::<Vec<_>>()));
            }
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        for (endpoint, joined) in joined.into_iter().enumerate() {
            match joined {
                Ok(all) => endings.iter_mut().zip(all).for_each(|(run, ending)| run.push(ending)),
                Err(panic) => self.panicked(endpoint, panic.as_ref()),
            }
        }
        endings
    }

    fn panicked(&self, endpoint: usize, panic: &(dyn Any + Send)) -> ! {
        panic!("{} panicked: {}", self.name(endpoint), message_of(panic))
    }

    /// The outputs by the engine that has no protocol.
    pub fn run_in_the_clear(&self) -> Result<Outcome, Error> {
        let inputs: Vec<Option<Clear>> =
            self.inputs.iter().chain(&self.public_inputs).cloned().map(Some).collect();
        let mut engine = ClearEngine::new(Arc::clone(&self.plan));
        executor::run_party(&mut engine, &self.plan, &inputs, &mut Unobserved)
    }

    /// Runs it, and compares all outputs that endpoints get with those of the engine that has no protocol.
    ///
    /// # Panics
    /// If one is another.
    pub fn run_and_compare(&self, draws: &Draws) -> Run {
        let expected = self.run_in_the_clear().expect("nothing can go wrong in the clear").outputs;
        let run = self.run(draws);
        for outcome in run.outcomes() {
            for (got, want) in outcome.outputs.iter().zip(&expected).filter(|(got, _)| got.is_some()) {
                assert_eq!(got, want, "among {} parties", self.parties);
            }
        }
        run
    }

    fn play(
        &self,
        me: usize,
        transport: Box<dyn Transport>,
        draws: &Draws,
        lane: Lane,
        tie: AbortFlag,
    ) -> Ending {
        let limits = self.own_limits.get(&me).unwrap_or(&self.limits).clone();
        let mesh = Mesh::new(transport, me, self.names.clone(), limits).in_lane(lane, tie);
        let agreement = self.agreements[me].clone();
        match Session::establish(mesh, agreement, draws.of(me)) {
            Ok(session) if me < self.parties => self.play_party(me, session),
            Ok(session) => self.play_client(me, session),
            Err(error) => Ending { result: Err(error.into()), counters: Counters::default() },
        }
    }

    fn play_party(&self, me: usize, session: Session) -> Ending {
        let mut counters = Counters::default();
        let part = || {
            let mut engine =
                self.protocol.engine(session, Arc::clone(&self.plan), self.participants.clone())?;
            let inputs = self.inputs_of(me);
            let kept = self.kept.get(me).map_or(&[][..], |kept| kept);
            let mut pace = Pace(self.in_step);
            let result =
                executor::run_party_on(self.protocol, engine.as_mut(), &self.plan, kept, &inputs, &mut pace);
            if let Some(session) = engine.session() {
                counters = session.mesh().counters();
            }
            let outcome = result?;
            engine.close()?;
            Ok(outcome)
        };
        let result = part();
        Ending { result, counters }
    }

    fn play_client(&self, me: usize, session: Session) -> Ending {
        let mut counters = Counters::default();
        let part = || {
            let mut client =
                self.protocol.client(session, Arc::clone(&self.plan), self.participants.clone())?;
            let result =
                executor::run_client(client.as_mut(), &self.plan, &self.participants, &self.inputs_of(me));
            counters = client.session().mesh().counters();
            let outcome = result?;
            client.close()?;
            Ok(outcome)
        };
        let result = part();
        Ending { result, counters }
    }

    /// The values that an endpoint gives, and after them what all hold, or it alone.
    fn inputs_of(&self, me: usize) -> Vec<Option<Clear>> {
        let given = |(input, values): (&tacit_program::plan::InputOp, &Clear)| {
            (self.participants.endpoint(input.owner) == me).then(|| values.clone())
        };
        let own = self.plan.inputs.iter().zip(&self.inputs).map(given);
        let known = self.own_public_inputs.get(&me).unwrap_or(&self.public_inputs);
        own.chain(known.iter().cloned().map(Some)).collect()
    }
}

/// Lets parties wait for one another before the operations, if they are to.
struct Pace(bool);

impl Observer for Pace {
    fn phase(&mut self, phase: Phase, engine: &mut dyn Engine) -> Result<(), Error> {
        match engine.session() {
            Some(session) if self.0 && phase == Phase::Online => {
                // Whoever came last leaves the first one early; of three and more, all leave the second together.
                session.barrier()?;
                Ok(session.barrier()?)
            }
            _ => Ok(()),
        }
    }
}

/// What a panic said.
fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("(without a message)")
}
