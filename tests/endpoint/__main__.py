"""`python -m tests.endpoint --data sample --policy lexicon`: prints its URL, serves until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal

from attune_data.source.source import Source
from attune_episodes import BUILTIN
from tests.endpoint.answers import answers_of
from tests.endpoint.faults import Faults
from tests.endpoint.server import Server, run


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.endpoint", description=__doc__)
    add = parser.add_argument
    add("--data", default="sample", help="as for `attune run`")
    add("--number", type=int, help="only the first so many conversations")
    add("--policy", default="lexicon", choices=BUILTIN)
    add("--latency-ms", type=float, default=0.0)
    add("--gather", type=int, default=0, help="answer nobody before so many requests are in flight")
    add("--fail", nargs="+", default=[], metavar="FAULT", help="503,first=2,of=*/assess reset,every=10")
    add("--until-stdin-closes", action="store_true", help="end when the process that started it ends")
    return parser.parse_args()


async def _serve(given: argparse.Namespace) -> None:
    data = Source(given.data, number=given.number).finite("--number")
    answers = answers_of(data, given.policy)
    latency, gather = given.latency_ms / 1000, given.gather
    server = Server(answers, Faults(given.fail), latency=latency, gather=gather, keep_bodies=False)
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    for signal_ in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_, over.set)
    if given.until_stdin_closes:
        loop.add_reader(0, lambda: None if os.read(0, 1024) else over.set())
    await run(server, lambda: print(server.url, flush=True), over.wait())


if __name__ == "__main__":
    asyncio.run(_serve(_options()))
