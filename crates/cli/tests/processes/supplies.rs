//! Benchmarks of what protocols with a dishonest majority are made of.

use crate::{object, tacit};

pub(crate) fn oblivious_transfers_are_measured_over_every_transport() {
    for transport in ["memory", "tcp", "tls"] {
        let object = object(&["bench", "ot", "--quick", "--json", "--k", "3", "--transport", transport]);
        assert_eq!((&object["bench"], &object["k"]), (&"ot".into(), &3.into()));
        let number = |key: &str| object[key].as_f64().expect(key);
        assert!(number("per_second") > 0.0 && number("setup_seconds") > 0.0, "{object}");
        // 42 bits, and what three batches cost besides.
        assert!((5.25..6.0).contains(&number("bytes_per_ot")), "{object}");
    }
    let output = tacit(&["bench", "ot", "--quick", "--k", "9"]);
    assert_eq!(output.status.code(), Some(2), "there are no such trees");
}

pub(crate) fn triples_are_measured_among_two_parties_or_more() {
    for (parties, transport) in [("2", "tcp"), ("3", "tls"), ("4", "memory")] {
        let triples = ["bench", "triples", "--protocol", "mascot", "--parties", parties];
        let object = object(&[&triples[..], &["--quick", "--json", "--transport", transport]].concat());
        assert_eq!((&object["bench"], &object["transport"]), (&"triples".into(), &transport.into()));
        let number = |key: &str| object[key].as_f64().expect(key);
        let parties: f64 = parties.parse().expect("a number");
        // 17,920 bytes to each other party, a share, and what is for a batch.
        let bytes = number("bytes_per_triple") / (parties - 1.0);
        assert!((17_936.0..18_200.0).contains(&bytes), "{object}");
        assert!(number("per_second") > 0.0 && number("setup_seconds") > 0.0, "{object}");
    }
    for field in ["fp64", "fp256", "fp512"] {
        let few = ["--quick", "--count", "20", "--json"];
        let object =
            object(&[&["bench", "triples", "--protocol", "mascot", "--field", field], &few[..]].concat());
        assert!(object["per_second"].as_f64() > Some(0.0), "{field}: {object}");
    }
    for wrong in [&["--protocol", "mascot", "--parties", "1"][..], &["--protocol", "astra"], &[]] {
        let output = tacit(&[&["bench", "triples", "--quick"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}
