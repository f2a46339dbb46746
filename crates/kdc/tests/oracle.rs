//! Keys, encryption and checksums in the clear, beside another implementation of RFCs 3961, 3962 and 8009: kerbcore's.

use kerbcore::KerberosKey;
use proptest::prelude::*;
use tacit_kdc::clear::Key;
use tacit_kdc::enctype::Enctype;

/// The same key here and there.
fn both(enctype: Enctype, bytes: &[u8]) -> (Key, KerberosKey) {
    let there = KerberosKey::from_i32(enctype.number(), bytes.to_vec()).expect("a key of this length");
    (Key::new(enctype, bytes).expect("a key of this length"), there)
}

fn enctype() -> impl Strategy<Value = Enctype> {
    prop::sample::select(Enctype::ALL.to_vec())
}

proptest! {
    #[test]
    fn each_opens_what_the_other_seals(
        enctype in enctype(),
        bytes in prop::array::uniform32(any::<u8>()),
        usage in 1..1024_u32,
        confounder in prop::array::uniform16(any::<u8>()),
        message in prop::collection::vec(any::<u8>(), 1..200),
    ) {
        let (here, there) = both(enctype, &bytes[..enctype.key_bytes()]);
        let sealed = here.seal(usage, confounder, &message);
        prop_assert_eq!(&sealed, &there.encrypt_with_confounder(usage, &confounder, &message));
        let opened = there.decrypt(usage, &sealed).ok();
        prop_assert_eq!(opened.as_ref(), Some(&message));
        let opened = here.open(usage, &there.encrypt(usage, &message));
        prop_assert_eq!(opened.as_ref().map(|opened| &opened[..]), Some(&message[..]));
        prop_assert_eq!(here.checksum(usage, &message), there.checksum(usage, &message));
    }

    #[test]
    fn passwords_make_the_same_keys(
        enctype in enctype(),
        password in "\\PC{0,80}",
        salt in prop::collection::vec(any::<u8>(), 0..60),
        iterations in 1..50_u32,
    ) {
        let here = Key::of_password(enctype, password.as_bytes(), &salt, iterations);
        let its = kerbcore::Enctype::from_i32(enctype.number()).expect("it has all of ours");
        let there = KerberosKey::string_to_key(its, &password, &salt, iterations);
        prop_assert_eq!(here.bytes(), there.key());
    }
}
