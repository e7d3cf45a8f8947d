"""What analyses are made from: scores, and where they are at hand the conversations and the result files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from attune_data import Conversations
from attune_env.report.groups import LEADERBOARD
from attune_env.report.tables import role_of
from attune_env.statistics.score_table import ScoreTable
from attune_env.statistics.scores import Key, Resample

PRIMARY = "default"
"""The benchmark's primary mode."""


@dataclass(frozen=True)
class Study:
    """Scores of some models on some conversations, in one mode at a time.

    Args:
        scores: content of a scores file (or of several that were put together).
        mode: the mode that analyses are about; by default `default` where it was scored, else the first.
        conversations: the annotated conversations, for whatever is about people, topics and truths.
        results: the folder of result files, for whatever is about single answers.
        resample: units of the bootstrap.
        seed: seeds it.
    """

    scores: Mapping[str, Any]
    mode: str = ""
    conversations: Conversations | None = None
    results: Path | None = None
    resample: Resample = "auto"
    seed: int = 0
    command: str = field(default="attune report")
    """What remakes this study, for captions."""

    def __post_init__(self) -> None:
        if not self.mode:
            modes = sorted({entry["mode"] for entry in self.entries})
            object.__setattr__(self, "mode", PRIMARY if PRIMARY in modes else modes[0])

    @property
    def entries(self) -> Sequence[Mapping[str, Any]]:
        """The per-conversation entries of the scores file, all modes."""
        entries: Sequence[Mapping[str, Any]] = self.scores["conversations"]
        return entries

    @property
    def reading(self) -> str:
        """`canonical` or `strict`: the reading that leads."""
        return str(self.scores["metadata"]["settings"]["scoring"])

    @property
    def composite(self) -> str:
        """The metric that leads: the Composite of the reading."""
        return LEADERBOARD[self.reading][0]

    @cached_property
    def table(self) -> ScoreTable:
        """All modes' scores as one array."""
        return ScoreTable.of(self.entries, resample=self.resample, seed=self.seed)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """(model, mode) pairs of this study's mode, by the mean of the leading Composite, best first."""
        means = {(e["em_model"], e["mode"]): e.get(self.composite) for e in self.scores["aggregates"]}
        here = [key for key in self.table.keys if key[1] == self.mode]

        def rank(key: Key) -> tuple[float, Key]:
            mean = means.get(key)
            return (-mean if mean is not None else float("inf"), key)

        return tuple(sorted(here, key=rank))

    @cached_property
    def models(self) -> tuple[Key, ...]:
        """Those of `keys` that are no built-in policy.

        Where nothing but policies was scored, they are the models, the ceiling aside: it was shown the
        answers. The ceiling is a model only where there is nothing else.
        """
        real = tuple(key for key in self.keys if not key[0].startswith("builtin/"))
        return real or tuple(key for key in self.keys if role_of(key[0]) != "ceiling") or self.keys
