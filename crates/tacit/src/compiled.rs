//! A program that is ready to run: checked, lowered, hashed.

use crate::error::Error;
use crate::registry::protocols;
use crate::report::{Ended, Run};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tacit_engine::{Clear, Protocol};
use tacit_program::plan::{Domain, Form, InputOp, Plan, PublicInput, Reg};
use tacit_program::{
    Capabilities, InputType, Instances, KnownType, Lowered, OutputType, Program, ProgramError, Source, Value,
    ValueError, bools, decode, encode, first_difference, lower, lower_for_debug,
};
use tacit_session::ProgramStep;

/// A program, its plan, and the hash by which parties agree on it.
///
/// The plan is one for some protocols: those that offer the same operations. Runs and prices take the one that suits
/// theirs by themselves, see [`Compiled::for_protocol`].
#[derive(Debug)]
pub struct Compiled {
    program: Program,
    lowered: Lowered,
    plan: Arc<Plan>,
    plan_digest: OnceLock<[u8; 32]>,
    /// What endpoints tell one another of its steps, before each run.
    pub(crate) steps: OnceLock<Vec<ProgramStep>>,
    hash: [u8; 32],
    debug: bool,
    capabilities: Capabilities,
    /// The same for protocols that offer something else, once they were asked for.
    others: Mutex<Vec<Arc<Self>>>,
    /// The one program that this is several instances of.
    one: Option<Arc<One>>,
    /// The programs of several instances of it that were asked for.
    batches: Mutex<Vec<Arc<Batch>>>,
}

/// A program of which another one is several instances.
#[derive(Debug)]
struct One {
    program: Program,
    hash: [u8; 32],
}

/// Several instances of a program, ready to run as one.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) compiled: Arc<Compiled>,
    instances: Instances,
    count: usize,
    /// The names that are another client's in each instance.
    clients: Vec<String>,
}

impl Batch {
    /// The names that clients play, instance by instance.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = |at| self.clients.iter().map(move |client| Instances::name(client, at));
        (0..self.count).flat_map(names).collect()
    }

    /// The values of one program's inputs as this program's: an instance's, or a party's, which all instances share.
    pub(crate) fn given<'v>(&self, values: &[Option<&'v Value>], instance: usize) -> Vec<Option<&'v Value>> {
        let mut all = vec![None; self.compiled.inputs().len()];
        for (input, value) in values.iter().enumerate().filter(|(_, value)| value.is_some()) {
            all[self.instances.input(input, instance)] = *value;
        }
        all
    }

    /// A run as one instance's client sees it.
    pub(crate) fn run_of(&self, one: &Compiled, instance: usize, run: Run) -> Run {
        let outputs = (0..one.outputs().len()).map(|output| self.instances.output(output, instance));
        Run { outputs: outputs.map(|output| run.outputs[output].clone()).collect(), ..run }
    }
}

/// A program's plan for what a protocol offers.
fn lowered(program: &Program, capabilities: Capabilities, debug: bool) -> Result<Lowered, ProgramError> {
    if debug { lower_for_debug(program, capabilities) } else { lower(program, capabilities) }
}

impl Compiled {
    /// Lowers a program for the first protocol of the registry that can run it, until another one asks for its plan. The
    /// plan is the same wherever the program is the same.
    ///
    /// # Errors
    /// If no protocol can run it, with what the first one refuses.
    pub fn new(program: Program) -> Result<Arc<Self>, Error> {
        Self::for_any(program, false)
    }

