"""`attune data`: validate, describe, split and import conversations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from attune_data.errors import DataError, Problem, SettingsError, one_line
from attune_env.cli import shared
from attune_env.cli.common import numbers_of, print_json, read_data, tell
from attune_env.cli.options import NEEDED, argument, command, option

if TYPE_CHECKING:
    from attune_data import Conversation
    from attune_data.importing import Imported

app = typer.Typer(help="Validate, describe, split, import and publish conversations.", no_args_is_help=True)
imports = typer.Typer(
    help="Convert tables and other data sets to this format without adding any information.",
    no_args_is_help=True,
)

FOLDER = option("Folder to write to.", NEEDED, "-o")
OVERWRITE = option("Replace the conversations that are already there.", False)
DESTINATION = option("Folder to write to, or a file name ending in .jsonl.", NEEDED, "-o")


@command(app)
def validate(path: str = shared.DATA_ARGUMENT) -> None:
    """Check conversation files and list every problem with its location, one per line.

    The exit code is 1 if there are problems; if there are only warnings, it is 0.

    Example: attune data validate "Test Samples/Sample200"
    """
    from attune_data import load
    from attune_data.files.conversations import Conversations
    from attune_data.files.rows import file_number, is_near_miss
    from attune_data.format.codebook import FILE_NAME
    from attune_data.format.validate import oddities
    from attune_data.source.names import path_named

    try:
        loaded = load(path, skip_invalid=True)
        problems = list(loaded.left_out)
    except DataError as error:
        loaded, problems = Conversations([]), list(error.problems)
    warnings = [w for c in loaded for w in oddities(c, loaded.files[c.conversation_id])]
    tell([*problems, *warnings])
    here = path_named(path)
    others = {one.name for one in here.glob("*.json")} - {FILE_NAME} if here else set()
    if others := {name for name in others if file_number(name) is None and not is_near_miss(name)}:
        names = ", ".join(map(one_line, sorted(others)[:10]))
        print(f"ignored (not named conversation_N.json): {names}", file=sys.stderr)
    turns = sum(len(c.turns) for c in loaded)
    print(f"conversations {len(loaded)}, turns {turns}, problems {len(problems)}, warnings {len(warnings)}")
    if loaded:
        print(f"provenance {loaded.provenance}, fingerprint {loaded.fingerprint}")
    if problems:
        raise typer.Exit(1)


@command(app)
def stats(
    path: str = shared.DATA_ARGUMENT,
    as_json: bool = option("Print everything as JSON.", False, "--json"),
    where: str | None = shared.WHERE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Describe a data set: turns, base rates for every question, tags, goals, missing data.

    Example: attune data stats sample

    Example: attune data stats sample --where "diagnosis=any"
    """
    from attune_data.selection.stats import describe
    from attune_env.tables.data import data_tables

    loaded = read_data(path, skip_invalid=skip_invalid, where=where)
    facts = describe(loaded) | {"fingerprint": loaded.fingerprint}
    if as_json:
        print_json(facts)
        return
    for table in data_tables(facts, f"{path}, {where}" if where else path):
        table.print()


