"""Remake the picture of the README: the report on a stand-in for a model, with Debian's Chromium.

python -m tools.picture
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

from attune_env import Conversation, builtin_policy, load, rollout_batch, save_results
from attune_episodes import Request
from attune_episodes.policies import BuiltinPolicy
from tools.pages import DOCS

IMAGES = DOCS / "images"
CHROMIUM = (
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)
SIZE = "1200,1570"
"""Shows the page down to the end of the profile."""
KNOWN = 0.2
"""Share of the requests to which the stand-in gives the annotations."""


class StandIn:
    """Answer some requests from the annotations, the others with the word list."""

    name = "stand-in"

    def __init__(self, *policies: BuiltinPolicy) -> None:
        self.lexicon, self.oracle = policies

    def for_conversation(self, conversation: Conversation) -> StandIn:
        """The policy that plays this conversation."""
        return StandIn(*(policy.for_conversation(conversation) for policy in (self.lexicon, self.oracle)))

    def reply(self, request: Request) -> str:
        """The answer to one request."""
        known = random.Random(request.id).random() < KNOWN
        return (self.oracle if known else self.lexicon).reply(request)


def main() -> None:
    """Plays the stand-in and every built-in policy over the sample and takes a picture of the report."""
    sample = load("sample")
    model = StandIn(*(builtin_policy(name, sample) for name in ("lexicon", "oracle")))
    with tempfile.TemporaryDirectory() as folder:
        save_results(rollout_batch(sample, model, em_model="custom/your-model"), f"{folder}/results")
        for command in (
            "run builtin all sample -o results",
            "score --results results --data sample --output scores.json",
            "report scores.json -o report",
        ):
            attune = (sys.executable, "-m", "attune_env", *command.split())
            subprocess.run(attune, check=True, cwd=folder, capture_output=True)
        subprocess.run(
            [
                *CHROMIUM,
                f"--user-data-dir={folder}/profile",
                f"--window-size={SIZE}",
                f"--screenshot={IMAGES / 'report.png'}",
                (Path(folder) / "report" / "report.html").as_uri(),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    main()
