//! Worlds of parties in one process, attackers and the conformance suite; never shipped.
