//! A program that is ready to run: checked, lowered, hashed.

use crate::Error;
use std::sync::Arc;
use tacit_engine::{Clear, Roles};
use tacit_program::plan::Plan;
use tacit_program::{
    InputType, Lowered, Native, OutputType, Program, Source, Value, decode, encode, first_difference, lower,
    lower_for_debug,
};

/// A program, its plan, and the hash by which parties agree on it.
#[derive(Debug)]
pub struct Compiled {
    program: Program,
    lowered: Lowered,
    plan: Arc<Plan>,
    hash: [u8; 32],
    debug: bool,
}

impl Compiled {
    /// Lowers a program. The plan is the same wherever the program is the same.
    pub fn new(program: Program) -> Result<Arc<Self>, Error> {
        let lowered = lower(&program, Native::ALL)?;
        Ok(Self::of(program, lowered))
    }

    /// Lowers a program so that everything in it is revealed: for looking for faults on made-up data, in one
    /// process. Its hash differs from the program's, so no other party can be drawn into it; and no seat of a
    /// deployment runs it.
    pub fn debug(program: Program) -> Result<Arc<Self>, Error> {
        let lowered = lower_for_debug(&program, Native::ALL)?;
        let mut compiled = Self::of(program, lowered);
        if let Some(compiled) = Arc::get_mut(&mut compiled) {
            compiled.hash.iter_mut().for_each(|byte| *byte = !*byte);
            compiled.debug = true;
        }
        Ok(compiled)
    }

    fn of(program: Program, lowered: Lowered) -> Arc<Self> {
        let hash = program.hash();
        let plan = Arc::new(lowered.plan.clone());
        Arc::new(Self { program, lowered, plan, hash, debug: false })
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
        let plan = Arc::new(lowered.plan.clone());
        Arc::new(Self { program: self.program.clone(), lowered, plan, hash: self.hash, debug: self.debug })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What engines execute.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// What parties agree on before they run it.
    pub fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// Whether a run reveals everything.
    pub fn is_debug(&self) -> bool {
        self.debug
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

    /// The inputs in words, for agreements and errors.
    pub fn describe_inputs(&self) -> String {
        let describe = |input: &InputType| {
            format!("{}: {} {:?} from {}", input.name, input.kind, input.shape, input.owner)
        };
        self.inputs().iter().map(describe).collect::<Vec<_>>().join("; ")
    }

    /// Encodes one value: checks its shape, type and range.
    pub fn encode(&self, input: usize, value: &Value) -> Result<Clear, Error> {
        let declared = self
            .inputs()
            .get(input)
            .ok_or_else(|| Error::Refused(format!("the program has no input {input}")))?;
        let words = encode(declared, value).map_err(|error| {
            Error::Refused(format!("input {:?} of {}: {error}", declared.name, declared.owner))
        })?;
        let domain = self.plan.register(self.plan.inputs[input].reg).domain;
        Ok(Clear::from_words(domain, &words))
    }

    /// Encodes the values of all inputs.
    pub(crate) fn encode_all(&self, values: &[Value]) -> Result<Vec<Clear>, Error> {
        self.check_count(values.len())?;
        values.iter().enumerate().map(|(input, value)| self.encode(input, value)).collect()
    }

    /// Those of all values that endpoint `me` gives.
    pub(crate) fn inputs_of(&self, roles: &Roles, me: usize, values: &[Clear]) -> Vec<Option<Clear>> {
        let mine = |(input, value): (&tacit_program::plan::InputOp, &Clear)| {
            (roles.endpoint(input.owner) == me).then(|| value.clone())
        };
        self.plan.inputs.iter().zip(values).map(mine).collect()
    }

    /// The program's outputs as values.
    pub(crate) fn decode_all(&self, outputs: &[Option<Clear>]) -> Result<Vec<Option<Value>>, Error> {
        let one = |(declared, clear): (&OutputType, &Option<Clear>)| match clear {
            Some(clear) => Ok(Some(decode(declared, &clear.to_words())?)),
            None => Ok(None),
        };
        self.outputs().iter().zip(outputs).map(one).collect()
    }

    /// A run's failure, with the user's line.
    pub(crate) fn aborted(&self, cause: tacit_engine::Error) -> Error {
        match cause {
            tacit_engine::Error::Refused(reason) => Error::Refused(reason),
            cause => {
                let node = match &cause {
                    tacit_engine::Error::During { node, .. } => Some(*node),
                    _ => None,
                };
                Error::Aborted {
                    lane: None,
                    at: node.and_then(|node| self.source(node)).cloned().map(Box::new),
                    cause,
                }
            }
        }
    }

    /// Holds a debug run's outputs against the clear ones, in the order of the program.
    pub(crate) fn compare(&self, values: &[Value], outputs: &[Option<Clear>]) -> Result<(), Error> {
        self.check_count(values.len())?;
        let inputs: Result<Vec<Vec<u64>>, _> =
            self.inputs().iter().zip(values).map(|(declared, value)| encode(declared, value)).collect();
        let words: Vec<Vec<u64>> = outputs.iter().flatten().map(Clear::to_words).collect();
        match first_difference(&self.program, &self.lowered, &inputs?, &words)? {
            None => Ok(()),
            Some(difference) => Err(Error::Differs(Box::new(difference))),
        }
    }

    fn check_count(&self, given: usize) -> Result<(), Error> {
        let declared = self.inputs().len();
        if given == declared {
            return Ok(());
        }
        Err(Error::Refused(format!(
            "the program has {declared} inputs ({}); {given} values were given",
            self.describe_inputs()
        )))
    }
}
