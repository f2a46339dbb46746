"""The command `tacit infer`: a network of an ONNX file is asked, kept, saved as a plan, or priced."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tacit import onnx
from tacit._plan import Plan
from tacit._run import connect, local
from tacit.errors import InputError, RunError, TacitError

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; `tacit infer --help` lists what there is")


def main(arguments: Sequence[str]) -> int:
    """Runs the command; the exit code."""
    as_json = "--json" in arguments
    try:
        _infer(_parser().parse_args([one for one in arguments if one != "--json"]), as_json)
    except SystemExit:
        return 0
    except (TacitError, OSError) as error:
        aborted = isinstance(error, RunError)
        if as_json:
            told = {"kind": "run" if aborted else "usage", "message": str(error)}
            print(json.dumps({"error": {**told, "line": None, "peer": None, "phase": None}}), flush=True)
        print(f"error: {error}", file=sys.stderr)
        return 1 if aborted else 2
    sys.stdout.flush()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="tacit infer", description="Ask a neural network, an ONNX file, in secret.")
    parser.add_argument("model", metavar="MODEL.onnx")
    add = parser.add_argument
    add(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]FILE.npy",
        help="what is asked, all in this process without --config",
    )
    add("--output", metavar="FILE.npy", help="write the first output there, and print none")
    add("--config", metavar="parties.toml", help="give the weights to a run of this deployment, or ask")
    add("--keep", action="store_true", help="leave the weights with the parties, as shares, and ask nothing")
    add(
        "--reader",
        action="append",
        metavar="FILE.plan",
        help="with --keep: the only plans that may read them, of --weights kept; any, if none is named",
    )
    add("--kept-as", default="network", metavar="NAME", help="what they are called; network if not said")
    add("--state", metavar="FOLDER", help="where the parties keep them, all in this process")
    add("--save", metavar="FILE.plan", help="write the plan, which has no secret weights, for all others")
    add("--cost", metavar="NET", help="say what a run costs: lan, wan, or round trip and speed")
    add("--protocol", default="replicated", help="with its parameters behind it; replicated if not said")
    add("--rows", type=int, help="how many rows are asked at once; those of the input, or 1")
    add("--owner", default="owner", help="who has the weights")
    add("--client", default="client", help="who asks")
    add("--bound", type=float, default=16.0, help="the largest magnitude of what is asked; 16 if not said")
    add("--fraction", type=int, default=onnx.FRACTION, help="fraction bits between layers; 16 if not said")
    add("--weights", default="secret", choices=["secret", "kept", "public"])
    add("--calibrate", metavar="FILE.npy", help="assume the ranges that these rows show, with a margin")
    return parser


def _infer(options: argparse.Namespace, as_json: bool) -> None:
    model = onnx.load(options.model, fraction=options.fraction)
    if options.calibrate is not None:
        model = model.calibrate(_array(options.calibrate))
    asked = _asked(model, options.input)
    if options.reader is not None and not options.keep:
        raise InputError("--reader says which plans may read weights that --keep leaves with the parties")
    if options.keep:
        if asked or options.output is not None:
            raise InputError("--keep asks nothing: leave out --input and --output")
        readers = None if options.reader is None else [Plan.load(path) for path in options.reader]
        plan = model.keep(owner=options.owner, kept_as=options.kept_as, readers=readers)
    else:
        plan = model.plan(
            options.rows or (len(next(iter(asked.values()))) if asked else 1),
            owner=options.owner,
            client=options.client,
            bound=options.bound,
            weights=options.weights,
            kept_as=options.kept_as,
        )
    if options.save is not None:
        plan.save(options.save)
    if options.cost is not None:
        cost = plan.cost(net=options.cost, protocol=options.protocol)
        print(cost.to_json() if as_json else cost)
    gives = options.keep or options.weights == "secret"
    weights: dict[str, Any] = {options.owner: model.parameters()} if gives else {}
    if options.config is not None:
        if options.state is not None:
            raise InputError("--state is for parties: say it to their `tacit run` or `tacit serve`")
        given = {options.client: asked} if asked else weights
        with connect(options.config, options.protocol, progress=True) as run:
            outputs = run(plan, **given)
        if asked:
            _tell(model.decode(outputs), options.output, as_json)
        elif options.keep:
            print(f"kept as {options.kept_as}", file=sys.stderr)
    elif asked or (options.keep and options.state is not None):
        with local(options.protocol, state=options.state, progress=True) as run:
            outputs = run(plan, **weights, **({options.client: asked} if asked else {}))
            kept = ", ".join(run.kept)
        if options.keep:
            print(f"kept {kept}", file=sys.stderr)
        if asked:
            _tell(model.decode(outputs), options.output, as_json)
        print(run.report, file=sys.stderr)
    elif options.save is None and options.cost is None:
        raise InputError("say what to do: --input, --config, --save, --cost, or --keep with --state")


def _asked(model: onnx.Model, files: list[str]) -> dict[str, Any]:
    """The inputs by name."""
    asked = {}
    for given in files:
        name, path = given.split("=", 1) if "=" in given else (next(iter(model.inputs)), given)
        if name not in model.inputs:
            raise InputError(f"the network has no input {name!r}; it has {', '.join(model.inputs)}")
        asked[name] = np.atleast_1d(_array(path))
    missing = [name for name in model.inputs if asked and name not in asked]
    if missing:
        raise InputError(f"no value is given for {', '.join(missing)}")
    return asked


def _array(path: str) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except ValueError as error:
        raise InputError(f"{path} holds no array of NumPy's ({error})") from None


def _tell(outputs: Any, path: str | None, as_json: bool) -> None:
    """The outputs, on standard output or in a file."""
    if path is not None:
        file = path if path.endswith(".npy") else f"{path}.npy"
        # One that wasn't there is for its owner alone, to whom this was revealed.
        with open(file, "wb", opener=lambda name, flags: os.open(name, flags, mode=0o600)) as written:
            np.save(written, next(iter(outputs.values())) if isinstance(outputs, dict) else outputs)
    elif as_json:
        named = outputs if isinstance(outputs, dict) else {"output": outputs}
        print(json.dumps({name: value.tolist() for name, value in named.items()}))
    else:
        print(outputs)
