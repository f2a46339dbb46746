use super::{Style, circuits};
use crate::testing::{Noise, bits, evaluate, number};
use crate::{Builder, Circuit};

const STYLES: [Style; 2] = [Style::Small, Style::Shallow];

#[test]
fn two_words_are_worked_on_at_every_width() {
    for style in STYLES {
        agree(|width| circuits::add(style, width), |x, y, n| vec![mask(x.wrapping_add(y), n)]);
        agree(|width| circuits::subtract(style, width), |x, y, n| vec![mask(x.wrapping_sub(y), n)]);
        agree(|width| circuits::less(style, width), |x, y, _| vec![u128::from(x < y)]);
        agree(
            |width| circuits::less_signed(style, width),
            |x, y, n| vec![u128::from(signed(x, n) < signed(y, n))],
        );
    }
    agree(circuits::equal, |x, y, _| vec![u128::from(x == y)]);
}

#[test]
fn products_agree_with_long_multiplication() {
    for style in STYLES {
        agree(|width| circuits::multiply(style, width), |x, y, n| vec![mask(x.wrapping_mul(y), n)]);
    }
}

#[test]
fn wide_products_agree_with_long_multiplication() {
    let mut noise = Noise(3);
    for style in STYLES {
        for width in [1, 2, 3, 4, 5, 8, 31, 32, 63, 64, 65, 128] {
            let circuit = circuits::multiply_wide(style, width);
            for (x, y) in operands(&mut noise, width) {
                let product = evaluate(&circuit, &[bits(x, width), bits(y, width)]).remove(0);
                assert_eq!(product, wide_product(x, y, width), "{style:?} {width}: {x} * {y}");
            }
        }
    }
}

#[test]
fn words_of_different_widths_have_a_product() {
    for style in STYLES {
        let mut b = Builder::new();
        let (x, y) = (b.input(5), b.input(3));
        let product = super::multiply_wide(&mut b, style, &x, &y);
        let circuit = b.finish(vec![product]);
        for (x, y) in (0..32).flat_map(|x| (0..8).map(move |y| (x, y))) {
            assert_eq!(number(&evaluate(&circuit, &[bits(x, 5), bits(y, 3)])[0]), x * y);
        }
    }
}

#[test]
fn quotients_and_remainders_agree_and_zero_divides_as_documented() {
    let quotient = |x: u128, y: u128, width| match x.checked_div(y) {
        Some(quotient) => vec![quotient, x % y],
        None => vec![mask(u128::MAX, width), x],
    };
    for style in STYLES {
        agree(|width| circuits::divide(style, width), quotient);
    }
}

#[test]
fn a_carry_comes_in_and_goes_out() {
    let mut noise = Noise(5);
    for (style, width) in STYLES.into_iter().flat_map(|style| WIDTHS.map(|width| (style, width))) {
        let circuit = circuits::add_with_carry(style, width);
        for (x, y) in operands(&mut noise, width) {
            for carry in [0, 1] {
                let inputs = [bits(x, width), bits(y, width), bits(carry, 1)];
                let outputs = evaluate(&circuit, &inputs);
                let (low, over) = x.overflowing_add(y);
                let (low, more) = low.overflowing_add(carry);
                let left = if width < 128 { low >> width == 1 } else { over | more };
                assert_eq!(number(&outputs[0]), mask(low, width), "{style:?} {width}: {x} + {y} + {carry}");
                assert_eq!(outputs[1], [left], "{style:?} {width}: {x} + {y} + {carry}");
            }
        }
    }
}

#[test]
fn one_word_is_negated_and_its_bits_are_counted() {
    let mut noise = Noise(7);
    for (style, width) in STYLES.into_iter().flat_map(|style| WIDTHS.map(|width| (style, width))) {
        let (negate, popcount) = (circuits::negate(style, width), circuits::popcount(style, width));
        for (x, _) in operands(&mut noise, width) {
            let negated = number(&evaluate(&negate, &[bits(x, width)])[0]);
            assert_eq!(negated, mask(x.wrapping_neg(), width), "{style:?} {width}: {x}");
            let count = number(&evaluate(&popcount, &[bits(x, width)])[0]);
            assert_eq!(count, u128::from(x.count_ones()), "{style:?} {width}: {x}");
        }
    }
}

