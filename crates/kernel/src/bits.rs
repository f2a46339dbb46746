//! Packed bits: 64 to a word, least significant first.
//!
//! **In memory** a row of `cols` bits has [`words`]`(cols)` words or more. **In a message** the rows' bits follow
//! one another without a gap, eight to a byte, and the unused high bits of the last byte are zero.
//!
//! In functions on whole words all slices have the same length; they panic if they haven't.

use crate::cpu;
use crate::layout::Walk;
use std::ops::Range;

/// Words that hold `bits` bits.
pub const fn words(bits: usize) -> usize {
    bits.div_ceil(64)
}

/// `out = a ^ b`.
pub fn xor(a: &[u64], b: &[u64], out: &mut [u64]) {
    zip2(
        a,
        b,
        out,
        #[inline(always)]
        |x, y| x ^ y,
    );
}

/// `out = a & b`.
pub fn and(a: &[u64], b: &[u64], out: &mut [u64]) {
    zip2(
        a,
        b,
        out,
        #[inline(always)]
        |x, y| x & y,
    );
}

/// `out = !a`, unused bits of the last word included: see [`clear_tail`].
pub fn not(a: &[u64], out: &mut [u64]) {
    zip1(
        a,
        out,
        #[inline(always)]
        |x, _| !x,
    );
}

/// `out ^= a`.
pub fn xor_assign(out: &mut [u64], a: &[u64]) {
    zip1(
        a,
        out,
        #[inline(always)]
        |x, o| o ^ x,
    );
}

/// `out ^= a & b`.
pub fn and_xor(a: &[u64], b: &[u64], out: &mut [u64]) {
    let n = out.len();
    assert!(a.len() == n && b.len() == n, "operands and result have the same length");
    cpu::run(
        #[inline(always)]
        || {
            for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
                *out ^= a & b;
            }
        },
    );
}

/// The lowest bit of each value, packed.
///
/// # Panics
/// If `out` hasn't a word for every 64 values.
pub fn lowest(values: &[u128], out: &mut [u64]) {
    assert_eq!(out.len(), words(values.len()), "a bit for every value");
    cpu::run(
        #[inline(always)]
        || {
            for (word, values) in out.iter_mut().zip(values.chunks(64)) {
                *word = values.iter().enumerate().fold(0, |word, (i, value)| word | (*value as u64 & 1) << i);
            }
        },
    );
}

/// A party's part of an AND of replicated sharings, on top of the mask that `out` holds:
/// `out ^= xi yi ^ xi yp ^ xp yi`, where a party has the shares `xi` and `xp` of x, `yi` and `yp` of y.
///
/// Araki et al. 2016, in the form of Li et al. 2023, section 2.2.2.
pub fn cross(xi: &[u64], xp: &[u64], yi: &[u64], yp: &[u64], out: &mut [u64]) {
    let n = out.len();
    assert!(
        xi.len() == n && xp.len() == n && yi.len() == n && yp.len() == n,
        "shares and masks have the same length"
    );
    cpu::run(
        #[inline(always)]
        || {
            let (xi, xp, yi, yp, out) = (&xi[..n], &xp[..n], &yi[..n], &yp[..n], &mut out[..n]);
            for i in 0..n {
                out[i] ^= (xi[i] & (yi[i] ^ yp[i])) ^ (xp[i] & yi[i]);
            }
        },
    );
}

/// The bit at `index`.
pub fn get(row: &[u64], index: usize) -> bool {
    row[index / 64] >> (index % 64) & 1 == 1
}

/// Sets the bit at `index`.
pub fn set(row: &mut [u64], index: usize, bit: bool) {
    let word = &mut row[index / 64];
    *word = *word & !(1 << (index % 64)) | u64::from(bit) << (index % 64);
}

/// Makes all bits from `cols` on zero.
///
/// # Panics
/// If the row has fewer than `cols` bits.
pub fn clear_tail(row: &mut [u64], cols: usize) {
    let (used, unused) = row.split_at_mut(words(cols));
    unused.fill(0);
    if let (Some(last), 1..) = (used.last_mut(), cols % 64) {
        *last &= (1 << (cols % 64)) - 1;
    }
}

