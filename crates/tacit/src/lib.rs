//! The public Rust interface: the registry of protocols, local runs and deployments.
