"""NumPy's functions on secret tensors: `np.where`, `np.sum`, an array on the left of `+`, and their like."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tacit import (
    _along,
    _curves,
    _division,
    _einsum,
    _elementary,
    _matching,
    _moved,
    _order,
    _placed,
    _polynomials,
    _rounding,
    _sets,
    _statistics,
)
from tacit import _functions as tacit
from tacit._location import fault
from tacit._selection import Selection
from tacit._tensor import Tensor, binary, known_value, matmul, multiply, tensor_of
from tacit.dtypes import DType, bool_, fixed, int64
from tacit.errors import ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: binary("add", a, b),
    "subtract": lambda a, b: binary("sub", a, b),
    "multiply": multiply,
    "matmul": matmul,
    "divide": lambda a, b: a / b if isinstance(a, Tensor) else b.__rtruediv__(a),
    "floor_divide": _division.floor_divide,
    "remainder": _division.remainder,
    "divmod": _division.divided,
    "fmod": _division.fmod,
    "modf": _division.modf,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "power": lambda a, b: a**b if isinstance(a, Tensor) else b.__rpow__(a),
    "float_power": lambda a, b: a**b if isinstance(a, Tensor) else b.__rpow__(np.asarray(a, dtype=float)),
    "exp": _elementary.exp,
    "exp2": _elementary.exp2,
    "expm1": lambda a: _elementary.exp(a) - 1,
    "log": _elementary.log,
    "log2": _elementary.log2,
    "log10": _elementary.log10,
    "log1p": lambda a: _elementary.log(a + 1),
    "sqrt": _elementary.sqrt,
    "reciprocal": _elementary.reciprocal,
    "tanh": _elementary.tanh,
    "sign": _rounding.sign,
    "floor": _rounding.floor,
    "ceil": _rounding.ceil,
    "trunc": _rounding.trunc,
    "rint": _rounding.rounded,
    "fabs": abs,
    "fmax": tacit.maximum,
    "fmin": tacit.minimum,
    "square": lambda a: a * a,
    "negative": lambda a: -a,
    "positive": lambda a: a,
    "absolute": abs,
    "less": lambda a, b: binary("less", a, b),
    "less_equal": lambda a, b: binary("less_equal", a, b),
    "greater": lambda a, b: binary("greater", a, b),
    "greater_equal": lambda a, b: binary("greater_equal", a, b),
    "equal": lambda a, b: binary("equal", a, b),
    "not_equal": lambda a, b: binary("not_equal", a, b),
    "bitwise_and": lambda a, b: binary("and", a, b),
    "bitwise_or": lambda a, b: binary("or", a, b),
    "bitwise_xor": lambda a, b: binary("xor", a, b),
    "invert": lambda a: ~a,
    "logical_and": lambda a, b: binary("and", _truth(a), _truth(b)),
    "logical_or": lambda a, b: binary("or", _truth(a), _truth(b)),
    "logical_xor": lambda a, b: binary("xor", _truth(a), _truth(b)),
    "logical_not": lambda a: ~_truth(a),
    "hypot": _curves.hypot,
    "cbrt": lambda a: _rounding.sign(a) * abs(a) ** (1 / 3),
    "sinh": _elementary.sinh,
    "cosh": _elementary.cosh,
    "logaddexp": _elementary.logaddexp,
    # Public, so that x[~np.isnan(x)] is all of x.
    "isnan": lambda a: np.zeros(a.shape, dtype=bool),
    "isinf": lambda a: np.zeros(a.shape, dtype=bool),
    "isfinite": lambda a: np.ones(a.shape, dtype=bool),
    "heaviside": lambda a, middle: tacit.where(a < 0, 0, tacit.where(a == 0, middle, 1)),
    "minimum": tacit.minimum,
    "maximum": tacit.maximum,
}

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": Tensor.sum,
    "mean": Tensor.mean,
    "max": Tensor.max,
    "amax": Tensor.max,
    "min": Tensor.min,
    "amin": Tensor.min,
    "argmax": Tensor.argmax,
    "argmin": Tensor.argmin,
    "any": Tensor.any,
    "all": Tensor.all,
    "reshape": Tensor.reshape,
    "ravel": Tensor.ravel,
    "transpose": Tensor.transpose,
    "broadcast_to": Tensor.broadcast_to,
    "sliding_window_view": tacit.windows,
    "shape": lambda a: a.shape,
    "ndim": lambda a: a.ndim,
    "size": lambda a: a.size,
    "dot": lambda a, b: _dot(a, b),
    "where": tacit.where,
    "clip": tacit.clip,
    "concatenate": lambda values, axis=0: (
        tacit.concatenate([tacit.ravel(value) for value in values])
        if axis is None
        else tacit.concatenate(values, axis)
    ),
    "stack": tacit.stack,
    "vstack": lambda values: _moved.rows_of(values, 0),
    "hstack": lambda values: _moved.rows_of(values, 1),
    "column_stack": _moved.column_stack,
    "append": lambda a, b, axis=None: _FUNCTIONS["concatenate"]([a, b], axis),
    "compress": _moved.compress,
    "extract": _moved.extract,
    "split": _moved.split,
    "array_split": lambda a, sections, axis=0: _moved.split(a, sections, axis, equal=False),
    "cumsum": _moved.cumsum,
    "cumprod": _moved.cumprod,
    "prod": Tensor.prod,
    "diff": _moved.diff,
    "einsum": _einsum.einsum,
    "inner": lambda a, b: _inner(a, b),
    "vdot": lambda a, b: matmul(tacit.ravel(a), tacit.ravel(b)),
    "outer": lambda a, b: multiply(tacit.ravel(a).reshape(-1, 1), tacit.ravel(b).reshape(1, -1)),
    "tensordot": _along.tensordot,
    "matrix_power": _along.matrix_power,
    "multi_dot": _along.multi_dot,
    "cross": _along.cross,
    "meshgrid": _along.meshgrid,
    "block": _along.block,
    "apply_along_axis": _along.apply_along_axis,
    "piecewise": _along.piecewise,
    "lexsort": _order.lexsort,
    "trace": lambda a: _moved.moved(a, np.diagonal).sum(),
    "var": Tensor.var,
    "std": Tensor.std,
    "average": _statistics.average,
    "cov": _statistics.cov,
    "corrcoef": _statistics.corrcoef,
    "norm": _statistics.norm,
    "ptp": lambda a, axis=None, keepdims=False: (
        tensor_of(a).max(axis, keepdims=keepdims) - tensor_of(a).min(axis, keepdims=keepdims)
    ),
    "count_nonzero": lambda a, axis=None, keepdims=False: (tensor_of(a) != 0).sum(axis, keepdims=keepdims),
    "sort": _order.sort,
    "argsort": _order.argsort,
    "median": _order.median,
    "percentile": _order.percentile,
    "quantile": _order.quantile,
    "histogram": _order.histogram,
    "bincount": _order.bincount,
    "searchsorted": _matching.searchsorted,
    "digitize": _matching.digitize,
    "isin": _matching.isin,
    "histogram2d": _order.histogram2d,
    "unique": _sets.unique,
    "intersect1d": _matching.intersect1d,
    "setdiff1d": _matching.setdiff1d,
    "union1d": _sets.union1d,
    "isclose": lambda a, b, rtol=1e-05, atol=1e-08: _near(a, b, rtol, atol),
    "allclose": lambda a, b, rtol=1e-05, atol=1e-08: _near(a, b, rtol, atol).all(),
    "diag": _placed.diag,
    "dstack": lambda values: tacit.concatenate([_placed.three_axes(value) for value in values], 2),
    "atleast_2d": lambda a: a if a.ndim > 1 else a.reshape(1, -1),
    "vsplit": lambda a, sections: _moved.split(a, sections, 0),
    "hsplit": lambda a, sections: _moved.split(a, sections, 1 if a.ndim > 1 else 0),
    "insert": _placed.insert,
    "pad": _placed.pad,
    "kron": _placed.kron,
    "choose": _placed.choose,
    "interp": _curves.interp,
    "trapezoid": _curves.trapezoid,
    "gradient": _curves.gradient,
    "partition": _order.partition,
    "argpartition": lambda a, _kth, axis=-1: _order.argsort(a, axis),
    "select": lambda conditions, choices, default=0: _selected(conditions, choices, default),
    "convolve": _moved.convolve,
    "triu": _moved.masked(np.triu),
    "tril": _moved.masked(np.tril),
    "polyval": _polynomials.polyval,
    "nan_to_num": lambda a, *_, **__: a,
    "in1d": _matching.isin,
    "round": _rounding.rounded,
    "around": _rounding.rounded,
    "fix": _rounding.trunc,
    "array_equal": lambda a, b: tacit.shape(a) == tacit.shape(b) and binary("equal", a, b).all(),
    "zeros_like": lambda a, dtype=None, shape=None: _like(a, 0, dtype, shape),
    "empty_like": lambda a, dtype=None, shape=None: _like(a, 0, dtype, shape),
    "ones_like": lambda a, dtype=None, shape=None: _like(a, 1, dtype, shape),
    "full_like": lambda a, value, dtype=None, shape=None: _like(a, value, dtype, shape),
    "copyto": lambda a, value, where=True: a.__setitem__(..., tacit.where(where, value, a)),
    "putmask": lambda a, mask, value: a.__setitem__(..., tacit.where(np.reshape(mask, a.shape), value, a)),
    "fill_diagonal": lambda a, value: a.__setitem__(np.diag_indices(min(a.shape), a.ndim), value),
    "copy": lambda a: a,
    "atleast_1d": lambda a: a if a.ndim else a.reshape(1),
    "result_type": lambda *_: np.dtype(float),
}

_FUNCTIONS.update(
    (name, _moved.arrange(name))
    for name in [
        "flip",
        "fliplr",
        "flipud",
        "roll",
        "rot90",
        "repeat",
        "tile",
        "take",
        "delete",
        "diagonal",
        "squeeze",
        "expand_dims",
        "swapaxes",
        "moveaxis",
        "take_along_axis",
    ]
)

_FUNCTIONS.update(
    (f"nan{name}", _FUNCTIONS[name])
    for name in [
        "sum",
        "mean",
        "var",
        "std",
        "min",
        "max",
        "median",
        "percentile",
        "quantile",
        "prod",
        "cumsum",
        "argmax",
        "argmin",
    ]
)


def is_known(name: str) -> bool:
    """Whether there is NumPy's function of this name on secrets."""
    return name in _FUNCTIONS or name in _UFUNCS


