"""Prompt templates: folders of Jinja files that are easy to read and edit.

`full/` follows the protocol: one growing thread in which earlier answers are replaced by a placeholder.
`compact/` puts everything into one short message, for small models; its results are marked. To use your own
folder, copy one, edit it, and pass its path as `Settings(prompts=…)`.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.jsonio import read_json, read_text

if TYPE_CHECKING:
    from jinja2 import Template

FOLDER: Final = Path(__file__).parent
NAMES: Final = ("full", "compact")
JOINED: Final = (
    "Several questions follow, each under the name of its stage. Answer them in one JSON object with the "
    "keys {stages}: under each the JSON object that is asked for there."
)
"""The text before the questions if a turn asks several at once, unlike the protocol."""
TEMPLATES: Final = ("system", "background", "draft", "assess", "assess_hp", "prefer", "reflect")
JUDGE: Final = "judge"
"""The draft judge's template. If a set lacks it, that of `full` is used."""


@dataclass(frozen=True)
class PromptSet:
    """The templates in one folder."""

    name: str
    """`full`, `compact`, or "custom" and the folder's name."""
    texts: tuple[str, ...]
    """Template sources, in the order of `TEMPLATES`."""
    threaded: bool
    """If True, each turn adds messages to a thread; if False, every request is one self-contained message."""
    placeholder: str
    """The text that replaces the model's earlier answers in the thread. It is deliberately distinctive, so
    that it is never mistaken for a reply."""
    judge: str
    """Source of the draft judge's template. It is not part of `fingerprint`, because the evaluated model
    never sees it."""

    @staticmethod
    def named(name: str) -> PromptSet:
        """Load the set with that name, or the one in the folder at that path.

        Raises UnknownNameError if it is neither, DataError for a folder that lacks a template.
        """
        if not isinstance(name, (str, Path)):
            raise SettingsError(
                f"prompts is {show(name)}; expected {', '.join(NAMES)} or the path of a folder of templates"
            )
        if name in NAMES:
            return _packaged(str(name))
        if not os.path.isdir(name):  # also False for anything that cannot be a path
            raise UnknownNameError("prompt set", name, (*NAMES, "a folder of templates"))
        return _load(Path(name), f"custom ({Path(name).name})", foreign=True)

    @cached_property
    def fingerprint(self) -> str:
        """A fingerprint of the templates: 16 hex digits."""
        return fingerprint_of([self.texts, self.threaded, self.placeholder])

    @cached_property
    def judge_fingerprint(self) -> str:
        """A fingerprint of the draft judge's template: 16 hex digits."""
        return fingerprint_of(self.judge)

    def render(self, template: str, values: dict[str, Any]) -> str:
        """Render a template; raises DataError naming the template if it is faulty."""
        source = self.judge if template == JUDGE else self.texts[TEMPLATES.index(template)]
        try:
            return compiled(source).render(values).strip()
        except Exception as error:  # a custom template may raise anything
            raise DataError(
                Problem(f"prompts {self.name}", f"{template}.md", str(error), "a template that renders",
                        "compare it with the one in the package")
            ) from error  # fmt: skip


def fingerprint_of(parts: object) -> str:
    """16 hex digits that identify a JSON value."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@lru_cache(maxsize=64)
def compiled(source: str) -> Template:
    """A compiled template; sandboxed, since templates may come from others."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        autoescape=False,  # chat text, not HTML
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.from_string(source)


@cache
def _packaged(name: str) -> PromptSet:
    return _load(FOLDER / name, name)


def _load(folder: Path, name: str, *, foreign: bool = False) -> PromptSet:
    """Load the set in a folder; in a folder outside the package, no file may be a link that leads out of it.

    A set may come from somebody else, and its content is sent to a model, so a link could leak any file.
    """
    files = [f"{template}.md" for template in TEMPLATES]
    problems = [
        Problem(str(folder), file, "no such file", "a template", "copy it from the package")
        for file in files
        if not (folder / file).is_file()
    ]
    if foreign:
        home = folder.resolve()
        problems = [
            Problem(str(folder), file, "a link that leads out of the folder", "a file of the set",
                    "replace it with a copy")
            for file in (*files, f"{JUDGE}.md", "set.json")
            if (folder / file).is_symlink() and home not in (folder / file).resolve().parents
        ] or problems  # fmt: skip
    if problems:
        raise DataError(problems)
    about, judge = folder / "set.json", folder / f"{JUDGE}.md"
    facts = read_json(about) if about.is_file() else {}
    if not isinstance(facts, dict):
        raise DataError(Problem(str(about), "", "not an object", '{"threaded": …, "placeholder": …}'))
    return PromptSet(
        name=name,
        texts=tuple(read_text(folder / file) for file in files),
        threaded=bool(facts.get("threaded", True)),
        placeholder=str(facts.get("placeholder", "[[ your earlier answer is not shown here ]]")),
        judge=read_text(judge if judge.is_file() else FOLDER / "full" / f"{JUDGE}.md"),
    )
