"""`reward_functions` and `row_reward`: the reward of training rows, as trainers call it.

The signature is TRL's: `function(prompts, completions, completion_ids, **columns)` gives one number (or None)
for each completion. GRPO, RLOO and every trainer with the same convention takes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_episodes.score import reward_spec
from attune_episodes.trainers.batch import NO_TRUTH, BatchScorer, LogExtra, LogMetric, check_kind
from attune_episodes.training.scoring import paid_by
from attune_rewards.portable import check_portable
from attune_rewards.spec import RewardSpec, above_null
from attune_rewards.tree import LEAF


@dataclass(frozen=True)
class PartReward:
    """One part of a reward as a reward function: picklable, without state, safe in threads."""

    part: str
    """Name of the part, such as `emotion_f1`."""
    weight: float
    """What the trainer multiplies its values with (`reward_weights`)."""
    reward: str
    """Name of the reward that it belongs to."""
    nulls: Mapping[str, float] = field(hash=False)
    """All parts of that reward, and what each is measured from: 0 but under rewards like `skill`."""
    mixed: bool = False
    """Whether rows without a truth are let pass, as None."""
    scorer: BatchScorer = field(default_factory=BatchScorer, compare=False, repr=False)
    """Scores a batch once for all parts that share it."""

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
        """What each completion earns on this part.

        Args:
            prompts: not used.
            completions: texts, or lists of chat messages (the last one of the assistant counts).
            completion_ids: not used.
            truth: the column `truth` of the rows.
            log_metric: called with `attune/parse_rate` and the mean score of each part, in [0, 1].
            log_extra: called with `attune_reason`: `ok` or `unparsed:<code>` of each completion.
            columns: every other column; not used.

        Returns:
            A number for each completion: share · paid score / `weight`, where the share is what the part
            has of the row's reward, so that Σ weight · value over all parts is that reward. In most rows
            this is the paid score itself: the score in [0, 1], or (score - null)/(1 - null). None where the
            row's stage does not ask for the part, or its annotations do not hold it.

        Raises TypeError, SettingsError or DataError for rows or completions that cannot be scored.
        """
        batch = self.scorer(completions, truth, mixed=self.mixed)
        _check_reward(batch.nulls, self.reward, self.nulls)
        values: list[float | None] = [None] * len(batch.scores)
        for row, score, share, null in batch.by_part.get(self.part, ()):
            values[row] = above_null(score, null) * share / self.weight
        batch.log(self.part, log_metric, log_extra)
        return values


@dataclass(frozen=True)
class RowReward:
    """The whole reward of a row as one reward function: the very value of `score_row`."""

    mixed: bool = False
    """Whether rows without a truth are let pass, as None."""

    @property
    def __name__(self) -> str:
        """Trainers log the values under it."""
        return "row_reward"

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
        """The value of each completion; arguments and errors as for `PartReward`."""
        batch = BatchScorer()(completions, truth, mixed=self.mixed)
        batch.log(self.__name__, log_metric, log_extra)
        return [None if score is None else score.value for score in batch.scores]


row_reward: Final = RowReward()
"""The reward function of a trainer that takes a single one: each row's own reward, whatever made the row."""


