"""Rows in order: sorted, merged and brought together.

A row here is one place in each of several tensors of one length. Keys are tensors of integers, the first of
them counting most; rows move as wholes.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit._functions import concatenate, stack, where
from tacit._location import fault
from tacit._ranges import within
from tacit.errors import ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit._tensor import Tensor
    from tacit.tables.column import Column

Rows: TypeAlias = "list[Tensor]"

KEY_BITS = 62
"""Bits of a key with a row's place below: where a network compares them, differences have to fit in 64."""

FEW_SUMS = 64
"""Values that are summed up by doublings."""

Word: TypeAlias = "tuple[Tensor, int]"
"""Integers from 0 on, and how many of them there are."""


def refuse_texts(name: str, column: Column) -> None:
    """Refuses an order by a column whose values have none.

    Raises:
        ProgramTypeError: It is of texts.
    """
    if column.type.kind == "text":
        raise fault(
            ProgramTypeError,
            f"{name} is shared as hashes, whose order isn't that of the texts",
            "declare it as a category, or put the rows in order after the run",
        )


def words_of(column: Column, *, descending: bool = False) -> list[Word]:
    """What a column is ordered by: nulls last, in whichever direction."""
    words: list[Word] = []
    for part in column.parts:
        raw = part + 0 if part.dtype.kind == "bool" else part._made(part._at().raw_as(part._id, 0))
        low, high = raw._kind.low, raw._kind.high
        word = high - raw if descending else raw - low
        # What is written where there is nothing has to be the same everywhere.
        words.append((word if column.valid is None else where(column.valid, word, 0), high - low + 1))
    if column.valid is not None:
        words.insert(0, (1 - column.valid, 2))
    return words


def packed(words: Sequence[Word]) -> Rows:
    """As few keys as words fit in, with a row's place below each."""
    room = KEY_BITS - (len(words[0][0]) - 1).bit_length()
    keys: list[Word] = []
    for word, count in itertools.chain.from_iterable(_fitting(*one, room) for one in words):
        if keys and keys[-1][1] * count <= 1 << room:
            before, many = keys[-1]
            keys[-1] = before * count + word, many * count
        else:
            keys.append((word, count))
    return [key for key, _ in keys]


def _fitting(word: Tensor, count: int, room: int) -> list[Word]:
    """A word of more bits than there is room for as two."""
    if count <= 1 << room:
        return [(word, count)]
    half = (count - 1).bit_length() // 2
    high = word >> half
    return [
        (high, ((count - 1) >> half) + 1),
        (within(word - high * (1 << half), 0, (1 << half) - 1), 1 << half),
    ]


def sort_rows(keys: Rows, rows: Rows) -> tuple[Rows, Rows]:
    """Rows in ascending order of their keys; equal ones keep theirs.

    One sort for each key, the last one first, with as many shuffles of each column.
    """
    from tacit._order import sort_by

    moved = [*keys, *rows]
    for place in reversed(range(len(keys))):
        others = [one for at, one in enumerate(moved) if at != place]
        key, *others = sort_by(moved[place], *others)
        moved = [*others[:place], key, *others[place:]]
    return moved[: len(keys)], moved[len(keys) :]


def merge_rows(keys: tuple[Rows, Rows], rows: tuple[Rows, Rows]) -> tuple[Rows, Rows]:
    """Two lots of rows, each in ascending order, as one: n log2 n / 2 comparisons at most."""
    count, length = len(keys[0]), len(keys[0][0]) + len(keys[1][0])
    # What descends and then ascends goes through the last levels of the network.
    bundle = _Bundle([concatenate([a[::-1], b]) for a, b in zip(*rows, strict=True)])
    merged = [concatenate([a[::-1], b]) for a, b in zip(*keys, strict=True)] + bundle.tensors
    half = 1 << max((length - 1).bit_length() - 1, 0)
    while half and length > 1:
        merged = _level(merged, count, half)
        half //= 2
    return merged[:count], bundle.untied(merged[count:])


def compact(keep: Tensor, rows: Rows, size: int) -> tuple[Tensor, Rows]:
    """The rows to keep, moved to the front in their order, and which of the first `size` places are taken."""
    (gone,), moved = sort_rows([~keep], rows)
    return ~gone[:size], [one[:size] for one in moved]


def compact_to_end(keep: Tensor, rows: Rows, size: int) -> tuple[Tensor, Rows]:
    """The same, at the last `size` places."""
    (kept,), moved = sort_rows([keep], rows)
    return kept[-size:], [one[-size:] for one in moved]


def differs_from_previous(keys: Rows) -> Tensor:
    """Whether a row has other keys than the one before it; the first has."""
    return _joined([_true(keys[0]), changes(keys)]) if len(keys[0]) > 1 else _true(keys[0])


def changes(keys: Rows) -> Tensor:
    """Whether each row but the first has other keys than the one before it."""
    result = keys[0][1:] != keys[0][:-1]
    for key in keys[1:]:
        result = result | (key[1:] != key[:-1])
    return result


def shifted_down(values: Tensor, fill: Any, places: int = 1) -> Tensor:
    """Each value so many places after its own; in the first ones `fill`."""
    first = values[:places]
    first = first & False if values.dtype.kind == "bool" else first * 0 + fill
    return _joined([first, values[:-places]]) if len(values) > places else first


def running(starts: Tensor, values: Tensor, join: Any) -> Tensor:
    """What `join` makes of each value and all before it since the last start."""
    reach, length = 1, len(values)
    while reach < length:
        both = join(values[:-reach], values[reach:])
        open_still = ~starts[reach:]
        values = _joined([values[:reach], _chosen(open_still, both, values[reach:])])
        starts = _joined([starts[:reach], starts[reach:] | starts[:-reach]])
        reach *= 2
    return values


