"""The fields predicted of a participant: their options and ranges, and how each is read.

Options are lists of ours, never the values that occur in the data: those would tell a model who took part.
What people stated and what was predicted are read by the same functions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_data.jsonio import read_json
from attune_data.questionnaires import QUESTIONNAIRES, Questionnaire
from attune_data.schema import Conversation, Demographics
from attune_data.selection.diagnoses import DECLINED, NONE, folded

MAX_TEXT: Final = 100
"""A longer text is no option and no country."""
MAX_LIST: Final = 50
"""A longer list is no answer."""

_COUNTRIES: Final[Mapping[str, tuple[str, ...]]] = {
    "United States": ("usa", "us", "u.s.", "u.s.a.", "america", "united states of america"),
    "United Kingdom": ("uk", "u.k.", "great britain", "britain", "england", "scotland", "wales",
                       "northern ireland"),
    "Ireland": ("republic of ireland",),
    "Netherlands": ("holland",),
    "Czechia": ("czech republic",),
    "South Korea": ("korea", "republic of korea"),
    "Turkey": ("türkiye", "turkiye"),
    "Vietnam": ("viet nam",),
    "Mexico": ("méxico",),
    "Brazil": ("brasil",),
    "Germany": ("deutschland",),
    "Spain": ("españa",),
    "United Arab Emirates": ("uae", "u.a.e."),
}  # fmt: skip
"""Country -> other ways to write it; all others are compared as they are written."""
_COUNTRY_OF: Final = {folded(other): name for name, others in _COUNTRIES.items() for other in others}


@dataclass(frozen=True, slots=True)
class Outside:
    """A value that was stated and is not among the options, or not in the range: nobody could guess it."""

    value: Any


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several options, or one text where there are none."""

    name: str
    text: str
    options: tuple[str, ...] = ()
    """() for the country: any text, compared in `_COUNTRIES`' spelling without case."""

    def read(self, value: object) -> str | Outside | None:
        """The option in our spelling; None for what says nothing (absent, blank, declined, no text)."""
        if not isinstance(value, str):
            return None
        key = folded(value[: MAX_TEXT + 1])
        if not key or key in DECLINED:
            return None
        if len(value) > MAX_TEXT:
            return Outside(value)
        if not self.options:
            name = _COUNTRY_OF.get(key.removeprefix("the "))
            return key.removeprefix("the ") if name is None else folded(name)
        return next((option for option in self.options if folded(option) == key), Outside(value))


@dataclass(frozen=True, slots=True)
class Several:
    """Any number of options, none of them too."""

    name: str
    text: str
    options: tuple[str, ...]

    def read(self, value: object) -> frozenset[str] | Outside | None:
        """The options, an empty set for none; None for what says nothing, or says none and some at once.

        A single one need not be in a list.
        """
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, (list, tuple)) or len(value) > MAX_LIST:
            return None
        if not all(isinstance(name, str) and len(name) <= MAX_TEXT for name in value):
            return None
        keys = {folded(name) for name in value}
        if "" in keys or keys & DECLINED:
            return None
        if keys & NONE:
            return frozenset() if keys <= NONE else None
        known = {folded(option): option for option in self.options}
        if keys - known.keys():
            return Outside(list(value))
        return frozenset(known[key] for key in keys)


@dataclass(frozen=True, slots=True)
class Number:
    """A questionnaire's score."""

    name: str
    text: str
    scale: Questionnaire

    def read(self, value: object) -> float | Outside | None:
        """The number; None for what is none. Text that spells a number is one."""
        if isinstance(value, str) and len(value) <= MAX_TEXT:
            try:
                value = float(value)
            except ValueError:
                return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        if not -1e9 < value < 1e9:  # also what floats cannot hold, and NaN
            return None if value != value else Outside(str(value)[:MAX_TEXT])
        return float(value) if self.scale.low <= value <= self.scale.high else Outside(value)

    def farthest(self, truth: float) -> float:
        """The end of the range that is farther from the truth: what silence counts as. Ties: low."""
        low, high = self.scale.low, self.scale.high
        return low if truth - low >= high - truth else high


Value = str | frozenset[str] | float
Field = Choice | Several | Number

