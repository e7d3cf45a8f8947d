"""The lexicon policy: its cues on fresh sentences, any text at all, and the nulls that it must beat."""

from __future__ import annotations

import json
from functools import cache
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from attune_data import load
from attune_data.affect import EMOTIONS, NEGATIVE, POSITIVE
from attune_data.constants import BINARY_IDS, BRANCHES
from attune_episodes.parsing import Unparsed, parse
from attune_episodes.plan import plan
from attune_episodes.policies import KINDS, builtin_policy
from attune_episodes.policies.lexicon import LexiconPolicy, read
from attune_episodes.policies.lexicon.behaviour import RULES, observed
from attune_episodes.policies.lexicon.exchange import Exchange
from attune_episodes.policies.lexicon.wishes import wished
from attune_episodes.request import Request, ShownComparison
from attune_episodes.rollout import rollout
from attune_episodes.settings import PANAS_STRATEGIES, Settings
from attune_rewards.predictions import STAGES

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


def test_a_negated_stopping_is_no_negation() -> None:
    assert "Nervous" in feelings("I can't stop worrying about the vet's call.")


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


TEXTS = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        ["", "😭💔", "אני עייף מרهק", "not " * 30, "a" * 300, '"' * 99, "don't . ! ? ,", "\x00\ud7ff\u2028"]
    ),
)


@hypothesis_settings(deadline=None)
@given(st.lists(TEXTS, min_size=6, max_size=6), st.booleans(), st.booleans())
def test_answers_every_request_whatever_the_text(texts: list[str], change: bool, shown: bool) -> None:
    message, reply, *other = texts
    for stage in STAGES:
        request = Request(
            conversation_id="c",
            turn=None if stage == "reflect" else 2,
            stage=stage,
            messages=(),
            history=((other[0], other[1]), (message, reply))
            if stage == "reflect"
            else ((other[0], other[1]),),
            user_message=message,
            reply=None if stage == "draft" else reply,
            questions=BINARY_IDS if stage in ("assess", "assess_hp") else (),
            responses={"P": other[2], "Q": other[3]} if stage == "prefer" else {},
            comparisons=(ShownComparison(1, 0, "PW7", "P", "Q", True),) if stage == "prefer" else (),
            pre_totals=(25.0, 44.0) if shown else None,
            wants_change=change,
        )
        said = LexiconPolicy().reply(request)
        assert said == LexiconPolicy().reply(request)
        body: dict[str, Any] = json.loads(said)
        if stage in ("assess", "assess_hp"):
            assert set(body["observed"]) == set(body["preferred"]) == set(BINARY_IDS)
        elif stage == "reflect":
            assert set(body["fourBranchScores"]) == set(BRANCHES)


@pytest.mark.parametrize(
    "unit", ["a", "not so ", '"', "I can't ", ". ", "i wasn't even " * 3, "😡", "if you ", "Try it. "]
)
def test_long_lines_come_to_their_end(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    read(text)
    observed(Exchange(text, text, ((text, text),)), BINARY_IDS)


@pytest.mark.parametrize("strategy", PANAS_STRATEGIES)
def test_every_answer_over_the_sample_parses_completely(strategy: Any) -> None:
    settings = Settings(mode="verbose", panas_strategy=strategy)
    for conversation in load("sample"):
        for request in plan(conversation, settings):
            said = LexiconPolicy().reply(request)
            assert not isinstance(parse(request, said), Unparsed)
            if request.stage == "reflect":
                items = json.loads(said)
                rated = next(v for v in items.values() if isinstance(v, dict) and "Proud" in v)
                assert set(rated) == set(EMOTIONS) == {*POSITIVE, *NEGATIVE}


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


@pytest.mark.parametrize("null", CONTENT_FREE)
def test_beats_every_content_free_null(null: str) -> None:
    reader, nothing_read = means("lexicon"), means(null)
    assert reader["emotion"] > nothing_read["emotion"]
    assert reader["behaviour"] > nothing_read["behaviour"]
    assert reader["composite"] > nothing_read["composite"]
