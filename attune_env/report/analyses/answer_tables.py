"""Single answers beside their truths, as tidy tables: one pass over the result files that were scored.

Truths, parsing and matching are the engine's
(`attune_rewards`); nothing is scored here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from attune_data.extras import needs_extra
from attune_data.format.affect import EMOTIONS, canonical_emotion
from attune_data.format.constants import BINARY_IDS, BRANCHES, PAIRWISE_IDS
from attune_data.selection.means import finite
from attune_env.report.analyses.study import Absent, Study
from attune_rewards.bootstrap import Array, Interval
from attune_rewards.metrics.matching import LONGEST_KEPT, best_pairs, similarities
from attune_rewards.predictions import Assess, ConversationPrediction, Prefer, Tag
from attune_rewards.record.marks import mapping, marks_of, parts_of
from attune_rewards.truth import ConversationTruth, TurnTruth, truth_of

if TYPE_CHECKING:
    import pandas as pd

SILENT: Final = -1
"""Code of an answer that is missing or invalid."""
INVENTED, MISSED, OTHER = "(invented)", "(missed)", "(another name)"
"""Stand-ins for a missing felt tag and a missing predicted one, and for a predicted name outside the 20."""
SPENT: Final = ("cost", "calls", "asked_again", "tokens_in", "tokens_out", "seconds")
COLUMNS: Final = {
    "judgements": ("side", "question", "yes", "said"),
    "choices": ("question", "winner", "pick", "first", "longer"),
    "tags": ("felt", "read"),
    "tagged_turns": ("answered",),
    "affect": ("item", "before", "after", "said"),
    "branches": ("branch", "truth", "said"),
    "spent": SPENT,
}
"""Columns of each table of `AnswerTables`, after `key` and `row`."""
ORDERED: Final = {
    "side": ("OM", "HP"), "question": (*BINARY_IDS, *PAIRWISE_IDS), "item": EMOTIONS, "branch": BRANCHES,
    "felt": EMOTIONS,
}  # fmt: skip
"""Columns whose values are sorted in this order, with others after them by name."""
Rates = dict[tuple[Any, ...], dict[str, Interval]]
Taken = Iterator[tuple[str, tuple[Any, ...]]]
"""(table, its cells after `key` and `row`)"""


@dataclass(frozen=True)
class AnswerTables:
    """One table per kind of answer; `key` and `row` are indices into the study's keys and conversations.

    judgements: `side` OM or HP, `yes` the truth, `said` 1, 0 or SILENT. choices: `winner` and `pick` 0 for
    response A, 1 for B; `first` the one that the prompt showed first, `longer` the longer text, each -1 if
    unknown. tags: pairs of the engine's matching. tagged_turns: turns with annotated tags that were asked.
    affect and branches: `said` is NaN without a prediction. spent: NaN if unknown.
    """

    judgements: pd.DataFrame
    choices: pd.DataFrame
    tags: pd.DataFrame
    tagged_turns: pd.DataFrame
    affect: pd.DataFrame
    branches: pd.DataFrame
    spent: pd.DataFrame
    missing: int
    """Scored results whose file or conversation is not available."""

    @property
    def notes(self) -> list[str]:
        """A note on scored results that are not in an analysis of single answers."""
        text = f"{self.missing} scored results are left out because their file or conversation is missing."
        return [text] if self.missing else []


def answer_tables(study: Study) -> AnswerTables:
    """Every answer in the study's result files beside its truth, read once."""
    return study.once("answers", lambda: read_tables(study))


def answer_table(study: Study, kind: str, reason: str) -> pd.DataFrame:
    """One of these tables; raises `Absent` with what is missing, or `reason` if it is empty."""
    if kind != "spent" and study.conversations is None:
        raise Absent("the annotated conversations are not available; give --data PATH")
    if study.results is None:
        raise Absent("the result files are not available; give --results FOLDER")
    found: pd.DataFrame = getattr(answer_tables(study), kind)
    if found.empty:
        none = f"{study.results} contains none of the scored result files; give --results FOLDER"
        raise Absent(none if answer_tables(study).spent.empty else reason)
    return found


