use super::*;
use crate::cpu::{at, available};
use crate::layout::tests::{indices, layouts};
use crate::noise::{lengths, noise};
use proptest::prelude::*;

#[test]
fn every_level_agrees_on_whole_words() {
    for length in lengths(64, [0, 1, 3, 7, 8, 9, 64, 1001]) {
        let all = [1, 2, 3, 4, 5].map(|seed| noise::<u64>(seed, length));
        let [a, b, c, d, e] = &all;
        let check = |run: &dyn Fn(&mut [u64]), f: &dyn Fn([u64; 5]) -> u64| {
            let expected: Vec<u64> = (0..length).map(|i| f(all.each_ref().map(|x| x[i]))).collect();
            for level in available() {
                let mut out = e.clone();
                at(level, || run(&mut out));
                assert_eq!(out, expected, "{level:?}");
            }
        };
        check(&|out| xor(a, b, out), &|[a, b, ..]| a ^ b);
        check(&|out| and(a, b, out), &|[a, b, ..]| a & b);
        check(&|out| not(a, out), &|[a, ..]| !a);
        check(&|out| xor_assign(out, a), &|[a, .., e]| e ^ a);
        check(&|out| cross(a, b, c, d, out), &|[a, b, c, d, e]| e ^ (a & c) ^ (a & d) ^ (b & c));
    }
}

#[test]
fn lowest_bits_are_packed_at_every_level() {
    for count in lengths(65, [0, 1, 63, 64, 65, 128, 1001]) {
        let values: Vec<u128> = noise::<u64>(1, 2 * count)
            .chunks(2)
            .map(|pair| u128::from(pair[1]) << 64 | u128::from(pair[0]))
            .collect();
        for level in available() {
            let mut out = vec![u64::MAX; words(count)];
            at(level, || lowest(&values, &mut out));
            let expected = |i: usize| values.get(i).is_some_and(|value| value & 1 == 1);
            assert!((0..64 * out.len()).all(|i| get(&out, i) == expected(i)), "{count} at {level:?}");
        }
    }
}

#[test]
fn tails_are_cleared_and_seen() {
    for cols in [0, 1, 63, 64, 65, 128, 130] {
        let mut row = vec![u64::MAX; 4];
        clear_tail(&mut row, cols);
        assert!((0..256).all(|i| get(&row, i) == (i < cols)), "{cols}");
        assert!(tail_is_zero(bytemuck::cast_slice(&row), cols));
        set(&mut row, cols, true);
        assert!(!tail_is_zero(bytemuck::cast_slice(&row), cols));
    }
    assert!(tail_is_zero(&[], 0));
    assert!(tail_is_zero(&[0xff], 8));
    assert!(!tail_is_zero(&[0xff], 7));
}

/// A message, bit by bit.
fn packed(src: &[u64], stride: usize, rows: Rows, cols: Range<usize>) -> Vec<u8> {
    let mut bytes = vec![0; packed_len(rows.count, cols.len())];
    let bits = (0..rows.count).flat_map(|r| cols.clone().map(move |c| rows.row(r) * stride * 64 + c));
    for (place, bit) in bits.enumerate() {
        bytes[place / 8] |= u8::from(get(src, bit)) << (place % 8);
    }
    bytes
}

fn packs_and_unpacks(stride: usize, rows: Rows, cols: &Range<usize>) {
    let src = noise(stride as u64, stride * (rows.row(rows.count) + 1));
    let expected = packed(&src, stride, rows, cols.clone());
    for level in available() {
        let mut bytes = vec![0xff; expected.len()];
        at(level, || pack_rows(&src, stride, rows, cols.clone(), &mut bytes));
        assert_eq!(bytes, expected, "{rows:?}, {cols:?} at {level:?}");
        assert!(tail_is_zero(&bytes, rows.count * cols.len()));
        if rows.step == 0 {
            continue;
        }
        let before = noise(99, src.len());
        let mut after = before.clone();
        at(level, || unpack_rows(&bytes, &mut after, stride, rows, cols.clone()));
        for bit in 0..64 * src.len() {
            let (row, col) = (bit / 64 / stride, bit % (64 * stride));
            let written = (0..rows.count).any(|r| rows.row(r) == row) && cols.contains(&col);
            let from = if written { &src } else { &before };
            assert_eq!(get(&after, bit), get(from, bit), "row {row}, column {col}: {rows:?}, {cols:?}");
        }
    }
}

