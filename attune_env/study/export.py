"""The conversations of a study in the benchmark's format, and what the format has no place for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attune_data.format.affect import EMOTIONS, panas_record
from attune_data.format.constants import BRANCHES
from attune_data.format.schema import Conversation
from attune_data.format.validate import conversation_from
from attune_env.study.design import TRAIN
from attune_env.study.events import SHOWN, State, Store
from attune_env.study.folder import Study
from attune_env.study.redaction import redacted, words_in
from attune_env.study.steps import ANSWERS, CANNED, SIDES
from attune_env.study.view import View

LONGEST_PAUSE: Final = 1_800.0
"""Seconds on one page from which on somebody has been away, so that the time says nothing."""


def export(
    study: Study, store: Store, *, words: Sequence[str] = (), unfinished: bool = False
) -> tuple[list[Conversation], dict[str, Any]]:
    """The conversations of everybody who has finished, and what goes beside them.

    Args:
        study: the study.
        store: its events.
        words: what is removed from every text, besides what each participant marked.
        unfinished: also take those who stopped or have not finished, with what they have answered.
    """
    conversations, beside = [], {}
    for state in store.states():
        if not _taken(state, unfinished=unfinished):
            continue
        remove = sorted({*words, *words_in(state.answer("redact").get("words"))}, key=len, reverse=True)
        record = _record(study, state, remove)
        conversations.append(conversation_from(record, state.participant))
        beside[state.participant] = {"conversationId": record["conversationId"]} | _beside(
            study, state, remove
        )
    facts = {
        "study": study.design.name,
        "licence": study.design.release.licence,
        "codebook": study.codebook.name,
        "designs": store.designs(),
        "participants": beside,
    }
    return conversations, facts


def _taken(state: State, *, unfinished: bool) -> bool:
    """Whether a participant's conversation is exported: it has a reply, and is finished."""
    replied = state.answer("reply.1").get("text")
    return bool(
        state.begun and replied and not state.withdrawn and (unfinished or "debrief" in state.answers)
    )


def may_train(study: Study, state: State) -> bool:
    """Whether a conversation may be trained on: licence and consent say so, and a model replied."""
    canned = any(payload.get("model") == CANNED for payload in state.answers.values())
    return study.design.release.train and state.answer("consent").get(TRAIN) is True and not canned


def _record(study: Study, state: State, remove: Sequence[str]) -> dict[str, Any]:
    """A participant's record; what was not answered is absent, which means not annotated."""
    design = study.design
    topic = View(study, state, "topic").topic
    category, _, subtopic = topic.partition(": ")
    turns = list(_turns(study, state, remove))
    record: dict[str, Any] = {
        "conversationId": f"{design.name}-{state.participant}",
        "provenance": "study",
        "study": {"name": design.name, "licence": design.release.licence, "train": may_train(study, state)},
        "metadata": {
            "model": state.answer("reply.1")["model"],
            "category": category,
            "subtopic": subtopic,
            "text": topic,
        },
        "participant_profile": _profile(study, state, remove),
    }
    for step, name in (("pre", "prePanas"), ("post", "postPanas")):
        if step in state.answers:
            record[name] = panas_record({emotion: state.answers[step][emotion] for emotion in EMOTIONS})
    if closing := state.answer("closing"):
        off = state.answer("off").get("q3_followUp_whatFeltOff") or []
        names = ("q1_lookingFor", "q2_emotionClarity", "q3_modelFit")
        record["conversationWideQuestions"] = {
            "fourBranchScores": {branch: closing[branch] for branch in BRANCHES},
            **{name: closing[name] for name in names},
            "q3_followUp_whatFeltOff": _clean(study, [off] if isinstance(off, str) else off, remove),
        }
    return record | {"turns": turns}


def _clean(study: Study, value: Any, remove: Sequence[str]) -> Any:
    return redacted(value, remove, study.design.texts["redacted"])


