"""Read a participant's list of diagnoses: some, none, or not stated.

The questionnaire's own option for none is "None of the above"; an empty list says the same. An absent list,
or a declined answer, states nothing.
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
    """`any` with at least one diagnosis, `none` if none was stated explicitly, otherwise `unknown`."""
    if diagnoses is None:
        return "unknown"
    said = {folded(name) for name in diagnoses}
    if said - NONE - DECLINED:
        return "any"
    return "unknown" if said & DECLINED else "none"
