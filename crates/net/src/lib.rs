//! Bytes between parties.
