"""Result files on disk: their names, written whole or not at all, read with every problem listed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from attune_data import Conversations
from attune_data.codebook import Codebook
from attune_data.destination import create, temporary
from attune_data.errors import DataError, Problem, show
from attune_data.jsonio import check_size, read_json
from attune_data.loading import fingerprint
from attune_env.results.marks import mapping, marks_of
from attune_rewards.predictions import ConversationPrediction
from attune_rewards.records import read_record

MAX_RESULT_BYTES: Final = 100_000_000
"""Largest result file: a hundred replies as long as any that is read. None is written that is larger."""
_SHORTER: Final = "bound the replies (--max-tokens), then ask again with --overwrite"
_UNSAFE = re.compile(r"[^\w.@+ -]", re.ASCII)
_DEVICE = re.compile(r"\A(con|prn|aux|nul|com\d|lpt\d)(?= *\.)", re.IGNORECASE)
"""Names that Windows takes for a device, whatever the ending."""


def safe_name(text: str, *, official: bool = False, longest: int = 80) -> str:
    """`text` as a part of a file name: it cannot leave the folder, hide the file, be an option or too long.

    Where characters had to go, a short hash keeps different names apart; with `official`, slashes become
    underscores without one, as the official runner writes model names.
    """
    plain = text.replace("/", "_") if official else text
    clean = _DEVICE.sub(r"\1_", _UNSAFE.sub("_", plain).lstrip("._ -")[:longest]) or "x"
    if clean == plain:
        return clean
    return f"{clean}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def result_name(conversation_id: str, em_model: str, mode: str) -> str:
    """`<conversationId>_<provider>_<model>_<mode>.json`, slashes as underscores."""
    model = safe_name(em_model, official=True)
    return f"{safe_name(conversation_id)}_{model}_{safe_name(mode, longest=30)}.json"


def source_file(conversations: Conversations, conversation_id: str) -> str | None:
    """The name of the file that a conversation was read from; None where there is none."""
    return Path(conversations.files.get(conversation_id, "")).name or None


def check_same_result(path: Path, conversation_id: str, em_model: str, mode: str) -> None:
    """Raises DataError where `path` holds a result of another conversation, model or mode.

    File names do not always tell them apart: slashes of model names become underscores, some file systems
    do not see case, and an id can be chosen so that it meets another's name.
    """
    existing_record(path, (conversation_id, em_model, mode))


def existing_record(path: Path, wanted: tuple[str, str, str]) -> object:
    """What `path` holds; None where it is not there, or cut off: nothing of another result is in it then.

    Raises DataError where it is a result of another conversation, model or mode than `wanted`.
    """
    if not path.exists():
        return None
    try:
        found: object = read_result(path)
    except DataError:
        return None
    check_same_record(path, found, wanted)
    return found


def check_same_record(path: Path, found: object, wanted: tuple[str, str, str]) -> None:
    """`check_same_result` of a file that has been read; what names no result at all is none of another."""
    if not isinstance(found, dict):
        return
    theirs = (found.get("conversationId"), found.get("em_model"), found.get("mode") or "default")
    if theirs[:2] != (None, None) and theirs != wanted:
        raise DataError(
            Problem(str(path), "", f"the result of {_named(*theirs)}",
                    f"a result of {_named(*wanted)}, whose file has the same name",
                    "choose another folder for one of them, or rename one")
        )  # fmt: skip


def _named(conversation_id: object, em_model: object, mode: object) -> str:
    return f"conversation {show(conversation_id)} by {show(em_model)} in mode {show(mode)}"


class TooLargeError(DataError):
    """A result that would not be read again."""


def read_result(path: Path) -> Any:
    """The JSON value in a result file; raises DataError where it cannot be read or is too large."""
    return read_json(path, MAX_RESULT_BYTES)


def write_result(path: Path, record: Mapping[str, Any]) -> None:
    """Writes a result file as `write_json` does; raises TooLargeError where `read_result` would refuse it."""
    text = json_text(record)
    try:
        check_size(len(text.encode()), str(path), MAX_RESULT_BYTES, _SHORTER)
    except DataError as error:
        raise TooLargeError(error.problems) from None
    write_text(path, text)


def write_json(path: Path, value: Any) -> None:
    """Writes JSON (UTF-8, indented) so that the file is whole or as it was before."""
    write_text(path, json_text(value))


def json_text(value: Any) -> str:
    """JSON as files here hold it: indented, characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_text(path: Path, text: str) -> None:
    """Writes text into a temporary file beside `path`, then puts it in its place in one step.

    A link that stands in the place is replaced; what it leads to stays as it is.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = temporary(path.parent, path.name)
    try:
        with create(fresh, path) as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(fresh, path)
    except IsADirectoryError as error:
        fresh.unlink(missing_ok=True)
        # the system names the temporary file, which is gone by then
        raise IsADirectoryError(error.errno, error.strerror, str(path)) from None
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def is_scores(content: object) -> bool:
    """Whether a JSON value looks like a scores file."""
    return isinstance(content, dict) and {"metadata", "conversations", "aggregates"} <= set(content)


@dataclass(frozen=True, slots=True)
class Result:
    """One result file, read against its conversation."""

    path: Path
    record: Mapping[str, Any]
    prediction: ConversationPrediction

    @property
    def em_model(self) -> str:
        """`provider/model`."""
        return str(self.record["em_model"])

    @property
    def mode(self) -> str:
        """The mode it was run in; files that do not say are default."""
        return str(self.record.get("mode") or "default")


def result_files(folder: Path) -> list[Path]:
    """The result files of a folder: its .json files but for skip lists, scores and hidden ones."""
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
    """Every result file of a folder, the problems that keep files out, and warnings.

    A problem is a file that is not JSON or no result record, one for an unknown conversation, or a
    second one for the same conversation, model and mode. With `reparse_with` the raw replies that the
    files keep are parsed again, as asked in that wording.
    """
    results: list[Result] = []
    problems: list[Problem] = []
    warnings: list[Problem] = []
    first_seen: dict[tuple[str, str, str], Path] = {}
    files = result_files(folder)
    if not files:
        problems.append(
            Problem(str(folder), "", "no result file",
                    "files <conversationId>_<provider>_<model>_<mode>.json", "run `attune run` first")
        )  # fmt: skip
    for path in files:
        try:
            record = read_result(path)
        except DataError as error:
            problems.extend(error.problems)
            continue
        if is_scores(record):
            continue  # it may lie beside the results
        if problem := _not_a_result(record, path, conversations):
            problems.append(problem)
            continue
        conversation = conversations.by_id[record["conversationId"]]
        key = (record["conversationId"], record["em_model"], str(record.get("mode") or "default"))
        if key in first_seen:
            problems.append(
                Problem(str(path), "", f"a second result for {key[0]} by {key[1]} in mode {key[2]}",
                        f"one (the first is {first_seen[key].name})", "move one away")
            )  # fmt: skip
            continue
        first_seen[key] = path
        if reparse_with is not None:
            from attune_env.results.reparse import reparsed

            try:
                record = reparsed(record, conversation, reparse_with, str(path))
            except DataError as error:
                problems.extend(error.problems)
                continue
        prediction, noted = read_record(record, conversation, str(path))
        warnings.extend(noted)
        run_on = mapping(marks_of(record).get("data")).get("fingerprint")
        if run_on is not None and run_on != fingerprint(conversation):
            warnings.append(
                Problem(str(path), "attune.data.fingerprint", show(run_on),
                        f"{fingerprint(conversation)}, that of the ground truth",
                        "the conversation has changed since the run", severity="warning")
            )  # fmt: skip
        results.append(Result(path, record, prediction))
    return results, problems, warnings


def _not_a_result(record: Any, path: Path, conversations: Conversations) -> Problem | None:
    file = str(path)
    if not isinstance(record, dict):
        return Problem(file, "", "no object", "a result record {…}", "move the file away")
    for field in ("conversationId", "em_model"):
        if not isinstance(record.get(field), str):
            return Problem(file, field, show(record.get(field)), "text", "is this a result file?")
    if record["conversationId"] not in conversations.by_id:
        return Problem(file, "conversationId", show(record["conversationId"]),
                       f"one of the {len(conversations)} conversations of {conversations.source}",
                       "score it against the data it was run on")  # fmt: skip
    return None
