"""Functions of SQL of words, and dates in words: everybody knows what they make of each value."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from tacit.tables.constructs import refused
from tacit.tables.rows import by_row
from tacit.tables.words import mapped, matcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.tables.column import Column


def is_of_words(node: exp.Expr) -> bool:
    """Whether `of_words` knows a function."""
    return type(node) in _WORDS or type(node) in _JOINED or type(node) in _DATES


def of_words(node: exp.Expr, column: Callable[[exp.Expr], Column]) -> Column:
    """What a function of words is.

    Args:
        node: The function.
        column: What its operands are.

    Raises:
        ProgramTypeError: An operand is of another kind, or may have too many values.
    """
    if type(node) in _JOINED:
        return _put_together(node, column)
    if type(node) in _DATES:
        return _of_date(node, column(node.this))
    parts = _WORDS[type(node)]
    operands = [_word(node, column(node.this))]
    for part, kind in parts.items():
        given = node.args.get(part)
        if given is None:
            break
        operands.append(_operand(node, given, column(given), kind))
    return _mapped(_change(node), *operands)


def as_text(column: Column) -> Column:
    """What SQL writes for each value of a column: a category."""
    kind = column.type.kind
    if kind == "category":
        return column
    if kind == "date":
        return _mapped(datetime.date.isoformat, column)
    places = column.type.places
    return _mapped(lambda value: str(value).lower() if kind == "boolean" else f"{value:.{places}f}", column)


@by_row
def _mapped(change: Callable[..., Any], *columns: Column) -> Column:
    return mapped(change, *columns)


@by_row
def _mapped_with_nulls(change: Callable[..., Any], *columns: Column) -> Column:
    return mapped(change, *columns, nulls=True)


def _word(node: exp.Expr, column: Column) -> Column:
    if column.type.kind != "category":
        raise refused(
            node,
            f"is about {column.said()} of no words that everybody knows",
            "declare the column as category([...]); its owner can do this to a text before",
        )
    return column


def _operand(node: exp.Expr, given: exp.Expr, column: Column, kind: str) -> Column:
    if column.type.kind != {"text": "category", "number": "integer"}[kind]:
        called = "text of words that everybody knows" if kind == "text" else "number of letters or places"
        hint = "write LEFT(x, 2), TRIM(x, '.'), REPLACE(x, 'a', 'b')"
        shown = given.sql().replace('"', "")
        raise refused(node, f"is by {shown}, which is no {called}", hint)
    return column


# Functions of a word.


def _cut(word: str, start: int, length: int | None = None) -> str:
    first = start - 1 if start >= 0 else len(word) + start
    last = len(word) if length is None else first + length
    first, last = sorted((first, last))
    return word[max(first, 0) : max(last, 0)]


def _right(word: str, count: int) -> str:
    return word[max(len(word) - count, 0) :] if count >= 0 else word[-count:]


def _padded(word: str, length: int, by: str, *, left: bool) -> str:
    more = (by * length)[: max(length - len(word), 0)]
    return (more + word if left else word + more) if len(word) < length else word[: max(length, 0)]


def _part(word: str, mark: str, place: int) -> str:
    parts = word.split(mark) if mark else list(word)
    at = place - 1 if place > 0 else len(parts) + place
    return parts[at] if 0 <= at < len(parts) else ""


def _translated(word: str, old: str, new: str) -> str:
    letters = {letter: new[place : place + 1] for place, letter in reversed(list(enumerate(old)))}
    return "".join(letters.get(letter, letter) for letter in word)


_WORDS: dict[type[exp.Expr], dict[str, str]] = {
    exp.Upper: {},
    exp.Lower: {},
    exp.Length: {},
    exp.Reverse: {},
    exp.Trim: {"expression": "text"},
    exp.Left: {"expression": "number"},
    exp.Right: {"expression": "number"},
    exp.Substring: {"start": "number", "length": "number"},
    exp.StartsWith: {"expression": "text"},
    exp.EndsWith: {"expression": "text"},
    exp.Contains: {"expression": "text"},
    exp.ILike: {"expression": "text"},
    exp.RegexpLike: {"expression": "text"},
    exp.RegexpFullMatch: {"expression": "text"},
    exp.SimilarTo: {"expression": "text"},
    exp.StrPosition: {"substr": "text"},
    exp.Replace: {"expression": "text", "replacement": "text"},
    exp.Translate: {"from_": "text", "to": "text"},
    exp.Repeat: {"times": "number"},
    exp.Pad: {"expression": "number", "fill_pattern": "text"},
    exp.SplitPart: {"delimiter": "text", "part_index": "number"},
}
"""Functions of a word, and what they take besides: texts and whole numbers."""

_CHANGES: dict[type[exp.Expr], Callable[..., Any]] = {
    exp.Upper: str.upper,
    exp.Lower: str.lower,
    exp.Length: len,
    exp.Reverse: lambda word: word[::-1],
    exp.Left: lambda word, count: word[:count],
    exp.Right: _right,
    exp.Substring: _cut,
    exp.StartsWith: str.startswith,
    exp.EndsWith: str.endswith,
    exp.Contains: lambda word, part: part in word,
    exp.ILike: lambda word, pattern: matcher(pattern.lower())(word.lower()),
    exp.StrPosition: lambda word, part: word.find(part) + 1,
    exp.Replace: lambda word, old, new: word.replace(old, new) if old else word,
    exp.Translate: _translated,
    exp.Repeat: lambda word, times: word * times,
    exp.SplitPart: _part,
}


def _change(node: exp.Expr) -> Callable[..., Any]:
    """What a function makes of a word and the rest."""
    if isinstance(node, exp.Trim):
        strip = {"LEADING": str.lstrip, "TRAILING": str.rstrip}.get(
            str(node.args.get("position")).upper(), str.strip
        )
        return lambda word, letters=" ": strip(word, letters)
    if isinstance(node, exp.Pad):
        left = bool(node.args.get("is_left"))
        return lambda word, length, by=" ": _padded(word, length, by, left=left)
    if isinstance(node, (exp.RegexpLike, exp.RegexpFullMatch, exp.SimilarTo)):
        search = re.search if isinstance(node, exp.RegexpLike) else re.fullmatch

        def found(word: str, pattern: str) -> bool:
            try:
                return search(pattern, word) is not None
            except re.error:
                raise refused(node, "is no regular expression") from None

        return found
    return _CHANGES[type(node)]


# Several put together.

_JOINED = (exp.DPipe, exp.Concat, exp.ConcatWs)


def _put_together(node: exp.Expr, column: Callable[[exp.Expr], Column]) -> Column:
    """`a || b` is null if one is; CONCAT and CONCAT_WS leave nulls out."""
    parts = [node.args["this"], node.args["expression"]] if isinstance(node, exp.DPipe) else node.expressions
    if not isinstance(node, exp.DPipe):
        parts = [part for part in parts if not isinstance(part, exp.Null)]
    texts = [as_text(column(part)) for part in parts]
    if isinstance(node, exp.ConcatWs):
        return _mapped_with_nulls(_with_mark, *texts)
    if isinstance(node, exp.DPipe) or not node.args.get("coalesce"):
        return _mapped(lambda *words: "".join(words), *texts)
    return _mapped_with_nulls(lambda *words: "".join(word or "" for word in words), *texts)


def _with_mark(mark: str | None, *words: str | None) -> str | None:
    return None if mark is None else mark.join(word for word in words if word is not None)


# Dates in words.

_DATES = (exp.TimeToStr, exp.Monthname, exp.Dayname)


def _of_date(node: exp.Expr, column: Column) -> Column:
    """STRFTIME and its like."""
    if column.type.kind != "date":
        raise refused(node, f"is about {column.said()} which is no date", "declare it as date(first, last)")
    if not isinstance(node, exp.TimeToStr):
        return column.strftime("%B" if isinstance(node, exp.Monthname) else "%A")
    form = node.args["format"]
    if not isinstance(form, exp.Literal) or not form.is_string:
        raise refused(node, "has no format that everybody knows", "write STRFTIME(x, '%Y-%m')")
    return column.strftime(form.this)