#[test]
fn many_words_are_summed() {
    let mut noise = Noise(11);
    for style in STYLES {
        for (words, width) in [(1, 3), (2, 2), (3, 1), (3, 65), (4, 32), (5, 32), (7, 64), (9, 8), (20, 5)] {
            let circuit = circuits::sum(style, width, words);
            for _ in 0..20 {
                let terms: Vec<u128> = (0..words).map(|_| noise.number(width)).collect();
                let inputs: Vec<_> = terms.iter().map(|&term| bits(term, width)).collect();
                let sum = number(&evaluate(&circuit, &inputs)[0]);
                assert_eq!(sum, mask(terms.iter().sum(), width), "{style:?}: {terms:?}");
            }
        }
        assert_eq!(circuits::sum(style, 8, 0).output_bits(), 0);
    }
}

#[test]
fn signs_of_sums_are_masked() {
    let mut noise = Noise(43);
    for (words, width, masks, ands) in [
        (1, 1, 1, 0),
        (2, 1, 0, 0),
        (2, 5, 1, 4),
        (3, 1, 2, 0),
        (3, 2, 2, 1),
        (2, 32, 1, 31),
        (2, 64, 2, 63),
        (3, 32, 2, 61),
        (3, 64, 2, 125),
        (3, 65, 2, 127),
    ] {
        let circuit = circuits::masked_msb(width, words, masks);
        assert_eq!(circuit.ands(), ands, "{words} words of {width} bits");
        for case in 0..40 {
            let terms: Vec<u128> = (0..words).map(|_| noise.number(width)).collect();
            let mut inputs: Vec<_> = terms.iter().map(|&term| bits(term, width)).collect();
            inputs.extend((0..masks).map(|mask| bits(case >> mask & 1, 1)));
            let mask = (0..masks).fold(0, |all, mask| all ^ case >> mask & 1);
            let sign = terms.iter().sum::<u128>() >> (width - 1) & 1;
            assert_eq!(number(&evaluate(&circuit, &inputs)[0]), sign ^ mask, "{width}: {terms:?}");
        }
    }
    assert_eq!(evaluate(&circuits::masked_msb(8, 0, 0), &[]), [[false]]);
}

#[test]
fn carries_are_saved_in_a_second_word() {
    let mut noise = Noise(41);
    for (words, width) in [(1, 8), (2, 8), (3, 1), (3, 64), (4, 33), (6, 32), (11, 16)] {
        let mut b = Builder::new();
        let inputs: Vec<_> = (0..words).map(|_| b.input(width)).collect();
        let rows = super::carry_save(&mut b, &inputs);
        let circuit = b.finish(rows.into());
        if words == 3 {
            assert_eq!((circuit.ands(), circuit.depth()), (width as usize - 1, u32::from(width > 1)));
        }
        for _ in 0..20 {
            let terms: Vec<u128> = (0..words).map(|_| noise.number(width)).collect();
            let inputs: Vec<_> = terms.iter().map(|&term| bits(term, width)).collect();
            let rows = evaluate(&circuit, &inputs);
            let sum = number(&rows[0]) + number(&rows[1]);
            assert_eq!(mask(sum, width), mask(terms.iter().sum(), width), "{terms:?}");
        }
    }
}

#[test]
fn a_bit_selects() {
    let mut noise = Noise(13);
    for width in WIDTHS {
        let circuit = circuits::select(width);
        for (x, y) in operands(&mut noise, width) {
            for (condition, chosen) in [(1, x), (0, y)] {
                let inputs = [bits(x, width), bits(y, width), bits(condition, 1)];
                assert_eq!(number(&evaluate(&circuit, &inputs)[0]), chosen);
            }
        }
    }
}

#[test]
fn words_are_shifted_and_turned() {
    let mut noise = Noise(17);
    for by in [0, 1, 5, 31, 32, 33, 64, 70] {
        let mut b = Builder::new();
        let x = b.input(32);
        let outputs = vec![
            super::shift_left(&mut b, &x, by),
            super::shift_right(&mut b, &x, by),
            super::shift_right_signed(&x, by),
            super::rotate_left(&x, by),
            super::rotate_right(&x, by),
        ];
        let circuit = b.finish(outputs);
        assert_eq!(circuit.ands(), 0);
        for _ in 0..10 {
            let x = noise.word() as u32;
            let results = evaluate(&circuit, &[bits(x.into(), 32)]);
            let expected = [
                u64::from(x).checked_shl(by as u32).unwrap_or(0) as u32,
                x.checked_shr(by as u32).unwrap_or(0),
                (x as i32 >> by.min(31)) as u32,
                x.rotate_left(by as u32 % 32),
                x.rotate_right(by as u32 % 32),
            ];
            assert_eq!(
                results.iter().map(|bits| number(bits) as u32).collect::<Vec<_>>(),
                expected,
                "by {by}"
            );
        }
    }
}

