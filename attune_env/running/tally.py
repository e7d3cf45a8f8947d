"""Count what a run does: for its progress, and for the numbers that files keep of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from attune_env.running.answer import NO_USAGE, Usage
from attune_env.running.control import Control
from attune_env.running.journal import Finished
from attune_episodes.asking import OK


@dataclass
class Tally:
    """Counts of one run; those of calls hold the judges' too, rates are None before there is one."""

    control: Control
    conversations: int = 0
    """Conversations, counted once for each mode and sample, that this run plays."""
    conversations_done: int = 0
    conversations_failed: int = 0
    planned: dict[str, int] = field(default_factory=dict)
    """Group -> its number of calls, for the groups that are counted so far."""
    calls_kept: int = 0
    """Calls that the journal held already."""
    new: int = 0
    """Calls that this run made itself; the next three are of these."""
    readable: int = 0
    asked_again: int = 0
    usage: Usage = NO_USAGE
    started: float = field(default_factory=time.monotonic)

    @property
    def calls(self) -> int:
        """Calls that the conversations take in all; those that are not counted yet take the mean."""
        counted = len(self.planned)
        number = max(self.conversations, counted)
        return round(sum(self.planned.values()) * number / counted) if counted else 0

    def finished(self, call: Finished) -> None:
        """Notes a call of this run."""
        self.new += 1
        self.readable += call.reason == OK
        self.asked_again += call.asks - 1
        self.usage += call.usage

    @property
    def calls_done(self) -> int:
        """Calls that are answered, now or before."""
        return self.new + self.calls_kept

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self.started

    @property
    def parse_rate(self) -> float | None:
        """Share of this run's calls whose answer could be read."""
        return self.readable / self.new if self.new else None

    @property
    def error_rate(self) -> float | None:
        """Share of this run's attempts that failed."""
        ended = self.control.answered + self.control.failed
        return self.control.failed / ended if ended else None

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far."""
        return (self.calls - self.calls_done) * self.seconds / self.new if self.new else None

    def describe(self) -> dict[str, Any]:
        """The numbers that the run's file keeps."""
        return {
            "duration_seconds": round(self.seconds, 3),
            "conversations": self.conversations,
            "conversations_complete": self.conversations_done,
            "conversations_skipped": self.conversations_failed,
            "calls": self.calls,
            "calls_complete": self.calls_done,
            "calls_from_journal": self.calls_kept,
            "attempts": self.control.sent,
            "attempts_failed": self.control.failed,
            "faults": dict(sorted(self.control.faults.items())),
            "asked_again": self.asked_again,
            "parse_rate": self.parse_rate,
            "error_rate": self.error_rate,
            **self.usage.describe(),
        }


def total(calls: Iterable[Finished]) -> Usage:
    """The usage of several calls."""
    return sum((call.usage for call in calls), NO_USAGE)
