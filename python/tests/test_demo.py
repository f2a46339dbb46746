"""The demo: its programs, its processes, and what happens if one of them dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
import pytest

import tacit
from tacit.demo import command, main, processes, training
from tacit.demo.command import DemoError
from tacit.demo.models import MODELS
from tacit.demo.processes import ROLES, Processes
from tacit.demo.results import Result, as_table
from tacit.demo.training import train

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.demo.models import Model

EVERY_MODEL = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
DEMO = [sys.executable, "-c", "import sys; from tacit.demo import main; sys.exit(main(json=True))"]

RESULT = Result(
    name="ten-digits",
    data="digits",
    task="ten classes",
    rows=450,
    score_clear=0.96,
    score=0.96,
    differs=0,
    max_error=0.0,
    per_second=7e3,
    sent_bytes=[1, 2, 1000],
    predicted_bytes=[1, 2, 1000],
    rounds=54,
    predicted_rounds=54,
)


def environment(folder: Path) -> dict[str, str]:
    """This process's, with temporary files in a folder."""
    return {**os.environ, "TMPDIR": str(folder)}


def fresh(folder: Path) -> Path:
    folder.mkdir()
    return folder


@EVERY_MODEL
def test_a_program_takes_what_is_declared_and_tells_the_client_alone(model: Model) -> None:
    features = model.predictor.features
    outputs = (10,) if model.task == "ten classes" else ()
    assert [(given.owner, given.name, given.shape) for given in model.plan.inputs] == [
        ("client", "queries", (model.rows, features)),
        ("owner", "weights", (features, *outputs)),
        ("owner", "bias", outputs),
    ]
    (output,) = model.plan.outputs
    assert (output.to, output.shape) == ("client", (model.rows,))
    kind = {"regression": "fixed", "two classes": "bool", "ten classes": "int"}[model.task]
    assert output.dtype.kind == kind


@EVERY_MODEL
def test_what_is_trained_is_as_declared_and_predicts_as_scikit_learn_does(model: Model) -> None:
    trained = train(model)
    queries = model.predictor.queries(trained.queries)
    assert queries.shape == (model.rows, model.predictor.features)
    assert queries.min() >= 0
    assert queries.max() <= 1
    assert trained.model.public == model.predictor
    scores = queries @ trained.model.weights + trained.model.bias
    if model.task == "regression":
        np.testing.assert_allclose(scores, trained.clear)
    else:
        classes = scores > 0 if model.task == "two classes" else scores.argmax(axis=1)
        np.testing.assert_array_equal(classes, trained.clear)


