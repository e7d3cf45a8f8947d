"""`attune data import`: other data sets, brought into this format."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attune_env.cli.common import Overwrite, SkipInvalid

if TYPE_CHECKING:
    from attune_data.importing import Imported

app = typer.Typer(
    help="Bring other data sets into this format: what they say, and nothing more.", no_args_is_help=True
)


class PairsChoice(StrEnum):
    """Which comparisons are imported."""

    all = "all"
    alternates = "alternates"


Destination = Annotated[
    Path, typer.Option("--output", "-o", help="Folder to write to, or a file that ends in .jsonl.")
]


def register(data: typer.Typer) -> None:
    """Adds the commands to `attune data`."""
    data.add_typer(app, name="import")


@app.command()
def esconv(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="ESConv.json, or one in its format.")],
    output: Destination,
    overwrite: Overwrite = False,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Import ESConv: emotional support chats between a seeker and a supporter.

    Says what is annotated, what was left out, and why. docs/importing.md has the table of fields.

    Example: attune data import esconv ESConv.json -o esconv
    """

    def read() -> Imported:
        from attune_data.importing import import_esconv

        return import_esconv(file, skip_invalid=skip_invalid)

    _import(read, output, overwrite=overwrite)


@app.command()
def prism(
    path: Annotated[
        Path,
        typer.Argument(metavar="PATH", help="Folder of conversations.jsonl and survey.jsonl, or the former."),
    ],
    output: Destination,
    pairs: Annotated[
        PairsChoice,
        typer.Option(
            help="alternates: without comparisons of the reply in the thread, which tells their winner."
        ),
    ] = PairsChoice.all,
    overwrite: Overwrite = False,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Import PRISM: conversations with several models at once, every reply scored.

    Says what is annotated, what was left out, and why. docs/importing.md has the table of fields.

    Example: attune data import prism prism-alignment -o prism --pairs alternates
    """

    def read() -> Imported:
        from attune_data.importing import import_prism

        return import_prism(path, skip_invalid=skip_invalid, pairs=pairs.value)

    _import(read, output, overwrite=overwrite)


def _import(read: Callable[[], Imported], output: Path, *, overwrite: bool) -> None:
    from attune_data import SettingsError
    from attune_data.destination import check_folder, check_jsonl
    from attune_data.loading import is_benchmark
    from attune_data.writing import write_folder, write_jsonl

    if output.suffix == ".json":
        raise SettingsError(f"{output} is the name of a file: give a folder, or a name that ends in .jsonl")
    if is_benchmark(output):
        raise SettingsError(
            f"{output}: what lies under a folder 'Test Samples' counts as benchmark; choose another -o"
        )
    as_jsonl = output.suffix == ".jsonl"
    (check_jsonl if as_jsonl else check_folder)(output, overwrite=overwrite)
    imported = read()
    for problem in imported.conversations.left_out:
        print(f"left out: {problem}", file=sys.stderr)
    (write_jsonl if as_jsonl else write_folder)(imported.conversations, output, overwrite=overwrite)
    _tell(imported, output)


def _tell(imported: Imported, output: Path) -> None:
    from attune_env.report.table import Table

    source = imported.conversations.source
    for title, counts, last in (
        ("annotated", imported.annotated, "of what"),
        ("left out", imported.left, "why"),
    ):
        table = Table(f"{source}: {title}", ("what", "count", last), left=(last,))
        table.rows += [(count.what, str(count.count), count.why) for count in counts]
        if table.rows:
            table.print()
    for note in imported.notes:
        print(f"note: {note}")
    number = len(imported.conversations)
    noun = "conversation" if number == 1 else "conversations"
    print(f"wrote {number} {noun} to {output}: {imported.dataset}, provenance imported")
    print(f"licence {imported.licence}: name the source in what you make of them")
