"""`rollouts_from`: traces of verifiers as the engine's rollouts, and so as result files.

Free of verifiers: traces are read as the JSON that they are on disk.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import DataError, Problem, show
from attune_episodes.logs import Recording, all_replies, rollouts_of, together
from attune_episodes.rollout import Rollout
from attune_episodes.settings import Settings
from attune_episodes.task import Task
from attune_episodes.verifiers_env.replies import JUDGE_KEY, entries_in, replies_in
from attune_rewards.reward import scored_requests

if TYPE_CHECKING:
    import verifiers.v1 as vf

TRACES: Final = "traces.jsonl"
_READ: Final = {"task", "info", "nodes", "ok", "agent", "timing", "id", "verifiers", "calls"}
logger = logging.getLogger(__name__)
Json = Mapping[str, Any]


def rollouts_from(
    source: str | Path | Iterable[vf.Trace[Any, Any, Any] | Json], *, em_model: str | None = None
) -> list[Rollout]:
    """The rollouts that traces hold: replies parsed and scored again, with the official result record.

    Args:
        source: the folder of a run (`outputs/RUN`), its `traces.jsonl`, or traces themselves.
        em_model: the model's name in the result records, `provider/model`; by default the trace's own.

    Returns:
        One rollout a trace, in their order. Traces of single requests are put together: one rollout a
        conversation, of the stages that its tasks asked, under one reward and one system prompt. Where a
        conversation was played more than once by a model, the further ones have names of their own, as
        `attune_episodes.logs.rollouts_of` gives them: `<model>@sample2` and so on.

    Traces that are not `ok`, and conversations of which requests are missing, are left out with a warning.
    Raises DataError where there is nothing left, or where something is no trace of this environment.
    """
    kept: list[_Played] = []
    left_out = 0
    for trace in _traces(source):
        played = _read(trace)
        kept += [played] if played is not None else []
        left_out += played is None
    whole = [one for one in kept if one.task.only is None]
    joined, partial = _joined([one for one in kept if one.task.only is not None])
    if left_out or partial:
        logger.warning(
            "left out: %d traces that are not ok, %d conversations of which requests are missing",
            left_out, partial,
        )  # fmt: skip
    if not whole and not joined:
        raise DataError(
            Problem(show(str(source) if isinstance(source, (str, Path)) else "traces"), "",
                    f"no complete trace ({left_out} that are not ok, {partial} conversations not complete)",
                    "traces of attune-env", "vf-eval @ RUN/configs/resolved/eval.json --resume")
        )  # fmt: skip
    complete = [*whole, *joined]
    made = rollouts_of(one.recording(em_model or one.model) for one in complete)
    return [replace(new, result=one.judged(new.result)) for one, new in zip(complete, made, strict=True)]


@dataclass(frozen=True)
class _Played:
    """What one trace says."""

    task: Task
    replies: Mapping[str, str]
    model: str
    started: float
    seconds: float | None
    cost: float | None
    about: Json
    reward: str
    """The reward's description, in one line."""
    judge: Json
    """The judge's model and raw replies; {} where none was asked."""

    def recording(self, em_model: str) -> Recording:
        """The same as every adapter has it."""
        facts = {
            "run_timestamp": datetime.fromtimestamp(self.started, UTC).isoformat(timespec="seconds"),
            "api_cost": self.cost,
            "duration_seconds": self.seconds,
            "attune": {"verifiers": dict(self.about)},
        }
        return Recording(self.task, self.replies, em_model, facts, self.system)

    @property
    def system(self) -> str | None:
        """A system prompt that was put in place of the plan's own."""
        return self.about.get("system_prompt")

    def judged(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record with what a judge said of the drafts, where one was asked."""
        texts: Mapping[str, Sequence[str]] = self.judge.get("replies") or {}
        if not texts:
            return record
        from attune_episodes.judging import add_judgements, judge_request, parse_judgement

        task, model = self.task, str(self.judge.get("model"))
        judged, kept = {}, {}
        for entry in record["turns"]:
            number = entry["turnNumber"]
            said = texts.get(str(number)) or ()
            asked = judge_request(task.conversation, number, entry["em_drafted_response"], task.settings)
            if asked is not None and said:
                named = {model if i == 0 else f"{model}#{i + 1}": text for i, text in enumerate(said)}
                judged[number] = {name: parse_judgement(asked, text) for name, text in named.items()}
                kept[number] = named
        return add_judgements(record, judged, task.settings, replies=kept)


def _traces(source: object) -> Iterator[Json]:
    if isinstance(source, (str, Path)):
        path = Path(source)
        file = path / TRACES if path.is_dir() else path
        if not file.is_file():
            raise DataError(
                Problem(str(path), "", "no traces", f"a run's folder with {TRACES}, or such a file",
                        "vf-eval says where its results are")
            )  # fmt: skip
        # lines end with \n alone: texts may hold other characters that count as line ends
        with file.open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield from _of_line(line, f"{file}", number)
        return
    traces: Any = source
    for trace in traces:
        dump = getattr(trace, "model_dump", None)
        yield _object(trace if dump is None else dump(mode="json", include=_READ), "traces", "")


def _of_line(line: str, file: str, number: int) -> list[Json]:
    try:
        traces = list(json.loads(line)["traces"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            Problem(file, f"line {number}", type(error).__name__, "an episode of verifiers with its traces",
                    "a line that was cut off is made again by --resume")
        ) from error  # fmt: skip
    return [_object(trace, file, f"line {number}") for trace in traces]


def _object(value: object, file: str, place: str) -> Json:
    """A JSON object; {} where there is none; DataError for anything else."""
    if isinstance(value, Mapping) or value is None:
        return value or {}
    raise DataError(Problem(file, place, show(value), "a JSON object, as verifiers writes traces"))


def _read(trace: Json) -> _Played | None:
    """What a trace says; None where it is not ok."""
    name = f"trace {trace.get('id')}"
    data = _object(_object(trace.get("task"), name, "task").get("data"), name, "task.data")
    if "conversation" not in data or "settings" not in data:
        raise DataError(
            Problem(name, "task.data", f"fields {', '.join(sorted(data)[:8])}",
                    "a task of attune-env", "is it the trace of another environment?")
        )  # fmt: skip
    if not trace.get("ok"):
        return None
    task = Task.from_json(data)
    info = _object(trace.get("info"), name, "info")
    for request, entry in entries_in(info).items():
        _object(entry, name, f"info.attune.replies.{request}")
    nodes = [_object(node, name, "nodes") for node in trace.get("nodes") or ()]
    said = [
        _object(node.get("message"), name, "nodes.message").get("content")
        for node in nodes
        if node.get("sampled")
    ]
    replies = replies_in(info, [text if isinstance(text, str) else None for text in said], task)
    if task.missing(replies):
        return None
    timing = _object(trace.get("timing"), name, "timing")
    agent = _object(timing.get("agent"), name, "timing.agent")
    seconds = round(agent["end"] - agent["start"], 6) if agent.get("end") and agent.get("start") else None
    calls = [_object(call, name, "calls") for call in trace.get("calls") or ()]
    costs = [_object(call.get("usage"), name, "calls.usage").get("cost") for call in calls]
    known = [cost for cost in costs if cost is not None]
    about: dict[str, Any] = {
        "version": _object(trace.get("verifiers"), name, "verifiers").get("version"),
        "traces": [trace.get("id")],
    }
    planned = None if task.only is None else task.requests[0].messages[0].content
    if data.get("system_prompt") and data["system_prompt"] != planned:
        about["system_prompt"] = data["system_prompt"]  # put in place of the plan's own
    player = _object(_object(trace.get("agent"), name, "agent").get("config"), name, "agent.config")
    return _Played(
        task,
        replies,
        str(player.get("model") or "unnamed"),
        float(timing.get("start") or 0.0),
        seconds,
        sum(known) if known else None,
        about,
        json.dumps(data["reward"], sort_keys=True),
        _object(info.get(JUDGE_KEY), name, f"info.{JUDGE_KEY}"),
    )


def _joined(single: list[_Played]) -> tuple[list[_Played], int]:
    """Rollouts of whole conversations from traces of their requests, and how many were not complete."""
    made, partial = [], 0
    for group in together(single, _shared):
        first = group[0]
        task = replace(first.task, settings=_asked(first.task), only=None)
        replies = all_replies(group)
        if task.missing(replies):
            partial += 1
            continue
        costs = [one.cost for one in group if one.cost is not None]
        seconds = [one.seconds for one in group if one.seconds is not None]
        made.append(
            replace(
                first,
                task=task,
                replies=replies,
                started=min(one.started for one in group),
                seconds=sum(seconds) if seconds else None,
                cost=sum(costs) if costs else None,
                about={**first.about, "traces": [name for one in group for name in one.about["traces"]]},
            )
        )
    return made, partial


def _shared(one: _Played) -> tuple[Hashable, ...]:
    """What requests of one conversation have in common: who was asked, how, in whose words and for what."""
    task = one.task
    return (task.conversation.conversation_id, one.model, task.settings.key, one.system, one.reward)


def _asked(task: Task) -> Settings:
    """The settings with the scored stages alone, as tasks of single requests ask them."""
    scored = {stage for stage, _ in scored_requests(task.conversation, task.spec, task.settings.stages)}
    return replace(task.settings, stages=tuple(s for s in task.settings.stages if s in scored))
