"""`Tally`: a run's counts of conversations, calls, troubles and usage, and of prompts that seem cut."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from attune_env.running.control import IN_A_ROW, Control
from attune_env.running.journal import Finished
from attune_episodes.chat.completion import NO_USAGE, Usage
from attune_rewards.reward.score import OK

CUT_PROMPTS: Final = 1.5
"""Ratio of the lengths of two prompts with the same number of tokens at which prompts seem to be cut."""
CHARACTERS_A_TOKEN: Final = 6
"""More characters per token than any text of ours has."""


@dataclass
class Tally:
    """Counts of one run; counts of calls include the judges', and rates are None while undefined."""

    control: Control
    conversations: int = 0
    """Conversations that this run plays, counted once for each mode and sample."""
    conversations_done: int = 0
    conversations_failed: int = 0
    planned: dict[str, int] = field(default_factory=dict)
    """Group -> its number of calls, for the groups counted so far."""
    calls_kept: int = 0
    """Calls that were already in the journal."""
    new: int = 0
    """Calls made by this run; the next three fields refer to these."""
    readable: int = 0
    asked_again: int = 0
    usage: Usage = NO_USAGE
    troubles: dict[str, Counter[str]] = field(default_factory=dict)
    """Model -> why its answers do not count, "" for those that do -> number of answers of this run."""
    last: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Model -> why its last answer does not count, and how many in a row end in the same way."""
    started: float = field(default_factory=time.monotonic)

    @property
    def calls(self) -> int:
        """Calls for all conversations; conversations not counted yet are estimated by the mean."""
        counted = len(self.planned)
        number = max(self.conversations, counted)
        return round(sum(self.planned.values()) * number / counted) if counted else 0

    def finished(self, call: Finished, model: str = "", trouble: str = "") -> None:
        """Record a call of this run to a model, and why its answer does not count."""
        self.new += 1
        self.troubles.setdefault(model, Counter())[trouble] += 1
        before, row = self.last.get(model, (trouble, 0))
        self.last[model] = trouble, row + 1 if trouble == before else 1
        self.readable += call.reason == OK
        self.asked_again += call.asks - 1
        self.usage += call.usage

    @property
    def calls_done(self) -> int:
        """Calls answered in this run or earlier."""
        return self.new + self.calls_kept

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
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
        """Estimated seconds to go at the current pace."""
        return (self.calls - self.calls_done) * self.seconds / self.new if self.new else None

    def describe(self) -> dict[str, Any]:
        """The numbers stored in the run's file."""
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
            "troubles": {
                model: dict(sorted(why.items())) for model, why in self.troubles.items() if any(why)
            },
            "parse_rate": self.parse_rate,
            "error_rate": self.error_rate,
            **self.usage.describe(),
        }


class Prompts:
    """Notices that a server cuts prompts: the same few tokens for prompts of very different lengths."""

    def __init__(self) -> None:
        self._lengths: dict[int, tuple[int, int, int]] = {}
        """Tokens -> number of prompts, and characters of the shortest and the longest."""

    def cut(self, characters: int, tokens: int) -> str | None:
        """Record a prompt; returns what to tell the user, or None."""
        if not tokens:
            return None
        number, least, most = self._lengths.get(tokens, (0, characters, characters))
        number, least, most = number + 1, min(least, characters), max(most, characters)
        self._lengths[tokens] = number, least, most
        if number < IN_A_ROW or most < CUT_PROMPTS * least or most < CHARACTERS_A_TOKEN * tokens:
            return None
        return (
            f"the server counts {tokens:,} tokens for prompts of {least:,} to {most:,} characters: it seems "
            "to cut them to its context window; enlarge that (Ollama: OLLAMA_CONTEXT_LENGTH, llama.cpp: -c) "
            "and ask again with --overwrite"
        )


def total(calls: Iterable[Finished]) -> Usage:
    """The total usage of several calls."""
    return sum((call.usage for call in calls), NO_USAGE)
