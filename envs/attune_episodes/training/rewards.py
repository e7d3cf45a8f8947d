"""`reward_functions`, `RowReward` and `row_reward`: the reward of training rows as functions for trainers.

The signature is TRL's: `function(prompts, completions, completion_ids, **columns)` returns one number (or
None) for each completion. They work with GRPO, RLOO and every trainer with the same convention.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_episodes.play.score import reward_spec
from attune_episodes.training.scoring import (
    Shares,
    checked_truth,
    own_parts_of,
    score_truth,
    shares_of,
    text_of,
)
from attune_episodes.training.truth import check_rows_carry
from attune_rewards.metrics.leaf import Part
from attune_rewards.reward.score import OK, Score, part_means
from attune_rewards.reward.spec import RewardSpec, above_baseline

Batch = tuple[tuple[Score | None, Shares], ...]
"""Each row's score and shares; None and an empty mapping if the row belongs to another task."""


@dataclass(frozen=True)
class PartReward:
    """One part of a reward as a reward function: picklable, stateless and thread-safe."""

    part: str
    """Name of the part, such as `emotion_f1`."""
    weight: float
    """The factor by which the trainer multiplies its values (`reward_weights`)."""
    spec: RewardSpec
    """The reward to which it belongs."""
    logs: bool = False
    """Whether it logs the batch, which only one of a reward's functions does."""

    @property
    def __name__(self) -> str:
        """The part's name, under which trainers log the values."""
        return self.part

    def __call__(
        self,
        prompts: object = None,
        completions: object = None,
        completion_ids: object = None,
        **columns: Any,
    ) -> list[float | None]:
        """Score a batch on this part: `completions`, texts or lists of chat messages, and their `truth`.

        `truth` is the rows' column of that name, with None for rows of another task. `log_metric`, if given,
        is called with `attune/parse_rate` and the mean score of each part, in [0, 1]; `log_extra` with
        `attune_reason`, which is `ok` or `unparsed:<code>` for each completion. Other arguments are ignored.

        Returns:
            A number for each completion: share · score / `weight`, with the score relative to its baseline.
            The share is the part's share of the row's reward, so that Σ weight · value over all parts is that
            reward. None if the part is not asked in the row's stage or not annotated, or the row has no
            truth.

        Raises TypeError, SettingsError or DataError for rows or completions that cannot be scored.
        """
        batch = _scored(completions, own_parts_of(self.spec), **columns)
        if self.logs:
            _check_shares(self.spec, *(shares for _, shares in batch))
            _log(batch, **columns)
        values: list[float | None] = []
        for score, shares in batch:
            value = None
            if score is not None and self.part in shares:
                share, baseline = shares[self.part]
                above = above_baseline(score.parts[self.part], baseline, self.spec.floor)
                value = above * share / self.weight
            values.append(value)
        return values


@dataclass(frozen=True)
class RowReward:
    """The whole reward of each row as one reward function, for trainers that accept a single one.

    Picklable, stateless and thread-safe, like `PartReward`.
    """

    spec: RewardSpec | str | None = None
    """The reward with which the rows were made; needed only if it has parts of your own."""

    @property
    def __name__(self) -> str:
        """The name under which trainers log the values."""
        return "row_reward"

    def __call__(
        self,
        prompts: object = None,
        completions: object = None,
        completion_ids: object = None,
        **columns: Any,
    ) -> list[float | None]:
        """Score a batch by each row's whole reward, exactly the value of `score_row`.

        Arguments and errors are as for `PartReward`; each row is scored by the reward with which it was made.
        """
        batch = _scored(completions, own_parts_of(self.spec), **columns)
        _log(batch, **columns)
        return [None if score is None else score.value for score, _ in batch]


row_reward: Final = RowReward()
"""For rewards without parts of your own, which need no spec."""


def _scored(completions: object, own: tuple[Part, ...], truth: object = None, **_: object) -> Batch:
    if truth is None:
        checked_truth(None)
    replies, rows = _listed("completions", completions), _listed("truth", truth)
    if len(rows) != len(replies):
        raise SettingsError(f"{len(replies)} completions, but {len(rows)} truths: expected one for each")
    texts = tuple("" if reply is None else text_of(reply) for reply in replies)
    truths = tuple(None if row is None else checked_truth(row) for row in rows)
    return _score_batch(truths, texts, own)


@lru_cache(maxsize=4)  # a trainer calls one reward function after another on the same batch
def _score_batch(truths: tuple[str | None, ...], texts: tuple[str, ...], own: tuple[Part, ...]) -> Batch:
    return tuple(
        (None, {}) if truth is None else (score_truth(truth, text, own), shares_of(truth, own))
        for truth, text in zip(truths, texts, strict=True)
    )


