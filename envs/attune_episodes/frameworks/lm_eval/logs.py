"""`rollouts_from`: convert lm-eval's logged samples to rollouts, and so to result files.

It does not need lm-eval: samples are read from disk as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.jsonio import read_json
from attune_data.source.source import Source
from attune_episodes.frameworks.lm_eval.tasks import task_of
from attune_episodes.play.logs import Recording, joined, rollouts_of
from attune_episodes.play.rollout import Rollout

Json = Mapping[str, Any]
_FILE: Final = re.compile(r"samples_attune_.+_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.\d]*)\.jsonl")
UNNAMED: Final = "lm_eval/unnamed"


def rollouts_from(
    source: str | Path | Iterable[Json],
    data: str | Path | Conversations = "sample",
    *,
    em_model: str | None = None,
) -> list[Rollout]:
    """Read the rollouts in logged samples; replies are parsed and scored again, with the result record.

    Args:
        source: the folder that `lm_eval --log_samples --output_path` wrote (or one above it), one of its
            `samples_attune_….jsonl`, or the samples, such as `results["samples"]["attune_all"]`.
        data: the conversations that were asked about, as for `attune_data.load`.
        em_model: the model's name in the result records, `provider/model`; by default `lm_eval/` plus the
            name in lm-eval's own results next to the samples.

    Returns:
        One rollout per conversation, model and settings, in the order of the samples; samples of single
        stages are joined. They are named by `attune_episodes.play.logs.rollouts_of`: if a model was asked
        about a conversation more than once, `<model>@sample2` and so on.

    Raises DataError for anything that is not one of our samples, for a conversation that is not in the data
    or has changed since, and for prompts or a codebook other than those of the run.
    """
    chosen = Source(data)
    conversations = chosen.finite("Source(…, number=N).finite()")
    recordings = [
        _recording(sample, name, date, place, conversations, chosen)
        for sample, name, date, place in _samples(source, em_model)
    ]
    if not recordings:
        place = show(str(source) if isinstance(source, (str, Path)) else "samples")
        advice = "run lm_eval with --log_samples --output_path FOLDER"
        raise DataError(Problem(place, "", "no sample", "samples of the attune tasks", advice))
    return rollouts_of(joined(recordings))


def _samples(source: object, em_model: str | None) -> Iterator[tuple[Any, str, str | None, str]]:
    """Yield each sample, or the line of a log with one, with its model, date and place."""
    if not isinstance(source, (str, Path)):
        samples: Any = source
        for number, sample in enumerate(samples, 1):
            yield sample, em_model or UNNAMED, None, f"sample {number}"
        return
    folder = Path(source)
    files = [folder]
    if not folder.is_file():
        files = sorted(file for file in folder.rglob("samples_*.jsonl") if _FILE.fullmatch(file.name))
    for path in files:
        named = _FILE.fullmatch(path.name)
        # lm-eval writes 2026-01-31T12-30-59.123456 for 2026-01-31T12:30:59
        day, _, time = (named["date"] if named else "").partition("T")
        date = f"{day}T{time.partition('.')[0].replace('-', ':')}" if named else None
        model = em_model or _model_beside(path, named["date"] if named else "")
        with path.open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield line, model, date, f"{path.name}:{number}"


def _model_beside(path: Path, date: str) -> str:
    """The model's name in the results that lm-eval wrote next to the samples."""
    for beside in sorted(path.parent.glob(f"*_{date}.json")) if date else ():
        told = read_json(beside, max_bytes=None)
        if isinstance(told, dict) and isinstance(told.get("model_name"), str):
            return f"lm_eval/{told['model_name']}"
    raise SettingsError(f"no results file next to {path} names the model; give em_model")


def _recording(
    sample: Any, model: str, date: str | None, place: str, conversations: Conversations, chosen: Source
) -> Recording:
    try:
        value = json.loads(sample) if isinstance(sample, str) else sample
        document = value["doc"]
        replies = dict(zip(document["requests"], [texts[0] for texts in value["resps"]], strict=True))
        # the fields that are read later
        written = json.loads(document["settings"])
        _ = [*written["stages"], written["codebook"], written["fingerprints"]["prompts"]]
        _ = [f"{document['conversation_id']:s}", document["fingerprint"]]
    except (LookupError, TypeError, ValueError) as error:
        raise DataError(
            Problem(place, "", show(sample), "a sample of an attune task, as lm-eval logs it",
                    f"{type(error).__name__} {error}: is it the log of another task?")
        ) from error  # fmt: skip
    task = task_of(document, conversations, chosen, place)
    if differing := sorted({request.id for request in task.requests} ^ replies.keys()):
        raise DataError(
            Problem(place, "doc.requests",
                    f"{len(replies)} replies; {differing[0]} is not in both",
                    f"the {len(task.requests)} requests of the conversation",
                    "use the version of attune-env that the run was made with")
        )  # fmt: skip
    facts = {"run_timestamp": date, "attune": {"lm_eval": {"samples": [place]}}}
    return Recording(task, replies, model, facts)
