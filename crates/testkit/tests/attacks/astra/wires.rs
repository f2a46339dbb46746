//! What `P_0` reads from what it is sent, if deltas that are drawn for one product serve two. It does nothing else.

use tacit_astra::planted::Mistake;
use tacit_astra::step;
use tacit_program::plan::{Builder, To};
use tacit_testkit::{Case, Draws, Run};

use super::{SHOWN, and, bit, delivered, knew, mistaken, mistakes};
use crate::table::{Outcome, Version};

/// `P_1`'s `x` and `P_2`'s `y` and `w`; the operands of two ANDs are named by their place among these.
fn two_ands(mistakes: &'static [Mistake], inputs: [u64; 3], operands: [[usize; 2]; 2]) -> Case {
    let mut builder = Builder::new();
    let wires: [u32; 3] = std::array::from_fn(|_| builder.bits(1, 1));
    for (owner, reg) in ["P1", "P2", "P2"].into_iter().zip(wires) {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    for [left, right] in operands {
        let z = builder.bits(1, 1);
        and(&mut builder, [wires[left], wires[right], z]);
        let to = builder.role("P1");
        builder.output(z, To::One(to));
    }
    Case::new(mistaken(mistakes), 3, builder.finish(), &inputs.map(|bit| vec![bit]))
}

/// Secret bits of three inputs, and the masks of these, which `P_0` draws with `P_1` and `P_2`.
fn masks(run: &Run, inputs: [u64; 3]) -> [u64; 3] {
    let links = [(1, 2), (2, 1), (2, 1)];
    std::array::from_fn(|input| {
        let (from, to) = links[input];
        inputs[input] ^ bit(&delivered(run, from, to, step::INPUT, input as u32), 0)
    })
}

/// Operands that `P_1` shows of an operation.
fn shown(run: &Run, op: u32) -> [u64; 2] {
    [0, 1].map(|at| bit(&delivered(run, 1, 0, SHOWN, op), at))
}

/// `y x` and `w x`, whose left operands have the same `delta`: what `P_0` is shown of these differs by `m_y - m_w`.
pub(super) fn shared_delta(version: Version, seed: u64) -> Outcome {
    let mistakes = mistakes(version, &[Mistake::DeltaShared]);
    let guess = |seed: u64| {
        let inputs = [1, seed & 1, seed >> 1 & 1];
        let case = two_ands(mistakes, inputs, [[1, 0], [2, 0]]);
        let run = case.run(&Draws::fixed(seed));
        run.outcomes();
        let [_, mask_y, mask_w] = masks(&run, inputs);
        let ([y, _], [w, _]) = (shown(&run, 0), shown(&run, 1));
        (Some(y ^ w ^ mask_y ^ mask_w), inputs[1] ^ inputs[2])
    };
    knew((40 * seed..40 * seed + 40).map(guess))
}

/// `x y` and `x w` with the same `delta_z`. `P_0` is told `c = delta_x l_y + delta_y l_x + l_x l_y - delta_z` of each. In the sum
/// `delta_z` is gone; where `l_x = 0` and `l_y + l_w = 1`, so is all but a `delta_x`, and `P_0` is shown `m_x + delta_x`.
pub(super) fn shared_result_delta(version: Version, seed: u64) -> Outcome {
    let mistakes = mistakes(version, &[Mistake::ResultDeltaShared]);
    let guess = |seed: u64| {
        let inputs = [seed & 1, 1, 0];
        let case = two_ands(mistakes, inputs, [[0, 1], [0, 2]]);
        let run = case.run(&Draws::fixed(seed));
        run.outcomes();
        let [mask_x, mask_y, mask_w] = masks(&run, inputs);
        if mask_x == 1 || mask_y == mask_w {
            return None;
        }
        let told = [1, 2].map(|from| delivered(&run, from, 0, step::CHECK_PRODUCTS, 0)[0]);
        let sum = u64::from(told[0] ^ told[1]);
        let delta = (sum ^ sum >> 1) & 1;
        // That of the product whose right operand's mask is 1.
        let [x, _] = shown(&run, u32::from(mask_y == 0));
        Some((Some(x ^ delta), inputs[0]))
    };
    knew((160 * seed..160 * seed + 160).filter_map(guess))
}
