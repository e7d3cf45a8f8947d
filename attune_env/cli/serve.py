"""`attune serve`: the conversations as an environment that other processes play."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from attune_env.cli.common import WhereOption, find_codebook, stoppable
from attune_env.cli.settings_options import (
    LabelChoice,
    Labels,
    OfficialCodebook,
    PanasChoice,
    PanasStrategy,
    Prompts,
    Stages,
    read_stages,
)
from attune_env.cli.simulate import LEVELS

app = typer.Typer(help="Serve conversations as an environment.", no_args_is_help=True)


class OrderChoice(StrEnum):
    """In which order conversations come that no client names."""

    sequential = "sequential"
    shuffled = "shuffled"


class ProvenanceChoice(StrEnum):
    """What records are that carry no mark."""

    simulated = "simulated"
    imported = "imported"
    own = "own"
    benchmark = "benchmark"


@app.command()
def openenv(
    data: Annotated[
        str,
        typer.Option("--data", metavar="PATH", help="A path, a dataset name, sample, or simulated."),
    ] = "sample",
    host: Annotated[str, typer.Option(help="Address to serve on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port; 0 takes a free one.")] = 8000,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A further name that clients ask for, such as a proxy's; may be repeated."
        ),
    ] = None,
    training: Annotated[
        bool, typer.Option("--training", help="Serve for training: benchmark records are refused.")
    ] = False,
    reward: Annotated[
        str, typer.Option(metavar="PRESET|FILE", help="A preset, or a .json or .py file with a reward.")
    ] = "composite",
    stages: Stages = None,
    mode: Annotated[
        str, typer.Option(help="default, verbose, omniscient or verbose_omniscient.")
    ] = "default",
    panas_strategy: PanasStrategy = PanasChoice.absolute,
    labels: Labels = LabelChoice.masked,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Seed of labels and sides, and of --order shuffled.")
    ] = 0,
    prompts: Prompts = "full",
    codebook: OfficialCodebook = None,
    order: Annotated[
        OrderChoice, typer.Option("--order", help="Of conversations that no client names.")
    ] = OrderChoice.sequential,
    where: WhereOption = None,
    split: Annotated[str | None, typer.Option(help="Of a dataset that has several.")] = None,
    number: Annotated[int | None, typer.Option(min=1, help="Only the first N conversations.")] = None,
    provenance: Annotated[
        ProvenanceChoice | None, typer.Option(help="The mark of records that carry none.")
    ] = None,
    level: Annotated[str, typer.Option(help=f"Of simulated people: {', '.join(LEVELS)}.")] = "default",
    world_seed: Annotated[int, typer.Option(help="Seed of simulated people.")] = 0,
    max_sessions: Annotated[int, typer.Option(min=1, help="Open sessions at a time.")] = 64,
    max_message_bytes: Annotated[int, typer.Option(min=1, help="Size of a message.")] = 16 * 1024 * 1024,
    idle_seconds: Annotated[float, typer.Option(help="Silence after which a session ends.")] = 3_600.0,
    session_seconds: Annotated[float, typer.Option(help="Length of a session.")] = 604_800.0,
) -> None:
    """Serve conversations as an OpenEnv environment until Ctrl-C (exit code 130) or SIGTERM (0).

    Prints the URL once clients are answered. There is no login. Needs the extra: attune-env[openenv].

    Example: attune serve openenv --data sample --port 8000

    Example: attune serve openenv --data simulated --training --stages assess,prefer --reward skill
    """
    with stoppable("stopped"):
        from attune_data.errors import UnknownNameError
        from attune_episodes.openenv_env import Limits
        from attune_episodes.openenv_env.guard import host_name
        from attune_episodes.settings import MODES, Settings
        from attune_episodes.source import ConversationSource
        from attune_episodes.trainers.rows import check_stages
        from attune_rewards.spec_files import read_reward

        if mode not in MODES:
            raise UnknownNameError("mode", mode, MODES)
        limits = Limits(
            sessions=max_sessions,
            message_bytes=max_message_bytes,
            idle_seconds=idle_seconds,
            session_seconds=session_seconds,
        )
        names = [host_name(name) for name in allowed_host or ()]
        spec = read_reward(reward)
        source = ConversationSource(
            data,
            level=level,
            world_seed=world_seed,
            number=number,
            split=split,
            where=where,
            provenance=provenance.value if provenance else None,
            sampling=order.value,
            training=training,
        )
        source.reset_order(seed)
        settings = Settings(
            mode=mode,
            stages=read_stages(stages),
            panas_strategy=panas_strategy.value,
            labels=labels.value,
            seed=seed,
            prompts=prompts,
            codebook=find_codebook(codebook, data),
        )
        if training:
            check_stages(spec, settings.stages)
        # last: it takes seconds to import, and what is wrong with the rest shows at once
        from attune_episodes.openenv_env import attune_app, serve

        _warn(host)
        print(f"{source.name}, {source.sampling}, reward {spec.name}, for {_use(training)}", file=sys.stderr)
        app = attune_app(source, settings=settings, reward=spec, limits=limits, allowed_hosts=names)
        serve(app, host=host, port=port, on_ready=lambda url: print(url, flush=True))


def _use(training: bool) -> str:
    return "training" if training else "evaluation (--training refuses benchmark records)"


def _warn(host: str) -> None:
    from attune_episodes.openenv_env.guard import is_loopback

    if not is_loopback(host):
        print(
            f"warning: {host} may be reached from other machines, and there is no login: conversations and "
            "scores are open to whoever can connect; put a proxy that asks for one before it",
            file=sys.stderr,
        )
