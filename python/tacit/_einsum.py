"""`np.einsum` of secrets: sums of products over letters, as matrix products of two operands at a time."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit._functions import array_of
from tacit._location import fault
from tacit._tensor import Tensor, matmul, tensor_of
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable


def einsum(equation: str, *operands: Any, optimize: Any = True) -> Tensor:
    """`np.einsum`: sums of products over letters.

    Of three operands or more two are joined at a time, of which the product has fewest elements, and each
    product is rounded.

    Args:
        equation: Letters of each operand, and of what is made of them.
        operands: Tensors and public arrays.
        optimize: As NumPy has it, for no effect: the order is always chosen by the shapes.

    Raises:
        ProgramTypeError: It has dots, or a letter twice in one operand.
        ProgramError: It doesn't fit the operands.
    """
    del optimize
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    names = inputs.split(",")
    if not arrow:
        letters = inputs.replace(",", "")
        output = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    if "." in equation or not all(len(set(name)) == len(name) for name in names):
        raise fault(
            ProgramTypeError,
            f"np.einsum({equation!r}) is not supported on secrets",
            "each letter once in each operand, and no dots: np.diagonal(x) for ii->i, np.trace(x) for ii",
        )
    values = [array_of(value) for value in operands]
    lengths: dict[str, int] = {}
    fits = len(names) == len(values) and all(
        len(name) == value.ndim
        and all(lengths.setdefault(*pair) == pair[1] for pair in zip(name, value.shape, strict=True))
        for name, value in zip(names, values, strict=True)
    )
    if not fits or len(set(output)) != len(output) or not set(output) <= set(lengths):
        shapes = ", ".join(str(value.shape) for value in values)
        raise fault(ProgramError, f"np.einsum({equation!r}) does not fit operands of shapes {shapes}")
    terms = list(zip(names, values, strict=True))
    while len(terms) > 1:
        first, second = _next(terms, output, lengths)
        others = [term for place, term in enumerate(terms) if place not in (first, second)]
        wanted = {letter for name, _ in others for letter in name} | set(output)
        terms = [*others, _joined(terms[first], terms[second], wanted, lengths)]
    name, value = _summed(*terms[0], output)
    return tensor_of(_turned(name, value, output))


def _next(terms: list[tuple[str, Any]], output: str, lengths: dict[str, int]) -> tuple[int, int]:
    """Which two operands are joined next: public ones, where that makes nothing larger, then few elements."""

    def price(pair: tuple[int, int]) -> tuple[int, int]:
        (name, a), (other, b) = (terms[place] for place in pair)
        rest = "".join(name for place, (name, _) in enumerate(terms) if place not in pair)
        made = _count((set(name) | set(other)) & set(rest + output), lengths)
        is_free = not isinstance(a, Tensor) and not isinstance(b, Tensor) and made <= max(a.size, b.size)
        return 0 if is_free else made, _count(set(name + other), lengths)

    return min(itertools.combinations(range(len(terms)), 2), key=price)


def _joined(
    a: tuple[str, Any], b: tuple[str, Any], wanted: set[str], lengths: dict[str, int]
) -> tuple[str, Any]:
    """The product of two operands, summed over the letters that nobody wants: a matrix product, or many."""
    # What only one operand has, and nobody asks for, is summed first.
    name, value = _summed(*a, wanted | set(b[0]))
    other, beside = _summed(*b, wanted | set(a[0]))
    batch = "".join(letter for letter in name if letter in other and letter in wanted)
    inner = "".join(letter for letter in name if letter in other and letter not in wanted)
    left = "".join(letter for letter in name if letter not in other)
    right = "".join(letter for letter in other if letter not in name)
    batches = [_count(batch, lengths)] if batch else []
    rows, between, columns = (_count(letters, lengths) for letters in (left, inner, right))
    one = _turned(name, value, batch + left + inner).reshape(*batches, rows, between)
    two = _turned(other, beside, batch + inner + right).reshape(*batches, between, columns)
    if isinstance(one, Tensor) or isinstance(two, Tensor):
        made: Any = matmul(one, two)
    else:
        # Bools count, and integers of all kinds have room, as beside wider operands of NumPy's.
        whole = one.dtype.kind in "biu" and two.dtype.kind in "biu"
        made = np.matmul(one, two, dtype=np.int64 if whole else np.result_type(one, two))
    return batch + left + right, made.reshape(tuple(lengths[letter] for letter in batch + left + right))


def _summed(name: str, value: Any, wanted: Iterable[str]) -> tuple[str, Any]:
    """An operand, summed over the letters that nobody wants."""
    gone = tuple(place for place, letter in enumerate(name) if letter not in wanted)
    kept = "".join(letter for letter in name if letter in wanted)
    return kept, value.sum(axis=gone) if gone else value


def _turned(name: str, value: Any, order: str) -> Any:
    """An operand with its axes in another order."""
    return value.transpose(*(name.index(letter) for letter in order)) if len(order) > 1 else value


def _count(letters: Iterable[str], lengths: dict[str, int]) -> int:
    """How many elements an array of these letters has."""
    return math.prod(lengths[letter] for letter in letters)
