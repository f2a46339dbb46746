//! What an offline phase leaves to an online one.

use tacit_kernel::Buffer;

/// One endpoint's material for one instance of a plan, in the protocol's own form. Secret: wiped when it is dropped.
#[derive(Default)]
pub struct Material(Buffer);

impl Material {
    /// From its bytes.
    pub fn new(bytes: Buffer) -> Self {
        Self(bytes)
    }

    /// A copy of bytes that were kept; the original is the caller's to wipe.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut buffer = Buffer::new(bytes.len());
        buffer.bytes_mut().copy_from_slice(bytes);
        Self(buffer)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// Takes the bytes out, for an engine that works on them where they are.
    pub fn into_buffer(mut self) -> Buffer {
        std::mem::take(&mut self.0)
    }
}

impl std::fmt::Debug for Material {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Material({} bytes)", self.0.len())
    }
}

impl Drop for Material {
    fn drop(&mut self) {
        self.0.wipe();
    }
}
