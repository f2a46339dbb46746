"""Correlations of columns, from what groups or windows sum up."""

from __future__ import annotations

from tacit import _elementary
from tacit._functions import clip
from tacit.dtypes import fixed
from tacit.tables.column import Column, as_number, both_valid, made
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
