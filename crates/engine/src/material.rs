//! What an offline phase leaves to an online one.

use tacit_kernel::Buffer;

/// One endpoint's material for one instance of a plan, in the protocol's own form: some parts, whose bytes follow one
/// another. Secret: wiped when it is dropped.
#[derive(Default)]
pub struct Material(Vec<Buffer>);

impl Material {
    /// From its bytes, or from parts of them.
    pub fn new(parts: Vec<Buffer>) -> Self {
        Self(parts)
    }

    /// A copy of bytes that were kept; the original is the caller's to wipe.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut buffer = Buffer::new(bytes.len());
        buffer.bytes_mut().copy_from_slice(bytes);
        Self(vec![buffer])
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.0.iter().map(Buffer::len).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its bytes, in one piece.
    pub fn into_buffer(self) -> Buffer {
        let len = self.len();
        self.into_parts(&[len]).and_then(|mut parts| parts.pop()).unwrap_or_default()
    }

    /// Its bytes, in parts of these sizes; nothing is copied if it is in such parts. `None` if it has another size.
    pub fn into_parts(mut self, sizes: &[usize]) -> Option<Vec<Buffer>> {
        if self.0.iter().map(Buffer::len).eq(sizes.iter().copied()) {
            return Some(std::mem::take(&mut self.0));
        }
        if sizes.iter().sum::<usize>() != self.len() {
            return None;
        }
        let mut bytes = self.0.iter().flat_map(|part| part.bytes().chunks(CHUNK));
        let mut rest: &[u8] = &[];
        let cut = |&size: &usize| {
            let mut part = Buffer::new(size);
            let mut filled = 0;
            while filled < size {
                if rest.is_empty() {
                    rest = bytes.next().unwrap_or_default();
                }
                let (now, after) = rest.split_at(rest.len().min(size - filled));
                part.bytes_mut()[filled..filled + now.len()].copy_from_slice(now);
                filled += now.len();
                rest = after;
            }
            part
        };
        Some(sizes.iter().map(cut).collect())
    }
}

/// Bytes that are copied at a time.
const CHUNK: usize = 1 << 20;

impl std::fmt::Debug for Material {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Material({} bytes)", self.len())
    }
}

impl Drop for Material {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Buffer::wipe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &[u8]) -> Buffer {
        let mut part = Buffer::new(bytes.len());
        part.bytes_mut().copy_from_slice(bytes);
        part
    }

    #[test]
    fn material_is_its_bytes_whatever_its_parts() {
        let material = || Material::new([&b"abc"[..], b"", b"defgh"].map(part).to_vec());
        assert_eq!(material().into_buffer().bytes(), b"abcdefgh");
        for sizes in [&[3, 0, 5][..], &[8], &[1, 6, 1], &[0, 8], &[4, 4]] {
            let parts = material().into_parts(sizes).unwrap();
            assert!(parts.iter().map(Buffer::len).eq(sizes.iter().copied()));
            assert_eq!(Material::new(parts).into_buffer().bytes(), b"abcdefgh");
        }
        assert!(material().into_parts(&[7]).is_none() && material().into_parts(&[4, 5]).is_none());
        assert!(Material::default().is_empty() && Material::default().into_parts(&[]).is_some());
        assert_eq!(format!("{:?}", material()), "Material(8 bytes)");
    }
}
