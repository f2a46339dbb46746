"""Branches by secret conditions: all arms are computed, and nobody learns whose result is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit import _tree
from tacit._functions import where
from tacit._location import fault
from tacit._tensor import Tensor
from tacit._trace import ARM, in_body
from tacit.errors import ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def cond(condition: Any, if_true: Callable[..., Any], if_false: Callable[..., Any], *arguments: Any) -> Any:
    """`if_true(*arguments)` where the condition holds, else `if_false(*arguments)`: nobody learns which.

    Both arms are computed, and their results chosen from with an AND for each bit. Under `gmw` the arms share
    messages, layer by layer; under all other protocols each arm is computed like any other code, and what
    that takes is in the cost of its lines. What an arm computes of its arguments is in the arm; what it
    computes of other values of the traced function alone is outside of it, and computed in any case.

    Args:
        condition: A single secret bool. By a public one only one arm is traced.
        if_true: A function that gives a tensor, or tuples, lists and dicts of them.
        if_false: A function that gives the same structure, of types and shapes that go together.
        arguments: What the functions are given: tensors, public values, or tuples, lists and dicts of them.
            Tensors are copies: an arm may change its own, and has to return what is to stay.

    Raises:
        ProgramError: An arm reveals, assumes, shuffles or repeats something.
        ProgramTypeError: The condition isn't a single bool, or the arms return different structures.
    """
    if not isinstance(condition, Tensor):
        return (if_true if condition else if_false)(*arguments)
    if condition.shape != () or condition.dtype.kind != "bool":
        raise fault(
            ProgramTypeError,
            f"cond takes a single bool, not {condition.dtype} of shape {condition.shape}",
            "to choose element by element, use tacit.where",
        )
    results = []
    for method, arm in (("if_set", if_true), ("unless_set", if_false)):
        with in_body(condition._builder, ARM):
            within = [_tree.changed(argument, _placed(condition, method), "") for argument in arguments]
            results.append(arm(*within))
    taken, other = results
    others = _tree.in_order_of(taken, other)
    if others is None:
        raise fault(
            ProgramTypeError,
            "the arms of a branch return different structures",
            "return the same tuples, lists and dicts from each",
        )
    left = iter(others)
    return _tree.changed(taken, lambda leaf, _: where(condition, leaf, next(left)), "")


def switch(index: Any, arms: Sequence[Callable[..., Any]], *arguments: Any) -> Any:
    """`arms[index](*arguments)`, for a secret index; the last arm if there is none of that number.

    Branches of two arms inside one another (`tacit.cond`), as many as there are arms less one. All their
    conditions are compared beforehand, side by side.

    Args:
        index: A single secret integer. By a public one only one arm is traced.
        arms: Functions that all give the same structure, of types and shapes that go together.
        arguments: What the functions are given.

    Raises:
        ProgramError: An arm reveals, assumes, shuffles or repeats something.
        ProgramTypeError: There are no arms, the index isn't a single integer, or the arms return different
            structures.
    """
    functions = list(arms)
    if not functions:
        raise fault(ProgramTypeError, "switch takes at least one arm")
    if not isinstance(index, Tensor):
        return functions[index if 0 <= index < len(functions) else -1](*arguments)
    if index.shape != () or index.dtype.kind != "int":
        raise fault(
            ProgramTypeError, f"switch takes a single integer, not {index.dtype} of shape {index.shape}"
        )
    outside = (index < 0) if index.range[0] < 0 else None
    reached = [index >= number for number in range(1, len(functions))]
    if outside is not None:
        reached = [one | outside for one in reached]

    def among(low: int, high: int) -> Callable[..., Any]:
        if high - low == 1:
            return functions[low]
        middle = (low + high) // 2
        return lambda *inner: cond(reached[middle - 1], among(middle, high), among(low, middle), *inner)

    return among(0, len(functions))(*arguments)


def _placed(condition: Tensor, method: str) -> Callable[[Any, str], Any]:
    """Puts a secret into an arm; what is public is the same in all."""

    def placed(leaf: Any, _: str) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        return condition._call(method, condition._id, leaf._id)

    return placed
