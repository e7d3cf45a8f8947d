"""The events of a study: one append-only table, of which a participant's state is the fold."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from attune_data.errors import DataError, Problem, UnknownNameError, show

VERSION: Final = 1
"""The layout of the database, in SQLite's `user_version`."""
INVITED, STOPPED, WITHDRAWN, SHOWN = "invited", "stopped", "withdrawn", "shown:"
"""Steps besides those of the pages; the last is a prefix: when the page of a step was first shown."""
_TABLES: Final = """
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    participant TEXT NOT NULL,
    step TEXT NOT NULL,
    payload TEXT NOT NULL,
    time REAL NOT NULL,
    UNIQUE (participant, step)
);
CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE designs (fingerprint TEXT PRIMARY KEY, content TEXT NOT NULL);
"""
_LINK: Final = re.compile(r"(p[0-9a-f]{8})-([0-9a-f]{40})")
Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: a step of a participant that is now answered."""

    participant: str
    step: str
    payload: Payload
    time: float
    """Seconds since 1970."""


@dataclass(frozen=True)
class State:
    """Where a participant is: what each step was answered with, and when."""

    participant: str
    answers: Mapping[str, Payload] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)

    def answer(self, step: str) -> Payload:
        """The answer to a step; {} if there is none yet."""
        return self.answers.get(step, {})

    @property
    def withdrawn(self) -> bool:
        """Whether the participant has withdrawn."""
        return WITHDRAWN in self.answers

    @property
    def over(self) -> bool:
        """Whether nothing more is asked: finished, stopped or withdrawn."""
        return not {"debrief", STOPPED, WITHDRAWN}.isdisjoint(self.answers)

    @property
    def begun(self) -> bool:
        """Whether the participant has consented."""
        return "consent" in self.answers

    @property
    def cost(self) -> float:
        """Dollars spent on the participant's assistants, as far as known."""
        return sum(payload.get("cost") or 0.0 for payload in self.answers.values())


def fold(participant: str, events: Iterable[Event]) -> State:
    """The state that the events of a participant add up to; the first answer to a step counts."""
    answers: dict[str, Payload] = {}
    times: dict[str, float] = {}
    for event in events:
        if event.participant == participant and event.step not in answers:
            answers[event.step] = event.payload
            times[event.step] = event.time
    return State(participant, answers, times)


