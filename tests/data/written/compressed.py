"""A small written corpus for tests: the bundled sample in the compact form."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversation, load
from attune_data.format.affect import EMOTIONS
from attune_data.format.codebook import Codebook
from attune_data.format.constants import BRANCHES
from attune_data.format.schema import Panas, Turn
from attune_data.written import corpus as declared
from attune_data.written.compact import CLARITY, FIT, GOALS, LETTERS, OFF
from tests.data.builders import write

SPLIT = {"train": 12, "dev": 2, "test": 6}


def corpus(folder: Path) -> Path:
    """Writes the sample as a corpus of three parts: 12, 2 and 6 conversations."""
    parts = [part for part, count in SPLIT.items() for _ in range(count)]
    for number, (part, conversation) in enumerate(zip(parts, load("sample"), strict=True), 1):
        write(folder / part / f"w{number:03}.json", compressed(conversation, f"w{number:03}"))
    return folder


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Makes such a corpus, below `folder`, the one called `written`; returns the folder of its parts."""
    monkeypatch.setattr(declared, "CORPUS", replace(declared.CORPUS, home=folder / declared.CORPUS.name))
    return corpus(declared.CORPUS.folder)


def compressed(conversation: Conversation, name: str) -> dict[str, Any]:
    """The compact form of a fully annotated conversation."""
    whole: Any = conversation  # everything is annotated
    profile, wide, topic = whole.participant_profile, whole.conversation_wide, whole.metadata
    who = profile.demographics
    offs = dict(zip(Codebook.own().options["q3_followUp_whatFeltOff"], OFF, strict=True))
    goals, clarity, fit = ({text: code for code, text in table.items()} for table in (GOALS, CLARITY, FIT))
    return {
        "id": name,
        "category": topic.category,
        "subtopic": topic.subtopic,
        "person": {
            "id": profile.participant_id, "age": who.age_range, "gender": who.gender, "place": who.country,
            "english": who.english_proficiency, "education": who.education,
            "work": (who.work_edu_background or ("",))[0], "diagnoses": list(who.diagnoses or ()),
            "scores": profile.computed_scores,
        },
        "attitude": profile.conversation_topic_attitude,
        "before": _digits(conversation.pre_panas),
        "after": _digits(conversation.post_panas),
        "goals": [goals[goal] for goal in wide.q1_looking_for or ()],
        "clarity": clarity[wide.q2_emotion_clarity],
        "fit": fit[wide.q3_model_fit],
        "off": [offs[text] for text in wide.q3_follow_up or ()],
        "branches": "".join(str(wide.four_branch_scores[branch]) for branch in BRANCHES),
        "turns": [_turn(turn) for turn in conversation.turns],
    }  # fmt: skip


def _digits(panas: Panas | None) -> str:
    assert panas is not None
    return "".join(str(panas.item(name)) for name in EMOTIONS)


def _turn(turn: Turn) -> dict[str, str]:
    answers = {j.question_id[1:]: (j.observed, j.preferred) for j in turn.judgements}
    yes = {one for one, (observed, _) in answers.items() if observed == "yes"}
    na = {one for one, (observed, _) in answers.items() if observed == "na"}
    liked = {one for one, (_, preferred) in answers.items() if preferred == "yes"}
    wanted = [f"+{one}" for one in answers if one in liked - yes - na]
    wanted += [f"-{one}" for one in answers if one in yes - liked]
    letters = {name: letter for letter, name in LETTERS.items()}
    wins: dict[str, Counter[str]] = {}
    for c in turn.comparisons:
        won = c.response_a if c.winner == "A" else c.response_b
        wins.setdefault(c.question_id.removeprefix("PW"), Counter("RIE"))[letters[won]] += 1
    texts = turn.responses
    return {
        "message": turn.user_message,
        "felt": ", ".join(f"{tag.emotion} {tag.intensity}" for tag in turn.mood_shift_tags or ()),
        "reply": turn.llm_response,
        "improved": texts["alternate"] or "",
        "edit": texts["human"] or "",
        "yes": " ".join(one for one in answers if one in yes),
        "na": " ".join(one for one in answers if one in na),
        "wanted": " ".join(wanted),
        "ranks": ", ".join(f"{question} {'>'.join(one for one, _ in count.most_common())}"
                           for question, count in wins.items()),
    }  # fmt: skip
