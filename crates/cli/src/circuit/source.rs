//! Where a circuit comes from: a name or a file.

use crate::failure::Failure;
use crate::program::read_file;
use std::path::Path;
use tacit::circuit::{Circuit, bristol, catalogue};

/// The circuit of a name; of a file, if it is nobody's name.
pub(crate) fn load(file: &Path) -> Result<Circuit, Failure> {
    if let Some(circuit) = file.to_str().and_then(catalogue::named) {
        return Ok(circuit);
    }
    let shown = file.display();
    let text = read_file(file, "can't be read, and no circuit is named that (see --list)")?;
    bristol::read(&text).map_err(|error| Failure::input(format!("{shown}, {error}")))
}
