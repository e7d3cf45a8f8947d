"""The texts of the pages, and the files beside the templates."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from string import Formatter


@cache
def own_words() -> dict[str, str]:
    """The texts of the pages that come with this package."""
    found: dict[str, str] = tomllib.loads(asset("words.toml"))
    return found


def asset(name: str) -> str:
    """The text of a file beside the templates."""
    return files("attune_env.study").joinpath("templates", name).read_text(encoding="utf-8")


def filled(text: str) -> set[str]:
    """The names in braces that a text is filled with; raises ValueError if a brace is not closed."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
