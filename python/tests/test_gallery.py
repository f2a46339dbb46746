"""Each script of the gallery gives what NumPy, pandas or scikit-learn do, and draws it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
SCRIPTS = sorted(file for file in GALLERY.glob("*.py") if file.stem != "picture")


def close(found: Any, clear: Any, tolerance: float) -> bool:
    if isinstance(clear, dict):
        assert found.keys() == clear.keys()
        return all(close(found[key], clear[key], tolerance) for key in clear)
    return np.allclose(found, clear, rtol=0, atol=tolerance)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_what_is_true(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    picture = tmp_path / "picture.svg"
    # matplotlib takes longer than all else.
    draws = pytestconfig.getoption("--long")
    monkeypatch.setattr(sys, "argv", [str(script), *(["--plot", str(picture)] if draws else [])])
    monkeypatch.syspath_prepend(GALLERY)
    shown = runpy.run_path(str(script), run_name="__main__")
    assert close(shown["found"], shown["clear"], shown["tolerance"])
    assert picture.exists() == draws


def test_the_gallery_is_listed() -> None:
    assert all(f"[{script.name}]({script.name})" in (GALLERY / "README.md").read_text() for script in SCRIPTS)
