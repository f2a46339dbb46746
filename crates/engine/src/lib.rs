//! The engine interface, the executor and the clear-text engine.
