//! Products in prime fields of 64, 256 and 512 bits: the same, with other elements.

use super::{Field, Multiplicand, Multiplier, bit};
use tacit_kernel::mersenne::Fp;
use zeroize::Zeroize;

impl Multiplicand {
    /// As [`extend`](Self::extend), in a field of another width.
    ///
    /// # Panics
    /// If products are of another field, or there isn't room for a share for each.
    pub fn extend_fp<const LIMBS: usize>(
        &mut self,
        xs: &[Fp<LIMBS>],
        shares: &mut [Fp<LIMBS>],
        message: &mut Vec<u8>,
    ) {
        assert_eq!(xs.len(), shares.len(), "a share for every product");
        check(self.field, Fp::<LIMBS>::BITS);
        let [mut zeros, mut ones] = [(); 2].map(|()| vec![Fp::<LIMBS>::ZERO; xs.len()]);
        shares.fill(Fp::ZERO);
        // From the highest power down: shares are doubled on the way.
        for [zero, one] in self.keys.iter().rev() {
            Fp::fill(zero, 0, self.products, &mut zeros);
            Fp::fill(one, 0, self.products, &mut ones);
            let all = shares.iter_mut().zip(&mut zeros).zip(ones.iter().zip(xs));
            for ((share, zero), (one, x)) in all {
                *share = share.plus(*share).minus(*zero);
                *zero = zero.minus(*one).plus(*x);
            }
            message.extend_from_slice(bytemuck::cast_slice(&zeros));
        }
        bytemuck::cast_slice_mut::<_, u8>(&mut zeros).zeroize();
        bytemuck::cast_slice_mut::<_, u8>(&mut ones).zeroize();
        self.products += xs.len() as u64;
    }
}

impl Multiplier {
    /// As [`extend`](Self::extend), in a field of another width.
    ///
    /// # Panics
    /// If products are of another field, or the message hasn't [`Field::product_bytes`] for each.
    pub fn extend_fp<const LIMBS: usize>(&mut self, message: &[u8], shares: &mut [Fp<LIMBS>]) {
        check(self.field, Fp::<LIMBS>::BITS);
        assert_eq!(message.len(), self.field.product_bytes() * shares.len(), "an element for every bit");
        let bytes = self.field.bytes();
        let mut stream = vec![Fp::<LIMBS>::ZERO; shares.len()];
        shares.fill(Fp::ZERO);
        let parts = message.chunks_exact((bytes * stream.len()).max(1));
        for ((at, key), part) in self.keys.iter().enumerate().rev().zip(parts) {
            Fp::fill(key, 0, self.products, &mut stream);
            let is_set = bit(&self.delta, at) == 1;
            for ((share, own), sent) in shares.iter_mut().zip(&stream).zip(part.chunks_exact(bytes)) {
                // What a peer sends needn't be an element: it's reduced.
                let taken = Fp::from_bytes(sent).where_set(is_set);
                *share = share.plus(*share).plus(*own).plus(taken);
            }
        }
        self.products += stream.len() as u64;
        bytemuck::cast_slice_mut::<_, u8>(&mut stream).zeroize();
    }
}

fn check(field: Field, bits: usize) {
    let is_prime = matches!(field, Field::Prime64 | Field::Prime256 | Field::Prime512);
    assert!(is_prime && field.bits() == bits, "products are of another field");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Key;
    use tacit_testkit::Rng;

    fn shares_are_those_of_the_products<const LIMBS: usize>(field: Field) {
        let mut rng = Rng::new(1);
        let mut element = || Fp::<LIMBS>::from_words(std::array::from_fn(|_| rng.word()));
        let (delta, xs) = (element(), [(); 5].map(|()| element()));
        let mut key = || {
            let [low, high] = [rng.word(), rng.word()].map(u128::from);
            Key::new((high << 64 | low).to_le_bytes())
        };
        let pairs: Vec<[Key; 2]> = (0..field.bits()).map(|_| [key(), key()]).collect();
        let delta_bytes = bytemuck::bytes_of(&delta);
        let keys: Vec<Key> = pairs
            .iter()
            .enumerate()
            .map(|(at, pair)| pair[usize::from(bit(delta_bytes, at))].clone())
            .collect();
        let (mut a, mut b) = (Multiplicand::new(field, &pairs), Multiplier::new(field, delta_bytes, &keys));
        for xs in [&xs[..2], &xs[2..]] {
            let [mut t, mut q] = [(); 2].map(|()| vec![Fp::ZERO; xs.len()]);
            let mut message = Vec::new();
            a.extend_fp(xs, &mut t, &mut message);
            assert_eq!(message.len(), xs.len() * field.product_bytes());
            b.extend_fp(&message, &mut q);
            for ((t, q), x) in t.iter().zip(&q).zip(xs) {
                assert_eq!(t.plus(*q), x.times(delta), "{field:?}");
            }
        }
    }

    #[test]
    fn shares_are_those_of_the_products_in_all_widths() {
        shares_are_those_of_the_products::<1>(Field::Prime64);
        shares_are_those_of_the_products::<4>(Field::Prime256);
        shares_are_those_of_the_products::<8>(Field::Prime512);
    }
}
