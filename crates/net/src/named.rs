//! A network as a user names it.

use std::fs;
use std::io;
use std::path::Path;
use tacit_wire::{Profile, ProfileError};

/// A text that names no network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownNetwork {
    /// It describes no link, and there is no such file.
    #[error("{0}, or a file")]
    Neither(ProfileError),
    /// The file can't be read.
    #[error("{file}: {cause}")]
    Unreadable {
        /// Which.
        file: String,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The file describes no profile.
    #[error("{file}: {cause}")]
    Wrong {
        /// Which.
        file: String,
        /// What is wrong with it.
        #[source]
        cause: ProfileError,
    },
}

/// Reads what a user names: a shape for all links, or else a file as [`Profile::parse`] reads it.
///
/// # Errors
/// If it is neither, or the file is wrong.
pub fn load_profile(text: &str) -> Result<Profile, UnknownNetwork> {
    let error = match text.parse() {
        Ok(shape) => return Ok(Profile::uniform(shape)),
        Err(error) => error,
    };
    if !Path::new(text).is_file() {
        return Err(UnknownNetwork::Neither(error));
    }
    let file = || text.to_owned();
    let content =
        fs::read_to_string(text).map_err(|cause| UnknownNetwork::Unreadable { file: file(), cause })?;
    Profile::parse(&content).map_err(|cause| UnknownNetwork::Wrong { file: file(), cause })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_wire::Shape;

    #[test]
    fn a_network_is_a_shape_or_a_file() {
        let words = |text: &str| load_profile(text).unwrap_err().to_string();
        assert_eq!(load_profile("lan").unwrap(), Profile::uniform(Shape::LAN));
        let file = std::env::temp_dir().join(format!("tacit-network-{}", std::process::id()));
        let text = file.display().to_string();
        assert!(words(&text).ends_with("or a file"));
        fs::write(&file, "[[pair]]\nbetween = [\"P0\", \"P2\"]\nnet = \"wan\"").unwrap();
        assert_eq!(load_profile(&text).unwrap().between("P2", "P0"), Some(Shape::WAN));
        fs::write(&file, "speed = 1").unwrap();
        let wrong = words(&text);
        assert!(wrong.starts_with(&text) && wrong.contains("speed"), "{wrong}");
        fs::write(&file, [0xff]).unwrap();
        assert!(words(&text).contains("UTF-8"));
        fs::remove_file(&file).unwrap();
    }
}
