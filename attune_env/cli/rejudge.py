"""`attune rejudge`: judges for the drafts of results that are there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from attune_env.cli import server_options
from attune_env.cli.common import SkipInvalid, find_codebook, output_folder, read_data, stoppable
from attune_env.cli.evaluate import Asked, again_command, chosen_models, end, options_of
from attune_env.cli.settings_options import OfficialCodebook, Prompts


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
) -> None:
    """Let judges rate the drafts of result files; the evaluated model is not asked again.

    Judgements that stood in the files are replaced. Several judges (--judge-model) are averaged.

    Example: attune rejudge openrouter anthropic/claude-opus-4.6 --results results --ground-truth sample
    """
    from attune_env.cli.watching import watcher
    from attune_env.running.endpoint.rejudge import rejudge as judge_again
    from attune_episodes.settings import Settings

    asked = Asked(
        base_url=base_url, api_key=api_key, api_key_var=api_key_var, concurrency=concurrency,
        call_timeout=call_timeout, structured=structured, retries=retries, reasks=reasks,
        max_calls=max_calls, max_cost=max_cost, price_in=price_in, price_out=price_out,
    )  # fmt: skip
    judges = [chosen_models(provider, name, asked, None)[0] for name in (judge, *(judge_model or ()))]
    settings = Settings(prompts=prompts, codebook=find_codebook(codebook, ground_truth))
    conversations = read_data(ground_truth, skip_invalid=skip_invalid)
    folder = output_folder(output or results)
    command = again_command(sys.argv[1:], judges[0].endpoint)
    with stoppable(), watcher(f"judging {results.name}") as shown:
        report = judge_again(
            results,
            conversations,
            judges,
            output,
            settings=settings,
            skip_invalid=skip_invalid,
            options=options_of(asked, overwrite=overwrite, command=command),
            watcher=shown,
        )
    end(
        report,
        command,
        f"judged {report.written} results in {folder}, {report.complete_before} were judged already",
        f'attune score --results "{folder}" --ground-truth "{ground_truth}" --output scores.json',
    )
