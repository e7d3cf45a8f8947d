"""Shared by the importers: reading foreign records, collecting conversations, counting what they hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictStr, ValidationError

from attune_data import affect
from attune_data.errors import DataError, Problem, show
from attune_data.fields import expected
from attune_data.loading import MAX_TURNS, Conversations
from attune_data.schema import Conversation, Panas
from attune_data.validate import brief, problems_of


class Foreign(BaseModel):
    """Base of the records of other data sets. Absent and null mean the same; unknown fields are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def unread(self) -> int:
        """How many fields the importer does not know."""
        return len(self.model_extra or {})


F = TypeVar("F", bound=Foreign)
Text = StrictStr | None


def number_in(low: float, high: float) -> BeforeValidator:
    """Read a number in [low, high], given as a number or as text; blank text means nothing."""

    def read(value: object) -> float | None:
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        try:
            found = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if not low <= found <= high:
            raise expected(f"a number from {low:g} to {high:g}")
        return found

    return BeforeValidator(read)


def read_as(model: type[F], value: object, file: str, place: str, advice: str) -> F:
    """Validate a record of another data set; raises DataError naming every place that differs."""
    if not isinstance(value, dict):
        raise DataError(Problem(file, place, brief(value), "an object", advice))
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise DataError(problems_of(error, file, place, advice)) from error


def stated(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record without the fields whose value is None."""
    return {key: value for key, value in record.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Count:
    """How often something was annotated, or left out."""

    what: str
    count: int
    why: str
    """Its source, or why nothing was made of it."""


@dataclass(frozen=True, slots=True)
class Imported:
    """A data set brought into this format."""

    conversations: Conversations
    """All marked `imported`; `.left_out` names what is not among them, and `.files` where each stood."""
    dataset: str
    """The name of the data set."""
    licence: str
    """Its licence, as its authors state it."""
    annotated: tuple[Count, ...]
    """Counts of annotations, field by field of the format; what is not annotated counts 0."""
    left: tuple[Count, ...]
    """Counts of what was left out of the source, each with the reason."""
    notes: tuple[str, ...]
    """Warnings before use, measured on the conversations: above all, what gives answers away."""


UNUSABLE: Final = "conversations that make none"
SKIPPED: Final = "conversations that differ from the format"
LEFT_OUT_WHOLE: Final[Mapping[str, str]] = {
    UNUSABLE: "a turn needs a message and its reply, and 1,000 turns are the limit",
    SKIPPED: "left out as asked",
}
"""Why conversations are left out whole."""


class Unusable(DataError):
    """A valid record that makes no conversation here: it is left out and counted, which is no error."""

    def __init__(self, file: str, place: str, found: str, wanted: str) -> None:
        super().__init__(Problem(file, place, found, wanted, "it is left out", severity="warning"))


class Gathered:
    """Collects conversations one after the other, and what was left out of them."""

    def __init__(self, skip_invalid: bool) -> None:
        self.skip_invalid = skip_invalid
        self.good: dict[str, Conversation] = {}
        self.files: dict[str, str] = {}
        self.left_out: list[Problem] = []
        self.left: Counter[str] = Counter()

    def add(self, make: Callable[[Counter[str]], Conversation], where: str) -> None:
        """Add the conversation that `make` returns, and what `make` counted as left out of it.

        Raises its DataError unless invalid records are skipped.
        """
        counted: Counter[str] = Counter()  # of this one alone: a record left out whole counts as one thing
        try:
            made = make(counted)
            if first := self.files.get(made.conversation_id):
                found = f"{show(made.conversation_id)}, which {first} has too"
                raise DataError(Problem(where, "conversationId", found, "each id once", "remove the copy"))
            if len(made.turns) > MAX_TURNS:
                raise Unusable(where, "", f"{len(made.turns)} turns", f"at most {MAX_TURNS}")
        except Unusable as error:
            self.left_out += error.problems
            self.left[UNUSABLE] += 1
        except DataError as error:
            if not self.skip_invalid:
                raise
            self.left_out += error.problems
            self.left[SKIPPED] += 1
        else:
            self.good[made.conversation_id] = made
            self.files[made.conversation_id] = where
            self.left += counted

    def imported(
        self,
        source: str,
        dataset: str,
        licence: str,
        reasons: Mapping[str, str],
        notes: Callable[[Conversations], Iterable[str]] = lambda conversations: (),
    ) -> Imported:
        """Everything collected; raises DataError where no conversation is left.

        `reasons` gives the order and the reason of everything else that was counted as left out.
        """
        if not self.good:
            nothing = Problem(source, "", "no conversations", f"at least one conversation of {dataset}")
            raise DataError(self.left_out or nothing)
        kept = Conversations(self.good.values(), source=source, left_out=self.left_out, files=self.files)
        return Imported(
            conversations=kept,
            dataset=dataset,
            licence=licence,
            annotated=tuple(_count_annotated(kept)),
            left=tuple(
                Count(what, self.left[what], why)
                for what, why in {**LEFT_OUT_WHOLE, **reasons}.items()
                if self.left[what]
            ),
            notes=(*_given_away(kept), *notes(kept)),
        )


def _count_annotated(conversations: Conversations) -> Iterator[Count]:
    """How much of each field of the format the conversations hold, in the format's order."""
    turns = [turn for conversation in conversations for turn in conversation.turns]
    judgements = [judgement for turn in turns for judgement in turn.judgements]
    winners = [comparison.winner for turn in turns for comparison in turn.comparisons]
    profiles = [c.participant_profile for c in conversations if c.participant_profile]
    of_turns, of_all = f"of {len(turns)} turns", f"of {len(conversations)} conversations"
    yes_no = ("yes", "no")

    def rated(sides: Iterable[Panas | None]) -> int:
        return sum(any(map(side.item, affect.EMOTIONS)) for side in sides if side)

    observed = sum(any(j.observed in yes_no for j in turn.judgements) for turn in turns)
    yield Count("turns with emotion tags", sum(t.mood_shift_tags is not None for t in turns), of_turns)
    yield Count("turns with observed answers", observed, of_turns)
    yield Count("observed answers", sum(j.observed in yes_no for j in judgements), "yes or no")
    yield Count("preferred answers", sum(j.preferred in yes_no for j in judgements), "yes or no")
    yield Count("turns with comparisons", sum(bool(t.comparisons) for t in turns), of_turns)
    yield Count("comparisons with a winner", sum(w is not None for w in winners), "A or B")
    yield Count("comparisons without a winner", winners.count(None), "not scored")
    yield Count("some PANAS item before", rated(c.pre_panas for c in conversations), of_all)
    yield Count("some PANAS item after", rated(c.post_panas for c in conversations), of_all)
    wide = sum(c.conversation_wide is not None for c in conversations)
    yield Count("questions after the conversation", wide, of_all)
    yield Count("demographics", sum(p.demographics is not None for p in profiles), of_all)


def _given_away(conversations: Conversations) -> Iterator[str]:
    turns = [turn for conversation in conversations for turn in conversation.turns]
    observed = [j.observed for turn in turns for j in turn.judgements if j.observed in ("yes", "no")]
    if observed and "no" not in observed:
        yield f"all {len(observed)} observed answers are yes: a model that always says so has them all"
    won = [
        (c.response_a if c.winner == "A" else c.response_b) == "original"
        for turn in turns
        for c in turn.comparisons
        if c.winner is not None and "original" in (c.response_a, c.response_b)
    ]
    if won:
        yield (
            f"the reply in the thread wins {sum(won)} of the {len(won)} comparisons that it stands in: "
            "a model that looks it up there has those"
        )
