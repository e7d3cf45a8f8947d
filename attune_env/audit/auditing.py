"""Play every attack against rewards, and decide whether any baseline beats the prior.

All fitting uses folds disjoint by participant, and scoring is out of fold; so are constants of a reward that
were measured on some of these people. Differences are paired by conversation; their intervals are percentile
bootstraps that resample participants.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

import numpy as np

from attune_data import Conversations
from attune_data.format.schema import Conversation
from attune_data.selection.means import mean
from attune_env.audit.answers import check_rules
from attune_env.audit.attacks import (
    EXPLOITS,
    SURFACE,
    ExploitPolicy,
    Played,
    RewardsOf,
    fit_searched,
    play,
)
from attune_env.audit.constants import Rewards
from attune_env.audit.random_reward import beside_random
from attune_env.audit.verdict import GATED, ORACLE_SLACK, Row, Verdict
from attune_env.statistics import Bootstrap
from attune_episodes.policies import KINDS, BuiltinPolicy, builtin_policy
from attune_episodes.policies.asked import AskedPolicy
from attune_episodes.policies.constant import Answers
from attune_episodes.policies.fitted import FittedPolicy, fit_prior
from attune_episodes.policies.surface import SurfacePolicy
from attune_episodes.protocol.settings import Settings
from attune_rewards.metrics.tree import LEAF
from attune_rewards.reward.parts import Format
from attune_rewards.reward.spec import RewardSpec

SEARCHES: Final = 40
"""How many policies could be played while the rewards are searched, roughly."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings of an audit."""

    data: str
    participants: int
    specs: Mapping[str, RewardSpec]
    rows: tuple[Row, ...]
    verdicts: tuple[Verdict, ...]
    parts: Mapping[str, Mapping[str, float]]
    """Part -> policy -> mean score, before baselines are subtracted."""
    measured_again: tuple[str, ...]
    """Rewards with constants from some of these people, measured again for each fold on the others."""
    seconds: Mapping[str, float]
    """Policy -> how long it was fitted and played."""

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The rewards that fail."""
        return tuple(verdict for verdict in self.verdicts if verdict.state == "fails")


def audit(
    conversations: Conversations,
    specs: Sequence[RewardSpec],
    settings: Settings | None = None,
    *,
    on_done: Callable[[], None] | None = None,
) -> Audit:
    """Audit rewards with distinct names on these conversations.

    `on_done` is called after each of the `policy_count` policies. Raises RuleError, before any policy is
    played, if a part does not give 1 to the annotations' own answers or gives something to silence;
    SettingsError with too few participants to fit anything out of fold: fewer than two, or three if constants
    are measured again.
    """
    settings, rewards = settings or Settings(), {spec.name: spec for spec in specs}
    for spec in specs:
        check_rules(spec, conversations, settings)
    prior = FittedPolicy("prior", fit_prior, conversations, settings)
    measured = Rewards(rewards, prior, conversations, settings)
    kinds: dict[str, str] = {}
    played: dict[str, Played] = {}
    seconds: dict[str, float] = defaultdict(float)
    began = monotonic()
    for policy, kind, under in _policies(conversations, settings, prior, measured):
        kinds[policy.name] = kind
        found = play(conversations, policy, settings, under)
        first = played.setdefault(policy.name, found)
        first.totals |= found.totals  # the search is played once per reward
        first.parts |= found.parts
        seconds[policy.name] += monotonic() - began
        began = monotonic()
        if on_done is not None:
            on_done()
    owners = np.array([conversation.participant for conversation in conversations])
    # (policies, rewards, conversations), NaN if nothing is scored
    totals = np.array([[one.totals[name] for name in rewards] for one in played.values()], dtype=float)
    baseline, oracle = (totals[list(played).index(name)] for name in ("prior", "oracle"))
    both = np.concatenate([totals, totals - baseline], axis=1)
    intervals = iter(Bootstrap(len(owners), list(owners)).intervals(both.reshape(-1, both.shape[2]).T))
    rows = tuple(
        Row(
            name,
            kinds[name],
            rewards={reward: next(intervals) for reward in rewards},
            over_prior={reward: next(intervals) for reward in rewards},
            strict=_mean(one.strict),
            canonical=_mean(one.canonical),
            read=one.read / one.asked,
        )
        for name, one in played.items()
    )
    truth = np.array([one.strict for one in played.values()], dtype=float)
    answer = [row.answers for row in rows]
    verdicts = []
    for place, (reward, spec) in enumerate(rewards.items()):
        gold = oracle[place]
        # where no draft is right, those who read may earn more than the recorded reply
        complete = all(part.has_right_answer for part in spec.parts.values())
        above = (totals[:, place] > gold + ORACLE_SLACK).any(axis=1)
        verdicts.append(
            Verdict(
                reward=reward,
                prior=next(row for row in rows if row.name == "prior").rewards[reward],
                gains={row.name: row.over_prior[reward] for row in rows if row.gated},
                shallow={row.name: row.over_prior[reward] for row in rows if row.kind == "shallow"},
                beats_oracle=tuple(
                    row.name
                    for row, more in zip(rows, above, strict=True)
                    if more and (complete or row.kind in GATED)
                ),
                oracle=_mean(gold[~np.isnan(gold)].tolist()),
                participants=len(set(owners[~np.isnan(gold)])),
                random=beside_random(totals[answer, place], truth[answer]),
            )
        )
    return Audit(
        data=f"{conversations.source} ({len(conversations)} conversations, {conversations.fingerprint})",
        participants=len(set(owners)),
        specs=rewards,
        rows=rows,
        verdicts=tuple(verdicts),
        parts=_parts(played, rewards),
        measured_again=measured.again,
        seconds=dict(seconds),
    )


def policy_count(rewards: int) -> int:
    """The number of policies that an audit of this number of rewards plays."""
    return len(KINDS) + len(SURFACE) + len(EXPLOITS) + rewards


def total_seconds(took: Sequence[float]) -> float:
    """Estimate how long an audit takes from the seconds that its first policies took, at least two."""
    plays = len(KINDS) + len(SURFACE) + len(EXPLOITS) - 1 + SEARCHES
    return took[0] + plays * sum(took[1:]) / (len(took) - 1)


def _policies(
    conversations: Conversations, settings: Settings, prior: FittedPolicy, rewards: Rewards
) -> Iterator[tuple[BuiltinPolicy, str, RewardsOf]]:
    """(policy, its kind, the rewards under which it is scored), in the order of the table."""
    asked = AskedPolicy(prior, conversations)
    fitted: dict[str, BuiltinPolicy] = {
        "prior": prior,
        "asked": asked,
        "surface": SurfacePolicy(asked, conversations),
    }  # shared by the others
    for name, kind in KINDS.items():
        yield fitted.get(name) or builtin_policy(name, conversations, settings), kind, rewards.of
    for name, written in SURFACE.items():
        yield ExploitPolicy(name, prior, written), "shallow", rewards.of
    for name in EXPLOITS:
        yield ExploitPolicy(name, prior), "exploit", rewards.of
    for name in rewards.specs:
        yield _searched(name, conversations, settings, rewards)


def _searched(
    name: str, conversations: Conversations, settings: Settings, rewards: Rewards
) -> tuple[BuiltinPolicy, str, RewardsOf]:
    """The search against one reward, like the other policies."""

    def fit(others: Sequence[Conversation], settings: Settings) -> Answers:
        return fit_searched(others, settings, rewards.measured_on(others, settings)[name])

    policy = FittedPolicy("searched", fit, conversations, settings)
    return policy, "searched", lambda conversation: {name: rewards.of(conversation)[name]}


def _mean(values: Sequence[float | None]) -> float:
    """Mean of the defined values; NaN if there are none."""
    found = mean(values)
    return np.nan if found is None else found


def _parts(played: Mapping[str, Played], specs: Mapping[str, RewardSpec]) -> dict[str, dict[str, float]]:
    """Part -> policy -> its mean over the conversations where it is defined.

    A custom part is named with its reward, since two rewards may have different parts of the same name.
    """
    found: dict[str, dict[str, float]] = {}
    for name, one in played.items():
        for (reward, part), values in one.parts.items():
            if (average := mean(values)) is not None:
                shared = part in LEAF or specs[reward].parts[part] == Format() or len(specs) == 1
                earned = found.setdefault(part if shared else f"{part} of {reward}", {})
                # the search differs by reward; its best result is shown
                earned[name] = max(average, earned.get(name, 0.0))
    return found
