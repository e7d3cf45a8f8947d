"""`attune run` and `attune rejudge`: models, built-in policies and judges over data, into result files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import SettingsError, UnknownNameError
from attune_env.cli import server as servers
from attune_env.cli import shared
from attune_env.cli.common import (
    command_line,
    find_codebook,
    output_folder,
    progress_bar,
    read_data,
    selected,
    stoppable,
)
from attune_env.cli.ending import end, score_command
from attune_env.cli.options import SERVER, argument, option
from attune_episodes.policies import BUILTIN, FITTED

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_env.running.served import EndpointReport
    from attune_env.running.settings import Model, Options
    from attune_episodes.protocol.settings import Mode

EVERY: Final = "all"
"""Stands for every built-in policy, one after another."""
_training = partial(option, panel="Checkpoints of a training run")


def run(
    *,
    provider: str = argument(servers.PROVIDER_HELP, "PROVIDER"),
    model: str = argument(
        f"The model's name on the server. For builtin: all, or one of {', '.join(BUILTIN)}.", "MODEL"
    ),
    path: str = shared.DATA_ARGUMENT,
    selection: shared.Selection,
    asking: shared.Asking,
    server: shared.Server,
    drawn: shared.Drawn,
    judging: shared.Judging,
    output: Path = option("Folder for the result files.", Path("results"), "-o"),
    overwrite: bool = option("Ask everything again, and replace the results that are already there.", False),
    modes: list[str] | None = shared.MODES,
    seed: int | None = shared.LABELS_SEED,
    samples: int | None = shared.SAMPLES,
    retry_skipped: bool = option(
        "Run only conversations that failed in an earlier run.", False, panel=SERVER
    ),
    redo: list[str] | None = option(
        "Ask again for stored answers of a kind, and for nothing else: faults, unreadable, cut or refused.",
        panel=SERVER,
        metavar="KIND",
    ),
    fit: str | None = option(
        f"Fit the {', '.join(FITTED[:-1])} and {FITTED[-1]} policies on this data instead of out of fold.",
        panel="Built-in policies",
    ),
    training_run: str | None = _training(
        "With --training-step: the training run that produced the checkpoint.", metavar="NAME"
    ),
    training_step: int | None = _training(
        "The training step of the checkpoint, for learning curves.", metavar="N", min=0
    ),
) -> None:
    """Ask a model (or a built-in policy) about conversations and write a result file for each.

    To continue after an interruption, run the same command again: answered requests are not sent again.

    Example: attune run openrouter anthropic/claude-sonnet-4 sample --number 2

    Example: attune run custom my-model sample --base-url http://localhost:8000/v1

    Example: attune run openai gpt-4o "Test Samples/Sample200" --modes default verbose --dry-run

    Example: attune run builtin all sample -o results
    """
    from attune_env.running.settings import Training

    if provider not in servers.PROVIDERS:
        raise UnknownNameError("provider", provider, servers.PROVIDERS)
    builtin = provider == "builtin"
    if builtin:
        shared.refuse(
            provider,
            server,
            drawn,
            judging,
            SimpleNamespace(samples=samples, retry_skipped=retry_skipped, redo=redo),
        )
        if model not in (*BUILTIN, EVERY):
            raise UnknownNameError("built-in policy", model, (*BUILTIN, EVERY))
    elif fit:
        raise SettingsError("--fit applies only to built-in policies, not to models behind a server")
    if training_run is not None and training_step is None:
        raise SettingsError(
            "--training-run needs --training-step: results belong to a training step of the run"
        )
    training = None if training_step is None else Training(training_step, training_run)
    wanted = modes_named(modes)
    kinds = servers.redone(redo, overwrite=overwrite)
    settings = asking.settings(path, seed or 0)
    # a built-in policy is fitted on all of them; a server is asked about one after another
    conversations = selection.read(path, in_memory=builtin)
    output_folder(output)
    score = score_command(output, path, selection.where)
    if builtin:
        from attune_data import load
        from attune_env.running import run_builtin

        names = BUILTIN if model == EVERY else (model,)
        fit_on = load(fit) if fit else None
        number = len(names) * len(conversations) * len(wanted)
        with stoppable(), progress_bar(f"builtin/{model}", number) as step:
            played = [
                run_builtin(
                    name,
                    conversations,
                    output,
                    modes=wanted,
                    settings=settings,
                    seed=seed or 0,
                    fit_on=fit_on,
                    overwrite=overwrite,
                    training=training,
                    on_done=step,
                )
                for name in names
            ]
        written, before = sum(one.written for one in played), sum(one.skipped for one in played)
        print(f"wrote {written} results to {output}; {before} were already complete")
        print(f"next: {score}")
        return
    (evaluated,) = servers.chosen_models(provider, [model], server, drawn, training)
    judges = servers.chosen_judges(evaluated, judging, server)
    if retry_skipped:
        conversations = servers.only_skipped(conversations, output, evaluated, wanted)
        if not len(conversations):
            print(f"no conversations were skipped in {output}")
            return
    if server.dry_run:
        from attune_env.running.costs import estimate

        expected = estimate(conversations, wanted, settings, samples=samples or 1, judges=len(judges))
        servers.show_estimate(expected, price=evaluated.price, judges=len(judges))
        return
    options = servers.options_of(server, evaluated.endpoint, overwrite=overwrite, redo=kinds)
    report, done = ask(
        *(evaluated, judges, conversations, path, output, options),
        modes=wanted,
        settings=settings,
        samples=samples or 1,
    )
    end(report, done, score, options.command)


def modes_named(names: Sequence[str] | None) -> list[Mode]:
    """The modes of `--modes` in the benchmark's order; default if none is named."""
    from attune_episodes.protocol.settings import MODES

    named = names or ["default"]
    for name in named:
        if name not in (*MODES, "all"):
            raise UnknownNameError("mode", name, (*MODES, "all"))
    return [mode for mode in MODES if mode in named or "all" in named]


