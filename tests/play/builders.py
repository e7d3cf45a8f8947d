"""A conversation whose every text is a marker of its own, and what a model may validly say of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from hypothesis import strategies as st

from attune_data import Conversation
from attune_data.format.affect import EMOTIONS, NEGATIVE, POSITIVE
from attune_data.format.constants import BRANCHES, Q1_OPTIONS, Q2_OPTIONS, Q3_OPTIONS
from attune_episodes import MODES, Request, Settings, plan
from attune_episodes.protocol.prompts import NAMES
from attune_episodes.protocol.settings import LABELS, PANAS_STRATEGIES
from attune_rewards import Assess, AssessHP, Draft, Prediction, Prefer, Reflect, Stage, Tag

Json = dict[str, Any]
ASKED = ("B1", "B2", "B13", "B5", "B999")
"""Applicable in every turn, in the file's order; the last has no wording in any codebook."""
NOT_ASKED = ("B6", "B7")
PW_ASKED = ("general", "PW1", "PW4", "PW9")
PAIRS = (("original", "alternate"), ("human", "original"), ("alternate", "human"))
UNICODE = "Çok üzgünüm 😢🏳️‍🌈 אני עייף مرهق"
PRE_TOTALS = (37, 23)
"""Sums of the items below; neither number stands anywhere else in a prompt."""
_PRE = dict(zip(POSITIVE, (5, 4, 3, 4, 3, 4, 3, 4, 3, 4), strict=True)) | dict(
    zip(NEGATIVE, (3, 2, 2, 3, 2, 2, 2, 3, 2, 2), strict=True)
)
BACKGROUND = (
    "CATEGORY-1", "SUBTOPIC-1", "ATTITUDE-1", "COUNTRY-1", "EDUCATION-1", "WORK-1", "GENDER-1", "AGE-1",
    "ENGLISH-1", "DIAGNOSIS-1", "Proud 5",
)  # fmt: skip
"""Shown once, in the omniscient modes only."""
NEVER = (
    "CONV-1", "PARTICIPANT-1", "MODEL-1", "META-1", "EXTRA-1", "SELECTED-1", "FELT-1", "OTHER-GOAL",
    "OTHER-CLARITY", "OTHER-FIT", "OTHER-FELT", "OTHER-SELECTED",
)  # fmt: skip
"""Never shown: ids, where the conversation comes from, unknown fields, free-text annotations."""


def judgements() -> list[Json]:
    """Yes/no judgements of every kind: applicable ones (`ASKED`), then those that are not."""
    values: tuple[tuple[str, str | None, str | None], ...] = (
        ("B1", "yes", "no"), ("B2", "no", "yes"), ("B13", None, None), ("B5", "na", "yes"),
        ("B999", "yes", "yes"), ("B6", "na", "na"), ("B7", "na", None),
    )  # fmt: skip
    return [{"questionId": q, "observedBehavior": o, "preferredBehavior": p} for q, o, p in values]


def comparisons() -> list[Json]:
    """Twelve comparisons: four questions × three pairs."""
    return [
        {"questionId": q, "responseA": a, "responseB": b, "winner": "AB"[(i + j) % 2]}
        for i, q in enumerate(PW_ASKED)
        for j, (a, b) in enumerate(PAIRS)
    ]


