"""The test part is the one that was locked, and a change of it is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from attune_data.jsonio import read_json
from tests.data.written.compressed import installed
from tools.written import lock


def test_the_test_part_is_the_locked_one() -> None:
    locked = read_json(lock.LOCK)
    assert (locked["conversations"], locked["sha256"]) == (len(lock.files()), lock.digest())


def test_a_changed_letter_changes_the_digest_and_a_correction_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, tmp_path)
    monkeypatch.setattr(lock, "LOCK", tmp_path / "locked.json")
    lock.main()
    before = read_json(lock.LOCK)
    assert before["conversations"] == 6
    with pytest.raises(SystemExit, match="give the correction"):
        lock.main()
    file = lock.files()[0]
    file.write_bytes(file.read_bytes().replace(b"?", b"!", 1))
    assert lock.digest() != before["sha256"]
    lock.main("w015 turn 1: a question mark")
    after = read_json(lock.LOCK)
    assert after["sha256"] == lock.digest()
    assert after["corrections"] == ["w015 turn 1: a question mark"]
