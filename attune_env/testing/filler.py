"""`filler`: annotated conversations of filler text, for tests and benchmarks that need numbers, not words."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from attune_data import Conversation, Conversations
from attune_data.errors import SettingsError, show
from attune_data.format.affect import EMOTIONS, POLARITY
from attune_data.format.constants import (
    BINARY_IDS,
    BRANCHES,
    PAIRWISE_IDS,
    Q1_OPTIONS,
    Q2_OPTIONS,
    Q3_NEGATIVE,
    Q3_OPTIONS,
    RESPONSES,
)
from attune_data.format.questionnaires import QUESTIONNAIRES
from attune_data.seeding import digest

Json = dict[str, Any]
SYLLABLES: Final = ("ba", "do", "ki", "la", "me", "nu", "po", "ra", "si", "tu")
CATEGORIES: Final = ("Family", "Friendship", "Health", "Housing", "Money", "Work")
COUNTRIES: Final = ("Brazil", "Germany", "India", "Kenya", "United States")
DIAGNOSES: Final = ("ADHD", "Anxiety disorder", "Autism", "Depression")
PAIRS: Final = (("original", "alternate"), ("original", "human"), ("alternate", "human"))
FELT_OFF: Final = ("Too long", "Gave advice too soon", "Missed how I felt")
QUESTIONS: Final = (8, 14)
"""Fewest and most yes/no questions of a turn."""


def filler(n: int, seed: int = 0, *, turns: tuple[int, int] = (3, 5), holes: float = 0.0) -> Conversations:
    """Make annotated conversations whose texts and annotations are drawn at random.

    The texts mean nothing and the annotations do not follow from them, so nothing can be learned here and
    the training guard refuses these records (provenance "filler"). The first k of n conversations are those
    of `filler(k)`. About one participant in four owns two conversations.

    Args:
        n: how many conversations, at least 1.
        seed: determines everything; seeds are hashed, so neighbouring ones have nothing in common.
        turns: fewest and most turns of a conversation, at least 1.
        holes: the probability, 0 to 1, that an annotation is absent, as in incomplete real records.

    Raises SettingsError for an argument outside its range.
    """
    low, high = turns
    if n < 1 or low < 1 or high < low or not 0 <= holes <= 1:
        given = f"n={n}, turns={show(turns)}, holes={holes}"
        raise SettingsError(f"filler({given}): n and turns are at least 1, turns in order, holes from 0 to 1")
    made = [Conversation.model_validate(_record(index, seed, turns, holes)) for index in range(n)]
    return Conversations(made, source=f"filler, seed {seed}")


def _record(index: int, seed: int, turns: tuple[int, int], holes: float) -> Json:
    chance = _chance(seed, "conversation", index)
    # of five neighbours the last belongs to the first one's participant
    person = index - 4 if index % 5 == 4 else index
    record = {
        "conversationId": f"filler-{seed}-{index}",
        "provenance": "filler",
        "metadata": _metadata(chance),
        "participant_profile": _profile(_chance(seed, "person", person), f"F{seed}-{person}"),
        "prePanas": _panas(chance),
        "postPanas": _panas(chance),
        "conversationWideQuestions": _closing(chance),
        "turns": [_turn(chance, number + 1, holes) for number in range(chance.randint(*turns))],
    }
    return _punched(record, ("prePanas", "postPanas", "conversationWideQuestions"), chance, holes)


def _turn(chance: Random, number: int, holes: float) -> Json:
    asked = sorted(chance.sample(BINARY_IDS, chance.randint(*QUESTIONS)), key=BINARY_IDS.index)
    felt = chance.sample(EMOTIONS, chance.choice((0, 1, 1, 2, 3)))
    compared = ("general", *chance.sample(PAIRWISE_IDS[1:], 3))
    annotations = {
        "binaryJudgements": [_judgement(chance, question) for question in asked],
        "alternateResponses": {"llmImproved": _text(chance, 30), "humanEdited": _text(chance, 25)},
        "pairwiseComparisons": [
            comparison for question in compared for comparison in _comparisons(chance, question)
        ],
        "selectedPairwiseQuestions": list(compared),
    }
    turn = {
        "turnNumber": number,
        "userMessage": _text(chance, 30),
        "llmResponse": _text(chance, 40),
        "moodShiftTags": [{"emotion": item, "intensity": chance.randint(1, 7)} for item in felt],
        "annotations": _punched(annotations, tuple(annotations), chance, holes),
    }
    return _punched(turn, ("moodShiftTags", "annotations"), chance, holes)


def _judgement(chance: Random, question: str) -> Json:
    """An answer of each kind: three in five observed, four in five wanted, a few that do not apply."""
    observed = chance.choices(("yes", "no", "na"), (0.58, 0.38, 0.04))[0]
    preferred = chance.choices(("yes", "no", "na"), (0.76, 0.2, 0.04))[0]
    return {"questionId": question, "observedBehavior": observed, "preferredBehavior": preferred}


def _comparisons(chance: Random, question: str) -> list[Json]:
    """The three comparisons of a question, won by the response that ranks higher; now and then by neither."""
    rank: list[str] = chance.sample(RESPONSES, len(RESPONSES))
    return [
        {
            "questionId": question,
            "responseA": a,
            "responseB": b,
            "winner": None if chance.random() < 0.03 else "A" if rank.index(a) < rank.index(b) else "B",
        }
        for a, b in (chance.sample(pair, 2) for pair in PAIRS)
    ]


def _metadata(chance: Random) -> Json:
    category = chance.choice(CATEGORIES)
    return {"model": "filler", "category": category, "subtopic": "Any", "text": f"{category}: Any"}


def _profile(chance: Random, name: str) -> Json:
    diagnosis = chance.choice(DIAGNOSES) if chance.random() < 0.5 else "None of the above"
    return {
        "schema_version": "2.0",
        "participant_id": name,
        "profile_type": "full",
        "demographics": {"country": chance.choice(COUNTRIES), "diagnoses": [diagnosis]},
        "computed_scores": {
            one.name: chance.randint(int(one.low), int(one.high)) for one in QUESTIONNAIRES.values()
        },
        "conversation_topic_attitude": chance.choice(("Positive", "Negative", "Mixed")),
    }


def _panas(chance: Random) -> Json:
    answers = {item: chance.randint(1, 7) for item in EMOTIONS}
    totals = {
        side: sum(answer for item, answer in answers.items() if POLARITY[item] == side)
        for side in ("positive", "negative")
    }
    return {
        "totalPositiveAffect": totals["positive"],
        "totalNegativeAffect": totals["negative"],
        "responses": {item.lower(): answer for item, answer in answers.items()},
    }


def _closing(chance: Random) -> Json:
    fit = chance.choice(Q3_OPTIONS)
    off = chance.sample(FELT_OFF, chance.randint(1, 2)) if fit in Q3_NEGATIVE else []
    return {
        "fourBranchScores": {branch: chance.randint(1, 7) for branch in BRANCHES},
        "q1_lookingFor": chance.sample(Q1_OPTIONS, chance.randint(1, 3)),
        "q2_emotionClarity": chance.choice(Q2_OPTIONS),
        "q3_modelFit": fit,
        "q3_followUp_whatFeltOff": off,
    }


def _punched(record: Json, names: tuple[str, ...], chance: Random, holes: float) -> Json:
    """The record without some of the annotations named."""
    absent = {name for name in names if chance.random() < holes}
    return {name: value for name, value in record.items() if name not in absent}


def _text(chance: Random, length: int) -> str:
    """About `length` words of two syllables, in sentences."""
    words = [
        "".join(chance.choices(SYLLABLES, k=2)) for _ in range(chance.randint(length // 2, 3 * length // 2))
    ]
    sentences = [words[start : start + 9] for start in range(0, len(words), 9)]
    return " ".join(" ".join(sentence).capitalize() + "." for sentence in sentences)


def _chance(*place: object) -> Random:
    return Random(digest(*place))