AGES: Final = ("18-24", "25-34", "35-44", "45-54", "55-64", "65+")
ATTITUDES: Final = (
    "Excited/Optimistic", "Hopeful/Curious", "Conflicted/Unsure", "Neutral/Open", "Frustrated/Angry",
    "Anxious/Worried", "Sad/Discouraged", "Guilty/Ashamed",
)  # fmt: skip
_CHOICES: Final = (
    Choice("country", "the country that the person lives in, by its English name"),
    Choice("education", "highest education", (
        "High school", "Some college", "Vocational training", "Bachelor's degree", "Master's degree",
        "Doctorate",
    )),
    Choice("gender", "gender", ("Female", "Male", "Non-binary")),
    Choice("age_range", "age in years", AGES),
    Choice("english_proficiency", "how well the person knows English",
           ("Native", "Fluent", "Intermediate", "Basic")),
    Choice("conversation_topic_attitude", "attitude towards the topic before the conversation", ATTITUDES),
)  # fmt: skip
_DIAGNOSES: Final = Several(
    "diagnoses",
    "mental health diagnoses that the person states to have",
    ("ADHD", "Anxiety", "Autism (ASD)", "Depression"),
)
_T_SCORE: Final = "T score, 50 is the population's mean and 10 its standard deviation"
_TEXTS: Final = {
    "who_5": "WHO-5 well-being, raw score, higher is better",
    "asrs_6": "ASRS six-item ADHD screener, items that count",
    "aq_10": "AQ-10 autism-spectrum screener, items that count",
    "promis_anxiety_t": f"PROMIS anxiety, {_T_SCORE}",
    "promis_depression_t": f"PROMIS depression, {_T_SCORE}",
    "promis_sleep_t": f"PROMIS sleep disturbance, {_T_SCORE}",
}
NUMBERS: Final = tuple(
    Number(name, _TEXTS.get(name, f"{one.title}, sum of two items"), one)
    for name, one in QUESTIONNAIRES.items()
)


@dataclass(frozen=True)
class Form:
    """The fields that are asked. Raw PROMIS sums (the T score says the same) and work are not among them."""

    choices: tuple[Choice, ...] = _CHOICES
    diagnoses: Several = _DIAGNOSES
    numbers: tuple[Number, ...] = NUMBERS

    @property
    def fields(self) -> tuple[Field, ...]:
        """All fields: choices, diagnoses, numbers."""
        return (*self.choices, self.diagnoses, *self.numbers)

    @property
    def optional(self) -> list[Choice | Several]:
        """The fields that have options."""
        several: list[Choice | Several] = [*self.choices, self.diagnoses]
        return [field for field in several if field.options]

    def stated(self, conversation: Conversation) -> dict[str, Value | Outside | None]:
        """Field -> what the participant stated: a value, one outside of what could be guessed, or None."""
        profile = conversation.participant_profile
        about = (profile.demographics if profile else None) or Demographics()
        scores = (profile.computed_scores if profile else None) or {}
        given: dict[str, Any] = {
            **about.model_dump(), **scores,
            "conversation_topic_attitude": profile.conversation_topic_attitude if profile else None,
        }  # fmt: skip
        return {field.name: field.read(given.get(field.name)) for field in self.fields}

    def describe(self) -> dict[str, Any]:
        """The form as files record it: the options of each field that has some."""
        return {field.name: list(field.options) for field in self.optional}


def plain(value: Value | None) -> Any:
    """A value as JSON has it: a list for several options, whole numbers without a fraction."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return value


def read_options(path: Path) -> Form:
    """The usual form with the option lists of a JSON file: `{"gender": ["Female", …], "diagnoses": […]}`.

    Fields that the file does not name keep their own lists. Raises DataError with everything that is wrong.
    """
    return form_with(read_json(path), str(path))


def form_with(options: Any, source: str) -> Form:
    """`read_options` of a value; `source` names it in problems."""
    form = Form()
    known = [field.name for field in form.optional]
    if not isinstance(options, Mapping):
        raise DataError(Problem(source, "", show(options), '{"field": ["option", …]}'))
    problems = []
    for name, values in options.items():
        if name not in known:
            expected = f"one of {', '.join(known)}"
            problems.append(Problem(source, str(name), "no field with options", expected))
        elif wrong := _wrong(values):
            problems.append(
                Problem(source, name, wrong, f"2 to {MAX_LIST} different texts of 1 to {MAX_TEXT} characters",
                        'leave out what states nothing, such as "Prefer not to say" and "None of the above"')
            )  # fmt: skip
    if problems:
        raise DataError(problems)
    choices = tuple(
        replace(field, options=tuple(options[field.name])) if field.name in options else field
        for field in form.choices
    )
    diagnoses = replace(form.diagnoses, options=tuple(options.get("diagnoses", form.diagnoses.options)))
    return Form(choices, diagnoses, form.numbers)


def _wrong(values: object) -> str:
    """The fault of a list of options; "" where nothing is."""
    if not isinstance(values, (list, tuple)) or not 2 <= len(values) <= MAX_LIST:
        return show(values)
    for value in values:
        if not isinstance(value, str) or not 0 < len(value.strip()) <= MAX_TEXT:
            return show(value)
        if folded(value) in NONE | DECLINED:
            return show(value)
    keys = [folded(value) for value in values]
    twice = next((value for value, key in zip(values, keys, strict=True) if keys.count(key) > 1), None)
    return f"{show(twice)} twice" if twice is not None else ""
