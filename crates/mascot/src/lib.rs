//! MASCOT's preprocessing: authenticated triples, input tuples, squares and random bits over the field of 2^128 - 159
//! elements or over GF(2^128), for two parties or more, of whom all but one may deviate at will. All but bits are made in prime
//! fields of 64, 256 and 512 bits, too.
//!
//! Keller, Orsini, Scholl, "MASCOT: Faster Malicious Arithmetic Secure Computation with Oblivious Transfer", CCS 2016. The
//! page `docs/protocols/mascot.md` has the model, the steps, the bounds, the costs, and where this departs from the paper.
//!
//! | what | where | paper |
//! | --- | --- | --- |
//! | everything that a caller asks for | [`Preprocessing`] | `F_Triple` |
//! | shares with MACs | [`Shares`] | `[[x]]` |
//! | exact costs | [`cost`] | section 6.1 |
//! | opened values, and the check of their MACs | `openings` | protocol 2; protocol 3, Open and Check |
//! | MACs of a party's own values | `authenticate`, `macs` | protocol 3, Input |
//! | each party has one share of the key | `bind` | none |
//! | products of shares, by oblivious transfer | `multiply` | protocol 4, Multiply |
//! | random combinations of those | `combine` | protocol 4, Combine |
//! | one of two triples is given up to check the other | `sacrifice` | protocol 4, Sacrifice |
//! | a batch: who sends what, and when | `batch` | protocol 4 |
//! | what is made of fresh values and of triples | `tuples`, `roots` | section 2.1 |
//! | random bits of GF(2^128) | `checked_bits` | none |
//! | triples without MACs, for comparison | [`Passive`] | section 6.1 |
//! | the fields | [`FieldElement`] | |

mod authenticate;
mod batch;
mod bind;
mod checked_bits;
mod coins;
mod combine;
pub mod cost;
mod field;
mod key;
mod macs;
mod multiply;
mod openings;
mod passive;
#[cfg(any(test, feature = "planted"))]
pub mod planted;
#[cfg(not(any(test, feature = "planted")))]
mod planted;
mod preprocessing;
mod roots;
mod sacrifice;
mod secret;
mod shares;
pub mod step;
mod tuples;

pub use field::FieldElement;
pub use passive::{Passive, PassiveTriples};
pub use preprocessing::{BATCH, CHECKED_TOGETHER, Preprocessing, batch_size};
pub use secret::Secret;
pub use shares::{Inputs, Shares, Squares, Triples};
