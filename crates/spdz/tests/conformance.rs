//! The suite for `mascot` itself, among two parties and three: few runs and short vectors, since each run makes what it takes.
//! The model tenant with MACs (`testkit/tests/macs`), whose code is the same but for where its triples come from, has longer
//! vectors and tries more each time, and all with `make test-long`.

use tacit_spdz::MASCOT;
use tacit_testkit::conformance::Subject;
use tacit_testkit::macs::sorts;

/// Of what the suite tries one in so many, on vectors of a few elements.
fn subject(parties: usize, one_in: usize) -> Subject {
    let longest = if parties == 2 { 3 } else { 1 };
    let file = format!("/../../vectors/wire/mascot-{parties}.txt");
    Subject {
        baseline: (env!("CARGO_MANIFEST_DIR").to_owned() + &file).into(),
        broadcasts: true,
        sorts: sorts::of(parties),
        one_in,
        longest,
        ..Subject::new(&MASCOT, parties)
    }
}

mod of_two {
    use crate::subject;
    tacit_testkit::conformance!(subject(2, 2000); long views: input mul);
}

mod of_three {
    use crate::subject;
    tacit_testkit::conformance!(subject(3, 8000); long views: input mul);
}

/// More of what takes long.
mod more {
    use crate::subject;
    use tacit_testkit::conformance::{equality, robust};

    #[test]
    #[ignore = "takes minutes; `make test-long` runs it"]
    fn messages_altered() {
        robust::every_message_altered(&subject(2, 200));
        robust::every_message_altered(&subject(3, 800));
    }

    #[test]
    #[ignore = "takes minutes; `make test-long` runs it"]
    fn messages_delayed() {
        robust::every_message_delayed(&subject(2, 100));
    }

    #[test]
    #[ignore = "takes minutes; `make test-long` runs it"]
    fn deaths() {
        robust::death_at_any_point(&subject(2, 100));
        robust::death_at_any_point(&subject(3, 400));
    }

    #[test]
    #[ignore = "takes minutes; `make test-long` runs it"]
    fn deviations() {
        robust::random_deviations(&subject(2, 1), 0..100);
        robust::random_deviations(&subject(3, 1), 100..130);
    }

    #[test]
    #[ignore = "takes minutes; `make test-long` runs it"]
    fn random_programs() {
        equality::random_programs(&subject(2, 1), 0..40);
        equality::random_programs(&subject(3, 1), 40..60);
    }
}
