"""The client: shares its queries among the servers, and alone learns the predictions.

    python -m tacit.demo.client FOLDER MODEL...

FOLDER holds the client's `parties.toml` and key, and for each model NAME.npz with the queries, in the public
units of their features. For each model it tells the predictions.
"""

from __future__ import annotations

import numpy as np

import tacit
from tacit.demo.models import MODELS
from tacit.demo.programs import plan_of
from tacit.demo.role import play, tell


def ask(folder: str, *models: str) -> None:
    """Asks for predictions in one run for each model."""
    with tacit.connect(f"{folder}/parties.toml") as run:
        for model in models:
            with np.load(f"{folder}/{model}.npz") as mine:
                predictions = run(plan_of(MODELS[model]), queries=mine["queries"])
            tell(model=model, predictions=predictions.tolist())


if __name__ == "__main__":
    play(ask)