/// Whether all bits of `bytes` from `bits` on are zero: what a receiver asks of a message.
pub fn tail_is_zero(bytes: &[u8], bits: usize) -> bool {
    match bytes.get(bits / 8..) {
        Some([partial, rest @ ..]) => partial >> (bits % 8) == 0 && rest.iter().all(|&byte| byte == 0),
        _ => true,
    }
}

/// Some rows of a stack: `first`, `first + step`, ... (`count` of them).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The first row.
    pub first: usize,
    /// From one row to the next.
    pub step: usize,
    /// How many rows.
    pub count: usize,
}

impl Rows {
    /// The row at `index`.
    pub const fn row(&self, index: usize) -> usize {
        self.first + self.step * index
    }
}

/// Bytes of a message of `count` rows of `width` bits each.
///
/// # Panics
/// If that is beyond the address space.
pub fn packed_len(count: usize, width: usize) -> usize {
    count.checked_mul(width).expect("a message's bits must fit the address space").div_ceil(8)
}

/// Writes columns `cols` of `rows` as a message: row after row without a gap, unused bits of the last byte zero.
/// Row `r` of the stack begins at word `r * stride`. A row may be taken many times (`step` 0).
///
/// # Panics
/// If `cols` or `rows` leave the stack, or `out` hasn't [`packed_len`] bytes.
pub fn pack_rows(src: &[u64], stride: usize, rows: Rows, cols: Range<usize>, out: &mut [u8]) {
    let width = check_columns(stride, &cols);
    assert_eq!(out.len(), packed_len(rows.count, width), "a message has a bit for every column of every row");
    if width < 64 {
        return pack_narrow(src, stride, rows, &cols, out);
    }
    if is_whole(&cols) {
        for (index, out) in out.chunks_exact_mut(width / 8).enumerate() {
            let row = &src[rows.row(index) * stride..][cols.start / 64..cols.end / 64];
            for (out, word) in out.as_chunks_mut().0.iter_mut().zip(row) {
                *out = word.to_le_bytes();
            }
        }
        return;
    }
    if let Some(last) = out.last_mut() {
        *last = 0;
    }
    for index in 0..rows.count {
        let row = &src[rows.row(index) * stride..][..words(cols.end)];
        copy_bits(bytemuck::cast_slice(row), cols.start, out, index * width, width);
    }
}

/// Reads a message that [`pack_rows`] wrote into columns `cols` of `rows`. Other bits stay as they are; unused
/// bits of the last byte are ignored (see [`tail_is_zero`]).
///
/// # Panics
/// If `cols` or `rows` leave the stack, `bytes` hasn't [`packed_len`] bytes, or a row would be written twice.
pub fn unpack_rows(bytes: &[u8], dst: &mut [u64], stride: usize, rows: Rows, cols: Range<usize>) {
    let width = check_columns(stride, &cols);
    assert_eq!(
        bytes.len(),
        packed_len(rows.count, width),
        "a message has a bit for every column of every row"
    );
    assert!(rows.step > 0 || rows.count <= 1, "a row is written once");
    if width < 64 {
        return unpack_narrow(bytes, dst, stride, rows, &cols);
    }
    if is_whole(&cols) {
        for (index, bytes) in bytes.chunks_exact(width / 8).enumerate() {
            let row = &mut dst[rows.row(index) * stride..][cols.start / 64..cols.end / 64];
            for (word, bytes) in row.iter_mut().zip(bytes.as_chunks().0) {
                *word = u64::from_le_bytes(*bytes);
            }
        }
        return;
    }
    for index in 0..rows.count {
        let row = &mut dst[rows.row(index) * stride..][..words(cols.end)];
        copy_bits(bytes, index * width, bytemuck::cast_slice_mut(row), cols.start, width);
    }
}

/// Copies `count` bits of `src` from bit `from` on to `dst` from bit `to` on; other bits stay.
///
/// # Panics
/// If that leaves `src` or `dst`.
pub fn copy(src: &[u64], from: usize, dst: &mut [u64], to: usize, count: usize) {
    copy_bits(bytemuck::cast_slice(src), from, bytemuck::cast_slice_mut(dst), to, count);
}

