//! Bytes at hardware speed: slices in, slices out.
