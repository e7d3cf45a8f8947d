"""Play a policy against several rewards at once: replies are parsed once and scored under each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attune_data.format.schema import Conversation
from attune_episodes.parsing import parse
from attune_episodes.play.episode import Episode
from attune_episodes.policies.base import BuiltinPolicy
from attune_episodes.protocol.settings import Settings
from attune_rewards.metrics.scoring import score_conversation
from attune_rewards.predictions import ConversationPrediction
from attune_rewards.reward.score import part_means
from attune_rewards.reward.spec import RewardSpec

PerConversation = list[float | None]
RewardsOf = Callable[[Conversation], Mapping[str, RewardSpec]]
"""Gives the rewards of a conversation, by name."""


@dataclass(slots=True)
class Played:
    """The scores of a policy, one per conversation, in order."""

    name: str
    totals: dict[str, PerConversation] = field(default_factory=lambda: defaultdict(list))
    """Reward -> return; None if nothing is scored."""
    parts: dict[tuple[str, str], PerConversation] = field(default_factory=lambda: defaultdict(list))
    """(reward, part) -> the part's mean score; None if it is not defined."""
    canonical: list[float] = field(default_factory=list)
    """The canonical Composite, 0–100."""
    strict: PerConversation = field(default_factory=list)
    """The strict Composite, 0–100; None if nothing is annotated."""
    read: int = 0
    """Number of replies that could be parsed."""
    asked: int = 0


def play(
    conversations: Sequence[Conversation],
    policy: BuiltinPolicy,
    settings: Settings,
    rewards: RewardsOf,
) -> Played:
    """Play every conversation once, and score the replies in both scoring variants and under its rewards."""
    played = Played(policy.name)
    for conversation in conversations:
        player, specs = policy.for_conversation(conversation), rewards(conversation)
        recorded = Episode(conversation, settings)
        episodes = {name: Episode(conversation, settings, spec) for name, spec in specs.items()}
        for request in recorded.requests:
            outcome = parse(request, player.reply(request))
            for episode in (recorded, *episodes.values()):
                step = episode.take(outcome)
            played.read += step.status == "ok"
        played.asked += len(recorded.steps)
        for name, episode in episodes.items():
            scored = episode.total_name != "not_scored"
            played.totals[name].append(episode.total if scored else None)
            means = part_means(step.score for step in episode.steps)
            for part in specs[name].parts:
                played.parts[name, part].append(means.get(part))
        scores = score_conversation(conversation, _without_drafts(recorded.prediction))
        played.canonical.append(scores["composite_exact"])
        played.strict.append(scores["composite_strict"])
    return played


def _without_drafts(said: ConversationPrediction) -> ConversationPrediction:
    """A prediction without its drafts, which neither Composite scores, so that no reader reads them."""
    return replace(said, turns={number: replace(turn, draft=None) for number, turn in said.turns.items()})
