"""Read `--metadata attune_…=…`, raising every error before anything is asked, and list the metrics.

lm-eval passes a task its own `--metadata` and the arguments of the model in one mapping, so ours have a
prefix, without which a misspelt name would go unnoticed. The numbers are those of `attune score`: the replies
form the official result record, which is read and scored like a result file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.files.load import fingerprint
from attune_data.format.schema import Conversation
from attune_data.selection.means import mean
from attune_episodes.play.marks import outcome_counts
from attune_episodes.play.score import default_spec
from attune_episodes.play.task import Task, replay, scores_of
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Settings
from attune_episodes.source.arguments import asked_by
from attune_episodes.training.rows import unscored
from attune_rewards.bootstrap import Bootstrap
from attune_rewards.metrics.registry import LISTED
from attune_rewards.metrics.tree import SCORED_STAGES
from attune_rewards.predictions import STAGES, Stage
from attune_rewards.reward.score import scored_requests

PREFIX: Final = "attune_"
KNOWN: Final = (
    "data", "number", "where", "split", "provenance",
    "mode", "stages", "panas_strategy", "labels", "seed", "prompts", "codebook",
)  # fmt: skip
"""The keys allowed with the prefix: the fields of `DataArguments` and `Settings`."""
COMPOSITE: Final = tuple(stage for stage in STAGES if stage in SCORED_STAGES)
"""The stages that make up a Composite."""
PARSE_RATE: Final = "parse_rate"
_ERROR: Final = "_stderr"
OF_ALL: Final = tuple(metric.column for metric in LISTED if metric.group == "composite")
"""The metrics of the task of all stages; each is a mean over conversations, and higher is better."""
OF_STAGE: Final[Mapping[Stage, tuple[str, ...]]] = {
    stage: (
        *(
            metric.column
            for metric in LISTED
            if metric.needs == (stage,) and metric.better == "higher" and metric.group != "strict"
        ),
        *(("composite_partial",) if stage in SCORED_STAGES else ()),
    )
    for stage in STAGES
}
"""The metrics of the task of one stage, under their names in scores files."""


@dataclass(frozen=True)
class Asked:
    """The conversations of a task, and how they are asked about."""

    conversations: tuple[Conversation, ...]
    """The conversations with something to ask in these stages."""
    settings: Settings

    @cached_property
    def by_id(self) -> Mapping[str, Conversation]:
        """Id -> conversation."""
        return {one.conversation_id: one for one in self.conversations}

    @property
    def documents(self) -> list[dict[str, Any]]:
        """One document per conversation with what is asked, but no annotations, since logs are published."""
        written = json.dumps(self.settings.to_json(), ensure_ascii=False, sort_keys=True)
        return [
            {
                "conversation_id": one.conversation_id,
                "fingerprint": fingerprint(one),
                "requests": [request.id for request in plan(one, self.settings)],
                "settings": written,
            }
            for one in self.conversations
        ]


def read_arguments(metadata: Mapping[str, Any], stage: Stage | None) -> Asked:
    """The arguments of a task: the names with the prefix `attune_` in its metadata.

    `stage` is the only stage of the task; None for the task of all stages.

    Raises:
        UnknownNameError: an argument, mode, stage or other name that does not exist.
        SettingsError: conflicting arguments.
        DataError: the data cannot be read, or has nothing to ask or to score.
    """
    given = {name.removeprefix(PREFIX): value for name, value in metadata.items() if name.startswith(PREFIX)}
    for name in given.keys() - KNOWN:
        raise UnknownNameError("argument of --metadata", PREFIX + name, [PREFIX + one for one in KNOWN])
    if not isinstance(given.get("data", ""), (str, Path, Conversations)):
        found = show(given["data"])
        raise SettingsError(f"{PREFIX}data is {found}; expected a path, a dataset's name or sample")
    stages = _composite_stages(given.get("stages")) if stage is None else (stage,)
    chosen, settings = asked_by({**given, "stages": stages})
    place = show(str(chosen.data))
    conversations = tuple(one for one in chosen.finite(f"{PREFIX}number=20") if plan(one, settings))
    if not conversations:
        raise DataError(
            Problem(place, "", f"nothing to ask in the stages {', '.join(settings.stages)}",
                    "a conversation with such requests", "attune data stats shows what is annotated")
        )  # fmt: skip
    spec = default_spec()
    if set(settings.stages) & SCORED_STAGES and not any(
        scored_requests(one, spec, settings.stages) for one in conversations
    ):
        raise unscored(spec.name, place)
    return Asked(conversations, settings)


def _composite_stages(given: object) -> Sequence[str]:
    """The stages of the task of all stages: those given, which must make up a Composite."""
    named = given.split(",") if isinstance(given, str) else STAGES if given is None else given
    if not isinstance(named, (list, tuple)) or not all(isinstance(one, str) for one in named):
        raise SettingsError(f"{PREFIX}stages is {show(given)}; expected names such as {','.join(COMPOSITE)}")
    stages = [one.strip() for one in named]
    for one in stages:
        if one not in STAGES:
            raise UnknownNameError("stage", one, STAGES)
    if missing := [one for one in COMPOSITE if one not in stages]:
        raise SettingsError(
            f"{PREFIX}stages leaves out {', '.join(missing)}, and a Composite needs "
            f"{', '.join(COMPOSITE)}; for single stages, use the tasks "
            + ", ".join(PREFIX + one for one in STAGES)
        )
    return stages


def metrics_of(
    conversation: Conversation, settings: Settings, replies: Sequence[str], names: Sequence[str]
) -> dict[str, Any]:
    """Compute the values that lm-eval stores for a conversation from the replies to its plan.

    Returns:
        Metric -> value, None if undefined; `<metric>_stderr` -> [value, participant], for the standard error;
        `parse_rate` -> [number of parsed replies, number of replies].
    """
    task = Task(conversation, settings, default_spec())
    said = {request.id: reply for request, reply in zip(task.requests, replies, strict=True)}
    played = replay(task, said)
    scores, outcomes = scores_of(played), outcome_counts(played.result)
    owner = conversation.participant or conversation.conversation_id
    kept: dict[str, Any] = {}
    for name in names:
        # lm-eval knows no error of a mean of ours, and writes "N/A" under this name; what is kept under it
        # comes later and takes its place
        kept |= {name: scores.get(name), name + _ERROR: [scores.get(name), owner]}
    return {**kept, PARSE_RATE: [outcomes["ok"], sum(outcomes.values())]}


def aggregations(names: Sequence[str]) -> dict[str, Callable[[Sequence[Any]], Any]]:
    """Metric -> the function that aggregates the values of all conversations."""
    errors = {name + _ERROR: bootstrap_error for name in names}
    return {PARSE_RATE: pooled_share, **dict.fromkeys(names, mean_of_defined), **errors}


def mean_of_defined(values: Sequence[float | None]) -> float:
    """The mean of the defined values; NaN if there are none, because lm-eval averages over groups."""
    found = mean(values)
    return math.nan if found is None else found


def pooled_share(pairs: Sequence[tuple[int, int]]) -> float:
    """(parsed, asked) of all conversations -> the share of replies that were parsed, in [0, 1]."""
    asked = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / asked if asked else math.nan


def bootstrap_error(pairs: Sequence[tuple[float | None, str]]) -> float | Literal["N/A"]:
    """The bootstrap standard error of the mean of the defined values in (value or None, participant) pairs.

    The standard deviation (n - 1) of the means of 10,000 resamples, in the metric's own unit. As in
    `attune report`, participants are drawn if one owns several conversations, and otherwise conversations.
    "N/A", lm-eval's word, if fewer than two units have a defined value.
    """
    owners = [owner for _, owner in pairs]
    if len({owner for value, owner in pairs if value is not None}) < 2:
        return "N/A"
    table = np.array([[math.nan if value is None else value] for value, _ in pairs], dtype=np.float64)
    means = Bootstrap(len(owners), owners).means(table)[0]
    return float(np.nanstd(means, ddof=1))
