"""Bodies that are repeated, and ranges that authors know."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tacit import _tree
from tacit._functions import shape
from tacit._location import fault
from tacit._tensor import Tensor, known_value, tensor_of
from tacit._trace import in_body, latest
from tacit._values import is_float
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit._native import Builder


def assume(a: Tensor, low: float, high: float) -> Tensor:
    """`a`, of which you know that all elements are from `low` to `high`.

    A run in which one isn't ends with an error, and nothing is revealed or kept. That it was so is one bit
    that all learn. Looking costs about as much as a comparison. A debug run names the line. Under
    `astra-fair` only debug runs look: any other gives a wrong result then, and after a rounding, which
    wrong one may tell something of secrets.
    `Plan.assumptions` and `Plan.cost` list the lines that assume something.

    Raises:
        ProgramTypeError: `a` has no range.
        ProgramError: No value of `a` can be in this range.
    """
    one = tensor_of(a)
    if not low <= high:
        raise fault(ProgramError, f"the range {low} to {high} holds no number")
    ends = (math.floor(end * one.dtype.unit + 0.5) for end in (low, high))
    return one._made(one._at().assume(one._id, *ends))


def repeat(n: int, body: Callable[..., Any], state: Any, over: Any = None) -> Any:
    """What `state` is after `n` steps of `state = body(state)`, or of `state = body(state, over[i])`.

    The body is traced once, and program and plan hold it once, however large `n` is. Each step waits for the
    one before, so that they cost `n` times what one does. What doesn't depend on the state takes fewer rounds
    if it is computed before, of all of `over` at once.

    Args:
        n: How many steps there are, from 1 on.
        body: A function that gives the next state, of the same structure, types and shapes. What it uses
            of the traced function around it is the same in every step. It can't reveal anything.
        state: What the state is at first: a tensor, or tuples, lists and dicts of them; values that aren't
            secret become constants.
        over: Tensors or arrays whose first axes have length `n`: step i is given slice i of each.

    Returns:
        The state after the last step.

    A body is given copies: it may change them, `w[i] = v`, and has to return what is to stay.

    The range of a state has to hold after a step as it did before. End the body with `tacit.clip`, or with
    `tacit.assume` if you know better. A state that starts in a narrower range than the body ends in takes
    the wider one; the body is called a few times then.

    Raises:
        ProgramError: A range doesn't hold after a step, or what is in `over` has another length.
        ProgramTypeError: The body returns something else than a state.
    """
    if type(n) is not int or n < 1:
        raise fault(ProgramTypeError, f"repeat takes an integer from 1 on, not {n!r}")
    initial, sliced = _leaves(state), _leaves(over)
    one = _of_program(initial, sliced)
    for value in sliced:
        if shape(value)[:1] != (n,):
            raise fault(
                ProgramError,
                f"repeat goes {n} steps over a value of shape {shape(value)}",
                "the first axis of what it goes over has to be as long as there are steps",
            )
    numbers = [one._operand(value) for value in initial]
    rows = [one._operand(value) for value in sliced]
    builder = one._at()
    ranges = [(kind.low, kind.high) for kind in map(builder.type_of, numbers)]
    first: tuple[list[int], list[int]] | None = None
    held = False
    while True:
        builder = one._at()
        states = [builder.state(number, *ends) for number, ends in zip(numbers, ranges, strict=True)]
        slices = [builder.step(row) for row in rows]
        try:
            with in_body(builder):
                arguments = [_with(state, [one._made(number) for number in states])]
                if sliced:
                    arguments.append(_with(over, [one._made(number) for number in slices]))
                results = [one._operand(value) for value in _results(state, body(*arguments))]
        except ProgramError:
            if first is None:
                raise
            # Wider ranges are no help: what is wrong is that the first ones don't hold.
            return _with(state, [one._made(number) for number in one._at().end_repeat(n, *first)])
        builder = one._at()
        if first is None and _adopt_types(builder, numbers, results):
            ranges = [(kind.low, kind.high) for kind in map(builder.type_of, numbers)]
            continue
        holds, following = builder.widened(numbers, states, results)
        if following == ranges or (holds and held):
            return _with(state, [one._made(number) for number in builder.end_repeat(n, states, results)])
        first = first or (states, results)
        held = held or holds
        ranges = following


def _of_program(initial: list[Any], sliced: list[Any]) -> Tensor:
    """A tensor of the program that is traced: one of some values, or else a constant of a type like theirs.

    What a body uses of the traced function around it may be all that is secret.
    """
    builder = latest()
    if builder is None or any(isinstance(value, Tensor) for value in (*initial, *sliced)):
        return tensor_of(*initial, *sliced)
    floats = any(is_float(known_value(value)) for value in (*initial, *sliced))
    return Tensor(builder, builder.constant(0, "fixed" if floats else "int", 16 if floats else 0))


def _adopt_types(builder: Builder, initial: list[int], results: list[int]) -> bool:
    """Makes fixed point of the integers at first that are fixed point after a step; whether there are any."""
    changed = False
    for place, result in enumerate(results):
        kind = builder.type_of(result)
        if kind.kind == "fixed" and builder.type_of(initial[place]).kind in ("bool", "int"):
            initial[place] = builder.astype(initial[place], kind.kind, kind.bits)
            changed = True
    return changed


def _leaves(value: Any) -> list[Any]:
    """What is in nested tuples, lists and dicts, in order; nothing of `None`."""
    return [] if value is None else list(_tree.leaves(value).values())


def _with(value: Any, leaves: list[Tensor]) -> Any:
    """A nested value with other leaves."""
    left = iter(leaves)
    return _tree.changed(value, lambda *_: next(left), "")


def _results(state: Any, returned: Any) -> list[Any]:
    """What a body returns, if it is a state."""
    results = _tree.in_order_of(state, returned)
    if results is None:
        raise fault(
            ProgramTypeError,
            "the body of repeat returns something else than a state",
            "return the next state, in the tuples, lists and dicts that it came in",
        )
    return results
