"""Reading the official `annotation_codebook.json`, whose nesting is not fixed: entries go by their ids.

An entry is found wherever it sits: as the value under its id (`"B1": "…"` or `"B1": {"text": …}`), or
as an object that carries the id (`{"id": "B1", "text": …}`). `text` is the HP-facing wording,
`observerText` the observer wording where it differs. Option lists go by the names of their fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from attune_data import affect, constants
from attune_data.codebook.codebook import Codebook, Wording
from attune_data.errors import DataError, Problem
from attune_data.jsonio import read_json

FILE_NAME = "annotation_codebook.json"

_ID_KEYS = ("id", "questionId", "question_id", "key", "code")
_TEXT_KEYS = ("text", "question", "questionText", "label", "wording", "definition", "description")
_OBSERVER_KEYS = ("observerText", "observer_text", "observer")
_QUESTION_ID = re.compile(r"B\d+|PW\d+|general")
_HP_SECTION = re.compile(r"(^|_)hp(_|$)|participant", re.IGNORECASE)
_FIELDS = {
    "q1_lookingFor": ("q1_lookingfor", "q1lookingfor", "q1", "lookingfor"),
    "q2_emotionClarity": ("q2_emotionclarity", "q2emotionclarity", "q2", "emotionclarity"),
    "q3_modelFit": ("q3_modelfit", "q3modelfit", "q3", "modelfit"),
    "q3_followUp_whatFeltOff": ("q3_followup_whatfeltoff", "q3_followup", "q3followup", "whatfeltoff"),
    "moodShiftTags": ("moodshifttags", "mood_shift_tags"),
}


def find_official(data: Path) -> Path | None:
    """The codebook beside `data`: in its folder or one of the two above; None where there is none."""
    folder = data if data.is_dir() else data.parent
    for place in (folder, *folder.absolute().parents[:2]):
        if (place / FILE_NAME).is_file():
            return place / FILE_NAME
    return None


def load_official(path: str | Path) -> Codebook:
    """Our codebook with every text that the official file holds put in its place.

    `.missing` names what the file lacks (kept in our wording). Raises DataError if the file cannot be
    read, or holds not one question id that the benchmark knows.
    """
    path = Path(path)
    raw = read_json(path)
    own = Codebook.own()
    found: dict[str, Any] = {}
    facing: dict[str, str] = {}
    for key, entry, section in _entries(raw):
        if key not in found or _rank(entry) > _rank(found[key]):
            found[key] = entry
        if _HP_SECTION.search(section) and isinstance(entry, str):
            facing[key] = entry  # a map of its own for the HP-facing wording
    binary, pairwise, questions = dict(own.binary), dict(own.pairwise), dict(own.questions)
    branches, panas = dict(own.branches), dict(own.panas)
    options = dict(own.options)
    missing: list[str] = []
    for key in constants.BINARY_IDS:
        _take(binary, key, found.get(key), missing)
        if key in facing:
            binary[key] = replace(binary[key], text=facing[key])
    for key in constants.PAIRWISE_IDS:
        if wording := _wording(found.get(key)):
            pairwise[key] = wording.text
        else:
            missing.append(key)
    if len(missing) == len(constants.BINARY_IDS) + len(constants.PAIRWISE_IDS):
        raise DataError(
            Problem(str(path), "", "none of the question ids B1–B505, PW1–PW16",
                    "the benchmark's annotation codebook", "leave it away to use our own wording")
        )  # fmt: skip
    for key, names in _FIELDS.items():
        entry = next((found[name] for name in names if name in found), None)
        _take(questions, key, entry, missing)
        if key in options:
            if listed := _options(entry):
                options[key] = listed
            elif key == "q3_followUp_whatFeltOff":
                options[key] = ()  # asked as free text: options of ours are not what people chose from
            else:
                missing.append(f"{key}.options")
    for branch in constants.BRANCHES:
        _take(branches, branch, found.get(branch), missing)
    for item in affect.EMOTIONS:
        if wording := _wording(found.get(item.casefold())):
            panas[item] = wording.text
    return replace(
        own, name=f"official ({path.name})", binary=binary, pairwise=pairwise, questions=questions,
        options=options, panas=panas, branches=branches, missing=tuple(missing), path=str(path),
    )  # fmt: skip


def _take(group: dict[str, Wording], key: str, entry: object, missing: list[str]) -> None:
    if wording := _wording(entry):
        group[key] = wording
    else:
        missing.append(key)


def _entries(node: Any, section: str = "") -> Iterator[tuple[str, Any, str]]:
    """Every (id, entry, key above it) in the file; ids of questions as written, other names folded.

    Maps of HP-facing wording come last, so that an observer map beside one gives the observer text.
    """
    if isinstance(node, Mapping):
        for name in _ID_KEYS:
            if isinstance(node.get(name), str):
                yield _fold(node[name]), node, section
                break
        for key, child in sorted(node.items(), key=lambda pair: bool(_HP_SECTION.search(str(pair[0])))):
            if _wording(child) or _options(child):
                yield _fold(str(key)), child, section
            yield from _entries(child, str(key))
    elif isinstance(node, list):
        for child in node:
            yield from _entries(child, section)


def _rank(entry: Any) -> int:
    """How well an entry says what its id is: 2 a text or options, 1 a section of questions, 0 nothing."""
    if not (_wording(entry) or _options(entry)):
        return 0
    inside = list(entry.values()) if isinstance(entry, Mapping) else []
    ids = [*(entry if isinstance(entry, Mapping) else ()), *(key for key, _, _ in _entries(inside))]
    return 1 if any(_QUESTION_ID.fullmatch(str(key)) for key in ids) else 2


def _fold(name: str) -> str:
    name = name.strip()
    return name if _QUESTION_ID.fullmatch(name) else name.casefold()


def _wording(entry: object) -> Wording | None:
    if isinstance(entry, str) and entry.strip():
        return Wording(entry.strip(), entry.strip())
    if not isinstance(entry, Mapping):
        return None
    text = next(
        (entry[k].strip() for k in _TEXT_KEYS if isinstance(entry.get(k), str) and entry[k].strip()), None
    )
    if text is None:
        return None
    observer = next(
        (entry[k].strip() for k in _OBSERVER_KEYS if isinstance(entry.get(k), str) and entry[k].strip()), text
    )
    return Wording(text, observer)


def _options(entry: object) -> tuple[str, ...]:
    if isinstance(entry, Mapping):
        entry = next(
            (entry[k] for k in ("options", "choices", "values") if isinstance(entry.get(k), list)), None
        )
    if not isinstance(entry, list) or not entry:
        return ()
    texts = [_wording(option) for option in entry]
    return tuple(text.text for text in texts if text) if all(texts) else ()
