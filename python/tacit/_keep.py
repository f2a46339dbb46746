"""Values that stay with the parties, as shares, from one run to later ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit._handles import Handle, Kept
from tacit._location import fault
from tacit._plan import Plan
from tacit._tensor import Tensor
from tacit._trace import checked_dtype, checked_range, checked_shape, leaving
from tacit.errors import ProgramError, ProgramTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.dtypes import DType


def kept(
    name: str,
    *,
    shape: int | Sequence[int] = (),
    dtype: DType | None = None,
    range: tuple[float, float] | None = None,  # noqa: A002 (the word for it)
) -> Kept:
    """Declares a value that the parties keep since an earlier run: an argument for `trace`.

    Nobody gives it: the parties have shares of it, from a run of a program with `tacit.keep`. Which value
    a run reads it says itself, `run(plan, kept={"weights": "weights@3"})`; else it is the newest of the name.
    Rows of a table can be read, too, so that one plan serves many: `kept={"keys": "principals@3[17,42]"}`
    for a plan that reads `tacit.kept("keys", shape=(2, 16))`. Which rows they are all parties see.

    Args:
        name: What the program calls it.
        shape: Lengths of its axes; () for a single number.
        dtype: Its type, which has to be that of what was kept; `tacit.fixed(16)` if not said.
        range: The least and the largest value of an element. All that was kept could be has to be in it.

    Raises:
        ProgramError: The name is empty, a range isn't one, or the type can't hold it.
    """
    _check_name(name)
    dtype = checked_dtype(dtype)
    return Kept(name, checked_shape(shape), dtype, None if range is None else checked_range(range, dtype))


def keep(
    value: Any,
    name: str,
    *,
    readers: Sequence[Plan | str] | None = None,
    learners: Sequence[str] | None = None,
    writers: Sequence[Plan | str] = (),
) -> None:
    """Lets the parties keep a value, as shares: later programs read it by `tacit.kept`.

    It is kept once all that it depends on is checked, and before outputs are opened, as the next version
    of its name: "weights@1", then "weights@2".
    Nobody learns it by that.

    Args:
        value: A tensor.
        name: What it is called from then on.
        readers: The plans, or their hashes, that may read it, under its own name; `None` for any.
        learners: Who may learn what depends on it, by name; `None` for anybody. Every party refuses a run
            that would show more, or keep it for others, before anything is computed.
        writers: The plans, or their hashes, that may keep later versions of the name besides this one. Those
            of the first version hold for all that come after it, until all of the name is dropped.

    Raises:
        ProgramError: `value` isn't a tensor, or the name is empty, or kept already.
    """
    if isinstance(value, Handle):
        value._refuse("tacit.keep")
    if not isinstance(value, Tensor):
        raise fault(ProgramTypeError, f"tacit.keep takes a secret, and this is a {type(value).__name__}")
    _check_name(name)
    if any(isinstance(names, (str, Plan)) for names in (readers, learners, writers)):
        raise fault(ProgramError, "readers, learners and writers are lists", "use learners=['alice']")
    leaving(value, "keep", "kept")
    if readers is not None and not readers:
        raise fault(ProgramError, "readers=[] lets no plan read it", "name a plan, or leave readers out")
    read, written = ([_hash(plan) for plan in plans or ()] for plans in (readers, writers))
    value._at().keep(value._id, name, read, None if learners is None else list(learners), written)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name or "@" in name or "[" in name:
        raise fault(ProgramError, f"{name!r} can't be the name of a kept value", "use a word: 'weights'")


def _hash(reader: Plan | str) -> bytes:
    """A program's hash."""
    try:
        digest = bytes.fromhex(reader.hash if isinstance(reader, Plan) else reader)
    except (TypeError, ValueError):
        digest = b""
    if len(digest) != 32:
        raise fault(ProgramError, f"{reader!r} is no plan and no hash of one", "use readers=[plan]")
    return digest
