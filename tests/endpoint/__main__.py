"""`python -m tests.endpoint --data sample --policy lexicon`: prints its URL, serves until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal

from attune_episodes import BUILTIN, Settings
from attune_episodes.data_arguments import DataArguments
from attune_episodes.settings import LABELS, MODES, PANAS_STRATEGIES
from tests.endpoint.answers import answers_of
from tests.endpoint.faults import Faults
from tests.endpoint.server import Server, run


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.endpoint", description=__doc__)
    add = parser.add_argument
    add("--data", default="sample", help='"sample", a path, or "simulated"')
    add("--number", type=int, help="only the first so many conversations (of a simulated world: 20)")
    add("--level", default="default", help="of a simulated world")
    add("--world-seed", type=int, default=0)
    add("--policy", default="lexicon", choices=BUILTIN)
    add("--modes", nargs="+", default=["default"], choices=[*MODES, "all"])
    add("--panas-strategy", nargs="+", default=["absolute"], choices=PANAS_STRATEGIES)
    add("--labels", nargs="+", default=["masked"], choices=LABELS)
    add("--prompts", nargs="+", default=["full"], help="full, compact, or a folder")
    add("--seed", type=int, default=0)
    add("--port", type=int, default=0, help="0: a free one")
    add("--latency-ms", type=float, default=0.0)
    add("--gather", type=int, default=0, help="answer nobody before so many requests are in flight")
    add(
        "--fail",
        nargs="+",
        default=[],
        metavar="FAULT",
        help="503,first=2,of=*/assess reset,every=10",
    )
    add("--key", help="the only key that is let in")
    add("--model", help="the only model there is")
    add("--no-structured", action="store_true", help="refuse response_format")
    add("--price", nargs=2, type=float, metavar=("IN", "OUT"), help="dollars per million tokens")
    add("--until-stdin-closes", action="store_true", help="end when the process that started it ends")
    return parser.parse_args()


def _server(given: argparse.Namespace) -> Server:
    simulated = given.data == "simulated"
    data = DataArguments(
        given.data,
        level=given.level,
        world_seed=given.world_seed,
        number=given.number or (20 if simulated else None),
    ).finite("--number")
    settings = [
        Settings(mode=mode, panas_strategy=strategy, labels=labels, seed=given.seed, prompts=prompts)
        for mode in (MODES if "all" in given.modes else given.modes)
        for strategy in given.panas_strategy
        for labels in given.labels
        for prompts in given.prompts
    ]
    return Server(
        answers_of(data, given.policy, settings),
        Faults(given.fail),
        latency=given.latency_ms / 1000,
        gather=given.gather,
        key=given.key,
        model=given.model,
        structured=not given.no_structured,
        price=tuple(given.price) if given.price else None,
        keep_bodies=False,
    )


async def _serve(server: Server, port: int, until_stdin_closes: bool) -> None:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    if until_stdin_closes:
        loop.add_reader(0, lambda: None if os.read(0, 1024) else over.set())
    await run(server, port, lambda: print(server.url, flush=True), over.wait())


if __name__ == "__main__":
    given = _options()
    asyncio.run(_serve(_server(given), given.port, given.until_stdin_closes))
