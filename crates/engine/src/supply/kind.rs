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
    /// A random a, and its square.
    Square(Domain),
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
    /// A triple of matrices: m by k, k by n, and their product.
    MatrixTriple {
        /// Of what.
        domain: Domain,
        /// Rows of the first.
        m: u16,
        /// Columns of the first, and rows of the second.
        k: u16,
        /// Columns of the second.
        n: u16,
    },
    /// Random oblivious transfers of 16 bytes from one party to another.
    Ot {
        /// Who has both messages.
        sender: u16,
        /// Who has one.
        receiver: u16,
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
    /// What a protocol makes for one of its own functions, by its own number; an item of any length.
    Function(u32),
}

/// Items that are stored, and used up, together.
const BLOCK: u64 = 64;

impl SupplyKind {
    /// A number that stays the same in all versions, and from which the kind can be read: above 0.
    pub fn code(self) -> u64 {
        let (tag, domain, [a, b, c]) = match self {
            Self::Triple(domain) => (1, Some(domain), [0; 3]),
            Self::Square(domain) => (2, Some(domain), [0; 3]),
            Self::RandomBit(domain) => (3, Some(domain), [0; 3]),
            Self::RandomElement(domain) => (4, Some(domain), [0; 3]),
            Self::InputMask { domain, owner } => (5, Some(domain), [owner, 0, 0]),
            Self::MatrixTriple { domain, m, k, n } => (6, Some(domain), [m, k, n]),
            Self::Ot { sender, receiver } => (7, None, [sender, receiver, 0]),
            Self::Function(number) => (8, None, [number as u16, (number >> 16) as u16, 0]),
            Self::Masks { words } => (9, None, [words as u16, (words >> 16) as u16, 0]),
            Self::Scaling { length } => (10, None, [length, 0, 0]),
        };
        let domain = domain.map_or(0, Domain::code);
        tag << 56 | u64::from(domain) << 48 | u64::from(a) << 32 | u64::from(b) << 16 | u64::from(c)
    }

    /// The kind of a [code](Self::code), if it is one.
    pub fn from_code(code: u64) -> Option<Self> {
        let [tag, domain] = [code >> 56, code >> 48 & 0xff];
        let [a, b, c] = [32, 16, 0].map(|shift| (code >> shift) as u16);
        let domain = Domain::from_code(domain as u8)?;
        let kind = match tag {
            1 => Self::Triple(domain),
            2 => Self::Square(domain),
            3 => Self::RandomBit(domain),
            4 => Self::RandomElement(domain),
            5 => Self::InputMask { domain, owner: a },
            6 => Self::MatrixTriple { domain, m: a, k: b, n: c },
            7 => Self::Ot { sender: a, receiver: b },
            8 => Self::Function(u32::from(b) << 16 | u32::from(a)),
            9 => Self::Masks { words: u32::from(b) << 16 | u32::from(a) },
            10 => Self::Scaling { length: a },
            _ => return None,
        };
        (kind.code() == code).then_some(kind)
    }

    /// Bytes of an item's parts in memory; none if items have no length of their own.
    pub fn part_bytes(self) -> Vec<usize> {
        let elements = |domain: Domain, count: usize| match domain {
            Domain::Bits => 8 * count,
            other => bytes_of(other, count),
        };
        match self {
            Self::Triple(domain) => vec![elements(domain, 1); 3],
            Self::Square(domain) => vec![elements(domain, 1); 2],
            Self::RandomBit(domain) | Self::RandomElement(domain) | Self::InputMask { domain, .. } => {
                vec![elements(domain, 1)]
            }
            Self::MatrixTriple { domain, m, k, n } => {
                let [m, k, n] = [m, k, n].map(usize::from);
                [m * k, k * n, m * n].map(|count| elements(domain, count)).to_vec()
            }
            Self::Ot { .. } => vec![16],
            Self::Masks { words } => [1, words, words].map(|words| 8 * words as usize).to_vec(),
            Self::Scaling { length } => [1, length, length].map(|words| 8 * usize::from(words)).to_vec(),
            Self::Function(_) => Vec::new(),
        }
    }

    /// Items that are stored, and used up, together.
    pub fn per_block(self) -> u64 {
        match self {
            Self::MatrixTriple { .. } | Self::Function(_) | Self::Masks { .. } => 1,
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
            Self::Square(domain) => write!(f, "squares of {}", of(domain)),
            Self::RandomBit(domain) => write!(f, "random bits in {}", of(domain)),
            Self::RandomElement(domain) => write!(f, "random elements of {}", of(domain)),
            Self::InputMask { domain, owner } => write!(f, "masks of {} of endpoint {owner}", of(domain)),
            Self::MatrixTriple { domain, m, k, n } => {
                write!(f, "{m}x{k}x{n} matrix triples of {}", of(domain))
            }
            Self::Ot { sender, receiver } => write!(f, "oblivious transfers from {sender} to {receiver}"),
            Self::Masks { words } => write!(f, "masks of {words} words for branches"),
            Self::Scaling { length } => write!(f, "products of a bit with {length} bits"),
            Self::Function(number) => write!(f, "material of function {number}"),
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
            (SupplyKind::Square(Modulus::Prime128.domain()), 0x0282_0000_0000_0000),
            (SupplyKind::Triple(Modulus::Gf128.domain()), 0x0183_0000_0000_0000),
            (SupplyKind::RandomBit(fp61), 0x0381_0000_0000_0000),
            (SupplyKind::RandomElement(Domain::Ring(Width::W64)), 0x0440_0000_0000_0000),
            (SupplyKind::InputMask { domain: fp61, owner: 0x1234 }, 0x0581_1234_0000_0000),
            (SupplyKind::MatrixTriple { domain: fp61, m: 1, k: 2, n: 3 }, 0x0681_0001_0002_0003),
            (SupplyKind::Ot { sender: 1, receiver: 0 }, 0x0700_0001_0000_0000),
            (SupplyKind::Function(0x1234_5678), 0x0800_5678_1234_0000),
            (SupplyKind::Masks { words: 0x1234_5678 }, 0x0900_5678_1234_0000),
            (SupplyKind::Scaling { length: 0x1234 }, 0x0a00_1234_0000_0000),
        ];
        for (kind, code) in kinds {
            assert_eq!((kind.code(), SupplyKind::from_code(code)), (code, Some(kind)), "{kind}");
        }
        for wrong in
            [0, 1, 0x0100_0000_0000_0001, 0x0184 << 48, 0x0700_0000_0000_0001, 0x0781 << 48, u64::MAX]
        {
            assert_eq!(SupplyKind::from_code(wrong), None, "{wrong:x}");
        }
    }
}
