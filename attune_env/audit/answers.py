"""The two rules that every part of a reward keeps: right answers earn 1, and silence earns 0.

They are checked before an audit starts its attacks, because a part that breaks one cannot pass it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from attune_data.errors import AttuneError
from attune_data.format.schema import Conversation
from attune_episodes.play.score import as_scored
from attune_episodes.policies import builtin_policy
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import Assess, AssessHP, Prediction, Prefer, Reflect, Stage
from attune_rewards.reward.score import scored_requests
from attune_rewards.reward.spec import RewardSpec

EXACT: Final = 1e-12
SILENT: Final[dict[Stage, Prediction]] = {
    "assess": Assess(),
    "assess_hp": AssessHP(),
    "prefer": Prefer(),
    "reflect": Reflect(),
}
"""Readable answers that say nothing; an empty draft is unreadable, so it earns 0 anyway."""
ADVICE: Final = (
    "score an answer by its agreement with the annotations, and leave requests without annotations out with "
    "with_part(…, annotated=…); docs/custom-reward.md explains both rules"
)


class RuleError(AttuneError):
    """A part of a reward does not give 1 to the annotations' own answers, or gives something to silence."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A request in which a part breaks a rule."""

    reward: str
    part: str
    request: Request
    answer: str
    """Whose answer was scored."""
    earned: float
    """In [0, 1]."""
    wanted: int
    """1 or 0."""

    def __str__(self) -> str:
        """One sentence with the part, the place and both numbers."""
        about = self.request
        where = "the end" if about.turn is None else f"turn {about.turn}"
        place = f"conversation {about.conversation_id!r}, {where}, {about.stage}"
        return (
            f"reward {self.reward!r}, part {self.part!r}: {self.answer} earns {self.earned:.4g}, not "
            f"{self.wanted} ({place})"
        )


def broken_rules(
    spec: RewardSpec, conversations: Sequence[Conversation], settings: Settings
) -> Iterator[Broken]:
    """The requests in which a part breaks a rule, in order.

    A part without a right answer (your own part of drafts) is not asked to give it 1, and a part that scores
    silence on purpose (of `canonical`) is not asked to give it 0.
    """
    oracle = builtin_policy("oracle", conversations, settings)
    for conversation in conversations:
        player = oracle.for_conversation(conversation)
        table = scored_requests(conversation, spec, settings.stages)
        for request in plan(conversation, settings):
            scored = table.get((request.stage, request.turn))
            if scored is None:
                continue
            right, _ = as_scored(request, player.prediction(request), scored)
            silent = SILENT.get(request.stage)
            for part, _, _ in scored.weighted:
                truths = (scored.truth, scored.stage, scored.turn)
                earned = part.score(*truths, right) if part.has_right_answer else 1.0
                if abs(earned - 1) > EXACT:
                    yield Broken(spec.name, part.name, request, "the annotations' own answer", earned, 1)
                earned = part.score(*truths, silent) if silent and not part.scores_silence else 0.0
                if abs(earned) > EXACT:
                    yield Broken(spec.name, part.name, request, "an answer that says nothing", earned, 0)


def check_rules(spec: RewardSpec, conversations: Sequence[Conversation], settings: Settings) -> None:
    """Raise RuleError at the first request in which a part breaks a rule."""
    for broken in broken_rules(spec, conversations, settings):
        raise RuleError(f"{broken}; {ADVICE}")
