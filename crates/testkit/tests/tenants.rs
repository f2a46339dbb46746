//! The suite for the model tenants, among two parties to twelve.

use tacit_engine::Protocol;
use tacit_testkit::conformance::Subject;
use tacit_testkit::tenants::{BITS, FIELDS};

fn subject(protocol: &'static dyn Protocol, parties: usize, one_in: usize) -> Subject {
    let file = format!("/../../vectors/wire/tenants/{}-{parties}.txt", protocol.spec().name);
    Subject {
        protocol,
        parties,
        // Nobody learns another's seed.
        told: |_, _, _| false,
        fresh_masks: false,
        baseline: (env!("CARGO_MANIFEST_DIR").to_owned() + &file).into(),
        broadcasts: true,
        sorts: &[],
        one_in,
    }
}

mod bits {
    mod of_two {
        use crate::{BITS, subject};
        tacit_testkit::conformance!(subject(&BITS, 2, 20); views: input circuit and mul);
    }
    mod of_three {
        use crate::{BITS, subject};
        tacit_testkit::conformance!(subject(&BITS, 3, 20); views: input circuit and mul);
    }
    mod of_five {
        use crate::{BITS, subject};
        tacit_testkit::conformance!(subject(&BITS, 5, 60); views: input circuit and mul);
    }
    mod of_twelve {
        use crate::{BITS, subject};
        tacit_testkit::conformance!(subject(&BITS, 12, 300); views: input circuit and mul);
    }
}

mod fields {
    mod of_two {
        use crate::{FIELDS, subject};
        tacit_testkit::conformance!(subject(&FIELDS, 2, 1); views: input circuit and mul);
    }
    mod of_three {
        use crate::{FIELDS, subject};
        tacit_testkit::conformance!(subject(&FIELDS, 3, 2); views: input circuit and mul);
    }
    mod of_five {
        use crate::{FIELDS, subject};
        tacit_testkit::conformance!(subject(&FIELDS, 5, 6); views: input circuit and mul);
    }
    mod of_twelve {
        use crate::{FIELDS, subject};
        tacit_testkit::conformance!(subject(&FIELDS, 12, 40); views: input circuit and mul);
    }
}
