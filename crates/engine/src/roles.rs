//! Who gives inputs and receives outputs: the plan's names, as endpoints of this run.

use crate::Error;
use tacit_program::plan::{Plan, To};

/// The endpoint of every role of a plan. Endpoints are the parties in order, then the clients in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles {
    parties: usize,
    endpoints: Vec<usize>,
    clients: Vec<String>,
}

impl Roles {
    /// Finds every role among the parties; all others are clients, in the plan's order.
    pub fn new(plan: &Plan, parties: &[String]) -> Self {
        let mut clients = Vec::new();
        let endpoints = plan
            .roles
            .iter()
            .map(|role| {
                parties.iter().position(|party| party == role).unwrap_or_else(|| {
                    clients.push(role.clone());
                    parties.len() + clients.len() - 1
                })
            })
            .collect();
        Self { parties: parties.len(), endpoints, clients }
    }

    /// How many parties compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// Names of the clients that take part, in order.
    pub fn clients(&self) -> &[String] {
        &self.clients
    }

    /// The endpoint of a role.
    pub fn endpoint(&self, role: u32) -> usize {
        self.endpoints[role as usize]
    }

    /// Whether `endpoint` learns an output that goes to `to`.
    pub fn learns(&self, endpoint: usize, to: To) -> bool {
        match to {
            To::All => true,
            To::One(role) => self.endpoint(role) == endpoint,
        }
    }

    /// Whether any client gives an input; then it also gives seeds.
    pub fn gives(&self, plan: &Plan, endpoint: usize) -> bool {
        plan.inputs.iter().any(|input| self.endpoint(input.owner) == endpoint)
    }

    /// Refuses a deployment that lacks somebody whom the plan names.
    pub fn check(&self, known_clients: &[String]) -> Result<(), Error> {
        match self.clients.iter().find(|client| !known_clients.contains(client)) {
            None => Ok(()),
            Some(stranger) => Err(Error::Refused(format!(
                "the program names {stranger:?}, who is neither a party nor a client of this deployment; known clients: {}",
                if known_clients.is_empty() { "none".to_owned() } else { known_clients.join(", ") }
            ))),
        }
    }
}
