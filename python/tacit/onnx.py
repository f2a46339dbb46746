"""Networks from ONNX files, asked in secret: neither the weights nor what is asked are shown to anybody.

    model = tacit.onnx.load("digits.onnx")
    plan = model.plan(rows=10, owner="clinic", client="alice")
    run(plan, clinic=model.parameters(), alice=images)            # each gives only its own
    model.decode(run(plan, ...))                                  # the client: scores as probabilities

What is public is the network's form: its operators, shapes, strides, slopes, ends of clips, and the power of
two above the largest magnitude in each tensor of weights. Everybody gets it with the plan: `plan.save(path)`.

Files are read with the package `onnx` (`pip install onnx`), opsets 13 to 21, float32. What isn't
supported is refused before anything is shared, all of it at once.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit import nn
from tacit._keep import keep as keep_value
from tacit._keep import kept as kept_value
from tacit._location import Location, fault, said
from tacit._repeat import assume
from tacit._tensor import Tensor
from tacit._trace import function, reveal, secret
from tacit.dtypes import bool_, fixed, int64
from tacit.errors import InputError, ProgramError, TacitError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit._onnx_graph import Graph
    from tacit._plan import Plan

    Array: TypeAlias = NDArray[Any]

__all__ = ["Model", "load"]

FRACTION = 16
"""Fraction bits of what is between layers, if nothing else is said."""

MAX_WEIGHT_FRACTION = 30
"""Fraction bits of small weights at most; of weights from 1/2 on they are those between layers."""


@dataclass(slots=True)
class Model:
    """A network and its weights: the owner's secret. Made by `load`; prints its form.

    Attributes:
        inputs: Shapes of the inputs by name; a first length of 0 is as many rows as are asked for.
        outputs: Names of the outputs.
        layers: The layers by name, in their order.
        fraction: Fraction bits of what is between layers.
        assumed: Magnitudes that `calibrate` found and the plan takes for granted, by the layer's output.
    """

    inputs: dict[str, tuple[int, ...]]
    outputs: tuple[str, ...]
    layers: tuple[str, ...]
    fraction: int = FRACTION
    assumed: dict[str, float] = field(default_factory=dict)
    _graph: Graph = field(kw_only=True, repr=False)
    _proto: Any = field(kw_only=True, repr=False)

    def parameters(self) -> dict[str, Array]:
        """The owner's inputs, by name: `run(plan, owner=model.parameters())`; of signs which are -1."""
        return {
            _given(name): array < 0 if array.dtype.kind == "i" else array
            for name, array in self._weights().items()
        }

    def _weights(self) -> dict[str, Array]:
        """What layers multiply by and add, by name."""
        return {
            _called(place, name): array
            for place, layer in enumerate(self._graph.layers)
            for name, array in layer.weights.items()
        }

    def plan(
        self,
        rows: int = 1,
        *,
        owner: str = "owner",
        client: str = "client",
        bound: float = 16.0,
        weights: str = "secret",
        kept_as: str = "network",
    ) -> Plan:
        """The plan that asks the network about some rows at once. Only the client learns the outputs.

        Args:
            rows: How many, where the network leaves it open.
            owner: Who has the weights: a party, or a client of the servers.
            client: Who asks, and gives the network's inputs.
            bound: The largest magnitude of an element of the inputs. Everybody knows it.
            weights: "secret", "kept" (shares that the plan of `keep` left with the parties) or "public",
                which is cheaper: they are a part of the plan then, rounded as an owner's are.
            kept_as: Under which name `keep` kept them.

        Raises:
            ProgramError: A value may leave 64 bits: `calibrate`, or fewer fraction bits.
        """
        if weights not in ("secret", "kept", "public"):
            raise ProgramError(f"weights={weights!r}: they are 'secret', 'kept' or 'public'")
        given = {
            name: secret(client, shape=_shape(name, shape, rows), dtype=fixed(self.fraction),
                         range=(-bound, bound), name=name)
            for name, shape in self.inputs.items()
        }  # fmt: skip
        declare: dict[str, Callable[[str, Array], Any]] = {
            "secret": lambda name, array: _input(owner, name, array, self.fraction),
            "kept": lambda name, array: kept_value(
                **_kept(array, self.fraction), name=f"{kept_as}.{name}", shape=array.shape
            ),
            "public": lambda _, array: array,
        }
        known = {name: declare[weights](name, array) for name, array in self._weights().items()}
        return _network.trace(given, known, self, client)

    def keep(
        self, *, owner: str = "owner", kept_as: str = "network", readers: list[Plan] | None = None
    ) -> Plan:
        """The plan that leaves the weights with the parties, as shares, for plans with `weights="kept"`.

        Args:
            owner: Who gives them.
            kept_as: What they are called from then on: "network.weights0" and so on.
            readers: The only plans that may read them; any, if it is `None`.
        """
        declared = {
            name: _input(owner, name, array, self.fraction) for name, array in self._weights().items()
        }
        return _keeping.trace(declared, kept_as, readers)

    def calibrate(self, samples: Any, margin: float = 4.0) -> Model:
        """The same model with ranges from rows that are known, for networks too deep for sure ones.

        A range is the next power of two above `margin` times the largest magnitude seen. It is *assumed*,
        where a layer's values are truncated: a run in which one is outside ends with an error, and nothing is
        revealed but that. `plan.assumptions` lists these places. Under `astra-fair` only a debug run looks;
        in another one the result is wrong then, and what is wrong may tell something that nobody is to learn.

        Args:
            samples: Rows of the input, or a dict of them by name; the first axis is free if the network's is.
            margin: By how much values may be larger than those seen.
        """
        import numpy as np

        if not margin >= 1:
            raise InputError(f"margin={margin!r} has to be 1 at least")
        given = samples if isinstance(samples, dict) else dict.fromkeys(self.inputs, samples)
        from tacit._onnx_graph import reader

        onnx = reader()
        from onnx.reference import ReferenceEvaluator

        proto = onnx.ModelProto()
        proto.CopyFrom(self._proto)
        made = {name for node in proto.graph.node for name in node.output}
        layers = [layer for layer in self._graph.layers if layer.output in made]
        names = [layer.output for layer in layers]
        del proto.graph.output[:]
        proto.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
        feeds = {name: np.asarray(value, dtype=np.float32) for name, value in given.items()}
        found = ReferenceEvaluator(proto).run(None, feeds)
        largest = {}
        for layer, value in zip(layers, found, strict=True):
            size = 1.0 if layer.size is None else layer.size.reshape(-1, *[1] * (value.ndim - 2))
            largest[layer.output] = float(np.abs(value / size).max())
        # The largest number of a range is a step below its bound, and it has a number besides 0.
        more = 2.0 ** (1 - self.fraction)
        assumed = {name: _above(margin * value + more) for name, value in largest.items()}
        return replace(self, assumed=assumed)

    def decode(self, outputs: Any) -> Any:
        """What the network says, from what the client's run returned: one array, or a dict of them by name.

        Where the network ends in a softmax, it is taken here.
        """
        import numpy as np

        if outputs is None:
            raise InputError("there is nothing to decode: outputs are revealed to the client alone")
        made = {}
        for name, value in outputs.items():
            axis = self._graph.softmax.get(name)
            made[name] = np.asarray(value) if axis is None else nn.softmax(value, axis)
        return made if len(made) > 1 else next(iter(made.values()))


