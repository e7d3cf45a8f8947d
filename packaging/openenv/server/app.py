"""The OpenEnv server that the container runs: written conversations, or the data that ATTUNE_DATA names."""

from __future__ import annotations

import os

import uvicorn

from attune_episodes.frameworks.openenv import attune_app

# a Space of Hugging Face knows its own name
hosts = ",".join(filter(None, map(os.environ.get, ("ATTUNE_ALLOWED_HOSTS", "SPACE_HOST"))))
app = attune_app(
    os.environ.get("ATTUNE_DATA", "written"),
    reward=os.environ.get("ATTUNE_REWARD", "skill"),
    training=os.environ.get("ATTUNE_TRAINING", "1") == "1",
    allowed_hosts=hosts.split(",") if hosts else (),
)


def main() -> None:
    """Serve on all addresses of the container until it is stopped."""
    uvicorn.run(app, host="0.0.0.0", port=int(os.environ.get("PORT", "8000")))


if __name__ == "__main__":
    main()
