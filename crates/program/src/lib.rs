//! What front ends build and every protocol runs: a closed program of typed tensors, and the plan it is lowered to.

pub mod plan;