def turn(
    number: int,
    *,
    binary: Sequence[Json] | None = None,
    pairs: Sequence[Json] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Json:
    """A fully annotated turn; MSG-n the person, OM-n the reply, ALT-n and HUM-n the alternates."""
    told = {key: f"{key}-{number} {UNICODE}" for key in ("MSG", "OM", "ALT", "HUM")} | dict(texts or {})
    return {
        "turnNumber": number,
        "userMessage": told["MSG"],
        "llmResponse": told["OM"],
        "moodShiftTags": [{"emotion": "Upset", "intensity": 5}, {"emotion": "Proud", "intensity": 2}],
        "extra": "EXTRA-1",
        "annotations": {
            "binaryJudgements": judgements() if binary is None else list(binary),
            "alternateResponses": {"llmImproved": told["ALT"], "humanEdited": told["HUM"]},
            "pairwiseComparisons": comparisons() if pairs is None else list(pairs),
            "selectedPairwiseQuestions": ["SELECTED-1"],
        },
    }


def record(*turns: Json) -> Json:
    """The whole record; two turns where none is given."""
    scores = {"who_5": 14, "asrs_6": 2, "aq_10": 4, "promis_anxiety_t": 55.5, "tipi_openness": 11}
    demographics = {
        "country": "COUNTRY-1", "education": "EDUCATION-1", "work_edu_background": ["WORK-1"],
        "gender": "GENDER-1", "age_range": "AGE-1", "english_proficiency": "ENGLISH-1",
        "diagnoses": ["DIAGNOSIS-1"],
    }  # fmt: skip
    return {
        "conversationId": "CONV-1",
        "provenance": "own",
        "extra": "EXTRA-1",
        "metadata": {
            "model": "MODEL-1", "category": "CATEGORY-1", "subtopic": "SUBTOPIC-1", "text": "META-1",
        },
        "participant_profile": {
            "participant_id": "PARTICIPANT-1",
            "demographics": demographics,
            "computed_scores": scores,
            "conversation_topic_attitude": "ATTITUDE-1",
        },
        "prePanas": {"responses": {name.lower(): value for name, value in _PRE.items()}},
        "postPanas": {"responses": {name.lower(): 4 for name in EMOTIONS}},
        "conversationWideQuestions": {
            "q1_lookingFor": [Q1_OPTIONS[0], Q1_OPTIONS[4]],
            "q2_emotionClarity": Q2_OPTIONS[1],
            "q3_modelFit": Q3_OPTIONS[2],
            "q3_followUp_whatFeltOff": ["FELT-1"],
            "fourBranchScores": dict(zip(BRANCHES, (3, 4, 5, 6), strict=True)),
        },
        "turns": list(turns) or [turn(1), turn(2)],
    }  # fmt: skip


def reannotated(raw: Json) -> Json:
    """The same record with every annotated answer changed; what is asked stays the same."""
    other = copy.deepcopy(raw)
    swap = {"yes": "no", "no": "yes", "na": "na", None: None}
    for here in other["turns"]:
        here["moodShiftTags"] = [] if here["turnNumber"] == 1 else [{"emotion": "Afraid", "intensity": 7}]
        said = here["annotations"]
        said["selectedPairwiseQuestions"] = ["OTHER-SELECTED"]
        for entry in said["binaryJudgements"]:
            for field in ("observedBehavior", "preferredBehavior"):
                entry[field] = swap[entry[field]]
            if entry["questionId"] == "B13":
                entry |= {"observedBehavior": "yes", "llmValue": "no"}
        for entry in said["pairwiseComparisons"]:
            entry["winner"] = {"A": "B", "B": None, None: "A"}[entry["winner"]]
    other["postPanas"] = {"totalPositiveAffect": 61, "totalNegativeAffect": 12}
    other["conversationWideQuestions"] = {
        "q1_lookingFor": ["OTHER-GOAL"],
        "q2_emotionClarity": "OTHER-CLARITY",
        "q3_modelFit": "OTHER-FIT",
        "q3_followUp_whatFeltOff": ["OTHER-FELT"],
        "fourBranchScores": dict.fromkeys(BRANCHES, 1),
    }
    return other


def conversation(*turns: Json, **changes: Any) -> Conversation:
    """The rich conversation, of these turns (two where none is given), some fields replaced."""
    return Conversation.model_validate(record(*turns) | changes)


EVERY_SETTING = [
    Settings(mode=mode, panas_strategy=strategy, labels=labels, prompts=prompts)
    for mode, prompts, strategy, labels in product(MODES, NAMES, PANAS_STRATEGIES, LABELS)
]


def setting_id(settings: Settings) -> str:
    return f"{settings.mode}-{settings.prompts}-{settings.panas_strategy}-{settings.labels}"


def request_of(
    stage: Stage, settings: Settings | None = None, *, of: Conversation | None = None, number: int = 1
) -> Request:
    """The request of a stage in that turn (reflect has none)."""
    asked = plan(conversation() if of is None else of, settings)
    return next(r for r in asked if r.stage == stage and r.turn in (number, None))


def told(request: Request) -> str:
    """All that the messages say."""
    return "\n".join(message["content"] for message in request.messages)


# --- what a model may validly say ----------------------------------------------------------------

PROSE = st.sampled_from(["I hear you", UNICODE, 'a "quoted" {brace} \\', "line\nline"]) | st.text(max_size=12)
FREE = PROSE.map(str.strip).filter(lambda text: text and not text.lstrip("+-").isdecimal())
"""Words of one's own: outer blanks gone, and no number of an option."""
REASONING = st.none() | PROSE


def predictions(request: Request) -> st.SearchStrategy[Prediction]:
    """Any typed prediction that answers the request validly, wholly or in part."""
    answers = _some(request.questions, st.sampled_from(["yes", "no"]))
    if request.stage == "draft":
        return st.builds(Draft, FREE, REASONING)
    if request.stage == "assess":
        tag = st.builds(Tag, st.sampled_from(EMOTIONS) | FREE, st.none() | st.integers(1, 7))
        tags = st.none() | st.lists(tag, max_size=3).map(tuple)
        return st.builds(Assess, tags, answers, answers, REASONING)
    if request.stage == "assess_hp":
        return st.builds(AssessHP, answers, answers, REASONING)
    if request.stage == "prefer":
        picks = _some([c.index for c in request.comparisons], st.sampled_from(["A", "B"]))
        return st.builds(Prefer, picks, REASONING)

    def one(name: str) -> st.SearchStrategy[str]:
        return st.sampled_from(request.options[name]) | FREE

    def several(name: str) -> st.SearchStrategy[tuple[str, ...] | None]:
        return st.none() | st.lists(one(name), max_size=3, unique=True).map(tuple)

    change = request.wants_change
    return st.builds(
        Reflect,
        panas=st.just({}) if change else _some(EMOTIONS, st.integers(1, 7)),
        panas_change=_some(EMOTIONS, st.integers(-6, 6)) if change else st.none(),
        q1=several("q1_lookingFor"),
        q2=st.none() | one("q2_emotionClarity"),
        q3=st.none() | one("q3_modelFit"),
        q3_follow_up=several("q3_followUp_whatFeltOff"),
        branches=_some(BRANCHES, st.integers(1, 7)),
        reasoning=REASONING,
    )


def _some(keys: Sequence[Any], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[Any, Any]]:
    """A value for each of some of the keys."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(keys, values))