def of_models(study: Study, answers: pd.DataFrame) -> pd.DataFrame:
    """The answers of the compared models."""
    return answers[answers["key"].isin([study.keys.index(key) for key in study.models])]


def of_one(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers of the model with the most answers, for the truths, which are the same for all."""
    return answers[answers["key"] == answers["key"].mode()[0]]


def rates(
    study: Study, answers: pd.DataFrame, measures: Mapping[str, tuple[str, str]], by: Sequence[str]
) -> Rates:
    """Ratios of sums per group, with intervals over conversations: every answer counts the same.

    `measures` names, for each ratio, the columns of its numerator and denominator. Groups come in sorted
    order, so that of `key` is the study's.
    """
    groups = answers.groupby(list(by), sort=True, observed=True)
    number, size = groups.ngroup().to_numpy(), groups.ngroups
    rows = len(study.table.ids)
    place = answers["row"].to_numpy() * size + number

    def sums(column: str) -> Array:
        weights = answers[column].to_numpy(dtype=np.float64)
        return np.bincount(place, weights, rows * size).reshape(rows, size).astype(np.float64)

    above, below = (
        np.stack([sums(pair[side]) for pair in measures.values()], axis=2).reshape(rows, -1)
        for side in (0, 1)
    )
    found = iter(study.table.kernel.ratios(above, below))
    first = np.unique(number, return_index=True)[1]
    labels = answers[list(by)].iloc[first].itertuples(index=False, name=None)
    return {tuple(label): {name: next(found) for name in measures} for label in labels}


def read_tables(study: Study) -> AnswerTables:
    """Read the answers of the study's mode."""
    with needs_extra("report", "pandas"):
        import pandas as pd
    lists: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    missing = 0
    rows = {identity: row for row, identity in enumerate(study.table.ids)}
    truths = {row: truth_of(record) for row, record in enumerate(study.records) if record is not None}
    for entry in study.entries:
        if entry["mode"] != study.mode or study.scored is None:
            continue
        at = study.keys.index((entry["em_model"], entry["mode"])), rows[entry["conversationId"]]
        record, conversation = study.scored.record(entry), study.records[at[1]]
        if record is not None:
            lists["spent"].append((*at, *spent(record)))
        if record is None or conversation is None:
            missing += 1
            continue
        prediction = study.scored.prediction(record, conversation)
        for kind, cells in _taken(truths[at[1]], record, prediction, strict=study.variant == "strict"):
            lists[kind].append((*at, *cells))
    frames = {}
    for name, columns in COLUMNS.items():
        frame = frames[name] = pd.DataFrame(lists[name], columns=["key", "row", *columns])
        for column in ORDERED.keys() & set(columns):
            held = set(frame[column])
            known = [value for value in ORDERED[column] if value in held]
            frame[column] = pd.Categorical(frame[column], [*known, *sorted(held - set(known))], ordered=True)
    return AnswerTables(**frames, missing=missing)


def spent(record: Mapping[str, Any]) -> list[float]:
    """The usage of a result, under the names of `SPENT`; NaN if unknown (no dollars: prices unknown)."""
    usage = mapping(marks_of(record).get("usage"))
    cost = _number(record.get("api_cost")) or _number(usage.get("api_cost"))
    seconds = _number(record.get("duration_seconds")) if usage else 0.0
    calls, again, *tokens = (_number(usage.get(name)) for name in SPENT[1:5])
    return (
        [one or np.nan for one in (cost, calls)]
        + [again if usage else np.nan]
        + [one or np.nan for one in (*tokens, seconds)]
    )


def _number(value: object) -> float:
    return max(finite(value) or 0.0, 0.0)


_CODE: Final = {"yes": 1, "no": 0, "A": 0, "B": 1}


def _taken(
    truth: ConversationTruth, record: Mapping[str, Any], prediction: ConversationPrediction, *, strict: bool
) -> Taken:
    """The answers of one result: a turn that is not in it is unanswered if `strict`, otherwise skipped."""
    shown: dict[int, dict[int, int]] = {}
    for number, sides in _shown(record):
        shown.setdefault(number, sides)  # if a turn is listed twice, the first one counts
    for turn in truth.turns:
        said = prediction.turns.get(turn.turn)
        if said is None and not strict:
            continue
        skipped = prediction.not_asked_in(turn.turn)
        if "assess" not in skipped:
            yield from _assessed(turn, said.assess if said else None)
        if "prefer" not in skipped:
            yield from _choices(turn, said.prefer if said else None, shown.get(turn.turn, {}))
    if "reflect" not in prediction.not_asked:
        panas = prediction.reflect.panas if prediction.reflect else {}
        branches = prediction.reflect.branches if prediction.reflect else {}
        for name in EMOTIONS:
            before, after = truth.pre.get(name), truth.post.get(name)
            if before is not None and after is not None:
                yield "affect", (name, before, after, panas.get(name, np.nan))
        for name in BRANCHES:
            if truth.branches.get(name) is not None:
                yield "branches", (name, truth.branches[name], branches.get(name, np.nan))


def _assessed(turn: TurnTruth, said: Assess | None) -> Taken:
    if turn.tags is not None:
        answered = said is not None and said.tags is not None
        yield "tagged_turns", (answered,)
        if said is not None and said.tags is not None:
            felt, read = _names(turn.tags), _names(said.tags)
            pairs = _pairs if len(felt) + len(read) <= LONGEST_KEPT else _pairs.__wrapped__
            yield from (("tags", pair) for pair in pairs(felt, read))
    for side, wants, field in (("OM", turn.observed, "observed"), ("HP", turn.preferred, "preferred")):
        given = getattr(said, field) if said else {}
        for question, want in wants:
            yield "judgements", (side, question, want == "yes", _CODE.get(given.get(question, ""), SILENT))


def _choices(turn: TurnTruth, said: Prefer | None, shown: Mapping[int, int]) -> Taken:
    picks = said.picks if said else {}
    for index, winner in turn.winners:
        pair = turn.comparisons[index]
        texts = [turn.responses.get(name) for name in (pair.response_a, pair.response_b)]
        a, b = (-1 if text is None else len(text) for text in texts)
        longer = -1 if a == b or min(a, b) < 0 else int(b > a)
        pick = _CODE.get(picks.get(index, ""), SILENT)
        yield "choices", (pair.question_id, int(winner == "B"), pick, shown.get(index, -1), longer)


def _names(tags: Iterable[Tag]) -> tuple[str, ...]:
    return tuple(canonical_emotion(tag.emotion) or OTHER for tag in tags)


@lru_cache(maxsize=65_536)
def _pairs(felt: tuple[str, ...], read: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The engine's matching of tags, then the unmatched ones on either side."""
    names = ["" if name == OTHER else name for name in read]
    matched = best_pairs(similarities(list(felt), names)) if felt and read else []
    rows, columns = {row for row, _ in matched}, {column for _, column in matched}
    return (
        *((felt[row], read[column]) for row, column in matched),
        *((one, MISSED) for row, one in enumerate(felt) if row not in rows),
        *((INVENTED, one) for column, one in enumerate(read) if column not in columns),
    )


def _shown(record: Mapping[str, Any]) -> Iterator[tuple[int, dict[int, int]]]:
    """(turn, comparison -> the side shown first) where the file says how comparisons were shown."""
    for number, part in parts_of(record):
        shown = mapping(marks_of(part).get("shown"))
        order, swapped = shown.get("order"), shown.get("swapped")
        if number is not None and isinstance(order, list) and isinstance(swapped, list):
            turned = {index for index in swapped if type(index) is int}
            yield number, {index: int(index in turned) for index in order if type(index) is int}
