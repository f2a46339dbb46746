"""From an owner's table to the inputs that it is shared as; what doesn't fit is named by column and row."""

from __future__ import annotations

import datetime
import decimal
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError
from tacit.tables.sources import columns_of
from tacit.tables.types import EPOCH, ColumnType, halves, hash_of
from tacit.tables.words import matcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.tables.schema import Schema


def encoded(schema: Schema, value: Any) -> dict[str, Any]:
    """An array for each input of a table: its rows in the schema's order, behind what fills it up.

    Rows that fill it up are copies of the first, which don't count.

    Raises:
        InputError: A value doesn't fit; nothing was sent.
    """
    import numpy as np

    title = f"table {schema.name} of {schema.owner}"
    sources = {name: kind.source or name for name, kind in schema.columns.items()}
    given = columns_of(value, list(dict.fromkeys(sources.values())), title)
    count = len(next(iter(given.values()))[0])
    if count > schema.rows:
        raise InputError(f"{title} has {count} rows, and the plan has room for rows={schema.rows}")
    parts: dict[tuple[str, int], Any] = {}
    for name, kind in schema.columns.items():
        values, missing = given[sources[name]]
        if missing.any() and not kind.null:
            raise InputError(
                f"{title}, column {name!r}, row {missing.argmax()}: the value is missing (NA), as are "
                f"{missing.sum()} in all; fill or drop them, or declare the column with null=True"
            )
        raw = _Converter(f"{title}, column {name!r}", kind)(values, missing)
        for part, numbers in enumerate(_split(kind, raw)):
            parts[name, part] = numbers
        if kind.null:
            parts[name, -1] = ~missing
    chosen = _order(schema, parts, count)
    for key in schema.unique:
        _check_unique(title, key, _keys(schema, key, parts))
    fill = np.full(schema.rows - count, chosen[0] if count else 0, dtype=np.int64)
    places = np.concatenate([fill, chosen])
    arrays: dict[str, Any] = {}
    for name, place in schema.inputs().items():
        if place is None:
            arrays[name] = np.arange(schema.rows) >= schema.rows - count
            continue
        kind = schema.columns[place[0]]
        numbers = parts[place]
        if not count:
            numbers = np.full(1, False if place[1] < 0 or kind.kind == "boolean" else kind.low)
        if kind.kind == "number" and place[1] == 0:
            numbers = numbers / kind.unit
        arrays[name] = numbers[places]
    return arrays


def _split(kind: ColumnType, raw: Any) -> list[Any]:
    import numpy as np

    if kind.kind != "text":
        return [raw]
    both = np.array([halves(int(one)) for one in raw], dtype=np.int64).reshape(-1, 2)
    return [both[:, 0], both[:, 1]]


def _keys(schema: Schema, columns: tuple[str, ...], parts: dict[tuple[str, int], Any]) -> list[Any]:
    return [parts[name, part] for name in columns for part in range(schema.columns[name].parts)]


def _order(schema: Schema, parts: dict[tuple[str, int], Any], count: int) -> Any:
    """The places of rows in ascending order."""
    import numpy as np

    if not schema.order:
        return np.arange(count)
    # The last key counts most.
    return np.lexsort(_keys(schema, schema.order, parts)[::-1])


def _check_unique(title: str, names: tuple[str, ...], keys: list[Any]) -> None:
    import numpy as np

    order = np.lexsort(keys[::-1])
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    if same.any():
        first, second = sorted(order[same.argmax() : same.argmax() + 2])
        raise InputError(
            f"{title}: rows {first} and {second} have the same {', '.join(names)}, which is declared unique"
        )


