//! What a program asks of those who give inputs, and what those who learn outputs get.

use crate::domain::Width;
use crate::plan::To;
use crate::types::{Dtype, Range};

/// What an owner has to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputType {
    /// The participant that gives it.
    pub owner: String,
    /// What the owner calls it.
    pub name: String,
    /// What its elements are.
    pub kind: Dtype,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// What raw elements may be.
    pub range: Range,
}

/// What all parties have to hold ([`crate::Builder::known`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownType {
    /// What the program calls it.
    pub name: String,
    /// What its elements are.
    pub kind: Dtype,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// What raw elements may be.
    pub range: Range,
}

/// What a recipient gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputType {
    /// Who learns it, by the plan's participants.
    pub to: To,
    /// What its elements are.
    pub kind: Dtype,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// What raw elements can be.
    pub range: Range,
    /// The ring that it comes out of, if it is of machine words; `None` for bools, for other moduli, and where numbers
    /// are bits ([`crate::plan::Form`]).
    pub width: Option<Width>,
    /// The node that it is.
    pub node: u32,
}
