"""Playing a policy against several rewards at once: replies are read once, scored under each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attune_data.means import mean
from attune_data.schema import Conversation
from attune_episodes.parsing import Unparsed, parse
from attune_episodes.plan import plan
from attune_episodes.policies.base import BuiltinPolicy
from attune_episodes.score import resolved, score
from attune_episodes.settings import Settings
from attune_rewards.predictions import (
    STAGES,
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    Stage,
    TurnPrediction,
)
from attune_rewards.reward import request_weights
from attune_rewards.scoring import score_conversation
from attune_rewards.spec import RewardSpec
from attune_rewards.truth import truth_of


@dataclass(slots=True)
class Played:
    """What a policy earned, conversation by conversation, in their order."""

    name: str
    totals: dict[str, list[float | None]] = field(default_factory=dict)
    """Reward name -> the return of each conversation; None where it scores nothing there."""
    parts: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    """Reward name -> part -> its mean score in each conversation, None where it is not defined."""
    canonical: list[float] = field(default_factory=list)
    """The Composite of each conversation in the benchmark's reading, 0–100."""
    strict: list[float | None] = field(default_factory=list)
    """The strict Composite, 0–100; None where nothing is annotated."""
    read: int = 0
    """Replies that were parsed."""
    asked: int = 0
    predictions: list[ConversationPrediction] = field(default_factory=list)


def play(
    conversations: Sequence[Conversation],
    policy: BuiltinPolicy,
    settings: Settings,
    specs: Mapping[str, RewardSpec],
) -> Played:
    """Every conversation played once by a policy, its replies scored under every spec and both readings."""
    played = Played(policy.name)
    for conversation in conversations:
        player, truth = policy.for_conversation(conversation), truth_of(conversation)
        totals = dict.fromkeys(specs, 0.0)
        scores: dict[str, dict[str, list[float]]] = {name: {} for name in specs}
        said: dict[tuple[int | None, Stage], Prediction] = {}
        requests = plan(conversation, settings)
        for request in requests:
            outcome = parse(request, player.reply(request))
            if not isinstance(outcome, Unparsed):
                said[request.turn, request.stage] = (
                    resolved(truth, outcome) if request.wants_change else outcome
                )
            for name, spec in specs.items():
                earned = score(conversation, request, outcome, spec, stages=settings.stages)
                totals[name] += earned.reward
                for part, value in earned.parts.items():
                    scores[name].setdefault(part, []).append(value)
        played.read += len(said)
        played.asked += len(requests)
        for name, spec in specs.items():
            scored = request_weights(conversation, spec, settings.stages)
            played.totals.setdefault(name, []).append(totals[name] if scored else None)
            for part in spec.parts:
                average = mean(scores[name].get(part, ()))
                played.parts.setdefault(name, {}).setdefault(part, []).append(average)
        prediction = prediction_of(conversation, said, settings)
        found = score_conversation(conversation, prediction)
        played.canonical.append(found["composite_exact"])
        played.strict.append(found["composite_strict"])
        played.predictions.append(prediction)
    return played


def prediction_of(
    conversation: Conversation, said: Mapping[tuple[int | None, Stage], Prediction], settings: Settings
) -> ConversationPrediction:
    """What a model said of a whole conversation, from its parsed replies: (turn, stage) -> prediction."""
    turns = {}
    for turn in conversation.turns:
        number = turn.turn_number
        draft, assess, hp, prefer = (said.get((number, stage)) for stage in STAGES[:-1])
        turns[number] = TurnPrediction(
            number,
            draft=draft if isinstance(draft, Draft) else None,
            assess=assess if isinstance(assess, Assess) else None,
            assess_hp=hp if isinstance(hp, AssessHP) else None,
            prefer=prefer if isinstance(prefer, Prefer) else None,
        )
    reflect = said.get((None, "reflect"))
    return ConversationPrediction(
        conversation.conversation_id,
        turns,
        reflect if isinstance(reflect, Reflect) else None,
        frozenset(stage for stage in STAGES if stage not in settings.stages),
    )
