"""The contents of an Inspect task: its arguments, what a sample carries, its scores. Free of Inspect.

A sample holds the conversation with its annotated answers, as one JSON text: metrics copy the metadata of
every sample, and a text costs nothing to copy. No answer is in its `input`; requests are made by the plan.
The scores are the numbers of `attune score`, per conversation.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.loading import Conversations
from attune_episodes.data_arguments import asked_by, check_flag
from attune_episodes.logs import texts_in
from attune_episodes.score import default_spec
from attune_episodes.settings import Settings
from attune_episodes.task import Task, replay, scores_of
from attune_episodes.trainers.rows import unscored
from attune_rewards.metrics import LISTED
from attune_rewards.predictions import STAGES, Stage
from attune_rewards.reward import scored_requests
from attune_rewards.tree import LEAF, LEAVES, SCORED_STAGES

OLDEST: Final = "0.3.258"
BELOW: Final = "0.3.286"
"""The tested versions of Inspect: from `OLDEST` on, and below this."""
CLUSTER: Final = "participant"
"""Key of a sample's metadata: whose conversation it is. Standard errors are clustered by it."""
KEY: Final = "attune"
"""Key of a sample's metadata, for what `metadata_of` writes and `task_of` reads."""
REPLIES: Final = "attune:replies"
"""Key of a sample's store: request id -> `{"text", "status", "asks", "finish"}`."""
_NEEDED: Final[dict[str, tuple[Stage, ...]]] = {
    **{m.column: m.needs for m in LISTED if set(SCORED_STAGES).issubset(m.needs)},
    **{m.column: m.needs for m in LISTED if m.group in ("composite", "strict")},
    **{m.column: m.needs for m in LISTED},
    **{f"strict_{name}": (LEAF[name].stage,) for name in LEAVES},
}
"""Metric, by its name in score files -> the stages without which it means nothing. The Composites lead."""
Text = str | list[str]
"""A text, or the list that Inspect makes of one with commas in it."""


def tasks_of(given: Mapping[str, Any]) -> tuple[Conversations, list[Task]]:
    """The conversations that the arguments of the task (`-T name=value`) name, and a task for each.

    Raises an AttuneError for invalid arguments, for an endless world, and if nothing is scored in the stages
    asked.
    """
    reasks, parallel = given["reasks"], given["parallel"]
    if type(reasks) is not int or not 0 <= reasks <= 100:
        raise SettingsError(f"reasks is {show(reasks)}; it must be a whole number from 0 to 100")
    if parallel is not None and (type(parallel) is not int or parallel < 1):
        raise SettingsError(
            f"parallel is {show(parallel)}; it must be a whole number, at least 1, or left out"
        )
    check_flag("structured", given["structured"])
    names = ("data", "prompts", "where", "codebook", "stages")
    texts: dict[str, Any] = {name: _text(name, given[name]) for name in names if given[name] is not None}
    texts["stages"] = [one.strip() for one in texts["stages"].split(",")] if "stages" in texts else STAGES
    chosen, settings = asked_by({**given, **texts})
    found, spec = chosen.finite("-T number=20"), default_spec()
    if not any(scored_requests(one, spec, settings.stages) for one in found):
        raise unscored(spec.name, str(chosen.data))
    return found, [Task(one, settings, spec) for one in found]


def _text(name: str, value: object) -> str:
    """A text as it was typed: `-T` reads its values as YAML and cuts texts at commas."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
        return ",".join(value)
    if not isinstance(value, str):
        raise SettingsError(
            f"{name} is {show(value)}, which is not a text; if it looks like a number or a list, quote it: "
            f"-T '{name}=\"…\"'"
        )
    return value


def metadata_of(task: Task) -> dict[str, Any]:
    """The metadata of a conversation's sample."""
    about = task.conversation
    return {
        CLUSTER: about.participant,
        "turns": len(about.turns),
        "provenance": about.origin,
        KEY: json.dumps(task.to_json(), ensure_ascii=False, sort_keys=True),
    }


def task_of(metadata: Mapping[str, Any], *, asking: bool = False) -> Task:
    """The task that a sample's metadata holds.

    `asking`: the prompts are about to be sent, so they must be those that the sample was made with. Raises
    DataError if they are not, or if it is not a sample of this task.
    """
    carried = metadata.get(KEY)
    if not isinstance(carried, str):
        raise DataError(
            Problem("sample", f"metadata.{KEY}", show(carried), "a sample of attune_env/attune",
                    "is it the log of another task?")
        )  # fmt: skip
    return Task.from_json(json.loads(carried), asking=asking)


def replies_in(store: Mapping[str, Any], task: Task) -> dict[str, str]:
    """Request id -> raw reply, of the requests that were answered."""
    return texts_in(store.get(REPLIES), task)


def metrics_of(settings: Settings) -> tuple[str, ...]:
    """The metrics that a task with these settings reports, the headline first.

    If a scored stage is left out, the strict total is not a Composite and is called `composite_partial`.
    """
    asked = set(settings.stages)
    names = tuple(name for name, needed in _NEEDED.items() if asked.issuperset(needed))
    first = () if asked.issuperset(SCORED_STAGES) else ("composite_partial",)
    return (*first, *names, "parse_rate", "complete")


def score_replies(task: Task, store: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an Inspect score, by the replies in a sample's store.

    Returns:
        `value`: each of `metrics_of`; NaN, which Inspect leaves out of means, if it is not defined.
        `explanation`. `metadata`: `outcomes`, request id -> `ok`, `unparsed:<code>` or `missing`; and
        `complete`. Where requests have no reply, because a limit ended the sample, nothing but `complete`
        has a value: these replies are unknown, which is not the same as a model that was silent.
    """
    replies, names = replies_in(store, task), metrics_of(task.settings)
    if missing := task.missing(replies):
        value = dict.fromkeys(names, math.nan) | {"complete": 0.0}
        outcomes = {r.id: "missing" if r.id in missing else "answered" for r in task.requests}
        why = f"not scored: {_listed(missing)} of {len(task.requests)} requests have no reply"
    else:
        played = replay(task, replies)
        found = scores_of(played) | {"parse_rate": played.parse_rate, "complete": 1.0}
        value = {name: math.nan if (one := found.get(name)) is None else float(one) for name in names}
        outcomes = {step.request.id: step.status for step in played.steps}
        why = _explained(value, outcomes)
    return {
        "value": value, "explanation": why, "metadata": {"outcomes": outcomes, "complete": not missing}
    }  # fmt: skip


def _explained(values: Mapping[str, float], outcomes: Mapping[str, str]) -> str:
    leading = [name for name in values if name.startswith("composite_")]
    told = ", ".join(f"{name} {values[name]:.2f}" for name in leading if not math.isnan(values[name]))
    unread = defaultdict(list)
    for name, status in outcomes.items():
        if status != "ok":
            unread[status].append(name)
    read = len(outcomes) - sum(map(len, unread.values()))
    lines = [told or "nothing here is annotated that is scored"]
    lines.append(f"{read} of {len(outcomes)} replies could be read")
    for status, these in sorted(unread.items()):
        lines.append(f"{status}: {_listed(these) if len(these) > 1 else these[0]}")
    if values["unscored_share"]:
        lines.append(f"not annotated, so not scored: {values['unscored_share']:.0%} of what could be")
    return "\n".join(lines)


def _listed(names: list[str], shown: int = 3) -> str:
    more = ", …" if len(names) > shown else ""
    return f"{len(names)} ({', '.join(names[:shown])}{more})"
