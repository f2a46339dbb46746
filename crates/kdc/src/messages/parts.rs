//! What several messages have: names, ciphertexts, keys that are filled in later.

use crate::der::{Malformed, Reader, field, integer, octets, sequence, tag, text};
use crate::enctype::Enctype;

/// Elements of a list that are read at most.
pub(super) const MAX_LIST: usize = 64;

/// The protocol's version.
pub(super) const PVNO: i64 = 5;

/// A principal's name, without its realm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its type: a hint, which isn't compared.
    pub kind: i32,
    /// Its components.
    pub parts: Vec<String>,
}

impl Name {
    /// The components with slashes between them; `None` if one has a character that a name of this KDC can't have.
    pub fn text(&self) -> Option<String> {
        let fits = |c: char| c.is_ascii_graphic() && !"/@[]\\".contains(c);
        let fit = !self.parts.is_empty()
            && self.parts.iter().all(|part| !part.is_empty() && part.chars().all(fits));
        fit.then(|| self.parts.join("/")).filter(|text| text.len() <= 200)
    }

    /// The name of this text.
    pub fn of_text(text: &str) -> Option<Self> {
        let parts: Vec<String> = text.split('/').map(str::to_owned).collect();
        // NT-PRINCIPAL, or NT-SRV-INST.
        let kind = if parts.len() == 1 { 1 } else { 2 };
        let name = Self { kind, parts };
        name.text().map(|_| name)
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut fields = reader.inside(tag::SEQUENCE)?;
        let kind = fields.field(0)?.int32()?;
        // It is repeated in tickets and replies; those that there are take one byte.
        if !(0..=127).contains(&kind) {
            return Err(Malformed("the type of a name"));
        }
        let mut list = fields.field(1)?.inside(tag::SEQUENCE)?;
        let mut parts = Vec::new();
        while !list.is_empty() && parts.len() < MAX_LIST {
            parts.push(list.text()?);
        }
        list.end()?;
        Ok(Self { kind, parts })
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let parts: Vec<u8> = self.parts.iter().flat_map(|part| text(part)).collect();
        sequence(&[&field(0, &integer(self.kind.into())), &field(1, &sequence(&[&parts]))])
    }
}

/// An EncryptedData.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encrypted<'a> {
    /// The number of its type.
    pub etype: i32,
    /// The version of its key, if it is said.
    pub kvno: Option<i64>,
    /// The ciphertext.
    pub cipher: &'a [u8],
}

impl<'a> Encrypted<'a> {
    /// Reads one.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let mut fields = reader.inside(tag::SEQUENCE)?;
        reader.end()?;
        let etype = fields.field(0)?.int32()?;
        let kvno = fields.optional(1)?.map(|mut kvno| kvno.integer()).transpose()?;
        let cipher = fields.field(2)?.content(tag::OCTETS)?;
        fields.end()?;
        Ok(Self { etype, kvno, cipher })
    }
}

/// An EncryptionKey of zeros.
pub(super) fn no_key(enctype: Enctype) -> Vec<u8> {
    let etype = field(0, &integer(enctype.number().into()));
    sequence(&[&etype, &field(1, &octets(&vec![0; enctype.key_bytes()]))])
}
