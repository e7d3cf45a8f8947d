"""Answer with the annotations, which earns the most that the reward gives: the oracle of OpenEnv's RFC 008.

It runs beside the server, because the annotations never leave it. `python validation/oracle.py 3` plays the
first three conversations, and prints the total of each as JSON.
"""

from __future__ import annotations

import json
import os
import sys

from attune_data.source.source import Source
from attune_episodes import builtin_policy, plan
from attune_episodes.frameworks.openenv import AttuneClient
from attune_episodes.play.policy import prepared


def main(number: int) -> None:
    """Play conversations on the server of this container."""
    conversations = Source(
        os.environ.get("ATTUNE_DATA", "written"), training=os.environ.get("ATTUNE_TRAINING", "1") == "1"
    )
    oracle, totals = builtin_policy("oracle", ()), {}
    with AttuneClient(base_url=f"http://127.0.0.1:{os.environ.get('PORT', '8000')}").sync() as client:
        for place in range(number):
            about = conversations[place]
            player = prepared(oracle, about)
            shown = client.reset(index=place).observation
            for request in plan(about):
                shown = client.step(str(player.reply(request))).observation
            totals[shown.conversation_id] = shown.total
    print(json.dumps(totals))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
