"""The journal: every finished call of a model in a folder, one line each, saved to disk before it counts.

Its name is `_calls_<provider>_<model>.jsonl`. Lines are only appended. A truncated line (the process was
killed, the disk was full) is ignored, so that only its call is lost. The file is locked while a run has it
open; the operating system releases the lock when the process ends, for whatever reason.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict

from attune_data.errors import DataError, Problem, SettingsError
from attune_data.jsonio import check_regular
from attune_env.results.files import safe_name
from attune_env.running.existing import Overwriting
from attune_episodes.chat.completion import Amount, Count, Usage

_OVERWRITING: Final = (b'{"v":1,"anew":', b'{"v":1,"made":')
"""The beginning of lines about overwriting, so that all others can be skipped unread."""


@dataclass(frozen=True, slots=True)
class CallKey:
    """The identity of a call. Equal keys mean that exactly the same was asked in the same way."""

    group: str
    """Conversation, mode and sample, as in `group_of`."""
    id: str
    """The request's id, or that of a judge's call."""
    digest: str
    """A digest of model, messages and everything else that determines the answer: 16 hex digits."""


def group_of(conversation: str, mode: str, sample: int) -> str:
    """The calls that are replaced together: one conversation in one mode and sample."""
    return f"{mode}/{sample}/{conversation}"


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished call: answered, whether or not the answer can be read."""

    reply: str
    reason: str
    """`ok` or `unparsed:<code>`."""
    finish: str = "stop"
    reasoning: str = ""
    usage: Usage = field(default_factory=Usage)
    """Usage of all its answered attempts."""
    asks: Count = 1
    """Number of attempts until the answer could be read, at least 1."""
    attempts: Count = 1
    """Number of HTTP requests, including failed ones."""
    seconds: Amount = 0.0
    """Seconds from the first attempt to the end, including waiting."""
    structured: bool = False
    """Whether the server enforced the JSON schema of the answer."""
    served: str = ""
    """The model that the server named."""
    unread: tuple[tuple[str, str], ...] = ()
    """(reply, reason) for the answers before the last."""
    text_in: str = ""
    """`reasoning` or `tool_calls` if the only text of the answer is there."""
    refusal: str = ""
    """The words of a refusal; its reply is empty."""

    def without_asides(self) -> Finished:
        """The call without the texts that only the journal stores, which a result does not need."""
        return replace(self, reasoning="", unread=tuple(("", reason) for _, reason in self.unread))


class Line(BaseModel):
    """A line: a finished call, facts about the server, or the beginning or end of overwriting."""

    model_config = ConfigDict(strict=True)

    v: Literal[1]
    """Version of the layout; lines of other versions are skipped."""
    group: str = ""
    id: str = ""
    digest: str = ""
    call: Finished | None = None
    facts: dict[str, bool] = {}
    anew: dict[str, str] = {}
    """Group -> identity of its new result."""
    made: str | None = None
    """A group whose result has been written."""


def journal_name(em_model: str) -> str:
    """The name of a model's journal."""
    return f"_calls_{safe_name(em_model, official=True)}.jsonl"


