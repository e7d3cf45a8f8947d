"""Lock the test part of the written corpus: `python -m tools.written.lock` writes the digest of its files.

Done once its readers have accepted it and before any fitted reader sees it. Afterwards only facts are
corrected, and each correction is listed beside the new digest.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any, Final

from attune_data.jsonio import read_json
from attune_data.source.corpora import corpus

LOCK: Final = Path(__file__).with_name("locked.json")


def digest() -> str:
    """SHA-256 over the names and contents of the test part's files, in the order of their names."""
    found = hashlib.sha256()
    for file in files():
        found.update(file.name.encode())
        found.update(file.read_bytes())
    return found.hexdigest()


def files() -> list[Path]:
    """The files of the test part."""
    return sorted((corpus("written").folder / "test").glob("*.json"))


def main(correction: str = "") -> None:
    """Writes the lock, with a correction added to those before."""
    known: dict[str, Any] = read_json(LOCK) if LOCK.exists() else {"corrections": []}
    if LOCK.exists() and not correction:
        raise SystemExit(f'{LOCK.name} exists: give the correction: "p51-test-0003 turn 2: B13 is yes"')
    corrections = [*known["corrections"], *([correction] if correction else [])]
    value = {"conversations": len(files()), "sha256": digest(), "corrections": corrections}
    LOCK.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:2])
