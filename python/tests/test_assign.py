"""Tensors that are changed, and what else is seen to change: as with NumPy's arrays."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit._values import public
from tacit.errors import ProgramError, ProgramTypeError, SecretError
from tests.support import revealed

if TYPE_CHECKING:
    from collections.abc import Callable

GRID = np.arange(12.0).reshape(4, 3) - 3
I8: dict[str, Any] = {"dtype": tacit.int8, "range": (-9, 9)}


def secret_for(array: Any, owner: str) -> tacit.Secret:
    kind = np.asarray(array).dtype.kind
    shape = np.shape(array)
    if kind == "b":
        return tacit.secret(owner, shape=shape, dtype=tacit.bool_)
    return (
        tacit.secret(owner, shape=shape, **I8)
        if kind == "i"
        else tacit.secret(owner, shape=shape, range=(-50, 50))
    )


def evaluated(function: Callable[..., Any], *arrays: Any) -> Any:
    """What a function computes of secrets, in the clear."""
    names = [f"owner{place}" for place in range(len(arrays))]
    declared = [secret_for(array, name) for array, name in zip(arrays, names, strict=True)]
    plan = tacit.function(revealed(function)).trace(*declared)
    return plan._restore(plan._program.evaluate([*map(public, arrays)]))


def copied(array: Any) -> Any:
    return array.copy() if isinstance(array, np.ndarray) else array


def as_numpy(function: Callable[..., Any], *arrays: Any) -> None:
    got, want = evaluated(function, *arrays), function(*map(copied, arrays))
    got, want = (one if isinstance(one, list) else [one] for one in (got, want))
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(np.asarray(one, dtype=float), np.asarray(other, dtype=float))


def put(key: Any, value: Any) -> Callable[[Any], Any]:
    def changed(a: Any) -> Any:
        a[key] = value
        return a

    return changed


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (1, 5),
        (-1, [7.5, 8, 9]),
        ((2, 1), -3),
        (slice(1, 3), 2.25),
        (slice(1, 3), GRID[:2]),
        (slice(None, None, -2), [[1], [2]]),
        ((slice(None), 1), [1, 2, 3, 4]),
        ((slice(1, None), slice(None, 2)), [[1, 2]]),
        ((..., -1), 0),
        ((), 4),
        (..., GRID * 2),
        ((slice(None), None, 0), [[1], [2], [3], [4]]),
        (slice(2, 2), 9),
        ([0, 2], [[1, 2, 3], [4, 5, 6]]),
        ([1, 1], [[1, 2, 3], [4, 5, 6]]),
        (([0, 3, 3], [2, 1, 1]), [1, 2, 3]),
        (GRID > 2, 0),
        (GRID[:, 0] > 2, [[-1, -2, -3]]),
    ],
)
def test_public_places(key: Any, value: Any) -> None:
    as_numpy(put(key, value), GRID)


def by_index(a: Any, i: Any) -> Any:
    a[i] = 7.5
    return a


def by_two(a: Any, i: Any, j: Any) -> Any:
    a[i, j] = a[j, i] + 1
    a[:, j] = a[:, i]
    a[1:, j] += 0.5
    return a


def by_row(a: Any, i: Any) -> Any:
    a[i] = [1, 2, 3]
    a[i, 1:] *= 2
    row = a[i]
    row[0] = a[i][1]
    row[::-1][0] += 1
    a[i, 1] -= 1
    return [a, row]


@pytest.mark.parametrize(
    ("function", "secrets"),
    [
        (by_index, [np.int8(2)]),
        (by_index, [np.int8(-1)]),
        (by_index, [np.array([3, 1, 3], dtype=np.int8)]),
        (by_index, [np.array([[1], [-4]], dtype=np.int8)]),
        (by_row, [np.int8(2)]),
        (by_two, [np.int8(2), np.int8(1)]),
        (by_two, [np.int8(-2), np.int8(0)]),
    ],
)
def test_secret_places(function: Callable[..., Any], secrets: list[Any]) -> None:
    as_numpy(function, GRID, *secrets)


def test_of_equal_places_the_last_one_stays() -> None:
    def scattered(a: Any, i: Any, v: Any) -> Any:
        a[i] = v
        return a

    places = np.array([2, 0, 2, 2, 0], dtype=np.int8)
    as_numpy(scattered, GRID[:, 0], places, np.arange(5.0))
    as_numpy(scattered, GRID, places, np.arange(15.0).reshape(5, 3))


def test_a_secret_place_outside_changes_nothing() -> None:
    for place in (4, -5, 9):
        np.testing.assert_array_equal(evaluated(by_index, GRID, np.int8(place)), GRID)


def masks(a: Any) -> Any:
    b = a * 2
    a[a > 5] = 5
    low = a < 0
    a[low] = b[low]
    a[low] += 1
    b[b[:, 0] > 3] = [0.5, 1, 1.5]
    b[b[:, 1] < 0, 2] = 9
    b[1, b[1] < 0] = -8
    return [a, b]


def test_secret_masks() -> None:
    as_numpy(masks, GRID)


def aliases(a: Any) -> Any:
    b, row, column, flat, turned = a, a[1], a[:, 2], a.reshape(-1), np.flip(a, axis=0)
    apart = [a.copy(), a.T.reshape(-1), a.flatten(), a[[0, 1]], +a, a**1, np.copy(a), np.sort(a, axis=0)]
    b[0] = 20
    row[:2] = -5
    flat[11] = 30
    turned[0, 0] = 40
    for one in a:
        one[1] += 1
    a -= 1
    column *= 2
    apart[1][0] = 11
    return [a, b, row, column, flat, turned, *apart, a.sum()]


def test_names_and_views_of_one_tensor_change_together_and_copies_do_not() -> None:
    as_numpy(aliases, GRID)


def as_methods(a: Any) -> Any:
    b = copy.deepcopy(a)
    b.sort(axis=0)
    turned = a.swapaxes(0, 1)
    turned[0, 0] = 3
    kept = [a.round(), np.floor(a), a.take([1, 0], axis=0), a.repeat(2, axis=1), copy.copy(a)]
    a[...] = 0
    line = b[:, 0]
    line.sort()
    return [a, b, turned, *kept, b.diagonal(), b.trace(), (b + 4)[:2, 0].cumprod(), line.searchsorted(2.0)]


def test_methods_that_change_and_that_copy() -> None:
    as_numpy(as_methods, -GRID)
    as_numpy(as_methods, -GRID.astype(np.int8))


def numbers(a: Any) -> Any:
    total = kept = a.sum()
    total += 1
    first = a[0, 0]
    a[0, 0] = 9
    first += 1
    return [total, kept, first, a]


def test_numbers_are_not_changed() -> None:
    as_numpy(numbers, GRID)


def views_of_numbers(a: Any) -> Any:
    total = a.sum()
    made = [np.atleast_1d(total), np.expand_dims(total, 0), total.reshape(1, 1), np.atleast_2d(a[0, 0])]
    for one in made:
        one += 1
    made[2][...] = 4
    return [total, a, *made]


def test_what_is_made_of_numbers_does_not_change_them() -> None:
    as_numpy(views_of_numbers, GRID)


def turned_by_letters(a: Any) -> Any:
    turned, diagonal, sums = np.einsum("ij->ji", a), np.diag(a), np.einsum("ij->i", a)
    a[0] = 8
    turned[2, 2] = 9
    sums[0] += 1
    return [a, turned, diagonal, sums]


def test_views_by_letters_and_of_the_diagonal() -> None:
    as_numpy(turned_by_letters, GRID)
    with pytest.raises(ProgramError, match="read-only"):
        evaluated(lambda a: put(0, 1)(np.diag(a)), GRID)


def test_integers_go_into_fixed_point() -> None:
    def mixed(a: Any, i: Any) -> Any:
        a[0] = i
        a[1, a[1] > -1] = i[0]
        a[i] += 1
        np.putmask(a, (a > 5).reshape(-1), 7)
        return a

    as_numpy(mixed, GRID, np.array([2, 1, 3], dtype=np.int8))


def filled(a: Any) -> Any:
    made = np.zeros_like(a)
    made[1:] = a[1:] - a[:-1]
    wide = np.full_like(a, 2, shape=(2, 5))
    wide[:, 1] = a[:2, 0]
    many = np.ones_like(a[0])
    many.fill(3)
    np.fill_diagonal(a, 1.5)
    np.copyto(a[3], many)
    np.putmask(a, a < 0, -1)
    return [made, wide, many, a]


def test_functions_that_make_room_and_fill_it() -> None:
    as_numpy(filled, GRID)


def test_types_stay() -> None:
    def whole(n: Any, b: Any) -> Any:
        n[0] = n[1] > 2
        b[1] = True
        n[2:4] = b[:2]
        return [n, b]

    as_numpy(whole, np.arange(5, dtype=np.int8), np.array([True, False, False]))


@given(st.data())
def test_random_changes_are_numpys(data: st.DataObject) -> None:
    """Views of views, written at random places: all of them as NumPy leaves them."""
    steps: list[tuple[str, int, Any]] = []
    for _ in range(data.draw(st.integers(1, 7))):
        kind = data.draw(st.sampled_from(["view", "view", "write", "add", "secret", "mask"]))
        steps.append((kind, data.draw(st.integers(0, 5)), data.draw(st.integers(0, 6))))

    def program(a: Any, i: Any) -> Any:
        held = [a]
        for kind, which, how in steps:
            one = held[which % len(held)]
            if kind == "view":
                ways: list[Callable[[Any], Any]] = [
                    lambda x: x.T,
                    lambda x: x[::-1],
                    lambda x: x[1:] if x.shape[0] > 1 else x,
                    lambda x: x.reshape(-1, 1),
                    lambda x: x.ravel().reshape(1, -1),
                    lambda x: x[:, -1:],
                    lambda x: np.swapaxes(x, 0, 1),
                ]
                held.append(ways[how](one))
            elif kind == "write":
                one[how % one.shape[0]] = how
            elif kind == "add":
                one += how
            elif kind == "secret":
                one[i, how % one.shape[1]] = -how
            else:
                one[one > how] = how
        return held

    as_numpy(program, np.arange(6.0).reshape(2, 3), np.int8(data.draw(st.integers(0, 0))))


def test_arms_and_bodies_change_copies() -> None:
    def program(a: Any, i: Any) -> Any:
        def raised(x: Any) -> Any:
            x[i] = 9
            x += 1
            return x

        chosen = tacit.cond(a[0] > 0, raised, lambda x: x, a)

        def step(state: Any, row: Any) -> Any:
            state[1:] = state[:-1].copy()
            state[0] = row
            return state

        return [a, chosen, tacit.repeat(3, step, np.zeros(4), over=a[:3])]

    a = np.array([2.0, 3, 4, 5])
    got = evaluated(program, a, np.int8(1))
    for one, want in zip(got, [a, [3, 10, 5, 6], [4, 3, 2, 0]], strict=True):
        np.testing.assert_array_equal(one, want)


@pytest.mark.parametrize("protocol", ["gmw", "replicated-malicious"])
def test_arms_that_change_their_arguments_run(protocol: str) -> None:
    def program(a: Any, i: Any) -> Any:
        def marked(x: Any) -> Any:
            x[i] = 9
            x[x < 2] += 1
            return x

        return [tacit.cond(a[0] > 1, marked, lambda x: x, a), a]

    plan = tacit.function(revealed(program)).trace(
        tacit.secret("alice", shape=(3,), **I8), tacit.secret("bob", **I8)
    )
    with tacit.local(protocol=protocol) as run:
        assert [one.tolist() for one in run(plan, alice=[[2, 1, 5]], bob=[2])] == [[2, 2, 9], [2, 1, 5]]
        assert [one.tolist() for one in run(plan, alice=[[1, 1, 5]], bob=[2])] == [[1, 1, 5]] * 2


@pytest.mark.parametrize("protocol", ["gmw", "replicated-malicious"])
def test_many_places_are_written_in_arms_and_bodies(protocol: str) -> None:
    places, written = 4096, np.array([5, 4000, 5, -1, 4096])

    def program(x: Any, k: Any, c: Any) -> Any:
        def step(state: Any, place: Any) -> Any:
            rows, value = state
            rows[place] = value
            return rows, tacit.clip(value + 1, 0, 9)

        def marked(x: Any, value: int) -> Any:
            x[k[1]] = value
            return x

        chosen = tacit.cond(c > 0, lambda x: marked(x, 7), lambda x: marked(x, 8), x)
        return [tacit.repeat(5, step, (x, 0), over=k)[0], chosen]

    x = np.arange(places) % 9
    plan = tacit.function(revealed(program)).trace(
        tacit.secret("alice", shape=places, dtype=tacit.int32, range=(0, 9)),
        tacit.secret("bob", shape=5, dtype=tacit.int32, range=(-2, 5000)),
        tacit.secret("carol", **I8),
    )
    with tacit.local(protocol=protocol) as run:
        repeated, chosen = run(plan, alice=[x], bob=[written], carol=[1])
    after = x.copy()
    after[[4000, 5, -1]] = [1, 2, 3]
    np.testing.assert_array_equal(repeated, after)
    np.testing.assert_array_equal(chosen, np.where(np.arange(places) == 4000, 7, x))


def test_a_view_from_outside_is_current_in_a_body_and_after_it() -> None:
    def program(a: Any) -> Any:
        view = a[1:]
        a[2] = 7
        return [tacit.repeat(2, lambda s: tacit.clip(s + view.sum(), -99, 99), a[0]), view]

    got = evaluated(program, np.array([1.0, 2, 3]))
    assert got[0] == 19
    np.testing.assert_array_equal(got[1], [2, 7])


def outside(a: Any) -> Any:
    def step(s: Any) -> Any:
        a[0] = s
        return s

    return tacit.repeat(2, step, a[1])


@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (outside, ProgramError, "was made outside of a body that is repeated"),
        (
            lambda a: tacit.cond(a[0] > 0, lambda _: a.__iadd__(1), lambda x: x, a),
            ProgramError,
            "made outside of an arm of a branch",
        ),
        (lambda a: put(a > 0, [1.0, 2, 3, 4])(a), SecretError, "give one for all, or x[mask] = y[mask]"),
        (lambda a: put(a > 0, a[a > 0])(a), SecretError, "give the mask a name"),
        (lambda a: put(np.broadcast_to(a, (2, 4))[0] > 0, 1)(np.broadcast_to(a, (2, 4))), ProgramError, ""),
        (lambda a: put(0, 1)(np.broadcast_to(a, (2, 4))), ProgramError, "change x.copy()"),
        (lambda a: put(0, 1.5)(a.astype(tacit.int32)), ProgramTypeError, "floating-point number beside"),
        (lambda a: put(0, a[0])(a.astype(tacit.int32)), ProgramTypeError, "make it fixed point first"),
        (lambda a: put(0, 1)(a > 0), ProgramTypeError, "give True or False"),
        (lambda a: put(0, a > 0)(a), ProgramError, "doesn't fit elements of shape ()"),
        (lambda a: put(7, 0)(a), ProgramError, "out of bounds"),
        (lambda a: put(a, 0)(a), ProgramTypeError, "an index is an integer"),
        (lambda a: put((slice(None), a > 0), 0)(a), ProgramError, "a key for 2 axes"),
        (lambda a: put(0, float("nan"))(a), ProgramError, ""),
        (lambda a: put(..., a)(np.zeros(4)), SecretError, "np.zeros_like(x, shape=3)"),
        (lambda a: np.zeros(4).__iadd__(a), ProgramTypeError, "w = w + x"),
    ],
)
def test_what_cannot_be_changed_is_refused_in_words(
    function: Callable[[Any], Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error) as caught:
        evaluated(function, np.arange(4.0))
    assert says in str(caught.value)
    assert "test_assign.py" in str(caught.value)


@pytest.mark.parametrize("protocol", ["replicated", "replicated-malicious", "astra", "mascot", "gmw"])
def test_a_run_changes_what_the_program_says(protocol: str) -> None:
    def program(a: Any, i: Any) -> Any:
        a[i] = 7
        a[a > 8] -= 1
        return [a, a[:, i] if a.ndim > 1 else a[i]]

    plan = tacit.function(revealed(program)).trace(
        tacit.secret("alice", shape=(4,), **I8), tacit.secret("bob", **I8)
    )
    with tacit.local(protocol=protocol) as run:
        got, there = run(plan, alice=[[1, 9, 3, 4]], bob=[2])
    assert got.tolist() == [1, 8, 7, 4]
    assert there == 7
