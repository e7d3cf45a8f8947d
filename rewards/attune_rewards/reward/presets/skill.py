"""The Composite relative to what the `prior` policy earns, for training.

Its baselines are frozen in `skill.json`, which `python -m tools.skill` prints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from attune_rewards.metrics.tree import COMPOSITE
from attune_rewards.reward.spec import RewardSpec

REWARDS: Final = {
    "skill": {"text": "the Composite, each part counted from what reading nothing earns; for training"},
    "skill_bounded": {
        "text": "skill, with no part below -1, so that one unreadable answer does not outweigh a batch"
    },
}
SKILL_FILE: Final = Path(__file__).with_name("skill.json")
MAX_BASELINE: Final = 0.95
"""`skill` leaves out parts on which the prior earns more than this, since there is nothing to learn."""
FLOOR: Final = -1.0
"""Lowest rewarded score of a part under `skill_bounded`: as far below 0 as a perfect one is above."""


def make(name: str) -> RewardSpec:
    """Make one of these rewards."""
    skill = skill_spec(**json.loads(SKILL_FILE.read_text(encoding="utf-8")))
    return skill if name == "skill" else replace(skill, name=name, floor=FLOOR)


def skill_spec(baselines: Mapping[str, float], reference: str, spec: RewardSpec | None = None) -> RewardSpec:
    """The Composite (or another reward) relative to baselines: part -> the prior's mean."""
    spec = RewardSpec("skill", COMPOSITE) if spec is None else spec.renamed(f"{spec.name}-skill")
    flat = (part for part in spec.parts if baselines.get(part, 0.0) > MAX_BASELINE)
    left_out = (*spec.left_out, *flat)
    kept = {part: baseline for part, baseline in baselines.items() if part not in left_out}
    return spec.measured_from(kept, reference, left_out)