def _listed(name: str, values: object) -> list[Any]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(
            f"{name} is {show(values)} ({type(values).__name__}); expected a list, one for each prompt"
        )
    return list(values)


def _log(batch: Batch, log_metric: Any = None, log_extra: Any = None, **_: object) -> None:
    scores = [score for score, _ in batch]
    if log_extra is not None:
        log_extra("attune_reason", [None if score is None else score.reason for score in scores])
    if log_metric is None:
        return
    ours = [score for score in scores if score is not None]
    if len(ours) < len(scores):
        log_metric("attune/unscored", 1 - len(ours) / len(scores))
    if ours:
        log_metric("attune/parse_rate", sum(score.reason == OK for score in ours) / len(ours))
    for name, mean in part_means(ours).items():
        log_metric(f"attune/{name}", mean)


def reward_functions(spec: RewardSpec | str = "skill", rows: object = None) -> list[PartReward]:
    """Make one reward function for each part of a reward; Σ weight · value is the row's reward, to 1e-12.

    Pass the functions and `[function.weight for function in functions]` to the trainer. A part's weight is
    its share of the reward of a row of its stage (for `format`, of the whole reward).

    Args:
        spec: the reward with which the rows were made, or what `read_reward` reads: the name of a preset,
            `FILE.py:NAME`, `module:NAME`.
        rows: the training rows, to check them now rather than in the middle of training.

    Raises:
        UnknownNameError: no such preset.
        SettingsError: a reward that rows cannot represent; rows made with a reward of another name.
        DataError: rows without a truth, or with one from another scoring version.
        TypeError: a reward or rows of the wrong type, including an iterator.
    """
    reward = reward_spec(spec)
    check_rows_carry(reward)
    if rows is not None:
        check_rows(rows, reward)
    return [
        PartReward(name, share, reward, logs=not index)
        for index, (name, share) in enumerate(reward.shares_by_stage.items())
    ]


def check_rows(rows: Any, spec: RewardSpec | str | None = None) -> None:
    """Raise an error if rows cannot be scored, before training starts.

    Rows of another task, with None as their truth, are accepted if there is at least one of ours.

    Args:
        rows: a `Dataset` or a sequence of rows, checked in full; of a stream, only the first row.
        spec: the reward that the functions were made of; any without parts of your own if None.

    Raises DataError for rows without a truth, or with one of another scoring version; SettingsError for rows
    that were made with a reward other than `spec`; TypeError for an iterator, or something that is not rows.
    """
    reward = None if spec is None else reward_spec(spec)
    own = own_parts_of(reward)
    names = getattr(rows, "column_names", None)
    if names is not None:
        if "truth" not in names:
            raise _no_truth(f"the columns {', '.join(names)}")
        rows = rows.select_columns([name for name in ("truth", "reward") if name in names])
    if isinstance(rows, (str, Mapping, Iterator)) or not isinstance(rows, Iterable):
        raise TypeError(
            f"rows are {show(rows)} ({type(rows).__name__}); expected a Dataset or a list of rows, which can "
            "be read more than once"
        )
    found = False
    for row in rows if hasattr(rows, "__len__") else islice(rows, 1):
        if not isinstance(row, Mapping):
            raise TypeError(f"a row is a mapping, got {show(row)} ({type(row).__name__})")
        if row.get("truth") is None:
            continue
        found, truth = True, checked_truth(row["truth"])
        if reward is not None and row.get("reward") not in (None, reward.name):
            raise SettingsError(
                f"rows were made with reward {show(row['reward'])}, the reward functions with "
                f"{show(reward.name)}; make both with the same reward"
            )
        shares = shares_of(truth, own)
        if reward is not None:
            _check_shares(reward, shares)
    if not found:
        raise _no_truth("none")


def _no_truth(found: str) -> DataError:
    advice = "keep that column of training_dataset(…)"
    return DataError(Problem("rows", "truth", found, "rows with their original truth", advice))


def _check_shares(reward: RewardSpec, *rows: Shares) -> None:
    """Raise SettingsError if parts or baselines of rows differ from the reward's."""
    baselines = {name: reward.baselines.get(name, 0.0) for name in reward.parts}
    for part, (_, baseline) in chain.from_iterable(shares.items() for shares in rows):
        known = baselines.get(part)
        if known != baseline:
            raise SettingsError(
                f"a row rewards part {part!r} measured from {baseline:.3g}, but reward {reward.name!r} "
                + ("has no such part" if known is None else f"measures it from {known:.3g}")
                + "; make rows and reward functions with the same reward"
            )
