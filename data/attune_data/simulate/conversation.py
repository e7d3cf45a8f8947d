"""One conversation: its turns, each a mood, a message, three replies and what the person says of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from attune_data.affect import EMOTIONS
from attune_data.simulate import acts as actions
from attune_data.simulate.afterwards import Ending, answers, panas_items, panas_record
from attune_data.simulate.constructs import Memory
from attune_data.simulate.draws import Draws
from attune_data.simulate.levels import Level
from attune_data.simulate.messages import LastReply, write
from attune_data.simulate.mood import Mood
from attune_data.simulate.person import Person
from attune_data.simulate.story import make_story
from attune_data.simulate.texts import Texts
from attune_data.simulate.turn import Played, Turn, TurnState


@dataclass(frozen=True, slots=True)
class LatentState:
    """Everything behind one conversation that its record does not say."""

    person: Person
    turns: tuple[TurnState, ...]
    ending: Ending


def hold(
    texts: Texts, person: Person, level: Level, conversation_id: str, draws: Draws
) -> tuple[dict[str, Any], LatentState]:
    """One whole conversation: its record in the benchmark's format, and the state behind it."""
    story = make_story(texts, draws, person.traits[1])
    style = draws.pick(tuple(actions.STYLES))
    low, high = level.turns
    count = low + draws.below(high - low + 1)
    mood = Mood.start(person, texts.families, story.tilt, draws)
    residuals = {item: draws.normal() for item in EMOTIONS}
    pre = panas_items(person, mood.positive, mood.negative, residuals, draws)
    memory = Memory()
    last: LastReply | None = None
    turns: list[Played] = []
    for number in range(count):
        felt = mood.turn(level, draws, first=number == 0, last=number == count - 1)
        message = write(texts, story, felt, person, level, last, draws)
        turn = Turn(texts, story, person, level, style, felt, message, memory, number, count, draws).play()
        last = turn.last
        turns.append(turn)
        mood.after(felt, turn.state.fit, draws)
    ending = Ending(
        person, mood.positive, mood.negative, dict(mood.traces), residuals, pre,
        [turn.state.fit for turn in turns], story.goals, _shares(turns),
    )  # fmt: skip
    record = {
        "conversationId": conversation_id,
        "provenance": "simulated",
        "metadata": {
            "model": style,
            "category": story.situation.category,
            "subtopic": story.situation.name,
            "text": f"{story.situation.category}: {story.situation.name}",
        },
        "participant_profile": {**deepcopy(person.profile), "conversation_topic_attitude": story.attitude},
        "prePanas": panas_record(pre),
        **answers(ending, draws),
        "turns": [turn.record for turn in turns],
    }
    return record, LatentState(person, tuple(turn.state for turn in turns), ending)


def _shares(turns: Sequence[Played]) -> dict[str, float]:
    return {key: sum(turn.notes[key] for turn in turns) / len(turns) for key in turns[0].notes}
