"""`attune profile run | score`: guesses about participants, experimental and off without a switch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attune_data.errors import DataError, Problem, UnknownNameError
from attune_env.cli import server_options
from attune_env.cli.common import (
    DataArgument,
    SkipInvalid,
    WhereOption,
    left_out,
    output_folder,
    read_data,
    selected,
    stoppable,
)
from attune_env.cli.evaluate import Asked, chosen_models, end, options_of

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_episodes.profile import Form

PROVIDERS = ("openrouter", "openai", "prime", "custom", "builtin")
NULLS = "prior, random, empty"

app = typer.Typer(
    help="Experimental: guess participants' profiles from conversations, and score the guesses.",
    no_args_is_help=True,
)


@app.command()
def run(
    provider: Annotated[
        str,
        typer.Argument(
            metavar="PROVIDER",
            help="openrouter, openai, prime, custom (any server: give --base-url), or builtin.",
        ),
    ],
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help=f"The model's name as the server has it. For builtin: {NULLS}."),
    ],
    path: DataArgument,
    experimental: Annotated[
        bool,
        typer.Option(
            "--experimental",
            help="Needed: I have read the warning, and this use is one that it allows.",
        ),
    ] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the guesses.")] = Path("profiles"),
    options: Annotated[
        Path | None,
        typer.Option(
            "--options",
            metavar="FILE",
            help='JSON with the options that the data\'s questionnaire offered: {"gender": ["Female", …]}.',
        ),
    ] = None,
    where: WhereOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N conversations (of those left).")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Make guesses again that are there.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Seed of builtin random (0). Given, a server gets one with each call."),
    ] = None,
    skip_invalid: SkipInvalid = False,
    base_url: server_options.BaseUrl = None,
    api_key: server_options.ApiKey = None,
    api_key_var: server_options.ApiKeyVar = None,
    concurrency: server_options.Concurrency = None,
    call_timeout: server_options.CallTimeout = None,
    temperature: server_options.Temperature = None,
    max_tokens: server_options.MaxTokens = None,
    structured: server_options.Structured = None,
    retries: server_options.Retries = None,
    reasks: server_options.Reasks = None,
    max_calls: server_options.MaxCalls = None,
    max_cost: server_options.MaxCost = None,
    price_in: server_options.PriceIn = None,
    price_out: server_options.PriceOut = None,
    dry_run: server_options.DryRun = False,
) -> None:
    """Let a model (or a null) guess each participant's profile from the conversation alone; runs resume.

    Prints what such guesses may and may not be used for, and does nothing without --experimental. One call
    a conversation, with its messages and nothing else. No part of `attune run`, of scores or of rewards.

    Example: attune profile run builtin prior sample --experimental

    Example: attune profile run openrouter anthropic/claude-sonnet-4 sample --experimental --dry-run
    """
    _warn(experimental=experimental)
    asked = Asked(
        base_url=base_url, api_key=api_key, api_key_var=api_key_var, call_timeout=call_timeout,
        concurrency=concurrency, temperature=temperature, max_tokens=max_tokens, structured=structured,
        retries=retries, reasks=reasks, max_calls=max_calls, max_cost=max_cost, price_in=price_in,
        price_out=price_out, dry_run=dry_run,
    )  # fmt: skip
    if provider not in PROVIDERS:
        raise UnknownNameError("provider", provider, PROVIDERS)
    from attune_episodes.profile import Form, read_options

    form = read_options(options) if options else Form()
    if provider == "builtin":
        asked.refuse(provider)
    conversations = read_data(path, skip_invalid=skip_invalid, where=where)[:limit]
    output_folder(output)
    next_command = f'attune profile score --results "{output}" --ground-truth "{path}"'
    if provider == "builtin":
        from attune_env.profile.run import run_null

        with stoppable():
            done = run_null(model, conversations, output, form=form, seed=seed or 0, overwrite=overwrite)
        print(f"wrote {done.written} guesses to {output}, {done.skipped} were complete already")
        print(f"next: {next_command}")
        return
    _ask(provider, model, conversations, output, form, seed, asked, next_command, overwrite=overwrite)


def _warn(*, experimental: bool) -> None:
    """Prints the warning; ends with exit code 2 without the switch."""
    from attune_episodes.profile import WARNING

    for line in WARNING:
        print(f"warning: {line}", file=sys.stderr)
    if not experimental:
        print("error: nothing was done; if your use is one of those, add --experimental", file=sys.stderr)
        raise typer.Exit(2)


def _ask(
    provider: str,
    model: str,
    conversations: Conversations,
    output: Path,
    form: Form,
    seed: int | None,
    asked: Asked,
    next_command: str,
    *,
    overwrite: bool,
) -> None:
    """Asks a model behind a server, or says what that would take."""
    from attune_data import garbage
    from attune_env.cli.watching import watcher
    from attune_env.profile.run import estimate_profiles, run_profiles

    garbage.spared_at_exit()
    (evaluated,) = chosen_models(provider, model, asked, seed)
    if asked.dry_run:
        from attune_env.report.table import DASH, Table

        usage = estimate_profiles(conversations, form)
        cost = f"${evaluated.price.of(usage):.2f}" if evaluated.price else DASH
        table = Table(
            "what this run would take (nothing was sent)", ("calls", "tokens in", "tokens out", "cost")
        )
        table.rows.append((str(len(conversations)), str(usage.tokens_in), str(usage.tokens_out), cost))
        table.notes = [
            "calls are exact but for retries and re-asks; what is complete already is not taken off",
            "tokens are estimated at 4 bytes each; a model that reasons writes more",
        ]
        table.print()
        return
    options = options_of(asked, evaluated.endpoint, overwrite=overwrite)
    with stoppable(), watcher(f"{provider}/{model}") as shown:
        report = run_profiles(
            evaluated,
            conversations,
            output,
            form=form,
            options=options,
            watcher=shown,
        )
    end(
        report,
        f"wrote {report.written} guesses to {output}, {report.complete_before} were complete already",
        next_command,
        options.command,
    )


@app.command()
def score(
    results: Annotated[Path, typer.Option("--results", help="Folder of guesses.")],
    ground_truth: Annotated[
        str, typer.Option("--ground-truth", help='The conversations with their profiles, or "sample".')
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for the scores; by default none is written.")
    ] = None,
    where: WhereOption = None,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Score guesses against what participants stated, beside constants that read nothing.

    Example: attune profile score --results profiles --ground-truth sample
    """
    from attune_env.profile.files import read_guessed
    from attune_env.profile.report import check_replaceable, score_file, score_table
    from attune_env.profile.scoring import score_guesses
    from attune_env.results.files import write_json

    if output is not None:
        check_replaceable(output)

    everything = read_data(ground_truth, skip_invalid=skip_invalid)
    conversations = selected(everything, where)
    found, problems = read_guessed(results, everything)
    left_out(problems, skip=skip_invalid and bool(found))
    scores = score_guesses(found, conversations)
    if not scores:
        raise DataError(
            Problem(str(results), "", "no guess about a conversation that is wanted", "at least one",
                    "run them first, or choose others with --where")
        )  # fmt: skip
    for one in scores:
        score_table(one).print()
    if output is not None:
        about = {
            "ground_truth": ground_truth,
            "where": where,
            "data": {"fingerprint": conversations.fingerprint},
        }
        write_json(output, score_file(scores, about))
        print(f"wrote {output}")
