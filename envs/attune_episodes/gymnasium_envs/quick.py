"""What a flat action earns, straight from its bytes: the engine's own scores, many times faster.

The engine (`ScoredRequest.score`) defines what everything is worth; a property test holds what stands here
to it. Where something is unusual (parts of one's own, a question twice), the engine is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from attune_data.affect import EMOTIONS, NEGATIVE, POSITIVE, SIMILARITY
from attune_data.constants import BINARY_IDS, BRANCHES
from attune_episodes.gymnasium_envs.codec import FlatReader, Kept
from attune_episodes.gymnasium_envs.spaces import COMPARISONS
from attune_episodes.plan import OPTION_FIELDS
from attune_rewards.branches import strict_score
from attune_rewards.matching import matched_similarity
from attune_rewards.panas import baseline_adjusted
from attune_rewards.questions import exact_match, fuzzy_f1, set_jaccard
from attune_rewards.reward import ScoredRequest
from attune_rewards.spec import above_null
from attune_rewards.tree import LEAF
from attune_rewards.truth import TurnTruth

_SLOT: Final = {name: slot for slot, name in enumerate(BINARY_IDS)}
_EMOTION: Final = {name: slot for slot, name in enumerate(EMOTIONS)}
_SIDES: Final = tuple(itemgetter(*[_EMOTION[name] for name in names]) for names in (POSITIVE, NEGATIVE))
_NEVER: Final = 255
"""Stands where no answer is right."""
_NEAREST: Final = tuple(
    tuple(
        (slot, SIMILARITY[name, EMOTIONS[slot]])
        for slot in sorted(range(len(EMOTIONS)), key=lambda s: (-SIMILARITY[name, EMOTIONS[s]], s))
    )
    for name in EMOTIONS
)
"""Emotion -> (slot, similarity), the most similar first."""
Quick = Callable[[Kept], tuple[dict[str, float], float, float]]
"""From what an action says to its parts, their weighted mean (the value) and the reward."""


def quick_scorer(reader: FlatReader, scored: ScoredRequest | None) -> Quick | None:
    """The fast scorer of a request; None where the engine has to be asked."""
    if scored is None or any(name not in LEAF for name, _, _ in scored.parts):
        return None
    names = {name for name, _, _ in scored.parts}
    if scored.turn is None:
        defined = {leaf.name for leaf in LEAF.values() if leaf.defined(scored.truth, "reflect", None)}
        whole = names == defined
        return _Reflect(reader, scored) if whole and not reader.request.wants_change else None
    if scored.stage == "assess":
        return _assess(scored, scored.turn)
    if scored.stage == "prefer" and names == {"pairwise"}:
        return _Prefer(reader, scored, scored.turn)
    return None


def _assess(scored: ScoredRequest, turn: TurnTruth) -> Quick | None:
    tags = None if turn.tags is None else [_EMOTION.get(tag.emotion, -1) for tag in turn.tags]
    observed, preferred = _wanted(turn.observed), _wanted(turn.preferred)
    every = ["emotion_f1", "emotion_va", "binary_om", "binary_hp"]
    unusual = tags is None or -1 in tags or len(set(tags)) < len(tags)
    if [name for name, _, _ in scored.parts] != every or unusual or observed is None or preferred is None:
        return None
    return _Assess(scored, tuple(tags or ()), observed, preferred)


class _Assess:
    __slots__ = ("of_observed", "of_preferred", "pay", "right", "tags", "weight", "weights")

    def __init__(
        self,
        scored: ScoredRequest,
        tags: tuple[int, ...],
        observed: tuple[bytes, int],
        preferred: tuple[bytes, int],
    ) -> None:
        self.pay = _Pay(scored)
        self.weights = None if self.pay.nulls else tuple(weight for _, weight, _ in scored.parts)
        self.weight = scored.weight
        self.tags = tags
        self.right = int.from_bytes(observed[0] + preferred[0], "little")
        self.of_observed, self.of_preferred = observed[1], preferred[1]

    def __call__(self, kept: Kept) -> tuple[dict[str, float], float, float]:
        emotions, both, none = kept
        f1, va = _emotions(emotions, none, self.tags)
        hits = (int.from_bytes(both, "little") ^ self.right).to_bytes(72, "little")
        om, hp = hits.count(0, 0, 36) / self.of_observed, hits.count(0, 36) / self.of_preferred
        parts = {"emotion_f1": f1, "emotion_va": va, "binary_om": om, "binary_hp": hp}
        if self.weights is None:
            return parts, *self.pay(parts)
        first, second, third, fourth = self.weights
        value = (first * f1 + second * va + third * om + fourth * hp) / self.weight
        return parts, value, self.weight * value


def _emotions(said: bytes, none: bytes, tags: tuple[int, ...]) -> tuple[float, float]:
    """F1 and valence-arousal score of the emotions said against the true ones."""
    count = len(said) - said.count(0)
    if not count:
        right = float(none[0] == 1 and not tags)
        return right, right
    if not tags:
        return 0.0, 0.0
    hits, total, taken = 0, 0.0, 0
    nearest = []
    for tag in tags:
        if said[tag]:
            hits += 1
        for slot, similarity in _NEAREST[tag]:
            if said[slot]:
                nearest.append(similarity)
                taken |= 1 << slot
                break
    if len(tags) == 1:
        total = nearest[0]
    elif taken.bit_count() == len(tags):
        total = math.fsum(nearest)  # each true emotion has a nearest of its own
    else:
        total = matched_similarity(_names(tags), [EMOTIONS[slot] for slot, v in enumerate(said) if v])
    size = len(tags)
    return 2 * hits / (size + count), total / (size if size > count else count)


def _names(tags: Sequence[int]) -> list[str]:
    return [EMOTIONS[tag] for tag in tags]


class _Prefer:
    __slots__ = ("of", "pay", "right")

    def __init__(self, reader: FlatReader, scored: ScoredRequest, turn: TurnTruth) -> None:
        winners = dict(turn.winners)
        wanted = bytearray([_NEVER] * COMPARISONS)
        for shown in reader.request.comparisons:
            winner = winners.get(shown.index)
            if winner is not None and shown.number <= COMPARISONS:
                wanted[shown.number - 1] = 1 if shown.to_shown(winner) == "A" else 2
        self.right, self.of = int.from_bytes(wanted, "little"), len(turn.winners)
        self.pay = _Pay(scored)

    def __call__(self, kept: Kept) -> tuple[dict[str, float], float, float]:
        said = int.from_bytes(kept[0], "little")
        parts = {"pairwise": (said ^ self.right).to_bytes(COMPARISONS, "little").count(0) / self.of}
        return parts, *self.pay(parts)


class _Reflect:
    """Answers that have few values are looked up, in tables that the engine's own functions fill."""

    __slots__ = ("branches", "goals", "options", "pay", "q1", "reader", "truth")

    def __init__(self, reader: FlatReader, scored: ScoredRequest) -> None:
        self.pay, self.reader, self.truth = _Pay(scored), reader, scored.truth
        self.goals, clarity, fit = (reader.request.options[name] for name in OPTION_FIELDS[:3])
        self.q1: dict[bytes, float] = {}
        self.options = tuple(
            (leaf, [exact_match(truth, said) for said in (None, *options)])
            for leaf, truth, options in (("q2", self.truth.q2, clarity), ("q3", self.truth.q3, fit))
            if truth is not None
        )
        self.branches = tuple(
            (f"branch_{name}", slot, [strict_score(self.truth.branches[name], v) for v in range(8)])
            for slot, name in enumerate(BRANCHES)
            if name in self.truth.branches
        )

    def __call__(self, kept: Kept) -> tuple[dict[str, float], float, float]:
        panas, none, q1, q2, q3, follow_up, branches = kept
        parts: dict[str, float] = {}
        truth = self.truth
        for side, leaf in enumerate(("panas_pa", "panas_na")):
            if leaf in self.pay.names:
                items = _SIDES[side](panas)
                predicted = sum(items) if min(items) else None
                adjusted = baseline_adjusted(truth.pre_totals[side], truth.post_totals[side], predicted)
                parts[leaf] = 0.0 if adjusted is None else (adjusted + 1) / 2
        if truth.q1 is not None:
            score = self.q1.get(q1)
            parts["q1"] = self._goals(truth.q1, q1) if score is None else score
            if not none[1] and not any(q1):
                parts["q1"] = 0.0
        for leaf, scores in self.options:
            parts[leaf] = scores[q2 if leaf == "q2" else q3]
        if truth.q3_follow_up is not None:
            told = self.reader.follow_up(follow_up, none=none[2] == 1)
            parts["q3_follow_up"] = 0.0 if told is None else fuzzy_f1(truth.q3_follow_up, told)
        for leaf, slot, scores in self.branches:
            parts[leaf] = scores[branches[slot]]
        return parts, *self.pay(parts)

    def _goals(self, wanted: tuple[str, ...], q1: bytes) -> float:
        chosen = [goal for goal, bit in zip(self.goals, q1, strict=True) if bit]
        score = self.q1[q1] = set_jaccard(wanted, chosen)  # 128 of them at most
        return score


