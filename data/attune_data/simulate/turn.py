"""One conversation: its turns, each a mood, a message, three replies and the labels drawn from the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS, ResponseName
from attune_data.simulate import acts as actions
from attune_data.simulate.afterwards import Ending, answers, panas_items, panas_record
from attune_data.simulate.choices import Appeal, Comparison, appeal, chosen_questions, compare
from attune_data.simulate.constructs import (
    CONTEXTUAL,
    Memory,
    judged,
    judgement_probabilities,
    match,
    off_key,
    preferred_probability,
    textual,
    wishes,
)
from attune_data.simulate.draws import Draws, clip
from attune_data.simulate.messages import LastReply, Message, write
from attune_data.simulate.person import Mood, Person, TurnMood
from attune_data.simulate.replies import Reply, Speaker
from attune_data.simulate.story import Story, make_story
from attune_data.simulate.texts import Said, Texts

if TYPE_CHECKING:
    from attune_data.simulate.stream import Level

ASKED_TEXTUAL = 0.37
"""Probability that a textual question is asked in the first turn; judgements always are."""
FATIGUE = 0.14
"""The share of it that is gone by the last turn."""
FIT_CENTRE = 0.25
"""Utility of a reply that fits neither well nor badly."""


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
    shown: tuple[str, ...]
    """Families of feelings that the message shows."""


@dataclass(frozen=True, slots=True)
class Played:
    """A turn that was played."""

    record: dict[str, Any]
    """As the conversation's record has it."""
    state: TurnState
    notes: Mapping[str, float]
    """Its addition to the shares of the ending (`Ending.shares`), 0 or 1 each."""
    last: LastReply
    """The parts that the next message may take up."""


