"""The tables of an audit: verdicts, the RFC's checks, what every policy gains, and in which parts."""

from __future__ import annotations

import math

from attune_env.audit.auditing import Audit
from attune_env.audit.checks import CHECKS, CORRELATION, FLOOR_MARGIN, Check, checks
from attune_env.audit.verdict import GATE, GATED, MIN_PARTICIPANTS
from attune_env.tables.cells import DASH, interval_text, share_text
from attune_env.tables.table import Table
from attune_rewards.bootstrap import RESAMPLES


def audit_tables(found: Audit) -> list[Table]:
    """All tables of an audit, in reading order."""
    return [_verdicts(found), _checks(found), _policies(found), _parts(found)]


def _verdicts(found: Audit) -> Table:
    audited = next(iter(found.specs)) if len(found.specs) == 1 else f"{len(found.specs)} rewards"
    table = Table(
        f"Audit of {audited}: does anything that reads nothing beat the prior?",
        ("reward", "verdict", "prior", "best attack", "gain", "highest bound", "best surface policy",
         "its gain", "oracle"),
    )  # fmt: skip
    for verdict in found.verdicts:
        name, bound = verdict.bound
        table.rows.append(
            (
                verdict.reward,
                verdict.text,
                interval_text(verdict.prior),
                verdict.best,
                interval_text(verdict.gains[verdict.best]),
                f"{bound:.3f} ({name})",
                verdict.best_shallow,
                interval_text(verdict.shallow[verdict.best_shallow]),
                _number(verdict.oracle),
            )
        )
    table.notes = [
        f"data: {found.data}, {found.participants} participants. Returns out of 1; mean [95% percentile "
        f"bootstrap interval], {RESAMPLES:,} resamples by participant, paired by conversation.",
        f"A reward passes if the upper bound of every attack's gain over the prior is below {GATE}, the "
        "annotations' own answers (oracle) earn 1, and nothing beats them. It fails if such a bound is "
        f"{GATE} or more and either its lower bound is above 0 or its mean is {GATE} or more. No verdict is "
        f"given with fewer than {MIN_PARTICIPANTS} participants.",
        f"attack: a policy of kind {', '.join(GATED)}. surface policy: one that goes by what is visible "
        "without understanding (lengths, which reply was recorded, which questions are asked); no reward can "
        "tell this from reading, so it is reported and decides nothing.",
        "prior: the best constant answers. Every fitted policy plays participants on whom it was not fitted.",
    ]
    open_parts = [
        name
        for spec in found.specs.values()
        for name, part in spec.parts.items()
        if not part.has_right_answer
    ]
    if open_parts:
        table.notes.append(
            f"{', '.join(open_parts)}: the annotations contain no right draft, so the oracle may earn less "
            "than 1 there, and only attacks count as beating it."
        )
    if found.measured_again:
        table.notes.append(
            f"{', '.join(found.measured_again)}: baselines come from some of these participants, so they are "
            "measured again for each fold of participants, on the others."
        )
    return table


def _checks(found: Audit) -> Table:
    table = Table(
        "What do OpenEnv's checks say?",
        ("reward", *(one.partition(".")[2].replace("_", " ") for one in CHECKS)),
    )
    for verdict in found.verdicts:
        table.rows.append((verdict.reward, *(_checked(one) for one in checks(found, verdict))))
    table.notes = [
        "The checks of OpenEnv's RFC 008 against reward hacking, and two of our own. oracle max: what the "
        "annotations' own answers earn. floor gap: how much less silence earns, at least "
        f"{FLOOR_MARGIN}. canary floor, adversarial floor, sycophancy: the highest gain over the prior, "
        f"below {GATE}, of the exploits, of all attacks, and of the exploit that agrees with everything. "
        "The RFC takes silence as the floor; here constant answers are legal and earn more, so the prior is "
        "the floor.",
        "gameability gap: Spearman's correlation of the return and the strict Composite across the policies "
        f"that answer, mean over conversations, at least {CORRELATION}. random reward: what that correlation "
        "reaches by chance, if the same returns are dealt at random. These two decide no verdict: a reward "
        "of a single question says little about the whole task.",
    ]
    return table


def _checked(check: Check) -> str:
    said = check.measured
    gain = said["gain"]["mean"] if "gain" in said else None
    number = next(
        (said[name] for name in ("chance", "correlation", "gap", "oracle_reward") if name in said), gain
    )
    return f"{check.status} {_number(number)}"


def _policies(found: Audit) -> Table:
    """The gain of every policy over the prior; best first by the last reward."""
    rewards = list(found.specs)
    columns = ("policy", "kind", *rewards, "strict", "canonical", "read")
    table = Table("What does each policy gain over the prior?", columns, keys=2)
    for row in sorted(found.rows, key=lambda row: (-(row.rewards[rewards[-1]].mean or 0.0), row.name)):
        gains = (DASH if row.name == "prior" else interval_text(row.over_prior[one]) for one in rewards)
        points = (_number(row.strict, 1), _number(row.canonical, 1))
        table.rows.append((row.name, row.kind, *gains, *points, share_text(row.read)))
    table.notes = [
        "strict, canonical: the Composite under each scoring variant, in points of 100. read: the share of "
        "replies that could be parsed.",
        "searched: coordinate ascent from silence, run separately against each reward (the strict and "
        f"canonical columns show the search against {rewards[0]}).",
    ]
    return table


def _parts(found: Audit) -> Table:
    table = Table(
        "What does each part pay, before baselines are subtracted?",
        ("part", "prior", "best attack", "earns", "surface", "lexicon", "oracle"),
    )
    attacks = [row.name for row in found.rows if row.gated]
    over = []
    for part, earned in found.parts.items():
        best = max((name for name in attacks if name in earned), key=lambda name: earned[name])
        values = (earned[best], earned["surface"], earned["lexicon"], earned["oracle"])
        table.rows.append((part, _number(earned["prior"]), best, *map(_number, values)))
        if max(earned.values()) > earned["oracle"] + 1e-9:
            over.append(part)
    if over:
        table.notes.append(
            f"{', '.join(over)}: some policy earns more than the annotations' own answers there, and a "
            "policy trained on it will find out."
        )
    return table


def _number(value: float | None, places: int = 3) -> str:
    return DASH if value is None or math.isnan(value) else f"{value:.{places}f}"
