"""What is said of the package where it is installed."""

from __future__ import annotations

import email.parser
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import tacit

ROOT = Path(__file__).parents[2]


def test_a_wheel_names_its_version_and_its_licence_and_has_it_in_it(tmp_path: Path) -> None:
    # What `maturin build` writes into a wheel, without what is compiled.
    command = [str(Path(sys.executable).parent / "maturin"), "pep517", "write-dist-info"]
    options = ["--metadata-directory", str(tmp_path), "--interpreter", sys.executable]
    done = subprocess.run(
        [*command, *options],
        cwd=ROOT / "python",
        env={**os.environ, "CARGO_NET_OFFLINE": "true"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (written,) = tmp_path.iterdir()
    told = email.parser.Parser().parsestr((written / "METADATA").read_text())
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    assert told["Version"] == workspace["package"]["version"] == tacit.__version__
    assert told["License-Expression"] == "Apache-2.0"
    assert told.get_all("License-File") == ["LICENSE"]
    assert (written / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