#[test]
fn messages_hold_the_rows_without_a_gap() {
    for start in [0, 1, 63, 64] {
        for width in lengths(9, [0, 1, 7, 8, 63, 64, 65, 128, 200]) {
            for rows in [
                Rows { first: 0, step: 1, count: 0 },
                Rows { first: 0, step: 1, count: 1 },
                Rows { first: 1, step: 2, count: 3 },
                Rows { first: 2, step: 0, count: 3 },
            ] {
                packs_and_unpacks(5, rows, &(start..start + width));
            }
        }
    }
}

#[test]
fn a_row_that_begins_late_is_packed_alone() {
    let mut bytes = [0; 2];
    pack_rows(&[0xab << 4, 0], 2, Rows { first: 0, step: 1, count: 1 }, 4..13, &mut bytes);
    assert_eq!(bytes, [0xab, 0]);
}

proptest! {
    #[test]
    fn columns_are_cut_anywhere(
        start in 0_usize..150, width in 0_usize..150, first in 0_usize..3, step in 0_usize..3, count in 0_usize..20,
    ) {
        packs_and_unpacks(5, Rows { first, step, count }, &(start..start + width));
    }

    #[test]
    fn a_copy_moves_its_bits_and_no_other(from in 0_usize..200, to in 0_usize..200, count in 0_usize..200) {
        let (src, before) = (noise(1, 7), noise(2, 7));
        let mut after = before.clone();
        copy(&src, from, &mut after, to, count);
        let mut filled = before.clone();
        fill(&mut filled, to, count, from % 2 == 1);
        for i in 0..7 * 64 {
            let moved = (to..to + count).contains(&i);
            prop_assert_eq!(get(&after, i), if moved { get(&src, i - to + from) } else { get(&before, i) });
            prop_assert_eq!(get(&filled, i), if moved { from % 2 == 1 } else { get(&before, i) });
        }
    }

    #[test]
    fn a_strided_copy_is_its_definition((offset, shape, strides, source) in layouts(), to in 0_usize..130) {
        let (src, before) = (noise(1, words(source)), noise(2, 20));
        let expected = indices(offset, &shape, &strides);
        let mut after = before.clone();
        copy_strided(&src, source, offset, &shape, &strides, &mut after, to);
        for i in 0..20 * 64_usize {
            let from = i.checked_sub(to).and_then(|i| expected.get(i));
            prop_assert_eq!(get(&after, i), from.map_or_else(|| get(&before, i), |&from| get(&src, from)));
        }
    }
}

#[test]
#[should_panic(expected = "has a bit for every column of every row")]
fn a_message_of_another_length_is_refused() {
    unpack_rows(&[0; 4], &mut [0; 4], 2, Rows { first: 0, step: 1, count: 2 }, 0..9);
}

#[test]
#[should_panic(expected = "columns lie in a row of 2 words")]
fn columns_past_the_row_are_refused() {
    pack_rows(&[0; 4], 2, Rows { first: 0, step: 1, count: 1 }, 0..129, &mut [0; 17]);
}

#[test]
#[should_panic(expected = "from inside a row to inside a row")]
fn a_copy_past_the_end_is_refused() {
    copy(&[0; 2], 100, &mut [0; 2], 0, 29);
}

#[test]
#[should_panic(expected = "a row is written once")]
fn writing_a_row_twice_is_refused() {
    unpack_rows(&[0; 2], &mut [0; 4], 2, Rows { first: 0, step: 0, count: 2 }, 0..8);
}
