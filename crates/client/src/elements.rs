//! The types of a domain's elements in memory.

/// Runs `$body` with `$word` as the machine word of a ring.
#[macro_export]
macro_rules! with_word {
    ($width:expr, $word:ident => $body:expr) => {
        match $width {
            tacit_program::plan::Width::W8 => {
                type $word = u8;
                $body
            }
            tacit_program::plan::Width::W16 => {
                type $word = u16;
                $body
            }
            tacit_program::plan::Width::W32 => {
                type $word = u32;
                $body
            }
            tacit_program::plan::Width::W64 => {
                type $word = u64;
                $body
            }
        }
    };
}

/// Runs `$body` with `$element` as the type of a domain's elements in memory: a field's, or the least word that holds
/// them. Of integers modulo 2^n only the low n bits of a word count; what stands above them is as a longer modulus
/// makes it.
#[macro_export]
macro_rules! with_element {
    ($domain:expr, $element:ident => $body:expr) => {{
        use tacit_program::plan::{Domain, Modulus, Width};
        match $domain {
            Domain::Ring(Width::W8) | Domain::Modular(Modulus::PowerOfTwo(0..=8)) => {
                type $element = u8;
                $body
            }
            Domain::Ring(Width::W16) | Domain::Modular(Modulus::PowerOfTwo(9..=16)) => {
                type $element = u16;
                $body
            }
            Domain::Ring(Width::W32) | Domain::Modular(Modulus::PowerOfTwo(17..=32)) => {
                type $element = u32;
                $body
            }
            Domain::Ring(Width::W64) | Domain::Modular(Modulus::PowerOfTwo(33..=64)) => {
                type $element = u64;
                $body
            }
            Domain::Modular(Modulus::PowerOfTwo(65..)) => {
                type $element = u128;
                $body
            }
            Domain::Modular(Modulus::Mersenne61) => {
                type $element = tacit_kernel::field::Fp61;
                $body
            }
            Domain::Modular(Modulus::Prime128) => {
                type $element = tacit_kernel::field::Fp128;
                $body
            }
            Domain::Modular(Modulus::Gf128) => {
                type $element = tacit_kernel::gf128::Gf128;
                $body
            }
            Domain::Bits => unreachable!("lowering gives sums and products registers of numbers"),
        }
    }};
}
