"""`attune serve`: the conversations as an environment that other processes play."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from attune_env.cli.common import stoppable
from attune_env.cli.data import LEVELS
from attune_env.cli.options import ASKED, DATA, Asking, ModeOption, NumberOption, WhereOption, option, takes

app = typer.Typer(help="Serve conversations as an environment.", no_args_is_help=True)
LIMITS = "Limits"


@dataclass(frozen=True)
class Sessions:
    """The limits of sessions."""

    max_sessions: Annotated[
        int, option("--max-sessions", min=1, help="Open sessions at a time.", panel=LIMITS)
    ] = 64
    max_message_bytes: Annotated[
        int, option("--max-message-bytes", min=1, help="Size of a message.", panel=LIMITS)
    ] = 16 * 1024 * 1024
    idle_seconds: Annotated[
        float, option("--idle-seconds", help="Silence after which a session ends.", panel=LIMITS)
    ] = 3_600.0
    session_seconds: Annotated[
        float, option("--session-seconds", help="Length of a session.", panel=LIMITS)
    ] = 604_800.0


@app.command()
@takes
def openenv(
    asking: Asking,
    sessions: Sessions,
    data: Annotated[
        str,
        option(
            "--data", "-d", metavar="PATH", help="A path, a dataset name, sample, or simulated.", panel=DATA
        ),
    ] = "sample",
    host: Annotated[str, option("--host", help="Address to serve on.")] = "127.0.0.1",
    port: Annotated[int, option("--port", min=0, max=65_535, help="Port; 0 takes a free one.")] = 8000,
    allowed_host: Annotated[
        list[str] | None,
        option(
            "--allowed-host", metavar="NAME",
            help="A further name that clients ask for, such as a proxy's; may be repeated.",
        ),
    ] = None,
    training: Annotated[
        bool, option("--training", help="Serve for training: benchmark records are refused.")
    ] = False,
    reward: Annotated[
        str,
        option("--reward", metavar="PRESET|FILE", help="A preset, or a .json or .py file with a reward."),
    ] = "composite",
    mode: ModeOption = "default",
    seed: Annotated[
        int,
        option(
            "--seed", min=0, help="Seed of labels and sides, and of --order shuffled.", panel=ASKED
        ),
    ] = 0,
    order: Annotated[
        Literal["sequential", "shuffled"],
        option("--order", help="Of conversations that no client names.", panel=DATA),
    ] = "sequential",
    where: WhereOption = None,
    split: Annotated[
        str | None, option("--split", help="Of a dataset that has several.", panel=DATA)
    ] = None,
    number: NumberOption = None,
    provenance: Annotated[
        Literal["simulated", "imported", "own", "benchmark"] | None,
        option("--provenance", help="The mark of records that carry none.", panel=DATA),
    ] = None,
    level: Annotated[
        str, option("--level", help=f"Of simulated participants: {', '.join(LEVELS)}.", panel=DATA)
    ] = "default",
    world_seed: Annotated[
        int, option("--world-seed", help="Seed of simulated participants.", panel=DATA)
    ] = 0,
) -> None:  # fmt: skip
    """Serve conversations as an OpenEnv environment until Ctrl-C (exit code 130) or SIGTERM (0).

    Prints the URL once clients are answered. There is no login. Needs the extra: attune-env[openenv].

    Example: attune serve openenv --data sample --port 8000

    Example: attune serve openenv --data simulated --training --stages assess,prefer --reward skill
    """
    with stoppable("stopped"):
        from attune_data.errors import UnknownNameError
        from attune_episodes.openenv_env import Limits
        from attune_episodes.openenv_env.guard import host_name, is_loopback
        from attune_episodes.settings import MODES
        from attune_episodes.source import ConversationSource
        from attune_episodes.trainers.rows import check_stages
        from attune_rewards.spec_files import read_reward

        if mode not in MODES:
            raise UnknownNameError("mode", mode, MODES)
        limits = Limits(
            sessions=sessions.max_sessions,
            message_bytes=sessions.max_message_bytes,
            idle_seconds=sessions.idle_seconds,
            session_seconds=sessions.session_seconds,
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
            provenance=provenance,
            sampling=order,
            training=training,
        )
        source.reset_order(seed)
        settings = asking.settings(data, seed, mode)
        if training:
            check_stages(spec, settings.stages)
        # last: it takes seconds to import, and what is wrong with the rest shows at once
        from attune_episodes.openenv_env import attune_app, serve

        if not is_loopback(host):
            print(
                f"warning: {host} may be reached from other machines, and there is no login: conversations "
                "and scores are open to whoever can connect; put a proxy that asks for one before it",
                file=sys.stderr,
            )
        use = "training" if training else "evaluation (--training refuses benchmark records)"
        print(f"{source.name}, {source.sampling}, reward {spec.name}, for {use}", file=sys.stderr)
        app = attune_app(source, settings=settings, reward=spec, limits=limits, allowed_hosts=names)
        serve(app, host=host, port=port, on_ready=lambda url: print(url, flush=True))
