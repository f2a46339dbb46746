"""Functions of secret numbers that columns of tables take as well as tensors."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from tacit import _elementary, _functions
from tacit._tensor import Tensor
from tacit.tables.column import Column

if TYPE_CHECKING:
    from collections.abc import Callable

One = TypeVar("One", Tensor, Column)


class _OfTwo(Protocol):
    @overload
    def __call__(self, a: Column, b: Any) -> Column: ...

    @overload
    def __call__(self, a: Any, b: Column) -> Column: ...

    @overload
    def __call__(self, a: Any, b: Any) -> Tensor: ...


class _Clip(Protocol):
    def __call__(self, a: One, low: Any = None, high: Any = None) -> One: ...


class _Where(Protocol):
    @overload
    def __call__(self, condition: Column, a: Any, b: Any) -> Column: ...

    @overload
    def __call__(self, condition: Any, a: Any, b: Any) -> Tensor: ...


def _either(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors that is one of columns if one of its operands is a column."""

    @functools.wraps(function)
    def called(*operands: Any, **options: Any) -> Any:
        if any(isinstance(one, Column) for one in operands):
            from tacit.tables.functions import call

            return call(function.__name__, *operands, **options)
        return function(*operands, **options)

    return called


def _of_one(function: Callable[[Tensor], Tensor]) -> Callable[[One], One]:
    return _either(function)


exp = _of_one(_elementary.exp)
log = _of_one(_elementary.log)
normal_cdf = _of_one(_elementary.normal_cdf)
reciprocal = _of_one(_elementary.reciprocal)
relu = _of_one(_functions.relu)
rsqrt = _of_one(_elementary.rsqrt)
sigmoid = _of_one(_elementary.sigmoid)
sqrt = _of_one(_elementary.sqrt)
tanh = _of_one(_elementary.tanh)
divide: _OfTwo = _either(_elementary.divide)
maximum: _OfTwo = _either(_functions.maximum)
minimum: _OfTwo = _either(_functions.minimum)
clip: _Clip = _either(_functions.clip)
where: _Where = _either(_functions.where)
