//! The one place that names all protocols.

use crate::error::Error;
use std::fmt;
use std::sync::Arc;
use tacit_astra::Astra;
use tacit_engine::{Auto, Parameter, Protocol};
use tacit_gmw::GMW;
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_spdz::MASCOT;

/// All protocols, with the usual parameters.
pub fn protocols() -> impl Iterator<Item = Arc<dyn Protocol>> {
    let all: [Arc<dyn Protocol>; 7] = [
        Arc::new(Replicated::COMPUTATIONAL),
        Arc::new(ReplicatedMalicious::SOUNDNESS_50),
        Arc::new(Astra::SEMI_HONEST),
        Arc::new(Astra::MALICIOUS),
        Arc::new(Astra::FAIR),
        Arc::new(MASCOT.clone()),
        Arc::new(GMW.clone()),
    ];
    all.into_iter()
}

/// The protocol of a name, behind which values of its parameters may stand: `replicated`, or `replicated
/// zero-sharing=information-theoretic`. What is left to the network (`roles=auto`, `comparison=auto`) is as usual: whether
/// something else is better is for a deployment to find out ([`crate::negotiate`]).
///
/// # Errors
/// [`Error::Refused`] if there is no such protocol, parameter or value.
pub fn protocol(name: &str) -> Result<Arc<dyn Protocol>, Error> {
    Ok(Chosen::of(name)?.protocol)
}

/// Parameters that some protocol offers, each with the names of those that do, in the order of the registry.
pub fn parameters() -> Vec<(Parameter, Vec<&'static str>)> {
    let mut all: Vec<(Parameter, Vec<&'static str>)> = Vec::new();
    for protocol in protocols() {
        let name = protocol.spec().name;
        for parameter in protocol.parameters() {
            match all.iter_mut().find(|(known, _)| known == parameter) {
                Some((_, names)) => names.push(name),
                None => all.push((*parameter, vec![name])),
            }
        }
    }
    all
}

/// What some protocol's stores are filled with ahead of any program ([`Protocol::stocks`]), each with the names of the
/// protocols.
pub fn stocks() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut all: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
    for protocol in protocols() {
        for (stock, _) in protocol.stocks(*protocol.spec().parties.start()) {
            match all.iter_mut().find(|(known, _)| *known == stock) {
                Some((_, names)) => names.push(protocol.spec().name),
                None => all.push((stock, vec![protocol.spec().name])),
            }
        }
    }
    all
}

/// A protocol as somebody has chosen it, by its name and its parameters.
#[derive(Clone)]
pub(crate) struct Chosen {
    /// The protocol, with what is left to the network as usual.
    pub(crate) protocol: Arc<dyn Protocol>,
    /// What is left to the network, in the order in which the protocol offers it.
    pub(crate) open: Vec<Parameter>,
}

/// The value that leaves a parameter to the network.
pub(crate) const AUTO: &str = "auto";

