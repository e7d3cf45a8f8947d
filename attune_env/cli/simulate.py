"""`attune data simulate`: conversations of simulated people, to files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attune_env.cli.common import Overwrite, Seed, progress_bar

if TYPE_CHECKING:
    from attune_data import Conversation


class PartChoice(StrEnum):
    """Which part of the texts is used."""

    all = "all"
    seen = "seen"
    unseen = "unseen"


class FormatChoice(StrEnum):
    """How conversations are written."""

    files = "files"
    jsonl = "jsonl"
    dataset = "dataset"


LEVELS = ("plain", "clear", "default", "blunted", "tangled")
"""As `attune_data.simulate.LEVELS` has them, spelt out so that --help loads nothing; a test compares."""


def register(app: typer.Typer) -> None:
    """Adds the command to `attune data`."""
    app.command()(simulate)


def simulate(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to, or a file that ends in .jsonl.")
    ],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many conversations.")] = 100,
    seed: Seed = 0,
    level: Annotated[
        str, typer.Option("--level", help=f"How hard people are to read: {', '.join(LEVELS)}.")
    ] = "default",
    start: Annotated[
        int, typer.Option(min=0, help="Index of the first one: item i of a seed is always the same.")
    ] = 0,
    topics: Annotated[PartChoice, typer.Option(help="unseen: three topics that seen does not have.")] = (
        PartChoice.all
    ),
    templates: Annotated[
        PartChoice, typer.Option(help="unseen: a fifth of all phrases, which seen does not have.")
    ] = PartChoice.all,
    format: Annotated[
        FormatChoice | None,
        typer.Option("--format", help="files (conversation_N.json), jsonl, or a saved dataset."),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Make annotated conversations of simulated people: training data that is not the benchmark.

    The same seed gives the same bytes on every machine. docs/simulator.md describes the participants.

    Example: attune data simulate --count 1000 --seed 7 -o simulated

    Example: attune data simulate -n 500 --level tangled -o hard.jsonl
    """
    from attune_data import SettingsError
    from attune_data.destination import check_folder, check_jsonl
    from attune_data.loading import is_benchmark
    from attune_data.simulate import Simulation
    from attune_data.writing import write_dataset, write_folder, write_jsonl

    if count > sys.maxsize:
        raise SettingsError("--count is more than any disk holds: give a smaller one")
    as_jsonl = format is FormatChoice.jsonl or (format is None and output.suffix == ".jsonl")
    if output.suffix in (".json", ".jsonl") and not as_jsonl:
        raise SettingsError(f"{output} is the name of a file: give a folder, or a name that ends in .jsonl")
    if is_benchmark(output):
        raise SettingsError(
            f"{output}: what lies under a folder 'Test Samples' counts as benchmark; choose another -o"
        )
    (check_jsonl if as_jsonl else check_folder)(output, overwrite=overwrite)
    world = Simulation(seed, level=level, topics=topics.value, templates=templates.value, start=start)
    with progress_bar("simulating", count) as advance:

        def made() -> Iterator[Conversation]:
            for conversation in islice(world, count):
                yield conversation
                advance()

        if as_jsonl:
            write_jsonl(made(), output, overwrite=overwrite)
        elif format is FormatChoice.dataset:
            write_dataset(made(), output, overwrite=overwrite)
        else:
            write_folder(made(), output, overwrite=overwrite)
    print(f"wrote {count} conversations to {output}: {world.source}, provenance simulated")
