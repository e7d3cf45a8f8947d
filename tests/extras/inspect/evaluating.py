"""Evaluating tasks of Inspect in tests, and the same conversations by `attune run` and `attune score`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import get_model

from attune_data import Conversations
from attune_env.inspect_task.tasks import attune
from attune_env.results import read_results, score_results
from attune_rewards.metrics.aggregate import flatten
from tests.command import own
from tests.data.builders import turn
from tests.endpoint import Server

MODEL: Final = "openai-api/local/m"
SCORER: Final = "attune_scores"
Json = dict[str, Any]


@dataclass(frozen=True)
class Evaluated:
    """A log as it lies on disk."""

    path: Path
    log: EvalLog

    @property
    def values(self) -> dict[tuple[str, int], dict[str, float]]:
        """(conversation, epoch) -> metric -> value, of the samples that were scored."""
        return {
            (str(one.id), one.epoch): dict(one.scores[SCORER].value)
            for one in self.log.samples or ()
            if one.scores
        }

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Metric -> `mean`, `stderr`, and the numbers of conversations with and without a value."""
        assert self.log.results is not None
        return {
            score.name: {name: metric.value for name, metric in score.metrics.items()}
            | {"scored": score.scored_samples, "unscored": score.unscored_samples}
            for score in self.log.results.scores
        }


def evaluated(
    server: Server, folder: Path, arguments: Json | None = None, *, status: str = "success", **options: Any
) -> Evaluated:
    """The task of these arguments, evaluated; `options` are those of `inspect_ai.eval`."""
    model = get_model(MODEL, base_url=server.url, api_key="none", memoize=False)
    (log,) = evaluate(attune(**(arguments or {})), model=model, log_dir=str(folder), **options)
    assert log.status == status, log.error
    path = Path(log.location.removeprefix("file://"))
    return Evaluated(path, read_eval_log(str(path)))


def scored(results: Path, data: Conversations) -> Json:
    """What `attune score` writes."""
    found, problems, warnings = read_results(results, data)
    assert not problems
    assert not warnings
    scores = score_results(found, data, ground_truth="data")
    return json.loads(json.dumps(scores))  # type: ignore[no-any-return]


def flat(scores: Json) -> dict[tuple[str, str], dict[str, float | None]]:
    """(conversation, model) -> every metric of a scores file."""
    return {(one["conversationId"], one["em_model"]): flatten(one) for one in scores["conversations"]}


def named(identity: str, who: str, **overrides: Any) -> Json:
    """A small record whose messages are its own: no other conversation asks the same."""
    turns = [turn(number, userMessage=f"{identity} {number}: مرحبا, naïve 😮‍💨") for number in (1, 2)]
    return own(identity, who, turns=turns, **overrides)


def written(folder: Path, records: Sequence[Json]) -> Path:
    """Records as a file of conversations."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "conversations.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path
