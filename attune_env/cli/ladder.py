"""`attune data ladder`: readers fitted on some data and tested on other data."""

from __future__ import annotations

import sys
from pathlib import Path

from attune_env.cli import shared
from attune_env.cli.common import command_line, read_data
from attune_env.cli.options import option

FITTED: tuple[str, ...] = ("written:train",)
TESTED: tuple[str, ...] = ("sample", "written:test")


def ladder(
    fit: list[str] | None = option(
        f"Data to fit readers on; may be repeated. By default, {' and '.join(FITTED)}.", metavar="DATA"
    ),
    test: list[str] | None = option(
        f"Data to test them on; may be repeated. By default, {' and '.join(TESTED)}.", metavar="DATA"
    ),
    encoder: str | None = option(
        "Also fit on the vectors of a sentence encoder: a folder or name that sentence-transformers loads.",
        metavar="FOLDER|NAME",
    ),
    output: Path | None = option(
        "Also write this file: JSON if its name ends in .json, else the tables as Markdown.", None, "-o"
    ),
    overwrite: bool = shared.OVERWRITE_FILE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Fit simple readers on some conversations, and test what they read in others.

    Shows whether labels can be read from the texts, and whether what is learned carries over: the valence of
    feelings, what a reply did, and which reply was preferred. Where the same people or texts are in both,
    readers are fitted without those that they read. Data to fit on passes the training guard.

    Example: attune data ladder --fit written:train --test sample

    Example: attune data ladder --fit sample --fit my_folder --test sample --test my_folder -o ladder.json
    """
    from attune_data.source.guard import for_training
    from attune_env.ladder import is_ladder, ladder_record, ladder_tables, load_encoder
    from attune_env.ladder import ladder as climb
    from attune_env.ladder.tables import MADE_BY
    from attune_env.results import check_replaceable as check_json
    from attune_env.results import write_json
    from attune_env.tables.markdown import check_replaceable, write_markdown

    to_json = output is not None and output.suffix == ".json"
    if output is not None and not to_json:
        check_replaceable(output, MADE_BY, overwrite=overwrite)
    elif output is not None and not overwrite:
        check_json(output, is_ladder, "ladder")
    names = {"fit": list(fit or FITTED), "test": list(test or TESTED)}
    loaded = {
        name: read_data(name, skip_invalid=skip_invalid)
        for name in dict.fromkeys((*names["fit"], *names["test"]))
    }
    fits, tests = ({name: loaded[name] for name in those} for those in names.values())
    for source in fits.values():
        for_training(source)  # before an encoder is loaded
    vectors = None if encoder is None else load_encoder(encoder)
    rungs = climb(fits, tests, vectors, lambda told: print(told, file=sys.stderr, flush=True))
    tables = ladder_tables(rungs)
    for table in tables:
        table.print()
    if output is not None:
        if to_json:
            data = {name: {"fingerprint": of.fingerprint, "n": len(of)} for name, of in loaded.items()}
            write_json(output, ladder_record(rungs, encoder=encoder, data=data))
        else:
            typed = command_line("data", "ladder", **names, encoder=encoder)
            write_markdown(output, "Ladder", tables, MADE_BY, command=typed)
        print(f"wrote {output}")
