"""The contents of an Inspect task: arguments, sample metadata and scores. Does not import Inspect.

A sample's metadata has the conversation with its annotated answers as one JSON text, because metrics copy the
metadata of every sample and a text costs nothing to copy. Its `input` has no answers; the plan makes the
requests. The scores are those of `attune score`, per conversation.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.files.load import Conversations
from attune_episodes.play.logs import texts_in
from attune_episodes.play.score import default_spec
from attune_episodes.play.task import Task, replay, scores_of
from attune_episodes.protocol.settings import Settings
from attune_episodes.source.arguments import asked_by, check_flag
from attune_episodes.training.rows import unscored
from attune_rewards.metrics.registry import LISTED
from attune_rewards.metrics.tree import LEAF, LEAVES, SCORED_STAGES
from attune_rewards.predictions import STAGES, Stage
from attune_rewards.reward.score import scored_requests

OLDEST: Final = "0.3.258"
BELOW: Final = "0.3.286"
"""The tested versions of Inspect are at least `OLDEST` and below this."""
CLUSTER: Final = "participant"
"""Metadata key of the conversation's participant, by which standard errors are clustered."""
KEY: Final = "attune"
"""Metadata key of the task that `metadata_of` writes and `task_of` reads."""
REPLIES: Final = "attune:replies"
"""Store key of the replies: request id -> `{"text", "status", "asks", "finish"}`."""
_NEEDED: Final[dict[str, tuple[Stage, ...]]] = {
    **{m.column: m.needs for m in LISTED if set(SCORED_STAGES).issubset(m.needs)},
    **{m.column: m.needs for m in LISTED if m.group in ("composite", "strict")},
    **{m.column: m.needs for m in LISTED},
    **{f"strict_{name}": (LEAF[name].stage,) for name in LEAVES},
}
"""Name of a metric in score files -> the stages that it requires. The Composites come first."""
Text = str | list[str]
"""A text, or the list into which Inspect splits a text with commas."""


def tasks_of(given: Mapping[str, Any]) -> tuple[Conversations, list[Task]]:
    """The conversations selected by the arguments of the task (`-T name=value`), and a task for each.

    Raises an AttuneError for invalid arguments, for endless data, and if the stages asked are not scored.
    """
    reasks, parallel = given["reasks"], given["parallel"]
    if type(reasks) is not int or not 0 <= reasks <= 100:
        raise SettingsError(f"reasks is {show(reasks)}; it must be a whole number from 0 to 100")
    if parallel is not None and (type(parallel) is not int or parallel < 1):
        raise SettingsError(
            f"parallel is {show(parallel)}; it must be a whole number, at least 1, or left out"
        )
    check_flag("structured", given["structured"])
    names_in("finish_ok", given["finish_ok"])
    names = ("data", "prompts", "where", "codebook", "stages")
    texts: dict[str, Any] = {name: _text(name, given[name]) for name in names if given[name] is not None}
    texts["stages"] = names_in("stages", texts.get("stages")) or STAGES
    chosen, settings = asked_by({**given, **texts})
    found, spec = chosen.finite("-T number=20"), default_spec()
    if not any(scored_requests(one, spec, settings.stages) for one in found):
        raise unscored(spec.name, str(chosen.data))
    return found, [Task(one, settings, spec) for one in found]


def names_in(name: str, value: object) -> list[str]:
    """The names in an argument, separated by commas; none if it is left out."""
    return [] if value is None else [one.strip() for one in _text(name, value).split(",")]


def _text(name: str, value: object) -> str:
    """Restore a text as typed: `-T` parses values as YAML and splits texts at commas."""
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, str) for part in value):
        return ",".join(value)
    if not isinstance(value, str):
        raise SettingsError(
            f"{name} is {show(value)}, which is not a text; if it looks like a number or a list, quote it: "
            f"-T '{name}=\"…\"'"
        )
    return value


def metadata_of(task: Task) -> dict[str, Any]:
    """The metadata of the sample for a conversation."""
    about = task.conversation
    return {
        CLUSTER: about.participant,
        "turns": len(about.turns),
        "provenance": about.origin,
        KEY: json.dumps(task.to_json(), ensure_ascii=False, sort_keys=True),
    }


def task_of(metadata: Mapping[str, Any], *, asking: bool = False) -> Task:
    """The task in a sample's metadata.

    With `asking`, the prompts are about to be sent and must be those with which the sample was made. Raises
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
    """Request id -> raw reply, for the requests that were answered."""
    return texts_in(store.get(REPLIES), task)


def metrics_of(settings: Settings) -> tuple[str, ...]:
    """The metrics reported by a task with these settings, the headline metric first.

    If a scored stage is left out, the strict total is not a Composite and is called `composite_partial`.
    """
    asked = set(settings.stages)
    names = tuple(name for name, needed in _NEEDED.items() if asked.issuperset(needed))
    first = () if asked.issuperset(SCORED_STAGES) else ("composite_partial",)
    return (*first, *names, "parse_rate", "complete")


def score_replies(task: Task, store: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the fields of an Inspect score from the replies in a sample's store.

    Returns:
        `value`: the metrics of `metrics_of`; undefined ones are NaN, which Inspect leaves out of means.
        `explanation`. `metadata`: `outcomes` (request id -> `ok`, `unparsed:<code>` or `missing`) and
        `complete`. If a limit ended the sample before every request was answered, only `complete` has a
        value: an unknown reply is not the same as a silent model.
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
