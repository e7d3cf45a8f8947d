"""Playing episodes in tests: replies from whole predictions, and scores read back from the record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from hypothesis import strategies as st

from attune_data import Conversation
from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import Q2_OPTIONS
from attune_episodes import Episode, Request, Settings, render
from attune_episodes.protocol.settings import LABELS, MODES, PANAS_STRATEGIES
from attune_rewards import (
    STAGES,
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    RewardSpec,
    Stage,
    Tag,
    read_record,
    score_conversation,
)
from tests.rewards.builders import (
    Json,
    answer,
    comparison,
    conversation,
    judgement,
    panas,
    summing,
    turn,
    wide,
)
from tests.rewards.strategies import scored

UNREADABLE: Final = {
    "": "unparsed:empty",
    "I would rather not say.": "unparsed:no_json",
    "[1, 2]": "unparsed:not_an_object",
    '{"observed": {"B1": "yes"': "unparsed:truncated",
    '{"picks": {}} or rather {"picks": {"1": "A"}}': "unparsed:ambiguous",
    "<think>hm": "unparsed:unfinished_reasoning",
    '{"😀": 1}': "unparsed:no_fields",
}
"""Replies that answer no request but the draft, and the reason that each is given."""

SETTINGS: Final = st.builds(
    Settings,
    mode=st.sampled_from(MODES),
    panas_strategy=st.sampled_from(PANAS_STRATEGIES),
    labels=st.sampled_from(LABELS),
    prompts=st.sampled_from(["full", "compact"]),
    seed=st.integers(0, 3),
)


def example() -> Conversation:
    """One turn with something to ask in every stage, worked by hand in `test_episode.py`."""
    return conversation(
        turn(
            1,
            tags=[Tag("Upset", 5)],
            judgements=[judgement("B1", "yes", "no"), judgement("B2", "no", "yes")],
            comparisons=[
                comparison("original", "human", "B"),
                comparison("alternate", "original", "A", "PW3"),
            ],
        ),
        pre=panas(summing(30, 20)),
        post=panas(summing(40, 20)),
        questions=wide(q2=Q2_OPTIONS[0], branches={"perceiving": 5}),
    )


def unannotated() -> Conversation:
    return conversation(turn(1), turn(2))


PREDICTION_CLASSES: Final[dict[Stage, Prediction]] = dict(
    zip(STAGES, (Draft("hello"), Assess(()), AssessHP(), Prefer(), Reflect()), strict=True)
)
assert len(PREDICTION_CLASSES) == len(get_args(Prediction))


def reply_to(request: Request, said: ConversationPrediction) -> Prediction | None:
    """What a whole prediction says to one request: PANAS as changes where those are asked."""
    reply = answer(said, request.stage, request.turn)
    if isinstance(reply, Reflect) and request.wants_change:
        changes = {name: reply.panas[name] - 4 for name in EMOTIONS if name in reply.panas}
        return replace(reply, panas={}, panas_change=changes)
    return reply


def sayable(reply: Prediction) -> Prediction:
    """The reply without what text cannot carry: nameless emotions, blank or numeric free texts, totals.

    (A blank entry names nothing, so `parse` takes no list that holds one; a number means an option.)
    """
    if isinstance(reply, Assess) and reply.tags is not None:
        return replace(reply, tags=tuple(tag for tag in reply.tags if tag.emotion.strip()))
    if isinstance(reply, Reflect):
        texts = reply.q3_follow_up
        kept = None if texts is None else tuple(filter(has_words, texts))
        return replace(reply, q3_follow_up=kept, panas_totals=(None, None))
    return reply


def has_words(text: str) -> bool:
    """Whether a free text can be said: it is neither blank nor a lone number."""
    return bool(text.strip()) and not text.strip().lstrip("+-").isdecimal()


def can_be_said(about: Conversation) -> bool:
    """Whether every free text of the annotations can be said in a reply."""
    wide_answers = about.conversation_wide
    return all(has_words(text) for text in (wide_answers.q3_follow_up if wide_answers else None) or ())


PLAYED: Final = scored()
"""A conversation with holes and a prediction with gaps."""


def play(
    about: Conversation,
    said: ConversationPrediction,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    silence: str = "",
    as_text: bool = False,
) -> Episode:
    """A finished episode; where the prediction says nothing, the reply is `silence`."""
    episode = Episode(about, settings, reward)
    while not episode.done:
        reply = reply_to(episode.request, said)
        if reply is not None:
            reply = sayable(reply)
        if reply is None:
            episode.submit(silence)
        else:
            episode.submit(render(episode.request, reply) if as_text else reply)
    return episode


def read_back(about: Conversation, record: Mapping[str, Any]) -> Json:
    """Scores of a result record after a trip through JSON; it must read without a warning."""
    prediction, warnings = read_record(json.loads(json.dumps(record, allow_nan=False)), about)
    assert warnings == ()
    return score_conversation(about, prediction)
