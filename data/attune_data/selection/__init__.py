"""Choose conversations: by their fields, by splitting participants, or by the benchmark's own lists.

The names load on first use, because every metric takes its means from here.
"""

from attune_data.lazy import lazy_names

TYPE_CHECKING = False  # not from typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from attune_data.selection.splitting import STRATA, parse_shares, split
    from attune_data.selection.subsets import SUBSETS, official_subset
    from attune_data.selection.where import Where, select

_HOME = {
    **dict.fromkeys(["STRATA", "parse_shares", "split"], "attune_data.selection.splitting"),
    **dict.fromkeys(["SUBSETS", "official_subset"], "attune_data.selection.subsets"),
    **dict.fromkeys(["Where", "select"], "attune_data.selection.where"),
}
"""Public name -> the module that defines it."""

__all__ = [
    "STRATA",
    "SUBSETS",
    "Where",
    "official_subset",
    "parse_shares",
    "select",
    "split",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
