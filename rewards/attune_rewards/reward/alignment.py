"""`draft_alignment`: pay a reply for doing what the person wants, according to a reader.

The score is the benchmark's draft metric: the share of the questions with a preferred yes or no on which what
the reply did is what the person wanted. The reward measures it from the best constant (0) to full agreement
(1). Recorded and live turns are scored by `alignment`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from statistics import fmean
from typing import Any, Final

from attune_data.errors import DataError, Problem
from attune_data.format.schema import Conversation
from attune_rewards.metrics.binary import TruthPairs
from attune_rewards.metrics.draft import ANSWERS, GIVES_IN, binary_alignment
from attune_rewards.metrics.leaf import Part
from attune_rewards.metrics.tree import Node
from attune_rewards.predictions import Draft, Stage
from attune_rewards.reading import Exchange, Reader, reader
from attune_rewards.reading.own import own_part
from attune_rewards.reading.recorded import RecordedReader
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.truth import ConversationTruth, TurnTruth, truth_of

NAME: Final = "draft_alignment"
HOLDS: Final = frozenset({"B11", "B13", "B313"})
"""The questions that the reader `fitted` reads on `sample` and on `written:test` with a balanced accuracy of
at least 0.80, each with ten yes and ten no: about questions and advice."""


def alignment(exchange: Exchange, wanted: TruthPairs, read: Mapping[str, str], constant: float) -> float:
    """The share of wishes that a reply meets, in [0, 1]; 0 without a wish.

    Args:
        exchange: the reply and what it answers.
        wanted: (question, what the person wants).
        read: question -> what the reader says that the reply did; without an answer, a wish is not met.
        constant: what the best constant earns, and at most a reply that does not answer the message, that
            only repeats it, or that gives in to what it should not.
    """
    share = binary_alignment(wanted, read) or 0.0
    refused = read.get(ANSWERS) == "no" or read.get(GIVES_IN) == "yes"
    return min(share, constant) if refused or own_part(exchange) is None else share


def best_constant(turns: Iterable[TruthPairs]) -> float:
    """The mean share of wishes that the same answers meet in every turn, each the most wanted one.

    0 without turns. Each turn is a list of (question, what the person wants).
    """
    wanted = [turn for turn in turns if turn]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for turn in wanted:
        for question, want in turn:
            counts[question][want] += 1
    best = {question: max(sorted(count), key=count.__getitem__) for question, count in counts.items()}
    return fmean(binary_alignment(turn, best) or 0.0 for turn in wanted) if wanted else 0.0


@dataclass(frozen=True)
class DraftAlignment(Part):
    """Whether the draft does what the person wanted and no more, according to a reader."""

    name: str = NAME
    stage: Stage = "draft"
    _: KW_ONLY
    reader: Reader = field(hash=False)
    constant: float = 0.0
    """What the best constant earns."""

    @property
    def questions(self) -> frozenset[str]:
        """The questions that are paid for: those the reader reads; of `fitted`, those where it holds."""
        return HOLDS if self.reader.name == "fitted" else self.reader.questions

    def wanted(self, turn: TurnTruth) -> TruthPairs:
        """The wishes of a turn that are paid for."""
        known = self.questions
        return [(question, want) for question, want in turn.preferred if question in known]

    def defined(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None) -> bool:
        """Whether a draft is asked for, and something that the reader reads is wanted or unwanted."""
        return stage == "draft" and turn is not None and bool(self.wanted(turn))

    def score(self, truth: ConversationTruth, stage: Stage, turn: TurnTruth | None, said: Any) -> float:
        """Read the draft and score it."""
        assert turn is not None
        assert isinstance(said, Draft)
        exchange = Exchange(turn.message, said.text, turn.history)
        return alignment(exchange, self.wanted(turn), self.reader.read(exchange), self.constant)


def draft_alignment(
    conversations: Sequence[Conversation],
    by: Reader | Mapping[str, Mapping[str, Any]] | str = "fitted",
    *,
    floor: float | None = None,
) -> RewardSpec:
    """The reward `draft_alignment`, measured from the best constant for these conversations.

    Args:
        conversations: annotated conversations, usually those to train on.
        by: a reader (an `EndpointReader`, say), the name of one, or recorded readings: `reading_key` of each
            exchange -> question -> answer.
        floor: the lowest reward of a reply; None for no limit.

    Raises DataError if the conversations say nothing about the questions that the reader reads.
    """
    if isinstance(by, str):
        by = reader(by)
    elif isinstance(by, Mapping):
        by = RecordedReader(by)
    part = DraftAlignment(reader=by)
    turns = [part.wanted(turn) for one in conversations for turn in truth_of(one).turns]
    if not any(turns):
        expected = "a preferred yes or no to a question that the reader reads"
        advice = "take conversations with preferences, or another reader"
        raise DataError(Problem("conversations", "", f"nothing that {by.name} reads", expected, advice))
    constant = best_constant(turns)
    if constant == 1.0:
        expected = "a question on which people differ"
        raise DataError(
            Problem("conversations", "", "the same wishes in every turn", expected, "take more conversations")
        )
    return RewardSpec(
        NAME,
        Node(NAME),
        (replace(part, constant=constant),),
        {NAME: constant},
        reference=by.name,
        floor=floor,
    )
