"""From recorded replies to rollouts: names of models, parts put together, and the same numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import load
from attune_episodes import Settings, builtin_policy, rollout
from attune_episodes.play.logs import Recording, joined, rollouts_of
from attune_episodes.play.score import default_spec
from attune_episodes.play.task import Task, scores_of

ABOUT = load("sample")[:2]
SPEC = default_spec()


def task(index: int = 0, settings: Settings | None = None) -> Task:
    return Task(ABOUT[index], settings or Settings(), SPEC)


def recording(
    index: int = 0, settings: Settings | None = None, model: str = "lab/m", way: str = ""
) -> Recording:
    """A model that says nothing."""
    asked = task(index, settings)
    return Recording(asked, {request.id: "" for request in asked.requests}, model, way=way)


def names(*recordings: Recording) -> list[str]:
    return [one.result["em_model"] for one in rollouts_of(recordings)]


def test_the_numbers_are_those_of_the_policy_that_said_it() -> None:
    ours = rollout(ABOUT[0], builtin_policy("lexicon", ABOUT))
    said = {step.request.id: step.reply for step in ours.steps}
    (made,) = rollouts_of([Recording(task(), said, "lab/m", {"api_cost": 0.5})])
    assert (made.total, made.policy, made.result["api_cost"]) == (ours.total, "lab/m", 0.5)
    assert scores_of(made) == scores_of(ours)
    assert scores_of(made)["composite_strict"] == pytest.approx(100 * ours.total, abs=1e-9)


def test_the_same_words_again_are_a_sample_and_other_words_are_not() -> None:
    other = Settings(seed=1)
    assert names(
        recording(), recording(1), recording(), recording(0, other), recording(1, other), recording(0, other),
        recording(way="another system prompt"), recording(model="lab/n"), recording(0, Settings("verbose")),
    ) == [
        "lab/m", "lab/m", "lab/m@sample2", "lab/m#2", "lab/m#2", "lab/m#2@sample2",
        "lab/m#3", "lab/n", "lab/m",
    ]  # fmt: skip


PARTS = st.lists(st.tuples(st.sampled_from([0, 1]), st.sets(st.sampled_from("xyz"))))


@given(PARTS)
def test_joined_keeps_every_part_once_and_no_request_twice_in_a_conversation(
    parts: list[tuple[int, set[str]]],
) -> None:
    made = joined(
        Recording(task(index), dict.fromkeys(names, ""), "lab/m", {"api_cost": 1, "attune": {"parts": [n]}})
        for n, (index, names) in enumerate(parts)
    )
    assert sorted(n for one in made for n in one.facts["attune"]["parts"]) == list(range(len(parts)))
    for one in made:
        mine = [parts[n] for n in one.facts["attune"]["parts"]]
        assert one.facts["api_cost"] == len(mine)
        assert {ABOUT[index].conversation_id for index, _ in mine} == {one.task.conversation.conversation_id}
        assert len(one.replies) == sum(len(names) for _, names in mine)
