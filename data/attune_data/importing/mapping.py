"""Maps: TOML files that say which columns of a table mean what, and under which licence it is.

Ready-made ones are the files of the folder `maps`; docs/importing.md has a table of all keys.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from attune_data.errors import DataError, Problem, UnknownNameError
from attune_data.format.fields import EmotionField, expected
from attune_data.format.validate import problems_of
from attune_data.importing.imported import Origin
from attune_data.importing.table import Reading
from attune_data.jsonio import read_text

FOLDER: Final = Path(__file__).parent / "maps"
"""The ready-made maps, `NAME.toml` each."""


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
    """The columns of the replies; the first three are kept."""
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
        if bool(self.replies) == bool(self.chats) or bool(self.messages) != bool(self.replies):
            raise expected("messages and replies, or chats")
        if len(self.texts) < 2:
            raise expected("the columns of at least two replies")
        ways = [self.winner is not None, bool(self.ratings), self.preference is not None]
        if sum(ways) != 1:
            raise expected("one of winner, ratings and preference")
        if self.ratings and len(self.ratings) != len(self.texts):
            raise expected("as many ratings as replies")
        if self.preference is not None and len(self.texts) != 2:
            raise expected("two replies, for a preference between them")
        return self


class _Map(_Part):
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

    def clean(self, text: str) -> str:
        """The text with all replacements, without white space around it."""
        for old, new in self.replace.items():
            text = text.replace(old, new)
        return text.strip()


_Scale = tuple[float, float]
_Items = tuple[EmotionField, ...]


class FeelingsMap(_Map):
    """A map of a table of texts with their writers' feelings."""

    columns: Feelings
    labels: dict[str, EmotionField | _Items] = {}
    """Label -> one of the 20 feelings, or a list: `[]` for a label that says that nothing was felt."""
    ratings: dict[str, EmotionField] = {}
    """Column of a rating, on `scale` -> the feeling that it rates."""
    felt: float | None = None
    """The lowest rating that counts as felt."""
    scale: _Scale | None = None
    """Lowest and highest rating or intensity in the source."""
    labelled: Literal["each", "first"] = "each"
    """Whether the label of a conversation's row is of this message, or of the person's first alone."""

    @cached_property
    def by_label(self) -> Mapping[str, _Items]:
        """Case-folded label -> its feelings."""
        return {
            label.strip().casefold(): (to,) if isinstance(to, str) else to
            for label, to in self.labels.items()
        }

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.columns.labels is None) == (not self.ratings):
            raise expected("columns.labels with [labels], or [ratings]")
        if bool(self.labels) != (self.columns.labels is not None):
            raise expected("[labels], which says what each label of columns.labels means")
        if (self.ratings and self.felt is None) or (
            self.scale is None and (self.ratings or self.columns.intensity)
        ):
            raise expected(
                "scale = [lowest, highest], and felt, the lowest rating that counts, with [ratings]"
            )
        if self.scale is not None and self.scale[0] >= self.scale[1]:
            raise expected("scale = [lowest, highest]")
        if (self.columns.conversation is None) != (self.columns.speaker is None):
            raise expected("conversation and speaker, or neither")
        return self


class PreferencesMap(_Map):
    """A map of a table of replies that people compared."""

    columns: Preferences
    winners: dict[str, str] = {}
    """Value of the winner column -> the column of the reply that it names."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if unknown := set(self.winners.values()) - set(self.columns.texts):
            raise expected(f"columns of replies ({', '.join(self.columns.texts)}), not {min(unknown)}")
        return self


M = TypeVar("M", FeelingsMap, PreferencesMap)


def ready_made(kind: type[M]) -> tuple[str, ...]:
    """The names of the ready-made maps of a kind."""
    return tuple(path.stem for path in sorted(FOLDER.glob("*.toml")) if _is(kind, _read(path)))


def load_map(kind: type[M], name: str | Path) -> M:
    """The map of a path, or a ready-made one by its name.

    Raises:
        UnknownNameError: there is neither such a file nor such a ready-made map.
        DataError: the file is no such map; every problem is named.
    """
    path = Path(name)
    if not path.suffix and path.name == str(name):
        path = FOLDER / f"{name}.toml"
    if not path.exists():
        raise UnknownNameError("map (a path ends in .toml)", str(name), ready_made(kind))
    value = _read(path)
    columns = value.get("columns")
    if isinstance(columns, dict) and not _is(kind, value):
        own, other = ("feelings", "preferences")[:: 1 if kind is FeelingsMap else -1]
        advice = f"attune data import {other} takes it"
        raise DataError(Problem(str(path), "columns", f"a map of {other}", f"a map of {own}", advice))
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise DataError(problems_of(error, str(path), "", "docs/importing.md lists the keys")) from error


def _is(kind: type[M], value: Mapping[str, Any]) -> bool:
    return bool({"replies", "chats"} & set(value["columns"])) == (kind is PreferencesMap)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(Problem(str(path), "", f"broken TOML: {error}", "a map", "fix the syntax")) from error
