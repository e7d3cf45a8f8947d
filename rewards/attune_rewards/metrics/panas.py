"""Post-conversation PANAS: positive and negative affect, 20 items 1–7, two totals 10–70.

Source: AttuneBench v1.0, PANAS Normalized, PANAS Item Normalized, PANAS Baseline-Adjusted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final

from attune_data.format.affect import EMOTIONS, NEGATIVE, POSITIVE, SCALE, TOTALS, Polarity, side_total
from attune_data.selection.means import mean
from attune_rewards.metrics.leaf import Leaf, PartText
from attune_rewards.metrics.metric import ReflectMetric
from attune_rewards.predictions import Reflect
from attune_rewards.truth import ConversationTruth, Totals

PLACE: Final = 4
"""Among the topics, in score files and tables."""

ITEM_SPAN = SCALE[1] - SCALE[0]
TOTAL_SPAN = TOTALS[1] - TOTALS[0]
MIDPOINT = sum(TOTALS) / 2
"""The value of a missing total in the normalized score."""


def totals(items: Mapping[str, int | None], stated: tuple[float | None, float | None]) -> Totals:
    """Both totals, as `attune_data.format.affect.side_total` defines them."""
    return Totals(side_total(items, "positive", stated[0]), side_total(items, "negative", stated[1]))


def valid_total(items: Mapping[str, int], side: int) -> int | None:
    """Sum of the ten items of one side (0 positive, 1 negative), or None unless all ten are valid."""
    try:
        values = _TEN[side](items)
    except KeyError:
        return None
    return sum(values) if min(values) >= SCALE[0] and max(values) <= SCALE[1] else None


_TEN: Final = (itemgetter(*POSITIVE), itemgetter(*NEGATIVE))
"""A getter for the ten items of a side, since this runs in every reward."""


def total_mae(post: Totals, predicted: Totals) -> float:
    """Mean absolute error of the two totals, 0–60; a missing side counts as 40."""
    errors = [
        abs((MIDPOINT if want is None else want) - (MIDPOINT if got is None else got))
        for want, got in zip(post, predicted, strict=True)
    ]
    return math.fsum(errors) / len(errors)


def normalized(mae: float, span: float = TOTAL_SPAN) -> float:
    """1 - MAE/span: 1 if identical, 0 if a full span apart."""
    return 1.0 - mae / span


def item_mae(post: Mapping[str, int | None], predicted: Mapping[str, int | None]) -> float | None:
    """Mean absolute error, 0–6, over the items known on both sides; None if there are none."""
    errors = [
        abs(want - got)
        for name in EMOTIONS
        if (want := post.get(name)) is not None and (got := predicted.get(name)) is not None
    ]
    return sum(errors) / len(errors) if errors else None


def baseline_adjusted(pre: float | None, post: float | None, predicted: float | None) -> float | None:
    """How much better than "no change" a prediction is: 1 if perfect, 0 if no better, clamped at -1.

    (score - naive) / (1 - naive) with score = 1 - |post - predicted|/span, naive = 1 - |post - pre|/span.
    None if a value is unknown or post = pre (then there is no change to predict).
    """
    if pre is None or post is None or predicted is None or pre == post:
        return None
    # (score - naive)/(1 - naive) = (|post - pre| - |post - predicted|)/|post - pre|: the span cancels out
    change = abs(post - pre)
    return max(-1.0, min(1.0, (change - abs(post - predicted)) / change))


def items_baseline_adjusted(
    pre: Mapping[str, int | None], post: Mapping[str, int | None], predicted: Mapping[str, int | None]
) -> float | None:
    """Mean of `baseline_adjusted` over the items where it is defined, with span 6; None if there are none."""
    return mean(baseline_adjusted(pre.get(name), post.get(name), predicted.get(name)) for name in EMOTIONS)


def changed(pre: Mapping[str, int | None], pre_totals: Totals, change: Mapping[str, int]) -> dict[str, int]:
    """Compute the items after the conversation from predicted changes: clamp(pre + change, 1–7).

    If only a side's total before is known and all ten changes are given, its items are chosen so that they
    sum to that total plus the changes.
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
    """Divide `total`, clamped to the possible range, into whole numbers from low to high, as equal as can be.

    >>> spread(23, ["a", "b", "c"], low=1, high=10)
    {'a': 8, 'b': 8, 'c': 7}
    """
    total = max(low * len(names), min(high * len(names), total))
    base, rest = divmod(total, len(names))
    return {name: base + (index < rest) for index, name in enumerate(names)}


def _total_mae(truth: ConversationTruth, said: Reflect) -> float:
    return total_mae(truth.post_totals, totals(said.panas, said.panas_totals))


def _item_normalized(truth: ConversationTruth, said: Reflect) -> float | None:
    mae = item_mae(truth.post, said.panas)
    return None if mae is None else normalized(mae, ITEM_SPAN)