class Store:
    """The database of a study, readable by its owner alone; used by one thread at a time.

    Each event is on the disk before the call returns. Every call raises DataError if the file is none of
    ours, or cannot be used, such as on a full disk; nothing is recorded then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        fresh = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.close(fresh)
        os.chmod(path, 0o600)
        self._lock = threading.RLock()
        self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            self._open()
        except BaseException:
            self._db.close()
            raise

    def _open(self) -> None:
        with self._using():
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.execute("PRAGMA secure_delete = ON")
        with self._writing():
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:
                for statement in _TABLES.split(";"):
                    self._db.execute(statement)
                self._db.execute("INSERT INTO secrets VALUES ('links', ?)", (secrets.token_bytes(32),))
                self._db.execute(f"PRAGMA user_version = {VERSION}")
            elif version != VERSION:
                found, wanted = f"version {version}", f"version {VERSION}"
                advice = "use the version of attune-env that made it"
                raise DataError(Problem(str(self.path), "", found, wanted, advice))
            (self._secret,) = self._db.execute("SELECT value FROM secrets WHERE name = 'links'").fetchone()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        with self._using():
            self._db.close()

    @contextmanager
    def _using(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.DatabaseError as error:
                wanted, advice = "the database of a study", "restore it from a backup"
                if isinstance(error, sqlite3.OperationalError):
                    wanted = "a file that can be read and written"
                    advice = "make room on its disk, see that you may write it, then try again"
                raise DataError(Problem(str(self.path), "", str(error), wanted, advice)) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._using():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def invite(self, expires: float) -> str:
        """Add a participant whose link ends at a time; returns the participant's id."""
        participant = f"p{secrets.token_hex(4)}"
        if not self._add(participant, INVITED, {"expires": expires}):
            return self.invite(expires)
        return participant

    def add(self, participant: str, step: str, payload: Payload) -> bool:
        """Record the answer to a step; False if it is answered already, or the participant has withdrawn."""
        with self._using():
            known = self._db.execute(
                "SELECT SUM(step = ?), SUM(step = ?) FROM events WHERE participant = ?",
                (INVITED, WITHDRAWN, participant),
            ).fetchone()
            return known == (1, 0) and self._add(participant, step, payload)

    def _add(self, participant: str, step: str, payload: Payload) -> bool:
        text = json.dumps(payload, ensure_ascii=False, allow_nan=False)
        with self._writing():
            # once more inside the transaction: another process may have withdrawn or answered meanwhile
            done = self._db.execute(
                "INSERT INTO events (participant, step, payload, time) SELECT ?, ?, ?, ? WHERE NOT EXISTS "
                "(SELECT 1 FROM events WHERE participant = ? AND step IN (?, ?))",
                (participant, step, text, time.time(), participant, step, WITHDRAWN),
            )
            return done.rowcount == 1

    def state(self, participant: str) -> State:
        """The state of a participant; raises UnknownNameError if there is none of that id."""
        with self._using():
            rows = self._db.execute(
                "SELECT participant, step, payload, time FROM events WHERE participant = ? ORDER BY id",
                (participant,),
            ).fetchall()
        if not rows:
            raise UnknownNameError("participant", participant, self.participants())
        return fold(participant, (Event(p, step, json.loads(text), at) for p, step, text, at in rows))

    def participants(self) -> list[str]:
        """The ids of all participants, in the order of their invitations."""
        with self._using():
            rows = self._db.execute("SELECT participant FROM events GROUP BY participant ORDER BY MIN(id)")
            return [participant for (participant,) in rows.fetchall()]

    def states(self) -> list[State]:
        """The states of all participants."""
        return [self.state(participant) for participant in self.participants()]

    def spent(self) -> tuple[float, int]:
        """Dollars spent on assistants, as far as known, and how many participants have begun."""
        with self._using():
            dollars, begun = self._db.execute(
                "SELECT COALESCE(SUM(json_extract(payload, '$.cost')), 0), "
                "COALESCE(SUM(step = 'consent'), 0) FROM events"
            ).fetchone()
        return float(dollars), int(begun)

    def withdraw(self, participant: str) -> None:
        """Delete everything that a participant gave, also from the free pages of the file.

        What stays is that the id has withdrawn, and what its assistants cost. If only the free pages could
        not be cleared, such as on a full disk, another call clears them.
        """
        state = self.state(participant)
        if not state.withdrawn:
            with self._writing():
                self._db.execute("DELETE FROM events WHERE participant = ?", (participant,))
                self._db.execute(
                    "INSERT INTO events (participant, step, payload, time) VALUES (?, ?, ?, ?)",
                    (participant, WITHDRAWN, json.dumps({"cost": state.cost}), time.time()),
                )
        with self._using():
            self._db.execute("VACUUM")
            (busy, *_) = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                raise sqlite3.OperationalError("deleted, but another process reads what was there before")

    def keep_design(self, fingerprint: str, content: str) -> None:
        """Keep a design under which answers are given."""
        with self._writing():
            self._db.execute("INSERT OR IGNORE INTO designs VALUES (?, ?)", (fingerprint, content))

    def designs(self) -> dict[str, Any]:
        """Fingerprint -> each design under which answers were given."""
        with self._using():
            rows = self._db.execute(
                "SELECT fingerprint, content FROM designs ORDER BY fingerprint"
            ).fetchall()
        return {fingerprint: json.loads(content) for fingerprint, content in rows}

    def link(self, participant: str) -> str:
        """The last part of a participant's link: the id, and a code that only this database can make."""
        code = hmac.new(self._secret, participant.encode(), hashlib.sha256).hexdigest()[:40]
        return f"{participant}-{code}"

    def holder(self, link: str) -> State | None:
        """The participant whose link this is; None if it is nobody's."""
        match = _LINK.fullmatch(link)
        if match is None or not hmac.compare_digest(self.link(match[1]), link):
            return None
        try:
            return self.state(match[1])
        except UnknownNameError:
            return None


def existing(path: Path) -> Store:
    """The database of a study that has one; raises DataError if nobody was invited yet."""
    if not path.is_file():
        advice = f"invite participants: attune study links {show(str(path.parent))}"
        raise DataError(Problem(str(path), "", "no such file", "the database of a study", advice))
    return Store(path)