_TYPES = {"f": fixed(16), "i": int64, "u": int64, "b": bool_}

_RUNNING = {"add": _moved.cumsum, "multiply": _moved.cumprod}
_RUNNING.update(maximum=_moved.running(tacit.maximum), minimum=_moved.running(tacit.minimum))

_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add": Tensor.sum,
    "maximum": Tensor.max,
    "minimum": Tensor.min,
    "multiply": Tensor.prod,
    "logical_and": Tensor.all,
    "logical_or": Tensor.any,
    "logical_xor": lambda a, axis=None, keepdims=False: _is_odd(a, axis, keepdims),
    "bitwise_and": Tensor.all,
    "bitwise_or": Tensor.any,
    "bitwise_xor": lambda a, axis=None, keepdims=False: _is_odd(a, axis, keepdims),
}

_VIEWS = [
    "diag",
    "einsum",
    "reshape",
    "ravel",
    "transpose",
    "broadcast_to",
    "sliding_window_view",
    "atleast_1d",
    "atleast_2d",
]
"""Functions that make views of tensors themselves."""

_ARRANGED_VIEWS = [
    "flip",
    "fliplr",
    "flipud",
    "rot90",
    "diagonal",
    "squeeze",
    "expand_dims",
    "swapaxes",
    "moveaxis",
]

