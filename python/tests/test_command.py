"""The command `tacit`."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tacit import __version__

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import sys, tacit

more = int(sys.argv[1])

@tacit.function
def dot(
    x=tacit.secret("alice", shape=(3,), range=(-9, 9)),
    y=tacit.secret("bob", shape=(3,), range=(-9, 9)),
):
    return tacit.reveal((x * y).sum() + more), tacit.reveal(x > y, to="bob")
"""


def tacit(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tacit", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def answer(*arguments: str | Path) -> Any:
    done = tacit(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "dot.py"
    file.write_text(PROGRAM)
    np.save(tmp_path / "x.npy", np.array([1, -2, 3]))
    np.save(tmp_path / "y.npy", np.array([[4], [5], [-6]], dtype=np.int8)[:, 0])
    return file


def test_run_and_cost(program: Path) -> None:
    inputs = [word for name in "xy" for word in ("--input", f"{name}={program.parent / name}.npy")]
    options: list[str | Path] = ["--simulate", "--arg", "100", "--debug", "--output", program.parent / "out"]
    outputs = answer("run", program, *options, *inputs)["outputs"]
    assert [output["value"] for output in outputs] == [76, [False, False, True]]
    assert [output["to"] for output in outputs] == ["all", "bob"]
    assert np.load(program.parent / "out" / "output-0.npy") == 76
    assert (np.load(program.parent / "out" / "output-1.npy") == [False, False, True]).all()
    bill = answer("cost", program, "--arg", "100", "--net", "wan")["protocols"]["replicated"]
    assert bill["endpoints"] == ["P0", "P1", "P2", "alice", "bob"]
    assert any("dot.py:11" in line["line"] for line in bill["lines"])


def test_public_inputs_are_given_as_others_are(tmp_path: Path) -> None:
    file = tmp_path / "above.py"
    file.write_text(
        "import tacit\n\n"
        "@tacit.function\n"
        'def above(x=tacit.secret("alice", range=(0, 9)), least=tacit.public(range=(0, 9))):\n'
        "    return tacit.reveal(x > least)\n"
    )
    np.save(tmp_path / "x.npy", 5)
    np.save(tmp_path / "least.npy", 4.5)
    given = ["--input", f"x={tmp_path / 'x.npy'}", "--input", f"least={tmp_path / 'least.npy'}"]
    saved = tmp_path / "above.plan"
    told = answer("plan", file, "--save", saved)
    assert [(one["owner"], one["name"]) for one in told["inputs"]] == [("alice", "x"), ("all", "least")]
    assert "input %1 least of all parties: fixed(16) [], 0 to 9" in tacit("plan", saved).stdout
    for program in (file, saved):
        assert answer("run", program, "--simulate", *given)["outputs"][0]["value"] is True
    lacking = tacit("run", saved, "--simulate", *given[:2])
    assert lacking.returncode == 2
    assert "--input least=least.npy" in lacking.stderr


def test_a_folder_that_cannot_be_made_is_refused_before_anything_runs(program: Path) -> None:
    inputs = [word for name in "xy" for word in ("--input", f"{name}={program.parent / name}.npy")]
    done = tacit("run", program, "--arg", "100", "--simulate", *inputs, "--output", program / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert "out can't be made" in done.stderr


def test_a_plan_is_told_and_saved(program: Path) -> None:
    saved = program.with_suffix(".plan")
    told = answer("plan", program, "--arg", "100", "--save", saved)
    assert (told["name"], [output["to"] for output in told["outputs"]]) == ("dot", ["all", "bob"])
    assert answer("plan", saved) == told
    inputs = [word for name in "xy" for word in ("--input", f"{name}={program.parent / name}.npy")]
    assert answer("run", saved, "--simulate", *inputs)["outputs"][0]["value"] == 76


def test_a_plan_is_told_with_the_quotes_of_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "raised.py"
    file.write_text(
        "import tacit\n"
        "@tacit.function\n"
        "def raised(x=tacit.secret('alice', range=(0, 9))):\n"
        '    return tacit.reveal(x + dict(by=3)["by"])\n'
    )
    assert 'dict(by=3)["by"]' in tacit("plan", file).stdout


def test_results_keep_the_keys_of_dicts(tmp_path: Path) -> None:
    file = tmp_path / "survey.py"
    file.write_text(
        "import tacit\n@tacit.function\n"
        "def survey(x=tacit.secret('alice', shape=(3,), range=(0, 9))):\n"
        "    return {'mean': tacit.reveal(x.mean()), 'parts': [tacit.reveal(x[0], to='alice'), 7]}\n"
    )
    np.save(tmp_path / "x.npy", np.array([1, 2, 3]))
    run: list[str | Path] = ["run", file, "--simulate", "--input", f"x={tmp_path / 'x.npy'}"]
    assert tacit(*run).stdout == "mean, to all:\n2.\nparts[0], to alice:\n1.\n"
    assert [output["name"] for output in answer(*run)["outputs"]] == ["mean", "parts[0]"]
    text = tacit("plan", file).stdout
    assert "input %0 x of alice: fixed(16) [3], 0 to 9" in text
    assert "survey.py:4: x.mean()" in text
    assert "output 1: fixed(16) [] to alice (parts[0])" in text


def test_a_function_without_declarations_is_refused_in_words(tmp_path: Path) -> None:
    file = tmp_path / "survey.py"
    file.write_text("import tacit\n@tacit.function\ndef survey(x, y=3):\n    return tacit.reveal(x)\n")
    done = tacit("run", file, "--simulate")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing is declared for x of survey\n  hint: add a line `plan = survey.trace(x=" in done.stderr


def test_a_plan_that_a_protocol_does_not_admit(program: Path) -> None:
    inputs = [word for name in "xy" for word in ("--input", f"{name}={program.parent / name}.npy")]
    done = tacit("run", program, "--simulate", "--arg", "100", "--protocol", "astra-fair", *inputs)
    sentence = (
        "reveals outputs to parties alone, and this plan reveals one to a client; reveal it to the parties"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    bill = answer("cost", program, "--arg", "100")
    assert sentence in bill["refused"]["astra-fair"]


def test_results_that_nobody_reads(program: Path) -> None:
    command = [sys.executable, "-m", "tacit", "cost", str(program), "--arg", "100"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 141


def test_mistakes_in_a_program_are_shown_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("\n1 / 0\n")
    done = tacit("run", file, "--simulate")
    assert done.returncode == 2
    assert "bad.py" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert tacit("run", tmp_path / "missing.py", "--simulate").returncode == 2


def test_the_version_is_that_of_the_package() -> None:
    assert tacit("--version").stdout == f"tacit {__version__}\n"


@pytest.mark.parametrize("transport", ["memory", "tcp", "tls"])
def test_bench(transport: str) -> None:
    figures = answer("bench", "mul", "--quick", "--transport", transport)
    assert figures["rounds"] == 1
    assert figures["count"] == 1000


def test_bench_start() -> None:
    assert answer("bench", "start", "--quick")["seconds"] > 0


def test_the_shell_completes_commands() -> None:
    script = tacit("completions", "bash")
    assert script.returncode == 0, script.stderr
    # What the shell would offer after `tacit co`.
    asked = (
        script.stdout + '\nCOMP_WORDS=(tacit co); COMP_CWORD=1; _tacit tacit co tacit; echo "${COMPREPLY[@]}"'
    )
    offered = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert {"cost", "completions"} <= set(offered.stdout.split())
