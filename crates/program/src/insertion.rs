//! Sorting by insertion, batch after batch: which rows are compared, and what is public of it.
//!
//! Rows stand in an order that nobody knows, and no two keys are equal. Then the outcome of any comparisons is that of
//! rows in a uniformly random order, whatever the keys are: it can be opened. All that follows from outcomes is here, and is
//! the same for all who know them. How many comparisons there are depends on the number of rows alone.
//!
//! **A phase.** `before = 2^levels - 1` rows are sorted, and others are inserted.
//!
//! 1. *Descent.* Each new row is compared with one of the sorted rows, `levels` times (binary search, [`descend`]). Then it
//!    is known between which of them it belongs: its *gap*, the number of sorted rows before it.
//! 2. *Pairs.* All pairs of new rows of one gap are compared, at once ([`pairs`]).
//! 3. *Merge.* Both together are the order of all rows so far ([`merge`]).
//!
//! The first phase inserts into nothing, so it compares all pairs. For n rows there are about `n (log2 n + 1)` comparisons.
//!
//! **Room for pairs.** The number of pairs varies: new rows, k of them, fall into m + 1 gaps such that each way to divide k
//! into m + 1 numbers is as likely as any other, for all orders of all rows are. The mean is `k (k - 1) / (m + 2)`. There is
//! room for so many more that a phase has more pairs with a probability below 2^-40 (`most_pairs`, whose test derives it).
//! A run in which one has more ends with an error, which tells of the random order alone.

/// Rows that are sorted by comparing all pairs.
const FEW: usize = 128;

/// About the most rows that a first phase has if others follow: 2^9 - 1.
const FIRST_LEVELS: u32 = 9;

/// Twice as many rows so many times in a phase, but for the last one.
const GROWTH_LEVELS: u32 = 3;

/// The same of the last phase, in which there are most comparisons.
const LAST_LEVELS: u32 = 2;

/// Some rows that are inserted at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Rows that are sorted: `2^levels - 1`.
    pub before: usize,
    /// Rows that are sorted afterwards.
    pub after: usize,
    /// How often each of the others is compared with one of those.
    pub levels: u32,
    /// How many pairs of new rows can be compared.
    pub pairs: usize,
}

/// The phases in which `rows` rows are sorted.
pub fn phases(rows: usize) -> Vec<Phase> {
    let mut ends = vec![rows];
    if rows > FEW {
        let mut levels = rows.next_power_of_two().trailing_zeros() - LAST_LEVELS;
        ends.push((1 << levels) - 1);
        while levels > FIRST_LEVELS {
            levels -= GROWTH_LEVELS;
            ends.push((1 << levels) - 1);
        }
    }
    let mut before = 0;
    let phase = |after: usize| {
        let levels = (before + 1_usize).trailing_zeros();
        let pairs = most_pairs(before, after - before);
        let phase = Phase { before, after, levels, pairs };
        before = after;
        phase
    };
    ends.into_iter().rev().map(phase).collect()
}

/// Room for pairs of `new` rows in the gaps of `before` sorted ones, a multiple of 64. If these are none, that is all pairs.
fn most_pairs(before: usize, new: usize) -> usize {
    let all = new * new.saturating_sub(1) / 2;
    let mean = (new as u128 * new.saturating_sub(1) as u128).div_ceil(before as u128 + 2) as usize;
    // Between one and seven rows for each gap.
    let ratio = new.div_ceil(before + 1);
    let slack = (26 * ratio * ratio + 10) * (before + 1).isqrt() + 850 * ratio * ratio + 500;
    all.min(mean + slack).next_multiple_of(64)
}

/// Of each row its number in its group of so many `rows`, and from bit `above` on that of its group.
pub fn places(rows: usize, above: u32, out: &mut [u32]) {
    for (group, places) in out.chunks_mut(rows.max(1)).enumerate() {
        (0..).zip(places).for_each(|(row, place)| *place = (group as u32) << above | row);
    }
}

/// Where rows go from gaps: on by `by` if the bit of a row is set.
pub fn descend(gaps: &[u32], right: &[u64], by: u32, out: &mut [u32]) {
    for (place, (out, gap)) in out.iter_mut().zip(gaps).enumerate() {
        *out = gap + by * (right[place / 64] >> (place % 64) & 1) as u32;
    }
}