@command(app)
def split(
    path: str = shared.DATA_ARGUMENT,
    output: Path = FOLDER,
    into: str = option(
        "Names of the splits and their shares, which must sum to 1.", "train=0.8,test=0.2", metavar="SHARES"
    ),
    seed: int = shared.SEED,
    stratify: Literal["topic", "category", "diagnosis"] | None = option(
        "Apply the shares within each group of participants."
    ),
    where: str | None = shared.WHERE,
    overwrite: bool = OVERWRITE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Split conversations by participant, so that nobody appears in more than one split.

    Writes one folder of conversation_N.json files per split, keeping their numbers. The same seed gives the
    same splits.

    Example: attune data split sample --into train=0.8,test=0.2 --stratify diagnosis -o splits
    """
    from attune_data.files.destination import check_folder
    from attune_data.files.write import write_parts
    from attune_data.selection.splitting import parse_shares
    from attune_data.selection.splitting import split as divide
    from attune_data.source.names import path_named
    from attune_env.tables.table import Table

    shares = parse_shares(into)
    here = path_named(path)
    if here is not None and here.resolve().is_relative_to(output.resolve()):  # --overwrite would remove it
        raise DataError(Problem(str(output), "", "the data itself", "another folder", "choose another -o"))
    check_folder(output, overwrite=overwrite)
    conversations = read_data(path, skip_invalid=skip_invalid, where=where)
    parts = divide(conversations, shares, seed=seed, stratify=stratify)
    write_parts(parts, output, numbers=numbers_of(conversations), overwrite=overwrite)
    headings = ("part", "conversations", "share", "requested", "participants", "fingerprint", "folder")
    table = Table(f"{path}, seed {seed}", headings)
    for name, part in parts.items():
        given = (f"{len(part) / len(conversations):.1%}", f"{shares[name]:.1%}")
        people = str(len({one.participant for one in part}))
        table.rows.append((name, str(len(part)), *given, people, part.fingerprint, str(output / name)))
    table.notes = [f"provenance {conversations.provenance}; no participant is in more than one split."]
    table.print()


@command(app)
def subset(
    name: str = argument("Sample200, Subsample100, Subsample50, Subsample25 or 20.", "NAME"),
    path: str = shared.DATA_ARGUMENT,
    output: Path = FOLDER,
    overwrite: bool = OVERWRITE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Copy one of the benchmark's own subsets, selected by file number, from a folder of its files.

    Example: attune data subset Subsample50 "Test Samples/Sample200" -o Subsample50
    """
    from attune_data.files.destination import check_folder
    from attune_data.files.write import write_folder
    from attune_data.selection import official_subset

    check_folder(output, overwrite=overwrite)
    chosen = official_subset(read_data(path, skip_invalid=skip_invalid), name)
    # in the order of their files, as `numbers_of` gives them
    written = write_folder(chosen, output, overwrite=overwrite, numbers=numbers_of(chosen).values())
    print(f"wrote {written} conversations to {output}, provenance {chosen.provenance}")


@command(imports)
def esconv(
    file: Path = argument("ESConv.json, or a file in its format.", "FILE"),
    output: Path = DESTINATION,
    overwrite: bool = OVERWRITE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Import ESConv: emotional support chats between a seeker and a supporter.

    Reports what is annotated, what was left out, and why. docs/importing.md lists the fields.

    Example: attune data import esconv ESConv.json -o esconv
    """
    from attune_data.importing import import_esconv

    _import(partial(import_esconv, file, skip_invalid=skip_invalid), output, overwrite=overwrite)


@command(imports)
def prism(
    path: Path = argument(
        "Folder with conversations.jsonl and survey.jsonl, or the path of conversations.jsonl.", "PATH"
    ),
    output: Path = DESTINATION,
    pairs: Literal["all", "alternates"] = option(
        "alternates: leave out comparisons with the reply in the thread: the thread reveals their winner.",
        "all",
    ),
    overwrite: bool = OVERWRITE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Import PRISM: conversations with several models at once, in which every reply is scored.

    Reports what is annotated, what was left out, and why. docs/importing.md lists the fields.

    Example: attune data import prism prism-alignment -o prism --pairs alternates
    """
    from attune_data.importing import import_prism

    _import(partial(import_prism, path, skip_invalid=skip_invalid, pairs=pairs), output, overwrite=overwrite)


TABLE = argument(
    "A .csv, .tsv, .json, .jsonl or .parquet file, a folder of Parquet files or one written by "
    "save_to_disk, or the name of a dataset.",
    "TABLE",
)
MAP = option("The name of a ready-made map, or the path of one ending in .toml.", NEEDED, "--map")
SPLIT = option("The split of a dataset that has several.")


@command(imports)
def feelings(
    table: str = TABLE,
    mapping: str = MAP,
    output: Path = DESTINATION,
    split: str | None = SPLIT,
    overwrite: bool = OVERWRITE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Import a table of texts with their writers' own labels or ratings of their feelings.

    A map says what the columns and labels mean; docs/importing.md lists its keys and the ready-made ones.

    Example: attune data import feelings isear.csv --map isear -o isear
    """
    from attune_data.importing import import_feelings

    read = partial(import_feelings, table, mapping, split=split, skip_invalid=skip_invalid)
    _import(read, output, overwrite=overwrite)


@command(imports)
def preferences(
    table: str = TABLE,
    mapping: str = MAP,
    output: Path = DESTINATION,
    split: str | None = SPLIT,
    overwrite: bool = OVERWRITE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Import a table of messages with several replies and which of them was preferred.

    A map says what the columns mean; docs/importing.md lists its keys and the ready-made ones. Ties are left
    out and counted.

    Example: attune data import preferences train.jsonl --map helpsteer3 -o helpsteer3
    """
    from attune_data.importing import import_preferences

    read = partial(import_preferences, table, mapping, split=split, skip_invalid=skip_invalid)
    _import(read, output, overwrite=overwrite)


app.add_typer(imports, name="import")


def writer(output: Path, *, overwrite: bool) -> Callable[[Iterable[Conversation]], object]:
    """Write conversations as lines if the output's name says so, else as a folder of files.

    Raises SettingsError or DataError for an unsuitable output, before anything is read.
    """
    from attune_data.files.destination import check_folder, check_jsonl
    from attune_data.files.write import write_folder, write_jsonl
    from attune_data.source.load import is_benchmark

    if output.suffix == ".json":
        raise SettingsError(f"{output} is the name of a file: give a folder, or a name ending in .jsonl")
    if is_benchmark(output):
        raise SettingsError(
            f"{output}: everything below a folder 'Test Samples' counts as benchmark data; choose another -o"
        )
    as_lines = output.suffix == ".jsonl"
    (check_jsonl if as_lines else check_folder)(output, overwrite=overwrite)
    write = write_jsonl if as_lines else write_folder
    return lambda conversations: write(conversations, output, overwrite=overwrite)


def _import(read: Callable[[], Imported], output: Path, *, overwrite: bool) -> None:
    """Read another data set, write it to `output`, and report what it contains."""
    from attune_env.tables.table import Table

    write = writer(output, overwrite=overwrite)
    imported = read()
    for problem in imported.conversations.left_out:
        print(f"left out: {problem}", file=sys.stderr)
    write(imported.conversations)
    source, number = imported.conversations.source, len(imported.conversations)
    tables = (("annotated", imported.annotated, "of what"), ("left out", imported.left, "why"))
    for title, counts, last in tables:
        if counts:
            rows = [(count.what, str(count.count), count.why) for count in counts]
            Table(f"{source}: {title}", ("what", "count", last), list(rows)).print()
    for note in imported.notes:
        print(f"note: {note}")
    noun = "conversation" if number == 1 else "conversations"
    print(f"wrote {number} {noun} to {output}: {imported.dataset}, provenance imported")
    print(f"licence {imported.licence}: credit the source in anything you make from these conversations")
    if imported.origin.non_commercial:
        print("non-commercial: no commercial use of these conversations, or of what you make from them")