def ask(
    evaluated: Model,
    judges: Sequence[Model],
    conversations: Conversations,
    path: str,
    output: Path,
    options: Options,
    **asked: Any,
) -> tuple[EndpointReport, str]:
    """Ask a model about the conversations of `path`, showing the progress; the report, and what was done.

    Raises SettingsError with the command to run instead if earlier results were rated by other judges.
    """
    from attune_env.cli.watching import watcher
    from attune_env.running.existing import OtherJudgesError
    from attune_env.running.served import run_endpoint

    try:
        with stoppable(), watcher(evaluated.full_name) as shown:
            report = run_endpoint(
                evaluated, conversations, output, judges=judges, options=options, watcher=shown, **asked
            )
    except OtherJudgesError as error:
        if not judges:
            raise SettingsError(str(error)) from None
        endpoint = judges[0].endpoint
        advice = command_line(
            *("rejudge", endpoint.provider, judges[0].name),
            results=output,
            data=path,
            judge_model=[judge.name for judge in judges[1:]],
            base_url=endpoint.base_url if endpoint.provider == "custom" else None,
        )
        raise SettingsError(f"{error}: {advice}") from None
    done = f"wrote {report.written} results to {output}; {report.complete_before} were already complete"
    return report, done


def rejudge(
    *,
    provider: str = argument("The judge's provider: openrouter, openai, prime or custom.", "PROVIDER"),
    judge: str = argument("The judge's name on the server.", "MODEL"),
    results: Path = shared.RESULTS,
    data: str = shared.DATA,
    selection: shared.Selection,
    server: shared.Server,
    output: Path | None = option(
        "Folder for the judged result files; by default, the files are changed in place.", None, "-o"
    ),
    judge_model: list[str] | None = shared.JUDGE_MODEL,
    codebook: Path | None = shared.CODEBOOK,
    prompts: str = shared.PROMPTS,
    overwrite: bool = option("Ask these judges again, and replace their earlier ratings.", False),
) -> None:
    """Have judges rate the drafts in result files; the evaluated model is not asked again.

    Judgements already in the files are replaced. Ratings by several judges (--judge-model) are averaged.

    To continue after an interruption, run the same command again: answered requests are not sent again.

    Example: attune rejudge openrouter anthropic/claude-opus-4.6 --results results --data sample
    """
    from attune_env.running import rejudge as rejudging
    from attune_episodes.protocol.settings import Settings

    judges = servers.chosen_models(provider, [judge, *(judge_model or ())], server, shared.Drawn())
    settings = Settings(prompts=prompts, codebook=find_codebook(codebook, data))
    conversations = read_data(data, skip_invalid=selection.skip_invalid)
    # results of conversations that were not chosen are fine, those of unknown conversations are not
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
    done = f"judged {report.written} results in {folder}; {report.complete_before} were already judged"
    end(report, done, score_command(folder, data, selection.where), options.command)
