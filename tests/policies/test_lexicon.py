"""The lexicon policy: its cues on fresh sentences, any text at all, and the nulls that it must beat."""

from __future__ import annotations

from statistics import fmean

import pytest

from attune_data import load
from attune_data.format.constants import BINARY_IDS
from attune_episodes.play.rollout import rollout
from attune_episodes.policies import builtin_policy
from attune_episodes.policies.lexicon.behaviour import observed, wished
from attune_rewards.reading.exchange import Exchange
from attune_rewards.reading.feelings import read
from attune_rewards.reading.rules import RULES


@pytest.mark.parametrize(("text", "expected"), [
    ("I'm so proud of how the recital went.", "Proud"),
    ("My hands were shaking and my heart was pounding when the phone rang.", "Jittery"),
    ("I couldn't stop grinning on the train back.", "Excited"),
    ("Can't sleep, can't think straight, it's all too much.", "Distressed"),
    ("I shouted at my daughter over spilled juice. It was my fault.", "Guilty"),
    ("He took credit for the report, yet again. Unbelievable.", "Irritable"),
    ("I wanted to disappear when everyone stared at me.", "Ashamed"),
    ("Worried about Monday: I kept checking the mail.", "Nervous"),
    # denied, or somebody else's
    ("I'm not angry with her.", None), ("I was never ashamed of that choice.", None),
    ("She was furious, and they were scared.", None), ("The meeting moved to room 12 at 3 pm.", None),
    ("", None),
])  # fmt: skip
def test_reads_feelings_that_are_named_or_shown(text: str, expected: str | None) -> None:
    found = {tag.emotion for tag in read(text).tags}
    assert expected in found if expected else not found


def test_degree_moves_the_intensity() -> None:
    mild, plain, strong = (
        read(f"I feel {degree}sad about it.").intensities["Upset"] for degree in ("a bit ", "", "really ")
    )
    assert mild < plain < strong


def test_reads_what_a_reply_does() -> None:
    message = "My landlord cancelled the lease and I feel sad about leaving the garden."
    reply = (
        "It makes sense that you feel sad about the garden and the lease. Maybe call a tenants' office, "
        "because they know the rules. What will you miss most?"
    )
    did = observed(Exchange(message, reply), BINARY_IDS)
    yes = {"B1", "B3", "B7", "B11", "B12", "B13", "B15", "B19", "B108", "B313", "B501", "B505"}
    assert {question for question in yes if did[question] == "no"} == set()
    assert {did[question] for question in ("B14", "B20", "B206", "B310", "B406", "B408")} == {"no"}
    assert set(RULES) == set(BINARY_IDS)


def test_wishes_follow_what_the_message_asks_for() -> None:
    reply = "I see."
    vents = wished(Exchange("I don't want advice. I'm just so sad today.", reply), BINARY_IDS)
    asks = wished(Exchange("Which form is needed, and how long does it take?", reply), BINARY_IDS)
    assert (vents["B1"], vents["B11"], vents["B19"]) == ("yes", "no", "yes")
    assert (asks["B1"], asks["B11"], asks["B19"]) == ("no", "yes", "no")
    # who is unsure wants a question back, but not after having asked only to be heard
    unsure, vented = "I'm not sure how I feel about it.", (("I don't want advice.", "OK."),)
    assert [wished(Exchange(unsure, reply, before), ["B13"])["B13"] for before in ((), vented)] == [
        "yes",
        "no",
    ]


@pytest.mark.slow
def test_beats_what_reads_nothing() -> None:
    data = list(load("sample"))

    def means(name: str) -> list[float]:
        policy = builtin_policy(name, data)
        played = [rollout(one, policy) for one in data]
        pairs = (("emotion_f1", "emotion_va"), ("binary_om", "binary_hp"))
        parts = [fmean(one.parts[a] + one.parts[b] for one in played) for a, b in pairs]
        return [*parts, fmean(one.total for one in played)]

    assert all(ours > theirs for ours, theirs in zip(means("lexicon"), means("prior"), strict=True))
