"""Secret tensors: NumPy's operators and methods, each of which adds an operation to the traced program."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NoReturn, overload

from tacit import _endless, _public
from tacit._handles import Handle
from tacit._index import Index, Plain, entry_of, is_plain, unpacked
from tacit._location import caller, fault
from tacit._reductions import Reductions
from tacit._refused import no_attribute, refusal
from tacit._values import is_float, public
from tacit.dtypes import DType, fixed
from tacit.errors import PlanError, ProgramError, ProgramTypeError, SecretError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit._native import Builder
    from tacit._values import Public


class Tensor(Reductions):
    """A value of a program that is being traced: an array of some type and shape, whose elements nobody sees.

    Operators broadcast as NumPy's do, and take numbers, arrays and nested lists, which are public, beside
    tensors. A tensor can't steer Python (`if`, `while`, `int()`): use `tacit.where`.

    `x[i] = v` and `x += v` change a tensor for all who hold it, and its views with it, as with arrays. The
    range becomes as wide as both need.

    All arithmetic is exact but for products, quotients and means of fixed point, each of which is rounded
    once, to the nearest multiple of its step, ties up: half a step off at most, whatever the range. A public
    factor or divisor counts as it is; a float in a sum, a comparison or a choice is first rounded like an
    input. An operation whose result might not fit in 64 bits is refused when it is traced.
    """

    __pandas_priority__ = 5000
    """pandas leaves operators with a tensor to it."""

    __slots__ = ()

    # What it is.

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._kind.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        total = 1
        for length in self.shape:
            total *= length
        return total

    @property
    def dtype(self) -> DType:
        """What the elements are; for integers the narrowest type that holds their range."""
        return DType(self._kind.kind, self._kind.bits)

    @property
    def range(self) -> tuple[int | float, int | float]:
        """The least and the largest value that an element can have; follows from the declared ranges."""
        return self.dtype.real(self._kind.low), self.dtype.real(self._kind.high)

    def __len__(self) -> int:
        if not self.shape:
            raise fault(ProgramTypeError, "a value without axes has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        low, high = self.range
        return f"<secret {self.dtype} {self.shape}, {low} to {high}>"

    def __iter__(self) -> Iterator[Tensor]:
        return (self[place] for place in range(len(self)))

    # Arithmetic.

    def __add__(self, other: Any) -> Tensor:
        made = binary("add", self, other)
        if isinstance(other, Tensor) and self._kind.low >= 0 <= other._kind.low:
            made._parts = frozenset((self._id, other._id)) | self._parts | other._parts
            made._totals = self._totals | other._totals
        return made

    def __radd__(self, other: Any) -> Tensor:
        return binary("add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return binary("sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return binary("sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        """The product; in fixed point rounded once.

        A public factor counts as it is: 0.1 is the float that Python has for it. One that would make 0 of
        whatever there can be is refused.
        """
        return multiply(self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return multiply(other, self)

    def __matmul__(self, other: Any) -> Tensor:
        """The matrix product; in fixed point each entry is rounded once, after the sum.

        Public weights count as they are; those of few bits (0.375, or multiples of 2**-16) are cheaper.
        """
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return matmul(other, self)

    def __truediv__(self, other: Any) -> Tensor:
        """The quotient, to the nearest step of the finer one; integers become fixed(16).

        Public numbers count as they are, and the quotient is right for every range. By secrets it is a
        circuit with a digit after another: `tacit.divide` says what a divisor of 0 makes.
        """
        if isinstance(other, Tensor):
            from tacit._elementary import divide

            return divide(self, other)
        return _public.divide(self, other)

    def __floordiv__(self, other: Any) -> Tensor:
        """Divided and rounded down, as in Python; exact.

        By a public number above 0 it costs a truncation or a few. By secrets it is a circuit on bits, and the
        divisor's range has to exclude 0. Public numbers beside fixed point are multiples of its step.
        """
        from tacit._division import floor_divide

        return floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Tensor:
        from tacit._division import floor_divide

        return floor_divide(other, self)

    def __mod__(self, other: Any) -> Tensor:
        """What `//` leaves, of the divisor's sign; costs what `//` does."""
        from tacit._division import remainder

        return remainder(self, other)

    def __rmod__(self, other: Any) -> Tensor:
        from tacit._division import remainder

        return remainder(other, self)

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        from tacit._division import divided

        return divided(self, other)

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        from tacit._division import divided

        return divided(other, self)

    def __lshift__(self, other: int) -> Tensor:
        """Integers times 2**other."""
        if self.dtype.kind != "int":
            raise fault(ProgramTypeError, f"<< is not defined for {self.dtype}", "use x * 2**3")
        return self * (1 << _checked_shift(other, "x * 2**k for x << k"))

    def __rlshift__(self, other: Any) -> Tensor:
        """A public integer times 2 to a secret power, as `2 ** k`."""
        made: Tensor = other * 2**self
        return made

    def __rshift__(self, other: int) -> Tensor:
        """Integers divided by 2**other, rounded down; exact."""
        other = _checked_shift(other, "x // 2**k for x >> k")
        return self._made(self._at().shift_right(self._id, other))

    def __pow__(self, exponent: float) -> Tensor:
        """A power with a public exponent: integers by squaring, each product rounded, others by logs."""
        from tacit._elementary import power

        if isinstance(exponent, Tensor):
            raise fault(
                ProgramTypeError,
                "a secret can't be an exponent of a secret",
                "use np.exp(y * np.log(x)), or a product for each of a few exponents and tacit.where",
            )
        return power(self, exponent)

    def __rpow__(self, other: Any) -> Tensor:
        """A public number above 0 to a secret power: as far off as `exp`."""
        from tacit._elementary import power_of

        return power_of(other, self)

    def __rtruediv__(self, other: Any) -> Tensor:
        """A public number divided by a secret: `tacit.divide`."""
        from tacit._elementary import divide

        return divide(other, self)

    def __round__(self, digits: int | None = None) -> Tensor:
        return self.round(digits or 0)

    def __neg__(self) -> Tensor:
        return self._call("neg", self._id)

    def __pos__(self) -> Tensor:
        return self.copy()

    def __abs__(self) -> Tensor:
        return self._call("abs", self._id)

    # Comparisons and logic.

    def __lt__(self, other: Any) -> Tensor:
        return binary("less", self, other)

    def __le__(self, other: Any) -> Tensor:
        return binary("less_equal", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return binary("greater", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return binary("greater_equal", self, other)

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return binary("equal", self, other)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return binary("not_equal", self, other)

    def __hash__(self) -> NoReturn:
        """Isn't there: == doesn't say whether two are the same, so they can't be keys."""
        self._refuse("a key of a set or a dict")

    def __and__(self, other: Any) -> Tensor:
        return binary("and", self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Tensor:
        return binary("or", self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Tensor:
        return binary("xor", self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Tensor:
        return self._call("not", self._id)

    # Near others.

    def clip(self, min: Any = None, max: Any = None) -> Tensor:  # noqa: A002 (NumPy's names)
        """At least `min` and at most `max`, which are public; without one, as far as the range goes."""
        from tacit._functions import clip

        return clip(self, min, max)

    def round(self, decimals: int = 0) -> Tensor:
        """To the nearest with so many decimal digits, ties up."""
        from tacit._rounding import rounded

        made = rounded(self, decimals)
        return made.copy() if made is self else made

    def dot(self, other: Any) -> Tensor:
        """The product of vectors or matrices: `@`."""
        return matmul(self, other)

    # The same elements elsewhere; free.

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Tensor:
        """Without the axes of length 1, or without these."""
        from tacit._moved import moved

        def how(one: Any) -> Any:
            return one.squeeze(axis)

        return self._viewed(moved(self, how), how)

    @property
    def T(self) -> Tensor:  # noqa: N802 (NumPy's name)
        """The axes in reverse order."""
        return self.transpose()

    def transpose(self, *axes: Any) -> Tensor:
        """The axes in another order, in reverse without one."""
        order = unpacked(axes)
        made = self._at().transpose(self._id, [*map(operator.index, order)] if order else None)
        return self._viewed(self._made(made), lambda one: one.transpose(*axes))

    def reshape(self, *shape: Any) -> Tensor:
        """The same elements in row-major order in another shape; one length may be -1."""
        made = self._at().reshape(self._id, [*map(operator.index, unpacked(shape))])
        return self._viewed(self._made(made), lambda one: one.reshape(unpacked(shape)))

    def ravel(self) -> Tensor:
        """All elements on one axis."""
        return self._viewed(self.reshape(-1).copy(), lambda one: one.ravel())

    def flatten(self) -> Tensor:
        """All elements on one axis; a tensor of its own."""
        return self.reshape(-1).copy()

    def broadcast_to(self, shape: Sequence[int]) -> Tensor:
        """Repeated along new axes and those of length 1."""
        made = self._at().broadcast_to(self._id, [*map(operator.index, shape)])
        return self._viewed(self._made(made), lambda one: _broadcast(one, shape))

    @overload
    def __getitem__(self, key: Plain | tuple[Plain, ...]) -> Tensor: ...

    @overload
    def __getitem__(self, key: Index) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        """Some of the elements, by anything that indexes an array.

        What is public costs nothing. A secret integer, or an array of them, costs a comparison with each
        place of the first axis, and a product. A secret mask selects a number of elements that nobody knows:
        they have `sum`, `mean`, `count`, `min`, `max`, `var` and `std`.
        """
        entries = key if isinstance(key, tuple) else (key,)
        if not all(map(is_plain, entries)):
            from tacit._moved import selected

            return selected(self, key)
        made = self._made(self._at().index(self._id, [entry_of(entry) for entry in entries]))
        return self._viewed(made, lambda one: one[key])

    def __contains__(self, item: object) -> NoReturn:
        raise fault(SecretError, "nobody knows whether it is in there", "use (x == item).any()")

    # Conversions.

    def astype(self, dtype: Any) -> Tensor:
        """The same numbers in another type.

        Bools become 0 and 1. Fixed point becomes fixed point of fewer bits rounded to the nearest, and
        integers rounded down (a truncation each). Integers become fixed point exactly. Types of Python and
        NumPy convert as there: `int` cuts off what is behind the point, `float` is fixed(16), `bool` is != 0.

        Raises:
            ProgramTypeError: There is no such conversion.
            ProgramError: The values may not fit.
        """
        if not isinstance(dtype, DType):
            from tacit._rounding import converted

            return converted(self, dtype)
        made = self._made(self._at().astype(self._id, dtype.kind, dtype.bits))
        low, high = dtype.limits
        if made._kind.low < low or made._kind.high > high:
            ends = f"{dtype.real(made._kind.low)} to {dtype.real(made._kind.high)}"
            raise fault(
                ProgramError,
                f"the values may be anything from {ends}, and {dtype} holds {low} to {high}",
                "declare a narrower range=(low, high) for the inputs, or use a wider type",
            )
        return made

    # NumPy's functions, called with a tensor.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from tacit import _numpy

        return _numpy.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, _types: object, inputs: Any, options: Any) -> Any:
        from tacit import _numpy

        return _numpy.function(function, inputs, options)

    # How it is done.

    def _is_part_of(self, other: Tensor) -> bool:
        """Whether elements are known to be from 0 to those of another value."""
        return self._id in other._parts or (self._sum_of is not None and self._sum_of in other._totals)

    def _at(self) -> Builder:
        """The builder, told of the user's line."""
        self._builder.at(*caller())
        return self._builder

    def _made(self, number: int) -> Tensor:
        return Tensor(self._builder, number)

    def _call(self, method: str, *operands: int) -> Tensor:
        """What the builder's method of that name makes of some values."""
        return self._made(self._at().call(method, operands))

    def _operand(self, value: Any) -> int:
        """The number of a value beside this one: a tensor's, or that of a new constant."""
        if isinstance(value, Tensor):
            if value._builder is not self._builder:
                raise PlanError("these two values belong to programs that are traced apart")
            return value._id
        known = known_value(value)
        if is_float(known) and self._kind.kind in ("bool", "int", "modular", "field"):
            raise fault(
                ProgramTypeError,
                f"a floating-point number beside {self.dtype}",
                "convert the secret with x.astype(tacit.fixed(16)), or the number with int(...)",
            )
        return self._at().constant_beside(known, self._id)

    def _constant(self, value: Public, fraction: int) -> int:
        """A constant of as many fraction bits."""
        return self._at().constant(value, "fixed" if fraction else "int", fraction)

    def _refuse(self, use: str) -> NoReturn:
        raise refusal(use)

    if not TYPE_CHECKING:  # What isn't there is an error to type checkers.

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(name)


def _checked_shift(by: Any, instead: str) -> int:
    """By how many bits is shifted.

    Raises:
        ProgramTypeError: That is secret, or no number of them.
    """
    if type(by) is not int or not 0 <= by < 64:
        raise fault(
            ProgramTypeError,
            f"<< and >> are defined for a public integer from 0 to 63, not {by!r}",
            f"{instead} with a secret k" if isinstance(by, Tensor) else None,
        )
    return by


def _broadcast(value: Any, shape: Sequence[int]) -> Any:
    import numpy as np

    return np.broadcast_to(value, shape)


def known_value(value: Any) -> Public:
    """A public operand as the core takes it.

    Raises:
        SecretError: It is a declaration, or revealed.
        ProgramTypeError: It holds no numbers.
        ProgramError: One of them is infinite, or NaN.
    """
    if isinstance(value, Handle):
        value._refuse("an operation")
    if is_list_of_secrets(value):
        raise fault(ProgramTypeError, "a list of secrets is no tensor", "use tacit.stack([...])")
    try:
        known = public(value)
    except TypeError as error:
        raise fault(ProgramTypeError, str(error)) from None
    if is_float(known):
        _endless.checked(known)
    return known


def tensor_of(*values: Any) -> Tensor:
    """The first tensor among some operands.

    Raises:
        ProgramTypeError: There is none.
    """
    for value in values:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, Handle):
            value._refuse("an operation")
    raise fault(
        ProgramTypeError,
        "none of the operands is secret",
        "use NumPy for public values; secrets come in as arguments of a traced @tacit.function",
    )


_BITWISE = {"and": "&", "or": "|", "xor": "^"}


def _is_bool(value: Any) -> bool:
    """Whether an operand is of bools."""
    if isinstance(value, Tensor):
        return value.dtype.kind == "bool"
    known = known_value(value)
    return isinstance(known, bool) or (not isinstance(known, (int, float)) and known.dtype.kind == "b")


def binary(method: str, a: Any, b: Any) -> Tensor:
    """An elementwise operation, one of whose operands is a tensor."""
    if method in _endless.COMPARISONS:
        a = _endless.compared(a, b) if isinstance(b, Tensor) else a
        b = _endless.compared(b, a) if isinstance(a, Tensor) else b
    a, b = beside_floats(a, b)
    one = tensor_of(a, b)
    if method in _BITWISE and one.dtype.kind == "int" and not _is_bool(a) and not _is_bool(b):
        raise fault(
            ProgramTypeError,
            f"`{_BITWISE[method]}` is defined for bools, and not for bits of {one.dtype}",
            "x % 2 for x & 1, x % 8 for x & 7, x // 4 % 2 for (x >> 2) & 1; bits that are bools, "
            "x // 4 % 2 == 1, have & | ^ ~",
        )
    return one._call(method, one._operand(a), one._operand(b))


def beside_floats(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, of which secret integers and bools beside public floats become fixed(16)."""
    if isinstance(a, Tensor) == isinstance(b, Tensor):
        return a, b
    one, other = (a, b) if isinstance(a, Tensor) else (b, a)
    if one._kind.kind not in ("int", "bool") or not is_float(known_value(other)):
        return a, b
    one = one.astype(fixed(16))
    return (one, other) if isinstance(a, Tensor) else (other, one)


def multiply(a: Any, b: Any) -> Tensor:
    """`a * b`, one of which is a tensor."""
    a, b = beside_floats(a, b)
    one = tensor_of(a, b)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return _product("mul", a, b)
    return _public.multiply(one, b if one is a else a)


def matmul(a: Any, b: Any, *, exact: bool = False) -> Tensor:
    """`a @ b`, one of which is a tensor.

    Args:
        a: A vector, a matrix, or a batch of matrices.
        b: The like.
        exact: Keep all fraction bits of fixed point, those of both factors together: nothing is rounded,
            and no rounds are spent on it. A public factor has 32 at most.
    """
    a, b = beside_floats(a, b)
    one = tensor_of(a, b)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return binary("matmul_raw", a, b) if exact else _product("matmul", a, b)
    return _public.matmul(one, b if one is a else a, left=one is b, exact=exact)


def _product(method: str, a: Tensor, b: Tensor) -> Tensor:
    """A product of tensors: of fixed point if one of them is, also where that one is known to be whole."""
    made = binary(method, a, b)
    points = [one.dtype for one in (a, b) if one.dtype.kind == "fixed"]
    return made.astype(points[0]) if points and made.dtype.kind == "int" else made


def is_list_of_secrets(value: Any) -> bool:
    """Whether this is a list or tuple that has tensors, or lists of them."""
    return type(value) in (list, tuple) and any(
        isinstance(item, Tensor) or is_list_of_secrets(item) for item in value
    )
