"""`attune profile run | score`: guesses about participants, experimental and off without a switch."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from attune_data.errors import DataError, Problem, UnknownNameError
from attune_env.cli import server as servers
from attune_env.cli import shared
from attune_env.cli.common import left_out, output_folder, read_data, selected, stoppable
from attune_env.cli.ending import end, score_command
from attune_env.cli.options import NEEDED, argument, command, option

app = typer.Typer(
    help="Experimental: guess participants' profiles from conversations, and score the guesses.",
    no_args_is_help=True,
)


@command(app)
def run(
    *,
    provider: str = argument(servers.PROVIDER_HELP, "PROVIDER"),
    model: str = argument("The model's name on the server. For builtin: prior, random or empty.", "MODEL"),
    path: str = shared.DATA_ARGUMENT,
    selection: shared.Selection,
    server: shared.Server,
    drawn: shared.Drawn,
    experimental: bool = option(
        "Required: confirms that you have read the warning and that it allows your use.", False
    ),
    output: Path = option("Folder for the guesses.", Path("profiles"), "-o"),
    options: Path | None = option(
        'JSON file with the answer options of the data\'s questionnaire: {"gender": ["Female", …]}.',
        metavar="FILE",
    ),
    overwrite: bool = option("Make every guess again, and replace those that are already there.", False),
    seed: int | None = option("Seed for builtin random (default 0)."),
) -> None:
    """Let a model (or a baseline) guess each participant's profile from the conversation.

    Prints what such guesses may and may not be used for, and does nothing else without --experimental. Makes
    one call per conversation, sending only its messages. Not part of `attune run`, scores or rewards.

    Example: attune profile run builtin prior sample --experimental

    Example: attune profile run openrouter anthropic/claude-sonnet-4 sample --experimental --dry-run
    """
    from attune_data.jsonio import read_json
    from attune_env.profile import WARNING
    from attune_env.profile.form import Form, form_with

    for line in WARNING:
        print(f"warning: {line}", file=sys.stderr)
    if not experimental:
        print("error: nothing was done; if the warning allows your use, add --experimental", file=sys.stderr)
        raise typer.Exit(2)
    if provider not in servers.PROVIDERS:
        raise UnknownNameError("provider", provider, servers.PROVIDERS)
    if provider == "builtin":
        shared.refuse(provider, server, drawn)
    form = form_with(read_json(options), str(options)) if options else Form()
    conversations = selection.read(path)
    output_folder(output)
    next_command = score_command(output, path, None, "profile score")
    from attune_env.profile.guessing import estimate_profiles, run_baseline, run_profiles

    if provider == "builtin":
        with stoppable():
            made = run_baseline(model, conversations, output, form, seed or 0, overwrite=overwrite)
        print(f"wrote {made.written} guesses to {output}; {made.skipped} were already complete")
        print(f"next: {next_command}")
        return
    (evaluated,) = servers.chosen_models(provider, [model], server, drawn)
    if server.dry_run:
        servers.show_estimate([estimate_profiles(conversations, form)], price=evaluated.price)
        return
    from attune_env.cli.watching import watcher

    how = servers.options_of(server, evaluated.endpoint, overwrite=overwrite)
    with stoppable(), watcher(f"{provider}/{model}") as shown:
        report = run_profiles(evaluated, conversations, output, form, how, shown)
    done = f"wrote {report.written} guesses to {output}; {report.complete_before} were already complete"
    end(report, done, next_command, how.command)


@command(app)
def score(
    results: Path = option("Folder of guesses.", NEEDED, "-r"),
    data: str = shared.DATA,
    output: Path | None = option("File for the scores; by default, none is written.", None, "-o"),
    where: str | None = shared.WHERE,
    skip_invalid: bool = shared.SKIP_INVALID,
) -> None:
    """Score guesses against the participants' own statements, next to constant guesses that read nothing.

    Example: attune profile score --results profiles --data sample
    """
    from attune_env.profile.files import read_guessed
    from attune_env.profile.scoring import score_guesses
    from attune_env.profile.tables import is_score_file, score_file, score_table
    from attune_env.results import check_replaceable, write_json
    from attune_env.tables.labels import standing

    if output is not None:
        check_replaceable(output, is_score_file, "file of scores of guesses")
    everything = read_data(data, skip_invalid=skip_invalid)
    conversations = selected(everything, where)
    found, problems = read_guessed(results, everything)
    left_out(problems, skip=skip_invalid and bool(found))
    scores = score_guesses(found, conversations)
    if not scores:
        missing = "no guess about any of the chosen conversations"
        advice = "make some first, or choose others with --where"
        raise DataError(Problem(str(results), "", missing, "at least one", advice))
    for one in sorted(scores, key=lambda one: standing(one.em_model)):
        score_table(one).print()
    if output is not None:
        about = {"ground_truth": data, "where": where, "data": {"fingerprint": conversations.fingerprint}}
        write_json(output, score_file(scores, about))
        print(f"wrote {output}")
