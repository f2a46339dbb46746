"""Tracing: from a Python function of secrets to a plan."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import operator
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, ParamSpec, overload

from tacit import _tree
from tacit._handles import Declaration, Handle, Kept, PublicInput, Revealed, Secret
from tacit._location import caller, fault
from tacit._native import Builder
from tacit._plan import Plan
from tacit._selection import Selection
from tacit._tensor import Tensor
from tacit._values import a as _a
from tacit._views import scope_of
from tacit.dtypes import DType, fixed
from tacit.errors import ProgramError, ProgramTypeError
from tacit.tables.column import Column
from tacit.tables.reveal import RevealedTable, revealed
from tacit.tables.schema import SecretTable
from tacit.tables.table import Table, of_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tacit.tables.schema import Schema

P = ParamSpec("P")

ARM = "an arm of a branch"
"""What is being traced there, in words."""


def secret(
    owner: str,
    *,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    range: tuple[float, float] | None = None,  # noqa: A002 (the word for it)
    name: str | None = None,
) -> Secret:
    """Declares a secret that `owner` will give: an argument for `trace`.

    Args:
        owner: A party of the deployment by its name, or a client.
        shape: Lengths of its axes; () for a single number.
        dtype: `tacit.fixed(16)` (the default), `tacit.int8` to `tacit.int64`, `tacit.bool_` or
            `tacit.modular(2**64)`.
        range: The least and the largest value of an element. Everybody knows it; values outside are refused
            before they are sent. From it follows what arithmetic can be done without overflow. Without one,
            fixed point and int64 are from -2**47 to 2**47 - 1 steps, below 2**31 for fixed(16), which leaves
            room for sums, and integers of fewer bits may be anything that they hold.
        name: What the owner calls it; if not given, the name of the function's parameter.

    Raises:
        ProgramError: A name is empty, a range isn't one, or the type can't hold it.
    """
    dtype = checked_dtype(dtype)
    if not isinstance(owner, str) or not owner or owner == "all":
        raise fault(ProgramError, f"{owner!r} can't be an owner", "name a party or a client: 'alice'")
    if name is not None and (not isinstance(name, str) or not name):
        raise fault(ProgramError, f"{name!r} can't be the name of an input")
    return Secret(
        owner, checked_shape(shape), dtype, None if range is None else checked_range(range, dtype), name
    )


def public(
    *,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    range: tuple[float, float] | None = None,  # noqa: A002 (the word for it)
    name: str | None = None,
) -> PublicInput:
    """Declares a value that all parties hold and each run says: an argument for `trace`.

    Thresholds, weights, prices, or a message to be enciphered: one plan serves all values, as they are no
    part of it. A number that is the same in every run needs no declaration; pass it to `trace` as it is.

    In `tacit.local` it is given once, `run(plan, threshold=0.5)`. In a deployment each party gives it, all
    the same: they compare hashes before any input is shared, and if one has another value, nothing is
    computed and all say so, with the names. Clients neither give it nor see it.

    Inside the function it is a value like others. To multiply elements by it sends nothing but for rounding
    (under `gmw` it takes fewer ANDs), nor does an AND with it; all else takes the messages that it takes with
    a secret. `replicated`, `replicated-malicious`, `mascot` and `gmw` run such plans; those of `astra`, whose
    masks are made ahead, don't.

    Args:
        shape: Lengths of its axes; () for a single number.
        dtype: As of `tacit.secret`.
        range: The least and the largest value of an element, as of `tacit.secret`.
        name: What runs call it; if not given, the name of the function's parameter.

    Raises:
        ProgramError: The name is empty, a range isn't one, or the type can't hold it.
    """
    dtype = checked_dtype(dtype)
    if name is not None and (not isinstance(name, str) or not name):
        raise fault(ProgramError, f"{name!r} can't be the name of a public input")
    return PublicInput(
        checked_shape(shape), dtype, None if range is None else checked_range(range, dtype), name
    )


class Function(Generic[P]):
    """A function of secrets that can be traced; made by `tacit.function`."""

    def __init__(self, function: Callable[P, Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._signature = inspect.signature(function)

    def trace(self, *args: Any, **kwargs: Any) -> Plan:
        """Runs the function once, on values without values, and keeps what it does as a plan.

        Args:
            args: For the function's parameters. Each `tacit.secret` (in nested tuples, lists and dicts too)
                becomes an input, each `tacit.kept` a value that the parties keep, and each `tacit.public`
                one that they all give; everything else is public, a part of the program, and passed on as
                it is.
            kwargs: The same, by name.

        Raises:
            ProgramError: An operation would go wrong, or what is returned isn't what is revealed.
            ProgramTypeError: The arguments don't fit the function.
        """
        bound = self._bound(args, kwargs)
        bound.apply_defaults()
        trace = _Trace()
        for name, value in bound.arguments.items():
            bound.arguments[name] = _tree.changed(value, trace.admit, name)
        with trace:
            try:
                returned = self._function(*bound.args, **bound.kwargs)
            except ValueError as error:
                # NumPy has an error of its own for what has no place in an array, whose cause says more.
                cause = error.__cause__
                if isinstance(error, ProgramError) or not isinstance(cause, ProgramError):
                    raise
                raise cause from None
        return trace.finish(self.__name__, returned)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """What each parameter is given."""
        try:
            return self._signature.bind(*args, **kwargs)
        except TypeError as error:
            name, signature = self.__name__, self._signature
            secrets = ", ".join(
                f'{name}=tacit.secret("{owner}", ...)'
                for name, owner in zip(signature.parameters, ("alice", "bob"), strict=False)
            )
            raise fault(
                ProgramTypeError,
                f"{name}{signature} can't be traced: {error}",
                f"give each parameter a declaration, {name}.trace({secrets}), or declare it as its default",
            ) from None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Calls the function as it is, as a part of another that is being traced."""
        for value in (*args, *kwargs.values()):
            if isinstance(value, (Declaration, SecretTable)):
                name = self.__name__
                raise fault(
                    ProgramTypeError,
                    f"{name} was called with a declaration",
                    f"{name}.trace(...) makes a plan; run(plan, ...) in `with tacit.local() as run:` runs it",
                )
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tacit function {self.__name__}{self._signature}>"

    __name__: str


