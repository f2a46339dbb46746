//! What protocols with MACs have in common for attackers: what their messages are for, and what is released after what.

pub mod order;
pub mod sorts;
