"""Means per (model, mode) over conversations, under the names used in official score files.

Undefined values are left out of means. Standard errors are sd/sqrt(n) with n - 1 degrees of freedom, and
None for n < 2. Yes/no counts are summed, and their ratios are computed from the sums; neither is averaged or
has a standard error. The z-score compares a model's mean Composite with the other models of its mode.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from attune_data.selection.means import mean, variance
from attune_rewards.metrics.binary import confusion

COUNTS: Final = ("tp", "tn", "fp", "fn")
"""Counts from which `confusion` computes ratios."""
NOT_METRICS: Final = frozenset({"turnNumber", "conversationId", "em_model", "mode", "source_result"})


def flatten(scores: Mapping[str, Any]) -> dict[str, float | None]:
    """Flatten one conversation's scores into scalar metrics: name -> value, None = undefined.

    Post scores keep their names; strict leaves become `strict_<leaf>`, pooled ratios
    `<pooled>.<ratio>`, branch errors `four_branch_error_<branch>`.
    """
    flat: dict[str, float | None] = {}
    for name, value in scores.items():
        if name in NOT_METRICS or name == "turn_scores" or isinstance(value, (str, bool)):
            continue
        if name == "strict_parts":
            flat |= {f"strict_{leaf}": score for leaf, score in value.items()}
        elif name == "post_score":
            flat |= {inner: score for inner, score in value.items() if inner != "four_branch_per_branch"}
            errors = value.get("four_branch_per_branch") or {}
            flat |= {f"four_branch_error_{branch}": error for branch, error in errors.items()}
        elif isinstance(value, Mapping):
            flat |= {
                f"{name}.{inner}": score for inner, score in value.items() if isinstance(score, (int, float))
            }
        elif value is None or isinstance(value, (int, float)):
            flat[name] = value
    return flat


def standard_error(values: Sequence[float | None]) -> float | None:
    """Standard error of the mean of the defined values; None for fewer than two."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None
    return math.sqrt(variance(known) / len(known))


def aggregate(conversations: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Average per-conversation scores: one entry per (em_model, mode), sorted.

    Each holds `em_model`, `mode`, `n_conversations`, the mean of every metric of `flatten` (for pooled
    ratios, of all conversations together), `se_composite`, `z_score`, and under `standard_errors` and
    `n_defined` both per metric.
    """
    groups: dict[tuple[str, str], list[dict[str, float | None]]] = {}
    for scores in conversations:
        groups.setdefault((scores["em_model"], scores["mode"]), []).append(flatten(scores))
    entries = [_entry(model, mode, rows) for (model, mode), rows in sorted(groups.items())]
    for entry in entries:
        entry["z_score"] = _z_score(entry, entries)
    return entries


def _entry(model: str, mode: str, rows: Sequence[Mapping[str, float | None]]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    pooled = _pooled(columns)
    errors = {name: None if name in pooled else standard_error(column) for name, column in columns.items()}
    return {
        "em_model": model,
        "mode": mode,
        "n_conversations": len(rows),
        **{name: pooled[name] if name in pooled else mean(column) for name, column in columns.items()},
        "se_composite": errors.get("composite_score"),
        "standard_errors": errors,
        "n_defined": {name: sum(v is not None for v in column) for name, column in columns.items()},
    }


def _pooled(columns: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Sums of yes/no counts over conversations and the ratios computed from them, by flat name."""
    found: dict[str, float] = {}
    for name in columns:
        group, _, last = name.rpartition(".")
        if last == COUNTS[0] and all(f"{group}.{count}" in columns for count in COUNTS):
            sums = {count: sum(int(value or 0) for value in columns[f"{group}.{count}"]) for count in COUNTS}
            found |= {f"{group}.{ratio}": value for ratio, value in confusion(**sums).items()}
    return found


def _z_score(entry: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> float | None:
    """(own mean - mean of the models) / their standard deviation (n - 1); None without any spread."""
    peers = [e["composite_score"] for e in entries if e["mode"] == entry["mode"]]
    known = [value for value in peers if value is not None]
    if len(known) < 2 or entry["composite_score"] is None:
        return None
    center = math.fsum(known) / len(known)
    deviation = math.sqrt(variance(known))
    return float(entry["composite_score"] - center) / deviation if deviation else None
