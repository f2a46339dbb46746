"""What the blanks in lines of random programs stand for: variables, numbers, indices, axes that fit."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

import tacit
from tests.numpy_steps import Operand
from tests.test_bounds import normal_cdf

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

WIDE = 99
"""Where ranges of operands usually end."""

LARGEST = 150
"""Elements that a value has at most."""


class MisfitError(Exception):
    """There is nothing that fits a blank, or NumPy has no such thing either."""


class Instead:
    """A module, some of whose functions are others."""

    def __init__(self, module: Any, **others: Callable[..., Any]) -> None:
        self._module, self._others = module, others

    def __getattr__(self, name: str) -> Any:
        return self._others[name] if name in self._others else getattr(self._module, name)


def sorted_by(key: Any, *columns: Any, descending: bool = False) -> tuple[Any, ...]:
    # Of bools there is no -x.
    order = np.argsort(-(key + 0) if descending else key, kind="stable")
    return (key[order], *(column[order] for column in columns))


def softmax(x: Any, axis: int) -> Any:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def rounded(x: Any, decimals: int = 0) -> Any:
    return +x if np.asarray(x).dtype.kind == "i" else np.floor(x * 10**decimals + 0.5) / 10**decimals


IN_NUMPY = {
    # Ties are rounded up, and covariances and correlations are a matrix always, as docs/numpy.md says.
    "np": Instead(
        np,
        rint=rounded,
        round=rounded,
        cov=lambda *given, **options: np.atleast_2d(np.cov(*given, **options)),
        corrcoef=lambda *given: np.atleast_2d(np.corrcoef(*given)),
    ),
    "tacit": Instead(
        None,
        rsqrt=lambda x: x**-0.5,
        sigmoid=lambda x: 1 / (1 + np.exp(-x)),
        softmax=softmax,
        normal_cdf=normal_cdf,
        sort_by=sorted_by,
        top_k=lambda key, k, *columns: tuple(one[:k] for one in sorted_by(key, *columns, descending=True)),
    ),
}
IN_TACIT = {"np": np, "tacit": tacit}


def value_of(text: str, names: dict[str, Any]) -> Any:
    """What an expression gives: of arrays or of tensors, as the names are of."""
    known = IN_TACIT if any(isinstance(one, tacit.Tensor) for one in names.values()) else IN_NUMPY
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return eval(text, {**known}, dict(names))


def do(text: str, names: dict[str, Any]) -> None:
    """Does what a statement says."""
    known = IN_TACIT if any(isinstance(one, tacit.Tensor) for one in names.values()) else IN_NUMPY
    exec(text, {**known}, names)
    names.pop("m", None)


class Blanks:
    """Draws what stands in a line's blanks, from left to right; `last` is the latest operand."""

    def __init__(self, draw: Callable[..., Any], arrays: dict[str, Any], tensors: dict[str, Any]) -> None:
        self.draw, self.arrays, self.tensors = draw, arrays, tensors
        self.last = ""
        self.value: Any = np.zeros(())
        self.ends: list[tuple[float, float, float]] = []

    def __getitem__(self, blank: str) -> str:
        return str(getattr(self, blank)())

    def operand(self) -> Operand:
        """The range of all operands, and where the last one is to be found."""
        lows, highs, all_steps = zip(*(self.ends or [(0, 0, 1)]), strict=True)
        return Operand(self.last, min(lows), max(highs), max(all_steps))

    def of(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    # Variables.

    def chosen(self, kinds: str, fits: Callable[[Any], bool] = lambda _: True, *, whole: bool = False) -> str:
        """A variable, or what is left of it within narrow ends if it is wide."""
        names = [
            name
            for name, value in self.arrays.items()
            if np.asarray(value).dtype.kind in kinds and fits(np.asarray(value))
        ]
        if not names:
            raise MisfitError
        name: str = self.draw(st.sampled_from(names))
        tensor = self.tensors[name]
        end = max(map(abs, tensor.range))
        if not whole and end > WIDE and (end * tensor.dtype.unit > 2**44 or self.of(True, True, False)):
            name = f"np.clip({name}, -{WIDE}, {WIDE})"
        return name

    def taken(self, text: str) -> str:
        self.last, self.value = text, np.asarray(value_of(text, self.arrays))
        self.noted(text)
        return text

    def noted(self, text: str) -> str:
        """An operand beside the last one."""
        tensor = value_of(text, self.tensors)
        if isinstance(tensor, tacit.Tensor):
            self.ends.append((*tensor.range, 1 / tensor.dtype.unit))
        return text

    def n(self) -> str:
        return self.taken(self.chosen("if"))

    def i(self) -> str:
        return self.taken(self.chosen("i"))

    def f(self) -> str:
        return self.taken(self.chosen("f"))

    def b(self) -> str:
        return self.taken(self.chosen("b"))

    def x(self) -> str:
        return self.taken(self.chosen("ifb"))

    def same(self) -> str:
        return self.last

    def shaped(self, kinds: str, ndim: int) -> str:
        """A variable with so many axes, or all elements of another with these."""
        text = self.chosen(kinds)
        value = np.asarray(value_of(text, self.arrays))
        if value.ndim != ndim:
            text += ".reshape(-1)" if ndim == 1 else self.of(".reshape(1, -1)", ".reshape(-1, 1)")
        return self.taken(text)

    def vector(self) -> str:
        return self.shaped("if", 1)

    def int_vector(self) -> str:
        return self.shaped("i", 1)

    def x_vector(self) -> str:
        return self.shaped("ifb", 1)

    def matrix(self) -> str:
        return self.shaped("if", 2)

    def x_matrix(self) -> str:
        return self.shaped("ifb", 2)

    def square(self) -> str:
        text = self.matrix()
        side = min(self.value.shape)
        return self.taken(f"{text}[:{side}, :{side}]")

    def varied(self) -> str:
        """Rows of which none is constant."""
        text = self.matrix()
        return self.taken(f"np.hstack([{text}, np.array({[[7, -7]] * len(self.value)})])")

    def three(self) -> str:
        return self.taken(f"np.tile({self.vector()}, 3)[:3]")

    def with_axes(self, kinds: str) -> str:
        text = self.chosen(kinds)
        return self.taken(text if np.ndim(value_of(text, self.arrays)) else f"{text}.reshape(1)")

    def axed(self) -> str:
        return self.with_axes("if")

    def x_axed(self) -> str:
        return self.with_axes("ifb")

    def bools(self) -> str:
        return self.with_axes("b")

    # Operands beside the last one.

    def like(self) -> str:
        """A secret of the last one's shape."""
        shape = self.value.shape
        try:
            return self.noted(self.chosen("if", lambda value: value.shape == shape))
        except MisfitError:
            return self.last

    def alike(self) -> str:
        """The same of the last one's kind, or a public array."""
        shape, kinds = self.value.shape, "b" if self.value.dtype.kind == "b" else "if"
        try:
            return self.noted(self.chosen(kinds, lambda value: value.shape == shape))
        except MisfitError:
            return self.public()

    def public(self) -> str:
        return self.listed(self.value.shape, self.value.dtype.kind)

    def listed(self, shape: tuple[int, ...], kind: str) -> str:
        numbers: SearchStrategy[Any] = {
            "b": st.booleans(),
            "i": st.integers(-4, 4),
            "f": st.integers(-32, 32).map(lambda eighth: eighth / 8),
        }[kind]
        size = int(np.prod(shape, dtype=int))
        known = np.array(self.draw(st.lists(numbers, min_size=size, max_size=size))).reshape(shape)
        return f"np.array({known.tolist()})"

    def beside(self) -> str:
        """Numbers that are broadcast with the last operand."""
        shape = self.value.shape

        def fits(value: Any) -> bool:
            try:
                return np.broadcast(np.empty(shape), value).size <= LARGEST
            except ValueError:
                return False

        match self.of("secret", "secret", "secret", "number", "float", "array"):
            case "number":
                return f"({self.k()})"
            case "float":
                return f"({self.eighths()})"
            case "array":
                return self.listed(shape[self.draw(st.integers(0, len(shape))) :], self.of("i", "f"))
        try:
            return self.noted(self.chosen("if", fits))
        except MisfitError:
            return f"({self.k()})"

    def right(self) -> str:
        """What stands on the right of a product with the last one."""
        length = self.value.shape[-1]
        if self.of(True, False, False):
            return self.listed((length, *self.of((), (2,))), self.of("i", "f"))
        try:
            return self.noted(
                self.chosen("if", lambda value: value.ndim in (1, 2) and value.shape[0] == length)
            )
        except MisfitError:
            return f"{self.last}.T"

    def right_vector(self) -> str:
        length = self.value.shape[-1]
        try:
            return self.noted(self.chosen("if", lambda value: value.shape == (length,)))
        except MisfitError:
            return self.listed((length,), self.of("i", "f"))

    def multiplied(self) -> str:
        text = self.vector()
        return f"{self.listed((*self.of((), (2,)), self.value.size), self.of('i', 'f'))} @ {text}"

    def rows(self) -> str:
        text = self.axed()
        return f"{self.of('np.sum', 'np.sort', 'np.cumsum')}, {self.axis()}, {text}"

    def mask(self) -> str:
        """Bools that are broadcast to the last operand's shape."""
        shape = self.value.shape

        def fits(value: Any) -> bool:
            return value.ndim <= len(shape) and all(
                a in (1, b) for a, b in zip(value.shape[::-1], shape[::-1], strict=False)
            )

        if self.of(True, False, False):
            return self.listed(shape, "b")
        try:
            return self.chosen("b", fits)
        except MisfitError:
            return self.own_mask()

    def own_mask(self) -> str:
        return f"(~{self.last})" if self.value.dtype.kind == "b" else f"({self.last} > {self.k()})"

    def secret_mask(self) -> str:
        """A secret mask of the last operand's shape, or of its first axis."""
        shape = self.value.shape
        try:
            return self.chosen("b", lambda value: value.ndim > 0 and value.shape == shape[: value.ndim])
        except MisfitError:
            return self.own_mask()

    # Numbers and words.

    def k(self) -> int:
        return int(self.draw(st.integers(-3, 5)))

    def positive(self) -> int:
        return int(self.of(1, 2, 3, 4))

    def eighths(self) -> float:
        return float(self.draw(st.integers(-32, 32)) / 8)

    def parts(self) -> float:
        return float(self.of(0.5, 0.25, 1.5, 2.0))

    def wild(self) -> float:
        return float(self.of(0.1, 1 / 3, 2.7, -0.3, 7.0, 19.99))

    def flag(self) -> Any:
        return self.of(True, False)

    def compare(self) -> str:
        return str(self.of("<", "<=", ">", ">=", "==", "!="))

    def equal(self) -> str:
        return str(self.of("==", "!="))

    def logic(self) -> str:
        return str(self.of("&", "|", "^"))

    def junction(self) -> str:
        return str(self.of("and", "or", "xor"))

    def reducible(self) -> str:
        return str(self.of("and", "or", "xor"))

    def extreme(self) -> str:
        return str(self.of("maximum", "minimum", "add"))

    def mode(self) -> str:
        return str(self.of("", ", 'same'", ", 'valid'"))

    def side(self) -> str:
        return str(self.of("", ", 'right'"))

    def weights(self) -> str:
        return str([float(self.of(0.5, 1, 2.3, 0.1)) for _ in range(self.value.size)])

    # Axes and shapes of the last operand.

    def axis(self) -> int:
        if not self.value.ndim:
            raise MisfitError
        return int(self.draw(st.integers(-self.value.ndim, self.value.ndim - 1)))

    def axis_or_none(self) -> int | None:
        return self.axis() if self.value.ndim and self.of(True, False) else None

    def axis_or_not(self) -> str:
        return str(self.axis()) if self.value.ndim and self.of(True, False) else ""

    def axes(self) -> Any:
        if self.value.ndim < 2 or self.of(True, True, False):
            return self.axis_or_none()
        return tuple(self.draw(st.permutations(range(self.value.ndim)))[: self.draw(st.integers(1, 2))])

    def order(self) -> str:
        return ", ".join(map(str, self.draw(st.permutations(range(self.value.ndim)))))

    def shape(self) -> str:
        size = self.value.size
        first = self.of(*(one for one in range(1, size + 1) if size % one == 0))
        return ", ".join(
            map(str, self.of((first, -1), (-1, first), (first, size // first), (size,), (1, -1, first)))
        )

    def wider(self) -> str:
        shape = tuple(3 if length == 1 and self.of(True, False) else length for length in self.value.shape)
        return str(self.of(shape, (2, *shape)))

    def divisor(self) -> int:
        length = self.value.shape[0]
        return int(self.of(*(one for one in range(1, length + 1) if length % one == 0)))

    def length(self) -> int:
        return int(self.draw(st.integers(1, self.value.shape[0])))

    def length_of_it(self) -> int:
        return len(self.value)

    def zero_or_last(self) -> int:
        return int(self.of(0, -1))

    # Indices of the last operand.

    def place(self) -> int:
        return self.place_of(0)

    def place_of(self, axis: int) -> int:
        length = self.value.shape[axis]
        return int(self.draw(st.integers(-length, length - 1)))

    def slices(self) -> str:
        entries = []
        for axis in range(self.draw(st.integers(1, self.value.ndim))):
            ends = ["", *map(str, range(-self.value.shape[axis] - 1, self.value.shape[axis] + 2))]
            sliced = f"{self.of(*ends)}:{self.of(*ends)}{self.of('', ':-1', ':2', ':-2')}"
            entries.append(self.of(sliced, sliced, str(self.place_of(axis))))
        if self.of(True, False, False, False):
            entries.insert(self.draw(st.integers(0, len(entries))), self.of("None", "..."))
        return ", ".join(entries)

    def places(self) -> str:
        return str([self.place() for _ in range(self.draw(st.integers(1, 3)))])

    def columns(self) -> str:
        return str([self.place_of(1) for _ in range(self.draw(st.integers(1, 3)))])

    def pairs(self) -> str:
        count = self.draw(st.integers(1, 3))
        return ", ".join(str([self.place_of(axis) for _ in range(count)]) for axis in (0, 1))

    def public_mask(self) -> str:
        return self.listed(self.value.shape, "b")

    def public_row_mask(self) -> str:
        return self.listed(self.value.shape[:1], "b")

    def hidden(self) -> str:
        return self.hidden_of(0)

    def hidden_column(self) -> str:
        return self.hidden_of(1)

    def within(self, text: str, axis: int) -> str:
        length = self.value.shape[axis]
        return f"np.clip({text}, {self.of(0, 0, -length)}, {length - 1})"

    def hidden_of(self, axis: int) -> str:
        name = self.chosen("i")
        return self.within(
            name if not np.ndim(value_of(name, self.arrays)) else f"{name}.reshape(-1)[0]", axis
        )

    def several(self) -> str:
        return self.within(self.chosen("i", lambda value: value.ndim > 0), 0)

    def hidden_columns(self) -> str:
        rows = self.value.shape[0]
        try:
            return self.within(self.chosen("i", lambda value: value.shape == (rows,)), 1)
        except MisfitError:
            return f"np.repeat({self.hidden_of(1)}, {rows})"

    # What is changed, and what goes there.

    def changed(self, kinds: str, fits: Callable[[Any], bool]) -> str:
        # np.add.at writes to what is read-only, and to all elements of which that has one.
        return self.taken(
            self.chosen(
                kinds, lambda value: value.ndim > 0 and value.flags.writeable and fits(value), whole=True
            )
        )

    def target(self) -> str:
        return self.changed("if", lambda _: True)

    def target_bool(self) -> str:
        return self.changed("b", lambda _: True)

    def target_vector(self) -> str:
        return self.changed("if", lambda value: value.ndim == 1)

    def target_matrix(self) -> str:
        return self.changed("if", lambda value: value.ndim == 2)

    def target_alike(self) -> str:
        shape = self.value.shape
        return self.changed("if", lambda value: value.shape == shape)

    def change(self) -> str:
        return str(self.of("+", "-", "*"))

    def own_kinds(self) -> str:
        return {"i": "i", "f": "if", "b": "b"}[self.value.dtype.kind]

    def own(self) -> Any:
        """One element that the last operand can hold."""
        kind = self.value.dtype.kind
        if self.of(True, False):
            return {"i": self.k, "f": self.eighths, "b": self.flag}[kind]()
        name = self.chosen(self.own_kinds())
        return f"{name}.reshape(-1)[0]" if np.ndim(value_of(name, self.arrays)) else name

    def own_alike(self) -> str:
        shape = self.value.shape

        def fits(value: Any) -> bool:
            return value.ndim <= len(shape) and all(
                a in (1, b) for a, b in zip(value.shape[::-1], shape[::-1], strict=False)
            )

        return self.noted(self.chosen(self.own_kinds(), fits))

    def own_same(self) -> str:
        shape = self.value.shape
        return self.noted(self.chosen(self.own_kinds(), lambda value: value.shape == shape))
