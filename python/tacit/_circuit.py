"""Boolean circuits on bits, secret or not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit import _native
from tacit._handles import Handle
from tacit._location import fault
from tacit._tensor import Tensor, known_value
from tacit._values import is_float, shape_of
from tacit.circuits import Builder
from tacit.errors import CircuitError, ProgramError, ProgramTypeError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Circuit:
    """A Boolean circuit; made by `tacit.circuit`. Call it on bits: `c = adder(a, b)`.

    Each input is an array of bools with as many along its last axis as the input has bits. The other axes
    broadcast as NumPy's do and count instances, all of which are evaluated at once. An operand of one
    instance is the same for all of them, and isn't repeated.

    If an operand is secret, the call adds the circuit to the traced program, and gives a tensor for the
    output, or a tuple of tensors if there are several: under `replicated` each party sends a bit for every
    AND and instance, in `depth` rounds for as many instances as fit the window of messages under way. If
    all are NumPy arrays, it gives arrays, in the clear.

    Attributes:
        inputs: Bits of each input.
        outputs: Bits of each output.
        ands: How many ANDs there are.
        depth: The most of them on a way to an output.
    """

    __slots__ = ("_native", "ands", "depth", "inputs", "outputs")

    def __init__(self, native: _native.Circuit) -> None:
        self._native = native
        self.inputs: tuple[int, ...] = tuple(native.inputs)
        self.outputs: tuple[int, ...] = tuple(native.outputs)
        self.ands: int = native.ands
        self.depth: int = native.depth

    def __call__(self, *operands: Any) -> Any:
        """The outputs for some operands, one for each input.

        Raises:
            ProgramTypeError: An operand isn't of bools.
            ProgramError: There is another number of operands, or the last axis of one isn't an input's bits,
                or the other axes don't go together.
        """
        for operand in operands:
            if isinstance(operand, Handle):
                operand._refuse("a circuit")
        secret = next((operand for operand in operands if isinstance(operand, Tensor)), None)
        if secret is None:
            outputs: Sequence[Any] = self._clear(operands)
        else:
            numbers = [secret._operand(operand) for operand in operands]
            made = secret._at().circuit(self._native, numbers)
            outputs = [secret._made(number) for number in made]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _clear(self, operands: tuple[Any, ...]) -> list[NDArray[np.bool_]]:
        import numpy as np

        if len(operands) != len(self.inputs):
            raise fault(
                ProgramError, f"the circuit has {len(self.inputs)} inputs; {len(operands)} were given"
            )
        arrays = [
            _bools(operand, place, bits)
            for place, (operand, bits) in enumerate(zip(operands, self.inputs, strict=True))
        ]
        try:
            batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        except ValueError:
            shapes = " and ".join(str(array.shape) for array in arrays)
            raise fault(ProgramError, f"shapes {shapes} don't go together but for their last axes") from None
        packed = [
            np.packbits(np.broadcast_to(array, (*batch, array.shape[-1])), bitorder="little").tobytes()
            for array in arrays
        ]
        instances = math.prod(batch)
        outputs = zip(self._native.evaluate(packed, instances), self.outputs, strict=True)
        return [
            np.unpackbits(np.frombuffer(output, np.uint8), count=instances * bits, bitorder="little")
            .view(np.bool_)
            .reshape(*batch, bits)
            for output, bits in outputs
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the circuit to a file, in Bristol Fashion."""
        from pathlib import Path

        Path(path).write_text(self._native.write())

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, bits)) for bits in (self.inputs, self.outputs))
        return f"<circuit ({inputs}) -> ({outputs}), {self.ands} ANDs, depth {self.depth}>"


def circuit(source: Circuit | Builder | str | bytes | os.PathLike[str]) -> Circuit:
    """A Boolean circuit, ready to be called on bits.

    Args:
        source: A name that `tacit.circuits.names()` has ("adder64", "aes128"), a file in Bristol Fashion or
            in the older Bristol format, such a file's contents as bytes, or a `tacit.circuits.Builder`.
            What is a name isn't a file: write "./adder64" for that.

    Example:
        less = tacit.circuit("less32")
        less(tacit.bits(np.uint32([6]).view(np.uint8)), tacit.bits(np.uint32([7]).view(np.uint8)))

    Raises:
        CircuitError: The file can't be read, or isn't a circuit; the message names the line.
    """
    if isinstance(source, Circuit):
        return source
    if isinstance(source, Builder):
        return Circuit(source._native.circuit())
    if isinstance(source, bytes):
        return Circuit(_native.Circuit.read(source))
    named = _native.Circuit.named(source) if isinstance(source, str) else None
    if named is not None:
        return Circuit(named)
    from pathlib import Path

    try:
        text = Path(source).read_bytes()
    except OSError as error:
        raise CircuitError(f"{source} is no circuit's name and can't be read: {error.strerror}") from None
    try:
        return Circuit(_native.Circuit.read(text))
    except CircuitError as error:
        raise CircuitError(f"{source}, {error}") from None


def bits(data: Any) -> NDArray[np.bool_]:
    r"""The bits of bytes, of each the least significant first: bit `8 * i + j` is worth `2**j` in byte `i`.

    This is the order of all bits in Tacit: a vector of bits is the little-endian bit string of its bytes, and
    keys, blocks and digests are their bytes in the order in which a standard writes them down.

    Args:
        data: Bytes, or an array of uint8 of shape (..., n).

    Returns:
        Bools of shape (..., 8 * n).

    Example:
        tacit.bits(b"\x03")  # True, True, False, False, False, False, False, False

    Raises:
        TypeError: It is something else.
    """
    import numpy as np

    array = np.frombuffer(data, np.uint8) if isinstance(data, bytes | bytearray) else np.asarray(data)
    if array.dtype != np.uint8 or array.ndim == 0:
        raise TypeError(f"tacit.bits takes bytes or an array of uint8, not {_described(data, array)}")
    return np.unpackbits(array, axis=-1, bitorder="little").view(np.bool_)


def bytes_of(bits: Any) -> NDArray[np.uint8]:
    """The bytes of bits; the inverse of `tacit.bits`.

    Args:
        bits: Bools of shape (..., 8 * n).

    Returns:
        An array of uint8 of shape (..., n); its `tobytes()` are the bytes.

    Raises:
        TypeError: They aren't bools.
        ValueError: They are no whole bytes.
    """
    import numpy as np

    array = np.asarray(bits)
    if array.dtype != np.bool_ or array.ndim == 0:
        raise TypeError(f"tacit.bytes_of takes an array of bools, not {_described(bits, array)}")
    if array.shape[-1] % 8:
        raise ValueError(f"{array.shape[-1]} bits along the last axis are no whole bytes")
    return np.packbits(array, axis=-1, bitorder="little")


def _described(value: Any, array: NDArray[Any]) -> str:
    kind = type(value).__name__
    return f"{array.dtype} of shape {array.shape}" if hasattr(value, "dtype") else kind


def _bools(value: Any, place: int, bits: int) -> NDArray[np.bool_]:
    """A public operand."""
    import numpy as np

    known = known_value(value)
    shape = shape_of(known)
    array = np.asarray(known)
    if array.dtype != np.bool_:
        kind = "floating-point numbers" if is_float(known) else "integers"
        raise fault(
            ProgramTypeError, f"a circuit takes bools, not {kind}", "tacit.bits(...) makes them of bytes"
        )
    if not shape or shape[-1] != bits:
        raise fault(
            ProgramError,
            f"input {place} of the circuit takes {bits} bits along the last axis; the value's shape is "
            f"{shape}",
        )
    return array
