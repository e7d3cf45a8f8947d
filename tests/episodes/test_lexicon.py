"""The lexicon policy: its cues on fresh sentences, any text at all, and the nulls that it must beat."""

from __future__ import annotations

from functools import cache
from statistics import fmean

import pytest

from attune_data import load
from attune_data.constants import BINARY_IDS
from attune_episodes.policies import KINDS, builtin_policy
from attune_episodes.policies.lexicon.behaviour import RULES, observed, wished
from attune_episodes.policies.lexicon.exchange import Exchange
from attune_episodes.policies.lexicon.feelings import read
from attune_episodes.rollout import rollout

CONTENT_FREE = [name for name, kind in KINDS.items() if kind == "content-free"]


def feelings(text: str) -> set[str]:
    return {tag.emotion for tag in read(text).tags}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm so proud of how the recital went.", "Proud"),
        ("My hands were shaking and my heart was pounding when the phone rang.", "Jittery"),
        ("I couldn't stop grinning on the train back.", "Excited"),
        ("Can't sleep, can't think straight, it's all too much.", "Distressed"),
        ("I shouted at my daughter over spilled juice. It was my fault.", "Guilty"),
        ("He took credit for the report, yet again. Unbelievable.", "Irritable"),
        ("I wanted to disappear when everyone stared at me.", "Ashamed"),
        ("Worried about Monday: I kept checking the mail.", "Nervous"),
    ],
)
def test_reads_feelings_that_are_named_or_shown(text: str, expected: str) -> None:
    assert expected in feelings(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm not angry with her.",
        "I was never ashamed of that choice.",
        "She was furious, and they were scared.",
        "The meeting moved to room 12 at 3 pm.",
        "",
    ],
)
def test_reads_no_feeling_that_is_denied_or_somebody_elses(text: str) -> None:
    assert feelings(text) == set()


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


@cache
def means(name: str) -> dict[str, float]:
    conversations = list(load("sample"))
    policy = builtin_policy(name, conversations)
    played = [rollout(conversation, policy) for conversation in conversations]
    part = {
        key: fmean(one.parts[key] for one in played)
        for key in ("emotion_f1", "emotion_va", "binary_om", "binary_hp")
    }
    return {
        "emotion": (part["emotion_f1"] + part["emotion_va"]) / 2,
        "behaviour": (part["binary_om"] + part["binary_hp"]) / 2,
        "composite": fmean(one.total for one in played),
    }


@pytest.mark.slow
def test_beats_what_reads_nothing() -> None:
    reader, prior = means("lexicon"), means("prior")
    assert all(reader[name] > prior[name] for name in ("emotion", "behaviour", "composite"))
