"""`attune rejudge`: judges for the drafts of existing results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attune_env.cli import server as servers
from attune_env.cli.common import find_codebook, output_folder, read_data, selected, stoppable
from attune_env.cli.options import (
    CODEBOOK,
    DATA,
    JUDGE_MODEL,
    PROMPTS,
    RESULTS,
    Drawn,
    Selection,
    Server,
    argument,
    option,
)


def rejudge(
    *,
    provider: str = argument("Where the judge is: openrouter, openai, prime, custom.", "PROVIDER"),
    judge: str = argument("The judge's name as the server has it.", "MODEL"),
    results: Path = RESULTS,
    data: str = DATA,
    selection: Selection,
    server: Server,
    output: Path | None = option(
        "Folder for the files with the judgements; by default in place.", None, "-o"
    ),
    judge_model: list[str] | None = JUDGE_MODEL,
    codebook: Path | None = CODEBOOK,
    prompts: str = PROMPTS,
    overwrite: bool = option("Ask again what these judges have said before.", False),
) -> None:
    """Let judges rate the drafts of result files; the evaluated model is not asked again.

    Judgements that stood in the files are replaced. Several judges (--judge-model) are averaged.

    Run the same command again after an interruption: what was answered is not asked again.

    Example: attune rejudge openrouter anthropic/claude-opus-4.6 --results results --data sample
    """
    from attune_env.running import rejudge as rejudging
    from attune_episodes.settings import Settings

    judges = servers.chosen_models(provider, [judge, *(judge_model or ())], server, Drawn(), None)
    settings = Settings(prompts=prompts, codebook=find_codebook(codebook, data))
    conversations = read_data(data, skip_invalid=selection.skip_invalid)
    # a result of a conversation that was not chosen is no problem, one of an unknown conversation is
    only = selected(conversations, selection.where)[: selection.number].by_id
    asked: dict[str, Any] = {"only": only, "settings": settings, "skip_invalid": selection.skip_invalid}
    if server.dry_run:
        estimates = rejudging.estimate_rejudging(results, conversations, judges=len(judges), **asked)
        servers.show_estimate(estimates, price=None, judge_price=judges[0].price, judges=len(judges))
        return
    from attune_env.cli.watching import watcher

    folder = output_folder(output or results)
    options = servers.options_of(server, judges[0].endpoint, overwrite=overwrite)
    with stoppable(), watcher(f"judging {results.name}") as shown:
        report = rejudging.rejudge(
            results, conversations, judges, output, options=options, watcher=shown, **asked
        )
    done = f"judged {report.written} results in {folder}, {report.complete_before} were judged already"
    servers.end(report, done, servers.score_command(folder, data, selection.where), options.command)
