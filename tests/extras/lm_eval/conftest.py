"""The tests of the extra `lm-eval`: lm-evaluation-harness itself against a chat server on loopback."""

from __future__ import annotations

import os
from importlib.util import find_spec

# before anything imports them
os.environ |= {
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}

collect_ignore_glob = [] if find_spec("lm_eval") else ["test_*.py"]
