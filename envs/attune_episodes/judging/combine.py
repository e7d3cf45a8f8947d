"""Combine several judges' judgements, and write them as the `em_draft_*` fields of a result record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from attune_data.errors import UnknownNameError
from attune_data.format.constants import JUDGE_DIMENSIONS
from attune_episodes.judging.request import Judgement
from attune_episodes.parsing import Unparsed
from attune_episodes.parsing.extract import kept
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import Judged, YesNo

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


def judged_fields(by_model: Mapping[str, Judgement]) -> dict[str, dict[str, Any]]:
    """The four `em_draft_*` fields of a turn in a result record, from judge model -> judgement.

    A judge without a valid value for a field is left out of that field. Without judgements, the fields are
    four empty objects, as in a record without a judge.
    """
    said = sorted(by_model.items())
    one = combined(judgement for _, judgement in said)
    return {
        "em_draft_judge_scores": dict(one.scores),
        "em_draft_judge_scores_by_model": {m: dict(j.scores) for m, j in said if j.scores},
        "em_draft_binary_assessment": dict(one.binary or {}),
        "em_draft_binary_assessment_by_model": {m: dict(j.answers) for m, j in said if j.answers},
    }


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
        parsed = {model: said for model, said in here.items() if isinstance(said, Judgement)}
        turns.append({**entry, **judged_fields(parsed)})
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
    ours = record.get("attune")
    return {
        **record,
        "turns": turns,
        "attune": {**(ours if isinstance(ours, Mapping) else {}), "judge": marks},
    }


def _sorted(said: Mapping[int, Mapping[str, T]], value: Callable[[T], str]) -> dict[str, dict[str, str]]:
    """Turn -> judge model -> value, with JSON keys and in a fixed order."""
    return {str(n): {m: value(one) for m, one in sorted(said[n].items())} for n in sorted(said)}