def _wanted(pairs: tuple[tuple[str, str], ...]) -> tuple[bytes, int] | None:
    """(right answers slot by slot, how many are scored); None without any, or where one stands twice."""
    if not pairs or len({question for question, _ in pairs}) < len(pairs):
        return None
    wanted = bytearray([_NEVER] * len(BINARY_IDS))
    for question, answer in pairs:
        if question in _SLOT:
            wanted[_SLOT[question]] = 2 if answer == "yes" else 1
    return bytes(wanted), len(pairs)


class _Pay:
    """Value and reward of a request's parts, nulls taken off, as `ScoredRequest.score` forms them."""

    __slots__ = ("names", "nulls", "parts", "weight")

    def __init__(self, scored: ScoredRequest) -> None:
        self.parts = tuple((name, weight, null) for name, weight, null in scored.parts)
        self.nulls = any(null for _, _, null in self.parts)
        self.names = frozenset(name for name, _, _ in self.parts)
        self.weight = scored.weight

    def __call__(self, parts: Mapping[str, Any]) -> tuple[float, float]:
        paid = 0.0
        if self.nulls:
            for name, weight, null in self.parts:
                paid += weight * (above_null(parts[name], null) if null else parts[name])
        else:
            for name, weight, _ in self.parts:
                paid += weight * parts[name]
        value = paid / self.weight
        return value, self.weight * value
