//! What protocols of three parties share that hold two of three components each.
//!
//! **Sharing.** `x = x_0 + x_1 + x_2`, in a ring Z_2^n, in a prime field, or of bits under XOR. The party with *number*
//! `i` holds `x_i` and `x_(i-1)`, and lacks `x_(i+1)`. So components `x_i` are held by the parties with the numbers `i`
//! and `i + 1`. That is replicated secret sharing; masked values with two masks are the same, as far as linear steps,
//! inputs, outputs and the terms of a product go.
//!
//! What a protocol makes of it is its [`Scheme`]: whose number is whose, which component takes public values, and which
//! of a component's two holders sends it.
//!
//! | module | has |
//! | --- | --- |
//! | [`scheme`] | who has which number and sends what |
//! | [`cost`] | what outputs send |
//! | [`messages`] | addresses of inputs and outputs; vectors in pieces |
//! | [`matrices`] | a party's terms of a product of matrices |
//! | [`arithmetic`] | sums and products of bits and of numbers, as values |
//! | [`party`] | a party's two components of every register |
//! | [`products`] | a party's part of ANDs, products and products of matrices |
//! | [`circuits`] | the ANDs of a circuit's layer, and what it reads |
//! | [`conversions`] | from numbers to bits and back |
//! | [`outputs`] | what opens an output, and what confirms it |
//! | [`hiding`] | the key that hides components from clients |
//! | [`client`] | a client's half |
//! | [`refresh`](mod@refresh) | fresh shares of what stays |

pub mod arithmetic;
pub mod circuits;
pub mod client;
pub mod conversions;
pub mod cost;
pub mod hiding;
pub mod matrices;
pub mod messages;
pub mod outputs;
pub mod party;
#[cfg(feature = "planted")]
pub mod planted;
#[cfg(not(feature = "planted"))]
mod planted;
pub mod products;
pub mod refresh;
pub mod scheme;
pub mod step;

pub use arithmetic::Arithmetic;
pub use client::ComponentsClient;
pub use party::Party;
pub use refresh::{refresh, same};
pub use scheme::{PARTIES, Scheme, next, prev};
