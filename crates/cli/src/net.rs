//! What a protocol's name leaves to the network, picked for a network that is given instead of measured.

use crate::failure::Failure;
use clap::Args;
use std::sync::Arc;
use tacit::advanced::net::{Profile, load_profile};
use tacit::{Comparison, Compiled, Making, Selection, players, protocol, select_for};

/// The network that something is picked for.
#[derive(Args, Clone, Debug)]
pub(crate) struct NetArgs {
    /// Pick what is left to the network (--roles auto, --comparison auto) for this one, the same for everybody, instead of
    /// measuring it: lan, wan, ROUND-TRIP,BANDWIDTH such as 20ms,1gbit, or a file with a value for each pair. If nothing is
    /// said, a cost's times are for lan, and what is left to the network is as in a simulation
    #[arg(long, value_name = "PROFILE")]
    pub(crate) net: Option<String>,
}

impl NetArgs {
    /// Puts what is picked for the network into the protocol's name, if one is given; how numbers are compared, if that was
    /// left to it.
    pub(crate) fn pick(
        &self,
        protocol: &mut String,
        compiled: &Arc<Compiled>,
        parties: &[String],
        making: Making,
    ) -> Result<Option<Comparison>, Failure> {
        let Some(net) = &self.net else { return Ok(None) };
        let selection = select_for(compiled, protocol, parties, &load(net)?, making)?;
        *protocol = selection.protocol;
        Ok(selection.comparison)
    }
}

/// The network of a cost.
pub(crate) struct CostNet {
    /// What times are reckoned for.
    pub(crate) profile: Profile,
    pub(crate) name: String,
    /// Whether it was given: else what is left to the network is as usual, as in a simulation.
    pub(crate) given: bool,
}

impl CostNet {
    pub(crate) fn load(net: Option<&str>) -> Result<Self, Failure> {
        let name = net.unwrap_or("lan");
        Ok(Self { profile: load(name)?, name: name.to_owned(), given: net.is_some() })
    }

    /// Who plays the roles of a selection, if nothing was selected for a network; nobody if it has none.
    pub(crate) fn players(
        &self,
        selection: &Selection,
        parties: &[String],
    ) -> Result<Vec<String>, tacit::Error> {
        if self.given {
            return Ok(Vec::new());
        }
        Ok(players(&*protocol(&selection.protocol)?, parties))
    }
}

/// The network that is described so.
pub(crate) fn load(net: &str) -> Result<Profile, Failure> {
    load_profile(net).map_err(|error| Failure::usage(error.to_string()))
}