def test_the_demo_end_to_end(tmp_path: Path) -> None:
    temporary, current = fresh(tmp_path / "temporary"), fresh(tmp_path / "current")
    done = subprocess.run(
        DEMO, cwd=current, env=environment(temporary), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert list(told) == ["transport", "servers", "models"]
    assert (told["transport"], told["servers"]) == ("tls", 3)
    assert [model["name"] for model in told["models"]] == list(MODELS)
    for model in told["models"]:
        assert " ".join(model) == (
            "name task rows score_clear score differs max_error per_second sent_bytes predicted_bytes rounds"
        )
        assert model["rows"] == MODELS[model["name"]].rows
        assert model["differs"] == 0
        assert model["score"] == pytest.approx(model["score_clear"], abs=1e-5)
        if model["task"] == "regression":
            assert 0 < model["max_error"] < 1e-4
        else:
            assert model["max_error"] == 0
        assert len(model["sent_bytes"]) == 3
        assert model["sent_bytes"] == model["predicted_bytes"]
        assert model["rounds"] > 0
        assert model["per_second"] > 0
    assert "tacit-demo.svg" in done.stderr
    drawing = ElementTree.parse(current / "tacit-demo.svg").getroot()
    assert "predicted" in {text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("pause", [0, 0.05])
def test_a_server_that_is_killed_is_named_by_all_others(
    pause: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # In a run or between two of them: the outcome is the same.
    cast: list[Processes] = []

    class Kept(Processes):
        def __enter__(self) -> Kept:
            cast.append(super().__enter__())
            return self

    def many_runs(_: object, __: object) -> list[Result]:
        return predictions(["ten-digits"] * 300, kill)

    def kill(_: str) -> None:
        # The client has learnt the first predictions; hundreds of runs are to come.
        if cast and not cast[0].failures:
            time.sleep(pause)
            os.kill(cast[0]._running["P1"].pid, signal.SIGKILL)

    predictions = command.predictions
    monkeypatch.setattr(command, "Processes", Kept)
    monkeypatch.setattr(command, "predictions", many_runs)
    # Whoever is between two runs looks for P1 for that long.
    monkeypatch.setattr(processes, "_CONNECT", 4)
    monkeypatch.chdir(tmp_path)
    assert main(json=True) == 1
    told, errors = capsys.readouterr()
    error = json.loads(told)["error"]
    assert error["kind"] == "aborted"
    assert error["message"] in errors
    assert "P1: was ended by signal 9" in errors
    failures = cast[0].failures
    assert set(failures) == set(ROLES)
    for who in failures.keys() - {"P1"}:
        assert "P1" in failures[who], failures
        assert "Traceback" not in failures[who]
        assert "was ended" not in failures[who]
    assert all(process.poll() is not None for process in cast[0]._running.values())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demo_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    temporary = fresh(tmp_path / "temporary")
    # Runs until it is interrupted: there are models enough for minutes.
    program = (
        "import sys; from tacit.demo import command\n"
        "predictions = command.predictions\n"
        "def told(step): print(step, flush=True)\n"
        "command.predictions = lambda names, step: predictions(names[:1] * 10_000, told)\n"
        "sys.exit(command.main(as_json=True))"
    )
    demo = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment(temporary),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout
    steps = [demo.stdout.readline() for _ in range(4)]
    assert steps[-1] == "predicting with linear-regression\n"
    (folder,) = temporary.iterdir()
    running = commands(str(folder))
    assert len(running) == len(ROLES)
    demo.send_signal(number)
    _, errors = demo.communicate(timeout=60)
    assert (demo.returncode, "interrupted" in errors, "Traceback" in errors) == (130, True, False)
    assert list(temporary.iterdir()) == []
    assert commands(str(folder)) == []


def commands(word: str) -> list[str]:
    """The command lines of all running processes that hold a word."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_text()
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found


def test_what_stops_one_of_the_processes_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def beyond(model: Model) -> Any:
        trained = train(model)
        wide = replace(model.predictor, bounds=tacit.learn.Bounds(weights=2**16, queries=1, bias=2**16))
        return replace(
            trained, model=tacit.learn.Model(wide, trained.model.weights * 100, trained.model.bias)
        )

    monkeypatch.setattr(training, "train", beyond)
    monkeypatch.setattr(processes, "_CONNECT", 2)
    with pytest.raises(DemoError, match=r"owner: .*weights") as caught:
        command.predictions(["linear-svm"])
    assert caught.value.kind == "aborted"


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"differs": 3}, "3 of 450 classes differ"),
    ({"max_error": 2e-3}, "an error of 0.002"),
    ({"max_error": float("nan")}, "an error of nan"),
    ({"sent_bytes": [1, 2, 4]}, "sent [1, 2, 4] bytes, and not [1, 2, 1000]"),
    ({"rounds": 55}, "55 rounds, and not 54"),
]


@pytest.mark.parametrize(("change", "says"), FAULTS)
def test_results_that_are_not_as_promised_end_with_1(
    change: dict[str, Any], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command._show([RESULT], as_json=False) == 0
    capsys.readouterr()
    assert command._show([RESULT, replace(RESULT, **change)], as_json=False) == 1
    assert says in capsys.readouterr().err


def test_the_table_has_a_line_for_each_server() -> None:
    lines = as_table([RESULT, replace(RESULT, task="regression", max_error=1.3e-6)]).splitlines()
    assert len(lines) == 2 + 2 * 3
    assert " ".join(lines[2].split()) == "ten-digits accuracy 0.9600 0.9600 0 7,000 54 P0 1 1"
    assert lines[3].split() == ["digits", "P1", "2", "2"]
    assert lines[4].split() == ["450", "rows", "P2", "1,000", "1,000"]
    assert "by 1.3e-06" in lines[5]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (
            lambda patch: patch.setitem(command._NEEDED, "no_such_module", "no-such-package"),
            "no-such-package",
        ),
        (lambda patch: patch.setattr(command, "PLOT", "no/such/folder.svg"), "can't be written"),
    ],
)
def test_a_machine_that_cannot_run_it_is_told_why(
    spoil: Callable[[pytest.MonkeyPatch], None],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "predictions", lambda _names, _step: [RESULT])
    spoil(monkeypatch)
    assert main(json=True) == 2
    told, errors = capsys.readouterr()
    assert json.loads(told)["error"]["kind"] == "input"
    assert says in errors