    /// Lowers a program so that everything in it is revealed: for looking for faults on made-up data, in one
    /// process. Its hash differs from the program's, so no other party can be drawn into it; and no seat of a
    /// deployment runs it.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn debug(program: Program) -> Result<Arc<Self>, Error> {
        Self::for_any(program, true)
    }

    fn for_any(program: Program, debug: bool) -> Result<Arc<Self>, Error> {
        let mut refusals = Vec::new();
        for capabilities in protocols().map(|protocol| protocol.capabilities()) {
            match lowered(&program, capabilities, debug) {
                Ok(lowered) => return Ok(Self::hashed(program, lowered, debug, capabilities, None)),
                Err(refusal) => refusals.push(refusal),
            }
        }
        Err(refusals.swap_remove(0).into())
    }

    fn hashed(
        program: Program,
        lowered: Lowered,
        debug: bool,
        capabilities: Capabilities,
        one: Option<Arc<One>>,
    ) -> Arc<Self> {
        let hash = if debug { program.hash().map(|byte| !byte) } else { program.hash() };
        Arc::new(Self { one, ..Self::with_plan(program, lowered, hash, debug, capabilities) })
    }

    fn with_plan(
        program: Program,
        lowered: Lowered,
        hash: [u8; 32],
        debug: bool,
        capabilities: Capabilities,
    ) -> Self {
        let plan = Arc::new(lowered.plan.clone());
        let (plan_digest, steps, others, batches) = Default::default();
        Self {
            program,
            lowered,
            plan,
            plan_digest,
            steps,
            hash,
            debug,
            capabilities,
            others,
            one: None,
            batches,
        }
    }

    /// The same program with a plan for a protocol: this one, if it is so already. Values for feeds are to be encoded
    /// by it.
    ///
    /// # Errors
    /// If the program asks for what the protocol doesn't offer, with the user's line.
    pub fn for_protocol(self: &Arc<Self>, protocol: &dyn Protocol) -> Result<Arc<Self>, Error> {
        let capabilities = protocol.capabilities();
        if self.capabilities == capabilities {
            return Ok(self.clone());
        }
        let is_it = |other: &&Arc<Self>| other.capabilities == capabilities;
        let others = || self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = others().iter().find(is_it) {
            return Ok(known.clone());
        }
        // Without the lock: nobody who wants another one waits for this.
        let lowered = lowered(&self.program, capabilities, self.debug)?;
        let one = self.one.clone();
        let other = Self::hashed(self.program.clone(), lowered, self.debug, capabilities, one);
        let other = other.with_window(self.plan.window);
        let mut others = others();
        let known = others.iter().find(is_it).cloned();
        Ok(known.unwrap_or_else(|| {
            others.push(other.clone());
            other
        }))
    }

    /// The same program with so many bytes of a circuit's messages under way at a time
    /// ([`Plan::window`]). All endpoints must say the same.
    #[must_use]
    pub fn with_window(self: Arc<Self>, bytes: usize) -> Arc<Self> {
        if self.plan.window == bytes {
            return self;
        }
        let mut lowered = self.lowered.clone();
        lowered.plan.window = bytes;
        let (program, one) = (self.program.clone(), self.one.clone());
        Arc::new(Self { one, ..Self::with_plan(program, lowered, self.hash, self.debug, self.capabilities) })
    }

    /// So many instances of it as one program, with a plan for the same protocols. These names are another client's in each
    /// ([`Program::times`]). It is kept, and lowered again only by those who want it first at the same moment.
    ///
    /// # Errors
    /// If several instances can't be one program.
    pub(crate) fn times(&self, count: usize, clients: &[String]) -> Result<Arc<Batch>, Error> {
        let is_it = |known: &&Arc<Batch>| known.count == count && known.clients == clients;
        let batches = || self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = batches().iter().find(is_it) {
            return Ok(known.clone());
        }
        // Without the lock: a run of another size doesn't wait for this one, nor does whoever serves.
        let instances = self.program.times(count, clients)?;
        let program = instances.program.clone();
        let lowered = lowered(&program, self.capabilities, self.debug)?;
        let one = Arc::new(One { program: self.program.clone(), hash: self.hash });
        let compiled = Self::hashed(program, lowered, self.debug, self.capabilities, Some(one));
        let compiled = compiled.with_window(self.plan.window);
        let batch = Arc::new(Batch { compiled, instances, count, clients: clients.to_vec() });
        let mut batches = batches();
        let known = batches.iter().find(is_it).cloned();
        Ok(known.unwrap_or_else(|| {
            batches.push(batch.clone());
            batch
        }))
    }

    /// The program by which uses of kept values are judged, and its hash: of several instances the one that they are of.
    pub(crate) fn judged(&self) -> (&Program, [u8; 32]) {
        self.one.as_deref().map_or((&self.program, self.hash), |one| (&one.program, one.hash))
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What engines execute.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Names the plan, on this machine ([`Plan::digest`]).
    pub(crate) fn plan_digest(&self) -> [u8; 32] {
        *self.plan_digest.get_or_init(|| self.plan.digest())
    }

    /// The same program with another plan.
    #[cfg(test)]
    pub(crate) fn altered(&self, change: impl FnOnce(&mut Plan)) -> Arc<Self> {
        let mut lowered = self.lowered.clone();
        change(&mut lowered.plan);
        Arc::new(Self::with_plan(self.program.clone(), lowered, self.hash, self.debug, self.capabilities))
    }

    /// What parties agree on before they run it.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// Whether a run reveals everything.
    pub fn is_debug(&self) -> bool {
        self.debug
    }

    /// Whether it reads or keeps values that stay: then its parties run it on state ([`crate::Residents`]).
    pub fn has_residents(&self) -> bool {
        !self.program.kept().is_empty() || !self.program.keeps().is_empty()
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> &[InputType] {
        &self.lowered.inputs
    }

    /// The program's outputs, in order.
    pub fn outputs(&self) -> &[OutputType] {
        &self.lowered.outputs[..self.program.outputs().len()]
    }

    /// The user's line of a node.
    pub fn source(&self, node: u32) -> Option<&Source> {
        self.lowered.source(node)
    }

    /// The user's line of what a run computes when so many of its jobs are finished, as a [`Progress`](crate::Progress) is
    /// told of one. For the protocol that this has the plan of ([`Self::for_protocol`]).
    pub fn at_work(&self, finished: usize) -> Option<&Source> {
        self.source(self.plan.op(tacit_engine::at_work(&self.plan, finished)?).node)
    }

    /// The inputs in words, for stores and errors.
    pub fn describe_inputs(&self) -> String {
        let describe = |input: &InputType| {
            format!("{}: {} {:?} from {}", input.name, input.kind, input.shape, input.owner)
        };
        self.inputs().iter().map(describe).collect::<Vec<_>>().join("; ")
    }

    /// What all parties know of each run, in order: values of it come after those of the inputs.
    pub fn known(&self) -> Vec<KnownType> {
        self.program.known()
    }

    /// Encodes what all parties know of a run.
    ///
    /// # Errors
    /// [`Error::Refused`] if it isn't as declared.
    pub(crate) fn encode_known(
        &self,
        known: usize,
        declared: &InputType,
        value: &Value,
    ) -> Result<Clear, Error> {
        let PublicInput { name, reg, form, .. } = &self.plan.public_inputs[known];
        self.clear(declared, value, (*reg, *form))
            .map_err(|error| Error::Refused(format!("public input {name:?}: {error}")))
    }

    /// All that a run is given, in order: its inputs, and then what all parties know, as inputs whose owner is called `all`.
    pub fn given(&self) -> Vec<InputType> {
        self.program.given()
    }

    /// Encodes one value: checks its shape, type and range.
    ///
    /// # Errors
    /// [`Error::Value`] if it doesn't fit its declaration, [`Error::Refused`] if there is no such input.
    pub fn encode(&self, input: usize, value: &Value) -> Result<Clear, Error> {
        let declared = self
            .inputs()
            .get(input)
            .ok_or_else(|| Error::Refused(format!("the program has no input {input}")))?;
        let InputOp { reg, form, .. } = self.plan.inputs[input];
        self.clear(declared, value, (reg, form)).map_err(|error| {
            Error::Refused(format!("input {:?} of {}: {error}", declared.name, declared.owner))
        })
    }

    /// A value as its register holds it.
    fn clear(
        &self,
        declared: &InputType,
        value: &Value,
        (reg, form): (Reg, Form),
    ) -> Result<Clear, ValueError> {
        let domain = self.plan.register(reg).domain;
        match (domain, form, bools(declared, value)?) {
            (Domain::Bits, Form::Elements, Some(bits)) => Ok(Clear::from_bools(bits)),
            _ => Ok(Clear::from_elements(domain, form, &encode(declared, value)?)),
        }
    }

    /// The value of one of the program's outputs.
    ///
    /// # Errors
    /// If there is no such output, or what came out isn't one that the program can have computed.
    pub fn decode(&self, output: usize, clear: &Clear) -> Result<Value, Error> {
        let declared = self
            .outputs()
            .get(output)
            .ok_or_else(|| Error::Refused(format!("the program has no output {output}")))?;
        decode(declared, &clear.to_elements(self.plan.outputs[output].form)).map_err(|value| {
            let assumptions = self.program.assumptions().map(|(line, _)| line.clone()).collect();
            Error::WrongOutput { output, value, assumptions }
        })
    }

    /// A run's outputs as values, and its report.
    pub(crate) fn run_of(&self, ended: Ended) -> Result<Run, Error> {
        let known = ended.outputs.iter().take(self.outputs().len()).enumerate();
        let outputs =
            known.map(|(output, clear)| clear.as_ref().map(|clear| self.decode(output, clear)).transpose());
        Ok(Run { outputs: outputs.collect::<Result<_, _>>()?, report: ended.report })
    }

    /// A run's failure, with the user's line.
    pub(crate) fn aborted(&self, cause: tacit_engine::Error) -> Error {
        match cause {
            tacit_engine::Error::Refused(reason) => Error::Refused(reason),
            tacit_engine::Error::OutsideAssumed => {
                let watched = self.program.assumptions().filter(|(_, watched)| *watched);
                Error::OutsideAssumed { assumptions: watched.map(|(line, _)| line.clone()).collect() }
            }
            // Before inputs.
            tacit_engine::Error::NoMaterial(none) => Error::NoMaterial(none),
            cause => {
                let node = match &cause {
                    tacit_engine::Error::During { node, .. } => Some(*node),
                    _ => None,
                };
                Error::Aborted {
                    lane: None,
                    at: node.and_then(|node| self.source(node)).cloned().map(Box::new),
                    attempt: false,
                    cause,
                }
            }
        }
    }

    /// As [`Self::aborted`], in a part of a stream: after the first one what others learnt of the parts before can't be taken
    /// back, whatever is missing now.
    pub(crate) fn aborted_in(&self, part: u64, cause: tacit_engine::Error) -> Error {
        match cause {
            cause @ tacit_engine::Error::NoMaterial(_) if part > 0 => {
                Error::Aborted { lane: None, at: None, attempt: false, cause }
            }
            cause => self.aborted(cause),
        }
    }

    /// Holds a debug run's outputs against the clear ones, in the order of the program.
    pub(crate) fn compare(&self, values: &[Value], outputs: &[Option<Clear>]) -> Result<(), Error> {
        self.check_count(values.len())?;
        let inputs: Result<Vec<Vec<u64>>, _> =
            self.given().iter().zip(values).map(|(declared, value)| encode(declared, value)).collect();
        let revealed = outputs.iter().zip(&self.plan.outputs);
        let words: Vec<Vec<u64>> =
            revealed.filter_map(|(clear, output)| Some(clear.as_ref()?.to_elements(output.form))).collect();
        match first_difference(&self.program, &self.lowered, &inputs?, &words)? {
            None => Ok(()),
            Some(difference) => Err(Error::Differs(Box::new(difference))),
        }
    }

    /// Refuses another number of values than there are inputs.
    pub(crate) fn check_count(&self, given: usize) -> Result<(), Error> {
        let declared = self.inputs().len() + self.known().len();
        if given == declared {
            return Ok(());
        }
        Err(Error::Refused(format!(
            "the program has {declared} inputs ({}); {given} values were given",
            self.describe_inputs()
        )))
    }
}
