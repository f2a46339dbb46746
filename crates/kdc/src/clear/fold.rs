//! n-fold (RFC 3961, section 5.1).

/// A string of any length made one of `N` bytes: copies of it, each turned right by 13 bits more, end to end up to the least
/// common multiple of both lengths, and added in pieces of `N` bytes with end-around carries.
///
/// # Panics
/// If either length is zero.
pub fn n_fold<const N: usize>(string: &[u8]) -> [u8; N] {
    assert!(N > 0 && !string.is_empty(), "there is something to fold");
    let total = N / gcd(N, string.len()) * string.len();
    let bits = 8 * string.len();
    // Bit `at` of all copies, the most significant first.
    let bit = |at: usize| {
        let (copy, within) = (at / bits, at % bits);
        let from = (within + bits - 13 * copy % bits) % bits;
        string[from / 8] >> (7 - from % 8) & 1
    };
    let byte = |at: usize| (0..8).fold(0u8, |byte, within| byte << 1 | bit(8 * at + within));
    let mut sum = [0u32; N];
    for at in 0..total {
        sum[at % N] += u32::from(byte(at));
    }
    // Carries go to the byte before, and from the first to the last.
    while sum.iter().any(|&byte| byte > 0xff) {
        for at in (0..N).rev() {
            let carry = sum[at] >> 8;
            sum[at] &= 0xff;
            sum[(at + N - 1) % N] += carry;
        }
    }
    sum.map(|byte| byte as u8)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
