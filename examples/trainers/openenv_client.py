"""Play conversations on an OpenEnv server, several at a time.

Needs attune-env[openenv]. With a URL it plays there; without one it starts a server of its own on the bundled
sample and stops it afterwards:

    python openenv_client.py
    python openenv_client.py http://127.0.0.1:8000
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from attune_episodes.frameworks.openenv import AttuneClient, AttuneObservation

SESSIONS = 4


def my_model(shown: AttuneObservation) -> str:
    """Stands for a model: it is shown chat messages and says something. Ask yours here."""
    messages = [message.model_dump() for message in shown.messages]
    if shown.stage == "draft":
        return "That sounds hard. What would help most right now?"
    about = messages[-1]["content"].lower()
    feeling = "Nervous" if "worried" in about or "afraid" in about else "Upset"
    return f'{{"emotions": [{{"emotion": "{feeling}", "intensity": 5}}], "picks": ["A", "B"]}}'


async def play(url: str, index: int) -> str:
    """One conversation; a line on how it went."""
    async with AttuneClient(base_url=url) as client:
        result = await client.reset(index=index)
        parts: dict[str, list[float]] = {}
        while not result.done:
            result = await client.step(my_model(result.observation))
            for name, score in result.observation.parts.items():
                parts.setdefault(name, []).append(score)
    shown = result.observation
    means = ", ".join(f"{name} {sum(found) / len(found):.2f}" for name, found in parts.items() if any(found))
    return f"{shown.conversation_id}: {shown.total_name} {shown.total:.3f} ({means})"


async def play_all(url: str) -> None:
    """Plays the first conversations at the same time, each in a session of its own."""
    for line in await asyncio.gather(*(play(url, index) for index in range(SESSIONS))):
        print(line)


def main() -> int:
    """Plays on the server that is named, or on one of its own."""
    if len(sys.argv) > 1:
        asyncio.run(play_all(sys.argv[1]))
        return 0
    attune = Path(sys.executable).with_name("attune")
    command = [str(attune), "serve", "openenv", "--data", "sample", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()  # the first line, once it answers
        try:
            if url:
                asyncio.run(play_all(url))
        finally:
            server.terminate()
    return server.returncode


if __name__ == "__main__":
    sys.exit(main())
