"""The tests of the extra `inspect`: the real Inspect against the loopback endpoint."""

from __future__ import annotations

import os
from importlib.util import find_spec

# before anything imports it
os.environ |= {"INSPECT_DISPLAY": "none", "INSPECT_LOG_LEVEL": "error", "INSPECT_TELEMETRY": ""}

collect_ignore_glob = [] if find_spec("inspect_ai") else ["test_*.py"]
