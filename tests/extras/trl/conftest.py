"""The tests of the extra `trl`: real trainers on a CPU, models made here, nothing from a hub."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

# before anything imports them
os.environ |= {
    "CUDA_VISIBLE_DEVICES": "",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
    "TRL_EXPERIMENTAL_SILENCE": "1",
}

collect_ignore_glob = [] if find_spec("trl") and find_spec("torch") else ["test_*.py"]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny model and its tokenizer, as a model's name would find them."""
    from tests.extras.trl import tiny  # imports torch, which the settings above come before

    folder = tmp_path_factory.mktemp("model")
    tiny.model().save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    return folder
