//! The suite for the model tenants, among two parties to twelve.

use std::sync::Arc;

use tacit_circuit::{Given, Layered};
use tacit_engine::{Clear, Protocol, offers_all};
use tacit_program::plan::{
    self, Domain, Form, Local, Modulus, OpKind, Opening, Operand, Plan, Public, Reg, To,
};
use tacit_program::{Builder, Dtype, Recipient, lower};
use tacit_testkit::conformance::cost::check_case;
use tacit_testkit::conformance::views::{self, Conduct};
use tacit_testkit::conformance::{self, Subject};
use tacit_testkit::tenants::{BITS, FIELDS};
use tacit_testkit::{Case, Draws};

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
        longest: usize::MAX,
    }
}

mod bits {
    mod of_two {
        use crate::{BITS, subject};
        tacit_testkit::conformance!(subject(&BITS, 2, 20); views: input circuit and mul);

        /// Of rows of whole blocks; others are drawn bit by bit.
        #[test]
        fn views_of_long_rows() {
            tacit_testkit::conformance::views::circuits(&subject(&BITS, 2, 1));
        }

        #[test]
        fn views_of_public_inputs() {
            tacit_testkit::conformance::known::views(&subject(&BITS, 2, 1));
        }
    }
    mod of_three {
        use crate::{BITS, subject};
        tacit_testkit::conformance!(subject(&BITS, 3, 20); views: input circuit and mul);

        #[test]
        fn views_of_public_inputs() {
            tacit_testkit::conformance::known::views(&subject(&BITS, 3, 1));
        }
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
        tacit_testkit::conformance!(subject(&FIELDS, 2, 20); views: input circuit mul less truncate);
    }
    mod of_three {
        use crate::{FIELDS, subject};
        tacit_testkit::conformance!(subject(&FIELDS, 3, 20); views: input mul);
    }
    mod of_five {
        use crate::{FIELDS, subject};
        tacit_testkit::conformance!(subject(&FIELDS, 5, 60); views: input);

        #[test]
        #[ignore = "takes minutes; `make test-long` runs it"]
        fn more_views() {
            for name in ["mul", "less"] {
                tacit_testkit::conformance::views::operation(&subject(&FIELDS, 5, 1), name);
            }
        }
    }
    mod of_twelve {
        use crate::{FIELDS, subject};
        tacit_testkit::conformance!(subject(&FIELDS, 12, 300); views: input);

        #[test]
        #[ignore = "takes minutes; `make test-long` runs it"]
        fn more_views() {
            tacit_testkit::conformance::views::operation(&subject(&FIELDS, 12, 1), "mul");
        }
    }
}

