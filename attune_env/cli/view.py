"""`attune view`: show one conversation in the terminal, with truth and predictions side by side."""

from __future__ import annotations

import difflib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attune_data.errors import DataError, SettingsError, UnknownNameError, one_line, show
from attune_env.cli import shared
from attune_env.cli.common import find_codebook, numbers_of, read_data
from attune_env.cli.options import argument, option

if TYPE_CHECKING:
    from attune_data import Conversation, Conversations


def view(
    conversation: str = argument(
        "The conversation's id, or the N of its conversation_N.json.", "CONVERSATION"
    ),
    data: str = option("The annotated conversations.", "sample", "-d", metavar="PATH"),
    results: Path | None = option(
        "Folder of result files with the models' predictions.", None, "-r", metavar="FOLDER"
    ),
    model: list[str] | None = option("Show only this model, named as in its result files; may be repeated."),
    mode: str = option("The mode of the results.", "default"),
    saw: bool = option("Print what the models saw at each stage.", False),
    replies: bool = option("Print the raw replies.", False),
    codebook: Path | None = option(
        "Wording of the questions; by default, the codebook next to the data, or else ours."
    ),
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Show one conversation: transcript, truth and predictions side by side, and what each request earned.

    Example: attune view 3

    Example: attune view 3 --data "Test Samples/Sample200" --results results --saw
    """
    from attune_env.report.pages.conversation import conversation_view
    from attune_env.report.pages.conversation_terminal import print_conversation
    from attune_env.tables.labels import short_names

    if results is None and (model or replies):
        raise SettingsError("--model and --replies need result files: name their folder with --results")
    chosen = find(read_data(data, skip_invalid=skip_invalid), conversation)
    records = {} if results is None else read_records(results, chosen, model or [], mode)
    shown = conversation_view(
        chosen,
        list(records.values()),
        mode=mode,
        names=short_names(list(records)),
        codebook=find_codebook(codebook, data),
    )
    print_conversation(shown, saw=saw, replies=replies)


def find(conversations: Conversations, named: str) -> Conversation:
    """Find the conversation with that id or number; raises SettingsError if there is none."""
    known, numbers = conversations.by_id, numbers_of(conversations)
    for identity, number in numbers.items():
        if named == str(number) and named not in known:
            return known[identity]
    if named in known:
        return known[named]
    near = difflib.get_close_matches(named, known, n=1)
    hint = f"did you mean {show(near[0])}? " if near else ""
    raise SettingsError(
        f"no conversation {show(named)} in {show(conversations.source)}; {hint}it has {len(known)} "
        f"conversations, numbered {min(numbers.values())} to {max(numbers.values())}, such as "
        f"{', '.join(map(show, list(known)[:3]))}"
    )


def read_records(
    folder: Path, conversation: Conversation, models: list[str], mode: str
) -> dict[str, dict[str, Any]]:
    """Model -> its record for the conversation in that mode, models before policies; those named, or all.

    Raises SettingsError if there is none, UnknownNameError for a model without one.
    """
    from attune_env.results.files import read_result, result_files, safe_name
    from attune_env.tables.labels import standing

    identity, files = conversation.conversation_id, result_files(folder)
    # file names contain the conversation; only if none does, all files are read
    likely = [path for path in files if path.name.startswith(f"{safe_name(identity)}_")]
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for path in likely or files:
        with suppress(DataError):
            record = read_result(path)
            known = isinstance(record, dict) and isinstance(record.get("em_model"), str)
            if known and record.get("conversationId") == identity:
                of_mode = found.setdefault(str(record.get("mode") or "default"), {})
                of_mode.setdefault(record["em_model"], record)
    if mode not in found:
        held = f"; it has results in mode {', '.join(map(one_line, sorted(found)))}" if found else ""
        raise SettingsError(f"{folder} contains no result for {show(identity)} in mode {show(mode)}{held}")
    for name in models:
        if name not in found[mode]:
            raise UnknownNameError("model with a result", name, sorted(found[mode]))
    in_order = sorted(found[mode], key=lambda name: (standing(name), name))
    return {name: found[mode][name] for name in models or in_order}
