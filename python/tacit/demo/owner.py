"""The model owner: shares its models among the servers, and learns nothing.

    python -m tacit.demo.owner FOLDER MODEL...

FOLDER holds the owner's `parties.toml` and key, and for each model NAME.npz with its parameters.
"""

from __future__ import annotations

import numpy as np

import tacit
from tacit.demo.models import MODELS
from tacit.demo.role import play


def own(folder: str, *models: str) -> None:
    """Gives each model to one run."""
    with tacit.connect(f"{folder}/parties.toml") as run:
        for model in models:
            with np.load(f"{folder}/{model}.npz") as trained:
                run(MODELS[model].plan, **trained)


if __name__ == "__main__":
    play(own)
