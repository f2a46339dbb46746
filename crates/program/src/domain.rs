//! What registers hold elements of, and the rings of machine words among it.

use crate::modulus::Modulus;

/// The algebraic structure that a register's elements live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Domain {
    /// Bits under XOR and AND, packed 64 to a word, least significant first.
    Bits,
    /// Integers modulo 2^k, for the k of a machine word.
    Ring(Width),
    /// Integers modulo anything else that there is: they have sums and products, and no bits.
    Modular(Modulus),
}

/// The `k` of a ring of integers modulo 2^k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// Modulo 2^8.
    W8,
    /// Modulo 2^16.
    W16,
    /// Modulo 2^32.
    W32,
    /// Modulo 2^64.
    W64,
}

impl Width {
    /// Every width, narrow to wide.
    pub const ALL: [Self; 4] = [Self::W8, Self::W16, Self::W32, Self::W64];

    /// Bits in an element.
    pub const fn bits(self) -> u8 {
        match self {
            Self::W8 => 8,
            Self::W16 => 16,
            Self::W32 => 32,
            Self::W64 => 64,
        }
    }

    /// Bytes in an element.
    pub const fn bytes(self) -> usize {
        self.bits() as usize / 8
    }
}

impl Modulus {
    /// The width, if it is that of machine words: the rings in which numbers and bits can be converted.
    pub fn width(self) -> Option<Width> {
        Width::ALL.into_iter().find(|width| self == Self::PowerOfTwo(width.bits()))
    }

    /// What registers of such elements hold.
    pub fn domain(self) -> Domain {
        self.width().map_or(Domain::Modular(self), Domain::Ring)
    }
}

impl Domain {
    /// Bits that one element takes in a message.
    pub const fn bits(self) -> u64 {
        match self {
            Self::Bits => 1,
            Self::Ring(width) => width.bits() as u64,
            Self::Modular(modulus) => modulus.bits() as u64,
        }
    }

    /// Words of 64 bits that a raw element takes where it stands alone: 1, or 2 for moduli of more than 64 bits.
    pub const fn limbs(self) -> usize {
        self.bits().div_ceil(64) as usize
    }

    /// What its sums and products are reduced by; bits are integers modulo 2.
    pub const fn modulus(self) -> Modulus {
        match self {
            Self::Bits => Modulus::PowerOfTwo(1),
            Self::Ring(width) => Modulus::PowerOfTwo(width.bits()),
            Self::Modular(modulus) => modulus,
        }
    }

    /// A number that stays the same in all versions: 0 of bits, and of others that of their modulus.
    pub const fn code(self) -> u8 {
        match self {
            Self::Bits => 0,
            other => match other.modulus() {
                Modulus::PowerOfTwo(bits) => bits,
                Modulus::Mersenne61 => 129,
                Modulus::Prime128 => 130,
                Modulus::Gf128 => 131,
            },
        }
    }

    /// The domain of a [code](Self::code), if it is one.
    pub fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Bits,
            1..=128 => Modulus::PowerOfTwo(code).domain(),
            129 => Modulus::Mersenne61.domain(),
            130 => Modulus::Prime128.domain(),
            131 => Modulus::Gf128.domain(),
            _ => return None,
        })
    }
}
