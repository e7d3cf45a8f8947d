"""Shared by the importers: reading records of other formats, collecting conversations, counting content."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictStr, ValidationError

from attune_data.errors import DataError, Problem, show
from attune_data.files.conversations import Conversations
from attune_data.format import affect
from attune_data.format.fields import expected
from attune_data.format.schema import Conversation
from attune_data.format.validate import problems_of
from attune_data.source.load import MAX_TURNS

YES_NO: Final = ("yes", "no")
ALTERNATES: Final = "alternates"
"""The field of `metadata` that says what the alternates are, if their names do not apply."""
MODEL_REPLIES: Final = "replies of models"
"""Its value if both alternates are replies of other models, neither improved nor edited."""


def are_model_replies(conversation: Conversation) -> bool:
    """Whether the conversation declares its alternates to be replies of models."""
    return conversation.further_metadata.get(ALTERNATES) == MODEL_REPLIES


class Foreign(BaseModel):
    """Base of the records of other data sets. Absent and null are equivalent; unknown fields are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def unread(self) -> int:
        """Number of fields that the importer does not know."""
        return len(self.model_extra or {})


F = TypeVar("F", bound=Foreign)
Text = StrictStr | None


def number_in(low: float, high: float = math.inf, *, whole: bool = False) -> BeforeValidator:
    """Read a number in [low, high], given as a number or as text; blank text means nothing."""
    wanted = f"a {'whole ' * whole}number from {low:g} {f'to {high:g}' if high < math.inf else 'up'}"

    def read(value: object) -> float | None:
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        try:
            found = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if not low <= found <= high or (whole and not found.is_integer()):
            raise expected(wanted)
        return int(found) if whole else found

    return BeforeValidator(read)