#[test]
fn a_builder_knows_the_rounds_of_its_wires() {
    for style in STYLES {
        let mut b = Builder::new();
        let (x, y) = (b.input(9), b.input(9));
        assert!(x.iter().all(|&wire| b.depth(wire) == 0));
        let product = super::multiply_wide(&mut b, style, &x, &y);
        let known: Vec<u32> = product.iter().map(|&wire| b.depth(wire)).collect();
        let circuit = b.finish(vec![product]);
        let depths = circuit.depths();
        assert_eq!(known, circuit.outputs()[0].iter().map(|&wire| depths[wire as usize]).collect::<Vec<_>>());
    }
}

#[test]
fn words_of_no_bits_are_words() {
    for style in STYLES {
        for circuit in
            [circuits::add(style, 0), circuits::multiply_wide(style, 0), circuits::divide(style, 0)]
        {
            assert_eq!((circuit.output_bits(), circuit.ands()), (0, 0));
        }
        assert_eq!(evaluate(&circuits::less(style, 0), &[vec![], vec![]]), [[false]]);
        assert_eq!(evaluate(&circuits::less_signed(style, 0), &[vec![], vec![]]), [[false]]);
        assert_eq!(circuits::popcount(style, 0).output_bits(), 0);
    }
    assert_eq!(evaluate(&circuits::equal(0), &[vec![], vec![]]), [[true]]);
}

#[test]
#[should_panic(expected = "the same width")]
fn words_of_different_widths_have_no_sum() {
    let mut b = Builder::new();
    let (x, y) = (b.input(3), b.input(4));
    super::add(&mut b, Style::Small, &x, &y);
}

#[test]
fn a_constant_operand_costs_less() {
    let mut b = Builder::new();
    let x = b.input(32);
    let y = super::constant(&mut b, 1 << 31, 32);
    let sum = super::add(&mut b, Style::Small, &x, &y);
    assert_eq!(b.finish(vec![sum]).ands(), 0, "only the highest bit is added to");
}

/// An operation, and its ANDs and depth for words of 8, 32 and 64 bits.
type Costs = (fn(Style, u32) -> Circuit, [(usize, usize); 3]);

#[test]
fn costs_are_as_documented() {
    let cost = |circuit: &Circuit| (circuit.ands(), circuit.depth() as usize);
    let small = Style::Small;
    for n in [1_usize, 2, 3, 7, 8, 32, 63, 64, 65] {
        let width = n as u32;
        assert_eq!(cost(&circuits::add(small, width)), (n - 1, n - 1));
        assert_eq!(cost(&circuits::subtract(small, width)), (n - 1, n - 1));
        assert_eq!(cost(&circuits::add_with_carry(small, width)), (n, n));
        assert_eq!(cost(&circuits::negate(small, width)), (n.saturating_sub(2), n.saturating_sub(2)));
        assert_eq!(cost(&circuits::less(small, width)), (n, n));
        assert_eq!(cost(&circuits::less_signed(small, width)), (n, n));
        assert_eq!(cost(&circuits::equal(width)), (n - 1, log(n)));
        assert_eq!(cost(&circuits::select(width)), (n, 1));
        assert_eq!(cost(&circuits::multiply(small, width)), (n * n - n + 1, n.max(2) - 1));
        assert_eq!(cost(&circuits::multiply_wide(small, width)), (2 * n * n - n, 2 * n - 1));
        assert_eq!(circuits::divide(small, width).ands(), (n * n + 3 * n - 3).max(2));
        assert_eq!(circuits::popcount(small, width).ands(), n - n.count_ones() as usize);
    }
    let shallow: [Costs; 9] = [
        (circuits::add, [(19, 4), (139, 6), (325, 7)]),
        (circuits::subtract, [(19, 4), (139, 6), (325, 7)]),
        (circuits::add_with_carry, [(25, 4), (149, 6), (337, 7)]),
        (circuits::negate, [(9, 3), (69, 5), (162, 6)]),
        (circuits::less, [(19, 4), (89, 6), (184, 7)]),
        (circuits::less_signed, [(19, 4), (89, 6), (184, 7)]),
        (circuits::multiply, [(66, 6), (1098, 11), (4292, 13)]),
        (circuits::multiply_wide, [(157, 8), (2275, 12), (8723, 14)]),
        (circuits::divide, [(152, 35), (3006, 197), (13_062, 454)]),
    ];
    for (circuit, costs) in shallow {
        assert_eq!([8, 32, 64].map(|width| cost(&circuit(Style::Shallow, width))), costs);
    }
    let sums = |style| [3, 4, 5, 6].map(|words| cost(&circuits::sum(style, 32, words)));
    assert_eq!(sums(Style::Small), [(61, 31), (92, 31), (121, 31), (152, 31)]);
    assert_eq!(sums(Style::Shallow), [(168, 6), (200, 7), (229, 7), (260, 8)]);
    assert_eq!([15, 63, 64].map(|width| circuits::divide(small, width).depth()), [147, 2139, 2205]);
}