def reward_functions(
    spec: RewardSpec | str = "skill", rows: object = None, *, mixed: bool = False
) -> list[PartReward]:
    """One reward function for each part of a reward; Σ weight · value is the row's reward, to 1e-12.

    Give the trainer the functions and `[function.weight for function in functions]`. A part's weight is
    what it has of the reward of a row of its stage (`format`: of the whole reward).

    Args:
        spec: the reward that the rows were made with, or the name of a preset.
        rows: the rows to train on, to be checked now rather than in the middle of the training.
        mixed: rows without a truth are let pass, as None: they are another task's.

    Raises:
        UnknownNameError: no such preset.
        SettingsError: a reward that rows cannot carry; rows made with another reward (by its name).
        DataError: rows without a truth, or with one of another scoring version.
        TypeError: a reward or rows of another kind, an iterator included.
    """
    reward = reward_spec(spec)
    check_portable(reward)
    if rows is not None:
        check_rows(rows, reward, mixed=mixed)
    weights = reward.root.weights(reward.parts)
    stages: dict[str, float] = {}
    for name, weight in weights.items():
        stage = LEAF[name].stage if name in LEAF else ""
        stages[stage] = stages.get(stage, 0.0) + weight
    nulls = {name: reward.nulls.get(name, 0.0) for name in weights}
    scorer = BatchScorer()
    return [
        PartReward(name, weight / stages[LEAF[name].stage] if name in LEAF else weight,
                   reward.name, nulls, mixed, scorer)
        for name, weight in weights.items()
    ]  # fmt: skip


def check_rows(rows: object, spec: RewardSpec | str | None = None, *, mixed: bool = False) -> None:
    """Raises where rows cannot be scored, before a trainer starts on them.

    Args:
        rows: a `Dataset` or a sequence of rows, looked at in full; of a stream the first row is.
        spec: the reward that the functions were made of; any if None.
        mixed: rows without a truth are let pass, as long as there is one with.

    Raises DataError for rows without a truth, or with one of another scoring version; SettingsError for
    rows that another reward than `spec` was made for; TypeError for what is no rows, or an iterator.
    """
    reward = None if spec is None else reward_spec(spec)
    nulls = None if reward is None else {name: reward.nulls.get(name, 0.0) for name in reward.parts}
    found = False
    for truth, made_with in _truths(rows):
        check_kind(truth, mixed=mixed)
        if isinstance(truth, str):
            found = True
            paid = paid_by(truth)
            if reward is not None and nulls is not None:
                if made_with is not None and made_with != reward.name:
                    raise SettingsError(
                        f"rows were made with reward {show(made_with)}, the reward functions with "
                        f"{show(reward.name)}; make both with the same reward"
                    )
                _check_reward(((part, null) for part, (_, null) in paid.items()), reward.name, nulls)
    if not found:
        raise DataError(Problem("rows", "truth", "none", "rows with the truth that they came with", NO_TRUTH))


def _truths(rows: object) -> Iterable[tuple[object, object]]:
    """The columns `truth` and `reward` (None where it is not there): of a stream its first row, else all."""
    names = getattr(rows, "column_names", None)
    if names is not None and "truth" not in names:
        raise DataError(
            Problem("rows", "truth", f"the columns {', '.join(names)}", "a column truth", NO_TRUTH)
        )
    if isinstance(rows, Iterator):
        raise TypeError(
            f"rows are {show(rows)} ({type(rows).__name__}), which can be read only once, and looking at it "
            "would take the first row away; give a Dataset or a list of rows"
        )
    if isinstance(rows, (str, Mapping)) or not isinstance(rows, Iterable):
        raise TypeError(f"rows are a Dataset or a list of rows, got {show(rows)} ({type(rows).__name__})")
    if names is not None and hasattr(rows, "__len__"):
        table: Any = rows
        yield from zip(table["truth"], table["reward"] if "reward" in names else repeat(None), strict=False)
        return
    for row in rows:
        if not isinstance(row, Mapping):
            raise TypeError(f"a row is a mapping, got {show(row)} ({type(row).__name__})")
        yield row.get("truth"), row.get("reward")
        if not hasattr(rows, "__len__"):
            return


def _check_reward(paid: Iterable[tuple[str, float]], name: str, nulls: Mapping[str, float]) -> None:
    """Raises SettingsError where the (part, null) pairs of rows are not those of a reward."""
    for part, null in paid:
        if nulls.get(part) != null:
            raise SettingsError(
                f"a row pays part {part!r} measured from {null:.3g}, but reward {name!r} "
                + (f"measures it from {nulls[part]:.3g}" if part in nulls else "has no such part")
                + "; make rows and reward functions with the same reward"
            )