def read_as(model: type[F], value: object, file: str, place: str, advice: str) -> F:
    """Validate a record of another data set; raises DataError naming every place that differs."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise DataError(problems_of(error, file, place, advice)) from error


def stretched(value: float, low: float, high: float) -> int:
    """A rating on low–high as one on 1–7, in equal steps; halves are rounded towards the middle.

    >>> [stretched(stars, 1, 5) for stars in (1, 2, 3, 4, 5)]
    [1, 3, 4, 5, 7]
    """
    exact = 1 + 6 * (value - low) / (high - low)
    return math.floor(exact + 0.5) if exact < 4 else math.ceil(exact - 0.5)


def stated(record: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the record without the fields whose value is None."""
    return {key: value for key, value in record.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Origin:
    """The data set that records come from."""

    dataset: str
    licence: str
    """As stated by its authors."""
    non_commercial: bool = False
    """Whether the licence, or its authors' terms, forbid commercial use."""

    @property
    def metadata(self) -> dict[str, Any]:
        """The fields of `metadata` that travel with every record."""
        return {
            "dataset": self.dataset,
            "licence": self.licence,
            "non_commercial": self.non_commercial,
        }


@dataclass(frozen=True, slots=True)
class Count:
    """A count of something annotated or left out."""

    what: str
    count: int
    why: str
    """Where it comes from, or why it was left out."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A data set converted to this format."""

    conversations: Conversations
    """All marked `imported`; `.left_out` names what is missing, and `.files` the place of each."""
    origin: Origin
    annotated: tuple[Count, ...]
    """One entry per field of the format; fields without annotations count 0."""
    left: tuple[Count, ...]
    """Entries that were left out, with the reason for each."""
    notes: tuple[str, ...]
    """Warnings measured on the conversations, mainly about what gives answers away."""

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.origin.dataset

    @property
    def licence(self) -> str:
        """As stated by its authors."""
        return self.origin.licence


UNUSABLE: Final = "conversations that make none"
BY_MAP: Final = "as the map says"
SKIPPED: Final = "conversations that differ from the format"
_WHOLE: Final[Mapping[str, str]] = {
    UNUSABLE: "no usable turn, or more than 1,000; each is named",
    SKIPPED: "left out as asked",
}


class Unusable(DataError):
    """A valid record from which no conversation can be made: it is left out and counted, without an error."""

    def __init__(self, file: str, place: str, found: str, wanted: str) -> None:
        super().__init__(Problem(file, place, found, wanted, "it is left out", severity="warning"))


class LeftOut(Exception):
    """A record that is left out as its map says: it is counted under this text, and not listed."""


Left = Counter[str]
"""Kind of what was left out -> how often."""


def gathered(
    source: str,
    origin: Origin,
    records: Iterable[tuple[str, Callable[[Left], Conversation]]],
    reasons: Mapping[str, str],
    left: Left,
    *,
    skip_invalid: bool,
    notes: Callable[[Conversations], Iterable[str]] = lambda conversations: (),
) -> Imported:
    """Import records, each given as its place and a function that converts it.

    `reasons` says why each kind is left out; kinds that are not in it are those of a map. `left` counts what
    was left out earlier.
    Raises DataError for an invalid record (unless these are skipped) and if no conversation is left.
    """
    good: dict[str, Conversation] = {}
    files: dict[str, str] = {}
    problems: list[Problem] = []
    for where, make in records:
        counted: Left = Counter()  # counts of this record only: one that is left out completely counts once
        try:
            made = make(counted)
            if first := files.get(made.conversation_id):
                found = f"{show(made.conversation_id)}, which is also in {first}"
                raise DataError(Problem(where, "conversationId", found, "each id once", "remove the copy"))
            if len(made.turns) > MAX_TURNS:
                raise Unusable(where, "", f"{len(made.turns)} turns", f"at most {MAX_TURNS}")
        except LeftOut as kind:
            left[str(kind)] += 1
        except DataError as error:
            unusable = isinstance(error, Unusable)
            if not (unusable or skip_invalid):
                raise
            problems += error.problems
            left[UNUSABLE if unusable else SKIPPED] += 1
        else:
            good[made.conversation_id] = made
            files[made.conversation_id] = where
            left += counted
    if not good:
        counts = ", ".join(f"{what}: {count}" for what, count in left.items() if count)
        found = "no conversations" + (f"; left out are {counts}" if counts else "")
        nothing = Problem(source, "", found, f"at least one conversation of {origin.dataset}")
        raise DataError(problems or nothing)
    reasons = {**_WHOLE, **reasons}
    reasons |= dict.fromkeys(sorted(left.keys() - reasons), BY_MAP)
    kept = Conversations(good.values(), source=source, left_out=problems, files=files)
    return Imported(
        conversations=kept,
        origin=origin,
        annotated=tuple(_count_annotated(kept)),
        left=tuple(Count(what, left[what], why) for what, why in reasons.items() if left[what]),
        notes=(*_given_away(kept), *notes(kept)),
    )


def _count_annotated(conversations: Conversations) -> Iterator[Count]:
    """Count how often the conversations have each field of the format, in the format's order."""
    turns = [turn for conversation in conversations for turn in conversation.turns]
    judgements = [judgement for turn in turns for judgement in turn.judgements]
    winners = [comparison.winner for turn in turns for comparison in turn.comparisons]
    of_turns, of_all = f"of {len(turns)} turns", f"of {len(conversations)} conversations"
    profiles = [c.participant_profile for c in conversations if c.participant_profile]
    before, after = (
        sum(any(map(panas.item, affect.EMOTIONS)) for panas in side if panas)
        for side in ([c.pre_panas for c in conversations], [c.post_panas for c in conversations])
    )
    observed = sum(any(j.observed in YES_NO for j in turn.judgements) for turn in turns)
    yield Count("turns with emotion tags", sum(t.mood_shift_tags is not None for t in turns), of_turns)
    yield Count("turns with observed answers", observed, of_turns)
    yield Count("observed answers", sum(j.observed in YES_NO for j in judgements), "yes or no")
    yield Count("preferred answers", sum(j.preferred in YES_NO for j in judgements), "yes or no")
    yield Count("turns with comparisons", sum(bool(t.comparisons) for t in turns), of_turns)
    yield Count("comparisons with a winner", len(winners) - winners.count(None), "A or B")
    yield Count("comparisons without a winner", winners.count(None), "not scored")
    yield Count("some PANAS item before", before, of_all)
    yield Count("some PANAS item after", after, of_all)
    wide = sum(c.conversation_wide is not None for c in conversations)
    yield Count("questions after the conversation", wide, of_all)
    yield Count("demographics", sum(p.demographics is not None for p in profiles), of_all)


def _given_away(conversations: Conversations) -> Iterator[str]:
    turns = [turn for conversation in conversations for turn in conversation.turns]
    texts = {tuple((turn.user_message, *turn.responses.values()) for turn in c.turns) for c in conversations}
    if again := len(conversations) - len(texts):
        yield f"conversations with the texts of an earlier one: {again}"
    observed = [j.observed for turn in turns for j in turn.judgements if j.observed in YES_NO]
    if observed and "no" not in observed:
        yield f"all {len(observed)} observed answers are yes: a model that always says so has them all"