#[test]
fn prefix_adders_are_as_shallow_as_their_carries_allow() {
    for n in 1_usize..=130 {
        let width = n as u32;
        let depth = |circuit: Circuit| circuit.depth() as usize;
        assert_eq!(depth(circuits::add_with_carry(Style::Shallow, width)), log(n) + 1, "width {n}");
        assert_eq!(depth(circuits::less(Style::Shallow, width)), log(n) + 1, "width {n}");
        if n > 1 {
            assert_eq!(depth(circuits::add(Style::Shallow, width)), log(n - 1) + 1, "width {n}");
        }
    }
}

/// ceil(log2 n).
fn log(n: usize) -> usize {
    n.next_power_of_two().trailing_zeros() as usize
}

const WIDTHS: [u32; 13] = [1, 2, 3, 4, 5, 8, 16, 31, 32, 63, 64, 65, 128];

/// Whether a circuit of two words gives these outputs: for all operands at small widths, for some at others.
fn agree(circuit: impl Fn(u32) -> Circuit, expected: impl Fn(u128, u128, u32) -> Vec<u128>) {
    let mut noise = Noise(1);
    for width in WIDTHS {
        let circuit = circuit(width);
        for (x, y) in operands(&mut noise, width) {
            let outputs = evaluate(&circuit, &[bits(x, width), bits(y, width)]);
            let outputs: Vec<u128> = outputs.iter().map(|bits| number(bits)).collect();
            assert_eq!(outputs, expected(x, y, width), "width {width}: {x}, {y}");
        }
    }
}

fn operands(noise: &mut Noise, width: u32) -> Vec<(u128, u128)> {
    if width <= 5 {
        return (0..1 << width).flat_map(|x| (0..1 << width).map(move |y| (x, y))).collect();
    }
    let most = mask(u128::MAX, width);
    let mut pairs =
        vec![(0, 0), (most, most), (most, 1), (1, most), (most, 0), (0, most), (most >> 1, most / 2 + 1)];
    pairs.extend((0..24).map(|_| (noise.number(width), noise.number(width))));
    let same = noise.number(width);
    pairs.extend([(same, same), (same, same ^ 1)]);
    pairs
}

fn mask(value: u128, width: u32) -> u128 {
    value & u128::MAX.checked_shr(128 - width).unwrap_or(0)
}

fn signed(value: u128, width: u32) -> i128 {
    (value << (128 - width)) as i128 >> (128 - width)
}

/// Bit by bit, for products that no machine word holds.
fn wide_product(x: u128, y: u128, width: u32) -> Vec<bool> {
    let mut product = vec![false; 2 * width as usize];
    for i in (0..width as usize).filter(|&i| x >> i & 1 == 1) {
        let mut carry = false;
        for (j, bit) in product.iter_mut().enumerate().skip(i) {
            let term = j - i < 128 && y >> (j - i) & 1 == 1;
            let count = u8::from(*bit) + u8::from(term) + u8::from(carry);
            (*bit, carry) = (count & 1 == 1, count > 1);
        }
    }
    product
}
