//! Speeds of the kernels at every level of this machine: `cargo bench -p tacit-kernel`.

fn main() {}
