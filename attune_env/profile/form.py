"""The form: the fields that are asked, each with its options.

Options are fixed lists of ours, never the values that occur in the data, which would reveal to a model who
took part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_data.format.questionnaires import QUESTIONNAIRES
from attune_data.format.schema import Conversation, Demographics
from attune_data.selection.facts import DECLINED, NONE, folded
from attune_env.profile.kinds import MAX_LIST, MAX_TEXT, Choice, Field, Number, Outside, Several, Value

AGES: Final = ("18-24", "25-34", "35-44", "45-54", "55-64", "65+")
ATTITUDES: Final = (
    "Excited/Optimistic", "Hopeful/Curious", "Conflicted/Unsure", "Neutral/Open", "Frustrated/Angry",
    "Anxious/Worried", "Sad/Discouraged", "Guilty/Ashamed",
)  # fmt: skip
_EDUCATION: Final = (
    "High school", "Some college", "Vocational training", "Bachelor's degree", "Master's degree", "Doctorate",
)  # fmt: skip
_T_SCORE: Final = "T score, 50 is the population's mean and 10 its standard deviation"
_TEXTS: Final = {
    "who_5": "WHO-5 well-being, raw score, higher is better",
    "asrs_6": "ASRS six-item ADHD screener, items that count",
    "aq_10": "AQ-10 autism-spectrum screener, items that count",
    "promis_anxiety_t": f"PROMIS anxiety, {_T_SCORE}",
    "promis_depression_t": f"PROMIS depression, {_T_SCORE}",
    "promis_sleep_t": f"PROMIS sleep disturbance, {_T_SCORE}",
}
FIELDS: Final[tuple[Field, ...]] = (
    Choice("country", "the country that the person lives in, by its English name"),
    Choice("education", "highest education", _EDUCATION),
    Choice("gender", "gender", ("Female", "Male", "Non-binary")),
    Choice("age_range", "age in years", AGES),
    Choice("english_proficiency", "how well the person knows English",
           ("Native", "Fluent", "Intermediate", "Basic")),
    Choice("conversation_topic_attitude", "attitude towards the topic before the conversation", ATTITUDES),
    Several("diagnoses", "mental health diagnoses that the person states to have",
            ("ADHD", "Anxiety", "Autism (ASD)", "Depression")),
    *(Number(name, _TEXTS.get(name, f"{one.title}, sum of two items"), one)
      for name, one in QUESTIONNAIRES.items()),
)  # fmt: skip
"""Raw PROMIS sums (the T score says the same) and work are not among them."""


@dataclass(frozen=True)
class Form:
    """The fields that are asked."""

    fields: tuple[Field, ...] = FIELDS

    def stated(self, conversation: Conversation) -> dict[str, Value | Outside | None]:
        """Field -> what the participant stated: a value, one that could not be guessed, or None."""
        profile = conversation.participant_profile
        about = (profile.demographics if profile else None) or Demographics()
        given: dict[str, Any] = {
            **about.model_dump(),
            **((profile.computed_scores if profile else None) or {}),
            "conversation_topic_attitude": profile.conversation_topic_attitude if profile else None,
        }
        return {field.name: field.read(given.get(field.name)) for field in self.fields}

    def read(self, found: Mapping[str, object]) -> dict[str, Value]:
        """Read the valid guesses in an object from a model or a result file."""
        read = {field.name: field.read(found.get(field.name)) for field in self.fields}
        return {name: v for name, v in read.items() if v is not None and not isinstance(v, Outside)}

    def describe(self) -> dict[str, Any]:
        """The form as recorded in files: the options of each field that has any."""
        return {field.name: list(field.options) for field in self.fields if field.options}


def form_with(options: Any, source: str) -> Form:
    """The default form with your own option lists: `{"gender": ["Female", …], "diagnoses": […]}`.

    Fields that are not named keep their lists; `source` names the options in error messages. Raises DataError
    listing all problems.
    """
    if not isinstance(options, Mapping):
        raise DataError(Problem(source, "", show(options), '{"field": ["option", …]}'))
    known = Form().describe()
    problems = []
    for name, values in options.items():
        if name not in known:
            expected = f"one of {', '.join(known)}"
            problems.append(Problem(source, str(name), "no field with options", expected))
        elif wrong := _wrong(values):
            problems.append(
                Problem(source, name, wrong, f"2 to {MAX_LIST} different texts of 1 to {MAX_TEXT} characters",
                        'leave out options that state nothing, such as "Prefer not to say"')
            )  # fmt: skip
    if problems:
        raise DataError(problems)
    return Form(tuple(
        field if isinstance(field, Number) or field.name not in options
        else replace(field, options=tuple(options[field.name]))
        for field in FIELDS
    ))  # fmt: skip


def _wrong(values: object) -> str:
    """The problem with a list of options; "" if there is none."""
    if not isinstance(values, (list, tuple)) or not 2 <= len(values) <= MAX_LIST:
        return show(values)
    for value in values:
        if not isinstance(value, str) or not 0 < len(value.strip()) <= MAX_TEXT:
            return show(value)
        if folded(value) in NONE | DECLINED:
            return show(value)
    keys = [folded(value) for value in values]
    return next((f"{show(v)} twice" for v, key in zip(values, keys, strict=True) if keys.count(key) > 1), "")
