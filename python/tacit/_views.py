"""Tensors that can be changed: what changes one changes its views, as with NumPy's arrays.

A tensor is a name for a value of the program. A change gives the name another value, so all who hold the
tensor see it. A view remembers of what and how it was made, and is made again once that has another value.
Which results are views and which copies NumPy says: the steps are done again on an array of places.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
from typing import TYPE_CHECKING, Any

from tacit._handles import Unknown
from tacit._location import fault
from tacit.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from tacit._native import Builder, Type

_scopes: dict[int, int] = {}
"""Which body or arm is being traced, by the identity of the builder; none outside of all."""

_count = itertools.count(1)


class BySecret:
    """How the rows at a secret place are made: a view, of which nobody knows what it shows."""

    def __init__(self, key: Any) -> None:
        self.key = key

    def __call__(self, of: Any) -> Any:
        return of[self.key]


class Changeable(Unknown):
    """A name for a value of a program, perhaps a view of another one."""

    __slots__ = (
        "_builder",
        "_clock",
        "_how",
        "_norm_of",
        "_number",
        "_of",
        "_parent",
        "_parts",
        "_scope",
        "_seen",
        "_sum_of",
        "_totals",
        "_type",
    )

    def __init__(self, builder: Builder, number: int) -> None:
        self._builder = builder
        self._scope = _scopes.get(id(builder), 0)
        # What it is a view of, how it is made of that or of an array in its stead, and of which value it was.
        self._parent: Changeable | None = None
        self._how: Callable[[Any], Any] | None = None
        self._of = 0
        # How many changes there were of what has views in common with it, and when it was last looked at.
        self._clock: list[int] | None = None
        self._seen = 0
        self._name(number)

    def _name(self, number: int) -> None:
        """Gives the name this value."""
        self._number = number
        self._type: Type = self._builder.type_of(number)
        # Values from 0 on, of which each element is at most this one, and those of which all together are.
        self._parts: frozenset[int] = frozenset()
        self._totals: frozenset[int] = frozenset()
        # The value of whose elements this one has sums.
        self._sum_of: int | None = None
        # The value whose norm, or whose rows' norms, this is, and whether none of its elements is larger.
        self._norm_of: tuple[int, bool] | None = None

    def __setitem__(self, key: Any, value: Any) -> None:
        """Changes some of the elements, by any key of public entries, secret integers and secret masks."""
        from tacit._assign import assigned
        from tacit._tensor import Tensor

        assert isinstance(self, Tensor)
        self._change(assigned(self, key, value)._id)

    @property
    def _id(self) -> int:
        """The value's number."""
        return self._number if self._is_current() else self._current()._number

    @property
    def _kind(self) -> Type:
        return self._type if self._is_current() else self._current()._type

    def copy(self) -> Self:
        """A tensor of its own with the same value: a change of one isn't seen in the other. Free."""
        one = type(self)(self._builder, self._id)
        one._parts, one._totals, one._sum_of = self._parts, self._totals, self._sum_of
        one._norm_of = self._norm_of
        return one

    __copy__ = copy

    def __deepcopy__(self, _: object) -> Self:
        return self.copy()

    def fill(self, value: Any) -> None:
        """Changes all elements to one value."""
        self[...] = value

    # With axes in place, as arrays; without, as numbers, which can't be changed. What has another shape or
    # kind of type, for which NumPy has no place, is a tensor of its own.

    def __iadd__(self, other: Any) -> Any:
        return self._became(operator.add(self, other))

    def __isub__(self, other: Any) -> Any:
        return self._became(operator.sub(self, other))

    def __imul__(self, other: Any) -> Any:
        return self._became(operator.mul(self, other))

    def __itruediv__(self, other: Any) -> Any:
        return self._became(operator.truediv(self, other))

    def __ifloordiv__(self, other: Any) -> Any:
        return self._became(operator.floordiv(self, other))

    def __imod__(self, other: Any) -> Any:
        return self._became(operator.mod(self, other))

    def __ipow__(self, other: Any) -> Any:
        return self._became(operator.pow(self, other))

    def __ilshift__(self, other: Any) -> Any:
        return self._became(operator.lshift(self, other))

    def __irshift__(self, other: Any) -> Any:
        return self._became(operator.rshift(self, other))

    def __iand__(self, other: Any) -> Any:
        return self._became(operator.and_(self, other))

    def __ior__(self, other: Any) -> Any:
        return self._became(operator.or_(self, other))

    def __ixor__(self, other: Any) -> Any:
        return self._became(operator.xor(self, other))

    def _became(self, made: Any) -> Any:
        shape, kind = self._kind.shape, self._kind.kind
        if not shape or made._kind.shape != shape or made._kind.kind != kind:
            return made
        self[...] = made
        return self

    def _viewed(self, view: Self, how: Callable[[Any], Any]) -> Self:
        """Makes a view of `self` of what has its value already; numbers have none, as they never change."""
        if not self._kind.shape:
            return view
        self._clock = self._clock or [0]
        view._parent, view._how, view._of = self, how, self._id
        view._clock, view._seen = self._clock, self._clock[0]
        return view

    def _change(self, number: int) -> None:
        """Gives it another value of its shape and type, and whatever it is a view of with it.

        Raises:
            ProgramError: NumPy's view can't be written to, or the tensor was made outside of this body.
        """
        owner, places = self._owner()
        self._check_scope(owner)
        if owner is not self:
            if not places.flags.writeable:
                raise fault(
                    ProgramError, "this view has elements twice, or is read-only in NumPy", "change x.copy()"
                )
            number = _scattered(owner, number, places)
        if owner._parent is not None and isinstance(owner._how, BySecret):
            owner._parent[owner._how.key] = type(self)(self._builder, number)
            return
        owner._name(number)
        if owner._clock is not None:
            owner._clock[0] += 1

    def _is_current(self) -> bool:
        return self._parent is None or self._clock is None or self._seen == self._clock[0]

    def _current(self) -> Changeable:
        """A view after the changes of what it is a view of."""
        chain = self._chain()
        if any(one._number != view._of for one, view in itertools.pairwise(chain)):
            self._owner()  # What is a copy no longer has a parent.
        known, *views = self._chain()
        for view in views:
            assert view._how is not None
            assert view._clock is not None
            if known._number != view._of:
                made: Changeable = view._how(known)
                if view._scope != _scopes.get(id(self._builder), 0):
                    known = made  # What is made within a body, nothing outside may use.
                    continue
                view._name(made._number)
                view._of = known._number
            view._seen = view._clock[0]
            known = view
        return known

    def _owner(self) -> tuple[Changeable, Any]:
        """What it is a view of at public places, perhaps itself, and these places."""
        import numpy as np

        owner, *views = self._chain()
        places = _places(owner)
        for view in views:
            assert view._how is not None
            if isinstance(view._how, BySecret):
                owner, places = view, _places(view)
                continue
            found = np.asarray(view._how(places))
            if np.may_share_memory(found, places):
                places = found
            else:
                view._parent = view._how = None
                owner, places = view, _places(view)
        return owner, places

    def _chain(self) -> list[Changeable]:
        """What it is a view of, the views of that of which it is one, and itself."""
        chain: list[Changeable] = [self]
        while (parent := chain[-1]._parent) is not None:
            chain.append(parent)
        return chain[::-1]

    def _check_scope(self, owner: Changeable) -> None:
        if owner._scope == _scopes.get(id(self._builder), 0):
            return
        from tacit._trace import tracing

        trace = tracing(self._builder)
        what = trace.bodies[-1] if trace is not None and trace.bodies else "what has ended"
        raise fault(
            ProgramError,
            f"a tensor that was made outside of {what} can't be changed in there",
            "make it an argument of tacit.cond, switch or repeat and return it changed, or change x.copy()",
        )


@contextlib.contextmanager
def scope_of(builder: Builder) -> Iterator[None]:
    """While a body or an arm is traced: what was made outside of it can't be changed there."""
    before = _scopes.pop(id(builder), 0)
    _scopes[id(builder)] = next(_count)
    try:
        yield
    finally:
        del _scopes[id(builder)]
        if before:
            _scopes[id(builder)] = before


def _places(of: Changeable) -> Any:
    import numpy as np

    shape = of._type.shape
    return np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)


def _scattered(owner: Changeable, number: int, places: Any) -> int:
    """The owner's value with another one at some places."""
    from tacit._assign import scattered
    from tacit._tensor import Tensor

    assert isinstance(owner, Tensor)
    return scattered(owner, owner._made(number), places)._id
