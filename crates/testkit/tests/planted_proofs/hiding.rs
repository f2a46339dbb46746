//! A mistake planted in what hides outputs' components from clients.

use super::mistaken;
use tacit_engine::Clear;
use tacit_program::plan::{Builder, Domain, OpKind, Rows, To, Width};
use tacit_replicated::planted::{Mistake, Shared};
use tacit_testkit::{Case, Draws};

/// Elements of each output.
const COUNT: usize = 8;

/// A product of two parties' numbers in a ring, and an AND of bits, both for a client.
fn case(mistakes: &'static [Mistake], width: Width) -> Case {
    let mut build = Builder::new();
    let owners = ["P0", "P1"].map(|party| build.role(party));
    let numbers = owners.map(|owner| {
        let reg = build.ring(width, COUNT);
        build.input(owner, reg);
        reg
    });
    let bits = owners.map(|owner| {
        let reg = build.bits(1, COUNT);
        build.input(owner, reg);
        reg
    });
    let (product, both) = (build.ring(width, COUNT), build.bits(1, COUNT));
    build.interact(OpKind::Mul { a: numbers[0], b: numbers[1], dst: product });
    let [a, b, dst] = [bits[0], bits[1], both].map(|reg| Rows::one(reg, 0));
    build.interact(OpKind::And { a, b, dst });
    let carol = build.role("carol");
    build.output(product, To::One(carol));
    build.output(both, To::One(carol));
    let numbers = [vec![0xdb_u64; COUNT], vec![0x6d; COUNT]];
    let bits = [vec![1, 0, 1, 1, 0, 0, 1, 0], vec![1, 1, 0, 1, 0, 1, 1, 0]];
    Case::new(mistaken(mistakes), 3, build.finish(), &[numbers, bits].concat())
}

/// What the client has of both outputs, and what is right.
fn learned(mistakes: &'static [Mistake], width: Width, seed: u64) -> [[Clear; 2]; 2] {
    const CAROL: usize = 3;
    let case = case(mistakes, width);
    let mut run = case.run(&Draws::fixed(seed));
    let outcome = run.endings[CAROL].take().expect("it came").result.expect("nobody objects");
    [outcome.outputs, case.run_in_the_clear().expect("the plan can be run").outputs]
        .map(|outputs| outputs.into_iter().flatten().collect::<Vec<_>>().try_into().expect("two outputs"))
}

/// The masks' sum is zero in the ring of what they hide. Those of numbers that are combined by XOR leave the XOR of the
/// components, which has nothing to do with the number; with bits it is all the same.
#[test]
fn numbers_are_hidden_in_their_ring() {
    for width in Width::ALL {
        for seed in 0..4 {
            let [got, right] = learned(&[], width, seed);
            assert_eq!(got, right, "{width:?}");
        }
        let planted = &[Mistake::Shared(Shared::HiddenByXor)];
        let all: Vec<[Clear; 2]> = (0..4)
            .map(|seed| {
                let [[number, bits], [right, right_bits]] = learned(planted, width, seed);
                assert_eq!(number.domain(), Domain::Ring(width));
                assert_ne!(number, right, "{width:?}");
                assert_eq!(bits, right_bits, "of bits nothing is wrong");
                [number, bits]
            })
            .collect();
        assert!(all[1..].iter().any(|other| other[0] != all[0][0]), "it depends on the components");
    }
}
