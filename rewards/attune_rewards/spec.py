"""`RewardSpec`: which parts make up the reward, and what each weighs. Presets by name.

The reward of a request is the weighted mean of its parts; the weights of a whole conversation sum to 1,
so that the weighted sum over an episode is the spec's total (for `composite`: `composite_strict`/100).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any, Final, NamedTuple

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_rewards.canonical import CANONICAL, canonical_root
from attune_rewards.parts import CustomPart, Format, Part
from attune_rewards.predictions import STAGES, TURN_STAGES, Prediction, Stage
from attune_rewards.tree import COMPOSITE, LEAF, Node
from attune_rewards.truth import ConversationTruth, TurnTruth

SKILL_FILE: Final = Path(__file__).parent / "presets" / "skill.json"
MAX_BASELINE: Final = 0.95
"""A part on which the prior earns more than this teaches nothing under `skill` and is left out."""
MAX_WEIGHT: Final = 1e100
"""Heaviest weight: sums of such weights stay finite."""
MIN_SHARE: Final = 1e-12
"""Least share of a part in the whole reward: a smaller one is nothing beside the others in a float."""

_ROOTS: Final[Mapping[str, Node]] = {
    "composite": COMPOSITE,
    "emotion": replace(COMPOSITE.part("emotion"), weight=1.0),
    "behaviour": replace(COMPOSITE.part("binary"), name="behaviour"),
    "preference": Node("preference", children=(COMPOSITE.part("pairwise"),)),
    "holistic": COMPOSITE.part("holistic"),
}
PRESET_TEXTS: Final[Mapping[str, str]] = {
    "composite": "the benchmark's strict Composite: to measure with",
    "emotion": "the feelings in each turn",
    "behaviour": "the yes/no questions about each reply",
    "preference": "the comparisons of replies",
    "holistic": "what is asked after the conversation",
    "skill": "the Composite with each part measured from what reading nothing earns: to train with",
    "skill_bounded": "skill with no part below -1, so that one unreadable answer does not outweigh a batch",
    "canonical": "the benchmark's own Composite, for evaluation alone: it rewards silence",
}
"""Preset -> what it is for."""
PRESETS: Final[tuple[str, ...]] = tuple(name for name in PRESET_TEXTS if name != "canonical")
"""Presets under which silence earns nothing and gold 1: all but `canonical`."""
FLOOR: Final = -1.0
"""Lowest paid score of a part under `skill_bounded`: as far below reading nothing as gold is above it."""


class Slot(NamedTuple):
    """One scored place of an episode: a part in a request (turn None = the reflect stage)."""

    stage: Stage
    turn: int | None
    part: str


@dataclass(frozen=True)
class RewardSpec:
    """Parts and weights of a reward.

    `RewardSpec.preset(name)` gives the named ones; `with_part`, `with_format` and `terminal` build on
    them. Frozen and picklable (custom parts as far as their functions are).
    """

    name: str
    root: Node = field(hash=False)
    """Weights over parts; a part's name is a leaf of this tree."""
    extra: tuple[Part, ...] = field(default=(), hash=False)
    """Parts beside the benchmark's own leaves."""
    baselines: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Part -> n: its score s becomes (s - n)/(1 - n), unclamped, so that the baseline earns 0 and gold 1."""
    left_out: tuple[str, ...] = ()
    """Leaves of the tree that are not scored, because their baseline is above `MAX_BASELINE`."""
    dense: bool = True
    """True: every step earns its share at once; False: the whole return comes with the last step."""
    reference: str = ""
    """The data that `baselines` were measured on, by name and fingerprint."""
    floor: float | None = None
    """Lowest paid score of a part that has a baseline; None: as low as its baseline makes it."""

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
        """Return a named spec: `skill` or `skill_bounded` for training, any other for measuring.

        According to the audit (`docs/audit.md`), under none of them does a policy that reads nothing earn
        more than `prior`, but only the two `skill` presets leave the prior near 0. The others give constant
        answers about half of the full reward, and `canonical` also rewards silence. Raises UnknownNameError
        naming the choices.
        """
        if name not in tuple(PRESET_TEXTS):
            raise UnknownNameError("reward preset", name, PRESET_TEXTS)
        return _preset(name)

    @staticmethod
    def weighted(name: str, weights: Mapping[str, float]) -> RewardSpec:
        """A spec from part names and positive weights, such as {"emotion_va": 2, "pairwise": 1}."""
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
        function: Callable[[ConversationTruth, TurnTruth | None, Prediction], float],
        weight: float,
    ) -> RewardSpec:
        """This reward plus your own part: the old parts together weigh 1, the new one `weight`."""
        if stage not in STAGES:
            raise UnknownNameError("stage", stage, STAGES)
        return self._plus(CustomPart(name, stage, function), weight)

    def with_format(self, weight: float) -> RewardSpec:
        """This reward plus `format`, the share of requested fields that have a valid answer."""
        return self._plus(Format(), weight)

    def _plus(self, part: Part, weight: float) -> RewardSpec:
        if part.name in {*LEAF, *(other.name for other in self.extra)}:
            raise SettingsError(f"there is a part named {part.name!r} already")
        # the old parts weigh 1 together beside the new one, whatever their root weighed in a larger tree
        old, new = replace(self.root, weight=1.0), Node(part.name, weight_of(part.name, weight))
        root = Node(f"{self.name}+{part.name}", children=(old, new))
        return replace(self, name=root.name, root=root, extra=(*self.extra, part))

    def measured_from(
        self, baselines: Mapping[str, float], reference: str = "", left_out: tuple[str, ...] = ()
    ) -> RewardSpec:
        """The same parts and weights, each part's score s rewarded as (s - n)/(1 - n).

        Args:
            baselines: part -> n in [0, 1); parts without one are rewarded as they are.
            reference: the data that they were measured on.
            left_out: parts that are not scored.
        """
        return replace(self, baselines=dict(baselines), reference=reference, left_out=left_out)

    def renamed(self, name: str) -> RewardSpec:
        """The same reward under another name."""
        return replace(self, name=name)

    def terminal(self) -> RewardSpec:
        """The same reward, given in full with the last step."""
        return replace(self, dense=False)

    @property
    def parts(self) -> dict[str, Part]:
        """Name -> part, for every part that this reward scores."""
        named: dict[str, Part] = {**LEAF, **{part.name: part for part in self.extra}}
        return {name: named[name] for name in self.root.leaves() if name not in self.left_out}

    def transform(self, part: str, score: float) -> float:
        """A part's score as it is rewarded: (s - n)/(1 - n), or s itself if the part has no baseline."""
        return above_baseline(score, self.baselines.get(part, 0.0), self.floor)

    def weights(self, truth: ConversationTruth, stages: Collection[Stage] = STAGES) -> dict[Slot, float]:
        """Weight of every slot of an episode, summing to 1 ({} if nothing is scored).

        A part's weight is spread evenly over the requests where it is defined; the weight of a part that is
        defined nowhere goes to its siblings.
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
    """(s - n)/(1 - n): 0 for the baseline's score, 1 for a perfect one, below 0 (to the floor) for less."""
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
    """Whether a stage has something to ask in this turn; otherwise it is not in the plan."""
    if turn is None or stage in ("draft", "assess", "reflect"):
        return True
    return bool(turn.applicable) if stage == "assess_hp" else bool(turn.comparisons)


@cache
def _preset(name: str) -> RewardSpec:
    if name in _ROOTS:
        return RewardSpec(name, _ROOTS[name])
    if name == "canonical":
        return RewardSpec(name, canonical_root(), CANONICAL)
    skill = skill_spec(**json.loads(SKILL_FILE.read_text(encoding="utf-8")))
    return skill if name == "skill" else replace(skill, name=name, floor=FLOOR)


def skill_spec(baselines: Mapping[str, float], reference: str, spec: RewardSpec | None = None) -> RewardSpec:
    """The Composite (or another reward) measured from baselines: part -> the prior's mean."""
    spec = RewardSpec("skill", COMPOSITE) if spec is None else spec.renamed(f"{spec.name}-skill")
    left_out = tuple(part for part in spec.parts if baselines.get(part, 0.0) > MAX_BASELINE)
    kept = {part: baseline for part, baseline in baselines.items() if part not in left_out}
    return spec.measured_from(kept, reference, left_out)
