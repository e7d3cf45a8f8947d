"""Measure how well a reader reads each question, and what it pays for drafts.

    python -m tools.reading.measure dev test sample --page docs/rewards.md

The page gets the means over the questions and the table of drafts.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from attune_data.files.conversations import Conversations
from attune_data.format.constants import BINARY_IDS
from attune_data.format.schema import Conversation
from attune_data.source.load import load
from attune_rewards.metrics.draft import read, read_alignment
from attune_rewards.reading.readers import READERS, Reader, reader
from attune_rewards.truth import truth_of
from tools.pages import filled
from tools.reading.examples import examples

PARTS: Final = ("dev", "test", "sample")


class Quality(NamedTuple):
    """How well a question is read. Undefined ratios are NaN."""

    number: int
    yes: int
    precision: float
    recall: float
    f1: float
    """The mean of the F1 of yes and the F1 of no."""
    balanced: float
    """Balanced accuracy: the mean of the recall of yes and the recall of no."""


def quality(said: npt.NDArray[np.bool_], yes: npt.NDArray[np.bool_]) -> Quality:
    """The quality of what was read, given the true answers."""
    hits, right_no = np.float64((said & yes).sum()), np.float64((~said & ~yes).sum())
    with np.errstate(invalid="ignore"):
        precision, recall, recall_no = hits / said.sum(), hits / yes.sum(), right_no / (~yes).sum()
        f1 = hits / (said.sum() + yes.sum()) + right_no / ((~said).sum() + (~yes).sum())
    return Quality(len(yes), int(yes.sum()), precision, recall, f1, (recall + recall_no) / 2)


def measured(part: str, by: Reader) -> dict[str, Quality]:
    """Question -> how well a reader reads it on a part."""
    found: dict[str, list[tuple[bool, bool]]] = {}
    for example in examples(conversations(part)):
        said = by.read(example.exchange)
        for question, yes in example.answers.items():
            if question in said:
                found.setdefault(question, []).append((said[question] == "yes", yes))
    return {q: quality(*np.array(found[q]).T) for q in BINARY_IDS if q in found}


def conversations(part: str) -> Conversations:
    """The conversations of a part."""
    return load("sample") if part == "sample" else load("written", split=part)


def mean(found: Mapping[str, Quality]) -> Quality:
    """The mean quality over the questions with answers of both kinds."""
    both = [one for one in found.values() if 0 < one.yes < one.number]
    return Quality(
        sum(one.number for one in both),
        sum(one.yes for one in both),
        *(float(np.nanmean(values)) for values in list(zip(*both, strict=True))[2:]),
    )


def table(found: Mapping[str, Quality], head: str = "question") -> str:
    """The qualities as a Markdown table."""
    lines = [f"| {head} | replies | yes | precision | recall | macro-F1 | balanced |", f"|---|{'--:|' * 6}"]
    for name, one in found.items():
        cells = " | ".join("–" if np.isnan(value) else f"{value:.2f}" for value in one[2:])
        lines.append(f"| {name} | {one.number} | {one.yes} | {cells} |")
    return "\n".join(lines) + "\n"


def draft_table(parts: Sequence[str]) -> str:
    """The draft reward of simple drafts and recorded replies, also above a draft that does nothing."""
    found = {part: draft_rewards(conversations(part)) for part in parts}
    lines = ["| draft | " + " | ".join(f"{part}: agreement | above nothing" for part in parts) + " |",
             f"|---|{'--:|' * 2 * len(parts)}"]  # fmt: skip
    for draft in found[parts[0]]:
        cells = []
        for means in found.values():
            above = (means[draft] - means["nothing"]) / (1 - means["nothing"])
            cells += [f"{means[draft]:.3f}", f"{above:+.3f}"]
        lines.append(f"| {draft} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draft_rewards(those: Iterable[Conversation]) -> dict[str, float]:
    """Draft -> its mean agreement with what people wanted."""
    values: dict[str, list[float]] = {}
    for turn in (turn for conversation in those for turn in truth_of(conversation).turns):
        recorded = {f"the {name} reply": text for name, text in turn.responses.items() if text}
        for name, text in {"nothing": "", "the message again": turn.message, **recorded}.items():
            value = read_alignment(turn.preferred, read(text, turn.message, turn.history))
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: fmean(found) for name, found in values.items()}


def main() -> None:
    """Print the tables, and write them into a page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--reader", choices=sorted(READERS), default="fitted")
    parser.add_argument("--page", type=Path, help="also write the tables into this page")
    chosen = parser.parse_args()
    found = {part: measured(part, reader(chosen.reader)) for part in chosen.parts}
    means = {part: mean(qualities) for part, qualities in found.items()}
    made = {"reading": table(means, "conversations"), "drafts": draft_table(chosen.parts)}
    shown = {part: table({**qualities, "mean": means[part]}) for part, qualities in found.items()}
    for name, text in (shown | made).items():
        print(f"\n### {name}\n\n{text}")
    if chosen.page:
        chosen.page.write_text(filled(chosen.page.read_text("utf-8"), made), "utf-8")


if __name__ == "__main__":
    main()
