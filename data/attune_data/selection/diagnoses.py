"""Read a participant's list of diagnoses: some, none, or nothing stated.

The questionnaire's own option for none is "None of the above"; an empty list says the same. An absent list,
or an answer that was declined, says nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

Stated = Literal["any", "none", "unknown"]

NONE: Final = frozenset({"none of the above", "none"})
DECLINED: Final = frozenset({"prefer not to say", "prefer not to answer", "decline to answer"})


def folded(text: str) -> str:
    """`text` as values and names are compared: without case, outer blanks and differing inner ones."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def stated(diagnoses: Iterable[str] | None) -> Stated:
    """`any` with at least one diagnosis, `none` where it was said that there is none, else `unknown`."""
    if diagnoses is None:
        return "unknown"
    said = {folded(name) for name in diagnoses}
    if said - NONE - DECLINED:
        return "any"
    return "unknown" if said & DECLINED else "none"
