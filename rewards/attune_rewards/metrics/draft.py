"""Metrics of the model's own draft: its similarity to the three responses, and a judge's assessment.

None of them enters the Composite.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from attune_data.format.affect import SCALE
from attune_data.format.constants import JUDGE_DIMENSIONS, ResponseName
from attune_rewards.metrics.binary import TruthPairs
from attune_rewards.metrics.leaf import Leaf, PartText
from attune_rewards.metrics.metric import OWN, TurnMetric
from attune_rewards.metrics.text import jaccard, tokens
from attune_rewards.predictions import Draft, TurnPrediction, YesNo
from attune_rewards.truth import TurnTruth

PLACE: Final = 7
"""Among the topics, in score files and tables."""

READING_FILE: Final = Path(__file__).with_name("reading.json")
_READING: Final[Mapping[str, Any]] = json.loads(READING_FILE.read_text("utf-8"))
READ: Final = frozenset(_READING["questions"])
"""Questions that the reader `fitted` reads reliably, according to `python -m tools.reading.fit`."""
ALL_NO: Final[float] = _READING["all_no"]
"""The score of a draft for which all answers are no, on the train part of the written corpus.

It is the baseline of the part `draft_binary_alignment_read`.
"""
ANSWERS: Final = "answers"
"""A reader's further question: whether a reply answers the message at all."""
GIVES_IN: Final = "gives_in"
"""A reader's further question: whether a reply agrees with, or gives, what it should not."""
CACHED: Final = 512
"""How many drafts have their readings cached: a reward and a score file read the same ones."""


def similarity(draft: str, response: str | None) -> float | None:
    """Token Jaccard similarity of the draft and a response; None if the response is absent."""
    return None if response is None else jaccard(tokens(draft), tokens(response))


def best_similarity(draft: str, responses: Mapping[ResponseName, str | None]) -> float | None:
    """The highest `similarity` with any of the responses; None without any."""
    known = [near for text in responses.values() if (near := similarity(draft, text)) is not None]
    return max(known, default=None)


def judge_score(scores: Mapping[str, float]) -> float | None:
    """(Mean of the judge's dimensions - 1) / 6, clamped to [0, 1]; None without any dimension."""
    known = [scores[name] for name in JUDGE_DIMENSIONS if name in scores]
    if not known:
        return None
    low, high = SCALE
    return min(1.0, max(0.0, (math.fsum(known) / len(known) - low) / (high - low)))


def binary_alignment(truth: TruthPairs, answers: Mapping[str, str] | None) -> float | None:
    """Share of preferred behaviours, in [0, 1], on which the judge's assessment of the draft agrees.

    A missing answer counts as disagreement. None without an assessment or without a yes/no truth.
    """
    if answers is None or not truth:
        return None
    return sum(answers.get(question) == want for question, want in truth) / len(truth)


def read_of(truth: TruthPairs) -> TruthPairs:
    """The pairs whose questions a reader reads reliably enough to be rewarded or penalised."""
    return [(question, want) for question, want in truth if question in READ]


@lru_cache(maxsize=CACHED)
def read(draft: str, message: str, history: tuple[tuple[str, str], ...] = ()) -> Mapping[str, YesNo]:
    """Question id -> the answer of the reader `fitted` about a draft; do not change it.

    `message` is what the draft replies to, `history` the (message, reply) pairs before it.
    """
    # a process that scores no draft loads no reader
    from attune_rewards.reading import Exchange, reader

    return reader().read(Exchange(message, draft, history))


def read_alignment(truth: TruthPairs, answers: Mapping[str, str] | None) -> float | None:
    """`binary_alignment` over the questions in `READ`, with a reader's answers instead of a judge's."""
    return binary_alignment(read_of(truth), answers)


def agreement(judged: Mapping[str, str], read: Mapping[str, str]) -> float | None:
    """Share of agreement between a judge and a reader over the questions in `READ` that both answered.

    None if both answered none of them.
    """
    both = [question for question in READ if question in judged and question in read]
    return sum(judged[question] == read[question] for question in both) / len(both) if both else None


def _read(turn: TurnTruth, draft: Draft) -> Mapping[str, YesNo]:
    return read(draft.text, turn.message, turn.history)


def _read_alignment(turn: TurnTruth, draft: Draft) -> float | None:
    if not read_of(turn.preferred):
        return None  # nothing to compare with, so the draft is not read
    return read_alignment(turn.preferred, _read(turn, draft))