def load(path: str | os.PathLike[str], *, fraction: int = FRACTION) -> Model:
    """A network from an ONNX file.

    Args:
        path: The file.
        fraction: Fraction bits of what is between layers, 1 to 16. Small weights have more.

    Raises:
        OSError: The file can't be read.
        InputError: It is no such file, or damaged, or something in it isn't supported; all of it is named.
    """
    from tacit._onnx_graph import graph_of, proto_of

    proto = proto_of(path)
    if not isinstance(fraction, int) or not 1 <= fraction <= FRACTION:
        raise InputError(f"fraction={fraction!r} has to be from 1 to {FRACTION}")
    graph = graph_of(proto)
    layers = tuple(layer.name for layer in graph.layers)
    return Model(graph.inputs, graph.outputs, layers, fraction=fraction, _graph=graph, _proto=proto)


@function
def _network(inputs: Any, weights: Any, model: Model, client: str) -> Any:
    """Layer by layer. A value that several read is truncated once."""
    values = dict(inputs)
    readers = Counter(name for layer in model._graph.layers for name in layer.inputs)
    for place, layer in enumerate(model._graph.layers):
        # Costs and errors name the layer.
        with said(Location("layer", place + 1, layer.name)):
            own = {
                name: _number(weights[_called(place, name)], values[layer.inputs[0]], model.fraction)
                for name in layer.weights
            }
            for name in layer.inputs:
                if not layer.exact or readers[name] > 1:
                    values[name] = _settled(values[name], model.assumed.get(name), model.fraction)
            try:
                made = layer.apply([values[name] for name in layer.inputs], own)
            except (ValueError, IndexError) as error:
                if isinstance(error, TacitError):
                    raise
                raise fault(ProgramError, f"its shapes don't fit ({error})") from None
            values[layer.output] = _with_room(made, model.assumed.get(layer.output))
    return {name: reveal(nn.settle(values[name], model.fraction), to=client) for name in model.outputs}


