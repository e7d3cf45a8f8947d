"""A batch of completions, each scored once, however many reward functions look at it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_episodes.trainers.completion import text_of
from attune_episodes.training.scoring import paid_by, score_truth
from attune_rewards.reward import OK, Score

LogMetric = Callable[[str, float], Any]
LogExtra = Callable[[str, list[Any]], Any]
NO_TRUTH: Final = "keep that column of training_dataset(…)"


class PartScore(NamedTuple):
    """What one completion earns on one part."""

    row: int
    """Its place in the batch."""
    score: float
    """In [0, 1]."""
    share: float
    """What the part has of the row's reward."""
    null: float
    """What it is measured from."""


class Batch:
    """Completions and truths with their scores, None where a row of another task has no truth."""

    def __init__(self, texts: tuple[str, ...], truths: tuple[str | None, ...]) -> None:
        self.texts, self.truths = texts, truths
        self.scores: list[Score | None] = []
        self.by_part: dict[str, list[PartScore]] = {}
        """Part -> the completions that it concerns."""
        self.nulls: set[tuple[str, float]] = set()
        """(part, null) of all rows: what the reward functions must agree with."""
        self._logged_by: set[str] = set()
        """The functions that have come to the log since it was last written."""
        self._lock = Lock()
        for row, (truth, text) in enumerate(zip(truths, texts, strict=True)):
            if truth is None:
                self.scores.append(None)
                continue
            score = score_truth(truth, text)
            self.scores.append(score)
            for name, (share, null) in paid_by(truth).items():
                self.by_part.setdefault(name, []).append(PartScore(row, score.parts[name], share, null))
                self.nulls.add((name, null))

    def log(self, function: str, metric: LogMetric | None, extra: LogExtra | None) -> None:
        """Log the batch once: by its first function, and once more when one comes again."""
        with self._lock:
            again, first = function in self._logged_by, not self._logged_by
            if again:
                self._logged_by.clear()
            self._logged_by.add(function)
        if not (first or again):
            return
        if extra is not None:
            extra("attune_reason", [None if score is None else score.reason for score in self.scores])
        if metric is None:
            return
        reasons = [score.reason for score in self.scores if score is not None]
        if len(reasons) < len(self.scores):
            metric("attune/unscored", 1 - len(reasons) / len(self.scores))
        if reasons:
            metric("attune/parse_rate", reasons.count(OK) / len(reasons))
        for name, found in self.by_part.items():
            metric(f"attune/{name}", math.fsum(one.score for one in found) / len(found))


class BatchScorer:
    """Scores a batch once for all reward functions that share this.

    A trainer calls its reward functions one after the other on the same batch, so the last batch is kept. It
    is known by what it holds, not by where it lies in memory. Safe in threads; pickles without the batch.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: Batch | None = None

    def __reduce__(self) -> tuple[type[BatchScorer], tuple[()]]:
        return BatchScorer, ()

    def __call__(self, completions: object, truths: object, *, mixed: bool) -> Batch:
        """The scores of a batch.

        Args:
            completions: a list of completions, as `text_of` takes them.
            truths: the column `truth`, as long as the completions.
            mixed: rows without a truth are another task's: not scored. Otherwise they are refused.

        Raises TypeError, SettingsError or DataError for what the trainer got wrong; nothing that a model
        writes raises.
        """
        texts = tuple(map(text_of, _listed("completions", completions)))
        if truths is None:
            raise DataError(Problem("rows", "truth", "no such column", "the truth of each row", NO_TRUTH))
        given = tuple(_listed("truth", truths))
        if len(given) != len(texts):
            raise SettingsError(f"{len(texts)} completions, but {len(given)} truths: one for each is needed")
        with self._lock:  # trainers may call in threads: the second waits for the scores of the first
            last = self._last
            # equal texts are nearly always the very same objects, so this costs next to nothing
            if last is None or last.texts != texts or last.truths != given:
                for truth in given:
                    check_kind(truth, mixed=mixed)
                self._last = last = Batch(texts, given)
            return last


def check_kind(truth: object, *, mixed: bool) -> None:
    """Raises DataError where a truth is no text (nor missing, if `mixed`)."""
    if not (isinstance(truth, str) or (truth is None and mixed)):
        advice = f"{NO_TRUTH}; rows of another task beside ours are taken with mixed=True"
        raise DataError(Problem("rows", "truth", show(truth), "the JSON text that the row came with", advice))


def _listed(name: str, values: object) -> Sequence[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(
            f"{name} is {show(values)} ({type(values).__name__}); expected a list, one for each prompt"
        )
    return values if isinstance(values, (list, tuple)) else list(values)
