"""`attune serve`: the conversations as an environment that other processes play."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import typer

from attune_data.errors import SettingsError, show
from attune_data.source.corpora import TO_PLAY
from attune_env.cli import shared
from attune_env.cli.common import stoppable
from attune_env.cli.options import ASKED, CHOSEN, command, option

app = typer.Typer(help="Serve conversations as an environment.", no_args_is_help=True)
HOST: Final = re.compile(r"\*|(\*\.)?[\w.-]+|\[[0-9a-f:.]+\]", re.IGNORECASE)
"""A host that clients may use: any, any of a domain, a name, an address."""
ANY_ADDRESS: Final = ("0.0.0.0", "::")
_chosen = partial(option, panel=CHOSEN)


@dataclass(frozen=True)
class Selected:
    """Which conversations are served, named as in `attune_data.source.source.Source`."""

    where: str | None = shared.WHERE
    split: str | None = _chosen("The split to use, if the data set has several.")
    number: int | None = shared.NUMBER
    provenance: Literal["imported", "own", "played", "study", "filler", "benchmark"] | None = _chosen(
        "Provenance of records that do not state one."
    )


@command(app)
def openenv(
    *,
    asking: shared.Asking,
    data: str = _chosen(f"A path, a dataset name, {shared.CORPORA}.", TO_PLAY, "-d", metavar="PATH"),
    host: str = option("Address to serve on.", "127.0.0.1"),
    port: int = option("Port; 0 picks a free one.", 8000, min=0, max=65_535),
    workers: int = option(
        "Number of server processes, each with its own sessions and order of conversations.", 1, min=1
    ),
    allowed_host: list[str] | None = option(
        "Another host name that clients may use, such as a proxy's; may be repeated.", metavar="NAME"
    ),
    max_sessions: int = option("Maximum number of open sessions.", 64, min=1),
    idle_seconds: int = option("Seconds of inactivity after which a session ends.", 3_600, min=1),
    training: bool = option(
        "Whether the rewards are for training; benchmark records and the dev and test parts of written are "
        "then refused.",
        True,
        "--training/--evaluation",
    ),
    reward: str = option(
        "A preset, or a .json or .py file that defines a reward.", "composite", metavar="PRESET|FILE"
    ),
    mode: str = option("default, verbose, omniscient or verbose_omniscient.", "default", panel=ASKED),
    seed: int = option("Seed for labels, sides and --order shuffled.", 0, min=0, panel=ASKED),
    order: Literal["sequential", "shuffled"] = _chosen(
        "Order of conversations, unless a client asks for a specific one.", "sequential"
    ),
    chosen: Selected,
) -> None:
    """Serve conversations as an OpenEnv environment until Ctrl-C (exit code 130) or SIGTERM (0).

    Prints the URL once the server is ready. There is no login. Requires the extra `openenv`.

    Example: attune serve openenv --data sample --port 8000

    Example: attune serve openenv --data written --reward skill --workers 4

    Example: attune serve openenv --data "Test Samples/Sample200" --evaluation
    """
    with stoppable("stopped"):
        from attune_data.source.order import Order
        from attune_episodes.training.rows import check_stages
        from attune_rewards.reward.spec_files import read_reward

        names = allowed_host or []
        for name in names:
            if not HOST.fullmatch(name):
                raise SettingsError(
                    f"allowed host {show(name)}: expected a name or an address without scheme and port, "
                    "such as env.example.org"
                )
        if host not in ANY_ADDRESS:
            names = [*names, f"[{host}]" if ":" in host else host]
        limits: dict[str, Any] = {
            "sessions": max_sessions,
            "idle_seconds": idle_seconds,
            "allowed_hosts": names,
        }
        selection = {"sampling": order, "training": training, **vars(chosen)}
        played = Order.of(data, **selection)
        played.restart(seed)
        spec, settings = read_reward(reward), asking.settings(data, seed, mode)
        if training:
            check_stages(spec, settings.stages)
        # last, because it takes seconds to import and other errors should show at once
        from attune_episodes.frameworks.openenv import attune_app, serve

        if host not in ("localhost", "::1") and not host.startswith("127."):
            print(
                f"warning: {host} may be reachable from other machines, and there is no login: conversations "
                "and scores are open to anyone who can connect; put a proxy with a login in front of it",
                file=sys.stderr,
            )
        use = "training (--evaluation admits all data)" if training else "evaluation"
        print(f"{played.source.name}, {played.sampling}, reward {spec.name}, for {use}", file=sys.stderr)
        if workers == 1:
            served: Any = attune_app(played, settings=settings, reward=spec, **limits)
        else:
            served = {"data": data, "settings": settings.to_json(), "reward": reward, **limits, **selection}
        serve(served, host=host, port=port, workers=workers)
