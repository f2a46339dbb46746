"""What random programs are put together of: for each name in docs/numpy.md's table the lines that use it.

A line is a template. What stands in braces is drawn, from left to right, by the method of that name of
`tests.numpy_blanks.Blanks`. Beside a template stands how far off its result may be; without, it is exact.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Bound = Callable[[Any, float, "Operand"], Any]


class Operand(NamedTuple):
    """The last operand that was drawn for a line: its elements, its range, and the step of its type."""

    value: Any
    low: float
    high: float
    step: float

    @property
    def end(self) -> float:
        return max(abs(self.low), abs(self.high))


def steps(count: float, part: float = 0) -> Bound:
    """So many steps of the result, or a part of it where that is more."""
    return lambda want, step, _: np.maximum(count * step, part * abs(want))


HALF, STEP = steps(0.5), steps(1)


def products(_want: Any, step: float, of: Operand) -> float:
    """`prod` and its like, of all elements at most."""
    count, m = np.size(of.value), max(of.end, 1) + of.step
    return step * (count - 1) / 2 * m ** max(count - 2, 0)


def powers(count: int) -> Bound:
    return lambda _want, step, of: step * (count - 1) / 2 * (max(of.end, 1) + of.step) ** (count - 2)


def twice(_want: Any, step: float, of: Operand) -> float:
    """Rounded sums of rounded numbers times others."""
    return step / 2 * (2 + np.size(of.value) * of.end)


def variances(_want: Any, step: float, of: Operand) -> float:
    return step + 2.0**-60 * (of.high - of.low) ** 2


def deviations(_want: Any, step: float, of: Operand) -> float:
    return step + 2.0**-30 * (of.high - of.low)


def norms(_want: Any, step: float, of: Operand) -> float:
    return step + 2.0**-30 * of.end * math.sqrt(2 * np.size(of.value))


def correlations(_want: Any, _step: float, of: Operand) -> Any:
    """Two steps of fixed(16), and what each variable adds; anything where one is constant."""
    spread = 2.0**-60 * (of.high - of.low) ** 2 + max(of.step, 2.0**-16) ** 2 / 4
    with np.errstate(divide="ignore"):
        each = spread / np.atleast_2d(of.value).var(axis=1)
    return 2.0**-15 + each[:, None] + each


def selected(bound: Bound) -> Bound:
    """Of what a mask selects, twice as far."""
    return lambda want, step, of: 2 * bound(want, step, of._replace(low=min(of.low, 0), high=max(of.high, 0)))


FEW, MANY = "np.clip({n}, -3, 3)", "np.clip({n}, -9, 9)"
ABOVE, FROM_ONE = "np.maximum({f}, 0.25)", "(abs({f}) + 1)"
BY = "(abs({beside}) + 1)"

ARITHMETIC: dict[str, list[Any]] = {
    "+ - * @": [
        "{n} + {beside}",
        "{n} - {beside}",
        "{eighths} - {n}",
        "-{n}",
        ("{n} * {beside}", HALF),
        ("{wild} * {n}", HALF),
        ("{n} * {wild}", HALF),
        ("{matrix} @ {right}", HALF),
        ("{multiplied}", HALF),
        ("np.matmul({matrix}, {right})", HALF),
    ],
    "dot": [("np.dot({matrix}, {right})", HALF), ("{vector}.dot({like})", HALF), ("np.dot({n}, {k})", HALF)],
    "inner": [("np.inner({matrix}, {same})", HALF), ("np.inner({vector}, {like})", HALF)],
    "outer": [("np.outer({vector}, {vector})", HALF), ("np.multiply.outer({n}, {n})", HALF)],
    "vdot": [("np.vdot({n}, {like})", HALF)],
    "einsum": [
        ("np.einsum('ij,kj->ik', {matrix}, {like})", HALF),
        ("np.einsum('ij,ij->i', {matrix}, {like})", HALF),
        ("np.einsum('ij,j->i', {matrix}, {right_vector})", HALF),
        ("np.einsum('i,i->', {vector}, {like})", HALF),
        ("np.einsum('i,j->ji', {vector}, {vector})", HALF),
        ("np.einsum('ij,ij->ij', {matrix}, {like})", HALF),
        ("np.einsum('ij,kj,kl->il', {matrix}, {same}, {same})", twice),
        "np.einsum('ij->j', {matrix})",
        "np.einsum('ij->ji', {matrix})",
        "np.einsum('i->', {vector})",
    ],
    "tensordot": [
        ("np.tensordot({matrix}, {right}, axes=1)", HALF),
        ("np.tensordot({matrix}, {like}, axes=2)", HALF),
        ("np.tensordot({vector}, {vector}, axes=0)", HALF),
        ("np.tensordot({matrix}, {like}, axes=([0], [0]))", HALF),
    ],
    "np.linalg.multi_dot": [("np.linalg.multi_dot([{matrix}, {same}.T, {same}])", twice)],
    "np.linalg.matrix_power": [("np.linalg.matrix_power({matrix} @ {same}.T, 1)", HALF)],
    "cross": [("np.cross({three}, {like})", STEP)],
    "convolve": [("np.convolve({vector}, {vector}{mode})", HALF), ("np.convolve({vector}, [1, -2])", HALF)],
    "polyval": [("np.polyval([1, -2, 3], {n})", HALF), ("np.polyval([0.5, 1, 2], {n})", twice)],
    "/": [("{n} / " + BY, HALF), ("{n} / {wild}", HALF), ("{n} / {positive}", HALF)],
    "np.divide": [("np.divide({n}, " + BY + ")", HALF), ("np.divide({eighths}, abs({n}) + 1)", HALF)],
    "1 / x": [("1 / (abs({n}) + 1)", HALF)],
    "x ** -1": [(FROM_ONE + " ** -1", HALF)],
    "np.reciprocal": [("np.reciprocal(" + FROM_ONE + ")", HALF)],
    "//": [
        "{n} // " + BY,
        "{n} // {positive}",
        "{n} // -{positive}",
        "{n} // {parts}",
        "{k} // (abs({n}) + 1)",
    ],
    "%": ["{n} % " + BY, "{n} % {positive}", "{n} % -{positive}", "{n} % {parts}", "np.mod({n}, {positive})"],
    "divmod": ["divmod({n}, " + BY + ")", "np.divmod({n}, {positive})"],
    ">>": ["{i} >> {positive}"],
    "<<": ["{i} << {positive}"],
    "np.fmod": ["np.fmod({n}, {positive})", "np.fmod({n}, " + BY + ")"],
    "np.modf": ["np.modf({f})"],
    "x ** 3": [
        ("{n} ** 2", HALF),
        (MANY + " ** 3", powers(3)),
        (FEW + " ** 4", powers(4)),
        "{n} ** 1",
        "{n} ** 0",
    ],
    "x ** 0.5": [("abs({n}) ** 0.5", HALF)],
    "x ** 2.5": [
        ("abs(" + MANY + ") ** 2.5", steps(1, 3.5 * 2.0**-20)),
        ("abs(" + MANY + ") ** 0.3", steps(1, 1.3 * 2.0**-20)),
    ],
    "np.square": [("np.square({n})", HALF)],
    "np.power": [("np.power({n}, 2)", HALF), ("np.power(" + MANY + ", 3)", powers(3))],
    "x ** -0.5": [(ABOVE + " ** -0.5", steps(1, 2.0**-30))],
    "tacit.rsqrt": [("tacit.rsqrt(" + ABOVE + ")", steps(1, 2.0**-30))],
    "x ** -2": [(FROM_ONE + " ** -2", steps(1, 3 * 2.0**-20))],
    "x ** -3": [(FROM_ONE + " ** -3", steps(1, 4 * 2.0**-20))],
    "< <= > >= == !=": ["{n} {compare} {beside}", "{k} {compare} {n}", "{b} {equal} {mask}"],
    "& \\| ^ ~": [
        "{b} {logic} {mask}",
        "~{b}",
        "True {logic} {b}",
        "({n} > {eighths}) {logic} ({same} < {k})",
    ],
    "np.logical_*": ["np.logical_{junction}({b}, {mask})", "np.logical_not({b})"],
    "np.where": [
        "np.where({b}, {beside}, {beside})",
        "np.where({n} > {eighths}, {same}, {beside})",
        "np.where({b}, {mask}, {mask})",
    ],
    "select": [
        "np.select([{n} > {k}, {same} < {k}], [{beside}, {same}], {k})",
        "np.select([{b}, {mask}], [1, 2])",
    ],
    "piecewise": ["np.piecewise({n}, [{same} < 0, {same} > 1], [lambda x: -x, 3, lambda x: x * 2])"],
    "clip": [
        "np.clip({n}, -{positive}, {positive})",
        "{n}.clip({k})",
        "np.clip({n}, None, {eighths})",
        "np.clip({n}, {like}, {k})",
        "{n}.clip(max={k})",
    ],
    "minimum": ["np.minimum({n}, {beside})", "np.fmin({n}, {beside})"],
    "maximum": ["np.maximum({n}, {beside})", "np.maximum({eighths}, {n})"],
    "abs": ["abs({n})", "np.abs({n})"],
    "sign": ["np.sign({n})"],
}

FUNCTIONS: dict[str, list[Any]] = {
    "floor": ["np.floor({n})"],
    "ceil": ["np.ceil({n})"],
    "trunc": ["np.trunc({n})"],
    "rint": ["np.rint({f})"],
    "round": ["np.round({n})", ("np.round({n}, 1)", HALF), "np.round({i}, {positive})"],
    "exp": [("np.exp(" + MANY + ")", steps(1, 2.0**-20)), ("np.exp({f})", steps(1, 2.0**-20))],
    "exp2": [("np.exp2(" + MANY + ")", steps(1, 2.0**-20))],
    "10 ** x": [("2.5 ** " + MANY, steps(1, 2.0**-20))],
    "2 ** k": ["2 ** np.clip({i}, 0, 9)", "(-3) ** np.clip({i}, 0, 3)", "3 << np.clip({i}, 1, 8)"],
    "expm1": [("np.expm1(" + MANY + ")", lambda want, step, _: np.maximum(step, 2.0**-20 * (want + 1)))],
    "log": [("np.log(" + ABOVE + ")", STEP), ("np.log(abs({n}) + 1)", STEP)],
    "log2": [("np.log2(" + ABOVE + ")", STEP)],
    "log10": [("np.log10(" + ABOVE + ")", STEP)],
    "log1p": [("np.log1p(abs({n}))", STEP)],
    "sqrt": [("np.sqrt(abs({n}))", HALF)],
    "tanh": [("np.tanh({n})", STEP)],
    "tacit.sigmoid": [("tacit.sigmoid({n})", STEP)],
    "tacit.normal_cdf": [("tacit.normal_cdf({n})", STEP)],
    "logaddexp": [("np.logaddexp({n}, {beside})", STEP)],
    "sinh": [
        ("np.sinh(" + MANY + ")", lambda want, step, _: np.maximum(2 * step, 2.0**-19 * np.hypot(1, want)))
    ],
    "cosh": [("np.cosh(" + MANY + ")", steps(2, 2.0**-19))],
    "cbrt": [("np.cbrt({n})", steps(1.5, 2.0**-19))],
    "tacit.softmax": [("tacit.softmax({axed}, axis={axis})", lambda _want, step, _of: max(step, 2.0**-16))],
}

REDUCTIONS: dict[str, list[Any]] = {
    "sum": [
        "{n}.sum(axis={axes}, keepdims={flag})",
        "np.sum({x}, axis={axes}, keepdims={flag})",
        "np.add.reduce({axed}, axis={axis})",
        "sum({n}.reshape(-1))",
    ],
    "mean": [("np.mean({x}, axis={axes}, keepdims={flag})", HALF), ("{n}.mean({axis_or_not})", HALF)],
    "average": [
        ("np.average({axed}, axis={axis})", HALF),
        ("np.average({n})", HALF),
        ("np.average({vector}, weights={weights})", HALF),
        ("np.average({vector}, weights=abs({like}) + 1)", STEP),
    ],
    "min": ["np.min({x}, axis={axes}, keepdims={flag})", "{n}.min({axis_or_not})"],
    "max": ["np.max({x}, axis={axes}, keepdims={flag})", "{n}.max({axis_or_not})"],
    "argmin": ["np.argmin({x})", "np.argmin({axed}, axis={axis}, keepdims={flag})"],
    "argmax": ["np.argmax({x})", "{axed}.argmax(axis={axis})"],
    "any": ["np.any({x}, axis={axes}, keepdims={flag})", "({n} > {k}).any({axis_or_not})"],
    "all": ["np.all({x}, axis={axes}, keepdims={flag})", "({n} < {k}).all({axis_or_not})"],
    "ptp": ["np.ptp({n}, axis={axes}, keepdims={flag})"],
    "count_nonzero": ["np.count_nonzero({x}, axis={axes})"],
    "where=mask": [
        "np.sum({x}, axis={axes}, keepdims={flag}, where={mask})",
        ("{n}.mean(axis={axes}, where={mask})", HALF),
        "np.max({n}, axis={axes}, initial={k}, where={mask})",
        "np.any({b}, axis={axes}, where={mask})",
        "np.all({x}, axis={axes}, keepdims={flag}, where={mask})",
        ("np.prod(" + FEW + ", axis={axes}, where={mask})", products),
        ("np.var({n}, where={mask})", selected(variances)),
        ("np.std({n}, where={mask})", selected(deviations)),
    ],
    "initial=": [
        "np.sum({n}, axis={axes}, initial={k})",
        "np.max({n}, axis={axes}, initial={k})",
        "np.min({n}, axis={axes}, initial={k}, keepdims={flag})",
        ("np.prod(" + FEW + ", initial={k})", powers(70)),
    ],
    "np.logical_and.reduce": [
        "np.logical_{reducible}.reduce({bools}, axis={axis})",
        "np.bitwise_{reducible}.reduce({bools})",
        "np.{extreme}.reduce({axed}, axis={axis})",
    ],
    "prod": [("np.prod(" + FEW + ", axis={axes}, keepdims={flag})", products), ("{n}.prod()", products)],
    "cumprod": [("np.cumprod({vector})", products), ("np.cumprod({axed}, axis={axis})", products)],
    "cumsum": ["np.cumsum({x})", "np.cumsum({axed}, axis={axis})", "{axed}.cumsum(axis={axis})"],
    "diff": ["np.diff({axed}, axis={axis})", "np.diff({vector}, n=2)", "np.diff({axed})"],
    "np.maximum.accumulate": [
        "np.{extreme}.accumulate({axed}, axis={axis})",
        "np.{extreme}.accumulate({axed})",
    ],
    "nansum": ["np.nansum({n}, axis={axes})"],
    "nanmean": [("np.nanmean({n}, axis={axes})", HALF), "np.nanmax({n}, axis={axes})"],
    "isnan": ["np.where(np.isnan({n}), 0, {same})"],
    "isinf": ["np.where(np.isinf({n}), 0, {same})"],
    "isfinite": ["np.where(np.isfinite({n}), {same}, 0)"],
    "isclose": ["np.isclose({n}, {beside}, rtol=0, atol={parts})"],
    "allclose": ["np.allclose({n}, {beside}, rtol=0, atol={parts})"],
    "array_equal": ["np.array_equal({x}, {same})", "np.array_equal({n}, {like})", "np.array_equal({n}, {n})"],
    "var": [("np.var({n}, axis={axis_or_none}, keepdims={flag})", variances), ("{n}.var()", variances)],
    "std": [("np.std({n}, axis={axis_or_none}, keepdims={flag})", deviations), ("{n}.std()", deviations)],
    "cov": [("np.cov({matrix})", selected(variances)), ("np.cov({vector}, ddof=0)", variances)],
    "corrcoef": [("np.corrcoef({varied})", correlations)],
    "np.linalg.norm": [("np.linalg.norm({n})", norms), ("np.linalg.norm({axed}, axis={axis})", norms)],
    "hypot": [("np.hypot({n}, {like})", norms)],
}

ORDER: dict[str, list[Any]] = {
    "sort": ["np.sort({x_axed}, axis={axis})", "np.sort({n}, axis=None)", "np.sort({axed})[::-1]"],
    "argsort": ["np.argsort({x_axed}, axis={axis}, kind='stable')", "np.argsort({axed}, kind='stable')"],
    "lexsort": ["np.lexsort(({vector}, {like}))"],
    "partition": ["np.partition({vector}, 0)[0]", "np.partition({vector}, 1)[1]"],
    "median": [("np.median({n}, axis={axis_or_none}, keepdims={flag})", HALF)],
    "percentile": [("np.percentile({n}, [10, 50, 99], axis={axis_or_none})", HALF)],
    "quantile": [
        ("np.quantile({n}, 0.3, axis={axis_or_none}, keepdims={flag})", HALF),
        ("np.quantile({n}, [0, 1 / 3, 1])", HALF),
    ],
    "tacit.sort_by(key, *columns, descending=False)": [
        "tacit.sort_by({x_vector}, {like}, descending={flag})"
    ],
    "tacit.top_k(key, k, *columns)": ["tacit.top_k({vector}, 1, {like})"],
    "histogram": [
        "np.histogram({n}, bins=[-4, 0, 1.5, 6])[0]",
        "np.histogram({n}, bins=4, range=(-8, 8))[0]",
        "np.histogram({vector}, bins=[-4, 0, 9], weights={like})[0]",
    ],
    "bincount": ["np.bincount(np.clip({int_vector}, 0, 4), minlength=5)"],
    "digitize": ["np.digitize({n}, [-2, 0.5, 3])", "np.digitize({n}, [-2, 1, 3], right={flag})"],
    "searchsorted": [
        "np.searchsorted(np.sort({vector}), {n}{side})",
        "np.searchsorted([-2, 0.5, 3], {n}{side})",
    ],
    "isin": ["np.isin({n}, {n})", "np.isin({n}, [0, 1, 2.5], invert={flag})", "np.isin({beside}, {n})"],
    "histogram2d": ["np.histogram2d({vector}, {like}, bins=[[-4, 0, 6], [-9, 1, 9]])[0].astype(int)"],
    "unique": [
        "np.unique({x}).size",
        "np.unique({n}).sum()",
        "np.unique({n}).max()",
        "np.unique({n})[0]",
        "np.unique({n})[-1]",
        ("np.unique({n}).mean()", HALF),
    ],
    "return_counts=True": [
        "np.unique({n}, return_counts=True)[1].max()",
        "np.unique({n}, return_counts=True)[1][0]",
        "np.unique({n}, return_counts=True)[1].argmax()",
    ],
    "union1d": ["np.union1d({n}, {n}).sum()", "np.union1d({n}, {n}).size"],
    "intersect1d": ["np.intersect1d({n}, {n}).sum()", "np.intersect1d({n}, [0, 1, 2]).size"],
    "setdiff1d": ["np.setdiff1d({n}, {n}).sum()", "np.setdiff1d({n}, [0, 1, 2]).size"],
    "interp": [("np.interp({n}, [-4, 0, 2, 5], [1, 3, -2, 0.5])", STEP)],
    "trapezoid": [("np.trapezoid({vector})", HALF), ("np.trapezoid({vector}, dx=0.5)", STEP)],
    "gradient": [("np.gradient({vector})", HALF)],
    "heaviside": ["np.heaviside({f}, 0.5)"],
    "kron": [("np.kron({vector}, {vector})", HALF), ("np.kron({matrix}, [[1, 2]])", HALF)],
    "choose": ["np.choose(np.clip({i}, 0, 2), [{beside}, {beside}, {beside}])"],
}

PLACES: dict[str, list[Any]] = {
    "concatenate": [
        "np.concatenate([{x_axed}, {alike}], axis={axis})",
        "np.concatenate([{x_axed}, {public}])",
        "np.concatenate([{x}, {x}], axis=None)",
    ],
    "stack": ["np.stack([{x}, {alike}])", "np.stack([{x}, {public}, {same}], axis=-1)"],
    "vstack": ["np.vstack([{x}, {alike}])"],
    "hstack": ["np.hstack([{x}, {alike}])", "np.hstack([{x_vector}, {x_vector}])"],
    "column_stack": ["np.column_stack([{vector}, {like}])", "np.column_stack([{matrix}, {like}])"],
    "append": ["np.append({n}, {beside})", "np.append({axed}, {like}, axis={axis})"],
    "insert": ["np.insert({vector}, {place}, {k})", "np.insert({axed}, 0, {k}, axis={axis})"],
    "pad": ["np.pad({axed}, 1)", "np.pad({vector}, (0, 2), constant_values={k})"],
    "split": ["np.split({x_axed}, {divisor})", "np.split({x_axed}, [1], axis={axis})"],
    "array_split": ["np.array_split({x_axed}, 2, axis={axis})"],
    "vsplit": ["np.vsplit({matrix}, {divisor})"],
    "hsplit": ["np.hsplit({x_axed}, 1)", "np.hsplit({matrix}, [1])"],
    "dstack": ["np.dstack([{x}, {alike}])"],
    "block": ["np.block([[{matrix}, {like}], [{same}, {same}]])", "np.block([{vector}, {k}])"],
    "meshgrid": ["np.meshgrid({x_vector}, {x_vector})", "np.meshgrid({vector}, {vector}, indexing='ij')"],
    "apply_along_axis": ["np.apply_along_axis({rows})"],
    "reshape": ["{x}.reshape({shape})", "np.reshape({x}, ({shape}))", "{x}.reshape(-1)"],
    "ravel": ["np.ravel({x})", "{x}.ravel()", "{x}.flatten()"],
    "transpose": ["{x}.transpose({order})", "{x}.T", "np.transpose({x})"],
    "swapaxes": ["np.swapaxes({x_axed}, {axis}, {axis})"],
    "moveaxis": ["np.moveaxis({x_axed}, {axis}, {axis})"],
    "squeeze": ["np.squeeze({x})", "{x}.squeeze()", "{x}[None].squeeze(0)"],
    "expand_dims": ["np.expand_dims({x}, {zero_or_last})"],
    "atleast_2d": ["np.atleast_2d({x})", "np.atleast_1d({x})"],
    "broadcast_to": ["np.broadcast_to({x}, {wider})"],
    "flip": ["np.flip({x})", "np.flip({x_axed}, axis={axis})"],
    "roll": ["np.roll({x}, {k})", "np.roll({x_axed}, {k}, axis={axis})"],
    "rot90": ["np.rot90({matrix}, {k})"],
    "tile": ["np.tile({x}, 2)", "np.tile({x_axed}, (2, 1))"],
    "repeat": ["np.repeat({x}, 2)", "np.repeat({x_axed}, 2, axis={axis})", "{x}.repeat(2)"],
    "take": ["np.take({x}, [0, 0])", "np.take({x_axed}, [0, -1], axis={axis})", "{x_vector}.take({place})"],
    "delete": ["np.delete({vector}, 0)", "np.delete({axed}, -1, axis={axis})"],
    "diag": ["np.diag({x_vector})", "np.diag({matrix})"],
    "diagonal": ["np.diagonal({matrix})", "{matrix}.diagonal()"],
    "trace": ["np.trace({matrix})"],
    "triu": ["np.triu({matrix}, {k})"],
    "tril": ["np.tril({matrix})"],
    "sliding_window_view": ["np.lib.stride_tricks.sliding_window_view({x_vector}, {length})"],
    "x[2:5]": ["{x_axed}[{slices}]", "{x_axed}[{slices}]"],
    "x[..., None]": ["{x}[..., None]", "{x}[None]", "{x_axed}[:, None]", "{x_axed}[..., 0]"],
    "x[[3, 1]]": ["{x_axed}[{places}]", "{x_matrix}[{pairs}]", "{x_matrix}[:, {columns}]"],
    "x[public_mask]": ["{x_axed}[{public_mask}]", "{x_axed}[{public_row_mask}]"],
    "x[i]": ["{x_axed}[{hidden}]", "{x_axed}[{several}]", "{x_matrix}[{hidden}, ...]"],
    "x[i, j]": ["{x_matrix}[{hidden}, {hidden_column}]"],
    "x[:, j]": ["{x_matrix}[:, {hidden_column}]"],
    "x[2, i]": ["{x_matrix}[{place}, {hidden_column}]"],
    "x[np.arange(n), i]": ["{matrix}[np.arange({length_of_it}), {hidden_columns}]"],
}

CHANGES: dict[str, list[Any]] = {
    "x[2:5] = v": [
        "{target}[{slices}] = {own}",
        "{target}[...] = {own_alike}",
        "{target}[{place}] {change}= {own}",
    ],
    "x[[3, 1]] = v": ["{target}[{places}] = {own}", "{target}[{places}] += {own}"],
    "x[public_mask] = v": ["{target}[{public_mask}] = {own}", "{target}[{public_row_mask}] {change}= {own}"],
    "x.fill(v)": ["{target}.fill({own})"],
    "np.copyto": ["np.copyto({target}, {own})", "np.copyto({target}, {own}, where={mask})"],
    "np.fill_diagonal": ["np.fill_diagonal({target}, {own})"],
    "x[i] = v": ["{target}[{hidden}] = {own}", "{target}[{several}] = {own}"],
    "x[i, j] = v": ["{target_matrix}[{hidden}, {hidden_column}] = {own}"],
    "x[:, j] += v": ["{target_matrix}[:, {hidden_column}] {change}= {own}", "{target}[{hidden}] += {own}"],
    "x[mask] = v": ["{target}[{secret_mask}] = {own}"],
    "x[mask] = y[mask]": ["m = {n} > {k}; {target_alike}[m] = {own_same}[m]"],
    "x[mask] += v": ["{target}[{secret_mask}] {change}= {own}"],
    "np.putmask": ["np.putmask({target}, {secret_mask}, {own})"],
    "x.sort()": ["{target}.sort()", "{target}.sort(axis={axis})"],
    "x += v": ["{target} {change}= {own}", "{target} {change}= {own_alike}", "{target_bool} {logic}= {mask}"],
    "np.add.at(x, k, v)": [
        "np.add.at({target_vector}, {places}, {own})",
        "np.add.at({target_vector}, {several}, {own})",
    ],
}

KINDS: dict[str, list[Any]] = {
    "x.astype(int)": ["{x}.astype(int)"],
    "astype(float)": ["{x}.astype(float)"],
    "astype(bool)": ["{x}.astype(bool)"],
    "zeros_like": ["np.zeros_like({x})"],
    "ones_like": ["np.ones_like({x})", "np.ones_like({n}, dtype=bool)"],
    "full_like": ["np.full_like({n}, {k})"],
    "shape=": ["np.zeros_like({x}, shape={positive})", "np.full_like({n}, {k}, shape=(2, 1))"],
    "compress": ["np.compress(a={x_vector}, condition={secret_mask}).sum()"],
    "extract": ["np.extract(arr={vector}, condition={secret_mask}).sum()"],
    "x[mask]": [
        "{x_axed}[{secret_mask}].sum()",
        "{n}[{secret_mask}].size",
        "{axed}[{secret_mask}].max()",
        "np.min({axed}[{secret_mask}])",
        ("{axed}[{secret_mask}].mean()", HALF),
        ("np.median({vector}[{secret_mask}])", HALF),
        ("np.percentile({vector}[{secret_mask}], 90)", HALF),
        ("{axed}[{secret_mask}].var()", selected(variances)),
        ("np.std({axed}[{secret_mask}])", selected(deviations)),
        ("({axed}[{secret_mask}] * 2 + {k}).sum()", HALF),
        "(m := {vector}[{secret_mask}])[m > 0].sum()",
        "(abs({axed}[{secret_mask}]) >= {k}).any()",
        "{vector}[{secret_mask}][0]",
        "{vector}[{secret_mask}][-1]",
        "{vector}[{secret_mask}].argmax()",
    ],
}

STEPS = ARITHMETIC | FUNCTIONS | REDUCTIONS | ORDER | PLACES | CHANGES | KINDS
