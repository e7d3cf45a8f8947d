"""`RewardSpec`: the parts of a reward and their weights.

The reward of a request is the weighted mean of its parts; the weights of a whole conversation sum to 1, so
that the weighted sum over an episode is the total reward (for `composite`, this is `composite_strict`/100).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from numbers import Real
from typing import Any, Final, NamedTuple

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_rewards.metrics.leaf import Part
from attune_rewards.metrics.tree import LEAF, Node
from attune_rewards.predictions import STAGES, TURN_STAGES, Stage
from attune_rewards.reward.parts import AnnotatedFunction, CustomPart, Format, ScoreFunction
from attune_rewards.reward.presets import REWARDS
from attune_rewards.truth import ConversationTruth, TurnTruth

MAX_WEIGHT: Final = 1e100
"""Largest weight, so that sums of weights stay finite."""
MIN_SHARE: Final = 1e-12
"""Smallest share of a part in the whole reward; a smaller one would be lost in floating-point sums."""

PRESETS: Final[tuple[str, ...]] = tuple(
    name for name, preset in REWARDS.items() if not preset.rewards_silence
)
"""Presets under which silence earns nothing and perfect answers 1: all but `canonical`."""


class Slot(NamedTuple):
    """A place where an episode is scored: one part of one request (a turn of None is the reflect stage)."""

    stage: Stage
    turn: int | None
    part: str


@dataclass(frozen=True)
class RewardSpec:
    """Parts and weights of a reward.

    `RewardSpec.preset(name)` returns the named ones; `with_part`, `with_format` and `terminal` build on
    them. Specs are frozen and picklable; with custom parts, if `read_reward` read them or their functions
    are.
    """

    name: str
    root: Node = field(hash=False)
    """The tree of weights; its leaves are the names of parts."""
    extra: tuple[Part, ...] = field(default=(), hash=False)
    """Parts in addition to the benchmark's own leaves."""
    baselines: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Part -> n: its score s becomes (s - n)/(1 - n), so that the baseline earns 0 and a perfect score 1."""
    left_out: tuple[str, ...] = ()
    """Leaves of the tree that are not scored because their baselines are too high to learn from."""
    dense: bool = True
    """If True, every request earns its share immediately; if False, the last one earns the whole return."""
    reference: str = ""
    """Name and fingerprint of the data on which `baselines` were measured."""
    floor: float | None = None
    """Lowest rewarded score of a part that has a baseline; None for no limit."""

    def __post_init__(self) -> None:
        known = {*LEAF, *(part.name for part in self.extra)}
        leaves = list(self.root.leaves())
        for name in (*leaves, *self.baselines, *self.left_out):
            if name not in known:
                raise UnknownNameError("reward part", name, sorted(known))
            if leaves.count(name) > 1:
                raise SettingsError(f"part {name!r} occurs twice in the reward; name each part once")
        for node in self.root.nodes():
            weight_of(node.name, node.weight)
        for name, baseline in self.baselines.items():
            _number(f"baseline of part {name!r}", baseline, "in [0, 1)", lambda n: 0 <= n < 1)
        if self.floor is not None:
            _number("floor", self.floor, "at most 0", lambda n: -math.inf < n <= 0)
        shares = self.root.weights(self.parts)
        if not shares:
            raise SettingsError("every part of the reward is left out; keep at least one")
        for name, share in shares.items():
            if share < MIN_SHARE:
                raise SettingsError(
                    f"part {name!r} is {share:g} of the whole reward; at least {MIN_SHARE:g}: "
                    "give it more weight, or leave it out"
                )

    @staticmethod
    def preset(name: str) -> RewardSpec:
        """Return a named spec: `skill` or `skill_bounded` for training, the others for measuring.

        According to the audit (`docs/audit.md`), a policy that reads nothing earns no more than `prior` under
        any of them, but only under the two `skill` presets is that near 0. The others give constant answers
        about half of the full reward, and `canonical` also rewards silence. Raises UnknownNameError listing
        the choices.
        """
        REWARDS.check(name)
        return _preset(name)

    @staticmethod
    def weighted(name: str, weights: Mapping[str, float]) -> RewardSpec:
        """Make a spec from part names and positive weights, such as {"emotion_va": 2, "pairwise": 1}."""
        if not isinstance(weights, Mapping):
            raise SettingsError(f"weights are {show(weights)}; they must map parts to numbers")
        if not weights:
            raise SettingsError("a reward needs at least one part")
        nodes = tuple(Node(part, weight_of(part, weight)) for part, weight in weights.items())
        return RewardSpec(name, Node(name, children=nodes))

    def with_part(
        self,
        name: str,
        stage: Stage,
        function: ScoreFunction,
        weight: float,
        *,
        annotated: AnnotatedFunction | None = None,
    ) -> RewardSpec:
        """Add your own part: the existing parts together weigh 1, the new one `weight`.

        Args:
            name: the name of the part.
            stage: the stage in which it is scored.
            function: called with the conversation's truth, the turn's truth (None in the reflect stage) and
                the typed prediction; returns a number in [0, 1].
            weight: above 0, at most 1e100.
            annotated: called with the same two truths; says whether a request is scored. By default, every
                request of the stage is.
        """
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
        return self._plus(CustomPart(name, stage, function, annotated), weight)

    def with_format(self, weight: float) -> RewardSpec:
        """Add the part `format`, the share of requested fields that have a valid answer."""
        return self._plus(Format(), weight)

    def _plus(self, part: Part, weight: float) -> RewardSpec:
        if part.name in {*LEAF, *(other.name for other in self.extra)}:
            raise SettingsError(f"there is already a part named {part.name!r}")
        # the existing parts together weigh 1, even if their root had another weight in a larger tree
        old, new = replace(self.root, weight=1.0), Node(part.name, weight_of(part.name, weight))
        root = Node(f"{self.name}+{part.name}", children=(old, new))
        return replace(self, name=root.name, root=root, extra=(*self.extra, part))

    def measured_from(
        self, baselines: Mapping[str, float], reference: str = "", left_out: tuple[str, ...] = ()
    ) -> RewardSpec:
        """The same parts and weights, with each part's score s rewarded as (s - n)/(1 - n).

        Args:
            baselines: part -> n in [0, 1); parts without one are rewarded as they are.
            reference: the data on which the baselines were measured.
            left_out: parts that will not be scored.
        """
        return replace(self, baselines=dict(baselines), reference=reference, left_out=left_out)

    def renamed(self, name: str) -> RewardSpec:
        """The same reward under another name."""
        return replace(self, name=name)

    def terminal(self) -> RewardSpec:
        """The same reward, but given in full at the last request."""
        return replace(self, dense=False)

    @property
    def parts(self) -> dict[str, Part]:
        """Name -> part for every part that this reward scores."""
        named: dict[str, Part] = {**LEAF, **{part.name: part for part in self.extra}}
        return {name: named[name] for name in self.root.leaves() if name not in self.left_out}

    @property
    def shares_by_stage(self) -> dict[str, float]:
        """Part -> its share, in (0, 1], of a request's reward where every part of the stage is annotated.

        A part that is scored in several stages (`format`) has its share of the whole reward, and is not
        counted among the parts of a stage.
        """
        weights, parts = self.root.weights(self.parts), self.parts
        of_stage: dict[Stage | None, float] = {}
        for name, weight in weights.items():
            of_stage[parts[name].stage] = of_stage.get(parts[name].stage, 0.0) + weight
        of_stage[None] = 1.0
        return {name: weight / of_stage[parts[name].stage] for name, weight in weights.items()}

    def transform(self, part: str, score: float) -> float:
        """Rewarded value of a part's score s: (s - n)/(1 - n), or s itself if the part has no baseline."""
        return above_baseline(score, self.baselines.get(part, 0.0), self.floor)

    def weights(self, truth: ConversationTruth, stages: Collection[Stage] = STAGES) -> dict[Slot, float]:
        """The weights of all slots of an episode, which sum to 1 ({} if nothing is scored).

        A part's weight is divided equally among the requests in which it is defined; if there are none, its
        weight goes to its siblings.
        """
        places: list[tuple[Stage, TurnTruth | None]] = [
            (s, turn) for turn in truth.turns for s in TURN_STAGES
        ]
        found: dict[str, list[Slot]] = {}
        for name, part in self.parts.items():
            for stage, turn in (*places, ("reflect", None)):
                if stage in stages and is_asked(stage, turn) and part.defined(truth, stage, turn):
                    found.setdefault(name, []).append(Slot(stage, turn.turn if turn else None, name))
        return {
            slot: weight / len(found[name])
            for name, weight in self.root.weights(found).items()
            for slot in found[name]
        }


def above_baseline(score: float, baseline: float, floor: float | None = None) -> float:
    """(s - n)/(1 - n): 0 for the baseline's score, 1 for a perfect one, never below the floor."""
    paid = (score - baseline) / (1.0 - baseline)
    return paid if floor is None or not baseline else max(floor, paid)


def weight_of(part: str, weight: object) -> float:
    """The weight of a part as a float; raises SettingsError for an invalid one."""
    return _number(
        f"weight of part {part!r}", weight, f"above 0, at most {MAX_WEIGHT:g}", lambda n: 0 < n <= MAX_WEIGHT
    )


def _number(what: str, value: Any, expected: str, fits: Callable[[float], bool]) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_number and fits(value)):
        raise SettingsError(f"{what} is {show(value)}; it must be a number {expected}")
    return float(value)


def is_asked(stage: Stage, turn: TurnTruth | None) -> bool:
    """Whether a stage has anything to ask in this turn; otherwise it is not in the plan."""
    if turn is None or stage in ("draft", "assess", "reflect"):
        return True
    return bool(turn.applicable) if stage == "assess_hp" else bool(turn.comparisons)


@cache
def _preset(name: str) -> RewardSpec:
    spec: RewardSpec = REWARDS.make(name)
    return spec
