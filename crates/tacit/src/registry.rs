//! The one place that names all protocols.

use crate::Error;
use crate::auto_select::{leaves_open, sayable};
use tacit_astra::Astra;
use tacit_engine::Protocol;
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_spdz::MASCOT;

static PROTOCOLS: [&dyn Protocol; 6] = [
    &Replicated::COMPUTATIONAL,
    &ReplicatedMalicious::SOUNDNESS_50,
    &Astra::SEMI_HONEST,
    &Astra::MALICIOUS,
    &Astra::FAIR,
    &MASCOT,
];

/// All protocols.
pub fn protocols() -> impl Iterator<Item = &'static dyn Protocol> {
    PROTOCOLS.into_iter()
}

/// The protocol of a name, behind which values of its parameters may stand: `replicated`, or `replicated
/// zero-sharing=information-theoretic`. What is left to the network (`roles=auto`, `comparison=auto`) is as usual: whether
/// something else is better is for a deployment to find out ([`crate::negotiate`]).
///
/// # Errors
/// [`Error::Refused`] if there is no such protocol, parameter or value.
pub fn protocol(name: &str) -> Result<&'static dyn Protocol, Error> {
    let mut words = name.split_whitespace();
    let name = words.next().unwrap_or_default();
    let usual = protocols().find(|protocol| protocol.spec().name == name).ok_or_else(|| {
        let known: Vec<&str> = protocols().map(|protocol| protocol.spec().name).collect();
        let meant = meant(name, &known);
        let mut message = format!("no protocol is named {name:?}{meant}; there are: {}", known.join(", "));
        if name.contains([',', '=']) {
            message += "; parameters stand behind the name, with spaces between";
        }
        Error::Refused(message)
    })?;
    words.try_fold(usual, |protocol, word| {
        if leaves_open(protocol, word) {
            return Ok(protocol);
        }
        let (parameter, value) = word.split_once('=').unwrap_or((word, ""));
        protocol.with_parameter(parameter, value).ok_or_else(|| refused(protocol, parameter, value))
    })
}

/// Why a protocol doesn't take a parameter's value, and what it takes.
fn refused(protocol: &dyn Protocol, parameter: &str, value: &str) -> Error {
    let (name, offered) = (protocol.spec().name, protocol.parameters());
    if offered.iter().any(|(known, values)| *known == parameter && values.contains(&value)) {
        let others = protocol.parameter_values();
        return Error::Refused(format!("protocol {name:?}: {parameter}={value} doesn't go with {others}"));
    }
    if let Some((_, values)) = offered.iter().find(|(known, _)| *known == parameter) {
        let known = sayable(parameter, values);
        let meant = meant(value, &known);
        let known = known.join(" or ");
        return Error::Refused(format!("protocol {name:?}: {parameter} is {known}, not {value:?}{meant}"));
    }
    let names: Vec<&str> = offered.iter().map(|(known, _)| *known).collect();
    let each = |(known, values): &(&str, &[&'static str])| {
        format!("{known}={}", sayable(known, values).join(" or "))
    };
    let (meant, known) = (meant(parameter, &names), offered.iter().map(each).collect::<Vec<_>>().join(", "));
    Error::Refused(format!("protocol {name:?} has no parameter {parameter:?}{meant}; it has {known}"))
}

/// What somebody may have meant by a word that isn't known, in words; of numbers none is meant for another.
fn meant(word: &str, known: &[&str]) -> String {
    if !word.contains(char::is_alphabetic) {
        return String::new();
    }
    let near = known.iter().map(|known| (strsim::jaro(word, known), known)).filter(|(near, _)| *near > NEAR);
    let nearest = near.max_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.map_or_else(String::new, |(_, known)| format!(" (did you mean {known:?}?)"))
}

/// How like one another words are, of 1 at most, of which one can be meant for the other: as of the command's own options.
const NEAR: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_parameters_stand_behind_a_name() {
        let name = "replicated-malicious soundness=100 proofs=li-2023";
        assert_eq!(protocol(name).unwrap().parameter_values(), "soundness=100 proofs=li-2023");
        assert!(protocol("replicated-malicious soundness=100 proofs=boyle-2019").is_err());
    }

    #[test]
    fn parameters_stand_behind_a_name() {
        let parameters = |name: &str| protocol(name).map(Protocol::parameter_values);
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

    #[test]
    fn values_that_go_together_are_taken() {
        let parameters = |values: &str| {
            protocol(&format!("replicated-malicious {values}")).map(Protocol::parameter_values)
        };
        for (values, taken) in [
            ("", ""),
            ("soundness=50", ""),
            ("challenges=interactive soundness=50", ""),
            ("soundness=100", "soundness=100"),
            ("challenges=interactive soundness=100", "soundness=100"),
            ("challenges=fiat-shamir", "challenges=fiat-shamir"),
        ] {
            assert_eq!(parameters(values).unwrap(), taken, "{values:?}");
        }
    }

    #[test]
    fn what_is_refused_says_what_there_is() {
        let says = |name: &str| match protocol(name) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        };
        let known = "it has soundness=50 or 100, challenges=interactive or fiat-shamir";
        let both = "(did you mean \"garbled\"?)";
        for (name, expected) in [
            (
                "malicious",
                "there are: replicated, replicated-malicious, astra, astra-malicious, astra-fair, mascot",
            ),
            ("replicated-malicious,soundness=100", "parameters stand behind the name, with spaces between"),
            ("replicated-malicious soundness=80", "soundness is 50 or 100, not \"80\""),
            ("replicated-malicious soundness", "soundness is 50 or 100, not \"\""),
            ("astra roles=200", "or 210 or auto, not \"200\""),
            ("astra-malicous", "is named \"astra-malicous\" (did you mean \"astra-malicious\"?); there are"),
            (
                "astra comparison=garblde",
                "comparison is prefix or garbled or auto, not \"garblde\" (did you mean",
            ),
            ("astra comparison=garblde", both),
            (
                "astra comparision=garbled",
                "no parameter \"comparision\" (did you mean \"comparison\"?); it has roles=012 or",
            ),
            ("astra comparision=garbled", "210 or auto, comparison=prefix or garbled or auto"),
            ("replicated-malicious zero-sharing=computational", known),
            ("replicated x=1", "it has zero-sharing=computational or information-theoretic"),
            (
                "replicated-malicious soundness=100 challenges=fiat-shamir",
                "challenges=fiat-shamir doesn't go with soundness=100",
            ),
            (
                "replicated-malicious challenges=fiat-shamir soundness=100",
                "soundness=100 doesn't go with challenges=fiat-shamir",
            ),
        ] {
            assert!(says(name).contains(expected), "{name}: {}", says(name));
        }
    }

    /// What a protocol says it offers, `with` takes, and nothing else.
    #[test]
    fn what_is_offered_is_taken() {
        for protocol in protocols() {
            for (parameter, values) in protocol.parameters() {
                assert!(
                    values.iter().all(|value| protocol.with_parameter(parameter, value).is_some()),
                    "{parameter}"
                );
                assert!(protocol.with_parameter(parameter, "").is_none(), "{parameter}");
            }
        }
    }
}
