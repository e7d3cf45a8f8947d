"""`Codebook`: the texts that prompts are built from, and which wording they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

OWN_FILE: Final = Path(__file__).with_name("own.json")
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "moodShiftTags": ("moodshifttags", "mood_shift_tags"),
    "q1_lookingFor": ("q1_lookingfor", "q1lookingfor", "q1", "lookingfor"),
    "q2_emotionClarity": ("q2_emotionclarity", "q2emotionclarity", "q2", "emotionclarity"),
    "q3_modelFit": ("q3_modelfit", "q3modelfit", "q3", "modelfit"),
    "q3_followUp_whatFeltOff": ("q3_followup_whatfeltoff", "q3_followup", "q3followup", "whatfeltoff"),
}
"""Question that is no yes/no or comparison -> its names in official files, folded."""


@dataclass(frozen=True)
class Wording:
    """One question in its two stances."""

    text: str
    """HP-facing: asked of the participant ("in your message")."""
    observer: str
    """Asked about the participant ("in the person's message"); the same as `text` where none differs."""


@dataclass(frozen=True)
class Codebook:
    """Every question text and option list that a run asks with.

    `own()` is the wording shipped here; `load_official(path)` replaces what an official
    `annotation_codebook.json` holds and names the rest in `missing`.
    """

    name: str
    """Which wording: "attune-env 1.0", or "official" and the file's name."""
    binary: Mapping[str, Wording]
    pairwise: Mapping[str, str]
    """HP-facing only, as the benchmark has it."""
    questions: Mapping[str, Wording]
    """`moodShiftTags`, `q1_lookingFor`, `q2_emotionClarity`, `q3_modelFit`, `q3_followUp_whatFeltOff`."""
    options: Mapping[str, tuple[str, ...]]
    """Option lists of the four q-questions; Q3's from best to worst. () = asked as free text."""
    panas: Mapping[str, str]
    """Item -> a gloss of what it means ("" where the codebook has none)."""
    branches: Mapping[str, Wording]
    judge: Mapping[str, str]
    missing: tuple[str, ...] = ()
    """Texts that an official file lacked, taken from our own wording."""
    path: str | None = field(default=None, compare=False)
    """The official file that was read; None for the wording shipped here."""

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that name the texts."""
        parts: list[Any] = [self.pairwise, self.options, self.panas, self.judge]
        parts += [
            {k: [w.text, w.observer] for k, w in group.items()}
            for group in (self.binary, self.questions, self.branches)
        ]
        text = json.dumps([dict(part) for part in parts], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def binary_text(self, question: str, *, observer: bool) -> str:
        """The wording of a yes/no question; an id without wording is named as such, never left out."""
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