/// Sets `count` bits of `row` from bit `to` on; other bits stay.
///
/// # Panics
/// If that leaves `row`.
pub fn fill(row: &mut [u64], to: usize, count: usize, bit: bool) {
    let end = to.checked_add(count).expect("bits end inside the address space");
    assert!(words(end) <= row.len(), "bits are filled inside their row");
    let value = u64::from(bit).wrapping_neg();
    let mut at = to;
    while at < end {
        let taken = (64 - at % 64).min(end - at);
        let mask = low_bits(taken) << (at % 64);
        let word = &mut row[at / 64];
        *word = *word & !mask | value & mask;
        at += taken;
    }
}

/// Copies a strided walk over a row of `cols` bits: element `(i_0, i_1, ...)` of `shape`, in row-major order, is
/// bit `offset + sum of i_j * strides[j]`; it goes to `dst` from bit `at` on. Other bits of `dst` stay.
///
/// # Panics
/// If the walk leaves the row, the row its words, or the destination its words.
pub fn copy_strided(
    src: &[u64],
    cols: usize,
    offset: usize,
    shape: &[usize],
    strides: &[isize],
    dst: &mut [u64],
    at: usize,
) {
    assert!(words(cols) <= src.len(), "a row has words for its columns");
    let walk = Walk::new(offset, shape, strides, cols);
    let (run, step) = (walk.run(), walk.step());
    match step {
        1 => walk.for_each_run(|from, to| copy(src, from, dst, at + to, run)),
        0 => walk.for_each_run(|from, to| fill(dst, at + to, run, get(src, from))),
        _ => walk.for_each_run(|from, to| {
            let mut from = from as isize;
            for place in at + to..at + to + run {
                set(dst, place, get(src, from as usize));
                from += step;
            }
        }),
    }
}

/// [`pack_rows`] for rows of less than a word: collected in a word that is written when it is full.
fn pack_narrow(src: &[u64], stride: usize, rows: Rows, cols: &Range<usize>, out: &mut [u8]) {
    let (word, shift, width) = (cols.start / 64, cols.start % 64, cols.len());
    let mut places = out.chunks_mut(8);
    let (mut collected, mut filled) = (0, 0);
    for index in 0..rows.count {
        let row = &src[rows.row(index) * stride..][..words(cols.end)];
        let above = row.get(word + 1).map_or(0, |&next| next << 1 << (63 - shift));
        let bits = row.get(word).map_or(0, |&first| first >> shift | above) & low_bits(width);
        collected |= bits << filled;
        filled += width;
        if filled >= 64 {
            write_word(places.next(), collected);
            filled -= 64;
            collected = bits >> (width - filled);
        }
    }
    write_word(places.next(), collected);
}

/// [`unpack_rows`] for rows of less than a word.
fn unpack_narrow(bytes: &[u8], dst: &mut [u64], stride: usize, rows: Rows, cols: &Range<usize>) {
    let (word, shift, width) = (cols.start / 64, cols.start % 64, cols.len());
    let mask = low_bits(width);
    let mut words_left = bytes.chunks(8).map(word_of);
    let (mut ready, mut count) = (0, 0);
    for index in 0..rows.count {
        let mut bits = ready;
        if count < width {
            let next = words_left.next().unwrap_or(0);
            bits |= next << count;
            ready = next >> (width - count);
            count += 64;
        } else {
            ready >>= width;
        }
        count -= width;
        let row = &mut dst[rows.row(index) * stride..][..words(cols.end)];
        if let Some(first) = row.get_mut(word) {
            *first = *first & !(mask << shift) | (bits & mask) << shift;
        }
        if let Some(next) = row.get_mut(word + 1) {
            let above = |bits: u64| bits >> 1 >> (63 - shift);
            *next = *next & !above(mask) | above(bits & mask);
        }
    }
}

/// Writes a word to up to eight bytes.
fn write_word(place: Option<&mut [u8]>, word: u64) {
    if let Some(place) = place {
        place.copy_from_slice(&word.to_le_bytes()[..place.len()]);
    }
}

/// The number of columns, once they are known to lie in a row.
fn check_columns(stride: usize, cols: &Range<usize>) -> usize {
    assert!(cols.start <= cols.end && words(cols.end) <= stride, "columns lie in a row of {stride} words");
    cols.end - cols.start
}

/// Whether columns are whole words: of few of them a row is copied in less time than a call for it takes.
fn is_whole(cols: &Range<usize>) -> bool {
    cols.start.is_multiple_of(64) && cols.end.is_multiple_of(64)
}

