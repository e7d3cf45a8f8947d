"""The rewards of an audit, with constants that were measured on other people than they are applied to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attune_data import load
from attune_data.format.schema import Conversation
from attune_episodes.policies.fitted import FittedPolicy
from attune_episodes.policies.skill import REFERENCE, prior_scores
from attune_episodes.protocol.settings import Settings
from attune_rewards.reward.presets.skill import skill_spec
from attune_rewards.reward.spec import RewardSpec


class Rewards:
    """The audited rewards for each conversation.

    The constants of a preset were measured on its reference data. If people from there are audited, the
    constants are measured again: for each fold of participants, on the other folds.

    Args:
        specs: name -> reward.
        prior: the policy whose folds are used.
        conversations: the conversations to play.
        settings: how policies are asked.
    """

    def __init__(
        self,
        specs: Mapping[str, RewardSpec],
        prior: FittedPolicy,
        conversations: Sequence[Conversation],
        settings: Settings,
    ) -> None:
        self.specs = specs
        self._prior = prior
        reference = RewardSpec.preset("skill").reference
        fitted = tuple(n for n, spec in specs.items() if spec.baselines and spec.reference == reference)
        known = _people(load(REFERENCE)) if fitted else frozenset()
        self.again = fitted if known & _people(conversations) else ()
        """Names of the rewards whose constants are measured again."""
        self._measured: dict[frozenset[str], Mapping[str, RewardSpec]] = {}
        self._of_fold = prior.on_folds(conversations, self.measured_on)

    def measured_on(self, others: Sequence[Conversation], settings: Settings) -> Mapping[str, RewardSpec]:
        """Name -> reward, with constants measured on these conversations."""
        if not self.again:
            return self.specs
        people = _people(others)
        if people not in self._measured:
            scores = prior_scores(others, settings)
            self._measured[people] = {
                name: _with_constants(spec, scores) if name in self.again else spec
                for name, spec in self.specs.items()
            }
        return self._measured[people]

    def of(self, conversation: Conversation) -> Mapping[str, RewardSpec]:
        """Name -> reward, with constants measured without this conversation's participant."""
        return self._of_fold[self._prior.fold_of(conversation)]


def _people(conversations: Sequence[Conversation]) -> frozenset[str]:
    return frozenset(conversation.participant for conversation in conversations)


def _with_constants(spec: RewardSpec, scores: Mapping[str, float]) -> RewardSpec:
    baselines = {part: scores.get(part, baseline) for part, baseline in spec.baselines.items()}
    return skill_spec(baselines, spec.reference, spec).renamed(spec.name)
