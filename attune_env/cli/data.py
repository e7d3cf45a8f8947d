"""`attune data`: look at and check conversation files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from attune_data.errors import one_line
from attune_data.filenames import file_number
from attune_env.cli.common import DataArgument, SkipInvalid, WhereOption, read_data, tell

app = typer.Typer(help="Check and describe conversation files.", no_args_is_help=True)


@app.command()
def validate(path: DataArgument) -> None:
    """Check conversation files: every problem is listed, one a line, with its place.

    Exit code 1 if anything is wrong; warnings alone leave it at 0.

    Example: attune data validate "Test Samples/Sample200"
    """
    from attune_data import DataError, load
    from attune_data.loading import Conversations
    from attune_data.validate import oddities

    problems = []
    try:
        loaded = load(path, skip_invalid=True)
        problems = list(loaded.left_out)
    except DataError as error:
        loaded, problems = Conversations([]), list(error.problems)
    tell(problems)
    warnings = [w for c in loaded for w in oddities(c, loaded.files[c.conversation_id])]
    tell(warnings)
    turns = sum(len(c.turns) for c in loaded)
    others = ignored_files(Path(path))
    if others:
        names = ", ".join(map(one_line, others))
        print(f"not looked at, since not called conversation_N.json: {names}", file=sys.stderr)
    print(f"conversations {len(loaded)}, turns {turns}, problems {len(problems)}, warnings {len(warnings)}")
    if loaded:
        print(f"provenance {loaded.provenance}, fingerprint {loaded.fingerprint}")
    if problems:
        sys.exit(1)


def ignored_files(folder: Path) -> list[str]:
    """Names of JSON files in a folder that loading passes over."""
    if not folder.is_dir():
        return []
    names = sorted(f.name for f in folder.glob("*.json") if f.name != "annotation_codebook.json")
    return [name for name in names if file_number(name) is None][:10]


@app.command()
def stats(
    path: DataArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    where: WhereOption = None,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Describe a data set: turns, base rates of every question, tags, goals, gaps.

    Example: attune data stats sample

    Example: attune data stats sample --where "diagnosis=any"
    """
    from attune_data.stats import describe
    from attune_env.report.data_tables import data_tables

    loaded = read_data(path, skip_invalid=skip_invalid, where=where)
    facts = describe(loaded) | {"fingerprint": loaded.fingerprint}
    if as_json:
        # as escapes where a terminal would act on some characters, or could not show them
        utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        print(json.dumps(facts, ensure_ascii=sys.stdout.isatty() or not utf8, indent=1))
        return
    for table in data_tables(facts, f"{path}, {where}" if where else path):
        table.print()
