"""Result files on disk: name them, write them atomically, and read them with every problem listed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data import Conversations
from attune_data.errors import DataError, Problem, show
from attune_data.files.destination import create, temporary
from attune_data.format.codebook import Codebook
from attune_data.format.fingerprint import fingerprint
from attune_data.format.schema import Conversation
from attune_data.jsonio import check_size, read_json
from attune_episodes.chat.finish import verdict
from attune_rewards.metrics.scoring import score_conversation
from attune_rewards.predictions import ConversationPrediction
from attune_rewards.record.marks import answers_in, finish_ok_of, mapping, marks_of
from attune_rewards.record.read import read_record

if TYPE_CHECKING:
    from attune_episodes.play.rollout import Rollout

MAX_RESULT_BYTES: Final = 100_000_000
"""Largest result file that is written or read: a hundred replies of maximum length."""
_SHORTER: Final = "limit the replies (--max-tokens), then ask again with --overwrite"
Names = tuple[str, str, str]
"""(conversationId, em_model, mode) of a result."""
_UNSAFE: Final = re.compile(r"[^\w.@+ -]", re.ASCII)
_DEVICE: Final = re.compile(r"\A(con|prn|aux|nul|com\d|lpt\d)(?= *\.)", re.IGNORECASE)
"""Names that Windows reserves for devices, with any extension."""


def safe_name(text: str, *, official: bool = False, longest: int = 80) -> str:
    """Make `text` safe as part of a file name: never a path, hidden, an option or too long.

    If characters have to be replaced, a short hash keeps different names distinct; with `official`, slashes
    become underscores without a hash, as in the official runner's model names.
    """
    plain = text.replace("/", "_") if official else text
    clean = _DEVICE.sub(r"\1_", _UNSAFE.sub("_", plain).lstrip("._ -")[:longest]) or "x"
    if clean == plain:
        return clean
    return f"{clean}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def result_name(conversation_id: str, em_model: str, mode: str) -> str:
    """`<conversationId>_<provider>_<model>_<mode>.json`, with slashes replaced by underscores."""
    model = safe_name(em_model, official=True)
    return f"{safe_name(conversation_id)}_{model}_{safe_name(mode, longest=30)}.json"


def source_file(conversations: Conversations, conversation_id: str) -> str | None:
    """The name of the file from which a conversation was read; None if there is none."""
    return Path(conversations.files.get(conversation_id, "")).name or None


def existing_record(path: Path, wanted: Names) -> object:
    """Read the record at `path`; None if it is missing or truncated, and may be overwritten.

    Raises DataError if it is a result of a conversation, model or mode other than `wanted`. File names may
    collide: slashes in model names become underscores, some file systems ignore case, and an id can be chosen
    to match another name.
    """
    if not path.exists():
        return None
    try:
        found: object = read_result(path)
    except DataError:
        return None
    record = mapping(found)
    theirs = (record.get("conversationId"), record.get("em_model"), record.get("mode") or "default")
    if theirs[:2] != (None, None) and theirs != wanted:
        raise DataError(
            Problem(str(path), "", f"the result of {_named(*theirs)}",
                    f"a result of {_named(*wanted)}, whose file has the same name",
                    "choose another folder for one of them, or rename one")
        )  # fmt: skip
    return found


def _named(conversation_id: object, em_model: object, mode: object) -> str:
    return f"conversation {show(conversation_id)} by {show(em_model)} in mode {show(mode)}"


class TooLargeError(DataError):
    """A result that is too large to be read again."""


def read_result(path: Path) -> Any:
    """The JSON value in a result file; raises DataError if it cannot be read or is too large."""
    return read_json(path, MAX_RESULT_BYTES)


def write_result(path: Path, record: Mapping[str, Any]) -> None:
    """Write a result file as `write_json` does; raise TooLargeError if `read_result` would refuse it."""
    text = _json_text(record)
    try:
        check_size(len(text.encode()), str(path), MAX_RESULT_BYTES, _SHORTER)
    except DataError as error:
        raise TooLargeError(error.problems) from None
    write_text(path, text)


def with_scores(
    record: Mapping[str, Any], conversation: Conversation, prediction: ConversationPrediction
) -> dict[str, Any]:
    """Add `attune.scores` to the record of a prediction: the conversation's metrics, as in a scores file.

    Scores of single turns are left out; nothing is added if the conversation has no annotation.
    """
    scores = score_conversation(conversation, prediction)
    del scores["turn_scores"]
    annotated = {"scores": scores} if scores["unscored_share"] < 1 else {}
    return {**record, "attune": {**marks_of(record), **annotated}}


def save_results(rollouts: Iterable[Rollout], folder: str | Path) -> list[Path]:
    """Write one official result file per rollout into `folder` (created if needed); return their paths.

    The model's name in them is the `em_model` passed to `rollout` or `rollout_batch`. A file for the same
    conversation, model and mode is replaced; a different one with the same name raises DataError. Score the
    files with `attune score --results FOLDER …`.
    """
    paths = []
    for played in rollouts:
        record = played.result
        names = (record["conversationId"], record["em_model"], record["mode"])
        path = Path(folder) / result_name(*names)
        existing_record(path, names)
        write_result(path, with_scores(record, played.conversation, played.prediction))
        paths.append(path)
    return paths


def write_json(path: Path, value: Any) -> None:
    """Write JSON (UTF-8, indented) atomically: the file is either complete or unchanged."""
    write_text(path, _json_text(value))


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_text(path: Path, text: str) -> None:
    """Write text into a temporary file beside `path`, then move it into place in one step.

    A link at `path` is replaced; its target does not change.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = temporary(path.parent, path.name)
    try:
        with create(fresh, path) as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(fresh, path)
    except BaseException as error:
        fresh.unlink(missing_ok=True)
        if isinstance(error, IsADirectoryError):
            # the system's error names the temporary file, which no longer exists
            raise IsADirectoryError(error.errno, error.strerror, str(path)) from None
        raise


