"""The schema of conversations: the benchmark's records as frozen, typed models.

Python names are snake_case; files keep the benchmark's camelCase (`to_record` writes it); all other
accepted names are in `fields.py`. Unknown fields are kept and written back. In annotations, absent or null
means *unannotated*, whereas an empty list means *annotated as none*.

HP stands for the person who took part, OM for the model whose replies were recorded.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, StrictInt, StrictStr, field_serializer, field_validator

from attune_data.format import affect
from attune_data.format.constants import Answer, Provenance, ResponseName
from attune_data.format.fields import (
    AnswerField,
    EmotionField,
    IntensityField,
    Rating,
    Record,
    ResponseField,
    Shared,
    WinnerField,
    expected,
    named,
)
from attune_data.format.memo import Memoised


class MoodTag(Record):
    """One emotion that the HP felt shift in a turn."""

    emotion: EmotionField
    """One of the 20 PANAS items, in the benchmark's spelling."""
    intensity: IntensityField = None
    """1–7; None if it was not recorded."""


class BinaryJudgement(Record):
    """The HP's two answers to one yes/no question about the OM's reply."""

    question_id: StrictStr = named("questionId")
    observed: AnswerField = named("observedBehavior", default=None)
    """Did the OM do it?"""
    preferred: AnswerField = named("preferredBehavior", default=None)
    """Would the HP have wanted it?"""
    llm_value: AnswerField = named("llmValue", default=None)
    """A model's own label, used where `observed` is absent."""

    @property
    def observed_truth(self) -> Answer | None:
        """The observed answer used in scoring: the HP's label, otherwise the model's."""
        return self.observed if self.observed is not None else self.llm_value

    @property
    def preferred_truth(self) -> Answer | None:
        """The preferred answer used in scoring: the HP's label (`na` counts), otherwise the observed one."""
        return self.preferred if self.preferred is not None else self.observed

    @property
    def applicable(self) -> bool:
        """Whether the question is asked: both values are absent, or at least one is yes/no."""
        values = (self.observed_truth, self.preferred)
        return values == (None, None) or not {"yes", "no"}.isdisjoint(values)


class PairwiseComparison(Record):
    """Which of two responses the HP preferred on one question."""

    question_id: StrictStr = named("questionId")
    response_a: ResponseField = named("responseA")
    response_b: ResponseField = named("responseB")
    winner: WinnerField = None
    """"A" or "B" in this comparison's own frame; None if the HP chose neither."""


class AlternateResponses(Record):
    """The two alternative replies that the HP compared with the original."""

    llm_improved: StrictStr | None = named("llmImproved", default=None)
    human_edited: StrictStr | None = named("humanEdited", default=None)


class Annotations(Record):
    """The annotations of one turn; None = not annotated."""

    binary_judgements: tuple[Shared[BinaryJudgement], ...] | None = named("binaryJudgements", default=None)
    alternate_responses: AlternateResponses | None = named("alternateResponses", default=None)
    pairwise_comparisons: tuple[Shared[PairwiseComparison], ...] | None = named(
        "pairwiseComparisons", default=None
    )
    selected_pairwise_questions: tuple[StrictStr, ...] | None = named(
        "selectedPairwiseQuestions", default=None
    )


class Turn(Record):
    """One exchange and its annotations."""

    turn_number: Annotated[StrictInt, Field(ge=1)] = named("turnNumber")
    user_message: StrictStr = named("userMessage")
    llm_response: StrictStr = named("llmResponse")
    mood_shift_tags: tuple[Shared[MoodTag], ...] | None = named("moodShiftTags", default=None)
    """() means that the HP marked the turn as neutral, None that it is not annotated."""
    annotations: Annotations | None = None

    @property
    def judgements(self) -> tuple[BinaryJudgement, ...]:
        """The binary judgements, () if there are none."""
        return (self.annotations.binary_judgements or ()) if self.annotations else ()

    @property
    def comparisons(self) -> tuple[PairwiseComparison, ...]:
        """The pairwise comparisons, () if there are none; results refer to them by their index."""
        return (self.annotations.pairwise_comparisons or ()) if self.annotations else ()

    @property
    def responses(self) -> dict[ResponseName, str | None]:
        """The texts of the three responses; None if one is not in the file."""
        alternates = self.annotations.alternate_responses if self.annotations else None
        return {
            "original": self.llm_response,
            "alternate": alternates.llm_improved if alternates else None,
            "human": alternates.human_edited if alternates else None,
        }


_Total = Annotated[float, Field(ge=10, le=70)]


class Panas(Record):
    """Positive and negative affect at one moment: 20 items (1–7) and their two totals (10–70)."""

    total_positive_affect: float | None = named("totalPositiveAffect", default=None)
    total_negative_affect: float | None = named("totalNegativeAffect", default=None)
    responses: dict[StrictStr, Rating] | None = None
    """Item (benchmark spelling) -> 1–7, or None if it was left out. Unknown keys are kept but not read."""

    @field_validator(
        "total_positive_affect", "total_negative_affect", mode="before", json_schema_input_type=_Total | None
    )
    @classmethod
    def _number(cls, value: object) -> object:
        if value is None or (type(value) in (int, float) and 10 <= value <= 70):  # type: ignore[operator]
            return value
        raise expected("a number from 10 to 70")

    @field_validator("responses", mode="after")
    @classmethod
    def _items(cls, value: dict[str, int | None] | None) -> dict[str, int | None] | None:
        if value is None:
            return None
        named = {affect.canonical_emotion(key) or key: rating for key, rating in value.items()}
        if len(named) != len(value):
            raise expected("each item once, whatever its case")
        return named

    @field_serializer("responses")
    def _lower(self, value: dict[str, int | None] | None) -> dict[str, int | None] | None:
        """Files spell the items in lower case."""
        if value is None:
            return None
        return {(key.lower() if key in affect.POLARITY else key): rating for key, rating in value.items()}

    def item(self, name: str) -> int | None:
        """The answer to one item, 1–7, or None."""
        return self.responses.get(name) if self.responses else None

    def total(self, polarity: affect.Polarity) -> float | None:
        """The total of positive or negative affect, from `affect.side_total`."""
        stated = self.total_positive_affect if polarity == "positive" else self.total_negative_affect
        return affect.side_total(self.responses or {}, polarity, stated)


