"""What the analyses of single answers share: sums per conversation, who is pooled, what is missing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from attune_env.analyses.analysis import Absent
from attune_env.analyses.by_score.wording import counted
from attune_env.analyses.items import Items, items_of
from attune_env.analyses.study import Study
from attune_env.statistics.bootstrap import Array, Interval
from attune_env.statistics.ratios import ratio_intervals


def items_or_why(study: Study, name: str, title: str) -> Items | Absent:
    """The study's items, or what they would need."""
    items = items_of(study)
    if items is not None:
        return items
    if study.conversations is None:
        return Absent(name, title, "the annotated conversations are not at hand; give --ground-truth")
    if study.results is None:
        return Absent(name, title, "the result files are not at hand; give --results FOLDER")
    return Absent(
        name, title, f"{study.results} holds none of the scored result files; give --results FOLDER"
    )


def model_places(study: Study) -> list[int]:
    """Where the models that are pooled stand among the study's keys."""
    return [study.keys.index(key) for key in study.models]


def summed(
    study: Study, row: npt.NDArray[np.int32], group: npt.NDArray[np.int32], groups: int, values: npt.ArrayLike
) -> Array:
    """(rows, groups): the values, one an item, added up by conversation and group."""
    rows = len(study.table.ids)
    weights = np.asarray(values, dtype=np.float64)
    return np.bincount(row * groups + group, weights, rows * groups).reshape(rows, groups).astype(np.float64)


def summed_by_key(
    study: Study,
    row: npt.NDArray[np.int32],
    group: npt.NDArray[np.int32],
    groups: int,
    values: npt.NDArray[np.generic],
) -> Array:
    """(rows, keys, groups) of values of the shape (keys, items)."""
    return np.stack([summed(study, row, group, groups, one) for one in values], axis=1)


def ratios(study: Study, above: Array, below: Array) -> npt.NDArray[np.object_]:
    """Intervals of Σ above / Σ below over conversations, in the shape of (rows, …) without the rows."""
    shape = above.shape[1:]
    found = ratio_intervals(study.table.kernel, above.reshape(len(above), -1), below.reshape(len(below), -1))
    kept = np.empty(len(found), dtype=np.object_)
    kept[:] = found
    return kept.reshape(shape)


def pooled(study: Study, sums: Array) -> Array:
    """Sums of the shape (rows, keys, …) added up over the models: every answer counts the same."""
    added: Array = sums[:, model_places(study)].sum(axis=1)
    return added


def share(above: Array, below: Array) -> Array:
    """Σ above / Σ below over conversations; NaN where nothing is below."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = above.sum(axis=0) / below.sum(axis=0)
    return np.where(np.isfinite(found), found, np.nan)


def known(value: float) -> float | None:
    """The number, None where it is undefined."""
    return None if np.isnan(value) else float(value)


def means(intervals: Sequence[Interval]) -> Array:
    """The means, NaN where undefined."""
    return np.array([np.nan if one.mean is None else one.mean for one in intervals], dtype=np.float64)


def drawn_text(study: Study) -> str:
    """How intervals of sums were made, for a method."""
    return (
        f"Every answer counts the same; intervals are 95 % percentile bootstrap intervals over "
        f"{study.table.unit}s ({study.table.resamples:,} resamples), both sums of a ratio drawn together"
    )


def missing_notes(items: Items) -> tuple[str, ...]:
    """What a reader must know of results that are not in it."""
    if not items.missing:
        return ()
    return (f"{counted(items.missing, 'scored result')} not at hand: file or conversation are not there.",)
