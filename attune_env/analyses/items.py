"""Single answers against single truths, as arrays: one pass over the result files that were scored.

A file is read, written into the arrays and let go, so that memory grows with the items and not with what
models wrote. The same pass notes what each result took. Truths, reading and matching are the engine's
(`attune_rewards`); nothing is scored here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from attune_data.affect import EMOTIONS, canonical_emotion
from attune_data.constants import BRANCHES
from attune_data.errors import DataError
from attune_env.analyses.items_truth import Array, Place, Truths, Whole
from attune_env.analyses.spent import SPENT, spent
from attune_env.analyses.study import Study
from attune_env.results.files import read_result, result_name
from attune_env.results.marks import mapping, marks_of, parts_of
from attune_env.results.recorded import named_file
from attune_env.statistics.scores import Key
from attune_rewards.matching import LONGEST_KEPT, best_pairs, similarities
from attune_rewards.predictions import Assess, AssessHP, ConversationPrediction, Tag
from attune_rewards.records import read_record
from attune_rewards.truth import truth_of

Codes = npt.NDArray[np.int8]
NOT_ASKED: Final = -2
"""No result, or the stage was not asked there."""
SILENT: Final = -1
"""Asked, and no valid answer."""
NONE: Final = -1
"""In `TagPairs`: nothing on that side."""
OTHER: Final = len(EMOTIONS)
"""In `TagPairs.read`: a name outside the 20 items."""


@dataclass(frozen=True, slots=True)
class TagPairs:
    """Feelings as they were felt and read: the pairs of the engine's matching, and what is left over."""

    key: Whole
    row: Whole
    felt: Whole
    """Index into `EMOTIONS`; NONE where a feeling was read that nobody matched to a felt one."""
    read: Whole
    """Index into `EMOTIONS`, OTHER, or NONE where a felt one was missed."""
    turns: Array
    """(keys, rows): turns with annotated tags and a valid list of predicted ones: those with pairs here."""
    silent: Array
    """(keys, rows): turns with annotated tags that were asked and not answered validly; not in the pairs."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What the study's results took."""

    facts: Array
    """(rows, keys, facts): those of `SPENT`; NaN = not known."""
    read: npt.NDArray[np.bool_]
    """(rows, keys): whether the file of that result was found."""


@dataclass(frozen=True, slots=True)
class Items:
    """Every answer of the study's models beside its truth.

    Answers have the shape (keys, items), in the order of `keys` and of the columns in `truths`.
    """

    keys: tuple[Key, ...]
    truths: Truths
    tags: TagPairs
    said: Codes
    """(2, keys, judgements): observer wording, HP-facing wording; 1 yes, 0 no, SILENT, NOT_ASKED."""
    picks: Codes
    """(keys, comparisons): 0 for A, 1 for B, SILENT, NOT_ASKED."""
    swapped: Codes
    """(keys, comparisons): 1 where side A of the prompt was B of the conversation, 0 where not, -1 where
    the file does not say (the official runner's)."""
    affect: Array
    """(keys, rows, 20): predicted items after the conversation; NaN = none."""
    branches: Array
    """(keys, rows, 4): predicted branch scores; NaN = none."""
    reflected: npt.NDArray[np.bool_]
    """(keys, rows): whether there is a result in which the reflect stage was asked."""
    missing: int
    """Scored results whose file, or whose conversation, is not at hand."""


def items_of(study: Study) -> Items | None:
    """The items of a study, read once.

    None without conversations and a folder of results, or where the folder holds none of the scored ones.
    """
    return _read_once(study)[0]


def taken_by(study: Study) -> Taken:
    """What the results of a study took, read once; nothing is known without a folder of results."""
    return _read_once(study)[1]


def _read_once(study: Study) -> tuple[Items | None, Taken]:
    kept = vars(study)
    if "results_read" not in kept:  # as cached_property keeps what it made
        kept["results_read"] = _read(study)
    found: tuple[Items | None, Taken] = kept["results_read"]
    return found


