"""`attune evaluate`: from a model's name to a report, made of the other commands' parts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from attune_data.errors import SettingsError, UnknownNameError, one_line
from attune_env.cli import server as servers
from attune_env.cli import shared
from attune_env.cli.common import (
    left_out,
    output_folder,
    progress_bar,
    read_data,
    selected,
    stoppable,
    tell,
)
from attune_env.cli.ending import outcome
from attune_env.cli.options import argument, option
from attune_env.cli.run import ask, modes_named
from attune_episodes.policies import BUILTIN, FITTED

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_episodes.protocol.settings import Mode, Settings


def evaluate(
    *,
    provider: str = argument(servers.MODEL_PROVIDERS, "PROVIDER"),
    model: str = argument("The model's name on the server.", "MODEL"),
    path: str = argument(f"The annotated conversations: a path, {shared.CORPORA}.", "PATH", "sample"),
    output: Path = option(
        "Folder for the result files, scores.json and the report.", Path("evaluation"), "-o"
    ),
    overwrite: bool = option("Ask the model everything again, and replace its results.", False),
    selection: shared.Selection,
    asking: shared.Asking,
    modes: list[str] | None = shared.MODES,
    seed: int | None = shared.LABELS_SEED,
    server: shared.Server,
    drawn: shared.Drawn,
    samples: int | None = shared.SAMPLES,
    judging: shared.Judging,
) -> None:
    """Ask a model, play every built-in policy beside it, score both and write a report: one command for all.

    To continue after an interruption, run the same command again: answered requests are not sent again. A
    second model in the same folder joins the first one's report.

    The report is made of what is there, even if some conversations failed; the exit code is then 1, as from
    `attune run`. There is no report of a run that stopped.

    Example: attune evaluate custom Qwen/Qwen3-8B sample --base-url http://localhost:8000/v1 -o evaluation

    Example: attune evaluate openai gpt-4o --number 2 --dry-run
    """
    if provider == "builtin":
        raise SettingsError(
            "attune evaluate plays the built-in policies beside a model behind a server; for the policies "
            "alone: attune demo"
        )
    if provider not in servers.PROVIDERS:
        raise UnknownNameError("provider", provider, servers.PROVIDERS)
    wanted = modes_named(modes)
    settings = asking.settings(path, seed or 0)
    everything = read_data(path, skip_invalid=selection.skip_invalid)
    met = selected(everything, selection.where)
    chosen = met[: selection.number]
    (evaluated,) = servers.chosen_models(provider, [model], server, drawn)
    judges = servers.chosen_judges(evaluated, judging, server)
    if server.dry_run:
        from attune_env.running.costs import estimate

        expected = estimate(chosen, wanted, settings, samples=samples or 1, judges=len(judges))
        servers.show_estimate(expected, price=evaluated.price, judges=len(judges))
        return
    check_places(output)
    options = servers.options_of(server, evaluated.endpoint, overwrite=overwrite)
    run, done = ask(
        *(evaluated, judges, chosen, path, output, options),
        modes=wanted,
        settings=settings,
        samples=samples or 1,
    )
    code, go_on = outcome(run, done, options.command)
    # one that stopped would be compared on whichever conversations came first
    if run.stopped is None and run.written + run.complete_before:
        play_and_report(
            *(output, everything, met, path, selection), modes=wanted, settings=settings, seed=seed or 0
        )
    else:
        print("no report is made: the run is not complete", file=sys.stderr)
    if go_on:
        print(go_on, file=sys.stderr)
    if code:
        raise typer.Exit(code)


def check_places(output: Path) -> None:
    """Raise DataError or MissingExtraError if no scores or report can be written to a folder."""
    from attune_env.report import check_extra
    from attune_env.report.pages.folder import check_destination
    from attune_env.results import check_replaceable

    check_extra()
    check_replaceable(output_folder(output) / "scores.json")
    check_destination(output / "report")


def play_and_report(
    output: Path,
    everything: Conversations,
    met: Conversations,
    data: str,
    selection: shared.Selection,
    *,
    modes: Sequence[Mode] = ("default",),
    settings: Settings | None = None,
    seed: int = 0,
) -> None:
    """Play every built-in policy, score what is in a folder, show the leaderboard and write the report.

    `everything` are all conversations of `data`, and `met` those that meet the conditions of `selection`; the
    first `selection.number` of these are played and scored.
    """
    from attune_env.cli.report import command_of
    from attune_env.report.analyses.leaderboard import leaderboard_table
    from attune_env.report.analyses.sources import Sources, read_parts
    from attune_env.report.pages.report import Wanted, write_report
    from attune_env.results import read_results, score_results, write_json
    from attune_env.results.recorded import recorded_source
    from attune_env.running import run_builtin

    scores, page = output / "scores.json", output / "report"
    chosen = met[: selection.number]
    alone = len({one.participant for one in chosen}) < 2
    names = [name for name in BUILTIN if not (alone and name in FITTED)]
    if alone:
        fitted = ", ".join(FITTED)
        print(f"left out: {fitted}: fitted on other participants, and there is only one", file=sys.stderr)
    with stoppable(), progress_bar("playing policies", len(names) * len(chosen) * len(modes)) as step:
        for name in names:
            # always again: it takes seconds, and results of an older version would get in the way
            run_builtin(
                *(name, chosen, output),
                modes=modes,
                settings=settings,
                seed=seed,
                overwrite=True,
                on_done=step,
            )
    found, problems, warnings = read_results(output, everything)
    tell(warnings)
    left_out(problems, skip=selection.skip_invalid)
    found = [result for result in found if result.record["conversationId"] in chosen.by_id]
    # as `attune score`: the fingerprint in the file is that of all that meet the conditions
    content = score_results(found, met, ground_truth=data, where=selection.where)
    write_json(scores, content)
    try:
        recorded_source(content)
        asked = Sources([scores])
    except SettingsError:  # a dataset elsewhere is read only if it is asked for
        asked = Sources([scores], data)
    parts, warnings = read_parts(asked, command_of(asked))
    tell(warnings)
    with stoppable():
        made = write_report(page, parts, Wanted(), progress=progress_bar)
    for part in parts:
        leaderboard_table(part.study).print()
    for line in made.said:
        print(one_line(line))
    print(f"scored {len(found)} results; wrote scores.json and a report to {output}: {made.summary}")
    print(f"open {page / 'report.html'}")
