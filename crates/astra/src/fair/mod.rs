//! The protocol `astra-fair`: as `astra-malicious`, and all honest parties have the outputs, or nobody has (section
//! 4.3, figure 10, mended).
//!
//! **Offline**, for an instance: `P_0` and `P_1` have `x_1` of every output, and `P_0` and `P_2` have `x_2`. Each pair
//! sends the third party a commitment to its component of all outputs that this party learns, and one to a proof, 128
//! random bits: `r_1` of `P_0` and `P_1`, `r_2` of `P_0` and `P_2`. All randomness comes from the pair's key, so both
//! send the same. A party that is sent two different things aborts, and nothing is lost ([`promise`]).
//!
//! **Online**, after the check of products ([`agree`], [`open`]):
//!
//! 0. `P_0`, if its check passed, says so to both. `P_1` and `P_2`, if their checks passed and they have heard that,
//!    say so to both others.
//! 1. `P_0`, once it has both words, gives both its *verdict*.
//! 2. `P_1` and `P_2`, once they have that and the other's word, tell each other that they are ready. One that isn't
//!    told stops.
//! 3. `P_1` and `P_2` send `P_0` a commitment to `m` of the outputs that it learns.
//! 4. If both are the same `P_0` says *continue* and opens `x_1` to `P_2` and `x_2` to `P_1`. Otherwise it aborts, with
//!    `r_2` opened to `P_1` and `r_1` to `P_2`.
//! 5. `P_1` tells `P_2` whether it got an abort, with `r_2`; `P_2` tells `P_1`, with `r_1`. One that got an abort from
//!    either stops.
//! 6. `P_1` opens `m` to `P_0` and `x_1` to `P_2`, and `P_2` opens `m` to `P_0` and `x_2` to `P_1`. Each takes, of two
//!    openings, one that fits the commitment: one of the two senders is honest.
//!
//! **What counts as an abort.** An abort of `P_0` to `P_1` counts if it opens the commitment to `r_2`, which `P_1`
//! holds. `P_1` can then convince `P_2`, who drew `r_2`: only `P_0` can have told it. Anything else from `P_0`, and
//! silence, counts as *continue*: an evaluator must not act on what it can't show the other. A lie about it changes
//! nothing, for the liar hasn't the proof.
//!
//! **Why fair.** Nobody has more than two components before it is sent an opening.
//!
//! - *`P_0` corrupt*: it lacks `m`. Only honest parties open `m`, in step 6. Both have passed step 2 (if one stops
//!   there, the other is told nothing and stops, or had stopped before), and they agree in step 5: the same proof
//!   convinces both. Then each opens to the other what it lacks.
//! - *`P_1` corrupt* (or `P_2`): if `P_0` continues, `P_2` learns of no valid abort, and opens; `P_0` has its opening
//!   of `m`, `P_2` that of `x_1` from `P_0`. If `P_0` doesn't continue, it opens nothing, its proof reaches `P_2`, and
//!   `P_1` never has `x_2`. If `P_2` stops before step 2 there is one commitment at most, and `P_0` aborts.
//!
//! The protocol's page has this message by message.
//!
//! **Departures from the paper.** Steps 1 and 2: without them a corrupt `P_0` could make one evaluator's check fail.
//! That one would stop without a proof that it could show, while the other goes on and opens `m` to `P_0`. The silence
//! of `P_0`, which the paper leaves open. `P_0` opens with its *continue*: after that nothing can stop an honest
//! evaluator.
//!
//! **Time.** A party stays to the end once others may count on it: `P_0` from its verdict, evaluators from step 2 on. A
//! party that then fails is left out ([`Mesh::tolerate_failures`](tacit_session::Mesh::tolerate_failures)), and what
//! was sent must reach its receivers before links are cut. Messages between honest parties must come within the limit
//! of silence; waits are multiples of it ([`waits`]).
//!
//! `P_0`'s clock starts with its verdict, when both evaluators have finished computing, and nothing extends it:
//! evaluators take its silence for *continue*. What is opened fits in the receiver's inbox, so that no link is held
//! while another is read ([`room`]).

mod agree;
mod open;
mod promise;
pub(crate) mod room;
pub(crate) mod terms;
mod waits;
