//! Bytes that are nearly what a reader expects.

use crate::Rng;

/// Bytes at which readers turn.
const BYTES: [u8; 10] = [0, 1, 2, 0x3f, 0x40, 0x7f, 0x80, 0xfe, 0xff, b'"'];
/// Numbers at which readers turn, of up to eight bytes.
const NUMBERS: [u64; 12] =
    [0, 1, 0xff, 0x100, 0xffff, 1 << 28, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 62, 1 << 63, u64::MAX];
/// Texts at which readers of text turn.
const TEXTS: [&str; 14] = [
    "nan",
    "inf",
    "-1",
    "1e999",
    "0.0",
    "99999999999999999999",
    "[",
    "{",
    "\"",
    "=",
    "\n",
    "[[party]]\n",
    "é",
    "\0",
];

/// One of the seeds, changed in one to four places; the same for the same state of the generator.
pub fn mutant(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let Some(mut bytes) = seeds.get(rng.below(seeds.len().max(1))).cloned() else { return Vec::new() };
    for _ in 0..=rng.below(4) {
        // Most changes keep the length: behind others many formats have nothing more to read.
        match rng.below(10) {
            0 => bytes.truncate(place(&bytes, rng)),
            1 => insert(&mut bytes, rng),
            2 => remove(&mut bytes, rng),
            3 => splice(&mut bytes, seeds, rng),
            4..=6 => number(&mut bytes, rng),
            7 => overwrite(&mut bytes, |byte, rng| byte ^ (1 << rng.below(8)), rng),
            8 => overwrite(&mut bytes, |byte, rng| byte.wrapping_add(rng.pick(&[1, 2, 255])), rng),
            _ => overwrite(&mut bytes, |_, rng| rng.pick(&BYTES), rng),
        }
    }
    bytes
}

/// A place from the first byte to behind the last.
fn place(bytes: &[u8], rng: &mut Rng) -> usize {
    rng.below(bytes.len() + 1)
}

/// A run of at most 32 bytes.
fn run(bytes: &[u8], rng: &mut Rng) -> std::ops::Range<usize> {
    let first = place(bytes, rng);
    first..(first + rng.below(33)).min(bytes.len())
}

fn insert(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = place(bytes, rng);
    let new = match rng.below(3) {
        0 => rng.pick(&TEXTS).as_bytes().to_vec(),
        1 => vec![rng.pick(&BYTES); rng.below(70)],
        _ => bytes[run(bytes, rng)].to_vec(),
    };
    bytes.splice(at..at, new);
}

fn remove(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let gone = run(bytes, rng);
    bytes.drain(gone);
}

/// The rest of another seed, from some place on.
fn splice(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut Rng) {
    let other = &seeds[rng.below(seeds.len())];
    let at = place(bytes, rng);
    bytes.truncate(at);
    bytes.extend_from_slice(&other[place(other, rng)..]);
}

/// A little-endian number of 1, 2, 4 or 8 bytes.
fn number(bytes: &mut [u8], rng: &mut Rng) {
    let value = rng.pick(&NUMBERS).to_le_bytes();
    let (at, width) = (place(bytes, rng), rng.pick(&[1, 2, 4, 8]));
    bytes.iter_mut().skip(at).zip(&value[..width]).for_each(|(to, from)| *to = *from);
}

fn overwrite(bytes: &mut [u8], new: fn(u8, &mut Rng) -> u8, rng: &mut Rng) {
    let at = rng.below(bytes.len().max(1));
    if let Some(byte) = bytes.get_mut(at) {
        *byte = new(*byte, rng);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_repeat_and_differ() {
        let seeds = vec![b"some bytes".to_vec(), Vec::new(), vec![7; 100]];
        let made = |seed| -> Vec<Vec<u8>> {
            let mut rng = Rng::new(seed);
            (0..500).map(|_| mutant(&seeds, &mut rng)).collect()
        };
        assert_eq!(made(1), made(1));
        let distinct: std::collections::HashSet<_> = made(1).into_iter().chain(made(2)).collect();
        assert!(distinct.len() > 500, "{}", distinct.len());
        assert!(mutant(&[], &mut Rng::new(1)).is_empty());
    }
}
