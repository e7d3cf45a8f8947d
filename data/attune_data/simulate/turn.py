"""Simulate one conversation: per turn a mood, a message, three replies, and labels drawn from the state."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attune_data.affect import EMOTIONS, panas_record
from attune_data.constants import BINARY_IDS, ResponseName
from attune_data.simulate import acts as actions
from attune_data.simulate.afterwards import Ending, answers, panas_items
from attune_data.simulate.choices import Comparison, appeal, chosen_questions, compare
from attune_data.simulate.constructs import (
    CONTEXTUAL,
    judgement_probabilities,
    match,
    preferred_probability,
    textual,
    wishes,
)
from attune_data.simulate.draws import Draws, clip
from attune_data.simulate.messages import write
from attune_data.simulate.person import Mood, Person, TurnMood
from attune_data.simulate.replies import Reply
from attune_data.simulate.story import LastReply, Message, Story, make_story
from attune_data.simulate.texts import Texts
from attune_data.simulate.variants import variants

if TYPE_CHECKING:
    from attune_data.simulate.stream import Level

ASKED_TEXTUAL = 0.37
"""Probability that a textual question is asked in the first turn; judgements are always asked for."""
FATIGUE = 0.14
"""By how much this probability has dropped by the last turn."""
FIT_CENTRE = 0.25
"""Utility of a reply with a fit of 0."""


@dataclass(frozen=True, slots=True)
class TurnState:
    """The state that a turn's labels were drawn from."""

    mood: TurnMood
    fit: float
    """How well the recorded reply fitted, in [-1, 1]."""
    observed: Mapping[str, float]
    """Asked construct -> probability of "yes" (0 or 1 for textual ones)."""
    preferred: Mapping[str, float]
    """Asked construct -> probability that it was wanted."""
    comparisons: tuple[Comparison, ...]
    message: Message
    replies: Mapping[ResponseName, Reply]
    done: Mapping[ResponseName, Mapping[str, bool | None]]
    """Reply -> textual construct -> whether it shows it; None where it does not apply."""


@dataclass(frozen=True, slots=True)
class LatentState:
    """Everything behind one conversation that its record does not contain."""

    turns: tuple[TurnState, ...]
    ending: Ending


def hold(
    texts: Texts, person: Person, level: Level, conversation_id: str, draws: Draws
) -> tuple[dict[str, Any], LatentState]:
    """Simulate a whole conversation: its record in the benchmark's format, and the state behind it."""
    story, mood, residuals, pre = begin(texts, person, level, draws)
    records: list[dict[str, Any]] = []
    states: list[TurnState] = []
    notes: list[Mapping[str, bool]] = []
    for number in range(story.count):
        speak_up(story, mood, number)
        record, state, noted = reply_as_recorded(story, mood)
        records.append(record)
        states.append(state)
        notes.append(noted)
    shares = {name: sum(noted[name] for noted in notes) / len(notes) for name in notes[0]}
    ending = Ending(
        person, mood.positive, mood.negative, dict(mood.traces), residuals, pre,
        [state.fit for state in states], story.goals, shares,
    )  # fmt: skip
    situation = story.situation
    record = {
        "conversationId": conversation_id,
        "provenance": "simulated",
        "metadata": {
            "model": story.style,
            "category": situation.category,
            "subtopic": situation.name,
            "text": f"{situation.category}: {situation.name}",
        },
        "participant_profile": {**deepcopy(person.profile), "conversation_topic_attitude": story.attitude},
        "prePanas": panas_record(pre),
        **answers(ending, draws),
        "turns": records,
    }
    return record, LatentState(tuple(states), ending)


def begin(
    texts: Texts, person: Person, level: Level, draws: Draws
) -> tuple[Story, Mood, dict[str, float], dict[str, int]]:
    """Set up a conversation: story, mood, and the residual and first answer of each PANAS item."""
    story = make_story(texts, person, level, draws)
    story.style = draws.pick(tuple(actions.STYLES))
    low, high = level.turns
    story.count = low + draws.below(high - low + 1)
    mood = Mood(person, texts.families, story.tilt, draws)
    residuals = {item: draws.normal() for item in EMOTIONS}
    return story, mood, residuals, panas_items(person, mood.positive, mood.negative, residuals, draws)


def feel(story: Story, mood: Mood) -> None:
    """Draw the feelings of the story's current turn."""
    story.draws.turn_to(story.number, "mood")
    story.mood = mood.turn(story.level, first=story.number == 0, last=story.number == story.count - 1)


def speak_up(story: Story, mood: Mood, number: int) -> None:
    """Begin turn `number`, counted from 0: draw the person's feelings and write their message."""
    story.number = number
    feel(story, mood)
    story.message = write(story)


