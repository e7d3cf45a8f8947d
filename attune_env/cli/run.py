"""`attune run`: a model or a built-in policy over data into result files."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from attune_data.errors import SettingsError, UnknownNameError
from attune_env.cli import server as servers
from attune_env.cli.common import output_folder, progress_bar, stoppable
from attune_env.cli.options import (
    ASKED,
    SERVER,
    Asking,
    DataArgument,
    Drawn,
    Judging,
    Selection,
    Server,
    option,
    refuse,
    takes,
)

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_env.running.settings import Model, Training
    from attune_episodes.settings import Mode, Settings

POLICIES: Final = (
    "empty", "always-yes", "always-no", "random", "mode", "prior", "longest", "shortest", "copy", "asked",
    "lexicon", "oracle",
)  # fmt: skip
"""As `attune_episodes.policies.BUILTIN` has them, spelt out so that --help loads nothing; a test compares."""
POLICY, TRAINING = "Built-in policies", "Checkpoints of a training run"


@takes
def run(
    provider: Annotated[str, typer.Argument(metavar="PROVIDER", help=servers.PROVIDER_HELP)],
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help=f"The model's name as the server has it. For builtin: {', '.join(POLICIES)}.",
        ),
    ],
    path: DataArgument,
    selection: Selection,
    asking: Asking,
    server: Server,
    drawn: Drawn,
    judging: Judging,
    output: Annotated[Path, option("--output", "-o", help="Folder of the result files.")] = Path("results"),
    overwrite: Annotated[bool, option("--overwrite", help="Make existing results again.")] = False,
    modes: Annotated[
        list[str] | None,
        option(
            "--modes", panel=ASKED,
            help="One or several of default verbose omniscient verbose_omniscient, or all.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        option(
            "--seed", panel=ASKED,
            help="Seed of all random draws (0). Given, a server gets one too, another for each call.",
        ),
    ] = None,
    samples: Annotated[
        int | None,
        option(
            "--samples", min=1, max=1000, panel=SERVER,
            help="Ask each request so many times; each sample has result files of its own.",
        ),
    ] = None,
    retry_skipped: Annotated[
        bool,
        option("--retry-skipped", help="Only the conversations that an earlier run skipped.", panel=SERVER),
    ] = False,
    fit: Annotated[
        str | None,
        option("--fit", help="Fit mode, prior and asked on this data instead of out of fold.", panel=POLICY),
    ] = None,
    training_run: Annotated[
        str | None,
        option(
            "--training-run", metavar="NAME", panel=TRAINING,
            help="With --training-step: the training run that the model is a checkpoint of.",
        ),
    ] = None,
    training_step: Annotated[
        int | None,
        option(
            "--training-step", metavar="N", min=0, panel=TRAINING,
            help="The training step that the model stands at, for learning curves.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Ask a model (or a built-in policy) about conversations, one result file each; runs resume.

    Run the same command again after an interruption: what was answered is not asked again.

    Example: attune run openrouter anthropic/claude-sonnet-4 sample --number 2

    Example: attune run custom my-model sample --base-url http://localhost:8000/v1

    Example: attune run openai gpt-4o "Test Samples/Sample200" --modes default verbose --dry-run

    Example: attune run builtin prior sample -o results
    """
    if provider not in servers.PROVIDERS:
        raise UnknownNameError("provider", provider, servers.PROVIDERS)
    if provider == "builtin":
        from attune_episodes.policies import KINDS

        own = SimpleNamespace(samples=samples, retry_skipped=retry_skipped)
        refuse(provider, server, drawn, judging, own)
        if model not in KINDS:
            raise UnknownNameError("built-in policy", model, KINDS)
    elif fit:
        raise SettingsError("--fit is for built-in policies: a model behind a server is not fitted")
    training = read_training(training_run, training_step)
    wanted = read_modes(modes or ["default"])
    settings = asking.settings(path, seed or 0)
    # a built-in policy is fitted on all of them; a server is asked about one after the other
    conversations = selection.read(path, in_memory=provider == "builtin")
    output_folder(output)
    score = servers.score_command(output, path, selection.where)
    if provider == "builtin":
        _play(model, conversations, output, wanted, settings, seed or 0, fit, training, overwrite=overwrite)
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
        raise SettingsError(
            f"{error}: {_rejudging(judges, output, path)}" if judges else str(error)
        ) from None
    done = f"wrote {report.written} results to {output}, {report.complete_before} were complete already"
    servers.end(report, done, score, options.command)


def _rejudging(judges: list[Model], output: Path, data: str) -> str:
    """The command that has existing drafts judged."""
    first, *others = judges
    words = [
        "attune",
        "rejudge",
        first.endpoint.provider,
        first.name,
        "--results",
        str(output),
        "--data",
        data,
    ]
    words += [word for judge in others for word in ("--judge-model", judge.name)]
    words += ["--base-url", first.endpoint.base_url] if first.endpoint.provider == "custom" else []
    return shlex.join(words)


def _play(
    model: str,
    conversations: Conversations,
    output: Path,
    modes: list[Mode],
    settings: Settings,
    seed: int,
    fit: str | None,
    training: Training | None,
    *,
    overwrite: bool,
) -> None:
    """Plays a built-in policy."""
    from attune_data import load
    from attune_env.running import run_builtin

    with stoppable(), progress_bar(f"builtin/{model}", len(conversations) * len(modes)) as step:
        report = run_builtin(
            model,
            conversations,
            output,
            modes=modes,
            settings=settings,
            seed=seed,
            fit_on=load(fit) if fit else None,
            overwrite=overwrite,
            training=training,
            on_done=step,
        )
    print(f"wrote {report.written} results to {output}, {report.skipped} were complete already")


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
