//! Kinds of supplies.

use crate::bytes_of;
use std::fmt;
use tacit_program::plan::Domain;

/// A kind of correlated randomness that the parties make before they need it.
///
/// A supply of a kind is a sequence of *items*. One has a share of each of its parts, and whatever else the protocol adds to
/// them, MACs say. Of bits, an item is 64 of them side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SupplyKind {
    /// Multiplication triples (Beaver 1991): a, b, and their product. Of bits, for ANDs.
    Triple(Domain),
    /// 0 or 1, at random, as elements.
    RandomBit(Domain),
    /// An element that nobody knows.
    RandomElement(Domain),
    /// An element that one endpoint knows, who masks its inputs with it. Whose it is has it in the clear as well.
    InputMask {
        /// Of what.
        domain: Domain,
        /// The endpoint's number.
        owner: u16,
    },
    /// A random bit `s` that nobody knows, and two masks of so many words each, of which number `s` is a sharing of zeros and
    /// the other one of random bits (MaskGen of Heath, Kolesnikov, Peceny 2021, figure 3).
    Masks {
        /// Of each mask.
        words: u32,
    },
    /// Products of a random bit with a random vector of so many bits (VS gates of Heath, Kolesnikov, Peceny, ASIACRYPT 2020): the
    /// bit, the vector, and their product. 64 side by side: a word for each bit.
    Scaling {
        /// Of the vector.
        length: u16,
    },
}

/// Items that are stored, and used up, together.
const BLOCK: u64 = 64;

impl SupplyKind {
    /// A number that stays the same in all versions, and from which the kind can be read: above 0.
    pub fn code(self) -> u64 {
        let (tag, domain, [a, b]) = match self {
            Self::Triple(domain) => (1, Some(domain), [0; 2]),
            Self::RandomBit(domain) => (3, Some(domain), [0; 2]),
            Self::RandomElement(domain) => (4, Some(domain), [0; 2]),
            Self::InputMask { domain, owner } => (5, Some(domain), [owner, 0]),
            Self::Masks { words } => (9, None, [words as u16, (words >> 16) as u16]),
            Self::Scaling { length } => (10, None, [length, 0]),
        };
        let domain = domain.map_or(0, Domain::code);
        tag << 56 | u64::from(domain) << 48 | u64::from(a) << 32 | u64::from(b) << 16
    }

    /// The kind of a [code](Self::code), if it is one.
    pub fn from_code(code: u64) -> Option<Self> {
        let [tag, domain] = [code >> 56, code >> 48 & 0xff];
        let [a, b] = [32, 16].map(|shift| (code >> shift) as u16);
        let domain = Domain::from_code(domain as u8)?;
        let kind = match tag {
            1 => Self::Triple(domain),
            3 => Self::RandomBit(domain),
            4 => Self::RandomElement(domain),
            5 => Self::InputMask { domain, owner: a },
            // 2 and 6 to 8 were those of kinds that nobody drew: they are not used again.
            9 => Self::Masks { words: u32::from(b) << 16 | u32::from(a) },
            10 => Self::Scaling { length: a },
            _ => return None,
        };
        (kind.code() == code).then_some(kind)
    }

    /// Bytes of an item's parts in memory.
    pub fn part_bytes(self) -> Vec<usize> {
        let elements = |domain: Domain, count: usize| match domain {
            Domain::Bits => 8 * count,
            other => bytes_of(other, count),
        };
        match self {
            Self::Triple(domain) => vec![elements(domain, 1); 3],
            Self::RandomBit(domain) | Self::RandomElement(domain) | Self::InputMask { domain, .. } => {
                vec![elements(domain, 1)]
            }
            Self::Masks { words } => [1, words, words].map(|words| 8 * words as usize).to_vec(),
            Self::Scaling { length } => [1, length, length].map(|words| 8 * usize::from(words)).to_vec(),
        }
    }

    /// Items that are stored, and used up, together.
    pub fn per_block(self) -> u64 {
        match self {
            Self::Masks { .. } => 1,
            _ => BLOCK,
        }
    }
}

impl fmt::Display for SupplyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |domain: Domain| match domain {
            Domain::Bits => "64 bits".to_owned(),
            other => other.modulus().to_string(),
        };
        match *self {
            Self::Triple(domain) => write!(f, "triples of {}", of(domain)),
            Self::RandomBit(domain) => write!(f, "random bits in {}", of(domain)),
            Self::RandomElement(domain) => write!(f, "random elements of {}", of(domain)),
            Self::InputMask { domain, owner } => write!(f, "masks of {} of endpoint {owner}", of(domain)),
            Self::Masks { words } => write!(f, "masks of {words} words for branches"),
            Self::Scaling { length } => write!(f, "products of a bit with {length} bits"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::Modulus;
    use tacit_program::plan::Width;

    #[test]
    fn codes_stay_and_tell_their_kinds() {
        let fp61 = Modulus::Mersenne61.domain();
        let kinds = [
            (SupplyKind::Triple(Domain::Bits), 0x0100_0000_0000_0000),
            (SupplyKind::Triple(fp61), 0x0181_0000_0000_0000),
            (SupplyKind::Triple(Modulus::Gf128.domain()), 0x0183_0000_0000_0000),
            (SupplyKind::RandomBit(fp61), 0x0381_0000_0000_0000),
            (SupplyKind::RandomElement(Domain::Ring(Width::W64)), 0x0440_0000_0000_0000),
            (SupplyKind::InputMask { domain: fp61, owner: 0x1234 }, 0x0581_1234_0000_0000),
            (SupplyKind::RandomBit(Modulus::Prime128.domain()), 0x0382_0000_0000_0000),
            (SupplyKind::Masks { words: 0x1234_5678 }, 0x0900_5678_1234_0000),
            (SupplyKind::Scaling { length: 0x1234 }, 0x0a00_1234_0000_0000),
        ];
        for (kind, code) in kinds {
            assert_eq!((kind.code(), SupplyKind::from_code(code)), (code, Some(kind)), "{kind}");
        }
        let retired = [0x0282 << 48, 0x0681_0001_0002_0003, 0x0700_0001_0000_0000, 0x0800_5678_1234_0000];
        let never =
            [0, 1, 0x0100_0000_0000_0001, 0x0184 << 48, 0x0a00_0000_0000_0001, 0x0981 << 48, u64::MAX];
        for wrong in retired.into_iter().chain(never) {
            assert_eq!(SupplyKind::from_code(wrong), None, "{wrong:x}");
        }
    }
}
