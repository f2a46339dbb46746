//! The vectors of the RFCs.

use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// RFC 3961, appendix A.1.
#[test]
fn n_fold_is_that_of_the_rfc() {
    assert_eq!(n_fold::<8>(b"012345")[..], hex("be072631276b1955"));
    assert_eq!(n_fold::<7>(b"password")[..], hex("78a07b6caf85fa"));
    assert_eq!(n_fold::<8>(b"Rough Consensus, and Running Code")[..], hex("bb6ed30870b7f0e0"));
    assert_eq!(n_fold::<21>(b"password")[..], hex("59e4a8ca7c0385c3c37b3f6d2000247cb6e6bd5b3e"));
    assert_eq!(
        n_fold::<24>(b"MASSACHVSETTS INSTITVTE OF TECHNOLOGY")[..],
        hex("db3b0d8f0b061e603282b308a50841229ad798fab9540c1b")
    );
    assert_eq!(n_fold::<21>(b"Q")[..], hex("518a54a215a8452a518a54a215a8452a518a54a215"));
    assert_eq!(n_fold::<16>(b"kerberos")[..], hex("6b65726265726f737b9b5b2b93132b93"));
}

/// RFC 3962, appendix B, and RFC 8009, appendix A.
#[test]
fn passwords_make_the_keys_of_the_rfcs() {
    let of = |enctype, password: &[u8], salt: &[u8], iterations| {
        Key::of_password(enctype, password, salt, iterations).bytes().to_vec()
    };
    let athena = b"ATHENA.MIT.EDUraeburn";
    for (iterations, short, long) in [
        (
            1,
            "42263c6e89f4fc28b8df68ee09799f15",
            "fe697b52bc0d3ce14432ba036a92e65bbb52280990a2fa27883998d72af30161",
        ),
        (
            2,
            "c651bf29e2300ac27fa469d693bdda13",
            "a2e16d16b36069c135d5e9d2e25f896102685618b95914b467c67622225824ff",
        ),
        (
            1200,
            "4c01cd46d632d01e6dbe230a01ed642a",
            "55a6ac740ad17b4846941051e1e8b0a7548d93b0ab30a8bc3ff16280382b8c2a",
        ),
    ] {
        assert_eq!(of(Enctype::Aes128Sha1, b"password", athena, iterations), hex(short));
        assert_eq!(of(Enctype::Aes256Sha1, b"password", athena, iterations), hex(long));
    }
    // A password longer than a block of the hash function.
    assert_eq!(
        of(Enctype::Aes128Sha1, &[b'X'; 65], b"pass phrase exceeds block size", 1200),
        hex("cb8005dc5f90179a7f02104c0018751d")
    );
    let salt = [&hex("10DF9DD783E5BC8ACEA1730E74355F61")[..], athena].concat();
    assert_eq!(of(Enctype::Aes128Sha256, b"password", &salt, 32768), hex("089BCA48B105EA6EA77CA5D2F39DC5E7"));
}

/// RFC 3962, appendix B.
#[test]
fn stealing_is_that_of_the_rfc() {
    let aes = cts::Aes::new(b"chicken teriyaki");
    let message = b"I would like the General Gau's Chicken, please, and wonton soup.";
    for (count, sealed) in [
        (17, "c6353568f2bf8cb4d8a580362da7ff7f97"),
        (31, "fc00783e0efdb2c1d445d4c8eff7ed2297687268d6ecccc0c07b25e25ecfe5"),
        (32, "39312523a78662d5be7fcbcc98ebf5a897687268d6ecccc0c07b25e25ecfe584"),
        (
            47,
            "97687268d6ecccc0c07b25e25ecfe584b3fffd940c16a18c1b5549d2f838029e39312523a78662d5be7fcbcc98ebf5",
        ),
        (
            48,
            "97687268d6ecccc0c07b25e25ecfe5849dad8bbb96c4cdc03bc103e1a194bbd839312523a78662d5be7fcbcc98ebf5a8",
        ),
        (
            64,
            "97687268d6ecccc0c07b25e25ecfe58439312523a78662d5be7fcbcc98ebf5a84807efe836ee89a526730dbc2f7bc8409dad8bbb96c4cdc03bc103e1a194bbd8",
        ),
    ] {
        assert_eq!(cts::encrypt(&aes, &message[..count]), hex(sealed), "{count}");
        assert_eq!(cts::decrypt(&aes, &hex(sealed)), message[..count], "{count}");
    }
}

/// RFC 8009, appendix A.
#[test]
fn keys_and_ciphertexts_are_those_of_rfc_8009() {
    let key = Key::new(Enctype::Aes128Sha256, &hex("3705D96080C17728A0E800EAB6E0D23C")).unwrap();
    for (kind, derived) in [
        (0x99, "B31A018A48F54776F403E9A396325DC3"),
        (ENCRYPTION, "9B197DD1E8C5609D6E67C3E37C62C72E"),
        (INTEGRITY, "9FDA0E56AB2D85E1569A688696C26A6C"),
    ] {
        assert_eq!(*key.derive(&constant(2, kind)), hex(derived));
    }
    for (plain, confounder, sealed) in [
        (
            "",
            "7E5895EAF2672435BAD817F545A37148",
            "EF85FB890BB8472F4DAB20394DCA781DAD877EDA39D50C870C0D5A0A8E48C718",
        ),
        (
            "000102030405",
            "7BCA285E2FD4130FB55B1A5C83BC5B24",
            "84D7F30754ED987BAB0BF3506BEB09CFB55402CEF7E6877CE99E247E52D16ED4421DFDF8976C",
        ),
        (
            "000102030405060708090A0B0C0D0E0F",
            "56AB21713FF62C0A1457200F6FA9948F",
            "3517D640F50DDC8AD3628722B3569D2AE07493FA8263254080EA65C1008E8FC295FB4852E7D83E1E7C48C37EEBE6B0D3",
        ),
    ] {
        let confounder = hex(confounder).try_into().unwrap();
        assert_eq!(key.seal(2, confounder, &hex(plain)), hex(sealed));
        assert_eq!(*key.open(2, &hex(sealed)).unwrap(), hex(plain));
    }
}

#[test]
fn what_is_changed_or_of_another_usage_is_not_opened() {
    for enctype in Enctype::ALL {
        let key = Key::of_password(enctype, b"secret", b"salt", 2);
        let sealed = key.seal(3, [7; 16], b"what is in it");
        assert_eq!(*key.open(3, &sealed).unwrap(), b"what is in it");
        assert!(key.open(2, &sealed).is_none());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(key.open(3, &changed).is_none(), "{enctype}, byte {at}");
        }
        assert!(key.open(3, &sealed[..20]).is_none());
    }
}
