"""`fitted`: logistic regressions on cues, overlaps and words, with shipped weights.

`python -m tools.reading.fit` makes the weights. Reading needs only NumPy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from attune_rewards.predictions import YesNo
from attune_rewards.reading.exchange import Exchange
from attune_rewards.reading.features import features
from attune_rewards.reading.own import own_part

WEIGHTS: Final = Path(__file__).parent / "weights" / "fitted.json"
STEP: Final = 0.001
"""Weights are stored as integer multiples of this."""


class FittedReader:
    """A reader with a linear model for each question: it answers yes if the logit is above 0.

    Args:
        names: the features, in the order of the weights.
        weights: question -> its weights, and the intercept as the last one.
    """

    name: Final = "fitted"

    def __init__(self, names: Sequence[str], weights: Mapping[str, npt.NDArray[Any]]) -> None:
        self.weights = weights
        self._rows = {name: row for row, name in enumerate(names)}
        self._values = np.array(list(weights.values()), dtype=np.float32).T

    @classmethod
    def shipped(cls) -> FittedReader:
        """The reader with the shipped weights."""
        document = json.loads(WEIGHTS.read_text("utf-8"))
        return cls(document["features"], {q: STEP * np.array(w) for q, w in document["weights"].items()})

    def to_text(self) -> str:
        """The features and weights as JSON, as `shipped` reads them."""
        whole = {q: np.rint(w / STEP).astype(int).tolist() for q, w in self.weights.items()}
        document = {"features": list(self._rows), "weights": whole}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"

    @property
    def questions(self) -> frozenset[str]:
        """The questions that it reads."""
        return frozenset(self.weights)

    def read(self, exchange: Exchange) -> dict[str, YesNo]:
        """The answers about the reply of an exchange; a reply without words of its own does nothing."""
        own = own_part(exchange)
        yes = self.logits(own) > 0 if own else np.zeros(len(self.weights), dtype=bool)
        return {question: "yes" if said else "no" for question, said in zip(self.weights, yes, strict=True)}

    def logits(self, exchange: Exchange) -> npt.NDArray[np.float32]:
        """The logit of each question."""
        found = features(exchange)
        rows = {self._rows[name]: value for name, value in found.items() if name in self._rows}
        values = np.array(list(rows.values()), dtype=np.float32) @ self._values[list(rows)]
        return np.asarray(values + self._values[-1], dtype=np.float32)
