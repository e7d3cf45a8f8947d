"""Small exports in the formats of ESConv and PRISM, with the oddities of real ones; all texts are our own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.data.builders import Json, write

LONG = "und dann noch einmal von vorn, " * 4_000
"""One message of 124,000 characters."""


def said(text: str, *, feedback: Any = None, speaker: str = "seeker") -> Json:
    """A message of the seeker; `feedback` is theirs on the replies before it."""
    annotation = {} if feedback is None else {"feedback": feedback}
    return {"speaker": speaker, "annotation": annotation, "content": text}


def replied(text: str, strategy: str | None = None, *, speaker: str = "supporter") -> Json:
    annotation = {} if strategy is None else {"strategy": strategy}
    return {"speaker": speaker, "annotation": annotation, "content": text}


def chat(*dialog: Json, before: Any = "4", after: Any = "2", **overrides: Any) -> Json:
    """One ESConv conversation with every field; None in `overrides` leaves the field out."""
    ratings = {"initial_emotion_intensity": before, "final_emotion_intensity": after}
    record = {
        "experience_type": "Current Experience",
        "emotion_type": "nervousness",
        "problem_type": "job crisis",
        "situation": "A talk with my manager is due.",
        "survey_score": {
            "seeker": ratings | {"empathy": "5", "relevance": "4"},
            "supporter": {"relevance": "5"},
        },
        "dialog": list(dialog) or [said("I have a talk with my manager today."), replied("Oh?", "Question")],
    } | overrides
    return {name: value for name, value in record.items() if value is not None}


def real_esconv() -> list[Json]:
    """What a real export is like: two spellings, several in a row, either side first or last, holes."""
    return [
        chat(
            replied("Hello there\n", "Others"),
            replied("How is your day going?", "Question"),
            said("My boss moved the talk to today\n"),
            said("I could not eat anything"),
            replied("That must be hard, you sound tense.", "Reflection of feelings"),
            replied("Is it about the project?", "Question"),
            said("Yes, what else", feedback="5"),
            replied("Perhaps write down three points before you go in.", "Providing Suggestions"),
            replied("I froze in one of those myself once.", "Self-disclosure"),
            said("good idea", feedback="4"),
        ),
        chat(
            said("hey\n", speaker="speaker"),
            replied("hi\n", "Other", speaker="listener"),
            replied("What happened?", "Questions", speaker="listener"),
            said("تركني صديقي 😔", speaker="speaker", feedback="3"),
            replied("So he left without a word.", "Restatement or Paraphrasing", speaker="listener"),
            emotion_type="sadness", experience_type="Previous Experience", before="5", after="3",
        ),
        # a failed one: no survey, the supporter alone
        chat(
            replied("hello?", "Others", speaker="listener"),
            emotion_type="fear", survey_score={"seeker": {}, "supporter": {}}, situation=None,
        ),
        {"dialog": [said(LONG), replied("  ", "Question"), replied("Das klingt zäh.", None), said("ja")]},
        chat(
            said("I lied to my sister and cannot look at her."),
            replied("You care about her, and that shows.", "Affirmation and Reassurance"),
            emotion_type="Guilt", before="", after=3,
        ),
    ]  # fmt: skip


def message(turn: int, text: str) -> Json:
    """A message of the user in PRISM's history."""
    return {"turn": turn, "role": "user", "content": text, "score": None, "if_chosen": None}


def reply(
    turn: int, within: int, text: str, score: Any = None, *, chosen: Any = False, model: str = "model-a"
) -> Json:
    said = {"turn": turn, "role": "model", "content": text, "score": score, "if_chosen": chosen}
    return said | {"model_name": model, "model_provider": "provider", "within_turn_id": within}


def tree(identity: str, *history: Json, user: str = "user0", **overrides: Any) -> Json:
    """One PRISM conversation with every field."""
    sliders = {name: None if name == "safety" else 70 for name in ("values", "fluency", "safety")}
    return {
        "conversation_id": identity,
        "user_id": user,
        "conversation_type": "unguided",
        "opening_prompt": history[0]["content"] if history else "",
        "conversation_turns": 1 + max((part["turn"] for part in history), default=0),
        "conversation_history": list(history),
        "performance_attributes": sliders,
        "choice_attributes": sliders,
        "open_feedback": "Could have been shorter.",
        "generated_datetime": "2023-12-01 10:00:00",
        "timing_duration_s": 61.5,
        "included_in_balanced_subset": True,
    } | overrides


def first_turn(*scores: Any, chosen: int = 0) -> list[Json]:
    """A first turn with a reply a score, by different models; reply i is `first i`."""
    replies = [
        reply(0, i, f"first {i}", score, chosen=i == chosen, model=f"model-{i}")
        for i, score in enumerate(scores)
    ]
    return [message(0, "Is it rude to leave a party early? 🥳"), *replies]


def real_prism() -> list[Json]:
    """What a real export is like: four replies, then two, ties, equal texts, one reply alone."""
    return [
        tree(
            "c0",
            *first_turn(40, 90, 90, 12, chosen=1),
            message(1, "Und wenn der Gastgeber traurig ist?"),
            reply(1, 1, "Then stay a little.", 55, model="model-1"),
            reply(1, 0, "Say goodbye warmly.", 80, chosen=True, model="model-1"),
        ),
        tree(
            "c1",
            *first_turn(70, chosen=5),
            message(1, "And if nobody notices?"),
            reply(1, 0, "Same words.", 60, chosen=True),
            reply(1, 1, "Same words.", 60, chosen=True),
            user="user1",
            conversation_type="values guided",
        ),
    ]


def real_survey() -> list[Json]:
    person = {
        "user_id": "user0",
        "age": "25-34 years old",
        "gender": "Non-binary / third gender",
        "education": "Prefer not to say",
        "english_proficiency": "Fluent",
        "location": {"birth_country": "Peru", "reside_country": "Côte d'Ivoire"},
        "religion": {"categorised": "Agnostic"},
        "self_description": "I like quiet mornings.",
    }
    return [person]


def write_prism(folder: Path, trees: Iterable[Any], survey: Sequence[Any] | None = None) -> Path:
    """A folder with `conversations.jsonl` and, if given, `survey.jsonl`; texts are lines as they are."""
    for name, rows in (("conversations.jsonl", trees), ("survey.jsonl", survey)):
        if rows is not None:
            lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
            write(folder / name, "".join(f"{line}\n" for line in lines))
    return folder
