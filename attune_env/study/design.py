"""`Design`: everything about a study that its `study.toml` chooses."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from attune_data.errors import show
from attune_env.study.parts import Id, Part, Text, like, wrong
from attune_env.study.questions import Asking, QuestionPage
from attune_env.study.texts import filled, own_words

TRAIN: Final = "train"
"""The id of the point of the consent that allows training."""


class HelpLine(Part):
    """A help line of the study's country, shown on every page."""

    name: Text
    contact: Text


class Contact(Part):
    """Whom participants can ask."""

    name: Text
    email: Text


class Point(Part):
    """A point of the consent, with a box to tick."""

    id: Id
    text: Text
    required: bool = True


class Consent(Part):
    """The information at the beginning, and the points to agree to."""

    text: Text
    points: Annotated[tuple[Point, ...], Field(min_length=1)]


class Release(Part):
    """The terms of the exported conversations."""

    licence: Text
    train: bool = False
    """Whether the licence allows training, for participants who agree to it."""


class Topic(Part):
    """What a conversation is about."""

    category: Text
    subtopic: Text

    @property
    def text(self) -> str:
        """Its name in the benchmark's form."""
        return f"{self.category}: {self.subtopic}"


class Topics(Part):
    """The topics, and the attitudes to them."""

    mode: Literal["choose", "assigned"] = "choose"
    attitudes: Annotated[tuple[Text, ...], Field(min_length=2)]
    choices: Annotated[tuple[Topic, ...], Field(min_length=1)]


class Talk(Part):
    """The conversation."""

    min_turns: Annotated[int, Field(ge=1, le=30)] = 3
    max_turns: Annotated[int, Field(ge=1, le=30)] = 6
    longest_message: Annotated[int, Field(ge=100, le=50_000)] = 4_000
    system: str = ""
    """The system message of the assistants; "" for none."""
    rewrite: Text
    """How a model is asked for another reply to the same message."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_turns > self.max_turns:
            raise wrong(f"min_turns up to max_turns, not {self.min_turns} and {self.max_turns}")
        return self


class Asked(Part):
    """A model behind an endpoint."""

    model: Text
    provider: Literal["openrouter", "openai", "prime", "custom"] = "custom"
    base_url: str | None = None
    key_var: str | None = None
    """The environment variable with the key."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    price_in: Annotated[float, Field(ge=0)] | None = None
    price_out: Annotated[float, Field(ge=0)] | None = None
    seconds: Annotated[float, Field(gt=0, le=600)] = 60
    """The time limit of one attempt."""

    @model_validator(mode="after")
    def _located(self) -> Self:
        if self.provider == "custom" and self.base_url is None:
            raise wrong(
                'base_url, the address of the server, or provider = "openai", "openrouter" or "prime"'
            )
        return self

    @property
    def tells_cost(self) -> bool:
        """Whether the cost of an answer is known."""
        return self.provider == "openrouter" or (self.price_in is not None and self.price_out is not None)


class Budget(Part):
    """The budget of the study; once it is spent, nobody new can begin, and everybody else finishes."""

    dollars: Annotated[float, Field(gt=0)] | None = None
    participants: Annotated[int, Field(ge=1)] | None = None


class Ending(Part):
    """What a participant gets at the end."""

    debriefing: Text
    code: str = ""
    url: str = ""

    @field_validator("url")
    @classmethod
    def _web(cls, value: str) -> str:
        if value and urlsplit(value).scheme not in ("http", "https"):
            raise wrong("an address that begins with https://")
        return value


class Design(Part):
    """A study: the content of its `study.toml`."""

    name: Annotated[str, like(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", "letters, digits and any of . _ -")]
    title: Text
    language: Annotated[str, like(r"[A-Za-z]{2,3}(-[A-Za-z0-9]+)*", "a code such as en or pt-BR")] = "en"
    address: str = "http://127.0.0.1:8080"
    link_days: Annotated[int, Field(ge=1, le=3_650)] = 30
    notice: Text
    """The notice at the foot of every page, for example that this is not therapy."""
    contact: Contact
    help_lines: Annotated[tuple[HelpLine, ...], Field(min_length=1)]
    consent: Consent
    release: Release
    topics: Topics
    conversation: Talk
    assistants: tuple[Asked, ...] = ()
    """Drawn for each participant; without any, fixed sentences answer."""
    alternate: Asked | None = None
    """Who writes the alternate replies; None for the participant's own assistant."""
    questions: Asking = Asking()
    pages: tuple[QuestionPage, ...] = ()
    budget: Budget = Budget()
    ending: Ending
    words: dict[str, Text] = Field(default_factory=dict)
    """Texts of the pages that take the place of `words.toml`."""

    @field_validator("address")
    @classmethod
    def _sound(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise wrong("an address such as https://study.example.org")
        return value.rstrip("/")

    @field_validator("words")
    @classmethod
    def _known(cls, value: dict[str, str]) -> dict[str, str]:
        if unknown := sorted(set(value) - set(own_words())):
            raise wrong(f"names of words.toml; {', '.join(map(show, unknown))} is none")
        for name, text in value.items():
            try:
                known = filled(text) <= filled(own_words()[name])
            except ValueError:
                known = False
            if not known:
                raise wrong(f"in {name}, no other braces than {show(own_words()[name])} has")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        asked = {point.id for point in self.consent.points if not point.required}
        if self.release.train and TRAIN not in asked:
            raise wrong(
                f'a point of the consent with id = "{TRAIN}" and required = false, as release.train is true'
            )
        names = [question.name for page in self.pages for question in page.questions]
        if len(set(names)) < len(names):
            raise wrong("a different name for each question of the pages")
        if self.budget.dollars is not None and not all(model.tells_cost for model in self.models):
            raise wrong("price_in and price_out of each model, as budget.dollars is given")
        return self

    @property
    def canned(self) -> bool:
        """Whether fixed sentences answer, since no endpoint is named."""
        return not self.assistants

    @property
    def models(self) -> list[Asked]:
        """Every model that is asked."""
        return [*self.assistants, *([self.alternate] if self.alternate else [])]

    @cached_property
    def texts(self) -> dict[str, str]:
        """Every text of the pages by its name."""
        return own_words() | self.words

    @cached_property
    def fingerprint(self) -> str:
        """A fingerprint of everything chosen: 16 hex digits."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]
