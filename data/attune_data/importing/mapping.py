"""Maps: TOML files that say which columns of a table mean what, and under which licence it is.

Ready-made ones are the files of the folder `maps`; docs/importing.md has a table of all keys.
"""

from __future__ import annotations

import difflib
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.format.fields import EmotionField
from attune_data.format.validate import problems_of
from attune_data.importing.delimited import Reading
from attune_data.importing.imported import Origin
from attune_data.importing.table import word
from attune_data.jsonio import read_text

FOLDER: Final = Path(__file__).parent / "maps"
"""The ready-made maps, `NAME.toml` each."""
OWN_COMMANDS: Final = ("esconv", "prism")
"""Data sets that are no tables: each has a command of its own."""


def _wrong(found: str, expected: str) -> PydanticCustomError:
    """The error for keys that do not go together."""
    return PydanticCustomError("expected", "{expected}", {"found": found, "expected": expected})


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Feelings(_Part):
    """The columns of a table of texts with their writers' feelings."""

    text: str
    labels: str | None = None
    """A label, or a list of them."""
    intensity: str | None = None
    """How strong the labelled feeling was, on `scale`."""
    person: str | None = None
    id: str | None = None
    reply: str | None = None
    conversation: str | None = None
    """Rows of the same conversation are its messages, in order."""
    speaker: str | None = None
    """Who wrote the message of a row; the first to speak is the person."""


class Preferences(_Part):
    """The columns of a table of replies that people compared."""

    messages: str | None = None
    """The prompt to the replies: a text, or a list of chat messages."""
    replies: tuple[str, ...] = ()
    """The columns of the replies; three are kept."""
    chats: tuple[str, ...] = ()
    """Instead of the two: the columns of whole chats that end with a reply."""
    winner: str | None = None
    """Whose value names the best reply: by its column, or as `[winners]` says."""
    ratings: tuple[str, ...] = ()
    """A rating for each reply; the higher is better."""
    preference: str | None = None
    """A number: below 0, the first of two replies is better, above 0 the second."""
    person: str | None = None
    id: str | None = None

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The columns that have the replies."""
        return self.replies or self.chats

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = ", ".join(name for name, value in self if value) or "nothing"
        if bool(self.replies) == bool(self.chats) or bool(self.messages) != bool(self.replies):
            raise _wrong(given, "messages and replies, or chats")
        if len(self.texts) < 2:
            raise _wrong("one reply", "the columns of at least two replies")
        ways = [self.winner is not None, bool(self.ratings), self.preference is not None]
        if sum(ways) != 1:
            raise _wrong(given, "one of winner, ratings and preference")
        if self.ratings and len(self.ratings) != len(self.texts):
            found = f"{len(self.ratings)} ratings and {len(self.texts)} replies"
            raise _wrong(found, "as many ratings as replies")
        if self.preference is not None and len(self.texts) != 2:
            found = f"a preference and {len(self.texts)} replies"
            raise _wrong(found, "two replies, for a preference between them")
        return self


class _Map(_Part):
    columns: Any
    dataset: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    """As its authors state it."""
    non_commercial: bool = False
    """Whether it may not be used commercially."""
    reference: str = ""
    about: str = ""
    """A sentence on what the labels mean, printed with every import."""
    table: Reading = Reading()
    skip: dict[str, tuple[str, ...]] = {}
    """Column -> values whose rows are left out and counted."""
    replace: dict[str, str] = {}
    """Text -> what stands for it in every message and reply."""

    @property
    def origin(self) -> Origin:
        """The data set that the map is for."""
        return Origin(self.dataset, self.licence, self.non_commercial)

    def used(self) -> dict[str, str]:
        """The columns that the table must have, each with the key that names it."""
        used: dict[str, str] = {}
        for key, named in self.columns:
            for column in (named,) if isinstance(named, str) else named or ():
                used.setdefault(column, f"columns.{key}")
        others = dict.fromkeys(self.table.absent, "[table] absent") | dict.fromkeys(self.skip, "[skip]")
        return others | used

    @model_validator(mode="after")
    def _something(self) -> Self:
        if "" in self.replace:
            raise _wrong('"" in [replace]', "some text to replace")
        return self

    def clean(self, text: str) -> str:
        """The text with all replacements, without white space around it."""
        for old, new in self.replace.items():
            text = text.replace(old, new)
        return text.strip()


_Scale = tuple[FiniteFloat, FiniteFloat]
_Items = Annotated[tuple[EmotionField, ...], BeforeValidator(lambda to: (to,) if isinstance(to, str) else to)]


class FeelingsMap(_Map):
    """A map of a table of texts with their writers' feelings."""

    columns: Feelings
    labels: dict[str, _Items] = {}
    """Label -> one of the 20 feelings, or a list: `[]` for a label that says that nothing was felt."""
    ratings: dict[str, EmotionField] = {}
    """Column of a rating, on `scale` -> the feeling that it rates."""
    felt: FiniteFloat | None = None
    """The lowest rating that counts as felt."""
    scale: _Scale | None = None
    """Lowest and highest rating or intensity in the source."""
    labelled: Literal["each", "first"] = "each"
    """Whether the label of a conversation's row is of this message, or of the person's first alone."""

    @cached_property
    def by_label(self) -> Mapping[str, _Items]:
        """Case-folded label -> its feelings."""
        return {word(label).casefold(): to for label, to in self.labels.items()}

    def used(self) -> dict[str, str]:
        """The columns that the table must have, each with the key that names it."""
        return super().used() | dict.fromkeys(self.ratings, "[ratings]")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        columns, scale = self.columns, self.scale
        if columns.labels is None and not self.ratings:
            raise _wrong("neither", "columns.labels with [labels], or [ratings]")
        if bool(self.labels) != (columns.labels is not None):
            found = "columns.labels without [labels]" if columns.labels else "[labels] without columns.labels"
            raise _wrong(found, "columns.labels, and [labels], which says what each of its labels means")
        same = Counter(word(label).casefold() for label in self.labels)
        if twice := [show(label) for label in self.labels if same[word(label).casefold()] > 1]:
            raise _wrong(f"{' and '.join(twice)} in [labels]", "each label once, whatever its case")
        if scale is None and (self.ratings or columns.intensity):
            found = f"no scale of {'[ratings]' if self.ratings else 'columns.intensity'}"
            raise _wrong(found, "scale = [lowest, highest]")
        if scale is not None and scale[0] >= scale[1]:
            raise _wrong(f"scale = [{scale[0]:g}, {scale[1]:g}]", "scale = [lowest, highest]")
        if self.ratings and (self.felt is None or (scale and not scale[0] <= self.felt <= scale[1])):
            found = "[ratings] without felt" if self.felt is None else f"felt = {self.felt:g}"
            raise _wrong(found, "felt, the lowest rating that counts, within the scale")
        if (columns.conversation is None) != (columns.speaker is None):
            raise _wrong("one of them", "columns.conversation and columns.speaker, or neither")
        return self


