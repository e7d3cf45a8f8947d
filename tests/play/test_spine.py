"""Playing and scoring a conversation loads the protocol, the metrics and nothing that stands beside them."""

from __future__ import annotations

import pytest

from tests.command import loaded_by

BESIDE = {
    "attune_env", "attune_data.importing", "attune_data.written", "attune_rewards.reading",
    "attune_episodes.chat", "attune_episodes.frameworks", "attune_episodes.judging",
    "attune_episodes.policies", "attune_episodes.training", "httpx",
}  # fmt: skip
"""Adapters, trainers, readers, policies, judges, importers and the network."""
PLAY = """
from attune_data import load
from attune_episodes.play.episode import Episode
from attune_episodes.play.score import score
from attune_episodes.protocol.settings import Settings
from attune_rewards import score_conversation
about = load("sample")[0]
episode = Episode(about, Settings(stages=STAGES))
while not episode.done:
    step = episode.submit("I hear you." if episode.request.plain else '{"observed": {"B1": "yes"}}')
    assert score(about, step.request, step.outcome).value == step.score.value
score_conversation(about, episode.prediction)
episode.result()
"""
NO_DRAFT = PLAY.replace("STAGES", "('assess', 'assess_hp', 'prefer', 'reflect')")
A_DRAFT = PLAY.replace("STAGES", "('draft',)")


def beside(statement: str) -> set[str]:
    loaded = loaded_by(statement, dotted=True)
    return {name for name in BESIDE if any(one == name or one.startswith(f"{name}.") for one in loaded)}


@pytest.mark.parametrize("statement", [
    "import attune_rewards", "import attune_episodes.play.episode", "import attune_episodes.play.score",
])  # fmt: skip
def test_an_import_loads_nothing_beside(statement: str) -> None:
    assert beside(statement) == set()


def test_playing_and_scoring_loads_nothing_beside_before_the_first_draft() -> None:
    assert beside(NO_DRAFT) <= {"attune_data.written"}
    assert "attune_rewards.reading" in beside(A_DRAFT)
