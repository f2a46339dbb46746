"""The model owner: shares its models among the servers, and learns nothing.

    python -m tacit.demo.owner FOLDER MODEL...

FOLDER holds the owner's `parties.toml` and key, and for each model NAME.npz with its weights and bias.
"""

from __future__ import annotations

import numpy as np

import tacit
from tacit.demo.models import MODELS
from tacit.demo.programs import plan_of
from tacit.demo.role import play


def own(folder: str, *models: str) -> None:
    """Gives each model to one run."""
    with tacit.connect(f"{folder}/parties.toml") as run:
        for model in models:
            with np.load(f"{folder}/{model}.npz") as trained:
                run(plan_of(MODELS[model]), weights=trained["weights"], bias=trained["bias"])


if __name__ == "__main__":
    play(own)
