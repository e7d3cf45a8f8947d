"""The benchmark's own subsets, identified by the numbers in file names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError
from attune_data.files.conversations import Conversations
from attune_data.files.rows import file_name, file_number

SUBSETS: Final[Mapping[str, tuple[int, ...]]] = {
    name: tuple(numbers)
    for name, numbers in json.loads((Path(__file__).parent / "subsets.json").read_text("utf-8")).items()
}
"""Name -> numbers N of its `conversation_N.json`, ascending.

Sample200 is the benchmark; Subsample50 and Subsample25 are the subsets used in the paper's verbose and
omniscient runs. 25 ⊂ 50 ⊂ 200 and 20 ⊂ 200; Subsample100 has number 106, which Sample200 lacks. None of them
is a training split.
"""


def numbered(conversations: Conversations) -> dict[int, str]:
    """File number -> conversation id; {} unless each is from a `conversation_N.json` with a distinct N."""
    found: dict[int, str] = {}
    for identity in conversations.by_id:
        number = file_number(Path(conversations.files.get(identity, "")).name)
        if number is None or number in found:
            return {}
        found[number] = identity
    return found


def official_subset(conversations: Conversations, name: str) -> Conversations:
    """The conversations of one of the benchmark's subsets, in the order of their numbers.

    The conversations must come from a folder of the benchmark's files, usually Sample200, because the lists
    contain file numbers, which records do not.

    Raises:
        UnknownNameError: no such subset.
        SettingsError: the conversations are not the benchmark's, or were not read from numbered files.
        DataError: some of the files are missing; says which.
    """
    by_fold = {known.casefold(): known for known in SUBSETS}
    known = by_fold.get(str(name).strip().casefold())
    if known is None:
        raise UnknownNameError("official subset", name, SUBSETS)
    if others := {item.origin for item in conversations} - {"benchmark"}:
        raise SettingsError(
            f"{known} is a subset of the benchmark, but {conversations.source} contains "
            f"{' and '.join(sorted(others))} records, whose numbers refer to other conversations"
        )
    found = numbered(conversations)
    if not found:
        raise SettingsError(
            f"{known} is a list of conversation_N.json files, but {conversations.source} was not read from "
            "such files; load the benchmark's own folder"
        )
    missing = [number for number in SUBSETS[known] if number not in found]
    if missing:
        shown = f"{', '.join(map(file_name, missing[:5]))}{', …' if len(missing) > 5 else ''}"
        raise DataError(
            Problem(conversations.source, "", f"{len(missing)} of the {len(SUBSETS[known])} missing: {shown}",
                    f"every file of {known}",
                    f"load the folder {known} itself, or the one with all conversations")
        )  # fmt: skip
    place = {identity: index for index, identity in enumerate(conversations.by_id)}
    return conversations.chosen(place[found[number]] for number in SUBSETS[known])
