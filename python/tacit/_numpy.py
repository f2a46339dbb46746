"""NumPy's functions on secret tensors: `np.where`, `np.sum`, an array on the left of `+`, and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from tacit import _functions as tacit
from tacit._location import fault
from tacit._tensor import Tensor, binary, matmul, multiply, tensor_of
from tacit.errors import ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

_UFUNCS: dict[str, Callable[..., Tensor]] = {
    "add": lambda a, b: binary("add", a, b),
    "subtract": lambda a, b: binary("sub", a, b),
    "multiply": multiply,
    "matmul": matmul,
    "divide": lambda a, b: _left(a, b).__truediv__(b),
    "floor_divide": lambda a, b: a // b if isinstance(a, Tensor) else b.__rfloordiv__(a),
    "remainder": lambda a, b: binary("remainder", a, b),
    "right_shift": lambda a, b: _left(a, b).__rshift__(b),
    "power": lambda a, b: _left(a, b).__pow__(b),
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
    "logical_and": lambda a, b: binary("and", a, b),
    "logical_or": lambda a, b: binary("or", a, b),
    "logical_xor": lambda a, b: binary("xor", a, b),
    "logical_not": lambda a: ~a,
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
    "dot": matmul,
    "where": tacit.where,
    "clip": tacit.clip,
    "concatenate": tacit.concatenate,
    "stack": tacit.stack,
}


def ufunc(called: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
    """What `np.add(a, b)` and its like mean for tensors."""
    operation = _UFUNCS.get(called.__name__)
    if operation is None:
        _unsupported(called.__name__)
    if method != "__call__" or options:
        _unsupported(called.__name__, " but in the plain form, without further arguments")
    return operation(*inputs)


def function(called: Any, inputs: Any, options: Any) -> Any:
    """What `np.sum(a)` and its like mean for tensors."""
    operation = _FUNCTIONS.get(called.__name__)
    if operation is None:
        _unsupported(called.__name__)
    try:
        return operation(*inputs, **options)
    except TypeError as error:
        if isinstance(error, ProgramTypeError):
            raise
        _unsupported(called.__name__, f" with these arguments ({error})")


def _left(a: Any, b: Any) -> Tensor:
    """The left operand, of an operation that takes secrets only there."""
    if not isinstance(a, Tensor):
        raise tensor_of(b)._no_secret_divisor()
    return a


def _unsupported(name: str, how: str = "") -> NoReturn:
    raise fault(
        ProgramTypeError,
        f"np.{name} is not supported on secrets{how}",
        "tacit.where, concatenate, stack, maximum, minimum, clip, relu, matmul, sigmoid3 and the methods of "
        "tacit.Tensor are what there is",
    )