def function(function: Callable[P, Any]) -> Function[P]:
    """Makes a Python function of secrets traceable: `plan = f.trace(a, b)`.

    The function works on tensors as it would on arrays, and returns what `tacit.reveal` gives, in tuples,
    lists and dicts as it likes; a run returns the same structure with values in it.
    """
    return Function(function)


@overload
def reveal(value: Tensor, to: str | Sequence[str] = "all") -> Revealed: ...


@overload
def reveal(value: Any, to: str | Sequence[str] = "all") -> Any: ...


def reveal(value: Any, to: str | Sequence[str] = "all") -> Any:
    """Lets somebody learn a value: the only way out of a program.

    Args:
        value: A tensor or a table, or tuples, lists and dicts with them in it; what else is in them stays.
        to: "all" (every computing party and everyone who gives or gets something), one name, or several.

    Returns:
        A handle for the traced function to return, or handles in the same structure. They can't be computed
        with: values are known after the run.

    Raises:
        ProgramError: `value` isn't a tensor, or `to` names nobody.
    """
    if isinstance(value, Handle):
        value._refuse("tacit.reveal")
    if isinstance(value, Table):
        return revealed(value, lambda part: reveal(part, to))
    secrets = (Tensor, Table, Selection)
    if type(value) in (dict, list, tuple) and any(
        isinstance(leaf, secrets) for leaf in _tree.leaves(value).values()
    ):
        return _tree.changed(
            value, lambda leaf, _: reveal(leaf, to) if isinstance(leaf, secrets) else leaf, ""
        )
    if isinstance(value, Selection):
        value._refuse("tacit.reveal")
    if isinstance(value, Column):
        raise fault(
            ProgramTypeError,
            "tacit.reveal takes a table, and this is a column of one",
            'reveal t.select("column"), so that rows that do not count stay out',
        )
    if not isinstance(value, Tensor):
        raise fault(
            ProgramTypeError,
            f"tacit.reveal takes a secret, and this is {_a(value)}",
            "public values can be returned as they are",
        )
    names = (to,) if isinstance(to, str) else tuple(to)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise fault(
            ProgramError, f"to={to!r} names nobody", 'use to="all", to="alice" or to=["alice", "bob"]'
        )
    trace = leaving(value, "reveal", "revealed")
    for name in names:
        meant = next((owner for owner in trace.owners if _is_slip(name, owner)), None)
        if meant is not None and name not in trace.owners:
            raise fault(ProgramError, f"to={name!r}: nobody of that name gives anything", f"is it {meant!r}?")
    return trace.reveal(value, None if "all" in names else names)