/// More pairs, or a gap, than there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// The pairs that are compared of new rows, which have the numbers from `first` on and are in these of `count` gaps: the left
/// ones, and after them the right ones. What is left of `out` is a row with itself, whose outcome is no secret.
///
/// # Errors
/// [`NoRoom`] if `out` is too short.
pub fn pairs(gaps: &[u32], count: usize, first: u32, out: &mut [u32]) -> Result<(), NoRoom> {
    let groups = Groups::new(gaps, count)?;
    let room = out.len() / 2;
    let (lefts, rights) = out.split_at_mut(room);
    let mut at = 0;
    for group in groups.iter() {
        for (place, &left) in group.iter().enumerate() {
            let others = &group[place + 1..];
            let end = at + others.len();
            let (Some(lefts), Some(rights)) = (lefts.get_mut(at..end), rights.get_mut(at..end)) else {
                return Err(NoRoom);
            };
            lefts.fill(first + left);
            rights.iter_mut().zip(others).for_each(|(out, right)| *out = first + right);
            at = end;
        }
    }
    lefts[at..].fill(first);
    rights[at..].fill(first);
    Ok(())
}

/// The order of rows that have these ranks. If they aren't all different places, one is left, which is no row.
pub fn order(ranks: &[u32], out: &mut [u32]) {
    out.fill(u32::MAX);
    for (row, &rank) in (0..).zip(ranks) {
        if let Some(place) = out.get_mut(rank as usize) {
            *place = row;
        }
    }
}

/// The sorted rows and the new ones, in order. `less` has a bit for each of the [`pairs`]: whether the left one is less.
///
/// # Errors
/// [`NoRoom`] if there are more pairs than bits.
pub fn merge(sorted: &[u32], gaps: &[u32], less: &[u64], out: &mut [u32]) -> Result<(), NoRoom> {
    let groups = Groups::new(gaps, sorted.len() + 1)?;
    let first = sorted.len() as u32;
    let (mut pair, mut end) = (0, 0);
    let mut ranks: Vec<u32> = Vec::new();
    for (gap, group) in groups.iter().enumerate() {
        ranks.clear();
        ranks.resize(group.len(), 0);
        for left in 0..group.len() {
            for right in left + 1..group.len() {
                let word = less.get(pair / 64).ok_or(NoRoom)?;
                // The larger one of two has one more before it.
                let left_is_less = (word >> (pair % 64) & 1) as u32;
                ranks[right] += left_is_less;
                ranks[left] += 1 - left_is_less;
                pair += 1;
            }
        }
        let places = out.get_mut(end..end + group.len()).ok_or(NoRoom)?;
        // Outcomes that no order has give two rows one place: then a place is left, which is no row.
        places.fill(u32::MAX);
        for (&row, &rank) in group.iter().zip(&ranks) {
            places[rank as usize] = first + row;
        }
        end += group.len();
        if let Some(&row) = sorted.get(gap) {
            *out.get_mut(end).ok_or(NoRoom)? = row;
            end += 1;
        }
    }
    Ok(())
}

/// Rows by their gaps.
struct Groups {
    /// Where each gap's rows begin, and the end.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Groups {
    fn new(gaps: &[u32], count: usize) -> Result<Self, NoRoom> {
        let mut starts = vec![0; count + 2];
        for &gap in gaps {
            // Two places on: one for the end, and one since the next loop moves beginnings to ends.
            *starts.get_mut(gap as usize + 2).ok_or(NoRoom)? += 1;
        }
        for gap in 2..starts.len() {
            starts[gap] += starts[gap - 1];
        }
        let mut rows = vec![0; gaps.len()];
        for (row, &gap) in (0..).zip(gaps) {
            let next = &mut starts[gap as usize + 1];
            rows[*next as usize] = row;
            *next += 1;
        }
        starts.pop();
        Ok(Self { starts, rows })
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.rows[ends[0] as usize..ends[1] as usize])
    }
}

#[cfg(test)]
mod tests;
