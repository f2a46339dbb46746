"""The tutorial's blocks run in order, and so do the examples."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats  # type: ignore[import-untyped]

import tacit
from tacit import _numpy
from tests.test_deployment import free_ports

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    document = (ROOT / "docs" / "tutorial.md").read_text()
    document = document.replace("7700", str(free_ports(3)))
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for language, file, text in BLOCK.findall(document):
        line = document[: document.index(text)].count("\n")
        if file:
            Path(file).write_text(text)
        elif language == "python":
            # Blank lines before it give messages the document's line numbers.
            exec(compile("\n" * line + text, "tutorial.md", "exec"), names)
        else:
            assert language == "sh"
            done = subprocess.run(
                ["bash", "-euc", text], capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == 0, done.stderr
            assert not done.stderr
            printed += done.stdout
    assert "{'mean': 35.0, 'highest': None}" in printed
    assert "{'mean': 35.0, 'highest': 60.0}" in printed


def test_the_page_on_tables_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    document = (ROOT / "docs" / "tables.md").read_text()
    ((language, _, text),) = BLOCK.findall(document)
    assert language == "python"
    names: dict[str, Any] = {}
    exec(compile(text, "tables.md", "exec"), names)
    assert "tables.md:17, clause:2" in capsys.readouterr().out
    assert names["frame"].fillna("-").to_numpy().tolist() == [["east", 3], ["-", 5]]


def test_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = [
        text for language, _, text in BLOCK.findall((ROOT / "README.md").read_text()) if language == "python"
    ]
    assert blocks
    for text in blocks:
        exec(compile(text, "README.md", "exec"), {"__name__": "__main__"})
    assert "replicated" in capsys.readouterr().out


def test_the_readmes_commands_run(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    if not pytestconfig.getoption("--long"):
        pytest.skip("some seconds")
    document = (ROOT / "README.md").read_text().replace("7700", str(free_ports(3)))
    block = next(text for language, _, text in BLOCK.findall(document) if language == "sh")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    first, *rest = block.splitlines()
    assert first.startswith("make build ")
    done = subprocess.run(
        ["bash", "-euc", "\n".join(rest)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("output 0, to all:\n749\noutput 1, to alice:\n249500.\n")
    assert (tmp_path / "P2.txt").read_text() == "output 0, to all:\n749\n"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_examples_compute_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "auction.py"), run_name="__main__")
    assert capsys.readouterr().out == "ben wins and pays 1250\n"
    runpy.run_path(str(ROOT / "examples" / "average_salary.py"), run_name="__main__")
    average, *_, clear = capsys.readouterr().out.splitlines()
    assert average.split()[-1] == clear.split()[-1]
    shown = runpy.run_path(str(ROOT / "examples" / "set_statistics.py"), run_name="__main__")
    common = set(shown["east"]) & set(shown["west"])
    assert shown["count"] == len(common)
    assert shown["total"] == sum(shown["ages"][np.isin(shown["east"], list(common))])
    capsys.readouterr()
    runpy.run_path(str(ROOT / "examples" / "private_prediction.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith("100.0% as in the clear")
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["digits_cnn.py"])
        asked = runpy.run_path(str(ROOT / "examples" / "digits_cnn.py"), run_name="__main__")
    told, clear = (np.sum(asked[which] == asked["truth"]) for which in ["told", "clear"])
    assert abs(told - clear) <= 1
    assert f"{told} of 360 right in secret, {clear} in the clear" in capsys.readouterr().out
    learnt = runpy.run_path(str(ROOT / "examples" / "logistic_regression.py"), run_name="__main__")
    assert np.mean((learnt["x"] @ learnt["weights"] > 0) == learnt["y"]) > 0.9


def test_the_auction_has_the_first_of_the_highest_bids_win_and_pay_the_next() -> None:
    vickrey = runpy.run_path(str(ROOT / "examples" / "vickrey.py"))
    ten = [4, 8, 15, 16, 23, 42, 7, 42, 0, 3]
    some = [[5, 5], [0, 0, 0], [3, 9, 9, 1, 9], [1, 2, 7, 4, 7, 7, 0], [0, vickrey["HIGHEST"]], ten]
    many = [list(np.random.default_rng(count).integers(0, 30, count)) for count in range(2, 40)]
    for protocol, auctions in [("mascot", some), ("replicated", some + many)]:
        for bids in auctions:
            winner, price, report = vickrey["run_auction"](bids, protocol)
            assert (winner, price) == (np.argmax(bids), np.sort(bids)[-2]), (protocol, bids)
            assert "bidder-0" in report.bytes


def test_the_table_of_numpys_surface_names_what_there_is() -> None:
    page = (ROOT / "docs" / "numpy.md").read_text()
    table = page[page.index("## What works") : page.index("## How protocols sort")]
    cells = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    spans = [span for cell in cells for span in re.findall(r"`([^`]+)`", cell)]
    names = [match[1] for span in spans if (match := re.fullmatch(r"(?:np\.|tacit\.)?([a-z_0-9.]+)", span))]
    known = {
        *_numpy._UFUNCS,
        *_numpy._FUNCTIONS,
        *dir(tacit.Tensor),
        *dir(tacit),
        "abs",
        "accumulate",
        "int",
        "float",
    }
    assert len(names) > 90
    assert not [name for name in names if name.split(".")[-1] not in known]


def test_what_is_refused_is_and_what_to_write_instead_works() -> None:
    page = (ROOT / "docs" / "numpy.md").read_text()
    table = page[page.index("| NumPy | instead |") :].strip().splitlines()[2:]
    tried = {"refused": 0, "instead": 0}

    def traced(code: str, x: Any, m: Any, k: Any, w: Any) -> Any:
        y, mask = x[::-1].copy(), x > 0
        names = {"np": np, "tacit": tacit, "x": x, "y": y, "m": m, "k": k, "l": k[::-1], "w": w}
        names |= {"i": k[0], "j": k[1], "a": np.array([0, 2]), "mask": mask, "scipy": scipy}
        exec(code + (" pass" if code.endswith(":") else ""), names)
        return tacit.reveal(names["x"])

    declared = [
        tacit.secret("alice", shape=3, range=(-9, 9)),
        tacit.secret("alice", shape=(3, 3), range=(-9, 9)),
        tacit.secret("alice", shape=3, dtype=tacit.int8, range=(0, 2)),
        tacit.secret("alice", shape=3),
    ]
    for line in table:
        refused, instead = line.strip("| ").split(" | ")
        # What is after "with" and "where" says which names are meant.
        for code in re.findall(r"`([^`]+)`", re.split(" with | where ", refused)[0]):
            with pytest.raises(tacit.ProgramError) as error:
                tacit.function(traced).trace(code, *declared)
            assert error.value.hint, code
            tried["refused"] += 1
        for code in re.findall(r"`([^`]+)`", instead):
            tacit.function(traced).trace(code, *declared)
            tried["instead"] += 1
    assert len(table) >= 22
    assert min(tried.values()) >= 28, tried
