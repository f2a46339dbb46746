//! OTs of values that differ as the sender says, from random OTs: one masked value each from the sender (Asharov, Lindell,
//! Schneider, Zohner 2013).
//!
//! With a random OT's values `k_0` and `k_1` the sender's first value is `r = k_0` itself, its second one any function
//! `f(r)`, and it sends `f(r) - k_1`. A receiver that chose 0 has `r` already, one that chose 1 adds `k_1`. So for
//! `f(r) = r + a` the receiver gets `r + c a` with its choice `c`: Gilboa's product of a bit and a number.

use bytemuck::bytes_of;
use tacit_kernel::Element;

/// The sender's first values, and the message with the second ones masked: `f` makes them of the OT's place and the first.
///
/// # Security
/// Keys are of [`Form::Random`](crate::Form::Random), and used once.
///
/// # Panics
/// If there aren't two keys and room for a value for every OT.
pub fn mask<E: Element>(
    keys: [&[u128]; 2],
    mut f: impl FnMut(usize, E) -> E,
    firsts: &mut [E],
    message: &mut Vec<u8>,
) {
    let [zeros, ones] = keys;
    assert!(zeros.len() == ones.len() && zeros.len() == firsts.len(), "two keys and a value for every OT");
    for (i, ((zero, one), first)) in zeros.iter().zip(ones).zip(firsts).enumerate() {
        *first = E::from_u128(*zero);
        message.extend_from_slice(bytes_of(&f(i, *first).wrapping_sub(E::from_u128(*one))));
    }
}

/// The receiver's values: the first one's, or the second one's, by its choice.
///
/// # Panics
/// If there isn't a packed choice, a masked value and room for a value for every key.
pub fn open<E: Element>(choices: &[u64], keys: &[u128], message: &[u8], values: &mut [E]) {
    assert_eq!(message.len(), E::BYTES * keys.len(), "a masked value for every OT");
    assert!(choices.len() >= keys.len().div_ceil(64) && values.len() == keys.len(), "a choice for every OT");
    let parts = message.chunks_exact(E::BYTES);
    for (i, ((key, part), value)) in keys.iter().zip(parts).zip(values).enumerate() {
        let mut bytes = [0; 16];
        bytes[..E::BYTES].copy_from_slice(part);
        let chosen = u128::from(choices[i / 64] >> (i % 64) & 1).wrapping_neg();
        // What a peer sends needn't be an element: it's reduced.
        let masked = E::from_u128(u128::from_le_bytes(bytes) & chosen);
        *value = E::from_u128(*key).wrapping_add(masked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_kernel::field::Fp128;

    fn differ_as_said<E: Element>() {
        let keys = |start: u128| (0..70).map(|i| (start << 120).wrapping_sub(i * i)).collect::<Vec<u128>>();
        let [zeros, ones] = [keys(1), keys(0)];
        let choices = [0x0123_4567_89ab_cdef, 0x2a];
        let bit = |i: usize| choices[i / 64] >> (i % 64) & 1 == 1;
        let a: Vec<E> = (0..70).map(|i| E::from_u128(1 << (i % 64) | 5)).collect();
        let (mut firsts, mut message) = (vec![E::ZERO; 70], Vec::new());
        mask([&zeros, &ones], |i, r: E| r.wrapping_add(a[i]), &mut firsts, &mut message);
        assert_eq!(message.len(), 70 * E::BYTES);
        let chosen: Vec<u128> = (0..70).map(|i| if bit(i) { ones[i] } else { zeros[i] }).collect();
        let mut values = vec![E::ZERO; 70];
        open(&choices, &chosen, &message, &mut values);
        for i in 0..70 {
            let difference = if bit(i) { a[i] } else { E::ZERO };
            assert_eq!(values[i], firsts[i].wrapping_add(difference));
        }
    }

    #[test]
    fn values_differ_as_the_sender_says() {
        differ_as_said::<u8>();
        differ_as_said::<u64>();
        differ_as_said::<u128>();
        differ_as_said::<Fp128>();
    }
}
