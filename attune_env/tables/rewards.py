"""Rewards in words and numbers: the tables of `attune rewards list` and `explain`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attune_env.tables.cells import DASH
from attune_env.tables.table import Table
from attune_rewards.metrics.leaf import Part
from attune_rewards.metrics.tree import LEAF, Node
from attune_rewards.reward.parts import Format, text_of
from attune_rewards.reward.presets import REWARDS
from attune_rewards.reward.spec import RewardSpec

PARTS: Final[tuple[Part, ...]] = (*LEAF.values(), Format())
AUDIT_NOTE = (
    "attune rewards audit measures what can be earned without reading; docs/audit.md has the figures."
)


def preset_list() -> Table:
    """The presets: what each is for, its parts, and what the prior earns on it."""
    table = Table("Presets", ("reward", "parts", "prior earns", "scores"))
    for name, preset in REWARDS.items():
        spec = RewardSpec.preset(name)
        table.rows.append((name, str(len(spec.parts)), _prior(spec), preset.text))
    table.notes = [
        "prior earns: what the best constant answers, which read nothing, earn on the reference data of "
        f"skill: {RewardSpec.preset('skill').reference}.",
        "A reward of your own is a .json or .py file: attune rewards explain FILE shows it, "
        "attune rewards audit --reward FILE audits it.",
    ]
    return table


def part_list() -> Table:
    """The parts that rewards are made of."""
    table = Table("Parts", ("part", "stage", "prior earns", "scores"))
    baselines = RewardSpec.preset("skill").baselines
    for part in PARTS:
        text = text_of(part)
        prior = f"{baselines[part.name]:.3f}" if part.name in baselines else DASH
        table.rows.append((part.name, text.stage, prior, text.what))
    return table


def explain_part(name: str) -> Table:
    """One part: what it scores, how and where, and which answers earn nothing."""
    text = text_of(next(part for part in PARTS if part.name == name))
    baseline = RewardSpec.preset("skill").baselines.get(name)
    table = Table(f"Part {name}", ("property", "value"))
    table.rows = [
        ("scores", text.what),
        ("stage", text.stage),
        ("formula", text.formula),
        ("range", "0 to 1; the annotations' own answer earns 1"),
        ("scored where", text.where),
        ("earns 0", text.zero),
    ]
    if baseline is not None:
        table.rows.append(("prior earns", f"{baseline:.3f}, without reading anything"))
    table.notes = ["docs/metrics.md has the formulas and their sources."]
    return table


def explain_reward(spec: RewardSpec) -> Table:
    """A reward: its tree, weights if everything is annotated, baselines, and when it is given."""
    table = Table(
        f"Reward {spec.name}",
        ("part", "weight", "share", "baseline", "0.1 more pays", "stage", "scores"),
    )
    shares, by_stage = spec.root.weights(spec.parts), spec.shares_by_stage
    for depth, node in _walk(spec.root):
        indent = "  " * depth + node.name
        weight = f"{node.weight:g}" if depth else ""
        share = sum(shares.get(leaf, 0.0) for leaf in node.leaves())
        cells = (indent, weight, f"{100 * share:.1f}%")
        if node.children:
            table.rows.append((*cells, "", "", "", ""))
        elif node.name in spec.left_out:
            table.rows.append((*cells, "left out", "", "", "not scored; siblings share its weight"))
        else:
            part = spec.parts[node.name]
            text, n = text_of(part), spec.baselines.get(node.name)
            pays = 0.1 * by_stage[node.name] / (1 - (n or 0.0))
            table.rows.append(
                (
                    *cells,
                    DASH if n is None else f"{n:.3f}",
                    f"{pays:.3f}" if part.stage and spec.dense else DASH,
                    text.stage,
                    text.what,
                )
            )
    table.notes = list(_notes(spec))
    return table


def _walk(node: Node, depth: int = 0) -> Iterator[tuple[int, Node]]:
    yield depth, node
    for child in node.children:
        yield from _walk(child, depth + 1)


def _notes(spec: RewardSpec) -> Iterator[str]:
    yield (
        "share: of the return if everything is annotated. A part's share is spread evenly over the "
        "requests where the part is defined; if it is defined nowhere, the share goes to its siblings."
    )
    if spec.dense:
        yield (
            "0.1 more pays: what 0.1 more score on the part adds to the reward of a request in which every "
            "part of its stage is annotated. A trainer that compares replies to one prompt (GRPO) goes by "
            "this, not by the share."
        )
    if spec.baselines:
        lowest = spec.root.value({part: spec.transform(part, 0.0) for part in spec.parts})
        yield (
            "baseline n: a part with score s earns (s − n)/(1 − n), so that reading nothing earns about 0 "
            "on it and the annotations' own answers earn 1. If everything is annotated, silence earns "
            f"{lowest:.2f}. The baselines were measured on {spec.reference or 'unnamed data'}."
        )
        if spec.floor is not None:
            ends = {part: n + spec.floor * (1 - n) for part, n in spec.baselines.items()}
            told = ", ".join(f"{part} {end:.2f}" for part, end in ends.items() if end > 0)
            yield f"floor: no part earns less than {spec.floor:g}; it earns that for any score up to: {told}."
    else:
        yield "The reward is the score itself, from 0 (silence) to 1 (the annotations' own answers)."
        if (prior := _prior(spec)) != DASH:
            yield (
                f"Reading nothing earns {prior} of 1 on the reference data of skill, which counts from there."
            )
    yield f"It is given {'request by request' if spec.dense else 'in full at the last request'}. {AUDIT_NOTE}"


def _prior(spec: RewardSpec) -> str:
    """The score of `prior` on the reference data, from its baselines; a dash if one is unknown."""
    baselines = RewardSpec.preset("skill").baselines
    if not all(part in baselines for part in spec.parts):
        return DASH
    value = spec.root.value({part: spec.transform(part, baselines[part]) for part in spec.parts})
    return DASH if value is None else f"{value:.3f}"