/// A word whose low `count` bits are ones, for `count` from 0 to 64.
fn low_bits(count: usize) -> u64 {
    u64::MAX.checked_shr(64 - count as u32).unwrap_or(0)
}

/// Copies `count` bits between strings of bits that are packed eight to a byte.
fn copy_bits(src: &[u8], mut from: usize, dst: &mut [u8], mut to: usize, mut count: usize) {
    let fits = |bytes: usize, at: usize| at.checked_add(count).is_some_and(|end| end.div_ceil(8) <= bytes);
    assert!(
        fits(src.len(), from) && fits(dst.len(), to),
        "bits are copied from inside a row to inside a row"
    );
    if !to.is_multiple_of(8) && count > 0 {
        let taken = (8 - to % 8).min(count);
        put_bits(dst, to, taken, read_bits(src, from, taken));
        (from, to, count) = (from + taken, to + taken, count - taken);
    }
    let whole = count / 64;
    let target = &mut dst[to / 8..][..whole * 8];
    if from.is_multiple_of(8) {
        target.copy_from_slice(&src[from / 8..][..whole * 8]);
    } else {
        shift_words(&src[from / 8..][..whole * 8 + usize::from(whole > 0)], (from % 8) as u32, target);
    }
    (from, to, count) = (from + whole * 64, to + whole * 64, count % 64);
    put_bits(dst, to, count, read_bits(src, from, count));
}

/// Writes to `target`, whose length is a multiple of 8, the bits of `src` from bit `shift` on, which is from 1 to
/// 7; `src` is a byte longer.
fn shift_words(src: &[u8], shift: u32, target: &mut [u8]) {
    cpu::run(
        #[inline(always)]
        || {
            let above = src.get(1..).unwrap_or_default().chunks_exact(8);
            for ((out, low), high) in target.chunks_exact_mut(8).zip(src.chunks_exact(8)).zip(above) {
                // The two words overlap by seven bytes; where both give a bit they give the same one.
                let word = (word_of(low) >> shift) | (word_of(high) << (8 - shift));
                out.copy_from_slice(&word.to_le_bytes());
            }
        },
    );
}

/// Up to eight bytes as a word.
#[inline(always)]
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The `count` bits, 63 at most, from bit `from` on.
fn read_bits(src: &[u8], from: usize, count: usize) -> u64 {
    if count == 0 {
        return 0;
    }
    let (first, shift) = (from / 8, from % 8);
    let touched = &src[first..(from + count).div_ceil(8)];
    let (low, high) = touched.split_at(touched.len().min(8));
    let high = high.first().map_or(0, |&byte| u64::from(byte) << 8 << (56 - shift));
    (word_of(low) >> shift | high) & low_bits(count)
}

/// Writes the `count` bits, 63 at most, of `value` from bit `to` on; they don't reach into a ninth byte.
fn put_bits(dst: &mut [u8], to: usize, count: usize, value: u64) {
    if count == 0 {
        return;
    }
    let touched = &mut dst[to / 8..(to + count).div_ceil(8)];
    let mask = low_bits(count) << (to % 8);
    let word = word_of(touched) & !mask | value << (to % 8) & mask;
    touched.copy_from_slice(&word.to_le_bytes()[..touched.len()]);
}

/// `out = f(a, out)`, word by word.
#[inline(always)]
fn zip1(a: &[u64], out: &mut [u64], f: impl Fn(u64, u64) -> u64) {
    assert_eq!(a.len(), out.len(), "operand and result have the same length");
    cpu::run(
        #[inline(always)]
        || {
            for (o, &x) in out.iter_mut().zip(a) {
                *o = f(x, *o);
            }
        },
    );
}

/// `out = f(a, b)`, word by word.
#[inline(always)]
fn zip2(a: &[u64], b: &[u64], out: &mut [u64], f: impl Fn(u64, u64) -> u64) {
    let n = out.len();
    assert!(a.len() == n && b.len() == n, "operands and result have the same length");
    cpu::run(
        #[inline(always)]
        || {
            let (a, b, out) = (&a[..n], &b[..n], &mut out[..n]);
            for i in 0..n {
                out[i] = f(a[i], b[i]);
            }
        },
    );
}

#[cfg(test)]
mod tests;
