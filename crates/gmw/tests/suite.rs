//! The suite among two parties, three and five, with preprocessing in the run. Base OTs take longer than all else, so
//! of many cases few are tried each time. The model tenant with bits (`testkit/tests/tenants.rs`), whose code is the
//! same but for where its triples come from, tries more of them each time, and among two and three all with
//! `make test-long`.

use tacit_gmw::GMW;
use tacit_testkit::conformance::Subject;

fn subject(parties: usize, one_in: usize) -> Subject {
    let file = format!("/../../vectors/wire/gmw-{parties}.txt");
    Subject {
        broadcasts: true,
        baseline: (env!("CARGO_MANIFEST_DIR").to_owned() + &file).into(),
        one_in,
        ..Subject::new(&GMW, parties)
    }
}

mod of_two {
    use crate::subject;
    tacit_testkit::conformance!(subject(2, 300); views: and);
}
mod of_three {
    use crate::subject;
    tacit_testkit::conformance!(subject(3, 2000); long views: and);

    #[test]
    #[ignore = "takes minutes; `make test-long` runs it"]
    fn any_two_together_see_nothing() {
        for corrupt in [[0, 1], [0, 2], [1, 2]] {
            tacit_testkit::conformance::views::operation_seen(&subject(3, 1), "and", &corrupt);
        }
    }
}
/// Among five there are ten pairs that make base OTs in each run.
mod of_five {
    use crate::subject;
    use tacit_testkit::conformance::{cost, equality, robust, views, wire};

    #[test]
    fn random_programs() {
        equality::random_programs(&subject(5, 60), 0..400);
        cost::random_programs(&subject(5, 60), 0..300);
    }

    #[test]
    fn bytes_are_those_of_the_baseline() {
        wire::baseline(&subject(5, 1));
    }

    #[test]
    #[ignore = "takes minutes; `make test-long` runs it"]
    fn death_at_any_point() {
        robust::death_at_any_point(&subject(5, 60));
    }

    #[test]
    #[ignore = "takes minutes; `make test-long` runs it"]
    fn all_but_one_together_see_nothing() {
        views::operation_seen(&subject(5, 1), "and", &[0, 1, 3, 4]);
    }
}
