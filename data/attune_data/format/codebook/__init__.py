"""The wording of every question: ours, or that of the official codebook if the user has it.

The nesting of the official `annotation_codebook.json` is not fixed: an entry is found wherever it sits, as
the value under its id (`"B1": "…"` or `"B1": {"text": …}`), or as an object that carries the id
(`{"id": "B1", "text": …}`). `text` is the HP-facing wording, `observerText` the observer wording if it
differs. Option lists are found under the names of their fields.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from attune_data.errors import DataError, Problem
from attune_data.format import affect, constants
from attune_data.jsonio import read_json

__all__ = ["FILE_NAME", "Codebook", "find_official", "load_official"]

OWN_FILE: Final = Path(__file__).with_name("own.json")
FILE_NAME: Final = "annotation_codebook.json"
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "moodShiftTags": ("moodshifttags", "mood_shift_tags"),
    "q1_lookingFor": ("q1_lookingfor", "q1lookingfor", "q1", "lookingfor"),
    "q2_emotionClarity": ("q2_emotionclarity", "q2emotionclarity", "q2", "emotionclarity"),
    "q3_modelFit": ("q3_modelfit", "q3modelfit", "q3", "modelfit"),
    "q3_followUp_whatFeltOff": ("q3_followup_whatfeltoff", "q3_followup", "q3followup", "whatfeltoff"),
}
"""Question that is neither yes/no nor a comparison -> its names in official files, folded."""
_ID_KEYS = ("id", "questionId", "question_id", "key", "code")
_TEXT_KEYS = ("text", "question", "questionText", "label", "wording", "definition", "description")
_OBSERVER_KEYS = ("observerText", "observer_text", "observer")
_QUESTION_ID = re.compile(r"B\d+|PW\d+|general")
_HP_SECTION = re.compile(r"(^|_)hp(_|$)|participant", re.IGNORECASE)


@dataclass(frozen=True)
class Wording:
    """One question in its two wordings."""

    text: str
    """HP-facing: asked of the participant ("in your message")."""
    observer: str
    """Asked about the participant ("in the person's message"); `text` if there is no separate wording."""


@dataclass(frozen=True)
class Codebook:
    """Every question text and option list that a run uses.

    `own()` is the wording shipped here; `load_official(path)` takes what an official
    `annotation_codebook.json` contains and names the rest in `missing`.
    """

    name: str
    """Name of the wording: "attune-env 1.0", or "official" and the file's name."""
    binary: Mapping[str, Wording]
    pairwise: Mapping[str, str]
    """HP-facing only, as the benchmark has it."""
    questions: Mapping[str, Wording]
    """`moodShiftTags`, `q1_lookingFor`, `q2_emotionClarity`, `q3_modelFit`, `q3_followUp_whatFeltOff`."""
    options: Mapping[str, tuple[str, ...]]
    """Option lists of the four q-questions; Q3's from best to worst. () = asked as free text."""
    panas: Mapping[str, str]
    """Item -> a short explanation ("" where the codebook has none)."""
    branches: Mapping[str, Wording]
    judge: Mapping[str, str]
    missing: tuple[str, ...] = ()
    """Texts that the official file lacks and that are taken from our own wording."""
    path: str | None = field(default=None, compare=False)
    """The official file that was read; None for the wording shipped here."""

    @cached_property
    def fingerprint(self) -> str:
        """A fingerprint of the texts: 16 hex digits."""
        parts: list[Any] = [dict(part) for part in (self.pairwise, self.options, self.panas, self.judge)]
        for group in (self.binary, self.questions, self.branches):
            parts.append({key: [wording.text, wording.observer] for key, wording in group.items()})
        text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def binary_text(self, question: str, *, observer: bool) -> str:
        """The wording of a yes/no question; for an id without one, the text says so."""
        wording = self.binary.get(question)
        if wording is None:
            return f"Question {question} (this codebook has no wording for it)"
        return wording.observer if observer else wording.text

    def pairwise_text(self, question: str) -> str:
        """The wording of a comparison question; an unknown id falls back to the general one."""
        return self.pairwise.get(question) or self.pairwise["general"]

    @staticmethod
    @cache
    def own() -> Codebook:
        """The wording written for this project from the published constructs."""
        raw = json.loads(OWN_FILE.read_text(encoding="utf-8"))

        def both(entries: Mapping[str, Any]) -> dict[str, Wording]:
            return {key: Wording(entry["text"], entry["observerText"]) for key, entry in entries.items()}

        def texts(entries: Mapping[str, Any]) -> dict[str, str]:
            return {key: entry["text"] for key, entry in entries.items()}

        return Codebook(
            name=f"{raw['name']} {raw['version']}",
            binary=both(raw["binary"]),
            pairwise=texts(raw["pairwise"]),
            questions=both({key: raw[key] for key in FIELDS}),
            options={key: tuple(raw[key]["options"]) for key in FIELDS if "options" in raw[key]},
            panas=texts(raw["panas"]["items"]),
            branches=both(raw["fourBranchScores"]["branches"]),
            judge=texts(raw["judge"]["dimensions"]),
        )


