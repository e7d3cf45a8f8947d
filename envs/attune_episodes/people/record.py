"""Played conversations as records of the benchmark's format, with the origin of every label.

A label is `decided` by the program before any text, `read` in the text by the reader, or `judged` by the
person's hand. `only` keeps the labels of some origins, so that training rows have no others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, Final, Literal, get_args

from attune_data.errors import UnknownNameError
from attune_data.files.conversations import Conversations
from attune_data.format.affect import panas_record
from attune_data.format.codebook import Codebook
from attune_data.format.constants import JUDGED, ResponseName
from attune_data.format.schema import Conversation
from attune_data.format.validate import conversation_from
from attune_data.seeding import digest
from attune_episodes.people.cards import GOALS, Card
from attune_episodes.people.closing import CLARITY, FIT, OFF, closing, panas
from attune_episodes.people.judging import Judged
from attune_episodes.people.play import Played, PlayedTurn
from attune_episodes.people.state import ANSWERS, GIVES_IN, first_state

Origin = Literal["decided", "read", "judged"]
ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
_CLOSING: Final = ("fourBranchScores", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff")
_NAMES: Final[dict[str, ResponseName]] = {"A": "original", "E": "human", "B": "alternate"}
"""The letters of the person's hand -> the replies."""


def record(played: Played) -> dict[str, Any]:
    """The record of a conversation; of a live one, which nobody judges, without edits and rankings."""
    card, end = played.card, played.closing or closing(played.card, played.state)
    judged = any(turn.judged for turn in played.turns)
    offs = dict(zip(OFF, Codebook.own().options["q3_followUp_whatFeltOff"], strict=True))
    return {
        "conversationId": card.id,
        "provenance": "played",
        "metadata": {
            "model": " | ".join(dict.fromkeys(hand.model for hand in played.cast.assistants)),
            "category": card.category,
            "subtopic": card.subtopic,
            "text": f"{card.category}: {card.subtopic}",
        },
        "participant_profile": _profile(card),
        "prePanas": panas_record(panas(card, first_state(card), "before")),
        "postPanas": panas_record(end.panas),
        "conversationWideQuestions": {
            "fourBranchScores": dict(end.branches),
            "q1_lookingFor": [GOALS[goal] for goal in end.goals],
            "q2_emotionClarity": CLARITY[end.clarity],
            "q3_modelFit": FIT[end.fit],
            "q3_followUp_whatFeltOff": [offs[name] for name in end.off],
        },
        "turns": [_turn(card, number, turn) for number, turn in enumerate(played.turns, 1)],
        "played": {
            "part": card.part,
            "openness": card.openness,
            "presses": card.presses,
            **played.cast.describe(),
            "labels": {
                **dict.fromkeys(("prePanas", "q1_lookingFor"), "decided"),
                **dict.fromkeys(("postPanas", *_CLOSING), "judged" if played.closing else "decided"),
                "moodShiftTags": [turn.origin for turn in played.turns],
                "observedBehavior": {q: "judged" if judged and q in JUDGED else "read" for q in card.asked},
                "preferredBehavior": "judged" if judged else "decided",
                "humanEdited": "judged",
                "pairwiseComparisons": "judged",
            },
        },
    }


def _profile(card: Card) -> dict[str, Any]:
    person = card.person
    return {
        "schema_version": "2.0",
        "participant_id": person["id"],
        "profile_type": "played",
        "demographics": {
            "country": person["place"],
            "education": person["education"],
            "work_edu_background": [person["work"]],
            "gender": person["gender"],
            "age_range": person["age"],
            "english_proficiency": person["english"],
            "diagnoses": list(person.get("diagnoses", ())),
        },
        "computed_scores": dict(person.get("scores", {})),
        "conversation_topic_attitude": card.attitude,
    }


