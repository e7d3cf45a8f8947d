"""Post-conversation PANAS: positive and negative affect, 20 items 1–7, two totals 10–70.

Source: AttuneBench v1.0, PANAS Normalized, PANAS Item Normalized, PANAS Baseline-Adjusted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from attune_data.affect import EMOTIONS, NEGATIVE, POSITIVE, SCALE, TOTALS, side_total
from attune_data.means import mean

ITEM_SPAN = SCALE[1] - SCALE[0]
TOTAL_SPAN = TOTALS[1] - TOTALS[0]
MIDPOINT = sum(TOTALS) / 2
"""What a missing total counts as in the normalized score."""


class Totals(NamedTuple):
    """Positive and negative affect, 10–70 each; None = unknown."""

    positive: float | None
    negative: float | None


def totals(items: Mapping[str, int | None], stated: tuple[float | None, float | None]) -> Totals:
    """Both totals, each as `attune_data.affect.side_total` has it."""
    return Totals(side_total(items, "positive", stated[0]), side_total(items, "negative", stated[1]))


def valid_total(items: Mapping[str, int], side: int) -> int | None:
    """Sum of the ten items of one side (0 positive, 1 negative), or None unless all ten are valid."""
    try:
        values = _TEN[side](items)
    except KeyError:
        return None
    return sum(values) if min(values) >= SCALE[0] and max(values) <= SCALE[1] else None


_TEN: Final = (itemgetter(*POSITIVE), itemgetter(*NEGATIVE))
"""The ten items of a side at once: this runs in every reward."""


def total_mae(post: Totals, predicted: Totals) -> float:
    """Mean absolute error of the two totals, 0–60; a missing side counts as 40."""
    errors = [
        abs((MIDPOINT if want is None else want) - (MIDPOINT if got is None else got))
        for want, got in zip(post, predicted, strict=True)
    ]
    return math.fsum(errors) / len(errors)


def normalized(mae: float, span: float = TOTAL_SPAN) -> float:
    """1 - MAE/span: 1 identical, 0 a full span apart."""
    return 1.0 - mae / span


def item_mae(post: Mapping[str, int | None], predicted: Mapping[str, int | None]) -> float | None:
    """Mean absolute error, 0–6, over the items known on both sides; None where there are none."""
    errors = [
        abs(want - got)
        for name in EMOTIONS
        if (want := post.get(name)) is not None and (got := predicted.get(name)) is not None
    ]
    return sum(errors) / len(errors) if errors else None


def baseline_adjusted(pre: float | None, post: float | None, predicted: float | None) -> float | None:
    """How much better than "no change" a prediction is: 1 perfect, 0 no better, -1 at worst (clamped).

    (score - naive) / (1 - naive) with score = 1 - |post - predicted|/span, naive = 1 - |post - pre|/span.
    None where a value is unknown or post = pre (no change leaves nothing to explain).
    """
    if pre is None or post is None or predicted is None or pre == post:
        return None
    # (score - naive)/(1 - naive) = (|post - pre| - |post - predicted|)/|post - pre|: the span cancels out
    change = abs(post - pre)
    return max(-1.0, min(1.0, (change - abs(post - predicted)) / change))


def items_baseline_adjusted(
    pre: Mapping[str, int | None], post: Mapping[str, int | None], predicted: Mapping[str, int | None]
) -> float | None:
    """Mean of `baseline_adjusted` over the items where it is defined, span 6; None without any."""
    return mean(baseline_adjusted(pre.get(name), post.get(name), predicted.get(name)) for name in EMOTIONS)


def changed(pre: Mapping[str, int | None], pre_totals: Totals, change: Mapping[str, int]) -> dict[str, int]:
    """Items after the conversation, from predicted changes: clamp(pre + change, 1–7).

    A side of which only the total before is known, and whose ten changes are all given, becomes items
    that sum to that total plus the changes.
    """
    low, high = SCALE
    items = {
        name: max(low, min(high, before + change[name]))
        for name in EMOTIONS
        if name in change and (before := pre.get(name)) is not None
    }
    for names, total in zip((POSITIVE, NEGATIVE), pre_totals, strict=True):
        without_items = all(pre.get(name) is None for name in names)
        if without_items and total is not None and all(name in change for name in names):
            items |= spread(round(total) + sum(change[name] for name in names), names)
    return items


def spread(total: int, names: Sequence[str], *, low: int = SCALE[0], high: int = SCALE[1]) -> dict[str, int]:
    """Whole numbers from low to high, as equal as can be, that sum to `total` (cut to what fits).

    >>> spread(23, ["a", "b", "c"], low=1, high=10)
    {'a': 8, 'b': 8, 'c': 7}
    """
    total = max(low * len(names), min(high * len(names), total))
    base, rest = divmod(total, len(names))
    return {name: base + (index < rest) for index, name in enumerate(names)}