class Journal(AbstractContextManager["Journal"]):
    """A model's journal in a folder, open and locked.

    Replies remain in the file; only their positions are kept in memory.
    """

    def __init__(self, folder: Path, em_model: str, option: str = "-o") -> None:
        """`option` is the option that names the folder, for error messages."""
        self.path = folder / journal_name(em_model)
        self.passed_over = 0
        """Number of lines that could not be read."""
        self.facts: dict[str, bool] = {}
        """Facts about the server found by earlier runs."""
        self.overwriting = Overwriting()
        self._due: dict[str, str] = {}
        """Group -> identity of the result that this run overwrites, until its first answer is written."""
        self._answered = False
        self._places: dict[str, dict[tuple[str, str], tuple[int, int]]] = {}
        """Group -> id and digest of a call -> position and length of its line."""
        self._waiting: list[tuple[bytes, asyncio.Future[int]]] = []
        self._writing: asyncio.Task[None] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        check_regular(self.path)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._file = os.open(self.path, flags, 0o666)
        try:
            _lock(self._file, self.path, option)
            self._reader = self.path.open("rb")
            self._end = self._read()
        except BaseException:
            os.close(self._file)
            raise

    def __exit__(self, *_: object) -> None:
        """Close the file, which releases the lock."""
        self._reader.close()
        os.close(self._file)

    def get(self, key: CallKey) -> Finished | None:
        """The finished call with that key; None if there is none."""
        place = self._places.get(key.group, {}).get((key.id, key.digest))
        if place is None:
            return None
        self._reader.seek(place[0])
        line = _line(self._reader.read(place[1]))
        return line.call if line else None  # the file was changed by another program: ask again

    def holds(self, group: str) -> bool:
        """Whether there is any finished call of a group."""
        return group in self._places

    async def add(self, key: CallKey, call: Finished) -> None:
        """Write a finished call; returns once it is on disk. Raises OSError if it cannot be written."""
        self._answered = True
        data = _encoded({**asdict(key), "call": asdict(call)})
        place = await self._write(data)
        self._places.setdefault(key.group, {})[key.id, key.digest] = (place, len(data))

    async def note(self, facts: Mapping[str, bool]) -> None:
        """Write facts about the server for later runs."""
        self.facts |= facts
        await self._write(_encoded({"facts": dict(facts)}))

    def begin(self, groups: Mapping[str, str]) -> None:
        """Stop earlier calls of these groups from counting; each group has the identity of its new result.

        On disk, they count until the first new call is written, so that a run without an answer changes
        nothing.
        """
        self._due |= groups
        for group in groups:
            self._places.pop(group, None)

    async def made(self, group: str) -> None:
        """Record that the result of a group being overwritten has been written."""
        self._due.pop(group, None)
        if group in self.overwriting.left:
            await self._write(_encoded({"made": group}))
            self.overwriting.take({}, group)

    async def _write(self, data: bytes) -> int:
        """Write a line together with all waiting ones in one disk operation; returns its position."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((data, future))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        # the line of a task that is cancelled meanwhile is written anyway
        return await asyncio.shield(future)

    async def _write_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                due = dict(self._due) if self._answered else {}
                head = _encoded({"anew": due}) if due else b""
                try:
                    await asyncio.to_thread(self._append, head + b"".join(data for data, _ in batch))
                except OSError as error:
                    for _, future in batch:
                        if not future.done():
                            future.set_exception(error)
                            future.exception()  # there may be no task left that waits for it
                    continue
                if due:
                    self.overwriting.take(due)
                    self._due.clear()
                place = self._end + len(head)
                for data, future in batch:
                    if not future.done():
                        future.set_result(place)
                    place += len(data)
                self._end = place
        finally:
            self._writing = None

    async def settle(self) -> None:
        """Wait until nothing is left to be written."""
        while self._writing is not None:
            await asyncio.wait([self._writing])

    def _append(self, data: bytes) -> None:
        """Append and wait for the disk; if this fails, remove what was written."""
        try:
            os.lseek(self._file, self._end, os.SEEK_SET)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self._end)
            raise

    def _read(self) -> int:
        """Index the position of every call; returns where the next line goes."""
        place = 0
        torn = False
        for data in self._reader:
            torn = not data.endswith(b"\n")
            line = _line(data)
            if line is None:
                self.passed_over += 1
            else:
                self.facts |= line.facts
                self.overwriting.take(line.anew, line.made)
                for group in line.anew:
                    self._places.pop(group, None)
                if line.call is not None:
                    where = self._places.setdefault(line.group, {})
                    where[line.id, line.digest] = (place, len(data))
            place += len(data)
        if torn:
            self._end = place
            self._append(b"\n")
            place += 1
        return place


def overwriting_in(journal: Path) -> Overwriting:
    """Read the overwriting in a journal, without its calls and its lock; empty if there is no journal."""
    found = Overwriting()
    if journal.is_file():
        with journal.open("rb") as lines:
            for data in lines:
                if data.startswith(_OVERWRITING) and (line := _line(data)):
                    found.take(line.anew, line.made)
    return found


def _encoded(line: Mapping[str, Any]) -> bytes:
    # escaped, so that no text of a model can break a line or contain a lone surrogate
    return (json.dumps({"v": 1, **line}, separators=(",", ":")) + "\n").encode("ascii")


def _line(data: bytes) -> Line | None:
    """Decode a line; None if it is truncated, damaged or of another version."""
    try:
        return Line.model_validate_json(data)
    except ValueError:
        return None


def _lock(file: int, path: Path, option: str) -> None:
    """Lock an open file for this process; raises SettingsError if another process has the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, 2**40, os.SEEK_SET)  # beyond all lines, so that readers are not locked out
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        raise SettingsError(
            f"another run of this model is writing to {path.parent} (it has locked {path.name}); wait until "
            f"it ends, or choose another {option}"
        ) from None
    except OSError as error:
        raise DataError(
            Problem(str(path), "", f"a file that cannot be locked ({error.strerror})",
                    "a folder on a disk with file locks", f"choose another {option}")
        ) from error  # fmt: skip