class PreferencesMap(_Map):
    """A map of a table of replies that people compared."""

    columns: Preferences
    winners: dict[str, str] = {}
    """Value of the winner column -> the column of the reply that it names."""

    @cached_property
    def by_winner(self) -> Mapping[str, str]:
        """`winners` by the names that cells are compared with."""
        return {word(name): reply for name, reply in self.winners.items()}

    @model_validator(mode="after")
    def _known(self) -> Self:
        if unknown := set(self.winners.values()) - set(self.columns.texts):
            wanted = f"columns of replies: {', '.join(self.columns.texts)}"
            raise _wrong(f"{show(min(unknown))} in [winners]", wanted)
        return self


M = TypeVar("M", FeelingsMap, PreferencesMap)


def ready_made(kind: type[M]) -> tuple[str, ...]:
    """The names of the ready-made maps of a kind."""
    return tuple(path.stem for path in sorted(FOLDER.glob("*.toml")) if _is(kind, _read(path)))


def load_map(kind: type[M], name: str | Path) -> M:
    """The map of a path, or a ready-made one by its name.

    Raises:
        UnknownNameError: there is no such ready-made map.
        SettingsError: the name is of a data set that has its own command.
        DataError: there is no such file, or it is no such map; every problem is named.
    """
    path = Path(name)
    if not path.suffix and path.name == str(name):
        path = FOLDER / f"{name}.toml"
        if name in OWN_COMMANDS:
            raise SettingsError(f"map is {show(name)}, which is no table: use attune data import {name}")
        if not path.exists():
            raise UnknownNameError("map (a path ends in .toml)", str(name), ready_made(kind))
    if not path.exists():
        advice = f"check the path, or name a ready-made map: {', '.join(ready_made(kind))}"
        raise DataError(Problem(str(path), "", "no such file", "a map", advice))
    value, keys = _read(path), "docs/importing.md lists the keys"
    if not value:
        raise DataError(Problem(str(path), "", "an empty file", "a map", keys))
    if isinstance(value.get("columns"), dict) and not _is(kind, value):
        own, other = ("feelings", "preferences")[:: 1 if kind is FeelingsMap else -1]
        advice = f"attune data import {other} takes it"
        raise DataError(Problem(str(path), "columns", f"a map of {other}", f"a map of {own}", advice))
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise DataError(list(_told(error, kind, str(path), keys))) from error


def _told(error: ValidationError, kind: type[_Map], file: str, advice: str) -> Iterator[Problem]:
    """The problems of a map, in terms of its keys."""
    for detail, problem in zip(error.errors(), problems_of(error, file, "", advice), strict=False):
        if detail["type"] == "extra_forbidden":
            *parents, name = detail["loc"]
            part: Any = kind
            for parent in parents:
                part = part.model_fields[parent].annotation
            near = difflib.get_close_matches(str(name), part.model_fields, n=1)
            wanted = f"one of the keys {', '.join(part.model_fields)}"
            hint = f"did you mean {near[0]}? " if near else ""
            problem = replace(problem, found="an unknown key", expected=wanted, advice=hint + advice)
        yield replace(problem, found=detail.get("ctx", {}).get("found", problem.found))


def _is(kind: type[M], value: Mapping[str, Any]) -> bool:
    return bool({"replies", "chats"} & set(value["columns"])) == (kind is PreferencesMap)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(Problem(str(path), "", f"broken TOML: {error}", "a map", "fix the syntax")) from error
