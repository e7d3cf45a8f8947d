"""Measure what a model earns on some people, part by part, and how much of that is due to reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from attune_env import parse, score_row
from attune_env.statistics import Bootstrap, Interval
from attune_rewards import Assess, Prefer

Array = npt.NDArray[np.float64]
Row = Mapping[str, Any]
PARTS: Final = ("emotion_f1", "emotion_va", "binary_om", "binary_hp", "pairwise")
CHUNK: Final = {"cpu": 128, "cuda": 512}
"""Number of answers generated at a time, by device."""


def answers(
    model: Any, tokenizer: Any, rows: Sequence[Row], longest: int, *, temperature: float = 0.0
) -> list[str]:
    """The model's answer to the prompt of each row, of at most `longest` tokens.

    Each token is the most likely one, or drawn at a temperature above 0; the draws are always the same and do
    not affect those of a training run.
    """
    import torch

    chats = [row["prompt"] for row in rows]
    texts = tokenizer.apply_chat_template(chats, tokenize=False, add_generation_prompt=True)
    order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), i))  # similar lengths need less padding
    how: dict[str, Any] = {"do_sample": False}
    if temperature:
        how = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
    found = [""] * len(texts)
    was_training, chunk = model.training, CHUNK[model.device.type]
    model.eval()
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(0)
        for start in range(0, len(order), chunk):
            part = order[start : start + chunk]
            asked = tokenizer(
                [texts[i] for i in part], return_tensors="pt", padding=True, add_special_tokens=False,
                return_token_type_ids=False,
            ).to(model.device)  # fmt: skip
            made = model.generate(**asked, max_new_tokens=longest, **how)[:, asked.input_ids.shape[1] :]
            for i, text in zip(part, tokenizer.batch_decode(made, skip_special_tokens=True), strict=True):
                found[i] = text
    model.train(was_training)
    return found


@dataclass(frozen=True)
class Earned:
    """The scores of some answers."""

    parts: Array
    """(rows, parts) in [0, 1]; NaN if a part does not apply to the row."""
    parsed: float
    """Share of answers that could be read."""


def earned(rows: Sequence[Row], said: Sequence[str]) -> Earned:
    """The rewards of the answers to the rows."""
    scores = [score_row(row, text) for row, text in zip(rows, said, strict=True)]
    parts = [[score.parts.get(name, np.nan) for name in PARTS] for score in scores]
    return Earned(np.array(parts, dtype=float), sum(score.reason == "ok" for score in scores) / len(scores))


class People:
    """The people who are tested; intervals come from resampling them, each with all their answers."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.owners = [row["participant_id"] for row in rows]
        self.kernel = Bootstrap(len(rows), self.owners)

    def __len__(self) -> int:
        return len(set(self.owners))

    def intervals(self, values: Array) -> dict[str, Interval]:
        """Part -> mean and 95% interval of `values`, of shape (rows, parts), such as paired differences."""
        return dict(zip(PARTS, self.kernel.intervals(values), strict=True))


@dataclass(frozen=True)
class End:
    """The models' final rewards, all on the same rows."""

    before: Array
    after: Array
    control: Array | None
    supervised: Array | None
    prior: Array
    asked: Array
    others: Array
    """The trained model, given the texts of other people."""


def rises(gain: Interval) -> bool:
    """Whether a mean difference is significantly above 0."""
    return gain.low is not None and gain.low > 0


def falls(gain: Interval) -> bool:
    """Whether it is significantly below 0."""
    return gain.high is not None and gain.high < 0


def verdicts(people: People, end: End) -> dict[str, str]:
    """Part -> verdict, by rules that were fixed before the numbers were seen.

    *learned*: significantly above the warm-up, above `prior` and `asked`, and above the same model on other
    people's texts, while the control does not rise above warm-up and `prior`.
    """
    gain, over_prior = people.intervals(end.after - end.before), people.intervals(end.after - end.prior)
    over_asked, reading = people.intervals(end.after - end.asked), people.intervals(end.after - end.others)
    control_moved = control_above = dict.fromkeys(PARTS, False)
    if end.control is not None:
        control_moved = {part: rises(one) for part, one in people.intervals(end.control - end.before).items()}
        control_above = {part: rises(one) for part, one in people.intervals(end.control - end.prior).items()}

    def verdict(part: str) -> str:
        too = " (the control too)" if control_moved[part] else ""
        if not rises(gain[part]):
            return "fell" if falls(gain[part]) else "did not move"
        if control_moved[part] and control_above[part]:
            return "moved, and in the control too"
        if not rises(reading[part]):
            return "gamed: as much is earned on swapped texts"
        if not rises(over_prior[part]):
            return f"moved, not above prior{too}"
        if not rises(over_asked[part]):
            return "above prior, not above asked: it may be read off the questions"
        return "learned" if end.control is not None else "rose (no control was run)"

    return {part: verdict(part) for part in PARTS}


def signs_of_gaming(
    people: People, end: End, said: Mapping[str, float], told: Mapping[str, float]
) -> list[str]:
    """Sentences about anything in the numbers that suggests gaming a part rather than reading.

    `said` and `told` are the habits in the model's answers and in the people's own.
    """
    gain, found = people.intervals(end.after - end.before), []
    if rises(gain["emotion_va"]) and falls(gain["emotion_f1"]):
        found.append("emotion_va rose while emotion_f1 fell: it pays for feelings near the right one")
    top, usual = said["most frequent feeling"], told["most frequent feeling"]
    if top > usual + 0.2:
        found.append(f"one feeling is {top:.0%} of all that are named; of people's {usual:.0%}")
    if said["no feeling"] > 0.98:
        found.append("no feeling is ever named")
    if said["side A"] < 0.02 or said["side A"] > 0.98:  # neither if no comparison could be read
        found.append("every comparison is answered with the same side")
    return found


def habits(rows: Sequence[Row], said: Sequence[str]) -> dict[str, float]:
    """Habits of the answers, regardless of the text, which reveal a model that drifts towards constants.

    `no feeling`, `most frequent feeling` (of all that are named), `observed yes`, `wanted yes`, `side A` (as
    shown), and `characters` of an answer. NaN if there is nothing to share.
    """
    feelings: Counter[str] = Counter()
    given: Counter[tuple[str, str]] = Counter()
    none = turns = 0
    for row, text in zip(rows, said, strict=True):
        told = parse(row["request"], text)
        if isinstance(told, Assess):
            turns += 1
            none += told.tags == ()
            feelings.update(tag.emotion for tag in told.tags or ())
            given.update(("observed", answer) for answer in told.observed.values())
            given.update(("wanted", answer) for answer in told.preferred.values())
        elif isinstance(told, Prefer):
            shown = {comparison.index: comparison for comparison in row["request"].comparisons}
            given.update(("side", shown[i].to_shown(side)) for i, side in told.picks.items())

    def share(kind: str, value: str) -> float:
        return _share(given[kind, value], sum(n for (of, _), n in given.items() if of == kind))

    return {
        "no feeling": _share(none, turns),
        "most frequent feeling": _share(max(feelings.values(), default=0), feelings.total()),
        "observed yes": share("observed", "yes"),
        "wanted yes": share("wanted", "yes"),
        "side A": share("side", "A"),
        "characters": _share(sum(map(len, said)), len(said)),
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
