"""Plans: closed programs, ready to be priced, saved and run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit import _tree
from tacit._handles import Kept
from tacit._native import Program
from tacit._table import printable
from tacit.dtypes import DType
from tacit.errors import PlanError
from tacit.tables.schema import Schema, hold

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from tacit import _native
    from tacit._cost import Cost


ALL = "all"
"""The owner of what all parties give, and who learns what everybody does."""

_SHOWN = 40
"""Operations that `print(plan)` shows."""

_WORDS = 12
"""Words of a category that it does."""


@dataclass(frozen=True, slots=True)
class Input:
    """What an owner has to give.

    Attributes:
        owner: The party or client that gives it.
        name: What it is called in `run(plan, name=...)`.
        dtype: What its elements are.
        shape: Lengths of its axes.
        range: The least and the largest value that is accepted.
    """

    owner: str
    name: str
    dtype: DType
    shape: tuple[int, ...]
    range: tuple[int | float, int | float]


@dataclass(frozen=True, slots=True)
class Output:
    """What somebody learns.

    Attributes:
        to: Who: "all", or a party or client.
        dtype: What its elements are.
        shape: Lengths of its axes.
        range: The least and the largest value that it can have.
    """

    to: str
    dtype: DType
    shape: tuple[int, ...]
    range: tuple[int | float, int | float]


@dataclass(frozen=True, slots=True)
class Keep:
    """What the parties keep of a run.

    Attributes:
        name: What it is called from then on.
        dtype: What its elements are.
        shape: Lengths of its axes.
        range: The least and the largest value that it can have.
        readers: Hashes of the plans that may read it; any may if there is none.
        learners: Who may learn what depends on it; `None` for anybody.
        writers: Hashes of the plans besides this one that may keep later versions of the name.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    range: tuple[int | float, int | float]
    readers: tuple[str, ...]
    learners: tuple[str, ...] | None
    writers: tuple[str, ...]


