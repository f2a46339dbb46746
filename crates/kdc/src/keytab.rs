//! Keytabs (MIT's format, version 0x0502): keys of services, by name.

use crate::der::Malformed;
use crate::enctype::Enctype;
use zeroize::Zeroizing;

/// The first two bytes of a file.
const VERSION: [u8; 2] = [5, 2];

/// A key in a keytab.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// The principal's realm.
    pub realm: String,
    /// Its name, with slashes between components.
    pub name: String,
    /// The key's version.
    pub kvno: u32,
    /// The number of its type, which may be none of [`Enctype`].
    pub etype: i32,
    /// Its bytes.
    pub key: Zeroizing<Vec<u8>>,
}

/// All entries of a file.
///
/// # Errors
/// If it is no keytab of this version.
pub fn read(bytes: &[u8]) -> Result<Vec<Entry>, Malformed> {
    let mut rest = bytes.strip_prefix(&VERSION).ok_or(Malformed("no keytab of version 0x0502"))?;
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let size = i32::from_be_bytes(take(&mut rest)?);
        let count = size.unsigned_abs() as usize;
        let (entry, behind) = rest.split_at_checked(count).ok_or(CUT)?;
        rest = behind;
        // A negative size is that of a hole.
        if size > 0 {
            entries.push(read_entry(entry)?);
        }
    }
    Ok(entries)
}

const CUT: Malformed = Malformed("the keytab is cut");

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (first, behind) = rest.split_first_chunk::<N>().ok_or(CUT)?;
    *rest = behind;
    Ok(*first)
}

fn counted<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Malformed> {
    let count = u16::from_be_bytes(take(rest)?);
    let (first, behind) = rest.split_at_checked(count.into()).ok_or(CUT)?;
    *rest = behind;
    Ok(first)
}

fn read_entry(mut rest: &[u8]) -> Result<Entry, Malformed> {
    let words = |bytes: &[u8]| {
        std::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|_| Malformed("a name in the keytab is no text"))
    };
    let components = u16::from_be_bytes(take(&mut rest)?);
    let realm = words(counted(&mut rest)?)?;
    let mut parts = Vec::new();
    for _ in 0..components {
        parts.push(words(counted(&mut rest)?)?);
    }
    // The type of the name, and when the entry was written.
    take::<8>(&mut rest)?;
    let [short] = take(&mut rest)?;
    let etype = i32::from(i16::from_be_bytes(take(&mut rest)?));
    let key = Zeroizing::new(counted(&mut rest)?.to_vec());
    // Versions above 255 stand behind, where they are there and not zero.
    let long = take(&mut rest).map_or(0, u32::from_be_bytes);
    let kvno = if long == 0 { short.into() } else { long };
    Ok(Entry { realm, name: parts.join("/"), kvno, etype, key })
}

/// A file with these entries.
pub fn write(entries: &[Entry]) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(VERSION.to_vec());
    for entry in entries {
        let parts: Vec<&str> = entry.name.split('/').collect();
        let mut one = Zeroizing::new((parts.len() as u16).to_be_bytes().to_vec());
        for counted in [entry.realm.as_str()].into_iter().chain(parts) {
            one.extend_from_slice(&(counted.len() as u16).to_be_bytes());
            one.extend_from_slice(counted.as_bytes());
        }
        one.extend_from_slice(&1u32.to_be_bytes());
        one.extend_from_slice(&0u32.to_be_bytes());
        one.push(entry.kvno as u8);
        one.extend_from_slice(&(entry.etype as u16).to_be_bytes());
        one.extend_from_slice(&(entry.key.len() as u16).to_be_bytes());
        one.extend_from_slice(&entry.key);
        one.extend_from_slice(&entry.kvno.to_be_bytes());
        bytes.extend_from_slice(&(one.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&one);
    }
    bytes
}

/// The newest key of a principal of this type.
pub fn newest<'a>(entries: &'a [Entry], realm: &str, name: &str, enctype: Enctype) -> Option<&'a Entry> {
    let own = entries.iter().filter(|entry| {
        entry.realm == realm && entry.name == name && Enctype::of(entry.etype) == Some(enctype)
    });
    own.max_by_key(|entry| entry.kvno)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(kvno: u32, etype: i32) -> Entry {
        let key = Zeroizing::new(vec![kvno as u8; 16]);
        Entry { realm: "EXAMPLE.COM".into(), name: "host/a.example.com".into(), kvno, etype, key }
    }

    #[test]
    fn keys_are_found_by_name_and_type() {
        let entries = [entry(1, 17), entry(300, 17), entry(301, 18), entry(2, 17)];
        let file = write(&entries);
        let read = read(&file).unwrap();
        assert!(read == entries);
        let found = newest(&read, "EXAMPLE.COM", "host/a.example.com", Enctype::Aes128Sha1).unwrap();
        assert_eq!(found.kvno, 300);
        assert!(newest(&read, "EXAMPLE.COM", "host", Enctype::Aes128Sha1).is_none());
        assert!(newest(&read, "OTHER", "host/a.example.com", Enctype::Aes128Sha1).is_none());
    }

    #[test]
    fn holes_are_left_out_and_cuts_refused() {
        let mut file = write(&[entry(1, 17)]).to_vec();
        let one = file.len();
        file.extend((-5i32).to_be_bytes());
        file.extend([0xff; 5]);
        assert_eq!(read(&file).unwrap().len(), 1);
        for end in (0..file.len()).filter(|end| ![2, one].contains(end)) {
            assert!(read(&file[..end]).is_err(), "{end}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut bytes: Vec<u8>) {
            bytes.splice(0..0, VERSION);
            let _ = read(&bytes);
        }
    }
}