def is_scores(content: object) -> bool:
    """Whether a JSON value looks like a scores file."""
    return isinstance(content, dict) and {"metadata", "conversations", "aggregates"} <= set(content)


@dataclass(frozen=True, slots=True)
class Result:
    """A result file, parsed with its conversation."""

    path: Path
    record: Mapping[str, Any]
    prediction: ConversationPrediction

    @property
    def em_model(self) -> str:
        """`provider/model`."""
        return str(self.record["em_model"])

    @property
    def mode(self) -> str:
        """The mode in which it was run; by default, "default"."""
        return str(self.record.get("mode") or "default")


def result_files(folder: Path) -> list[Path]:
    """The result files of a folder: its .json files except skip lists, scores files and hidden files."""
    if not folder.is_dir():
        raise DataError(
            Problem(str(folder), "", "no such folder", "a folder of result files", "check the path")
        )
    return sorted(
        f for f in folder.glob("*.json") if not f.name.startswith(("_", ".")) and f.name != "scores.json"
    )


def read_results(
    folder: Path, conversations: Conversations, *, reparse_with: Codebook | None = None
) -> tuple[list[Result], list[Problem], list[Problem]]:
    """Read every result file of a folder; also returns the problems of files left out, and warnings.

    Problem files are not JSON or not a result record, belong to an unknown conversation, or are a second file
    for the same conversation, model and mode. With `reparse_with`, the raw replies in the files are parsed
    again in that wording.
    """
    results: list[Result] = []
    warnings: list[Problem] = []
    problems: list[Problem] = []
    first: dict[Names, str] = {}
    files = result_files(folder)
    if not files:
        problems.append(
            Problem(str(folder), "", "no result file",
                    "files <conversationId>_<provider>_<model>_<mode>.json", "run `attune run` first")
        )  # fmt: skip
    for path in files:
        try:
            record = read_result(path)
            if is_scores(record):
                continue  # a scores file may be in the same folder
            _check_record(record, path, conversations)
            names = (record["conversationId"], record["em_model"], str(record.get("mode") or "default"))
            if first.setdefault(names, path.name) != path.name:
                what = f"a second result for {names[0]} by {names[1]} in mode {names[2]}"
                one = f"one (the first is {first[names]})"
                raise DataError(Problem(str(path), "", what, one, "move one away"))
            conversation = conversations.by_id[names[0]]
            if reparse_with is not None:
                from attune_env.results.reparse import reparsed

                record, damaged = reparsed(record, conversation, reparse_with, str(path))
                warnings += damaged
        except DataError as error:
            problems += error.problems
            continue
        prediction, noted = read_record(record, conversation, str(path))
        warnings += noted
        run_on = mapping(marks_of(record).get("data")).get("fingerprint")
        if run_on is not None and run_on != fingerprint(conversation):
            warnings.append(
                Problem(str(path), "attune.data.fingerprint", show(run_on),
                        f"{fingerprint(conversation)}, that of the ground truth",
                        "the conversation has changed since the run", severity="warning")
            )  # fmt: skip
        if broken := stored_faults(record):
            warnings.append(
                Problem(str(path), "attune.calls", f"{len(broken)} answers that the server broke off "
                        f"(the first: {show(broken[0])})", "answers of the model",
                        "ask for them again: the command of the run with --redo faults", severity="warning")
            )  # fmt: skip
        results.append(Result(path, record, prediction))
    return results, problems, warnings


def stored_faults(record: Mapping[str, Any]) -> list[str]:
    """The ids of answers that are none, since the server broke them off; by today's rule.

    Earlier versions stored such answers too.
    """
    return [
        id_
        for id_, one in answers_in(record).items()
        if verdict(one.finish, plain=one.plain, readable=one.readable, finish_ok=finish_ok_of(record))
        == "fault"
    ]


def _check_record(record: Any, path: Path, conversations: Conversations) -> None:
    """Raise DataError if a JSON value is not a result for one of the conversations."""

    def wrong(field: str, found: str, expected: str, advice: str) -> DataError:
        return DataError(Problem(str(path), field, found, expected, advice))

    if not isinstance(record, dict):
        raise wrong("", "no object", "a result record {…}", "move the file away")
    for field in ("conversationId", "em_model"):
        if not isinstance(record.get(field), str):
            raise wrong(field, show(record.get(field)), "text", "is this a result file?")
    if record["conversationId"] not in conversations.by_id:
        known = f"one of the {len(conversations)} conversations of {conversations.source}"
        raise wrong("conversationId", show(record["conversationId"]), known,
                    "score it against the data it was run on")  # fmt: skip
