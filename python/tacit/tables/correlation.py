"""Deviations and correlations of columns, from what groups or windows sum up."""

from __future__ import annotations

import math

from tacit import _elementary
from tacit._functions import clip
from tacit._ranges import within
from tacit._statistics import root_of
from tacit.dtypes import fixed
from tacit.tables.alignment import as_number, scaled
from tacit.tables.column import Column, both_valid, made
from tacit.tables.reals import with_value
from tacit.tables.rows import by_row


@by_row
def correlation(both: Column, one: Column, other: Column) -> Column:
    """`both / sqrt(one * other)`, from -1 to 1 and within two steps of fixed(16); null where these are 0.

    All are of one scale: raw values of any places have the same quotient.
    """
    columns = both, one, other
    if any(column.type.kind == "number" for column in columns):
        bits = max(column.type.places for column in columns if column.type.kind == "number")
        mixed, first, second = (
            _elementary.raw_of(as_number(column, bits).astype(fixed(bits))) for column in columns
        )
    else:
        mixed, first, second = (column.value for column in columns)
    # Roots have 16 fraction bits, which are in raw values.
    part = _elementary.raised_ratio(mixed, _elementary.raw_of(_elementary.sqrt(first)), 32)
    ratio = _elementary.raised_ratio(part, _elementary.raw_of(_elementary.sqrt(second)), 16)
    there, valid = (first != 0) & (second != 0), both_valid(*columns)
    there = there if valid is None else valid & there
    return made("number", _elementary.raw_of(clip(ratio, -(1 << 16), 1 << 16), 16), places=16, valid=there)


@by_row
def deviation(squares: Column, pairs: Column) -> Column:
    """`sqrt(squares / pairs)` of what isn't below 0: within a step, and 2**-30 of itself; null without pairs.

    It needs no room for the quotient.
    """
    kind = squares.type
    own = kind.places if kind.kind == "number" else 0
    bits = max(own, 16)
    root, finer = root_of(_elementary.raw_of(squares.value), own, bits + 4)
    divisor = _elementary.raised_root(scaled(pairs, 0 if own else kind.places), 60)
    raw = _elementary.raised_ratio(root, divisor, bits + 30 - finer)
    most = math.isqrt((max(kind.high, 0) << 2 * bits) // kind.unit) + 2
    if most < 1 << _elementary.LARGEST:
        raw = within(raw, 0, most)
    there, valid = pairs.value != 0, both_valid(squares, pairs)
    return with_value(_elementary.raw_of(raw, bits), there if valid is None else valid & there)
