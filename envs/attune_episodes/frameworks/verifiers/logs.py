"""`rollouts_from`: convert verifiers traces to rollouts, and so to result files; `node_rewards`.

It does not need verifiers: traces are read from disk as JSON.

`trace.info["attune"]` is `{"version": 1, "replies": {request id: entry}}`. An entry has

- `text`: the last raw reply, which counts; null if there is none yet,
- `status`: `ok` or `unparsed:<code>` as parsed at the time; `failed` if the endpoint gave no reply,
- `asks`: the number of attempts, `calls`: the number of calls they took,
- `nodes`: indices of the replies in `trace.nodes`, ending with the one that counts,
- `reward`: what the request earns of the rollout's reward, once that has been scored,
- `finish_reason`; `refusal`, true if the model refused in words (the text is then empty); `failed`, why there
  is no reply.

`trace.info["attune_judge"]` has the judge's `model` and its raw `replies`, turn number -> texts.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import DataError, Problem, show
from attune_episodes.play.logs import Recording, joined, rollouts_of, texts_in
from attune_episodes.play.rollout import Rollout
from attune_episodes.play.task import Task
from attune_rewards.reward.score import scored_requests

if TYPE_CHECKING:
    import verifiers.v1 as vf

INFO_KEY: Final = "attune"
JUDGE_KEY: Final = "attune_judge"
VERSION: Final = 1
FAILED: Final = "failed"
Entries = Mapping[str, dict[str, Any]]
TRACES: Final = "traces.jsonl"
_READ: Final = {"task", "info", "nodes", "ok", "agent", "timing", "id", "verifiers", "calls"}
logger = logging.getLogger(__name__)
Json = Mapping[str, Any]


def entries_in(info: Mapping[str, Any]) -> Entries:
    """Request id -> entry; {} if another harness played."""
    held = info.get(INFO_KEY)
    found = held.get("replies") if isinstance(held, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def replies_in(info: Mapping[str, Any], said: Sequence[object], task: Task) -> dict[str, str]:
    """Request id -> raw reply, for the requests that were answered.

    `info` is the trace's, and `said` has the content of all the model's messages in it: if a different chat
    harness played a single request, the last text is the answer.
    """
    entries = entries_in(info)
    if not entries and task.only is not None:
        return {task.only: said[-1] if isinstance(said[-1], str) else ""} if said else {}
    return texts_in(entries, task)


def node_rewards(trace: vf.Trace[Any, Any, Any] | Json) -> list[float]:
    """What each message of a scored trace earns, in the order of `trace.nodes`.

    The last reply to a request earns the request's share, everything else 0. Their sum is the reward that the
    annotations give: `trace.reward`, unless a judge's rating is a reward as well.

    Raises DataError for a trace without rewards by request: of another harness, which has a single answer, of
    an older version, or not scored.
    """
    info, nodes = (trace["info"], trace["nodes"]) if isinstance(trace, Mapping) else (trace.info, trace.nodes)
    entries, earned = entries_in(info), [0.0] * len(nodes)
    for name, entry in entries.items():
        if "reward" not in entry or not entry.get("nodes"):
            raise _unnoted(f"{show(name)} without its reward or its reply")
        earned[entry["nodes"][-1]] += entry["reward"]
    if not entries:
        raise _unnoted("no replies by request")
    return earned


def _unnoted(found: str) -> DataError:
    return DataError(
        Problem("trace", f"info.{INFO_KEY}", found, "a reward and a node for every request",
                "vf-replay scores the traces of an older version anew")
    )  # fmt: skip


def rollouts_from(
    source: str | Path | Iterable[vf.Trace[Any, Any, Any] | Json], *, em_model: str | None = None
) -> list[Rollout]:
    """Read the rollouts in traces; replies are parsed and scored again, with the official result record.

    Args:
        source: the folder of a run (`outputs/RUN`), its `traces.jsonl`, or the traces.
        em_model: the model's name in the result records, `provider/model`; by default that of the trace.

    Returns:
        One rollout per trace, in order. Traces of single requests are joined into one rollout per
        conversation, with the stages that its tasks asked, under one reward and one system prompt. If a model
        played a conversation more than once, the later ones are named as in
        `attune_episodes.play.logs.rollouts_of`: `<model>@sample2` and so on.

    Traces that are not `ok`, and conversations with missing requests, are left out with a warning. Raises
    DataError if none is left or if something is not a trace of this environment.
    """
    read = [_read(trace, em_model) for trace in _traces(source)]
    kept = [one for one in read if one is not None]
    recordings = [one for one in kept if not one.single] + joined(one for one in kept if one.single)
    complete = [one for one in recordings if not one.task.missing(one.replies)]
    left_out, partial = len(read) - len(kept), len(recordings) - len(complete)
    if left_out or partial:
        logger.warning(
            "left out: %d traces that are not ok, %d conversations with missing requests",
            left_out, partial,
        )  # fmt: skip
    if not complete:
        raise DataError(
            Problem(show(str(source) if isinstance(source, (str, Path)) else "traces"), "",
                    f"no complete trace ({left_out} not ok, {partial} conversations incomplete)",
                    "traces of attune-env", "vf-eval @ RUN/configs/resolved/eval.json --resume")
        )  # fmt: skip
    made = rollouts_of(complete)
    return [one.judged(new) for one, new in zip(complete, made, strict=True)]


@dataclass(frozen=True)
class _Trace(Recording):
    """The content of a trace."""

    single: bool = False
    """Whether it has a single request; the task is then that of its conversation, with the scored stages."""
    judge: Json = field(default_factory=dict)
    """The judge's `model` and raw `replies`; {} if there was no judge."""

    def judged(self, played: Rollout) -> Rollout:
        """Add the judge's assessments of the drafts, if there was a judge."""
        texts: Mapping[str, str] = self.judge.get("replies") or {}
        if not texts:
            return played
        from attune_episodes.judging import add_judgements, judge_request, parse_judgement, with_judgements

        task, model = self.task, str(self.judge.get("model"))
        judged, kept = {}, {}
        for number, turn in played.prediction.turns.items():
            draft = turn.draft.text if turn.draft else None
            asked = judge_request(task.conversation, number, draft, task.settings)
            if asked is not None and (said := texts.get(str(number))):
                judged[number] = {model: parse_judgement(asked, said)}
                kept[number] = {model: said}
        return replace(
            played,
            prediction=with_judgements(played.prediction, judged),
            result=add_judgements(played.result, judged, task.settings, replies=kept),
        )


