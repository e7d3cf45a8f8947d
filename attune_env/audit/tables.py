"""An audit as tables: the verdicts, what every policy earns, where in the reward, and what silence pays."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attune_data.schema import Conversation
from attune_env.audit.auditing import Audit
from attune_env.audit.silence import Silence, unannotated, unanswered
from attune_env.audit.verdict import GATE, GATED, MIN_PARTICIPANTS, Row
from attune_env.report.table import DASH, Table, interval_text, share_text
from attune_env.statistics.bootstrap import RESAMPLES
from attune_rewards.tree import COMPOSITE

REFERENCES = ("prior", "lexicon", "oracle")
"""Policies that each part is shown for, beside the best attack and the ceiling."""


def audit_tables(found: Audit, conversations: Sequence[Conversation]) -> list[Table]:
    """Every table of an audit, in the order in which they are read."""
    said = {name: unanswered(played.predictions, conversations) for name, played in found.played.items()}
    silence = [
        _silence(f"What leaving answers out earns: policy {name}", "left out", rows, "all answers")
        for name, rows in said.items()
    ]
    silence[-1].notes = [
        f"{list(said)[-1]} gives the best constant answers to everything. The canonical Composite is a sum "
        "over what is left out here (whole turns apart): where no single silence pays, no set of them does."
    ]
    missing = _silence(
        "What saying nothing earns where annotations are missing",
        "not annotated",
        unannotated(conversations),
        "all annotated",
    )
    missing.notes = [
        "Canonical counts an unanswered PANAS and one that did not move as half right alike: 5.4 points."
    ]
    return [_verdicts(found), _policies(found), _gains(found), _parts(found), *silence, missing]


def _verdicts(found: Audit) -> Table:
    table = Table(
        f"Audit of {_names(found)}: does anything that reads nothing beat the prior?",
        (
            "reward",
            "verdict",
            "prior",
            "best attack",
            "gain",
            "highest bound",
            "best of surface",
            "gain of it",
            "oracle",
        ),
        left=("verdict", "best attack", "highest bound", "best of surface"),
    )
    for verdict in found.verdicts:
        name, bound = verdict.bound
        cells = (
            verdict.text,
            interval_text(verdict.prior),
            verdict.best,
            interval_text(verdict.gains[verdict.best]),
            f"{bound:.3f} ({name})",
            verdict.best_shallow,
            interval_text(verdict.shallow[verdict.best_shallow]),
            DASH if math.isnan(verdict.oracle) else f"{verdict.oracle:.3f}",
        )
        table.rows.append((verdict.reward, *cells))
    attacks = ", ".join(GATED)
    table.notes = [
        f"data: {found.data}, {found.participants} participants. Returns of 1; mean [95% percentile "
        f"bootstrap interval], {RESAMPLES:,} resamples by participant, paired by conversation.",
        f"attack: a policy of kind {attacks}; gain: over the prior. A reward passes where every attack's "
        f"upper bound is below {GATE}, the annotations' own answers (oracle) earn 1 and nothing beats them; "
        f"it fails where a gain is shown (lower bound above 0, or mean {GATE} and more). With fewer than "
        f"{MIN_PARTICIPANTS} participants nothing is gated.",
        "surface: what can be seen without understanding (lengths, which reply was recorded, which questions "
        "are asked). It is reported and not gated: a reward cannot tell it from reading, a comparison can.",
        "prior: what the best constant answers earn, so what the reward pays for reading nothing. It is "
        "fitted, as everything fitted here, on other participants than it is scored on.",
    ]
    return table


def _policies(found: Audit) -> Table:
    table = Table(
        "What each policy earns",
        ("policy", "kind", *found.specs, "strict", "canonical", "read"),
        keys=2,
    )
    for row in _ordered(found):
        values = (interval_text(row.rewards[reward]) for reward in found.specs)
        points = (_points(row.strict), _points(row.canonical))
        table.rows.append((row.name, row.kind, *values, *points, share_text(row.read)))
    ceiling = _ceilings(found)
    if ceiling:
        values = (DASH if ceiling[reward] is None else f"{ceiling[reward]:.3f}" for reward in found.specs)
        best = COMPOSITE.value(found.ceiling)
        table.rows.append(("(ceiling)", "best reader", *values, _points(100 * (best or 0.0)), DASH, DASH))
    table.notes = [
        "strict, canonical: the Composite in either reading, points of 100. read: replies that were parsed.",
        "searched: coordinate ascent from silence, against each reward by itself (strict and canonical: of "
        f"the search against {next(iter(found.specs))}).",
    ]
    if ceiling:
        table.notes.append(
            "(ceiling): what a reader who knew each person's latent state could expect; no reader of the "
            "text can do better."
        )
    return table


def _gains(found: Audit) -> Table:
    table = Table("Gain over the prior", ("policy", "kind", *found.specs), keys=2)
    for row in _ordered(found):
        if row.name != "prior":
            gains = (interval_text(row.over_prior[reward]) for reward in found.specs)
            table.rows.append((row.name, row.kind, *gains))
    return table


def _parts(found: Audit) -> Table:
    table = Table(
        "Where: mean score of each part, before baselines are subtracted",
        ("part", *REFERENCES[:1], "best attack", "earns", *REFERENCES[1:2], "ceiling", *REFERENCES[2:]),
        left=("best attack",),
    )
    attacks = [row.name for row in found.rows if row.kind in GATED and row.name != "prior"]
    for part, earned in found.parts.items():
        best = max((name for name in attacks if name in earned), key=lambda name: earned[name])
        cells = (
            f"{earned['prior']:.3f}",
            best,
            f"{earned[best]:.3f}",
            f"{earned['lexicon']:.3f}",
            f"{found.ceiling[part]:.3f}" if part in found.ceiling else DASH,
            f"{earned['oracle']:.3f}",
        )
        table.rows.append((part, *cells))
    over = [part for part, earned in found.parts.items() if max(earned.values()) > earned["oracle"] + 1e-9]
    if over:
        table.notes.append(
            f"{', '.join(over)}: something earns more than the annotations' own answers there; a policy that "
            "is trained on it will find that out."
        )
    return table


def _silence(title: str, head: str, rows: Sequence[Silence], whole: str) -> Table:
    table = Table(
        title,
        (head, f"canonical, {whole}", "without", "change", f"strict, {whole}", "without", "change"),
    )
    for row in rows:
        cells: list[str] = []
        for before, after in (row.canonical, row.strict):
            cells += [_points(before), _points(after), f"{after - before:+.1f}"]
        table.rows.append((row.what, *cells))
    return table


def _ordered(found: Audit) -> list[Row]:
    """Best first, by the last reward (of all presets: `skill`)."""
    last = list(found.specs)[-1]
    return sorted(found.rows, key=lambda row: (-(row.rewards[last].mean or 0.0), row.name))


def _ceilings(found: Audit) -> dict[str, float | None]:
    """Reward -> its value at the ceiling of every part; None where a part has none. {} without ceilings."""
    if not found.ceiling:
        return {}
    return {
        name: spec.root.value({part: spec.transform(part, found.ceiling[part]) for part in spec.parts})
        if all(part in found.ceiling for part in spec.parts)
        else None
        for name, spec in found.specs.items()
    }


def _names(found: Audit) -> str:
    return next(iter(found.specs)) if len(found.specs) == 1 else f"{len(found.specs)} rewards"


def _points(value: float) -> str:
    return DASH if math.isnan(value) else f"{value:.1f}"