def _is_slip(name: str, owner: str) -> bool:
    """Whether a name is another in other case, with two letters swapped, or with one too few or too many."""
    if name != owner and name.casefold() == owner.casefold():
        return True
    if len(name) < 4 or not (name + owner).isalpha():
        return False
    if len(name) == len(owner):
        differ = [place for place in range(len(name)) if name[place] != owner[place]]
        return len(differ) == 2 and sorted(name) == sorted(owner)
    longer, shorter = sorted((name, owner), key=len, reverse=True)
    return any(longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer)))


def leaving(value: Tensor, verb: str, done: str) -> _Trace:
    """The program in the making from which a value is to leave: not within a body or an arm."""
    trace = tracing(value._builder)
    if trace is None:
        raise fault(ProgramError, f"this value belongs to a program that is finished; it can't {verb} more")
    if trace.bodies:
        raise fault(
            ProgramError,
            f"nothing can be {done} in {trace.bodies[-1]}",
            f"return it from there, and {verb} what comes out in the end",
        )
    return trace


def tracing(builder: Builder) -> _Trace | None:
    """The program in the making that a builder's values belong to, if it isn't finished."""
    return _Trace.open.get(id(builder))


def latest() -> Builder | None:
    """The builder of the program that this thread traces, of several the one that was begun last."""
    here = threading.get_ident()
    return next((one.builder for one in reversed(_Trace.open.values()) if one.thread == here), None)


def is_in_arm(builder: Builder) -> bool:
    """Whether what is traced is in an arm of a branch."""
    trace = tracing(builder)
    return trace is not None and ARM in trace.bodies


@contextlib.contextmanager
def in_body(builder: Builder, what: str = "a body that is repeated") -> Iterator[None]:
    """While the body of a `repeat`, or an arm of a branch, is traced."""
    trace = _Trace.open[id(builder)]
    trace.bodies.append(what)
    try:
        with scope_of(builder):
            yield
    finally:
        trace.bodies.pop()


