"""Operators, methods and functions against NumPy, on random shapes and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tacit
from tests.support import F16, UNIT, computed, ran, revealed, rounded, same

if TYPE_CHECKING:
    from numpy.typing import NDArray

INT32 = tacit.int32
EDGES = [1, 63, 64, 65]

shapes = hnp.array_shapes(min_dims=0, max_dims=3, max_side=5) | st.sampled_from([(side,) for side in EDGES])


def arrays(shape: Any = shapes, low: int = -1000, high: int = 1000) -> Any:
    """Arrays of integers."""
    return hnp.arrays(np.int64, shape, elements=st.integers(low, high))


@st.composite
def fixed_arrays(draw: st.DrawFn, shape: Any = shapes, size: int = 100) -> Any:
    """Arrays of multiples of 2**-16."""
    return draw(arrays(shape, -size * UNIT, size * UNIT)) / UNIT


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two arrays that broadcast."""
    both = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4)).input_shapes
    return draw(arrays(st.just(both[0]))), draw(arrays(st.just(both[1])))


def all_same(got: list[Any], expected: list[Any]) -> None:
    """Fails unless all are the same."""
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        same(one, other)


@given(pairs())
def test_operators_on_integers_are_numpys(pair: tuple[Any, Any]) -> None:
    def program(a: Any, b: Any) -> list[Any]:
        return [a + b, a - b, a * b, -a, a < b, a <= b, a > b, a >= b, a == b, a != b]

    all_same(computed(program, *pair, dtype=INT32), program(*pair))


@given(pairs())
def test_choices_are_numpys(pair: tuple[Any, Any]) -> None:
    def secret(a: Any, b: Any) -> list[Any]:
        return [tacit.where(a > b, a, b), tacit.maximum(a, b), tacit.minimum(a, b), abs(a), tacit.relu(b)]

    def clear(a: Any, b: Any) -> list[Any]:
        return [np.where(a > b, a, b), np.maximum(a, b), np.minimum(a, b), abs(a), np.maximum(b, 0)]

    all_same(computed(secret, *pair, dtype=INT32), clear(*pair))


@given(pairs())
def test_a_public_operand_is_as_good_as_a_secret_one(pair: tuple[Any, Any]) -> None:
    a, b = pair

    def program(x: Any) -> list[Any]:
        return [x + b, b + x, x - b, b - x, x * b, b * x, x < b, b < x, x == b, b >= x, x + 3, 3 - x, -7 * x]

    all_same(computed(program, a, dtype=INT32), program(a))


@given(fixed_arrays(), st.floats(-50, 50))
def test_fixed_point_is_rounded_once(a: NDArray[np.float64], number: float) -> None:
    got = computed(lambda x: [x + 0.25, x * x, x * 0.5, 3 * x, x - 1, x / 4, x / 256], a)
    all_same(
        got, [a + 0.25, rounded(a * a), rounded(a * 0.5), 3 * a, a - 1, rounded(a / 4), rounded(a / 256)]
    )
    hypothesis.assume(abs(number) > 1e-3)
    product, quotient = computed(lambda x: [x * number, x / number], a)
    # What floats do adds a little.
    assert np.all(abs(product - a * number) <= 0.500001 / UNIT)
    assert np.all(abs(quotient - a / number) <= 0.500001 / UNIT)


