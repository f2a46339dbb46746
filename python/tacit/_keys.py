"""Keys that have secrets among their entries: `x[i, j]`, `x[:, j]`, `x[mask, 2]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit._index import is_plain
from tacit._location import fault
from tacit._ranges import within
from tacit._tensor import Tensor, binary, matmul, multiply
from tacit.errors import ProgramError, ProgramTypeError, SecretError

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a comparison with a place and its bit as a number take, and two digits besides: in products.
PLACE, DIGITS = 5, 60

# Places that are compared, of all indices, from which on two digits are taken: to look up, where products
# fall away, too, and to write, where they save comparisons alone, for eight to fifteen rounds more.
MANY, MANY_WRITTEN = 1024, 4096

# Places of an axis from which on counts by two digits send less under most protocols.
MANY_COUNTED = 64


def expanded(a: Tensor, entries: Sequence[Any]) -> tuple[list[Any], list[tuple[int, Tensor]]]:
    """A key with whole axes in the place of secrets, and the secrets with their axes in what it chooses.

    Raises:
        ProgramTypeError: A secret is no index.
        SecretError: Public arrays stand beside secrets.
        ProgramError: There are too many entries, or a mask has another shape.
    """
    for entry in entries:
        if isinstance(entry, Tensor):
            check_index(entry)
        elif not is_plain(entry):
            raise fault(
                SecretError,
                "a secret index can't stand beside public arrays or lists",
                "index step by step: x[[0, 2]][:, i]",
            )
    named = sum(_axes(entry) for entry in entries)
    if named > a.ndim or sum(entry is ... for entry in entries) > 1:
        raise fault(ProgramError, f"a key for {named} axes of a tensor of shape {a.shape}")
    public: list[Any] = []
    secrets: list[tuple[int, Tensor]] = []
    own = axis = 0
    for entry in entries:
        if entry is ...:
            public.append(...)
            own, axis = own + a.ndim - named, axis + a.ndim - named
            continue
        if isinstance(entry, Tensor):
            if entry.dtype.kind == "bool" and entry.shape != a.shape[own : own + entry.ndim]:
                raise fault(
                    ProgramError,
                    f"a mask of shape {entry.shape} beside a tensor of shape {a.shape}",
                    "a mask has the shape of the axes that it chooses from",
                )
            public += [slice(None)] * _axes(entry)
            secrets.append((axis, entry))
            axis += _axes(entry)
        else:
            public.append(entry)
            axis += entry is None or isinstance(entry, slice)
        own += _axes(entry)
    return public, secrets


def indexed(a: Tensor, public: Sequence[Any]) -> Tensor:
    """What a public key chooses."""
    chosen: Tensor = a[tuple(public)]
    return chosen


def looked_up(a: Tensor, index: Tensor) -> Tensor:
    """`a[index]`, for secret integers, along the first axis.

    Negative indices count from the end, and one that is outside gives zeros.
    """
    check_index(index)
    if not a.shape:
        raise fault(ProgramError, "a value without axes has no elements to choose from")
    if a.dtype.kind == "bool":
        return looked_up(multiply(a, 1), index) > 0
    found = _rows(a.reshape(a.shape[0], -1), index.reshape(-1))
    return found.reshape(*index.shape, *a.shape[1:])


def _rows(rows: Tensor, index: Tensor) -> Tensor:
    """The rows that secret integers mean: a comparison with each place and a product, or by two digits.

    The last digit chooses a row of each block, the first one chooses of those.
    """
    length, width = rows.shape
    share = _share(length, width)
    # Of few places rounds are what takes time, and two digits take some more.
    if share >= length or length * index.size < MANY:
        return _row_or_zeros(matmul(_compared(index, length), rows), rows)
    _, begun, last = _digits(index, length, share)
    block = within(begun[:, :-1] - begun[:, 1:], 0, 1)
    blocks = block.shape[1]
    by_last = _filled(rows, blocks * share).reshape(blocks, share, width).transpose(1, 0, 2)
    chosen = _row_or_zeros(matmul(last, by_last.reshape(share, -1)), rows).reshape(-1, blocks, width)
    found = matmul(block.reshape(-1, 1, blocks), chosen)
    return _row_or_zeros(found.reshape(-1, width), rows)


def _filled(rows: Tensor, length: int) -> Tensor:
    """Rows and zeros behind them."""
    from tacit._functions import concatenate

    missing = length - len(rows)
    return concatenate([rows, rows[:1].repeat(missing, axis=0) * 0]) if missing else rows


def _digits(index: Tensor, length: int, share: int) -> tuple[Tensor, Tensor, Tensor]:
    """Two digits of each index, for blocks of `share` places.

    Which blocks have begun at its place, and the end of all, as bools and as numbers: the place is in the
    last of them, and in none if all have, or none has. And which place of a block is its own.
    """
    import numpy as np

    from tacit._functions import where

    if index.range[0] < 0:
        index = where(index < 0, index + length, index)
    blocks = -(-length // share)
    begun = index.reshape(-1, 1) >= np.arange(blocks + 1) * share
    counted = multiply(begun, 1)
    last = index - counted[:, 1:-1].sum(axis=1) * share
    if index.range[0] >= 0 and index.range[1] < blocks * share:
        last = within(last, 0, share - 1)
    return begun, counted, binary("equal", last.reshape(-1, 1), np.arange(share))


def _row_or_zeros(found: Tensor, rows: Tensor) -> Tensor:
    """A sum of rows of which all but one, or all, are zeros."""
    if rows.dtype.kind not in ("int", "fixed"):
        return found
    return within(found, min(rows._kind.low, 0), max(rows._kind.high, 0))


def _share(length: int, width: int) -> int:
    """Rows of a block, a power of two, or all rows where that costs less."""

    def price(share: int) -> int:
        blocks = -(-length // share)
        return PLACE * (share + blocks) + 4 * blocks * width + DIGITS

    best = min((1 << bits for bits in range(1, length.bit_length())), key=price, default=length)
    # Some protocols gain less.
    return best if price(best) < 0.6 * PLACE * length else length


def row_by_row(entries: Sequence[Any]) -> Any:
    """The public places of `x[places, k]` with as many secret `k`, or `None` for another key.

    Raises:
        ProgramTypeError: Such a secret is no integer.
    """
    import numpy as np

    if len(entries) != 2 or not isinstance(entries[1], Tensor) or isinstance(entries[0], (Tensor, slice)):
        return None
    places = np.asarray(entries[0]) if isinstance(entries[0], (list, np.ndarray)) else None
    if places is None or places.dtype.kind not in "iu" or not places.ndim or places.shape != entries[1].shape:
        return None
    check_index(entries[1])
    return places if entries[1].dtype.kind == "int" else None


def in_rows(rows: Tensor, index: Tensor) -> Tensor:
    """Which element of each row an index means, in the shape of the rows."""
    chosen = hot(index, rows.shape[index.ndim])
    return chosen.reshape(*chosen.shape, *(1,) * (rows.ndim - chosen.ndim))


def looked_up_in(a: Tensor, entries: Sequence[Any]) -> Any:
    """`a[entries]`, for a key with secrets among public entries."""
    places = row_by_row(entries) if a.ndim > 1 else None
    if places is not None:
        from tacit._functions import where

        rows, index = a[places], entries[1]
        nothing = False if a.dtype.kind == "bool" else 0
        found = where(in_rows(rows, index), rows, nothing)
        return found.max(index.ndim) if a.dtype.kind == "bool" else found.sum(index.ndim)
    public, secrets = expanded(a, entries)
    block = indexed(a, public)
    kinds = [entry.dtype.kind for _, entry in secrets]
    if kinds == ["bool"] and secrets[0][0] == 0:
        from tacit._selection import Selection

        return Selection(block, secrets[0][1])
    several = any(entry.ndim for _, entry in secrets)
    numbers = [entry for entry in public if is_plain(entry) and not isinstance(entry, slice)]
    if "bool" in kinds or (several and (len(secrets) > 1 or any(one not in (..., None) for one in numbers))):
        raise fault(
            SecretError,
            "an array of secret indices, or a secret mask, has to be the only one that chooses",
            "index step by step: x[2][i]; or in a row of all: x.reshape(-1)[i * x.shape[1] + j]",
        )
    for axis, index in reversed(secrets):
        others = [place for place in range(block.ndim) if place != axis]
        found = looked_up(block.transpose(axis, *others), index)
        # The axes of the index stand where the one was that they chose from.
        count = index.ndim
        rest = range(count, found.ndim)
        order = [*rest[:axis], *range(count), *rest[axis:]]
        block = found.transpose(*order) if len(order) > 1 else found
    return block


def hot(index: Tensor, length: int) -> Tensor:
    """Which place of an axis each secret index means: a bool for each, on a new last axis.

    By a comparison with each place, or by two digits and a product of their bits for each place.
    """
    share = _share_of_bits(length)
    if share >= length or length * index.size < MANY_WRITTEN:
        return _compared(index, length)
    begun, _, last = _digits(index.reshape(-1), length, share)
    block = begun[:, :-1] ^ begun[:, 1:]
    both = block.reshape(index.size, -1, 1) & last.reshape(index.size, 1, -1)
    return both.reshape(index.size, -1)[:, :length].reshape(*index.shape, length)


def counts(index: Tensor, length: int) -> Tensor:
    """How many of a row of indices from 0 on mean each place of an axis.

    By a comparison with each place, or by two digits, of whose bits a product of matrices has all counts.
    """
    if length < MANY_COUNTED or length * index.size < MANY_WRITTEN:
        return _compared(index, length).sum(axis=0)
    _, counted, last = _digits(index, length, _share_of_bits(length))
    block = within(counted[:, :-1] - counted[:, 1:], 0, 1)
    return matmul(block.T, last + 0).reshape(-1)[:length].copy()


def _compared(index: Tensor, length: int) -> Tensor:
    """What `hot` says, by a comparison with each place."""
    import numpy as np

    column = index.reshape(*index.shape, 1)
    chosen = binary("equal", column, np.arange(length))
    if index.range[0] < 0:
        chosen = chosen | binary("equal", column, np.arange(-length, 0))
    return chosen


def _share_of_bits(length: int) -> int:
    """Places of a block, a power of two, so that there are about as many blocks."""
    return 1 << ((length - 1).bit_length() + 1) // 2


def check_index(entry: Tensor) -> None:
    """Refuses secrets that aren't integers or bools."""
    if entry.dtype.kind not in ("int", "bool"):
        raise fault(
            ProgramTypeError,
            f"an index is an integer, not {entry.dtype}",
            "convert it: i.astype(tacit.int32)",
        )


def _axes(entry: Any) -> int:
    """How many axes an entry chooses from."""
    if entry is None or entry is ...:
        return 0
    return entry.ndim if isinstance(entry, Tensor) and entry.dtype.kind == "bool" else 1
