"""`attune study`: people talk with a model and annotate their own conversation."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from attune_data.errors import DataError, Problem, SettingsError, one_line
from attune_env.cli import shared
from attune_env.cli.common import command_line, stoppable
from attune_env.cli.data import DESTINATION, OVERWRITE, writer
from attune_env.cli.options import argument, command, option
from attune_env.tables.labels import counted

if TYPE_CHECKING:
    from attune_env.study.events import Store
    from attune_env.study.folder import Study

app = typer.Typer(
    help="Run a study: people talk with a model and annotate their own conversation.", no_args_is_help=True
)
STUDY = argument("The study's folder.", "FOLDER")
LOCAL = ("127.0.0.1", "::1", "localhost")


@contextmanager
def _opened(folder: Path, *, new: bool = False) -> Iterator[tuple[Study, Store]]:
    """A study and its database, which must be there unless it may be new."""
    from attune_env.study.events import Store, existing
    from attune_env.study.folder import read_study

    study = read_study(folder)
    with (Store if new else existing)(study.database) as store:
        yield study, store


@command(app)
def new(folder: Path = argument("The folder to make; its name is the study's.", "FOLDER")) -> None:
    """Make a study: a folder with one commented file, study.toml, that holds everything that can be chosen.

    Example: attune study new my-study
    """
    from attune_env.study.folder import new_study

    path = new_study(folder)
    print(f"wrote {path}: fill in what it says, then try the pages out")
    print(f"next: {command_line('study', 'links', str(folder), number=1)}")
    print(f"      {command_line('study', 'serve', str(folder))}")


@command(app)
def serve(
    folder: Path = STUDY,
    *,
    host: str = option("Address to serve on.", "127.0.0.1"),
    port: int = option("Port; 0 picks a free one.", 8080, min=0, max=65_535),
    allowed_host: list[str] | None = option(
        "Another host name under which participants reach it; may be repeated.", metavar="NAME"
    ),
) -> None:
    """Serve the pages of a study until Ctrl-C (exit code 130) or SIGTERM (0); nothing is lost either way.

    Requires the extra `study`. To let participants in from elsewhere, put a TLS proxy before it.

    Example: attune study serve my-study
    """
    from attune_env.study.serving import bound
    from attune_env.study.serving import serve as run

    if host not in LOCAL:
        warning = f"warning: {host} may be reachable from other machines, without TLS: see docs/study.md"
        print(warning, file=sys.stderr)
    with stoppable("stopped; every answer given is kept"), _opened(folder, new=True) as (study, store):
        address = study.design.address
        if study.unfilled and not study.design.canned:
            raise SettingsError(f"{folder / 'study.toml'} is not complete: {'; '.join(study.unfilled)}")
        if study.design.canned:
            print("no [[assistants]] in study.toml: fixed sentences answer, for trying out", file=sys.stderr)
        with bound(host, port) as taken:
            where = f"http://{f'[{host}]' if ':' in host else host}:{taken.getsockname()[1]}"
            if urlsplit(address).hostname in LOCAL and address != where:
                print(f"links begin with {address}: change address in study.toml", file=sys.stderr)
            name = study.design.name
            run(study, store, taken, allowed_host or [], lambda: print(f"{name} at {where}", flush=True))


@command(app)
def links(
    folder: Path = STUDY,
    number: int = option("How many participants to invite.", 0, "-n", min=0, max=10_000),
    again: str | None = option("Print the link of this participant once more.", metavar="ID"),
) -> None:
    """Invite participants, and print one link for each: the id, a tab, the address.

    Whoever has a link takes part as that participant: give each to one person only. Without -n, the links of
    everybody are printed.

    Example: attune study links my-study -n 50
    """
    from attune_env.study.steps import is_full

    with _opened(folder, new=number > 0) as (study, store):
        if number and is_full(study, store):
            raise SettingsError(
                "the study has spent its budget: nobody new can begin; raise it under [budget]"
            )
        expires = time.time() + study.design.link_days * 86_400
        ids = [store.invite(expires) for _ in range(number)] or store.participants()
        for participant in [store.state(again).participant] if again else ids:
            print(f"{participant}\t{study.design.address}/{store.link(participant)}")


@command(app)
def status(folder: Path = STUDY) -> None:
    """Show how far a study is: who is where, minutes a page, drop-outs, and the cost of models.

    Example: attune study status my-study
    """
    from attune_env.study import checks

    with _opened(folder) as (study, store):
        for table in checks.status(study, store):
            table.print()


@command(app)
def check(folder: Path = STUDY) -> None:
    """Check the answers of those who have finished, and say how many participants are needed.

    Looks for pages with one answer to everything, pages answered too fast, and own edits that lose to the
    reply that they improve; shows the yes rates of all questions.

    Example: attune study check my-study
    """
    from attune_env.study import checks

    with _opened(folder) as (study, store):
        for table in checks.check(study, store):
            table.print()


@command(app)
def export(
    folder: Path = STUDY,
    output: Path = DESTINATION,
    overwrite: bool = OVERWRITE,
    unfinished: bool = option(
        "Also export those who stopped or have not finished, as far as they came.", False
    ),
    redact: Path | None = option("File with words to remove from all texts, one a line.", metavar="FILE"),
) -> None:
    """Write the conversations in the benchmark's format; beside them, what the format has no place for.

    Words that participants marked are removed. Consent, answers to further pages, minutes and models are in
    OUTPUT-study.json.

    Example: attune study export my-study -o data
    """
    from attune_data.jsonio import read_text
    from attune_env.results import write_json
    from attune_env.study.export import export as made
    from attune_env.study.redaction import words_in

    write = writer(output, overwrite=overwrite)
    path = output.with_name(f"{output.name.removesuffix('.jsonl')}-study.json")
    if path.exists() and not overwrite:
        raise DataError(Problem(str(path), "", "a file", "no such file yet", "replace it with --overwrite"))
    words = words_in(read_text(redact)) if redact else []
    with _opened(folder) as (study, store):
        conversations, beside = made(study, store, words=words, unfinished=unfinished)
    if not conversations:
        advice = f"see who is where: {command_line('study', 'status', str(folder))}"
        raise DataError(
            Problem(str(folder), "", "nobody who has finished", "at least one participant", advice)
        )
    write(conversations)
    write_json(path, beside)
    train = sum(bool(one.study and one.study.train) for one in conversations)
    written = counted(len(conversations), "conversation")
    print(f"wrote {written} to {output}, provenance study, and {path}")
    print(f"licence {beside['licence']}; of these, {train} may be trained on")


@command(app)
def withdraw(
    folder: Path = STUDY,
    participant: str = argument("The participant's id.", "ID"),
) -> None:
    """Delete everything that a participant gave; only that the id has withdrawn, and the cost, are kept.

    Example: attune study withdraw my-study p0123abcd
    """
    with _opened(folder) as (_, store):
        store.withdraw(participant)
    print(f"deleted the answers of {one_line(participant)}, also from the free space of the file")
    print(
        "not reached: backups, earlier exports and what was made of them, and what the provider of the "
        "models has kept; export again, and delete those yourself"
    )


@command(app)
def demo(
    output: Path = option("Folder to write to; it must not exist yet.", Path("results/study"), "-o"),
    number: int = option("Number of scripted participants.", 10, "-n", min=2, max=1_000),
    at_once: int = option("How many of them take part at the same time.", 5, min=1, max=100),
) -> None:
    """Have ten scripted participants take part, export, score and report: the whole way in a minute.

    They fill in the real pages; fixed sentences answer. Needs no endpoint and no key. The answers mean
    nothing.

    Example: attune study demo -o results/study
    """
    from attune_data import load
    from attune_data.files.write import write_folder
    from attune_env.cli.evaluate import check_places, play_and_report
    from attune_env.results import write_json
    from attune_env.study import checks
    from attune_env.study.events import Store
    from attune_env.study.export import export as made
    from attune_env.study.folder import new_study, read_study
    from attune_env.study.scripted import play_all
    from attune_env.study.serving import serving

    folder, data, played = output / "demo-study", output / "data", output / "evaluation"
    if output.exists() and any(output.iterdir()):
        raise DataError(
            Problem(str(output), "", "a folder with files", "a new or empty one", "choose another -o")
        )
    check_places(played)
    new_study(folder)
    study = read_study(folder)
    begun = time.monotonic()
    with stoppable("stopped"), Store(study.database) as store:
        with serving(study, store) as address:
            print(f"{number} scripted participants at {address}", file=sys.stderr)
            ids = [store.invite(time.time() + 86_400) for _ in range(number)]
            people = play_all([f"{address}/{store.link(one)}" for one in ids], at_once=at_once)
        for table in checks.status(study, store)[:2]:
            table.print()
        conversations, beside = made(study, store)
    slowest = max(person.slowest for person in people)
    print(f"took part in {time.monotonic() - begun:.0f} s; slowest page {slowest:.2f} s", file=sys.stderr)
    write_folder(conversations, data)
    write_json(output / "data-study.json", beside)
    loaded = load(data)
    play_and_report(played, loaded, loaded, str(data), shared.Selection())
    print(f"the study is in {folder}, what it gave in {data}")
    print(f"next, make your own: {command_line('study', 'new', 'my-study')}")
