"""Each script of the gallery gives what NumPy, pandas or scikit-learn do, and draws it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
SCRIPTS = sorted(file for file in GALLERY.glob("*.py") if file.stem != "picture")


def close(found: Any, clear: Any, tolerance: Any) -> bool:
    """Whether two results are the same to a tolerance, which a dict may give for each key."""
    if isinstance(clear, dict):
        assert found.keys() == clear.keys()
        of = tolerance if isinstance(tolerance, dict) else dict.fromkeys(clear, tolerance)
        return all(close(found[key], clear[key], of[key]) for key in clear)
    return np.allclose(found, clear, rtol=0, atol=tolerance)


def altered(found: Any) -> Iterator[Any]:
    """A result in which one number is wrong, for each of its numbers."""
    if isinstance(found, dict):
        for key in found:
            yield from (found | {key: wrong} for wrong in altered(found[key]))
    else:
        for place in np.ndindex(np.shape(found)):
            wrong = np.array(found, dtype=float)
            wrong[place] += 0.01 + 0.05 * abs(wrong[place])
            yield wrong


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_what_is_true(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    picture = tmp_path / "picture.svg"
    # matplotlib takes longer than all else.
    draws = pytestconfig.getoption("--long") or script.stem == "market_share"
    monkeypatch.setattr(sys, "argv", [str(script), *(["--plot", str(picture)] if draws else [])])
    monkeypatch.syspath_prepend(GALLERY)
    shown = runpy.run_path(str(script), run_name="__main__")
    assert close(shown["found"], shown["clear"], shown["tolerance"])
    assert not any(close(wrong, shown["clear"], shown["tolerance"]) for wrong in altered(shown["found"]))
    assert picture.exists() == draws


def test_the_gallery_is_listed() -> None:
    assert all(f"[{script.name}]({script.name})" in (GALLERY / "README.md").read_text() for script in SCRIPTS)
