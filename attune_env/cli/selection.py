"""`attune data split` and `attune data subset`: parts of a data set as folders of their own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attune_env.cli.common import DataArgument, Overwrite, Seed, SkipInvalid, WhereOption, read_data

if TYPE_CHECKING:
    from attune_data import Conversations


class StrataChoice(StrEnum):
    """What parts are balanced by."""

    topic = "topic"
    category = "category"
    diagnosis = "diagnosis"


OutputFolder = Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to `attune data`."""
    app.command()(split)
    app.command()(subset)


def split(
    path: DataArgument,
    output: OutputFolder,
    into: Annotated[
        str, typer.Option("--into", metavar="SHARES", help="Parts and their shares, which sum to 1.")
    ] = "train=0.8,test=0.2",
    seed: Seed = 0,
    stratify: Annotated[
        StrataChoice | None, typer.Option(help="Divide each group of participants by these shares.")
    ] = None,
    where: WhereOption = None,
    overwrite: Overwrite = False,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Divide conversations into parts by participant: nobody is in two of them.

    Writes conversation_N.json into a folder a part, numbers kept. The same seed gives the same parts.

    Example: attune data split sample --into train=0.8,test=0.2 --stratify diagnosis -o parts
    """
    from attune_data.destination import check_folder
    from attune_data.selection import parse_shares
    from attune_data.selection import split as divide
    from attune_data.writing import write_parts
    from attune_env.report.table import Table

    shares = parse_shares(into)
    check_folder(output, overwrite=overwrite)
    conversations = read_data(path, skip_invalid=skip_invalid, where=where)
    parts = divide(conversations, shares, seed=seed, stratify=stratify.value if stratify else None)
    write_parts(parts, output, numbers=numbers_of(conversations), overwrite=overwrite)
    table = Table(
        f"{path}, seed {seed}",
        ("part", "conversations", "share", "asked", "participants", "fingerprint", "folder"),
        left=("fingerprint", "folder"),
    )
    for name, part in parts.items():
        share = len(part) / len(conversations)
        people = {conversation.participant for conversation in part}
        cells = (
            f"{share:.1%}",
            f"{shares[name]:.1%}",
            str(len(people)),
            part.fingerprint,
            str(output / name),
        )
        table.rows.append((name, str(len(part)), *cells))
    table.notes = [f"provenance {conversations.provenance}; no participant is in two parts."]
    table.print()


def subset(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Sample200, Subsample100, Subsample50, Subsample25 or 20.")
    ],
    path: DataArgument,
    output: OutputFolder,
    overwrite: Overwrite = False,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Copy one of the benchmark's own subsets out of a folder of its files, by file number.

    Example: attune data subset Subsample50 "Test Samples/Sample200" -o Subsample50
    """
    from attune_data.destination import check_folder
    from attune_data.selection import official_subset
    from attune_data.writing import write_folder

    check_folder(output, overwrite=overwrite)
    chosen = official_subset(read_data(path, skip_invalid=skip_invalid), name)
    by_id = numbers_of(chosen)
    written = write_folder(
        chosen, output, overwrite=overwrite, numbers=[by_id[c.conversation_id] for c in chosen]
    )
    print(f"wrote {written} conversations to {output}, provenance {chosen.provenance}")


def numbers_of(conversations: Conversations) -> dict[str, int]:
    """Conversation id -> N of its file: the number it was read under, else its place, from 1."""
    from attune_data.selection.subsets import numbered

    kept = {identity: number for number, identity in numbered(conversations).items()}
    return kept or {c.conversation_id: number for number, c in enumerate(conversations, 1)}
