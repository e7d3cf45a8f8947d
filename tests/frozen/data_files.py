"""The bytes of the data files that commands write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.command import attune_here
from tests.frozen.keeping import digest

Json = dict[str, Any]


def written(place: Path) -> Json:
    """Hashes of the files of a split."""
    attune_here("data split sample --into train=0.8,test=0.2 --stratify diagnosis -o parts", place)
    names = sorted(path for path in (place / "parts").rglob("*") if path.is_file())
    return {path.relative_to(place).as_posix(): digest(path.read_text("utf-8")) for path in names}
