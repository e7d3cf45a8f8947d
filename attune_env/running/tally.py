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
    """Counts of one run; those of calls hold the judges' too."""

    control: Control
    conversations: int = 0
    """Conversations, counted once for each mode and sample, that this run plays."""
    conversations_done: int = 0
    conversations_failed: int = 0
    planned: dict[str, int] = field(default_factory=dict)
    """Group -> its number of calls, for the groups that are counted so far."""
    calls_done: int = 0
    calls_kept: int = 0
    """Of those, the ones that the journal held already."""
    readable: int = 0
    """Calls of this run whose answer could be read in the end."""
    asked_again: int = 0
    """Re-asks of this run."""
    usage: Usage = NO_USAGE
    """Of this run's calls."""
    started: float = field(default_factory=time.monotonic)

    @property
    def calls(self) -> int:
        """Calls that the conversations take in all; those that are not counted yet take the mean."""
        counted = len(self.planned)
        number = max(self.conversations, counted)
        return round(sum(self.planned.values()) * number / counted) if counted else 0

    def finished(self, call: Finished) -> None:
        """Notes a call of this run."""
        self.calls_done += 1
        self.readable += call.reason == OK
        self.asked_again += call.asks - 1
        self.usage += call.usage

    def kept(self, calls: int) -> None:
        """Notes calls that the journal held."""
        self.calls_done += calls
        self.calls_kept += calls

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self.started

    @property
    def new(self) -> int:
        """Calls that this run made itself."""
        return self.calls_done - self.calls_kept

    @property
    def parse_rate(self) -> float | None:
        """Share of this run's calls whose answer could be read; None before the first."""
        return self.readable / self.new if self.new else None

    @property
    def error_rate(self) -> float | None:
        """Share of this run's attempts that failed; None before the first has ended."""
        ended = self.control.answered + self.control.failed
        return self.control.failed / ended if ended else None

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None before there is one."""
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
