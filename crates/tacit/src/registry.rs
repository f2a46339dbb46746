//! The one place that names all protocols.

use crate::Error;
use tacit_engine::Protocol;
use tacit_replicated::{Replicated, ReplicatedMalicious};

static PROTOCOLS: [&dyn Protocol; 2] = [&Replicated::COMPUTATIONAL, &ReplicatedMalicious::SOUNDNESS_50];

/// All protocols.
pub fn protocols() -> impl Iterator<Item = &'static dyn Protocol> {
    PROTOCOLS.into_iter()
}

/// The protocol of a name, behind which values of its parameters may stand: `replicated`, or `replicated
/// zero-sharing=information-theoretic`.
///
/// # Errors
/// [`Error::Refused`] if there is no such protocol, parameter or value.
pub fn protocol(name: &str) -> Result<&'static dyn Protocol, Error> {
    let mut words = name.split_whitespace();
    let name = words.next().unwrap_or_default();
    let usual = protocols().find(|protocol| protocol.spec().name == name).ok_or_else(|| {
        let known: Vec<&str> = protocols().map(|protocol| protocol.spec().name).collect();
        Error::Refused(format!("no protocol is named {name:?}; there are: {}", known.join(", ")))
    })?;
    words.try_fold(usual, |protocol, word| {
        let (parameter, value) = word.split_once('=').unwrap_or((word, ""));
        protocol.with(parameter, value).ok_or_else(|| {
            Error::Refused(format!("protocol {name:?} has no parameter {parameter:?} of value {value:?}"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_parameters_stand_behind_a_name() {
        let name = "replicated-malicious soundness=100 proofs=li-2023";
        assert_eq!(protocol(name).unwrap().parameters(), "soundness=100 proofs=li-2023");
        assert!(protocol("replicated-malicious soundness=100 proofs=boyle-2019").is_err());
    }

    #[test]
    fn parameters_stand_behind_a_name() {
        let parameters = |name: &str| protocol(name).map(Protocol::parameters);
        assert_eq!(parameters("replicated").unwrap(), "");
        assert_eq!(parameters("replicated zero-sharing=computational").unwrap(), "");
        let fresh = "zero-sharing=information-theoretic";
        assert_eq!(parameters(&format!("replicated {fresh}")).unwrap(), fresh);
        for wrong in
            ["", "oracle", "replicated zero-sharing", "replicated zero-sharing=none", "replicated x=1"]
        {
            assert!(matches!(parameters(wrong), Err(Error::Refused(_))), "{wrong:?}");
        }
    }
}