class ConversationWide(Record):
    """The HP's answers about the whole conversation; None = not annotated."""

    four_branch_scores: dict[StrictStr, Rating] | None = named("fourBranchScores", default=None)
    q1_looking_for: tuple[StrictStr, ...] | None = named("q1_lookingFor", default=None)
    q2_emotion_clarity: StrictStr | None = named("q2_emotionClarity", default=None)
    q3_model_fit: StrictStr | None = named("q3_modelFit", default=None)
    q3_follow_up: tuple[StrictStr, ...] | None = named("q3_followUp_whatFeltOff", default=None)


class Metadata(Record):
    """Context of the conversation: the OM and the topic."""

    model: StrictStr | None = None
    category: StrictStr | None = None
    subtopic: StrictStr | None = None
    text: StrictStr | None = None


class Demographics(Record):
    """Coarse demographics of the participant; all parts are optional."""

    country: StrictStr | None = None
    education: StrictStr | None = None
    work_edu_background: tuple[StrictStr, ...] | None = None
    gender: StrictStr | None = None
    age_range: StrictStr | None = None
    english_proficiency: StrictStr | None = None
    diagnoses: tuple[StrictStr, ...] | None = None


class ParticipantProfile(Record):
    """The participant's questionnaire scores and demographics."""

    schema_version: StrictStr | None = None
    participant_id: StrictStr | None = None
    profile_type: StrictStr | None = None
    demographics: Demographics | None = None
    computed_scores: dict[StrictStr, Any] | None = None
    conversation_topic_attitude: StrictStr | None = None


class Terms(Record):
    """The terms under which a participant of a study gave a conversation."""

    name: StrictStr | None = None
    """The study's name."""
    licence: StrictStr | None = None
    train: StrictBool = False
    """Whether licence and consent allow training."""


class Conversation(Memoised):
    """One annotated conversation: an episode of the environment, a record of the benchmark."""

    conversation_id: Annotated[StrictStr, Field(min_length=1, max_length=200)] = named("conversationId")
    provenance: Provenance | None = None
    """The mark in the file; None counts as "benchmark" (see `origin`)."""
    study: Terms | None = None
    """For conversations of a study; without terms, they may not be trained on."""
    metadata: Metadata | None = None
    participant_profile: ParticipantProfile | None = named("participant_profile", default=None)
    pre_panas: Panas | None = named("prePanas", default=None)
    post_panas: Panas | None = named("postPanas", default=None)
    conversation_wide: ConversationWide | None = named("conversationWideQuestions", default=None)
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    """In the order of their turn numbers."""

    @field_validator("turns", mode="after")
    @classmethod
    def _in_order(cls, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        numbers = [turn.turn_number for turn in turns]
        if len(set(numbers)) != len(numbers):
            twice = next(n for n in numbers if numbers.count(n) > 1)
            where = " and ".join(f"turns[{i}]" for i, n in enumerate(numbers) if n == twice)
            raise expected(f"each turnNumber once; {twice} is at {where}")
        return tuple(sorted(turns, key=lambda turn: turn.turn_number))

    def __repr__(self) -> str:
        return f"Conversation({self.conversation_id!r}, {len(self.turns)} turns, {self.origin})"

    __str__ = __repr__

    @property
    def origin(self) -> Provenance:
        """The effective provenance: a record without a mark counts as a benchmark record."""
        return self.provenance or "benchmark"

    @property
    def further_metadata(self) -> dict[str, Any]:
        """The fields of `metadata` that are not the benchmark's, such as `licence`; {} if there are none."""
        return (self.metadata.model_extra if self.metadata else None) or {}

    @property
    def participant(self) -> str:
        """The participant's id, or the conversation's id if there is none."""
        profile = self.participant_profile
        return (profile.participant_id if profile else None) or self.conversation_id

    @property
    def diagnoses(self) -> tuple[str, ...] | None:
        """The participant's diagnoses as stated; None if nothing is stated."""
        profile = self.participant_profile
        return profile.demographics.diagnoses if profile and profile.demographics else None

    def turn(self, number: int) -> Turn | None:
        """The turn with the given number, or None."""
        return next((turn for turn in self.turns if turn.turn_number == number), None)

    def to_record(self) -> dict[str, Any]:
        """The JSON record in the benchmark's format, always with its provenance."""
        record = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return (
            {"conversationId": record.pop("conversationId"), "provenance": self.origin}
            | record
            | {"provenance": self.origin}
        )

    def marked(self, provenance: Provenance) -> Self:
        """A copy of the conversation with the given provenance."""
        if provenance == self.provenance:
            return self
        return self.model_copy(update={"provenance": provenance})
