//! What a party's run goes on of what it keeps.

use super::fill::Fill;
use super::values::State;
use crate::kept::Kept;

/// What a party's run of a program that keeps or reads values goes on.
pub struct Residents<'a> {
    /// What the party keeps.
    pub state: &'a mut State,
    /// Which value fills each of the program's slots; all parties say the same.
    pub fill: &'a Fill,
    /// The store that it takes its material or its supplies from, if it takes any.
    pub store: Option<&'a mut Kept>,
}
