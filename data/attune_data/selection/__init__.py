"""Choose conversations: by their fields, by splitting participants, or by the benchmark's own lists."""

from attune_data.selection.split import STRATA, parse_shares, split
from attune_data.selection.subsets import SUBSETS, official_subset
from attune_data.selection.where import Where, select

__all__ = [
    "STRATA",
    "SUBSETS",
    "Where",
    "official_subset",
    "parse_shares",
    "select",
    "split",
]
