"""Values that Python can't know: what they answer when they are used as if it could."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from tacit._location import fault
from tacit.errors import SecretError

if TYPE_CHECKING:
    from tacit.dtypes import DType


class Unknown:
    """A value that isn't there while a program is traced. Using it as if it were says why not."""

    __slots__ = ()

    def _refuse(self, use: str) -> NoReturn:
        raise NotImplementedError

    def __bool__(self) -> bool:
        self._refuse("if")

    def __int__(self) -> int:
        self._refuse("int()")

    def __float__(self) -> float:
        self._refuse("float()")

    def __complex__(self) -> complex:
        self._refuse("complex()")

    def __index__(self) -> int:
        self._refuse("an index or a length")

    def __format__(self, form: str) -> str:
        return self._refuse("a text") if form else str(self)

    def item(self, *_: object) -> NoReturn:
        """Isn't there: nobody has the number."""
        self._refuse("a number of Python's")

    def tolist(self) -> NoReturn:
        """Isn't there: nobody has the numbers."""
        self._refuse("a list of numbers")

    def __array__(self, *_: object, **__: object) -> NoReturn:
        self._refuse("a NumPy array")


class Handle(Unknown):
    """A value that can't be worked with at all; only passed on."""

    __slots__ = ()

    def _operation(self, *_: object) -> Any:
        self._refuse("an operation")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = _operation
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __pow__ = __neg__ = __abs__ = _operation
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __invert__ = _operation
    __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = __iter__ = __len__ = _operation

    def __eq__(self, other: object) -> bool:
        return self is other or bool(self._operation())

    __hash__ = object.__hash__

    def __array_ufunc__(self, *_: object, **__: object) -> NoReturn:
        self._refuse("an operation")

    def __array_function__(self, *_: object) -> NoReturn:
        self._refuse("an operation")


class Declaration(Handle):
    """What a program is given: an argument for `trace`.

    Attributes:
        shape: Lengths of its axes.
        dtype: What its elements are.
        range: The least and the largest value that an element may have; `None` for all that the type holds.
        name: What it is called; `None` for the name of the function's parameter.
    """

    __slots__ = ("dtype", "name", "range", "shape")

    _made_by: ClassVar[str]
    _declares: ClassVar[str]

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: DType,
        range: tuple[float, float] | None,  # noqa: A002 (what users call it)
        name: str | None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.range = range
        self.name = name

    def _refuse(self, use: str) -> NoReturn:
        raise fault(
            SecretError,
            f"{self._made_by} only declares {self._declares}; it can't be used for {use}",
            "pass it to .trace(...) of a @tacit.function, inside which it is a value",
        )

    def _written(self, *first: str, name: str | None) -> str:
        """The call that makes it, with these positional arguments."""
        named = {"shape": self.shape, "dtype": self.dtype, "range": self.range or None}
        said = [f"{key}={value}" for key, value in named.items() if value is not None]
        called = [f"name={name!r}"] if name else []
        return f"{self._made_by}({', '.join([*first, *said, *called])})"


class Secret(Declaration):
    """The declaration of a secret, made by `tacit.secret`: an input of every program that is traced with it.

    Attributes:
        owner: The party or client that gives it.
    """

    __slots__ = ("owner",)

    _made_by = "tacit.secret"
    _declares = "an input"

    def __init__(
        self,
        owner: str,
        shape: tuple[int, ...],
        dtype: DType,
        range: tuple[float, float] | None,  # noqa: A002 (what users call it)
        name: str | None,
    ) -> None:
        super().__init__(shape, dtype, range, name)
        self.owner = owner

    def __repr__(self) -> str:
        return self._written(repr(self.owner), name=self.name)


class Kept(Declaration):
    """The declaration of a value that the parties keep, made by `tacit.kept`.

    Attributes:
        name: What the program calls it, and the kept value's own name where a run says no other.
    """

    __slots__ = ()

    name: str

    _made_by = "tacit.kept"
    _declares = "what is read"

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: DType,
        range: tuple[float, float] | None,  # noqa: A002 (what users call it)
    ) -> None:
        super().__init__(shape, dtype, range, name)

    def __repr__(self) -> str:
        return self._written(repr(self.name), name=None)


class PublicInput(Declaration):
    """The declaration of a value that all parties hold, made by `tacit.public`."""

    __slots__ = ()

    _made_by = "tacit.public"
    _declares = "what runs are given"

    def __repr__(self) -> str:
        return self._written(name=self.name)


class Revealed(Handle):
    """A value that is revealed at the end of a run, made by `tacit.reveal`; the traced function returns it.

    Attributes:
        to: Who learns it: `None` for everybody, else the roles.
        shape: Lengths of its axes.
        dtype: What its elements are.
    """

    __slots__ = ("_outputs", "dtype", "shape", "to")

    def __init__(
        self, outputs: list[int], to: tuple[str, ...] | None, shape: tuple[int, ...], dtype: DType
    ) -> None:
        self._outputs = outputs
        self.to = to
        self.shape = shape
        self.dtype = dtype

    def _refuse(self, use: str) -> NoReturn:
        raise fault(
            SecretError,
            f"a revealed value is known only after the run, so the program can't use it for {use}",
            "return it, and start a second program with the value that the run gives back",
        )

    def __repr__(self) -> str:
        to = "all" if self.to is None else list(self.to)
        return f"<revealed to {to}: {self.dtype} {self.shape}>"