def _turns(study: Study, state: State, remove: Sequence[str]) -> Iterator[dict[str, Any]]:
    for turn in View(study, state, "say").turns:
        number = turn["number"]
        if not turn["reply"]:
            return
        said = state.answer(f"say.{number}")
        record = {
            "turnNumber": number,
            "userMessage": _clean(study, turn["message"], remove),
            "llmResponse": _clean(study, turn["reply"], remove),
            "moodShiftTags": [{"emotion": e, "intensity": said[e]} for e in EMOTIONS if said[e]],
        }
        if annotations := _annotations(study, state, number, remove):
            record["annotations"] = annotations
        yield record


def _annotations(study: Study, state: State, number: int, remove: Sequence[str]) -> dict[str, Any]:
    judged, compared = state.answer(f"judge.{number}"), state.answer(f"compare.{number}")
    found: dict[str, Any] = {}
    if judged:
        asked = dict.fromkeys(name.partition(".")[0] for name in judged if name.endswith(SIDES))
        found["binaryJudgements"] = [
            {
                "questionId": question,
                **{f"{side}Behavior": judged[f"{question}.{side}"] for side in SIDES},
            }
            for question in asked
            if judged[f"{question}.observed"] in ANSWERS
        ]
    if f"edit.{number}" in state.answers:
        texts = {
            "llmImproved": state.answer(f"alternate.{number}").get("text"),
            "humanEdited": state.answer(f"edit.{number}")["reply"],
        }
        found["alternateResponses"] = _clean(study, {k: v for k, v in texts.items() if v}, remove)
    if compared:
        shown: list[Mapping[str, str]] = compared["shown"]
        found["pairwiseComparisons"] = [
            {**one, "winner": compared[f"c{index}"]} for index, one in enumerate(shown)
        ]
        questions = dict.fromkeys(one["questionId"] for one in shown)
        found["selectedPairwiseQuestions"] = [name for name in questions if name != "general"]
    return found


def _profile(study: Study, state: State, remove: Sequence[str]) -> dict[str, Any]:
    demographics: dict[str, Any] = {}
    scores: dict[str, Any] = {}
    for page in study.design.pages:
        answers = state.answer(f"own.{page.id}") or state.answer(f"after.{page.id}")
        for question in page.questions:
            value = answers.get(question.name)
            part, _, name = (question.field or "").partition(".")
            if value is not None and part == "demographics":
                demographics[name] = _clean(study, value, remove)
            elif value is not None and part == "computed_scores":
                scores[name] = value
        counted = [q for q in page.questions if q.kind in ("scale", "number")]
        values = [(q, answers[q.name]) for q in counted if answers.get(q.name) is not None]
        if page.score and len(values) == len(counted):
            scores[page.score] = sum(q.low + q.high - value if q.reverse else value for q, value in values)
    return {
        "schema_version": "2.0",
        "participant_id": state.participant,
        "profile_type": "study",
        "demographics": demographics,
        "computed_scores": scores,
        "conversation_topic_attitude": state.answer("topic").get("attitude"),
    }


def _beside(study: Study, state: State, remove: Sequence[str]) -> dict[str, Any]:
    consent = state.answers["consent"]
    points = {point.id: consent.get(point.id) for point in study.design.consent.points}
    own = (held for step, held in state.answers.items() if step.startswith(("own.", "after.")))
    answers = {name: value for held in own for name, value in held.items()}
    return {
        "design": consent["design"],
        "consent": points,
        "train": may_train(study, state),
        "finished": "debrief" in state.answers,
        "words_removed": len(remove),
        "answers": _clean(study, answers, remove),
        "models": {
            step: payload["model"]
            for step, payload in state.answers.items()
            if step.startswith(("reply.", "alternate.")) and payload.get("text")
        },
        "seconds": {step: round(seconds, 1) for step, seconds in seconds_of(state).items()},
    }


def seconds_of(state: State) -> dict[str, float]:
    """Step -> seconds from its page's first being shown to its answer; long absences are left out."""
    found = {}
    for step, at in state.times.items():
        shown = state.times.get(SHOWN + step)
        if shown is not None and 0 <= at - shown <= LONGEST_PAUSE:
            found[step] = at - shown
    return found
