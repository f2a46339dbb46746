//! One endpoint's part in one run, over links that are there: what local runs, deployments and benchmarks share.

use crate::report::Traffic;
use crate::{Compiled, Error};
use std::sync::Arc;
use tacit_engine::{Clear, Observer, Outcome, Protocol, Roles, executor};
use tacit_net::Mesh;
use tacit_session::{Agreement, OsEntropy, Session};

/// What an endpoint has to know to take part.
#[derive(Clone)]
pub struct Endpoint {
    /// What is run.
    pub compiled: Arc<Compiled>,
    /// The protocol.
    pub protocol: &'static dyn Protocol,
    /// Names of the parties, in order.
    pub parties: Vec<String>,
    /// Names of the deployment's clients, in order.
    pub clients: Vec<String>,
    /// Who the plan's names are.
    pub roles: Roles,
}

impl Endpoint {
    /// Refuses a number of parties that the protocol isn't for, and a program that names strangers.
    pub fn new(
        compiled: Arc<Compiled>,
        protocol: &'static dyn Protocol,
        parties: Vec<String>,
        clients: Vec<String>,
    ) -> Result<Self, Error> {
        let spec = protocol.spec();
        if !spec.parties.contains(&parties.len()) {
            return Err(Error::Refused(format!(
                "protocol {:?} is for {} parties; there are {}",
                spec.name,
                spec.party_count(),
                parties.len()
            )));
        }
        let roles = Roles::new(compiled.plan(), &parties, &clients)
            .map_err(|error| Error::Refused(error.to_string()))?;
        Ok(Self { compiled, protocol, parties, clients, roles })
    }

    fn agreement(&self) -> Agreement {
        Agreement {
            version: 0,
            parties: self.parties.clone(),
            clients: self.clients.clone(),
            protocol: self.protocol.spec().name.to_owned(),
            parameters: [concat!("tacit ", env!("CARGO_PKG_VERSION")), &self.protocol.parameters()].join(" "),
            inputs: self.compiled.describe_inputs(),
            program: self.compiled.hash(),
        }
    }
}

/// Plays an endpoint's part from the handshake to the end: a party's if its number is below the number of
/// parties, a client's else. `inputs` has the values that this endpoint gives, by the index of the input.
pub fn play(
    endpoint: &Endpoint,
    mesh: Mesh,
    inputs: &[Option<Clear>],
    observer: &mut dyn Observer,
) -> Result<(Outcome, Traffic), Error> {
    let roles = endpoint.roles.clone();
    let plan = endpoint.compiled.plan().clone();
    let aborted = |cause| endpoint.compiled.aborted(cause);
    let me = mesh.me();
    let session = Session::establish(mesh, endpoint.agreement(), Box::new(OsEntropy))
        .map_err(|error| aborted(error.into()))?;
    if me < endpoint.parties.len() {
        let mut engine = endpoint.protocol.seat(session, plan.clone(), roles).map_err(aborted)?;
        let outcome = executor::run_party(engine.as_mut(), &plan, inputs, observer).map_err(aborted)?;
        let traffic = engine.session().map_or_else(Traffic::default, |session| Traffic::of(session.mesh()));
        engine.close().map_err(aborted)?;
        Ok((outcome, traffic))
    } else {
        let mut client = endpoint.protocol.client(session, plan.clone(), roles.clone()).map_err(aborted)?;
        let outcome = executor::run_client(client.as_mut(), &plan, &roles, inputs).map_err(aborted)?;
        let traffic = Traffic::of(client.session().mesh());
        client.close().map_err(aborted)?;
        Ok((outcome, traffic))
    }
}
