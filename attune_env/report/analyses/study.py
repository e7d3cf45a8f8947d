"""The inputs of analyses: scores and, where available, the conversations and result files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from attune_data import Conversations
from attune_data.errors import UnknownNameError
from attune_data.format.schema import Conversation
from attune_data.source.corpora import corpora, corpus
from attune_env.results.scored import ScoredResults
from attune_env.results.scores import SAMPLED
from attune_env.statistics.comparisons import holm
from attune_env.statistics.score_table import Key, Resample, ScoreTable, participant_of
from attune_env.statistics.sign_flip import sign_flip
from attune_env.tables.cells import Cell, Column
from attune_env.tables.groups import LEADERBOARD, METRICS, PARTIAL
from attune_env.tables.labels import mode_text, quoted, references, role_of, short_names, standing
from attune_env.tables.table import Table
from attune_rewards.bootstrap import RESAMPLES, Array, Interval, known
from attune_rewards.metrics.metric import Metric
from attune_rewards.record.marks import mapping

SHIPPED: Final = {name: corpus(name).noun for name in corpora()}
"""Name of data that comes with this project -> what it is, in a sentence."""
PRIMARY = "default"
T = TypeVar("T")
WHOLE: Final = 0.9
"""Share of the conversations from which a model counts as scored on all: a few calls may have failed."""


class Absent(Exception):
    """Raised by an analysis that cannot be run on a study; says what it would need."""


@dataclass(frozen=True)
class Study:
    """Scores of some models on some conversations, in one mode at a time.

    Args:
        scores: content of a scores file (or of several merged).
        mode: the mode that analyses are about; by default `default` if it was scored, or else the first.
        conversations: the annotated conversations, for participants, topics and truths.
        results: the folder of result files, for single answers.
        resample: units of the bootstrap.
        seed: seeds it.
        command: what reproduces this study.
        baseline: the model or policy that verdict and profile compare with; by default the best baseline.
    """

    scores: Mapping[str, Any]
    mode: str = ""
    conversations: Conversations | None = None
    results: Path | None = None
    resample: Resample = "auto"
    seed: int = 0
    command: str = "attune report"
    baseline: str = ""
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.mode:
            modes = {entry["mode"] for entry in self.entries}
            object.__setattr__(self, "mode", PRIMARY if PRIMARY in modes else min(modes))
        players = [model for model, _ in self.keys]
        if self.baseline and self.baseline not in players:
            raise UnknownNameError("scored model", self.baseline, players)

    @property
    def entries(self) -> Sequence[Mapping[str, Any]]:
        """The per-conversation entries of the scores file, all modes."""
        entries: Sequence[Mapping[str, Any]] = self.scores["conversations"]
        return entries

    def conversations_of(self, models: Container[str] | None = None) -> int:
        """How many conversations of this mode some of these models were scored on; by default any model."""
        return len({entry["conversationId"] for entry in self._here(models)})

    def participants_of(self, models: Container[str] | None = None) -> int:
        """Participants in those conversations; a conversation that names none counts as one."""
        return len({participant_of(entry) for entry in self._here(models)})

    def _here(self, models: Container[str] | None) -> Iterator[Mapping[str, Any]]:
        return (
            entry
            for entry in self.entries
            if entry["mode"] == self.mode and (models is None or entry["em_model"] in models)
        )

    @cached_property
    def partial(self) -> dict[Key, int]:
        """(model, mode) -> its conversations, where these are fewer than `WHOLE` of the most that one has."""
        counts = Counter((entry["em_model"], entry["mode"]) for entry in self.entries)
        most = {mode: max(n for key, n in counts.items() if key[1] == mode) for _, mode in counts}
        return {key: n for key, n in counts.items() if n < WHOLE * most[key[1]]}

    @property
    def data_name(self) -> str:
        """`sample` or `written` for the conversations of this project, else the provenance of the data."""
        metadata = self.scores["metadata"]
        provenance = str(metadata["data"]["provenance"])
        name = str(metadata.get("ground_truth")).partition(":")[0]
        return name if name in SHIPPED and provenance == "own" else provenance

    @property
    def words(self) -> Mapping[str, str]:
        """The words that captions leave open: the units, and the baseline compared with."""
        chosen = quoted(short_names([self.baseline])[0]) if self.baseline else ""
        return {
            "units": f"{self.table.unit}s",
            "baseline": chosen or "the best baseline",
            "best_on_part": chosen or "the best-scoring baseline on that part",
        }

    @property
    def variant(self) -> str:
        """`canonical` or `strict`: the scoring variant that ranks; strict where there is no Composite."""
        return "strict" if self.no_composite else str(self.scores["metadata"]["settings"]["scoring"])

    @cached_property
    def no_composite(self) -> bool:
        """Whether no run of this mode asked every stage that is annotated, so that only parts are scored."""
        keys = [key for key in self.table.keys if key[1] == self.mode]
        whole, part = (
            not np.isnan(self.table.metric(name, keys)).all() for name in (LEADERBOARD["strict"][0], PARTIAL)
        )
        return part and not whole

    @property
    def leading(self) -> Metric:
        """The metric that ranks: the Composite of the variant."""
        return METRICS[self.composite]

    @property
    def composite(self) -> str:
        """Its name in score files; `composite_partial` where there is no Composite."""
        return PARTIAL if self.no_composite else LEADERBOARD[self.variant][0]

    @cached_property
    def table(self) -> ScoreTable:
        """The scores of all modes as one array."""
        return ScoreTable.of(self.entries, resample=self.resample, seed=self.seed)

    @cached_property
    def aggregates(self) -> dict[Key, Mapping[str, Any]]:
        """(model, mode) -> its means in the scores file."""
        return {(entry["em_model"], entry["mode"]): entry for entry in self.scores["aggregates"]}

    @cached_property
    def ranked(self) -> tuple[Key, ...]:
        """(model, mode) pairs of all modes: models first, then baselines, the reader and the oracle.

        Each kind is ordered by the mean of the leading Composite, best first, ties by name; partial ones come
        last, since their means are of other conversations.
        """

        def rank(key: Key) -> tuple[int, bool, float, Key]:
            mean = self.aggregates.get(key, {}).get(self.composite)
            by_mean = -mean if mean is not None else float("inf")
            return (standing(key[0]), key in self.partial, by_mean, key)

        return tuple(sorted(self.table.keys, key=rank))

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """Those of this study's mode."""
        return tuple(key for key in self.ranked if key[1] == self.mode)

    @cached_property
    def models(self) -> tuple[Key, ...]:
        """The keys that are compared: all except the built-in policies.

        If only policies were scored, they are compared, except the oracle, which was given the answers.
        The oracle is compared only if there is nothing else.
        """
        real = tuple(key for key in self.keys if not key[0].startswith("builtin/"))
        return real or tuple(key for key in self.keys if role_of(key[0]) != "oracle") or self.keys

    @property
    def only_policies(self) -> bool:
        """Whether only built-in policies were scored."""
        return all(key[0].startswith("builtin/") for key in self.models)

    @cached_property
    def asked(self) -> dict[str, list[str]]:
        """How the compared models were asked, in words -> the models asked so; empty if no file says.

        Built-in policies take no sampling options: what seeds them is part of what they are.
        """
        found: dict[str, dict[str, None]] = {}
        for entry in self.entries:
            if (entry["em_model"], entry["mode"]) in self.models:
                asked = mapping(mapping(entry.get("attune")).get("asked"))
                skipped = SAMPLED if entry["em_model"].startswith("builtin/") else ()
                said = (
                    f"{name.replace('_', ' ')} {'not set' if value is None else value}"
                    for name, value in asked.items()
                    if name not in skipped
                )
                if text := ", ".join(said):
                    found.setdefault(text, {})[entry["em_model"]] = None
        return {text: list(models) for text, models in found.items()}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """`make()`, which several analyses need, computed by the first of them."""
        if name not in self.memo:
            self.memo[name] = make()
        made: T = self.memo[name]
        return made

    @cached_property
    def scored(self) -> ScoredResults | None:
        """The result files behind the scores; None if their folder is not known."""
        return None if self.results is None else ScoredResults(self.results)

    @cached_property
    def records(self) -> list[Conversation | None]:
        """The conversation behind each row of the table; None if it is not available."""
        known = self.conversations.by_id if self.conversations is not None else {}
        return [known.get(identity) for identity in self.table.ids]

    def sheet(
        self,
        name: str,
        title: str,
        columns: Sequence[Column | str],
        rows: Iterable[tuple[Cell, ...]],
        *,
        keys: int = 1,
        notes: Iterable[str] = (),
        foldable: Sequence[str] = (),
    ) -> Table:
        """A table about this study: its title names the mode, and reference rows are grey."""
        held = list(rows)
        title = f"{title}; mode {mode_text(self.mode)}"
        dim = references(str(row[0]) for row in held)
        return Table(title, columns, held, list(notes), dim, foldable, keys, name, self.table.unit)

    def defined(self, metrics: Iterable[Metric], keys: Sequence[Key] | None = None) -> list[Metric]:
        """Those of `metrics` for which some model has a value."""
        chosen = self.models if keys is None else keys
        return [m for m in metrics if not np.isnan(self.table.metric(m.column, chosen)).all()]

    def means(self, metrics: Sequence[str], keys: Sequence[Key]) -> dict[Key, dict[str, Interval]]:
        """The mean of each metric for each key with its interval, all from the same resamples."""
        values = self.table.of_metrics(metrics, keys)
        found = iter(self.table.kernel.intervals(values.reshape(len(values), -1)))
        return {key: {name: next(found) for name in metrics} for key in keys}

    def tested(self, differences: Array) -> list[tuple[float | None, float | None]]:
        """The sign-flip p of each column of (rows, columns), and p Holm-corrected over all columns."""
        draws = max(RESAMPLES, 100 * differences.shape[1])  # enough that one of many can be significant
        p = sign_flip(self.table.kernel, differences, draws=draws, seed=self.seed)
        return list(zip(map(known, p), map(known, holm(p)), strict=True))

    def over_models(self, metric: str) -> Array:
        """(rows,): a metric's mean over the compared models in each conversation."""
        return over_models(self.table.metric(metric, self.models))


def over_models(values: Array) -> Array:
    """The mean over models in each conversation: shape (rows, models, …) to (rows, …); NaN if all are."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        mean: Array = np.where(known, values, 0.0).sum(axis=1) / known.sum(axis=1)
    return mean


def label_of(metric: Metric) -> str:
    """A metric's name without its range."""
    return metric.label.partition(" (")[0].partition(",")[0]