def find_official(data: Path) -> Path | None:
    """The codebook beside `data`: in its folder or one of the two above; None if there is none."""
    folder = data if data.is_dir() else data.parent
    for place in (folder, *folder.absolute().parents[:2]):
        if (place / FILE_NAME).is_file():
            return place / FILE_NAME
    return None


def load_official(path: str | Path) -> Codebook:
    """Our codebook with every text replaced for which the official file has one.

    `.missing` names what the file lacks (kept in our wording). Raises DataError if the file cannot be
    read, or contains no question id of the benchmark.
    """
    path = Path(path)
    own = Codebook.own()
    found: dict[str, Any] = {}
    facing: dict[str, str] = {}
    for key, entry, section in _entries(read_json(path)):
        if key not in found or _rank(entry) > _rank(found[key]):
            found[key] = entry
        if _HP_SECTION.search(section) and isinstance(entry, str):
            facing[key] = entry  # a separate map for the HP-facing wording
    missing: list[str] = []

    def taken(key: str, own_wording: Wording, *names: str) -> Wording:
        entry = next((found[name] for name in (key, *names) if name in found), None)
        if (wording := _wording(entry)) is None:
            missing.append(key)
            return own_wording
        return replace(wording, text=facing[key]) if key in facing else wording

    binary = {key: taken(key, own.binary[key]) for key in constants.BINARY_IDS}
    pairwise = {key: taken(key, Wording(own.pairwise[key], "")).text for key in constants.PAIRWISE_IDS}
    if len(missing) == len(binary) + len(pairwise):
        raise DataError(
            Problem(str(path), "", "none of the question ids B1–B505, PW1–PW16",
                    "the benchmark's annotation codebook", "leave it out to use our own wording")
        )  # fmt: skip
    questions, options = {}, dict(own.options)
    for key, names in FIELDS.items():
        questions[key] = taken(key, own.questions[key], *names)
        listed = next((_options(found[name]) for name in names if name in found), ())
        if listed or key == "q3_followUp_whatFeltOff":
            options[key] = listed  # (): asked as free text, since people did not choose from our options
        elif key in options:
            missing.append(f"{key}.options")
    branches = {key: taken(key, own.branches[key]) for key in constants.BRANCHES}
    glosses = {item: _wording(found.get(item.casefold())) for item in affect.EMOTIONS}
    panas = {item: gloss.text if gloss else own.panas[item] for item, gloss in glosses.items()}
    return replace(
        own, name=f"official ({path.name})", binary=binary, pairwise=pairwise, questions=questions,
        options=options, panas=panas, branches=branches, missing=tuple(missing), path=str(path),
    )  # fmt: skip


def _entries(node: Any, section: str = "") -> Iterator[tuple[str, Any, str]]:
    """Every (id, entry, parent key) in the file; question ids as written, other names folded.

    Maps of HP-facing wording come last, so that an observer map beside one gives the observer text.
    """
    if isinstance(node, Mapping):
        if name := _first(node, _ID_KEYS):
            yield _fold(name), node, section
        for key, child in sorted(node.items(), key=lambda pair: bool(_HP_SECTION.search(str(pair[0])))):
            if _wording(child) or _options(child):
                yield _fold(str(key)), child, section
            yield from _entries(child, str(key))
    elif isinstance(node, list):
        for child in node:
            yield from _entries(child, section)


def _rank(entry: Any) -> int:
    """How much an entry says about its id: 2 for a text or options, 1 for a section of questions, else 0."""
    if not (_wording(entry) or _options(entry)):
        return 0
    inside = entry if isinstance(entry, Mapping) else {}
    ids = [*inside, *(key for key, _, _ in _entries(list(inside.values())))]
    return 1 if any(_QUESTION_ID.fullmatch(str(key)) for key in ids) else 2


def _fold(name: str) -> str:
    name = name.strip()
    return name if _QUESTION_ID.fullmatch(name) else name.casefold()


def _first(entry: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The text of the first of these fields that has one."""
    given = (entry.get(name) for name in names)
    return next((text.strip() for text in given if isinstance(text, str) and text.strip()), None)


def _wording(entry: object) -> Wording | None:
    if isinstance(entry, str):
        entry = {"text": entry}
    if not isinstance(entry, Mapping) or (text := _first(entry, _TEXT_KEYS)) is None:
        return None
    return Wording(text, _first(entry, _OBSERVER_KEYS) or text)


def _options(entry: object) -> tuple[str, ...]:
    if isinstance(entry, Mapping):
        lists = (entry.get(name) for name in ("options", "choices", "values"))
        entry = next((listed for listed in lists if isinstance(listed, list)), ())
    texts = [_wording(option) for option in entry] if isinstance(entry, list) else []
    return tuple(text.text for text in texts if text) if all(texts) else ()
