//! The field of a proof's points: F_p, or its extension by i with i^2 = -1.
//!
//! p = 2^61 - 1 is 3 modulo 4, so -1 is no square in F_p, and the extension is a field of p^2 elements. Points that a
//! prover finds by hashing its own messages come from there: of F_p's it could try all that it needs.

use tacit_kernel::field::Fp61;
use tacit_kernel::{Element, fp61, ring};

/// Bytes of an element of F_p in a message.
const WORD_BYTES: usize = 8;

/// A field that has F_p in it.
pub(crate) trait Field: Copy + PartialEq + Send {
    /// Elements of F_p that make one of the field's.
    const DEGREE: usize;
    /// Bytes in a message.
    const SENT: usize = Self::DEGREE * WORD_BYTES;

    /// The element of these parts.
    fn of(parts: &[Fp61]) -> Self;
    /// Its parts.
    fn parts(self) -> [Fp61; 2];
    /// The sum.
    fn add(self, other: Self) -> Self;
    /// The difference.
    fn sub(self, other: Self) -> Self;
    /// The product.
    fn mul(self, other: Self) -> Self;
    /// All inner products of a block of one vector and one of the other.
    fn inner_products(u: &Vector, v: &Vector, blocks: usize) -> Vec<Self>;
    /// The sum of a vector's blocks, each times its weight.
    fn combine(u: &Vector, weights: &[Self], spare: &mut Spare) -> Vector;

    /// An element of F_p.
    fn from_base(value: Fp61) -> Self {
        Self::of(&[value, Fp61::ZERO][..Self::DEGREE])
    }

    /// 0.
    fn zero() -> Self {
        Self::from_base(Fp61::ZERO)
    }

    /// The product with an element of F_p.
    fn scale(self, factor: Fp61) -> Self {
        Self::of(&self.parts().map(|part| part.wrapping_mul(factor))[..Self::DEGREE])
    }
}

/// A vector of a field's elements: their first parts, and their second parts if they have any.
pub(crate) type Vector = Vec<Vec<Fp61>>;

/// Memory of long vectors that aren't needed any more, for those that come.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<Fp61>>);

/// Elements from which on memory is worth keeping: new memory would have to be cleared.
const LONG: usize = 1 << 14;

impl Spare {
    /// A vector of so many elements, all of which are to be written.
    pub(crate) fn take(&mut self, len: usize) -> Vec<Fp61> {
        let fitting = self.0.iter().enumerate().filter(|(_, vector)| vector.capacity() >= len);
        // Larger ones are for longer vectors, and none for short ones.
        let smallest = fitting.filter(|_| len >= LONG).min_by_key(|(_, vector)| vector.capacity());
        let at = smallest.map(|(at, _)| at);
        let mut vector = at.map(|at| self.0.swap_remove(at)).unwrap_or_default();
        vector.resize(len, Fp61::ZERO);
        vector
    }

    /// Takes back what isn't needed any more.
    pub(crate) fn put(&mut self, vector: Vector) {
        self.0.extend(vector.into_iter().filter(|part| part.len() >= LONG));
    }
}

impl Field for Fp61 {
    const DEGREE: usize = 1;

    fn of(parts: &[Fp61]) -> Self {
        parts[0]
    }

    fn parts(self) -> [Fp61; 2] {
        [self, Self::ZERO]
    }

    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn sub(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    fn mul(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }

    fn inner_products(u: &Vector, v: &Vector, blocks: usize) -> Vec<Self> {
        inner_products(&u[0], &v[0], blocks)
    }

    fn combine(u: &Vector, weights: &[Self], spare: &mut Spare) -> Vector {
        vec![combine(&u[0], weights, spare)]
    }
}

/// An element of the extension, `re + im i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extended {
    re: Fp61,
    im: Fp61,
}

impl Field for Extended {
    const DEGREE: usize = 2;

    fn of(parts: &[Fp61]) -> Self {
        Self { re: parts[0], im: parts[1] }
    }

    fn parts(self) -> [Fp61; 2] {
        [self.re, self.im]
    }

    fn add(self, other: Self) -> Self {
        Self { re: self.re.wrapping_add(other.re), im: self.im.wrapping_add(other.im) }
    }

    fn sub(self, other: Self) -> Self {
        Self { re: self.re.wrapping_sub(other.re), im: self.im.wrapping_sub(other.im) }
    }

    fn mul(self, other: Self) -> Self {
        let mul = Fp61::wrapping_mul;
        Self {
            re: mul(self.re, other.re).wrapping_sub(mul(self.im, other.im)),
            im: mul(self.re, other.im).wrapping_add(mul(self.im, other.re)),
        }
    }