_OF_SELECTIONS = ["sum", "mean", "median", "var", "std", "max", "min", "any", "all", "argmax", "argmin"]
_OF_SELECTIONS += ["percentile", "quantile"]


def ufunc(called: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What `np.add(a, b)` and its like mean for tensors."""
    operation = _UFUNCS.get(called.__name__)
    if operation is None:
        _unsupported(called.__name__)
    if method == "reduce" and called.__name__ in _REDUCTIONS:
        return _REDUCTIONS[called.__name__](*inputs, **{"axis": 0, **_meant(options)})
    if method == "at" and called.__name__ == "add":
        return _placed.add_at(*inputs)
    if method == "accumulate" and called.__name__ in _RUNNING:
        return _RUNNING[called.__name__](*inputs, **{"axis": 0, **_meant(options)})
    if method == "outer" and not options:
        a, b = (tacit.array_of(value) for value in inputs)
        return operation(a.reshape(*a.shape, *(1,) * b.ndim), b)
    if method == "__call__" and "out" in options:
        raise fault(
            ProgramTypeError,
            "a secret has no place in a NumPy array",
            "write w = w + x instead of w += x, or start from np.zeros_like(x)",
        )
    if method != "__call__" or _meant(options):
        _unsupported(called.__name__, " but in the plain form, without further arguments")
    made = operation(*inputs)
    return made.copy() if any(made is one for one in inputs) else made


def function(called: Any, inputs: Any, options: Any) -> Any:
    """What `np.sum(a)` and its like mean for tensors."""
    operation = _FUNCTIONS.get(called.__name__)
    if operation is None:
        _unsupported(called.__name__)
    try:
        made = operation(*inputs, **_meant(options))
    except TypeError as error:
        if isinstance(error, ProgramTypeError):
            raise
        _unsupported(called.__name__, f" with these arguments ({error})")
    if called.__name__ in _VIEWS or not isinstance(made, Tensor):
        return made
    if called.__name__ in _ARRANGED_VIEWS:
        a, *arguments = inputs
        return a._viewed(made, lambda one: called(one, *arguments, **options))
    return made.copy()


def of_selection(called: Any, inputs: Any, options: Any) -> Any:
    """What `np.mean(x[mask])` and its like mean."""
    name = called.__name__.removeprefix("a") if called.__name__ in ("amax", "amin") else called.__name__
    if name == "size" and isinstance(inputs[0], Selection):
        return inputs[0].count()
    if name not in _OF_SELECTIONS or not isinstance(inputs[0], Selection):
        _unsupported(called.__name__, " that a secret mask selects")
    try:
        return getattr(inputs[0], name)(*inputs[1:], **_meant(options))
    except TypeError as error:
        if isinstance(error, ProgramTypeError):
            raise
        _unsupported(called.__name__, f" that a secret mask selects with these arguments ({error})")


def _meant(options: dict[str, Any]) -> dict[str, Any]:
    """What is asked for beyond what is so anyhow."""
    nothing = {"out": None, "dtype": None, "where": None, "kind": None, "order": None, "stable": None}
    return {
        name: value
        for name, value in options.items()
        if not (
            (name in nothing and value is None)
            or value is getattr(np, "_NoValue", None)
            or (name == "kind" and value in ("quicksort", "stable", "mergesort", "heapsort"))
        )
    }


def _selected(conditions: Any, choices: Any, default: Any) -> Any:
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        default = _where(condition, choice, default)
    return default


def _where(condition: Any, a: Any, b: Any) -> Any:
    is_secret = any(isinstance(value, Tensor) for value in (condition, a, b))
    return tacit.where(condition, a, b) if is_secret else np.where(condition, a, b)


def _like(a: Tensor, value: Any, dtype: Any, shape: Any) -> Tensor:
    """A tensor of public values, in the type of another one if none is said."""
    kind = (
        a.dtype if dtype is None else dtype if isinstance(dtype, DType) else _TYPES.get(np.dtype(dtype).kind)
    )
    if kind is None:
        raise fault(
            ProgramTypeError, f"there is no type like {dtype!r}", "use tacit.fixed(16), tacit.int64, ..."
        )
    whole = np.full(a.shape if shape is None else shape, value)
    if kind.kind == "bool":
        whole = whole.astype(bool)
    return a._made(a._at().constant(known_value(whole), kind.kind, kind.bits))


def _is_odd(a: Tensor, axis: Any, keepdims: bool) -> Any:
    """Whether an odd number of bools hold."""
    return _truth(a).sum(axis, keepdims=keepdims) % 2 == 1


def _truth(a: Any) -> Any:
    """Which elements aren't 0."""
    if isinstance(a, Tensor):
        return a if a.dtype.kind == "bool" else a != 0
    return np.asarray(a, dtype=bool)


def _dot(a: Any, b: Any) -> Tensor:
    if len(tacit.shape(b)) > 2:
        raise fault(
            ProgramTypeError,
            "np.dot of a tensor with more than two axes is not supported",
            "use np.einsum or @",
        )
    if not tacit.shape(a) or not tacit.shape(b):
        return multiply(a, b)
    return matmul(a, b)


def _near(a: Any, b: Any, rtol: float, atol: float) -> Tensor:
    """Whether two differ by no more than `rtol` of the second and `atol`, each as far as steps go."""
    off = tensor_of(abs(a - b))
    step = 1 / off.dtype.unit if off.dtype.kind == "fixed" else 2.0**-16
    allowed: Any = np.floor(atol / step + 0.5) * step
    ends = [abs(end) for end in b.range] if isinstance(b, Tensor) else [np.max(np.abs(b))]
    if max(ends) * rtol >= step / 2:
        allowed = abs(b) * rtol + allowed if allowed else abs(b) * rtol
    return binary("less_equal", off, allowed)


def _inner(a: Any, b: Any) -> Tensor:
    if not tacit.shape(a) or not tacit.shape(b):
        return multiply(a, b)
    if max(len(tacit.shape(a)), len(tacit.shape(b))) > 2:
        raise fault(
            ProgramTypeError, "np.inner of a tensor with more than two axes is not supported", "use np.einsum"
        )
    other = tacit.array_of(b)
    return matmul(a, other.T if other.ndim == 2 else other)


_FITS = "tacit.learn.linear_regression fits least squares on secrets; "

_INSTEAD = dict.fromkeys(["solve", "lstsq", "inv", "pinv", "polyfit"], _FITS)
_INSTEAD.update(
    dict.fromkeys(["nonzero", "flatnonzero", "argwhere", "where"], "use the mask itself, x[mask]; ")
)
_INSTEAD["bitwise_count"] = "tacit.stack([x // 2**k % 2 for k in range(8)]).sum(axis=0) counts eight bits; "
_INSTEAD["expit"] = "tacit.sigmoid(x) is this one; "
_INSTEAD["array_str"] = _INSTEAD["array_repr"] = "print(x) says what there is to say; "


def _unsupported(name: str, how: str = "") -> NoReturn:
    raise fault(
        ProgramTypeError,
        f"np.{name} is not supported on secrets{how}",
        f"{_INSTEAD.get(name, '')}docs/numpy.md lists what there is, and what to write instead",
    )