def _read(study: Study) -> tuple[Items | None, Taken]:
    ids, keys = study.table.ids, {key: i for i, key in enumerate(study.keys)}
    size = len(ids), len(keys)
    taken = Taken(np.full((*size, len(SPENT)), np.nan), np.zeros(size, dtype=np.bool_))
    if study.results is None:
        return None, taken
    rows = {identity: i for i, identity in enumerate(ids)}
    by_id = study.conversations.by_id if study.conversations is not None else {}
    truths = Truths.of([truth_of(by_id[i]) if i in by_id else None for i in ids])
    pass_ = _Pass(study.keys, truths, len(ids), strict=study.reading == "strict")
    for entry in study.entries:
        if entry["mode"] != study.mode:
            continue
        identity, key = entry["conversationId"], keys[entry["em_model"], entry["mode"]]
        record = scored_record(study.results, entry)
        if record is not None:
            at = rows[identity], key
            taken.facts[at], taken.read[at] = spent(record), True
        if record is None or identity not in truths.places:
            pass_.missing += 1
            continue
        prediction, _ = read_record(record, by_id[identity])
        pass_.add(key, truths.places[identity], record, prediction)
    return (pass_.items() if pass_.found else None), taken


def scored_record(folder: Path, entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The result record behind an entry of a scores file; None where it is not in the folder any more."""
    identity = entry["conversationId"], entry["em_model"], entry["mode"]
    try:
        record = read_result(folder / (named_file(entry) or result_name(*identity)))
    except (DataError, OSError, ValueError):  # not there, no JSON, or a name that no file can have
        return None
    if not isinstance(record, dict):
        return None
    theirs = record.get("conversationId"), record.get("em_model"), record.get("mode") or "default"
    return record if theirs == identity else None


class _Pair(NamedTuple):
    felt: int
    read: int


@lru_cache(maxsize=65_536)
def _kept_pairs(felt: tuple[int, ...], read: tuple[int, ...]) -> tuple[_Pair, ...]:
    return _pairs(felt, read)


def _pairs(felt: tuple[int, ...], read: tuple[int, ...]) -> tuple[_Pair, ...]:
    matched: list[tuple[int, int]] = []
    if felt and read:
        names = (*EMOTIONS, "")
        matched = best_pairs(similarities([names[i] for i in felt], [names[i] for i in read]))
    rows, columns = {row for row, _ in matched}, {column for _, column in matched}
    return (
        *(_Pair(felt[row], read[column]) for row, column in matched),
        *(_Pair(one, NONE) for row, one in enumerate(felt) if row not in rows),
        *(_Pair(NONE, one) for column, one in enumerate(read) if column not in columns),
    )


_NUMBER: Final = {name: i for i, name in enumerate(EMOTIONS)}
_CODE: Final = {"yes": 1, "no": 0, "A": 0, "B": 1}


def _numbers(tags: tuple[Tag, ...]) -> tuple[int, ...]:
    return tuple(_NUMBER.get(canonical_emotion(tag.emotion) or "", OTHER) for tag in tags)


class _Pass:
    """Takes one result after another into the arrays."""

    def __init__(self, keys: tuple[Key, ...], truths: Truths, rows: int, *, strict: bool) -> None:
        models = len(keys)
        self.keys, self.truths = keys, truths
        self.absent = SILENT if strict else NOT_ASKED
        """A turn that is not in the file: the strict reading calls it unanswered, the canonical skips it."""
        self.missing = self.found = 0
        self.tags: list[tuple[int, int, int, int]] = []
        self.turns, self.silent = np.zeros((models, rows)), np.zeros((models, rows))
        self.said = np.full((2, models, len(truths.judgements.row)), NOT_ASKED, dtype=np.int8)
        self.picks = np.full((models, len(truths.comparisons.row)), NOT_ASKED, dtype=np.int8)
        self.swapped = np.full(self.picks.shape, -1, dtype=np.int8)
        self.affect = np.full((models, rows, len(EMOTIONS)), np.nan)
        self.branches = np.full((models, rows, len(BRANCHES)), np.nan)
        self.reflected = np.zeros((models, rows), dtype=np.bool_)

    def items(self) -> Items:
        pairs = np.array(self.tags, dtype=np.int32).reshape(-1, 4)
        key, row, felt, read = pairs.T
        tags = TagPairs(key, row, felt, read, self.turns, self.silent)
        return Items(
            self.keys, self.truths, tags, self.said, self.picks,
            self.swapped, self.affect, self.branches, self.reflected, self.missing,
        )  # fmt: skip

    def add(
        self, key: int, place: Place, record: Mapping[str, Any], prediction: ConversationPrediction
    ) -> None:
        self.found += 1
        shown: dict[int, dict[int, int]] = {}
        for number, sides in _shown(record):
            shown.setdefault(number, sides)  # of a turn that stands twice the first counts, as in read_record
        for number, (judgement, comparison) in place.starts.items():
            said = prediction.turns.get(number)
            skipped = prediction.not_asked_in(number)
            none = self.absent if said is None else SILENT
            assess, hp = (said.assess, said.assess_hp) if said else (None, None)
            if "assess" not in skipped:
                self._tags(key, place, number, assess, none)
                self._answers(self.said[0, key], judgement, place, number, assess, none)
            if "assess_hp" not in skipped:
                self._answers(self.said[1, key], judgement, place, number, hp, none)
            turn = place.truth.by_number[number]
            if "prefer" not in skipped:
                picks = said.prefer.picks if said and said.prefer else {}
                swaps = shown.get(number, {})
                for offset, (index, _) in enumerate(turn.winners):
                    self.picks[key, comparison + offset] = _CODE.get(picks.get(index, ""), none)
                    self.swapped[key, comparison + offset] = swaps.get(index, -1)
        if "reflect" not in prediction.not_asked:
            self.reflected[key, place.row] = True
            if (reflect := prediction.reflect) is not None:
                self.affect[key, place.row] = [reflect.panas.get(name, np.nan) for name in EMOTIONS]
                self.branches[key, place.row] = [reflect.branches.get(name, np.nan) for name in BRANCHES]

    def _tags(self, key: int, place: Place, number: int, assess: Assess | None, none: int) -> None:
        felt = place.truth.by_number[number].tags
        if felt is None or (assess is None and none == NOT_ASKED):
            return
        if assess is None or assess.tags is None:
            self.silent[key, place.row] += 1
            return
        self.turns[key, place.row] += 1
        match = _kept_pairs if len(felt) + len(assess.tags) <= LONGEST_KEPT else _pairs
        pairs = match(_numbers(felt), _numbers(assess.tags))
        self.tags += [(key, place.row, *pair) for pair in pairs]

    def _answers(
        self, codes: Codes, start: int, place: Place, number: int, said: Assess | AssessHP | None, none: int
    ) -> None:
        turn = place.truth.by_number[number]
        observed, preferred = (said.observed, said.preferred) if said else ({}, {})
        given = [_CODE.get(observed.get(question, ""), none) for question, _ in turn.observed]
        given += [_CODE.get(preferred.get(question, ""), none) for question, _ in turn.preferred]
        codes[start : start + len(given)] = given


def _shown(record: Mapping[str, Any]) -> Iterator[tuple[int, dict[int, int]]]:
    """(turn, comparison -> whether its sides were swapped) where the file says how they were shown."""
    for number, part in parts_of(record):
        shown = mapping(marks_of(part).get("shown"))
        order, swapped = shown.get("order"), shown.get("swapped")
        if number is not None and isinstance(order, list) and isinstance(swapped, list):
            turned = {index for index in swapped if type(index) is int}
            yield number, {index: int(index in turned) for index in order if type(index) is int}