def _adjusted(truth: ConversationTruth, said: Reflect) -> list[float | None]:
    """Both sides, baseline-adjusted."""
    predicted = totals(said.panas, said.panas_totals)
    return list(map(baseline_adjusted, truth.pre_totals, truth.post_totals, predicted))


METRICS: Final = (
    ReflectMetric(
        "panas_mae", "mean absolute error of the two totals", _total_mae, better="lower", high=TOTAL_SPAN,
        edges="an unknown total, on either side, counts as 40",
    ),
    ReflectMetric(
        "panas_normalized", "1 − panas_mae/60", lambda truth, said: normalized(_total_mae(truth, said)),
        edges="as for panas_mae",
        label="Affect totals afterwards (PANAS Normalized)", role="diagnostic", harness=False,
    ),
    ReflectMetric(
        "panas_pa_baseline_adjusted", "positive affect, baseline-adjusted (see below)",
        lambda truth, said: _adjusted(truth, said)[0],
        low=-1.0, undefined="a total is unknown, or post = pre",
    ),
    ReflectMetric(
        "panas_na_baseline_adjusted", "negative affect, baseline-adjusted",
        lambda truth, said: _adjusted(truth, said)[1],
        low=-1.0, undefined="a total is unknown, or post = pre",
    ),
    ReflectMetric(
        "panas_baseline_adjusted", "mean of the two above, ignoring an undefined one",
        lambda truth, said: mean(_adjusted(truth, said)), low=-1.0, undefined="neither is defined",
        label="Affect afterwards (PANAS Baseline-Adjusted, -1 to 1)", role="input",
    ),
    ReflectMetric(
        "panas_item_mae", "mean absolute error over the items known on both sides",
        lambda truth, said: item_mae(truth.post, said.panas),
        better="lower", high=ITEM_SPAN, undefined="no such item",
    ),
    ReflectMetric(
        "panas_item_normalized", "1 − panas_item_mae/6", _item_normalized, undefined="no such item",
        label="Affect by item afterwards (PANAS Item Normalized)", role="diagnostic", harness=False,
    ),
    ReflectMetric(
        "panas_item_baseline_adjusted",
        "mean of the items' baseline-adjusted scores (span 6), ignoring undefined ones",
        lambda truth, said: items_baseline_adjusted(truth.pre, truth.post, said.panas),
        low=-1.0, undefined="no item that changed is known before, after and in the prediction",
    ),
)  # fmt: skip


def _side(side: int, name: str, polarity: Polarity) -> Leaf[ConversationTruth, Reflect]:
    """The leaf of one side: 0 for positive, 1 for negative affect."""

    def value(truth: ConversationTruth, said: Reflect) -> float:
        predicted = valid_total(said.panas, side)
        adjusted = baseline_adjusted(truth.pre_totals[side], truth.post_totals[side], predicted)
        return 0.0 if adjusted is None else (adjusted + 1) / 2

    def moved(truth: ConversationTruth) -> bool:
        pre, post = truth.pre_totals[side], truth.post_totals[side]
        return pre is not None and post is not None and pre != post

    return Leaf(
        name=f"panas_{name}",
        stage="reflect",
        node="panas",
        label=f"{polarity.capitalize()} affect afterwards",
        value=value,
        annotated=moved,
        answered=lambda truth, said: float(valid_total(said.panas, side) is not None),
        reads=("pre_totals", "post_totals"),
        text=PartText(
            f"the person's {polarity} affect after the conversation: the sum of ten items",
            "(a + 1)/2, where a = (s − naive)/(1 − naive), clamped to −1…1; s = 1 − |post − predicted|/60; "
            "naive = 1 − |post − pre|/60",
            "the totals before and after are known and differ",
            "any of the ten items without a valid answer",
        ),
    )


def _items(truth: ConversationTruth, said: Reflect) -> float:
    """Score over the rated items; an item without a valid answer counts as a full span off."""
    rated = [name for name in EMOTIONS if truth.post.get(name) is not None]
    valid = {n: v for n in rated if (v := said.panas.get(n)) is not None and SCALE[0] <= v <= SCALE[1]}
    mae = item_mae(truth.post, valid)
    return 0.0 if mae is None else normalized(mae, ITEM_SPAN) * len(valid) / len(rated)


LEAVES: Final = (
    _side(0, "pa", "positive"),
    _side(1, "na", "negative"),
    Leaf(
        name="panas_item_normalized",
        stage="reflect",
        node=None,
        value=_items,
        annotated=lambda truth: any(value is not None for value in truth.post.values()),
        answered=lambda truth, said: sum(n in said.panas for n in EMOTIONS) / len(EMOTIONS),
        reads=("post",),
        text=PartText(
            "each feeling after the conversation, item by item",
            "mean of 1 − |predicted − rated|/6 over the rated items",
            "at least one item is rated after the conversation",
            "each item without a valid answer",
        ),
    ),
)
