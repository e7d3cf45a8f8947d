"""`attune rejudge`: judges for the drafts of results that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attune_env.cli import server_options
from attune_env.cli.common import (
    SkipInvalid,
    WhereOption,
    find_codebook,
    output_folder,
    read_data,
    selected,
    stoppable,
)
from attune_env.cli.evaluate import Asked, chosen_models, end, options_of, score_command
from attune_env.cli.open_files import allow_connections
from attune_env.cli.settings_options import Limit, OfficialCodebook, Prompts


def register(app: typer.Typer) -> None:
    """Adds the command to the root."""
    app.command()(rejudge)


def rejudge(
    provider: Annotated[
        str, typer.Argument(metavar="PROVIDER", help="Where the judge is: openrouter, openai, prime, custom.")
    ],
    judge: Annotated[str, typer.Argument(metavar="MODEL", help="The judge's name as the server has it.")],
    results: Annotated[Path, typer.Option("--results", help="Folder of result files.")],
    ground_truth: Annotated[
        str, typer.Option("--ground-truth", help='The annotated conversations, or "sample".')
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the files with the judgements; by default in place."),
    ] = None,
    judge_model: server_options.JudgeModel = None,
    codebook: OfficialCodebook = None,
    prompts: Prompts = "full",
    where: WhereOption = None,
    limit: Limit = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Ask again what these judges have said before.")
    ] = False,
    skip_invalid: SkipInvalid = False,
    base_url: server_options.BaseUrl = None,
    api_key: server_options.ApiKey = None,
    api_key_var: server_options.ApiKeyVar = None,
    concurrency: server_options.Concurrency = None,
    call_timeout: server_options.CallTimeout = None,
    structured: server_options.Structured = None,
    retries: server_options.Retries = None,
    reasks: server_options.Reasks = None,
    max_calls: server_options.MaxCalls = None,
    max_cost: server_options.MaxCost = None,
    price_in: server_options.PriceIn = None,
    price_out: server_options.PriceOut = None,
    dry_run: server_options.DryRun = False,
) -> None:
    """Let judges rate the drafts of result files; the evaluated model is not asked again.

    Judgements that stood in the files are replaced. Several judges (--judge-model) are averaged.

    Run the same command again after an interruption: what was answered is not asked again.

    Example: attune rejudge openrouter anthropic/claude-opus-4.6 --results results --ground-truth sample
    """
    from attune_env.cli.estimating import show_estimate
    from attune_env.cli.watching import watcher
    from attune_env.running.rejudge import estimate_rejudging
    from attune_env.running.rejudge import rejudge as judge_again
    from attune_episodes.settings import Settings

    asked = Asked(
        base_url=base_url, api_key=api_key, api_key_var=api_key_var, concurrency=concurrency,
        call_timeout=call_timeout, structured=structured, retries=retries, reasks=reasks,
        max_calls=max_calls, max_cost=max_cost, price_in=price_in, price_out=price_out, dry_run=dry_run,
    )  # fmt: skip
    judges = [chosen_models(provider, name, asked, None)[0] for name in (judge, *(judge_model or ()))]
    settings = Settings(prompts=prompts, codebook=find_codebook(codebook, ground_truth))
    conversations = read_data(ground_truth, skip_invalid=skip_invalid)
    # a result of a conversation that was not chosen is no problem, one of an unknown conversation is
    only = selected(conversations, where)[:limit].by_id
    if dry_run:
        takes = estimate_rejudging(
            results,
            conversations,
            judges=len(judges),
            only=only,
            settings=settings,
            skip_invalid=skip_invalid,
        )
        show_estimate(takes, price=None, judge_price=judges[0].price, judges=len(judges))
        return
    folder = output_folder(output or results)
    options = options_of(asked, judges[0].endpoint, overwrite=overwrite)
    allow_connections(options.concurrency)
    with stoppable(), watcher(f"judging {results.name}") as shown:
        report = judge_again(
            results,
            conversations,
            judges,
            output,
            only=only,
            settings=settings,
            skip_invalid=skip_invalid,
            options=options,
            watcher=shown,
        )
    end(
        report,
        f"judged {report.written} results in {folder}, {report.complete_before} were judged already",
        score_command(folder, ground_truth, where),
        options.command,
    )
