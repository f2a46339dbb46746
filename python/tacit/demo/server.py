"""One of three servers: computes predictions on shares of models and queries, and learns neither.

    python -m tacit.demo.server FOLDER MODEL...

FOLDER holds the server's `parties.toml` and key. All else that it knows is public. For each model it tells
what the run took.
"""

from __future__ import annotations

import tacit
from tacit.demo.models import MODELS
from tacit.demo.role import play, tell


def serve(folder: str, *models: str) -> None:
    """Takes part in one run for each model."""
    with tacit.connect(f"{folder}/parties.toml") as run:
        for model in models:
            run(MODELS[model].plan)
            if run.report:
                took = run.report
                tell(model=model, bytes=sum(took.bytes.values()), rounds=took.rounds, seconds=took.seconds)


if __name__ == "__main__":
    play(serve)