@dataclass(slots=True)
class Turn:
    """A turn that is about to be played."""

    texts: Texts
    story: Story
    person: Person
    level: Level
    style: str
    mood: TurnMood
    message: Message
    memory: Memory
    number: int
    count: int
    draws: Draws

    def play(self) -> Played:
        """Replies, labels and choices, drawn; the memory is brought up to date."""
        draws, person, memory = self.draws, self.person, self.memory
        goal = self.story.goals[0]
        if self.message.reported:
            memory.done.append(self.message.reported)
        wish = wishes(goal, self.mood.need, person.traits, person.taste)
        replies = self._replies(goal, wish)
        done = {
            name: textual(reply, self.message, self.mood, person, memory, self.number)
            for name, reply in replies.items()
        }
        right = {name: match(reply, self.mood, self.texts.families) for name, reply in replies.items()}
        appeals = {
            name: self._appeal(name, reply, done[name], right[name], wish) for name, reply in replies.items()
        }
        original = replies["original"]
        fit = clip(0.42 * (appeals["original"].utility - FIT_CENTRE) + 0.25 * draws.normal(), -1.0, 1.0)
        sharpness = self.level.judgement * (1.2 - 0.6 * self.number / self.count)
        chances = judgement_probabilities(original, self.mood, person, fit, right["original"], sharpness)
        observed = done["original"] | judged(chances, draws)
        judgements, said, wanted = self._judgements(observed, chances, wish, fit)
        questions = chosen_questions(self.mood, self.message, draws)
        comparisons = compare(questions, appeals, self.level.gain, draws)
        notes = self._notes(original, observed, right["original"])
        self._remember(original, observed)
        state = TurnState(self.mood, fit, said, wanted, tuple(comparisons), self.message.shown)
        record = self._record(replies, judgements, questions, comparisons)
        return Played(record, state, notes, _last(fit, original))

    def _replies(self, goal: str, wish: Mapping[str, float]) -> dict[ResponseName, Reply]:
        """The recorded reply, the improved one in other words, the person's edit of the recorded one."""
        draws, memory = self.draws, self.memory
        situation = actions.Situation(self.message, self.number, self.number / self.count, goal, memory.acts)
        before = memory.families[-1] if memory.families else None
        speaker = Speaker(self.texts, self.story, self.message, before, draws)
        claim = self._reading()
        first = actions.original(self.style, situation, draws)
        plan = self._plan(speaker.known)
        original = speaker.speak(first, claim, plan)
        second = actions.improved(original.acts, situation, draws)
        other = claim if draws.yes(0.65) else self._reading()
        improved = speaker.speak(second, other, plan if draws.yes(0.35) else self._plan(speaker.known))
        third = actions.edited(original.acts, wish, situation, draws)
        edited = speaker.speak(third, claim, plan, original.sentences)
        return {"original": original, "alternate": improved, "human": edited}

    def _reading(self) -> str:
        """The family of feelings that a model reads: mostly what shows, often enough a wrong one."""
        draws, shown, families = self.draws, self.message.shown, self.texts.families
        if shown and draws.yes(0.66):
            return shown[0]
        sign = families[shown[0]].sign if shown else self.mood.sign
        if draws.yes(0.78):
            return draws.pick([name for name, family in families.items() if family.sign == sign])
        return draws.pick(list(families))

    def _plan(self, known: Set[str]) -> Said | None:
        """Choose a plan to advise: now and then one that was advised before."""
        given, done = self.memory.plans, self.memory.done
        again = [plan for plan in given[:-1] if plan not in done]
        if again and self.draws.yes(0.25):
            return self.draws.pick(again)
        plans = [p for p in self.story.situation.plans if p.say.fits(known) and p not in given]
        return self.draws.pick(plans) if plans else None

    def _appeal(
        self,
        name: ResponseName,
        reply: Reply,
        done: Mapping[str, bool | None],
        right: float,
        wish: Mapping[str, float],
    ) -> Appeal:
        words = reply.text.count(" ") + 1
        return appeal(
            done, wish, right, off_key(reply, self.mood), words,
            terse=self.person.typing.register == "terse", own=name == "original", draws=self.draws,
        )  # fmt: skip

    def _judgements(
        self,
        observed: Mapping[str, bool | None],
        chances: Mapping[str, float],
        wish: Mapping[str, float],
        fit: float,
    ) -> tuple[list[dict[str, str]], dict[str, float], dict[str, float]]:
        """The answers to the questions that are asked, and the probabilities behind them."""
        draws, said, wanted, rows = self.draws, {}, {}, []
        asked = ASKED_TEXTUAL - FATIGUE * self.number / self.count
        for construct in BINARY_IDS:
            if construct not in CONTEXTUAL and not draws.yes(asked):
                continue
            seen = observed[construct]
            if seen is None:
                rows.append({"questionId": construct, "observedBehavior": "na", "preferredBehavior": "na"})
                continue
            said[construct] = chances.get(construct, 1.0 if seen else 0.0)
            wanted[construct] = preferred_probability(wish[construct], seen, fit, self.level.wish_noise)
            prefers = draws.yes(wanted[construct])
            rows.append({
                "questionId": construct,
                "observedBehavior": "yes" if seen else "no",
                "preferredBehavior": "yes" if prefers else "no",
            })  # fmt: skip
        return rows, said, wanted

    def _notes(self, reply: Reply, observed: Mapping[str, bool | None], right: float) -> dict[str, float]:
        """The addition of this turn to the shares that the ending looks at."""
        acts, memory = reply.acts, self.memory
        tags, shown = self.mood.tags, self.message.shown
        return {
            "named": self.message.named is not None,
            "shown": bool(shown) and bool(tags),
            "indirect": bool(shown) and self.message.named is None,
            "hidden": bool(tags) and not shown,
            "mixed": len(tags) > 1,
            "switched": bool(memory.families) and memory.families[-1] != self.mood.family,
            "right": right > 0,
            "toned": bool(observed["B8"]),
            "mirrored": reply.echoes,
            "managed": "validate" in acts or ("advise" in acts and self.story.goals[0] in ("decide", "info")),
            "early_advice": bool(observed["B313"]) and self.story.goals[0] not in ("decide", "info"),
            "generic": bool(acts & {"generic", "drift"}),
            "upbeat": "cheer" in acts and self.mood.sign < 0,
            "clinical": "clinical" in acts,
            "assumed": "infer" in acts,
            "repeated": bool(observed["B408"]),
            "questions": bool(observed["B13"]),
            "long": reply.text.count(" ") > 75,
        }

    def _remember(self, reply: Reply, observed: Mapping[str, bool | None]) -> None:
        memory = self.memory
        if "advise" in reply.acts and reply.plan:
            memory.plans.append(reply.plan)
        memory.asked = memory.asked or bool(observed["B13"])
        memory.families.append(self.mood.family)
        memory.acts = frozenset(reply.acts)

    def _record(
        self,
        replies: Mapping[ResponseName, Reply],
        judgements: list[dict[str, str]],
        questions: list[str],
        comparisons: list[Comparison],
    ) -> dict[str, Any]:
        return {
            "turnNumber": self.number + 1,
            "userMessage": self.message.text,
            "llmResponse": replies["original"].text,
            "moodShiftTags": [{"emotion": item, "intensity": strength} for item, strength in self.mood.tags],
            "annotations": {
                "binaryJudgements": judgements,
                "alternateResponses": {
                    "llmImproved": replies["alternate"].text,
                    "humanEdited": replies["human"].text,
                },
                "pairwiseComparisons": [
                    {
                        "questionId": c.question,
                        "responseA": c.response_a,
                        "responseB": c.response_b,
                        "winner": c.winner,
                    }
                    for c in comparisons
                ],
                "selectedPairwiseQuestions": questions[1:],
            },
        }


def _last(fit: float, reply: Reply) -> LastReply:
    asked = [s.source for act, s in reply.sentences.items() if act in actions.ASKING and s.source]
    advised = reply.sentences.get("advise")
    plan = advised.source if advised else None
    return LastReply(fit, asked[-1].other if asked else None, plan)


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
