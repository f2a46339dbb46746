"""The client: shares its queries among the servers, and alone learns the predictions.

    python -m tacit.demo.client FOLDER MODEL...

FOLDER holds the client's `parties.toml` and key, and for each model NAME.npz with the queries. For each model
it tells the predictions.
"""

from __future__ import annotations

import numpy as np

import tacit
from tacit.demo.models import MODELS
from tacit.demo.role import play, tell


def ask(folder: str, *models: str) -> None:
    """Asks for predictions in one run for each model."""
    with tacit.connect(f"{folder}/parties.toml") as run:
        for name in models:
            model = MODELS[name]
            with np.load(f"{folder}/{name}.npz") as mine:
                queries = model.predictor.queries(mine["queries"])
            predictions = model.predictor.decode(run(model.plan, queries=queries))
            tell(model=name, predictions=predictions.tolist())


if __name__ == "__main__":
    play(ask)
