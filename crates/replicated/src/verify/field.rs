//! The fields of proofs: F_p, its extension by i with i^2 = -1, and GF(2^64).
//!
//! p = 2^61 - 1 is 3 modulo 4, so -1 is no square in F_p, and the extension is a field of p^2 elements. Points that a
//! prover finds by hashing its own messages come from there: of F_p's it could try all that it needs.

use super::schedule::FoldingSchedule;
use tacit_kernel::field::Fp61;
use tacit_kernel::gf64::Gf64;
use tacit_kernel::relation::{LeftPlanes, Planes, RightPlanes};
use tacit_kernel::{Element, ring};
use tacit_session::{Draw, PrssStream};

/// Bytes of an element of a base field in a message.
pub(crate) const WORD_BYTES: usize = 8;

/// A field that has a base field in it, or is one.
pub(crate) trait Field: Copy + PartialEq + Send {
    /// What kernels compute in.
    type Base: BaseField;
    /// Elements of the base field that make one of this field's.
    const DEGREE: usize;
    /// Bytes in a message.
    const SENT: usize = Self::DEGREE * WORD_BYTES;

    /// The element of these parts.
    fn of(parts: &[Self::Base]) -> Self;
    /// Its parts.
    fn parts(self) -> [Self::Base; 2];
    /// The sum.
    fn add(self, other: Self) -> Self;
    /// The difference.
    fn sub(self, other: Self) -> Self;
    /// The product.
    fn mul(self, other: Self) -> Self;

    /// All inner products of a block of one vector and one of the other.
    fn inner_products(u: &Vector<Self>, v: &Vector<Self>, blocks: usize) -> Vec<Self> {
        inner_products(&u[0], &v[0], blocks).into_iter().map(Self::from_base).collect()
    }

    /// The sum of a vector's blocks, each times its weight.
    fn combine(u: &Vector<Self>, weights: &[Self], spare: &mut Spare) -> Vector<Self> {
        vec![combine(&u[0], weights.iter().map(|weight| weight.parts()[0]), spare)]
    }

    /// An element of the base field.
    fn from_base(value: Self::Base) -> Self {
        Self::of(&[value, Self::Base::element(0)][..Self::DEGREE])
    }

    /// 0.
    fn zero() -> Self {
        Self::from_base(Self::Base::element(0))
    }

    /// The element that stands for a number: a block's, or one beyond.
    fn number(value: usize) -> Self {
        Self::from_base(Self::Base::element(value as u64))
    }
}

/// A vector of a field's elements: their first parts, and their second parts if they have any.
pub(crate) type Vector<F> = Vec<Vec<<F as Field>::Base>>;

/// A field whose elements are words, over which the relation of ANDs is a sum of products.
pub(crate) trait BaseField: Field<Base = Self> {
    /// How many elements there are.
    const ORDER: u128;

    /// The element of a word that is less than the order.
    fn element(word: u64) -> Self;
    /// Its word.
    fn word(self) -> u64;
    /// Elements of a stream, from a block on.
    fn draw(stream: &mut PrssStream, draw: Draw, block: u64, out: &mut [Self]);
    /// `1 / product over j != k of (x_k - x_j)` of the numbers `x_k` from `first` on, of which there are `count`.
    fn inverse_products(first: usize, count: usize) -> Vec<Self>;
    /// `1 / (x_a - x_b)` of two of the numbers `x_0`, `x_1`, ..., `count` of them, that aren't the same.
    fn inverse_differences(count: usize) -> impl Fn(usize, usize) -> Self;
    /// As [`Field::inner_products`].
    fn inner_products_into(u: &[Self], v: &[Self], blocks: usize, out: &mut [Self]);
    /// As [`Field::combine`].
    fn combine_into(u: &[Self], weights: &[Self], out: &mut [Self]);

