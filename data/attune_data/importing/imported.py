"""What every import gives: conversations, and a count of what they say and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from attune_data import affect, constants
from attune_data.errors import DataError, Problem, show
from attune_data.loading import MAX_TURNS, Conversations
from attune_data.schema import Conversation, Turn


@dataclass(frozen=True, slots=True)
class Count:
    """How often something was annotated, or left out."""

    what: str
    count: int
    why: str
    """What it was made from, or why nothing was made of it."""


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
    """What the conversations hold, field by field of the format; what is not annotated counts 0."""
    left: tuple[Count, ...]
    """What the source says and the conversations do not, each with the reason."""
    notes: tuple[str, ...]
    """What to know before use, measured on the conversations: above all, what gives answers away."""


UNUSABLE: Final = "conversations that make none"
"""What conversations are counted under that are of the format and cannot be used."""

SKIPPED: Final = "conversations that differ from the format"
"""What conversations are counted under that were left out because the caller asked to skip them."""
LEFT_OUT_WHOLE: Final[Mapping[str, str]] = {
    UNUSABLE: "a turn needs a message and its reply, and 1,000 turns are the limit",
    SKIPPED: "left out as asked",
}
"""Why conversations are left out whole."""


class Unusable(DataError):
    """A conversation of the format that makes no conversation here: left out and counted, no error."""

    def __init__(self, file: str, place: str, found: str, expected: str) -> None:
        super().__init__(Problem(file, place, found, expected, "it is left out", severity="warning"))


class Gathered:
    """Collects what an importer makes, one conversation after the other."""

    def __init__(self, skip_invalid: bool) -> None:
        self.skip_invalid = skip_invalid
        self.good: list[Conversation] = []
        self.files: dict[str, str] = {}
        self.left_out: list[Problem] = []
        self.left: Counter[str] = Counter()

    def add(self, make: Callable[[Counter[str]], Conversation], where: str) -> None:
        """Adds what `make` gives, and what it counted as left out of it.

        Raises DataError where it does, unless such conversations are skipped; and where the id is taken.
        """
        counted: Counter[str] = Counter()  # of this one alone: what is left out whole counts as one thing
        try:
            made = make(counted)
            if made.conversation_id in self.files:
                first = self.files[made.conversation_id]
                found = f"{show(made.conversation_id)}, which {first} has too"
                raise DataError(Problem(where, "conversationId", found, "each id once", "remove the copy"))
        except Unusable as error:
            self.left_out += error.problems
            self.left[UNUSABLE] += 1
        except DataError as error:
            if not self.skip_invalid:
                raise
            self.left_out += error.problems
            self.left[SKIPPED] += 1
        else:
            self.good.append(made)
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
        """The whole; raises DataError where no conversation is left.

        `reasons` gives the order and the reason of everything else that was counted as left out.
        """
        whys = {**LEFT_OUT_WHOLE, **reasons}
        if not self.good:
            nothing = Problem(source, "", "no conversations", f"at least one conversation of {dataset}")
            raise DataError(self.left_out or nothing)
        kept = Conversations(self.good, source=source, left_out=self.left_out, files=self.files)
        return Imported(
            conversations=kept,
            dataset=dataset,
            licence=licence,
            annotated=tuple(count_annotated(kept)),
            left=tuple(Count(what, self.left[what], why) for what, why in whys.items() if self.left[what]),
            notes=(*_given_away(kept), *notes(kept)),
        )


def check_length(turns: int, file: str, place: str) -> None:
    """Raises Unusable where a conversation has more turns than `load` reads."""
    if turns > MAX_TURNS:
        raise Unusable(file, place, f"{turns} turns", f"at most {MAX_TURNS}")


def count_annotated(conversations: Conversations) -> list[Count]:
    """How much of each field of the format the conversations hold, in the format's order."""
    turns = [turn for conversation in conversations for turn in conversation.turns]
    judgements = [judgement for turn in turns for judgement in turn.judgements]
    comparisons = [comparison for turn in turns for comparison in turn.comparisons]
    wide = [c.conversation_wide for c in conversations if c.conversation_wide]
    of_turns, of_all = f"of {len(turns)} turns", f"of {len(conversations)} conversations"

    def yes_no(values: Iterable[constants.Answer | None]) -> int:
        return sum(value in ("yes", "no") for value in values)

    def panas(before: bool) -> int:
        sides = (c.pre_panas if before else c.post_panas for c in conversations)
        return sum(bool(side) and any(side.item(name) for name in affect.EMOTIONS) for side in sides if side)

    return [
        Count("turns with emotion tags", sum(turn.mood_shift_tags is not None for turn in turns), of_turns),
        Count("turns with observed answers", sum(map(_observed, turns)), of_turns),
        Count("observed answers", yes_no(j.observed for j in judgements), "yes or no"),
        Count("preferred answers", yes_no(j.preferred for j in judgements), "yes or no"),
        Count("turns with comparisons", sum(bool(turn.comparisons) for turn in turns), of_turns),
        Count("comparisons with a winner", sum(c.winner is not None for c in comparisons), "A or B"),
        Count("comparisons without a winner", sum(c.winner is None for c in comparisons), "not scored"),
        Count("some PANAS item before", panas(before=True), of_all),
        Count("some PANAS item after", panas(before=False), of_all),
        Count("questions after the conversation", len(wide), of_all),
        Count("demographics", sum(map(_has_demographics, conversations)), of_all),
    ]


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


def _observed(turn: Turn) -> bool:
    return any(judgement.observed in ("yes", "no") for judgement in turn.judgements)


def _has_demographics(conversation: Conversation) -> bool:
    profile = conversation.participant_profile
    return profile is not None and profile.demographics is not None
