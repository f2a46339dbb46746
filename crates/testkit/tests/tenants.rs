//! The suite for the model tenants, among two parties to twelve.

use tacit_engine::Protocol;
use tacit_program::{Builder, Dtype, Recipient, lower};
use tacit_testkit::Case;
use tacit_testkit::conformance::Subject;
use tacit_testkit::conformance::views::{self, Conduct};
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

/// All but one together see nothing of the last one's bits, unless they know the seed that it gave the dealer.
#[test]
fn a_known_seed_is_noticed() {
    for parties in [2, 3, 5, 12] {
        let mut build = Builder::new();
        let last = format!("P{}", parties - 1);
        let bits = build.input(&last, "x", Dtype::Bool, &[3], None).expect("an input of bits");
        let both = build.and(bits, bits).expect("bits have an AND");
        build.reveal(both, Recipient::All).expect("the node is there");
        let program = build.finish().expect("something is revealed");
        let plan = lower(&program, BITS.capabilities()).expect("bits have an AND").plan;
        let case = Case::new(&BITS, parties, plan, &[vec![1, 0, 1]]);
        let others: Vec<usize> = (0..parties - 1).collect();
        let usual = subject(&BITS, parties, 1);
        assert_eq!(views::check(&usual, &case, &others, Conduct::Honest), Ok(6), "{parties} parties");
        let known = Subject { told: |_, _, _| true, ..usual };
        assert!(views::check(&known, &case, &others, Conduct::Honest).is_err(), "{parties} parties");
    }
}