    /// What a verifier has of the first round's claim, if coefficients weigh the ANDs: of its sum, or, where the values at
    /// the blocks are public ([`FoldingSchedule::is_public`]), of each of these.
    fn first_claim(schedule: &FoldingSchedule, coefficients: &[Gf64], planes: Planes<'_>) -> Self;
    /// All inner products of a block of the left bits' vector and one of the right bits'.
    fn bit_products(
        schedule: &FoldingSchedule,
        coefficients: &[Gf64],
        left: LeftPlanes<'_>,
        right: RightPlanes<'_>,
    ) -> Vec<Self>;
    /// The sum of the blocks of the vector of a side's bits, each times its weight.
    fn fold_bits(
        schedule: &FoldingSchedule,
        coefficients: &[Gf64],
        planes: Planes<'_>,
        weights: &[Self],
        out: &mut [Self],
    );

    /// A vector of so many elements, all of which are to be written.
    fn memory(_: &mut Spare, len: usize) -> Vec<Self> {
        vec![Self::element(0); len]
    }
    /// Takes back what isn't needed any more.
    fn reuse(_: &mut Spare, _: Vector<Self>) {}
}

/// Memory of long vectors of F_p that aren't needed any more, for those that come.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<Fp61>>);

/// Elements from which on memory is worth keeping: new memory would have to be cleared.
const LONG: usize = 1 << 14;

impl Spare {
    /// A vector of so many elements, all of which are to be written.
    pub(super) fn take(&mut self, len: usize) -> Vec<Fp61> {
        let fitting = self.0.iter().enumerate().filter(|(_, vector)| vector.capacity() >= len);
        // Larger ones are for longer vectors, and none for short ones.
        let smallest = fitting.filter(|_| len >= LONG).min_by_key(|(_, vector)| vector.capacity());
        let at = smallest.map(|(at, _)| at);
        let mut vector = at.map(|at| self.0.swap_remove(at)).unwrap_or_default();
        vector.resize(len, Fp61::ZERO);
        vector
    }

    /// Takes back what isn't needed any more.
    pub(super) fn put(&mut self, vector: Vec<Vec<Fp61>>) {
        self.0.extend(vector.into_iter().filter(|part| part.len() >= LONG));
    }
}

/// An element of the extension of F_p, `re + im i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extended {
    re: Fp61,
    im: Fp61,
}

impl Field for Extended {
    type Base = Fp61;
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

    fn inner_products(u: &Vector<Self>, v: &Vector<Self>, blocks: usize) -> Vec<Self> {
        let [rr, ii, ri, ir] =
            [(0, 0), (1, 1), (0, 1), (1, 0)].map(|(a, b)| inner_products(&u[a], &v[b], blocks));
        let of = |k: usize| Self { re: rr[k].wrapping_sub(ii[k]), im: ri[k].wrapping_add(ir[k]) };
        (0..rr.len()).map(of).collect()
    }

    fn combine(u: &Vector<Self>, weights: &[Self], spare: &mut Spare) -> Vector<Self> {
        let mut pair = |places: [(usize, usize); 2], merge: fn(&mut [Fp61], &[Fp61])| {
            let [mut one, other] = places.map(|(part, index)| {
                combine(&u[part], weights.iter().map(|weight| weight.parts()[index]), spare)
            });
            merge(&mut one, &other);
            spare.put(vec![other]);
            one
        };
        vec![pair([(0, 0), (1, 1)], ring::sub_assign), pair([(0, 1), (1, 0)], ring::add_assign)]
    }
}

fn inner_products<B: BaseField>(u: &[B], v: &[B], blocks: usize) -> Vec<B> {
    let mut products = vec![B::element(0); blocks * blocks];
    B::inner_products_into(u, v, blocks, &mut products);
    products
}

fn combine<B: BaseField>(u: &[B], weights: impl Iterator<Item = B>, spare: &mut Spare) -> Vec<B> {
    let weights: Vec<B> = weights.collect();
    let mut sum = B::memory(spare, u.len() / weights.len());
    B::combine_into(u, &weights, &mut sum);
    sum
}

/// Appends elements to a message.
pub(crate) fn write<F: Field>(elements: &[F], out: &mut Vec<u8>) {
    for element in elements {
        for part in &element.parts()[..F::DEGREE] {
            out.extend(part.word().to_le_bytes());
        }
    }
}

/// The element of [`Field::SENT`] bytes; `None` if a part isn't less than the base field's order.
pub(crate) fn read<F: Field>(bytes: &[u8]) -> Option<F> {
    let part = |bytes: &[u8; WORD_BYTES]| {
        let word = u64::from_le_bytes(*bytes);
        (u128::from(word) < F::Base::ORDER).then(|| F::Base::element(word))
    };
    let parts: Option<Vec<F::Base>> = bytes.as_chunks().0.iter().map(part).collect();
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
        let vector: Vector<Extended> =
            (0..2).map(|part| elements.iter().map(|e| e.parts()[part]).collect()).collect();
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
