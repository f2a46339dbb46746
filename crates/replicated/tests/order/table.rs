//! What `replicated-malicious` releases, and what must be where before: the table of its page, as data.
//!
//! Of the proof of `P_i` the left verifier is `P_(i+1)`, the right one `P_(i-1)`. Whatever it says in a step of the proofs
//! after a batch's first is a message to the next party (`PROOF_FORTH`), and a seed in it is for that one.

use super::messages::{PARTIES, is_acceptance, is_and, is_output, is_proof, is_seed};
use tacit_replicated::step;
use tacit_testkit::conformance::order::Release;

/// Of plans whose ANDs are one batch.
pub(crate) const ONE_BATCH: [Release; 5] = [
    Release {
        what: "a seed",
        after: "what the prover sent for ANDs is at the left verifier",
        is: is_seed,
        waits_for: |seed, held| is_and(held) && (held.from, held.to) == (seed.to, (seed.to + 1) % PARTIES),
    },
    Release {
        what: "a seed",
        after: "what the right verifier was sent for ANDs is there",
        is: is_seed,
        waits_for: |seed, held| is_and(held) && held.to == seed.from,
    },
    Release {
        what: "a seed",
        after: "inputs, the prover's among them, are at both verifiers",
        is: is_seed,
        waits_for: |seed, held| held.at.part == step::INPUT && held.to != seed.to,
    },
    Release {
        what: "a seed",
        after: "both verifiers have compared what clients gave",
        is: is_seed,
        waits_for: |seed, held| held.at.part == step::SHARED_INPUT && held.to != seed.to,
    },
    Release {
        what: "an acceptance",
        after: "what others sent this party for ANDs is there",
        is: is_acceptance,
        waits_for: |acceptance, held| is_and(held) && held.to == acceptance.from,
    },
];

/// Of all plans.
pub(crate) const ANY: [Release; 8] = [
    Release {
        what: "a message for an AND",
        after: "this party has compared what clients gave",
        is: is_and,
        waits_for: |and, held| held.at.part == step::SHARED_INPUT && held.to == and.from,
    },
    Release {
        what: "a seed",
        after: "the left verifier's word that it holds the batch is at the right one",
        is: is_seed,
        waits_for: |seed, held| {
            held.at.part == step::PROOF_FORTH && held.to == seed.from && held.at.batch < seed.at.batch
        },
    },
    Release {
        what: "a seed",
        after: "the prover's values of its round are at the right verifier",
        is: is_seed,
        waits_for: |seed, held| {
            held.at.part == step::PROOF_BACK && held.to == seed.from && held.at.batch < seed.at.batch
        },
    },
    Release {
        what: "an acceptance",
        after: "all messages of proofs are at this party",
        is: is_acceptance,
        waits_for: |acceptance, held| is_proof(held) && held.to == acceptance.from,
    },
    Release {
        what: "an output's component for a party, or its digest",
        after: "both others' acceptances are at this party",
        is: |sent| is_output(sent) && sent.to < PARTIES,
        waits_for: |output, held| is_acceptance(held) && held.to == output.from,
    },
    Release {
        what: "an output's component for a client, its digest and this party's acceptance",
        after: "both others' acceptances are at this party",
        is: |sent| is_output(sent) && sent.to >= PARTIES,
        waits_for: |output, held| is_acceptance(held) && held.to == output.from,
    },
    Release {
        what: "an output's component for a client",
        after: "the key that hides it is at P_2 from both others",
        is: |sent| is_output(sent) && sent.from == 2 && sent.to >= PARTIES,
        waits_for: |_, held| held.at.part == step::OUTPUT_KEY,
    },
    Release {
        what: "what verifiers show one another",
        after: "the other one's and the prover's messages of all steps before are there",
        is: |sent| is_proof(sent) && sent.at.batch > 0,
        waits_for: |end, held| is_proof(held) && held.to == end.from && held.at.batch < end.at.batch,
    },
];