class Plan:
    """A closed program: what is computed on whose inputs, and who learns what. Made by `trace` or `load`.

    Nothing in it is secret. Parties run it together only if all have the same, by its hash.
    """

    def __init__(self, program: Program, structure: _tree.Structure, name: str) -> None:
        self._program = program
        self._structure = structure
        self._name = name

    @property
    def name(self) -> str:
        """The traced function's name."""
        return self._name

    @property
    def hash(self) -> str:
        """SHA-256 of what is computed, for whom, from whose inputs, in hexadecimal; sources don't count."""
        return self._program.hash().hex()

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs, in the order of the function's parameters."""
        return _inputs(self._program.inputs())

    @property
    def public_inputs(self) -> tuple[Input, ...]:
        """What all parties give alike, in the order of the function's parameters; the owner is "all"."""
        return _inputs(self._program.known())

    @property
    def _declared(self) -> tuple[Input, ...]:
        """All that a run is given, in the order in which it takes it."""
        return self.inputs + self.public_inputs

    @property
    def tables(self) -> tuple[Schema, ...]:
        """The tables that come in; the inputs have those of their columns."""
        return tuple(Schema.from_json(known) for known in self._structure.get("tables", ()))

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs, in the order in which they are revealed."""
        return tuple(
            Output(output.to or "all", dtype, kind.shape, _range(dtype, kind.low, kind.high))
            for output in self._program.outputs()
            for kind in (output.type,)
            for dtype in (DType(kind.kind, kind.bits),)
        )

    @property
    def kept(self) -> tuple[Kept, ...]:
        """What it reads of what the parties keep."""
        return tuple(
            Kept(name, kind.shape, dtype, _range(dtype, kind.low, kind.high))
            for name, kind in self._program.kept()
            for dtype in (DType(kind.kind, kind.bits),)
        )

    @property
    def keeps(self) -> tuple[Keep, ...]:
        """What the parties keep of it."""
        return tuple(
            Keep(
                name,
                dtype,
                kind.shape,
                _range(dtype, kind.low, kind.high),
                tuple(bytes(reader).hex() for reader in readers),
                None if learners is None else tuple(learners),
                tuple(bytes(writer).hex() for writer in writers),
            )
            for name, kind, readers, learners, writers in self._program.keeps()
            for dtype in (DType(kind.kind, kind.bits),)
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The lines that assume ranges.

        A run looks at those with `tacit.assume`. Those of operations that know a range by how a value is made
        are checked by debug runs alone.
        """
        return tuple(f"{file}:{line}: {text}" for file, line, text, _ in self._program.assumptions())

    def cost(
        self,
        net: str | None = None,
        protocol: str | None = None,
        parties: Sequence[str] | None = None,
        *,
        config: str | os.PathLike[str] | None = None,
        **parameters: str | int,
    ) -> Cost:
        """What a run will take: exact bytes and rounds, and the network's time; nothing is run.

        Args:
            net: "lan" (1 Gbit/s, 0.47 ms round trip), "wan" (100 Mbit/s, 40 ms), or round trip and speed:
                "20ms,100mbit". What a protocol leaves to the network is picked for it. If `None`, times are
                for "lan", and all else is as `tacit.local` plays it.
            protocol: A protocol's name, with its parameters behind it if it is to have any; `None` for all
                that can run the plan. With "astra comparison=auto" numbers are compared as is quicker on
                `net`, if it is given.
            parties: Names of the computing parties; who else gives or gets something is a client. If `None`,
                as many parties as a protocol is for, called P0, P1, ...
            config: A `parties.toml`: the cost is that of a run in its deployment, among its parties and with
                its `window_bytes`.
            parameters: Values of the parameters of `protocol`, `soundness=100` as of "replicated-malicious
                soundness=100".

        Returns:
            An object that prints as tables, by party and by line of the program.

        Raises:
            InputError: There is no such network or protocol, or it isn't for as many parties.
            ProgramError: The protocol doesn't offer what the plan needs.
            ConnectError: The configuration is wrong.
        """
        from tacit import _cost

        return _cost.price(self._program, net, protocol, parties, config, parameters)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan to a file, for other parties to `load`, or to run without Python.

        Raises:
            OSError: The file can't be written.
            PlanError: The function returns a public float that is no number.
        """
        from pathlib import Path

        program, name, result = self._parts()
        Path(path).write_bytes(program.to_saved(name, result))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Plan:
        """Reads a plan. Look at what it reveals, and to whom, before you run a plan that somebody else made.

        Raises:
            OSError: The file can't be read.
            PlanError: It holds no plan, or a damaged one.
        """
        import json
        from pathlib import Path

        try:
            program, name, result = Program.from_saved(Path(path).read_bytes())
            plan = Plan(program, json.loads(result), name)
            plan._restore([None] * len(plan.outputs))
            plan._check_tables()
        except (PlanError, ValueError, RecursionError) as error:
            raise PlanError(f"{path}: {error}") from None
        return plan

    def _parts(self) -> tuple[Program, str, str]:
        """What is saved: the program, its name, and the structure of what the function returns, as JSON."""
        import json

        return self._program, self._name, json.dumps(self._structure)

    def _restore(self, outputs: list[Any]) -> Any:
        """What the function returns, with values in the place of what it reveals."""
        return _tree.together(self._structure, outputs)

    def _check_tables(self) -> None:
        """Raises a `ValueError` unless each table is the one whose digest the program has."""
        hold(self.tables, {(given.owner, given.name): given.shape for given in self.inputs})

    def show(self) -> None:
        """Prints who gives what, every operation with its line of the program, and what each learner gets.

        `print(plan)` does so too, and leaves out the middle of more than 40 operations.
        """
        print(self._in_words(None))

    def _in_words(self, most: int | None) -> str:
        """What `show` prints, with so many operations at most."""
        operations = self._program.operations()
        left = 0 if most is None else len(operations) - most
        if most is not None and left > 0:
            half = most // 2
            operations[half : half + left] = [f"... {left} more; plan.show() prints them all"]
        lines = [
            *self._given(None if most is None else _WORDS),
            f"  {len(self._program.operations())} operations:",
        ]
        lines += [f"    {line}" for line in operations]
        return "\n".join(map(printable, [*lines, *self._learnt()]))

    def _given(self, most: int | None) -> list[str]:
        """Lines on what it is, and what comes in; of categories so many words at most."""
        lines = [f"plan {self._name}, hash {self.hash[:16]}"]
        declarations = [*self._program.inputs(), *self._program.known()]
        for given, declared in zip(self._declared, declarations, strict=True):
            low, high = given.range
            of = f"{given.dtype} {given.shape}, {low:g} to {high:g}"
            usual = given.dtype.default_limits == (declared.low, declared.high)
            who = "all parties give" if given.owner == ALL else f"{given.owner} gives"
            lines.append(f"  {who} {given.name}: {of}{' (default range)' if usual else ''}")
        lines += [f"  {line}" for schema in self.tables for line in schema.in_words(most)]
        return lines + [
            f"  reads {kept.name}, which is kept: {kept.dtype} {kept.shape}" for kept in self.kept
        ]

    def _learnt(self) -> list[str]:
        """Lines on what goes out: learner by learner, then what is kept, and what it rests on."""
        outputs = self.outputs
        paths = _tree.output_paths(self._structure)
        lines = []
        for to in dict.fromkeys(got.to for got in outputs):
            lines.append("  everybody learns" if to == "all" else f"  {to} learns")
            for number, got in enumerate(outputs):
                if got.to == to:
                    low, high = got.range
                    of = f"{got.dtype} {got.shape}, {low:g} to {high:g}"
                    lines.append(f"    {paths.get(number) or f'output {number}'}: {of}")
        for keep in self.keeps:
            learners = (
                "" if keep.learners is None else f", for {', '.join(keep.learners) or 'nobody'} to learn"
            )
            lines.append(f"  keeps {keep.name}: {keep.dtype} {keep.shape}{learners}")
        return lines + [f"  assumed at {line}" for line in self.assumptions]

    def __str__(self) -> str:
        return self._in_words(_SHOWN)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self.hash == other.hash and self._structure == other._structure

    def __hash__(self) -> int:
        return hash(self.hash)

    def __repr__(self) -> str:
        lines = "\n".join(map(printable, [*self._given(_WORDS), *self._learnt()]))
        return f"<{lines}>"


def _inputs(declarations: Sequence[_native.Input]) -> tuple[Input, ...]:
    return tuple(
        Input(
            declared.owner, declared.name, dtype, declared.shape, _range(dtype, declared.low, declared.high)
        )
        for declared in declarations
        for dtype in (DType(declared.kind, declared.bits),)
    )


def _range(dtype: DType, low: int, high: int) -> tuple[int | float, int | float]:
    # The core's own ends stop at 2**127 - 1.
    return dtype.limits if dtype.modulus else (dtype.real(low), dtype.real(high))
