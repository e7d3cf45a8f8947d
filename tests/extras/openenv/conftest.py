"""The tests of the extra `openenv`: real servers on loopback, real clients."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("openenv") else ["test_*.py"]
