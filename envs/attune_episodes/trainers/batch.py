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
        self._seen_by: list[tuple[object, set[str]]] = []
        """Where it was logged, and the functions that have come to it with that."""
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
        """Logs the batch to each trainer once: by its first function, and anew when one comes again."""
        with _lock:
            if not self._is_first(function, (metric, extra)):
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

    def _is_first(self, function: str, trainer: object) -> bool:
        for known, functions in self._seen_by:  # one or two; compared, as what a trainer gives may not hash
            if known == trainer:
                again = function in functions
                if again:
                    functions.clear()
                functions.add(function)
                return again
        self._seen_by.append((trainer, {function}))
        return True


def score_batch(completions: object, truths: object, *, mixed: bool) -> Batch:
    """The scores of a batch.

    A trainer calls its reward functions one after the other on the same batch: the last one is kept, so
    that only the first call scores. It is known by what it holds, not by where it lies in memory.

    Args:
        completions: a list of completions, as `text_of` takes them.
        truths: the column `truth`, as long as the completions.
        mixed: rows without a truth are another task's: not scored. Otherwise they are refused.

    Raises TypeError, SettingsError or DataError for what the trainer got wrong; nothing that a model
    writes raises.
    """
    global _last
    texts = tuple(map(text_of, _listed("completions", completions)))
    if truths is None:
        raise DataError(Problem("rows", "truth", "no such column", "the truth of each row", NO_TRUTH))
    given = tuple(_listed("truth", truths))
    if len(given) != len(texts):
        raise SettingsError(f"{len(texts)} completions, but {len(given)} truths: one for each is needed")
    with _lock:  # trainers may call in threads: the second waits for the scores of the first
        last = _last
        # equal texts are nearly always the very same objects, so this costs next to nothing
        if last is not None and last.texts == texts and last.truths == given and (mixed or None not in given):
            return last
        for truth in given:
            check_kind(truth, mixed=mixed)
        _last = made = Batch(texts, given)
        return made


_last: Batch | None = None
_lock = Lock()
"""Of the module, so that functions hold none and stay picklable."""


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
