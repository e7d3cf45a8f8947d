"""The tests of the extra `verl`: what verl itself does with our files and function, on a CPU."""

from __future__ import annotations

import os
from importlib.util import find_spec

# before anything imports them
os.environ |= {
    "CUDA_VISIBLE_DEVICES": "",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}

collect_ignore_glob = [] if find_spec("verl") and find_spec("torch") else ["test_*.py"]
