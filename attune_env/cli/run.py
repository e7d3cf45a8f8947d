"""`attune run` and `attune demo`: policies over data into result files."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attune_env.cli.common import (
    DataArgument,
    Seed,
    SkipInvalid,
    WhereOption,
    find_codebook,
    left_out,
    output_folder,
    progress_bar,
    read_data,
    stoppable,
)

if TYPE_CHECKING:
    from attune_episodes.settings import Mode
    from attune_rewards.predictions import Stage

PROVIDERS = ("builtin",)
POLICIES = (
    "empty", "always-yes", "always-no", "random", "mode", "prior", "longest", "shortest", "copy", "asked",
    "lexicon", "oracle",
)  # fmt: skip
"""As `attune_episodes.policies.BUILTIN` has them, spelt out so that --help loads nothing; a test compares."""


class PanasChoice(StrEnum):
    """How post-conversation feelings are asked."""

    absolute = "absolute"
    delta = "delta"
    blind_delta = "blind_delta"


class LabelChoice(StrEnum):
    """How the three responses are labelled."""

    masked = "masked"
    official = "official"


def register(app: typer.Typer) -> None:
    """Adds the commands to the root."""
    app.command()(run)
    app.command()(demo)


def run(
    provider: Annotated[str, typer.Argument(metavar="PROVIDER", help="Where the model is: builtin.")],
    model: Annotated[str, typer.Argument(metavar="MODEL", help=f"For builtin: {', '.join(POLICIES)}.")],
    path: DataArgument,
    modes: Annotated[
        list[str] | None,
        typer.Option(
            "--modes", help="One or several of default verbose omniscient verbose_omniscient, or all."
        ),
    ] = None,
    panas_strategy: Annotated[PanasChoice, typer.Option(help="How feelings afterwards are asked.")] = (
        PanasChoice.absolute
    ),
    labels: Annotated[LabelChoice, typer.Option(help="masked hides which response is which.")] = (
        LabelChoice.masked
    ),
    stages: Annotated[
        str | None, typer.Option(help="Comma-separated subset of draft,assess,assess_hp,prefer,reflect.")
    ] = None,
    prompts: Annotated[str, typer.Option(help="full, compact, or a folder of templates.")] = "full",
    codebook: Annotated[
        Path | None,
        typer.Option(help="Official annotation_codebook.json; by default the one beside the data."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the result files.")] = Path(
        "results"
    ),
    where: WhereOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Play only the first N conversations (of those left).")
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option("--fit", help="Fit mode, prior and asked on this data instead of out of fold."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Make results again that are there.")
    ] = False,
    seed: Seed = 0,
    skip_invalid: SkipInvalid = False,
) -> None:
    """Play conversations with a policy, one result file each; runs resume.

    Example: attune run builtin prior sample -o results

    Example: attune run builtin lexicon "Test Samples/Sample200" --modes all --limit 20
    """
    from attune_data import UnknownNameError, load
    from attune_env.running import run_builtin
    from attune_episodes.policies import KINDS
    from attune_episodes.settings import Settings

    if provider not in PROVIDERS:
        raise UnknownNameError("provider", provider, PROVIDERS)
    if model not in KINDS:
        raise UnknownNameError("built-in policy", model, KINDS)
    wanted = read_modes(modes or ["default"])
    settings = Settings(
        stages=read_stages(stages),
        panas_strategy=panas_strategy.value,
        labels=labels.value,
        seed=seed,
        prompts=prompts,
        codebook=find_codebook(codebook, path),
    )
    conversations = read_data(path, skip_invalid=skip_invalid, where=where)
    if limit is not None:
        conversations = conversations[:limit]
    output_folder(output)
    with stoppable(), progress_bar(f"{provider}/{model}", len(conversations) * len(wanted)) as step:
        report = run_builtin(
            model,
            conversations,
            output,
            modes=wanted,
            settings=settings,
            seed=seed,
            fit_on=load(fit) if fit else None,
            overwrite=overwrite,
            on_done=step,
        )
    print(f"wrote {report.written} results to {output}, {report.skipped} were complete already")
    narrowed = f" --where {shlex.quote(where)}" if where else ""
    print(f'next: attune score --results "{output}" --ground-truth "{path}"{narrowed} --output scores.json')


def read_stages(names: str | None) -> tuple[Stage, ...]:
    """The stages of a comma-separated list; all of them without one."""
    from attune_data import UnknownNameError
    from attune_rewards.predictions import STAGES

    wanted = [name.strip() for name in names.split(",")] if names is not None else list(STAGES)
    for name in wanted:
        if name not in STAGES:
            raise UnknownNameError("stage", name, STAGES)
    return tuple(stage for stage in STAGES if stage in wanted)


def read_modes(names: list[str]) -> list[Mode]:
    """The modes named, in the protocol's order; `all` is all four."""
    from attune_data import UnknownNameError
    from attune_episodes.settings import MODES

    for name in names:
        if name not in (*MODES, "all"):
            raise UnknownNameError("mode", name, (*MODES, "all"))
    return [mode for mode in MODES if "all" in names or mode in names]


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of results and scores.")] = Path(
        "results/demo"
    ),
) -> None:
    """Run every built-in policy over the sample and show the leaderboard.

    Needs no key and no network. Writes result files and scores.json.

    Example: attune demo -o results/demo
    """
    from attune_data import load
    from attune_env.report.tables import leaderboard
    from attune_env.results import check_replaceable, read_results, score_results, write_json
    from attune_env.running import run_builtin
    from attune_episodes.policies import BUILTIN

    conversations = load("sample")
    check_replaceable(output_folder(output) / "scores.json")
    with stoppable(), progress_bar("playing", len(BUILTIN) * len(conversations)) as step:
        for name in BUILTIN:
            # always anew: it takes seconds, and results of an older version would only be in the way
            run_builtin(name, conversations, output, overwrite=True, on_done=step)
    results, problems, _ = read_results(output, conversations)
    left_out(problems, skip=False)
    scores = score_results(results, conversations, ground_truth="sample")
    write_json(output / "scores.json", scores)
    leaderboard(scores).print()
    print(f"{len(results)} result files and scores.json are in {output}")
    print(f'next: attune report --scores "{output / "scores.json"}"')