def reply_as_recorded(story: Story, mood: Mood) -> tuple[dict[str, Any], TurnState, dict[str, bool]]:
    """Let the model reply; returns the turn's record, its state, and its contribution to the ending's shares.

    The reply is stored in the story and affects the person's mood.
    """
    draws = story.draws
    wish = wishes(story)
    replies = variants(story, wish)
    done = {name: textual(story, reply) for name, reply in replies.items()}
    appeals = {
        name: appeal(story, reply, done[name], wish, own=name == "original")
        for name, reply in replies.items()
    }
    original = replies["original"]
    fit = clip(0.42 * (appeals["original"].utility - FIT_CENTRE) + 0.25 * draws.normal(), -1.0, 1.0)
    chances = judgement_probabilities(story, original, fit)
    judged = {name: draws.yes(chances[name]) if name in chances else None for name in CONTEXTUAL}
    observed = done["original"] | judged
    rows, said, wanted = _judgements(story, observed, chances, wish, fit)
    questions = chosen_questions(story)
    comparisons = compare(story, questions, appeals)
    record = {
        "turnNumber": story.number + 1,
        "userMessage": story.message.text,
        "llmResponse": original.text,
        "moodShiftTags": [{"emotion": item, "intensity": strength} for item, strength in story.mood.tags],
        "annotations": {
            "binaryJudgements": rows,
            "alternateResponses": {
                "llmImproved": replies["alternate"].text,
                "humanEdited": replies["human"].text,
            },
            "pairwiseComparisons": [
                {"questionId": c.question, "responseA": c.a, "responseB": c.b, "winner": c.winner}
                for c in comparisons
            ],
            "selectedPairwiseQuestions": questions[1:],
        },
    }
    noted = _noted(story, original, observed)
    _remember(story, original, fit)
    mood.after(story.mood, fit)
    state = TurnState(story.mood, fit, said, wanted, tuple(comparisons), story.message, replies, done)
    return record, state, noted


def _judgements(
    story: Story,
    observed: Mapping[str, bool | None],
    chances: Mapping[str, float],
    wish: Mapping[str, float],
    fit: float,
) -> tuple[list[dict[str, str]], dict[str, float], dict[str, float]]:
    """Draw the questions that are asked and their answers; also returns the probabilities behind them."""
    said: dict[str, float] = {}
    wanted: dict[str, float] = {}
    rows = []
    asked = ASKED_TEXTUAL - FATIGUE * story.number / story.count
    for construct in BINARY_IDS:
        if construct not in CONTEXTUAL and not story.draws.yes(asked):
            continue
        seen, did, prefers = observed[construct], "na", "na"
        if seen is not None:
            said[construct] = chances.get(construct, 1.0 if seen else 0.0)
            wanted[construct] = preferred_probability(wish[construct], seen, fit, story.level.wish_noise)
            did = "yes" if seen else "no"
            prefers = "yes" if story.draws.yes(wanted[construct]) else "no"
        rows.append({"questionId": construct, "observedBehavior": did, "preferredBehavior": prefers})
    return rows, said, wanted


def _noted(story: Story, reply: Reply, observed: Mapping[str, bool | None]) -> dict[str, bool]:
    """The turn's contribution to the shares on which the ending depends."""
    acts, message, mood = reply.acts, story.message, story.mood
    practical = story.goals[0] in ("decide", "info")
    right = match(story, reply) > 0
    return {
        "named": message.named is not None,
        "shown": bool(message.shown and mood.tags),
        "indirect": bool(message.shown) and message.named is None,
        "hidden": bool(mood.tags) and not message.shown,
        "mixed": len(mood.tags) > 1,
        "switched": story.before not in (None, mood.family),
        "right": right,
        "wrong": not right,
        "toned": bool(observed["B8"]),
        "mirrored": reply.echoes,
        "managed": "validate" in acts or ("advise" in acts and practical),
        "early_advice": bool(observed["B313"]) and not practical,
        "generic": bool(acts & {"generic", "drift"}),
        "upbeat": "cheer" in acts and mood.sign < 0,
        "clinical": "clinical" in acts,
        "assumed": "infer" in acts,
        "repeated": bool(observed["B408"]),
        "questions": bool(observed["B13"]),
        "long": reply.text.count(" ") > 75,
    }


def _remember(story: Story, reply: Reply, fit: float) -> None:
    """Store the recorded reply in the story as the last one."""
    if "advise" in reply.acts and reply.plan:
        story.plans.append(reply.plan)
    story.asked = story.asked or bool(reply.acts & actions.ASKING)
    story.families.append(story.mood.family)
    story.acts = frozenset(reply.acts)
    asked = [s.source for act, s in reply.sentences.items() if act in actions.ASKING and s.source]
    advised = reply.sentences.get("advise")
    story.last = LastReply(fit, asked[-1].other if asked else None, advised.source if advised else None)