def _traces(source: object) -> Iterator[Json]:
    if isinstance(source, (str, Path)):
        path = Path(source)
        file = path / TRACES if path.is_dir() else path
        if not file.is_file():
            raise DataError(
                Problem(str(path), "", "no traces", f"a run's folder with {TRACES}, or such a file",
                        "vf-eval prints the location of its results")
            )  # fmt: skip
        # split only at \n, since texts may contain other line-break characters
        with file.open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        yield from json.loads(line)["traces"]
                    except (ValueError, KeyError, TypeError) as error:
                        raise DataError(
                            Problem(f"{file}", f"line {number}", type(error).__name__,
                                    "a verifiers episode with its traces",
                                    "--resume redoes a line that was cut off")
                        ) from error  # fmt: skip
        return
    traces: Any = source
    for trace in traces:
        dump = getattr(trace, "model_dump", None)
        yield trace if dump is None else dump(mode="json", include=_READ)


def _read(trace: Json, em_model: str | None) -> _Trace | None:
    """Read a trace; None if it is not ok. Raises DataError if it is not a trace of this environment."""
    try:
        data = trace["task"]["data"]
        if not {"conversation", "settings", "reward"} <= data.keys():
            raise ValueError(f"task.data has {', '.join(sorted(data)[:8])}")
        return _recorded(trace, data, em_model) if trace.get("ok") else None
    except DataError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        given: object = trace
        name = given.get("id") if isinstance(given, Mapping) else show(given)
        raise DataError(
            Problem(f"trace {name}", "", f"{type(error).__name__} {error}",
                    "an attune-env trace written by verifiers",
                    "is it the trace of another environment?")
        ) from error  # fmt: skip


def _recorded(trace: Json, data: Json, em_model: str | None) -> _Trace:
    task, info = Task.from_json(data), trace.get("info") or {}
    said = [node["message"].get("content") for node in trace.get("nodes") or () if node.get("sampled")]
    replies, single, system = replies_in(info, said, task), task.only is not None, data.get("system_prompt")
    if single:
        # the plan's own system prompt is not recorded; the stages are those that single requests can have
        system = None if system == task.requests[0].messages[0].content else system
        scored = {stage for stage, _ in scored_requests(task.conversation, task.spec, task.settings.stages)}
        stages = tuple(stage for stage in task.settings.stages if stage in scored)
        task = replace(task, settings=replace(task.settings, stages=stages), only=None)
    timing: Json = trace.get("timing") or {}
    start, end = ((timing.get("agent") or {}).get(name) for name in ("start", "end"))
    costs = [(call.get("usage") or {}).get("cost") for call in trace.get("calls") or ()]
    known = [cost for cost in costs if cost is not None]
    about = {"version": (trace.get("verifiers") or {}).get("version"), "traces": [str(trace["id"])]}
    started = datetime.fromtimestamp(float(timing.get("start") or 0.0), UTC)
    facts = {
        "run_timestamp": started.isoformat(timespec="seconds"),
        "api_cost": sum(known) if known else None,
        "duration_seconds": round(end - start, 6) if start and end else None,
        "attune": {"verifiers": about | ({"system_prompt": system} if system else {})},
    }
    judge: Json = info.get(JUDGE_KEY) or {}
    model = em_model or str(trace["agent"]["config"].get("model") or "unnamed")
    judged = {"model": judge.get("model"), "replies": dict(judge.get("replies") or {})}
    return _Trace(task, replies, model, facts, system or None, single, judged)
