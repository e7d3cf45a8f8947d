"""The OpenEnv server that the container runs: simulated participants, or the data that ATTUNE_DATA names.

With ATTUNE_LIVE=1 it serves live conversations.
"""

from __future__ import annotations

import os

from attune_episodes.live.source import LiveSource
from attune_episodes.openenv_env import attune_app, serve

LIVE = os.environ.get("ATTUNE_LIVE", "0") == "1"
hosts = os.environ.get("ATTUNE_ALLOWED_HOSTS", "")
allowed = hosts.split(",") if hosts else ()
if LIVE:
    app = attune_app(LiveSource(sampling="sequential"), allowed_hosts=allowed)
else:
    app = attune_app(
        os.environ.get("ATTUNE_DATA", "simulated"),
        reward=os.environ.get("ATTUNE_REWARD", "skill"),
        training=os.environ.get("ATTUNE_TRAINING", "1") == "1",
        allowed_hosts=allowed,
    )


def main() -> None:
    """Serve on all addresses of the container until it is stopped."""
    serve(app, host="0.0.0.0", port=int(os.environ.get("PORT", "8000")), on_ready=print)


if __name__ == "__main__":
    main()
