"""`rollouts_from`: logged samples of lm-eval as the engine's rollouts, and so as result files.

Free of lm-eval: samples are read as the JSON that they are on disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.jsonio import read_json
from attune_data.loading import fingerprint
from attune_episodes.data_arguments import DataArguments
from attune_episodes.logs import Recording, all_replies, rollouts_of, together
from attune_episodes.rollout import Rollout
from attune_episodes.score import default_spec
from attune_episodes.settings import Settings
from attune_episodes.task import Task

Json = Mapping[str, Any]
_FILE: Final = re.compile(r"samples_attune_.+_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[.\d]*)\.jsonl")
UNNAMED: Final = "lm_eval/unnamed"


def rollouts_from(
    source: str | Path | Iterable[Json],
    data: str | Path | Conversations = "sample",
    *,
    em_model: str | None = None,
) -> list[Rollout]:
    """The rollouts that logged samples hold: replies parsed and scored again, with the result record.

    Args:
        source: the folder that `lm_eval --log_samples --output_path` wrote (or one above it), one of its
            `samples_attune_….jsonl`, or samples themselves, such as `results["samples"]["attune_all"]`.
        data: the conversations that were asked about, as `attune_data.load` takes them.
        em_model: the model's name in the result records, `provider/model`; by default `lm_eval/` and the one
            in lm-eval's own results beside the samples.

    Returns:
        One rollout a conversation, model and settings, in the order of the samples; samples of single stages
        are put together. They are named by `attune_episodes.logs.rollouts_of`: where a model was asked about
        a conversation more than once, `<model>@sample2` and so on.

    Raises DataError for what is no sample of ours, for a conversation that is not in the data or has changed
    since, and for prompts or a codebook other than those of the run.
    """
    chosen = DataArguments(data)
    found = chosen.finite("DataArguments(…, number=N).choose()")
    groups = together(_samples(source, em_model), lambda sample: sample.key)
    if not groups:
        raise _no_samples(show(str(source) if isinstance(source, (str, Path)) else "samples"))
    return rollouts_of([_recording(group, found, chosen) for group in groups])


def _no_samples(place: str) -> DataError:
    advice = "run lm_eval with --log_samples --output_path FOLDER"
    return DataError(Problem(place, "", "no sample", "samples of the attune tasks", advice))


@dataclass(frozen=True)
class _Sample:
    """One line of a log."""

    conversation_id: str
    fingerprint: str
    settings: Json
    """As `Settings.to_json` gives them."""
    replies: Mapping[str, str]
    """Id of a request -> text."""
    model: str
    date: str | None
    """When the run was, ISO 8601."""
    place: str

    @property
    def key(self) -> tuple[str, ...]:
        """The key shared by samples of single stages that belong together."""
        shared = {name: value for name, value in self.settings.items() if name != "stages"}
        return (self.conversation_id, self.fingerprint, self.model, json.dumps(shared, sort_keys=True))


def _recording(group: list[_Sample], found: Conversations, chosen: DataArguments) -> Recording:
    first = group[0]
    conversation = found.by_id.get(first.conversation_id)
    if conversation is None:
        raise DataError(
            Problem(first.place, "doc.conversation_id", show(first.conversation_id),
                    f"one of the {len(found)} conversations of {found.source}",
                    "name the data that the run was on")
        )  # fmt: skip
    if fingerprint(conversation) != first.fingerprint:
        raise DataError(
            Problem(first.place, "doc.fingerprint", first.fingerprint,
                    f"{fingerprint(conversation)}, that of {show(first.conversation_id)} in {found.source}",
                    "the conversation has changed since the run: name the data that it was on")
        )  # fmt: skip
    stages = [stage for one in group for stage in one.settings["stages"]]
    book = first.settings["codebook"]
    if book is not None and not Path(book).is_file():
        book = chosen.codebook()  # samples may have come from another machine
    settings = Settings.from_json({**first.settings, "stages": stages, "codebook": book})
    settings.check_same(first.settings, f"{first.place} doc", "prompts", "codebook")
    task, replies = Task(conversation, settings, default_spec()), all_replies(group)
    if differing := sorted({request.id for request in task.requests} ^ replies.keys()):
        raise DataError(
            Problem(first.place, "doc.requests",
                    f"{len(replies)} replies; {differing[0]} is only on one side",
                    f"the {len(task.requests)} requests of the conversation",
                    "use the version of attune-env that the run was made with")
        )  # fmt: skip
    facts = {"run_timestamp": first.date, "attune": {"lm_eval": {"samples": [one.place for one in group]}}}
    return Recording(task, replies, first.model, facts)


def _samples(source: object, em_model: str | None) -> Iterator[_Sample]:
    if not isinstance(source, (str, Path)):
        samples: Any = source
        for number, sample in enumerate(samples, 1):
            yield _sample(sample, em_model or UNNAMED, None, f"sample {number}")
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
                    yield _sample(line, model, date, f"{path.name}:{number}")


def _model_beside(path: Path, date: str) -> str:
    """The model's name in the results that lm-eval wrote with the samples."""
    for beside in sorted(path.parent.glob(f"*_{date}.json")) if date else ():
        told = read_json(beside, max_bytes=None)
        if isinstance(told, dict) and isinstance(told.get("model_name"), str):
            return f"lm_eval/{told['model_name']}"
    raise SettingsError(f"no results beside {path} say which model it was; give em_model")


def _sample(logged: Any, model: str, date: str | None, place: str) -> _Sample:
    """A sample, or a line of a log that holds one."""
    try:
        value = json.loads(logged) if isinstance(logged, str) else logged
        doc = value["doc"]
        settings, who = json.loads(doc["settings"]), doc["conversation_id"]
        said = dict(zip(doc["requests"], [replies[0] for replies in value["resps"]], strict=True))
        # what is read of them later
        _ = [*settings["stages"], settings["codebook"], settings["fingerprints"]["prompts"], f"{who:s}"]
        return _Sample(who, doc["fingerprint"], settings, said, model, date, place)
    except (LookupError, TypeError, ValueError) as error:
        raise DataError(
            Problem(place, "", show(logged), "a sample of an attune task, as lm-eval logs it",
                    f"{type(error).__name__} {error}: is it the log of another task?")
        ) from error  # fmt: skip
