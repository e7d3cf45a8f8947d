"""`fitted` and `held_out`: linear readers of cues, overlaps and words, with shipped weights.

`python -m attune_episodes.reading.fit` makes the weights. Reading needs only NumPy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from attune_episodes.reading.claims import claims_in
from attune_episodes.reading.evidence import evidence
from attune_episodes.reading.exchange import Exchange
from attune_episodes.reading.features import features, word_features
from attune_episodes.reading.guard import guarded_reading
from attune_episodes.reading.reading import Reading

WEIGHTS: Final = Path(__file__).parent / "weights"
WORD: Final = 0.6
"""The feature value of a word in the reply; below 1, so that words count less than cues."""
STEP: Final = 0.001
"""Weights are stored as integer multiples of this."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one linear reader."""

    features: Sequence[str]
    """The names of the features, cues and overlaps first."""
    words: int
    """How many of the last features are words and pairs of words."""
    questions: Sequence[str]
    values: npt.NDArray[np.float32]
    """One row per feature and a last one for the intercept, one column per question; in calibrated logits."""
    cuts: Mapping[str, float]
    """Question -> the probability above which it is read as yes."""
    paid: Sequence[str]
    """The questions that are read reliably enough to be rewarded or penalised."""

    @property
    def index(self) -> dict[str, int]:
        """Feature -> its row; the names of words begin with "w "."""
        return {name: row for row, name in enumerate(self.features)}

    def to_text(self) -> str:
        """The weights as JSON; equal weights give equal text."""
        whole = np.rint(self.values / STEP).astype(int)
        document = {
            "questions": list(self.questions),
            "paid": list(self.paid),
            "cuts": {question: round(cut, 4) for question, cut in self.cuts.items()},
            "words": self.words,
            "features": list(self.features),
            "weights": {q: whole[:, column].tolist() for column, q in enumerate(self.questions)},
        }
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"

    @staticmethod
    def of_text(text: str) -> Weights:
        """Read what `to_text` wrote."""
        raw: dict[str, Any] = json.loads(text)
        columns = [raw["weights"][question] for question in raw["questions"]]
        values = (np.array(columns, dtype=np.float32) * STEP).T.astype(np.float32)
        return Weights(
            raw["features"],
            raw["words"],
            raw["questions"],
            np.ascontiguousarray(values),
            raw["cuts"],
            raw["paid"],
        )


@dataclass(frozen=True)
class FittedReader:
    """A reader with a linear model for each question.

    Args:
        name: the name of the reader.
        weights: the weights it reads with.
    """

    name: str
    weights: Weights
    _index: Mapping[str, int] = field(init=False, repr=False)
    _words: Mapping[tuple[str, ...], int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Build the index of rows once."""
        index = self.weights.index
        words = {tuple(name.split()[1:]): row for name, row in index.items() if name.startswith("w ")}
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "_words", words)

    @staticmethod
    def shipped(name: str) -> FittedReader:
        """The reader with the weights shipped under that name."""
        return FittedReader(name, Weights.of_text((WEIGHTS / f"{name}.json").read_text("utf-8")))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the indices."""
        return FittedReader, (self.name, self.weights)

    @property
    def questions(self) -> frozenset[str]:
        """The questions that it reads reliably enough to be rewarded or penalised."""
        return frozenset(self.weights.paid)

    def read(self, exchange: Exchange) -> Reading:
        """Read the reply of an exchange, answering every question that was fitted."""
        found = guarded_reading(exchange, self.unguarded)
        spans = {
            question: evidence(exchange, question)
            for question, probability in found.items()
            if probability > self.weights.cuts[question]
        }
        return Reading(
            found,
            {question: those for question, those in spans.items() if those},
            claims_in(exchange.reply),
            self.weights.cuts,
        )

    def unguarded(self, exchange: Exchange) -> dict[str, float]:
        """Question -> calibrated probability, without the guard."""
        return dict(zip(self.weights.questions, squash(self.logits(exchange)).tolist(), strict=True))

    def logits(self, exchange: Exchange) -> npt.NDArray[np.float32]:
        """The logit of each question."""
        index, known, values = self._index, self._words, self.weights.values
        found = [
            (row, value) for name, value in features(exchange).items() if (row := index.get(name)) is not None
        ]
        rows = [row for row, _ in found]
        total = values[-1] + np.array([value for _, value in found], dtype=np.float32) @ values[rows]
        said = [row for word in word_features(exchange) if (row := known.get(word)) is not None]
        words: npt.NDArray[np.float32] = WORD * values[said].sum(0)
        return np.asarray(total + words, dtype=np.float32)


def squash(logits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The logistic function 1 / (1 + e^-x), without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * logits))