impl Chosen {
    /// What a name and the words behind it say.
    pub(crate) fn of(name: &str) -> Result<Self, Error> {
        let mut words = name.split_whitespace();
        let mut protocol = named(words.next().unwrap_or_default())?;
        let mut autos: Vec<bool> =
            protocol.parameters().iter().map(|parameter| parameter.auto == Auto::UnlessSaid).collect();
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let place = protocol.parameters().iter().position(|parameter| parameter.name == name);
            let known = place.map(|place| (place, protocol.parameters()[place]));
            let auto = known.is_some_and(|(_, known)| value == AUTO && known.auto != Auto::Never);
            let value = known.filter(|_| auto).map_or(value, |(_, known)| known.usual());
            protocol =
                protocol.with_parameter(name, value).ok_or_else(|| refused(&*protocol, name, value))?;
            autos
                .iter_mut()
                .enumerate()
                .filter(|(own, _)| Some(*own) == place)
                .for_each(|(_, own)| *own = auto);
        }
        let open = protocol.parameters().iter().zip(autos).filter(|(_, auto)| *auto);
        Ok(Self { open: open.map(|(parameter, _)| *parameter).collect(), protocol })
    }

    /// The values of a parameter, if that is left to the network; else none.
    pub(crate) fn left(&self, parameter: &str) -> &'static [&'static str] {
        self.open.iter().find(|open| open.name == parameter).map_or(&[], |open| open.values)
    }

    /// The same with a value of what was left to the network; nothing if the protocol doesn't have it.
    pub(crate) fn with(&self, parameter: &str, value: &str) -> Option<Self> {
        let open = self.open.iter().filter(|open| open.name != parameter).copied().collect();
        Some(Self { protocol: self.protocol.with_parameter(parameter, value)?, open })
    }

    /// The protocols that it can come to, the usual one first.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Protocol>> {
        let mut all = vec![self.protocol.clone()];
        for open in &self.open {
            let with = |protocol: &Arc<dyn Protocol>| {
                let protocol = protocol.clone();
                open.values.iter().filter_map(move |value| protocol.with_parameter(open.name, value))
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }

    /// The values that a protocol has of what is left open here, as they are told.
    pub(crate) fn told(&self, protocol: &dyn Protocol) -> String {
        self.open.iter().map(|open| protocol.value(open.name)).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Chosen {
    /// As [`Chosen::of`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.protocol.spec().name)?;
        for parameter in self.protocol.parameters() {
            let value = match self.left(parameter.name) {
                [] => self.protocol.value(parameter.name),
                _ => AUTO,
            };
            if parameter.auto != Auto::Never || value != parameter.usual() {
                write!(f, " {}={value}", parameter.name)?;
            }
        }
        Ok(())
    }
}

fn named(name: &str) -> Result<Arc<dyn Protocol>, Error> {
    protocols().find(|protocol| protocol.spec().name == name).ok_or_else(|| {
        let all: Vec<_> = protocols().collect();
        let known: Vec<&str> = all.iter().map(|protocol| protocol.spec().name).collect();
        let meant = meant(name, &known);
        let mut message = format!("no protocol is named {name:?}{meant}; there are: {}", known.join(", "));
        if name.contains([',', '=']) {
            message += "; parameters stand behind the name, with spaces between";
        }
        Error::Refused(message)
    })
}

/// Why a protocol doesn't take a parameter's value, and what it takes.
fn refused(protocol: &dyn Protocol, parameter: &str, value: &str) -> Error {
    let (name, offered) = (protocol.spec().name, protocol.parameters());
    let sayable = |known: &Parameter| -> Vec<&str> {
        let auto = (known.auto != Auto::Never).then_some(AUTO);
        known.values.iter().copied().chain(auto).collect()
    };
    let Some(known) = offered.iter().find(|known| known.name == parameter) else {
        let names: Vec<&str> = offered.iter().map(|known| known.name).collect();
        let each = |known: &Parameter| format!("{}={}", known.name, sayable(known).join(" or "));
        let (meant, known) =
            (meant(parameter, &names), offered.iter().map(each).collect::<Vec<_>>().join(", "));
        let has = if known.is_empty() { "it has none".to_owned() } else { format!("it has {known}") };
        return Error::Refused(format!("protocol {name:?} has no parameter {parameter:?}{meant}; {has}"));
    };
    if known.values.contains(&value) {
        let others = protocol.parameter_values();
        return Error::Refused(format!("protocol {name:?}: {parameter}={value} doesn't go with {others}"));
    }
    let known = sayable(known);
    let meant = meant(value, &known);
    let known = known.join(" or ");
    Error::Refused(format!("protocol {name:?}: {parameter} is {known}, not {value:?}{meant}"))
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
        let parameters = |name: &str| protocol(name).map(|protocol| protocol.parameter_values());
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
            let protocol = protocol(&format!("replicated-malicious {values}"));
            protocol.map(|protocol| protocol.parameter_values())
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
                "there are: replicated, replicated-malicious, astra, astra-malicious, astra-fair, mascot, gmw",
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
            for &Parameter { name, values, .. } in protocol.parameters() {
                assert_eq!(protocol.value(name), values[0], "the usual one comes first");
                for value in values {
                    assert_eq!(protocol.with_parameter(name, value).unwrap().value(name), *value);
                }
                assert!(protocol.with_parameter(name, "").is_none(), "{name}");
            }
        }
    }
}
