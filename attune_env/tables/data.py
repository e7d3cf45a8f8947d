"""The tables of `attune data stats`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attune_data.format.codebook import Codebook
from attune_env.tables.cells import DASH, Cell, share_text
from attune_env.tables.table import Table


def data_tables(facts: Mapping[str, Any], source: str) -> list[Table]:
    """The output of `attune_data.selection.stats.describe` as tables."""
    per = facts["turns_per_conversation"]
    overview = {
        "conversations": str(facts["conversations"]),
        "participants": str(facts["participants"]),
        "participants with several conversations": _counts(facts["participants_with_several"]),
        "turns": f"{facts['turns']} ({per['min']} to {per['max']} per conversation, "
        f"mean {_number(per['mean'])})",
        "tags per turn": _number(facts["tags_per_turn"]),
        "neutral turns": share_text(facts["neutral_turns"]),
        "mean intensity": _number(facts["intensity"]),
        "comparisons per turn": _number(facts["comparisons_per_turn"]),
        "side A wins": share_text(facts["winner_a"]),
        **{name: _counts(facts[name]) for name in ("goals", "clarity", "fit", "categories", "diagnoses")},
        "PANAS change, positive": _number(facts["panas_change"]["positive"]),
        "PANAS change, negative": _number(facts["panas_change"]["negative"]),
        "provenance": _counts(facts["provenance"]),
        **({"licences": _counts(facts["licences"])} if facts["licences"] else {}),
        "fingerprint": facts["fingerprint"],
    }
    book = Codebook.own()
    questions: list[tuple[Cell, ...]] = [
        (q, str(row["applicable"]), share_text(row["observed_yes"]), share_text(row["preferred_yes"]),
         book.binary_text(q, observer=True))
        for q, row in facts["questions"].items()
        if row["annotated"]
    ]  # fmt: skip
    missing = {**facts["missing"], "warnings": len(facts["contradictions"])}
    wins: list[tuple[Cell, ...]] = [(name, share_text(won)) for name, won in facts["wins"].items()]
    return [
        Table(source, ("measure", "value"), list(overview.items())),
        Table("Emotions felt", ("emotion", "times"), [(k, str(v)) for k, v in facts["tags"].items()]),
        Table("Responses: share of comparisons won", ("response", "won"), wins),
        Table("Yes/no questions: share of yes among yes/no answers",
              ("id", "applicable", "observed", "preferred", "question"), questions),
        Table("Missing and contradictory", ("problem", "count"), [(k, str(v)) for k, v in missing.items()],
              facts["contradictions"][:20]),
    ]  # fmt: skip


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or DASH
