//! Writes the seeds of this crate's fuzz targets to `fuzz/corpus`.

use std::fs;
use std::path::Path;
use tacit_kdc::readers;

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, _, seeds) in readers::targets() {
        fs::create_dir_all(corpus.join(name))?;
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(corpus.join(name).join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
