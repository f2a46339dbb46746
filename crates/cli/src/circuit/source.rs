//! Where a circuit comes from: a name or a file.

use crate::failure::Failure;
use std::path::Path;
use tacit::circuit::{Circuit, bristol, catalogue};

/// The circuit of a name; of a file, if it is nobody's name.
pub(crate) fn load(file: &Path) -> Result<Circuit, Failure> {
    if let Some(circuit) = file.to_str().and_then(catalogue::named) {
        return Ok(circuit);
    }
    let shown = file.display();
    let can_not = |error: std::io::Error| {
        Failure::input(format!("{shown} can't be read, and no circuit is named that (see --list): {error}"))
    };
    // Devices and pipes may have no end.
    if !std::fs::metadata(file).map_err(can_not)?.is_file() {
        return Err(Failure::input(format!("{shown} is no file")));
    }
    let text = std::fs::read(file).map_err(can_not)?;
    bristol::read(&text).map_err(|error| Failure::input(format!("{shown}, {error}")))
}
