//! Makes the seeds of the corpora in `fuzz/corpus` anew. What a fuzzer found has other names and stays.

use std::fs;
use std::path::Path;

use tacit_testkit::fuzz::TARGETS;

fn main() -> std::io::Result<()> {
    let corpora = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"));
    for target in TARGETS {
        let folder = corpora.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, bytes) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:02}")), bytes)?;
        }
    }
    Ok(())
}
