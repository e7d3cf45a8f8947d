"""`oracle`: answer with the annotations, which always gives a strict Composite of 100."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from attune_data.format.affect import EMOTIONS, NEGATIVE, POSITIVE
from attune_data.format.constants import BRANCHES
from attune_data.format.schema import Conversation
from attune_episodes.policies.base import BuiltinPolicy, Given
from attune_episodes.policies.constant import Answers
from attune_episodes.protocol.request import Request
from attune_rewards.metrics.branches import MIDPOINT
from attune_rewards.metrics.panas import spread
from attune_rewards.predictions import Draft, Prediction, Prefer, Reflect
from attune_rewards.truth import ConversationTruth, truth_of

POLICIES: Final = {
    "oracle": {
        "kind": "oracle",
        "uses": "the annotations themselves",
        "answers": "the annotations; what is not annotated gets a valid neutral answer",
    },
}


def make(name: str, given: Given) -> BuiltinPolicy:
    """Make this policy."""
    return OraclePolicy()


@dataclass(frozen=True, slots=True)
class OraclePolicy(BuiltinPolicy):
    """Answers from the annotations; anything unannotated gets a valid neutral answer."""

    name: str = "oracle"

    def for_conversation(self, conversation: Conversation) -> _Oracle:
        """The oracle for one conversation."""
        return _Oracle(truth_of(conversation))


@dataclass(frozen=True, slots=True)
class _Oracle(BuiltinPolicy):
    truth: ConversationTruth
    name: str = "oracle"

    def prediction(self, request: Request) -> Prediction:
        if request.turn is None:
            return self._reflect(request)
        turn = self.truth.turn(request.turn)
        if turn is None:
            raise LookupError(f"{request.id} is not a request of {self.truth.conversation_id!r}")
        if request.stage == "draft":
            texts = (turn.responses["human"], turn.responses["original"])
            return Draft(next((text for text in texts if text and text.strip()), "…"))
        if request.stage == "prefer":
            winners = dict(turn.winners)
            return Prefer({c.index: winners.get(c.index, "A") for c in request.comparisons})
        judged = Answers(
            tags=turn.tags or (),
            observed=dict(turn.observed),
            preferred=dict(turn.preferred),
            otherwise="no",
        )
        return judged.prediction(request)

    def _reflect(self, request: Request) -> Reflect:
        truth = self.truth
        after: dict[str, int] = {}
        change: dict[str, int] = {}
        for names, before_total, after_total in zip(
            (POSITIVE, NEGATIVE), truth.pre_totals, truth.post_totals, strict=True
        ):
            posts = {name: value for name in names if (value := truth.post[name]) is not None}
            pres = {name: value for name in names if (value := truth.pre[name]) is not None}
            if len(posts) < len(names):
                # totals without items: any items that sum to the total are correct
                posts = spread(round(after_total or MIDPOINT * len(names)), names) | posts
            if len(pres) == len(names):
                change |= {name: posts[name] - pres[name] for name in names}
            else:
                moved = round((after_total or 0) - (before_total or after_total or 0))
                change |= spread(moved, names, low=-6, high=6)
            after |= posts
        return Reflect(
            panas={} if request.wants_change else {name: after[name] for name in EMOTIONS},
            panas_change={name: change[name] for name in EMOTIONS} if request.wants_change else None,
            q1=truth.q1 or (),
            q2=truth.q2 or (request.options["q2_emotionClarity"] or ("",))[0],
            q3=truth.q3 or (request.options["q3_modelFit"] or ("",))[0],
            q3_follow_up=truth.q3_follow_up or (),
            branches={name: truth.branches.get(name, MIDPOINT) for name in BRANCHES},
        )