@given(arrays(), st.integers(1, 1000))
def test_division_by_integers_rounds_down(a: NDArray[np.int64], divisor: int) -> None:
    all_same(computed(lambda x: [x // divisor, x >> 3], a, dtype=INT32), [a // divisor, a >> 3])
    same(computed(lambda x: x // divisor, a), a // divisor)


@given(arrays(), st.booleans(), st.integers(1, 1000))
def test_division_by_secret_integers_is_pythons(a: NDArray[np.int64], negative: bool, public: int) -> None:
    sign = -1 if negative else 1
    divisors = sign * (abs(np.flip(a)) + 1)

    def quotients(x: Any, y: Any) -> Any:
        return [x // y, x % y, np.floor_divide(x, y), np.remainder(public, y), public // y, x % public]

    got = computed(quotients, a, divisors, dtype=INT32)
    quotient, rest = a // divisors, a % divisors
    all_same(got, [quotient, rest, quotient, public % divisors, public // divisors, a % public])


@given(arrays(), st.data())
def test_reductions_are_numpys(a: NDArray[np.int64], data: st.DataObject) -> None:
    axis = data.draw(st.none() | st.integers(-a.ndim, a.ndim - 1)) if a.ndim else None
    keepdims = data.draw(st.booleans())

    def program(x: Any) -> list[Any]:
        over = {"axis": axis, "keepdims": keepdims}
        values = [x.sum(**over), x.max(**over), x.min(**over), x.argmax(**over), x.argmin(**over)]
        return [*values, (x > 0).sum(**over), (x > 5).any(**over), (x < 900).all(**over)]

    all_same(computed(program, a, dtype=INT32), program(a))


@given(fixed_arrays(size=1000))
def test_a_mean_is_off_by_half_a_step(a: NDArray[np.float64]) -> None:
    assert abs(computed(lambda x: x.mean(), a) - a.mean()) <= 0.500001 / UNIT


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), (2, 0)])
def test_sums_and_means_over_several_axes(axis: Any) -> None:
    a = np.arange(24.0).reshape(2, 3, 4)
    got = computed(lambda x: [x.sum(axis), x.mean(axis)], a)
    same(got[0], a.sum(axis))
    np.testing.assert_allclose(got[1], a.mean(axis), rtol=0, atol=0.500001 / UNIT)


@given(st.data())
def test_matrix_products_are_numpys(data: st.DataObject) -> None:
    (one, other), _ = data.draw(
        hnp.mutually_broadcastable_shapes(signature=np.matmul.signature, max_side=4, max_dims=1)
    )
    a, b = data.draw(arrays(st.just(one))), data.draw(arrays(st.just(other)))
    same(computed(lambda x, y: x @ y, a, b, dtype=INT32), a @ b)
    all_same(computed(lambda x: [x @ b, tacit.dot(x, b)], a, dtype=INT32), [a @ b, a @ b])
    same(computed(lambda y: a @ y, b, dtype=INT32), a @ b)


@given(fixed_arrays(st.just((3, 4))), fixed_arrays(st.just((4, 2))))
def test_entries_of_fixed_point_matrix_products_are_rounded_once(a: Any, b: Any) -> None:
    same(computed(lambda x, y: x @ y, a, b), rounded(a @ b))
    same(computed(lambda x: x @ b, a), rounded(a @ b))


@given(hnp.arrays(np.bool_, shapes), st.booleans())
def test_logic_is_numpys(a: NDArray[np.bool_], public: bool) -> None:
    def program(x: Any) -> list[Any]:
        return [x & ~x, x | public, x ^ x, x ^ public, x == public, x != public, x.any(), x.all(), x.sum()]

    all_same(computed(program, a, dtype=tacit.bool_), program(a))


@given(hnp.arrays(np.uint64, (7,)), hnp.arrays(np.uint64, (7,)))
def test_rings_wrap(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> None:
    def program(x: Any, y: Any) -> list[Any]:
        return [x + y, x - y, x * y, x.sum(), x == y]

    all_same(computed(program, a, b, dtype=tacit.ring(64)), program(a, b))


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_narrow_rings_wrap_at_their_width(bits: int) -> None:
    a = np.array([0, 1, (1 << bits) - 1], dtype=np.uint64)
    same(computed(lambda x: x * x + 1, a, dtype=tacit.ring(bits)), (a * a + 1) % (1 << bits))


MODULI = [2**n for n in (1, 2, 7, 9, 31, 33, 61, 63, 65, 127, 128)] + [2**61 - 1, 2**128 - 159]


@pytest.mark.parametrize("modulus", MODULI)
def test_sums_and_products_to_any_modulus(modulus: int) -> None:
    numbers = [0, 1, modulus - 1, modulus // 2, 3 % modulus, (2**127 + 5**40) % modulus]
    a = np.array(numbers, dtype=object)
    b = a[::-1].copy()
    same(computed(lambda x, y: x * y - x + 7, a, b, dtype=tacit.modular(modulus)), (a * b - a + 7) % modulus)
    same(computed(lambda x, y: x @ y, a, b, dtype=tacit.modular(modulus)), (a @ b) % modulus)
    same(computed(lambda x: x.sum() * x[2], a, dtype=tacit.modular(modulus)), (a.sum() * a[2]) % modulus)


INDICES: list[Any] = [
    0, -1, slice(None, None, -1), slice(1, 3), (1, 2), (..., 0), (slice(None), None), (slice(0, 4, 2), -1),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_slices_are_numpys(index: Any) -> None:
    a = np.arange(20).reshape(4, 5)
    same(computed(lambda x: x[index], a, dtype=INT32), a[index])


def test_arrangements_are_numpys() -> None:
    a = np.arange(24).reshape(2, 3, 4)

    def program(x: Any) -> list[Any]:
        moved = [x.T, x.transpose(1, 0, 2), x.transpose((2, 1, 0)), x.reshape(6, -1), x.reshape((4, 6))]
        return [
            *moved,
            x.flatten(),
            x.ravel(),
            x.copy(),
            x[:1].squeeze(),
            x[:1, :, :1].squeeze(0),
            np.broadcast_to(x[0, 0], (2, 4)),
            np.concatenate([x, x], axis=1),
        ]

    all_same(computed(program, a, dtype=INT32), program(a))
    got = computed(
        lambda x: [tacit.concatenate([x, [[1, 2]]]), tacit.stack([x[0], [3, 4]], axis=1)], [[5, 6]]
    )
    all_same(got, [np.array([[5, 6], [1, 2]]), np.array([[5, 3], [6, 4]])])


def test_windows_are_numpys() -> None:
    view = np.lib.stride_tricks.sliding_window_view
    a = np.arange(20).reshape(4, 5)
    kernels = np.array([[[1, -1], [0, 2]], [[3, 0], [0, 0]]])

    def program(x: Any) -> list[Any]:
        moved = [view(x, (2, 3)), view(x, 2, axis=0), view(x, (2, 2), axis=(-1, 1)), view(x[1, ::-2], 2)]
        return [*moved, view(x, (2, 2)).reshape(-1, 4) @ kernels.reshape(2, 4).T]

    all_same(computed(program, a, dtype=INT32), program(a))
    all_same(computed(lambda x: [tacit.windows(x, (2, 2))], a, dtype=INT32), [view(a, (2, 2))])
    for shape, axis in [((5, 1), None), (2, None), (0, 0), (1, 2)]:
        with pytest.raises(tacit.ProgramError):
            computed(lambda x, shape=shape, axis=axis: tacit.windows(x, shape, axis), a, dtype=INT32)


def test_a_shuffle_moves_rows_alike() -> None:
    a = np.arange(40).reshape(20, 2)

    def program(x: Any) -> list[Any]:
        rows, first = tacit.shuffle(x, x[:, 0])
        return [rows, first]

    rows, first = computed(program, a, dtype=INT32)
    same(rows[:, 0], first)
    same(rows[np.argsort(first)], a)
    same(np.sort(computed(lambda x: tacit.shuffle(x[:, 0]), a, dtype=INT32)), a[:, 0])
    with pytest.raises(tacit.ProgramError, match="go together"):
        computed(lambda x: tacit.shuffle(x, x[1:]), a, dtype=INT32)


def test_numpys_functions_take_secrets() -> None:
    a = np.array([[3, -1, 2], [0, 5, -4]])

    def program(x: Any) -> list[Any]:
        sums = [np.sum(x), np.max(x, axis=0), np.min(x), np.argmax(x, axis=1), np.argmin(x), np.any(x > 4)]
        chosen = [np.where(x > 0, x, 0), np.clip(x, -1, 2), np.maximum(x, 1), np.minimum(1, x), np.abs(x)]
        moved = [np.reshape(x, (3, 2)), np.transpose(x), np.stack([x, x]), np.dot(x, a.T), np.square(x)]
        return [*sums, *chosen, *moved, np.add(a, x), np.int64(2) - x, x**3]

    all_same(computed(program, a, dtype=INT32), program(a))


def test_a_sigmoid_in_three_pieces() -> None:
    a = np.array([-3, -0.5, -0.25, 0, 0.25, 0.5, 7])
    same(computed(tacit.sigmoid3, a), np.clip(a + 0.5, 0, 1))


def test_types_are_converted() -> None:
    a = np.array([-1.5, 0.25, 2.75])
    got = computed(
        lambda x: [
            x.astype(tacit.int32),
            x.astype(tacit.fixed(1)),
            x.astype(tacit.fixed(20)),
            (x > 0).astype(tacit.int8),
            (x > 0).astype(F16),
        ],
        a,
    )
    all_same(got, [np.floor(a).astype(int), np.array([-1.5, 0.5, 3.0]), a, [0, 1, 1], [0.0, 1.0, 1.0]])


@given(fixed_arrays(st.just((5,))))
def test_a_debug_run_gives_the_same(a: NDArray[np.float64]) -> None:
    same(ran(revealed(lambda x: (x * x).max() - x), a, debug=True), rounded(a * a).max() - a)


def test_lists_of_integers_on_both_sides_of_2_to_the_63_stay_exact() -> None:
    large = [2**64 - 1, 1]

    @tacit.function
    def more(x: Any) -> Any:
        return tacit.reveal(x + large)

    plan = more.trace(tacit.secret("a", shape=(2,), dtype=tacit.modular(2**64)))
    with tacit.local() as run:
        assert run(plan, x=[2**64 - 1, 7]).tolist() == [2**64 - 2, 8]
