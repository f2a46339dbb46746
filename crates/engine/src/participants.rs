//! Who gives inputs and receives outputs: the plan's names, as endpoints of this run.

use crate::Error;
use tacit_program::plan::{Plan, To};

/// The endpoint of every participant of a plan. Endpoints are the parties in order, then the deployment's clients in
/// order, whether they take part or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Participants {
    parties: usize,
    /// By the plan's participants.
    endpoints: Vec<usize>,
    /// Clients that take part, ascending.
    clients: Vec<usize>,
}

impl Participants {
    /// Finds every participant among the parties and the clients.
    ///
    /// # Errors
    /// [`Error::Refused`] if the plan names somebody else.
    pub fn new(plan: &Plan, parties: &[String], clients: &[String]) -> Result<Self, Error> {
        let everybody: Vec<&String> = parties.iter().chain(clients).collect();
        let find = |role: &String| {
            everybody.iter().position(|name| *name == role).ok_or_else(|| stranger(role, clients))
        };
        let endpoints: Vec<usize> = plan.roles.iter().map(find).collect::<Result<_, _>>()?;
        let mut taking_part: Vec<usize> =
            endpoints.iter().copied().filter(|&endpoint| endpoint >= parties.len()).collect();
        taking_part.sort_unstable();
        Ok(Self { parties: parties.len(), endpoints, clients: taking_part })
    }

    /// The names in a plan that are no party's: the clients that it needs.
    pub fn clients_of(plan: &Plan, parties: &[String]) -> Vec<String> {
        plan.roles.iter().filter(|role| !parties.contains(role)).cloned().collect()
    }

    /// How many parties compute.
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// The clients that take part, by endpoint, ascending.
    pub fn clients(&self) -> &[usize] {
        &self.clients
    }

    /// The endpoint of a participant.
    pub fn endpoint(&self, role: u32) -> usize {
        self.endpoints[role as usize]
    }

    /// Whether `endpoint`, which takes part, learns an output that goes to `to`.
    pub fn learns(&self, endpoint: usize, to: To) -> bool {
        match to {
            To::All => true,
            To::One(role) => self.endpoint(role) == endpoint,
        }
    }

    /// Whether `endpoint` gives any input.
    pub fn gives(&self, plan: &Plan, endpoint: usize) -> bool {
        plan.inputs.iter().any(|input| self.endpoint(input.owner) == endpoint)
    }

    /// The clients that learn an output, by endpoint.
    pub fn clients_that_learn(&self, to: To) -> impl Iterator<Item = usize> {
        self.clients.iter().copied().filter(move |&client| self.learns(client, to))
    }
}

fn stranger(role: &str, clients: &[String]) -> Error {
    let known = if clients.is_empty() { "none".to_owned() } else { clients.join(", ") };
    Error::Refused(format!(
        "the program names {role:?}, who is neither a party nor a client of this deployment (its clients: {known})"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::plan::{Builder, Width};

    fn plan() -> Plan {
        let mut builder = Builder::new();
        let reg = builder.ring(Width::W8, 1);
        for name in ["bob", "P1"] {
            let role = builder.role(name);
            builder.input(role, reg);
        }
        builder.output(reg, To::One(0));
        builder.finish()
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_name_is_a_party_if_there_is_one_and_else_a_client() {
        let parties = names(&["P0", "P1", "P2"]);
        let roles = Participants::new(&plan(), &parties, &names(&["alice", "bob"])).unwrap();
        assert_eq!((roles.endpoint(0), roles.endpoint(1)), (4, 1));
        assert_eq!(roles.clients(), [4]);
        assert!(roles.learns(4, To::One(0)) && !roles.learns(1, To::One(0)) && roles.learns(1, To::All));
        assert_eq!(Participants::clients_of(&plan(), &parties), ["bob"]);
    }

    #[test]
    fn a_stranger_is_refused() {
        let error = Participants::new(&plan(), &names(&["P0", "P1", "P2"]), &names(&["alice"])).unwrap_err();
        assert!(error.to_string().contains("bob") && error.to_string().contains("alice"), "{error}");
    }
}