class _Converter:
    """Raw values of one column, or an error that names the first row that has none."""

    def __init__(self, title: str, kind: ColumnType) -> None:
        self._title, self._kind = title, kind

    def __call__(self, values: Any, missing: Any) -> Any:
        import numpy as np

        kind = self._kind
        raw = np.full(len(values), False if kind.kind == "boolean" else kind.low)
        there = ~missing
        rows = np.nonzero(there)[0]
        if not len(rows):
            return raw
        found = getattr(self, f"_{kind.kind}")(values[there], rows)
        if kind.kind not in ("boolean", "text"):
            beyond = (found < kind.low) | (found > kind.high)
            if beyond.any():
                first = int(beyond.argmax())
                self._fail(rows[first], values[there][first], f"is beyond what is declared, {kind}")
        raw = raw.astype(found.dtype)
        raw[there] = found
        return raw

    def _fail(self, row: int, value: Any, why: str) -> None:
        shown = value.item() if hasattr(value, "item") else value
        raise InputError(f"{self._title}, row {row}: {shown!r} {why}")

    def _each(self, values: Any, rows: Any, convert: Callable[[Any], Any], why: str) -> Any:
        import numpy as np

        made = []
        for row, value in zip(rows, values, strict=True):
            try:
                made.append(convert(value))
            except (ValueError, TypeError, ArithmeticError):
                self._fail(row, value, why)
        if any(abs(one) >> 63 for one in made):
            self._fail(rows[0], values[0], "or another value is beyond 64 bits")
        return np.array(made, dtype=np.int64)

    def _integer(self, values: Any, rows: Any) -> Any:
        return self._scaled(values, rows, 1, "is no integer")

    def _decimal(self, values: Any, rows: Any) -> Any:
        places = self._kind.places
        return self._scaled(
            values, rows, self._kind.unit, f"has more than {places} decimal places, or is no number"
        )

    def _scaled(self, values: Any, rows: Any, unit: int, why: str) -> Any:
        """Numbers in steps of `1 / unit`, none between two of them."""
        import numpy as np

        if values.dtype.kind in "iu":
            most = max(abs(int(values.min())), abs(int(values.max())))
            if most * unit < 1 << 63:
                return values.astype(np.int64) * unit
        if values.dtype.kind == "f":
            exact = values * unit
            nearest = np.rint(exact)
            wrong = ~(np.abs(exact - nearest) <= 1e-9 * np.maximum(np.abs(exact), 1.0)) | (
                np.abs(exact) >= 2.0**63
            )
            if wrong.any():
                first = int(wrong.argmax())
                self._fail(rows[first], values[first], why)
            return nearest.astype(np.int64)

        def convert(value: Any) -> int:
            if isinstance(value, (bool, np.bool_)):
                raise ValueError
            exact = decimal.Decimal(str(value).strip()) * unit
            if exact != exact.to_integral_value():
                raise ValueError
            return int(exact)

        return self._each(values, rows, convert, why)

    def _number(self, values: Any, rows: Any) -> Any:
        import numpy as np

        unit = self._kind.unit
        if values.dtype.kind in "iuf":
            wrong = ~np.isfinite(values) | (np.abs(values.astype(float)) >= 2.0**62 / unit)
            if wrong.any():
                first = int(wrong.argmax())
                self._fail(rows[first], values[first], f"is beyond what is declared, {self._kind}")
            return np.floor(values.astype(float) * unit + 0.5).astype(np.int64)
        half = decimal.Decimal("0.5")

        def convert(value: Any) -> int:
            exact = decimal.Decimal(str(value).strip()) * unit + half
            return int(exact.to_integral_value(decimal.ROUND_FLOOR))

        return self._each(values, rows, convert, "is no number")

    def _boolean(self, values: Any, rows: Any) -> Any:
        import numpy as np

        if self._kind.source:
            matches = matcher(self._kind.pattern)
            return np.array([matches(str(value)) for value in values], dtype=np.bool_)
        if values.dtype.kind == "b":
            return values
        words = {"true": 1, "false": 0, "1": 1, "0": 0, "t": 1, "f": 0, "1.0": 1, "0.0": 0}

        def convert(value: Any) -> int:
            return words[str(value).strip().lower()] if str(value).strip().lower() in words else int("no")

        return self._each(values, rows, convert, "is neither true nor false").astype(np.bool_)

    def _date(self, values: Any, rows: Any) -> Any:
        import numpy as np

        if values.dtype.kind == "M":
            days = values.astype("datetime64[D]")
            wrong = days != values
            if wrong.any():
                first = int(wrong.argmax())
                self._fail(rows[first], str(values[first]), "has a time of day, and days are shared")
            return days.astype(np.int64)

        def convert(value: Any) -> int:
            if isinstance(value, str):
                value = datetime.date.fromisoformat(value.strip())
            if isinstance(value, datetime.datetime):
                if value.time() != datetime.time():
                    raise ValueError
                value = value.date()
            if not isinstance(value, datetime.date):
                raise TypeError
            return (value - EPOCH).days

        return self._each(values, rows, convert, "is no day; write it as 1998-12-31")

    def _category(self, values: Any, rows: Any) -> Any:
        known = {word: place for place, word in enumerate(self._kind.words)}
        several = ", ".join(map(repr, self._kind.words[:6])) + (", ..." if len(known) > 6 else "")

        def convert(value: Any) -> int:
            if str(value) not in known:
                raise ValueError
            return known[str(value)]

        return self._each(values, rows, convert, f"is none of the words of the category: {several}")

    def _text(self, values: Any, rows: Any) -> Any:
        del rows
        import numpy as np

        return np.array([hash_of(str(value)) for value in values], dtype=np.int64)
