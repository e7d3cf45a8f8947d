"""Measure how well a reader reads each question, as tables for the page `docs/reading.md`.

    python -m attune_episodes.reading.measure dev sample --page docs/reading.md

A part is `dev`, `test`, `sample` or `train`; on `train`, `fitted` is measured out of fold. Evaluate on the
test part only once, at the end. The page marks the place of each table:
`<!-- table: PART -->` … `<!-- end -->`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np

from attune_data.constants import BINARY_IDS
from attune_data.loading import Conversations, load
from attune_data.simulate import Simulation
from attune_episodes.reading.drafts import read_draft
from attune_episodes.reading.examples import Example, examples
from attune_episodes.reading.fit import SIMULATED, answers, best_cut, out_of_fold, rows_of
from attune_episodes.reading.fitted import squash
from attune_episodes.reading.guard import CHARGED
from attune_episodes.reading.logistic import Quality, platt, quality
from attune_episodes.reading.readers import READERS, reader
from attune_episodes.reading.reading import Reader
from attune_rewards.draft import read_alignment
from attune_rewards.predictions import Draft
from attune_rewards.truth import TurnTruth, truth_of

PARTS: Final = ("train", "dev", "test", "sample")
BLOCK: Final = re.compile(r"(<!-- table: ([\w ]+) -->\n).*?(?=<!-- end -->)", re.DOTALL)
DRAFTS: Final = ("nothing", "the message again", "original", "alternate", "human")
"""The drafts on which the draft reward is measured; the last three are recorded replies."""


class Answer(NamedTuple):
    """A reader's answer to one question about a recorded reply, beside the recorded one."""

    conversation: str
    turn: int
    """Counted from 0."""
    question: str
    probability: float
    said: bool
    yes: bool


def answered(part: str, by: Reader) -> Iterator[Answer]:
    """The answers of a reader on a part, to questions that it and people both answer."""
    if part == "train":
        yield from _out_of_fold()
        return
    for example in examples(conversations(part)):
        reading = by.read(example.exchange)
        for question, yes in example.answers.items():
            if question in reading.probabilities:
                probability, said = reading.probabilities[question], reading.says(question)
                yield Answer(*_place(example), question, probability, said, yes)


def _place(example: Example) -> tuple[str, int]:
    return example.conversation, len(example.exchange.history)


def _out_of_fold() -> Iterator[Answer]:
    """Answers of `fitted` about people on whom it was not fitted; calibration and cuts use the same ones."""
    rows = rows_of(examples(conversations("train")))
    asked = [q for q in BINARY_IDS if {True, False} == set(answers(rows, q)[1].tolist())]
    logits = out_of_fold(rows, rows_of(examples(Simulation(1, templates="seen").take(SIMULATED))), asked)
    for column, question in enumerate(asked):
        which, yes = answers(rows, question)
        known = ~np.isnan(logits[which, column])
        values, yes = logits[which, column][known], yes[known]
        if yes.any() and not yes.all():
            slope, shift = platt(values, yes)
            probability = squash(slope * values + shift)
            said = probability > best_cut(probability, yes)
            places = [_place(rows[i].example) for i, kept in zip(which, known, strict=True) if kept]
            for place, *values_of_one in zip(places, probability, said, yes, strict=True):
                yield Answer(*place, question, *values_of_one)


def measured(part: str, by: Reader) -> dict[str, Quality]:
    """Question -> how well a reader reads it on a part."""
    found: dict[str, list[tuple[float, bool, bool]]] = {}
    for one in answered(part, by):
        found.setdefault(one.question, []).append((one.probability, one.said, one.yes))
    return {q: quality(*map(np.array, zip(*found[q], strict=True))) for q in BINARY_IDS if q in found}


def conversations(part: str) -> Conversations:
    """The conversations of a part."""
    return load("sample") if part == "sample" else load("written", split=part)


def table(found: Mapping[str, Quality], paid: frozenset[str]) -> str:
    """The qualities as a Markdown table, with the rewarded questions first."""
    lines = ["| question | replies | yes | precision | recall | macro-F1 | AUC | balanced | Brier | ECE |",
             f"|---|{'--:|' * 9}"]  # fmt: skip
    for question in sorted(found, key=lambda q: q not in paid):
        one = found[question]
        mark = " †" if question in CHARGED else ""
        name = f"**{question}**{mark}" if question in paid else f"{question}{mark}"
        cells = " | ".join("–" if np.isnan(value) else f"{value:.2f}" for value in one[2:])
        lines.append(f"| {name} | {one.number} | {one.yes} | {cells} |")
    both = [one for q, one in found.items() if q in paid and 0 < one.yes < one.number]
    if both:
        mean = " | ".join(
            f"{np.nanmean([one[i] for one in both]):.2f}" for i in range(2, len(Quality._fields))
        )
        lines.append(
            f"| mean of the rewarded | {sum(one.number for one in both)} | {sum(one.yes for one in both)} | "
            f"{mean} |"
        )
    return "\n".join(lines) + "\n"


def draft_table(parts: Sequence[str]) -> str:
    """The draft reward of simple drafts and recorded replies, also above an all-no draft."""
    lines = ["| draft | " + " | ".join(f"{part}: agreement | above nothing" for part in parts) + " |",
             f"|---|{'--:|' * 2 * len(parts)}"]  # fmt: skip
    nothing = {part: fmean(_alignments(conversations(part), "nothing")) for part in parts}
    for draft in DRAFTS:
        cells = []
        for part in parts:
            mean = fmean(_alignments(conversations(part), draft))
            cells += [f"{mean:.3f}", f"{(mean - nothing[part]) / (1 - nothing[part]):+.3f}"]
        name = f"the {draft} reply" if draft in ("original", "alternate", "human") else draft
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _alignments(those: Iterable[object], draft: str) -> Iterator[float]:
    for conversation in those:
        for turn in truth_of(conversation).turns:  # type: ignore[arg-type]
            text = _text(turn, draft)
            if text is not None:
                value = read_alignment(turn.preferred, read_draft(Draft(text), turn).read)
                if value is not None:
                    yield value


def _text(turn: TurnTruth, draft: str) -> str | None:
    if draft == "nothing":
        return ""
    return turn.message if draft == "the message again" else turn.responses.get(draft)  # type: ignore[call-overload]


def main() -> None:
    """Print the tables, and write them into a page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--reader", choices=sorted(READERS), default="fitted")
    parser.add_argument("--page", type=Path, help="also write the tables into this page")
    chosen = parser.parse_args()
    by = reader(chosen.reader)
    made = {part: table(measured(part, by), by.questions) for part in chosen.parts}
    shown = [part for part in chosen.parts if part != "train"]
    if shown:
        made["drafts"] = draft_table(shown)
    for name, text in made.items():
        print(f"\n### {name}\n\n{text}")
    if chosen.page:
        page = chosen.page.read_text("utf-8")
        written = BLOCK.sub(lambda block: block[1] + made.get(block[2], block[0][len(block[1]) :]), page)
        chosen.page.write_text(written, "utf-8")


if __name__ == "__main__":
    main()
