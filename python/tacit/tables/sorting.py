"""Rows in order: sorting and merging networks that carry columns along, and rows brought together.

A row here is one place in each of several tensors of one length. A network compares by keys, which are
tensors of integers, the first of them counting most, and moves rows as wholes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tacit._functions import concatenate, stack, where
from tacit.tables.ranges import within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit._tensor import Tensor
    from tacit.tables.column import Column

Rows: TypeAlias = "list[Tensor]"

KEY_BITS = 62
"""Bits of a key: differences of two have to fit in 64."""

Word: TypeAlias = "tuple[Tensor, int]"
"""Integers from 0 on, and how many of them there are."""


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
    """As few keys as words fit in."""
    keys: list[Word] = []
    for word, count in words:
        if keys and keys[-1][1] * count <= 1 << KEY_BITS:
            before, many = keys[-1]
            keys[-1] = before * count + word, many * count
        else:
            keys.append((word, count))
    return [key for key, _ in keys]


def sort_rows(keys: Rows, rows: Rows) -> tuple[Rows, Rows]:
    """Rows in ascending order of their keys, by a bitonic network (Batcher 1968); equal ones in any order.

    For n rows some n (log2 n) (log2 n + 1) / 4 comparisons, in log2 n (log2 n + 1) / 2 levels.
    """
    bundle = _Bundle(rows)
    all_rows = [*keys, *bundle.tensors]
    length = len(keys[0])
    run = 1
    while run < length:
        # Two neighbouring runs become one. What a last run has no neighbour for stays as it is.
        left = length % (2 * run)
        active = length - left if left <= run else length
        joined = _level([_valleys(one[:active], run) for one in all_rows], len(keys), run)
        half = run // 2
        while half:
            joined = _level(joined, len(keys), half)
            half //= 2
        if active < length:
            joined = [_joined([made, one[active:]]) for made, one in zip(joined, all_rows, strict=True)]
        all_rows = joined
        run *= 2
    return all_rows[: len(keys)], bundle.untied(all_rows[len(keys) :])


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
    """The rows to keep, moved to the front in their order, and which of the first `size` places are taken.

    Each moves to the left by how many before it go, a power of two after another, the least first, so that
    none meets another (Goodrich 2011, figure 2): a choice for each row and level, and no comparison of keys.
    """
    length = len(keep)
    if length == 1:
        return keep, rows
    gone = (~keep).cumsum()
    shifted = [gone]
    bits = []
    while shifted[-1]._kind.high > 0:
        shifted.append(shifted[-1] >> 1)
        bits.append(within(shifted[-2] - 2 * shifted[-1], 0, 1) == 1)
    step, taken = 1, keep
    bundle = _Bundle(rows)
    rows = bundle.tensors
    for level in range(len(bits)):
        if step >= length:
            break
        moves = bits[level] & taken
        arrives = moves[step:]
        rows = [_where_first(arrives, one[step:], one) for one in rows]
        bits = [*bits[: level + 1], *(_where_first(arrives, one[step:], one) for one in bits[level + 1 :])]
        stays = taken & ~moves
        taken = _joined([stays[: length - step] | arrives, stays[length - step :]])
        step *= 2
    return taken[:size], bundle.untied([one[:size] for one in rows])


def compact_to_end(keep: Tensor, rows: Rows, size: int) -> tuple[Tensor, Rows]:
    """The same, at the last `size` places."""
    taken, moved = compact(keep[::-1], [one[::-1] for one in rows], size)
    return taken[::-1], [one[::-1] for one in moved]


def differs_from_previous(keys: Rows) -> Tensor:
    """Whether a row has other keys than the one before it; the first has."""
    return _joined([_true(keys[0]), changes(keys)]) if len(keys[0]) > 1 else _true(keys[0])


def changes(keys: Rows) -> Tensor:
    """Whether each row but the first has other keys than the one before it."""
    result = keys[0][1:] != keys[0][:-1]
    for key in keys[1:]:
        result = result | (key[1:] != key[:-1])
    return result


def shifted_down(values: Tensor, fill: Any) -> Tensor:
    """Each value in the place after its own; in the first one `fill`."""
    first = values[:1] & False if values.dtype.kind == "bool" else values[:1] * 0 + fill
    return _joined([first, values[:-1]]) if len(values) > 1 else first


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


def _valleys(one: Tensor, run: int) -> Tensor:
    """The first of each two neighbouring runs backwards."""
    if run == 1:
        return one
    blocks = len(one) // (2 * run)
    parts = []
    if blocks:
        pairs = one[: 2 * run * blocks].reshape(blocks, 2, run, *one.shape[1:])
        parts.append(concatenate([pairs[:, :1, ::-1], pairs[:, 1:]], axis=1).reshape(-1, *one.shape[1:]))
    rest = one[2 * run * blocks :] if 2 * run * blocks < len(one) else None
    if rest is not None:
        parts += [rest[:run][::-1], rest[run:]]
    return _joined(parts)


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


def _where_first(condition: Tensor, chosen: Tensor, one: Tensor) -> Tensor:
    """`chosen` where the condition holds, which is shorter than `one`; else, and behind it, `one`."""
    count = len(condition)
    return _joined([_chosen(condition, chosen, one[:count]), one[count:]])


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
