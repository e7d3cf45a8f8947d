"""`attune run`: a model or a built-in policy over data into result files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attune_data.errors import SettingsError
from attune_env.cli import server_options
from attune_env.cli.common import (
    DataArgument,
    SkipInvalid,
    WhereOption,
    find_codebook,
    output_folder,
    progress_bar,
    read_data,
    stoppable,
)
from attune_env.cli.evaluate import Asked, evaluate, score_command
from attune_env.cli.settings_options import (
    LabelChoice,
    Labels,
    Limit,
    OfficialCodebook,
    PanasChoice,
    PanasStrategy,
    Prompts,
    Stages,
    read_stages,
)

if TYPE_CHECKING:
    from attune_data import Conversations
    from attune_env.running.settings import Training
    from attune_episodes.settings import Mode, Settings

PROVIDERS = ("openrouter", "openai", "prime", "custom", "builtin")
POLICIES = (
    "empty", "always-yes", "always-no", "random", "mode", "prior", "longest", "shortest", "copy", "asked",
    "lexicon", "oracle",
)  # fmt: skip
"""As `attune_episodes.policies.BUILTIN` has them, spelt out so that --help loads nothing; a test compares."""


def register(app: typer.Typer) -> None:
    """Adds the command, `attune rejudge` and `attune demo` to the root."""
    from attune_env.cli import demo, rejudge

    app.command()(run)
    rejudge.register(app)
    demo.register(app)


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
        typer.Argument(
            metavar="MODEL",
            help=f"The model's name as the server has it. For builtin: {', '.join(POLICIES)}.",
        ),
    ],
    path: DataArgument,
    modes: Annotated[
        list[str] | None,
        typer.Option(
            "--modes", help="One or several of default verbose omniscient verbose_omniscient, or all."
        ),
    ] = None,
    judge_model: server_options.JudgeModel = None,
    panas_strategy: PanasStrategy = PanasChoice.absolute,
    labels: Labels = LabelChoice.masked,
    stages: Stages = None,
    prompts: Prompts = "full",
    codebook: OfficialCodebook = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the result files.")] = Path(
        "results"
    ),
    where: WhereOption = None,
    limit: Limit = None,
    fit: Annotated[
        str | None,
        typer.Option(
            "--fit", help="For builtin: fit mode, prior and asked on this data instead of out of fold."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Make results again that are there.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            help="Seed of everything that is drawn (0). Given, a server gets one too, another for each call.",
        ),
    ] = None,
    training_run: Annotated[
        str | None,
        typer.Option(
            "--training-run",
            metavar="NAME",
            help="With --training-step: the training run that the model is a checkpoint of.",
        ),
    ] = None,
    training_step: Annotated[
        int | None,
        typer.Option(
            "--training-step",
            metavar="N",
            min=0,
            help="The training step that the model stands at, for learning curves.",
        ),
    ] = None,
    skip_invalid: SkipInvalid = False,
    base_url: server_options.BaseUrl = None,
    api_key: server_options.ApiKey = None,
    api_key_var: server_options.ApiKeyVar = None,
    concurrency: server_options.Concurrency = None,
    call_timeout: server_options.CallTimeout = None,
    samples: server_options.Samples = None,
    temperature: server_options.Temperature = None,
    max_tokens: server_options.MaxTokens = None,
    structured: server_options.Structured = None,
    retries: server_options.Retries = None,
    reasks: server_options.Reasks = None,
    max_calls: server_options.MaxCalls = None,
    max_cost: server_options.MaxCost = None,
    price_in: server_options.PriceIn = None,
    price_out: server_options.PriceOut = None,
    judge_provider: server_options.JudgeProvider = None,
    judge_base_url: server_options.JudgeBaseUrl = None,
    judge_api_key_var: server_options.JudgeApiKeyVar = None,
    dry_run: server_options.DryRun = False,
    retry_skipped: server_options.RetrySkipped = False,
) -> None:
    """Ask a model (or a built-in policy) about conversations, one result file each; runs resume.

    Run the same command again after an interruption: what was answered is not asked again.

    Example: attune run openrouter anthropic/claude-sonnet-4 sample --limit 2

    Example: attune run custom my-model sample --base-url http://localhost:8000/v1

    Example: attune run openai gpt-4o "Test Samples/Sample200" --modes default verbose --dry-run

    Example: attune run builtin prior sample -o results
    """
    from attune_data import UnknownNameError, garbage
    from attune_episodes.settings import Settings

    asked = Asked(
        base_url=base_url, api_key=api_key, api_key_var=api_key_var, judge_model=tuple(judge_model or ()),
        judge_provider=judge_provider, judge_base_url=judge_base_url, judge_api_key_var=judge_api_key_var,
        call_timeout=call_timeout, concurrency=concurrency, samples=samples, temperature=temperature,
        max_tokens=max_tokens, structured=structured, retries=retries, reasks=reasks, max_calls=max_calls,
        max_cost=max_cost, price_in=price_in, price_out=price_out, dry_run=dry_run,
        retry_skipped=retry_skipped,
    )  # fmt: skip
    if provider not in PROVIDERS:
        raise UnknownNameError("provider", provider, PROVIDERS)
    if provider == "builtin":
        from attune_episodes.policies import KINDS

        asked.refuse(provider)
        if model not in KINDS:
            raise UnknownNameError("built-in policy", model, KINDS)
    elif fit:
        raise SettingsError("--fit is for built-in policies: a model behind a server is not fitted")
    training = read_training(training_run, training_step)
    wanted = read_modes(modes or ["default"])
    settings = Settings(
        stages=read_stages(stages),
        panas_strategy=panas_strategy.value,
        labels=labels.value,
        seed=seed or 0,
        prompts=prompts,
        codebook=find_codebook(codebook, path),
    )
    with garbage.paused():
        conversations = read_data(path, skip_invalid=skip_invalid, where=where)[:limit]
    output_folder(output)
    score = score_command(output, path, where)
    if provider == "builtin":
        _play(model, conversations, output, wanted, settings, seed or 0, fit, training, overwrite=overwrite)
        print(f"next: {score}")
        return
    evaluate(
        provider, model, conversations, output, modes=wanted, settings=settings, seed=seed, asked=asked,
        overwrite=overwrite, training=training, next_command=score,
    )  # fmt: skip


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
    """Where in a training run the results belong; None where nothing is said of one."""
    from attune_env.running.settings import Training

    if step is None:
        if run is not None:
            raise SettingsError("--training-run needs --training-step: results belong to a step of the run")
        return None
    return Training(step, run)


def read_modes(names: list[str]) -> list[Mode]:
    """The modes named, in the protocol's order; `all` is all four."""
    from attune_data import UnknownNameError
    from attune_episodes.settings import MODES

    for name in names:
        if name not in (*MODES, "all"):
            raise UnknownNameError("mode", name, (*MODES, "all"))
    return [mode for mode in MODES if "all" in names or mode in names]
