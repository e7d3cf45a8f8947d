"""Importing `attune_env` registers the id, whichever of the two is imported first."""

from __future__ import annotations

import subprocess
import sys

import pytest

ID = "Attune/Conversation-v0"
REPORT = "print(*(i for i in gymnasium.registry if i.startswith('Attune/')))"
MAKE = "print(gymnasium.make('{}', number=1).reset(seed=0)[1]['conversation_id'])"


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (f"import attune_env, gymnasium\n{REPORT}", ID),
        (f"import gymnasium, attune_env\n{REPORT}", ID),
        (f"import attune_env, gymnasium, importlib\nimportlib.reload(attune_env)\n{REPORT}", ID),
        (f"import attune_env, gymnasium\n{MAKE.format(ID)}", "sample-01"),
        (f"import gymnasium\n{MAKE.format('attune_env:' + ID)}", "sample-01"),
        # the floors below do not need it
        (f"import attune_episodes, attune_rewards, attune_data, gymnasium\n{REPORT}", ""),
    ],
)  # fmt: skip
def test_the_id_is_known_in_every_order_of_imports(code: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, encoding="utf-8", timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == printed
