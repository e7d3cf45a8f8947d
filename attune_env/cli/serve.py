"""`attune serve`: the conversations as an environment that other processes play."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import typer

from attune_data.errors import SettingsError
from attune_env.cli import shared
from attune_env.cli.common import stoppable
from attune_env.cli.data import LEVELS
from attune_env.cli.options import ASKED, CHOSEN, command, option

app = typer.Typer(help="Serve conversations as an environment.", no_args_is_help=True)
_limit = partial(option, panel="Limits")
_chosen = partial(option, panel=CHOSEN)


@dataclass(frozen=True)
class Sessions:
    """The limits of sessions, named as in `attune_episodes.openenv_env.Limits`."""

    sessions: int = _limit("Maximum number of open sessions.", 64, "--max-sessions", min=1)
    message_bytes: int = _limit(
        "Maximum message size in bytes.", 16 * 1024 * 1024, "--max-message-bytes", min=1
    )
    idle_seconds: float = _limit("Seconds of inactivity after which a session ends.", 3_600.0)
    session_seconds: float = _limit("Maximum session length in seconds.", 604_800.0)


@dataclass(frozen=True)
class Source:
    """The conversations, named as in `attune_episodes.data_arguments.DataArguments`."""

    where: str | None = shared.WHERE
    split: str | None = _chosen("The split to use, if the data set has several.")
    number: int | None = shared.NUMBER
    provenance: Literal["simulated", "imported", "own", "benchmark"] | None = _chosen(
        "Provenance of records that do not state one."
    )
    level: str = _chosen(f"Level of simulated participants: {', '.join(LEVELS)}.", "default")
    world_seed: int = _chosen("Seed for simulated participants.", 0)


@command(app)
def openenv(
    *,
    asking: shared.Asking,
    limits: Sessions,
    data: str = _chosen("A path, a dataset name, sample, or simulated.", "sample", "-d", metavar="PATH"),
    host: str = option("Address to serve on.", "127.0.0.1"),
    port: int = option("Port; 0 picks a free one.", 8000, min=0, max=65_535),
    workers: int = option("Number of server processes; --max-sessions applies to each.", 1, min=1),
    allowed_host: list[str] | None = option(
        "Another host name that clients may use, such as a proxy's; may be repeated.", metavar="NAME"
    ),
    training: bool = option("Serve for training: benchmark records are refused.", False),
    reward: str = option(
        "A preset, or a .json or .py file that defines a reward.", "composite", metavar="PRESET|FILE"
    ),
    mode: str = option("default, verbose, omniscient or verbose_omniscient.", "default", panel=ASKED),
    seed: int = option("Seed for labels, sides and --order shuffled.", 0, min=0, panel=ASKED),
    order: Literal["sequential", "shuffled"] = _chosen(
        "Order of conversations, unless a client asks for a specific one.", "sequential"
    ),
    live: bool = option("Serve live conversations, in which simulated people respond to replies.", False),
    reader: str = option(
        "Reader for the replies in live conversations: fitted, held_out or lexicon.", "fitted"
    ),
    chosen: Source,
) -> None:
    """Serve conversations as an OpenEnv environment until Ctrl-C (exit code 130) or SIGTERM (0).

    Prints the URL once the server is ready. There is no login. Requires the extra attune-env[openenv].

    Example: attune serve openenv --data sample --port 8000

    Example: attune serve openenv --data simulated --training --reward skill --workers 4

    Example: attune serve openenv --live --level plain
    """
    with stoppable("stopped"):
        from attune_episodes.live.source import LiveSource
        from attune_episodes.openenv_env import Limits
        from attune_episodes.openenv_env.guard import host_name, is_loopback
        from attune_episodes.score import LIVE
        from attune_episodes.source import ConversationSource
        from attune_episodes.trainers.rows import check_stages
        from attune_rewards.spec_files import read_reward

        held = Limits(**vars(limits))
        names = [host_name(name) for name in allowed_host or ()]
        selection = {"sampling": order, "training": training, **vars(chosen)}
        served: ConversationSource | LiveSource
        asked: dict[str, Any] = {}
        if live:
            if data not in ("sample", "simulated") or reward != "composite":
                raise SettingsError("--live excludes --data and --reward: its people are simulated")
            served = LiveSource(reader=reader, **selection)
            source, paid = served.order, LIVE
        else:
            served = source = ConversationSource(data, **selection)
            spec, settings = read_reward(reward), asking.settings(data, seed, mode)
            asked, paid = {"settings": settings, "reward": spec}, spec.name
            if training:
                check_stages(spec, settings.stages)
        source.reset_order(seed)
        # last, because it takes seconds to import and other errors should show at once
        from attune_episodes.openenv_env import attune_app, serve

        if not is_loopback(host):
            print(
                f"warning: {host} may be reachable from other machines, and there is no login: conversations "
                "and scores are open to anyone who can connect; put a proxy with a login in front of it",
                file=sys.stderr,
            )
        use = "training" if training else "evaluation (--training refuses benchmark records)"
        print(f"{served.name}, {source.sampling}, reward {paid}, for {use}", file=sys.stderr)
        app = attune_app(served, limits=held, allowed_hosts=names, **asked)
        serve(app, host=host, port=port, workers=workers, on_ready=lambda url: print(url, flush=True))
