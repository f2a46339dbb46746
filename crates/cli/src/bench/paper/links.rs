//! The networks of papers, which links are held to.

use crate::failure::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use tacit::advanced::net::load_profile;

/// What links are held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Links {
    /// All alike, as `--net` takes it.
    Alike(&'static str),
    /// Seconds and bits a second of the pairs `P_0` and `P_1`, `P_1` and `P_2`, `P_0` and `P_2`.
    Pairs { name: &'static str, rtt: [f64; 3], bits: [f64; 3] },
}

impl Links {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Alike(name) | Self::Pairs { name, .. } => name,
        }
    }

    /// Round trips of the pairs, where they have their own.
    pub(super) const fn round_trips(self) -> Option<[f64; 3]> {
        match self {
            Self::Alike(_) => None,
            Self::Pairs { rtt, .. } => Some(rtt),
        }
    }

    /// What the links of one party of so many carry together, where all are alike, in 10^9 bits a second.
    pub(super) fn gbit(self, parties: usize) -> Option<f64> {
        let Self::Alike(net) = self else { return None };
        let shape = load_profile(net).ok()?.between("P0", "P1")?;
        Some(1e-9 * shape.bandwidth as f64 * (parties - 1) as f64)
    }

    /// As a file for `--net`.
    pub(super) fn to_toml(rtt: [f64; 3], bits: [f64; 3]) -> String {
        let pairs = [("P0", "P1"), ("P1", "P2"), ("P0", "P2")];
        let pair = |((one, other), (rtt, bits)): ((&str, &str), (f64, f64))| {
            let (rtt, bits) = (rtt * 1e3, bits / 1e6);
            format!("[[pair]]\nbetween = [\"{one}\", \"{other}\"]\nnet = \"{rtt}ms,{bits}mbit\"\n")
        };
        pairs.into_iter().zip(rtt.into_iter().zip(bits)).map(pair).collect()
    }
}

/// Where the networks' files are while the experiments run.
pub(super) struct NetFiles(PathBuf);

impl NetFiles {
    pub(super) fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("tacit-bench-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| unwritten(&path, &error))?;
        Ok(Self(path))
    }

    /// What `--net` takes for these links.
    pub(super) fn argument(&self, links: Links) -> Result<String, Failure> {
        let (name, rtt, bits) = match links {
            Links::Alike(name) => return Ok(name.to_owned()),
            Links::Pairs { name, rtt, bits } => (name, rtt, bits),
        };
        let path = self.0.join(format!("{}.toml", name.replace([' ', ',', '/'], "-")));
        fs::write(&path, Links::to_toml(rtt, bits)).map_err(|error| unwritten(&path, &error))?;
        Ok(path.display().to_string())
    }
}

impl Drop for NetFiles {
    fn drop(&mut self) {
        // Nothing is lost if it stays.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// That a file or folder couldn't be written.
pub(super) fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{} can't be written: {error}", path.display()))
}
