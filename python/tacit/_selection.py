"""Elements that a secret mask selects: how many there are, nobody knows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from tacit._functions import clip, shape, where
from tacit._handles import Unknown
from tacit._index import is_whole_number
from tacit._location import fault
from tacit._ranges import within
from tacit.errors import ProgramError, SecretError

if TYPE_CHECKING:
    from tacit._tensor import Tensor

_TO_USE = (
    "it has sum, mean, count, median, quantile, min, max, var, std and s[0], s[1], ...; compute on x first, "
    "x[mask] last, or choose with tacit.where(mask, x, 0)"
)

_TO_REVEAL = (
    "reveal s.count() and s[0], s[1], ..., or tacit.where(mask, x, 0); for np.intersect1d(a, b) or "
    "np.unique(a) the mask np.isin(a, b) to the owner of a, and for counts of integers np.bincount(a)"
)


class Selection(Unknown):
    """`x[mask]` with a secret mask: a tensor of hidden length, whose elements can be summed up and compared.

    All elements are there, and those that aren't selected don't count.
    """

    __slots__ = ("_key", "_mask", "_tensor")

    def __init__(self, tensor: Tensor, mask: Tensor) -> None:
        if tensor.shape[: mask.ndim] != mask.shape:
            raise fault(
                ProgramError,
                f"a mask of shape {mask.shape} beside a tensor of shape {tensor.shape}",
                "a mask has the shape of the tensor, or of its first axes",
            )
        # Copies: what is chosen stays as it is when the tensor changes.
        self._tensor = tensor.reshape(mask.size, *tensor.shape[mask.ndim :]).copy()
        self._mask = mask.reshape(-1).copy()
        self._key = mask._id

    def count(self) -> Tensor:
        """How many elements there are."""
        return self._mask.sum()

    def sum(self, axis: int | None = None) -> Tensor:
        """The sum, over all or along the first axis; 0 of none."""
        return self._filled(0).sum(axis=self._checked(axis))

    def mean(self, axis: int | None = None) -> Tensor:
        """The mean, to the nearest step; 0 of none. A quotient by the secret count."""
        from tacit._statistics import mean_of

        others = 1 if axis == 0 else self._tensor.size // self._mask.size
        return mean_of(self.sum(axis), self.count() * others, self._tensor)

    def var(self, *, ddof: int = 0) -> Tensor:
        """The mean square of what elements are off the mean, by their number less `ddof`, or 1."""
        from tacit._statistics import selected_var

        return selected_var(self._filled(0), self._spread(), self._of_all(ddof), self.mean(), int(ddof))

    def std(self, *, ddof: int = 0) -> Tensor:
        """The root of `var`."""
        from tacit._statistics import selected_std

        return selected_std(self._filled(0), self._spread(), self._of_all(ddof), self.mean(), int(ddof))

    def _of_all(self, ddof: int) -> Tensor:
        """How many elements there are in all rows together, less `ddof`."""
        if ddof != int(ddof):
            raise fault(ProgramError, f"ddof={ddof!r} of what a mask selects", "use a whole number: ddof=1")
        return clip(self.count() * (self._tensor.size // self._mask.size) - int(ddof), 1, None)

    def median(self) -> Tensor:
        """The median; of none, the largest that there could be. A sort, and two elements at secret places."""
        ordered, count = self._ordered("the median"), self.count()
        lower, upper = (ordered[clip(one, 0, None)] for one in ((count - 1) >> 1, count >> 1))
        made: Tensor = (lower + upper) / 2
        return made

    def quantile(self, q: Any) -> Tensor:
        """The quantile or quantiles `q`, which are public, between neighbours by a straight line.

        Of none, the largest that there could be. A sort, and for each two elements at secret places.
        """
        import numpy as np

        from tacit._functions import stack
        from tacit._order import quantiles

        wanted, ordered, count = quantiles(q), self._ordered("quantiles"), self.count()
        made = [_at_part(ordered, count, one) for one in wanted.ravel().tolist()]
        return stack(made).reshape(*wanted.shape) if np.ndim(q) else made[0]

    def percentile(self, q: Any) -> Tensor:
        """The percentile or percentiles `q`, as `quantile`."""
        import numpy as np

        return self.quantile(np.asarray(q, dtype=float) / 100)

    def _ordered(self, what: str) -> Tensor:
        """The elements in ascending order; what isn't selected comes last."""
        from tacit._order import sort
        from tacit._statistics import as_fixed

        if self._tensor.ndim > 1:
            self._refuse(f"{what} of rows")
        return sort(as_fixed(self._filled(self._tensor.range[1])))

    def max(self, axis: int | None = None) -> Tensor:
        """The largest; of none, the least that there could be."""
        return self._filled(self._tensor.range[0]).max(self._checked(axis))

    def min(self, axis: int | None = None) -> Tensor:
        """The least; of none, the largest that there could be."""
        return self._filled(self._tensor.range[1]).min(self._checked(axis))

    def any(self) -> Tensor:
        """Whether there is one that isn't 0."""
        filled = self._filled(0)
        return (filled if filled.dtype.kind == "bool" else filled != 0).any()

    def all(self) -> Tensor:
        """Whether none is 0; of none, true."""
        return ~self._with((~self._tensor) if self._tensor.dtype.kind == "bool" else self._tensor == 0).any()

    @property
    def size(self) -> Tensor:
        """How many elements there are, which is secret."""
        return self.count()

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._tensor.ndim

    @property
    def shape(self) -> tuple[Tensor | int, ...]:
        """Lengths of the axes, of which the first is secret."""
        return (self.count(), *self._tensor.shape[1:])

    def __len__(self) -> int:
        self._refuse("a length")

    def argmax(self) -> Tensor:
        """Which of the elements, counted from 0, is the first of the largest."""
        return self._number_of(self._filled(self._tensor.range[0] - 1).argmax())

    def argmin(self) -> Tensor:
        """Which of the elements, counted from 0, is the first of the least."""
        return self._number_of(self._filled(self._tensor.range[1] + 1).argmin())

    def __getitem__(self, key: Any) -> Any:
        """The element of a number, public or secret; 0 if there are too few. A comparison for each place.

        Or those of the elements for which a condition on them holds: `s[s > 3]`.
        """
        from tacit._tensor import Tensor, matmul

        if isinstance(key, Selection) and key._tensor.shape == self._mask.shape:
            self._beside(key)
            return Selection(self._tensor, self._mask & key._tensor)
        if not is_whole_number(key):
            self._refuse("elements")
        rank = self._rank()
        if isinstance(key, Tensor):
            number = where(key < 0, key + self.count(), key) if key.range[0] < 0 else key
        else:
            number = self.count() + key if key < 0 else key
        chosen = (rank == number + 1) & self._mask
        rows = (self._tensor + 0 if self._tensor.dtype.kind == "bool" else self._tensor).reshape(
            rank.size, -1
        )
        made = matmul(chosen.reshape(1, -1), rows).reshape(*self._tensor.shape[1:])
        return made > 0 if self._tensor.dtype.kind == "bool" else made

    def _number_of(self, place: Tensor) -> Tensor:
        """The number among the elements of the one at a place."""
        if self._tensor.ndim > 1:
            self._refuse("the largest or least of rows")
        return clip(self._rank()[place] - 1, 0, None)

    def _rank(self) -> Tensor:
        """How many elements there are up to each place."""
        from tacit._moved import cumsum

        return cumsum(self._mask)

    def __iter__(self) -> NoReturn:
        self._refuse("elements")

    def __array_function__(self, function: Any, _types: object, inputs: Any, options: Any) -> Any:
        from tacit import _numpy

        return _numpy.of_selection(function, inputs, options)

    # Of all elements, of which those that are selected count.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            self._refuse(f"np.{ufunc.__name__}.{method}")
        return self._with(ufunc(*map(self._beside, inputs)))

    def __add__(self, other: Any) -> Selection:
        return self._with(self._tensor + self._beside(other))

    def __sub__(self, other: Any) -> Selection:
        return self._with(self._tensor - self._beside(other))

    def __mul__(self, other: Any) -> Selection:
        return self._with(self._tensor * self._beside(other))

    def __truediv__(self, other: Any) -> Selection:
        return self._with(self._tensor / self._beside(other))

    def __floordiv__(self, other: Any) -> Selection:
        return self._with(self._tensor // self._beside(other))

    def __mod__(self, other: Any) -> Selection:
        return self._with(self._tensor % self._beside(other))

    def __pow__(self, other: Any) -> Selection:
        return self._with(self._tensor**other)

    def __radd__(self, other: Any) -> Selection:
        return self._with(self._beside(other) + self._tensor)

    def __rsub__(self, other: Any) -> Selection:
        return self._with(self._beside(other) - self._tensor)

    def __rmul__(self, other: Any) -> Selection:
        return self._with(self._beside(other) * self._tensor)

    def __rtruediv__(self, other: Any) -> Selection:
        return self._with(self._beside(other) / self._tensor)

    def __neg__(self) -> Selection:
        return self._with(-self._tensor)

    def __abs__(self) -> Selection:
        return self._with(abs(self._tensor))

    def __lt__(self, other: Any) -> Selection:
        return self._with(self._tensor < self._beside(other))

    def __le__(self, other: Any) -> Selection:
        return self._with(self._tensor <= self._beside(other))

    def __gt__(self, other: Any) -> Selection:
        return self._with(self._tensor > self._beside(other))

    def __ge__(self, other: Any) -> Selection:
        return self._with(self._tensor >= self._beside(other))

    def __eq__(self, other: Any) -> Selection:  # type: ignore[override]
        return self._with(self._tensor == self._beside(other))

    def __ne__(self, other: Any) -> Selection:  # type: ignore[override]
        return self._with(self._tensor != self._beside(other))

    def __and__(self, other: Any) -> Selection:
        return self._with(self._tensor & self._beside(other))

    def __or__(self, other: Any) -> Selection:
        return self._with(self._tensor | self._beside(other))

    def __invert__(self) -> Selection:
        return self._with(~self._tensor)

    # In place, as for arrays: `x[mask] += 1` then changes x.

    def __iadd__(self, other: Any) -> Selection:
        return self._became(self + other)

    def __isub__(self, other: Any) -> Selection:
        return self._became(self - other)

    def __imul__(self, other: Any) -> Selection:
        return self._became(self * other)

    def __itruediv__(self, other: Any) -> Selection:
        return self._became(self / other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<some of {self._tensor!r}>"

    def _with(self, tensor: Tensor) -> Selection:
        """The same selection of other elements."""
        one = object.__new__(Selection)
        one._tensor, one._mask, one._key = tensor, self._mask, self._key
        return one

    def _became(self, other: Selection) -> Selection:
        self._tensor = other._tensor
        return self

    def _beside(self, other: Any) -> Any:
        """An operand beside all elements: one for all, or elements that the same mask selects."""
        if isinstance(other, Selection):
            if other._key != self._key:
                self._refuse("arithmetic with what another mask selects")
            return other._tensor
        if len(shape(other)) >= self._tensor.ndim:
            self._refuse("arithmetic with as many others")
        return other

    def _filled(self, value: float) -> Tensor:
        is_bool = self._tensor.dtype.kind == "bool"
        return where(self._spread(), self._tensor, bool(value) if is_bool else value)

    def _spread(self) -> Tensor:
        """The mask in the shape of the elements."""
        others = (1,) * (self._tensor.ndim - 1)
        return self._mask.reshape(-1, *others).broadcast_to(self._tensor.shape) if others else self._mask

    def _checked(self, axis: int | None) -> int | None:
        if axis not in (None, 0):
            raise fault(ProgramError, "what a mask selects goes along the first axis, or all", "use axis=0")
        return axis

    def _refuse(self, use: str) -> NoReturn:
        raise fault(
            SecretError,
            f"nobody knows how many elements a secret mask selects, so there are no {use}"
            if use == "elements"
            else f"nobody knows how many elements a secret mask selects, so it can't be used for {use}",
            _TO_REVEAL if use == "tacit.reveal" else _TO_USE,
        )


def _at_part(ordered: Tensor, count: Tensor, part: float) -> Tensor:
    """What stands at a part of the way from the first to the last of `count` elements; rounded once."""
    low, high = ordered._kind.low, ordered._kind.high
    # A fraction, so that the place is exact: 0.9 is nine tenths. Products with what is over have room.
    of = Fraction(part).limit_denominator(max(1, min(1 << 16, (1 << 62) // max(high - low, 1))))
    way = (count - 1) * of.numerator
    place = way // of.denominator
    lower: Tensor = ordered[clip(place, 0, None)]
    if of.denominator == 1:
        return lower
    over = within(way - place * of.denominator, 0, of.denominator - 1)
    # Beyond the last one is 0, and nothing is over.
    step = ordered[clip(place + 1, 0, None)] - lower
    made: Tensor = lower + step * over / of.denominator
    return within(made, low, high)
