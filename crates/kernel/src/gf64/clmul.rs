//! Products by carry-less multiplication: an instruction multiplies one pair of words, or four.
//!
//! An instruction multiplies the low or the high words of every 128 bits. Reducing takes shifts and sums only.

/// A pair of words at a time.
pub(super) mod avx2 {
    use super::super::{Gf64, reduce};
    use std::arch::x86_64::*;

    /// [`Gf64::times`].
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(crate) fn times(a: Gf64, b: Gf64) -> Gf64 {
        Gf64(reduced(_mm_clmulepi64_si128::<0>(word(a), word(b))))
    }

    /// [`super::super::mul_assign`].
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(crate) fn mul_assign(a: &mut [Gf64], b: &[Gf64]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = times(*a, *b);
        }
    }

    /// [`super::super::inner_product`].
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(crate) fn inner_product(u: &[Gf64], v: &[Gf64]) -> Gf64 {
        let mut sum = _mm_setzero_si128();
        for (u, v) in u.iter().zip(v) {
            sum = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0>(word(*u), word(*v)));
        }
        Gf64(reduced(sum))
    }

    /// [`super::super::combine`].
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(crate) fn combine(u: &[Gf64], weights: &[Gf64], out: &mut [Gf64]) {
        let length = out.len();
        for (t, out) in out.iter_mut().enumerate() {
            let mut sum = _mm_setzero_si128();
            for (l, weight) in weights.iter().enumerate() {
                sum = _mm_xor_si128(sum, _mm_clmulepi64_si128::<0>(word(u[l * length + t]), word(*weight)));
            }
            *out = Gf64(reduced(sum));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn word(element: Gf64) -> __m128i {
        _mm_cvtsi64_si128(element.0 as i64)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn reduced(value: __m128i) -> u64 {
        let (low, high) = (_mm_cvtsi128_si64(value) as u64, _mm_extract_epi64::<1>(value) as u64);
        reduce(u128::from(high) << 64 | u128::from(low))
    }
}

/// Eight pairs of words at a time.
pub(super) mod avx512 {
    use super::super::Gf64;
    use std::arch::x86_64::*;

    /// [`super::super::mul_assign`].
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    pub(crate) fn mul_assign(a: &mut [Gf64], b: &[Gf64]) {
        let (whole_b, rest_b) = b.as_chunks::<8>();
        let (whole_a, rest_a) = a.as_chunks_mut::<8>();
        for (a, b) in whole_a.iter_mut().zip(whole_b) {
            *a = Product::of(load(a), load(b)).reduced();
        }
        let product = Product::of(load(&padded(rest_a)), load(&padded(rest_b))).reduced();
        rest_a.copy_from_slice(&product[..rest_b.len()]);
    }

    /// [`super::super::inner_product`].
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    pub(crate) fn inner_product(u: &[Gf64], v: &[Gf64]) -> Gf64 {
        let (whole_u, rest_u) = u.as_chunks::<8>();
        let (whole_v, rest_v) = v.as_chunks::<8>();
        let mut sum = Product::of(load(&padded(rest_u)), load(&padded(rest_v)));
        for (u, v) in whole_u.iter().zip(whole_v) {
            sum = sum.add(Product::of(load(u), load(v)));
        }
        sum.reduced().into_iter().fold(Gf64::ZERO, Gf64::plus)
    }

    /// [`super::super::combine`].
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    pub(crate) fn combine(u: &[Gf64], weights: &[Gf64], out: &mut [Gf64]) {
        let length = out.len();
        for (index, out) in out.chunks_mut(8).enumerate() {
            let mut sum = Product { even: _mm512_setzero_si512(), odd: _mm512_setzero_si512() };
            for (l, weight) in weights.iter().enumerate() {
                let row = &u[l * length + 8 * index..][..out.len()];
                let row = row.try_into().map_or_else(|_| padded(row), |whole: &[Gf64; 8]| *whole);
                sum = sum.add(Product::of(load(&row), _mm512_set1_epi64(weight.0 as i64)));
            }
            out.copy_from_slice(&sum.reduced()[..out.len()]);
        }
    }

    /// Eight polynomials of 128 bits: of the words in even places, and of those in odd ones.
    #[derive(Clone, Copy)]
    struct Product {
        even: __m512i,
        odd: __m512i,
    }

    impl Product {
        #[inline]
        #[target_feature(enable = "avx512f,vpclmulqdq")]
        fn of(a: __m512i, b: __m512i) -> Self {
            Self { even: _mm512_clmulepi64_epi128::<0x00>(a, b), odd: _mm512_clmulepi64_epi128::<0x11>(a, b) }
        }

        #[inline]
        #[target_feature(enable = "avx512f")]
        fn add(self, other: Self) -> Self {
            Self { even: _mm512_xor_si512(self.even, other.even), odd: _mm512_xor_si512(self.odd, other.odd) }
        }

        #[inline]
        #[target_feature(enable = "avx512f,vpclmulqdq")]
        fn reduced(self) -> [Gf64; 8] {
            let low = _mm512_unpacklo_epi64(self.even, self.odd);
            let high = _mm512_unpackhi_epi64(self.even, self.odd);
            // What of high's product with x^4 + x^3 + x + 1 passes x^63.
            let over = _mm512_ternarylogic_epi64::<XOR>(
                _mm512_srli_epi64::<63>(high),
                _mm512_srli_epi64::<61>(high),
                _mm512_srli_epi64::<60>(high),
            );
            let high = _mm512_xor_si512(high, over);
            let times = _mm512_ternarylogic_epi64::<XOR>(
                high,
                _mm512_slli_epi64::<1>(high),
                _mm512_xor_si512(_mm512_slli_epi64::<3>(high), _mm512_slli_epi64::<4>(high)),
            );
            bytemuck::cast(store(_mm512_xor_si512(low, times)))
        }
    }

    /// The truth table of a sum of three bits.
    const XOR: i32 = 0x96;

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(elements: &[Gf64; 8]) -> __m512i {
        // SAFETY: eight elements are 64 bytes, and the load asks for no alignment.
        unsafe { _mm512_loadu_si512(elements.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn store(vector: __m512i) -> [u64; 8] {
        let mut words = [0; 8];
        // SAFETY: eight words are 64 bytes, and the store asks for no alignment.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) };
        words
    }

    /// Fewer than eight elements, and zeros.
    fn padded(rest: &[Gf64]) -> [Gf64; 8] {
        let mut padded = [Gf64::ZERO; 8];
        padded[..rest.len()].copy_from_slice(rest);
        padded
    }
}
