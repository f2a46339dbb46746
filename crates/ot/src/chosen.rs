//! OTs of values that the sender chooses, from random OTs: 32 bytes each from the sender.
//!
//! With a random OT's values `k_0` and `k_1` the sender sends `x_0 ^ k_0` and `x_1 ^ k_1`, of which the receiver can open
//! the one that it chose (Beaver 1995). For longer values the keys can be expanded.

/// Bytes of an OT.
pub const BYTES: usize = 32;

/// Masks both values of each OT, and adds them to a message.
///
/// # Security
/// Keys are of [`Form::Random`](crate::Form::Random), and used once.
///
/// # Panics
/// If there aren't as many keys and values of both kinds.
pub fn mask(keys: [&[u128]; 2], values: [&[u128]; 2], message: &mut Vec<u8>) {
    let count = keys[0].len();
    assert!(keys.iter().chain(&values).all(|all| all.len() == count), "two keys and two values for every OT");
    let zeros = keys[0].iter().zip(values[0]);
    for ((k0, x0), (k1, x1)) in zeros.zip(keys[1].iter().zip(values[1])) {
        message.extend_from_slice(&(k0 ^ x0).to_le_bytes());
        message.extend_from_slice(&(k1 ^ x1).to_le_bytes());
    }
}

/// Opens the chosen values where the keys stand.
///
/// # Panics
/// If there aren't 32 bytes and a packed choice for every key.
pub fn open(choices: &[u64], keys: &mut [u128], message: &[u8]) {
    assert_eq!(message.len(), BYTES * keys.len(), "two masked values for every OT");
    assert!(choices.len() >= keys.len().div_ceil(64), "a choice for every OT");
    for (i, (key, pair)) in keys.iter_mut().zip(message.as_chunks::<BYTES>().0).enumerate() {
        let (zero, one) = pair.split_at(16);
        let [zero, one] =
            [zero, one].map(|half| half.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes)));
        let chosen = u128::from(choices[i / 64] >> (i % 64) & 1).wrapping_neg();
        *key ^= zero ^ (zero ^ one) & chosen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_value_is_opened() {
        let ramp = |start: u128| (0..70).map(|i| start * 1000 + i * i).collect::<Vec<u128>>();
        let [k0, k1, x0, x1] = [1, 2, 3, 4].map(ramp);
        let choices = [0x0123_4567_89ab_cdef, 0x2a];
        let bit = |i: usize| choices[i / 64] >> (i % 64) & 1 == 1;
        let mut message = Vec::new();
        mask([&k0, &k1], [&x0, &x1], &mut message);
        assert_eq!(message.len(), 70 * BYTES);
        let mut keys: Vec<u128> = (0..70).map(|i| if bit(i) { k1[i] } else { k0[i] }).collect();
        open(&choices, &mut keys, &message);
        assert!((0..70).all(|i| keys[i] == if bit(i) { x1[i] } else { x0[i] }));
    }
}
