"""The outcome that docs/verifiers.md shows is that of the command above it: three conversations, lexicon."""

from __future__ import annotations

import re
from pathlib import Path

from attune_episodes import builtin_policy, rollout
from tests.verifiers_env.play import sample

DOCS = Path(__file__).parents[2] / "docs" / "verifiers.md"


def test_the_figures_shown_are_those_of_the_command_shown() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert "vf-eval attune-env -m MODEL -n 3 " in text
    (block,) = re.findall(r"```text\n(reward .*?)```", text, flags=re.DOTALL)
    policy = builtin_policy("lexicon", sample())
    played = [rollout(about, policy) for about in sample()[:3]]

    def mean(values: list[float]) -> str:
        return f"{sum(values) / len(values):.2f}"

    names = {name for one in played for name in one.parts}
    # as vf-eval sums up: a part that a conversation does not have counts as 0
    wanted = {name: mean([one.parts.get(name, 0.0) for one in played]) for name in names}
    wanted |= {
        "reward": mean([one.total for one in played]),
        "composite_strict": mean([one.total for one in played]),
        "parse_rate": mean([one.parse_rate for one in played]),
        "answered": mean([float(len(one.steps)) for one in played]),
        "reasks": "0.00",
        "retries": "0.00",
    }
    shown = dict(re.findall(r"(\w+) (\d+\.\d\d)", block))
    assert len(shown) == 9
    assert shown == {name: wanted[name] for name in shown}
