"""`attune run`: a model or a built-in policy over data into result files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

from attune_data.errors import SettingsError, UnknownNameError
from attune_env.cli import server as servers
from attune_env.cli.common import command_line, output_folder, progress_bar, stoppable
from attune_env.cli.options import (
    ASKED,
    DATA_ARGUMENT,
    SERVER,
    Asking,
    Drawn,
    Judging,
    Selection,
    Server,
    argument,
    option,
    refuse,
)

if TYPE_CHECKING:
    from attune_env.running.settings import Model, Training
    from attune_episodes.settings import Mode

POLICIES: Final = (
    "empty", "always-yes", "always-no", "random", "mode", "prior", "longest", "shortest", "copy", "asked",
    "lexicon", "oracle",
)  # fmt: skip
"""As `attune_episodes.policies.BUILTIN` has them, spelt out so that --help loads nothing; a test compares."""
_training = partial(option, panel="Checkpoints of a training run")


def run(
    *,
    provider: str = argument(servers.PROVIDER_HELP, "PROVIDER"),
    model: str = argument(
        f"The model's name as the server has it. For builtin: {', '.join(POLICIES)}.", "MODEL"
    ),
    path: str = DATA_ARGUMENT,
    selection: Selection,
    asking: Asking,
    server: Server,
    drawn: Drawn,
    judging: Judging,
    output: Path = option("Folder of the result files.", Path("results"), "-o"),
    overwrite: bool = option("Make existing results again.", False),
    modes: list[str] | None = option(
        "One or several of default verbose omniscient verbose_omniscient, or all.", panel=ASKED
    ),
    seed: int | None = option(
        "Seed of all random draws (0). Given, a server gets one too, another for each call.", panel=ASKED
    ),
    samples: int | None = option(
        "Ask each request so many times; each sample has result files of its own.",
        panel=SERVER,
        min=1,
        max=1000,
    ),
    retry_skipped: bool = option("Only the conversations that an earlier run skipped.", False, panel=SERVER),
    fit: str | None = option(
        "Fit mode, prior and asked on this data instead of out of fold.", panel="Built-in policies"
    ),
    training_run: str | None = _training(
        "With --training-step: the training run that the model is a checkpoint of.", metavar="NAME"
    ),
    training_step: int | None = _training(
        "The training step that the model stands at, for learning curves.", metavar="N", min=0
    ),
) -> None:
    """Ask a model (or a built-in policy) about conversations, one result file each; runs resume.

    Run the same command again after an interruption: what was answered is not asked again.

    Example: attune run openrouter anthropic/claude-sonnet-4 sample --number 2

    Example: attune run custom my-model sample --base-url http://localhost:8000/v1

    Example: attune run openai gpt-4o "Test Samples/Sample200" --modes default verbose --dry-run

    Example: attune run builtin prior sample -o results
    """
    if provider not in servers.PROVIDERS:
        raise UnknownNameError("provider", provider, servers.PROVIDERS)
    builtin = provider == "builtin"
    if builtin:
        refuse(
            provider, server, drawn, judging, SimpleNamespace(samples=samples, retry_skipped=retry_skipped)
        )
        if model not in POLICIES:
            raise UnknownNameError("built-in policy", model, POLICIES)
    elif fit:
        raise SettingsError("--fit is for built-in policies: a model behind a server is not fitted")
    training = read_training(training_run, training_step)
    wanted = read_modes(modes or ["default"])
    settings = asking.settings(path, seed or 0)
    # a built-in policy is fitted on all of them; a server is asked about one after the other
    conversations = selection.read(path, in_memory=builtin)
    output_folder(output)
    score = servers.score_command(output, path, selection.where)
    if builtin:
        from attune_data import load
        from attune_env.running import run_builtin

        with stoppable(), progress_bar(f"builtin/{model}", len(conversations) * len(wanted)) as step:
            played = run_builtin(
                model,
                conversations,
                output,
                modes=wanted,
                settings=settings,
                seed=seed or 0,
                fit_on=load(fit) if fit else None,
                overwrite=overwrite,
                training=training,
                on_done=step,
            )
        print(f"wrote {played.written} results to {output}, {played.skipped} were complete already")
        print(f"next: {score}")
        return
    (evaluated,) = servers.chosen_models(provider, [model], server, drawn, seed, training)
    judges = servers.chosen_judges(evaluated, judging, server)
    if retry_skipped:
        conversations = servers.only_skipped(conversations, output, evaluated, wanted)
        if not len(conversations):
            print(f"nothing is skipped in {output}")
            return
    if server.dry_run:
        from attune_env.running.costs import estimate

        expected = estimate(conversations, wanted, settings, samples=samples or 1, judges=len(judges))
        servers.show_estimate(expected, price=evaluated.price, judges=len(judges))
        return
    from attune_env.cli.watching import watcher
    from attune_env.running.existing import OtherJudgesError
    from attune_env.running.run import run_endpoint

    options = servers.options_of(server, evaluated.endpoint, overwrite=overwrite)
    try:
        with stoppable(), watcher(f"{provider}/{model}") as shown:
            report = run_endpoint(
                evaluated,
                conversations,
                output,
                modes=wanted,
                settings=settings,
                samples=samples or 1,
                judges=judges,
                options=options,
                watcher=shown,
            )
    except OtherJudgesError as error:
        advice = f": {_rejudging(judges, output, path)}" if judges else ""
        raise SettingsError(f"{error}{advice}") from None
    done = f"wrote {report.written} results to {output}, {report.complete_before} were complete already"
    servers.end(report, done, score, options.command)


def _rejudging(judges: list[Model], output: Path, data: str) -> str:
    """The command that has existing drafts judged."""
    first, *others = judges
    return command_line(
        *("rejudge", first.endpoint.provider, first.name),
        results=output,
        data=data,
        judge_model=[judge.name for judge in others],
        base_url=first.endpoint.base_url if first.endpoint.provider == "custom" else None,
    )


def read_training(run: str | None, step: int | None) -> Training | None:
    """The training step that the results belong to; None where none is given."""
    from attune_env.running.settings import Training

    if step is not None:
        return Training(step, run)
    if run is not None:
        raise SettingsError("--training-run needs --training-step: results belong to a step of the run")
    return None


def read_modes(names: list[str]) -> list[Mode]:
    """The modes named, in the protocol's order; `all` is all four."""
    from attune_episodes.settings import MODES

    for name in names:
        if name not in (*MODES, "all"):
            raise UnknownNameError("mode", name, (*MODES, "all"))
    return [mode for mode in MODES if "all" in names or mode in names]
