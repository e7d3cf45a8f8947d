"""`rollouts_from`: convert Inspect logs to rollouts, and so to result files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import DataError, Problem, show
from attune_data.extras import needs_extra
from attune_episodes.frameworks.inspect.tasks import REPLIES, replies_in, task_of
from attune_episodes.play.logs import Recording, rollouts_of
from attune_episodes.play.rollout import Rollout

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

_UNREAD: Final = {"events", "messages", "output", "attachments"}
"""Fields of a sample that are not needed here; they make up most of a log."""
logger = logging.getLogger(__name__)


def rollouts_from(
    source: str | Path | Iterable[str | Path | EvalLog] | EvalLog, *, em_model: str | None = None
) -> list[Rollout]:
    """Read the rollouts in logs of `attune_env/attune`; replies are parsed and scored again.

    Args:
        source: a log file (`.eval` or `.json`), a folder of them, a log returned by `inspect_ai.eval`, or
            several of these.
        em_model: the model's name in the result records, `provider/model`; by default the one in the log.

    Returns:
        One rollout per sample and epoch, in the order of the logs, named by
        `attune_episodes.play.logs.rollouts_of`: if a model played a conversation more than once,
        `<model>@sample2` and so on.

    Samples that ended in an error or before every request was answered are left out with a warning. Raises
    DataError if none is left or if something is not a log of this task; MissingExtraError without Inspect.
    """
    kept: list[Recording] = []
    left_out = 0
    for log in _logs(source):
        for sample in sorted(log.samples or (), key=lambda one: one.epoch):
            task = task_of(sample.metadata)
            replies = replies_in(sample.store, task)
            if sample.error is not None or task.missing(replies):
                left_out += 1
            else:
                kept.append(Recording(task, replies, em_model or log.eval.model, _facts(log, sample)))
    if left_out:
        logger.warning("left out: %d failed or incomplete samples", left_out)
    if not kept:
        place = str(source) if isinstance(source, (str, Path)) else "logs"
        raise DataError(
            Problem(place, "", f"no complete sample ({left_out} failed or incomplete)",
                    "logs of attune_env/attune", "inspect eval-retry LOG")
        )  # fmt: skip
    return rollouts_of(kept)


def _facts(log: EvalLog, sample: EvalSample) -> dict[str, Any]:
    costs = [usage.total_cost for usage in sample.model_usage.values()]
    return {
        "run_timestamp": sample.started_at or log.eval.created,
        "api_cost": sum(costs) if costs and None not in costs else None,
        "duration_seconds": sample.total_time,
        "attune": {
            "inspect": {
                "version": log.eval.packages.get("inspect_ai"),
                "eval": log.eval.eval_id,
                "sample": sample.uuid,
                "epoch": sample.epoch,
                "asked_again": sum(entry.get("asks", 1) - 1 for entry in sample.store[REPLIES].values()),
            }
        },
    }


def _logs(source: object) -> Iterator[EvalLog]:
    with needs_extra("inspect", "inspect_ai"):
        from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

    if isinstance(source, EvalLog):
        yield source
    elif isinstance(source, (str, Path)):
        if not Path(source).exists():
            raise DataError(
                Problem(str(source), "", "nothing there", "an Inspect log, or a folder of them",
                        "inspect eval prints the location of its log")
            )  # fmt: skip
        files = [str(source)]
        if Path(source).is_dir():
            # as paths: in a URL, Inspect would treat everything after # as a fragment
            files = sorted(str(info.name).removeprefix("file://") for info in list_eval_logs(str(source)))
        for file in files:
            try:
                log = read_eval_log(file, exclude_fields=_UNREAD)
            except Exception as error:  # the reader may raise anything for a file that is not a log
                raise DataError(
                    Problem(file, "", f"{type(error).__name__}: {show(str(error), 200)}",
                            "an Inspect log, .eval or .json")
                ) from error  # fmt: skip
            yield log
    elif isinstance(source, Iterable):
        for one in source:
            yield from _logs(one)
    else:
        raise TypeError(f"logs are files, folders or EvalLog objects, got {type(source).__name__}")
