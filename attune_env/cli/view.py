"""`attune view`: one conversation in the terminal, what was said and felt beside what was predicted."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attune_data.errors import DataError, SettingsError, UnknownNameError, one_line, show
from attune_env.cli.common import find_codebook, read_data
from attune_env.cli.options import SkipInvalid

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_data.schema import Conversation


def register(app: typer.Typer) -> None:
    """Adds the command to the root."""
    app.command()(view)


def view(
    conversation: Annotated[
        str, typer.Argument(metavar="CONVERSATION", help="Its id, or N of its conversation_N.json.")
    ],
    data: Annotated[
        str, typer.Option("--data", "-d", metavar="PATH", help="The annotated conversations.")
    ] = "sample",
    results: Annotated[
        Path | None, typer.Option("--results", help="Folder of result files: what models predicted.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="Only this model, as its result files name it; may be repeated."),
    ] = None,
    mode: Annotated[str, typer.Option(help="The mode of the results.")] = "default",
    saw: Annotated[bool, typer.Option("--saw", help="Print what models saw at each stage.")] = False,
    replies: Annotated[bool, typer.Option("--replies", help="Print the raw replies.")] = False,
    codebook: Annotated[
        Path | None,
        typer.Option(help="Wording of the questions; by default the codebook beside the data, else ours."),
    ] = None,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Show one conversation: the transcript, truth and predictions side by side, what each step earned.

    Example: attune view 3

    Example: attune view 3 --data "Test Samples/Sample200" --results results --saw
    """
    from attune_env.pages.conversation import conversation_view
    from attune_env.pages.conversation_terminal import print_conversation
    from attune_env.report.names import short_names

    if results is None and (model or replies):
        raise SettingsError("--model and --replies are about result files: name their folder with --results")
    chosen = find(read_data(data, skip_invalid=skip_invalid), conversation)
    records = read_records(results, chosen, model or [], mode) if results is not None else {}
    print_conversation(
        conversation_view(
            chosen,
            list(records.values()),
            mode=mode,
            names=short_names(list(records)),
            codebook=find_codebook(codebook, data),
        ),
        saw=saw,
        replies=replies,
    )


def find(conversations: Conversations, named: str) -> Conversation:
    """The conversation with that id, or with that number; raises SettingsError where there is none."""
    from attune_env.cli.data import numbers_of

    known = conversations.by_id
    if named in known:
        return known[named]
    numbers = {str(number): identity for identity, number in numbers_of(conversations).items()}
    if named in numbers:
        return known[numbers[named]]
    near = difflib.get_close_matches(named, known, n=1)
    hint = f"did you mean {show(near[0])}? " if near else ""
    some = ", ".join(map(show, list(known)[:3]))
    between = f"numbers {min(map(int, numbers))} to {max(map(int, numbers))}"
    raise SettingsError(
        f"no conversation {show(named)} in {show(conversations.source)}; {hint}"
        f"it holds {len(known)}, such as {some}, or by their {between}"
    )


def read_records(
    folder: Path, conversation: Conversation, models: list[str], mode: str
) -> dict[str, Mapping[str, Any]]:
    """Model -> its record for the conversation in that mode, by name; those asked for, or all.

    Raises SettingsError where there is none, UnknownNameError for a model without one.
    """
    from attune_env.results.files import read_result, result_files, safe_name

    files = result_files(folder)
    # files are named by their conversation: only if none is, all are read
    likely = [f for f in files if f.name.startswith(f"{safe_name(conversation.conversation_id)}_")]
    found: dict[str, Mapping[str, Any]] = {}
    modes = set()
    for path in likely or files:
        try:
            record = read_result(path)
        except DataError:
            continue
        if not isinstance(record, dict) or record.get("conversationId") != conversation.conversation_id:
            continue
        name, made_in = record.get("em_model"), record.get("mode") or "default"
        if isinstance(name, str):
            modes.add(str(made_in))
            if made_in == mode:
                found.setdefault(name, record)
    if not found:
        held = f"; there are results in mode {', '.join(map(one_line, sorted(modes)))}" if modes else ""
        raise SettingsError(
            f"{folder} holds no result for {show(conversation.conversation_id)} in mode {show(mode)}{held}"
        )
    for name in models:
        if name not in found:
            raise UnknownNameError("model with a result", name, sorted(found))
    return {name: found[name] for name in models or sorted(found)}