def _read_agreement(turn: TurnTruth, said: TurnPrediction) -> float | None:
    judged = said.judged.binary if said.judged else None
    return agreement(judged, _read(turn, said.draft)) if judged and said.draft else None


def _text(said: TurnPrediction) -> str:
    return said.draft.text if said.draft else ""


def _similarity(ending: str, name: ResponseName, **more: Any) -> TurnMetric:
    return TurnMetric(
        f"response_similarity_{ending}",
        f"shared tokens / all tokens of the draft and the {name} response",
        lambda turn, said: similarity(_text(said), turn.responses.get(name)),
        needs=("draft",),
        edges="0 without a draft",
        **more,
    )


METRICS: Final = (
    TurnMetric(
        "response_similarity", "the highest of the three below",
        lambda turn, said: best_similarity(_text(said), turn.responses),
        needs=("draft",), edges="0 without a draft", undefined="no response",
        label="Response Similarity", role="diagnostic",
    ),
    _similarity("original", "original", better=None, averaged=False),
    _similarity(
        "llm_improved", "alternate", better=None, averaged=False, undefined="no such response"
    ),
    _similarity("human_edited", "human", undefined="no such response"),
    TurnMetric(
        "draft_judge_score", "(mean of the judge's scores − 1)/6, clamped to 0–1",
        lambda turn, said: judge_score(said.judged.scores) if said.judged else None,
        needs=("draft",), undefined="no judge",
        label="Draft Judge", role="beside", harness=False,
    ),
    TurnMetric(
        "draft_binary_alignment",
        "questions to which the judge's answer is the preferred one / questions with a preferred yes or no",
        lambda turn, said: binary_alignment(turn.preferred, said.judged.binary) if said.judged else None,
        needs=("draft",), edges="a missing answer counts as not preferred",
        undefined="no assessment, or no such question",
        label="Draft Binary Alignment", role="beside", harness=False,
    ),
    TurnMetric(
        "draft_binary_alignment_read",
        "like draft_binary_alignment, but with a reader's answers to the questions that it reads well",
        lambda turn, said: _read_alignment(turn, said.draft) if said.draft else None,
        needs=("draft",), undefined="no draft, or no such question", source=OWN,
        label="Draft Binary Alignment (reader)", role="beside", harness=False,
    ),
    TurnMetric(
        "draft_reader_agreement",
        "questions answered alike by judge and reader / questions answered by both, of those read well",
        _read_agreement,
        needs=("draft",), undefined="no draft, no judge, or no such question", source=OWN,
        label="Draft: Judge and Reader Agree", role="beside", harness=False, better=None,
    ),
)  # fmt: skip


def _leaf(name: str, response: str, near: Callable[[TurnTruth, str], float | None]) -> Leaf[TurnTruth, Draft]:
    return Leaf(
        name=name,
        stage="draft",
        node=None,
        value=lambda turn, said: near(turn, said.text) or 0.0,
        annotated=lambda turn: bool((turn.responses.get("human") or "").split()),
        answered=lambda turn, said: float(bool(said.text.strip())),
        reads=("responses",),
        text=PartText(
            f"how many words the draft shares with {response}",
            "shared tokens / all tokens",
            "there is a reply that the person edited",
            "no shared word",
        ),
    )


LEAVES: Final[tuple[Leaf[TurnTruth, Draft], ...]] = (
    _leaf(
        "response_similarity", "the nearest recorded reply",
        lambda turn, text: best_similarity(text, turn.responses),
    ),
    _leaf(
        "response_similarity_human_edited", "the reply as the person edited it",
        lambda turn, text: similarity(text, turn.responses.get("human")),
    ),
    Leaf(
        name="draft_binary_alignment_read",
        stage="draft",
        node=None,
        value=lambda turn, said: _read_alignment(turn, said) or 0.0,
        annotated=lambda turn: bool(read_of(turn.preferred)),
        answered=lambda turn, said: float(bool(said.text.strip())),
        reads=("preferred", "message", "history"),
        text=PartText(
            "whether the draft does what the person wanted and no more, according to a reader",
            "questions to which the reader's answer is the preferred one / questions that it reads well",
            "at least one question that it reads well has a preferred yes or no",
            "a draft of which no answer is the preferred one",
        ),
    ),
)  # fmt: skip