def summed(values: Tensor) -> Tensor:
    """The sums up to each value, by sums of pairs (Brent and Kung 1982): two additions for each, free."""
    length = len(values)
    if length <= FEW_SUMS:
        return values.cumsum()
    end = length // 2 * 2
    odd = values[1:end:2]
    pairs = summed(values[:end:2] + odd)
    # A sum and the next one are of as many of the least or the largest.
    low, high = min(pairs._kind.low, values._kind.low), max(pairs._kind.high, values._kind.high)
    before = within(pairs - odd, low, high)
    sums = stack([before, pairs], axis=1).reshape(-1)
    return sums if end == length else _joined([sums, sums[-1:] + values[-1:]])


def either(a: Tensor, b: Tensor) -> Tensor:
    """Whether one of two bools holds."""
    return a | b


def parity(values: Tensor) -> Tensor:
    """Whether an odd number of bools holds up to each place. Free."""
    reach = 1
    while reach < len(values):
        values = _joined([values[:reach], values[reach:] ^ values[:-reach]])
        reach *= 2
    return values


class _Bundle:
    """Tensors that move together, as few as there are widths of what they hold: 1 bit, or 8 to 64."""

    def __init__(self, tensors: Rows) -> None:
        self._places: dict[int, list[int]] = {}
        self._like = [(one.dtype, one._kind.low, one._kind.high) for one in tensors]
        for place, one in enumerate(tensors):
            bits = max(one._kind.high.bit_length(), (-1 - one._kind.low).bit_length()) + 1
            width = 1 if one.dtype.kind == "bool" else max(8, 1 << (bits - 1).bit_length())
            self._places.setdefault(width, []).append(place)
        self.tensors = []
        for width, places in self._places.items():
            several = [tensors[place] for place in places]
            if width > 1:
                several = [one._made(one._at().raw_as(one._id, 0)) for one in several]
            self.tensors.append(stack(several, axis=1) if len(several) > 1 else several[0])

    def untied(self, bundled: Rows) -> Rows:
        """The tensors apart again, after they moved."""
        apart: dict[int, Tensor] = {}
        for places, tensor in zip(self._places.values(), bundled, strict=True):
            for column, place in enumerate(places):
                one = tensor[:, column] if len(places) > 1 else tensor
                dtype, low, high = self._like[place]
                if dtype.kind != "bool":
                    one = within(one, low, high)
                    one = one._made(one._at().raw_as(one._id, dtype.bits)) if dtype.kind == "fixed" else one
                apart[place] = one
        return [apart[place] for place in range(len(apart))]


def _level(rows: Rows, keys: int, half: int) -> Rows:
    """Puts in order what is `half` places apart in each block of twice as many; the last may be a part."""
    length = len(rows[0])
    blocks = length // (2 * half)
    rest = max(length - 2 * half * blocks - half, 0)
    if not blocks and not rest:
        return rows
    lows, highs = [], []
    for one in rows:
        low, high = [], []
        if blocks:
            pairs = one[: 2 * half * blocks].reshape(blocks, 2, half, *one.shape[1:])
            low.append(pairs[:, 0].reshape(-1, *one.shape[1:]))
            high.append(pairs[:, 1].reshape(-1, *one.shape[1:]))
        if rest:
            low.append(one[2 * half * blocks :][:rest])
            high.append(one[2 * half * blocks + half :])
        lows.append(_joined(low))
        highs.append(_joined(high))
    swap = _greater(lows[:keys], highs[:keys])
    result = []
    for one, left, right in zip(rows, lows, highs, strict=True):
        least, most = _exchanged(swap, left, right)
        parts = []
        if blocks:
            count = blocks * half
            pair = [end[:count].reshape(blocks, 1, half, *one.shape[1:]) for end in (least, most)]
            parts.append(concatenate(pair, axis=1).reshape(-1, *one.shape[1:]))
        if rest:
            start = blocks * half
            middle = one[2 * half * blocks + rest : 2 * half * blocks + half]
            parts += [least[start:], *([middle] if rest < half else []), most[start:]]
        elif 2 * half * blocks < length:
            parts.append(one[2 * half * blocks :])
        result.append(_joined(parts))
    return result


def _greater(a: Rows, b: Rows) -> Tensor:
    """Whether keys are larger than others, the first counting most."""
    result = a[-1] > b[-1]
    for one, other in zip(a[-2::-1], b[-2::-1], strict=True):
        result = (one > other) | ((one == other) & result)
    return result


def _exchanged(swap: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    swap = swap.reshape(-1, 1) if low.ndim > 1 else swap
    if low.dtype.kind == "bool":
        change = (low ^ high) & swap
        return low ^ change, high ^ change
    return where(swap, high, low), where(swap, low, high)


def _chosen(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    condition = condition.reshape(-1, 1) if a.ndim > 1 else condition
    return ((a ^ b) & condition) ^ b if a.dtype.kind == "bool" else where(condition, a, b)


def _joined(parts: Sequence[Tensor]) -> Tensor:
    there = [part for part in parts if part is not None]
    return there[0] if len(there) == 1 else concatenate(there)


def _true(beside: Tensor) -> Tensor:
    """One bool that holds."""
    return beside._made(beside._at().constant(_one_true(), "bool", 1))


def _one_true() -> Any:
    import numpy as np

    return np.array([True])