class _Trace:
    """A program in the making."""

    open: ClassVar[dict[int, _Trace]] = {}
    """All traces that are going on, in whatever thread, by the identity of their builders."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.builder.at(*caller())
        self.admitted: dict[int, Tensor] = {}
        self.tables: dict[int, tuple[Schema, Table]] = {}
        self.revealed: list[tuple[Revealed, str]] = []
        self.outputs = 0
        self.thread = threading.get_ident()
        self.owners: set[str] = set()
        self.sorted: dict[tuple[int, int], int] = {}
        """The numbers of what is sorted, by node and axis."""
        self.bodies: list[str] = []
        """Bodies that are repeated and arms of branches that are being traced, one inside another."""

    def __enter__(self) -> None:
        self.open[id(self.builder)] = self

    def __exit__(self, *_: object) -> None:
        del self.open[id(self.builder)]

    def admit(self, value: object, path: str) -> object:
        """An argument: an input for a declaration, anything else as it is."""
        if isinstance(value, SecretTable):
            return self._admit_table(value)
        if not isinstance(value, Declaration):
            return value
        if id(value) not in self.admitted:
            self.admitted[id(value)] = self._input(value, path)
        return self.admitted[id(value)]

    def _input(self, value: Declaration, path: str) -> Tensor:
        """A new value for a declaration."""
        of = (value.dtype.kind, value.dtype.bits, list(value.shape), *_raw_range(value))
        name = value.name or path
        if isinstance(value, Secret):
            self.owners.add(value.owner)
            made = self.builder.input(value.owner, name, *of)
        elif isinstance(value, Kept):
            made = self.builder.kept(name, *of)
        else:
            made = self.builder.known(name, *of)
        return Tensor(self.builder, made)

    def _admit_table(self, declared: SecretTable) -> Table:
        """A table: an input for each of its columns."""
        if id(declared) not in self.tables:
            schema = declared.schema
            if any((one.name, one.owner) == (schema.name, schema.owner) for one, _ in self.tables.values()):
                raise fault(
                    ProgramError,
                    f"{schema.owner} gives two tables called {schema.name!r}",
                    'say name="..." for each of them',
                )
            tensors = {name: self._input(one, name) for name, one in schema.declared().items()}
            self.tables[id(declared)] = schema, of_inputs(schema, tensors)
        return self.tables[id(declared)][1]

    def reveal(self, value: Tensor, to: tuple[str, ...] | None) -> Revealed:
        """Adds outputs."""
        first = self.outputs
        for name in to or (None,):
            value._at().reveal(value._id, name)
            self.outputs += 1
        handle = Revealed([*range(first, self.outputs)], to, value.shape, value.dtype)
        file, line, text = caller()
        self.revealed.append((handle, f"{file}:{line}: {text}"))
        return handle

    def finish(self, name: str, returned: object) -> Plan:
        """The plan, once the function has returned."""
        seen: set[int] = set()

        def outputs_of(value: object) -> _tree.Structure | None:
            if isinstance(value, Revealed):
                seen.add(id(value))
                return {"outputs": value._outputs}
            if isinstance(value, RevealedTable):
                return {"table": value.description, **_tree.apart(value.parts, outputs_of)}
            if isinstance(value, (Tensor, Table)):
                raise fault(
                    ProgramTypeError,
                    f"{name} returns a secret",
                    "return tacit.reveal(x, to=...) for what somebody is to learn",
                )
            return None

        try:
            structure = _tree.apart(returned, outputs_of)
        except ProgramError:
            raise
        except TypeError as error:
            raise fault(ProgramTypeError, f"{name}: {error}") from None
        for handle, place in self.revealed:
            if id(handle) not in seen:
                raise fault(
                    ProgramError,
                    f"{name} reveals a value that it doesn't return:\n    {place}",
                    "return it too, or don't reveal it: somebody would learn what is no result",
                )
        if self.tables:
            structure = {**structure, "tables": [schema.to_json() for schema, _ in self.tables.values()]}
        return Plan(self.builder.finish(), structure, name)


def checked_dtype(given: DType | None) -> DType:
    """A declared type; `tacit.fixed(16)` where none is said."""
    dtype = fixed(16) if given is None else given
    if not isinstance(dtype, DType):
        raise fault(ProgramTypeError, f"{dtype!r} is no type of tacit", _dtype_like(dtype))
    return dtype


def _dtype_like(given: Any) -> str:
    """Which type is meant by a type of Python, NumPy or pandas."""
    import numpy as np

    known = {"b": "bool_", "f": "fixed(16)", "i": "int64", "u": "int64"}
    try:
        found = np.dtype(getattr(given, "numpy_dtype", given))
    except TypeError:
        return "use tacit.fixed(16), tacit.int32, ..."
    name = f"int{8 * found.itemsize}" if found.kind == "i" else known.get(found.kind)
    return f"use tacit.{name}" if name else "use tacit.fixed(16), tacit.int32, ..."


def checked_shape(given: Any) -> tuple[int, ...]:
    """A declared shape as a tuple."""
    try:
        lengths = tuple(map(operator.index, given if isinstance(given, Iterable) else (given,)))
    except TypeError:
        raise fault(ProgramError, f"shape={given!r} is no shape", "use shape=(rows, columns)") from None
    if any(length < 1 for length in lengths):
        raise fault(ProgramError, f"shape={given!r}: every axis needs a length of 1 at least")
    return lengths


def checked_range(given: Any, dtype: DType) -> tuple[float, float]:
    """A declared range that its type can hold."""
    if dtype.kind in ("bool", "modular", "field"):
        raise fault(ProgramError, f"{dtype} has no range", "leave range out, or declare an integer type")
    try:
        low, high = given
        finite = math.isfinite(low) and math.isfinite(high)
    except (TypeError, ValueError):
        raise fault(ProgramError, f"range={given!r} is no pair of numbers", "use range=(low, high)") from None
    if not finite or low > high:
        raise fault(ProgramError, f"the range {low} to {high} holds no number")
    if dtype.kind == "int" and (low != int(low) or high != int(high)):
        raise fault(ProgramError, f"the range {low} to {high} of {dtype} has to be between integers")
    least, most = dtype.limits
    if low * dtype.unit < least or high * dtype.unit > most:
        ends = f"{dtype.real(least):g} to {dtype.real(most):g}"
        raise fault(ProgramError, f"{dtype} holds {ends}, not {low:g} to {high:g}", "use a wider type")
    return low, high


def _raw_range(declared: Declaration) -> tuple[int | None, int | None]:
    """A range in raw values; ends of fixed point are rounded as inputs are."""
    dtype = declared.dtype
    if declared.range is None:
        if not isinstance(declared, Kept) and dtype.default_limits is not None:
            return dtype.default_limits
        return dtype.limits if dtype.kind == "int" else (None, None)
    if dtype.kind == "int":
        return int(declared.range[0]), int(declared.range[1])
    low, high = (math.floor(end * dtype.unit + 0.5) for end in declared.range)
    return low, min(high, dtype.limits[1])
