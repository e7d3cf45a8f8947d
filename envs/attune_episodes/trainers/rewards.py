"""`reward_functions` and `row_reward`: the reward of training rows, as trainers call it.

The signature is TRL's: `function(prompts, completions, completion_ids, **columns)` gives one number (or None)
for each completion. GRPO, RLOO and every trainer with the same convention takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from typing import Any

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_episodes.score import reward_spec
from attune_episodes.trainers.scoring import Shares, checked_truth, score_truth, shares_of, text_of
from attune_episodes.trainers.truth import PARTS, check_rows_carry
from attune_rewards.reward import OK, Score, part_means
from attune_rewards.spec import RewardSpec, above_baseline

LogMetric = Callable[[str, float], Any]
LogExtra = Callable[[str, list[Any]], Any]
Batch = tuple[tuple[Score | None, Shares], ...]
"""Of each row its score and its shares; None and none where the row is another task's."""


@dataclass(frozen=True)
class PartReward:
    """One part of a reward as a reward function: picklable, without state, safe in threads."""

    part: str
    """Name of the part, such as `emotion_f1`."""
    weight: float
    """The factor by which the trainer multiplies its values (`reward_weights`)."""
    reward: str
    """Name of the reward that it belongs to."""
    baselines: Mapping[str, float] = field(hash=False)
    """All parts of that reward, and what each is measured from: 0 but under rewards like `skill`."""
    logs: bool = False
    """Whether it logs the batch: one of a reward's functions does."""
    floor: float | None = None
    """Lowest value that a part with a baseline pays, under rewards like `skill_bounded`."""

    @property
    def __name__(self) -> str:
        """The part's name: trainers log the values under it."""
        return self.part

    def __call__(
        self,
        prompts: object = None,
        completions: object = None,
        completion_ids: object = None,
        *,
        truth: object = None,
        log_metric: LogMetric | None = None,
        log_extra: LogExtra | None = None,
        **columns: object,
    ) -> list[float | None]:
        """Score a batch on this part.

        Args:
            prompts: not used.
            completions: texts, or lists of chat messages (the assistant's last counts).
            completion_ids: not used.
            truth: the column `truth` of the rows; None in rows of another task.
            log_metric: called with `attune/parse_rate` and the mean score of each part, in [0, 1].
            log_extra: called with `attune_reason`: `ok` or `unparsed:<code>` of each completion.
            columns: every other column; not used.

        Returns:
            A number for each completion: share · score / `weight`, the score measured from its baseline. The
            share is what the part has of the row's reward, so that Σ weight · value over all parts is that
            reward. None where the row's stage does not ask for the part, its annotations do not hold it, or
            the row has no truth.

        Raises TypeError, SettingsError or DataError for rows or completions that cannot be scored.
        """
        batch = _scored(truth, completions)
        if self.logs:
            for _, shares in batch:
                check_same_reward(shares, self.reward, self.baselines)
            _log(batch, log_metric, log_extra)
        values: list[float | None] = []
        for score, shares in batch:
            value = None
            if score is not None and self.part in shares:
                share, baseline = shares[self.part]
                value = above_baseline(score.parts[self.part], baseline, self.floor) * share / self.weight
            values.append(value)
        return values


def row_reward(
    prompts: object = None,
    completions: object = None,
    completion_ids: object = None,
    *,
    truth: object = None,
    log_metric: LogMetric | None = None,
    log_extra: LogExtra | None = None,
    **columns: object,
) -> list[float | None]:
    """Score a batch by each row's whole reward, the very value of `score_row`.

    For trainers that take a single reward function. Arguments and errors as for `PartReward`; whatever
    reward the rows were made with is theirs.
    """
    batch = _scored(truth, completions)
    _log(batch, log_metric, log_extra)
    return [None if score is None else score.value for score, _ in batch]


def _scored(truths: object, completions: object) -> Batch:
    """The scores of a batch; None where the row is another task's."""
    if truths is None:
        checked_truth(None)
    replies, rows = _listed("completions", completions), _listed("truth", truths)
    if len(rows) != len(replies):
        raise SettingsError(f"{len(replies)} completions, but {len(rows)} truths: one for each is needed")
    texts = tuple("" if reply is None else text_of(reply) for reply in replies)
    return _score_batch(tuple(None if row is None else checked_truth(row) for row in rows), texts)


@lru_cache(maxsize=4)  # a trainer calls one reward function after the other on the same batch
def _score_batch(truths: tuple[str | None, ...], texts: tuple[str, ...]) -> Batch:
    return tuple(
        (None, {}) if truth is None else (score_truth(truth, text), shares_of(truth))
        for truth, text in zip(truths, texts, strict=True)
    )


