"""Private predictions on real data, by five processes on this machine: the command `tacit demo`.

A model owner has models that scikit-learn trained in the clear. A client has queries. Neither shows the other
anything: three servers, which don't trust one another, compute the predictions on secret shares, and the
client alone learns them. All links are TLS with pinned keys on both sides.

To read it, start with `models` (what everybody knows), then `server`, `owner` and `client` (who does what;
each a script on the package's public interface alone). What is computed is `tacit.learn`'s. The rest sets the
stage: `training` makes model and queries, `processes` starts and ends the five, `results` compares what the
client learnt with the model in the clear, `plot` draws what it cost, and `command` puts it all together.
"""

from __future__ import annotations


def main(json: bool = False) -> int:
    """Runs the demo; prints a table, or with `json` one JSON object, and draws `tacit-demo.svg`.

    Returns:
        The exit code: 0 if all went well; 1 if a process failed, a prediction differs by more than is
        promised, or a run took other bytes or rounds than predicted; 2 if a package that the demo needs is
        missing or the drawing can't be written; 130 after Ctrl-C.
    """
    from tacit.demo import command

    return command.main(json)