    fn inner_products(u: &Vector, v: &Vector, blocks: usize) -> Vec<Self> {
        let [rr, ii, ri, ir] =
            [(0, 0), (1, 1), (0, 1), (1, 0)].map(|(a, b)| inner_products(&u[a], &v[b], blocks));
        let of = |k: usize| Self { re: rr[k].wrapping_sub(ii[k]), im: ri[k].wrapping_add(ir[k]) };
        (0..rr.len()).map(of).collect()
    }

    fn combine(u: &Vector, weights: &[Self], spare: &mut Spare) -> Vector {
        let mut pair = |places: [(usize, usize); 2], merge: fn(&mut [Fp61], &[Fp61])| {
            let [mut one, other] = places.map(|(part, index)| {
                let weights: Vec<Fp61> = weights.iter().map(|weight| weight.parts()[index]).collect();
                combine(&u[part], &weights, spare)
            });
            merge(&mut one, &other);
            spare.put(vec![other]);
            one
        };
        vec![pair([(0, 0), (1, 1)], ring::sub_assign), pair([(0, 1), (1, 0)], ring::add_assign)]
    }
}

fn inner_products(u: &[Fp61], v: &[Fp61], blocks: usize) -> Vec<Fp61> {
    let mut products = vec![Fp61::ZERO; blocks * blocks];
    fp61::inner_products(u, v, blocks, &mut products);
    products
}

fn combine(u: &[Fp61], weights: &[Fp61], spare: &mut Spare) -> Vec<Fp61> {
    let mut sum = spare.take(u.len() / weights.len());
    fp61::combine(u, weights, &mut sum);
    sum
}

/// Appends elements to a message.
pub(crate) fn write<F: Field>(elements: &[F], out: &mut Vec<u8>) {
    for element in elements {
        for part in &element.parts()[..F::DEGREE] {
            out.extend(&part.to_u128().to_le_bytes()[..WORD_BYTES]);
        }
    }
}

/// The element of [`Field::SENT`] bytes; `None` if a part isn't less than p.
pub(crate) fn read<F: Field>(bytes: &[u8]) -> Option<F> {
    let part = |bytes: &[u8; WORD_BYTES]| {
        let value = u64::from_le_bytes(*bytes);
        (value < Fp61::MODULUS).then(|| Fp61::from_u128(value.into()))
    };
    let parts: Option<Vec<Fp61>> = bytes.as_chunks().0.iter().map(part).collect();
    parts.map(|parts| F::of(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(re: u64, im: u64) -> Extended {
        Extended { re: Fp61::from_u128(re.into()), im: Fp61::from_u128(im.into()) }
    }

    #[test]
    fn the_extension_is_a_field() {
        let i = element(0, 1);
        assert!(i.mul(i) == element(Fp61::MODULUS - 1, 0));
        let (a, b, c) = (element(3, 1 << 60), element(u64::MAX >> 4, 7), element(11, 12));
        assert!(a.mul(b.add(c)) == a.mul(b).add(a.mul(c)));
        assert!(a.mul(b).mul(c) == a.mul(b.mul(c)));
        assert!(a.mul(b) == b.mul(a) && a.sub(b).add(b) == a);
        // Every element but 0 has an inverse: its norm isn't 0.
        let norm = a.mul(Extended { im: a.im.wrapping_neg(), ..a });
        assert!(norm.im == Fp61::ZERO && norm.re != Fp61::ZERO);
    }

    #[test]
    fn vectors_are_elements_side_by_side() {
        let elements: Vec<Extended> = (0..12).map(|k| element(k * k + 1, 1 << (4 * k))).collect();
        let vector: Vector = (0..2).map(|part| elements.iter().map(|e| e.parts()[part]).collect()).collect();
        let weights: Vec<Extended> = (0..3).map(|k| element(k << 50, 5)).collect();
        let combined = Extended::combine(&vector, &weights, &mut Spare::default());
        for t in 0..4 {
            let sum = (0..3).fold(Extended::zero(), |sum, l| sum.add(weights[l].mul(elements[4 * l + t])));
            assert!(sum == Extended::of(&[combined[0][t], combined[1][t]]));
        }
        let products = Extended::inner_products(&vector, &vector, 3);
        for (l, k) in [(0, 0), (0, 2), (2, 1)] {
            let sum =
                (0..4).fold(Extended::zero(), |sum, t| sum.add(elements[4 * l + t].mul(elements[4 * k + t])));
            assert!(products[3 * l + k] == sum);
        }
    }

    #[test]
    fn elements_of_messages_are_reduced() {
        let mut bytes = Vec::new();
        write(&[element(7, Fp61::MODULUS - 1)], &mut bytes);
        assert_eq!(bytes.len(), Extended::SENT);
        assert!(read(&bytes) == Some(element(7, Fp61::MODULUS - 1)));
        bytes[8] = 0xff;
        assert!(read::<Extended>(&bytes).is_none());
        assert!(read::<Fp61>(&bytes[8..]).is_none());
    }
}
