"""Settings of all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis

if TYPE_CHECKING:
    import pytest

# A failing example prints the line that runs it again. Quick runs draw the same examples each time, so that a
# commit that passed passes again; long ones draw new ones.
USUAL = hypothesis.settings(deadline=None, print_blob=True)
hypothesis.settings.register_profile("quick", USUAL, max_examples=12, derandomize=True)
hypothesis.settings.register_profile("long", USUAL, max_examples=1000)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --long."""
    parser.addoption("--long", action="store_true", help="try many more random examples")


def pytest_configure(config: pytest.Config) -> None:
    """Chooses how many examples are tried."""
    hypothesis.settings.load_profile("long" if config.getoption("--long") else "quick")
