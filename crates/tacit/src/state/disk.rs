//! What a party keeps as bytes, and back.
//!
//! A share is its domain (a byte), its number of elements (eight), the key that its MACs are under (a byte, and 32 if there is
//! one), and its parts, each with its number, its other holder (255 for none), and as many bytes as the domain and the elements
//! say.

use super::about::About;
use super::versions::{Digests, Version};
use crate::error::Error;
use std::path::Path;
use tacit_engine::{KeptPart, KeptShare};
use tacit_program::plan::Domain;
use tacit_store::{KeptEntry, Malformed};
use zeroize::Zeroizing;

/// What the folder's index holds of a version, besides its name, number and standing.
pub(super) fn entry_bytes(about: &About, digests: &Digests) -> Vec<u8> {
    // Plain data: this can't fail.
    postcard::to_stdvec(&(about, digests)).unwrap_or_default()
}

/// A version as the folder's index has it.
pub(super) fn read_entry(path: &Path, entry: &KeptEntry) -> Result<(String, Version), Error> {
    let read = postcard::take_from_bytes::<(About, Digests)>(&entry.about);
    let (about, digests) = match read {
        Ok(((about, digests), [])) if (&about.name, about.version) == (&entry.name, entry.version) => {
            (about, digests)
        }
        _ => {
            let cause = Malformed::Meaning("it says of a kept value what this program can't read");
            return Err(tacit_store::Error::Sealed { path: path.to_owned(), cause }.into());
        }
    };
    let (standing, bytes) = (entry.standing, entry.bytes);
    Ok((about.name.clone(), Version { about, standing, after: None, digests, bytes, share: None }))
}

/// A share's bytes.
pub(super) fn share_bytes(share: &KeptShare) -> Zeroizing<Vec<u8>> {
    let len = 1 + 8 + 1 + 32 + share.parts.len() * (2 + share.part_bytes());
    // It never moves, and leaves no copy behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(len));
    bytes.push(share.domain.code());
    bytes.extend_from_slice(&(share.cols as u64).to_le_bytes());
    bytes.push(share.key.is_some().into());
    bytes.extend_from_slice(share.key.as_ref().map_or(&[][..], |key| key));
    for part in &share.parts {
        bytes.extend_from_slice(&[part.number, part.other.unwrap_or(NOBODY)]);
        bytes.extend_from_slice(&part.bytes);
    }
    bytes
}

/// A share of its bytes, if they are one's.
pub(super) fn read_share(bytes: &[u8]) -> Option<KeptShare> {
    let (domain, rest) = bytes.split_first()?;
    let (cols, rest) = rest.split_first_chunk()?;
    let (has_key, mut rest) = rest.split_first()?;
    let mut key = None;
    if *has_key == 1 {
        let (own, after) = rest.split_first_chunk()?;
        (key, rest) = (Some(*own), after);
    }
    let cols = usize::try_from(u64::from_le_bytes(*cols)).ok()?;
    // No part is longer than what there is: nor can its length overflow.
    cols.checked_mul(128).filter(|_| cols / 8 <= bytes.len())?;
    let mut share = KeptShare { domain: Domain::from_code(*domain)?, cols, key, parts: Vec::new() };
    while !rest.is_empty() {
        let ([number, other], after) = rest.split_first_chunk()?;
        let (part, after) = after.split_at_checked(share.part_bytes())?;
        let (other, bytes) = ((*other != NOBODY).then_some(*other), Zeroizing::new(part.to_vec()));
        share.parts.push(KeptPart { number: *number, other, bytes });
        rest = after;
    }
    (*has_key <= 1).then_some(share)
}

/// In place of a part's other holder.
const NOBODY: u8 = u8::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::Modulus;
    use tacit_program::plan::Width;

    #[test]
    fn shares_come_back_and_other_bytes_are_none() {
        let widths = Width::ALL.map(Domain::Ring);
        let others = [Modulus::PowerOfTwo(9), Modulus::Mersenne61, Modulus::Prime128].map(Domain::Modular);
        for (at, domain) in widths.into_iter().chain(others).chain([Domain::Bits]).enumerate() {
            let mut share =
                KeptShare { domain, cols: 11, key: (at % 2 == 0).then_some([at as u8; 32]), parts: vec![] };
            for number in [2, 0x82] {
                let bytes = Zeroizing::new(vec![number; share.part_bytes()]);
                share.parts.push(KeptPart { number, other: (number == 2).then_some(1), bytes });
            }
            let bytes = share_bytes(&share);
            assert_eq!(read_share(&bytes), Some(share.clone()));
            for len in 0..bytes.len() {
                assert!(read_share(&bytes[..len]).is_none_or(|read| read.parts.len() < 2), "{len}");
            }
        }
        let mut vast = vec![64];
        vast.extend_from_slice(&u64::MAX.to_le_bytes());
        vast.extend_from_slice(&[0; 9]);
        assert_eq!(read_share(&vast), None);
        vast[1..9].copy_from_slice(&(1_u64 << 60).to_le_bytes());
        assert_eq!(read_share(&vast), None);
        assert_eq!(read_share(&[200, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
