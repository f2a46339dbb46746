"""Tables of polynomials by pieces, for functions of secrets: as few ANDs as an error of one step leaves."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    Real: TypeAlias = Callable[[Any], Any]

_GUARD = 4
"""Bits that coefficients have beyond those of results."""

_ERROR = 0.95
"""Steps that a result may be off at the places that are tried."""

_PIECES = 1 << 11
"""Pieces that a table may have."""


@dataclass(frozen=True, slots=True)
class Table:
    """A function by pieces, as the core takes it: `Builder.piecewise` says what is what."""

    bits: int
    parts: int
    low: int | None
    high: int | None
    places: int
    terms: int
    coefficients: tuple[int, ...]

    def arguments(self, result: int) -> tuple[Any, ...]:
        """What `Builder.piecewise` takes beside the value, for results of so many fraction bits."""
        return (
            self.bits,
            self.parts,
            self.low,
            self.high,
            self.places,
            _GUARD,
            self.terms,
            self.coefficients,
            result,
        )


@functools.lru_cache(maxsize=256)
def even(
    function: Real,
    frac: int,
    result: int,
    low: int,
    high: int,
    ends: tuple[int, int],
    relative: float = 0.0,
) -> Table:
    """Pieces of one length from the raw value `low` to `high`.

    Args:
        function: Of arrays of real numbers.
        frac: Fraction bits of its arguments.
        result: Those of its results.
        low: The least argument, as a raw value.
        high: The largest.
        ends: The least and the largest raw result that there may be.
        relative: What a result may be off as a part of itself, where that is more than a step.
    """
    length = max(high - low, 1).bit_length()
    best: tuple[int, Table] | None = None
    for terms in (2, 3, 4):
        for bits in range(length, max(length - 12, -1), -1):
            pieces = ((high - low) >> bits) + 1
            if pieces > _PIECES:
                break
            places = min(bits, 24)
            # The last piece ends where the domain does: beyond it a function may be beyond its ends.
            first = high + 1 - (pieces << bits)
            starts = [first + (piece << bits) for piece in range(pieces)]
            table = _fitted(
                function, frac, result, starts, [1 << bits] * pieces, places, terms, ends, relative
            )
            if table is None:
                continue
            cost = pieces + places * sum(_bits(table[degree::terms]) for degree in range(1, terms))
            if best is None or cost < best[0]:
                best = cost, Table(bits, 0, first, high, places, terms, tuple(table))
            break
    if best is None:
        raise ValueError("there is no table of so few pieces")
    return best[1]


@functools.lru_cache(maxsize=256)
def octaves(function: Real, frac: int, result: int, bits: int) -> Table:
    """Pieces of octaves, of raw values from 1 to 2**bits - 1."""
    best: tuple[int, Table] | None = None
    for terms in (2, 3, 4):
        for parts in range(min(bits, 10)):
            if bits << parts > _PIECES:
                break
            rest = bits - 1 - parts
            places = min(rest, 24)
            lengths = [2.0 ** (octave - parts) for octave in range(bits) for _ in range(1 << parts)]
            exact = [
                2.0**octave * (1 + part / (1 << parts))
                for octave in range(bits)
                for part in range(1 << parts)
            ]
            limits = (-(1 << 46), 1 << 46)
            table = _fitted(function, frac, result, exact, lengths, places, terms, limits, 0.0)
            if table is None:
                continue
            cost = (bits << parts) + places * sum(_bits(table[degree::terms]) for degree in range(1, terms))
            if best is None or cost < best[0]:
                best = cost, Table(bits, parts, None, None, places, terms, tuple(table))
            break
    if best is None:
        raise ValueError("there is no table of so few pieces")
    return best[1]


def _fitted(
    function: Real,
    frac: int,
    result: int,
    starts: Any,
    lengths: Any,
    places: int,
    terms: int,
    ends: tuple[int, int],
    relative: float,
) -> list[int] | None:
    """Coefficients of polynomials through Chebyshev's nodes of each piece, if they are near enough.

    They are part of a program, which all trace alike, on whatever processor. So nothing here is done by what
    chooses instructions by the processor, as libraries do for linear algebra and for functions of doubles.
    """
    import numpy as np

    starts, lengths = (np.asarray(each, dtype=np.longdouble) for each in (starts, lengths))
    odd = (2 * np.arange(terms) + 1).astype(np.longdouble)
    nodes = (1 - np.cos(odd * np.longdouble(math.pi) / (2 * terms))) / 2
    unit = 2.0**result

    def exact(parts: Any) -> Any:
        return function((starts[:, None] + lengths[:, None] * parts) / 2.0**frac) * unit

    rows = np.floor(_through(nodes, exact(nodes)) * 2.0**_GUARD + 0.5)
    if np.abs(rows).max() >= 2.0**61:
        return None
    table = rows.astype(np.int64)
    # The bounds that the core finds are made to be within the ends.
    low, high = _bounds(table, places)
    half = 1 << _GUARD >> 1
    table[:, 0] += np.maximum((ends[0] << _GUARD) - half - low, 0)
    table[:, 0] -= np.maximum(high - ((ends[1] << _GUARD) + half - 1), 0)
    tried = np.unique(np.linspace(0, (1 << places) - 1, 65).astype(np.int64))
    got = table[:, -1:]
    for degree in range(terms - 2, -1, -1):
        got = table[:, degree : degree + 1] + _product(got, tried, places)
    got = (got + half) >> _GUARD
    for within in (0.0, 0.999):
        meant = exact((tried + within) / 2.0**places) if places else exact(np.array([0.0]))
        if (np.abs(got - meant) > np.maximum(_ERROR, np.abs(meant) * relative)).any():
            return None
        if not places or (lengths <= 2.0**places).all():
            break
    return [int(number) for number in table.ravel()]


def _through(nodes: Any, values: Any) -> Any:
    """Coefficients of polynomials with these values at the nodes, lowest first: by Newton's differences."""
    import numpy as np

    count = len(nodes)
    differences = list(values.T)
    for order in range(1, count):
        for at in range(count - 1, order - 1, -1):
            step = nodes[at] - nodes[at - order]
            differences[at] = (differences[at] - differences[at - 1]) / step
    made = [differences[-1]]
    for node, difference in zip(nodes[-2::-1], differences[-2::-1], strict=True):
        # Times `u - node`, and the difference.
        shifted = [0 * difference, *made]
        made = [one - node * other for one, other in zip(shifted, [*made, 0 * difference], strict=True)]
        made[0] = made[0] + difference
    return np.stack(made, axis=-1)


def _product(sums: Any, u: Any, places: int) -> Any:
    """`floor(sums * u / 2**places)`, without leaving 64 bits."""
    high, low = sums >> 32, sums & 0xFFFFFFFF
    # `low * u` is below 2**56, and what is above the places of `high * u` has no fraction to lose but these.
    upper = high * u
    return ((upper >> places) << 32) + (((upper & ((1 << places) - 1)) << 32) + low * u >> places)


def _bounds(table: Any, places: int) -> tuple[Any, Any]:
    """The least and the largest sum of each piece, by intervals, as the core finds them."""
    import numpy as np

    last = np.int64((1 << places) - 1)
    low = high = table[:, -1]
    for degree in range(table.shape[1] - 2, -1, -1):
        low = table[:, degree] + np.minimum(0, _product(low, last, places))
        high = table[:, degree] + np.maximum(0, _product(high, last, places))
    return low, high


def _bits(column: list[int]) -> int:
    return max(abs(number).bit_length() for number in column) + 1
