//! What a store's material is good for.

use serde::{Deserialize, Serialize};

use crate::epoch::hex;
use crate::format::{self, Malformed};

/// The longest file of a binding.
pub(crate) const MAX_BYTES: usize = 1 << 20;

const MAGIC: [u8; 8] = *b"tacitbnd";
/// Characters of a text that a message shows.
const MAX_SHOWN: usize = 200;

/// What material was made for, and outside of which it may never be used: all but the epoch and the number of
/// instances, which every epoch states for itself.
///
/// Material is for one plan, or it is a supply that any plan of the protocol draws from ([`Binding::is_supply`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Whose material it is.
    pub me: String,
    /// Names of the computing parties, in order.
    pub parties: Vec<String>,
    /// Names of the deployment's clients, in order.
    pub clients: Vec<String>,
    /// Name of the protocol.
    pub protocol: String,
    /// Its parameters, in the protocol's own words.
    pub parameters: String,
    /// What it is for, if not for any plan.
    pub plan: Option<PlanBinding>,
}

/// The plan that material is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBinding {
    /// Shapes and types of the inputs, readable.
    pub inputs: String,
    /// Hash of the program.
    pub program: [u8; 32],
    /// Hash of the plan that the program is lowered to: of two versions of this code, one may lower it otherwise.
    pub plan: [u8; 32],
}

impl Binding {
    /// Whether material is a supply for any plan: its epochs have a key and a shelf for each kind.
    pub fn is_supply(&self) -> bool {
        self.plan.is_none()
    }

    /// The file's bytes: a head, the fields, a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal_binding(&self.fields())
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// [`Malformed`], whatever the bytes; none makes it allocate more than a few times their length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.len() > MAX_BYTES {
            return Err(Malformed::Length);
        }
        let body = format::body(bytes, MAGIC)?;
        let (fields, checksum) = body.split_last_chunk::<32>().ok_or(Malformed::Length)?;
        if *checksum != hash(fields) {
            return Err(Malformed::Checksum);
        }
        match postcard::take_from_bytes::<Self>(fields) {
            Ok((binding, [])) if binding.fields() == fields => Ok(binding),
            _ => Err(Malformed::Meaning("it is not written as a binding is")),
        }
    }

    /// Names the binding: two bindings with one hash are the same.
    pub(crate) fn hash(&self) -> [u8; 32] {
        hash(&self.fields())
    }

    fn fields(&self) -> Vec<u8> {
        // Serialising plain data into a growing vector can't fail.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    /// All that differs from what is wanted, in words; `None` if nothing does.
    pub(crate) fn difference(&self, wanted: &Self) -> Option<String> {
        let list = |names: &[String]| names.join(", ");
        let plan = |get: fn(&PlanBinding) -> String| {
            [self, wanted].map(|binding| binding.plan.as_ref().map_or_else(|| "any".to_owned(), get))
        };
        let [inputs, wanted_inputs] = plan(|plan| plan.inputs.clone());
        let [program, wanted_program] = plan(|plan| digits(&plan.program));
        let [digest, wanted_digest] = plan(|plan| digits(&plan.plan));
        let lines = [
            ("the party whose it is", self.me.clone(), wanted.me.clone()),
            ("the parties", list(&self.parties), list(&wanted.parties)),
            ("the clients", list(&self.clients), list(&wanted.clients)),
            ("the protocol", self.protocol.clone(), wanted.protocol.clone()),
            ("the protocol's parameters", self.parameters.clone(), wanted.parameters.clone()),
            ("the inputs", inputs, wanted_inputs),
            ("the program (its hash)", program, wanted_program),
            ("the plan of the program (its hash)", digest, wanted_digest),
        ];
        let differing = lines.iter().filter(|(_, stored, wanted)| stored != wanted);
        let words: Vec<String> = differing
            .map(|(what, stored, wanted)| {
                format!("{what}: in the store \"{}\", wanted \"{}\"", shown(stored), shown(wanted))
            })
            .collect();
        if words.is_empty() && self != wanted {
            // Only how names are divided: ["a, b"] and ["a", "b"].
            return Some("the lists of parties and clients".to_owned());
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// A file of whatever fields, with its head and the right checksum; a pure function for tests and fuzzing.
#[doc(hidden)]
pub fn seal_binding(fields: &[u8]) -> Vec<u8> {
    let mut bytes = format::head(MAGIC).to_vec();
    bytes.extend_from_slice(fields);
    bytes.extend_from_slice(&hash(fields));
    bytes
}

fn hash(fields: &[u8]) -> [u8; 32] {
    format::digest(b"tacit store binding 2", &[fields])
}

fn digits(bytes: &[u8]) -> String {
    let mut text = String::new();
    let _ = hex(bytes, &mut text);
    text
}

/// A text from a file, for a message: bounded, and no control characters.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push_str(" ...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{binding, plan_binding};

    #[test]
    fn bindings_come_back_and_any_other_bytes_are_refused() {
        let bytes = binding().to_bytes();
        assert_eq!(Binding::from_bytes(&bytes), Ok(binding()));
        for len in 0..bytes.len() {
            assert!(Binding::from_bytes(&bytes[..len]).is_err(), "{len}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Binding::from_bytes(&changed).is_err(), "{at}");
        }
        assert!(Binding::from_bytes(&[bytes.clone(), vec![0]].concat()).is_err());
        let mut newer = bytes;
        newer[8] = 9;
        assert_eq!(Binding::from_bytes(&newer), Err(Malformed::Version { found: 9 }));
    }

    #[test]
    fn every_difference_is_named() {
        type Change = fn(&mut Binding);
        assert_eq!(binding().difference(&binding()), None);
        let changes: [(&str, Change); 10] = [
            ("the party whose it is", |b| b.me = "P1".into()),
            ("the parties:", |b| b.parties.reverse()),
            ("the clients:", |b| b.clients.clear()),
            ("the protocol:", |b| b.protocol = "mascot".into()),
            ("parameters", |b| b.parameters = "x".into()),
            ("the inputs", |b| b.plan.as_mut().unwrap().inputs = "a: int64[4]".into()),
            ("the program", |b| b.plan.as_mut().unwrap().program = [4; 32]),
            ("the plan", |b| b.plan.as_mut().unwrap().plan = [4; 32]),
            ("the inputs", |b| b.plan = None),
            ("lists", |b| b.parties = vec!["P0, P1, P2".into()]),
        ];
        for (what, change) in changes {
            let mut wanted = binding();
            change(&mut wanted);
            let says = binding().difference(&wanted).unwrap();
            assert!(says.contains(what) && (!says.contains(';') || wanted.is_supply()), "{says}");
            assert_ne!(wanted.hash(), binding().hash());
        }
        let plan = PlanBinding { inputs: "\x1b[2J".repeat(1000), ..plan_binding() };
        let wanted = Binding { protocol: "mascot".into(), plan: Some(plan), ..binding() };
        let says = wanted.difference(&binding()).unwrap();
        assert!(says.contains("mascot") && says.contains("; the inputs"), "{says}");
        assert!(says.len() < 4000 && !says.chars().any(char::is_control), "{says}");
    }
}
