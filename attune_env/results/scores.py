"""`scores.json`: every metric per conversation and per (model, mode), with its provenance."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from attune_data import Conversations, __version__
from attune_data.errors import DataError, Problem, show
from attune_data.jsonio import read_json
from attune_data.version import SCORING_VERSION
from attune_env.results.bertscore import BertScorer, add_bertscores
from attune_env.results.files import Result, is_scores
from attune_env.results.schema import check_scores
from attune_rewards.metrics.aggregate import aggregate
from attune_rewards.metrics.scoring import Q1Overlap, score_conversation
from attune_rewards.record.marks import mapping, marks_of, outcome_counts

Reading = Literal["canonical", "strict"]
FORMAT: Final = 1
"""Version of the layout of scores files."""
ASKED: Final = ("prompts", "codebook", "labels", "panas_strategy")
"""Settings of a run that decide what a model reads."""
SAMPLED: Final = ("temperature", "max_tokens", "seed", "structured")
"""Options of a run that decide how a model answers."""


def score_results(
    results: Sequence[Result],
    conversations: Conversations,
    *,
    ground_truth: str,
    scoring: Reading = "canonical",
    q1_overlap: Q1Overlap = "jaccard",
    where: str | None = None,
    bertscore: BertScorer | None = None,
    folder: str | None = None,
    on_done: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """The content of a scores file: `metadata`, `conversations`, `aggregates`.

    Both variants are always computed; `scoring` is the one that ranks the leaderboard. `where`, the selection
    of the conversations, and `folder`, the location of the results, are recorded. With `bertscore`, drafts
    also get BERTScores.
    """
    entries = []
    for result in results:
        entries.append(_entry(result, conversations, q1_overlap))
        on_done()
    entries.sort(key=lambda e: (e["em_model"], e["mode"], e["conversationId"]))
    settings: dict[str, Any] = {"scoring": scoring, "q1_overlap": q1_overlap}
    if bertscore is not None:
        add_bertscores(entries, results, conversations, bertscore)
        settings["bertscore"] = bertscore.described()
    return {
        "metadata": {
            "format": FORMAT,
            "ground_truth": ground_truth,
            **({} if folder is None else {"results": folder}),
            **contents(entries, conversations, where),
            "settings": settings,
            "versions": {
                "attune-env": __version__,
                "scoring": SCORING_VERSION,
                "python": platform.python_version(),
            },
        },
        "conversations": entries,
        "aggregates": aggregates_of(entries),
    }


def contents(
    entries: Sequence[Mapping[str, Any]], conversations: Conversations, where: str | None
) -> dict[str, Any]:
    """The metadata of a scores file about its entries and the conversations behind them."""
    facts = {
        **counts_of(entries),
        "data": {"fingerprint": conversations.fingerprint, "provenance": conversations.provenance},
    }
    return facts if where is None else facts | {"where": where}


def counts_of(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The metadata of a scores file that depends only on its entries."""
    return {
        "models": sorted({e["em_model"] for e in entries}),
        "modes": sorted({e["mode"] for e in entries}),
        "n_conversations": len({e["conversationId"] for e in entries}),
        "n_results": len(entries),
    }


def aggregates_of(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One entry per (model, mode): the means of `aggregate`, and the parse rate."""
    aggregates = aggregate(entries)
    for group in aggregates:
        these = [e for e in entries if (e["em_model"], e["mode"]) == (group["em_model"], group["mode"])]
        group["parse_rate"] = parse_rate(these)
    return aggregates


def _entry(result: Result, conversations: Conversations, q1_overlap: Q1Overlap) -> dict[str, Any]:
    conversation = conversations.by_id[result.prediction.conversation_id]
    outcomes = outcome_counts(result.record)
    training = marks_of(result.record).get("training")
    return {
        "conversationId": conversation.conversation_id,
        "em_model": result.em_model,
        "mode": result.mode,
        **score_conversation(conversation, result.prediction, q1_overlap=q1_overlap),
        "source_result": result.path.name,
        "attune": {
            "participant": conversation.participant,
            "outcomes": dict(sorted(outcomes.items())),
            **({"training": dict(training)} if isinstance(training, Mapping) else {}),
            "asked": asked_with(result.record),
        },
    }


def asked_with(record: Mapping[str, Any]) -> dict[str, Any]:
    """How the model of a result file was asked, as far as the file says; judges and mode are left out."""
    marks = marks_of(record)
    settings, policy = mapping(marks.get("settings")), mapping(marks.get("policy"))
    found = {name: settings[name] for name in ASKED if name in settings}
    found = {name: mapping(value).get("name", value) for name, value in found.items()}
    found |= {name: policy[name] for name in SAMPLED if name in policy}
    found |= {"reasks": marks["reasks"]} if "reasks" in marks else {}
    return {name: value for name, value in found.items() if isinstance(value, str | int | float | None)}


def parse_rate(entries: Sequence[Mapping[str, Any]]) -> float | None:
    """Share of requests whose reply was parsed; None if the result files do not say."""
    counts: Counter[str] = Counter()
    for entry in entries:
        counts.update(entry["attune"]["outcomes"])
    total = sum(counts.values())
    return counts["ok"] / total if total else None


def read_scores(path: Path) -> dict[str, Any]:
    """Read a scores file; raises DataError if it is not one, or this version cannot read its layout."""
    scores = read_json(path, max_bytes=None)  # no size limit, since it grows with the number of results
    if not is_scores(scores) or not isinstance(scores["conversations"], list):
        raise DataError(
            Problem(str(path), "conversations", "not a list of scored conversations", "a scores file",
                    "make one with `attune score --results … --data … --output …`")
        )  # fmt: skip
    layout = mapping(scores["metadata"]).get("format")
    if layout != FORMAT:
        raise DataError(
            Problem(str(path), "metadata.format", show(layout), str(FORMAT),
                    "make it again with `attune score` of this version")
        )  # fmt: skip
    check_scores(scores, str(path))
    # counted again, since the file's own counts may be wrong
    return {**scores, "metadata": {**scores["metadata"], **counts_of(scores["conversations"])}}


def check_replaceable(
    path: Path, known: Callable[[Any], bool] = is_scores, kind: str = "scores file"
) -> None:
    """Raise DataError if `path` is an existing file that is not `known` as an earlier one of its `kind`."""
    if not path.exists():
        return
    try:
        if known(read_json(path, max_bytes=None)):
            return
    except DataError:
        pass  # not JSON, so not ours
    raise DataError(
        Problem(str(path), "", f"a file that is not a {kind}", f"a new name or an earlier {kind}",
                "choose another --output")
    )  # fmt: skip