/// All that the suite tries: each time it's one in so many.
#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn the_whole_suite() {
    for parties in [2, 3] {
        for tenant in [&BITS as &dyn Protocol, &FIELDS] {
            conformance::whole(&subject(tenant, parties, 1));
        }
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

/// Elements in registers of plans that open something: more than a message of the larger field has.
const COLS: usize = 5000;

/// The square of an input by what is opened of it under a mask, plus a public input; the same at public places; and what
/// is opened of random bits when all is checked.
fn opened_numbers(modulus: Modulus) -> Plan {
    let mut build = plan::Builder::new();
    let owner = build.role("alice");
    let secrets = [(); 12].map(|()| build.row(modulus.domain(), COLS));
    let [x, mask, masked, scaled, product, square, raised, gathered, bits, squared, zero, last] = secrets;
    let [known, places, opened, seen] = [(); 4].map(|()| build.public(modulus.domain(), COLS));
    build.input(owner, x);
    build.public_input("known", known, Form::Elements);
    build.public_input("places", places, Form::Elements);
    build.interact(OpKind::Random { dst: mask, bits: false });
    build.interact(OpKind::Random { dst: bits, bits: true });
    build.local(Local::Add { a: x, b: mask, dst: masked });
    build.interact(OpKind::Open { a: masked, dst: opened, how: Opening::Masked });
    // x (x + r) - x r.
    build.local(Local::MulPublic { a: x, c: Public::Register(opened), dst: scaled });
    build.interact(OpKind::Mul { a: x, b: mask, dst: product });
    build.local(Local::Sub { a: scaled, b: product, dst: square });
    build.local(Local::AddPublic { a: square, c: Public::Register(known), dst: raised });
    build.local(Local::Gather { a: raised, index: places, block: 1, dst: gathered });
    build.interact(OpKind::Mul { a: bits, b: bits, dst: squared });
    build.local(Local::Sub { a: squared, b: bits, dst: zero });
    build.interact(OpKind::Open { a: zero, dst: seen, how: Opening::Verified });
    build.local(Local::AddPublic { a: gathered, c: Public::Register(seen), dst: last });
    build.output(last, To::All);
    build.output(raised, To::One(owner));
    build.finish()
}

/// An input by what is opened of it under a mask and an AND, plus a public one, and what is opened of random bits when all
/// is checked.
fn opened_bits() -> Plan {
    let mut build = plan::Builder::new();
    let owner = build.role("alice");
    let secrets = [(); 10].map(|()| build.bits(1, COLS));
    let [x, mask, masked, scaled, product, again, raised, bits, both, zero] = secrets;
    let [known, opened, seen] = [(); 3].map(|()| build.public(Domain::Bits, COLS));
    let row = |reg: Reg| plan::Rows::one(reg, 0);
    build.input(owner, x);
    build.public_input("known", known, Form::Elements);
    build.interact(OpKind::Random { dst: mask, bits: false });
    build.interact(OpKind::Random { dst: bits, bits: true });
    build.local(Local::Xor { a: row(x), b: row(mask), dst: row(masked) });
    build.interact(OpKind::Open { a: masked, dst: opened, how: Opening::Masked });
    build.local(Local::AndPublic { a: x, c: Public::Register(opened), dst: scaled });
    build.interact(OpKind::And { a: row(x), b: row(mask), dst: row(product) });
    build.local(Local::Xor { a: row(scaled), b: row(product), dst: row(again) });
    build.local(Local::XorPublic { a: again, c: Public::Register(known), dst: raised });
    build.interact(OpKind::And { a: row(bits), b: row(bits), dst: row(both) });
    build.local(Local::Xor { a: row(both), b: row(bits), dst: row(zero) });
    build.interact(OpKind::Open { a: zero, dst: seen, how: Opening::Verified });
    let last = build.bits(1, COLS);
    build.local(Local::XorPublic { a: raised, c: Public::Register(seen), dst: last });
    build.output(last, To::All);
    let chosen = build.bits(1, COLS);
    let inputs = [x, mask, opened, known].map(Operand::Each).to_vec();
    build.interact(OpKind::Circuit { circuit: of_known_bits(), inputs, dst: chosen });
    build.output(chosen, To::All);
    build.finish()
}

/// What is known, or else `x m + x o`, of secret bits `x` and `m` and of `o` and the known bits, which are public: an AND.
fn of_known_bits() -> Arc<Layered> {
    let mut build = tacit_circuit::Builder::new();
    let [x, mask, opened, known] = [(); 4].map(|()| build.input(1)[0]);
    let (secret, public) = (build.and(x, mask), build.and(x, opened));
    let (sum, unknown) = (build.xor(secret, public), build.not(known));
    let other = build.and(sum, unknown);
    let chosen = build.xor(other, known);
    let given = [false, false, true, true].map(|public| Given { late: false, public });
    let circuit = Layered::with_inputs(&build.finish(vec![vec![chosen]]), &given);
    assert_eq!(circuit.ands(), 1);
    Arc::new(circuit)
}

/// Registers that are public, random elements and both kinds of openings, as the engine in the clear has them.
#[test]
fn what_is_opened_and_known_goes_on() {
    let numbers = |seed: u64| (0..COLS as u64).map(|at| at * at * 77 + seed).collect::<Vec<u64>>();
    let places: Vec<u64> = (0..COLS as u64).rev().collect();
    for parties in [2, 3, 5, 12] {
        let wide = |values: &[u64]| values.iter().flat_map(|&low| [low, 0]).collect::<Vec<u64>>();
        let mut cases = [
            Case::new(&FIELDS, parties, opened_numbers(Modulus::Mersenne61), &[numbers(5)]),
            Case::new(&FIELDS, parties, opened_numbers(Modulus::Prime128), &[wide(&numbers(5))]),
            Case::new(&BITS, parties, opened_bits(), &[numbers(5)]),
            Case::new(&FIELDS, parties, opened_numbers(Modulus::Gf128), &[wide(&numbers(5))]),
        ];
        let [small, large] = [Modulus::Mersenne61, Modulus::Prime128].map(Modulus::domain);
        cases[0].public_inputs =
            [numbers(8), places.clone()].map(|words| Clear::from_words(small, &words)).into();
        cases[1].public_inputs =
            [numbers(8), places.clone()].map(|words| Clear::from_words(large, &wide(&words))).into();
        let polynomials = Modulus::Gf128.domain();
        cases[3].public_inputs =
            [numbers(8), places.clone()].map(|words| Clear::from_words(polynomials, &wide(&words))).into();
        cases[2].public_inputs = vec![Clear::from_words(Domain::Bits, &numbers(8))];
        for case in cases {
            let run = case.run_and_compare(&Draws::fixed(1));
            assert!(run.outcomes().iter().all(|outcome| outcome.outputs[0].is_some()), "{parties} parties");
        }
    }
}

/// Sums, products, matrix products and constants in GF(2^128), and what each party gets.
#[test]
fn elements_of_the_second_field_have_sums_and_products() {
    let plan = || {
        let mut build = plan::Builder::new();
        let domain = Modulus::Gf128.domain();
        let [alice, first] = ["alice", "P0"].map(|name| build.role(name));
        let [a, b, sum, raised, scaled, product] = [(); 6].map(|()| build.row(domain, 6));
        let [matrix, total] = [4, 2].map(|cols| build.row(domain, cols));
        build.input(alice, a);
        build.input(first, b);
        build.local(Local::Sub { a, b, dst: sum });
        build.local(Local::AddPublic { a: sum, c: Public::Splat(u128::MAX), dst: raised });
        build.local(Local::MulPublic { a: raised, c: Public::Splat(3 << 126), dst: scaled });
        build.interact(OpKind::Mul { a: scaled, b, dst: product });
        let shape = plan::MatrixShape { batch: 1, m: 2, k: 3, n: 2 };
        build.interact(OpKind::MatMul { a: product, b, shape, dst: matrix });
        build.local(Local::Sum { a: matrix, outer: 1, axis: 2, inner: 2, dst: total });
        build.output(total, To::All);
        build.output(product, To::One(alice));
        build.finish()
    };
    let words = |seed: u64| (0..12_u64).map(|at| (at + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let inputs: [Vec<u64>; 2] = [words(1), words(50)];
    for parties in [2, 3, 5, 12] {
        let case = Case::new(&FIELDS, parties, plan(), &inputs);
        let run = case.run_and_compare(&Draws::fixed(1));
        assert!(run.outcomes().iter().all(|outcome| outcome.outputs[0].is_some()), "{parties} parties");
        check_case(Case::new(&FIELDS, parties, plan(), &inputs), "GF(2^128)");
        let corrupt: Vec<usize> = (1..parties).collect();
        let seen = views::check(&subject(&FIELDS, parties, 1), &case, &corrupt, Conduct::Honest);
        assert!(seen.is_ok_and(|bits| bits > 0), "{parties} parties");
    }
    // In the clear by another way: one product.
    let times = |a: u128, b: u128| Modulus::Gf128.mul(a, b);
    let limbs = |words: &[u64], at: usize| u128::from(words[2 * at + 1]) << 64 | u128::from(words[2 * at]);
    let case = Case::new(&FIELDS, 2, plan(), &inputs);
    let clear = case.run_in_the_clear().expect("nothing can go wrong in the clear").outputs;
    let products = clear[1].as_ref().expect("all is known in the clear").to_words();
    for at in 0..6 {
        let [a, b] = [0, 1].map(|which: usize| limbs(&inputs[which], at));
        assert_eq!(limbs(&products, at), times(times(a ^ b ^ u128::MAX, 3 << 126), b));
    }
    assert!(
        offers_all(BITS.capabilities(), &plan()).is_err_and(|error| error.to_string().contains("GF(2^128)"))
    );
}

/// A plan that opens an input under so many random bits.
fn masked_by(bits: usize) -> Plan {
    let mut build = plan::Builder::new();
    let owner = build.role("alice");
    let domain = Modulus::Prime128.domain();
    let [x, mask, masked, last] = [(); 4].map(|()| build.row(domain, 1));
    let (random, opened) = (build.row(domain, bits), build.public(domain, 1));
    build.input(owner, x);
    build.interact(OpKind::Random { dst: random, bits: true });
    let weights: Vec<u64> = (0..bits).flat_map(|bit| [1_u64 << bit, 0]).collect();
    let shape = plan::MatrixShape { batch: 1, m: 1, k: bits, n: 1 };
    build.local(Local::MatMulPublic { a: random, c: weights.into(), left: true, shape, dst: mask });
    build.local(Local::Add { a: x, b: mask, dst: masked });
    build.interact(OpKind::Open { a: masked, dst: opened, how: Opening::Verified });
    build.local(Local::Constant { value: Public::Register(opened), dst: last });
    build.output(last, To::All);
    build.finish()
}

/// All but the first together see what a mask of few bits leaves of a number up to 8, and nothing under one of many. What the
/// dealer makes of the first one's shares is no message, and so no part of a view.
#[test]
fn a_mask_of_few_bits_is_noticed() {
    for parties in [2, 3, 5] {
        let corrupt: Vec<usize> = (1..parties).collect();
        let seen = |bits: usize| {
            let cases = [0, 8].map(|x| Case::new(&FIELDS, parties, masked_by(bits), &[vec![x, 0]]));
            let [one, other] = &cases;
            views::check_alike(&subject(&FIELDS, parties, 1), [one, other], &corrupt, Conduct::Honest)
        };
        assert_eq!(seen(43), Ok(128), "{parties} parties");
        assert!(seen(2).is_err(), "{parties} parties");
        assert!(seen(1).is_err(), "{parties} parties");
    }
}
