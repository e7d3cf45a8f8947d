"""The audit of live episodes: every attack is compared with the best constant, on the same people.

Differences are paired by conversation; intervals are percentile bootstraps that resample participants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import numpy as np

from attune_data.simulate import Simulation
from attune_env.audit.verdict import GATE
from attune_env.report.table import Table, interval_text
from attune_env.statistics import Bootstrap, Interval
from attune_env.statistics.bootstrap import RESAMPLES
from attune_episodes.live import LiveEpisode
from attune_episodes.live.attacks import ATTACKS, Climb, average_wants, best_constant
from attune_episodes.live.oracle import recorded
from attune_episodes.live.play import LivePlayed, LivePolicy, play_live
from attune_episodes.reading import reader

LIVE_SIZE: Final = 150
"""Number of conversations played, with 100 people."""
SEED: Final = 1
"""Seed of the people; the constants were found and measured on others."""
SHARE: Final = 0.25
"""The share of the range from silence to oracle that the best constant may earn."""
Kind = Literal["constant", "attack", "climb", "state"]


@dataclass(frozen=True, slots=True)
class LiveRow:
    """The results of one policy."""

    name: str
    kind: Kind
    total: Interval
    """Its total: 0 for the best constant, 1 for the oracle, on the people with whom these were measured."""
    over: Interval
    """Its mean paired difference from the best constant."""
    lost: float
    """The share of turns that were lost because people left."""
    told: float
    """The share of conversations in which people disclosed what they held back."""


@dataclass(frozen=True, slots=True)
class LiveAudit:
    """The findings of an audit of live episodes."""

    data: str
    constant: str
    """A description of the best constant."""
    rows: tuple[LiveRow, ...]
    climb: Interval
    """The total of the hill climber minus that of the people's own edits."""

    def row(self, name: str) -> LiveRow:
        """The row of a policy."""
        return next(row for row in self.rows if row.name == name)

    @property
    def share(self) -> float:
        """The share of the range from silence to oracle that the best constant earns, with these people."""
        silence, best, oracle = (
            self.row(n).total.mean or 0.0 for n in ("silence", "best constant", "oracle")
        )
        return (best - silence) / (oracle - silence)

    @property
    def reasons(self) -> list[str]:
        """Why it fails; empty if it passes."""
        found = [
            f"{row.name} may earn {row.over.high or 0.0:.3f} more than the best constant"
            for row in self.rows
            if row.kind == "attack" and (row.over.high or 0.0) > GATE
        ]
        if (self.climb.high or 0.0) >= 0:
            found.append("the climb may earn as much as the people's own edits")
        if self.share > SHARE:
            found.append(f"the best constant earns {self.share:.0%} of the range from silence to oracle")
        if (self.row("silence").total.mean or 0.0) >= 0:
            found.append("silence does not earn less than nothing")
        return found


def live_audit(
    *,
    size: int = LIVE_SIZE,
    seed: int = SEED,
    level: str = "default",
    on_done: Callable[[], None] | None = None,
) -> LiveAudit:
    """Play every attack, the hill climber and the references in the first `size` conversations of a seed."""
    world = Simulation(seed, level=level)
    played: dict[str, list[LivePlayed]] = {}
    for name, policy in _policies(world).items():
        played[name] = play_live(policy, world, range(size))
        if on_done is not None:
            on_done()
    totals = np.array([[one.total for one in those] for those in played.values()])
    names = list(played)
    constant, climb, edits = (totals[names.index(name)] for name in ("best constant", "climb", "own edits"))
    columns = np.concatenate([totals, totals - constant, (climb - edits)[None]])
    owners = [world.person(i).participant_id for i in range(size)]
    intervals = Bootstrap(size, owners).intervals(columns.T)
    rows = tuple(
        LiveRow(
            name,
            _kind(name),
            intervals[place],
            intervals[len(names) + place],
            sum(one.lost for one in those) / sum(one.lost + one.turns for one in those),
            sum(one.told for one in those) / size,
        )
        for place, (name, those) in enumerate(played.items())
    )
    data = f"{world.source} ({size} live conversations with {len(set(owners))} people)"
    return LiveAudit(data, best_constant().name, rows, intervals[-1])


def live_policy_count() -> int:
    """The number of policies that an audit of live episodes plays."""
    return len(ATTACKS) + 5


def _policies(world: Simulation) -> Mapping[str, LivePolicy]:
    asked = [LiveEpisode(world, i) for i in range(10_000, 10_100)]
    return {
        "oracle": LiveEpisode.oracle,
        "own edits": partial(recorded, which="human"),
        "recorded replies": partial(recorded, which="original"),
        "best constant": best_constant(),
        **ATTACKS,
        "climb": Climb(reader(), average_wants(asked)),
    }


def _kind(name: str) -> Kind:
    if name in ATTACKS:
        return "attack"
    return "climb" if name == "climb" else "constant" if name == "best constant" else "state"


def live_tables(found: LiveAudit) -> list[Table]:
    """The tables of an audit of live episodes."""
    table = Table(
        "Live episodes: do replies that read nothing earn anything?",
        ("policy", "kind", "total", "over the best constant", "lost turns", "told"),
    )
    ranked = sorted(found.rows, key=lambda row: -(row.total.mean or 0.0))
    for row in ranked:
        table.rows.append(
            (
                row.name,
                row.kind,
                interval_text(row.total),
                interval_text(row.over),
                f"{row.lost:.0%}",
                f"{row.told:.0%}",
            )
        )
    verdict = f"FAILS: {'; '.join(found.reasons)}" if found.reasons else "passes"
    table.notes = [
        f"Verdict: {verdict}.",
        f"data: {found.data}. Mean [95% percentile bootstrap interval], {RESAMPLES:,} resamples by "
        "participant, paired by conversation.",
        f"best constant: {found.constant}. It earns 0 on the people it was measured on; here it earns "
        f"{found.share:.0%} of the range from silence to oracle (at most {SHARE:.0%} is allowed).",
        f"attack: its upper bound over the best constant must be {GATE} or less. climb: hill "
        f"climbing that knows the reader; it earns {interval_text(found.climb)} relative to the people's own "
        "edits, and the upper bound must be below 0. state: written with knowledge of the state. "
        "lost turns: turns lost because people left. "
        "told: conversations in which people disclosed what they held back.",
    ]
    return [table]
