"""Layers of neural networks, on secret tensors: images are (batch, channels, height, width), as in ONNX.

    @tacit.function
    def network(images, filters, weights, bias):
        seen = tacit.nn.relu(tacit.nn.conv(images, filters, padding=1))
        seen = tacit.nn.max_pool(seen, 2)
        return tacit.reveal(tacit.nn.linear(tacit.nn.flatten(seen), weights, bias).argmax(axis=1))

Each layer works on any number of spatial axes. Weights are tensors or public arrays; public ones are rounded
to the fraction bits of the images. A convolution or linear layer is truncated once for each of its outputs,
after all sums. With `exact=True` it isn't truncated: its result has all fraction bits, and `settle`
truncates it. Maxima and ReLU before that are the same as after it, and fewer numbers are left to truncate.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from tacit._functions import clip, concatenate, relu, windows
from tacit._location import fault
from tacit._tensor import Tensor, matmul, tensor_of
from tacit.dtypes import fixed
from tacit.errors import InputError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "avg_pool",
    "batch_norm",
    "clip",
    "conv",
    "flatten",
    "folded",
    "leaky_relu",
    "linear",
    "max_pool",
    "pad",
    "relu",
    "settle",
    "softmax",
]


def conv(
    x: Any,
    filters: Any,
    bias: Any = None,
    *,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[Any] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    exact: bool = False,
) -> Tensor:
    """A convolution (ONNX's `Conv`): of each output channel the inner product of its filter and every window.

    Costs what one product for each output costs, however large the windows are, and a truncation for each.

    Args:
        x: (batch, channels, ...).
        filters: (outputs, channels / groups, ...).
        bias: (outputs), added before the truncation.
        stride: From one window to the next, one number or one for each spatial axis.
        padding: Zeros before and after each spatial axis: one number, one for each axis, or pairs.
        dilation: From one place of a window to the next.
        groups: Into how many parts the channels are divided, each with filters of its own.
        exact: Keep all fraction bits, those of both factors together.

    Raises:
        ProgramError: The shapes don't go together, or a result may not fit in 64 bits.
    """
    one = tensor_of(x, filters)
    x, filters = _tensor(one, x), _tensor(one, filters)
    axes = x.ndim - 2
    outputs, each, *lengths = filters.shape if filters.ndim > 2 else (0, 0)
    if axes < 1 or filters.ndim != x.ndim or groups < 1 or each * groups != x.shape[1] or outputs % groups:
        raise fault(
            ProgramError,
            f"no convolution of {x.shape} by filters {filters.shape} in {groups} groups",
            "images are (batch, channels, ...), filters (outputs, channels / groups, ...)",
        )
    around = pad(x, padding)
    around = around.reshape(-1, groups, each, *around.shape[2:])
    seen = _windows(around, lengths, stride, dilation)
    after = 3 + axes
    batch, places = seen.shape[0], seen.shape[3:after]
    # Groups come first, and the channels of a group belong to the window.
    seen = seen.transpose(1, 0, *range(3, after), 2, *range(after, after + axes))
    own = filters.reshape(groups, outputs // groups, each, *lengths)
    own = own.transpose(0, *range(2, own.ndim), 1)
    made = one._call("conv_raw", seen._id, own._id)
    made = made.transpose(1, 0, made.ndim - 1, *range(2, made.ndim - 1)).reshape(batch, outputs, *places)
    return _biased(made, bias, (outputs,) + (1,) * axes, x, exact)


def linear(x: Any, weights: Any, bias: Any = None, *, exact: bool = False) -> Tensor:
    """`x @ weights + bias`, truncated once after the sum, or not at all if `exact`."""
    one = tensor_of(x, weights)
    x, weights = _tensor(one, x), _tensor(one, weights)
    return _biased(matmul(x, weights, exact=True), bias, None, x, exact)


def max_pool(
    x: Tensor,
    size: int | Sequence[int],
    *,
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[Any] = 0,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """The largest element of each window; a comparison and a choice for each element but the first.

    Padding is below all elements. Without `stride` windows stand side by side.
    """
    size = _each(size, x.ndim - 2)
    seen = _windows(pad(x, padding, x.range[0]), size, size if stride is None else stride, dilation)
    return seen.reshape(*seen.shape[: x.ndim], -1).max(axis=-1)


def avg_pool(
    x: Tensor,
    size: int | Sequence[int],
    *,
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[Any] = 0,
    count_padding: bool = True,
) -> Tensor:
    """The mean of each window, rounded once; in place of 2**k elements only a truncation.

    Args:
        x: (batch, channels, ...).
        size: Lengths of a window.
        stride: As in `max_pool`.
        padding: As in `max_pool`, but zeros.
        count_padding: Whether zeros around the image count as elements. If not, means at its edges are of
            fewer elements.
    """
    import numpy as np

    size = _each(size, x.ndim - 2)
    step = size if stride is None else stride
    total = window_sums(x, size, stride=step, padding=padding)
    if count_padding or not any(sum(pair) for pair in _pairs(padding, x.ndim - 2)):
        return divided(total, int(np.prod(size)))
    ones = np.pad(np.ones(x.shape[2:]), _pairs(padding, x.ndim - 2))
    views = np.lib.stride_tricks.sliding_window_view(ones, tuple(size))
    counts = views[tuple(slice(None, None, by) for by in _each(step, x.ndim - 2))]
    made: Tensor = total / counts.sum(axis=tuple(range(x.ndim - 2, 2 * x.ndim - 4)))
    return made


def window_sums(
    x: Tensor, size: int | Sequence[int], *, stride: int | Sequence[int], padding: int | Sequence[Any] = 0
) -> Tensor:
    """The sum of each window: free."""
    places = tuple(range(x.ndim, 2 * x.ndim - 2))
    total: Tensor = _windows(pad(x, padding), _each(size, x.ndim - 2), stride, 1).sum(axis=places)
    return total


def batch_norm(x: Tensor, scale: Any, shift: Any) -> Tensor:
    """`x * scale + shift`, one of each for every channel: what `folded` makes of a normalisation.

    Costs a product and a truncation for each element; where a convolution stands before it, fold it into
    that one's filters in the clear instead.
    """
    places = (-1,) + (1,) * (x.ndim - 2)
    factor, summand = (_tensor(x, value).reshape(*places) for value in (scale, shift))
    return x * factor + summand


def folded(
    scale: Any, shift: Any, mean: Any, variance: Any, epsilon: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """A batch normalisation as one factor and one summand for each channel, in the clear.

    Raises:
        InputError: A factor is 0 or not finite: such a channel says nothing of its input.
    """
    import numpy as np

    values = [np.asarray(value, dtype=np.float64) for value in (scale, shift, mean, variance)]
    if (values[3] + epsilon <= 0).any():
        raise InputError("a batch normalisation has a variance that isn't above 0")
    factor = values[0] / np.sqrt(values[3] + epsilon)
    summand = values[1] - values[2] * factor
    if not (np.isfinite(factor).all() and np.isfinite(summand).all()):
        raise InputError("a batch normalisation has a number that isn't finite")
    if (factor == 0).any():
        place = int(np.argmax(factor == 0))
        raise InputError(
            f"a batch normalisation multiplies channel {place} by 0: leave that channel out of the network"
        )
    return factor, summand


def leaky_relu(x: Tensor, slope: float = 0.01) -> Tensor:
    """`x` where it is above 0, else `slope * x`, with a public slope; the product is rounded once."""
    return relu(x) - relu(-x) * slope


def pad(x: Tensor, padding: int | Sequence[Any], value: float = 0.0) -> Tensor:
    """A public value around the spatial axes, which are all but the first two; a local copy.

    Args:
        x: (batch, channels, ...).
        padding: One number, one for each spatial axis, or pairs: how many before and after.
        value: What stands there.
    """
    return padded(x, dict(enumerate(_pairs(padding, x.ndim - 2), start=2)), value)


def padded(x: Tensor, pairs: dict[int, tuple[int, int]], value: float) -> Tensor:
    """A public value before and after some axes."""
    import numpy as np

    for axis, pair in pairs.items():
        for before, count in zip((True, False), pair, strict=True):
            if count > x.shape[axis] and x.size // x.shape[axis] * count > 1 << 28:
                raise fault(
                    ProgramError, f"padding of {count} elements around {x.shape} is more than is taken"
                )
            if count:
                ends = np.full((*x.shape[:axis], count, *x.shape[axis + 1 :]), value)
                x = concatenate([ends, x] if before else [x, ends], axis)
    return x


def flatten(x: Tensor, axis: int = 1) -> Tensor:
    """The axes before `axis` as one, and the others as one."""
    rows = 1
    for length in x.shape[:axis]:
        rows *= length
    return x.reshape(rows, -1)


def settle(x: Tensor, fraction: int) -> Tensor:
    """`x` with at most so many fraction bits: truncated to the nearest, ties up, if it has more."""
    return x.astype(fixed(fraction)) if x._kind.kind == "fixed" and x._kind.bits > fraction else x


def softmax(scores: Any, axis: int = -1) -> NDArray[Any]:
    """Probabilities of scores, in the clear: for the client, once it has its scores.

    `tacit.softmax` is the one on secrets.
    """
    import numpy as np

    known = np.asarray(scores, dtype=np.float64)
    powers = np.exp(known - known.max(axis=axis, keepdims=True))
    made: NDArray[Any] = powers / powers.sum(axis=axis, keepdims=True)
    return made


def _tensor(one: Tensor, value: Any) -> Tensor:
    """A tensor, or a public value of the fraction bits of one."""
    return value if isinstance(value, Tensor) else one._made(one._operand(value))


def _biased(made: Tensor, bias: Any, shape: tuple[int, ...] | None, x: Tensor, exact: bool) -> Tensor:
    """With a bias, and with the fraction bits of `x`."""
    if bias is not None:
        own = _tensor(made, bias)
        made = made + (own if shape is None else own.reshape(*shape))
    return made if exact or x._kind.kind != "fixed" else settle(made, x._kind.bits)


def divided(total: Tensor, count: int) -> Tensor:
    """A sum by a public count, with the sum's fraction bits. By a power of two it is only a truncation."""
    bits = total._kind.bits
    if count & (count - 1) or total._kind.kind != "fixed":
        return total / count
    finer = total._made(total._at().raw_as(total._id, bits + count.bit_length() - 1))
    return settle(finer, bits)


def _windows(x: Tensor, lengths: Sequence[int], stride: Any, dilation: Any) -> Tensor:
    """(.., places.., window..) of the last axes: free, until somebody needs the elements in a row."""
    axes = len(lengths)
    steps, gaps = _each(stride, axes), _each(dilation, axes)
    if min((*lengths, *steps, *gaps)) < 1:
        raise fault(ProgramError, f"windows {list(lengths)} don't fit the spatial axes of {x.shape}")
    reach = [(length - 1) * gap + 1 for length, gap in zip(lengths, gaps, strict=True)]
    if any(length > own for length, own in zip(reach, x.shape[-axes:], strict=True)):
        raise fault(ProgramError, f"a window of {reach} is larger than the image, {x.shape}")
    seen = windows(x, reach, axis=tuple(range(x.ndim - axes, x.ndim)))
    places = [slice(None)] * (x.ndim - axes)
    places += [slice(None, None, step) for step in (*steps, *gaps)]
    made: Tensor = seen[tuple(places)]
    return made


def _each(value: int | Sequence[int], axes: int) -> tuple[int, ...]:
    """One number for each axis."""
    try:
        each = (operator.index(value),) * axes  # type: ignore[arg-type]
    except TypeError:
        each = tuple(map(operator.index, value))  # type: ignore[arg-type]
    if len(each) != axes:
        raise fault(ProgramError, f"{value!r} has to be one number, or one for each of {axes} spatial axes")
    return each


def _pairs(padding: int | Sequence[Any], axes: int) -> list[tuple[int, int]]:
    """How much stands before and after each axis."""
    given = padding if isinstance(padding, (tuple, list)) else _each(padding, axes)
    pairs = [tuple(one) if isinstance(one, (tuple, list)) else (one, one) for one in given]
    sound = len(pairs) == axes and all(len(pair) == 2 and min(pair) >= 0 for pair in pairs)
    if not sound:
        raise fault(
            ProgramError, f"padding={padding!r} has to be one number, or a number or pair for each axis"
        )
    return [(int(before), int(after)) for before, after in pairs]
