"""Splits: parts of whole participants, near their shares, the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attune_data import Conversation, Conversations, SettingsError, load
from attune_data.selection import STRATA, parse_shares, split
from attune_data.selection.splitting import Strata
from tests.data.builders import conversation, record

SAMPLE = load("sample")
BASE = conversation()


def held(who: str, number: int = 0, **metadata: str) -> Conversation:
    """A conversation of that participant."""
    made = record(conversationId=f"{who}/{number}", metadata=metadata or None)
    made["participant_profile"]["participant_id"] = who
    return conversation(**made)


def owned(*counts: int) -> Conversations:
    """One participant per count, who owns that many conversations."""
    profile = BASE.participant_profile
    assert profile is not None
    assert BASE.metadata is not None
    return Conversations(
        [
            BASE.model_copy(update={
                "conversation_id": f"p{who}/{number}",
                "metadata": BASE.metadata.model_copy(update={"category": f"topic {who % 7 * (who % 3)}"}),
                "participant_profile": profile.model_copy(update={"participant_id": f"p{who}"}),
            })
            for who, count in enumerate(counts)
            for number in range(count)
        ]
    )  # fmt: skip


def ids(parts: Mapping[str, Sequence[Conversation]]) -> dict[str, set[str]]:
    return {name: {c.conversation_id for c in part} for name, part in parts.items()}


def people(part: Sequence[Conversation]) -> set[str]:
    return {c.participant for c in part}


SHARES = st.lists(st.integers(1, 20), min_size=1, max_size=4).map(
    lambda weights: {f"part{i}": w / sum(weights) for i, w in enumerate(weights)}
)
COUNTS = st.lists(st.integers(1, 5), min_size=4, max_size=40)


@given(COUNTS, SHARES, st.integers(), st.sampled_from([None, *STRATA]), st.randoms(use_true_random=False))
def test_a_split_is_a_partition_of_participants(
    counts: list[int], shares: dict[str, float], seed: int, stratify: Strata | None, random: Random
) -> None:
    data = owned(*counts)
    parts = split(data, shares, seed=seed, stratify=stratify)
    assert list(parts) == list(shares)
    assert sorted(c.conversation_id for part in parts.values() for c in part) == sorted(data.by_id)
    assert sum(len(people(part)) for part in parts.values()) == len(counts)
    assert all(parts.values())
    for part in parts.values():  # in the order of the input
        places = [list(data).index(c) for c in part]
        assert places == sorted(places)
    shuffled = list(data)
    random.shuffle(shuffled)
    assert ids(split(Conversations(shuffled), shares, seed=seed, stratify=stratify)) == ids(parts)


@given(COUNTS, SHARES, st.integers())
def test_sizes_are_near_the_shares(counts: list[int], shares: dict[str, float], seed: int) -> None:
    data = owned(*counts)
    # each of the two cuts of a part lies within half a participant of where it should
    allowed_of: dict[Strata | None, int] = {None: 1, "category": 2}
    for stratify, allowed in allowed_of.items():
        parts = split(data, shares, seed=seed, stratify=stratify)
        given = sum(len(people(part)) == 1 for part in parts.values())  # nobody goes empty, at others' cost
        for name, share in shares.items():
            assert abs(len(parts[name]) - share * sum(counts)) <= (allowed + given) * max(counts)


@pytest.mark.parametrize(("n", "shares", "want"), [
    (10, {"train": 0.8, "test": 0.2}, [8, 2]),
    (200, {"train": 0.7, "validation": 0.1, "test": 0.2}, [140, 20, 40]),
    (7, {"a": 0.5, "b": 0.5}, [3, 4]),  # 3.5 is as near to 3 as to 4: the lower
    (10, {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, [3, 4, 3]),  # cuts at 3.33 and 6.67
    (3, {"a": 0.98, "b": 0.01, "c": 0.01}, [1, 1, 1]),  # nobody goes empty
    (2, {"all": 1.0}, [2]),
])  # fmt: skip
@pytest.mark.parametrize("stratify", [None, *STRATA])
def test_sizes_by_hand(n: int, shares: dict[str, float], want: list[int], stratify: Strata | None) -> None:
    parts = split(owned(*[1] * n), shares, stratify=stratify)
    assert [len(part) for part in parts.values()] == want


def test_the_sample_always_splits_like_this() -> None:
    # pinned: a change of these is a change for everyone who has published a split
    parts = split(SAMPLE, {"train": 0.8, "test": 0.2})
    assert ids(parts)["test"] == {f"sample-{n}" for n in ("06", "14", "16", "20")}
    by_diagnosis = split(SAMPLE, {"train": 0.8, "test": 0.2}, seed=7, stratify="diagnosis")
    assert ids(by_diagnosis)["test"] == {f"sample-{n}" for n in ("01", "05", "06", "10", "12")}


def test_categories_keep_their_shares_within_one() -> None:
    sizes = {"Work": 40, "Family": 20, "Loss": 10, "Money": 1, "Pets": 1, "": 3}
    data = Conversations(
        [held(f"{name}{n}", category=name.upper() if n % 2 else name, text=f"{name}: {n % 3}")
         for name, size in sizes.items() for n in range(size)]
    )  # fmt: skip
    for seed in range(10):
        for stratify in ("category", "topic"):
            parts = split(data, {"a": 0.5, "b": 0.3, "c": 0.2}, seed=seed, stratify=stratify)
            assert [len(part) for part in parts.values()] == [37, 23, 15]  # cuts at 37.5 and 60 of 75
            for name, size in sizes.items():
                for part, share in zip(parts.values(), (0.5, 0.3, 0.2), strict=True):
                    n = sum(c.metadata.category.casefold() == name.casefold() for c in part)  # type: ignore[union-attr]
                    assert abs(n - share * size) <= 2


def test_a_participant_counts_where_most_of_theirs_are() -> None:
    topics = ["Work", "Work", "Family"]
    data = Conversations([held(f"p{who}", n, category=c) for who in range(10) for n, c in enumerate(topics)])
    parts = split(data, {"a": 0.5, "b": 0.5}, stratify="category")
    assert {name: len(part) for name, part in parts.items()} == {"a": 15, "b": 15}


def test_without_participant_ids_each_conversation_is_a_person() -> None:
    data = Conversations([conversation(conversationId=f"c{n}", participant_profile=None) for n in range(5)])
    for stratify in (None, *STRATA):
        assert [len(p) for p in split(data, {"a": 0.6, "b": 0.4}, stratify=stratify).values()] == [3, 2]


@pytest.mark.parametrize(("shares", "message"), [
    ({}, "no splits: name each"),
    ({"a": 0.5, "b": 0.4}, "shares a=0.5, b=0.4 sum to 0.9, expected 1"),
    ({"a": 80, "b": 20}, "shares a=80, b=20: each must be above 0 and at most 1"),
    ({"a": 1e308, "b": 1e308}, "at most 1"),
    ({"a": 10**400, "b": 0.5}, "shares a=1000"),
    ({"a": 1.0, "b": 0.0}, "each must be above 0"),
    ({"a": 1.5, "b": -0.5}, "each must be above 0"),
    ({"a": math.nan, "b": 1}, "each must be above 0"),
])  # fmt: skip
def test_shares_that_are_none(shares: dict[str, float], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        split(SAMPLE, shares)


def test_too_few_participants_are_counted() -> None:
    with pytest.raises(
        SettingsError, match=r"3 splits \(a, b, c\) need 3 participants or more, and memory has 2"
    ):
        split(owned(5, 5), {"a": 0.4, "b": 0.3, "c": 0.3})


def test_shares_as_text() -> None:
    assert parse_shares(" train = 0.8 ,test=.2") == {"train": 0.8, "test": 0.2}