def _turn(card: Card, number: int, turn: PlayedTurn) -> dict[str, Any]:
    asked, (received, other) = card.asked, turn.replies
    judged = turn.judged or Judged({}, (), received, {})  # nobody judges in a live episode
    ranks = {question: order.replace(">", "") for question, order in judged.ranks.items()}
    if judged.edit == received:  # two equal texts are not compared
        ranks = {question: order.replace("E", "") for question, order in ranks.items()}
    if other == received:
        ranks = {question: order.replace("B", "") for question, order in ranks.items()}
    observed, preferred = turn.observed, turn.preferred
    again = {"read_again": dict(turn.read_again)} if turn.read_again is not None else {}
    return {
        "turnNumber": number,
        "userMessage": turn.message,
        "llmResponse": received,
        "moodShiftTags": [{"emotion": tag.emotion, "intensity": tag.intensity} for tag in turn.tags],
        "annotations": {
            "binaryJudgements": [
                {
                    "questionId": question,
                    "observedBehavior": observed[question],
                    "preferredBehavior": preferred.get(question, "na"),  # not minded, in a live episode
                }
                for question in asked
            ],
            "alternateResponses": {"llmImproved": other, "humanEdited": judged.edit} if turn.judged else {},
            "pairwiseComparisons": list(_pairs(ranks, digest("played", card.id, number))),
            "selectedPairwiseQuestions": [question for question in ranks if question != "general"],
        },
        "played": {
            "received": turn.received,
            ANSWERS: turn.read[ANSWERS],
            GIVES_IN: turn.read[GIVES_IN],
            "read": {question: turn.read[question] for question in asked},
            **again,
        },
    }


def _pairs(ranks: Mapping[str, str], sides: bytes) -> Iterator[dict[str, str]]:
    """The comparisons of each question, with random sides; `ranks` are letters of `_NAMES`, best first."""
    drawn = iter(sides)
    for question, order in ranks.items():
        for pair in combinations([letter for letter in _NAMES if letter in order], 2):
            first, second = pair if next(drawn) % 2 else pair[::-1]
            yield {
                "questionId": question,
                "responseA": _NAMES[first],
                "responseB": _NAMES[second],
                "winner": "A" if order.index(first) < order.index(second) else "B",
            }


def only(conversations: Iterable[Conversation], origins: Collection[str]) -> Conversations:
    """The conversations with the labels of these origins alone; those that were not played stay as they are.

    Args:
        conversations: conversations, such as `load("mine")`.
        origins: some of `decided`, `read` and `judged`.

    Raises UnknownNameError for another origin.

    A preferred answer that is left out becomes na where the observed one stays, since a missing one is taken
    to be the observed one.
    """
    for origin in origins:
        if origin not in ORIGINS:
            raise UnknownNameError("origin of labels", origin, ORIGINS)
    items = [_only(one, frozenset(origins)) for one in conversations]
    if isinstance(conversations, Conversations):
        return Conversations(items, source=conversations.source, files=conversations.files)
    return Conversations(items)


def _only(conversation: Conversation, origins: frozenset[str]) -> Conversation:
    found = (conversation.model_extra or {}).get("played")
    if not isinstance(found, dict) or origins >= set(ORIGINS):
        return conversation
    labels: dict[str, Any] = found["labels"]
    record = conversation.to_record()
    for name in ("prePanas", "postPanas"):
        if labels[name] not in origins:
            record.pop(name, None)
    wide = record.get("conversationWideQuestions", {})
    for name in ("q1_lookingFor", *_CLOSING):
        if labels[name] not in origins:
            wide.pop(name, None)
    for turn, tags in zip(record["turns"], labels["moodShiftTags"], strict=True):
        if tags not in origins:
            turn.pop("moodShiftTags", None)
        annotations = turn["annotations"]
        annotations["binaryJudgements"] = [
            kept
            for judgement in annotations["binaryJudgements"]
            if (kept := _answers(judgement, labels, origins))
        ]
        if labels["humanEdited"] not in origins:
            annotations["alternateResponses"].pop("humanEdited", None)
        if labels["pairwiseComparisons"] not in origins:
            annotations.pop("pairwiseComparisons", None)
            annotations.pop("selectedPairwiseQuestions", None)
    return conversation_from(record, conversation.conversation_id)


def _answers(
    judgement: Mapping[str, Any], labels: Mapping[str, Any], origins: frozenset[str]
) -> dict[str, Any] | None:
    kept = dict(judgement)
    observed = labels["observedBehavior"][judgement["questionId"]] in origins
    preferred = labels["preferredBehavior"] in origins
    if not observed:
        kept.pop("observedBehavior", None)
    if not preferred:
        kept["preferredBehavior"] = "na"
    return kept if observed or preferred else None