def _listed(name: str, values: object) -> Sequence[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(
            f"{name} is {show(values)} ({type(values).__name__}); expected a list, one for each prompt"
        )
    return list(values)


def _log(batch: Batch, metric: LogMetric | None, extra: LogExtra | None) -> None:
    scores = [score for score, _ in batch]
    if extra is not None:
        extra("attune_reason", [None if score is None else score.reason for score in scores])
    ours = [score for score in scores if score is not None]
    if metric is None:
        return
    if len(ours) < len(scores):
        metric("attune/unscored", 1 - len(ours) / len(scores))
    if ours:
        metric("attune/parse_rate", sum(score.reason == OK for score in ours) / len(ours))
    for name, mean in part_means(ours).items():
        metric(f"attune/{name}", mean)


def reward_functions(spec: RewardSpec | str = "skill", rows: object = None) -> list[PartReward]:
    """Make one reward function for each part of a reward; Σ weight · value is the row's reward, to 1e-12.

    Give the trainer the functions and `[function.weight for function in functions]`. A part's weight is
    what it has of the reward of a row of its stage (`format`: of the whole reward).

    Args:
        spec: the reward that the rows were made with, or the name of a preset.
        rows: the rows to train on, to be checked now rather than in the middle of the training.

    Raises:
        UnknownNameError: no such preset.
        SettingsError: a reward that rows cannot carry; rows made with another reward (by its name).
        DataError: rows without a truth, or with one of another scoring version.
        TypeError: a reward or rows of another kind, an iterator included.
    """
    reward = reward_spec(spec)
    check_rows_carry(reward)
    if rows is not None:
        check_rows(rows, reward)
    weights = reward.root.weights(reward.parts)
    stage_of = {name: getattr(PARTS[name], "stage", None) for name in weights}
    stages: dict[str | None, float] = {None: 1.0}
    for name, weight in weights.items():
        if stage_of[name] is not None:
            stages[stage_of[name]] = stages.get(stage_of[name], 0.0) + weight
    baselines = _baselines(reward)
    return [
        PartReward(name, weight / stages[stage_of[name]], reward.name, baselines, not index, reward.floor)
        for index, (name, weight) in enumerate(weights.items())
    ]


def check_rows(rows: object, spec: RewardSpec | str | None = None) -> None:
    """Raise where rows cannot be scored, before a trainer starts on them.

    Rows of another task, with None as their truth, pass as long as there is one of ours.

    Args:
        rows: a `Dataset` or a sequence of rows, looked at in full; of a stream the first row is.
        spec: the reward that the functions were made of; any if None.

    Raises DataError for rows without a truth, or with one of another scoring version; SettingsError for
    rows that another reward than `spec` was made for; TypeError for what is no rows, or an iterator.
    """
    reward = None if spec is None else reward_spec(spec)
    found = False
    for truth, made_with in _truths(rows):
        if truth is None:
            continue
        found, shares = True, shares_of(checked_truth(truth))
        if reward is None:
            continue
        if made_with not in (None, reward.name):
            raise SettingsError(
                f"rows were made with reward {show(made_with)}, the reward functions with "
                f"{show(reward.name)}; make both with the same reward"
            )
        check_same_reward(shares, reward.name, _baselines(reward))
    if not found:
        raise _no_truth("none")


def _truths(rows: object) -> Iterator[tuple[object, object]]:
    """The columns `truth` and `reward` (None where there is none): of a stream its first row, else all."""
    names = getattr(rows, "column_names", None)
    if names is not None and "truth" not in names:
        raise _no_truth(f"the columns {', '.join(names)}")
    if isinstance(rows, (str, Mapping, Iterator)) or not isinstance(rows, Iterable):
        raise TypeError(
            f"rows are {show(rows)} ({type(rows).__name__}); expected a Dataset or a list of rows, which can "
            "be read more than once"
        )
    if names is not None and hasattr(rows, "__len__"):
        columns: Any = rows
        made_with = columns["reward"] if "reward" in names else repeat(None)
        yield from zip(columns["truth"], made_with, strict=False)
        return
    for row in rows:
        if not isinstance(row, Mapping):
            raise TypeError(f"a row is a mapping, got {show(row)} ({type(row).__name__})")
        yield row.get("truth"), row.get("reward")
        if not hasattr(rows, "__len__"):
            return


def _no_truth(found: str) -> DataError:
    advice = "keep that column of training_dataset(…)"
    return DataError(Problem("rows", "truth", found, "rows with the truth that they came with", advice))


def _baselines(reward: RewardSpec) -> dict[str, float]:
    return {name: reward.baselines.get(name, 0.0) for name in reward.parts}


def check_same_reward(
    shares: Mapping[str, tuple[float, float]], name: str, baselines: Mapping[str, float]
) -> None:
    """Raise SettingsError where the parts of a row, or what they are measured from, are not a reward's."""
    for part, (_, baseline) in shares.items():
        if baselines.get(part) != baseline:
            raise SettingsError(
                f"a row rewards part {part!r} measured from {baseline:.3g}, but reward {name!r} "
                + (f"measures it from {baselines[part]:.3g}" if part in baselines else "has no such part")
                + "; make rows and reward functions with the same reward"
            )