@function
def _keeping(weights: Any, kept_as: str, readers: Any) -> Any:
    for name, value in weights.items():
        keep_value(_signs(value), f"{kept_as}.{name}", readers=readers)
    return {}


_TRUNCATED = 2**61
"""Raw values below it can be truncated, with as much added as there may be."""


def _with_room(made: Any, bound: float | None) -> Any:
    """A value that can be truncated: of a range that is assumed, if it would be too wide."""
    has_room = max(-made._kind.low, made._kind.high) < _TRUNCATED
    return made if has_room else _within(made, bound)


def _settled(value: Any, bound: float | None, fraction: int) -> Any:
    """A value truncated, of a range that is assumed, if it would be wider."""
    return _within(nn.settle(value, fraction), bound)


def _within(made: Any, bound: float | None) -> Any:
    """A value that is assumed to be below a bound: a step at least, so that ranges are powers of two long."""
    if bound is None or made._kind.kind != "fixed":
        return made
    unit = 2.0**made._kind.bits
    ends = (made._kind.low / unit, made._kind.high / unit)
    low, high = max(ends[0], -bound), min(ends[1], bound - 1 / unit)
    return assume(made, low, high) if (low, high) != ends else made


def _called(place: int, name: str) -> str:
    """What a layer's weights are called among the owner's inputs."""
    return f"{name}{place}"


def _shape(name: str, shape: tuple[int, ...], rows: int) -> tuple[int, ...]:
    if shape[0] not in (0, rows):
        raise ProgramError(
            f"the input {name!r} has {shape[0]} rows, not {rows}", hint=f"ask for rows={shape[0]}"
        )
    return (rows, *shape[1:])


def _given(name: str) -> str:
    """What the owner's input is called: signs come as bits, which are no numbers but 1 and -1."""
    return name.replace("sign", "negative")


def _input(owner: str, name: str, array: Array, fraction: int) -> Any:
    """A tensor of weights as the owner gives it."""
    kind = {"dtype": bool_} if array.dtype.kind == "i" else _kept(array, fraction)
    return secret(owner, name=_given(name), shape=array.shape, **kind)


def _kept(array: Array, fraction: int) -> dict[str, Any]:
    """Type and range of a tensor of weights: small ones have more fraction bits. Integers are signs."""
    import numpy as np

    if array.dtype.kind == "i":
        return {"dtype": int64, "range": (-1, 1)}
    bound = _above(float(np.abs(array).max()) if array.size else 1.0)
    more = max(0, -math.frexp(bound)[1])
    bits = min(fraction + more, MAX_WEIGHT_FRACTION)
    return {"dtype": fixed(bits), "range": (-bound, bound)}


def _number(value: Any, beside: Tensor, fraction: int) -> Any:
    """A tensor of weights as numbers, public ones rounded as an owner's are."""
    import numpy as np

    if isinstance(value, Tensor):
        return _signs(value)
    if value.dtype.kind == "i":
        return beside._made(beside._constant(value, 0))
    bits = _kept(value, fraction)["dtype"].bits
    scaled = np.ldexp(value, bits)
    below = np.floor(scaled)
    rounded = np.ldexp(below + (scaled - below >= 0.5), -bits)
    return beside._made(beside._constant(np.array(rounded, order="C"), bits))


def _signs(value: Tensor) -> Tensor:
    """A tensor of weights; signs, if it has bits that say which are -1."""
    return (1 - 2 * value).astype(int64) if value.dtype.kind == "bool" else value


def _above(value: float) -> float:
    """The power of two from 2**-14 on that is not below a magnitude."""
    return 2.0 ** max(-14, math.ceil(math.log2(value))) if value > 0 else 2.0**-14
