"""Playing a policy against several rewards at once: replies are read once, scored under each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attune_data.schema import Conversation
from attune_episodes.episode import Episode
from attune_episodes.parsing import parse
from attune_episodes.plan import plan
from attune_episodes.policies.base import BuiltinPolicy
from attune_episodes.settings import Settings
from attune_rewards.predictions import ConversationPrediction
from attune_rewards.records import read_record
from attune_rewards.reward import part_means, scored_requests
from attune_rewards.scoring import score_conversation
from attune_rewards.spec import RewardSpec


@dataclass(slots=True)
class Played:
    """The return of a policy in each conversation, in their order."""

    name: str
    totals: dict[str, list[float | None]] = field(default_factory=dict)
    """Reward name -> the return of each conversation; None where it scores nothing there."""
    parts: dict[str, dict[str, list[float | None]]] = field(default_factory=dict)
    """Reward name -> part -> its mean score in each conversation, None where it is not defined."""
    canonical: list[float] = field(default_factory=list)
    """The canonical Composite of each conversation, 0–100."""
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
    """Play every conversation once and score the replies under every spec and in both scoring variants."""
    played = Played(policy.name)
    for conversation in conversations:
        player = policy.for_conversation(conversation)
        recorded = Episode(conversation, settings)
        episodes = {name: Episode(conversation, settings, spec) for name, spec in specs.items()}
        for request in plan(conversation, settings):
            outcome = parse(request, player.reply(request))
            played.read += recorded.take(outcome).status == "ok"
            for episode in episodes.values():
                episode.take(outcome)
        played.asked += len(recorded.steps)
        for name, episode in episodes.items():
            scored = scored_requests(conversation, specs[name], settings.stages)
            played.totals.setdefault(name, []).append(episode.total if scored else None)
            means = part_means(step.score for step in episode.steps)
            for part in specs[name].parts:
                played.parts.setdefault(name, {}).setdefault(part, []).append(means.get(part))
        prediction, _ = read_record(recorded.result(), conversation)
        found = score_conversation(conversation, prediction)
        played.canonical.append(found["composite_exact"])
        played.strict.append(found["composite_strict"])
        played.predictions.append(prediction)
    return played
