"""A study's folder: `study.toml` and the database of its events."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.format.codebook import Codebook, load_official
from attune_data.format.validate import problems_of
from attune_data.jsonio import read_text
from attune_env.study.design import Design
from attune_env.study.texts import asset

FILE: Final = "study.toml"
TO_FILL: Final = "FILL IN:"
"""What a new study's file says where a text is to be filled in."""


@dataclass(frozen=True)
class Study:
    """A study's folder: its design and the wording of its questions."""

    folder: Path
    design: Design
    codebook: Codebook

    @property
    def unfilled(self) -> list[str]:
        """The texts of the design that still say what is to be filled in."""
        texts = re.findall(rf"{TO_FILL}[^\"\\.]*", self.design.model_dump_json())
        return list(dict.fromkeys(text.strip() for text in texts))

    @property
    def database(self) -> Path:
        """The file of its events."""
        return self.folder / "study.sqlite3"


def read_study(folder: Path) -> Study:
    """The study in a folder; raises DataError with every problem of its `study.toml`."""
    path = folder / FILE
    if not path.is_file():
        raise DataError(
            Problem(
                str(folder),
                FILE,
                "no such file",
                "the folder of a study",
                "make one: attune study new FOLDER",
            )
        )
    text = read_text(path)
    try:
        value: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(Problem(str(path), "", str(error), "valid TOML", "fix the syntax there")) from None
    try:
        design = Design.model_validate(value)
    except ValidationError as error:
        raise DataError(problems_of(error, str(path))) from None
    named = design.questions.codebook
    book = Codebook.own() if named is None else load_official(folder / named)
    return Study(folder=folder, design=design, codebook=book)


def new_study(folder: Path) -> Path:
    """Write the commented `study.toml` of a new study; returns its path. Raises if there is one."""
    name = folder.absolute().name
    path = folder / FILE
    if path.exists():
        raise DataError(Problem(str(path), "", "a study", "a new folder", "choose another folder"))
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    words = (line for line in asset("words.toml").splitlines() if line and not line.startswith("#"))
    text = asset("study.toml").replace("NAME", name) + "".join(f"# {line}\n" for line in words)
    try:
        Design.model_validate(tomllib.loads(text))
    except (ValidationError, tomllib.TOMLDecodeError):
        raise SettingsError(
            f"{show(name)} is no name for a study: expected letters, digits, dots, hyphens and underscores"
        ) from None
    path.write_text(text, encoding="utf-8")
    return path
