"""Built-in policies do what their kind says: read nothing, read the surface, or read the annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation, load
from attune_episodes import BUILTIN, KINDS, Settings, builtin_policy, parse, plan, rollout
from attune_episodes.play.policy import prepared
from attune_episodes.policies import FITTED
from attune_rewards import Prefer
from tests.play.players import SETTINGS, example
from tests.rewards.builders import EMOJI, LONG, RIGHT_TO_LEFT, comparison, conversation, turn
from tests.rewards.strategies import conversations

SAMPLE = load("sample")[:4]
CONTENT_FREE = [name for name, kind in KINDS.items() if kind == "content-free"]
WORDS = st.sampled_from([EMOJI, RIGHT_TO_LEFT, LONG, "hostile! upset, proud", "{}", ""]) | st.text(
    max_size=30
)
few = settings(max_examples=15, deadline=None)


def rewritten(about: Conversation, change: Callable[[str], str]) -> Conversation:
    """The conversation with every text in it changed; ids, annotations and structure stay."""
    record = about.to_record()
    for one in record["turns"]:
        one |= {name: change(one[name]) for name in ("userMessage", "llmResponse")}
        alternates = (one.get("annotations") or {}).get("alternateResponses") or {}
        alternates |= {name: text and change(text) for name, text in alternates.items()}
    record.pop("metadata", None)
    return Conversation.model_validate(record)


def replies(name: str, data: Sequence[Conversation], asked: Settings | None = None) -> list[list[Any]]:
    """What a policy says to each request about each conversation."""
    policy = builtin_policy(name, data, asked)
    return [[prepared(policy, about).reply(request) for request in plan(about, asked)] for about in data]


@pytest.mark.parametrize("name", CONTENT_FREE)
@few
@given(texts=st.lists(WORDS, min_size=3, max_size=5), asked=SETTINGS)
def test_content_free_policies_read_no_text(name: str, texts: list[str], asked: Settings) -> None:
    feed = iter(texts * 200)
    other = [rewritten(about, lambda text: next(feed)) for about in SAMPLE[:2]]
    assert replies(name, other, asked) == replies(name, SAMPLE[:2], asked)


@few
@given(about=conversations(), asked=SETTINGS, seed=st.integers())
def test_random_answers_depend_on_seed_and_request_only(
    about: Conversation, asked: Settings, seed: int
) -> None:
    policy = builtin_policy("random", [], asked, seed=seed)
    requests = plan(about, asked)
    forwards = {r.id: policy.reply(r) for r in requests}
    assert forwards == {r.id: builtin_policy("random", [], seed=seed).reply(r) for r in reversed(requests)}


def parsed(name: str, about: Conversation, asked: Settings | None = None) -> list[Any]:
    (said,) = replies(name, [about], asked)
    return [parse(request, reply) for request, reply in zip(plan(about, asked), said, strict=True)]


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_always_gives_one_answer_side_a_and_midpoints(answer: str) -> None:
    _, assess, again, prefer, reflect = parsed(f"always-{answer}", example(), Settings(labels="official"))
    both = {"B1": answer, "B2": answer}
    assert (assess.tags, assess.observed, assess.preferred) == ((), both, both)
    assert (again.observed, again.preferred) == (both, both)
    assert prefer.picks == {0: "A", 1: "A"}
    assert set(reflect.panas.values()) == set(reflect.branches.values()) == {4}
    assert (len(reflect.panas), len(reflect.branches)) == (20, 4)


def test_longest_and_shortest_pick_by_length() -> None:
    pairs = [("original", "alternate"), ("alternate", "human"), ("human", "original")]
    about = conversation(
        turn(1, comparisons=[comparison(*pair) for pair in pairs], texts=("123", "1234567", "12345"))
    )
    # original 3, alternate 7, human 5 characters; the frame is the conversation's whatever is shown
    for seed in range(4):
        asked = Settings(seed=seed, stages=("prefer",))
        assert parsed("longest", about, asked) == [Prefer({0: "B", 1: "A", 2: "A"})]
        assert parsed("shortest", about, asked) == [Prefer({0: "A", 1: "B", 2: "B"})]


def test_copy_worked_by_hand() -> None:
    record = turn(
        1, comparisons=[comparison("original", "human"), comparison("human", "alternate")],
        texts=("So you are upset about moving?", "I see.", "Moving in SUMMER makes people nervous."),
    )  # fmt: skip
    record["userMessage"] = "Moving this summer; I am UPSET, nervous and sad."
    record["annotations"]["binaryJudgements"] = [{"questionId": "B1", "observedBehavior": "no"}]
    about = conversation(record)
    draft, assess, again, prefer, _ = parsed("copy", about)
    assert draft.text == record["userMessage"]
    # words of five letters or more: moving summer upset nervous; the reply repeats upset and moving
    assert [tag.emotion for tag in assess.tags] == ["Nervous", "Upset"]
    assert assess.observed == assess.preferred == again.observed == {"B1": "yes"}
    # shared words: original 2 (upset, moving), human 3 (moving, summer, nervous), alternate 0
    assert prefer.picks == {0: "B", 1: "A"}


@pytest.mark.parametrize("name", BUILTIN)
def test_every_builtin_has_a_kind_its_name_and_replies_that_parse(name: str) -> None:
    policy = builtin_policy(name, SAMPLE)
    assert (policy.name, KINDS[name]) == (name, KINDS.get(policy.name))
    for about in SAMPLE:
        played = rollout(about, policy)
        assert played.policy == name
        assert {step.status for step in played.steps} == {"ok"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BUILTIN if name not in FITTED])
@few
@given(about=conversations(), asked=SETTINGS)
def test_replies_to_odd_conversations_parse_too(name: str, about: Conversation, asked: Settings) -> None:
    assert rollout(about, builtin_policy(name, [about], asked), asked).parse_rate == 1
