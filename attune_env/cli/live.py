"""`attune live`: a live conversation in the terminal, with you as the policy."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from attune_env.cli import server as servers
from attune_env.cli import shared
from attune_env.cli.data import LEVELS
from attune_env.cli.options import option

if TYPE_CHECKING:
    from attune_episodes.live.standing import Standing


def live(
    *,
    seed: int = option("Seed for the simulated people.", 0),
    index: int = option("Index of the conversation to have, counting from 0.", 0, min=0),
    level: str = option(f"How hard people are to read: {', '.join(LEVELS)}.", "default"),
    reader: str = option("Reader for your replies: fitted, held_out or lexicon.", "fitted"),
    voiced: shared.Voiced,
    server: shared.Server,
    drawn: shared.Drawn,
) -> None:
    """Talk with a simulated person who responds to what you say; each line of input is one reply.

    An empty line counts as an empty reply. At the end, you see turn by turn what the person felt and wanted,
    how your reply was read, and what it earned. With --voice, a model phrases the person's messages; what the
    person feels and does stays the same.

    Example: attune live --seed 7

    Example: attune live --index 3 --level plain < replies.txt

    Example: attune live --voice custom:my-model --base-url http://localhost:8000/v1
    """
    from attune_data.simulate import Simulation
    from attune_data.simulate.voice import grammar
    from attune_episodes.live.standing import Standing, reader_name

    voice = servers.chosen_voice(voiced, server, drawn)
    world = Simulation(seed, level=level, start=index, voice=voice or grammar)
    standing = Standing(world, index, reader=reader_name(reader))
    if voice and server.dry_run:
        servers.show_voice_estimate(voice, world, 1, live=True)
        return
    with servers.voicing(voice):
        _talk(standing)


def _talk(standing: Standing) -> None:
    """Hold the conversation over standard input and output; at the end, however it comes, show the turns."""
    from attune_data.errors import printable
    from attune_episodes.live.transcript import transcript

    held = standing.live()
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # replace undecodable input instead of failing
    asks = sys.stdin.isatty()
    if asks:
        print(
            f"Reply to what the person says, up to {held.length} times; Ctrl-D ends the conversation.",
            file=sys.stderr,
        )
    try:
        while True:
            if not held.turns or held.turns[-1].answer != "ends":
                print(*map(printable, held.message.splitlines()), "\n", sep="\n", end="", flush=True)
            if held.done:
                break
            if asks:
                print("> ", end="", file=sys.stderr, flush=True)
            if not (line := sys.stdin.readline()):
                break
            after = held.copy()  # a voice may stop in the middle of a turn, and the turn then does not count
            after.say(line.rstrip("\r\n"))
            held = after
    finally:
        print(transcript(held) if held.turns else "nothing was said")
    if not held.done:
        print(
            f"the input ended before the conversation, which lasts up to {held.length} replies",
            file=sys.stderr,
        )
