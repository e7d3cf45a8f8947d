"""Combine several judges' judgements, and add them to a prediction and to its result record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from attune_data.errors import UnknownNameError
from attune_data.format.constants import JUDGE_DIMENSIONS
from attune_episodes.judging.request import Judgement
from attune_episodes.parsing import Unparsed
from attune_episodes.parsing.extract import kept
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import ConversationPrediction, Judged, YesNo
from attune_rewards.record.marks import marks_of
from attune_rewards.record.write import judged_fields

T = TypeVar("T")


def combined(judgements: Iterable[Judgement]) -> Judged:
    """Combine several judgements into one, regardless of their order.

    A dimension's score is the mean over the judges who rated it. A question's answer is that of the majority
    of judges who answered; a tie counts as unanswered. `binary` is None if no question is answered, since
    there is then no assessment.
    """
    said = list(judgements)
    rated = {name: [one.scores[name] for one in said if name in one.scores] for name in JUDGE_DIMENSIONS}
    scores = {name: math.fsum(given) / len(given) for name, given in rated.items() if given}
    answers: dict[str, YesNo] = {}
    for question in sorted({q for one in said for q in one.answers}, key=lambda q: (len(q), q)):
        votes = Counter(one.answers[question] for one in said if question in one.answers)
        if votes["yes"] != votes["no"]:
            answers[question] = "yes" if votes["yes"] > votes["no"] else "no"
    return Judged(scores, answers or None)


def with_judgements(
    prediction: ConversationPrediction, judged: Mapping[int, Mapping[str, Judgement | Unparsed]]
) -> ConversationPrediction:
    """The prediction with these judgements in place of any earlier ones; `judged` as for `add_judgements`."""
    turns = {}
    for number, said in prediction.turns.items():
        together = combined(_parsed(judged.get(number, {})).values())
        known = together.scores or together.binary is not None
        turns[number] = replace(said, judged=together if known else None)
    return replace(prediction, turns=turns)


def _parsed(by_model: Mapping[str, Judgement | Unparsed]) -> dict[str, Judgement]:
    """Judge model -> judgement, in order of name, for the replies that could be parsed."""
    return {model: said for model, said in sorted(by_model.items()) if isinstance(said, Judgement)}


def add_judgements(
    record: Mapping[str, Any],
    judged: Mapping[int, Mapping[str, Judgement | Unparsed]],
    settings: Settings | None = None,
    *,
    replies: Mapping[int, Mapping[str, str]] | None = None,
    providers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Copy a result record with these judgements in place of any earlier ones.

    Args:
        record: one of this project or of the official runner.
        judged: turn number -> judge model -> its parsed reply. A missing turn was not judged
            (`judge_request` returned None, or the call failed); an unparsed reply gives no score.
        settings: the settings passed to `judge_request`; with them, the record names the wording.
        replies: turn number -> judge model -> raw reply, stored alongside.
        providers: judge model -> provider. The same model name at two providers counts as two judges.

    Our additions are under `attune.judge`: the models, their providers if given, the fingerprints of
    template and codebook, the outcome of each reply (`ok` or `unparsed:<code>`), and the replies.

    Raises UnknownNameError for a turn that the record does not have.
    """
    numbers = [entry.get("turnNumber") for entry in record["turns"]]
    for number in judged:
        if number not in numbers:
            raise UnknownNameError("turn in the result record", str(number), map(str, numbers))
    turns = []
    for number, entry in zip(numbers, record["turns"], strict=True):
        here = judged.get(number, {}) if type(number) is int else {}
        parsed = _parsed(here)
        by_judge = {model: Judged(said.scores, said.answers) for model, said in parsed.items()}
        turns.append({**entry, **judged_fields(combined(parsed.values()), by_judge)})
    asked = settings or Settings()
    models = sorted({model for here in judged.values() for model in here})
    marks: dict[str, Any] = {"models": models}
    if providers is not None:
        marks["providers"] = {m: providers[m] for m in models if m in providers}
    marks["template"] = asked.prompt_set.judge_fingerprint
    marks["codebook"] = {"name": asked.codebook.name, "fingerprint": asked.codebook.fingerprint}
    marks["outcomes"] = _sorted(judged, lambda said: said.reason if isinstance(said, Unparsed) else "ok")
    if replies is not None:
        marks["replies"] = _sorted(replies, kept)
    return {**record, "turns": turns, "attune": {**marks_of(record), "judge": marks}}


def _sorted(said: Mapping[int, Mapping[str, T]], value: Callable[[T], str]) -> dict[str, dict[str, str]]:
    """Turn -> judge model -> value, with JSON keys and in a fixed order."""
    return {str(n): {m: value(one) for m, one in sorted(said[n].items())} for n in sorted(said)}
