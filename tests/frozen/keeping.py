"""Values as diffable JSON files, and the places where two of them differ."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
DIGITS: Final = 12
"""Significant digits and decimals that are kept of a float.

Sums in another order, on another processor or another Python differ after the twelfth; a score that is
computed in another way differs long before.
"""
SAME: Final = 1.1 * 10.0 ** (1 - DIGITS)
"""One unit of the last kept digit: less is how a number was rounded."""
WIDTH: Final = 220
LISTED: Final = 40
"""Differences that are named; more are counted."""


def digest(value: object, digits: int = 10) -> str:
    """The first hex digits of the SHA-256 of a text, or of a value's JSON, its order of keys included."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def plain(value: object) -> Any:
    """The value as a file holds it: floats rounded, NaN and halves of characters as texts."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float):
        return round(float(f"{value:.{DIGITS}g}"), DIGITS) + 0.0 if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return value


def text_of(value: object, indent: str = "") -> str:
    """JSON in which what fits on a line stands on one."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) + len(indent) <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return short
    inner = indent + " "
    if isinstance(value, list):
        parts, ends = [inner + text_of(v, inner) for v in value], "[]"
    else:
        names = {key: json.dumps(key, ensure_ascii=False) for key in value}
        parts, ends = [f"{inner}{names[key]}: {text_of(v, inner)}" for key, v in value.items()], "{}"
    return f"{ends[0]}\n" + ",\n".join(parts) + f"\n{indent}{ends[1]}"


def kept(name: str) -> Any:
    """A value as it was kept."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def keep(name: str, value: object) -> None:
    """Keeps a value."""
    (FOLDER / f"{name}.json").write_text(text_of(plain(value)) + "\n", encoding="utf-8")


def differences(want: Any, got: Any, place: str = "") -> Iterator[str]:
    """Where two values differ, the order of keys included: `a.b[2]: 1.5, was 1.25`."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in want | got:
            inner = f"{place}.{key}" if place else key
            if key not in got:
                yield f"{inner}: is gone, was {_shown(want[key])}"
            elif key not in want:
                yield f"{inner}: is new: {_shown(got[key])}"
            else:
                yield from differences(want[key], got[key], inner)
        if want.keys() == got.keys() and list(want) != list(got):
            yield f"{place}: keys in another order, {_shown(list(got))}, was {_shown(list(want))}"
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield f"{place}: {len(got)} entries, were {len(want)}"
        for index, (one, other) in enumerate(zip(want, got, strict=False)):
            yield from differences(one, other, f"{place}[{index}]")
    elif type(want) is not type(got) or want != got:
        both = isinstance(want, float) and isinstance(got, float)
        if not both or not math.isclose(want, got, rel_tol=SAME, abs_tol=SAME):
            yield f"{place}: {_shown(got)}, was {_shown(want)}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:160]}…"


def moved(name: str, value: object) -> list[str]:
    """What differs from what was kept, the first LISTED places and how many more; [] where nothing does."""
    found = [f"{name}: {one}" for one in differences(kept(name), plain(value))]
    more = [f"{name}: {len(found) - LISTED} more differences"] if len(found) > LISTED else []
    return found[:LISTED] + more
